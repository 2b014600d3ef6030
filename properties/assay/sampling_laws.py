"""Laws of the sampling rates 0 and 1."""

from collections.abc import Iterator

import numpy as np

from dpassay.impl.libraries.remote import RemoteCase
from dpassay.properties.assay.consistency import Asked, agreement, costs_nothing
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.inquiry import (
    Inquiry,
    domain_of,
    related_to,
    required,
    unless_answer,
)
from dpassay.properties.assay.questions import QUESTIONS, Arguments, inside, points_of

__all__ = ["SAMPLING_LAWS"]

_POINTS = 12
"""Points at which a law of subsampling is tested."""


def _points(case: RemoteCase, seed: list[int], rate: float) -> Iterator[Arguments]:
    """Yield points at one rate; `applies` checks the domain of the rate."""
    answer, question = required(case)
    domain = {name: bounds for name, bounds in domain_of(answer).items() if name != "rate"}
    for arguments in points_of(question, domain, np.random.default_rng(seed), _POINTS):
        yield {**arguments, "rate": rate}


def _unless_sampled(case: RemoteCase, rate: float) -> str | None:
    reason = unless_answer(case)
    if reason is not None:
        return reason
    answer, question = required(case)
    if question.argument("rate") is None:
        return "the question has no sampling rate"
    return (
        None if inside({"rate": rate}, domain_of(answer)) else f"a rate of {rate:g} is outside the documented domain"
    )


# --- rate 0 -------------------------------------------------------------------------------------------------


def _zero_applies(case: RemoteCase) -> str | None:
    reason = _unless_sampled(case, 0.0)
    if reason is None and required(case)[0].question.endswith("_sigma"):
        return "at sampling rate 0 any noise scale is valid"
    return reason


def _check_zero(case: RemoteCase, settings: Settings) -> Finding:
    points = _points(case, [settings.seed, 12], 0.0)
    return costs_nothing(Inquiry(required(case)[0], settings), points, "the sampling rate is 0")


# --- rate 1 ----------------------------------------------------------------------------------------------


def _unsampled(question: str) -> str:
    """Return the question of the same mechanism without sampling."""
    return question.removeprefix("subsampled_")


def _full_applies(case: RemoteCase) -> str | None:
    reason = _unless_sampled(case, 1.0)
    if reason is not None:
        return reason
    answer, _ = required(case)
    return None if related_to(answer, _unsampled(answer.question)) else "this account has no answer without sampling"


def _check_full(case: RemoteCase, settings: Settings) -> Finding:
    answer, _ = required(case)

    def pairs() -> Iterator[tuple[Asked, Asked]]:
        for other in related_to(answer, _unsampled(answer.question)):
            names = {argument.name for argument in QUESTIONS[other.question].arguments}
            once = {} if "count" in names else {"count": 1}
            for arguments in _points(case, [settings.seed, 13], 1.0):
                sampled = {name: once.get(name, value) for name, value in arguments.items()}
                unsampled = {name: value for name, value in sampled.items() if name in names}
                if inside(sampled, domain_of(answer)) and inside(unsampled, domain_of(other)):
                    yield Asked(answer, sampled), Asked(other, unsampled)

    return agreement(Inquiry(answer, settings), pairs(), may_refuse=True)


SAMPLING_LAWS = (
    Law(
        "zero_sampling_rate",
        "At sampling rate 0 nothing is released; the privacy cost is 0.",
        _zero_applies,
        _check_zero,
        sampled=False,
    ),
    Law(
        "full_sampling_rate",
        "At sampling rate 1 the privacy cost equals that of the same account without sampling.",
        _full_applies,
        _check_full,
        sampled=False,
    ),
)
