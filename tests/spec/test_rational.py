import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from dpassay.arguments import UsageError
from dpassay.spec.rational import at_most_exact, below_exact, equal_exact
from dpassay.spec.verdict import Evidence, Outcome


@pytest.mark.parametrize("decide", [at_most_exact, below_exact, equal_exact])
@pytest.mark.parametrize("inexact", [math.nan, 0.1 + 0.2, np.float64(0.5)])
def test_a_float_is_not_decided_exactly(decide: Any, inexact: float) -> None:
    for sides in ((inexact, Fraction(1)), (Fraction(1), inexact)):
        with pytest.raises(UsageError, match=r"loss must be an int, a Fraction or infinite.*got the float"):
            decide(*sides, "loss")


@pytest.mark.parametrize("container", [[0.5], {"heads": 0.5}, ((Fraction(1), {0.5}),)])
def test_a_container_of_floats_is_not_compared_exactly(container: object) -> None:
    with pytest.raises(UsageError, match=r"got the float 0\.5"):
        equal_exact(container, container, "distribution")


@pytest.mark.parametrize("nothing", [None, "1", True])
def test_what_is_no_number_is_refused(nothing: Any) -> None:
    with pytest.raises(UsageError, match="loss must be an int, a Fraction or infinite"):
        at_most_exact(nothing, Fraction(1), "loss")


def test_exact_numbers_of_other_packages_and_infinity_are_decided() -> None:
    assert at_most_exact(sp.Rational(1, 3), np.int64(1), "loss").tightness == 3  # type: ignore[arg-type]
    unbounded = at_most_exact(Fraction(10) ** 400, math.inf, "ratio")
    assert (unbounded.outcome, unbounded.evidence, unbounded.tightness) == (Outcome.HOLDS, Evidence.EXACT, math.inf)
    assert at_most_exact(math.inf, math.inf, "ratio").tightness is None
    assert below_exact(math.inf, Fraction(1), "ratio").outcome is Outcome.VIOLATED
    assert equal_exact([math.inf], [math.inf], "ratios").outcome is Outcome.HOLDS
