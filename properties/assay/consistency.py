"""Consistency of answers: pairs that must agree up to documented errors, and answers that must be 0."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpassay.impl.libraries.remote import RemoteAnswer
from dpassay.properties.assay.finding import Finding
from dpassay.properties.assay.inquiry import Inquiry, finding_about, margin, words_of
from dpassay.properties.assay.kinds import FindingKind
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["Asked", "agreement", "costs_nothing"]


@dataclass(frozen=True)
class Asked:
    """A question put to one function of the library."""

    of: RemoteAnswer
    arguments: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.of.question}({words_of(self.arguments)})"


def agreement(inquiry: Inquiry, pairs: Iterable[tuple[Asked, Asked]], *, may_refuse: bool = False) -> Finding:
    """Compare the answers of each pair.

    Parameters
    ----------
    inquiry : Inquiry
        The inquiry of the case.
    pairs : iterable of (Asked, Asked)
        Questions that must have the same answer.
    may_refuse : bool
        Whether a library that answers the first question of each pair may refuse every second one.
    """
    compared = answered = 0
    faults = list[Finding]()
    for first, second in pairs:
        if inquiry.passes_over():
            continue
        value = inquiry.number(first.arguments, first.of)
        if value is None:
            continue
        answered += 1
        other = inquiry.number(second.arguments, second.of)
        if other is None:
            continue
        compared += 1
        if _differ(first, value, second, other):
            whose = "" if second.of is first.of else f" by {second.of.name}"
            detail = f"{first} = {value!r}, but {second} = {other!r}{whose}"
            finding = finding_about(FindingKind.WRONG_ANSWER, inquiry, first.arguments, value, detail, certified=other)
            assert finding.witness is not None
            finding.witness.update({"other": second.of.name, "other arguments": second.arguments})
            faults.append(finding)
    if faults:
        return inquiry.of_faults(faults)
    if may_refuse and answered and not compared and _only_refused(inquiry):
        return _refused(inquiry)
    return inquiry.nothing_found(compared, may_refuse=may_refuse)


def _only_refused(inquiry: Inquiry) -> bool:
    is_refused = bool(inquiry.refusals or inquiry.unasked)
    return is_refused and not (inquiry.losses or inquiry.mistakes or inquiry.not_numbers)


def _refused(inquiry: Inquiry) -> Finding:
    """Return the finding for a library that answers other questions and refuses all of these."""
    if not inquiry.refusals:
        return Finding(
            FindingKind.NOT_APPLICABLE, f"not asked by the adapter: {inquiry.unasked[0]}", calls=inquiry.calls
        )
    asked = len(inquiry.refusals)
    detail = f"refused: {inquiry.refusals[0]}"
    return Finding(
        FindingKind.OK,
        detail,
        evidence=Evidence.EXACT,
        scope=Scope.POINTS,
        calls=inquiry.calls,
        power={"points": asked},
    )


def _differ(first: Asked, value: float, second: Asked, other: float) -> bool:
    if value == other or not (math.isfinite(value) and math.isfinite(other)):
        return value != other
    largest = max(abs(value), abs(other))
    return abs(value - other) > margin(first.of, largest) + margin(second.of, largest)


def costs_nothing(inquiry: Inquiry, points: Iterable[dict[str, Any]], why: str) -> Finding:
    """Look for an answer above 0 to questions whose privacy cost is 0; a library may refuse all of them.

    Parameters
    ----------
    inquiry : Inquiry
        The inquiry of the case.
    points : iterable of dict
        Arguments of the questions.
    why : str
        Reason that the cost is 0, for the message.
    """
    answered, most, faults = 0, margin(inquiry.case, 0.0), list[Finding]()
    for arguments in points:
        if inquiry.passes_over():
            continue
        claimed = inquiry.ask(arguments)
        if claimed is None:
            continue
        answered += 1
        if not claimed <= most:
            detail = f"{Asked(inquiry.case, arguments)} = {claimed!r}, but {why}"
            faults.append(finding_about(FindingKind.WRONG_ANSWER, inquiry, arguments, claimed, detail, certified=0.0))
    if faults:
        return inquiry.of_faults(faults)
    if answered == 0 and _only_refused(inquiry):
        return inquiry.control() or _refused(inquiry)
    return inquiry.nothing_found(answered, may_refuse=True)
