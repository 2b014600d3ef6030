"""Where comparisons with one noisy threshold lose most, for answers in a bounded range.

Let N(q) = int f(t - T) prod_(below) F(t - q_i) prod_(above) (1 - F(t - q_j)) dt, f the density of the threshold's
noise and F the distribution function of the answers', both noises log-concave.

1. All answers may be taken to move by the whole step Delta, those below up and those above down: N decreases in every
q_i below and increases in every q_j above, so that for a given q' the loss log N(q) - log N(q') is at most that of
q = q' - Delta below and q = q' + Delta above. That q may leave the range, which does no harm to an upper bound. (If
all answers of a pair move up, the best that those above can do is to stay; if all move down, those below stay.)

2. For smooth positive densities H_jk, the derivative of log N in coordinates j and k, T among them, is for j != k the
covariance of the derivatives of the logarithms of two factors, under the distribution of t tilted by the integrand.
Each of the three, -F'/F at t - q_i, F'/(1 - F) at t - q_j and -f'/f at t - T, is an increasing function of t, because
F, 1 - F and f are log-concave; so H_jk >= 0 (Chebyshev's inequality on covariances). And log N does not change if all
of q and T are shifted: the sum of H_jk over all k, j and T among them, is 0. For a rise d of those below and a fall d'
of those above this gives, for j below and for j above,

    sum over k below of d H_jk - sum over k above of d' H_jk  =  -d H_jT - (d + d') sum over k above of H_jk     <= 0
                                                       or  =  d' H_jT + (d + d') sum over k below of H_jk     >= 0.

The loss, of which the derivative in q_j is minus the integral of that over the way from q to
q', increases in every q_j below and decreases in every q_j above, as the pair is moved without changing d and d'.

3. So the pair may be moved until q' is at the top of the range below and at its bottom above. There q is in the range
if Delta is no more than its width (and if it is more, no answer can move further than the width): the bound is the
loss of a pair of the range, and exact. Other log-concave noise is a limit of smooth positive log-concave noise
(convolve it with a normal density), and so are N and the inequality.

Nothing here is particular to Laplace noise; for one hit and Gaussian noise it is Lemma 16 of Lebensold, Precup and
Balle (2024).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import add

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, ball, exact, max_balls
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold

__all__ = ["CornerLosses", "Pattern", "patterns"]

Pattern = tuple[int, int]
"""The number of answers that stay below the threshold, and of those that reach it."""


def patterns(size: int, cutoff: int) -> Iterator[Pattern]:
    """Yield the counts of all outcomes on a stream: fewer than `cutoff` hits at its end, or `cutoff` at any place."""
    for hits in range(min(cutoff, size + 1)):
        yield size - hits, hits
    for below in range(size - cutoff + 1):
        yield below, cutoff


@dataclass(frozen=True)
class CornerLosses:
    """The largest losses over all pairs of streams in a range.

    Exact, because the worst pairs are known; for monotone pairs with several runs, or a cost of hits, an upper bound,
    since each run's worst direction is taken.

    Parameters
    ----------
    setting : LaplaceThreshold
        Threshold and noise.
    low, high : exact number
        The range of the answers.
    sensitivity : exact number
        Largest change of an answer; no further than the range is wide.
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
        """The largest change of an answer."""
        low, high = exact("low", self.low), exact("high", self.high)
        if low > high:
            raise UsageError(f"low must not exceed high, got {self.low!r} and {self.high!r}")
        return min(exact("sensitivity", self.sensitivity), high - low)

    def loss(self, pattern: Pattern) -> arb:
        """Enclose the largest loss of these numbers of answers that stay below and that reach the same noisy
        threshold.
        """
        if not self.monotone:
            return self._gain(pattern, self.step, self.step)
        return self._gain(pattern, self.step, Fraction(0)).max(self._gain(pattern, Fraction(0), self.step))

    def _gain(self, pattern: Pattern, rise: Fraction, fall: Fraction) -> arb:
        """Enclose the loss if answers below rise to the top and answers above fall to the bottom."""
        low, high, (below, above) = exact("low", self.low), exact("high", self.high), pattern
        if not (rise and below) and not (fall and above):
            return arb(0)
        left = self.setting.log_pattern([(high - rise, below)], [(low + fall, above)])
        return left - self.setting.log_pattern([(high, below)], [(low, above)])

    def largest(self, size: int, cutoff: int, *, refreshed: bool = False, cost_of_hit: Fraction = Fraction(0)) -> arb:
        """Enclose the largest loss of any outcome of sparse vector on `size` answers: see the class on exactness.

        Parameters
        ----------
        size, cutoff : int
            As for `SparseVectorDistribution`.
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
