"""Composition: all at once, adaptive, fully adaptive, behind a filter; what an odometer says it has spent."""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
from opendp_building import Collector, atom, concentrated_divergence, constructor, max_divergence, measurement_case

from dpassay.adapter import Mechanism

__all__ = ["composition_cases"]

_RELATION = "vector:size=1,linf=1,low=-100,high=100"


def _space() -> tuple[Any, Any]:
    return atom(float), dp.absolute_distance(T=float)


def _noise(kind: str, scale: float) -> Any:
    return constructor("laplace" if kind == "pure" else "gaussian")(*_space(), scale=scale)


def _measure(kind: str) -> Any:
    return max_divergence() if kind == "pure" else concentrated_divergence()


def together(kind: str, scales: list[float]) -> Mechanism:
    """Several measurements of one data set at once."""
    family = "laplace" if kind == "pure" else "gaussian"
    same = len(set(scales)) == 1
    return measurement_case(
        f"make_composition({kind}, {scales=})",
        constructor("composition", "basic_composition")([_noise(kind, scale) for scale in scales]),
        1.0,
        _RELATION,
        lambda data: data[0],
        outcome=tuple,
        distribution=(lambda data: {"family": family, "location": data * len(scales), "scale": scales[0]})
        if same
        else None,
    )


def adaptive(kind: str, d_mids: list[float], scale_of: Any, words: str) -> Mechanism:
    """Return the case: queries whose parameters depend on earlier answers, each within a budget fixed beforehand."""
    measurement = constructor("adaptive_composition", "sequential_composition")(
        *_space(), _measure(kind), d_in=1.0, d_mids=d_mids
    )

    def outcome(queryable: Any) -> tuple[float, ...]:
        answers: list[float] = []
        for i, d_mid in enumerate(d_mids):
            answers.append(queryable(_noise(kind, scale_of(d_mid, answers, i))))
        return tuple(answers)

    return measurement_case(
        f"make_adaptive_composition({kind}, {d_mids=}, {words})",
        measurement,
        1.0,
        _RELATION,
        lambda data: data[0],
        outcome=outcome,
        slow=True,
    )


def _pure_scale(d_mid: float, answers: list[float], _: int) -> float:
    return (1.0 if not answers or answers[-1] > 0 else 2.0) / d_mid


def negative_budget() -> Mechanism:
    """Adaptive composition whose budgets are 8 and -7: the first is spent, the sum is claimed."""
    measurement = constructor("adaptive_composition", "sequential_composition")(
        *_space(), max_divergence(), d_in=1.0, d_mids=[8.0, -7.0]
    )
    return measurement_case(
        "make_adaptive_composition(pure, d_mids=[8.0, -7.0], first query only)",
        measurement,
        1.0,
        _RELATION,
        lambda data: data[0],
        outcome=lambda queryable: queryable(_noise("pure", 0.125)),
        distribution=lambda data: {"family": "laplace", "location": data[0], "scale": 0.125},
        notes="a budget below zero makes no sense and is accepted",
    )


def odometer(kind: str) -> Mechanism:
    """Two queries, the second of a noise that depends on the first answer; the claim is what they spend at worst."""
    meter = constructor("fully_adaptive_composition")(*_space(), _measure(kind))

    def ask(value: float, *, second: float | None) -> tuple[tuple[float, ...], float]:
        queryable = meter(value)
        first = queryable(_noise(kind, 1.0))
        scale = second if second is not None else (2.0 if first > 0 else 4.0)
        answers = (first, queryable(_noise(kind, scale)))
        return answers, queryable.privacy_loss(1.0)

    spent = max(ask(0.0, second=scale)[1] for scale in (2.0, 4.0))
    return Mechanism(
        f"make_fully_adaptive_composition({kind})",
        neighbours=_RELATION,
        claim=f"{'pure' if kind == 'pure' else 'zcdp'}:{spent!r}",
        sample_one=lambda data: ask(data[0], second=None)[0],
        slow=True,
    )


def filtered(kind: str, budget: float) -> Mechanism:
    """Return the case: queries until the filter refuses; the noise of each depends on the answer before."""
    meter = constructor("fully_adaptive_composition")(*_space(), _measure(kind))
    measurement = constructor("privacy_filter")(meter, 1.0, budget)

    def outcome(queryable: Any) -> tuple[float, ...]:
        answers: list[float] = []
        scale = 2.0
        for _ in range(12):
            try:
                answers.append(queryable(_noise(kind, scale)))
            except dp.OpenDPException:  # the filter's refusal ends the game; how often it answered is seen
                break
            scale = 2.0 if answers[-1] > 0 else 4.0
        return (float(len(answers)), *answers[:3])

    return measurement_case(
        f"make_privacy_filter({kind}, {budget=})",
        measurement,
        1.0,
        _RELATION,
        lambda data: data[0],
        outcome=outcome,
        slow=True,
    )


def approximate(scale: float) -> Mechanism:
    """Return the case: a pure measurement cast to the approximate measure, composed with itself."""
    cast = constructor("approximate")(_noise("pure", scale))
    both = constructor("composition", "basic_composition")([cast, cast])
    return measurement_case(
        f"make_composition(make_approximate(make_laplace({scale=})) twice)",
        both,
        1.0,
        _RELATION,
        lambda data: data[0],
        outcome=tuple,
        distribution=lambda data: {"family": "laplace", "location": data * 2, "scale": scale},
    )


def composition_cases(collect: Collector) -> None:
    """Add the cases of composition."""
    collect.add(together, "pure", [1.0, 1.0])
    for kind in ("pure", "zcdp"):
        collect.add(together, kind, [1.0, 3.0, 1e3])
        collect.add(odometer, kind)
    collect.add(adaptive, "pure", [0.5, 0.5], _pure_scale, "scales by the answers")
    collect.add(adaptive, "zcdp", [0.5, 0.125], lambda d_mid, *_: (0.5 / d_mid) ** 0.5, "fixed scales")
    collect.add(negative_budget)
    collect.add(filtered, "pure", 1.25)
    collect.add(filtered, "zcdp", 0.25)
    collect.add(approximate, 1.0)
