"""The instrument that fixes the values of bounds: it must see what is off, in either direction."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import at_least, at_most, ball
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.recording import recorded
from dpassay.spec.rational import at_most_exact
from dpassay.spec.verdict import Outcome, Verdict, conjunction


def scaled(pin: Pin, claim: Callable[..., Verdict], index: int, factor: Fraction) -> Outcome:
    """Return the outcome with the larger side of one inequality multiplied by a factor."""
    verdict, sides = pin.measure(claim)
    larger = sides[index].larger
    sides[index] = replace(sides[index], larger=lambda: ball(factor) * larger())
    return pin.judge(verdict, sides).outcome


def slack_bound(x: int) -> Verdict:
    return at_most(lambda: ball(x).sqrt(), lambda: ball(x) + 1)


def two_bounds(x: Fraction) -> Verdict:
    return conjunction([at_most_exact(x, x, "x"), at_least(lambda: ball(3 * x), lambda: ball(x))])


@pytest.mark.parametrize(
    "pin",
    [
        Pin({"x": 4}, "arithmetic", larger=lambda x: x + 1, smaller=lambda x: 2),
        Pin({"x": 2}, "arithmetic", larger=lambda x: 3, smaller=lambda x: [arb(2).exp().log().sqrt()]),
        Pin({"x": 2}, "3 / 1.41421", tightness=(Fraction("2.1213"), Fraction("2.1214"))),
    ],
)
def test_a_pin_holds_at_the_value_and_sees_two_per_cent(pin: Pin) -> None:
    assert pin.check(slack_bound).outcome is Outcome.HOLDS
    for factor in (Fraction(98, 100), Fraction(102, 100)):
        assert scaled(pin, slack_bound, 0, factor) is Outcome.VIOLATED


def test_a_wrong_reference_is_seen_on_either_side() -> None:
    wrong = Fraction(2 * 10**9 + 1, 10**9)
    assert Pin({"x": 4}, "", smaller=lambda x: wrong).check(slack_bound).outcome is Outcome.VIOLATED
    assert Pin({"x": 4}, "", larger=lambda x: wrong + 3).check(slack_bound).outcome is Outcome.VIOLATED


def test_a_reference_is_computed_anew_by_the_next_check() -> None:
    """A test may replace what it is computed with, and put it back."""
    root = {"of 4": 2}
    pin = Pin({"x": 4}, "", smaller=lambda: root["of 4"])
    for value, outcome in ((2, Outcome.HOLDS), (3, Outcome.VIOLATED), (2, Outcome.HOLDS)):
        root["of 4"] = value
        assert pin.check(slack_bound).outcome is outcome


def test_a_pin_without_references_says_that_the_bound_is_attained() -> None:
    attained = lambda x: at_most_exact(x, x, "x")
    assert Pin({"x": Fraction(1)}, "").check(attained).outcome is Outcome.HOLDS
    assert scaled(Pin({"x": Fraction(1)}, ""), attained, 0, 1 + Fraction(1, 10**9)) is Outcome.VIOLATED
    assert Pin({"x": Fraction(1)}, "").check(two_bounds).outcome is Outcome.VIOLATED  # the second one is not


def test_a_comparison_may_be_left_out_but_not_all_and_none_may_be_forgotten() -> None:
    point = {"x": Fraction(1)}
    assert Pin(point, "", larger=lambda x: [x, None]).check(two_bounds).outcome is Outcome.HOLDS
    assert scaled(Pin(point, "", larger=lambda x: [x, 3 * x]), two_bounds, 1, Fraction(2)) is Outcome.VIOLATED
    assert Pin(point, "", larger=lambda x: [x]).check(two_bounds).outcome is Outcome.VIOLATED
    assert Pin(point, "", larger=lambda x: [None, None]).check(two_bounds).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("window", [None, (1, 1)])
def test_without_references_the_number_of_inequalities_is_counted(window: tuple[int, int] | None) -> None:
    attained_twice = lambda x: conjunction(at_most_exact(x, x, name) for name in "xy")
    outcomes = [
        Pin({"x": Fraction(1)}, "", tightness=window, count=n).check(attained_twice).outcome for n in (1, 2, 3)
    ]
    assert outcomes == [Outcome.VIOLATED, Outcome.HOLDS, Outcome.VIOLATED]


def test_a_pin_of_no_inequality_is_refused() -> None:
    with pytest.raises(UsageError, match="count must be at least 1"):
        Pin({}, "", count=0)


def test_a_claim_that_fails_at_its_pin_fails() -> None:
    false = lambda x: at_most(lambda: ball(x), lambda: ball(x - 1))
    assert Pin({"x": 1}, "", larger=lambda x: x - 1).check(false).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("window", [(2, 1), (1, Fraction(102, 100)), (0, 0)])
def test_a_wide_window_is_refused(window: tuple[int, Fraction]) -> None:
    with pytest.raises(UsageError, match="tightness must be a window"):
        Pin({}, "", tightness=window)


def test_a_coarse_agreement_is_refused() -> None:
    with pytest.raises(UsageError, match="within"):
        Pin({}, "", within=Fraction(1, 50))


def test_nothing_is_recorded_outside_a_block() -> None:
    with recorded() as comparisons:
        slack_bound(2)
    slack_bound(3)
    assert len(comparisons) == 1
