"""The interface of all privacy filters: offers, remaining budgets, refusal, and the loop that runs mechanisms."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar, Protocol

from dpassay.arguments import UsageError, require_at_least, require_positive, require_probability

__all__ = [
    "ROUNDING",
    "AnyOffer",
    "BudgetExceeded",
    "ConcentratedOffer",
    "ExPostOffer",
    "NoiseReductionOffer",
    "Offer",
    "OfferedMechanism",
    "PrivacyFilter",
    "Remaining",
    "RemainingRho",
    "exactly",
    "float_down",
    "float_up",
    "lies_between",
    "refuse_if_it_exceeds",
    "require_offer",
    "run_filtered",
]

ROUNDING = 1 + 2.0**-48  # of the few float64 operations between the exact sums and a comparison


def exactly(number: Any) -> Fraction:
    """Return a number as a rational; integers of numpy, which overflow, become integers of Python."""
    ratio = (number.numerator, number.denominator) if isinstance(number, Rational) else number.as_integer_ratio()
    return Fraction(*map(int, ratio))


def float_down(exact: Fraction) -> float:
    """Return the largest float64 number that is at most `exact`."""
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, -math.inf)


def float_up(exact: Fraction) -> float:
    """Return the smallest float64 number that is at least `exact`."""
    return 0.0 - float_down(-exact)  # not -0.0


def lies_between(low: float, value: Any, high: float) -> bool:
    """Return whether `value` is a number in [low, high]."""
    try:
        return bool(low <= value <= high)
    except (TypeError, ValueError):
        return False


@dataclass(frozen=True)
class Offer:
    """The a-priori guarantee of a mechanism; neither parameter may depend on the data.

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
class ConcentratedOffer:
    """A delta-approximate rho-zCDP mechanism; neither parameter may depend on the data.

    Parameters
    ----------
    rho : float
        At least 0.
    delta : float
        In [0, 1].
    """

    rho: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        require_at_least("rho", self.rho, 0)
        require_probability("delta", self.delta)

    @classmethod
    def of_approximate_dp(cls, epsilon: float, delta: float = 0.0) -> "ConcentratedOffer":
        """Offer an (epsilon, delta)-DP mechanism, which is delta-approximate (epsilon^2/2)-zCDP; rounded up."""
        require_at_least("epsilon", epsilon, 0)
        return cls(math.nextafter(epsilon * epsilon / 2, math.inf) if epsilon else 0.0, delta)

    @property
    def largest_cost(self) -> Fraction:
        """Worst-case rho of the mechanism; it must fit into the remaining budget."""
        return exactly(self.rho)

    def charge(self, stop: float) -> Fraction:  # noqa: ARG002  # it costs what it promised
        """Return the rho that is charged."""
        return exactly(self.rho)


@dataclass(frozen=True)
class ExPostOffer:
    """An ex-post private mechanism: the largest ex-post bound of its outcomes, and its delta.

    Parameters
    ----------
    epsilon : float
        The largest ex-post bound over all outcomes, in nats; at least 0.
    delta : float
        In [0, 1].
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        require_at_least("epsilon", self.epsilon, 0)
        require_probability("delta", self.delta)


@dataclass(frozen=True)
class NoiseReductionOffer:
    """A run of Brownian noise reduction: the largest precision u = 1/t of its grid, its worst-case stop.

    Parameters
    ----------
    precision : float
        1/t at the smallest time of the grid, positive.
    sensitivity : float
        Euclidean sensitivity of the query, at least 0.
    """

    precision: float
    sensitivity: float = 1.0
    delta: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        require_positive("precision", self.precision)
        require_at_least("sensitivity", self.sensitivity, 0)

    @classmethod
    def of_time(cls, time: float, sensitivity: float = 1.0) -> "NoiseReductionOffer":
        """Offer a grid that ends at `time`, with the float64 precision 1/time of `BrownianRun.precision`."""
        return cls(1 / float(require_positive("time", time)), sensitivity)

    def cost(self, precision: float) -> Fraction:
        """Return sensitivity^2 u / 2, the zCDP parameter of a stop at precision u, exactly."""
        return exactly(self.sensitivity) ** 2 * exactly(precision) / 2

    @property
    def largest_cost(self) -> Fraction:
        """Worst-case rho of the run; it must fit into the remaining budget before the run."""
        return self.cost(self.precision)

    def charge(self, stop: float) -> Fraction:
        """Return the cost of the actual stop.

        Raises
        ------
        UsageError
            If the precision at the stop is not positive or above the one offered.
        """
        if not (lies_between(0, stop, self.precision) and stop > 0):
            raise UsageError(f"the precision at the stop must lie in (0, {self.precision!r}], got {stop!r}")
        return self.cost(stop)


AnyOffer = Offer | ConcentratedOffer | ExPostOffer | NoiseReductionOffer


@dataclass(frozen=True)
class Remaining:
    """A remaining budget; epsilon is negative if the last outcome cost more than the remaining budget."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class RemainingRho:
    """A remaining budget for concentrated mechanisms."""

    rho: float
    delta: float


class BudgetExceeded(RuntimeError):  # noqa: N818  # it names what happened; running out is not a fault
    """Raised if an offer exceeds the remaining budget; nothing is charged.

    Parameters
    ----------
    offer : AnyOffer
        The refused offer.
    remaining : object
        What the filter had left, and still has; of the type of its property `remaining`.
    """

    def __init__(self, offer: AnyOffer, remaining: Any) -> None:
        super().__init__(f"{offer} does not fit into {remaining}")
        self.offer = offer
        self.remaining = remaining


class PrivacyFilter(Protocol):
    """The interface of all filters; a filter raises `UsageError` for offers of a kind that it does not accept."""

    @property
    def remaining(self) -> Any:
        """The remaining budget."""
        ...

    def would_exceed(self, offer: Any) -> bool:
        """Return whether a mechanism with this offer must be refused."""
        ...

    def spend(self, offer: Any, loss: float) -> None:
        """Charge a mechanism that has run; `loss` is the charge of its outcome (`Round.loss_of`).

        Raises
        ------
        BudgetExceeded
            If the offer did not fit; nothing is charged.
        """
        ...


def require_offer(offer: Any, *accepted: type) -> None:
    """Raise `UsageError` if a filter does not accept offers of this kind."""
    if not isinstance(offer, accepted):
        raise UsageError(f"offer must be of type {' or '.join(kind.__name__ for kind in accepted)}, got {offer!r}")


def refuse_if_it_exceeds(privacy_filter: PrivacyFilter, offer: AnyOffer) -> None:
    """Raise `BudgetExceeded` if a filter does not admit an offer."""
    if privacy_filter.would_exceed(offer):
        raise BudgetExceeded(offer, privacy_filter.remaining)


@dataclass(frozen=True)
class OfferedMechanism:
    """One mechanism of an interaction, with its offer.

    Parameters
    ----------
    offer : Offer
        Its guarantee in advance.
    run : callable
        Runs it on the data and returns the outcome.
    loss_of : callable
        What an outcome is charged, where the filter asks for it: its ex-post bound in nats, or the precision at
        which noise reduction stopped.
    """

    offer: AnyOffer
    run: Callable[[], Any]
    loss_of: Callable[[Hashable], float] = lambda _: math.nan


def run_filtered(
    privacy_filter: PrivacyFilter, choose: Callable[[Sequence[Any]], OfferedMechanism | None], limit: int | None = None
) -> list[Any]:
    """Run adaptively chosen mechanisms through a filter and return the outcomes.

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
