"""How a violated claim is reported: one template, the two inputs, the event, and what to paste."""

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
from dpassay.properties.search.result import HuntResult, Witness
from dpassay.properties.search.words import claim_words, relation_words

__all__ = ["bounded_quantity", "claim_expression", "failure_message"]


def failure_message(
    result: HuntResult, claim: Claim, neighbours: NeighbourRelation, *, calls: int, low_bits: bool = True
) -> str:
    """Return the report of a violated claim.

    Its first line reads ``<quantity> = <value> (certified), but <claim> allows at most <bound> [law(arguments)]``,
    with ``>=`` and the level in place of ``=`` and "certified" if the mechanism was sampled.
    """
    law = f"assert_private({result.target}, {claim_words(claim)}, {relation_words(neighbours)})"
    lines = [f"{_comparison(result, claim)} [{law}]"]
    if result.witness is not None:
        lines += _witness_lines(result.witness, certified=result.evidence != "sampled")
    lines.append(f"seed:  {result.seed}, calls: {result.calls}, alpha: {result.alpha:g}")
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
    sampled = result.evidence == "sampled"
    found = f">= {value:.5g} (confidence 1 - {result.alpha:g})" if sampled else f"= {value:.5g} (certified)"
    return f"{quantity} {found}, but {claim_expression(claim)} allows at most {bound:g}"


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
        case ApproximateDP(epsilon, delta) | ProbabilisticDP(epsilon, delta) if certified:
            return f"delta at epsilon {epsilon:g}", result.delta_lower, delta
        case ApproximateDP(epsilon, delta) | ProbabilisticDP(epsilon, delta):
            return f"epsilon at delta {delta:g}", result.epsilon_lower, epsilon
        case ZCDP(rho):
            return "rho", result.rho_lower, rho
        case RenyiDP(alpha, epsilon):
            return f"Renyi divergence of order {alpha:g}", result.renyi_epsilon_lower, epsilon
        case ApproximateZCDP() | ConcentratedDP():
            return "hockey-stick divergence above the curve that the claim implies", None, 0.0
        case ExPost():
            return "privacy loss above its ex-post bound", None, 0.0


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
    module, _, name = result.target.partition(":")
    importable = name.isidentifier() and all(part.isidentifier() for part in module.split("."))
    lines = [f"from {module} import {name}"] if importable else [f"mechanism = ...  # {result.target}"]
    mechanism = name if importable else "mechanism"
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
