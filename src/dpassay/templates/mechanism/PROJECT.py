"""A mechanism: the number of records, with geometric noise."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPSILON = 1.0


def PROJECT(data: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return `size` independent releases of the number of records in `data`; epsilon = 1.

    Replace the body by a call of your own mechanism. `size` releases on the same data must be independent: draw fresh
    noise for each. All random numbers come from `rng`, so that a counterexample can be repeated.
    """
    stop = -math.expm1(-EPSILON)
    return len(data) + rng.geometric(stop, size) - rng.geometric(stop, size)
