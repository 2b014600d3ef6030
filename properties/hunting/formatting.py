"""Neighbour relations in the form of the command line, and the power of a test in a sentence."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dpassay.claims import parse_claim
from dpassay.neighbours import AnyNeighbours, EncodedNeighbours, RecordNeighbours, VectorNeighbours
from dpassay.properties.betting.power import Power
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.properties.notions.base import epsilon_delta_of
from dpassay.properties.notions.bounds import interval_words, words_below
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT
from dpassay.spec.verdict import Evidence

if TYPE_CHECKING:
    from dpassay.properties.hunting.result import Float64Result, HuntResult

__all__ = [
    "WEAK_TEST",
    "event_figure_words",
    "event_words",
    "figures_words",
    "float64_lines",
    "power_words",
    "relation_words",
    "weakness_words",
]

WEAK_TEST = "weak test: "
"""Beginning of the sentence about a weak test."""

_SAME_FIGURE, _LARGEST_FIGURE = 1 - 1e-3, 1e300
"""An event that comes this near to the bound, relatively, shows it; an infinite bound is compared with this one."""

_LONGEST_EVENT = 300
"""Characters of an event that a terminal shows."""


def relation_words(relation: AnyNeighbours) -> str:
    """Return a neighbour relation as the command line takes it.

    Examples
    --------
    >>> relation_words(VectorNeighbours(3, linf=1.0, low=0.0))
    'vector:size=3,linf=1.0,low=0.0'
    """
    match relation:
        case VectorNeighbours():
            bounds = {"size": relation.size, "l0": relation.l0, "l1": relation.l1, "l2": relation.l2}
            bounds |= {"linf": relation.linf}
            words = [f"{key}={value!r}" for key, value in bounds.items() if value is not None]
            words += [f"low={relation.low!r}"] * math.isfinite(relation.low)
            words += [f"high={relation.high!r}"] * math.isfinite(relation.high)
            words += [name for name in ("integer", "monotone") if getattr(relation, name)]
            return "vector:" + ",".join(words)
        case RecordNeighbours():
            most = [] if relation.max_size is None else [f"max-size={relation.max_size!r}"]
            words = [f"low={relation.low!r}", f"high={relation.high!r}", f"size={relation.size!r}", *most]
            return "records:" + ",".join([*words, f"relation={relation.relation}"])
        case EncodedNeighbours():
            return relation.words


def event_words(event: str) -> str:
    """Return an event as a terminal shows it: a long one is cut between its alternatives, with a word on the rest.

    Examples
    --------
    >>> event_words("outcome <= 0.5")
    'outcome <= 0.5'
    >>> event_words(" or ".join(f"outcome == {number}" for number in range(500)))[-70:]
    'outcome == 17 or ... (482 of 500 alternatives; --json prints them all)'
    """
    if len(event) <= _LONGEST_EVENT:
        return event
    count = event.count(" or ") + 1
    kept = event[:_LONGEST_EVENT].split(" or ")[:-1]
    if not kept:
        return f"{event[:_LONGEST_EVENT]} ... ({len(event):,} characters; --json prints them all)"
    rest = f"{count - len(kept):,} of {count:,} alternatives; --json prints them all"
    return f"{' or '.join(kept)} or ... ({rest})"


def event_figure_words(result: "HuntResult") -> str | None:
    """Return what the event of an enclosed violation shows by itself where the bound on epsilon rests on more.

    The bound is the largest one over all pairs and events that were compared. The witness is one of the simplest.
    """
    if result.witness is None or result.evidence is Evidence.SAMPLED or result.claim.startswith("ex-post:"):
        return None
    point, lower = epsilon_delta_of(parse_claim(result.claim)), result.epsilon_lower
    if point is None or lower is None or result.bounds[0].quantity != "epsilon":
        return None
    (low, _), (_, high), delta = result.witness.p_left, result.witness.p_right, point[1]
    shown = math.inf if high == 0 else max(0.0, math.log(max(low - delta, high) / high)) * (1 - 1e-9)  # rounded down
    if shown >= _SAME_FIGURE * min(lower, _LARGEST_FIGURE):
        return None
    return f"this event alone shows epsilon >= {words_below(shown, 6)}; the bound rests on other events or pairs"


def figures_words(power: Power) -> str:
    """Return the figures of a power in a few words.

    Examples
    --------
    >>> figures_words(Power({"epsilon": 1.0417, "delta": 0.0021}, 0.4, 1e-3, 300))
    'epsilon 1.042, delta 0.0021'
    >>> figures_words(Power({"epsilon": 1.273}, 0.5, 1e-3, 300, on_a_single_pair={"epsilon": math.inf}))
    'epsilon 1.273 (if one pair alone shows it: none)'
    """
    if power.is_blind:
        return "none"
    found, alone = map(_figures, (power.figures, power.on_a_single_pair))
    rarer = f" (if one pair alone shows it: {alone})" if power.on_a_single_pair and alone != found else ""
    return (found or "unknown") + rarer


def _figures(figures: Mapping[str, float]) -> str:
    if figures and all(map(math.isinf, figures.values())):
        return "none"
    return ", ".join(f"{name} {value:.4g}" for name, value in figures.items())


def float64_lines(found: "Float64Result") -> list[str]:
    """Return the lines of the verdict on floats: the verdict itself first, then its witness."""
    drawn = "" if found.evidence is Evidence.ENCLOSED else f", {found.calls:,} calls"
    reach = f"float64: {found.verdict} ({found.evidence}{drawn})"
    if found.is_same:
        return [f"{reach}: the same violation, which needs neither low-order bits nor rounding"]
    if found.verdict is HuntVerdict.VIOLATED:
        words = f"{reach}: epsilon >= {words_below(found.epsilon_lower)} through low-order bits or rounding"
    elif found.verdict is HuntVerdict.NOT_REFUTED:
        words = f"{reach}: low-order bits and rounding do not refute the claim"
    else:
        words = f"{reach}: the target was not sampled to the end"
    if found.witness is None:
        return [words]
    low, high = map(interval_words, (found.witness.p_left, found.witness.p_right))
    told = ["         the low-order bits of the noise reveal the input"] if LOWEST_BIT in found.witness.event else []
    return [
        words,
        f"  left   {found.witness.shown[0]}",
        f"  right  {found.witness.shown[1]}",
        f"  event  {event_words(found.witness.event)}",
        *told,
        f"  Pr[event | left] in {low}, Pr[event | right] in {high}",
    ]


def power_words(power: Power, claim: str) -> str:
    """Return the sentences that state the power of a test of a claim (in the words of the command line)."""
    if power.is_blind:
        return (
            f"Power: none. With this many calls no run could be expected to refute {claim}, whatever the target does."
        )
    if not power.figures:
        rate = f"{power.nats_per_call:.2g} nats per call"
        return (
            f"Power: unknown ({power.reason}). Most runs refute a target on whose pairs an ideal bettor gains {rate}."
        )
    found = _violations(power.figures, power.reference)
    alone = _violations(power.on_a_single_pair, power.reference)
    rarer = (
        ""
        if alone == found
        else f", if all pairs of inputs tried show it; if one pair alone shows it, {alone or 'none'}"
    )
    return f"Power: with this many calls at least half of all runs refute {found}{rarer}."


def _violations(figures: Mapping[str, float], reference: str | None) -> str:
    """Return in words the violations that figures of a power state; nothing if none is finite."""
    found = [
        f"a {reference} mechanism whose true {name} is at least {value:.4g}"
        for name, value in figures.items()
        if name not in {"delta", "tau"} and value < math.inf
    ]
    delta = figures.get("delta", math.inf)
    if delta < math.inf:
        found.append(f"a mechanism that reveals its input with probability at least {delta:.4g}")
    return ", or ".join(found)


def weakness_words(power: Power, claim: str, *, failures: int = 0) -> str | None:
    """Return the violation that a weak test would have missed, and the calls that it needs; None if it is not weak.

    Parameters
    ----------
    power : Power
        Power of the test.
    claim : str
        The claim in the words of the command line.
    failures : int
        Number of calls that raised, which the power does not count.
    """
    if not power.is_weak:
        return None
    more = (
        "no feasible number of calls is enough"
        if power.calls_needed is None
        else f"at least {power.calls_needed:,} calls are needed"
    )
    more += f"; {failures:,} further calls raised and are not counted" if failures else ""
    if power.is_blind:
        return f"{WEAK_TEST}no run could be expected to refute {claim} with this many calls; {more}"
    missed = f"it would miss a target with twice the loss that {claim} allows"
    return f"{WEAK_TEST}{missed}; its power is {figures_words(power)}; {more}"
