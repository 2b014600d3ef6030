"""The law of replay: with the outputs of all noise chosen, neighbours differ only in the inputs of the noise.

The library runs on one input with chosen outputs of its noise primitives, and on a neighbour with the same outputs.
What reaches a primitive may differ by its declared sensitivity; the losses of all primitives together may not exceed
the claim; everything else must be equal: the calls, their parameters, exceptions and the outcome. No noise is drawn,
so that a clip, a factor, a split or a count that is missing is found at any size, without statistics. Two runs that
both raise, or that add noise to the same infinity or NaN only, compare nothing; noise that is not known is not judged.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.adapter import Raised
from dpassay.claims import ZCDP, ApproximateDP, Claim, PureDP
from dpassay.impl.libraries.remote import RemoteMechanism
from dpassay.properties.assay.boundaries import boundary_pairs
from dpassay.properties.assay.families import COMPUTED
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.mechanism_cases import (
    bound_of,
    claim_in_words,
    loss_of_noise,
    mechanism_law,
    moves,
)
from dpassay.properties.assay.privacy_laws import confirm_on_pair
from dpassay.properties.assay.replayed_noise import ROUNDING, does_not_adapt, moved_noise
from dpassay.properties.assay.sensitivity import length
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.spec.distributions.noise import NoisePair
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["REPLAY_LAWS", "SHIFTS", "Difference", "compare_runs", "replayed_pairs"]

Calls = Sequence[dict[str, Any]]

SHIFTS = (0.0, 7.0, -7.0)
"""The outputs are the values themselves, and values moved up and down by more than any sensitivity."""

_DESIGNED, _BOUNDARY = 7, 5
"""Numbers of pairs that are replayed at each parameter: more pairs leave less time for parameters."""

_SLACK = float(ROUNDING)

_EQUAL_OUTCOMES = 1e-9
"""Relative difference of outcomes that counts as rounding."""

_READ = ("value", "family", "sensitivity", "epsilon", "scale", "low", "high", "integer")
_CLAIMS = (PureDP, ApproximateDP, ZCDP)


@dataclass(frozen=True)
class Difference:
    """Differences between two replayed runs.

    Parameters
    ----------
    pure : float
        Sum of the losses of the primitives of pure DP, in nats.
    squared : float
        Sum of the squared distances over squared scales of Gaussian noise.
    faults : tuple of str
        What differs that must not, in words.
    wide : tuple of str
        Which values change by more than the declared sensitivity, in words.
    gaps : tuple of float
        The distances of what reaches each primitive.
    moved : tuple of NoisePair, optional
        The noisy values that differ, if their distributions are known.
    unknown : tuple of str
        Which noise has no loss that could be added to the account, in words.
    uncompared : str
        The reason why the runs compare nothing, in words; empty if they compare something.
    """

    pure: float
    squared: float
    faults: tuple[str, ...]
    wide: tuple[str, ...]
    gaps: tuple[float, ...]
    moved: tuple[NoisePair, ...] | None = None
    unknown: tuple[str, ...] = ()
    uncompared: str = ""


def compare_runs(left: tuple[Calls, Any], right: tuple[Calls, Any]) -> Difference:
    """Compare the calls and the outcomes of a run and of its replay on a neighbour.

    Parameters
    ----------
    left, right : (calls, outcome)
        As a worker returns them.
    """
    (calls, outcome), (others, other) = left, right
    faults, wide, unknown = [], [], []
    if len(calls) != len(others):
        faults.append(f"noise is drawn {len(calls)} times, and {len(others)} times on the neighbour")
    pure = squared = 0.0
    gaps: list[float] = []
    empty = 0
    for place, (one, two) in enumerate(zip(calls, others, strict=False)):
        changed = [name for name in _READ[1:] if not _same(one.get(name), two.get(name))]
        if changed:
            words = ", ".join(f"{name} is {one.get(name)!r} and {two.get(name)!r}" for name in changed)
            faults.append(f"the noise depends on the data: in call {place} {words}")
            continue
        gap = _distance(one, two)
        gaps.append(gap)
        empty += gap == 0 and _is_infinite(one)
        if gap > one["sensitivity"] * (1 + _SLACK):
            wide.append(
                f"what reaches the noise changes by {gap:.6g}, the declared sensitivity is {one['sensitivity']:.6g}"
            )
        loss = _loss(one, gap)
        if loss is None:
            unknown.append(f"the noise of call {place} is not known: {_parameters(one)}")
        elif one["family"] == "gaussian":
            squared += loss * loss
        else:
            pure += loss
    if not faults and not _same(outcome, other):
        faults.append(f"with equal noise the outcome changes from {outcome!r} to {other!r}")
    moved = moved_noise(calls, others) if not faults else None
    uncompared = ""
    if isinstance(outcome, Raised) and isinstance(other, Raised):
        uncompared = f"both runs raise {outcome.name}"
    elif gaps and empty == len(gaps):
        uncompared = "what reaches the noise is infinite or NaN in both runs"
    return Difference(pure, squared, tuple(faults), tuple(wide), tuple(gaps), moved, tuple(unknown), uncompared)


def _loss(call: dict[str, Any], gap: float) -> float | None:
    """Return the loss of a call: nats, or scales of Gaussian noise; None if its parameters do not tell."""
    names = ("sensitivity", "scale") if call["family"] == "gaussian" else ("sensitivity", "epsilon")
    if not all(call[name] >= 0 for name in names):  # a comparison with NaN is false
        return None
    if gap == 0:
        return 0.0
    loss = _ratio(gap, call["scale"]) if "scale" in names else call["epsilon"] * _ratio(gap, call["sensitivity"])
    return None if math.isnan(loss) else float(loss)


def _parameters(call: dict[str, Any]) -> str:
    return ", ".join(f"{name} is {call[name]!r}" for name in ("sensitivity", "epsilon", "scale") if name in call)


def _is_infinite(call: dict[str, Any]) -> bool:
    """Return whether no number that reaches a primitive is finite."""
    values = np.atleast_1d(np.asarray(call["value"], dtype=np.float64))
    return bool(values.size) and not np.isfinite(values).any()


def _ratio(gap: float, scale: float) -> float:
    return 0.0 if gap == 0 else math.inf if scale == 0 else gap / scale


def _distance(one: dict[str, Any], two: dict[str, Any]) -> float:
    """Return the distance of two values in the norm of the noise; infinite if their shapes differ or one is NaN.

    Infinities and NaN that are the same in both do not differ.
    """
    first, second = (np.atleast_1d(np.asarray(call["value"], dtype=np.float64)) for call in (one, two))
    if first.shape != second.shape:
        return math.inf
    is_same = (first == second) | (np.isnan(first) & np.isnan(second))
    with np.errstate(invalid="ignore"):
        change = np.where(is_same, 0.0, first - second)
    if np.isnan(change).any():
        return math.inf
    if one["family"] == "selection":
        return float(np.max(np.abs(change), initial=0.0))
    return length(change, 2 if one["family"] == "gaussian" else 1)


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(two, np.ndarray):
        one, two = np.asarray(one).tolist(), np.asarray(two).tolist()
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(map(_same, one, two))
    if isinstance(one, dict) and isinstance(two, dict):
        return list(one) == list(two) and all(_same(one[key], two[key]) for key in one)
    if isinstance(one, float) and isinstance(two, float):
        return (math.isnan(one) and math.isnan(two)) or one == two or math.isclose(one, two, rel_tol=_EQUAL_OUTCOMES)
    return type(one) is type(two) and bool(one == two)


def _excess(claim: Claim, found: Difference) -> tuple[float, float] | None:
    """Return the account of the primitives and the bound of the claim if the account exceeds it; None otherwise."""
    pure, mu = found.pure, math.sqrt(found.squared)
    if isinstance(claim, PureDP):
        total = math.inf if mu else pure
        return (total, float(claim.epsilon)) if total > float(claim.epsilon) * (1 + _SLACK) else None
    if isinstance(claim, ZCDP):
        total = pure * pure / 2 + mu * mu / 2
        return (total, float(claim.rho)) if total > float(claim.rho) * (1 + _SLACK) else None
    assert isinstance(claim, ApproximateDP)
    epsilon, allowed = float(claim.epsilon), float(claim.delta)
    if pure and found.moved:  # the losses of several primitives do not add up to a delta
        loss = loss_of_noise(claim, found.moved, _SLACK)
        return (loss.lower, allowed) if loss.exceeds else None
    delta = _gaussian_delta(mu, epsilon - pure) if mu else max(0.0, -math.expm1((epsilon - pure) / 2))
    return (delta, allowed) if delta > allowed * (1 + _SLACK) + _SLACK**2 else None


def _gaussian_delta(mu: float, epsilon: float) -> float:
    """Return the delta of Gaussian noise at distance `mu` scales, an estimate that tells where to look."""
    if math.isinf(mu):
        return 1.0
    upper = 0.5 * math.erfc((epsilon / mu - mu / 2) / math.sqrt(2))
    return upper - math.exp(epsilon) * 0.5 * math.erfc((epsilon / mu + mu / 2) / math.sqrt(2))


@dataclass(frozen=True)
class _Suspicion:
    """A pair of neighbours whose replayed runs differ too much."""

    pair: Pair
    found: Difference
    excess: tuple[float, float] | None
    is_adaptive: bool

    @property
    def weight(self) -> float:
        """The size of the difference, which ranks suspicions."""
        ratio = 0.0 if self.excess is None else _ratio(self.excess[0], max(self.excess[1], 1e-300))
        return ratio + len(self.found.faults) + len(self.found.wide)

    def words(self) -> str:
        """Return the difference in words."""
        parts = [*self.found.faults[:2], *self.found.wide[:1]]
        if self.excess is not None:
            parts.append(f"the noise loses {self.excess[0]:.6g} in all, claimed {self.excess[1]:.6g}")
        return "; ".join(parts)


def _condition(case: RemoteMechanism) -> str | None:
    if not case.description["replayed"]:
        return "the adapter names no noise primitives"
    if not isinstance(case.claims[0], _CLAIMS):
        return "the account of primitives is not made for this notion"
    return moves(case)


def _check_replay(case: RemoteMechanism, settings: Settings) -> Finding:
    pairs = replayed_pairs(case, settings)
    suspicions: list[_Suspicion] = []
    replays, calls, most = case.replay(pairs, SHIFTS), 2 * len(pairs) * len(SHIFTS), 0
    unknown: list[str] = []
    uncompared: list[str] = []
    for number, pair in enumerate(pairs):
        runs = replays[number * len(SHIFTS) : (number + 1) * len(SHIFTS)]
        differences = [_compared(case, one) for one in runs]
        most = max(most, *(len(one.gaps) for one in differences))
        unknown += [words for one in differences for words in one.unknown]
        if all(one.uncompared for one in differences):
            uncompared.append(differences[0].uncompared)
        is_adaptive = not does_not_adapt(runs)
        for found in differences:
            excess = _excess(case.claims[0], found)
            if found.faults or found.wide or excess is not None:
                suspicions.append(_Suspicion(pair, found, excess, is_adaptive))
    if suspicions:
        return _finding(case, settings, max(suspicions, key=lambda one: one.weight), calls)
    compared = len(pairs) - len(uncompared)
    count = f"{compared} of {len(pairs)} pairs compared: " if uncompared else ""
    if unknown or not compared:
        detail = count + "; ".join(dict.fromkeys([*uncompared, *unknown[:1]]))
        return Finding(FindingKind.UNDECIDED, detail, claim_in_words(case), calls=calls)
    if most == 0:
        return Finding(FindingKind.ERROR, "no run reaches a noise primitive", claim_in_words(case), calls=calls)
    return Finding(
        FindingKind.OK,
        count + "; ".join(dict.fromkeys(uncompared)) if uncompared else f"{compared} pairs replayed",
        claim_in_words(case),
        evidence=Evidence.EXACT,
        scope=Scope.POINTS,
        calls=calls,
        power={"points": compared},
    )


def _compared(case: RemoteMechanism, runs: dict[str, Any]) -> Difference:
    """Compare two runs, and the budgets of the noise with the claim if they are parts of it."""
    found = compare_runs(tuple(runs["left"]), tuple(runs["right"]))
    claim = case.claims[0]
    if not case.description["splits_budget"] or not isinstance(claim, PureDP | ApproximateDP):
        return found
    spent, claimed = math.fsum(call.get("epsilon", 0.0) for call in runs["left"][0]), float(claim.epsilon)
    if spent <= claimed * (1 + _SLACK):
        return found
    words = f"the budgets of the noise add up to an epsilon of {spent:.6g}, claimed {claimed:.6g}"
    return replace(found, faults=(*found.faults, words))


def replayed_pairs(case: RemoteMechanism, settings: Settings) -> list[Pair]:
    """Return the pairs that are replayed, fewer if the adapter limits the calls of a slow mechanism.

    Parameters
    ----------
    case : RemoteMechanism
        The mechanism.
    settings : Settings
        The seed.
    """
    limit = case.description["calls"]
    allowed = math.inf if limit is None else limit / (2 * len(SHIFTS))
    share = min(1.0, allowed / (_DESIGNED + _BOUNDARY))
    designed, boundary = (max(1, round(share * number)) for number in (_DESIGNED, _BOUNDARY))
    return [
        *adversarial_pairs(case.neighbours, seed=settings.seed, limit=designed),
        *boundary_pairs(case.neighbours, seed=settings.seed, limit=boundary),
    ]


def _finding(case: RemoteMechanism, settings: Settings, worst: _Suspicion, calls: int) -> Finding:
    """Return a violation if it is certified or samples confirm it, else a wrong answer."""
    left, right = worst.pair
    witness = {"left": left.tolist(), "right": right.tolist()}
    certified = _certified(case, worst)
    if certified is not None:
        return Finding(
            FindingKind.VIOLATION,
            worst.words(),
            claim_in_words(case),
            *certified,
            Evidence.ENCLOSED,
            Scope.POINTS,
            calls,
            witness,
        )
    stated, account = (None, None) if worst.excess is None else (worst.excess[1], worst.excess[0])
    unconfirmed = Finding(
        FindingKind.WRONG_ANSWER,
        worst.words(),
        claim_in_words(case),
        stated,
        account,
        Evidence.EXACT,
        Scope.POINTS,
        calls,
        witness,
    )
    if not settings.confirms:
        return unconfirmed
    return confirm_on_pair(case, settings, worst.pair, unconfirmed)


def _certified(case: RemoteMechanism, worst: _Suspicion) -> tuple[float, float] | None:
    """Return the claimed and the certified loss, if the outcome shows all noisy values and their loss is certain."""
    if not case.description["releases_noise"] or worst.is_adaptive or worst.found.moved is None:
        return None
    claim = case.claims[0]
    loss = loss_of_noise(claim, worst.found.moved, _SLACK)
    return (bound_of(claim), loss.lower) if loss.exceeds else None


REPLAY_LAWS: tuple[Law, ...] = (
    mechanism_law(
        "replay",
        "With equal noise, neighbours differ only in what reaches the noise, by no more than the noise is made for.",
        _condition,
        _check_replay,
        sampled=True,
        asking=COMPUTED,
        turn=Turn.FIRST,
    ),
)
