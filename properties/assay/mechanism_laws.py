"""Laws for mechanisms: the claim of the library, put to the test in every way that the adapter's words allow.

What is sampled is refuted by e-values at the law's share of the level; what follows from the parameters that the
library really uses is certified. All laws that sample take their calls from the settings, and stop at the ceiling of
time.
"""

import functools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import (
    ZCDP,
    BoundedRange,
    Claim,
    NeighbourRelation,
    PureDP,
    RenyiDP,
    SamplerLostError,
    UsageError,
    VectorNeighbours,
)
from dpassay.impl.libraries.remote import RemoteCase, RemoteMechanism, WorkerError
from dpassay.properties.assay.boundaries import boundary_pairs
from dpassay.properties.assay.exact_laws import DECIDED_CLAIMS, IdealLaw, ideal_law, ideal_loss
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.goodness_of_fit import FitTest, joint_evidence
from dpassay.properties.assay.sensitivity import WidestGap, as_vector, certain_gap, widest_gap
from dpassay.properties.audit.outcomes import CallFailedError, Outcomes, Sampler, call
from dpassay.properties.checks.failure import bounded_quantity
from dpassay.properties.records import plain
from dpassay.properties.search.black_box import sample_pairs
from dpassay.properties.search.figures import ALLOWANCE, allowed
from dpassay.properties.search.pairs import Pair, adversarial_pairs, are_neighbours
from dpassay.properties.search.result import HuntResult
from dpassay.properties.search.task import Task
from dpassay.properties.search.words import claim_words
from dpassay.spec.ball import ball, float_lower, precision

__all__ = ["MECHANISM_LAWS"]

Array = NDArray[np.float64]
Check = Callable[[RemoteMechanism, Settings], Finding]

_DESIGNED, _BOUNDARY = 32, 16
"""Pairs that are played on: each has an equal share of the level."""

MOST_COORDINATES = 20
_FIT_INPUTS = 4
_FIT_BATCH = 16_384
_LEAST_CALLS = 500
_PARAMETER_PAIRS = 32
_EVALUATIONS = 600
_BITS = 128

EXACT_ALLOWANCE, IDEAL_ALLOWANCE = 2.0**-40, 2.0**-20
"""Relative excess over the sensitivity that is put down to rounding, where the library claims privacy for float64
numbers, and where it does not."""


def _is_mechanism(case: RemoteCase) -> str | None:
    return None if isinstance(case, RemoteMechanism) else "not a mechanism"


def _law(
    name: str, sentence: str, condition: Callable[[RemoteMechanism], str | None], check: Check, *, sampled: bool
) -> Law:
    def applies(case: RemoteCase) -> str | None:
        return condition(case) if isinstance(case, RemoteMechanism) else _is_mechanism(case)

    @functools.wraps(check)
    def guarded(case: RemoteCase, settings: Settings) -> Finding:
        assert isinstance(case, RemoteMechanism)
        try:
            return check(case, settings)
        except SamplerLostError as error:
            return Finding("undecided", str(error), claim=_claim(case))
        except (WorkerError, UsageError) as error:
            return Finding("undecided", f"{type(error).__name__}: {error}", claim=_claim(case))

    return Law(name, sentence, applies, guarded, sampled=sampled)


def _claim(case: RemoteMechanism) -> str:
    return claim_words(case.claims[0])


def _moves(case: RemoteMechanism) -> str | None:
    return None if _has_pairs(case.neighbours) else "no two different inputs are neighbours"


def _has_pairs(relation: NeighbourRelation) -> bool:
    try:
        adversarial_pairs(relation, seed=0, limit=1)
    except UsageError:
        return False
    return True


# --- privacy ------------------------------------------------------------------------------------------------


def _pairs(relation: NeighbourRelation, seed: int) -> list[Pair]:
    """Return the designed pairs and boundary inputs, each once."""
    designed = adversarial_pairs(relation, seed=seed, limit=_DESIGNED)
    known = {frozenset({left.tobytes(), right.tobytes()}) for left, right in designed}
    extra = [
        pair
        for pair in boundary_pairs(relation, seed=seed, limit=_BOUNDARY)
        if frozenset({pair[0].tobytes(), pair[1].tobytes()}) not in known
    ]
    return [*designed, *extra]


def _hunt(
    case: RemoteMechanism,
    settings: Settings,
    pairs: list[Pair],
    *,
    low_bits: bool,
    sampler: Sampler | None = None,
) -> HuntResult:
    task = Task(
        case,
        case.claims[0],
        case.neighbours,
        settings.alpha,
        settings.seed,
        settings.calls,
        settings.seconds,
        own_claim=True,
        low_bits=low_bits,
    )
    return sample_pairs(task, sampler if sampler is not None else case.sample, pairs)


