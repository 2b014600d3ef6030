"""Libraries that are loaded at their first use."""

import subprocess
import sys

import pytest

from dpassay.lazy import special, sympy

FIRST_USE = """
import sys
from dpassay.lazy import sympy as sp
before = "sympy" in sys.modules
sp.Integer(2)
print(before, "sympy" in sys.modules)
"""


def test_that_attributes_are_those_of_the_library() -> None:
    from scipy.special import expit

    assert special.expit is expit
    assert special.expit(0.0) == 0.5


def test_that_an_unknown_attribute_raises_as_usual() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = special.no_such_name  # type: ignore[attr-defined]


def test_that_classes_of_the_library_serve_isinstance() -> None:
    assert isinstance(sympy.Integer(2), sympy.Expr)


@pytest.mark.slow
def test_that_the_first_use_imports() -> None:
    run = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"]
