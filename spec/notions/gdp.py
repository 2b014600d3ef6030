"""Gaussian differential privacy, and trade-off functions of pairs of distributions.

The trade-off function T(P, Q) of a pair maps a level alpha to the least type II error of a test of P against Q at that
level. A pair is mu-GDP if T(P, Q) >= G_mu, the trade-off function of N(0, 1) and N(mu, 1):
G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu) (Dong, Roth and Su 2022, the definitions of trade-off functions and of GDP;
G_mu is eq. (6) of arXiv 1905.02383).

For discrete distributions T(P, Q) is convex and piecewise linear, with a vertex for each threshold of the likelihood
ratio (Neyman and Pearson). G_mu is convex: a segment between two points above its graph lies above it. So T >= G_mu
holds if and only if it holds at the vertices, and the least mu is the largest Phi^-1(1 - alpha) - Phi^-1(beta) of a
vertex (alpha, beta). Where likelihood ratios are balls that overlap, their outcomes are joined into one step. The
section of T that is left out lies above the line from its start with the steepest slope, and above the line to its end
with the flattest one: one of the two errors is enclosed accordingly.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb

from dpassay.arguments import UsageError
from dpassay.claims import GaussianDP
from dpassay.spec.ball import at_most, ball, max_balls, normal_quantile, sum_balls
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution
from dpassay.spec.notions.base import Notion, grown, register
from dpassay.spec.notions.threshold_events import binary_separation, event_by
from dpassay.spec.verdict import Verdict

__all__ = ["GAUSSIAN_DP", "TradeOff", "from_deltas", "gaussian_dp_holds", "gaussian_dp_of", "trade_off"]


@dataclass(frozen=True)
class TradeOff:
    """An exact trade-off function: convex, decreasing and piecewise linear on [0, 1].

    Parameters
    ----------
    vertices : tuple of (alpha, beta)
        Errors of type I and II, alpha from 0 up to 1, beta down to 0.
    """

    vertices: tuple[tuple[Fraction, Fraction], ...]

    def __call__(self, alpha: Fraction) -> Fraction:
        """Return the least type II error at the level alpha; raise `UsageError` if that is not in [0, 1]."""
        if not 0 <= alpha <= 1:
            raise UsageError(f"alpha must lie in [0, 1], got {alpha!r}")
        pieces = zip(self.vertices, self.vertices[1:], strict=False)
        return min(
            d if a == c else b + (alpha - a) * (d - b) / (c - a) for (a, b), (c, d) in pieces if a <= alpha <= c
        )

    def delta(self, ratio: Fraction) -> Fraction:
        """Return 1 + f*(-ratio), f* the convex conjugate: the least delta of (log ratio, delta)-DP, for Q over P.

        Dong, Roth and Su 2022, the duality of f-DP and a family of (epsilon, delta). The supremum is attained at a
        vertex.
        """
        return max(1 - beta - ratio * alpha for alpha, beta in self.vertices)

    @property
    def slopes(self) -> tuple[Fraction, ...]:
        """The absolute values of the finite slopes, falling; 0 included."""
        pieces = zip(self.vertices, self.vertices[1:], strict=False)
        return (*((b - d) / (c - a) for (a, b), (c, d) in pieces if a < c), Fraction(0))

    def inverse(self) -> "TradeOff":
        """Return the trade-off function of the pair in the other order: alpha and beta change places."""
        return TradeOff(tuple((beta, alpha) for alpha, beta in reversed(self.vertices)))


def from_deltas(deltas: Iterable[tuple[Fraction, Fraction]], alpha: Fraction) -> Fraction:
    """Return the largest trade-off function at alpha that (ratio, delta) statements for Q over P imply.

    max(0, 1 - delta - ratio alpha) over the statements (Dong, Roth and Su 2022, the trade-off function of one
    (epsilon, delta)): with the statements at all `slopes` of a trade-off function it is that function again.
    """
    return max(Fraction(0), *(1 - delta - ratio * alpha for ratio, delta in deltas))


def trade_off(left: FiniteDistribution, right: FiniteDistribution) -> TradeOff:
    """Return T(left, right), exactly.

    Examples
    --------
    >>> trade_off(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3))(Fraction(1, 4))
    Fraction(1, 4)
    """
    pairs = [(left.probability(o), right.probability(o)) for o in dict.fromkeys((*left.outcomes, *right.outcomes))]
    steps: dict[Fraction | None, list[Fraction]] = {}
    for p, q in pairs:
        step = steps.setdefault(q / p if p else None, [Fraction(0), Fraction(0)])
        step[0], step[1] = step[0] + p, step[1] + q
    ordered = sorted((ratio for ratio in steps if ratio is not None), reverse=True)
    alpha, beta = Fraction(0), Fraction(1)
    vertices = [(alpha, beta)]
    for ratio in ([None] if None in steps else []) + ordered:
        p, q = steps[ratio]
        alpha, beta = alpha + p, beta - q
        vertices.append((alpha, beta))
    return TradeOff(tuple(dict.fromkeys(vertices)))


# --- Gaussian differential privacy --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Step:
    """Outcomes that are rejected together: their probabilities and the hull of the logarithms of their ratios Q/P."""

    p: arb
    q: arb
    log_ratio: arb
    is_joined: bool = False

    def joined(self, other: "_Step") -> "_Step":
        return _Step(self.p + other.p, self.q + other.q, self.log_ratio.union(other.log_ratio), is_joined=True)

    @property
    def lowered_end(self) -> arb:
        """Enclose q' - q >= 0, q' = the largest ratio times p: the steepest line from the start ends there."""
        return self._slack(self.log_ratio.upper().exp() * self.p - self.q)

    @property
    def lowered_start(self) -> arb:
        """Enclose q - q' >= 0, q' = the smallest ratio times p: the flattest line to the end starts there."""
        return self._slack(self.q - self.log_ratio.lower().exp() * self.p)

    def _slack(self, value: arb) -> arb:
        return value.max(arb(0)) if self.is_joined else arb(0)


def gaussian_dp_of(left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    """Enclose the least mu with T(left, right) >= G_mu; infinite if one side has an event that the other has not."""
    if left == right:
        return arb(0)
    if isinstance(left, FiniteDistribution) and isinstance(right, FiniteDistribution):
        vertices = trade_off(left, right).vertices
        return max_balls([arb(0), *(_separation(ball(a), ball(1 - a), ball(b), ball(1 - b)) for a, b in vertices)])
    return _enclosed(_steps(left, right))


def _separation(alpha: arb, kept: arb, beta: arb, power: arb) -> arb:
    """Enclose Phi^-1(1 - alpha) - Phi^-1(beta), given also the complements of both errors."""
    if (alpha == 0 and power == 0) or (beta == 0 and kept == 0):
        return arb(0)
    if alpha == 0 or beta == 0:
        return arb.pos_inf()
    value = _quantile(kept, alpha) - _quantile(beta, power)
    return value if value.is_finite() else arb(0, math.inf)


def _quantile(p: arb, complement: arb) -> arb:
    """Enclose Phi^-1(p), from whichever of p and 1 - p is smaller: that one is accurate."""
    return -normal_quantile(complement) if complement < p else normal_quantile(p)


def _steps(left: DiscreteDistribution, right: DiscreteDistribution) -> list[_Step]:
    """Return the steps by falling likelihood ratio; outcomes whose ratios cannot be told apart are joined."""
    steps, only_left, only_right = [], _Step(arb(0), arb(0), arb.neg_inf()), _Step(arb(0), arb(0), arb.pos_inf())
    for outcome in dict.fromkeys((*left.outcomes, *right.outcomes)):
        log_p, log_q = left.log_probability(outcome), right.log_probability(outcome)
        if log_p == arb.neg_inf():
            only_right = replace(only_right, q=only_right.q + log_q.exp())
        elif log_q == arb.neg_inf():
            only_left = replace(only_left, p=only_left.p + log_p.exp())
        else:
            steps.append(_Step(log_p.exp(), log_q.exp(), log_q - log_p))
    joined = [only_right]
    for step in sorted(steps, key=lambda each: -float(each.log_ratio.mid())):
        if len(joined) > 1 and not step.log_ratio < joined[-1].log_ratio:
            joined[-1] = joined[-1].joined(step)
        else:
            joined.append(step)
    return [*joined, only_left]


def _enclosed(steps: list[_Step]) -> arb:
    only_right, *inner, only_left = steps
    if only_right.q > 0 or only_left.p > 0:
        return arb.pos_inf()
    if len(inner) == 1:  # the losses of all outcomes overlap: the pair is epsilon-DP for the largest of them
        largest = abs(inner[0].log_ratio.lower()).max(abs(inner[0].log_ratio.upper()))
        return arb(0).union(-2 * normal_quantile((-largest).exp() / (1 + (-largest).exp())))
    found = [arb(0)]
    for k in range(1, len(inner)):
        before, after = inner[:k], inner[k:]
        slack = before[-1].lowered_end
        if len(after) == 1:  # the end of the last section is (1, 0) and cannot be lowered: its start is
            slack = slack.max(after[0].lowered_start)
        alpha, power = sum_balls(step.p for step in before), sum_balls(step.q for step in before)
        beta, kept = sum_balls(step.q for step in after), sum_balls(step.p for step in after)
        vertex, lowered = (_separation(alpha, kept, beta - down, power + down) for down in (arb(0), slack))
        found.append(vertex.union(lowered))
    return max_balls(found)


def gaussian_dp_holds(claim: GaussianDP, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide whether T(left, right) >= G_mu; the same for either order of the inputs."""
    return at_most(lambda: gaussian_dp_of(left, right), lambda: ball(claim.mu))


GAUSSIAN_DP = register(
    Notion(
        name="Gaussian differential privacy",
        claim_type=GaussianDP,
        definition="Telling neighbouring inputs apart is at least as hard as telling N(0, 1) from N(mu, 1).",
        items=(),
        decide=gaussian_dp_holds,
        divergence=lambda _, left, right: gaussian_dp_of(left, right),
        bound=lambda claim: ball(claim.mu),
        enlarged=lambda claim: GaussianDP(grown(claim.mu)),
        event=event_by(binary_separation),
    )
)
