"""Betting on the side: a claim of differential privacy bounds what any bet on it can win.

A call draws a side, left with probability w, runs the mechanism on that side's input and shows the outcome x. For a
stake lambda(x) in [0, lambda_max] that was fixed before the side was drawn, the claim (epsilon, delta), left over
right, and r = e^epsilon, the factor of the wealth is

    m = 1 + lambda(x) (1[left]/(2w) - r 1[right]/(2(1 - w))) - delta lambda_max/2.

Everything here is exact: distributions are rational, and r is. The bettor is given as a pair of distributions, its
belief; it stakes the amounts that would be best if they were true.
"""

from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ball, less_than
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick_exact, least_delta
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Choices, Integers, Reals
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, checked, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, positive
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["largest_stake", "largest_stakes", "side_bet", "stake_of_belief", "stopped_wealth", "two_sided_bet"]

Pair = Annotated[PairAtRatio, FinitePairs("output distributions on at most 4 outcomes, and r = e^epsilon", 4)]
Belief = Annotated[PairAtRatio, FinitePairs("the distributions that the bettor believes in", 4)]
Weight = Annotated[Fraction, Choices("w, the probability of the left side",
                                     (Fraction(1, 2), Fraction(1, 3), Fraction(1, 10), Fraction(9, 10)))]  # fmt: skip
Stake = Callable[[Hashable], Fraction]
Factor = tuple[Fraction, Fraction]
"""The factor of the wealth for one outcome: on the left side, on the right one."""

_TRUTH = PairAtRatio(FiniteDistribution.of(2, 1), FiniteDistribution.of(1, 2), Fraction(2))
_BEYOND = PairAtRatio(FiniteDistribution.of(8, 1), FiniteDistribution.of(1, 8), Fraction(2))
_BOTH_WAYS = PairAtRatio(FiniteDistribution.of(3, 1), FiniteDistribution.of(1, 3), Fraction(1))
_SURE = PairAtRatio(FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1), Fraction(2))
_LEAK = PairAtRatio(FiniteDistribution.of(2, 1, 1), FiniteDistribution.of(0, 2, 2), Fraction(2))


def largest_stake(ratio: Fraction, delta: Fraction, weight: Fraction) -> Fraction:
    """Return the largest lambda_max: 2 (1 - w) / (r + delta (1 - w)), with which the wealth may just reach 0."""
    return 2 * (1 - weight) / (ratio + delta * (1 - weight))


def stake_of_belief(belief: PairAtRatio, ratio: Fraction, weight: Fraction, cap: Fraction) -> Stake:
    """Return the growth-optimal stake for a believed pair: 2 (a (w + (1 - w)/r) - w), between 0 and the cap.

    a is the posterior probability of the left side; an outcome that the bettor thinks impossible gets no stake.

    Parameters
    ----------
    belief : PairAtRatio
        The believed output distributions.
    ratio : Fraction
        r = e^epsilon of the claim.
    weight : Fraction
        w, the probability of the left side.
    cap : Fraction
        The largest stake.
    """

    def stake(outcome: Hashable) -> Fraction:
        left, right = weight * belief.left.probability(outcome), (1 - weight) * belief.right.probability(outcome)
        if left + right == 0:
            return Fraction(0)
        best = 2 * (left / (left + right) * (weight + (1 - weight) / ratio) - weight)
        return min(max(best, Fraction(0)), cap)

    return stake


def side_bet(stake: Fraction, ratio: Fraction, delta: Fraction, weight: Fraction, cap: Fraction) -> Factor:
    """Return the factors of a bet left over right; the fee depends on the cap, whatever was staked.

    Parameters
    ----------
    stake : Fraction
        The stake on the outcome, between 0 and the cap.
    ratio, delta : Fraction
        r = e^epsilon and delta of the claim.
    weight : Fraction
        w, the probability of the left side.
    cap : Fraction
        The largest stake.
    """
    fee = delta * cap / 2
    return 1 + stake / (2 * weight) - fee, 1 - ratio * stake / (2 * (1 - weight)) - fee


