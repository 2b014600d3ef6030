"""Selection: noisy max and min, top k, quantiles, selection among private candidates."""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
from opendp_building import (
    Collector,
    atom,
    claim_of,
    concentrated_divergence,
    constructor,
    linf,
    max_divergence,
    measurement_case,
    vector,
)

from dpassay.adapter import Mechanism

__all__ = ["selection_cases"]


def _neighbours(size: int, *, monotonic: bool, whole: bool) -> str:
    words = f"vector:size={size},linf=1"
    return words + (",low=-1000,high=1000,integer" if whole else "") + (",monotone" if monotonic else "")


def _scores(kind: Any) -> Any:
    return lambda data: [int(value) if kind is int else float(value) for value in data]


def _on_scores(name: str, measurement: Any, kind: Any, size: int, *, monotonic: bool, **more: Any) -> Mechanism:
    """Return the case of a measurement that selects among scores which all may move by 1."""
    neighbours = _neighbours(size, monotonic=monotonic, whole=kind is int)
    return measurement_case(name, measurement, kind(1), neighbours, _scores(kind), floats=False, **more)


def noisy_max(
    kind: Any, size: int, scale: float, *, measure: str = "max", monotonic: bool = False, negate: bool = False
) -> Mechanism:
    """Return the case: the index of the largest score, with noise."""
    divergence = max_divergence() if measure == "max" else concentrated_divergence()
    measurement = constructor("noisy_max")(
        vector(kind), linf(kind, monotonic=monotonic), divergence, scale=scale, negate=negate
    )
    name = f"make_noisy_max({size} {kind.__name__}, {measure}, scale={scale!r}, {monotonic=}, {negate=})"
    return _on_scores(name, measurement, kind, size, monotonic=monotonic)


def gumbel_max(kind: Any, size: int, scale: float, *, monotonic: bool = False, optimize: str = "max") -> Mechanism:
    """Return the case: the index of the largest score under the older constructor's name."""
    measurement = constructor("report_noisy_max_gumbel")(
        vector(kind), linf(kind, monotonic=monotonic), scale=scale, optimize=optimize
    )
    name = f"make_report_noisy_max_gumbel({size} {kind.__name__}, scale={scale!r}, {monotonic=}, {optimize=})"
    return _on_scores(name, measurement, kind, size, monotonic=monotonic)


def clear_winner(name: str, optimize: str) -> Mechanism:
    """Return the case: selection between two scores so far apart that noise does not matter: which end is reported."""
    if name == "noisy_max":
        measurement = constructor(name)(
            vector(float), linf(float), max_divergence(), scale=1e-3, negate=optimize == "min"
        )
    else:
        measurement = constructor(name)(vector(float), linf(float), scale=1e-3, optimize=optimize)
    expected = 1 if optimize == "max" else 0
    return measurement_case(
        f"make_{name}({optimize} of a clear winner)",
        measurement,
        1.0,
        "vector:size=1,linf=1,low=0,high=0",  # one input: the fit alone is of interest
        lambda data: [data[0], data[0] + 10.0],
        distribution=lambda _: {"family": "finite", "symbols": [expected, 1 - expected], "probabilities": [1.0, 0.0]},
        floats=False,
        calls=500,
        notes="the distribution leaves out a probability below exp(-9000)",
    )


def noisy_top_k(
    kind: Any, size: int, k: int, scale: float, *, measure: str = "max", monotonic: bool = False
) -> Mechanism:
    """Return the case: the indices of the k largest scores, with noise."""
    divergence = max_divergence() if measure == "max" else concentrated_divergence()
    measurement = constructor("noisy_top_k")(
        vector(kind), linf(kind, monotonic=monotonic), divergence, k=k, scale=scale
    )
    name = f"make_noisy_top_k({size} {kind.__name__}, {k=}, {measure}, scale={scale!r}, {monotonic=})"
    return _on_scores(name, measurement, kind, size, monotonic=monotonic, outcome=tuple)


