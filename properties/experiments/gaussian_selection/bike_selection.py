"""Selection of the day of peak use: accuracy of each mechanism against epsilon.

Two windows of the series are taken, whose first days the paper does not print: the last 365 days, and the 90 days
from 2012-07-01 on; both contain the peak of the whole series (2012-09-26).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.calibration import gaussian_sigma, noisy_max_sigma
from dpassay.impl.mechanisms.exponential import ExponentialMechanism, PermuteAndFlip
from dpassay.impl.mechanisms.noisy_max import GaussianNoisyMax, LaplaceNoisyMax
from dpassay.mechanism import ClaimedMechanism
from dpassay.properties.experiments.gaussian_selection.bike_data import REGISTERED_BOUND, DailyCounts, registered_rides
from dpassay.properties.experiments.gaussian_selection.selection_utility import (
    accuracy_of_choices,
    exponential_probabilities,
    gaussian_max_probabilities,
    laplace_max_probabilities,
    permute_and_flip_probabilities,
    relative_regret,
)
from dpassay.properties.experiments.output import mean_and_error

__all__ = ["EPSILONS", "SELECTION_COLUMNS", "WINDOWS", "Contender", "contenders", "paint_selection", "selection_rows"]

Array = NDArray[np.float64]
Row = dict[str, Any]

WINDOWS = {90: date(2012, 7, 1), 365: date(2012, 1, 2)}
EPSILONS = tuple(float(epsilon) for epsilon in np.geomspace(0.003, 3, 16))
DELTA = 1 / REGISTERED_BOUND  # of the post-processing bound; the others are pure
LOW, HIGH = 0.0, 1.0

SELECTION_COLUMNS = (
    "window", "first_day", "mechanism", "epsilon", "delta", "noise", "exact", "mean", "standard_error", "trials",
)  # fmt: skip


@dataclass(frozen=True)
class Contender:
    """A mechanism that may spend `epsilon` on the selection, with its exact output distribution.

    Parameters
    ----------
    label : str
        Its name in tables and legends.
    epsilon, delta : float
        What it guarantees.
    noise : float
        The scale of its noise, in units of the answers; 2 Delta / epsilon for the exponential ones.
    mechanism : ClaimedMechanism
        What is sampled.
    probabilities : callable
        From the answers to the probability of each index, in float64.
    """

    label: str
    epsilon: float
    delta: float
    noise: float
    mechanism: ClaimedMechanism
    probabilities: Callable[[Array], Array]


def contenders(size: int, sensitivity: float, epsilons: tuple[float, ...] = EPSILONS) -> Iterator[Contender]:
    """Yield every mechanism at every epsilon, for `size` answers in [0, 1]."""
    yield from _gaussian(size, sensitivity, epsilons)
    for epsilon in epsilons:
        yield from _laplace(size, sensitivity, epsilon)
        scale = 2 * sensitivity / epsilon
        for label, mechanism, distribution in (
            ("exponential mechanism", ExponentialMechanism(size, epsilon, sensitivity), exponential_probabilities),
            ("permute-and-flip", PermuteAndFlip(size, epsilon, sensitivity), permute_and_flip_probabilities),
        ):
            distribution_of_answers = partial(distribution, epsilon=epsilon, sensitivity=sensitivity)
            yield Contender(label, epsilon, 0.0, scale, mechanism, distribution_of_answers)


def _gaussian(size: int, sensitivity: float, epsilons: tuple[float, ...]) -> Iterator[Contender]:
    """Yield Gaussian noisy max, calibrated by its own bound and by post-processing the noisy answers.

    The former is Lebensold, Precup and Balle 2024, Thm 8 with its logarithm, and pure; the latter Balle and Wang
    2018, Thm 8, at l2 sensitivity Delta sqrt(d) and delta = 1/N.
    """
    own = noisy_max_sigma(epsilons, size, HIGH - LOW, sensitivity)
    processed = gaussian_sigma(epsilons, DELTA, sensitivity * np.sqrt(size))
    for label, delta, sigmas in (("Gaussian noisy max", 0.0, own), ("Gaussian post-processed", DELTA, processed)):
        for epsilon, sigma in zip(epsilons, sigmas.tolist(), strict=True):
            mechanism = GaussianNoisyMax(size, sigma, LOW, HIGH, sensitivity)
            yield Contender(label, epsilon, delta, sigma, mechanism, partial(gaussian_max_probabilities, sigma=sigma))


def _laplace(size: int, sensitivity: float, epsilon: float) -> Iterator[Contender]:
    """Yield Laplace noisy max, calibrated as a selection and by post-processing the noisy answers.

    As a selection it needs the scale 2 Delta / epsilon, whatever the number of answers; the post-processing of
    answers with l1 sensitivity d Delta needs d Delta / epsilon. The paper does not say which it compares with.
    """
    for label, share in (("Laplace noisy max", epsilon), ("Laplace post-processed", 2 * epsilon / size)):
        scale = 2 * sensitivity / share
        mechanism = LaplaceNoisyMax(size, share, sensitivity)
        yield Contender(label, epsilon, 0.0, scale, mechanism, partial(laplace_max_probabilities, scale=scale))


def selection_rows(trials: int, rng: np.random.Generator, epsilons: tuple[float, ...] = EPSILONS) -> Iterator[Row]:
    """Yield the accuracy (Eq. 39) of every contender on every window: exact, and mean of `trials` runs."""
    rides = registered_rides()
    for size, first in WINDOWS.items():
        window = rides.window(first, size)
        for contender in contenders(size, window.sensitivity, epsilons):
            yield {"window": size, "first_day": first.isoformat(), **_accuracy(contender, window, trials, rng)}


def _accuracy(contender: Contender, window: DailyCounts, trials: int, rng: np.random.Generator) -> Row:
    choices = np.asarray(contender.mechanism.sample(window.answers, trials, rng), dtype=np.int64)
    mean, error = mean_and_error(accuracy_of_choices(window.answers, choices))
    return {
        "mechanism": contender.label,
        "epsilon": contender.epsilon,
        "delta": contender.delta,
        "noise": contender.noise,
        "exact": 1 - float(contender.probabilities(window.answers) @ relative_regret(window.answers)),
        "mean": mean,
        "standard_error": error,
        "trials": trials,
    }


def paint_selection(rows: list[Row], *panels: Any) -> None:
    """Draw accuracy against epsilon, one panel a window: exact lines, sampled points with two standard errors."""
    for axes, size in zip(panels, WINDOWS, strict=True):
        window = [row for row in rows if row["window"] == size]
        for label in dict.fromkeys(row["mechanism"] for row in window):
            points = [row for row in window if row["mechanism"] == label]
            epsilons = [row["epsilon"] for row in points]
            [line] = axes.plot(epsilons, [row["exact"] for row in points], label=label)
            errors = [2 * row["standard_error"] for row in points]
            means = [row["mean"] for row in points]
            axes.errorbar(epsilons, means, errors, fmt=".", color=line.get_color(), markersize=4)
        axes.set(xscale="log", xlabel="epsilon", ylabel="accuracy", title=f"day of peak use out of {size}")
        axes.legend(fontsize="small")
