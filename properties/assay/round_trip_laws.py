"""Laws of round trips: a conversion and its inverse in one account must not contradict each other.

Both answers are upper bounds of one account, or calibrated by it. If an account states epsilon for a given delta, then
its delta at that epsilon must not exceed the given delta. The opposite direction may lose tightness.
"""

import math

import numpy as np

from dpassay.impl.libraries.remote import RemoteAnswer, RemoteCase
from dpassay.properties.assay.consistency import Asked
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.inquiry import (
    Inquiry,
    domain_of,
    finding_about,
    is_vague,
    margin,
    related_to,
    required,
    unless_answer,
)
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.questions import INVERSES, Inverse, Question, inside, points_of

__all__ = ["ROUND_TRIP_LAWS"]

_POINTS, _CALIBRATIONS = 24, 8  # a calibrator may take seconds for one answer


def _ways_back(answer: RemoteAnswer, *, calibrates: bool) -> list[tuple[Inverse, RemoteAnswer]]:
    inverses = [i for i in INVERSES if i.first == answer.question and i.calibrates is calibrates]
    return [(inverse, other) for inverse in inverses for other in related_to(answer, inverse.second)]


def _law(name: str, sentence: str, *, calibrates: bool) -> Law:
    def applies(case: RemoteCase) -> str | None:
        reason = unless_answer(case)
        if reason is not None:
            return reason
        answer, _ = required(case)
        if is_vague(answer):
            return "the library documents its number as an estimate without an error bound"
        return None if _ways_back(answer, calibrates=calibrates) else "this account has no inverse of the question"

    def check(case: RemoteCase, settings: Settings) -> Finding:
        return _check(case, settings, calibrates=calibrates)

    return Law(name, sentence, applies, check, sampled=False)


def _check(case: RemoteCase, settings: Settings, *, calibrates: bool) -> Finding:
    answer, question = required(case)
    inquiry, returned = Inquiry(answer, settings), 0
    ways, rng = _ways_back(answer, calibrates=calibrates), np.random.default_rng([settings.seed, 14])
    number = min(_CALIBRATIONS if calibrates else _POINTS, question.points) * settings.depth
    for arguments in points_of(question, domain_of(answer), rng, number):
        if inquiry.is_over:
            break
        found = inquiry.ask(arguments)
        if found is None or not 0 <= found < math.inf:
            continue
        for inverse, other in ways:
            back = inverse.asked_back(arguments, _on_the_safe_side(answer, question, found))
            value = inquiry.ask(back, other) if inside(back, domain_of(other)) else None
            if value is None or math.isnan(value):
                continue
            returned += 1
            level = arguments[inverse.level]
            if value > level + margin(other, level):
                return _contradiction(inquiry, Asked(answer, arguments), found, Asked(other, back), value)
    return inquiry.nothing_found(returned)


def _contradiction(inquiry: Inquiry, there: Asked, found: float, back: Asked, value: float) -> Finding:
    detail = f"{there} = {found!r}, but {back} = {value!r} by {back.of.name}"
    finding = finding_about(FindingKind.WRONG_ANSWER, inquiry, there.arguments, found, detail, certified=value)
    assert finding.witness is not None
    finding.witness.update({"other": back.of.name, "other arguments": back.arguments})
    return finding


def _on_the_safe_side(answer: RemoteAnswer, question: Question, found: float) -> float:
    """Return an answer shifted by its documented error to the safe side."""
    if question.safe == "above":
        return found + margin(answer, found)
    return max(found - margin(answer, found), 0.0)


ROUND_TRIP_LAWS = (
    _law(
        "epsilon_and_delta_agree",
        "At the epsilon that an account states for a delta, it states a delta that is not larger.",
        calibrates=False,
    ),
    _law(
        "calibration_suffices",
        "The parameter that a calibrator returns satisfies its target in the same account.",
        calibrates=True,
    ),
)
