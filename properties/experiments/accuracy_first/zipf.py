"""Figures 2 and 3: accurate counts of a Zipf histogram, and of synthetic word counts.

The budget of both methods comes from (epsilon, delta) = (10, 1e-6) by rho + 2 sqrt(rho log(1/delta)), the constant of
the proof of Thm 6 and of Thm 2; beside it stands noise reduction with the constant that Thm 6 is printed with.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.zcdp_budget import largest_rho
from dpassay.properties.experiments.accuracy_first.accurate_counts import Protocol, release
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, mean_and_error, repetitions, table

__all__ = ["ACCOUNTS", "COLUMNS", "SIZES", "printed_rho", "run_word_counts", "run_zipf", "zipf_histogram"]

Array = NDArray[np.float64]
Row = dict[str, Any]

EXPONENT, MAXIMUM, TRIALS = 0.75, 300, 1000
SIZES = (8_000, 16_000, 32_000, 64_000, 128_000)
EPSILON, DELTA = 10.0, 1e-6
ZIPF = Protocol(budget=2 * largest_rho(EPSILON, DELTA), smallest=1e-4, accuracy=0.1, selection_epsilon=0.1)
WORDS = Protocol(budget=2 * largest_rho(1.0, DELTA), smallest=1e-4, accuracy=0.01, selection_epsilon=0.01)

COLUMNS = (
    "samples", "method", "accounting", "budget", "released", "released_deviation", "precision", "precision_deviation",
    "trials",
)  # fmt: skip


@dataclass(frozen=True)
class Account:
    """A method with its budget under an accounting."""

    method: str
    accounting: str


ACCOUNTS = (
    Account("noise reduction", "proved"),
    Account("noise reduction", "printed"),
    Account("doubling", "proved"),
)


def printed_rho(epsilon: float, delta: float) -> float:
    """Return the rho of the published Thm 6: rho + 2 sqrt(2 rho log(1/delta)) = epsilon."""
    level = -2 * math.log(delta)
    return (epsilon / (math.sqrt(level + epsilon) + math.sqrt(level))) ** 2


def zipf_histogram(samples: int, rng: np.random.Generator) -> Array:
    """Count `samples` draws from P(k) proportional to k^-0.75, k = 1, ..., 300."""
    weights = np.arange(1, MAXIMUM + 1) ** -EXPONENT
    return np.asarray(rng.multinomial(samples, weights / weights.sum()), dtype=np.float64)


def _rows(
    histograms: Iterator[tuple[int, Array]], protocol: Protocol, epsilon: float, runs: int, rng: np.random.Generator
) -> Iterator[Row]:
    for samples, counts in histograms:
        for account in ACCOUNTS:
            budget = 2 * printed_rho(epsilon, DELTA) if account.accounting == "printed" else protocol.budget
            got = release(account.method, counts, replace(protocol, budget=budget), runs, rng)
            released, _ = mean_and_error(got.counts)
            precision, _ = mean_and_error(got.precision)
            yield {
                "samples": samples,
                "method": account.method,
                "accounting": account.accounting,
                "budget": budget,
                "released": released,
                "released_deviation": float(got.counts.std()),
                "precision": precision,
                "precision_deviation": float(got.precision.std()),
                "trials": runs,
            }


@experiment("zipf", ("rogers2023", "zipf_experiment"), ("rogers2023", "figures"))
def run_zipf(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:
    """Count a Zipf histogram to 10 %, by noise reduction and by the doubling method (Figures 2 and 3).

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
    runs, rng = repetitions(trials, TRIALS), np.random.default_rng(seed)
    histograms = [(samples, zipf_histogram(samples, rng)) for samples in SIZES]
    path, rows = out / "zipf.csv", []
    with table(path, *COLUMNS) as lines:
        for row in _rows(iter(histograms), ZIPF, EPSILON, runs, rng):
            lines.write(**row)
            rows.append(row)
            progress(f"{row['method']}, {row['samples']} samples", len(rows) / len(SIZES) / len(ACCOUNTS))
    figure = out / "zipf.png"
    return [path, *draw(figure, 3, lambda *axes: _paint(histograms[-1][1], rows, *axes), progress)]


def _paint(histogram: Array, rows: list[Row], bars: Any, precision: Any, released: Any) -> None:
    """Draw the largest histogram, and precision and number of results against the sample size."""
    bars.bar(np.arange(1, len(histogram) + 1), histogram, width=1.0)
    bars.set(xlabel="element", ylabel="count")
    for account in ACCOUNTS:
        mine = [row for row in rows if (row["method"], row["accounting"]) == (account.method, account.accounting)]
        label = account.method + ("" if account.accounting == "proved" else ", printed constant")
        for axes, key in ((precision, "precision"), (released, "released")):
            xs, ys, errors = ([row[name] for row in mine] for name in ("samples", key, f"{key}_deviation"))
            axes.errorbar(xs, ys, errors, marker=".", capsize=2, label=label)
            axes.set(xscale="log", xlabel="samples", ylabel=key)
    released.legend(fontsize="x-small")


@experiment("word-counts", ("rogers2023", "reddit_experiment"))
def run_word_counts(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:
    """Count a thousand words to 1 % on synthetic word counts; the comments of the paper are not shipped.

    The counts fall as a power of the rank from 100,000 on; the protocol is the paper's, with the smallest precision
    (epsilon^(1))^2 = 1e-4, since the printed epsilon^(1) = 1e-4 contradicts its numbers.

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
    runs, rng = repetitions(trials, TRIALS), np.random.default_rng(seed)
    counts = np.floor(1e5 * np.arange(1, 1001) ** -0.75)
    path = out / "word-counts.csv"
    with table(path, *COLUMNS) as lines:
        for done, row in enumerate(_rows(iter([(len(counts), counts)]), WORDS, 1.0, runs, rng), start=1):
            lines.write(**row)
            progress(row["method"], done / len(ACCOUNTS))
    return [path]