def largest_stakes(ratio: Fraction, delta: Fraction, weight: Fraction) -> tuple[Fraction, Fraction]:
    """Return the largest lambda_max of either direction if both are bet on: a lost one costs 1/(1 + delta/r).

    They are 2 (1 - w)/(r + delta) left over right and 2 w/(r + delta) right over left.
    """
    return 2 * (1 - weight) / (ratio + delta), 2 * weight / (ratio + delta)


def two_sided_bet(
    up: Fraction, down: Fraction, ratio: Fraction, delta: Fraction, weight: Fraction, caps: tuple[Fraction, Fraction]
) -> Factor:
    """Return the factors of a bet left over right (`up`) or right over left (`down`): the fee of both caps is due.

    Parameters
    ----------
    up, down : Fraction
        The stakes on left over right and on right over left.
    ratio, delta : Fraction
        r = e^epsilon and delta of the claim.
    weight : Fraction
        w, the probability of the left side.
    caps : (Fraction, Fraction)
        The largest stakes in both directions.
    """
    fee = delta * sum(caps) / 2
    on_left = 1 + up / (2 * weight) - ratio * down / (2 * weight) - fee
    return on_left, 1 - ratio * up / (2 * (1 - weight)) + down / (2 * (1 - weight)) - fee


def _mean(pair: PairAtRatio, weight: Fraction, factor: Callable[[Hashable], Factor]) -> Fraction:
    total = Fraction(0)
    for outcome in pair.left.outcomes:
        on_left, on_right = factor(outcome)
        total += weight * pair.left.probability(outcome) * on_left
        total += (1 - weight) * pair.right.probability(outcome) * on_right
    return total


def _least(outcomes: tuple[Hashable, ...], factor: Callable[[Hashable], Factor]) -> Fraction:
    return min(min(factor(outcome)) for outcome in outcomes)


def _is_fair(pair: PairAtRatio, weight: Fraction, factor: Callable[[Hashable], Factor]) -> Verdict:
    """The mean factor is at most 1 and no factor is negative."""
    return conjunction([
        at_most_exact(_mean(pair, weight, factor), Fraction(1), "mean factor of the wealth"),
        at_most_exact(1 - _least(pair.left.outcomes, factor), Fraction(1), "share of the wealth that is lost"),
    ])  # fmt: skip


@statement(
    DPASSAY,
    "side bet",
    examples=(
        {"pair": _TRUTH, "belief": _TRUTH, "weight": Fraction(1, 3)},
        {"pair": _LEAK, "belief": _LEAK, "weight": Fraction(1, 2)},
        {"pair": _LEAK, "belief": _LEAK, "weight": Fraction(9, 10)},
        {"pair": _LEAK, "belief": _LEAK, "weight": Fraction(1, 10)},
    ),
    pins=(
        Pin(
            {"pair": _BEYOND, "belief": _SURE, "weight": Fraction(1, 3)},
            "delta = 2/3 and the cap 6/11: factors 18/11 and 0 on the first outcome, 9/11 on the other",
            both=lambda: [1, 1],
        ),
    ),
)
def fair_side_bet_under_approximate_dp(pair: Pair, belief: Belief, weight: Weight) -> Verdict:
    """If the hockey-stick divergence of left from right at epsilon is delta, the mean factor is at most 1 for every
    stake up to lambda_max = 2 (1 - w)/(e^epsilon + delta (1 - w)), and no factor is negative.
    """
    delta = hockey_stick_exact(pair.left, pair.right, pair.ratio)
    cap = largest_stake(pair.ratio, delta, weight)
    stake = stake_of_belief(belief, pair.ratio, weight, cap)
    return _is_fair(pair, weight, lambda x: side_bet(stake(x), pair.ratio, delta, weight, cap))


