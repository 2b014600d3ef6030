"""Zero-concentrated differential privacy: the Renyi divergence of every order alpha > 1 is at most rho alpha.

The supremum over a continuum of orders is decided by a walk along them. With s = alpha - 1, L the privacy loss
and K(s) = log E_P[e^(s L)], the claim is K(s) <= rho s (s + 1) for all s > 0. The second derivative of K is the
variance of L under a tilted distribution, at most R^2 / 4 for losses of range R (Popoviciu), so that from any
order a parabola with curvature R^2 / 8 bounds K from above: where it stays below rho s (s + 1), the walk may step.
The walk ends at s >= (max L) / rho - 1, beyond which K(s) <= s max L settles the claim, or earlier, where the
parabola never crosses. Bun and Steinke 2016, Def. 1.1.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb

from dpassay.claims import ZCDP
from dpassay.spec.ball import at_most, ball, refine, sum_balls
from dpassay.spec.distributions.discrete import (
    DiscreteDistribution,
    loss_range,
    losses,
    max_divergence,
    relative_entropy,
)
from dpassay.spec.notions.base import Notion, register
from dpassay.spec.verdict import Evidence, Holds, Outcome, Undecided, Verdict, Violated

__all__ = ["ZCDP_NOTION", "zcdp_holds"]

LARGEST_NUMBER_OF_STEPS = 400
LIMIT_BITS = 256


def zcdp_holds(claim: ZCDP, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide whether D_alpha(left || right) <= rho alpha for every alpha > 1.

    Undecided where the bound is attained, or nearly so that the walk does not pass in 400 steps.

    Returns
    -------
    Verdict
        Evidence `BOX` for a claim that holds: an enclosure over all orders.
    """
    if left == right:
        return Holds(evidence=Evidence.EXACT, detail="the distributions are equal")
    if any(loss == arb.pos_inf() for _, loss in losses(left, right)):
        return Violated(evidence=Evidence.EXACT, detail="the right cannot produce all outcomes of the left")
    rho = Fraction(claim.rho)
    entropy = at_most(lambda: relative_entropy(left, right), lambda: ball(rho))
    if entropy.outcome is Outcome.VIOLATED:
        return entropy.with_(detail=f"the limit of D_alpha for alpha -> 1 is {entropy.detail}")
    order = _most_suspicious_order(left, right)
    at_order = at_most(lambda: _log_moment(left, right, order), lambda: ball(rho * order * (order + 1)))
    if at_order.outcome is Outcome.VIOLATED:
        return at_order.with_(witness={"alpha": 1 + order}, detail=f"(alpha - 1) D_alpha = {at_order.detail}")
    proved = refine(lambda: _walk(_Cumulants.of(left, right), rho), limit=LIMIT_BITS) if rho > 0 else None
    if proved is None:
        return Undecided(
            evidence=Evidence.ENCLOSED, detail=f"attained or nearly so, at alpha = {float(1 + order):.6g}"
        )
    return proved.with_(tightness=min(filter(None, (entropy.tightness, at_order.tightness)), default=None))


@dataclass(frozen=True)
class _Cumulants:
    """The cumulant generating function K of the privacy loss under the left distribution."""

    log_weights: list[arb]
    values: list[arb]
    largest: arb
    curvature: arb  # R^2 / 8 for losses of range R: half the bound on the second derivative

    @classmethod
    def of(cls, left: DiscreteDistribution, right: DiscreteDistribution) -> "_Cumulants":
        terms = losses(left, right)
        half = loss_range(left, right) ** 2 / 8
        return cls([log_p for log_p, _ in terms], [loss for _, loss in terms], max_divergence(left, right), half)

    def at(self, s: arb) -> tuple[arb, arb]:
        """Enclose K(s) and its derivative."""
        tilted = [(log_p + s * loss).exp() for log_p, loss in zip(self.log_weights, self.values, strict=True)]
        total = sum_balls(tilted)
        mean = sum_balls(w * loss for w, loss in zip(tilted, self.values, strict=True)) / total
        return total.log(), mean


def _walk(loss: _Cumulants, claimed: Fraction) -> Verdict | None:
    """Step along the orders while the parabola above K stays below the claim; None if the walk gets stuck."""
    rho, s = ball(claimed), arb(0)
    bend = (rho - loss.curvature).lower()  # a lower bound of the margin's curvature, exact
    end = loss.largest / rho - 1
    for step in range(LARGEST_NUMBER_OF_STEPS):
        value, mean = loss.at(s)
        margin = rho * s * (s + 1) - value if step else arb(0)
        slope = rho * (2 * s + 1) - mean
        if not (margin >= 0 and (step or slope >= 0)):
            return None
        if s >= end or (bend >= 0 and (slope >= 0 or slope**2 <= 4 * margin * bend)):
            return Holds(evidence=Evidence.BOX, detail=f"all orders in {step + 1} parabolas")
        width = _safe_width(margin, slope, bend)
        if width is None:
            return None
        s = s + width
    return None


def _safe_width(margin: arb, slope: arb, bend: arb) -> arb | None:
    """Return a width up to which margin + slope w + bend w^2 is certainly not negative."""
    a, b, c = (float(x.lower()) for x in (margin, slope, bend))
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return None
    # the first positive root, in the form that does not cancel
    root = 2 * a / (math.sqrt(discriminant) - b) if b < 0 else (-b - math.sqrt(discriminant)) / (2 * c) if c else 0.0
    width = arb(0.9 * root)
    before_vertex = c < 0 or bool(slope + 2 * bend * width <= 0)
    if root > 0 and before_vertex and margin + slope * width + bend * width**2 >= 0:
        return width
    return None


def _log_moment(left: DiscreteDistribution, right: DiscreteDistribution, order: Fraction) -> arb:
    return _Cumulants.of(left, right).at(ball(order))[0]


def _most_suspicious_order(left: DiscreteDistribution, right: DiscreteDistribution) -> Fraction:
    """Look, in float64, for the s at which K(s) / (s (s + 1)) is largest; only a place to look."""
    loss = _Cumulants.of(left, right)
    log_weights = np.array([float(x) for x in loss.log_weights])
    values = np.array([float(x) for x in loss.values])
    grid = np.geomspace(1e-3, 1e4, 141)
    for _ in range(2):
        exponents = log_weights[:, None] + values[:, None] * grid
        peak = exponents.max(axis=0)
        moments = peak + np.log(np.exp(exponents - peak).sum(axis=0))
        best = int(np.argmax(moments / (grid * (grid + 1))))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        grid = np.linspace(low, high, 41)
    return Fraction(float(grid[len(grid) // 2]))


ZCDP_NOTION = register(
    Notion(
        name="zero-concentrated differential privacy",
        claim_type=ZCDP,
        definition="The Renyi divergence of every order alpha > 1 is at most rho alpha.",
        items=(),
        decide=zcdp_holds,
        where="dpassay.spec.notions.zcdp:ZCDP_NOTION",
    )
)
