"""How many outcomes a second the samplers of the foundations draw, on one core; run it as a script.

The mechanisms that release a single number or index are asked for 10^6 outcomes a second or more.
"""

import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from dpassay.impl.mechanisms.hadamard_response import hadamard_response
from dpassay.impl.mechanisms.laplace import laplace_of_benchmark, noisy_histogram
from dpassay.impl.mechanisms.laplace_sums import laplace_parallel, laplace_prefix_sum
from dpassay.impl.mechanisms.noisy_mean import noisy_mean
from dpassay.impl.mechanisms.posterior_sampling import posterior_sample
from dpassay.impl.mechanisms.rappor import one_time_rappor, rappor
from dpassay.impl.mechanisms.truncated_geometric import truncated_geometric
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.neighbours.pairs import adversarial_pairs

OUTCOMES, REPEATS = 1_000_000, 3
SCALAR = (laplace_of_benchmark, truncated_geometric, hadamard_response, noisy_mean, posterior_sample)
WIDE = (noisy_histogram, laplace_parallel, laplace_prefix_sum, rappor, one_time_rappor)


def outcomes_per_second(mechanism: Any) -> float:
    """Return the best of a few runs."""
    ((data, _),) = adversarial_pairs(mechanism.neighbours, seed=0, limit=1)
    best = float("inf")
    for repeat in range(REPEATS):
        rng, begin = np.random.default_rng(repeat), time.perf_counter()
        mechanism.sample(data, OUTCOMES, rng)
        best = min(best, time.perf_counter() - begin)
    return OUTCOMES / best


def main() -> None:
    """Print the table: rates, and the certified figures with the time that they take."""
    table = Table("mechanism", "outcomes/s", "required", "epsilon claimed", "epsilon certified", "seconds")
    for mechanism in (*SCALAR, *WIDE):
        found = hunt(mechanism)
        table.add_row(
            type(mechanism).__name__,
            f"{outcomes_per_second(mechanism):,.0f}",
            "1,000,000" if mechanism in SCALAR else "-",
            found.claim,
            f"{found.epsilon_lower:.12g}",
            f"{found.seconds:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
