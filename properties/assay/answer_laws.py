"""Laws of one answer alone: its range, and what it refuses."""

import math
from typing import Any

import numpy as np

from dpassay.impl.libraries.remote import RemoteCase
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.inquiry import (
    Inquiry,
    domain_of,
    errors_of,
    finding_about,
    looseness_of,
    required,
    unless_answer,
    words_of,
)
from dpassay.properties.assay.questions import Argument, Question, points_of

__all__ = ["NONSENSE_ARGUMENTS_LAW", "RANGE_LAW"]


def _check_range(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = required(case)
    inquiry, answered = Inquiry(answer, settings), 0
    rng = np.random.default_rng([settings.seed, 2])
    for arguments in points_of(question, domain_of(answer), rng, max(8, question.points // 2)):
        if inquiry.is_over:
            break
        claimed = inquiry.ask(arguments)
        if claimed is None:
            continue
        answered += 1
        most = 1.0 + errors_of(answer)[0] + looseness_of(answer) if question.probability else math.inf
        if math.isnan(claimed) or not 0 <= claimed <= most:
            accepted = "a probability" if question.probability else "a number, at least 0"
            detail = f"{question.name}({words_of(arguments)}) = {claimed!r}, not {accepted}"
            return finding_about("wrong answer", inquiry, arguments, claimed, detail)
    return inquiry.nothing_found(answered)


def _nonsense(argument: Argument) -> list[Any]:
    if argument.kind == "reals":
        return [[math.nan], [-1.0]]
    values: list[Any] = [math.nan, -1 if argument.kind == "count" else -1.0]
    if argument.kind == "count":
        values += [1.5, math.inf]
    if argument.most == 1:
        values += [1.5, math.inf]
    if argument.least == 1:
        values += [0.5]
    return values


def _check_nonsense(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = required(case)
    inquiry, accepted, first = Inquiry(answer, settings), list[str](), None
    domain = domain_of(answer)
    for argument in question.arguments:
        low, high = domain.get(argument.name, (-math.inf, math.inf))
        if low == high:
            continue  # the library's function does not have this argument
        for value in _nonsense(argument):
            if inquiry.is_over:
                break
            arguments = _filled(question, domain, argument, value)
            claimed = inquiry.ask(arguments)
            if claimed is not None and not _promises_nothing(question, claimed):
                accepted.append(f"{argument.name}={value!r} gives {claimed!r}")
                first = first or (arguments, claimed)
    if first is not None:
        detail = f"{len(accepted)} of {inquiry.calls} nonsensical arguments accepted: {'; '.join(accepted)}"
        return finding_about("wrong answer", inquiry, *first, detail)
    if inquiry.losses:
        return Finding("undecided", inquiry.losses[0], calls=inquiry.calls)
    return Finding(
        "ok",
        f"{inquiry.calls} refused, or answered by what promises nothing",
        evidence="exact",
        scope="points",
        calls=inquiry.calls,
    )


def _promises_nothing(question: Question, claimed: float) -> bool:
    """Whether an answer is as good as a refusal: NaN, or one that is safe whatever the truth."""
    if question.safe == "below":
        return math.isnan(claimed) or claimed <= 0
    return math.isnan(claimed) or claimed == (1.0 if question.probability else math.inf)


def _filled(
    question: Question, domain: dict[str, tuple[float, float]], argument: Argument, value: Any
) -> dict[str, Any]:
    """Return the typical point, inside the domain, with one argument replaced; lists keep one length."""
    point = {**question.typical, argument.name: value}
    for name, (low, high) in domain.items():
        if name in point and name != argument.name and not isinstance(point[name], list):
            point[name] = type(point[name])(min(max(point[name], low), high))
    if argument.kind == "reals":
        return {name: v[: len(value)] if isinstance(v, list) else v for name, v in point.items()}
    return point


RANGE_LAW = Law(
    "range",
    "epsilon, rho and noise scales are numbers of at least 0, delta is a probability.",
    unless_answer,
    _check_range,
    sampled=False,
)

NONSENSE_ARGUMENTS_LAW = Law(
    "refuses_nonsensical_arguments",
    "NaN, negative numbers, probabilities above 1 and broken counts get no answer that promises anything.",
    unless_answer,
    _check_nonsense,
    sampled=False,
)
