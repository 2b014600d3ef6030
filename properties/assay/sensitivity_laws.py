"""The law of sensitivity: between neighbours the noiseless value changes by at most the stated sensitivity."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import PureDP
from dpassay.impl.libraries.remote import RemoteMechanism
from dpassay.impl.libraries.worker_process import WorkerError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.ideal_distributions import ideal_distribution, is_decided
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.mechanism_cases import (
    BITS,
    bound_of,
    claim_in_words,
    exceeds_claim,
    mechanism_law,
    moves,
)
from dpassay.properties.assay.privacy_laws import confirm_on_pair
from dpassay.properties.assay.sensitivity import (
    Breach,
    Compute,
    Value,
    WidestGap,
    as_vector,
    certain_gap,
    is_certain,
    widest_gap,
)
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.spec.ball import ball, float_lower, precision
from dpassay.spec.notions.base import allowed
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["SENSITIVITY_LAWS"]

Array = NDArray[np.float64]

_EVALUATIONS = 600
"""Evaluations of a function in the search for its sensitivity."""


EXACT_ALLOWANCE, IDEAL_ALLOWANCE = 2.0**-40, 2.0**-20
"""Relative excess over the sensitivity that counts as rounding, if the library claims privacy of its float64
numbers, and if it does not."""

_ENDLESS = frozenset({"laplace", "discrete laplace", "gaussian"})
_FAR = 2.0**40
"""Scales of noise that stand for an infinite distance, whose loss is at least that of any finite one."""


def _sensitivity_condition(case: RemoteMechanism) -> str | None:
    return moves(case) if case.description["noiseless"] else "the interface does not expose the noiseless value"


def _norm(case: RemoteMechanism, data: Array) -> int:
    """Return the norm of the sensitivity, 1 or 2."""
    if case.description["distribution"]:
        return 2 if str(case.distribution(data).get("family", "")).endswith("gaussian") else 1
    return 1 if isinstance(case.claims[0], PureDP) else 2


def _check_sensitivity(case: RemoteMechanism, settings: Settings) -> Finding:
    ((first, _),) = adversarial_pairs(case.neighbours, seed=settings.seed, limit=1)
    norm = _norm(case, first)
    failures: list[str] = []
    mistakes: list[str] = []
    returned = 0

    def compute(inputs: Sequence[Array]) -> list[Value]:
        nonlocal returned
        values = list(case.noiseless_values(inputs))
        raised = [value for value in values if isinstance(value, WorkerError)]
        failures.extend(map(str, raised))
        mistakes.extend(str(error) for error in raised if error.is_own)
        returned += len(values) - len(raised)
        return [_raised(value) if isinstance(value, WorkerError) else as_vector(value) for value in values]

    found = widest_gap(
        compute,
        case.neighbours,
        norm=norm,
        seed=settings.seed,
        evaluations=min(_EVALUATIONS, settings.calls),
        seconds=settings.seconds / 2,
    )
    words = claim_in_words(case)
    if failures and not returned:
        return Finding(FindingKind.ERROR, f"noiseless raises on every input: {failures[0]}", words)
    fault, doubts = _fault(case, settings, found, compute)
    if fault is not None:
        return fault
    if found.lost is not None:
        raise found.lost
    if mistakes:
        return Finding(FindingKind.ERROR, f"the code of the adapter raises: {mistakes[0]}", words)
    if found.pair is None:
        reason = failures[0] if failures else "it is not numeric"
        doubts.append(f"the noiseless value is unknown, or the same infinity or NaN, on every pair: {reason}")
    elif found.is_constant:
        doubts.append(f"the noiseless value is equal on all {found.evaluations} inputs")
    stated = float(case.description["sensitivity"])
    if doubts:
        detail = f"{doubts[0]} ({_count(found)})"
        return Finding(FindingKind.UNDECIDED, detail, words, stated, calls=found.evaluations)
    return _within(found, stated)


def _fault(
    case: RemoteMechanism, settings: Settings, found: WidestGap, compute: Compute
) -> tuple[Finding | None, list[str]]:
    """Return the fault that a search has found, an infinite gap before a finite one; and what it leaves uncertain.

    A gap that cannot be computed again, because the worker is lost, is undecided for good.
    """
    stated, doubts = float(case.description["sensitivity"]), list[str]()
    try:
        infinite = _of_breaches(case, settings, found, compute)
        if infinite is not None:
            return infinite, doubts
        if found.breaches:
            doubts.append(f"the noiseless value is {found.breaches[0].words}, but not each time that it is computed")
        if found.pair is None:
            return None, doubts
        certain = certain_gap(compute, found.pair, found.gap, norm=_norm(case, found.pair[0]))
    except SamplerLostError as error:
        allowance = stated * (1 + IDEAL_ALLOWANCE)
        if not found.breaches and not found.gap > allowance:
            raise
        seen = f"is {found.breaches[0].words}" if found.breaches else f"changes by {found.gap:.6g} between neighbours"
        detail = (
            f"the noiseless value {seen}, the stated sensitivity is {stated:.6g}, and it was not asked again: {error}"
        )
        kind, words, calls = FindingKind.UNDECIDED, claim_in_words(case), found.evaluations
        return Finding(kind, detail, words, stated, calls=calls, is_lasting=True), doubts
    slack = EXACT_ALLOWANCE if case.description["floats"] else IDEAL_ALLOWANCE
    if certain.lower > stated * (1 + slack):
        return _of_gap(case, settings, found, certain.lower, is_deterministic=certain.is_deterministic), doubts
    if not certain.is_deterministic and not certain.upper <= stated * (1 + IDEAL_ALLOWANCE):
        doubts.insert(
            0,
            f"computed again, the noiseless value changes by {certain.lower:.6g} to {certain.upper:.6g} "
            f"between neighbours, and the stated sensitivity is {stated:.6g}",
        )
    return None, doubts


def _raised(error: WorkerError) -> str | None:
    """Return the name of what the library raised; None if it was the adapter, whose mistake tells nothing."""
    return None if error.is_own or error.is_unasked else error.type


def _count(found: WidestGap) -> str:
    """Return the numbers of pairs and inputs in words."""
    of_all = "" if found.compared == found.pairs else f" of {found.pairs}"
    return f"{found.compared}{of_all} pairs compared, {found.evaluations} inputs"


def _within(found: WidestGap, stated: float) -> Finding:
    """Return the finding that no change exceeds the stated sensitivity."""
    return Finding(
        FindingKind.OK,
        f"largest change {found.gap:.6g}, stated sensitivity {stated:.6g} ({_count(found)})",
        None,
        stated,
        found.gap,
        Evidence.EXACT,
        Scope.POINTS,
        found.evaluations,
        power={"points": found.compared},
    )


def _of_breaches(case: RemoteMechanism, settings: Settings, found: WidestGap, compute: Compute) -> Finding | None:
    """Return the finding of the first breach that is the same each time, values before exceptions; None if none is."""
    for breach in sorted(found.breaches, key=lambda one: not one.is_value):
        if is_certain(compute, breach):
            return _of_breach(case, settings, found, breach)
    return None


def _of_breach(case: RemoteMechanism, settings: Settings, found: WidestGap, breach: Breach) -> Finding:
    """Return a violation if the noise is known or samples confirm it; else a wrong answer, undecided without values.

    Where the library raises without noise only, that may be due to how the adapter turns the noise off.
    """
    left, right = breach.pair
    stated = float(case.description["sensitivity"])
    witness = {"left": left.tolist(), "right": right.tolist(), "gap": math.inf, "sensitivity": stated}
    detail = f"the noiseless value is {breach.words} of two neighbours, but the stated sensitivity is {stated:.6g}"
    losses = [_loss_of_gap(case, side, math.inf) for side in breach.pair] if breach.is_value else []
    if any(loss is not None for loss in losses):
        loss = max(loss for loss in losses if loss is not None)
        return _violation(case, found, detail, loss, witness)
    calls = found.evaluations
    if breach.is_value:
        kind, evidence, scope = FindingKind.WRONG_ANSWER, Evidence.EXACT, Scope.POINTS
        suspected = Finding(kind, detail, None, stated, math.inf, evidence, scope, calls, witness)
    else:
        words = f"{detail}, which samples do not show ({_count(found)})"
        kind, claim = FindingKind.UNDECIDED, claim_in_words(case)
        suspected = Finding(kind, words, claim, stated, calls=calls, witness=witness, is_lasting=True)
    return confirm_on_pair(case, settings, breach.pair, suspected)


def _violation(
    case: RemoteMechanism, found: WidestGap, detail: str, loss: float, witness: dict[str, object]
) -> Finding:
    """Return a violation with a certified loss."""
    bound = bound_of(case.claims[0])
    return Finding(
        FindingKind.VIOLATION,
        f"{detail}: loss {loss:.6g}, claimed {bound:.6g}",
        claim_in_words(case),
        bound,
        loss,
        Evidence.ENCLOSED,
        Scope.POINTS,
        found.evaluations,
        witness,
    )


def _of_gap(
    case: RemoteMechanism, settings: Settings, found: WidestGap, gap: float, *, is_deterministic: bool
) -> Finding:
    """Return a violation if the loss of the gap is certified to exceed the claim, else a wrong answer."""
    assert found.pair is not None
    left, right = found.pair
    stated = float(case.description["sensitivity"])
    witness = {"left": left.tolist(), "right": right.tolist(), "gap": gap, "sensitivity": stated}
    detail = f"the noiseless value changes by {gap:.6g} between neighbours, but the stated sensitivity is {stated:.6g}"
    evidence = Evidence.EXACT if is_deterministic else Evidence.SAMPLED
    loss = _loss_of_gap(case, left, gap)
    if loss is not None and is_deterministic:
        return _violation(case, found, detail, loss, witness)
    kind, calls = FindingKind.WRONG_ANSWER, found.evaluations
    suspected = Finding(kind, detail, None, stated, gap, evidence, Scope.POINTS, calls, witness)
    return confirm_on_pair(case, settings, found.pair, suspected)


def _loss_of_gap(case: RemoteMechanism, data: Array, gap: float) -> float | None:
    """Return the certified loss of a gap under the noise of the library if it exceeds the claim, else None."""
    if not case.description["distribution"]:
        return None
    claim = case.claims[0]
    try:
        distribution = ideal_distribution(case.distribution(data))
    except (WorkerError, UsageError):  # as where its location is not finite
        if math.isfinite(gap):
            raise
        return None
    scales = {(c.family, c.scale) for c in distribution.coordinates}
    has_ends = any(c.family not in _ENDLESS for c in distribution.coordinates)
    if len(scales) != 1 or (has_ends and math.isinf(gap)):  # an end may hide an infinity
        return None
    ((family, scale),) = scales
    with precision(BITS):
        distance = ball(gap) / ball(scale) if math.isfinite(gap) else ball(_FAR)
        if family == "gaussian" and is_decided(claim):  # the noise looks the same in every direction
            here, there = ({"family": family, "location": at, "scale": 1.0} for at in (0.0, float_lower(distance)))
            exceeds, certified = exceeds_claim(claim, ideal_distribution(here), ideal_distribution(there))
            return certified if exceeds else None
        if not (family.endswith("laplace") and isinstance(claim, PureDP)):
            return None
        loss = distance
        return float_lower(loss) if loss > allowed(claim) else None


SENSITIVITY_LAWS: tuple[Law, ...] = (
    mechanism_law(
        "sensitivity",
        "Between neighbours the noiseless value changes by at most the stated sensitivity.",
        _sensitivity_condition,
        _check_sensitivity,
        sampled=True,
        turn=Turn.COMPUTED,
    ),
)
