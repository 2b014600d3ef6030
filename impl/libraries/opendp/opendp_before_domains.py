"""Releases before 0.7, whose constructors take types in place of domains and metrics."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from dpassay.adapter import Answer, Mechanism

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["old_cases"]

_INTEGERS = ",low=-1000000,high=1000000,integer"


def _noise(name: str, words: str, kind: type, scale: float, family: str, notion: str) -> Mechanism:
    """Noise on one value, drawn in bulk on a vector of copies."""
    from opendp import measurements

    make = getattr(measurements, f"make_{name}")
    atom = "i32" if kind is int else "f64"
    more = {"MO": "ZeroConcentratedDivergence<f64>"} if notion == "zcdp" else {}
    types = {"QO": "f64"} if kind is int and notion == "pure" else {}
    one = make(scale, D=f"AllDomain<{atom}>", **more, **types)
    many = make(scale, D=f"VectorDomain<AllDomain<{atom}>>", **more, **types)
    return Mechanism(
        f"make_{name}({words}, scale={scale!r})",
        neighbours="vector:size=1,linf=1" + (_INTEGERS if kind is int else ""),
        claim=f"{notion}:{float(one.map(kind(1)))!r}",
        sample_many=lambda data, count: many([kind(data[0])] * count),
        distribution=lambda data: {"family": family, "location": data[0], "scale": scale},
    )


def _bounded_geometric() -> Mechanism:
    from opendp import measurements

    measurement = measurements.make_base_geometric(1.0, bounds=(0, 10), D="AllDomain<i32>", QO="f64")
    return Mechanism(
        "make_base_geometric(scale=1.0, bounds=(0, 10))",
        neighbours="vector:size=1,linf=1,low=-3,high=13,integer",
        claim=f"pure:{float(measurement.map(1))!r}",
        sample_one=lambda data: measurement(int(data[0])),
    )


def _threshold() -> Mechanism:
    from opendp import measurements

    measurement = measurements.make_base_ptr(1.0, 4.0, TK="String", TV="f64")
    delta = 0.05
    epsilon = measurement.map(1.0).epsilon(delta)

    def sample_one(data: list[float]) -> tuple[float | None, ...]:
        # this release cannot pass on an empty histogram: a key that everybody knows keeps it from being empty
        known = {"known to all": 100.0}
        release = measurement({**known, **{f"key {i}": float(count) for i, count in enumerate(data) if count}})
        return tuple(release.get(f"key {i}") for i in range(2))

    return Mechanism(
        "make_base_ptr(scale=1.0, threshold=4.0)",
        neighbours="vector:size=2,l1=1,linf=1,low=0,high=100,integer",
        claim=f"approx:{float(epsilon)!r},{delta!r}",
        sample_one=sample_one,
        floats=False,
        notes="this release asks for its flag of idealised floats here",
    )


def _response(probability: float, *, constant_time: bool) -> Mechanism:
    from opendp import measurements

    measurement = measurements.make_randomized_response_bool(probability, constant_time=constant_time)
    return Mechanism(
        f"make_randomized_response_bool(prob={probability!r}, {constant_time=})",
        neighbours="vector:size=1,linf=1,low=0,high=1,integer",
        claim=f"pure:{float(measurement.map(1))!r}",
        sample_one=lambda data: measurement(data[0] >= 1),
    )


def _categories(count: int, probability: float) -> Mechanism:
    from opendp import measurements

    measurement = measurements.make_randomized_response(list(range(count)), probability)
    return Mechanism(
        f"make_randomized_response({count} categories, prob={probability!r})",
        neighbours=f"vector:size=1,linf={count - 1},low=0,high={count - 1},integer",
        claim=f"pure:{float(measurement.map(1))!r}",
        sample_one=lambda data: measurement(int(data[0])),
    )


def _aggregate(name: str, size: int, bounds: tuple[float, float]) -> Mechanism:
    from opendp import measurements, transformations

    transformation = getattr(transformations, f"make_sized_bounded_{name}")(size, bounds)
    sensitivity = float(transformation.map(2))
    noise = measurements.make_base_laplace(sensitivity, D="VectorDomain<AllDomain<f64>>")
    single = transformation >> measurements.make_base_laplace(sensitivity, D="AllDomain<f64>")
    return Mechanism(
        f"make_sized_bounded_{name} with Laplace noise, {bounds=}, {size=}",
        neighbours=f"records:low={bounds[0]!r},high={bounds[1]!r},size={size},relation=replace",
        claim=f"pure:{float(single.map(2))!r}",
        sample_many=lambda data, count: noise([transformation(list(data))] * count),
        distribution=lambda data: {"family": "laplace", "location": transformation(list(data)), "scale": sensitivity},
        noiseless=lambda data: transformation(list(data)),
        sensitivity=sensitivity,
        distribution_is_exact=False,
        notes="results are computed once for all draws of a batch",
    )


def _converted(question: str) -> Answer:
    """Return the answer of the converter on Gaussian noise, whose rho its own map states."""
    from opendp import combinators, measurements

    def profile(sigma: float) -> Any:
        gaussian = measurements.make_base_gaussian(sigma, D="AllDomain<f64>", MO="ZeroConcentratedDivergence<f64>")
        return combinators.make_zCDP_to_approxDP(gaussian).map(1.0)

    def answer(sigma: float, delta: float, count: int) -> float:
        if count != 1:
            raise ValueError(f"one mechanism is asked here, got count={count!r}")
        return float(profile(sigma).epsilon(delta))

    return Answer(
        "make_zCDP_to_approxDP(make_base_gaussian)",
        question,
        answer,
        domain={"count": (1.0, 1.0)},
    )


def old_cases() -> list[Any]:
    """Return the cases of these releases; what cannot be built is named on standard error."""
    from opendp.mod import enable_features

    enable_features("contrib", "floating-point")
    up = 1.0000000000000002
    builders: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
        (_noise, ("base_laplace", "float", float, 1.0, "laplace", "pure"), {}),
        (_noise, ("base_laplace", "float", float, 1.0 / 3.0, "laplace", "pure"), {}),
        (_noise, ("base_gaussian", "float", float, 1.0, "gaussian", "zcdp"), {}),
        (_noise, ("base_discrete_laplace", "int", int, 1.0, "discrete laplace", "pure"), {}),
        (_noise, ("base_geometric", "int", int, 1.0, "discrete laplace", "pure"), {}),
        (_noise, ("base_discrete_gaussian", "int", int, 1.0, "discrete gaussian", "zcdp"), {}),
        (_bounded_geometric, (), {}),
        (_threshold, (), {}),
        (_response, (0.75,), {"constant_time": False}),
        (_response, (0.75,), {"constant_time": True}),
        (_categories, (4, 0.6), {}),
        (_converted, ("gaussian_epsilon",), {}),
    ]
    for name in ("sum", "mean", "variance"):
        for size, bounds in ((3, (0.0, 1.0)), (1000, (0.1, 0.3)), (1000, (1.0, up)), (1000, (2.0**50, 2.0**50 + 1))):
            builders.append((_aggregate, (name, size, bounds), {}))
    found: list[Any] = []
    for build, arguments, options in builders:
        try:
            found.append(build(*arguments, **options))
        except Exception as error:  # noqa: BLE001  # a release raises what it likes; the reason is printed
            reason = " ".join(str(error).split())[:160]
            sys.stderr.write(f"left out: {build.__name__}{arguments}: {reason}\n")
    return found
