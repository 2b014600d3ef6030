"""Stability maps of transformations: on neighbouring records outputs lie no further apart than the map says.

Nothing is sampled: outputs are compared exactly. Bounds lie far from 0, records outside of them, and one or two
records differ.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from opendp_building import Collector, atom, constructor, vector

from dpassay.adapter import Relations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Row = tuple[str, float, float, float]

__all__ = ["stability_cases"]

_ROUNDING = 1e-9
"""Relative: distances of float64 numbers are subtracted here in float64."""

_SIZE = 6
"""Records of data sets of a known size."""


def _multiset(left: Any, right: Any) -> float:
    """Return the number of records by which two data sets differ, in whatever order."""
    a, b = Counter(map(str, left)), Counter(map(str, right))
    return float(sum(((a - b) + (b - a)).values()))


def _l(power: int) -> Callable[[Any, Any], float]:
    def distance(left: Any, right: Any) -> float:
        pairs = _paired(left, right)
        return math.fsum(abs(x - y) ** power for x, y in pairs) ** (1 / power)

    return distance


def _paired(left: Any, right: Any) -> list[tuple[float, float]]:
    """Return the numbers of two outputs in pairs; what only one dictionary has is 0 in the other."""
    if isinstance(left, dict):
        return [(left.get(key, 0), right.get(key, 0)) for key in {*left, *right}]
    if not isinstance(left, list):
        return [(left, right)]
    return list(zip(left, right))


def _widest(left: Any, right: Any) -> float:
    return max(abs(x - y) for x, y in _paired(left, right))


def _range(left: Any, right: Any) -> float:
    """Return the distance of utilities of which a common shift does not count."""
    moves = [x - y for x, y in _paired(left, right)]
    return max(moves) - min(moves)


_DISTANCES = {
    "SymmetricDistance": _multiset,
    "InsertDeleteDistance": _multiset,
    "ChangeOneDistance": lambda left, right: _multiset(left, right) / 2,
    "HammingDistance": lambda left, right: float(sum(x != y for x, y in zip(left, right))),
    "AbsoluteDistance": _widest,
    "L1Distance": _l(1),
    "L2Distance": _l(2),
    "LInfDistance": _widest,
}


def _distance(transformation: Any) -> Callable[[Any, Any], float]:
    name = str(transformation.output_metric)
    if name.startswith("LInfDistance") and "monotonic=true" not in name.replace(" ", ""):
        return _widest
    return next(function for start, function in _DISTANCES.items() if name.startswith(start))


class _Records:
    """Neighbouring data sets: records added, or, of a known size, replaced."""

    def __init__(self, draw: Callable[[Any], Any], *, sized: bool = False) -> None:
        self.draw, self.sized = draw, sized

    def pair(self, random: Any) -> tuple[list[Any], list[Any], int]:
        """Return two data sets, and their symmetric distance at most."""
        changed = random.choice([1, 1, 2])
        if self.sized:
            left = [self.draw(random) for _ in range(_SIZE)]
            right = list(left)
            for place in random.sample(range(_SIZE), changed):
                right[place] = self.draw(random)
            return left, right, 2 * changed
        right = [self.draw(random) for _ in range(random.randint(0, 7))]
        left = [*right, *(self.draw(random) for _ in range(changed))]
        random.shuffle(left)
        return left, right, changed


def _stable(make: Callable[[], Any], records: _Records) -> Callable[[Any], Iterator[Row]]:
    transformation = make()  # now, so that a release without it says so
    distance = _distance(transformation)

    def compare(random: Any) -> Iterator[Row]:
        for _ in range(12):
            left, right, changed = records.pair(random)
            stated = float(transformation.map(changed))
            found = distance(transformation(left), transformation(right))
            yield f"{left!r} and {right!r}", 0.0, found, stated * (1 + _ROUNDING) + 1e-12

    return compare


# --- records ----------------------------------------------------------------------------------------------------

_BOUNDS = (-17.5, -2.25)
_WHOLE = (-9, 23)


def _number(random: Any) -> float:
    return float(random.choice([random.uniform(-60, 60), *_BOUNDS, 0.0, 1e12, -1e12]))


def _bounded(random: Any) -> float:
    return float(random.choice([random.uniform(*_BOUNDS), *_BOUNDS]))


def _integer(random: Any) -> int:
    return int(random.choice([random.randint(-80, 80), *_WHOLE, 0]))


def _bounded_integer(random: Any) -> int:
    return int(random.choice([random.randint(*_WHOLE), *_WHOLE]))


def _letter(random: Any) -> str:
    return str(random.choice("abcdef"))


def _symmetric(kind: Any, bounds: Any = None, size: int | None = None) -> tuple[Any, Any]:
    return vector(kind, size, bounds), dp.symmetric_distance()


def _nullable() -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T=float, nan=True)), dp.symmetric_distance()


def _missing(random: Any) -> float:
    return math.nan if random.random() < 0.3 else _bounded(random)


def _transformations() -> Iterator[tuple[str, Callable[[], Any], _Records]]:
    """Yield the words for transformations, what makes them, and the records that they take."""
    make = constructor
    free, whole, letters = _Records(_number), _Records(_integer), _Records(_letter)
    inside, inside_whole = _Records(_bounded), _Records(_bounded_integer)
    sized, sized_whole = _Records(_bounded, sized=True), _Records(_bounded_integer, sized=True)
    numbers, integers = lambda: _symmetric(float), lambda: _symmetric(int)
    yield "clamp", lambda: make("clamp")(*numbers(), _BOUNDS), free
    yield "count", lambda: make("count")(*numbers()), free
    yield "count_distinct", lambda: make("count_distinct")(*_symmetric(str)), letters
    for metric in ("L1Distance<int>", "L2Distance<int>"):
        yield (
            f"count_by_categories, {metric}",
            lambda metric=metric: make("count_by_categories")(*_symmetric(str), ["b", "c", "e"], MO=metric),
            letters,
        )
    yield (
        "count_by_categories, no null category",
        lambda: make("count_by_categories")(*_symmetric(str), ["b", "e"], null_category=False),
        letters,
    )
    yield "is_equal", lambda: make("is_equal")(*_symmetric(str), "c"), letters
    yield "find", lambda: _without_null(make("find")(*_symmetric(str), ["a", "c", "d"]), 7), letters
    yield "find_bin", lambda: make("find_bin")(*numbers(), [-20.0, -3.0, 5.0]), free
    yield "is_null", lambda: make("is_null")(*_nullable()), _Records(_missing)
    yield "impute_constant", lambda: make("impute_constant")(*_nullable(), -3.25), _Records(_missing)
    yield "drop_null", lambda: make("drop_null")(*_nullable()), _Records(_missing)
    yield "cast", lambda: _without_null(make("cast")(*integers(), TOA=str), "none"), whole
    yield "cast_default", lambda: make("cast_default")(*_symmetric(str), TOA=int), letters
    yield "cast_inherent", lambda: make("cast_inherent")(*integers(), TOA=float), whole
    yield "identity", lambda: make("identity")(*numbers()), free
    yield "sum, integers", lambda: make("sum")(*_symmetric(int, _WHOLE)), inside_whole
    yield "sum, integers, size", lambda: make("sum")(*_symmetric(int, _WHOLE, _SIZE)), sized_whole
    yield "sum, size", lambda: make("sum")(*_symmetric(float, _BOUNDS, _SIZE)), sized
    yield "mean, size", lambda: make("mean")(*_symmetric(float, _BOUNDS, _SIZE)), sized
    yield "variance, size", lambda: make("variance")(*_symmetric(float, _BOUNDS, _SIZE)), sized
    yield "variance, size, ddof=0", lambda: make("variance")(*_symmetric(float, _BOUNDS, _SIZE), ddof=0), sized
    yield (
        "sum_of_squared_deviations",
        lambda: make("sum_of_squared_deviations")(*_symmetric(float, _BOUNDS, _SIZE)),
        sized,
    )
    yield "bounded_float_checked_sum", lambda: make("bounded_float_checked_sum")(9, _BOUNDS), inside
    yield "sized_bounded_float_checked_sum", lambda: make("sized_bounded_float_checked_sum")(_SIZE, _BOUNDS), sized
    yield "bounded_int_split_sum", lambda: make("bounded_int_split_sum")(_WHOLE), inside_whole
    yield "sized_bounded_int_split_sum", lambda: make("sized_bounded_int_split_sum")(_SIZE, _WHOLE), sized_whole
    yield "sized_bounded_int_checked_sum", lambda: make("sized_bounded_int_checked_sum")(_SIZE, _WHOLE), sized_whole
    yield "bounded_int_monotonic_sum", lambda: make("bounded_int_monotonic_sum")((3, 23)), _Records(_positive)
    yield (
        "sized_bounded_int_monotonic_sum",
        lambda: make("sized_bounded_int_monotonic_sum")(_SIZE, (3, 23)),
        _Records(_positive, sized=True),
    )
    for alpha in (0.5, 0.13):
        yield (
            f"quantile_score_candidates, alpha={alpha}",
            lambda alpha=alpha: make("quantile_score_candidates")(*numbers(), [-30.0, -8.0, 4.0], alpha),
            free,
        )
        yield (
            f"quantile_score_candidates, size, alpha={alpha}",
            lambda alpha=alpha: make("quantile_score_candidates")(
                *_symmetric(float, None, _SIZE), [-30.0, -8.0, 4.0], alpha
            ),
            _Records(_number, sized=True),
        )
    for kind in ("L1Distance<int>", "L2Distance<int>"):
        for leaves, branching in ((3, 2), (7, 3)):
            yield (
                f"b_ary_tree, {kind}, {leaves} leaves, {branching} branches",
                lambda kind=kind, leaves=leaves, branching=branching: _tree(kind, leaves, branching),
                letters,
            )
    yield "user_transformation in a chain", _of_a_user, inside
    yield "lipschitz_float_mul of a sum", _scaled_sum, sized
    yield "metric_bounded", _through_bounded, sized
    yield "ordered_random", _through_ordered, sized


def _without_null(transformation: Any, constant: Any) -> Any:
    """Return a transformation whose missing values are replaced, because Python does not get them."""
    return transformation >> constructor("impute_constant")(
        transformation.output_domain, transformation.output_metric, constant
    )


def _counted(random: Any) -> Iterator[Row]:
    """Compare counts by key, whose distance has three parts: keys, sum and largest change."""
    transformation = constructor("count_by")(*_symmetric(str))
    records = _Records(_letter)
    for _ in range(12):
        left, right, changed = records.pair(random)
        moves = [abs(x - y) for x, y in _paired(transformation(left), transformation(right)) if x != y]
        found = len(moves), sum(moves), max(moves, default=0)
        for words, value, stated in zip(("keys", "sum", "largest"), found, transformation.map(changed)):
            yield f"{words}, {left!r} and {right!r}", 0.0, float(value), float(stated)


def _positive(random: Any) -> int:
    return int(random.choice([random.randint(3, 23), 3, 23]))


def _tree(kind: str, leaves: int, branching: int) -> Any:
    counts = constructor("count_by_categories")(
        *_symmetric(str), list("abcdef")[: leaves - 1], null_category=True, MO=kind
    )
    return counts >> constructor("b_ary_tree")(counts.output_domain, counts.output_metric, leaves, branching)


def _of_a_user() -> Any:
    doubled = dp.t.make_user_transformation(
        *_symmetric(float, _BOUNDS),
        *_symmetric(float, (2 * _BOUNDS[0], 2 * _BOUNDS[1])),
        lambda records: [2 * x for x in records for _ in range(3)],
        lambda d_in: 3 * d_in,
    )
    return doubled >> constructor("count")(doubled.output_domain, doubled.output_metric)


def _scaled_sum() -> Any:
    total = constructor("sum")(*_symmetric(float, _BOUNDS, _SIZE))
    return total >> constructor("lipschitz_float_mul")(atom(float), total.output_metric, -0.375, bounds=(-200.0, 0.0))


def _through_bounded() -> Any:
    domain = vector(float, _SIZE, _BOUNDS)
    bounded = constructor("metric_bounded")(domain, dp.symmetric_distance())
    return bounded >> constructor("metric_unbounded")(domain, bounded.output_metric)


def _through_ordered() -> Any:
    domain = vector(float, _SIZE, _BOUNDS)
    ordered = constructor("ordered_random")(domain, dp.symmetric_distance())
    return ordered >> constructor("unordered")(domain, ordered.output_metric)


def _quantiles(random: Any) -> Iterator[Row]:
    """Compare the post-processing of counts with its definition: fractions of a whole, and where they are reached."""
    counts = [random.randint(1, 40) for _ in range(4)]
    fractions = dp.t.make_cdf(TA="float")([float(count) for count in counts])
    total = 0.0
    for place, count in enumerate(counts):
        total += count
        exact = total / sum(counts)
        yield f"make_cdf, {counts!r}, {place}", exact - 1e-12, fractions[place], exact + 1e-12
    edges = sorted(random.uniform(-9, 9) for _ in range(5))
    alphas = sorted(random.uniform(0.05, 0.95) for _ in range(3))
    found = dp.t.make_quantiles_from_counts(edges, alphas, interpolation="linear", TA="float")(
        [float(count) for count in counts]
    )
    for alpha, value in zip(alphas, found):
        position, place = alpha * sum(counts), 0
        while position > counts[place]:
            position, place = position - counts[place], place + 1
        exact = edges[place] + (edges[place + 1] - edges[place]) * position / counts[place]
        yield f"quantile {alpha!r}, {counts!r}, {edges!r}", exact - 1e-9, value, exact + 1e-9


def _consistent(random: Any) -> Iterator[Row]:
    """Check that counts of a tree without noise stay as they are."""
    leaves = [random.randint(0, 20) for _ in range(4)]
    tree = dp.t.make_b_ary_tree(vector(int), dp.l1_distance(T=int), 4, 2)(leaves)
    found = dp.t.make_consistent_b_ary_tree(branching_factor=2, TIA=int, TOA=float)(tree)
    for place, (value, exact) in enumerate(zip(found, leaves)):
        yield f"leaf {place} of {leaves!r}", exact - 1e-9, value, exact + 1e-9


def _case(words: str, relation: Callable[..., Any]) -> Relations:
    moves = {"outputs move as the map says": relation}
    return Relations(f"make_{words}", moves, unsafe=dict.fromkeys(moves, "above"))


def _stability(words: str, make: Callable[[], Any], records: _Records) -> Relations:
    return _case(words, _stable(make, records))


def _processing() -> Relations:
    return Relations(
        "make_cdf, make_quantiles_from_counts, make_consistent_b_ary_tree",
        {"quantiles are those of the counts": _quantiles, "consistent trees keep consistent counts": _consistent},
    )


def stability_cases(collect: Collector) -> None:
    """Collect the cases of transformations and of their post-processing."""
    for words, make, records in _transformations():
        collect.add(_stability, words, make, records)
    collect.add(_case, "count_by", _counted)
    collect.add(_processing)
