"""Tests of whether the outcomes of one call share noise: outcomes with shared noise are not independent evidence.

The bets take every outcome for a release of its own. Under that assumption the outcomes of one input are exchangeable
between calls: the mean rank of the outcomes of a call varies by chance only. The variation between calls, in units of
the one that chance makes, is about chi-square distributed with one degree of freedom for each call; far above it,
outcomes of one call were not drawn afresh. A wrong suspicion is unlikely and costs time only: from then on every
outcome is drawn by a call of its own.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.betting.game import PairGame
from dpassay.properties.outcomes.batch import Outcomes

__all__ = ["between_calls", "shares_noise"]

Array = NDArray[np.float64]
Groups = NDArray[np.intp]

SUSPICION = 14.0
"""Nats: the chance of a wrong suspicion is at most e^-14 for each score and look, of which there are some hundreds."""

_MOST_FEATURES = 4
"""Features that are tested: each costs time and adds to the number of looks."""

_MOST_OF_A_CALL = 64
"""Outcomes of one call that are compared: pairs of outcomes grow with its square."""

_MOST_OUTCOMES = 2048
"""Outcomes of one side that are compared: more detect weaker dependence."""

_LEAST_SHARE = 1 / 20
"""The smallest share of a value that is counted: the counts of rarer values say little and are far from normal."""


def shares_noise(games: Iterable[PairGame]) -> bool:
    """Return whether the outcomes of a call resemble each other, on the same input, more than those of others."""
    strata = [stratum for game in games for stratum in _strata(game)]
    names = dict.fromkeys(name for scores, _ in strata for name in scores)
    for name in names:
        parts = [between_calls(scores[name], groups) for scores, groups in strata if name in scores]
        if _unlikeliness(np.array(parts)) > SUSPICION:
            return True
    return False


def between_calls(scores: Array, groups: Groups) -> tuple[float, float, float]:
    """Return the variation of a score between calls, its mean and its variance if the outcomes are exchangeable.

    Parameters
    ----------
    scores : ndarray, shape (n,)
        One for each outcome.
    groups : ndarray of int, shape (n,)
        The call that each outcome came from.

    Returns
    -------
    tuple of float
        The sum over the calls for several outcomes of (sum of centred scores)^2 / size, in units of the variance of a
        score. The mean of a term is the share of the outcomes that are not of the call; the variance is that of a
        chi-square variable, and what the kurtosis of the scores adds to it.
    """
    centred = scores - scores.mean()
    variance = float(np.sum(centred**2)) / max(len(scores) - 1, 1)
    sizes, sums = np.bincount(groups), np.bincount(groups, weights=centred)
    several = sizes > 1
    sizes, sums = sizes[several], sums[several]
    degrees = float(np.sum(1 - sizes / len(scores)))
    if variance == 0 or degrees < 1 / 8:
        return 0.0, 0.0, 0.0
    excess = max(float(np.mean(centred**4)) / variance**2 - 3, 0.0)
    return float(np.sum(sums**2 / sizes)) / variance, degrees, 2 * degrees + excess * float(np.sum(1 / sizes))


def _unlikeliness(parts: Array) -> float:
    """Return minus the logarithm of Chernoff's bound on the tail of a chi-square variable, widened to the variance."""
    found, degrees, variance = (float(total) for total in parts.sum(axis=0))
    if found <= degrees:
        return 0.0
    wider = max(1.0, variance / (2 * degrees))
    return (found - degrees - degrees * math.log(found / degrees)) / (2 * wider)


def _strata(game: PairGame) -> list[tuple[dict[str, Array], Groups]]:
    """Return the scores of the outcomes that a game remembers, and their calls, on each of the two inputs."""
    batches = list(zip(game.archive, game.groups, strict=True))
    result = []
    for side in (True, False):
        chosen: list[tuple[Outcomes, Groups]] = []
        calls = count = 0
        for (outcomes, is_left), groups in reversed(batches):
            if count == _MOST_OUTCOMES:
                break
            places = _few_of_each(np.flatnonzero(is_left == side), groups)[: _MOST_OUTCOMES - count]
            if places.size:
                chosen.append((outcomes.taken(places), groups[places] + calls))
                calls, count = calls + int(groups.max()) + 1, count + places.size
        if chosen:
            joined = Outcomes.joined([outcomes for outcomes, _ in chosen])
            result.append((_scores(joined), np.concatenate([groups for _, groups in chosen])))
    return result


def _few_of_each(places: NDArray[np.intp], groups: Groups) -> NDArray[np.intp]:
    """Return some of the outcomes of each call; those of a call follow each other."""
    if not places.size:
        return places
    own = groups[places]
    # the outcome so many places before belongs to the same call
    is_late = np.concatenate(
        [np.zeros(min(_MOST_OF_A_CALL, len(own)), np.bool_), own[_MOST_OF_A_CALL:] == own[:-_MOST_OF_A_CALL]]
    )
    few: NDArray[np.intp] = places[~is_late]
    return few


def _scores(outcomes: Outcomes) -> dict[str, Array]:
    """Return ranks of features, how far they are from the middle, and whether the commonest symbol came."""
    found: dict[str, Array] = {}
    for name in outcomes.common_features(_MOST_FEATURES)[:_MOST_FEATURES]:
        values = outcomes.features[name]
        if not np.isnan(values).any():
            ranks = _ranks(values)
            found[name], found[f"spread of {name}"] = ranks, np.abs(ranks - 0.5)
    codes: dict[object, int] = {}
    atoms = np.array([codes.setdefault(atom, len(codes)) for atom in outcomes.atoms()])
    commonest = (atoms == np.bincount(atoms).argmax()).astype(np.float64)
    found["symbol"] = commonest
    return {name: scores for name, scores in found.items() if _is_telling(scores)}


def _ranks(values: Array) -> Array:
    """Return the share of the values below each one, equal values in the middle of theirs."""
    ordered = np.sort(values)
    ends = np.searchsorted(ordered, values, side="left") + np.searchsorted(ordered, values, side="right")
    return np.asarray(ends / (2 * len(values)))


def _is_telling(scores: Sequence[float] | Array) -> bool:
    _, counts = np.unique(scores, return_counts=True)
    return bool(len(scores) - counts.max() >= _LEAST_SHARE * len(scores))
