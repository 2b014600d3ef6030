"""What dpassay needs to know of noisycounts."""

import numpy as np
from noisycounts import approximate_histogram, noisy_count, noisy_sign

from dpassay.adapter import Mechanism, Nonsense

LIBRARY = "noisycounts"
RECORDS = "records:low=0,high=1,size=0,max-size=3,relation=add-remove"
NUMBER = "vector:size=1,linf=2,low=-1,high=1"

rng = np.random.Generator(np.random.PCG64())


def seed(number):
    """Make the library's randomness repeatable."""
    rng.bit_generator.state = np.random.PCG64(number).state


CASES = [
    Mechanism(
        "noisy_count(epsilon=1)",
        neighbours=RECORDS,
        claim="pure:1",
        sample_many=lambda data, size: noisy_count(data, 1.0, size, rng),
        seed=seed,
        distribution=lambda data: {"family": "discrete laplace", "location": len(data), "scale": 1.0},
    ),
    Mechanism(
        "noisy_sign(epsilon=0.5)",
        neighbours=NUMBER,
        claim="pure:0.5",
        sample_one=lambda data: noisy_sign(data[0], 0.5, rng),
        seed=seed,
    ),
    Mechanism(
        "approximate_histogram(epsilon=1)",
        neighbours=RECORDS,
        claim="pure:1",
        sample_many=lambda data, size: approximate_histogram(data, 1.0, size, rng),
        seed=seed,
    ),
    Nonsense(
        "noisy_count",
        {
            f"epsilon={epsilon}": lambda epsilon=epsilon: noisy_count([], epsilon, 1, rng)
            for epsilon in (0.0, -1.0, float("nan"), float("inf"))
        },
    ),
]