def _of_hunt(case: RemoteMechanism, settings: Settings, result: HuntResult, note: str = "") -> Finding:
    claim = case.claims[0]
    what, certified, claimed = bounded_quantity(result, claim)
    strength = f"e-value 10^{result.e_value_log10 or 0.0:.1f}"
    if result.verdict == "violated":
        figure = f"{what} >= {certified:.6g}, claimed {claimed:.6g}" if certified is not None else what
        detail = f"{figure} ({strength} in {result.calls} calls{note})"
        witness = plain(result.witness) if result.witness is not None else None
        return Finding(
            "violation", detail, _claim(case), claimed, certified, "sampled", "samples", result.calls, witness
        )
    if result.calls < min(_LEAST_CALLS, settings.calls):
        detail = f"only {result.calls} calls in {settings.seconds:g} s"
        return Finding("undecided", detail, _claim(case), claimed, calls=result.calls)
    detail = f"not refuted in {result.calls} calls ({strength}){note}"
    return Finding("ok", detail, _claim(case), claimed, certified, "sampled", "samples", result.calls)


def _check_privacy(case: RemoteMechanism, settings: Settings) -> Finding:
    pairs = _pairs(case.neighbours, settings.seed)
    return _of_hunt(case, settings, _hunt(case, settings, pairs, low_bits=False))


def _check_float_privacy(case: RemoteMechanism, settings: Settings) -> Finding:
    pairs = _pairs(case.neighbours, settings.seed)
    return _of_hunt(case, settings, _hunt(case, settings, pairs, low_bits=True), ", lowest bits included")


def _float_condition(case: RemoteMechanism) -> str | None:
    return _moves(case) if case.description["floats"] else "the library does not claim privacy for the float64 numbers"


