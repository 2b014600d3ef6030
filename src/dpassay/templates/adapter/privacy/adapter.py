"""The adapter: how dpassay calls the library, and which claims the library makes."""

import numpy as np
from dpassay.adapter import Mechanism, Nonsense
from PROJECT import noisy_count, noisy_sum

LIBRARY = "PROJECT"
RECORDS = "records:low=-9,high=9,size=0,max-size=3,relation=add-remove"
rng = np.random.Generator(np.random.PCG64())


def seed(number):
    """Make the run repeatable."""
    rng.bit_generator.state = np.random.PCG64(number).state


CASES = [
    Mechanism(
        "noisy_count(epsilon=0.7)",
        neighbours=RECORDS,
        claim="pure:0.7",
        sample_one=lambda data: noisy_count(data, 0.7, rng),
        seed=seed,
    ),
    Mechanism(
        "noisy_sum(low=-2, high=3, epsilon=0.7)",
        neighbours=RECORDS,
        claim="pure:0.7",
        sample_one=lambda data: noisy_sum(data, -2, 3, 0.7, rng),
        seed=seed,
    ),
    Nonsense("noisy_count", {"epsilon=-1": lambda: noisy_count([], -1.0, rng)}),
]
