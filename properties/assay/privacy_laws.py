"""Laws that put the claim of a library to a sampled test: the whole outcome, its lowest bits, each coordinate.

What is sampled is refuted by e-values at the level of the law. Calls come from the settings; time is a ceiling.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import NeighbourRelation, VectorNeighbours
from dpassay.impl.libraries.remote import RemoteMechanism
from dpassay.properties.assay.boundaries import boundary_pairs
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.mechanism_cases import claim_in_words, mechanism_law, moves
from dpassay.properties.audit.outcomes import CallFailedError, Sampler, call
from dpassay.properties.checks.failure import bounded_quantity
from dpassay.properties.records import plain
from dpassay.properties.search.black_box import sample_pairs
from dpassay.properties.search.pairs import Pair, adversarial_pairs, are_neighbours
from dpassay.properties.search.result import HuntResult
from dpassay.properties.search.task import Task

__all__ = ["PRIVACY_LAWS", "finding_of_hunt", "run_hunt"]

Array = NDArray[np.float64]

MOST_COORDINATES = 20
"""Coordinates of an outcome that are looked at one by one."""

_DESIGNED, _BOUNDARY = 32, 16  # pairs that are played on: each has an equal share of the level
_LEAST_CALLS = 500


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


def run_hunt(
    case: RemoteMechanism,
    settings: Settings,
    pairs: list[Pair],
    *,
    low_bits: bool,
    sampler: Sampler | None = None,
) -> HuntResult:
    """Play on the pairs against the claim of the library, with the level, seed, calls and time of the settings."""
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
    return sample_pairs(task, sampler if sampler is not None else case.sampler, pairs)


def finding_of_hunt(case: RemoteMechanism, settings: Settings, result: HuntResult, note: str = "") -> Finding:
    """Return what a hunt found; undecided where time allowed nearly no calls."""
    claim = case.claims[0]
    what, certified, claimed = bounded_quantity(result, claim)
    strength = f"e-value 10^{result.e_value_log10 or 0.0:.1f}"
    if result.verdict == "violated":
        figure = f"{what} >= {certified:.6g}, claimed {claimed:.6g}" if certified is not None else what
        detail = f"{figure} ({strength} in {result.calls} calls{note})"
        witness = plain(result.witness) if result.witness is not None else None
        return Finding(
            "violation", detail, claim_in_words(case), claimed, certified, "sampled", "samples", result.calls, witness
        )
    if result.calls < min(_LEAST_CALLS, settings.calls):
        detail = f"only {result.calls} calls in {settings.seconds:g} s"
        return Finding("undecided", detail, claim_in_words(case), claimed, calls=result.calls)
    detail = f"not refuted in {result.calls} calls ({strength}){note}"
    return Finding("ok", detail, claim_in_words(case), claimed, certified, "sampled", "samples", result.calls)


def _check_privacy(case: RemoteMechanism, settings: Settings) -> Finding:
    pairs = _pairs(case.neighbours, settings.seed)
    return finding_of_hunt(case, settings, run_hunt(case, settings, pairs, low_bits=False))


def _check_float_privacy(case: RemoteMechanism, settings: Settings) -> Finding:
    pairs = _pairs(case.neighbours, settings.seed)
    if not _has_floats(case, pairs[0], settings.seed):
        return Finding("not applicable", "no outcome is a float64 number", claim=claim_in_words(case))
    return finding_of_hunt(case, settings, run_hunt(case, settings, pairs, low_bits=True), ", lowest bits included")


def _has_floats(case: RemoteMechanism, pair: Pair, seed: int) -> bool:
    """Whether a few outcomes hold a float64 number; where calls fail, that is for the hunt to judge."""
    try:
        outcomes = [call(case.sample, data, 4, np.random.default_rng(seed)) for data in pair]
    except CallFailedError:
        return True
    symbols = [symbol for batch in outcomes for symbol in batch.symbols()]
    parts = [part for symbol in symbols for part in (symbol if isinstance(symbol, tuple) else (symbol,))]
    return any(isinstance(part, float) for part in parts)


def _float_condition(case: RemoteMechanism) -> str | None:
    return moves(case) if case.description["floats"] else "the library does not claim privacy for the float64 numbers"


def _check_coordinates(case: RemoteMechanism, settings: Settings) -> Finding:
    """Hunt on each marginal by itself, with the pairs that move its coordinate first."""
    width = _width(case, settings)
    if width < 2:
        return Finding("not applicable", "an outcome is not a sequence of numbers", claim=claim_in_words(case))
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
        result = run_hunt(case, share, pairs, low_bits=False, sampler=_Marginal(case, place))
        ends.append(finding_of_hunt(case, share, result, f", coordinate {place}"))
        if ends[-1].kind == "violation":
            return ends[-1]
    calls = sum(end.calls for end in ends)
    for end in ends:
        if end.kind == "undecided":
            return Finding("undecided", end.detail, claim_in_words(case), calls=calls)
    detail = f"{len(places)} of {width} coordinates, none refuted in {calls} calls"
    return Finding("ok", detail, claim_in_words(case), evidence="sampled", scope="samples", calls=calls)


def _width(case: RemoteMechanism, settings: Settings) -> int:
    ((left, _),) = adversarial_pairs(case.neighbours, seed=settings.seed, limit=1)
    try:
        widths = call(case.sample, left, 4, np.random.default_rng(settings.seed)).widths()
    except CallFailedError:
        return 0
    return max(widths, default=0)


@dataclass(frozen=True)
class _Marginal:
    """Samples one coordinate; outcomes without it stay what they are."""

    case: RemoteMechanism
    place: int

    def __call__(self, data: Array, size: int, rng: np.random.Generator) -> Any:
        outcomes = self.case.sample(data, size, rng)
        if isinstance(outcomes, np.ndarray) and outcomes.ndim == 2 and outcomes.shape[1] > self.place:
            return outcomes[:, self.place]
        return [_part(row, self.place) for row in outcomes]

    def apart(self, data: Array, size: int, rng: np.random.Generator) -> list[Any]:
        """Draw call by call."""
        return [_part(row, self.place) for row in self.case.sample_apart(data, size, rng)]


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


PRIVACY_LAWS: tuple[Law, ...] = (
    mechanism_law(
        "privacy_of_claim",
        "The claim of the library is not refuted, lowest bits left out.",
        moves,
        _check_privacy,
        sampled=True,
    ),
    mechanism_law(
        "privacy_in_float64",
        "Nor is it by the lowest bits of the float64 numbers.",
        _float_condition,
        _check_float_privacy,
        sampled=True,
    ),
    mechanism_law(
        "coordinates",
        "No coordinate of an outcome breaks the claim by itself.",
        moves,
        _check_coordinates,
        sampled=True,
    ),
)
