"""Turns anything of OpenDP that is a measurement with a privacy map into a case, whatever the release.

A maintainer who has a measurement of their own needs nothing but `measurement_case`: the claim is what the
measurement's own map says at `d_in`, in the words of its own output measure.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp

from dpassay.adapter import Mechanism

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = [
    "Collector",
    "approximate_divergence",
    "atom",
    "claim_of",
    "concentrated_divergence",
    "constructor",
    "idealised",
    "l1",
    "l2",
    "linf",
    "max_divergence",
    "measurement_case",
    "vector",
]

dp.enable_features("contrib", "honest-but-curious")


class Collector:
    """Collects cases; what this release of the library cannot build is named on standard error and left out."""

    def __init__(self) -> None:
        self.cases: list[Any] = []

    def add(self, build: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        """Call ``build`` and keep the case, or the cases, that it returns."""
        try:
            built = build(*arguments, **options)
        except Exception as error:  # noqa: BLE001  # a release raises what it likes; the reason is printed
            reason = " ".join(str(error).split())[:160]
            sys.stderr.write(f"left out: {build.__name__}{arguments}{options or ''}: {reason}\n")
            return
        self.cases.extend(built if isinstance(built, list) else [built])

    def add_chapter(self, name: str) -> None:
        """Add the cases of the module ``opendp_<name>s``, all or none of which this release can build."""
        before = len(self.cases)
        try:
            getattr(importlib.import_module(f"opendp_{name}s"), f"{name}_cases")(self)
        except Exception as error:  # noqa: BLE001  # a release raises what it likes; the reason is printed
            del self.cases[before:]
            sys.stderr.write(f"left out: {name}s: {' '.join(str(error).split())[:160]}\n")


def claim_of(measurement: Any, d_in: Any) -> str:
    """Return the claim that a measurement's privacy map makes at ``d_in``, in words.

    Raises
    ------
    ValueError
        If the output measure has no words here.
    """
    measure = str(measurement.output_measure).replace("()", "")
    d_out = measurement.map(d_in)
    if measure.startswith("MaxDivergence"):
        return f"pure:{float(d_out)!r}"
    if measure.startswith("ZeroConcentratedDivergence"):
        return f"zcdp:{float(d_out)!r}"
    if measure.startswith(("FixedSmoothedMaxDivergence", "Approximate(MaxDivergence", "Approximate<MaxDivergence")):
        return f"approx:{float(d_out[0])!r},{float(d_out[1])!r}"
    if measure.startswith(("Approximate(ZeroConcentrated", "Approximate<ZeroConcentrated")):
        return f"approx-zcdp:{float(d_out[0])!r},{float(d_out[1])!r}"
    raise ValueError(f"the output measure {measure} has no words")


def measurement_case(
    name: str,
    measurement: Any,
    d_in: Any,
    neighbours: str,
    argument: Callable[[list[float]], Any],
    *,
    outcome: Callable[[Any], Any] | None = None,
    sample_many: Callable[[list[float], int], Any] | None = None,
    distribution: Callable[[list[float]], Mapping[str, Any]] | None = None,
    **options: Any,
) -> Mechanism:
    """Return the case of a measurement.

    Parameters
    ----------
    name : str
        Name of the case.
    measurement : opendp.mod.Measurement
        With its domain, its metric and its privacy map.
    d_in : object
        A distance of the measurement's input metric that bounds the distance of all neighbours.
    neighbours : str
        The neighbour relation in words.
    argument : callable
        Turns data into what the measurement takes.
    outcome : callable, optional
        Turns a release into a plain outcome.
    sample_many : callable, optional
        ``sample_many(data, size)``: many releases at once.
    distribution : callable, optional
        See `Mechanism`.
    options
        Further fields of `Mechanism`.
    """
    if sample_many is None:  # a thousand calls into the library take a second or so
        options.setdefault("slow", "calls" not in options)
    if not options.setdefault("floats", True):
        options.setdefault("notes", "no floats are released")

    def sample_one(data: list[float]) -> Any:
        release = measurement(argument(data))
        return release if outcome is None else outcome(release)

    return Mechanism(
        name,
        neighbours=neighbours,
        claim=claim_of(measurement, d_in),
        sample_one=sample_one if sample_many is None else None,
        sample_many=sample_many,
        distribution=distribution,
        **options,
    )


def constructor(*names: str) -> Callable[..., Any]:
    """Return the first constructor of measurements or combinators that this release has under one of the names.

    Raises
    ------
    AttributeError
        If it has none of them.
    """
    for name in names:
        for home in (dp.m, dp.c, dp.t):
            if hasattr(home, f"make_{name}"):
                found: Callable[..., Any] = getattr(home, f"make_{name}")
                return found
    raise AttributeError(f"this release has no make_{' nor make_'.join(names)}")


def atom(kind: Any, bounds: tuple[Any, Any] | None = None) -> Any:
    """Return the domain of single values, without NaN where the release knows of it."""
    options: dict[str, Any] = {"bounds": bounds} if bounds is not None else {}
    if kind in (float, "f32", "f64") and "nan" in inspect.signature(dp.atom_domain).parameters:
        options["nan"] = False
    return dp.atom_domain(T=kind, **options)


def vector(kind: Any, size: int | None = None, bounds: tuple[Any, Any] | None = None) -> Any:
    """Return the domain of vectors of values."""
    return dp.vector_domain(atom(kind, bounds)) if size is None else dp.vector_domain(atom(kind, bounds), size=size)


def l1(kind: Any) -> Any:
    """Return the L1 metric of vectors."""
    return dp.l1_distance(T=kind)


def l2(kind: Any) -> Any:
    """Return the L2 metric of vectors."""
    return dp.l2_distance(T=kind)


def linf(kind: Any, *, monotonic: bool = False) -> Any:
    """Return the L-infinity metric of vectors, between neighbours that move one way only if `monotonic`."""
    return dp.linf_distance(T=kind, monotonic=True) if monotonic else dp.linf_distance(T=kind)


def max_divergence() -> Any:
    """Return the measure of pure privacy; releases before 0.12 ask for the type of its distance."""
    return dp.max_divergence(T=float) if inspect.signature(dp.max_divergence).parameters else dp.max_divergence()


def concentrated_divergence() -> Any:
    """Return the measure of zero-concentrated privacy."""
    make = dp.zero_concentrated_divergence
    return make(T=float) if inspect.signature(make).parameters else make()


def approximate_divergence() -> Any:
    """Return the measure of a fixed (epsilon, delta)."""
    if hasattr(dp, "approximate"):
        return dp.approximate(dp.max_divergence())
    return dp.fixed_smoothed_max_divergence(T=float)


@contextlib.contextmanager
def idealised() -> Iterator[None]:
    """Allow, while in the block, what older releases call private only with real numbers in place of floats."""
    dp.enable_features("floating-point")
    try:
        yield
    finally:
        dp.disable_features("floating-point")
