"""Where comparisons with one noisy threshold lose most, for answers in a bounded range.

Let N(q) = E_t[prod_(below) F(t - q_i) prod_(above) (1 - F(t - q_j))], t the threshold with noise, all noise
log-concave. Under the law of t tilted by the integrand, the derivative of the logarithm of every factor in its own q
(and that of the threshold's density in T) is an increasing function of t, so that all mixed derivatives of log N are
covariances of increasing functions, hence non-negative; and shifting all of q and T changes nothing, so that the
derivatives of log N in one coordinate and then in all others and itself sum to 0. Hence, for answers below that rise
by d and answers above that fall by d', the loss log N(q) - log N(q') increases in every q_i below and decreases in
every q_j above:

    the sum over k of the second derivatives in j and k, + for k below, - for k above, has one sign for each j.

The worst pair is a corner: answers below rise to the top of the range, answers above fall to its bottom. Nothing here
is particular to Laplace noise; for one hit and Gaussian noise it is Lemma 16 of Lebensold, Precup and Balle (2024).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import add

from flint import arb

from dpassay.claims import UsageError
from dpassay.spec.ball import Exact, ball, exact, max_balls
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold

__all__ = ["CornerLosses", "Pattern", "patterns"]

Pattern = tuple[int, int]
"""How many answers stay below, and how many reach the threshold."""


def patterns(size: int, cutoff: int) -> Iterator[Pattern]:
    """Yield the counts of all outcomes on a stream: fewer than `cutoff` hits at its end, or `cutoff` at any place."""
    for hits in range(min(cutoff, size + 1)):
        yield size - hits, hits
    for below in range(size - cutoff + 1):
        yield below, cutoff


@dataclass(frozen=True)
class CornerLosses:
    """The largest losses over all pairs of streams in a range: exact, because the worst pairs are known.

    Parameters
    ----------
    setting : LaplaceThreshold
        Threshold and noise.
    low, high : exact number
        The range of the answers.
    sensitivity : exact number
        How far an answer may move; no further than the range is wide.
    monotone : bool
        Whether all answers of a pair move the same way.
    """

    setting: LaplaceThreshold
    low: Exact
    high: Exact
    sensitivity: Exact
    monotone: bool = False

    @cached_property
    def step(self) -> Fraction:
        """How far an answer can move."""
        low, high = exact("low", self.low), exact("high", self.high)
        if low > high:
            raise UsageError(f"low must not exceed high, got {self.low!r} and {self.high!r}")
        return min(exact("sensitivity", self.sensitivity), high - low)

    def loss(self, pattern: Pattern) -> arb:
        """Enclose the largest loss of so many answers that stay below and that reach the same noisy threshold."""
        if not self.monotone:
            return self._gain(pattern, self.step, self.step)
        return self._gain(pattern, self.step, Fraction(0)).max(self._gain(pattern, Fraction(0), self.step))

    def _gain(self, pattern: Pattern, rise: Fraction, fall: Fraction) -> arb:
        """Enclose what answers below that rise to the top and answers above that fall to the bottom lose."""
        low, high, (below, above) = exact("low", self.low), exact("high", self.high), pattern
        if not (rise and below) and not (fall and above):
            return arb(0)
        left = self.setting.log_pattern([(high - rise, below)], [(low + fall, above)])
        return left - self.setting.log_pattern([(high, below)], [(low, above)])

    def largest(self, size: int, cutoff: int, *, refreshed: bool = False, cost_of_hit: Fraction = Fraction(0)) -> arb:
        """Enclose the largest loss of any outcome of sparse vector on `size` answers.

        Parameters
        ----------
        size, cutoff : int
            As for `SparseVectorLaw`.
        refreshed : bool
            Whether the threshold's noise is drawn anew after each hit: the runs then lose independently.
        cost_of_hit : Fraction
            What the number that is released for each hit loses besides, in nats.
        """
        if not refreshed:
            return max_balls(self.loss(pattern) + pattern[1] * ball(cost_of_hit) for pattern in patterns(size, cutoff))
        halts = [self.loss((k - 1, 1)) + ball(cost_of_hit) for k in range(1, size + 1)]
        never = [self.loss((n, 0)) for n in range(size + 1)]
        worst = [arb(0)] * (size + 1)  # of the answers that are left, by their number, when no hit is left
        for _ in range(min(cutoff, size)):
            worst = [max_balls([never[n], *map(add, halts[:n], reversed(worst[:n]))]) for n in range(size + 1)]
        return worst[size]
