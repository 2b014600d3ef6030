"""Filter rules as pure functions of offers and outcomes.

Self-reporting filter: Lebensold, Precup and Balle 2024, Alg 2 = Alg 4, with the budget for delta that its
theorem needs. Fully adaptive filter: Whitehouse et al. 2023, as cited by the former, Thm 20.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, is_at_most, sum_balls
from dpassay.spec.interactions.transcripts import Round
from dpassay.spec.rational import Ratio, product

__all__ = [
    "FullyAdaptiveRule",
    "FullyAdaptiveState",
    "SelfReportingRule",
    "advanced_epsilon",
    "longest_run",
    "sum_of_squares",
    "within_advanced_budget",
]

SelfReportingState = tuple[Ratio, Fraction]


@dataclass(frozen=True)
class SelfReportingRule:
    """Admit while the charges so far plus the a-priori epsilon of the offer are below the budget.

    The state is (e^spend, prod(1 - delta_t)); an admitted round spends the ex-post bound of its outcome, and the
    delta of its a-priori guarantee.

    Parameters
    ----------
    budget : Fraction
        e^epsilon, at least 1.
    delta : Fraction
        Budget for 1 - prod(1 - delta_t): the guarantee is (epsilon, delta). The paper has none (1 disables it).
    halts_on_equality : bool
        Whether reaching the budget exactly halts, as printed. The proof does not need it.
    """

    budget: Fraction
    delta: Fraction = Fraction(1)
    halts_on_equality: bool = True

    def __post_init__(self) -> None:
        if not self.budget >= 1:
            raise UsageError(f"budget must be e^epsilon, at least 1, got {self.budget!r}")
        if not 0 <= self.delta <= 1:
            raise UsageError(f"delta must lie in [0, 1], got {self.delta!r}")

    def start(self) -> SelfReportingState:
        """Return the state before any charge."""
        return Fraction(1), Fraction(1)

    def admits(self, state: SelfReportingState, offer: Round) -> bool:
        """Return whether the worst outcome of the offer would stay within the budget."""
        spent, survival = state
        reached = product(spent, offer.ratio_max)
        within = reached < self.budget if self.halts_on_equality else reached <= self.budget
        return within and 1 - survival * (1 - offer.probabilistic_delta) <= self.delta

    def spend(self, state: SelfReportingState, offer: Round, outcome: Hashable) -> SelfReportingState:
        """Charge the loss that the outcome reports."""
        spent, survival = state
        return product(spent, offer.charge(outcome)), survival * (1 - offer.probabilistic_delta)


FullyAdaptiveState = tuple[tuple[tuple[Fraction, int], ...], Fraction]


@dataclass(frozen=True)
class FullyAdaptiveRule:
    """Admit while sqrt(2 log(1/delta') sum eps_m^2) + sum eps_m^2 / 2 <= epsilon and sum delta_m <= delta''.

    The sums include the offer, so that the first mechanism may be refused too. The state is (how often each
    e^(eps_m) was spent, sum delta_m).

    Parameters
    ----------
    budget : Fraction
        e^epsilon, above 1.
    slack_delta : Fraction
        delta', in (0, 1].
    delta : Fraction
        delta'', the budget for the sum of the delta_m.
    """

    budget: Fraction
    slack_delta: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not self.budget > 1:
            raise UsageError(f"budget must be e^epsilon, above 1, got {self.budget!r}")
        if not 0 < self.slack_delta <= 1:
            raise UsageError(f"slack_delta must lie in (0, 1], got {self.slack_delta!r}")
        if not 0 <= self.delta <= 1:
            raise UsageError(f"delta must lie in [0, 1], got {self.delta!r}")

    @property
    def total_delta(self) -> Fraction:
        """The delta of the guarantee, delta' + delta''."""
        return self.slack_delta + self.delta

    def start(self) -> FullyAdaptiveState:
        """Return the state before any charge."""
        return (), Fraction(0)

    def admits(self, state: FullyAdaptiveState, offer: Round) -> bool:
        """Return whether the sums, the offer included, stay within the budget."""
        counts, delta = self.spend(state, offer, None)
        return delta <= self.delta and within_advanced_budget(counts, self.budget, self.slack_delta)

    def spend(self, state: FullyAdaptiveState, offer: Round, outcome: Hashable) -> FullyAdaptiveState:  # noqa: ARG002
        """Add the a-priori parameters of the offer; the charge does not depend on the outcome."""
        counts, delta = dict(state[0]), state[1] + offer.approximate_delta
        if offer.ratio_max > 1:
            counts[offer.ratio_max] = counts.get(offer.ratio_max, 0) + 1
        return tuple(sorted(counts.items())), delta


@lru_cache(maxsize=4096)
def within_advanced_budget(counts: tuple[tuple[Fraction, int], ...], budget: Fraction, slack_delta: Fraction) -> bool:
    """Decide sqrt(2 log(1/delta') V) + V/2 <= log budget, V = sum count log(ratio)^2, by balls that separate.

    Raises
    ------
    UndecidedError
        If they do not within 1024 bits (equality needs an algebraic relation between logarithms).
    """
    if not counts:
        return True
    return is_at_most(
        lambda: advanced_epsilon(sum_of_squares(counts), ball(slack_delta)),
        lambda: ball(budget).log(),
        f"the spend of {counts} and the budget {budget}",
    )


def advanced_epsilon(sum_of_squares: arb, slack_delta: arb) -> arb:
    """Enclose sqrt(2 log(1/delta') V) + V/2, the epsilon of mechanisms whose epsilons have squares that sum to V."""
    return (-2 * slack_delta.log() * sum_of_squares).sqrt() + sum_of_squares / 2


def sum_of_squares(counts: Iterable[tuple[Fraction, int]]) -> arb:
    """Enclose sum count log(ratio)^2."""
    logs = ((ball(ratio).log(), count) for ratio, count in counts)
    return sum_balls(count * x * x for x, count in logs)


def longest_run(offer_ratio: Fraction, rule: FullyAdaptiveRule) -> int:
    """Return N of Thm 20 for equal pure mechanisms, the number that the rule admits."""
    if offer_ratio == 1:
        raise UsageError("offer_ratio must be above 1: mechanisms without loss are admitted for ever")

    def admitted(count: int) -> bool:
        return count == 0 or within_advanced_budget(((offer_ratio, count),), rule.budget, rule.slack_delta)

    high = 1
    while admitted(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if admitted(middle) else (low, middle)
    return low
