"""Numbers of the data in exact arithmetic."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import Trace, trace

BETWEEN = 1.0, 3.0, 0.1, 1e300


def outcome_on(compute: Callable[[Any], Any], value: float) -> Any:
    """Return the outcome of a computation from one exact number, without noise."""
    found = trace(lambda data, size, rng: [compute(data[0])], [value], is_exact=True)
    assert isinstance(found, Trace), found
    [leaf] = found.model.leaves
    return leaf.outcome


@pytest.mark.parametrize("value", BETWEEN)
@pytest.mark.parametrize(
    "holds",
    [
        lambda x: (x + 0.1) - x == 0.1,
        lambda x: float(x) / 3 * 3 == x,
        lambda x: (1 / (x * 7)) * 7 * x == 1,
        lambda x: x + 1e-320 > x,
        lambda x: (x + 1e16) - 1e16 == x,
        lambda x: math.sqrt(x) ** 2 == x,
        lambda x: np.sqrt(x * 2) ** 2 == x + x,
        lambda x: math.exp(math.log(x)) == x,
        lambda x: math.fsum([x, 1e-20]) - x == 1e-20,
        lambda x: np.array([x, x, x]).sum() / 3 == x,
        lambda x: (x**3) / x / x == x,
        lambda x: divmod(x, 0.3)[0] * 0.3 + x % 0.3 == x,
        lambda x: np.floor_divide(x, 0.5) * 0.5 + np.remainder(x, 0.5) == x,
        lambda x: isinstance(x, float) is False or isinstance(float(x), float),
        lambda x: hash(float(x)) == hash(x),
        lambda x: math.isfinite(x) and not math.isnan(x),
    ],
)
def test_equations_hold_without_rounding(holds: Callable[[Any], Any], value: float) -> None:
    assert outcome_on(lambda x: bool(holds(x)), value) is True


@pytest.mark.parametrize(
    ("compute", "value", "expected"),
    [
        (lambda x: int(x * 10), 0.75, 7),
        (lambda x: round(x + 0), 2.5, 2),
        (lambda x: math.floor(-x), 2.5, -3),
        (lambda x: float(x).is_integer(), 4.0, True),
        (lambda x: int(math.sqrt(x) * math.sqrt(x)), 3.0, 3),
        (lambda x: abs(x - 4) ** 0.5, 1.75, Fraction(3, 2)),
        (lambda x: np.zeros(2, dtype=float).dtype.kind + str(x > 1), 2.0, "OTrue"),
        (lambda x: math.log(x * 1), 1.0, 0),
    ],
)
def test_results_are_exact(compute: Callable[[Any], Any], value: float, expected: Any) -> None:
    assert outcome_on(compute, value) == expected


@pytest.mark.parametrize(
    ("compute", "words"),
    [
        (lambda x: math.sin(x + 1), "float"),
        (lambda x: np.float64(x + 1), "float"),
        (lambda x: f"{x}", "formatting"),
        (lambda x: 1 / (x - x), "division by zero"),
        (lambda x: x**0.3, "exact number"),
        (lambda x: math.sqrt(x) % 1.5, "remainder"),
    ],
)
def test_what_is_not_exact_is_refused(compute: Callable[[Any], Any], words: str) -> None:
    found = trace(lambda data, size, rng: [compute(data[0])], [2.0], is_exact=True)
    assert isinstance(found, Refusal)
    assert words in str(found)


def test_names_are_as_before_after_a_trace() -> None:
    kept = math.exp, math.sqrt
    outcome_on(lambda x: float(x) + math.exp(0.0), 1.0)
    assert (math.exp, math.sqrt) == kept
    assert "float" not in globals()


def test_noise_beside_exact_numbers_keeps_its_leaves() -> None:
    def noisy(data: Any, size: int, rng: Any) -> list[Any]:
        x = float(data[0]) / 3
        return [(bool(x + rng.laplace() > 1), x * 3) for _ in range(size)]

    found = trace(noisy, [1.0], is_exact=True)
    assert isinstance(found, Trace)
    assert {leaf.outcome for leaf in found.model.leaves} == {(True, Fraction(1)), (False, Fraction(1))}
