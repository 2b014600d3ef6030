"""Laws that compare answers with certified values.

A number is unsound if it lies on the unsafe side of a certified value by more than a relative 2^-50 plus the
documented error of the library, and by more than the smallest normal float64.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from dpassay.arguments import UsageError
from dpassay.impl.libraries.remote import RemoteAnswer, RemoteCase
from dpassay.properties.assay.enclosures import Truth
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.inquiry import (
    Inquiry,
    delta_error_of,
    domain_of,
    errors_of,
    falls_below,
    finding_about,
    is_vague,
    required,
    unless_answer,
    words_of,
)
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.questions import Question, points_of
from dpassay.properties.assay.reference_values import truth_of
from dpassay.spec.verdict import Evidence

__all__ = ["SOUNDNESS_LAWS"]

ALLOWANCE = 2.0**-50
"""Relative error allowed for rounding to float64."""

UNDERFLOW = 2.0**-1022
"""Absolute error allowed for rounding to float64: smaller numbers lose their relative precision, or are 0."""

EXACT_ALLOWANCE = 2.0**-30
"""Relative error allowed for a number that the library documents as exact up to rounding."""


@dataclass(frozen=True)
class _Compared:
    arguments: dict[str, Any]
    claimed: float
    truth: Truth
    bound: float
    """Certified bound on the unsafe side of the true value."""
    is_unsound: bool

    @property
    def tightness(self) -> float:
        """Ratio of the answer to the certified bound."""
        return self.claimed / self.bound if self.bound else math.inf


def _compare(case: RemoteAnswer, question: Question, arguments: dict[str, Any], claimed: float) -> _Compared | None:
    try:
        truth = truth_of(question.name, **_eased(case, arguments))
    except UsageError:  # cannot be certified in reasonable time
        return None
    relative, absolute = errors_of(case)
    claimed = max(claimed, 0.0)  # the law `range` checks the sign
    if question.safe == "above":
        if truth.lower is None:
            return None
        most = claimed * (1 + ALLOWANCE) * (1 + relative) + absolute + UNDERFLOW
        return _Compared(arguments, claimed, truth, truth.lower, most < truth.lower)
    if truth.upper is None:
        return None
    least = claimed * (1 - ALLOWANCE) * (1 - relative) - absolute - UNDERFLOW
    return _Compared(arguments, claimed, truth, truth.upper, least > truth.upper)


def _eased(case: RemoteAnswer, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with a delta that is larger by the error that the library has in it."""
    error, delta = delta_error_of(case), arguments.get("delta", 0.0)
    if error == 0 or not 0 < delta < 1 - 2 * error:
        return arguments
    return {**arguments, "delta": math.nextafter(delta + error, 1.0)}


def _words_of_delta_error(case: RemoteAnswer) -> str:
    error = delta_error_of(case)
    return f", of a delta larger by {error:g}" if error else ""


