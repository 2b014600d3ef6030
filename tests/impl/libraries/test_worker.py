"""What a worker says of an exception: whose it is, the adapter's or the library's."""

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dpassay.impl.libraries.worker import blame_for
from dpassay.impl.libraries.worker_process import Worker

LIBRARY = """
import functools
import inspect


def passed_on(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def bound(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        inspect.signature(function).bind(*args, **kwargs)
        return function(*args, **kwargs)

    return wrapper


def release(value, *, epsilon):
    if epsilon < 0:
        raise TypeError("epsilon must be positive")
    return value + helper(noise=epsilon)


def helper(scale=1.0):
    return scale


class Mechanism:
    def __init__(self, **options):
        release(1.0, **options)

    def __getattr__(self, name):
        raise AttributeError(name)

    def refuse(self):
        raise AttributeError("private")


decorated, checked = passed_on(passed_on(release)), bound(release)


def __getattr__(name):
    raise AttributeError(name)
"""


@pytest.fixture
def library(tmp_path: Path) -> ModuleType:
    """A library with functions that take any arguments and pass them on."""
    path = tmp_path / "library_with_decorators.py"
    path.write_text(LIBRARY)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_own(call: Callable[[], Any]) -> bool:
    with pytest.raises((TypeError, AttributeError)) as caught:
        call()
    return blame_for(caught.value, {__file__}, ())["is_own"]


def test_a_renamed_parameter_is_no_refusal_whatever_passes_it_on(library: ModuleType) -> None:
    assert is_own(lambda: library.release(1.0, eps=1.0))
    assert is_own(lambda: library.decorated(1.0, eps=1.0))
    assert is_own(lambda: library.checked(1.0, eps=1.0))
    assert is_own(lambda: library.Mechanism(eps=1.0))
    assert is_own(lambda: library.decorated(1.0))
    assert is_own(lambda: library.checked(1.0))
    assert is_own(lambda: library.decorated(1.0, 2.0, epsilon=1.0))


def test_a_renamed_function_is_no_refusal_where_names_are_looked_up(library: ModuleType) -> None:
    assert is_own(lambda: library.renamed(1.0))


def test_what_the_library_raises_by_itself_is_its_own(library: ModuleType) -> None:
    for name in ("release", "decorated", "checked"):
        release = partial(getattr(library, name), 1.0)
        assert not is_own(partial(release, epsilon=-1.0))
        assert not is_own(partial(release, epsilon=1.0))  # its call of its helper does not fit
    mechanism = library.Mechanism.__new__(library.Mechanism)
    assert not is_own(mechanism.refuse)


def test_the_greeting_names_the_cases_that_were_left_out(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "from dpassay.adapter import Nonsense, present_cases\n"
        "LIBRARY = 'numpy'\n"
        "def old():\n    yield Nonsense('first', {'int of a word': lambda: int('word')})\n"
        "def new():\n    yield from ()\n    raise AttributeError('no such function')\n"
        "CASES = list(present_cases(old, new))\n"
    )
    with Worker(sys.executable, adapter) as worker:
        assert worker.greeting["skipped"] == [["new", "AttributeError: no such function"]]
