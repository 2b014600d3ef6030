"""Laws of round trips: a conversion and its inverse in one account must not contradict each other.

Both answers are upper bounds of one account, or calibrated by it. If an account states epsilon for a given delta, then
its delta at that epsilon must not exceed the given delta. The opposite direction may lose tightness.

A finding compares two numbers of one quantity: claimed is the level that was asked for, certified the level that the
account states for its own answer. It is the largest contradiction among the points, so that its ratio bounds the
others. A level that says nothing (a delta of 1, an infinite epsilon) contradicts as well, by a ratio that only depends
on what was asked; it is told where no other contradiction was found.
"""

import math
from dataclasses import dataclass

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
from dpassay.properties.assay.questions import INVERSES, QUESTIONS, Inverse, Question, inside, points_of

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


@dataclass(frozen=True)
class _Contradiction:
    """An answer with which its account does not keep to the level that was asked for."""

    there: Asked
    found: float
    """Answer to the first question."""
    back: Asked
    name: str
    """Argument of the first question that is the level."""
    stated: float
    """Answer to the second question, in the quantity of the level."""

    @property
    def level(self) -> float:
        """The level that was asked for."""
        return float(self.there.arguments[self.name])

    @property
    def ratio(self) -> float:
        """Ratio of the level that the account states and the level that was asked for."""
        return self.stated / self.level if self.level > 0 else math.inf

    @property
    def weight(self) -> tuple[bool, float]:
        """Order of contradictions: those by a level that says something come after the others, then larger ratios."""
        most = 1.0 if QUESTIONS[self.back.of.question].probability else math.inf
        return self.stated < most, self.ratio

    def finding(self, inquiry: Inquiry) -> Finding:
        """Return the finding."""
        detail = (
            f"{self.there} = {self.found!r}, but {self.back} = {self.stated!r} by {self.back.of.name}:"
            f" {self.ratio:.4g} times the {self.name} that was asked for"
        )
        finding = finding_about(
            FindingKind.WRONG_ANSWER, inquiry, self.there.arguments, self.level, detail, certified=self.stated
        )
        assert finding.witness is not None
        finding.witness.update(
            {"answer": self.found, "other": self.back.of.name, "other arguments": self.back.arguments}
        )
        return finding


def _check(case: RemoteCase, settings: Settings, *, calibrates: bool) -> Finding:
    answer, question = required(case)
    inquiry, returned, worst = Inquiry(answer, settings), 0, None
    ways, rng = _ways_back(answer, calibrates=calibrates), np.random.default_rng([settings.seed, 14])
    number = min(_CALIBRATIONS if calibrates else _POINTS, question.points) * settings.depth
    for arguments in points_of(question, domain_of(answer), rng, number):
        if inquiry.passes_over():
            continue
        found = inquiry.number(arguments)
        if found is None or not 0 <= found < math.inf:
            continue
        for inverse, other in ways:
            back = inverse.asked_back(arguments, _on_the_safe_side(answer, question, found))
            stated = inquiry.number(back, other) if inside(back, domain_of(other)) else None
            if stated is None:
                continue
            returned += 1
            level = arguments[inverse.level]
            if stated > level + margin(other, level):
                one = _Contradiction(Asked(answer, arguments), found, Asked(other, back), inverse.level, stated)
                worst = one if worst is None or one.weight > worst.weight else worst
    return inquiry.nothing_found(returned) if worst is None else inquiry.of_faults([worst.finding(inquiry)])


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
