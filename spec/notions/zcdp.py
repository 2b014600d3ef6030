"""Zero-concentrated differential privacy: the Renyi divergence of every order alpha > 1 is at most rho alpha.

The supremum over a continuum of orders is decided by a walk along them. With s = alpha - 1, L the privacy loss
and K(s) = log E_P[e^(s L)], the claim is K(s) <= rho s (s + 1) for all s > 0. The second derivative of K is the
variance of L under a tilted distribution, at most R^2 / 4 for losses of range R (Popoviciu), so that from any
order a parabola with curvature R^2 / 8 bounds K from above: where it stays below rho s (s + 1), the walk may step.
The walk ends at s >= (max L) / rho - 1, beyond which K(s) <= s max L settles the claim, or at once for
rho >= R^2 / 8, where the parabola from s = 0 never crosses. Bun and Steinke 2016, Def. 1.1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb

from dpassay.claims import ZCDP
from dpassay.spec.ball import at_most, ball, max_balls, refine, sum_balls
from dpassay.spec.distributions.discrete import (
    DiscreteDistribution,
    loss_range,
    losses,
    max_divergence,
    relative_entropy,
    renyi_divergence,
)
from dpassay.spec.distributions.noise import NoisePair
from dpassay.spec.distributions.noise_pairs import common_shift_of_noise, renyi_divergence_of_noise
from dpassay.spec.distributions.noise_upper import concentrated_upper_of_noise
from dpassay.spec.notions.base import Notion, grown, register
from dpassay.spec.notions.threshold_events import binary_renyi, event_by
from dpassay.spec.rational import at_most_exact
from dpassay.spec.verdict import Evidence, Holds, Outcome, Undecided, Verdict, Violated

__all__ = [
    "ORDERS",
    "ZCDP_NOTION",
    "Cumulants",
    "affine_renyi_holds",
    "most_suspicious_order",
    "safe_width",
    "zcdp_divergence",
    "zcdp_holds",
]

ORDERS = (1.0625, 1.25, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0, 65.0)
"""The orders at which `zcdp_divergence` looks in any case."""

LARGEST_NUMBER_OF_STEPS = 400
LIMIT_BITS = 256

_SHOWN = 2.0
"""Events are chosen by orders up to this one: at larger ones the largest share is that of ever rarer events."""


def zcdp_holds(claim: ZCDP, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide whether D_alpha(left || right) <= rho alpha for every alpha > 1.

    Undecided where the bound is attained, or nearly so that the walk does not pass in 400 steps.

    Returns
    -------
    Verdict
        Evidence `BOX` for a claim that holds: an enclosure over all orders.
    """
    return affine_renyi_holds(Fraction(claim.rho), Fraction(0), left, right)


