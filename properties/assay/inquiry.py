"""Questions to the accountants of a library, with counts of answers and failures; used by all laws of accountants."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpassay.impl.libraries.remote import RefusedError, RemoteAnswer, RemoteCase
from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.finding import (
    UNANSWERED,
    Finding,
    Settings,
    with_beside,
    without_answer,
)
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.questions import QUESTIONS, Arguments, Question, points_of
from dpassay.registry import similar_words
from dpassay.spec.verdict import Evidence, Scope

__all__ = [
    "MONOTONE_ALLOWANCE",
    "Inquiry",
    "delta_error_of",
    "domain_of",
    "errors_of",
    "falls_below",
    "finding_about",
    "is_vague",
    "looseness_of",
    "margin",
    "promises_nothing",
    "related_to",
    "required",
    "typical_point",
    "unless_answer",
    "words_of",
]

MONOTONE_ALLOWANCE = 2.0**-20
"""Relative differences up to this size count as rounding, in monotonicity and in agreement of answers."""

_MOST_LOSSES = 2
"""A worker that was lost this often is not asked again."""

_LEAST_NUMBERS = 3
"""Answers that a law compares at once at most: a slow library answers as many, unless its worker is given up."""

_LEAST_ANSWERED = 0.1
"""Part of the questions that a library must answer where it has no reason to refuse: good libraries refuse up to six
tenths of the points inside a domain, because intervals of single arguments do not describe what they accept; of a
few points along one argument, they may refuse more."""

_CONTROLS = 8
"""Random valid points at which an accountant is asked, until an answer is informative."""


@dataclass
class Inquiry:
    """A series of questions to a library, with counts and limits of time, calls and losses.

    Attributes
    ----------
    refusals, losses, mistakes, unasked : list of str
        Questions that the library refused, that it did not answer in time, in which the code of the adapter raised by
        mistake, and that the adapter does not ask.
    hung : list of str
        The losses that are not due to the end of the time.
    not_numbers : list of tuple
        Questions that were answered with NaN where a number is due: the function that was asked, and the arguments.
    calls, numbers, informative, late : int
        Number of questions to the case or related ones; number of numeric answers; number of those that say something;
        number of points that were passed over because a limit was reached.
    """

    case: RemoteAnswer
    settings: Settings
    refusals: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    hung: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    unasked: list[str] = field(default_factory=list)
    not_numbers: list[tuple[RemoteAnswer, dict[str, Any]]] = field(default_factory=list)
    calls: int = 0
    numbers: int = 0
    informative: int = 0
    late: int = 0
    _start: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        """True if a limit is reached; the time limit counts once there are answers to compare."""
        late = self.numbers >= _LEAST_NUMBERS and time.monotonic() - self._start > self.settings.seconds
        return late or self.calls >= self.settings.calls or self.is_lost

    @property
    def is_lost(self) -> bool:
        """True if the worker was lost so often that nothing more is asked."""
        return len(self.losses) >= _MOST_LOSSES

    def passes_over(self) -> bool:
        """Return whether a limit is reached, and count the point that is not asked then."""
        is_over = self.is_over
        self.late += is_over
        return is_over

    def number(self, arguments: dict[str, Any], of: RemoteAnswer | None = None) -> float | None:
        """Return the answer to a question to which a number is due, as :meth:`ask` does.

        NaN is noted as a wrong answer, and None is returned.
        """
        answer = self.ask(arguments, of)
        if answer is None or not math.isnan(answer):
            return answer
        self.not_numbers.append((of or self.case, arguments))
        return None

    def ask(self, arguments: dict[str, Any], of: RemoteAnswer | None = None) -> float | None:
        """Return the answer, or None if there was none; `of` is the function to ask, by default the case."""
        self.calls += 1
        asked = of or self.case
        try:
            answer = asked.compute(**arguments)
        except RefusedError as error:
            self._kind_of(error).append(f"{words_of(arguments)}: {error}")
        except SamplerLostError as error:
            self.losses.append(f"{words_of(arguments)}: {error}")
            self.hung += [] if error.is_late else self.losses[-1:]
        else:
            self.numbers += not math.isnan(answer)
            self.informative += not _says_nothing(asked, answer)
            return answer
        return None

    def _kind_of(self, error: RefusedError) -> list[str]:
        if error.is_own:
            return self.mistakes
        return self.unasked if error.is_unasked else self.refusals

    def control(self) -> Finding | None:
        """Ask valid questions until an answer is informative; return a finding if none is, else None.

        If a law accepts refusals or vacuous answers, this distinguishes a library that gives them where they are due
        from one that gives no others.
        """
        inquiry = Inquiry(self.case, self.settings)
        for arguments in _sensible(self.case):
            inquiry.ask(arguments)
            self.calls += 1
            if inquiry.informative:
                return None
        return inquiry.without_answers()

    def without_answers(self) -> Finding:
        """Return the finding for a series without informative answers."""
        if self.losses:
            return Finding(FindingKind.UNDECIDED, f"no answer: {self.losses[0]}", calls=self.calls)
        raised = self.mistakes + self.refusals + self.unasked
        if self.calls and len(raised) == self.calls:
            return Finding(
                FindingKind.ERROR, f"every call raises, also with valid arguments: {raised[0]}", calls=self.calls
            )
        if self.numbers:
            detail = (
                f"none of {self.numbers} answers says anything, also with valid arguments: they are vacuous bounds"
            )
            return Finding(FindingKind.ERROR, detail, calls=self.calls)
        return Finding(FindingKind.UNDECIDED, f"none of {self.calls} answers is a number", calls=self.calls)

    def summary(self, answered: int) -> str:
        """Return the numbers of answers, refusals and losses as text."""
        words = f"{answered} points"
        words += f", {len(self.refusals)} refused" if self.refusals else ""
        words += f", {len(self.unasked)} not asked by the adapter" if self.unasked else ""
        words += f", {self.late} not asked within the limits" if self.late else ""
        return words + (f", {len(self.losses)} without an answer in time" if self.losses else "")

    def nothing_found(self, answered: int, detail: str = "", *, may_refuse: bool = False) -> Finding:
        """Return the finding for a series in which no number is wrong.

        It is undecided without answers, with a lost one, or if the library gives few numbers although it should.

        Parameters
        ----------
        answered : int
            Number of points that were compared.
        detail : str
            What else there is to tell of them.
        may_refuse : bool
            Whether the library may refuse these questions.
        """
        if self.not_numbers:
            return self._no_number()
        words = self.summary(answered) + (f"; {detail}" if detail else "")
        if self.mistakes:
            return Finding(FindingKind.ERROR, f"the code of the adapter raises: {self.mistakes[0]}", calls=self.calls)
        silent = self.control() if not self.informative and not self.losses else None
        if silent is not None:
            return silent
        why = self._why_undecided(words, answered, may_refuse=may_refuse)
        if why is not None:
            return Finding(FindingKind.UNDECIDED, why, calls=self.calls, scope=Scope.POINTS if answered else None)
        power = {"points": answered, **({"late": self.late} if self.late else {})}
        return Finding(
            FindingKind.OK, words, evidence=Evidence.ENCLOSED, scope=Scope.POINTS, calls=self.calls, power=power
        )

    def of_faults(self, faults: Sequence[Finding]) -> Finding:
        """Return the first of some faults, at least one; an entry must excuse what is beside it, too.

        That are the numbers of the others, answers of NaN, and questions without an answer.
        """
        told, *others = faults
        numbers = [(one.claimed, one.certified) for one in others]
        numbers += [(math.nan, told.certified)] if self.not_numbers else []
        more = f" ({len(others)} more)" if others else ""
        told = replace(told, detail=told.detail + more, calls=self.calls)
        return with_beside(told, numbers, [*self.mistakes, *self.hung])

    def _why_undecided(self, words: str, answered: int, *, may_refuse: bool) -> str | None:
        """Return why a series without a wrong number decides nothing, or None if it is a pass."""
        raised = self.losses + self.refusals + self.unasked
        if answered == 0:
            return f"no answer: {[*raised, 'no question lies inside the documented domain'][0]}"
        if self.losses:
            return f"{words}: {self.losses[0]}"
        if not may_refuse and self.numbers < _LEAST_ANSWERED * (self.numbers + len(raised)):
            return f"most valid questions are not answered: {words}: {raised[0]}"
        return None

    def _no_number(self) -> Finding:
        """Return the finding for answers of NaN, with what else was not answered."""
        of, arguments = self.not_numbers[0]
        whose = "" if of is self.case else f" by {of.name}"
        unanswered = [*self.mistakes, *self.hung]
        detail = f"{of.question}({words_of(arguments)}) = nan{whose}, but should be a number"
        detail += f" ({len(self.not_numbers)} of {self.calls} answers)" + without_answer(unanswered, [])
        about = Inquiry(of, self.settings, calls=self.calls)
        finding = finding_about(FindingKind.WRONG_ANSWER, about, arguments, math.nan, detail)
        assert finding.witness is not None
        finding.witness[UNANSWERED] = unanswered
        if of is not self.case:
            finding.witness.update({"other": of.name, "other arguments": arguments})
        return finding


def promises_nothing(question: Question, claimed: float) -> bool:
    """Return whether an answer is vacuous: NaN, or safe for every true value."""
    if question.safe == "below":
        return math.isnan(claimed) or claimed <= 0
    return math.isnan(claimed) or claimed == (1.0 if question.probability else math.inf)


def _says_nothing(case: RemoteAnswer, claimed: float) -> bool:
    """Return whether an answer is vacuous, which an estimate of 0 is, too."""
    is_estimate = case.description["certainty"] == "estimate"
    return promises_nothing(QUESTIONS[case.question], claimed) or (is_estimate and claimed == 0)


def _sensible(case: RemoteAnswer) -> Iterator[Arguments]:
    """Yield the typical point of a question inside the documented domain, and some random ones."""
    question, domain = QUESTIONS[case.question], domain_of(case)
    yield typical_point(question, domain)
    yield from points_of(question, domain, np.random.default_rng(0), _CONTROLS)


def typical_point(question: Question, domain: dict[str, tuple[float, float]]) -> Arguments:
    """Return the typical point of a question, moved inside the documented domain."""
    point = dict(question.typical)
    for name, (low, high) in domain.items():
        if name in point and not isinstance(point[name], list):
            point[name] = type(point[name])(min(max(point[name], low), high))
    return point


def words_of(arguments: dict[str, Any]) -> str:
    """Return arguments as text, as in a call."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def required(case: RemoteCase) -> tuple[RemoteAnswer, Question]:
    """Return the answer and its question, for a case that :func:`unless_answer` accepts."""
    assert isinstance(case, RemoteAnswer)
    return case, QUESTIONS[case.question]


