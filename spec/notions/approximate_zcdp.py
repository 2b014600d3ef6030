"""Approximate zero-concentrated differential privacy: a Renyi curve on events of probability at least 1 - delta.

A pair P, Q is delta-approximately (xi, rho)-zCDP if there are events E, E' on the coins of the two runs, of
probability at least 1 - delta each, with D_alpha(P|E || Q|E') <= xi + rho alpha for every alpha > 1 (Cesar and
Rogers 2020, Def 2.7; Bun and Steinke 2016, Def 8.1, with xi + rho alpha and an order of its own for delta). Since the
events may depend on private coins, P|E is any distribution P' with (1 - delta) P' <= P.

Which events are best is no finite question. The decision is one-sided on either side: the claim is established on the
*clipped* pair, in which the largest likelihood ratios are cut off from both distributions, and refuted through the
(epsilon, delta)-DP that it implies; what lies between is undecided.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from flint import arb

from dpassay.claims import ApproximateZCDP
from dpassay.spec.ball import at_most, ball, max_balls
from dpassay.spec.distributions.discrete import (
    DiscreteDistribution,
    FiniteDistribution,
    hockey_stick,
    hockey_stick_exact,
)
from dpassay.spec.notions.base import Notion, grown, register
from dpassay.spec.notions.zcdp import affine_renyi_holds
from dpassay.spec.verdict import Evidence, Holds, Outcome, Undecided, Verdict

__all__ = [
    "APPROXIMATE_ZCDP",
    "approximate_zcdp_holds",
    "clipped_pair",
    "implied_delta",
    "implied_epsilon",
    "implied_excess",
]

IMPLIED_TAILS = tuple(Fraction(1, 2**k) for k in (1, 2, 4, 8, 16, 32, 64))


def implied_epsilon(rho: Fraction | arb, xi: Fraction | arb, tail: Fraction) -> arb:
    """Enclose xi + rho + 2 sqrt(rho log(1/tail)); the loss on the events exceeds it with probability <= `tail`."""
    return ball(xi) + ball(rho) + 2 * (-ball(rho) * ball(tail).log()).sqrt()


def implied_delta(delta: Fraction, tail: Fraction) -> Fraction:
    """Return delta + (1 - delta) tail: the excluded mass plus the tail on the events."""
    return delta + (1 - delta) * tail


def implied_excess(
    rho: Fraction, delta: Fraction, xi: Fraction, left: DiscreteDistribution, right: DiscreteDistribution
) -> arb:
    """Enclose the largest excess of hockey-stick divergences over the bounds that follow from the claim: at most 0 if
    it holds.

    Parameters
    ----------
    rho, delta, xi : Fraction
        Parameters of the claim.
    left, right : DiscreteDistribution
        The output distributions.
    """
    return max_balls(
        hockey_stick(left, right, implied_epsilon(rho, xi, tail)) - ball(implied_delta(delta, tail))
        for tail in IMPLIED_TAILS
    )


def approximate_zcdp_holds(claim: ApproximateZCDP, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide the claim for the ordered pair, by the clipped pair or the implied DP; otherwise undecided."""
    rho, delta, xi = Fraction(claim.rho), Fraction(claim.delta), Fraction(claim.xi)
    if delta == 1:
        return Holds(evidence=Evidence.EXACT, detail="delta is 1")
    if delta == 0:
        return affine_renyi_holds(rho, xi, left, right)
    refuted = next((v for v in _implied(rho, delta, xi, left, right) if v.outcome is Outcome.VIOLATED), None)
    if refuted is not None:
        return refuted
    if isinstance(left, FiniteDistribution) and isinstance(right, FiniteDistribution):
        clipped = clipped_pair(left, right, delta)
        if clipped is not None and affine_renyi_holds(rho, xi, *clipped).outcome is Outcome.HOLDS:
            return Holds(evidence=Evidence.BOX, detail="on the clipped pair")
    return Undecided(evidence=Evidence.ENCLOSED, detail="neither the clipped pair nor the implied DP decides")


def _implied(
    rho: Fraction, delta: Fraction, xi: Fraction, left: DiscreteDistribution, right: DiscreteDistribution
) -> Iterator[Verdict]:
    for tail in IMPLIED_TAILS:
        yield at_most(
            lambda tail=tail: hockey_stick(left, right, implied_epsilon(rho, xi, tail)),  # type: ignore[misc]
            lambda tail=tail: ball(implied_delta(delta, tail)),  # type: ignore[misc]
        )


def clipped_pair(
    left: FiniteDistribution, right: FiniteDistribution, delta: Fraction
) -> tuple[FiniteDistribution, FiniteDistribution] | None:
    """Return P|E and Q|E' with the largest ratios P/Q cut off from P, and the largest Q/P from Q.

    Each loses a mass of at most delta. None if more than delta of one lies where the other has nothing.

    Examples
    --------
    >>> P, Q = clipped_pair(FiniteDistribution.of(1, 9, 0), FiniteDistribution.of(0, 9, 1), Fraction(1, 10))
    >>> P == Q
    True
    """
    cuts = _cut(left, right, delta), _cut(right, left, delta)
    return None if cuts[0] is None or cuts[1] is None else (cuts[0], cuts[1])


def _cut(left: FiniteDistribution, right: FiniteDistribution, delta: Fraction) -> FiniteDistribution | None:
    ratio = _least_ratio(left, right, delta)
    if ratio is None:
        return None
    kept = {o: min(p, ratio * right.probability(o)) for o, p in left.weights.items()}
    total = sum(kept.values(), Fraction(0))
    return FiniteDistribution({o: mass / total for o, mass in kept.items()})


def _least_ratio(left: FiniteDistribution, right: FiniteDistribution, delta: Fraction) -> Fraction | None:
    """Return the least ratio, at least 1, at which the hockey-stick divergence is at most delta."""
    steps = {p / q for o, p in left.weights.items() if (q := right.probability(o)) and p > q}
    low = Fraction(1)
    for high in (low, *sorted(steps)):
        if hockey_stick_exact(left, right, high) <= delta:
            break
        low = high
    else:
        return None
    if high == low:
        return low
    beyond = [o for o, p in left.weights.items() if p > low * right.probability(o)]
    p = sum((left.probability(o) for o in beyond), Fraction(0))
    q = sum((right.probability(o) for o in beyond), Fraction(0))
    return (p - delta) / q


APPROXIMATE_ZCDP = register(
    Notion(
        name="approximate zero-concentrated differential privacy",
        claim_type=ApproximateZCDP,
        definition="Given events of probability at least 1 - delta on both sides, the Renyi divergence of every order "
        "alpha > 1 is at most xi + rho alpha.",
        items=(("cesar2020", "approx_zcdp"), ("rogers2023", "conditional_approx_zcdp")),
        decide=approximate_zcdp_holds,
        divergence=lambda claim, left, right: implied_excess(
            Fraction(claim.rho), Fraction(claim.delta), Fraction(claim.xi), left, right
        ),
        bound=lambda _: arb(0),
        enlarged=lambda claim: replace(claim, rho=grown(claim.rho)),
        over_all_orders=True,
    )
)
