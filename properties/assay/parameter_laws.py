"""Laws of the distribution that the parameters of a library state: samples follow it, and it obeys the claim."""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.libraries.remote import RemoteMechanism
from dpassay.neighbours import NeighbourRelation
from dpassay.properties.assay.boundaries import boundary_pairs
from dpassay.properties.assay.families import FITTED
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.fit_power import WEAK_DISTORTION
from dpassay.properties.assay.goodness_of_fit import FitTest, joint_evidence, joint_power
from dpassay.properties.assay.ideal_distributions import ideal_distribution, is_decided
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.mechanism_cases import (
    bound_of,
    claim_in_words,
    exceeds_claim,
    has_pairs,
    mechanism_law,
    moves,
)
from dpassay.properties.assay.privacy_laws import confirm_on_pairs
from dpassay.properties.hunting.idle import EveryCallRaisesError, exception_of
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import CallFailedError, call
from dpassay.properties.records import plain
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["PARAMETER_LAWS"]

Array = NDArray[np.float64]

_FIT_INPUTS = 4
"""Inputs on which the distribution is tested: more find faults that depend on the data and share the calls."""

_FIT_BATCH = 16_384
"""Outcomes in one batch at most."""

_PARAMETER_PAIRS, _FAMILY_PAIRS = 32, 12
"""Pairs, designed and at boundaries, on which the stated parameters are compared with the claim; at each parameter of
a family fewer, so that more parameters are compared."""

_HUNTED_PAIRS = 4
"""Pairs on which a mechanism with a wrong distribution is hunted: fewer have more of the outcomes each."""

_NEARLY_CERTAIN = 0.99
"""An input on which one symbol has more than this probability is passed over: outcomes there say little."""


def _fit_condition(case: RemoteMechanism) -> str | None:
    if not case.description["distribution"]:
        return "the adapter states no ideal distribution"
    return (
        None
        if case.description["distribution_is_exact"]
        else "the library documents that the distribution is an approximation"
    )


def _check_fit(case: RemoteMechanism, settings: Settings) -> Finding:
    start, rng = time.monotonic(), np.random.default_rng([settings.seed, 7])
    inputs = _fit_inputs(case, settings.seed)
    tests = [FitTest(ideal_distribution(case.distribution(data))) for data in inputs]
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
    if calls and all(test.only_failures for test in tests):
        raise EveryCallRaisesError(f"every call raises: {exception_of(case.sampler, inputs[0])}")
    if evidence >= threshold:
        return _or_violation(case, settings, _misfit(case, inputs, tests, strength))
    distortion = joint_power(tests, settings.alpha)
    if distortion > WEAK_DISTORTION:
        least = "no distortion" if math.isinf(distortion) else f"no total variation below {distortion:.3g}"
        detail = f"weak test: {least} is detectable in {calls} calls"
        return Finding(FindingKind.UNDECIDED, detail, claim_in_words(case), calls=calls, is_weak=True)
    return Finding(
        FindingKind.OK,
        f"{strength}; power: total variation {distortion:.3g}",
        claim_in_words(case),
        evidence=Evidence.SAMPLED,
        scope=Scope.SAMPLES,
        calls=calls,
        power={"total_variation": distortion, "weakness": distortion / WEAK_DISTORTION, "inputs": len(tests)},
    )


def _misfit(case: RemoteMechanism, inputs: Sequence[Array], tests: Sequence[FitTest], strength: str) -> Finding:
    """Return the finding that outcomes do not follow the distribution, on the input where that is clearest."""
    worst = max(range(len(tests)), key=lambda k: joint_evidence([tests[k]]))
    test, data = tests[worst], inputs[worst].tolist()
    stated = plain(case.distribution(inputs[worst]))
    detail = f"outcomes do not follow {stated} ({strength})"
    if test.impossible is not None:
        detail = f"{stated} cannot produce {test.impossible}, observed on {data}"
    return Finding(
        FindingKind.WRONG_ANSWER,
        detail,
        claim_in_words(case),
        evidence=Evidence.SAMPLED,
        scope=Scope.SAMPLES,
        calls=sum(one.calls for one in tests),
        witness={"data": data, "distribution": stated, "impossible": test.impossible},
    )


def _or_violation(case: RemoteMechanism, settings: Settings, wrong: Finding) -> Finding:
    """Return a wrong distribution as a violation, if a hunt with as many outcomes refutes the claim."""
    if not settings.confirms or not has_pairs(case.neighbours):
        return wrong
    pairs = adversarial_pairs(case.neighbours, seed=settings.seed, limit=_HUNTED_PAIRS)
    return confirm_on_pairs(case, settings, pairs, wrong)