def domain_of(case: RemoteAnswer) -> dict[str, tuple[float, float]]:
    """Return the documented bounds of arguments."""
    return {name: (float(low), float(high)) for name, (low, high) in case.description["domain"].items()}


def errors_of(case: RemoteAnswer) -> tuple[float, float]:
    """Return the documented relative and absolute error."""
    return float(case.description["relative_error"]), float(case.description["absolute_error"])


def delta_error_of(case: RemoteAnswer) -> float:
    """Return the absolute error of the delta at which the library finds its number."""
    return float(case.description["delta_error"])


def looseness_of(case: RemoteAnswer) -> float:
    """Return the documented distance of the bound from the true value, on the safe side."""
    return float(case.description["looseness"])


def unless_answer(case: RemoteCase) -> str | None:
    """Return None for an answer to a known question, else the reason that the laws of accountants do not apply."""
    if not isinstance(case, RemoteAnswer):
        return "not an accountant, calibrator or converter"
    if case.question in QUESTIONS:
        return None
    known = f"`help(dpassay.adapter)` lists all questions{similar_words(case.question, QUESTIONS)}"
    return f"no certified value is known for the question {case.question!r}; {known}"


def finding_about(
    kind: FindingKind, inquiry: Inquiry, arguments: dict[str, Any], claimed: float, detail: str, **fields: Any
) -> Finding:
    """Return a finding about one answer, with a witness that reproduces it.

    Parameters
    ----------
    kind : FindingKind
        Kind of the finding.
    inquiry : Inquiry
        The inquiry of the case.
    arguments : dict
        Arguments of the question.
    claimed : float
        The answer of the library.
    detail : str
        Explanation, one line.
    **fields
        Further fields of the finding; `evidence` is "exact" and `scope` is "points" by default.
    """
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
        **{"evidence": Evidence.EXACT, "scope": Scope.POINTS, **fields},
    )


def margin(case: RemoteAnswer, number: float) -> float:
    """Return the largest accepted difference between two answers that should be equal.

    It is the sum of rounding, the documented error and the documented looseness.
    """
    relative, absolute = errors_of(case)
    return (MONOTONE_ALLOWANCE + relative) * abs(number) + absolute + looseness_of(case)


def falls_below(value: float, least: float, slack: float) -> bool:
    """Return whether a value lies below another one by more than the slack, which says nothing of infinite values."""
    return value < least if math.isinf(least) else value < least - slack


def related_to(case: RemoteAnswer, *questions: str) -> list[RemoteAnswer]:
    """Return the answers of the same account to certain questions, none of them an estimate without an error."""
    return [other for other in case.related if other.question in questions and not is_vague(other)]


def is_vague(case: RemoteAnswer) -> bool:
    """Return whether the library calls its number an estimate, and does not say how far off it may be."""
    return case.description["certainty"] == "estimate" and errors_of(case) == (0.0, 0.0)
