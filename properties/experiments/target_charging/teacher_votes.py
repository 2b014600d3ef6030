"""Number of labels that votes of teachers give at (1, 1e-6): target charging, composition, sparse vector.

Each method may choose its epsilon per query from a grid; all are at the same guarantee. Labels are worth what their
accuracy is: at the smallest epsilon many are answered, and a tenth of them is right by chance.

- *target charging*: the wrapped exponential mechanism; ends at the last boundary outcome that the budget allows.
- *composition*: the exponential mechanism, as many times as the exact composition of randomised response allows.
- *sparse vector*: AboveThreshold at half of epsilon finds a query on which a label has enough votes, the exponential
  mechanism at the other half names it; every label named is composed, queries passed over are free.

The ensemble that the digits allow is small for epsilon = 1; the same proportions of votes with ten and a hundred
times as many teachers (as if there were more images) show where target charging takes over.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.pure_composition import response_epsilon
from dpassay.impl.mechanisms.exponential import ExponentialMechanism
from dpassay.impl.mechanisms.teacher_votes import affordable_hits, wrapped_vote
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, mean_and_error, repetitions, table
from dpassay.properties.experiments.target_charging.digits import LABELS, Votes, digit_votes

__all__ = ["METHODS", "affordable_calls", "labels_answered", "teacher_votes"]

Array = NDArray[np.float64]
Row = dict[str, Any]
Answers = tuple[NDArray[np.int64], NDArray[np.int64]]  # places in the stream of queries, labels given
Run = Callable[[np.random.Generator], Answers]

TOTAL_EPSILON, DELTA = 1.0, 1e-6
FACTORS = (1, 10, 100)
EPSILONS = (0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5)
STREAM = 20_000  # queries: the public images again and again
TRIALS = 10
COLUMNS = (
    "teachers", "method", "epsilon", "allowed", "answered", "answered_error", "correct", "correct_error", "accuracy",
    "trials",
)  # fmt: skip


def affordable_calls(epsilon: float) -> int:
    """Return the number of epsilon-DP calls that compose to (1, 1e-6), by the exact curve."""
    low, high = 0, 1
    while response_epsilon(high, epsilon, DELTA) <= TOTAL_EPSILON:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if response_epsilon(middle, epsilon, DELTA) <= TOTAL_EPSILON else (low, middle)
    return low


def _log_probabilities(votes: Votes, epsilon: float) -> Array:
    """Return those of the exponential mechanism, one row for each image."""
    mechanism = ExponentialMechanism(LABELS, epsilon)
    return np.array([mechanism.log_probabilities(row) for row in votes.counts])


def _drawn_labels(log_probabilities: Array, places: NDArray[np.int64], rng: np.random.Generator) -> NDArray[Any]:
    """Draw a label for each place in the stream."""
    rows = log_probabilities[places % len(log_probabilities)]
    drawn: NDArray[Any] = np.argmax(rows + rng.gumbel(size=rows.shape), axis=1)
    return drawn


def _target_charging(votes: Votes, epsilon: float, allowed: int) -> Run:
    wrapper, places = wrapped_vote(LABELS, epsilon), np.arange(STREAM)
    boundary = np.array([wrapper.boundary_probability(row) for row in votes.counts])[places % len(votes.truth)]
    log_probabilities = _log_probabilities(votes, epsilon)

    def run(rng: np.random.Generator) -> Answers:
        hit = rng.random(STREAM) < boundary
        running = np.cumsum(hit) - hit < allowed  # hits before each query
        answered = places[running & ~hit]
        return answered, _drawn_labels(log_probabilities, answered, rng)

    return run


def _composition(votes: Votes, epsilon: float, allowed: int) -> Run:
    answered, log_probabilities = np.arange(min(allowed, STREAM)), _log_probabilities(votes, epsilon)
    return lambda rng: (answered, _drawn_labels(log_probabilities, answered, rng))


def _sparse_vector(votes: Votes, epsilon: float, allowed: int) -> Run:
    share, threshold = epsilon / 2, 0.6 * votes.teachers
    largest = votes.counts.max(axis=1)[np.arange(STREAM) % len(votes.truth)]
    log_probabilities = _log_probabilities(votes, share)

    def run(rng: np.random.Generator) -> Answers:
        noisy = largest + rng.laplace(scale=4 / share, size=STREAM)
        answered, begin = list[int](), 0
        while len(answered) < allowed and begin < STREAM:
            found = np.flatnonzero(noisy[begin:] >= threshold + rng.laplace(scale=2 / share))
            if not found.size:
                break
            answered.append(begin + int(found[0]))
            begin = answered[-1] + 1
        places = np.array(answered, dtype=np.int64)
        return places, _drawn_labels(log_probabilities, places, rng)

    return run


Method = Callable[[Votes, float, int], Run]
METHODS: dict[str, tuple[Method, Callable[[float], int]]] = {
    "target charging": (_target_charging, lambda epsilon: affordable_hits(LABELS, epsilon, TOTAL_EPSILON, DELTA)),
    "composition": (_composition, affordable_calls),
    "sparse vector": (_sparse_vector, affordable_calls),
}


def labels_answered(votes: Votes, trials: int, rng: np.random.Generator) -> Iterator[Row]:
    """Yield a row for each method and epsilon: the number of labels and of correct ones."""
    for name, (method, affordable) in METHODS.items():
        for epsilon in EPSILONS:
            allowed = affordable(epsilon)
            run = method(votes, epsilon, allowed) if allowed else _none
            answers = [run(rng) for _ in range(trials)]
            answered = mean_and_error([len(places) for places, _ in answers])
            right = [int((labels == votes.truth[places % len(votes.truth)]).sum()) for places, labels in answers]
            correct = mean_and_error(right)
            yield {
                "teachers": votes.teachers, "method": name, "epsilon": epsilon, "allowed": allowed,
                "answered": answered[0], "answered_error": answered[1],
                "correct": correct[0], "correct_error": correct[1],
                "accuracy": correct[0] / answered[0] if answered[0] else "", "trials": trials,
            }  # fmt: skip


def _none(rng: np.random.Generator) -> Answers:  # noqa: ARG001  # of a run
    return np.array([], dtype=np.int64), np.array([], dtype=np.int64)


@experiment("teacher-votes", ("cohen2023", "private_learning_wrapped_em"))
def teacher_votes(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:
    """Count the labels that votes of teachers on digits give at (1, 1e-6), by three methods.

    Cohen and Lyu 2023, Section 2.7.1, which has no numbers. Needs scikit-learn for its digits.

    Parameters
    ----------
    out : Path
        Folder for tables and figures.
    seed : int
        Seed of all random choices.
    trials : int or None
        Number of repetitions; None for that of the paper.
    progress : callable
        Takes a description and the fraction done.
    """
    data_rng, rng = np.random.default_rng(seed).spawn(2)
    votes, repeats = digit_votes(data_rng), repetitions(trials, TRIALS)
    path, rows = out / "teacher_votes.csv", list[Row]()
    expected = len(FACTORS) * len(METHODS) * len(EPSILONS)
    with table(path, *COLUMNS) as lines:
        for factor in FACTORS:
            for row in labels_answered(votes.scaled(factor), repeats, rng):
                lines.write(**row)
                rows.append(row)
                progress(f"teacher votes: {row['teachers']} teachers", len(rows) / expected)
    return [path, *draw(out / "teacher_votes.png", len(FACTORS), partial(_paint, rows), progress)]


def _paint(rows: list[Row], *panels: Any) -> None:
    for axes, teachers in zip(panels, dict.fromkeys(row["teachers"] for row in rows), strict=True):
        for method in METHODS:
            points = [row for row in rows if row["teachers"] == teachers and row["method"] == method]
            given = [point for point in points if point["answered"]]
            axes.plot([p["accuracy"] for p in given], [p["answered"] for p in given], "o-", label=method, markersize=3)
        axes.set(yscale="log", xlabel="share of the labels that are right", ylabel="labels answered")
        axes.set_title(f"{teachers} teachers")
        axes.legend(fontsize="small")
