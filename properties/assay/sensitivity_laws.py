"""The law of sensitivity: between neighbours the noiseless value changes by at most the stated sensitivity."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import PureDP
from dpassay.impl.libraries.remote import RemoteMechanism
from dpassay.impl.libraries.worker_process import WorkerError
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
from dpassay.properties.assay.sensitivity import WidestGap, as_vector, certain_gap, widest_gap
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
    returned = 0

    def compute(inputs: Sequence[Array]) -> list[Array | None]:
        nonlocal returned
        values = list(case.noiseless_values(inputs))
        raised = [str(value) for value in values if isinstance(value, WorkerError)]
        failures.extend(raised)
        returned += len(values) - len(raised)
        return [None if isinstance(value, WorkerError) else as_vector(value) for value in values]

    found = widest_gap(
        compute,
        case.neighbours,
        norm=norm,
        seed=settings.seed,
        evaluations=min(_EVALUATIONS, settings.calls),
        seconds=settings.seconds / 2,
    )
    stated = float(case.description["sensitivity"])
    if failures and not returned:
        return Finding(FindingKind.ERROR, f"noiseless raises on every input: {failures[0]}", claim_in_words(case))
    if found is None:
        reason = failures[0] if failures else "it is not numeric"
        return Finding(
            FindingKind.UNDECIDED, f"the noiseless value is unknown on every pair: {reason}", claim_in_words(case)
        )
    if found.is_constant:
        detail = f"the noiseless value is equal on all {found.evaluations} inputs"
        return Finding(FindingKind.UNDECIDED, detail, claim_in_words(case), stated, calls=found.evaluations)
    gap, is_deterministic = certain_gap(compute, found, norm=norm)
    slack = EXACT_ALLOWANCE if case.description["floats"] else IDEAL_ALLOWANCE
    if not gap > stated * (1 + slack):
        return _within(found, stated)
    return _of_gap(case, settings, found, gap, is_deterministic=is_deterministic)


def _within(found: WidestGap, stated: float) -> Finding:
    """Return the finding that no change exceeds the stated sensitivity."""
    return Finding(
        FindingKind.OK,
        f"largest change {found.gap:.6g}, stated sensitivity {stated:.6g} ({found.evaluations} inputs)",
        None,
        stated,
        found.gap,
        Evidence.EXACT,
        Scope.POINTS,
        found.evaluations,
        power={"points": found.evaluations},
    )


def _of_gap(
    case: RemoteMechanism, settings: Settings, found: WidestGap, gap: float, *, is_deterministic: bool
) -> Finding:
    """Return a violation if the loss of the gap is certified to exceed the claim, else a wrong answer."""
    left, right = found.pair
    stated = float(case.description["sensitivity"])
    witness = {"left": left.tolist(), "right": right.tolist(), "gap": gap, "sensitivity": stated}
    detail = f"the noiseless value changes by {gap:.6g} between neighbours, but the stated sensitivity is {stated:.6g}"
    evidence = Evidence.EXACT if is_deterministic else Evidence.SAMPLED
    loss = _loss_of_gap(case, left, gap)
    if loss is not None and is_deterministic:
        bound = bound_of(case.claims[0])
        words = f"{detail}: loss {loss:.6g}, claimed {bound:.6g}"
        return Finding(
            FindingKind.VIOLATION,
            words,
            claim_in_words(case),
            bound,
            loss,
            Evidence.ENCLOSED,
            Scope.POINTS,
            found.evaluations,
            witness,
        )
    kind, calls = FindingKind.WRONG_ANSWER, found.evaluations
    suspected = Finding(kind, detail, None, stated, gap, evidence, Scope.POINTS, calls, witness)
    return confirm_on_pair(case, settings, found.pair, suspected)


def _loss_of_gap(case: RemoteMechanism, data: Array, gap: float) -> float | None:
    """Return the certified loss of a gap under the noise of the library if it exceeds the claim, else None."""
    if not case.description["distribution"]:
        return None
    distribution, claim = ideal_distribution(case.distribution(data)), case.claims[0]
    scales = {(c.family, c.scale) for c in distribution.coordinates}
    if len(scales) != 1:
        return None
    ((family, scale),) = scales
    with precision(BITS):
        distance = ball(gap) / ball(scale)
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
