"""Privacy filters: they admit adaptively chosen mechanisms while a budget lasts, and refuse before one is run."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from dpassay.claims import UsageError, require_at_least, require_positive, require_probability

__all__ = [
    "BudgetExceeded",
    "FullyAdaptiveFilter",
    "Offer",
    "PrivacyFilter",
    "Remaining",
    "Round",
    "SelfReportingFilter",
    "run_filtered",
]

_ROUNDING = 1 + 2.0**-48  # of the few float64 operations between the exact sums and a comparison


@dataclass(frozen=True)
class Offer:
    """What a mechanism promises before it runs; neither figure may depend on the data.

    Parameters
    ----------
    epsilon : float
        For a self-reporting filter the epsilon_max of probabilistic DP, for a fully adaptive one that of
        approximate DP; at least 0.
    delta : float
        The delta that goes with it, in [0, 1].
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        require_at_least("epsilon", self.epsilon, 0)
        require_probability("delta", self.delta)


@dataclass(frozen=True)
class Remaining:
    """What is left of a budget; epsilon is negative if the last outcome cost more than was left."""

    epsilon: float
    delta: float


class BudgetExceeded(RuntimeError):  # noqa: N818  # it names what happened; running out is not a fault
    """Raised when an offer does not fit; nothing has been spent.

    Parameters
    ----------
    offer : Offer
        What was refused.
    remaining : Remaining
        What the filter had left, and still has.
    """

    def __init__(self, offer: Offer, remaining: Remaining) -> None:
        super().__init__(f"{offer} does not fit into {remaining}")
        self.offer = offer
        self.remaining = remaining


class PrivacyFilter(Protocol):
    """The interface of all filters."""

    @property
    def remaining(self) -> Remaining:
        """What is left."""
        ...

    def would_exceed(self, offer: Offer) -> bool:
        """Whether a mechanism with this offer must not be run."""
        ...

    def spend(self, offer: Offer, loss: float) -> None:
        """Charge a mechanism that has been run, `loss` being its ex-post bound at the outcome.

        Raises
        ------
        BudgetExceeded
            If the offer did not fit; nothing is charged.
        """
        ...


class SelfReportingFilter:
    """Charges what outcomes report: admits while the sum so far plus the next epsilon_max stays below epsilon.

    Lebensold, Precup and Balle 2024, Alg 2 = Alg 4, with delta accounted for: their Thm 11 = Thm 19 claims the delta
    of a single round, although an improbable large loss makes its round the last one and may come in any round. The
    composition is (epsilon, delta)-probabilistically DP with delta = 1 - product of (1 - delta_t) over the rounds run,
    so a round whose delta would carry that past the budget is refused.

    Parameters
    ----------
    epsilon : float
        Budget, positive.
    delta : float
        Budget, in [0, 1].

    Raises
    ------
    UsageError
        If a budget is out of its domain.
    """

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon = require_positive("epsilon", epsilon)
        self.delta = require_probability("delta", delta)
        self._spent = Fraction(0)
        self._unbounded = False
        self._delta_sum = Fraction(0)
        self._log_survival = Fraction(0)
        self._certain = False  # a round of delta 1 has been run

    @property
    def remaining(self) -> Remaining:
        """What is left of both budgets."""
        epsilon = -math.inf if self._unbounded else float(Fraction(self.epsilon) - self._spent)
        return Remaining(epsilon, max(0.0, self.delta - self.delta_spent))

    @property
    def delta_spent(self) -> float:
        """The delta of the composition so far, rounded up unless it is the plain sum."""
        return min(float(self._delta_sum), self._one_minus_survival(0.0))

    def would_exceed(self, offer: Offer) -> bool:
        """Whether the reports so far plus the offer's epsilon reach epsilon, or its delta breaks that budget."""
        too_dear = self._unbounded or self._spent + Fraction(offer.epsilon) >= Fraction(self.epsilon)
        # The sum of the deltas bounds their composition too, and is exact: one round may use the budget up.
        within = self._delta_sum + Fraction(offer.delta) <= Fraction(self.delta)
        return too_dear or not (within or self._one_minus_survival(offer.delta) <= self.delta)

    def spend(self, offer: Offer, loss: float) -> None:
        """Charge the reported loss, at least 0 and possibly infinite, and the offer's delta.

        Raises
        ------
        BudgetExceeded
            If the offer did not fit; nothing is charged.
        UsageError
            If `loss` is negative or not a number.
        """
        if not loss >= 0:
            raise UsageError(f"loss must be at least 0, got {loss!r}")
        if self.would_exceed(offer):
            raise BudgetExceeded(offer, self.remaining)
        if math.isinf(loss):
            self._unbounded = True
        else:
            self._spent += Fraction(loss)
        self._delta_sum += Fraction(offer.delta)
        if offer.delta == 1:
            self._certain = True
        else:
            self._log_survival += Fraction(math.log1p(-offer.delta))

    def _one_minus_survival(self, delta: float) -> float:
        if self._certain or delta == 1:
            return 1.0
        return -math.expm1(float(self._log_survival) + math.log1p(-delta)) * _ROUNDING


