import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.impl.accounting.target_quality import between_thresholds_quality
from dpassay.impl.mechanisms.between_thresholds import ABOVE, BELOW, BETWEEN
from dpassay.impl.mechanisms.conditional_release import WITHHELD
from dpassay.impl.mechanisms.individual_svt import IndividualBetween, IndividualSVT, RepeatedSums, individual_svt

Array = NDArray[Any]


class NoNoise(np.random.Generator):
    def laplace(self, *arguments: Any, **named: Any) -> Any:  # noqa: ARG002  # the signature of numpy
        return np.zeros(named.get("size") or ())


def session(records: list[Any], hits: int) -> IndividualSVT:
    return IndividualSVT(records, hits, 1.0, NoNoise(np.random.PCG64(0)))


def ones(records: Array) -> Array:
    return np.ones(len(records))


def test_records_leave_after_their_hits_and_equal_ones_have_a_counter_each() -> None:
    svt = session([1.0, 1.0, 2.0], hits=2)
    assert [svt.ask(ones, 0.5) for _ in range(4)] == [3.0, 3.0, WITHHELD, WITHHELD]


def test_records_that_take_no_part_are_not_charged() -> None:
    svt = session([1, 2], hits=1)
    assert svt.ask(lambda records: records == 1, 0.5) == 1.0
    assert svt.ask(lambda records: records == 1, 0.5) is WITHHELD
    assert svt.ask(lambda records: records == 2, 0.5) == 1.0


def test_any_positive_part_is_charged_and_withheld_queries_are_not() -> None:
    svt = session([1], hits=1)
    assert svt.ask(lambda records: 0.25 * ones(records), 0.5) is WITHHELD
    assert svt.ask(lambda records: 0.25 * ones(records), 0.25) == 0.25
    assert svt.ask(ones, 0.5) is WITHHELD


@pytest.mark.parametrize(
    "wrong", [lambda r: 2 * ones(r), lambda r: -ones(r), lambda r: ones(r)[1:], lambda r: ones(r) * np.nan]
)
def test_contributions_outside_their_range_charge_nothing(wrong: Any) -> None:
    svt = session([1, 2], hits=1)
    with pytest.raises(UsageError, match="contribution"):
        svt.ask(wrong, 0.5)
    assert svt.ask(ones, 0.5) == 2.0


def test_errors_of_use() -> None:
    with pytest.raises(UsageError, match="hits"):
        session([1], hits=0)
    with pytest.raises(UsageError, match="epsilon"):
        IndividualSVT([1], 1, 0.0, np.random.default_rng(0))
    with pytest.raises(UsageError, match="records"):
        session(3.0, hits=1)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="gap"):
        between([1], hits=1, gap=0.0)
    with pytest.raises(UsageError, match="threshold"):
        session([1], hits=1).ask(ones, float("nan"))
    with pytest.raises(UsageError, match="data"):
        individual_svt.sample(np.full(3, 2.0), 1, np.random.default_rng(0))


def between(records: list[Any], hits: int, gap: float = 1.0) -> IndividualBetween:
    return IndividualBetween(records, hits, 1.0, gap, NoNoise(np.random.PCG64(0)))


def test_only_answers_between_the_thresholds_are_charged() -> None:
    svt = between([1, 1, 2], hits=2)
    assert len({BELOW, BETWEEN, ABOVE}) == 3
    assert [svt.ask(ones, 5, 6) for _ in range(9)] == [BELOW] * 9
    assert [svt.ask(ones, 0, 1) for _ in range(9)] == [ABOVE] * 9
    assert svt.ask(lambda records: records == 1, 1, 2) == BETWEEN  # the ends belong to the target
    assert svt.ask(ones, 2.5, 3.5) == BETWEEN
    assert svt.ask(ones, 0, 1) == BETWEEN  # both copies of 1 have left, 2 has one hit left
    assert svt.ask(ones, 0.5, 1.5) == BELOW


def test_the_account_of_two_thresholds_has_their_quality() -> None:
    assert between([1], hits=2, gap=3.0).quality == float(between_thresholds_quality(1.0, 3.0))
    totals = [between([1], hits=2, gap=gap).account(1e-6).epsilon for gap in (0.1, 1.0, 100.0)]
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] == pytest.approx(session([1], hits=2).account(1e-6).epsilon, rel=1e-9)


@pytest.mark.parametrize(("low", "high"), [(0, 0.999), (1, 0), (float("nan"), 1), (0, float("inf")), (0.1, 1.1)])
def test_thresholds_closer_than_the_gap_charge_nothing(low: float, high: float) -> None:
    svt = between([1], hits=1, gap=1.0 + 2.0**-40)
    with pytest.raises(UsageError, match="low"):
        svt.ask(ones, low, high)
    assert svt.ask(ones, 0, 2) == BETWEEN


@pytest.mark.parametrize("gap", [1.0, 0.1, 3.0])
@pytest.mark.parametrize("place", [0.0, -0.7, 0.3, 1e6, 2.0**-60])
def test_the_gap_is_kept_exactly_wherever_the_thresholds_are(gap: float, place: float) -> None:
    """Thresholds next to float64's idea of the gap: their exact distance counts, not its rounding."""
    charged = 0
    for low in (math.nextafter(place, -math.inf), place, math.nextafter(place, math.inf)):
        for high in (low + gap, math.nextafter(low + gap, -math.inf), math.nextafter(low + gap, math.inf)):
            svt = between([], hits=1, gap=gap)
            if Fraction(high) - Fraction(low) >= Fraction(gap):
                assert svt.ask(ones, low, high) in {BELOW, BETWEEN, ABOVE}
                charged += 1
            else:
                with pytest.raises(UsageError, match="apart"):
                    svt.ask(ones, low, high)
    assert 0 < charged < 9


def test_the_account_is_that_of_the_hits() -> None:
    assert session([1], hits=2).account(1e-6).epsilon < session([1], hits=3).account(1e-6).epsilon


def test_the_sampler_agrees_with_the_session() -> None:
    mechanism = RepeatedSums(size=3, queries=6, hits=2, epsilon=1.0, threshold=1.0, delta=1e-3)
    records, noise = np.array([1.0, 0.5, 0.0]), np.random.default_rng(4).laplace(size=(50, 6))
    for row, released in zip(noise, mechanism.run(records, noise), strict=True):
        svt = session(records.tolist(), hits=2)
        expected = [svt.ask(lambda x: x, 1.0 - extra) is not WITHHELD for extra in row]
        assert released.tolist() == expected


def test_sums_of_no_records_are_released_by_their_noise_alone() -> None:
    mechanism = RepeatedSums(size=0, queries=3, hits=1, epsilon=1.0, threshold=-100.0, delta=1e-3)
    assert len(mechanism.sample(np.zeros(0), 5, np.random.default_rng(0))) == 5
