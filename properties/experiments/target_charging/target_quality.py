"""Claimed qualities of targets compared with the exact quality of the worst pair found."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.target_quality import target_quality
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import repetitions, table
from dpassay.properties.experiments.target_charging.quality_families import FAMILIES, Family

__all__ = ["run", "worst_quality"]

Array = NDArray[np.float64]

EPSILONS = (0.01, 0.1, 0.3, 0.5, 1.0, 2.0, 4.0)
PAIRS = 20_000
COLUMNS = ("target", "epsilon", "charged_at", "claimed", "exact", "found", "claimed_over_found", "cost_of_a_hit")


def worst_quality(family: Family, epsilon: float, count: int, rng: np.random.Generator) -> float:
    """Return the least exact quality of `count` pairs of a family, including designed ones; rounded down.

    Parameters
    ----------
    family : Family
        The family of targets.
    epsilon : float
        Privacy parameter, nats.
    count : int
        Number of pairs.
    rng : numpy.random.Generator
        Source of randomness.
    """
    left, right = family.pairs(epsilon, count, rng)
    target = np.zeros(left.shape[-1], dtype=np.bool_)
    target[list(family.target)] = True
    hit = left[:, target].sum(axis=1) > 0
    return float(target_quality(left[hit], right[hit], target, family.charged(epsilon)).min())


@experiment("target-quality", ("cohen2023", "q_target_pure"))
def run(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:
    """Compare claimed qualities of targets with the exact quality of the worst pair found.

    `claimed` is the paper's (misprints corrected), `exact` the largest that holds for the family, `found` the least
    among the pairs tried; `cost_of_a_hit` is the charge for a hit at the exact quality, in units of epsilon.

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
    count = max(2, repetitions(trials, PAIRS))
    rng = np.random.default_rng(seed)
    path = out / "target_quality.csv"
    with table(path, *COLUMNS) as rows:
        for k, family in enumerate(FAMILIES):
            for epsilon in EPSILONS:
                claimed, exact = float(family.claimed(epsilon)), float(family.exact(epsilon))
                found = worst_quality(family, epsilon, count, rng)
                charged = family.charged(epsilon)
                rows.write(
                    target=family.name,
                    epsilon=epsilon,
                    charged_at=charged,
                    claimed=claimed,
                    exact=exact,
                    found=found,
                    claimed_over_found=claimed / found,
                    cost_of_a_hit=charged / (epsilon * exact),
                )
            progress(family.name, (k + 1) / len(FAMILIES))
    return [path]