class FullyAdaptiveFilter:
    """Advanced composition with adaptively chosen parameters, at the constants of fixed ones.

    Admits the next mechanism while sqrt(2 log(1/delta_slack) S) + S/2 <= epsilon, S the sum of the squared epsilons
    including the next one, and the deltas sum to at most `delta_mechanisms`. Together the mechanisms admitted are
    (epsilon, delta_slack + delta_mechanisms)-DP.

    Lebensold, Precup and Balle 2024, Thm 20 (after Whitehouse, Ramdas, Rogers and Wu 2023, Thm 1), with the sums up to
    the round in question, the very first one included; Def 21, which halts where it should continue, corrected.

    Parameters
    ----------
    epsilon : float
        Budget, positive.
    delta_slack : float
        The part of delta that pays for concentration, in (0, 1).
    delta_mechanisms : float
        The part that pays for the mechanisms' own deltas, in [0, 1].

    Raises
    ------
    UsageError
        If a budget is out of its domain.
    """

    def __init__(self, epsilon: float, delta_slack: float, delta_mechanisms: float = 0.0) -> None:
        self.epsilon = require_positive("epsilon", epsilon)
        if not 0 < delta_slack < 1:
            raise UsageError(f"delta_slack must lie in (0, 1), got {delta_slack!r}")
        self.delta_slack = delta_slack
        self.delta_mechanisms = require_probability("delta_mechanisms", delta_mechanisms)
        self._squares = Fraction(0)
        self._delta_sum = Fraction(0)

    @property
    def remaining(self) -> Remaining:
        """The largest single offer that would still fit, rounded down."""
        # With L = sqrt(2 log(1/delta')), L r + r^2/2 = epsilon at r = sqrt(L^2 + 2 epsilon) - L.
        slack = math.sqrt(-2 * math.log(self.delta_slack))
        root = 2 * self.epsilon / (math.sqrt(slack**2 + 2 * self.epsilon) + slack) / _ROUNDING**4
        epsilon = math.sqrt(max(0.0, root**2 - float(self._squares)))
        return Remaining(epsilon, float(Fraction(self.delta_mechanisms) - self._delta_sum))

    def would_exceed(self, offer: Offer) -> bool:
        """Whether the bound with this offer included is above epsilon, or the deltas above their budget."""
        squares = float(self._squares + Fraction(offer.epsilon) ** 2)
        bound = math.sqrt(-2 * math.log(self.delta_slack) * squares) + squares / 2
        too_dear = bound * _ROUNDING > self.epsilon
        return too_dear or self._delta_sum + Fraction(offer.delta) > Fraction(self.delta_mechanisms)

    def spend(self, offer: Offer, loss: float = math.nan) -> None:  # noqa: ARG002  # the promise is charged
        """Charge the offer; what the outcome reports plays no part.

        Raises
        ------
        BudgetExceeded
            If the offer did not fit; nothing is charged.
        """
        if self.would_exceed(offer):
            raise BudgetExceeded(offer, self.remaining)
        self._squares += Fraction(offer.epsilon) ** 2
        self._delta_sum += Fraction(offer.delta)


@dataclass(frozen=True)
class Round:
    """One mechanism of an interaction, ready to run.

    Parameters
    ----------
    offer : Offer
        What it promises beforehand.
    run : callable
        Runs it on the data and returns the outcome.
    loss_of : callable
        Ex-post bound of an outcome, in nats.
    """

    offer: Offer
    run: Callable[[], Any]
    loss_of: Callable[[Hashable], float] = lambda _: math.nan


def run_filtered(
    privacy_filter: PrivacyFilter, choose: Callable[[Sequence[Any]], Round | None], limit: int | None = None
) -> list[Any]:
    """Run adaptively chosen mechanisms through a filter, and return what is released.

    Lebensold, Precup and Balle 2024, Alg 2 and Alg 5; unlike the latter a mechanism is refused *before* it is run.

    Parameters
    ----------
    privacy_filter : PrivacyFilter
        Its state is advanced.
    choose : callable
        From the outcomes released so far to the next round, or None to stop; must not look at the data otherwise.
    limit : int, optional
        Largest number of rounds.

    Returns
    -------
    list
        The outcomes of the rounds that were admitted. That a round was refused follows from them.
    """
    outcomes: list[Any] = []
    while limit is None or len(outcomes) < limit:
        following = choose(tuple(outcomes))
        if following is None or privacy_filter.would_exceed(following.offer):
            break
        outcome = following.run()
        privacy_filter.spend(following.offer, following.loss_of(outcome))
        outcomes.append(outcome)
    return outcomes
