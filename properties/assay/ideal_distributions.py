"""Certified losses of the ideal distributions that an adapter states for the parameters of a mechanism.

Where a closed form is known the figure is that of the two distributions; else it is a lower bound through finitely
many cells, which is all that a violation needs.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from scipy import stats

from dpassay.claims import ZCDP, ApproximateDP, BoundedRange, Claim, PureDP, RenyiDP, UsageError
from dpassay.properties.outcomes.symbols import Outcomes, comparable
from dpassay.spec.ball import ball, exact, max_balls, sum_balls
from dpassay.spec.distributions.composed_scores import Cell, cells_of_cuts, composed_scores, pooled_scores
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.laplace_pair import laplace_hockey_stick, laplace_renyi_divergence
from dpassay.spec.distributions.noise import FAMILIES, NoiseDistribution
from dpassay.spec.notions.base import find_notion
from dpassay.spec.notions.zcdp import ORDERS

__all__ = ["DECIDED_CLAIMS", "IdealDistribution", "UnreadableLawError", "ideal_distribution", "ideal_loss"]

DECIDED_CLAIMS = (PureDP, ApproximateDP, ZCDP, RenyiDP, BoundedRange)
WORKING_BITS = 128
"""The precision of the probabilities of cells."""

_PIECES = 96
"""Cells of a continuous distribution between its quantiles: more bring the lower bound nearer to the loss."""

_REACH = 40
"""Noise scales about the location whose integers are cells of their own."""

_MOST_INTEGERS = 1500
"""Integers that are cells of their own at most: it bounds the time."""

_LEVELS = 400
"""Levels to which the losses of a coordinate are rounded down in a composition: more bring the lower bound nearer."""


@dataclass(frozen=True)
class IdealDistribution:
    """The distribution of an outcome: independent noisy coordinates, or finitely many symbols.

    Parameters
    ----------
    coordinates : tuple of NoiseDistribution
        Empty for a finite distribution.
    finite : FiniteDistribution, optional
        The distribution on symbols.
    is_vector : bool
        Whether an outcome is a sequence of its coordinates, even of one.
    """

    coordinates: tuple[NoiseDistribution, ...] = ()
    finite: FiniteDistribution | None = None
    is_vector: bool = False


class UnreadableLawError(UsageError):
    """The ideal distribution that an adapter states is none."""


_FINITE_WORDS = ("family", "symbols", "probabilities")
_NOISE_WORDS = ("family", "location", "scale", "low", "high")


def ideal_distribution(words: Mapping[str, Any]) -> IdealDistribution:
    """Read a distribution as an adapter states it.

    Raises
    ------
    UnreadableLawError
        If it is no mapping, the family or a parameter is unknown, or a parameter is missing.
    UsageError
        If a parameter is out of its domain.
    """
    if not isinstance(words, Mapping):
        raise UnreadableLawError(f"law must return a mapping with a family and its parameters, got {words!r}")
    family = words.get("family")
    accepted = _FINITE_WORDS if family == "finite" else _NOISE_WORDS
    strangers = [name for name in words if name not in accepted]
    if strangers:
        raise UnreadableLawError(f"law must return only {', '.join(accepted)}, got {', '.join(map(repr, strangers))}")
    try:
        if family == "finite":
            return IdealDistribution(finite=_finite(words["symbols"], words["probabilities"]))
        if family in FAMILIES:
            return _noisy(str(family), words["location"], words["scale"], words.get("low"), words.get("high"))
    except KeyError as error:
        raise UnreadableLawError(f"a distribution of the family {family!r} lacks {error.args[0]!r}") from None
    raise UnreadableLawError(f"family must be one of {', '.join((*FAMILIES, 'finite'))}, got {family!r}")


def _finite(symbols: Sequence[Any], probabilities: Sequence[Any]) -> FiniteDistribution:
    weights: dict[Any, Fraction] = {}
    for symbol, weight in zip(Outcomes.of(list(symbols)).atoms(), probabilities, strict=True):
        weights[comparable(symbol)] = weights.get(comparable(symbol), Fraction(0)) + exact("probabilities", weight)
    total = sum(weights.values(), Fraction(0))
    if total <= 0:
        raise UsageError(f"probabilities must have a positive sum, got {probabilities!r}")
    return FiniteDistribution({symbol: weight / total for symbol, weight in weights.items()})


def _noisy(family: str, location: Any, scale: Any, low: Any, high: Any) -> IdealDistribution:
    is_vector = isinstance(location, (tuple, list, np.ndarray))
    places = [_plain(x) for x in location] if is_vector else [_plain(location)]
    scales = (
        [_plain(x) for x in scale] if isinstance(scale, (tuple, list, np.ndarray)) else [_plain(scale)] * len(places)
    )
    if len(scales) != len(places):
        raise UsageError(f"a distribution needs as many scales as locations, got {len(scales)} and {len(places)}")
    distributions = (
        NoiseDistribution(family, place, width, _plain(low), _plain(high))
        for place, width in zip(places, scales, strict=True)
    )
    return IdealDistribution(tuple(distributions), is_vector=is_vector)


def _plain(number: Any) -> Any:
    return number.item() if isinstance(number, np.generic) else number


# --- the loss that a claim bounds ---------------------------------------------------------------------------


def ideal_loss(claim: Claim, left: IdealDistribution, right: IdealDistribution) -> arb:  # noqa: PLR0911  # a branch for each notion
    """Enclose the quantity that the claim bounds, for the left over the right, or a lower bound on it.

    Parameters
    ----------
    claim : Claim
        One of `DECIDED_CLAIMS`.
    left, right : IdealDistribution
        The distributions on two neighbouring inputs.

    Raises
    ------
    UsageError
        If the distributions have different numbers of coordinates, or one is finite and one is not.
    """
    if left.finite is not None and right.finite is not None:
        return find_notion(claim).divergence(claim, left.finite, right.finite)
    if len(left.coordinates) != len(right.coordinates) or not left.coordinates:
        raise UsageError("the distributions of neighbouring inputs must have the same form")
    moved = [(a, b) for a, b in zip(left.coordinates, right.coordinates, strict=True) if a != b]
    if not moved:
        return arb(0)
    match claim:
        case PureDP():
            return sum_balls(_largest_loss(a, b) for a, b in moved)
        case BoundedRange():
            return sum_balls(_largest_loss(a, b) + _largest_loss(b, a) for a, b in moved)
        case ApproximateDP(epsilon):
            return _delta(moved, epsilon)
        case ZCDP():
            shift = _common_shift(moved)
            if shift is not None:
                return shift * shift / 2
            return max_balls(sum_balls(_renyi(a, b, order) for a, b in moved) / ball(order) for order in ORDERS)
        case RenyiDP(alpha):
            return sum_balls(_renyi(a, b, alpha) for a, b in moved)
    raise UsageError(f"no certified loss is known for {claim!r}")


def _distance(left: NoiseDistribution, right: NoiseDistribution) -> Fraction | None:
    """Return the distance in noise scales, None where the scales differ."""
    scale = exact("scale", left.scale)
    if left.family != right.family or scale != exact("scale", right.scale):
        return None
    return abs(exact("location", left.location) - exact("location", right.location)) / scale


def _between_integers(left: NoiseDistribution, right: NoiseDistribution) -> bool:
    return all(exact("location", distribution.location).denominator == 1 for distribution in (left, right))


def _largest_loss(left: NoiseDistribution, right: NoiseDistribution) -> arb:
    distance = _distance(left, right)
    if distance == 0:
        return arb(0)
    if left.family == right.family and left.family.endswith("gaussian"):
        return arb.pos_inf() if distance is not None else _loss_of_gaussians(left, right)
    if distance is not None and (left.family == "laplace" or (left.is_discrete and _between_integers(left, right))):
        return ball(distance)
    if left.family == right.family == "laplace":
        return _loss_of_laplaces(left, right)
    return max_balls(_log_ratio(cell) for cell in _common_cells(left, right))


def _loss_of_gaussians(left: NoiseDistribution, right: NoiseDistribution) -> arb:
    if left.is_discrete or exact("scale", left.scale) > exact("scale", right.scale):
        return arb.pos_inf() if exact("scale", left.scale) > exact("scale", right.scale) else arb(0)
    a, b = exact("scale", left.scale), exact("scale", right.scale)
    gap = exact("location", left.location) - exact("location", right.location)
    return ball(b / a).log() + ball(gap * gap / (2 * (b * b - a * a)))


def _loss_of_laplaces(left: NoiseDistribution, right: NoiseDistribution) -> arb:
    a, b = exact("scale", left.scale), exact("scale", right.scale)
    if a > b:
        return arb.pos_inf()
    gap = abs(exact("location", left.location) - exact("location", right.location))
    return ball(b / a).log() + ball(gap / b)


def _log_ratio(cell: Cell) -> arb:
    if not cell.left > 0:
        return arb.neg_inf()
    return (cell.left / cell.right).log() if cell.right > 0 else arb.neg_inf()


def _common_shift(moved: Sequence[tuple[NoiseDistribution, NoiseDistribution]]) -> arb | None:
    """Return the Euclidean distance in noise scales where all coordinates are Gaussian with unchanged scales."""
    distances = [_distance(a, b) for a, b in moved]
    if any(a.family != "gaussian" for a, _ in moved) or any(d is None for d in distances):
        return None
    return ball(sum((d * d for d in distances if d is not None), Fraction(0))).sqrt()


def _delta(moved: Sequence[tuple[NoiseDistribution, NoiseDistribution]], epsilon: float) -> arb:
    shift = _common_shift(moved)
    if shift is not None:
        return gaussian_hockey_stick(shift, epsilon)
    (first, second), *others = moved
    distance = _distance(first, second)
    if first.family == "laplace" and distance is not None and not others:
        return laplace_hockey_stick(distance, epsilon)
    cells = [_common_cells(a, b) for a, b in moved]
    reach = sum(max((abs(c.loss) for c in some if math.isfinite(c.loss)), default=0.0) for some in cells)
    unit = max(reach, 1e-300) / _LEVELS
    scores = composed_scores([(pooled_scores(some, unit), 1) for some in cells])
    return arb(scores.delta_lower(epsilon))


def _renyi(left: NoiseDistribution, right: NoiseDistribution, order: float) -> arb:
    distance = _distance(left, right)
    if distance is not None and left.family == "laplace":
        return laplace_renyi_divergence(distance, order)
    if distance is not None and left.family == "gaussian":
        return ball(order) * ball(distance * distance) / 2
    alpha, moments = ball(order), arb(0)
    for cell in _common_cells(left, right):
        if cell.left > 0 and cell.right > 0:
            moments = moments + (alpha * cell.left.log() + (1 - alpha) * cell.right.log()).exp()
    # the cells that were left out would only add to it
    return moments.log() / (alpha - 1) if moments > 0 else arb(0)


def _common_cells(left: NoiseDistribution, right: NoiseDistribution) -> list[Cell]:
    """Cut the line finely where either distribution has mass, and make cells of it."""
    cuts = sorted({*_cuts(left), *_cuts(right)})
    edges: list[Fraction | None] = [None, *cuts, None]
    first, second = [], []
    for low, high in itertools.pairwise(edges):
        first.append(left.interval(low, high))
        second.append(right.interval(low, high))
    return cells_of_cuts(first, second)


def _cuts(distribution: NoiseDistribution) -> list[Fraction]:
    location, scale = exact("location", distribution.location), exact("scale", distribution.scale)
    if distribution.is_discrete:
        middle, reach = math.floor(location), min(_MOST_INTEGERS // 2, math.ceil(_REACH * scale))
        return [Fraction(k) for k in range(middle - reach, middle + reach + 1)]
    family = stats.norm if distribution.family == "gaussian" else stats.laplace
    quantiles = family.ppf(np.arange(1, _PIECES) / _PIECES)
    far = family.isf(np.logspace(-3, -40, 24))
    cuts = [location + scale * Fraction(float(z)) for z in (*quantiles, *far, *-far)]
    if distribution.low is None or distribution.high is None:
        return cuts
    low, high = exact("low", distribution.low), exact("high", distribution.high)
    ends = [low + (high - low) * Fraction(part) for part in (0, 2.0**-40, 0.5, 1 - 2.0**-40, 1)]
    return [*ends, *(cut for cut in cuts if low < cut < high)]