def _compared_points(inquiry: Inquiry, question: Question) -> Iterator[_Compared]:
    """Yield the points that can be compared: the planned points, then points near the tightest ones."""
    case, rng = inquiry.case, np.random.default_rng([inquiry.settings.seed, 1])
    domain, tightest = domain_of(case), list[_Compared]()
    for arguments in points_of(question, domain, rng, question.points * inquiry.settings.depth):
        if inquiry.passes_over():
            continue
        compared = _asked(inquiry, question, arguments)
        if compared is not None:
            tightest = sorted([*tightest, compared], key=lambda c: _safety(question, c))[:3]
            yield compared
    for _ in range(question.points * inquiry.settings.depth // 2):
        if not tightest:
            return
        if inquiry.passes_over():
            continue
        base = tightest[int(rng.integers(len(tightest)))].arguments
        arguments = {a.name: a.nearby(base[a.name], rng) for a in question.arguments}
        if not all(low <= arguments[name] <= high for name, (low, high) in domain.items() if name in arguments):
            continue
        compared = _asked(inquiry, question, arguments)
        if compared is not None:
            tightest = sorted([*tightest, compared], key=lambda c: _safety(question, c))[:3]
            yield compared


def _safety(question: Question, compared: _Compared) -> float:
    """Return a measure of the distance from the unsafe side; lower is nearer."""
    ratio = compared.tightness
    if question.safe == "below":
        ratio = 1 / ratio if ratio > 0 else math.inf
    return ratio if ratio > 0 and not compared.is_unsound else -1.0


def _asked(inquiry: Inquiry, question: Question, arguments: dict[str, Any]) -> _Compared | None:
    claimed = inquiry.number(arguments)
    return None if claimed is None else _compare(inquiry.case, question, arguments, claimed)


def _check_soundness(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = required(case)
    inquiry, ratios, worst = Inquiry(answer, settings), list[float](), None
    for compared in _compared_points(inquiry, question):
        if compared.is_unsound and (worst is None or _shortfall(compared) > _shortfall(worst)):
            worst = compared
        if compared.bound > 0 and 0 < compared.claimed < math.inf:
            ratios.append(compared.tightness)
    if worst is not None:
        side = "below" if question.safe == "above" else "above"
        detail = (
            f"{question.name}({words_of(worst.arguments)}) = {worst.claimed!r}, {side} the certified {worst.bound!r}"
            f" (by a relative {_shortfall(worst):.3g}){_words_of_delta_error(answer)}"
        )
        told = finding_about(
            FindingKind.UNSOUND_NUMBER,
            inquiry,
            worst.arguments,
            worst.claimed,
            detail,
            certified=worst.bound,
            evidence=Evidence.ENCLOSED,
        )
        return inquiry.of_faults([told])
    tightness = f"answer/truth {min(ratios):.6g} to {max(ratios):.6g}, median {median(ratios):.6g}" if ratios else ""
    return inquiry.nothing_found(len(ratios), _and_uncertified(tightness, inquiry.numbers - len(ratios)))


def _and_uncertified(words: str, number: int) -> str:
    told = f"{number} answers that are 0 or infinite, or have no certified value" if number else ""
    return "; ".join(filter(None, (words, told)))


def _shortfall(compared: _Compared) -> float:
    if compared.bound == 0 or math.isinf(compared.bound):
        return math.inf
    return abs(compared.claimed - compared.bound) / compared.bound


def _soundness_applies(case: RemoteCase) -> str | None:
    reason = unless_answer(case)
    if reason is not None:
        return reason
    if is_vague(required(case)[0]):
        return "the library documents its number as an estimate without an error bound"
    return None


def _check_exactness(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = required(case)
    relative, absolute = errors_of(answer)
    inquiry, known, faults = Inquiry(answer, settings), 0, list[Finding]()
    for compared in _compared_points(inquiry, question):
        far = compared.truth.upper if question.safe == "above" else compared.truth.lower
        if far is None:
            continue
        known += 1
        slack = (EXACT_ALLOWANCE + relative) * far + absolute
        pair = (far, compared.claimed) if question.safe == "above" else (compared.claimed, far)
        wrong = falls_below(*pair, slack)
        if wrong:
            asked = f"{question.name}({words_of(compared.arguments)})"
            detail = f"{asked} = {compared.claimed!r} is documented as exact, but the certified value is {far!r}"
            finding = finding_about(
                FindingKind.WRONG_ANSWER,
                inquiry,
                compared.arguments,
                compared.claimed,
                detail,
                certified=far,
                evidence=Evidence.ENCLOSED,
            )
            faults.append(finding)
    if faults:
        return inquiry.of_faults(faults)
    return inquiry.nothing_found(known, _and_uncertified("", inquiry.numbers - known))


def _exactness_applies(case: RemoteCase) -> str | None:
    reason = unless_answer(case)
    if reason is not None:
        return reason
    return None if case.description["claims_exact"] else "the library does not document its number as exact"


SOUNDNESS_LAWS = (
    Law(
        "soundness",
        "The answer never lies on the unsafe side of the certified value.",
        _soundness_applies,
        _check_soundness,
        sampled=False,
        turn=Turn.FIRST,
    ),
    Law(
        "exactness",
        "A number documented as exact agrees with the certified value up to rounding.",
        _exactness_applies,
        _check_exactness,
        sampled=False,
    ),
)
