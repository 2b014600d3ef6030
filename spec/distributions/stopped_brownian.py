"""A Brownian motion observed twice and stopped by a rule on the release.

Information time u = 1/t: W(u) = u B(1/u) is a Brownian motion, a run of Brownian noise reduction releases
y = f + W(u)/u, and what is spent is u. A run that may stop at the first of two times, on whatever is released there,
is the smallest one whose stopping is adaptive; longer ones are stopped by the same argument, backwards from the end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from dpassay.spec.ball import ball, normal_cdf
from dpassay.spec.domains.base import Domain
from dpassay.spec.numerics.smoothing import Entire, normal_distribution_function

__all__ = ["StoppedRun", "StoppedRuns", "stopped_mean", "stopped_probability_below"]

Interval = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True)
class StoppedRun:
    """A run at precisions `first` < `second` that ends at the first if the release lies in a window.

    Parameters
    ----------
    first, second : Fraction
        Precisions, 0 < first < second.
    low, high : Fraction
        The window for the release; it is open or closed at no cost.
    inside : bool
        Whether the run ends inside the window, or outside of it.
    answer : Fraction
        The true answer f.
    """

    first: Fraction
    second: Fraction
    low: Fraction
    high: Fraction
    inside: bool = True
    answer: Fraction = Fraction(0)

    @property
    def window(self) -> tuple[Fraction, Fraction]:
        """The window for W(first): the release is answer + W/first."""
        return (self.low - self.answer) * self.first, (self.high - self.answer) * self.first

    @property
    def stops(self) -> tuple[Interval, ...]:
        """The values of W(first) at which the run ends there."""
        low, high = self.window
        return ((low, high),) if self.inside else ((None, low), (high, None))

    @property
    def goes_on(self) -> tuple[Interval, ...]:
        """The values of W(first) at which the run continues."""
        low, high = self.window
        return ((None, low), (high, None)) if self.inside else ((low, high),)


def stopped_mean(run: StoppedRun, payoff: Callable[[Fraction], Entire]) -> arb:
    """Enclose E[payoff(u)(W(u))] at the precision u at which the run ends.

    The second step is averaged by itself, at every value of the first one; nothing about martingales is used.

    Parameters
    ----------
    run : StoppedRun
        The run.
    payoff : callable
        From the precision at the end to a function of W there.
    """
    first, step = ball(run.first), ball(run.second - run.first)
    at_once, later = payoff(run.first), payoff(run.second).smoothed(step)
    total = arb(0)
    for function, pieces in ((at_once, run.stops), (later, run.goes_on)):
        for low, high in pieces:
            total = total + function.mean_between(first, _end(low), _end(high))
    return total


def stopped_probability_below(run: StoppedRun, end: Callable[[Fraction], Fraction]) -> arb:
    """Enclose Pr[W(u) < end(u)] at the precision u at which the run ends."""
    root = ball(run.first).sqrt()
    total = arb(0)
    for low, high in run.stops:
        top = end(run.first) if high is None else min(high, end(run.first))
        if low is None or low < top:
            total = total + normal_cdf(ball(top) / root)
            total = total - (arb(0) if low is None else normal_cdf(ball(low) / root))
    scale = ball(run.second - run.first).sqrt()
    later = normal_distribution_function(ball(end(run.second)), scale)
    for low, high in run.goes_on:
        total = total + later.mean_between(ball(run.first), _end(low), _end(high))
    return total


def _end(value: Fraction | None) -> arb | None:
    return None if value is None else ball(value)


@dataclass(frozen=True)
class StoppedRuns(Domain):
    """Runs of two observations, with precisions up to `largest` and windows of all widths."""

    largest: Fraction = Fraction(8)

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a run."""
        return (
            isinstance(value, StoppedRun) and 0 < value.first < value.second <= self.largest and value.low < value.high
        )