def _fit_inputs(case: RemoteMechanism, seed: int) -> list[Array]:
    """Return two inputs of the first pair, then preferably inputs with a new, uncertain distribution."""
    relation = case.neighbours
    if not has_pairs(relation):  # goodness of fit can be tested on a single input
        return [_only_input(relation)]
    pairs = [
        *adversarial_pairs(relation, seed=seed, limit=_PARAMETER_PAIRS),
        *boundary_pairs(relation, seed=seed, limit=2),
    ]
    inputs = list({side.tobytes(): side for pair in pairs for side in pair}.values())
    chosen, distributions = inputs[:2], [case.distribution(data) for data in inputs[:2]]
    passed_over = list[Array]()
    for data in inputs[2:]:
        if len(chosen) == _FIT_INPUTS:
            break
        distribution = case.distribution(data)
        (passed_over if distribution in distributions or _is_nearly_certain(distribution) else chosen).append(data)
        distributions.append(distribution)
    return [*chosen, *passed_over][:_FIT_INPUTS]


def _is_nearly_certain(distribution: dict[str, Any]) -> bool:
    """Return whether one outcome has nearly all of the probability, as that to keep a partition of very many has."""
    weights = [float(weight) for weight in distribution.get("probabilities", ())]
    return bool(weights) and max(weights) > _NEARLY_CERTAIN * sum(weights)


def _only_input(relation: NeighbourRelation) -> Array:
    low = relation.low if math.isfinite(relation.low) else min(0.0, relation.high)
    return np.full(relation.size, low)


def _drawn(case: RemoteMechanism, data: Array, size: int, rng: np.random.Generator) -> Outcomes:
    """Draw a batch, call by call if calls together raise; no ideal distribution produces a call that raised."""
    try:
        return call(case.sample, data, size, rng)
    except CallFailedError:
        return call(case.sample_one_by_one, data, size, rng)


def _parameters_condition(case: RemoteMechanism) -> str | None:
    if not case.description["distribution"]:
        return "the adapter states no ideal distribution"
    if not is_decided(case.claims[0]):
        return f"no certified loss is known for {claim_in_words(case)}"
    return moves(case)


def _check_parameters(case: RemoteMechanism, settings: Settings) -> Finding:
    claim, start = case.claims[0], time.monotonic()
    relative_error = float(case.description["relative_error"])
    worst: tuple[float, Pair] | None = None
    compared, violated = 0, False
    limit = _PARAMETER_PAIRS if settings.confirms else _FAMILY_PAIRS
    pairs = [
        *adversarial_pairs(case.neighbours, seed=settings.seed, limit=limit),
        *boundary_pairs(case.neighbours, seed=settings.seed, limit=limit),
    ]
    inputs = {side.tobytes(): side for pair in pairs for side in pair}
    stated = zip(inputs, case.distributions(list(inputs.values())), strict=True)
    distributions = {key: ideal_distribution(distribution) for key, distribution in stated}
    for pair in pairs:
        if time.monotonic() - start > settings.seconds:
            break
        for left, right in (pair, pair[::-1]):
            exceeds, figure = exceeds_claim(
                claim, distributions[left.tobytes()], distributions[right.tobytes()], relative_error
            )
            compared += 1
            if (exceeds, figure) > (violated, -math.inf if worst is None else worst[0]):
                worst, violated = (figure, (left, right)), exceeds
    if bound_of(claim) > 0 and compared and len(set(map(repr, distributions.values()))) == 1:
        return Finding(
            FindingKind.UNDECIDED,
            f"the adapter states the same distribution on all {len(distributions)} inputs",
            claim_in_words(case),
        )
    if worst is None:
        return Finding(FindingKind.UNDECIDED, f"no pair was compared in {settings.seconds:g} s", claim_in_words(case))
    bound = bound_of(claim)
    if violated:
        return _of_parameters(case, worst[1], worst[0], compared)
    detail = f"{compared} ordered pairs, largest certified {worst[0]:.6g} of {bound:.6g} claimed"
    certified, power = max(0.0, worst[0]), {"points": compared}
    return Finding(
        FindingKind.OK, detail, claim_in_words(case), bound, certified, Evidence.ENCLOSED, Scope.POINTS, 0, power=power
    )


def _of_parameters(case: RemoteMechanism, pair: Pair, figure: float, compared: int) -> Finding:
    left, right = pair
    witness = {
        "left": left.tolist(),
        "right": right.tolist(),
        "distribution_left": plain(case.distribution(left)),
        "distribution_right": plain(case.distribution(right)),
    }
    bound = bound_of(case.claims[0])
    detail = (
        f"the distributions {witness['distribution_left']} and {witness['distribution_right']} on neighbours have "
        f"loss {figure:.15g}, claimed {bound:.15g} ({compared} ordered pairs)"
    )
    return Finding(
        FindingKind.VIOLATION, detail, claim_in_words(case), bound, figure, Evidence.ENCLOSED, Scope.POINTS, 0, witness
    )


PARAMETER_LAWS: tuple[Law, ...] = (
    mechanism_law(
        "goodness_of_fit",
        "Outcomes follow the distribution that the parameters state.",
        _fit_condition,
        _check_fit,
        sampled=True,
        asking=FITTED,
        turn=Turn.FITTED,
    ),
    mechanism_law(
        "claim_follows_from_parameters",
        "The distributions that the parameters state on neighbouring inputs obey the claim of the library.",
        _parameters_condition,
        _check_parameters,
        sampled=False,
        turn=Turn.FIRST,
    ),
)