@statement(
    DPASSAY,
    "both fees",
    examples=(
        {"pair": _LEAK, "belief": _LEAK, "weight": Fraction(1, 2)},
        {"pair": _BOTH_WAYS, "belief": _BEYOND, "weight": Fraction(1, 2)},
        {"pair": _BOTH_WAYS, "belief": _BEYOND, "weight": Fraction(9, 10)},
    ),
    pins=(
        Pin(
            {"pair": _BEYOND, "belief": _SURE, "weight": Fraction(1, 3)},
            "delta = 2/3 and the caps 1/2 and 1/4: factors 3/2 and 0 on the first outcome, 0 and 15/16 on the other",
            both=lambda: [1, 1],
        ),
    ),
)
def fair_two_sided_bet_under_approximate_dp(pair: Pair, belief: Belief, weight: Weight) -> Verdict:
    """One factor may bet left over right on some outcomes and right over left on others, if it pays the fee of each
    direction; the caps are 2 (1 - w)/(e^epsilon + delta) and 2 w/(e^epsilon + delta). delta is the larger of the two
    divergences.
    """
    delta = least_delta(pair.left, pair.right, pair.ratio)
    caps = largest_stakes(pair.ratio, delta, weight)
    up = stake_of_belief(belief, pair.ratio, weight, caps[0])
    down = stake_of_belief(belief.swapped, pair.ratio, 1 - weight, caps[1])
    return _is_fair(pair, weight, lambda x: two_sided_bet(up(x), down(x), pair.ratio, delta, weight, caps))


@statement(DPASSAY, "side prediction", examples=({"pair": _TRUTH, "weight": Fraction(1, 10)},))
def pure_dp_bounds_the_posterior_of_the_side(pair: Pair, weight: Weight) -> Verdict:
    """Pure epsilon-DP, both ways, says exactly that the posterior probability a(x) of the left side obeys
    w/(w + (1 - w) e^epsilon) <= a(x) <= w e^epsilon/(w e^epsilon + 1 - w) at every possible outcome.
    """
    r, w = pair.ratio, weight
    within = [w / (w + (1 - w) * r) <= posterior <= w * r / (w * r + 1 - w) for posterior in _posteriors(pair, weight)]
    both = ((pair.left, pair.right), (pair.right, pair.left))
    pure = all(hockey_stick_exact(one, other, r) == 0 for one, other in both)
    return equal_exact(all(within), pure, "posteriors within the bounds, and pure DP")


def _posteriors(pair: PairAtRatio, weight: Fraction) -> Iterator[Fraction]:
    for outcome in pair.left.outcomes:
        left, right = weight * pair.left.probability(outcome), (1 - weight) * pair.right.probability(outcome)
        if left + right:
            yield left / (left + right)


def _best_stake(posterior: Any, ratio: Any) -> Any:
    return posterior / ratio - (1 - posterior)


@statement(DPASSAY, "growth-optimal side bet")
def growth_optimal_side_bet_by_proof() -> Proof:
    """For fair sides and a known posterior a above r/(1 + r), the stake a/r - (1 - a) maximises the mean logarithm
    a log(1 + lambda) + (1 - a) log(1 - r lambda); its factors are a/c on the left and (1 - a)/(1 - c) on the right,
    where c = r/(1 + r) is the best prediction that the claim allows.
    """
    a, r, stake, miss, kept = sp.symbols("a r lambda b k", positive=True)  # b = 1 - a, k = 1 - r lambda
    growth = a * sp.log(1 + stake) + (1 - a) * sp.log(1 - r * stake)
    best, allowed = _best_stake(a, r), r / (1 + r)
    curvature = a / (1 + stake) ** 2 + miss * r**2 / kept**2
    return proof(
        suppose("stakes", "0 <= lambda < 1/r, where both factors are positive, and 0 < a < 1."),
        checked(
            "stationary",
            "The derivative vanishes at a/r - (1 - a).",
            identity,
            sp.diff(growth, stake).subs(stake, best),
            0,
        ),
        checked(
            "curvature",
            "Minus the second derivative is a/(1 + lambda)^2 + (1 - a) r^2/(1 - r lambda)^2.",
            identity,
            -sp.diff(growth, stake, 2),
            curvature.subs({miss: 1 - a, kept: 1 - r * stake}),
        ),
        checked(
            "concave",
            "It is positive: here b = 1 - a and k = 1 - r lambda.",
            positive,
            curvature,
            given=["stakes", "curvature"],
        ),
        checked(
            "the stake is allowed",
            "For a above r/(1 + r), a = (r + d)/(1 + r), the stake is positive.",
            positive,
            sp.factor(best.subs(a, (r + sp.Symbol("d", positive=True)) / (1 + r))),
        ),
        checked("left", "Its factor on the left is a/c.", identity, 1 + best, a / allowed),
        checked(
            "right", "Its factor on the right is (1 - a)/(1 - c) > 0.", identity, 1 - r * best, (1 - a) / (1 - allowed)
        ),
        prose(
            "growth optimal",
            "A concave function is largest where its derivative vanishes; the stake lies among the allowed ones, as "
            "it "
            "is positive and both factors are.",
            given=["stationary", "concave", "the stake is allowed", "left", "right"],
        ),
    )


