"""The law of traced privacy: the exact loss of all noise in an outcome, on neighbours, obeys the claim.

A replay tells what reaches each noise primitive on both inputs, and the distribution of its noise. Where the outcome
determines the outputs of all primitives and no output is read by a later one, the loss of the pair is that of
independent noises: the sum of the largest losses for pure DP, and an enclosed delta or rho, by exact composition, for
the others. The law `replay` adds up the declared budgets; this one certifies the loss, whatever is declared.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.adapter import Raised
from dpassay.claims import ZCDP, ApproximateDP, Claim, PureDP
from dpassay.impl.libraries.remote import RemoteMechanism
from dpassay.properties.assay.families import COMPUTED
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.mechanism_cases import (
    NoiseLoss,
    bound_of,
    claim_in_words,
    loss_of_noise,
    mechanism_law,
    moves,
)
from dpassay.properties.assay.replay_laws import SHIFTS, compare_runs, replayed_pairs
from dpassay.properties.assay.replayed_noise import ROUNDING, does_not_adapt, moved_noise
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.notions.bounds import words_above, words_below
from dpassay.spec.notions.base import find_notion
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["TRACED_LAWS"]


@dataclass(frozen=True)
class _Traced:
    """The loss of a pair up to rounding, and an upper bound without rounding."""

    pair: Pair
    loss: NoiseLoss
    upper: float


def _condition(case: RemoteMechanism) -> str | None:
    if not case.description["replayed"]:
        return "the adapter names no noise primitives"
    if not case.description["releases_noise"]:
        return "the outcome does not determine the outputs of the noise"
    if find_notion(case.claims[0]).of_noise_upper is None:
        return "the loss of noise is not enclosed for this notion"
    return moves(case)


def _check_traced(case: RemoteMechanism, settings: Settings) -> Finding:
    pairs = replayed_pairs(case, settings)
    replays, calls = case.replay(pairs, SHIFTS), 2 * len(pairs) * len(SHIFTS)
    if not any(run[side][0] for run in replays for side in ("left", "right")):
        return Finding(
            FindingKind.NOT_APPLICABLE, "no run reaches a noise primitive", claim_in_words(case), calls=calls
        )
    traced = [
        _trace(case.claims[0], pair, replays[number * len(SHIFTS) : (number + 1) * len(SHIFTS)])
        for number, pair in enumerate(pairs)
    ]
    known = [one for one in traced if isinstance(one, _Traced)]
    unknown = [one for one in traced if isinstance(one, str)]
    unsettled = [one for one in known if one.loss.exceeds] or [one for one in known if not one.loss.is_allowed]
    if unsettled:
        return _finding(case, max(unsettled, key=lambda one: one.loss.lower), calls)
    if unknown:
        reason = f"{len(unknown)} of {len(pairs)} pairs are not traced: {unknown[0]}"
        return Finding(FindingKind.NOT_APPLICABLE, reason, claim_in_words(case), calls=calls)
    # scales that are equal up to rounding have no upper bound without it
    largest = max(one.loss.upper if one.upper == math.inf else one.upper for one in known)
    return Finding(
        FindingKind.OK,
        f"{len(pairs)} pairs traced: {_words(case.claims[0], 'at most', words_above(largest, 6))}",
        claim_in_words(case),
        bound_of(case.claims[0]),
        largest,
        Evidence.ENCLOSED,
        Scope.POINTS,
        calls,
        power={"points": len(known)},
    )


def _trace(claim: Claim, pair: Pair, runs: Sequence[dict[str, Any]]) -> _Traced | str:
    """Return the loss of a pair, or the reason why the replays do not tell it."""
    if any(isinstance(run[side][1], Raised) for run in runs for side in ("left", "right")):
        return "a run raises"
    if not does_not_adapt(runs):
        return "what reaches the noise depends on other noise"
    calls = runs[0]["left"][0], runs[0]["right"][0]
    moved, whole = moved_noise(*calls), moved_noise(*calls, upper=True)
    if whole is None:
        return "the distribution of the noise is not known, or the numbers of its calls differ"
    most = loss_of_noise(claim, whole, float(ROUNDING))
    if moved is None:  # known from above only
        loss = NoiseLoss(0.0, most.upper, exceeds=False, is_allowed=most.is_allowed)
        if not loss.is_allowed:
            return "the loss of the noise is known from above only, and not enough"
    else:
        loss = loss_of_noise(claim, moved, float(ROUNDING))
    has_faults = any(compare_runs(tuple(one["left"]), tuple(one["right"])).faults for one in runs)
    if has_faults and not loss.exceeds:
        return "the outcome depends on the data in other ways than by its noise"
    return _Traced(pair, loss, most.upper)


def _finding(case: RemoteMechanism, worst: _Traced, calls: int) -> Finding:
    """Return a violation, or an undecided finding if the claim lies between the bounds."""
    claim, loss = case.claims[0], worst.loss
    left, right = worst.pair
    words = _words(claim, "at least", words_below(loss.lower, 6))
    if not loss.exceeds:
        words += f", {_words(claim, 'at most', words_above(loss.upper, 6))}"
    return Finding(
        FindingKind.VIOLATION if loss.exceeds else FindingKind.UNDECIDED,
        f"{words}, claimed {bound_of(claim):.6g}",
        claim_in_words(case),
        bound_of(claim),
        loss.lower,
        Evidence.ENCLOSED,
        Scope.POINTS,
        calls,
        {"left": left.tolist(), "right": right.tolist()},
    )


def _words(claim: Claim, relation: str, loss: str) -> str:
    """Return a bound on a loss in words."""
    if isinstance(claim, ApproximateDP):
        return f"a delta of {relation} {loss} at epsilon {float(claim.epsilon):.6g}"
    names: dict[type[Claim], str] = {PureDP: "an epsilon", ZCDP: "a rho"}
    return f"{names[type(claim)]} of {relation} {loss}"


TRACED_LAWS: tuple[Law, ...] = (
    mechanism_law(
        "traced_privacy",
        "The noise in an outcome, composed exactly on neighbours, loses no more than is claimed.",
        _condition,
        _check_traced,
        sampled=False,
        asking=COMPUTED,
        turn=Turn.FIRST,
    ),
)
