"""Histograms whose keys are private: noise and a threshold, and projections that are asked key by key."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from opendp_building import Collector, atom, constructor, idealised, measurement_case

if TYPE_CHECKING:
    from dpassay.adapter import Mechanism

__all__ = ["histogram_cases"]


def _domain(kind: Any) -> Any:
    return dp.map_domain(atom(str), atom(kind))


def _metric(noise: str, kind: Any) -> tuple[Any, bool]:
    """Return the metric of histograms, and whether its distances are triples (releases since 0.13)."""
    triple = getattr(dp, "l01inf_distance" if noise == "laplace" else "l02inf_distance", None)
    if triple is not None:
        return triple(dp.absolute_distance(T=kind)), True
    if noise == "gaussian":
        raise ValueError("this release has no threshold with Gaussian noise")
    return dp.l1_distance(T=kind), False


def threshold(
    noise: str,
    kind: Any,
    scale: float,
    limit: float,
    *,
    keys: int = 1,
    most: int = 1,
    fixed_delta: float | None = None,
    slow: bool = True,
) -> Mechanism:
    """Return the case: a histogram with noise, of which counts below a threshold are left out.

    One user owns one unit of each of `keys` keys; no count is above `most`. Keys whose count is zero are not in the
    histogram. With `fixed_delta`, the claim goes on through the converters to one (epsilon, delta), delta being that
    many times the delta of the threshold.
    """
    metric, triple = _metric(noise, kind)
    make = constructor(f"{noise}_threshold", f"base_{noise}_threshold")
    with contextlib.nullcontext() if triple else idealised():
        measurement = make(_domain(kind), metric, scale=scale, threshold=kind(limit))
    total = kind(keys) if noise == "laplace" else keys**0.5
    if noise == "gaussian" and kind is int:
        total = keys  # an upper bound that is an integer, exact for one key
    d_in = (keys, total, kind(1)) if triple else total
    if fixed_delta is not None:
        delta = measurement.map(d_in)[1]
        measurement = constructor("fix_delta")(constructor("zCDP_to_approxDP")(measurement), delta * fixed_delta)

    def sample_many(data: list[float], count: int) -> list[Any]:
        # one histogram of many groups of keys: what happens to a key has nothing to do with the other keys
        present = [(i, kind(value)) for i, value in enumerate(data) if value]
        release = measurement({f"{j} {i}": value for j in range(count) for i, value in present})
        return [tuple(release.get(f"{j} {i}") for i in range(keys)) for j in range(count)]

    norm = f"l1={keys}" if noise == "laplace" else f"l0={keys}"
    words = f"{scale=}, threshold={limit}, counts up to {most}"
    words += f", fixed delta * {fixed_delta}" if fixed_delta else ""
    return measurement_case(
        f"make_{noise}_threshold({kind.__name__}, {keys} keys a user, {words})",
        measurement,
        d_in,
        f"vector:size={keys},{norm},linf=1,low=0,high={most},integer",
        list,
        sample_many=sample_many,
        slow=slow,
        floats=triple and kind is float,
        notes=""
        if triple and kind is float
        else "no floats are released"
        if triple
        else "this release asks for its flag of idealised floats here",
    )


def zero_count(noise: str) -> Mechanism:
    """Return the case: a key that is missing (0) or there with the count 0 (1), at distance zero by the metric."""
    metric, triple = _metric(noise, int)
    measurement = constructor(f"{noise}_threshold")(_domain(int), metric, scale=1.0, threshold=1)

    def sample_many(data: list[float], count: int) -> list[Any]:
        release = measurement(dict.fromkeys(map(str, range(count)), 0) if data[0] else {})
        return [release.get(str(i)) for i in range(count)]

    return measurement_case(
        f"make_{noise}_threshold(int, scale=1.0, threshold=1) of a count of zero",
        measurement,
        (0, 0, 0) if triple else 0,
        "vector:size=1,linf=1,low=0,high=1,integer",
        list,
        sample_many=sample_many,
        floats=False,
    )


def counted(scale: float, limit: int) -> Mechanism:
    """Words counted by the library itself, then noise and a threshold; one word is added or removed."""
    count = constructor("count_by")(dp.vector_domain(atom(int)), dp.symmetric_distance())
    with idealised():
        measurement = count >> dp.m.then_laplace_threshold(scale=scale, threshold=limit)
    return measurement_case(
        f"make_count_by >> then_laplace_threshold({scale=}, threshold={limit})",
        measurement,
        1,
        "records:low=0,high=3,size=0,max-size=6,relation=add-remove",
        lambda data: [int(value) for value in data],
        outcome=lambda release: tuple(release.get(i) for i in range(4)),
        slow=True,
        floats=False,
    )


def sparse_projection(scale: float) -> Mechanism:
    """Return the case: a sparse histogram behind random hash functions, asked for two keys."""
    measurement = constructor("alp_queryable")(
        _domain(int), dp.l01inf_distance(dp.absolute_distance(T=int)), scale=scale, total_limit=24, value_limit=10
    )

    def argument(data: list[float]) -> dict[str, int]:
        return {f"key {i}": int(count) for i, count in enumerate(data) if count}

    return measurement_case(
        f"make_alp_queryable({scale=})",
        measurement,
        (1, 1, 1),
        "vector:size=2,l1=1,low=0,high=10,integer",
        argument,
        outcome=lambda queryable: (queryable("key 0"), queryable("key 1")),
        slow=True,
        notes="the measurement draws its hash functions once, when it is made: they are public",
    )


def histogram_cases(collect: Collector) -> None:
    """Add the cases of histograms."""
    for noise in ("laplace", "gaussian"):
        # at a threshold that one user meets exactly, delta is large enough for few samples to tell
        collect.add(threshold, noise, int, 1.0, 1, slow=False)
        collect.add(threshold, noise, int, 10.0, 30, keys=3, most=100)
        collect.add(threshold, noise, float, 1.0, 4)
        collect.add(zero_count, noise)
    collect.add(threshold, "laplace", int, 0.3, 1)
    collect.add(threshold, "gaussian", int, 1.0, 1, fixed_delta=1.01, slow=False)
    collect.add(counted, 1.0, 5)
    collect.add(sparse_projection, 1.0)
