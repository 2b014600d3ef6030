"""Laws that hold answers against certified truths.

A number is unsound when it lies on the wrong side of a certified truth by more than a relative 2^-50 and the error
that the library documents.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from dpassay.claims import UsageError
from dpassay.impl.libraries.remote import RemoteAnswer, RemoteCase
from dpassay.properties.assay.enclosures import Truth
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.inquiry import (
    Inquiry,
    domain_of,
    errors_of,
    finding_about,
    is_vague,
    required,
    unless_answer,
    words_of,
)
from dpassay.properties.assay.questions import Question, points_of
from dpassay.properties.assay.truths import truth_of

__all__ = ["SOUNDNESS_LAWS"]

ALLOWANCE = 2.0**-50
"""The relative error that a float64 number may have because it is one."""

EXACT_ALLOWANCE = 2.0**-30
"""The relative error of a number of which the library says that it is the truth up to rounding."""


@dataclass(frozen=True)
class _Compared:
    arguments: dict[str, Any]
    claimed: float
    truth: Truth
    bound: float
    """What is certified on the side where an answer is unsound."""
    is_unsound: bool

    @property
    def tightness(self) -> float:
        """By which factor the answer is on the safe side; below 1 where it is unsound."""
        return self.claimed / self.bound if self.bound else math.inf


def _compare(case: RemoteAnswer, question: Question, arguments: dict[str, Any], claimed: float) -> _Compared | None:
    try:
        truth = truth_of(question.name, **arguments)
    except UsageError:  # beyond what can be certified in a reasonable time
        return None
    relative, absolute = errors_of(case)
    claimed = max(claimed, 0.0)  # a negative epsilon may even be true; it is the affair of the law of ranges
    if question.safe == "above":
        if truth.lower is None:
            return None
        most = claimed * (1 + ALLOWANCE) * (1 + relative) + absolute
        return _Compared(arguments, claimed, truth, truth.lower, most < truth.lower)
    if truth.upper is None:
        return None
    least = claimed * (1 - ALLOWANCE) * (1 - relative) - absolute
    return _Compared(arguments, claimed, truth, truth.upper, least > truth.upper)


def _compared_points(inquiry: Inquiry, question: Question) -> Iterator[_Compared]:
    """Yield the points that could be compared; after the planned ones, some near the tightest so far."""
    case, rng = inquiry.case, np.random.default_rng([inquiry.settings.seed, 1])
    domain, tightest = domain_of(case), list[_Compared]()
    for arguments in points_of(question, domain, rng, question.points):
        if inquiry.is_over:
            return
        compared = _asked(inquiry, question, arguments)
        if compared is not None:
            tightest = sorted([*tightest, compared], key=lambda c: _safety(question, c))[:3]
            yield compared
    for _ in range(question.points // 2):
        if inquiry.is_over or not tightest:
            return
        base = tightest[int(rng.integers(len(tightest)))].arguments
        arguments = {a.name: a.nearby(base[a.name], rng) for a in question.arguments}
        if not all(low <= arguments[name] <= high for name, (low, high) in domain.items() if name in arguments):
            continue
        compared = _asked(inquiry, question, arguments)
        if compared is not None:
            tightest = sorted([*tightest, compared], key=lambda c: _safety(question, c))[:3]
            yield compared


def _safety(question: Question, compared: _Compared) -> float:
    """Return a number that is the lower the nearer an answer is to the wrong side."""
    ratio = compared.tightness
    if question.safe == "below":
        ratio = 1 / ratio if ratio > 0 else math.inf
    return ratio if ratio > 0 and not compared.is_unsound else -1.0


def _asked(inquiry: Inquiry, question: Question, arguments: dict[str, Any]) -> _Compared | None:
    claimed = inquiry.ask(arguments)
    if claimed is None or math.isnan(claimed):
        return None  # what is no number is another law's affair
    return _compare(inquiry.case, question, arguments, claimed)


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
            f" (by a relative {_shortfall(worst):.3g})"
        )
        return finding_about(
            "unsound number",
            inquiry,
            worst.arguments,
            worst.claimed,
            detail,
            certified=worst.bound,
            evidence="enclosed",
        )
    tightness = f"answer/truth {min(ratios):.6g} to {max(ratios):.6g}, median {median(ratios):.6g}" if ratios else ""
    return inquiry.nothing_found(len(ratios), tightness)


def _shortfall(compared: _Compared) -> float:
    if compared.bound == 0 or math.isinf(compared.bound):
        return math.inf
    return abs(compared.claimed - compared.bound) / compared.bound


def _soundness_applies(case: RemoteCase) -> str | None:
    reason = unless_answer(case)
    if reason is not None:
        return reason
    if is_vague(required(case)[0]):
        return "the library calls its number an estimate, without a documented error"
    return None


def _check_exactness(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = required(case)
    relative, absolute = errors_of(answer)
    inquiry, known = Inquiry(answer, settings), 0
    for compared in _compared_points(inquiry, question):
        far = compared.truth.upper if question.safe == "above" else compared.truth.lower
        if far is None:
            continue
        known += 1
        slack = (EXACT_ALLOWANCE + relative) * far + absolute
        wrong = compared.claimed > far + slack if question.safe == "above" else compared.claimed < far - slack
        if wrong:
            asked = f"{question.name}({words_of(compared.arguments)})"
            detail = f"{asked} = {compared.claimed!r} is said to be exact, but {far!r} is certified"
            return finding_about(
                "wrong answer",
                inquiry,
                compared.arguments,
                compared.claimed,
                detail,
                certified=far,
                evidence="enclosed",
            )
    return inquiry.nothing_found(known)


def _exactness_applies(case: RemoteCase) -> str | None:
    reason = unless_answer(case)
    if reason is not None:
        return reason
    return None if case.description["claims_exact"] else "the library does not say that its number is exact"


SOUNDNESS_LAWS = (
    Law(
        "soundness",
        "The answer never lies on the wrong side of a certified truth.",
        _soundness_applies,
        _check_soundness,
        sampled=False,
    ),
    Law(
        "exactness",
        "What is said to be exact agrees with the truth up to rounding.",
        _exactness_applies,
        _check_exactness,
        sampled=False,
    ),
)
