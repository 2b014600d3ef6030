"""Partial constructors: `space >> then_x(...)` is `make_x(*space, ...)`, in its map and its release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from opendp_building import Collector, atom, vector

from dpassay.adapter import Relations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Row = tuple[str, float, float, float]
    Build = Callable[[Any], tuple[Any, tuple[Any, ...], list[Any]]]

__all__ = ["partial_cases"]

_WORDS = ["b", "c", "e"]
_BOUNDS = (-17.5, -2.25)


def _parts(loss: Any) -> list[float]:
    return [float(part) for part in loss] if isinstance(loss, (tuple, list)) else [float(loss)]


def _described(built: Any) -> list[str]:
    names = ("input_domain", "input_metric", "output_domain", "output_metric", "output_measure")
    return [str(getattr(built, name, "")) for name in names]


def _same(name: str, build: Build, *, releases: Any = None) -> Callable[[Any], Iterator[Row]]:
    """Return the comparison of a constructor with its partial form, on its maps and, without noise, on a release."""
    homes = [home for home in (dp.m, dp.t, dp.c) if hasattr(home, f"make_{name}") and hasattr(home, f"then_{name}")]
    if not homes:
        raise AttributeError(f"this release has no then_{name}")
    make, then = getattr(homes[0], f"make_{name}"), getattr(homes[0], f"then_{name}")

    def compare(random: Any) -> Iterator[Row]:
        for _ in range(4):
            space, arguments, distances = build(random)
            whole, partial = make(*space, *arguments), space >> then(*arguments)
            words = ", ".join(map(repr, arguments))
            same = _described(whole) == _described(partial)
            yield f"spaces, {words}", 1.0, float(same), 1.0
            for distance in distances if hasattr(whole, "map") else []:
                pairs = zip(_parts(whole.map(distance)), _parts(partial.map(distance)))
                for exact, found in pairs:
                    yield f"map at {distance!r}, {words}", exact, found, exact
            if releases is not None:
                data = releases(random)
                yield f"on {data!r}, {words}", 1.0, float(whole(data) == partial(data)), 1.0

    return compare


def _records(kind: Any, size: int | None = None, bounds: Any = None) -> tuple[Any, Any]:
    return vector(kind, size, bounds), dp.symmetric_distance()


def _number(kind: Any = float) -> tuple[Any, Any]:
    return atom(kind), dp.absolute_distance(T=kind)


def _scale(random: Any) -> float:
    return float(random.uniform(0.3, 7))


def _noises() -> Iterator[tuple[str, Build]]:
    distance = [0.7, 2.5]
    yield "laplace", lambda r: (_number(), (_scale(r), r.randint(-30, -10)), distance)
    yield "gaussian", lambda r: (_number(), (_scale(r), r.randint(-30, -10)), distance)
    yield "geometric", lambda r: (_number(int), (_scale(r), (-3, 9)), [1, 3])
    measures = [dp.max_divergence, dp.zero_concentrated_divergence]
    vectors = {"MaxDivergence": dp.l1_distance, "ZeroConcentratedDivergence": dp.l2_distance}

    def noise(random: Any) -> tuple[Any, tuple[Any, ...], list[Any]]:
        measure = random.choice(measures)()
        return (vector(float, 3), vectors[str(measure)](T=float)), (measure, _scale(random), -20), distance

    yield "noise", noise
    yield "canonical_noise", lambda r: (_number(), (r.uniform(1, 3), (r.uniform(0.4, 2), 1e-3)), [1.0])
    histogram = dp.map_domain(atom(str), atom(int))
    l01 = dp.l01inf_distance(dp.absolute_distance(T=int))
    l02 = dp.l02inf_distance(dp.absolute_distance(T=int))
    moved = [(2, 3, 2)]
    yield "laplace_threshold", lambda r: ((histogram, l01), (_scale(r), r.randint(20, 90)), moved)
    yield "gaussian_threshold", lambda r: ((histogram, l02), (_scale(r), r.randint(20, 90)), moved)
    approximate = dp.approximate(dp.max_divergence())
    yield "noise_threshold", lambda r: ((histogram, l01), (approximate, _scale(r), r.randint(20, 90)), moved)
    yield "alp_queryable", lambda r: ((histogram, l01), (_scale(r), 24, 9, 40, 3), moved)


def _selections() -> Iterator[tuple[str, Build]]:
    measures = [dp.max_divergence, dp.zero_concentrated_divergence]

    def scores(random: Any) -> tuple[Any, Any]:
        return vector(float), dp.linf_distance(T=float, monotonic=random.random() < 0.5)

    distance = [0.6, 2.5]
    yield "noisy_max", lambda r: (scores(r), (r.choice(measures)(), _scale(r), True), distance)
    yield "noisy_top_k", lambda r: (scores(r), (r.choice(measures)(), r.randint(2, 5), _scale(r), True), distance)
    yield "report_noisy_max_gumbel", lambda r: (scores(r), (_scale(r), "min"), distance)
    yield (
        "private_quantile",
        lambda r: (_records(float), (r.choice(measures)(), [-3.0, 0.5, 7.0], r.uniform(0.1, 0.4), _scale(r)), [1, 3]),
    )
    bits = dp.bitvector_domain(max_weight=3), dp.discrete_distance()
    yield "randomized_response_bitvec", lambda r: (bits, (r.uniform(0.3, 0.9), True), [1])

    def user(random: Any) -> tuple[Any, tuple[Any, ...], list[Any]]:
        slope = random.uniform(0.3, 3)
        return _number(), (dp.max_divergence(), lambda x: x, lambda d: slope * d, "f64"), [2.5]

    yield "user_measurement", user
    for name in ("adaptive_composition", "sequential_composition"):
        yield name, lambda r: (_number(), (dp.max_divergence(), 2.5, [_scale(r), _scale(r)]), [2.5])
    yield "fully_adaptive_composition", lambda r: (_number(), (r.choice(measures)(),), [])


def _transformations() -> Iterator[tuple[str, Build, Any]]:
    """Yield names, builders and records to transform."""
    floats = lambda r: [r.uniform(-30, 9) for _ in range(6)]  # noqa: E731
    inside = lambda r: [r.uniform(*_BOUNDS) for _ in range(6)]  # noqa: E731
    letters = lambda r: [r.choice("abcdef") for _ in range(6)]  # noqa: E731
    changed = [2, 4]
    sized = _records(float, 6, _BOUNDS)
    yield "clamp", lambda r: (_records(float), ((r.uniform(-9, -5), r.uniform(-4, 9)),), changed), floats
    yield "count", lambda _: (_records(float), ("u32",), changed), floats
    yield "count_distinct", lambda _: (_records(str), ("i64",), changed), letters
    yield "count_by", lambda _: (_records(str), ("i64",), [1, 2]), letters
    yield (
        "count_by_categories",
        lambda r: (_records(str), (_WORDS, r.random() < 0.5, "L2Distance<int>", "int"), changed),
        letters,
    )
    yield "cast_default", lambda _: (_records(str), (int,), changed), letters
    yield "cast_inherent", lambda _: (_records(int), (float,), changed), lambda r: [r.randint(-9, 9) for _ in range(5)]
    yield "cast", lambda _: (_records(int), (str,), changed), None
    yield "find", lambda _: (_records(str), (_WORDS,), changed), None
    yield "find_bin", lambda r: (_records(float), ([-20.0, r.uniform(-9, 0), 5.0],), changed), floats
    yield "is_equal", lambda _: (_records(str), ("c",), changed), letters
    yield "index", lambda _: (_records("usize"), (_WORDS, "x"), changed), lambda r: [r.randint(0, 5) for _ in range(6)]
    nullable = dp.vector_domain(dp.atom_domain(T=float, nan=True)), dp.symmetric_distance()
    yield "drop_null", lambda _: (nullable, (), changed), floats
    yield "is_null", lambda _: (nullable, (), changed), floats
    yield "impute_constant", lambda r: (nullable, (r.uniform(-3, 3),), changed), floats
    yield "impute_uniform_float", lambda r: (nullable, ((r.uniform(-3, -1), 4.0),), changed), None
    yield "identity", lambda _: (_records(float), (), changed), floats
    for name in ("sum", "mean", "variance"):
        yield name, lambda _, n=name: (sized, (0,) if n == "variance" else (), changed), inside
    yield "sum_of_squared_deviations", lambda _: (sized, ("Sequential<f64>",), changed), inside
    yield (
        "quantile_score_candidates",
        lambda r: (_records(float), ([-30.0, -8.0, 4.0], r.uniform(0.1, 0.4)), changed),
        floats,
    )
    tree = vector(int), dp.l1_distance(T=int)
    yield "b_ary_tree", lambda r: (tree, (r.randint(5, 8), r.randint(2, 4)), changed), lambda _: [3, 1, 4, 1, 5]
    yield (
        "lipschitz_float_mul",
        lambda r: (_number(), (r.uniform(-3, -0.2), (-200.0, 100.0)), [0.5, 3.0]),
        lambda r: r.uniform(-90, 90),
    )
    yield "metric_bounded", lambda _: (sized, (), changed), inside
    yield "metric_unbounded", lambda _: ((sized[0], dp.change_one_distance()), (), [1, 3]), inside
    yield "ordered_random", lambda _: (_records(float), (), changed), None
    yield "unordered", lambda _: ((vector(float), dp.insert_delete_distance()), (), changed), None
    yield "resize", lambda r: (_records(float, None, _BOUNDS), (r.randint(3, 9), -3.0), changed), None


def _partial(name: str, build: Build, releases: Any = None) -> Relations:
    return Relations(f"then_{name}", {f"it is make_{name}": _same(name, build, releases=releases)})


def partial_cases(collect: Collector) -> None:
    """Collect the cases of partial constructors."""
    for chapter in (_noises, _selections):
        for name, build in chapter():
            collect.add(_partial, name, build)
    for name, build, releases in _transformations():
        collect.add(_partial, name, build, releases)