@statement(DPASSAY, "bounded range by pairs of calls", examples=({"pair": _TRUTH}, {"pair": _LEAK}))
def bounded_range_is_pure_dp_of_ordered_pairs(pair: Pair) -> Verdict:
    """The losses have a range of at most epsilon exactly if (left, right) against (right, left), two calls in a
    hidden order, is purely epsilon-DP.
    """
    r, outcomes = pair.ratio, pair.left.outcomes
    forth: dict[Hashable, Fraction] = {
        (x, y): pair.left.probability(x) * pair.right.probability(y) for x in outcomes for y in outcomes
    }
    back: dict[Hashable, Fraction] = {(x, y): forth[y, x] for x in outcomes for y in outcomes}
    pure = hockey_stick_exact(FiniteDistribution(forth), FiniteDistribution(back), r) == 0
    return equal_exact(_has_range(pair), pure, "bounded range, and pure DP of ordered pairs")


def _has_range(pair: PairAtRatio) -> bool:
    """Return whether P(x)/Q(x) is at most r times P(y)/Q(y) for all outcomes, without dividing by 0."""
    weights = [(pair.left.probability(x), pair.right.probability(x)) for x in pair.left.outcomes]
    return all(p * q_other <= pair.ratio * p_other * q for p, q in weights for p_other, q_other in weights)


# --- stopping whenever one likes ----------------------------------------------------------------------------


def stopped_wealth(
    pair: PairAtRatio, beliefs: tuple[PairAtRatio, PairAtRatio], weights: tuple[Fraction, Fraction], rounds: int
) -> tuple[Fraction, Fraction]:
    """Return the largest mean wealth over all stopping rules, and the probability that it ever reaches 2.

    The bettor stakes by the first belief and draws sides by the first weight, by the second ones after a call from
    the right side: stakes and weights depend on the past. The stopping rule sees all of it.

    Parameters
    ----------
    pair : PairAtRatio
        The output distributions, and r = e^epsilon.
    beliefs : (PairAtRatio, PairAtRatio)
        The beliefs before and after a call from the right side.
    weights : (Fraction, Fraction)
        The probabilities of the left side, likewise.
    rounds : int
        Largest number of calls.
    """
    delta = hockey_stick_exact(pair.left, pair.right, pair.ratio)
    caps = [largest_stake(pair.ratio, delta, weight) for weight in weights]
    stakes = [stake_of_belief(*each) for each in zip(beliefs, [pair.ratio] * 2, weights, caps, strict=True)]
    outcomes = dict.fromkeys((*pair.left.outcomes, *pair.right.outcomes))

    def solve(wealth: Fraction, turn: int, rounds_left: int) -> tuple[Fraction, Fraction]:
        reached = Fraction(int(wealth >= 2))
        if rounds_left == 0:
            return wealth, reached
        mean, chance = Fraction(0), Fraction(0)
        for outcome in outcomes:
            weight = weights[turn]
            factors = side_bet(stakes[turn](outcome), pair.ratio, delta, weight, caps[turn])
            shares = weight * pair.left.probability(outcome), (1 - weight) * pair.right.probability(outcome)
            for side, (factor, share) in enumerate(zip(factors, shares, strict=True)):
                if share:
                    later = solve(wealth * factor, side, rounds_left - 1)
                    mean, chance = mean + share * later[0], chance + share * later[1]
        return max(wealth, mean), max(reached, chance)

    return solve(Fraction(1), 0, rounds)


