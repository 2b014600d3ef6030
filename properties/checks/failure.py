"""How a violated claim is reported: one template, the two inputs, the event, and what to paste."""

import math
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context

from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    NeighbourRelation,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.properties.audit.events import Symbols, parse_event
from dpassay.properties.audit.hypotheses import ex_post_bound
from dpassay.properties.search.result import HuntResult, Witness, is_target_name
from dpassay.properties.search.words import claim_words, relation_words

__all__ = ["bounded_quantity", "claim_expression", "failure_message"]


def failure_message(
    result: HuntResult, claim: Claim, neighbours: NeighbourRelation, *, calls: int, low_bits: bool = True
) -> str:
    """Return the report of a violated claim.

    Its first line reads ``<quantity> = <value> (certified), but <claim> allows at most <bound> [law(arguments)]``,
    with ``>`` and the level in place of ``=`` and "certified" if the mechanism was sampled.
    """
    law = f"assert_private({result.target}, {claim_words(claim)}, {relation_words(neighbours)})"
    lines = [f"{_comparison(result, claim)} [{law}]"]
    if result.witness is not None:
        lines += _witness_lines(result.witness, certified=result.evidence != "sampled")
    lines.append(f"seed:  {result.seed}, calls: {result.calls}, alpha: {result.alpha:g}")
    if result.snippet is not None:
        lines += ["", "to see it on fresh samples:", *(f"    {line}" for line in result.snippet.splitlines())]
    lines += ["", *_snippet(result, claim, neighbours, calls, low_bits=low_bits)]
    return "\n".join(lines)


def claim_expression(claim: Claim) -> str:
    """Return a claim as Python would write it, such as ``PureDP(1.0)``."""
    if isinstance(claim, ExPost):
        return repr(claim)
    return f"{type(claim).__name__}({', '.join(repr(value) for value in vars(claim).values())})"


def _comparison(result: HuntResult, claim: Claim) -> str:
    quantity, value, bound = bounded_quantity(result, claim)
    if value is None:
        proof = "certified" if result.e_value_log10 is None else f"e-value 10^{result.e_value_log10:.1f}"
        return f"{quantity} ({proof}), but {claim_expression(claim)} forbids it"
    shown, allowed = _apart(value, bound, down=result.evidence == "sampled")
    sampled = result.evidence == "sampled"
    found = f"> {shown} (confidence 1 - {result.alpha:g})" if sampled else f"= {shown} (certified)"
    return f"{quantity} {found}, but {claim_expression(claim)} allows at most {allowed}"


def _apart(value: float, bound: float, *, down: bool) -> tuple[str, str]:
    """Write two numbers with five digits, or as many as it takes to tell them apart; a sampled bound rounded down."""
    for digits in range(5, 18):
        rounding = Context(prec=digits, rounding=ROUND_FLOOR if down else ROUND_HALF_EVEN)
        shown = float(rounding.create_decimal_from_float(value))
        allowed = float(f"{bound:.{digits}g}")
        if shown > allowed or (down and value == bound):
            break
    return f"{shown:.{digits}g}", f"{allowed:.{digits}g}"


def bounded_quantity(  # noqa: PLR0911  # one branch for each notion
    result: HuntResult, claim: Claim
) -> tuple[str, float | None, float]:
    """Return what the claim bounds, its value in the result, and the bound."""
    certified = result.evidence != "sampled"
    match claim:
        case PureDP(epsilon):
            return "privacy loss", result.epsilon_lower, epsilon
        case BoundedRange(epsilon):
            return "range of the privacy loss", result.epsilon_lower, epsilon
        case ProbabilisticDP(epsilon, delta) if certified and result.witness is not None:
            return f"probability of a privacy loss above {epsilon:g}", result.witness.p_left[0], delta
        case ApproximateDP(epsilon, delta) if certified:
            return f"delta at epsilon {epsilon:g}", result.delta_lower, delta
        case ApproximateDP(epsilon, delta) | ProbabilisticDP(epsilon, delta):
            return f"epsilon at delta {delta:g}", result.epsilon_lower, epsilon
        case ZCDP(rho):
            return "rho", result.rho_lower, rho
        case RenyiDP(alpha, epsilon):
            return f"Renyi divergence of order {alpha:g}", result.renyi_epsilon_lower, epsilon
        case ApproximateZCDP(rho, delta, xi) if result.rho_lower is not None:
            return f"rho at delta {delta:g}" + f" and xi {xi:g}" * (xi != 0), result.rho_lower, rho
        case ApproximateZCDP() | ConcentratedDP():
            return "hockey-stick divergence above the curve that the claim implies", None, 0.0
        case ExPost():
            bound = _bound_of_event(result, claim) if certified else None
            if bound is None or result.witness is None:
                return "privacy loss above its ex-post bound", None, 0.0
            low, high = result.witness.p_left[0], result.witness.p_right[1]
            loss = math.log(low / high) if high > 0 else math.inf
            return f"privacy loss of {result.witness.event}", loss, bound


def _bound_of_event(result: HuntResult, claim: ExPost) -> float | None:
    """Return the largest bound that the claim sets for an outcome of the witness, if these can be counted."""
    event = parse_event(result.witness.event) if result.witness is not None else None
    return max(ex_post_bound(claim, outcome) for outcome in event.members) if isinstance(event, Symbols) else None


def _witness_lines(witness: Witness, *, certified: bool) -> list[str]:
    kind = "certified" if certified else "95 % interval"
    low, high = witness.p_left
    other_low, other_high = witness.p_right
    return [
        f"left:  {list(witness.left)}",
        f"right: {list(witness.right)}",
        f"event: {witness.event}",
        f"probability on the left:  {low:.6g} to {high:.6g} ({kind})",
        f"probability on the right: {other_low:.6g} to {other_high:.6g} ({kind})",
    ]


def _snippet(
    result: HuntResult, claim: Claim, neighbours: NeighbourRelation, calls: int, *, low_bits: bool
) -> list[str]:
    module, _, name = result.target.rpartition(":")
    if not is_target_name(result.target):
        mechanism, lines = "mechanism", [f"mechanism = ...  # {result.target}"]
    elif module.endswith(".py"):
        mechanism, lines = repr(result.target), []
    else:
        mechanism, lines = name, [f"from {module} import {name.partition('.')[0]}"]
    if isinstance(claim, ExPost):
        lines += ["from dpassay.testing import assert_private", f"claim = ...  # {claim!r}"]
        stated = "claim"
    else:
        lines += [f"from dpassay.claims import {type(claim).__name__}", "from dpassay.testing import assert_private"]
        stated = claim_expression(claim)
    arguments = f"level={result.alpha!r}, seed={result.seed}, calls={calls}{'' if low_bits else ', low_bits=False'}"
    return [
        "to repeat it:",
        *(f"    {line}" for line in lines),
        f"    assert_private({mechanism}, {stated}, {relation_words(neighbours)!r}, {arguments})",
    ]
