"""Places of the marks in the pictures of the report."""

import math
from types import SimpleNamespace
from typing import Any

import pytest

from dpassay.properties.report.pictures import WIDTH, Axis, bars_of, spans_of
from dpassay.spec.statement import Severity


def erratum(detail: str | None, severity: Severity = Severity.ERROR) -> Any:
    return SimpleNamespace(detail=detail, anchor="a", record=SimpleNamespace(severity=severity, item="Thm 1"))


def finding(claimed: Any, certified: Any, kind: str = "violation") -> Any:
    record = SimpleNamespace(finding=kind, claimed=claimed, certified=certified, mechanism="m", law="l")
    return SimpleNamespace(anchor="a", record=record)


def test_bars_are_as_long_as_their_numbers() -> None:
    (bars,) = bars_of([erratum("delta = 0.4 (exact), but at most 0.1 is allowed")])
    assert (bars.claimed, bars.certified) == ("0.1", "0.4")
    assert (bars.claimed_width, bars.certified_width) == (WIDTH // 4, WIDTH)


@pytest.mark.parametrize(
    "row",
    [
        erratum("2 (certified), but at most 1 is allowed", Severity.INTERPRETATION),
        erratum("quality: 1 differs from 1/4"),
        erratum("1/3 (exact), but at most 1/4 is allowed"),
        erratum("inf (certified), but at most 1 is allowed"),
        erratum("0 (certified), but at most -1 is allowed"),
        erratum(None),
    ],
)
def test_errata_without_two_numbers_have_no_bars(row: Any) -> None:
    assert bars_of([row]) == []


def test_findings_lie_on_a_logarithmic_axis() -> None:
    picture = spans_of([finding(1.0, 10.0), finding(0.1, 100.0), finding(1.0, 1.0, "ok")])
    assert picture is not None
    assert picture.axis == Axis(-1, 2)
    assert [(one.claimed_place, one.certified_place) for one in picture.spans] == [(0, WIDTH), (120, 240)]
    assert picture.left_out == 0


def test_zero_and_infinity_stand_at_the_ends() -> None:
    picture = spans_of([finding(0.0, 2.0), finding(1.0, "inf"), finding(1e-30, 1.0), finding(None, 1.0)])
    assert picture is not None
    ends = [(one.claimed_place, one.certified_place) for one in picture.spans]
    assert ends[0][0] == 0
    assert ends[1][1] == WIDTH
    assert picture.axis.high - picture.axis.low <= 13
    assert spans_of([finding(1.0, 2.0, "ok"), finding(math.nan, 1.0)]) is None


def test_the_largest_factors_come_first_and_the_rest_is_counted() -> None:
    picture = spans_of([finding(1.0, 1.0 + k) for k in range(1, 60)])
    assert picture is not None
    assert picture.left_out == 19
    assert picture.spans[0].certified == 60.0
