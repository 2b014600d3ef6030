"""Laws about the distribution that a library's own parameters say: samples follow it, and it obeys the claim."""

import math
import time

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import NeighbourRelation
from dpassay.impl.libraries.remote import RemoteMechanism
from dpassay.properties.assay.boundaries import boundary_pairs
from dpassay.properties.assay.exact_laws import DECIDED_CLAIMS, IdealLaw, ideal_law
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.goodness_of_fit import FitTest, joint_evidence
from dpassay.properties.assay.mechanism_cases import (
    bound_of,
    claim_in_words,
    exceeds_claim,
    has_pairs,
    mechanism_law,
    moves,
)
from dpassay.properties.audit.outcomes import CallFailedError, Outcomes, call
from dpassay.properties.records import plain
from dpassay.properties.search.pairs import Pair, adversarial_pairs

__all__ = ["PARAMETER_LAWS"]

Array = NDArray[np.float64]

_FIT_INPUTS = 4
_FIT_BATCH = 16_384
_LEAST_CALLS = 500
_PARAMETER_PAIRS = 32


def _fit_condition(case: RemoteMechanism) -> str | None:
    if not case.description["law"]:
        return "the adapter states no ideal law"
    return None if case.description["exact_law"] else "the library documents that the law is an approximation"


def _check_fit(case: RemoteMechanism, settings: Settings) -> Finding:
    start, rng = time.monotonic(), np.random.default_rng([settings.seed, 7])
    inputs = _fit_inputs(case.neighbours, settings.seed)
    tests = [FitTest(ideal_law(case.law(data))) for data in inputs]
    threshold, evidence = -math.log(settings.alpha), 0.0
    size = min(_FIT_BATCH, max(1, settings.calls // (4 * len(tests))))
    while sum(test.calls for test in tests) + len(tests) * size <= settings.calls:
        for data, test in zip(inputs, tests, strict=True):
            test.enter(_drawn(case, data, size, rng))
        evidence = joint_evidence(tests)
        if evidence >= threshold or time.monotonic() - start > settings.seconds:
            break
    calls = sum(test.calls for test in tests)
    strength = f"e-value 10^{evidence / math.log(10):.1f} in {calls} calls"
    if evidence >= threshold:
        worst = max(range(len(tests)), key=lambda k: joint_evidence([tests[k]]))
        test, data = tests[worst], inputs[worst].tolist()
        detail = f"outcomes do not follow {plain(case.law(inputs[worst]))} ({strength})"
        if test.impossible is not None:
            detail = f"{plain(case.law(inputs[worst]))} cannot give {test.impossible}, seen on {data}"
        witness = {"data": data, "law": plain(case.law(inputs[worst])), "impossible": test.impossible}
        return Finding(
            "wrong answer",
            detail,
            claim_in_words(case),
            evidence="sampled",
            scope="samples",
            calls=calls,
            witness=witness,
        )
    if calls < min(_LEAST_CALLS, settings.calls // 2):
        return Finding("undecided", f"only {calls} calls in {settings.seconds:g} s", claim_in_words(case), calls=calls)
    return Finding("ok", strength, claim_in_words(case), evidence="sampled", scope="samples", calls=calls)


def _fit_inputs(relation: NeighbourRelation, seed: int) -> list[Array]:
    if not has_pairs(relation):  # a law may be of interest on the one input that there is
        return [_only_input(relation)]
    pairs = [*adversarial_pairs(relation, seed=seed, limit=4), *boundary_pairs(relation, seed=seed, limit=2)]
    inputs = {side.tobytes(): side for pair in pairs for side in pair}
    return list(inputs.values())[:_FIT_INPUTS]


def _only_input(relation: NeighbourRelation) -> Array:
    low = relation.low if math.isfinite(relation.low) else min(0.0, relation.high)
    return np.full(relation.size, low)


def _drawn(case: RemoteMechanism, data: Array, size: int, rng: np.random.Generator) -> Outcomes:
    """Draw a batch; a call that raised is an outcome that no law can produce."""
    try:
        return call(case.sample, data, size, rng)
    except CallFailedError as failure:
        return Outcomes.of([failure.symbol])


def _parameters_condition(case: RemoteMechanism) -> str | None:
    if not case.description["law"]:
        return "the adapter states no ideal law"
    if not isinstance(case.claims[0], DECIDED_CLAIMS):
        return f"no certified loss is known for {claim_in_words(case)}"
    return moves(case)


def _check_parameters(case: RemoteMechanism, settings: Settings) -> Finding:
    claim, start = case.claims[0], time.monotonic()
    relative_error = float(case.description["relative_error"])
    laws: dict[bytes, IdealLaw] = {}
    worst: tuple[float, Pair] | None = None
    compared, violated = 0, False
    pairs = [
        *adversarial_pairs(case.neighbours, seed=settings.seed, limit=_PARAMETER_PAIRS),
        *boundary_pairs(case.neighbours, seed=settings.seed, limit=_PARAMETER_PAIRS),
    ]
    for pair in pairs:
        if time.monotonic() - start > settings.seconds:
            break
        for data in pair:
            if data.tobytes() not in laws:
                laws[data.tobytes()] = ideal_law(case.law(data))
        for left, right in (pair, pair[::-1]):
            exceeds, figure = exceeds_claim(claim, laws[left.tobytes()], laws[right.tobytes()], relative_error)
            compared += 1
            if (exceeds, figure) > (violated, -math.inf if worst is None else worst[0]):
                worst, violated = (figure, (left, right)), exceeds
    if worst is None:
        return Finding("undecided", f"nothing compared in {settings.seconds:g} s", claim_in_words(case))
    bound = bound_of(claim)
    if violated:
        return _of_parameters(case, worst[1], worst[0], compared)
    detail = f"{compared} ordered pairs, largest certified {worst[0]:.6g} of {bound:.6g} claimed"
    return Finding("ok", detail, claim_in_words(case), bound, max(0.0, worst[0]), "enclosed", "points", 0)


def _of_parameters(case: RemoteMechanism, pair: Pair, figure: float, compared: int) -> Finding:
    left, right = pair
    witness = {
        "left": left.tolist(),
        "right": right.tolist(),
        "law_left": plain(case.law(left)),
        "law_right": plain(case.law(right)),
    }
    bound = bound_of(case.claims[0])
    detail = (
        f"the laws {witness['law_left']} and {witness['law_right']} of neighbours have the loss {figure:.15g},"
        f" claimed {bound:.15g} ({compared} ordered pairs)"
    )
    return Finding("violation", detail, claim_in_words(case), bound, figure, "enclosed", "points", 0, witness)


PARAMETER_LAWS: tuple[Law, ...] = (
    mechanism_law(
        "law_fits", "Outcomes follow the law that the parameters say.", _fit_condition, _check_fit, sampled=True
    ),
    mechanism_law(
        "claim_follows_from_parameters",
        "The laws that the library's own parameters say on neighbouring inputs obey its claim.",
        _parameters_condition,
        _check_parameters,
        sampled=False,
    ),
)