def quantile(alpha: float, scale: float, *, size: int | None, candidates: list[float]) -> Mechanism:
    """Return the case: a quantile among candidates, of a data set of known size or not."""
    measurement = constructor("private_quantile")(
        vector(float, size), dp.symmetric_distance(), max_divergence(), candidates, alpha, scale
    )
    relation = "size=0,max-size=6,relation=add-remove" if size is None else f"size={size},relation=replace"
    return measurement_case(
        f"make_private_quantile({alpha=}, scale={scale!r}, {size=}, {len(candidates)} candidates)",
        measurement,
        1 if size is None else 2,
        f"records:low=0,high=4,{relation}",
        list,
        floats=False,
        notes="one of the candidates is released",
    )


def _counting_measurement(score: float, calls: list[int]) -> Any:
    def release(_: float) -> tuple[float, float]:
        calls[0] += 1
        return (score, 0.0)

    return constructor("user_measurement")(
        atom(float),
        dp.absolute_distance(T=float),
        max_divergence(),
        release,
        lambda _: 0.0,
        TO="(f64, ExtrinsicObject)",
    )


def private_candidate_calls(stop_probability: float) -> Mechanism:
    """Return the number of candidates drawn while all scores stay below the threshold: a geometric number."""
    calls = [0]
    measurement = constructor("select_private_candidate")(_counting_measurement(0.0, calls), stop_probability, 1.0)

    def sample_one(_: Any) -> int:
        calls[0] = 0
        measurement(0.0)
        return min(calls[0], 40)

    more = 1.0 - stop_probability
    distribution = {
        "family": "finite",
        "symbols": list(range(1, 41)),
        "probabilities": [stop_probability * more ** (i - 1) for i in range(1, 40)] + [more**39],
    }
    return Mechanism(
        f"make_select_private_candidate(stop_probability={stop_probability!r}) number of candidates",
        neighbours="vector:size=1,linf=1,low=0,high=0",  # one input: the fit alone is of interest
        claim=claim_of(measurement, 0.0),
        sample_one=sample_one,
        distribution=lambda _: distribution,
        calls=4000,
        floats=False,
        notes="not released: how many candidates the combinator looks at, capped at 40, when none is good enough",
    )


def private_candidate(scale: float, stop_probability: float, threshold: float) -> Mechanism:
    """Return the case: the first candidate whose noisy score is high enough."""
    noisy = constructor("laplace")(atom(float), dp.absolute_distance(T=float), scale=scale)

    def release(value: float) -> tuple[float, float]:
        score = noisy(value)
        return (score, round(score))

    candidate = constructor("user_measurement")(
        atom(float),
        dp.absolute_distance(T=float),
        max_divergence(),
        release,
        noisy.map,
        TO="(f64, ExtrinsicObject)",
    )
    return measurement_case(
        f"make_select_private_candidate(make_laplace(scale={scale!r}), {stop_probability=}, {threshold=})",
        constructor("select_private_candidate")(candidate, stop_probability, threshold),
        1.0,
        "vector:size=1,linf=1,low=-2,high=2",
        lambda data: data[0],
    )


def selection_cases(collect: Collector) -> None:
    """Add the cases of selection."""
    collect.add(noisy_max, float, 3, 1.0)
    collect.add(noisy_max, float, 3, 1.0, monotonic=True)
    collect.add(noisy_max, float, 3, 1.0, measure="zcdp")
    collect.add(noisy_max, int, 8, 2.0)
    collect.add(noisy_max, float, 2, 0.5, negate=True)
    collect.add(noisy_top_k, float, 3, 2, 2.0)
    collect.add(noisy_top_k, float, 3, 2, 2.0, measure="zcdp", monotonic=True)
    collect.add(noisy_top_k, int, 3, 3, 3.0, monotonic=True)
    for name in ("noisy_max", "report_noisy_max_gumbel"):
        for optimize in ("max", "min"):
            collect.add(clear_winner, name, optimize)
    for monotonic in (False, True):
        collect.add(gumbel_max, float, 3, 1.0, monotonic=monotonic)
    candidates = [0.0, 1.0, 2.0, 4.0]
    for alpha, size in ((0.5, None), (0.5, 5), (1.0 / 3.0, None)):
        collect.add(quantile, alpha, 1.0, size=size, candidates=candidates)
    for stop_probability in (0.1, 0.9):
        collect.add(private_candidate_calls, stop_probability)
    collect.add(private_candidate, 1.0, 0.3, 1.0)
