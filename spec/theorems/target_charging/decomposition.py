"""Approximate DP is pure DP with errors of probability delta: the decomposition, constructed.

Chapter after Cohen and Lyu (2023), Appendix A. Both distributions of a pair have the same weight delta of errors, at
least the larger of the two hockey-stick divergences.
"""

from collections.abc import Hashable
from fractions import Fraction
from typing import Annotated

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, exact
from dpassay.spec.distributions.discrete import FiniteDistribution, least_delta
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.target_quality import Mixture, indistinguishable, normalised, outcomes_of
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import statement
from dpassay.spec.theorems.target_charging.quantifiers import Pair
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated, conjunction

__all__ = ["pure_part", "pure_with_errors"]

Weight = Annotated[Exact, Reals("a share", 0, 1, (0, Fraction(1, 2), 1))]

Masses = dict[Hashable, Fraction]


def pure_part(left: FiniteDistribution, right: FiniteDistribution, ratio: Fraction, delta: Fraction) -> Masses:
    """Return the masses n <= left of total 1 - delta in a pair of indistinguishable sub-measures.

    min(left, ratio right) is indistinguishable from its counterpart; where it is too heavy it is moved towards its
    counterpart divided by the ratio, the least that it may be, and both are scaled down to 1 - delta in the end.

    Parameters
    ----------
    left, right : FiniteDistribution
        The pair.
    ratio : Fraction
        e^epsilon.
    delta : Fraction
        The mass that is left out, at least the `least_delta` of the pair.
    """
    own, other = (
        {o: min(a.probability(o), ratio * b.probability(o)) for o in outcomes_of(left, right)}
        for a, b in ((left, right), (right, left))
    )
    mass, goal = sum(own.values(), Fraction(0)), min(sum(own.values(), Fraction(0)), sum(other.values(), Fraction(0)))
    floor = {o: m / ratio for o, m in other.items()}
    spare = mass - sum(floor.values(), Fraction(0))
    step = (mass - goal) / spare if spare else Fraction(0)
    scale = (1 - delta) / goal if goal else Fraction(0)
    return {o: scale * (m - step * (m - floor[o])) for o, m in own.items()}


def pure_with_errors(left: FiniteDistribution, right: FiniteDistribution, ratio: Fraction, delta: Fraction) -> Mixture:
    """Return the decomposition Z^b = (1 - delta) N^b + delta E^b with N^0, N^1 indistinguishable.

    Parameters
    ----------
    left, right : FiniteDistribution
        The pair.
    ratio : Fraction
        e^epsilon.
    delta : Fraction
        The weight of the errors.

    Raises
    ------
    UsageError
        If delta is below the `least_delta` of the pair, or not below 1.
    """
    if not least_delta(left, right, ratio) <= delta < 1:
        raise UsageError(f"delta must be at least the hockey-stick divergences and below 1, got {delta!r}")
    distributions, errors = [], []
    for own, other in ((left, right), (right, left)):
        part = pure_part(own, other, ratio, delta)
        distributions.append(normalised(part))
        rest = {o: own.probability(o) - m for o, m in part.items()}
        errors.append(normalised(rest) if delta else None)
    return Mixture(Fraction(0), distributions[0], distributions[0], distributions[1], delta, errors[0], errors[1])


def _decomposes(left: FiniteDistribution, right: FiniteDistribution, ratio: Fraction, delta: Fraction) -> Verdict:
    """Decide whether the pure parts fit into the distributions, and the parts are a decomposition."""
    if delta == 1:
        return Holds(evidence=Evidence.EXACT)  # delta = 1 promises nothing, and every pair consists of errors
    for own, other in ((left, right), (right, left)):
        if any(m > own.probability(o) for o, m in pure_part(own, other, ratio, delta).items()):
            return Violated(evidence=Evidence.EXACT, detail=f"no pure part of mass {1 - delta} fits into {own}")
    return pure_with_errors(left, right, ratio, delta).shows(left, right, frozenset(), ratio, Fraction(0))


def _recomposed_delta(mixture: Mixture, ratio: Fraction) -> Fraction:
    left, right = (FiniteDistribution(mixture.side(left=left)) for left in (True, False))
    return least_delta(left, right, ratio)


