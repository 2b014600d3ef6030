"""Laws of monotonicity and convexity of answers in their arguments."""

import math
from typing import Any

import numpy as np

from dpassay.impl.libraries.remote import RemoteCase
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.inquiry import (
    Inquiry,
    delta_error_of,
    domain_of,
    falls_below,
    finding_about,
    margin,
    required,
    unless_answer,
    words_of,
)
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.questions import Argument, inside, points_of

__all__ = ["MOVEMENT_LAWS"]

_LADDERS = 2
"""Points from which a parameter is varied, if answers are cheap."""

_RUNGS = 8
"""Values of the parameter over its whole range."""

_CHEAP = 24
"""Questions with fewer points are slow to answer."""

_NEAR = (1, 1.001, 1.01, 1.1, 1.3, 1.6)
"""Values of the parameter near one another, as multiples: faults of a grid show between near values."""


def _monotone_law(name: str) -> Law:
    def applies(case: RemoteCase) -> str | None:
        reason = unless_answer(case)
        if reason is not None:
            return reason
        argument = required(case)[1].argument(name)
        if argument is None or argument.kind == "reals":
            return f"the question has no argument {name}"
        low, high = domain_of(required(case)[0]).get(name, (-math.inf, math.inf))
        if low == high:
            return f"the function of the library has no argument {name}"
        return None if argument.direction else f"the answer need not be monotone in {name}"

    def check(case: RemoteCase, settings: Settings) -> Finding:
        return _check_monotone(case, settings, name)

    return Law(f"monotone_in_{name}", f"The answer is monotone in {name}.", applies, check, sampled=False)


def _check_monotone(case: RemoteCase, settings: Settings, name: str) -> Finding:
    answer, question = required(case)
    argument = question.argument(name)
    assert argument is not None
    rng = np.random.default_rng([settings.seed, 4, *name.encode()])
    inquiry, compared, faults = Inquiry(answer, settings), 0, list[Finding]()
    is_bound = not answer.description["claims_exact"]
    ladders = (_LADDERS if question.points >= _CHEAP else 1) * settings.depth
    for base in points_of(question, domain_of(answer), rng, ladders):
        before: tuple[dict[str, Any], float] | None = None
        for value in _rungs(argument, domain_of(answer).get(name), rng):
            if inquiry.passes_over():
                continue
            arguments = {**base, name: value}
            claimed = inquiry.number(arguments)
            if claimed is None or (is_bound and math.isinf(claimed)):
                continue  # such an answer stands for a refusal
            if before is not None:
                compared += 1
                smaller, larger = (before, (arguments, claimed))[:: 1 if argument.direction > 0 else -1]
                is_short = falls_below(larger[1], smaller[1], margin(answer, smaller[1]))
                if is_short and _is_beyond_delta_error(inquiry, smaller[0], larger[1]):
                    way = "decreases" if argument.direction > 0 else "increases"
                    asked = f"{question.name}({words_of(before[0])})"
                    detail = f"{asked} = {before[1]!r} {way} to {claimed!r} at {name}={value!r}"
                    finding = finding_about(
                        FindingKind.WRONG_ANSWER, inquiry, arguments, claimed, detail, certified=before[1]
                    )
                    assert finding.witness is not None
                    finding.witness.update({"before": before[0], "answer before": before[1]})
                    faults.append(finding)
            before = arguments, claimed
    return inquiry.of_faults(faults) if faults else inquiry.nothing_found(compared)


def _is_beyond_delta_error(inquiry: Inquiry, arguments: dict[str, Any], larger: float) -> bool:
    """Return whether an answer that should be the larger one is too small whatever the error of delta.

    With an error e the answer at a delta is between the true ones at delta + e and delta. The answer that should be
    smaller, asked at delta + 2 e, is at most the true one at delta + e, which the other answer may not fall below.
    """
    error = delta_error_of(inquiry.case)
    if not error or "delta" not in arguments:
        return True
    least = inquiry.ask({**arguments, "delta": arguments["delta"] + 2 * error})
    return least is not None and falls_below(larger, least, margin(inquiry.case, least))


