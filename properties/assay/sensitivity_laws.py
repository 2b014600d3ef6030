"""The law that what is computed moves between neighbours by no more than the noise is made for."""

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ZCDP, PureDP, RenyiDP
from dpassay.impl.libraries.remote import RemoteMechanism, WorkerError
from dpassay.properties.assay.exact_laws import ideal_law
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.mechanism_cases import BITS, bound_of, claim_in_words, mechanism_law, moves
from dpassay.properties.assay.privacy_laws import finding_of_hunt, run_hunt
from dpassay.properties.assay.sensitivity import WidestGap, as_vector, certain_gap, widest_gap
from dpassay.properties.search.figures import allowed
from dpassay.properties.search.pairs import adversarial_pairs
from dpassay.spec.ball import ball, float_lower, precision

__all__ = ["SENSITIVITY_LAWS"]

Array = NDArray[np.float64]

_EVALUATIONS = 600

EXACT_ALLOWANCE, IDEAL_ALLOWANCE = 2.0**-40, 2.0**-20
"""Relative excess over the sensitivity that is put down to rounding, where the library claims privacy for float64
numbers, and where it does not."""


def _sensitivity_condition(case: RemoteMechanism) -> str | None:
    return (
        moves(case) if case.description["noiseless"] else "the interface does not show what is computed without noise"
    )


def _norm(case: RemoteMechanism, data: Array) -> int:
    """Return the norm in which the sensitivity is meant; the smaller one where it is not known."""
    if case.description["law"]:
        return 2 if str(case.law(data).get("family", "")).endswith("gaussian") else 1
    return 1 if isinstance(case.claims[0], PureDP) else 2


def _check_sensitivity(case: RemoteMechanism, settings: Settings) -> Finding:
    ((first, _),) = adversarial_pairs(case.neighbours, seed=settings.seed, limit=1)
    norm = _norm(case, first)
    failures: list[str] = []

    def compute(data: Array) -> Array | None:
        try:
            return as_vector(case.noiseless(data))
        except WorkerError as error:
            failures.append(str(error))
            return None

    found = widest_gap(
        compute,
        case.neighbours,
        norm=norm,
        seed=settings.seed,
        evaluations=min(_EVALUATIONS, settings.calls),
        seconds=settings.seconds / 2,
    )
    stated = float(case.description["sensitivity"])
    if found is None:
        reason = failures[0] if failures else "it is never a number"
        return Finding("undecided", f"what is computed is not known on any pair: {reason}", claim_in_words(case))
    gap, is_deterministic = certain_gap(compute, found, norm=norm)
    slack = EXACT_ALLOWANCE if case.description["floats"] else IDEAL_ALLOWANCE
    if not gap > stated * (1 + slack):
        detail = f"moves by {found.gap:.6g} at most, {stated:.6g} stated ({found.evaluations} inputs)"
        return Finding("ok", detail, None, stated, found.gap, "exact", "points", found.evaluations)
    return _of_gap(case, settings, found, gap, is_deterministic=is_deterministic)


def _of_gap(
    case: RemoteMechanism, settings: Settings, found: WidestGap, gap: float, *, is_deterministic: bool
) -> Finding:
    """Turn a gap that is too wide into a violation where the loss can be certified, else into a wrong answer."""
    left, right = found.pair
    stated = float(case.description["sensitivity"])
    witness = {"left": left.tolist(), "right": right.tolist(), "gap": gap, "sensitivity": stated}
    detail = f"moves by {gap:.6g} between neighbours, but the noise is made for {stated:.6g}"
    evidence = "exact" if is_deterministic else "sampled"
    loss = _loss_of_gap(case, left, gap)
    if loss is not None and is_deterministic:
        bound = bound_of(case.claims[0])
        words = f"{detail}: loss {loss:.6g}, claimed {bound:.6g}"
        return Finding(
            "violation", words, claim_in_words(case), bound, loss, "enclosed", "points", found.evaluations, witness
        )
    result = run_hunt(case, settings, [found.pair], low_bits=False)
    if result.verdict == "violated":
        confirmed = finding_of_hunt(case, settings, result)
        return Finding(
            "violation",
            f"{detail}; {confirmed.detail}",
            confirmed.claim,
            confirmed.claimed,
            confirmed.certified,
            "sampled",
            "samples",
            result.calls,
            witness,
        )
    calls = found.evaluations + result.calls
    return Finding("wrong answer", detail, None, stated, gap, evidence, "points", calls, witness)


def _loss_of_gap(case: RemoteMechanism, data: Array, gap: float) -> float | None:
    """Return the certified loss of a gap under the noise that the library uses, if it exceeds the claim."""
    if not case.description["law"]:
        return None
    law, claim = ideal_law(case.law(data)), case.claims[0]
    scales = {(c.family, c.scale) for c in law.coordinates}
    if len(scales) != 1:
        return None
    ((family, scale),) = scales
    with precision(BITS):
        distance = ball(gap) / ball(scale)
        if family.endswith("laplace") and isinstance(claim, PureDP):
            loss = distance
        elif family == "gaussian" and isinstance(claim, ZCDP):
            loss = distance * distance / 2
        elif family == "gaussian" and isinstance(claim, RenyiDP):
            loss = ball(claim.alpha) * distance * distance / 2
        else:
            return None
        return float_lower(loss) if loss > allowed(claim) else None


SENSITIVITY_LAWS: tuple[Law, ...] = (
    mechanism_law(
        "sensitivity",
        "What is computed moves between neighbours by no more than the noise is made for.",
        _sensitivity_condition,
        _check_sensitivity,
        sampled=True,
    ),
)
