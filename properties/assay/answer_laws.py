"""Laws of a single answer: its range, and the rejection of invalid arguments."""

import math
from typing import Any

import numpy as np

from dpassay.impl.libraries.remote import RemoteCase
from dpassay.properties.assay.finding import UNANSWERED, Finding, Law, Settings, without_answer
from dpassay.properties.assay.inquiry import (
    Inquiry,
    domain_of,
    errors_of,
    finding_about,
    looseness_of,
    promises_nothing,
    required,
    typical_point,
    unless_answer,
    words_of,
)
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.questions import Argument, Question, points_of
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["NONSENSE_ARGUMENTS_LAW", "RANGE_LAW"]


def _check_range(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = required(case)
    inquiry, answered, faults = Inquiry(answer, settings), 0, list[Finding]()
    rng = np.random.default_rng([settings.seed, 2])
    for arguments in points_of(question, domain_of(answer), rng, max(8, question.points // 2) * settings.depth):
        if inquiry.passes_over():
            continue
        claimed = inquiry.ask(arguments)
        if claimed is None:
            continue
        answered += 1
        most = 1.0 + errors_of(answer)[0] + looseness_of(answer) if question.probability else math.inf
        if math.isnan(claimed) or not 0 <= claimed <= most:
            accepted = "a probability" if question.probability else "a number of at least 0"
            detail = f"{question.name}({words_of(arguments)}) = {claimed!r}, but should be {accepted}"
            faults.append(finding_about(FindingKind.WRONG_ANSWER, inquiry, arguments, claimed, detail))
    return inquiry.of_faults(faults) if faults else inquiry.nothing_found(answered)


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
    inquiry, accepted, first = Inquiry(answer, settings), dict[str, str](), None
    unanswered = list[str]()
    domain = domain_of(answer)
    for argument in question.arguments:
        low, high = domain.get(argument.name, (-math.inf, math.inf))
        if low == high:
            continue  # the function of the library does not have this argument
        for value in _nonsense(argument):
            words, lost = f"{argument.name}={value!r}", len(inquiry.mistakes) + len(inquiry.hung)
            if inquiry.is_lost:
                unanswered += [words] if inquiry.hung else []  # else the run was too short
                continue
            arguments = _filled(question, domain, argument, value)
            claimed = inquiry.ask(arguments)
            if len(inquiry.mistakes) + len(inquiry.hung) > lost:
                unanswered.append(words)
            if claimed is not None and not promises_nothing(question, claimed):
                accepted[words] = repr(claimed)
                first = first or (arguments, claimed)
    if first is not None:
        asked = inquiry.calls - len(inquiry.unasked)
        told = "; ".join(f"{words} gives {claimed}" for words, claimed in accepted.items())
        detail = f"{len(accepted)} of {asked} invalid arguments accepted: {told}"
        detail += without_answer(unanswered, [*inquiry.mistakes, *inquiry.losses])
        finding = finding_about(FindingKind.WRONG_ANSWER, inquiry, *first, detail)
        assert finding.witness is not None
        finding.witness.update({"accepted": accepted, UNANSWERED: unanswered})
        return finding
    if inquiry.mistakes or inquiry.losses:
        return inquiry.nothing_found(inquiry.calls)
    asked = inquiry.calls - len(inquiry.unasked)
    unasked = f"; not asked by the adapter: {'; '.join(inquiry.unasked)}" if inquiry.unasked else ""
    silent = inquiry.control() if inquiry.calls else None
    if silent is not None:
        return silent
    if not asked:
        why = "the function of the library has no argument with invalid values"
        return Finding(FindingKind.NOT_APPLICABLE, f"{why}{unasked}", calls=inquiry.calls)
    return Finding(
        FindingKind.OK,
        f"{asked} rejected, or answered with a vacuous value{unasked}",
        evidence=Evidence.EXACT,
        scope=Scope.POINTS,
        calls=inquiry.calls,
        power={"points": asked},
    )


def _filled(
    question: Question, domain: dict[str, tuple[float, float]], argument: Argument, value: Any
) -> dict[str, Any]:
    """Return the typical point, inside the domain, with one argument replaced; lists keep one length."""
    point = {**typical_point(question, domain), argument.name: value}
    if argument.kind == "reals":
        return {name: v[: len(value)] if isinstance(v, list) else v for name, v in point.items()}
    return point


RANGE_LAW = Law(
    "range",
    "epsilon, rho and noise scales are at least 0; delta lies in [0, 1].",
    unless_answer,
    _check_range,
    sampled=False,
)

NONSENSE_ARGUMENTS_LAW = Law(
    "rejects_invalid_arguments",
    "NaN, negative numbers, probabilities above 1 and fractional counts raise or give a vacuous answer.",
    unless_answer,
    _check_nonsense,
    sampled=False,
    deepens=False,
)
