"""Tables and summaries of findings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dpassay.properties.assay.assessment import Assessment
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.versions import Change
from dpassay.properties.notions.bounds import interval_words, words_above, words_below

__all__ = [
    "CHANGE_COLUMNS",
    "COLUMNS",
    "change_rows",
    "figures",
    "power_words",
    "rows",
    "shown_witnesses",
    "summary",
    "unasked",
    "witness_lines",
]

COLUMNS = ("mechanism", "law", "finding", "claimed", "certified", "power", "detail")
_FIGURES = ("epsilon", "delta", "rho", "mu", "tau", "total_variation", "failure_probability", "points")
_DIGITS, _MOST_DIGITS = 6, 17
"""Significant digits of a figure, and the most that tell two float64 apart."""
CHANGE_COLUMNS = ("mechanism", "law", "before", "after", "detail")


def rows(lines: Sequence[Assessment]) -> list[dict[str, Any]]:
    """Return the rows of the table: laws that apply and were asked, and unexpected findings."""
    hidden = {FindingKind.NOT_APPLICABLE, FindingKind.NOT_RUN}
    return [_row(line) for line in lines if line.finding.kind not in hidden or not line.as_expected]


def unasked(lines: Sequence[Assessment], command: str) -> str | None:
    """Return one line about the checks for which the time was too short; None if there are none.

    Parameters
    ----------
    lines : sequence of Assessment
        The lines of a run.
    command : str
        The command that asks them.
    """
    missed = [line for line in lines if line.finding.kind is FindingKind.NOT_RUN]
    if not missed:
        return None
    laws = Counter(line.law for line in missed).most_common()
    words = ", ".join(f"{law} ({count})" for law, count in laws)
    applied = [line for line in lines if line.finding.kind is not FindingKind.NOT_APPLICABLE]
    cases = {line.mechanism for line in applied}
    untouched = len(cases - {line.mechanism for line in applied if line.finding.kind is not FindingKind.NOT_RUN})
    whole = f"; no law was run on {untouched} of {len(cases)} cases" if untouched else ""
    return f"{len(missed)} checks were not run, because of the time limit: {words}{whole}; `{command}` runs them"


def shown_witnesses(lines: Sequence[Assessment]) -> list[str]:
    """Return what shows each unexpected finding: its pair and event, and the library's own call as Python text."""
    return list(dict.fromkeys(text for line in lines for text in _shown(line)))


def _shown(line: Assessment) -> list[str]:
    witness = line.finding.witness or {}
    if line.as_expected:
        return []
    pair = [f"{line.mechanism}, {line.law}: {line.finding.kind}\n{lines}" for lines in [witness_lines(line)] if lines]
    return [*pair, *([witness["call"]] if "call" in witness else [])]


def witness_lines(line: Assessment) -> str:
    """Return the two inputs and the event of a finding, a line each, with their probabilities; nothing if it has none.

    Parameters
    ----------
    line : Assessment
        A finding.
    """
    witness = line.finding.witness or {}
    if not {"left", "right", "event"} <= witness.keys():
        return ""
    left, right = witness.get("inputs") or (witness["left"], witness["right"])
    told = [f"  left   {left}", f"  right  {right}", f"  event  {witness['event']}"]
    ends = [witness.get(side) for side in ("p_left", "p_right")]
    if all(isinstance(end, list | tuple) and None not in end for end in ends):
        low, high = (interval_words(end, _DIGITS) for end in ends if end is not None)
        told.append(f"  Pr[event | left] in {low}, Pr[event | right] in {high}")
    return "\n".join(told)


def _row(line: Assessment) -> dict[str, Any]:
    mark = "" if line.as_expected and line.expected is None else " (expected)" if line.as_expected else " (!)"
    detail = line.finding.detail if line.expected is None else f"{line.finding.detail} [{line.expected}]"
    claimed, certified = figures(line.finding.claimed, line.finding.certified)
    return {
        "mechanism": line.mechanism,
        "law": line.law,
        "finding": f"{line.finding.kind}{mark}",
        "claimed": claimed,
        "certified": certified,
        "power": power_words(line.finding.power),
        "detail": detail,
    }


def figures(claimed: float | None, certified: float | None) -> tuple[str | None, str | None]:
    """Return the claimed and the certified number as text, with the digits that tell them apart, 6 at least.

    The certified number is rounded towards the claimed one, so that the text claims no more than is certified.

    Examples
    --------
    >>> figures(0.5, 0.6666666666)
    ('0.5', '0.666666')
    >>> figures(1.0, 1.00000012345), figures(None, 0.25)
    (('1', '1.0000001'), (None, '0.25'))
    """
    if claimed is None or certified is None:
        return _text(claimed), _text(certified)
    rounded = words_below if certified > claimed else words_above
    first, *longer = (
        (f"{claimed:.{digits}g}", rounded(certified, digits)) for digits in range(_DIGITS, _MOST_DIGITS + 1)
    )
    return next((pair for pair in (first, *longer) if _in_order(claimed, certified, pair)), first)


def _in_order(claimed: float, certified: float, words: tuple[str, str]) -> bool:
    stated, bound = map(float, words)
    return (claimed < certified) == (stated < bound) and (claimed > certified) == (stated > bound)


def _text(value: float | None) -> str | None:
    return None if value is None else f"{value:.{_DIGITS}g}"


def power_words(power: Mapping[str, Any] | None) -> str | None:
    """Return the figures of the power of a finding as text, rounded up: a smaller fault might have been missed.

    Examples
    --------
    >>> power_words({"epsilon": 1.25, "weakness": 0.5}), power_words({"delta": 0.00123412})
    ('epsilon 1.25', 'delta 0.001235')
    """
    if power is None:
        return None
    shown = {name: value for name, value in power.items() if name in _FIGURES and value is not None}
    return ", ".join(f"{name.replace('_', ' ')} {_number(value)}" for name, value in shown.items()) or "unknown"


def _number(value: object) -> str:
    return words_above(value, 4) if isinstance(value, float) else str(value)


def change_rows(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return the rows of the table of changes between versions."""
    return [{column: getattr(change, column) for column in CHANGE_COLUMNS} for change in changes]


def summary(lines: Sequence[Assessment], seconds: float) -> str:
    """Return one line with the counts of laws, cases and findings, and the level of the run."""
    counts = Counter(line.finding.kind for line in lines)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in FindingKind if counts[kind])
    applied = [line for line in lines if line.finding.kind is not FindingKind.NOT_APPLICABLE]
    laws, mechanisms = len({line.law for line in applied}), len({line.mechanism for line in applied})
    level = sum(line.alpha for line in lines if line.alpha is not None)
    unexpected = sum(not line.as_expected for line in lines)
    chance = f"; probability of any false alarm at most {level:.3g}" if level else ""
    return (
        f"{lines[0].library} {lines[0].version or '(version unknown)'}: {laws} laws, {mechanisms} mechanisms and "
        f"accountants, {kinds}; {unexpected} not as expected; {seconds:.0f} s{chance}"
    )
