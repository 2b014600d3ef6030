"""Asking a library what it computes, and telling what came of it: what all laws of accountants share."""

import time
from dataclasses import dataclass, field
from typing import Any

from dpassay.claims import SamplerLostError
from dpassay.impl.libraries.remote import RefusedError, RemoteAnswer, RemoteCase
from dpassay.properties.assay.finding import Finding, FindingKind, Settings
from dpassay.properties.assay.questions import QUESTIONS, Question

__all__ = [
    "MONOTONE_ALLOWANCE",
    "Inquiry",
    "domain_of",
    "errors_of",
    "finding_about",
    "is_vague",
    "looseness_of",
    "margin",
    "related_to",
    "required",
    "unless_answer",
    "words_of",
]

MONOTONE_ALLOWANCE = 2.0**-20
"""A smaller relative step in the wrong direction, or between answers that should be one, is put down to rounding."""

_MOST_LOSSES = 2


@dataclass
class Inquiry:
    """Asks a library, keeps count, and ends when time, patience or the calls are spent."""

    case: RemoteAnswer
    settings: Settings
    refusals: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    calls: int = 0
    _start: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        """Whether no more may be asked."""
        late = time.monotonic() - self._start > self.settings.seconds
        return late or self.calls >= self.settings.calls or len(self.losses) >= _MOST_LOSSES

    def ask(self, arguments: dict[str, Any], of: RemoteAnswer | None = None) -> float | None:
        """Return the answer, None if there was none; `of` is who is asked, if it is not the case itself."""
        self.calls += 1
        try:
            return (of or self.case).compute(**arguments)
        except RefusedError as error:
            self.refusals.append(f"{words_of(arguments)}: {error}")
        except SamplerLostError as error:
            self.losses.append(f"{words_of(arguments)}: {error}")
        return None

    def summary(self, answered: int) -> str:
        """Tell how many were answered."""
        words = f"{answered} points"
        words += f", {len(self.refusals)} refused" if self.refusals else ""
        return words + (f", {len(self.losses)} without an answer in time" if self.losses else "")

    def nothing_found(self, answered: int, detail: str = "") -> Finding:
        """Return the finding where no answer was wrong: undecided if there was none at all, or one was lost."""
        words = self.summary(answered) + (f"; {detail}" if detail else "")
        if answered == 0:
            first = (self.losses + self.refusals + ["nothing to ask inside the documented domain"])[0]
            return Finding("undecided", f"no answer: {first}", calls=self.calls)
        if self.losses:
            return Finding("undecided", f"{words}: {self.losses[0]}", calls=self.calls, scope="points")
        return Finding("ok", words, evidence="enclosed", scope="points", calls=self.calls)


def words_of(arguments: dict[str, Any]) -> str:
    """Return arguments as they are written in a call."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def required(case: RemoteCase) -> tuple[RemoteAnswer, Question]:
    """Return the answer and its question, of a case to which :func:`unless_answer` has no objection."""
    assert isinstance(case, RemoteAnswer)
    return case, QUESTIONS[case.question]


def domain_of(case: RemoteAnswer) -> dict[str, tuple[float, float]]:
    """Return the documented bounds of arguments."""
    return {name: (float(low), float(high)) for name, (low, high) in case.description["domain"].items()}


def errors_of(case: RemoteAnswer) -> tuple[float, float]:
    """Return the documented relative and absolute error."""
    return float(case.description["relative_error"]), float(case.description["absolute_error"])


def looseness_of(case: RemoteAnswer) -> float:
    """Return how far on the safe side the library says that its number may lie."""
    return float(case.description["looseness"])


def unless_answer(case: RemoteCase) -> str | None:
    """Return None for an answer to a known question, else why the laws of accountants do not apply."""
    if not isinstance(case, RemoteAnswer):
        return "not an accountant, calibrator or converter"
    return None if case.question in QUESTIONS else f"no truth is known for the question {case.question!r}"


def finding_about(
    kind: FindingKind, inquiry: Inquiry, arguments: dict[str, Any], claimed: float, detail: str, **fields: Any
) -> Finding:
    """Return a finding about one answer, with what is needed to ask again."""
    witness = {"question": inquiry.case.question, "arguments": arguments, "answer": claimed}
    certified = fields.get("certified")
    if certified is not None:
        witness["certified"] = certified
    return Finding(
        kind,
        detail,
        claim=f"{inquiry.case.question}({words_of(arguments)})",
        claimed=claimed,
        calls=inquiry.calls,
        witness=witness,
        **{"evidence": "exact", "scope": "points", **fields},
    )


def margin(case: RemoteAnswer, number: float) -> float:
    """Return by how much an answer may differ from another one that should be the same.

    That is rounding, the error that the library documents, and how loose it says that its bound may be.
    """
    relative, absolute = errors_of(case)
    return (MONOTONE_ALLOWANCE + relative) * abs(number) + absolute + looseness_of(case)


def related_to(case: RemoteAnswer, *questions: str) -> list[RemoteAnswer]:
    """Return the answers of the same account to certain questions, none of them an estimate without an error."""
    return [other for other in case.related if other.question in questions and not is_vague(other)]


def is_vague(case: RemoteAnswer) -> bool:
    """Whether the library calls its number an estimate, and does not say how far off it may be."""
    return case.description["certainty"] == "estimate" and errors_of(case) == (0.0, 0.0)