def _check_coordinates(case: RemoteMechanism, settings: Settings) -> Finding:
    """Hunt on each marginal by itself, with the pairs that move its coordinate first."""
    width = _width(case, settings)
    if width < 2:
        return Finding("not applicable", "an outcome is not a sequence of numbers", claim=_claim(case))
    places = range(min(width, MOST_COORDINATES))
    share = Settings(
        settings.alpha / len(places),
        settings.seed,
        max(1, settings.calls // len(places)),
        settings.seconds / len(places),
    )
    ends = []
    for place in places:
        pairs = _pairs_moving(case.neighbours, place, width, settings.seed)
        result = _hunt(case, share, pairs, low_bits=False, sampler=_marginal(case, place))
        ends.append(_of_hunt(case, share, result, f", coordinate {place}"))
        if ends[-1].kind == "violation":
            return ends[-1]
    calls = sum(end.calls for end in ends)
    for end in ends:
        if end.kind == "undecided":
            return Finding("undecided", end.detail, _claim(case), calls=calls)
    detail = f"{len(places)} of {width} coordinates, none refuted in {calls} calls"
    return Finding("ok", detail, _claim(case), evidence="sampled", scope="samples", calls=calls)


def _width(case: RemoteMechanism, settings: Settings) -> int:
    ((left, _),) = adversarial_pairs(case.neighbours, seed=settings.seed, limit=1)
    try:
        widths = call(case.sample, left, 4, np.random.default_rng(settings.seed)).widths()
    except CallFailedError:
        return 0
    return max(widths, default=0)


def _marginal(case: RemoteMechanism, place: int) -> Sampler:
    """Return the sampler of one coordinate; outcomes without it stay what they are."""

    def sample(data: Array, size: int, rng: np.random.Generator) -> Any:
        outcomes = case.sample(data, size, rng)
        if isinstance(outcomes, np.ndarray) and outcomes.ndim == 2 and outcomes.shape[1] > place:
            return outcomes[:, place]
        return [_part(row, place) for row in outcomes]

    return sample


def _part(row: Any, place: int) -> Any:
    return row[place] if isinstance(row, (tuple, list, np.ndarray)) and len(row) > place else row


def _pairs_moving(relation: NeighbourRelation, place: int, width: int, seed: int) -> list[Pair]:
    """Return pairs that move one coordinate alone, if the input has it, and a few that are designed."""
    designed = adversarial_pairs(relation, seed=seed, limit=4)
    if not isinstance(relation, VectorNeighbours) or relation.size != width:
        return designed
    step, alone = relation.largest_step, list[Pair]()
    for base in (np.clip(0.0, relation.low, relation.high), relation.low, relation.high):
        if not math.isfinite(base):
            continue
        for sign in (1.0, -1.0):
            left = np.full(relation.size, float(base))
            right = left.copy()
            right[place] += sign * step
            if are_neighbours(relation, left, right):
                alone.append((left, right))
    return [*alone[:2], *designed]


# --- the law that the library says the outcome follows ------------------------------------------------------


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
            "wrong answer", detail, _claim(case), evidence="sampled", scope="samples", calls=calls, witness=witness
        )
    if calls < min(_LEAST_CALLS, settings.calls // 2):
        return Finding("undecided", f"only {calls} calls in {settings.seconds:g} s", _claim(case), calls=calls)
    return Finding("ok", strength, _claim(case), evidence="sampled", scope="samples", calls=calls)


def _fit_inputs(relation: NeighbourRelation, seed: int) -> list[Array]:
    if not _has_pairs(relation):  # a law may be of interest on the one input that there is
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
        return f"no certified loss is known for {_claim(case)}"
    return _moves(case)


def _check_parameters(case: RemoteMechanism, settings: Settings) -> Finding:
    claim, start = case.claims[0], time.monotonic()
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
            exceeds, figure = _exceeds(claim, laws[left.tobytes()], laws[right.tobytes()])
            compared += 1
            if (exceeds, figure) > (violated, -math.inf if worst is None else worst[0]):
                worst, violated = (figure, (left, right)), exceeds
    if worst is None:
        return Finding("undecided", f"nothing compared in {settings.seconds:g} s", _claim(case))
    bound = _bound(claim)
    if violated:
        return _of_parameters(case, worst[1], worst[0], compared)
    detail = f"{compared} ordered pairs, largest certified {worst[0]:.6g} of {bound:.6g} claimed"
    return Finding("ok", detail, _claim(case), bound, max(0.0, worst[0]), "enclosed", "points", 0)


def _exceeds(claim: Claim, left: IdealLaw, right: IdealLaw) -> tuple[bool, float]:
    """Tell whether the loss certainly exceeds the claim, and return a certified lower bound on it."""
    with precision(_BITS):
        loss = ideal_loss(claim, left, right)
        bound = allowed(claim)
        if isinstance(claim, (PureDP, BoundedRange)):  # the ratio of probabilities, too, is a float64 number
            bound = bound + ball(ALLOWANCE)
        return bool(loss > bound), float_lower(loss)


def _bound(claim: Claim) -> float:
    with precision(_BITS):
        return float(allowed(claim).mid())


def _of_parameters(case: RemoteMechanism, pair: Pair, figure: float, compared: int) -> Finding:
    left, right = pair
    witness = {
        "left": left.tolist(),
        "right": right.tolist(),
        "law_left": plain(case.law(left)),
        "law_right": plain(case.law(right)),
    }
    bound = _bound(case.claims[0])
    detail = (
        f"the laws {witness['law_left']} and {witness['law_right']} of neighbours have the loss {figure:.15g},"
        f" claimed {bound:.15g} ({compared} ordered pairs)"
    )
    return Finding("violation", detail, _claim(case), bound, figure, "enclosed", "points", 0, witness)


# --- sensitivity --------------------------------------------------------------------------------------------


def _sensitivity_condition(case: RemoteMechanism) -> str | None:
    return (
        _moves(case) if case.description["noiseless"] else "the interface does not show what is computed without noise"
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
        return Finding("undecided", f"what is computed is not known on any pair: {reason}", _claim(case))
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
        bound = _bound(case.claims[0])
        words = f"{detail}: loss {loss:.6g}, claimed {bound:.6g}"
        return Finding("violation", words, _claim(case), bound, loss, "enclosed", "points", found.evaluations, witness)
    result = _hunt(case, settings, [found.pair], low_bits=False)
    if result.verdict == "violated":
        confirmed = _of_hunt(case, settings, result)
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
    with precision(_BITS):
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


def _laws() -> Iterator[Law]:
    yield _law(
        "privacy_of_claim",
        "The claim of the library is not refuted, lowest bits left out.",
        _moves,
        _check_privacy,
        sampled=True,
    )
    yield _law(
        "privacy_in_float64",
        "Nor is it by the lowest bits of the float64 numbers.",
        _float_condition,
        _check_float_privacy,
        sampled=True,
    )
    yield _law(
        "coordinates",
        "No coordinate of an outcome breaks the claim by itself.",
        _moves,
        _check_coordinates,
        sampled=True,
    )
    yield _law(
        "law_fits", "Outcomes follow the law that the parameters say.", _fit_condition, _check_fit, sampled=True
    )
    yield _law(
        "claim_follows_from_parameters",
        "The laws that the library's own parameters say on neighbouring inputs obey its claim.",
        _parameters_condition,
        _check_parameters,
        sampled=False,
    )
    yield _law(
        "sensitivity",
        "What is computed moves between neighbours by no more than the noise is made for.",
        _sensitivity_condition,
        _check_sensitivity,
        sampled=True,
    )


MECHANISM_LAWS: tuple[Law, ...] = tuple(_laws())
