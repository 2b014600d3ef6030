"""The doubling method: Gaussian releases of doubled precision until one is accurate enough; all are charged."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import require_at_least, require_positive
from dpassay.claims import ZCDP, Claim
from dpassay.impl.accounting.filters.interface import exactly
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.noise_reduction import NoiseReduction, require_times
from dpassay.impl.validation import require_open_probability
from dpassay.neighbours import VectorNeighbours

__all__ = ["DoublingMethod", "RelativeError", "doubled_precisions", "doubling_method"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RelativeError:
    """Stops once the release is so large, in standard deviations, that one of them is half the accuracy wanted.

    Of a release the first coordinate counts. With s its standard deviation: at s (2 + accuracy)/accuracy and above,
    and below -s (2 - accuracy)/accuracy. The quotients of Rogers, Samorodnitsky, Wu and Ramdas 2023, Sec 7.2, come to
    this.

    Parameters
    ----------
    accuracy : float
        Relative, in (0, 1).

    Raises
    ------
    UsageError
        If the accuracy is out of its domain.
    """

    accuracy: float

    def __post_init__(self) -> None:
        require_open_probability("accuracy", self.accuracy)

    def __call__(self, times: Array, values: Array) -> NDArray[np.bool_]:
        """Return which runs are content with their latest release."""
        return self.content(np.sqrt(times[-1]), values[:, -1, 0])

    def content(self, deviations: Array, values: Array) -> NDArray[np.bool_]:
        """Return which values are large enough for their standard deviations."""
        above, below = (2 + self.accuracy) / self.accuracy, (2 - self.accuracy) / self.accuracy
        return np.asarray((values >= above * deviations) | (values < -below * deviations))


def doubled_precisions(smallest: float, budget: float) -> Array:
    """Return smallest, 2 smallest, 4 smallest, ... as long as their sum stays within the budget of precision.

    Raises
    ------
    UsageError
        If `smallest` is not positive or the budget is negative.
    """
    require_positive("smallest", smallest)
    require_at_least("budget", budget, 0)
    # smallest (2^steps - 1) <= budget, exactly: 2^steps is at most the quotient plus 1, and so at most its whole part
    steps = math.floor(exactly(budget) / exactly(smallest) + 1).bit_length() - 1
    return np.ldexp(float(smallest), np.arange(steps))


@dataclass(frozen=True)
class DoublingMethod(NoiseReduction):
    """Fresh Gaussian noise at every time of the grid, so that every release counts.

    Rogers, Samorodnitsky, Wu and Ramdas 2023, Sec 7.1, where the times halve. The sensitivity is Euclidean.
    """

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Concentrated DP with the sum of sensitivity^2/(2 t) over the whole grid, rounded up."""
        precision = float((1 / require_times(self.times)).sum())
        return (ZCDP(self.sensitivity**2 * precision / 2 * (1 + 2.0**-40)),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Vectors at a Euclidean distance of at most the sensitivity."""
        return VectorNeighbours(size=self.size, l2=self.sensitivity)

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw independent noise at all times."""
        scales = np.sqrt(require_times(self.times))
        return np.asarray(scales[:, None] * rng.standard_normal((rows, scales.size, self.size)))


doubling_method = catalogue(
    __name__,
    DoublingMethod(size=1, times=(4.0, 2.0, 1.0, 0.5), stop=RelativeError(0.5)),
    items=(("rogers2023", "doubling_method"), ("rogers2023", "relative_error_stopping_rule")),
)
