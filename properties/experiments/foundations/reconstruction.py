"""Reconstruction of bits from noisy sums, and the epsilon that it refutes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.attacks.reconstruction import hadamard_bits, linear_programming_bits
from dpassay.impl.hadamard import walsh_hadamard
from dpassay.properties.betting.reconstruction import Recovery
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, repetitions, table

__all__ = ["NOISES", "reconstruction", "recoveries"]

BITS, TRIALS, ALPHA = 64, 20, 1e-9
NOISES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)
"""Scales of the Laplace noise, in square roots of the number of bits; the last one is private for epsilon = 1."""

COLUMNS = ("noise", "attack", "right", "total", "share", "epsilon_lower", "epsilon_claimed")


def recoveries(noise: float, trials: int, rng: np.random.Generator) -> dict[str, Recovery]:
    """Attack fresh bits behind Laplace noise of scale `noise` sqrt(n), by both attacks on the same answers."""
    queries = walsh_hadamard(np.eye(BITS))
    found = {"hadamard": Recovery(), "linear programming": Recovery()}
    for _ in range(trials):
        secret = rng.integers(0, 2, BITS)
        answers = queries @ secret + rng.laplace(scale=noise * BITS**0.5, size=BITS)
        guesses: dict[str, NDArray[np.int64]] = {
            "hadamard": hadamard_bits(answers),
            "linear programming": linear_programming_bits(queries, answers),
        }
        for attack, guess in guesses.items():
            found[attack] = found[attack].after(int(np.sum(guess == secret)), BITS)
    return found


def _rows(seed: int, trials: int, progress: Progress) -> Iterator[dict[str, Any]]:
    for k, noise in enumerate(NOISES):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k,)))
        for attack, recovery in recoveries(noise, trials, rng).items():
            yield {
                "noise": noise, "attack": attack, "right": recovery.right, "total": recovery.total,
                "share": recovery.right / recovery.total, "epsilon_lower": recovery.epsilon_lower(ALPHA),
                "epsilon_claimed": BITS**0.5 / noise,
            }  # fmt: skip
        progress(f"noise of {noise:g} sqrt(n)", (k + 1) / (len(NOISES) + 1))


@experiment(
    "reconstruction",
    ("gaboardi2017", "noise_below_sqrt_n_is_blatantly_non_private"),
    ("gaboardi2017", "fourier_reconstruction"),
)
def reconstruction(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:
    """Reconstruct 64 bits from 64 noisy sums, by Hadamard decoding and linear programming.

    The noise goes from far below sqrt(n) to n; epsilon_claimed is what the Laplace noise really costs, epsilon_lower
    what the recovered bits refute, each with a chance of 1e-9 to be wrong.

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
    rows = list(_rows(seed, repetitions(trials, TRIALS), progress))
    path = out / "reconstruction.csv"
    with table(path, *COLUMNS) as written:
        for row in rows:
            written.write(**row)

    def paint(axes: Any) -> None:
        for attack in ("hadamard", "linear programming"):
            points = [(row["noise"], row["share"]) for row in rows if row["attack"] == attack]
            axes.plot(*zip(*points, strict=True), marker="o", label=attack)
        axes.set(xscale="log", xlabel="scale of the noise / sqrt(n)", ylabel="share of bits recovered")
        axes.legend()

    return [path, *draw(out / "reconstruction.png", 1, paint, progress)]