@statement(
    DPASSAY,
    "Ville's inequality",
    cases=20,
    examples=(
        {
            "pair": _TRUTH,
            "belief": _BEYOND,
            "other": _TRUTH,
            "weight": Fraction(1, 2),
            "later": Fraction(1, 2),
            "rounds": 4,
        },
        {
            "pair": _LEAK,
            "belief": _LEAK,
            "other": _LEAK.swapped,
            "weight": Fraction(1, 3),
            "later": Fraction(9, 10),
            "rounds": 3,
        },
    ),
    pins=(
        Pin(
            {
                "pair": _TRUTH,
                "belief": _SURE,
                "other": _SURE,
                "weight": Fraction(1, 2),
                "later": Fraction(1, 3),
                "rounds": 2,
            },
            "fair at a loss of log 2; factors 3/2, 3/2 with chances 1/3, 1/3, or 1, 2 with chances 1/3, 2/9, reach 2",
            smaller=lambda: [1, Fraction(5, 27)],
            larger=lambda: [1, Fraction(1, 2)],
        ),
    ),
)
def stopped_wealth_has_mean_at_most_one(
    pair: Pair,
    belief: Belief,
    other: Belief,
    weight: Weight,
    later: Weight,
    rounds: Annotated[int, Integers("number of calls", 1, 4, (3,))],
) -> Verdict:
    """Against a true claim the wealth has mean at most 1 at every stopping time, and ever reaches 2 with
    probability at most 1/2, although the stakes and the probabilities of the sides follow the past.
    """
    mean, chance = stopped_wealth(pair, (belief, other), (weight, later), rounds)
    return conjunction([
        at_most_exact(mean, Fraction(1), "mean of the stopped wealth"),
        at_most_exact(chance, Fraction(1, 2), "Pr[the wealth ever reaches 2]"),
    ])  # fmt: skip


# --- what follows for the bound, and how fast it can grow ----------------------------------------------------


def bound_on_the_grid(refuted: tuple[bool, ...]) -> int:
    """Return how many grid points lie below or at the bound: all up to it are refuted."""
    return next((k for k, gone in enumerate(refuted) if not gone), len(refuted))


@statement(DPASSAY, "lower bound on a grid")
def bound_on_a_grid_errs_only_if_a_true_claim_is_refuted(
    pattern: Annotated[int, Integers("which of the five grid points are refuted, as bits", 0, 31, (0, 31, 29))],
    truth: Annotated[int, Integers("the interval between grid points that holds the true epsilon", 0, 5, (0, 5))],
) -> Verdict:
    """If claims epsilon_1 < ... < epsilon_n are played side by side, the last point before the first that stands
    exceeds the true epsilon only if the first true claim of the grid was refuted: no correction over the grid is owed.
    """
    refuted = tuple(bool(pattern >> k & 1) for k in range(5))
    errs = bound_on_the_grid(refuted) > truth  # grid points 0, ..., truth - 1 lie below the truth
    blamed = truth < 5 and refuted[truth]
    return equal_exact(errs and not blamed, False, "an error that no refuted true claim explains")


@statement(
    DPASSAY,
    "growth at large epsilon",
    pins=(
        Pin(
            {"weight": Fraction(1, 3), "mass": Fraction(1, 2), "ratio": Fraction(2)},
            "(1 - w)/(w r) is 1: the factor 2 with probability 1/6",
            smaller=lambda: ball(2).log() / 6,
            larger=lambda: Fraction(1, 4),
        ),
    ),
)
def growth_of_evidence_is_below_the_mass_over_the_ratio(
    weight: Annotated[Fraction, Reals("w", Fraction(1, 10**6), Fraction(999999, 10**6), (Fraction(1, 2),))],
    mass: Annotated[Fraction, Reals("left mass of an event of right mass 0", Fraction(1, 10**6), 1, (1,))],
    ratio: Annotated[Fraction, Reals("e^epsilon", 1, 10**9, (1, 10**9), logarithmic=True)],
) -> Verdict:
    """On an event of left mass beta and right mass 0 the evidence grows by w beta log(1 + (1 - w)/(w e^epsilon)) a
    call, below beta e^-epsilon for every w: certifying epsilon takes more than e^epsilon log(1/alpha)/beta calls.
    """
    w, beta, r = Fraction(weight), Fraction(mass), Fraction(ratio)
    return less_than(lambda: _growth(w, beta, r), lambda: ball(beta / r))


def _growth(weight: Fraction, mass: Fraction, ratio: Fraction) -> arb:
    return ball(weight * mass) * ball((1 - weight) / (weight * ratio)).log1p()