def zcdp_divergence(_claim: ZCDP, left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    """Enclose the largest ``D_alpha / alpha``: over `ORDERS`, at alpha -> 1 and where it seems largest in float64."""
    found = [relative_entropy(left, right), *(_slope_at(order, left, right) for order in ORDERS)]
    if all(value.is_finite() for value in found) and left != right:
        found.append(_slope_at(1 + most_suspicious_order(left, right), left, right))
    return max_balls(found)


def _slope_at(alpha: float | Fraction, left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    return renyi_divergence(left, right, ball(alpha)) / ball(alpha)


def affine_renyi_holds(
    rho: Fraction, xi: Fraction, left: DiscreteDistribution, right: DiscreteDistribution
) -> Verdict:
    """Decide whether D_alpha(left || right) <= xi + rho alpha for every alpha > 1; xi + rho is at least 0.

    Parameters
    ----------
    rho : Fraction
        Slope, at least 0.
    xi : Fraction
        Intercept, at least -rho.
    left, right : DiscreteDistribution
        Output distributions of neighbouring inputs.
    """
    if left == right:
        equal = at_most_exact(Fraction(0), rho + xi, "the divergence of equal distributions")
        return replace(equal, detail="the distributions are equal")
    if any(loss == arb.pos_inf() for _, loss in losses(left, right)):
        return Violated(evidence=Evidence.EXACT, detail="the right cannot produce all outcomes of the left")
    entropy = at_most(lambda: relative_entropy(left, right), lambda: ball(rho + xi))
    if entropy.outcome is Outcome.VIOLATED:
        return replace(entropy, detail=f"the limit of D_alpha for alpha -> 1 is {entropy.detail}")
    order = most_suspicious_order(left, right)
    at_order = at_most(lambda: _log_moment(left, right, order), lambda: ball(order * (rho * (order + 1) + xi)))
    if at_order.outcome is Outcome.VIOLATED:
        return replace(at_order, witness={"alpha": 1 + order}, detail=f"(alpha - 1) D_alpha = {at_order.detail}")
    proved = refine(lambda: _walk(Cumulants.of(left, right), rho, xi), limit=LIMIT_BITS) if rho > 0 else None
    if proved is None:
        return Undecided(
            evidence=Evidence.ENCLOSED, detail=f"attained or nearly so, at alpha = {float(1 + order):.6g}"
        )
    return replace(proved, tightness=min(filter(None, (entropy.tightness, at_order.tightness)), default=None))


@dataclass(frozen=True)
class Cumulants:
    """The cumulant generating function K of the privacy loss under the left distribution."""

    log_weights: list[arb]
    values: list[arb]
    largest: arb
    curvature: arb  # R^2 / 8 for losses of range R: half the bound on the second derivative

    @classmethod
    def of(cls, left: DiscreteDistribution, right: DiscreteDistribution) -> "Cumulants":
        """Tabulate the losses of an ordered pair, all of which must be finite."""
        terms = losses(left, right)
        half = loss_range(left, right) ** 2 / 8
        return cls([log_p for log_p, _ in terms], [loss for _, loss in terms], max_divergence(left, right), half)

    def at(self, s: arb) -> tuple[arb, arb]:
        """Enclose K(s) and its derivative."""
        tilted = [(log_p + s * loss).exp() for log_p, loss in zip(self.log_weights, self.values, strict=True)]
        total = sum_balls(tilted)
        mean = sum_balls(w * loss for w, loss in zip(tilted, self.values, strict=True)) / total
        return total.log(), mean

    def variance(self, mean: arb) -> arb:
        """Enclose the second derivative of K at 0, given the first."""
        weights = (log_p.exp() for log_p in self.log_weights)
        return sum_balls(w * (loss - mean) ** 2 for w, loss in zip(weights, self.values, strict=True))


def _walk(loss: Cumulants, claimed: Fraction, offset: Fraction) -> Verdict | None:
    """Step along the orders while the parabola above K stays below the claim; None if the walk gets stuck."""
    rho, xi, s = ball(claimed), ball(offset), arb(0)
    bend = (rho - loss.curvature).lower()  # a lower bound of the margin's curvature, exact
    end = (loss.largest - xi) / rho - 1
    for step in range(LARGEST_NUMBER_OF_STEPS):
        value, mean = loss.at(s)
        margin = rho * s * (s + 1) + xi * s - value if step else arb(0)
        slope = rho * (2 * s + 1) + xi - mean
        if not (margin >= 0 and (step or slope >= 0)):
            return None
        if s >= end or bend >= 0:  # a convex parabola lies above its tangent at 0, which does not fall there
            return Holds(evidence=Evidence.BOX, detail=f"all orders in {step + 1} parabolas")
        width = safe_width(margin, slope, bend)
        if width is None:
            return None
        s = s + width
    return None


def safe_width(margin: arb, slope: arb, bend: arb) -> arb | None:
    """Return a width up to which margin + slope w + bend w^2 is certainly at least 0."""
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
    return Cumulants.of(left, right).at(ball(order))[0]


def most_suspicious_order(left: DiscreteDistribution, right: DiscreteDistribution) -> Fraction:
    """Look, in float64, for the s = alpha - 1 at which K(s) / (s (s + 1)) is largest; only a place to look."""
    loss = Cumulants.of(left, right)
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


def _of_noise(moved: Sequence[NoisePair]) -> arb:
    """Return the divergence in closed form for Gaussian noise, a lower bound from some orders otherwise."""
    shift = common_shift_of_noise(moved, on_lattice=True)
    if shift is not None:
        return shift * shift / 2
    return max_balls(renyi_divergence_of_noise(moved, order) / ball(order) for order in ORDERS)


ZCDP_NOTION = register(
    Notion(
        name="zero-concentrated differential privacy",
        claim_type=ZCDP,
        definition="The Renyi divergence of every order alpha > 1 is at most rho alpha.",
        items=(),
        decide=zcdp_holds,
        divergence=zcdp_divergence,
        event=event_by(lambda _, p, q: max(binary_renyi(order, p, q) / order for order in ORDERS if order <= _SHOWN)),
        of_noise=lambda _, moved: _of_noise(moved),
        of_noise_upper=lambda _, moved: concentrated_upper_of_noise(moved),
        bound=lambda claim: ball(claim.rho),
        enlarged=lambda claim: ZCDP(grown(claim.rho)),
        over_all_orders=True,
    )
)
