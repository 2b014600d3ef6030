"""Additive noise: Laplace, Gaussian and geometric, on floats and integers, single values and vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from opendp_building import Collector, atom, constructor, l1, l2, measurement_case, vector

if TYPE_CHECKING:
    from dpassay.adapter import Mechanism

__all__ = ["noise_cases"]

_INTEGERS = "low=-1000000,high=1000000,integer"
_FAMILIES = {
    ("laplace", True): "discrete laplace",
    ("laplace", False): "laplace",
    ("gaussian", True): "discrete gaussian",
    ("gaussian", False): "gaussian",
}


def _is_integer(kind: Any) -> bool:
    return kind is int or (isinstance(kind, str) and kind[0] in "iu")


def _exactly(kind: Any, value: float) -> Any:
    return int(value) if _is_integer(kind) else float(value)


def scalar(
    noise: str, kind: Any, scale: float, *, d_in: float = 1.0, k: int | None = None, limits: str = _INTEGERS
) -> Mechanism:
    """One value with noise, drawn one at a time through the constructor for single values."""
    whole = _is_integer(kind)
    options = {} if k is None else {"k": k}
    measurement = constructor(noise)(atom(kind), dp.absolute_distance(T=kind), scale=scale, **options)
    distribution = None
    if k is None and kind in (float, int):
        distribution = _distribution(noise, kind, scale)
    name = kind if isinstance(kind, str) else kind.__name__
    words = "" if limits == _INTEGERS else f" in {limits}"
    return measurement_case(
        f"make_{noise}({name}, scale={scale!r}{'' if k is None else f', k={k}'}) at {d_in!r}{words}",
        measurement,
        _exactly(kind, d_in),
        f"vector:size=1,linf={d_in!r}" + (f",{limits}" if whole else ""),
        lambda data: _exactly(kind, data[0]),
        distribution=distribution if limits == _INTEGERS else None,
        floats=not whole,
    )


def _distribution(noise: str, kind: Any, scale: float) -> Any:
    family = _FAMILIES[noise, _is_integer(kind)]
    return lambda data: {"family": family, "location": list(data) if len(data) > 1 else data[0], "scale": scale}


def vectors(noise: str, kind: Any, scale: float, size: int, *, d_in: float = 1.0, k: int | None = None) -> Mechanism:
    """Return the case: a vector with noise.

    Many draws come from one call on a vector of copies, whose noises are independent.
    """
    metric = l1 if noise == "laplace" else l2
    options = {} if k is None else {"k": k}
    make = constructor(noise)
    one = make(vector(kind, size), metric(kind), scale=scale, **options)

    def sample_many(data: list[float], count: int) -> list[Any]:
        many = make(vector(kind, size * count), metric(kind), scale=scale, **options)
        values = many([_exactly(kind, value) for value in data] * count)
        return values if size == 1 else [values[size * i : size * (i + 1)] for i in range(count)]

    whole = _is_integer(kind)
    norm = "l1" if noise == "laplace" else "l2"
    name = kind if isinstance(kind, str) else kind.__name__
    return measurement_case(
        f"make_{noise}(vector of {size} {name}, scale={scale!r}{'' if k is None else f', k={k}'}) at {d_in!r}",
        one,
        _exactly(kind, d_in),
        f"vector:size={size},{norm}={d_in!r}" + (f",{_INTEGERS}" if whole else ""),
        lambda data: data,
        sample_many=sample_many,
        floats=not whole,
        distribution=_distribution(noise, kind, scale) if k is None and kind in (float, int) else None,
        slow=not whole,  # the noise of floats is drawn exactly, in a tenth of a millisecond or more
    )


def geometric(scale: float, bounds: tuple[int, int] | None) -> Mechanism:
    """Geometric noise on integers, with the loop of constant length if there are bounds."""
    measurement = constructor("geometric")(atom(int), dp.absolute_distance(T=int), scale=scale, bounds=bounds)
    limits = _INTEGERS if bounds is None else f"low={bounds[0] - 3},high={bounds[1] + 3},integer"
    return measurement_case(
        f"make_geometric(scale={scale!r}, bounds={bounds})",
        measurement,
        1,
        f"vector:size=1,linf=1,{limits}",
        lambda data: int(data[0]),
        distribution=_distribution("laplace", int, scale) if bounds is None else None,
        floats=False,
    )


def zcdp_through_approximate(scale: float, delta: float) -> Mechanism:
    """Gaussian noise whose claim goes through the two converters, zCDP to a profile to one (epsilon, delta)."""
    gaussian = constructor("gaussian")(atom(float), dp.absolute_distance(T=float), scale=scale)
    fixed = constructor("fix_delta")(constructor("zCDP_to_approxDP")(gaussian), delta)
    return measurement_case(
        f"make_fix_delta(make_zCDP_to_approxDP(make_gaussian(scale={scale!r})), delta={delta!r})",
        fixed,
        1.0,
        "vector:size=1,linf=1",
        lambda data: data[0],
        distribution=_distribution("gaussian", float, scale),
        slow=True,
    )


def pure_through_zcdp(scale: float) -> Mechanism:
    """Laplace noise whose claim goes through the converter to zCDP."""
    laplace = constructor("laplace")(atom(float), dp.absolute_distance(T=float), scale=scale)
    return measurement_case(
        f"make_pureDP_to_zCDP(make_laplace(scale={scale!r}))",
        constructor("pureDP_to_zCDP")(laplace),
        1.0,
        "vector:size=1,linf=1",
        lambda data: data[0],
        distribution=_distribution("laplace", float, scale),
    )


def calibrated(noise: str, target: Any) -> Mechanism:
    """Noise whose scale the library's own search found for a target."""
    measurement = dp.binary_search_chain(
        lambda scale: constructor(noise)(atom(float), dp.absolute_distance(T=float), scale=scale), 1.0, target
    )
    return measurement_case(
        f"binary_search_chain(make_{noise}, d_in=1.0, d_out={target!r})",
        measurement,
        1.0,
        "vector:size=1,linf=1",
        lambda data: data[0],
        slow=True,
    )


