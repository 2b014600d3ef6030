"""Numbers of the chapter on composition and ordering that were computed by other means."""

import math
from fractions import Fraction

import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.properties.experiments.composition.fig3 import gap_row
from dpassay.spec.ball import ball
from dpassay.spec.interactions.mechanism_classes import (
    ClassedInteraction,
    ClassedInteractions,
    ClassSequence,
    ClassSequences,
    LatticeBatch,
    adaptive_delta,
    batch_delta,
    bounded_range,
    interaction_delta,
    pure,
    worst_interaction,
)
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.composition.adaptive_recursion import bounded_range_delta_enclosed
from dpassay.spec.theorems.composition.counting import mixed_delta
from dpassay.spec.theorems.composition.ordering import active_index
from dpassay.spec.theorems.composition.three_mechanisms import interleaved_delta, pure_first_delta


@pytest.mark.parametrize(
    ("level", "first", "second"),
    [
        (0.0, 0.49277935, 0.48803304),
        (0.1, 0.46706526, 0.46219537),
        (0.25, 0.42721158, 0.42264025),
        (0.5, 0.35768297, 0.35524775),
        (0.9, 0.24765156, 0.24762784),
    ],
)
def test_the_two_orders_of_three_at_epsilon_one(level: float, first: float, second: float) -> None:
    row = gap_row(level)
    assert row["pure_first"] == pytest.approx(first, abs=5e-9)
    assert row["pure_second"] == pytest.approx(second, abs=5e-9)
    assert 0 < row["gap_lower"] <= row["gap_upper"] < row["gap_lower"] + 1e-9


def test_the_largest_gap_and_the_largest_ratio() -> None:
    rows = [gap_row(level / 1000) for level in range(95, 216)]
    assert max(rows, key=lambda row: row["gap_upper"])["epsilon"] == pytest.approx(0.102, abs=1e-3)
    assert max(row["gap_upper"] for row in rows) == pytest.approx(0.0048699, abs=1e-7)
    assert max(rows, key=lambda row: row["ratio"])["epsilon"] == pytest.approx(0.207, abs=1e-3)
    assert max(row["ratio"] for row in rows) == pytest.approx(1.0108795, abs=1e-7)


def test_the_gap_near_the_end_is_certified_where_float64_sees_little() -> None:
    assert gap_row(0.99)["gap_lower"] == pytest.approx(2.5e-8, rel=0.05)
    assert gap_row(0.9999)["gap_lower"] > 0


def test_lattice_and_closed_form_agree_on_the_paper_s_example() -> None:
    base, epsilon = Fraction(12, 11), 12
    d, b = pure(epsilon), bounded_range(epsilon)
    for level in (0, 6):
        assert adaptive_delta(base, (d, b, b), level) == pure_first_delta(base, epsilon, level)
        assert adaptive_delta(base, (b, d, b), level) == interleaved_delta(base, epsilon, level)


@pytest.mark.parametrize(
    ("bounded", "pure_count", "epsilon", "level", "delta"),
    [(1, 2, "1", "1/2", 0.445633), (2, 1, "1", "1/2", 0.355248), (10, 0, "1/5", "1/2", 0.010625),
     (4, 2, "1", "2", 0.220699), (3, 1, "1/2", "1/2", 0.115509), (2, 1, "1", "0", 0.477448)],
)  # fmt: skip
def test_enclosures_of_thm_3(bounded: int, pure_count: int, epsilon: str, level: str, delta: float) -> None:
    assert float(mixed_delta(bounded, pure_count, Fraction(epsilon), Fraction(level)).mid()) == pytest.approx(
        delta, abs=1e-6
    )


@pytest.mark.parametrize("level", ["-3/2", "-1", "-1/3", "0", "2/5", "1", "2"])
def test_the_clipped_closed_form_at_every_level(level: str) -> None:
    epsilon, a = 1.0, float(Fraction(level))
    inside = (1 - math.exp((a - epsilon) / 2)) ** 2 / (1 - math.exp(-epsilon))
    expected = 0.0 if a >= 1 else 1 - math.exp(a) if a <= -1 else inside
    assert float(bounded_range_delta_enclosed(ball(Fraction(level)), ball(1)).mid()) == pytest.approx(expected)
    wide = bounded_range_delta_enclosed(ball(Fraction(level)).union(ball(Fraction(level) + 1)), ball(1))
    assert wide.contains(arb(expected)) or expected in {0.0}


@pytest.mark.parametrize(("count", "first", "second"), [(3, 1, 0), (4, 1, 0), (5, 2, 1)])
def test_the_active_indices_differ_by_one(count: int, first: int, second: int) -> None:
    assert [active_index(count, shift, 10, 3) for shift in (-1, 1)] == [first, second]


def test_an_analyst_who_attains_the_recursion() -> None:
    classes = (bounded_range(4), pure(2), bounded_range(4))
    worst = worst_interaction(Fraction(3, 2), classes, 1)
    assert worst is not None
    assert worst.depth == 3
    assert interaction_delta(worst, Fraction(3, 2)) == adaptive_delta(Fraction(3, 2), classes, 1)
    assert batch_delta(Fraction(3, 2), classes, 1) <= adaptive_delta(Fraction(3, 2), classes, 1)


def test_domains_refuse_what_is_no_member() -> None:
    sequence = ClassSequence(Fraction(3, 2), (bounded_range(2),), 0)
    assert ClassSequences("", 1, 2).contains(sequence)
    assert not ClassSequences("", 1, 1).contains(sequence)
    assert not ClassSequences("", 1, 2, kinds=("pure",)).contains(sequence)
    worst = worst_interaction(Fraction(3, 2), (pure(2),), 0)
    assert worst is not None
    assert not ClassedInteractions("").contains(ClassedInteraction(sequence, worst))
    with pytest.raises(UsageError, match="batch"):
        find_statement("optimal_delta_of_bounded_range_batch")(
            batch=LatticeBatch(Fraction(2), 0, 1, 1, 0), tops=(Fraction(0),) * 4
        )


@pytest.mark.parametrize(("level", "expected"), [(-5, None), (-4, None), (-3, 0), (3, 0), (4, None)])
def test_two_mechanisms_have_one_term_that_may_depend_on_t(level: int, expected: int | None) -> None:
    """The indices are 0, ..., N - 2."""
    assert active_index(2, 0, 4, level) == expected
