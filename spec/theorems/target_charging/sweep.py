"""One-shot selection is a sweep of target charging: the same output, candidate by candidate.

Chapter after Cohen and Lyu (2023), Alg 3, Alg 9, Section 2.4.1 and Lem 2.6. A sweep lowers a threshold through the
possible scores; at each level every candidate not yet released is asked, in order, to revise: it is released if its
score lies in the part of the range that the level adds. Equal scores go by the order of the candidates. Printed in
Alg 9's discussion is that the *lowest* threshold with a candidate is found; in decreasing order it is the highest.
"""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import statement
from dpassay.spec.theorems.target_charging.conditional_release import release
from dpassay.spec.verdict import Evidence, Holds, Scope, Verdict, Violated

__all__ = ["above_threshold", "one_shot_top_k", "sweep_by_revisions", "sweep_events", "top_one_by_sweep"]

MOST_CANDIDATES = 5
LEVELS = tuple(range(3))

Scores = Sequence[int]
Released = list[tuple[int, int]]  # (candidate, score)


def one_shot_top_k(scores: Scores, k: int) -> Released:
    """Return the k candidates with the largest scores, in decreasing order, equal scores in order of candidates."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return [(i, scores[i]) for i in order[:k]]


def sweep_events(scores: Scores, levels: Sequence[int] = LEVELS) -> Iterator[tuple[int, int | None]]:
    """Yield the answers of the sweep: (candidate, its score if the level releases it, else None).

    Each candidate keeps the part of the range for which it was asked; an answer is a release if its score lies in
    what the level adds to that, and a candidate that was released answers nothing ever after.
    """
    asked: list[frozenset[int]] = [frozenset() for _ in scores]
    for level in sorted(levels, reverse=True):
        for candidate, score in enumerate(scores):
            added = frozenset(s for s in LEVELS if s >= level) - asked[candidate]
            asked[candidate] |= added
            yield candidate, score if score in added else None


def sweep_by_revisions(scores: Scores, k: int) -> Released:
    """Return the releases of the sweep up to its k-th hit, in the middle of a level if necessary."""
    released: Released = []
    for candidate, score in sweep_events(scores):
        if score is not None:
            released.append((candidate, score))
        if len(released) == k:
            break
    return released


def top_one_by_sweep(scores: Scores, levels: Sequence[int] = LEVELS) -> tuple[int, int] | None:
    """Return the first candidate at or above the highest level that has one; None if all are below all levels."""
    for level in sorted(levels, reverse=True):
        for candidate, score in enumerate(scores):
            if score >= level:
                return candidate, score
    return None


def above_threshold(scores: Scores, threshold: int) -> Released:
    """Return the outcomes that conditional releases with the target "score above the threshold" publish.

    Each release is that of `conditional_release`, of a candidate whose score is certain.
    """
    target = frozenset(score for score in LEVELS if score > threshold)
    published = []
    for candidate, score in enumerate(scores):
        certain = FiniteDistribution({score: Fraction(1)})
        outcomes, _ = release((certain, certain), target)
        published += [(candidate, o) for o, p in outcomes.weights.items() if p and isinstance(o, int)]
    return published


def instances(most: int = MOST_CANDIDATES) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield all scores on the three levels of up to `most` candidates, with every k."""
    for size in range(1, most + 1):
        for scores in itertools.product(LEVELS, repeat=size):
            for k in range(1, size + 1):
                yield scores, k


def _holds(detail: str) -> Verdict:
    return Holds(evidence=Evidence.EXACT, scope=Scope.BOX, detail=detail)


def _violated(detail: str) -> Verdict:
    return Violated(evidence=Evidence.EXACT, detail=detail)


@statement(COHEN_2023, "one_shot_top_k", "one_shot_top_k_privacy", "sweep_selection")
def one_shot_top_k_equals_the_sweep() -> Verdict:
    """Releasing the k best candidates at once publishes the outcomes of the sweep, in the same order, with exactly k
    hits, each of one candidate: hence it is as private as k hits at (2 epsilon, 1/(e^(2 epsilon) + 1)).

    By enumeration of all scores on three levels, ties included, of up to five candidates, and of all k.
    """
    count = 0
    for scores, k in instances():
        expected, swept = one_shot_top_k(scores, k), sweep_by_revisions(scores, k)
        if swept != expected:
            return _violated(f"scores {scores}, k = {k}: the sweep releases {swept}, not {expected}")
        hits = [candidate for candidate, _ in swept]
        if len(hits) != k or len(set(hits)) != k:
            return _violated(f"scores {scores}, k = {k}: the hits are {hits}")
        count += 1
    return _holds(f"{count} instances of up to {MOST_CANDIDATES} candidates with {len(LEVELS)} levels")


@statement(COHEN_2023, "top1_sweep_simulation")
def top_one_equals_the_sweep() -> Verdict:
    """If all scores are among the levels, the first candidate at or above the highest level that has one is the best
    candidate, first among equals; where a score may lie between the levels, it may not be, and where all scores lie
    below, nothing is released. (By enumeration, up to five candidates.)
    """
    for scores, k in instances():
        if k == 1 and top_one_by_sweep(scores) != one_shot_top_k(scores, 1)[0]:
            return _violated(f"scores {scores}: the sweep releases {top_one_by_sweep(scores)}")
    missed = (1, 2)
    if (top_one_by_sweep(missed, levels=(1, 3)), one_shot_top_k(missed, 1)[0]) != ((0, 1), (1, 2)):
        return _violated("a grid that misses a score makes no difference")
    if top_one_by_sweep((0, 0), levels=(1,)) is not None:
        return _violated("something is released although all scores are below all levels")
    return _holds("all scores on three levels of up to five candidates")


@statement(COHEN_2023, "above_threshold_selection")
def above_threshold_selection_is_the_first_level_of_a_sweep() -> Verdict:
    """Conditional releases with the target "score above t", without revisions, publish the outcomes of one level of
    the sweep: each hit is charged at (epsilon, 1/(e^epsilon + 1)) and never at 2 epsilon. (By enumeration.)
    """
    tables = {scores for scores, _ in instances()}
    for scores, level in itertools.product(tables, (*LEVELS, LEVELS[-1] + 1)):
        swept = [(candidate, score) for candidate, score in sweep_events(scores, [level]) if score is not None]
        if swept != above_threshold(scores, level - 1):
            return _violated(f"scores {scores}, threshold {level - 1}: the level releases {swept}")
    return _holds("all scores on three levels of up to five candidates, four thresholds")
