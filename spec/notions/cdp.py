"""Concentrated differential privacy: the privacy loss has a small mean and is subgaussian about it.

A pair P, Q is (mu, tau)-CDP if E[L] <= mu and E[e^(lambda (L - E[L]))] <= e^(lambda^2 tau^2 / 2) for *all* real
lambda, L the privacy loss under P (Dwork and Rothblum 2016; Cesar and Rogers 2020, Def 2.6).

The supremum over lambda is decided by a walk, in both directions from 0. With K the cumulant generating function of
L the claim is K(lambda) - lambda E[L] <= lambda^2 tau^2 / 2. Both sides and their slopes agree at 0, where the second
derivatives decide: K''(0) is the variance, and K''' is a third central moment, at most R^3 / 4 for losses of range R,
which gives the first step. From there a parabola of curvature R^2 / 8 bounds K from above, as for zCDP. For
|lambda| >= 2 R / tau^2 the claim holds trivially, and for tau >= R / 2 everywhere (Hoeffding).
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial

from flint import arb

from dpassay.claims import ConcentratedDP
from dpassay.spec.ball import at_most, ball, refine
from dpassay.spec.distributions.discrete import DiscreteDistribution, loss_range, losses, relative_entropy
from dpassay.spec.notions.approximate_zcdp import implied_excess
from dpassay.spec.notions.base import Notion, grown, register
from dpassay.spec.notions.zcdp import Cumulants, safe_width
from dpassay.spec.proof.recording import note
from dpassay.spec.rational import at_most_exact
from dpassay.spec.verdict import Evidence, Holds, Outcome, Undecided, Verdict, Violated, conjunction

__all__ = ["CONCENTRATED_DP", "cdp_holds", "centred_log_moment", "subgaussian_holds"]

LARGEST_NUMBER_OF_STEPS = 400
LIMIT_BITS = 256
SUSPECTS = tuple(sign * Fraction(2) ** k for k in range(-6, 7) for sign in (1, -1))
"""Values of lambda, in units of 1/R, at which a violation is looked for."""


def cdp_holds(claim: ConcentratedDP, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide the claim for the ordered pair; undecided if a bound is attained or nearly attained."""
    if left == right:
        parameters = (("the mean loss", claim.mu), ("the scale of the loss", claim.tau))
        return conjunction(
            at_most_exact(Fraction(0), Fraction(bound), f"{name} of equal distributions") for name, bound in parameters
        )
    if any(loss == arb.pos_inf() for _, loss in losses(left, right)):
        return Violated(evidence=Evidence.EXACT, detail="the right cannot produce all outcomes of the left")
    mean = at_most(lambda: relative_entropy(left, right), lambda: ball(Fraction(claim.mu)))
    if mean.outcome is not Outcome.HOLDS:
        return mean
    return conjunction([mean, subgaussian_holds(Fraction(claim.tau), left, right)])


def centred_log_moment(left: DiscreteDistribution, right: DiscreteDistribution, order: arb) -> arb:
    """Enclose log E[e^(lambda (L - E[L]))] at lambda = order, for finite losses."""
    return Cumulants.of(left, right).at(order)[0] - order * relative_entropy(left, right)


def subgaussian_holds(tau: Fraction, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide whether the loss, which must be finite, is subgaussian about its mean with scale tau, on both sides."""
    hoeffding = refine(lambda: _by_range(tau, left, right), limit=LIMIT_BITS)
    if hoeffding is not None:
        return hoeffding
    for share in SUSPECTS:
        verdict = _at_order(tau, share, left, right)
        if verdict.outcome is Outcome.VIOLATED:
            return replace(verdict, detail=f"at lambda = {float(share):g} over the range: {verdict.detail}")
    for sign in (1, -1):
        if refine(partial(_walk, tau, sign, left, right), limit=LIMIT_BITS) is None:
            return Undecided(evidence=Evidence.ENCLOSED, detail="attained or nearly so")
    return Holds(evidence=Evidence.BOX, detail="all real lambda, by parabolas")


def _by_range(tau: Fraction, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict | None:
    if loss_range(left, right) / 2 <= ball(tau):
        note(lambda: loss_range(left, right) / 2, lambda: ball(tau))
        return Holds(evidence=Evidence.BOX, detail="the range of the loss is at most 2 tau (Hoeffding)")
    return None


def _at_order(tau: Fraction, share: Fraction, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    def order() -> arb:
        return ball(share) / loss_range(left, right)

    return at_most(
        lambda: centred_log_moment(left, right, order()),
        lambda: order() * order() * ball(tau**2) / 2,
        limit=LIMIT_BITS,
    )


def _walk(tau: Fraction, sign: int, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict | None:
    """Step along lambda = sign x, x > 0, while the parabola above K stays below the claim."""
    loss = Cumulants.of(left, right)
    mean, width = relative_entropy(left, right), loss_range(left, right)
    square = ball(tau**2)
    variance = loss.variance(mean)
    bend = (square / 2 - loss.curvature).lower()
    if not variance < square:
        return None
    x = (12 * (square - variance) / width**3 * ball(Fraction(9, 10))).lower()  # the third derivative is below R^3/4
    for _ in range(LARGEST_NUMBER_OF_STEPS):
        if x >= 2 * width / square:
            return Holds(evidence=Evidence.BOX)
        value, tilted = loss.at(sign * x)
        margin = square * x**2 / 2 - value + sign * x * mean
        slope = square * x - sign * tilted + sign * mean
        if not margin >= 0:
            return None
        step = safe_width(margin, slope, bend)
        if step is None:
            return None
        x = x + step
    return None


def _implied_excess(claim: ConcentratedDP, left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    """Enclose the excess over the bounds of the zCDP with rho = tau^2/2 and xi = mu - rho."""
    rho = Fraction(claim.tau) ** 2 / 2
    return implied_excess(rho, Fraction(0), Fraction(claim.mu) - rho, left, right)


CONCENTRATED_DP = register(
    Notion(
        name="concentrated differential privacy",
        claim_type=ConcentratedDP,
        definition="The privacy loss has mean at most mu and is subgaussian about its mean with scale tau.",
        items=(("cesar2020", "cdp"),),
        decide=cdp_holds,
        divergence=_implied_excess,
        bound=lambda _: arb(0),
        enlarged=lambda claim: ConcentratedDP(grown(claim.mu), grown(claim.tau)),
        over_all_orders=True,
    )
)
