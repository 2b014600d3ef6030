"""Laws of round trips: what an account says one way must hold by the same account the other way round.

Both answers are upper bounds of one account, or calibrated by it. If epsilon is enough for delta, then delta at that
epsilon must not exceed what was asked for; the opposite trip may lose tightness, which contradicts nothing.
"""

import math

import numpy as np

from dpassay.impl.libraries.remote import RemoteAnswer, RemoteCase
from dpassay.properties.assay.agreement import Asked
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
from dpassay.properties.assay.questions import INVERSES, Inverse, Question, inside, points_of

__all__ = ["ROUND_TRIP_LAWS"]

_POINTS, _CALIBRATIONS = 24, 8  # a calibrator searches, which may take it seconds


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
            return "the library calls its number an estimate, without a documented error"
        return None if _ways_back(answer, calibrates=calibrates) else "no other answer of this account is its inverse"

    def check(case: RemoteCase, settings: Settings) -> Finding:
        return _check(case, settings, calibrates=calibrates)

    return Law(name, sentence, applies, check, sampled=False)


def _check(case: RemoteCase, settings: Settings, *, calibrates: bool) -> Finding:
    answer, question = required(case)
    inquiry, returned = Inquiry(answer, settings), 0
    ways, rng = _ways_back(answer, calibrates=calibrates), np.random.default_rng([settings.seed, 14])
    number = min(_CALIBRATIONS if calibrates else _POINTS, question.points)
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
    finding = finding_about("wrong answer", inquiry, there.arguments, found, detail, certified=value)
    assert finding.witness is not None
    finding.witness.update({"other": back.of.name, "other arguments": back.arguments})
    return finding


def _on_the_safe_side(answer: RemoteAnswer, question: Question, found: float) -> float:
    """Return an answer moved by its documented error to where it promises less."""
    if question.safe == "above":
        return found + margin(answer, found)
    return max(found - margin(answer, found), 0.0)


ROUND_TRIP_LAWS = (
    _law(
        "epsilon_and_delta_agree",
        "At the epsilon that an account states for a delta, the same account states no larger delta.",
        calibrates=False,
    ),
    _law(
        "calibration_suffices",
        "What a calibrator returns is enough by the account that it calibrates with.",
        calibrates=True,
    ),
)