def _rungs(argument: Argument, bounds: tuple[float, float] | None, rng: np.random.Generator) -> list[float | int]:
    """Return ascending values: spread over the range, corner cases, and some close together.

    If fewer than two of them lie inside the bounds, they are spread over the part of the range inside the bounds.
    """
    low, high = bounds or (-math.inf, math.inf)
    spread = np.geomspace(argument.low, argument.high, _RUNGS)
    near = float(np.exp(rng.uniform(math.log(argument.low), math.log(argument.high)))) * np.array(_NEAR)
    inner = [corner for corner in argument.corners if argument.low / 100 <= corner <= 100 * argument.high]
    values = {argument.value(float(x)) for x in (*spread, *near, *inner)}
    rungs = sorted(x for x in values if low <= x <= high and argument.least < x <= argument.most)
    narrow = argument.within(low, high)
    if len(rungs) > 1 or narrow.low > narrow.high:
        return rungs
    return sorted({argument.value(float(x)) for x in np.geomspace(narrow.low, narrow.high, _RUNGS)})


# --- integer and fractional orders --------------------------------------------------------------------------

_ORDERS = 12
"""Points at which orders are varied."""

_LARGEST_ORDER = 64
"""The largest integer order that is tried."""

_STEPS = (2.0**-10, 0.125, 0.5, 1.0)
"""Distances of the three orders that are compared."""


def _convex_applies(case: RemoteCase) -> str | None:
    reason = unless_answer(case)
    if reason is not None:
        return reason
    question = required(case)[1]
    return None if question.name.endswith("_renyi") else "the question is not a Renyi divergence"


def _check_convex(case: RemoteCase, settings: Settings) -> Finding:
    """Check three orders at a time, one of them an integer, because libraries change formula at integers."""
    answer, question = required(case)
    rng = np.random.default_rng([settings.seed, 15])
    inquiry, compared, faults = Inquiry(answer, settings), 0, list[Finding]()
    is_bound = not answer.description["claims_exact"]
    low, high = domain_of(answer).get("order", (2, _LARGEST_ORDER))
    least, largest = max(2, math.ceil(low)), min(_LARGEST_ORDER, math.floor(high))
    for base in points_of(question, domain_of(answer), rng, _ORDERS * settings.depth) if least < largest else ():
        integer, step = int(rng.integers(least, largest)), float(rng.choice(_STEPS))
        for middle in (integer - step, float(integer), integer + step):
            points = [{**base, "order": order} for order in (middle - step, middle, middle + step)]
            if middle - step <= 1 or not all(inside(point, domain_of(answer)) for point in points):
                continue
            if inquiry.passes_over():
                continue
            asked = [(point, inquiry.number(point)) for point in points]
            known = [
                (point, value) for point, value in asked if value is not None and not (is_bound and math.isinf(value))
            ]
            if len(known) < len(points):
                continue
            compared += 1
            finding = _above_the_chord(inquiry, known)
            faults += [] if finding is None else [finding]
    return inquiry.of_faults(faults) if faults else inquiry.nothing_found(compared)


def _above_the_chord(inquiry: Inquiry, known: list[tuple[dict[str, Any], float]]) -> Finding | None:
    """Return a finding if the middle of three equidistant orders violates convexity, else None."""
    (before, low), (point, claimed), (after, high) = known
    left, middle, right = ((p["order"] - 1) * value for p, value in known)
    slack = [(p["order"] - 1) * margin(inquiry.case, value) for p, value in known]
    if not (math.isfinite(left) and math.isfinite(right)):
        return None  # the law `range` checks that no answer is below 0
    if middle < math.inf and 2 * middle <= left + right + slack[0] + 2 * slack[1] + slack[2]:
        return None
    most = (left + right) / (2 * (point["order"] - 1))
    detail = (
        f"{inquiry.case.question}({words_of(point)}) = {claimed!r}, but {low!r} at order {before['order']!r} and"
        f" {high!r} at order {after['order']!r} allow at most {most!r}"
    )
    finding = finding_about(FindingKind.WRONG_ANSWER, inquiry, point, claimed, detail, certified=most)
    assert finding.witness is not None
    finding.witness.update({"orders": [p["order"] for p, _ in known], "divergences": [low, claimed, high]})
    return finding


# --- the laws -----------------------------------------------------------------------------------------------

_MOVING = (
    "epsilon",
    "delta",
    "sigma",
    "scale",
    "count",
    "rate",
    "order",
    "epsilon0",
    "delta0",
    "rho",
    "renyi",
)

MOVEMENT_LAWS = (
    *(_monotone_law(name) for name in _MOVING),
    Law(
        "convex_in_order",
        "(order - 1) times the Renyi divergence is convex in the order, including fractional orders.",
        _convex_applies,
        _check_convex,
        sampled=False,
    ),
)