_LEAK = PairAtRatio(FiniteDistribution.of(1, 1, 0), FiniteDistribution.of(1, 1, 2), Fraction(2))
_RESPONSE = PairAtRatio(FiniteDistribution.of(3, 1, 0), FiniteDistribution.of(1, 3, 0), Fraction(2))


@statement(
    COHEN_2023,
    "approx_dp_decomposition",
    "indistinguishability",
    examples=(
        {"pair": _LEAK, "errors": _RESPONSE, "share": Fraction(1, 2)},
        {"pair": _RESPONSE, "errors": _LEAK, "share": Fraction(0)},
    ),
    pins=(
        Pin(
            {
                "pair": PairAtRatio(FiniteDistribution.of(1, 0, 0), FiniteDistribution.of(0, 1, 0), Fraction(3)),
                "errors": _RESPONSE,
                "share": Fraction(1, 2),
            },
            "7/8 - 3/8 of either outcome",
            both=lambda: Fraction(1, 2),
        ),
    ),
)
def approximate_dp_iff_pure_dp_with_errors(pair: Pair, errors: Pair, share: Weight) -> Verdict:
    """B^0 and B^1 are (epsilon, delta)-indistinguishable if and only if B^b = (1 - delta) N^b + delta E^b with N^0
    and N^1 epsilon-indistinguishable: with the larger hockey-stick divergence for delta, or any larger delta, the
    parts are constructed; no smaller delta will do; and distributions made of such parts have no larger divergence.
    """
    weight = exact("share", share)
    core = PairAtRatio(errors.left, errors.right, pair.ratio)
    least = least_delta(pair.left, pair.right, pair.ratio)
    larger = least + weight * (1 - least) * Fraction(99, 100)
    pieces = [_decomposes(pair.left, pair.right, pair.ratio, delta) for delta in (least, larger)]
    if indistinguishable(core.left, core.right, core.ratio) and weight < 1:
        whole = Mixture(Fraction(0), core.left, core.left, core.right, weight, pair.left, pair.right)
        pieces.append(at_most_exact(_recomposed_delta(whole, core.ratio), weight, "delta"))
    pieces.append(_none_below([(pair.left, pair.right)], pair.ratio, least))
    return conjunction(pieces)


@statement(
    COHEN_2023,
    "approx_dp_algorithm_decomposition",
    examples=(
        {
            "pair": PairAtRatio(FiniteDistribution.of(8, 1, 1), FiniteDistribution.of(1, 1, 8), Fraction(11, 10)),
            "share": Fraction(1, 2),
        },
    ),
)
def approximate_dp_algorithm_iff_every_pair_decomposes(pair: Pair, share: Weight) -> Verdict:
    """An algorithm is (epsilon, delta)-DP if and only if every neighbouring pair has parts N^b, E^b with weight delta;
    the parts depend on the pair.

    Three data sets in a row, the middle one's distribution a mixture of the other two: at the larger of the deltas of
    the two neighbouring pairs both decompose, and below it one of them has no decomposition.
    """
    weight = exact("share", share)
    outcomes = outcomes_of(pair.left, pair.right)
    mixed = {o: weight * pair.left.probability(o) + (1 - weight) * pair.right.probability(o) for o in outcomes}
    middle = FiniteDistribution(mixed)
    neighbours = [(pair.left, middle), (middle, pair.right)]
    delta = max(least_delta(*both, pair.ratio) for both in neighbours)
    verdicts = [_decomposes(*both, pair.ratio, delta) for both in neighbours]
    return conjunction([*verdicts, _none_below(neighbours, pair.ratio, delta)])


def _none_below(
    neighbours: list[tuple[FiniteDistribution, FiniteDistribution]], ratio: Fraction, delta: Fraction
) -> Verdict:
    """Decide whether no smaller delta would do for one of the pairs: min(Z, ratio Z') has no more mass."""
    masses = [
        sum((min(a.probability(o), ratio * b.probability(o)) for o in outcomes_of(a, b)), Fraction(0))
        for left, right in neighbours
        for a, b in ((left, right), (right, left))
    ]
    if min(masses) == 1 - delta:
        return Holds(evidence=Evidence.EXACT)
    return Violated(evidence=Evidence.EXACT, detail=f"parts of mass {min(masses)} exist, more than 1 - {delta}")
