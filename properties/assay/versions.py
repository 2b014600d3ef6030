"""Comparison of the findings of two versions of a library."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpassay.properties.assay.assessment import Assessment
from dpassay.properties.assay.kinds import FindingKind

__all__ = ["ABSENT", "Change", "compare"]

ABSENT = "absent"
"""Stands for the finding if a version does not have the mechanism."""


@dataclass(frozen=True)
class Change:
    """A difference between the findings of two versions.

    `law` is ``*`` if only one version has the mechanism; `before` and `after` are kinds of findings.
    """

    mechanism: str
    law: str
    before: str
    after: str
    detail: str


def compare(before: Sequence[Assessment], after: Sequence[Assessment]) -> list[Change]:
    """Return the differences in the order of the later version, then the mechanisms of the earlier one only."""
    earlier, later = _by_place(before), _by_place(after)
    old, new = {name for name, _ in earlier}, {name for name, _ in later}
    changes = [
        Change(name, law, earlier[name, law].finding.kind, line.finding.kind, line.finding.detail)
        for (name, law), line in later.items()
        if (name, law) in earlier and earlier[name, law].finding.kind != line.finding.kind
    ]
    changes += [Change(name, "*", ABSENT, _worst(after, name), "") for name in _in_order(after) if name not in old]
    changes += [Change(name, "*", _worst(before, name), ABSENT, "") for name in _in_order(before) if name not in new]
    return changes


def _by_place(lines: Sequence[Assessment]) -> dict[tuple[str, str], Assessment]:
    return {(line.mechanism, line.law): line for line in lines}


def _in_order(lines: Sequence[Assessment]) -> list[str]:
    return list(dict.fromkeys(line.mechanism for line in lines))


def _worst(lines: Sequence[Assessment], mechanism: str) -> FindingKind:
    kinds = {line.finding.kind for line in lines if line.mechanism == mechanism}
    order = (
        FindingKind.VIOLATION, FindingKind.UNSOUND_NUMBER, FindingKind.WRONG_ANSWER, FindingKind.UNDECIDED,
        FindingKind.NOT_RUN, FindingKind.OK,
    )  # fmt: skip
    return next((kind for kind in order if kind in kinds), FindingKind.NOT_APPLICABLE)
