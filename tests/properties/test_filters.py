"""The filters that run, driven at random against the exact rules.

Epsilons are multiples of 2^-10 (so that sums in float64 are exact) and enter the rule of the specification as
powers of two: the order of sums is the order of products. Deltas are arbitrary float64 numbers, compared exactly.
An implementation may refuse a little early; it must never admit what the exact rule refuses.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from dpassay.impl.accounting.filters import (
    BudgetExceeded,
    FullyAdaptiveFilter,
    Offer,
    OfferedMechanism,
    PrivacyFilter,
    Remaining,
    SelfReportingFilter,
    run_filtered,
)
from dpassay.spec.ball import ball, precision
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.filter_rules import SelfReportingRule, advanced_epsilon
from dpassay.spec.interactions.transcripts import Round, branches, repeated
from dpassay.spec.rational import Ratio

UNIT = 2.0**-10
EARLY = Fraction(1, 2**40)
"""The largest relative share of a budget that an implementation may leave unused when it refuses."""

STEPS = st.one_of(st.integers(0, 8), st.integers(0, 2000))
DELTAS = st.one_of(
    st.sampled_from([0.0, 0.125, 0.01, 0.05, 1e-5, 1e-12, 1e-300, 1.0]), st.floats(0, 0.2), st.floats(0, 1)
)
LOSSES = st.one_of(STEPS, st.none())


def exact_round(epsilon: int, delta: float, charge: int) -> Round:
    """Return a round with those parameters: it leaks everything with probability delta."""
    share = Fraction(delta)
    left = FiniteDistribution({"left": share, "nothing": 1 - share})
    right = FiniteDistribution({"right": share, "nothing": 1 - share})
    charges: dict[Hashable, Ratio] = {"left": math.inf, "right": math.inf, "nothing": Fraction(2) ** charge}
    return Round(left, right, Fraction(2) ** epsilon, charges)


def spends_nothing_when_refused(real: PrivacyFilter, offer: Offer, loss: float) -> Remaining:
    before: Remaining = real.remaining
    with pytest.raises(BudgetExceeded) as refusal:
        real.spend(offer, loss)
    assert real.remaining == before == refusal.value.remaining
    return before


class SelfReportingMachine(RuleBasedStateMachine):
    """Offers and outcomes in any order; often the offer that just reaches the budget."""

    make: Callable[[float, float], SelfReportingFilter] = SelfReportingFilter

    @initialize(budget=st.one_of(st.integers(1, 16), st.integers(1, 4000)), delta=DELTAS)
    def begin(self, budget: int, delta: float) -> None:
        self.real = type(self).make(budget * UNIT, delta)
        self.exact = SelfReportingRule(Fraction(2) ** budget, Fraction(delta))
        self.early = SelfReportingRule(Fraction(2) ** budget, Fraction(delta) * (1 - EARLY))
        self.state = self.exact.start()
        self.refused: list[Offer] = []

    @rule(epsilon=STEPS, delta=DELTAS, loss=LOSSES)
    def run(self, epsilon: int, delta: float, loss: int | None) -> None:
        self.offer(epsilon, delta, loss)

    @precondition(lambda self: 0 < self.real.remaining.epsilon < math.inf)
    @rule(beyond=st.sampled_from([-1, 0, 1]), loss=LOSSES)
    def run_what_just_reaches_the_budget(self, beyond: int, loss: int | None) -> None:
        self.offer(max(0, round(self.real.remaining.epsilon / UNIT) + beyond), 0.0, loss)

    @rule(loss=LOSSES)
    def run_what_uses_up_delta(self, loss: int | None) -> None:
        self.offer(0, self.real.remaining.delta, loss)

    def offer(self, epsilon: int, delta: float, loss: int | None) -> None:
        offer = Offer(epsilon * UNIT, delta)
        mechanism = exact_round(epsilon, delta, loss or 0)
        reported = math.inf if loss is None else loss * UNIT
        if self.real.would_exceed(offer):
            assert not self.early.admits(self.state, mechanism)
            spends_nothing_when_refused(self.real, offer, reported)
            self.refused.append(offer)
        else:
            assert self.exact.admits(self.state, mechanism)
            self.real.spend(offer, reported)
            self.state = self.exact.spend(self.state, mechanism, "nothing" if loss is not None else "left")

    @precondition(lambda self: self.refused)
    @rule(data=st.data())
    def refused_once_refused_for_ever(self, data: st.DataObject) -> None:
        assert self.real.would_exceed(data.draw(st.sampled_from(self.refused)))

    @invariant()
    def tells_what_is_left(self) -> None:
        spent, survival = self.state
        left = self.real.remaining
        if isinstance(spent, Fraction):
            assert spent * Fraction(2) ** round((left.epsilon) / UNIT) == self.exact.budget
        else:
            assert left.epsilon == -math.inf
        assert left.delta <= max(0.0, float(self.exact.delta - (1 - survival)) * (1 + 1e-12) + 1e-18)


class FullyAdaptiveMachine(RuleBasedStateMachine):
    """Offers in any order; the model is the sum of squares, exactly."""

    make: Callable[[float, float, float], FullyAdaptiveFilter] = FullyAdaptiveFilter

    @initialize(
        epsilon=st.sampled_from([1.0, 0.1, 5.0, 1e-3, 30.0]),
        slack=st.sampled_from([1e-5, 0.01, 0.5, 1e-300, 0.999]),
        delta=DELTAS,
    )
    def begin(self, epsilon: float, slack: float, delta: float) -> None:
        self.real = type(self).make(epsilon, slack, delta)
        self.whole = self.real.remaining.epsilon
        self.squares, self.deltas = Fraction(0), Fraction(0)

    def within(self, offer: Offer, share: Fraction) -> bool:
        """Decide Thm 20 for a share of the budgets, at a precision at which the balls separate."""
        squares = self.squares + Fraction(offer.epsilon) ** 2
        with precision(256):
            needed = advanced_epsilon(ball(squares), ball(self.real.delta_slack))
            allowed = ball(Fraction(self.real.epsilon) * share)
            assert needed <= allowed or needed > allowed
            deltas = self.deltas + Fraction(offer.delta)
            return bool(needed <= allowed) and deltas <= Fraction(self.real.delta_mechanisms)

    @rule(share=st.floats(0, 1.5), delta=DELTAS)
    def run(self, share: float, delta: float) -> None:
        offer = Offer(share * self.real.remaining.epsilon, delta)
        if self.real.would_exceed(offer):
            assert not self.within(offer, 1 - EARLY)
            spends_nothing_when_refused(self.real, offer, 0.0)
        else:
            assert self.within(offer, Fraction(1))
            self.real.spend(offer)
            self.squares += Fraction(offer.epsilon) ** 2
            self.deltas += Fraction(offer.delta)

    @invariant()
    def what_is_left_fits_and_more_does_not(self) -> None:
        left = self.real.remaining
        assert left.epsilon >= 0
        assert left.delta >= 0
        # rounding the square of the whole down by 2^-46 of itself hides at most 2^-23 of the whole
        assert self.real.would_exceed(Offer(left.epsilon * (1 + 1e-9) + 1e-6 * self.whole))
        # a bound that is rounded up by 2^-48 of itself takes 2^-48 squares / left^2 of what is left
        if left.epsilon**2 > self.squares / 1000:
            assert not self.real.would_exceed(Offer(left.epsilon * (1 - 1e-9)))


TestSelfReportingFilter = SelfReportingMachine.TestCase
TestSelfReportingFilter.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
TestFullyAdaptiveFilter = FullyAdaptiveMachine.TestCase
TestFullyAdaptiveFilter.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)


class HaltsOnGreater(SelfReportingFilter):
    def would_exceed(self, offer: Offer) -> bool:
        return self._spent + Fraction(offer.epsilon) > Fraction(self.epsilon)


class DeltaOfOneRound(SelfReportingFilter):
    def _one_minus_survival(self, delta: float) -> float:
        return delta


class ChargesThePriorEpsilon(SelfReportingFilter):
    def spend(self, offer: Offer, loss: float) -> None:
        super().spend(offer, offer.epsilon if loss >= 0 else loss)


class ForgetsAnInfiniteLoss(SelfReportingFilter):
    def spend(self, offer: Offer, loss: float) -> None:
        super().spend(offer, loss)
        self._unbounded = False


class SumInPlaceOfSquares(FullyAdaptiveFilter):
    def would_exceed(self, offer: Offer) -> bool:
        return math.sqrt(self._squares) + offer.epsilon > self.epsilon


class NoLookAhead(FullyAdaptiveFilter):
    def would_exceed(self, offer: Offer) -> bool:  # noqa: ARG002  # the signature of a filter
        return super().would_exceed(Offer(0.0, 0.0))


@pytest.mark.parametrize(
    ("machine", "mutant"),
    [
        (SelfReportingMachine, HaltsOnGreater),
        (SelfReportingMachine, DeltaOfOneRound),
        (SelfReportingMachine, ChargesThePriorEpsilon),
        (SelfReportingMachine, ForgetsAnInfiniteLoss),
        (FullyAdaptiveMachine, SumInPlaceOfSquares),
        (FullyAdaptiveMachine, NoLookAhead),
    ],
)
def test_the_machines_catch_broken_filters(machine: type[RuleBasedStateMachine], mutant: type) -> None:
    broken = type("BrokenMachine", (machine,), {"make": mutant})
    quick = settings(
        max_examples=200, deadline=None, database=None, phases=(Phase.generate,), report_multiple_bugs=False
    )
    with pytest.raises((AssertionError, BudgetExceeded, pytest.fail.Exception)):
        run_state_machine_as_test(broken, settings=quick)


OFFERS = st.lists(st.tuples(st.integers(0, 6), st.sampled_from([0.0, 0.25, 0.5]), st.integers(0, 6)), max_size=5)


@settings(max_examples=50, deadline=None)
@given(OFFERS, st.integers(1, 12), st.sampled_from([1.0, 0.5, 0.0]))
def test_a_filtered_run_releases_exactly_the_transcripts_of_the_rule(
    offers: Sequence[tuple[int, float, int]], budget: int, delta: float
) -> None:
    exact = SelfReportingRule(Fraction(2) ** budget, Fraction(delta))
    mechanisms = [exact_round(*offer) for offer in offers]
    for branch in branches(repeated(mechanisms), exact):
        # what would come out of the rounds that the filter must not run
        outcomes: list[Hashable] = [*branch.transcript, *["nothing"] * len(offers)]

        def choose(released: Sequence[Hashable], outcomes: list[Hashable] = outcomes) -> OfferedMechanism | None:
            k = len(released)
            if k == len(offers):
                return None
            epsilon, share, charge = offers[k]
            losses: dict[Hashable, float] = {"left": math.inf, "right": math.inf, "nothing": charge * UNIT}
            return OfferedMechanism(Offer(epsilon * UNIT, share), lambda: outcomes[k], lambda outcome: losses[outcome])

        released = run_filtered(SelfReportingFilter(budget * UNIT, delta), choose)
        assert tuple(released) == branch.transcript


# --- found by the machines ----------------------------------------------------------------------------------


def test_a_spent_delta_admits_nothing_more_however_little() -> None:
    real = SelfReportingFilter(1.0, 0.125)
    real.spend(Offer(0.0, 0.125), 0.0)
    assert real.would_exceed(Offer(0.0, 1e-300))


def test_the_largest_offer_that_is_left_fits() -> None:
    real = FullyAdaptiveFilter(1.0, 1e-5)
    real.spend(Offer(real.remaining.epsilon))
    assert not real.would_exceed(Offer(real.remaining.epsilon))
