"""The report of a violated claim: the bound, the two inputs, the event, and code to repeat the test."""

from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context

from dpassay.claims import Claim, ExPost
from dpassay.neighbours import AnyNeighbours
from dpassay.properties.drawing.target import is_program
from dpassay.properties.hunting.formatting import float64_lines, relation_words
from dpassay.properties.hunting.result import HuntResult, Witness, also_refutes_words, is_target_name
from dpassay.properties.hunting.verdicts import Float64Policy, HuntVerdict
from dpassay.properties.notions.base import decisive_bound
from dpassay.properties.notions.bounds import bounds_text
from dpassay.spec.verdict import Evidence

__all__ = ["claim_expression", "failure_message"]


def failure_message(
    result: HuntResult,
    claim: Claim,
    neighbours: AnyNeighbours,
    *,
    calls: int,
    float64: Float64Policy = Float64Policy.WARN,
    stated: Claim | None = None,
) -> str:
    """Return the report of a claim that is violated, in real arithmetic or in float64.

    Its first line reads ``<quantity> = <value> (certified), but <claim> allows at most <bound> [law(arguments)]``,
    with ``>`` and the level in place of ``=`` and "certified" if the mechanism was sampled.

    Parameters
    ----------
    result : HuntResult
        The result, which refutes the claim.
    claim : Claim
        The claim.
    neighbours : NeighbourRelation
        The relation of the claim.
    calls : int
        The number of calls that the test allowed.
    float64 : Float64Policy
        As for `assert_private`.
    stated : Claim, optional
        The claim for one call, where a session was tested.
    """
    subject = str(claim) if result.session == 1 else f"{claim!s} for {result.session} calls"
    law = f"assert_private({result.target}, {subject}, {relation_words(neighbours)})"
    in_real_arithmetic = result.verdict is HuntVerdict.VIOLATED
    comparison = _comparison(result, claim) if in_real_arithmetic else _comparison_in_float64(result, claim)
    lines = [f"{comparison} [{law}]"]
    if result.witness is not None:
        lines += _witness_lines(result.witness, certified=result.evidence is not Evidence.SAMPLED)
    lines.append(f"bounds: {bounds_text(result.bounds)}")
    lines += float64_lines(result.float64) if result.float64 is not None else []
    lines += [words for words in [also_refutes_words(result)] if words]
    lines.append(f"seed:  {result.seed}, calls: {result.calls}, alpha: {result.alpha:g}")
    if result.snippet is not None:
        lines += [
            "",
            "to replay the witness on fresh samples:",
            *(f"    {line}" for line in result.snippet.splitlines()),
        ]
    lines += ["", *_snippet(result, stated or claim, neighbours, calls, float64=float64)]
    return "\n".join(lines)


def claim_expression(claim: Claim) -> str:
    """Return a claim as a Python expression, such as ``PureDP(1.0)``."""
    if not claim.form:
        return repr(claim)
    return f"{type(claim).__name__}({', '.join(repr(value) for value in vars(claim).values())})"


def _comparison_in_float64(result: HuntResult, claim: Claim) -> str:
    assert result.float64 is not None
    shown = f"{result.float64.epsilon_lower:.5g}"
    return f"epsilon in float64 is at least {shown}, but {claim_expression(claim)} does not allow it"


def _comparison(result: HuntResult, claim: Claim) -> str:
    bound = decisive_bound(claim, result)
    if bound.lower is None or bound.allowed is None:
        proof = "certified" if result.e_value_log10 is None else f"e-value 10^{result.e_value_log10:.1f}"
        return f"{bound.label} ({proof}), but {claim_expression(claim)} forbids it"
    shown, allowed = _apart(bound.lower, bound.allowed, down=result.evidence is Evidence.SAMPLED)
    sampled = result.evidence is Evidence.SAMPLED
    found = f"> {shown} (confidence 1 - {result.alpha:g})" if sampled else f"= {shown} (certified)"
    return f"{bound.label} {found}, but {claim_expression(claim)} allows at most {allowed}"


def _apart(value: float, bound: float, *, down: bool) -> tuple[str, str]:
    """Write two numbers with five digits, or as many as it takes to tell them apart, a sampled bound rounded down."""
    for digits in range(5, 18):
        rounding = Context(prec=digits, rounding=ROUND_FLOOR if down else ROUND_HALF_EVEN)
        shown = float(rounding.create_decimal_from_float(value))
        allowed = float(f"{bound:.{digits}g}")
        if shown > allowed or (down and value == bound):
            break
    return f"{shown:.{digits}g}", f"{allowed:.{digits}g}"


def _witness_lines(witness: Witness, *, certified: bool) -> list[str]:
    kind = "certified" if certified else "95 % interval"
    low, high = witness.p_left
    other_low, other_high = witness.p_right
    return [
        f"left:  {witness.shown[0]}",
        f"right: {witness.shown[1]}",
        f"event: {witness.event}",
        f"probability on the left:  {low:.6g} to {high:.6g} ({kind})",
        f"probability on the right: {other_low:.6g} to {other_high:.6g} ({kind})",
    ]


def _snippet(
    result: HuntResult, claim: Claim, neighbours: AnyNeighbours, calls: int, *, float64: Float64Policy
) -> list[str]:
    module, _, name = result.target.rpartition(":")
    if not is_target_name(result.target):
        mechanism, lines = "mechanism", [f"mechanism = ...  # {result.target}"]
    elif module.endswith(".py") or ":" in module or is_program(result.target):
        mechanism, lines = repr(result.target), []
    else:
        mechanism, lines = name, [f"from {module} import {name.partition('.')[0]}"]
    if isinstance(claim, ExPost):
        lines += ["from dpassay.testing import assert_private", f"claim = ...  # {claim!r}"]
        stated = "claim"
    else:
        lines += [f"from dpassay.claims import {type(claim).__name__}", "from dpassay.testing import assert_private"]
        stated = claim_expression(claim)
    words = relation_words(neighbours)
    relation = repr(words)
    if words.startswith("strategy:"):
        lines, relation = [*lines, f"neighbours = ...  # {words}"], "neighbours"
    arguments = f"level={result.alpha!r}, seed={result.seed}, calls={calls}"
    arguments += "" if float64 is Float64Policy.WARN else f", float64={str(float64)!r}"
    arguments += "" if result.session == 1 else f", session={result.session}"
    return [
        "to repeat the test:",
        *(f"    {line}" for line in lines),
        f"    assert_private({mechanism}, {stated}, {relation}, {arguments})",
    ]
