"""How many calls a rare leak takes beside an ordinary signal, over those of a bettor who knows where to look.

Run with ``python -m benchmarks.rare_leaks [--masses P ...] [--seeds N] [--most-times K]``. The mechanism attains its
claim of 1-DP by Laplace noise, and on one of two inputs it returns, with probability p, a value that the other never
returns: an event of infinite loss. The ideal bettor stakes on that event alone; his wealth grows by
p/2 log(1 + e^-1) a call. Written to ``RESULTS.md``.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.results import machine, markdown_table, write_section
from dpassay.claims import PureDP
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT

Array = NDArray[np.float64]
Target = Callable[[Array, int, np.random.Generator], Array]

CLAIM, ALPHA = PureDP(1.0), 1e-6
PAIR = (np.zeros(1), np.ones(1))
LEAKED = 7.25


def leaking(mass: float) -> Target:
    """Return a mechanism that leaks with a probability."""

    def sample(data: Array, size: int, rng: np.random.Generator) -> Array:
        noisy = np.asarray(data[0] + rng.laplace(0, 1, size))
        return np.where(rng.random(size) < mass * data[0], LEAKED, noisy)

    return sample


def ideal_calls(mass: float) -> float:
    """Return how many calls the ideal bettor takes on average, without the overshoot."""
    return math.log(1 / ALPHA) / (mass / 2 * math.log1p(math.exp(-CLAIM.epsilon)))


def calls_to_refute(mass: float, seed: int, most: float) -> int | None:
    """Return after how many calls the claim is refuted on the pair, None if it is not within `most`."""
    target, campaign = leaking(mass), Campaign(CLAIM, [PAIR], seed=seed, ignored=frozenset({LOWEST_BIT}))
    while campaign.calls < most:
        campaign.play_round(lambda draws: [sample_side(target, draw) for draw in draws])
        if campaign.evidence.log_value() >= math.log(1 / ALPHA):
            return campaign.calls
    return None


def main() -> None:
    """Count the calls, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--masses", nargs="+", type=float, default=[1e-2, 1e-3, 1e-4, 1e-5])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most-times", type=float, default=8, help="calls over those of the ideal bettor")
    given = parser.parse_args()
    rows = []
    for mass in given.masses:
        clock, ideal = time.process_time(), ideal_calls(mass)
        found = [calls_to_refute(mass, seed, given.most_times * ideal) for seed in range(given.seeds)]
        calls = [math.inf if one is None else float(one) for one in found]
        median, seconds = statistics.median(calls), time.process_time() - clock
        rows.append(
            [f"{mass:g}", f"{ideal:,.0f}", f"{median:,.0f}", f"{median / ideal:.2f}", f"{max(calls) / ideal:.2f}"]
        )
        rows[-1].append(f"{seconds:.1f}")
        Console().print(*rows[-1])
    masses = " ".join(f"{mass:g}" for mass in given.masses)
    write_section(
        "Rare leaks beside an ordinary signal",
        f"`python -m benchmarks.rare_leaks --seeds {given.seeds} --masses {masses}`. "
        f"{machine()}\n\nA claim of 1-DP that Laplace noise attains, and an event of infinite loss; one pair, level "
        f"{ALPHA:g}.\n\n"
        + markdown_table(["mass", "ideal calls", "our median", "over the ideal", "the worst seed", "CPU s"], rows),
    )


if __name__ == "__main__":
    main()