def canonical(d_in: float, d_out: tuple[float, float]) -> Mechanism:
    """Noise whose trade-off curve is that of (epsilon, delta) exactly."""
    measurement = constructor("canonical_noise")(atom(float), dp.absolute_distance(T=float), d_in, d_out)
    return measurement_case(
        f"make_canonical_noise(d_in={d_in!r}, d_out={d_out!r})",
        measurement,
        d_in,
        f"vector:size=1,linf={d_in!r}",
        lambda data: data[0],
        slow=True,
    )


def noise_cases(collect: Collector) -> None:
    """Add the cases of additive noise."""
    for noise in ("laplace", "gaussian"):
        collect.add(vectors, noise, float, 1.0, 1)
        collect.add(vectors, noise, float, 1.0, 3)
        collect.add(vectors, noise, int, 1.0, 1)
        collect.add(scalar, noise, int, 1.0, limits="low=2147483640,high=2147483647,integer")
    # both take the same path for the scale, the grid and the type
    collect.add(scalar, "laplace", float, 1e-9, d_in=1e-9)
    collect.add(scalar, "gaussian", "f32", 1.0)
    collect.add(vectors, "laplace", int, 0.3, 1)
    collect.add(vectors, "laplace", float, 1.0 / 3.0, 1)
    collect.add(vectors, "laplace", float, 1.0, 1, k=0)
    collect.add(vectors, "laplace", float, 1.0, 3, k=-3)
    collect.add(vectors, "gaussian", float, 1.0, 1, k=0)
    for bounds in (None, (0, 10), (5, 5)):
        collect.add(geometric, 1.0, bounds)
    collect.add(zcdp_through_approximate, 1.0, 1e-6)
    collect.add(pure_through_zcdp, 1.0)
    collect.add(calibrated, "laplace", 1.0)
    collect.add(calibrated, "gaussian", 0.5)
    for d_in, d_out in ((1.0, (1.0, 1e-6)), (2.5, (0.5, 0.1)), (1.0, (3.0, 0.5))):
        collect.add(canonical, d_in, d_out)
