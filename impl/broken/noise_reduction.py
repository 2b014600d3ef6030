"""Broken noise reduction: faults in the noise, in the stopping rule or in the claim."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, ExPost
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.brownian_noise_reduction import BrownianNoiseReduction, brownian_noise
from dpassay.impl.mechanisms.laplace_noise_reduction import LaplaceNoiseReduction
from dpassay.impl.mechanisms.noise_reduction import StopsAbove, released_counts

__all__ = [
    "FlatTooOften",
    "ForwardRelease",
    "FreshLaplaceNoise",
    "FreshNoise",
    "LooksAhead",
    "NarrowBridge",
    "PeeksAtTheNoise",
    "PostProcessedBound",
    "TimesForDeviations",
    "bridges_too_narrowly",
    "charges_the_processed_outcome",
    "draws_fresh_laplace_noise",
    "draws_fresh_noise",
    "ends_when_the_noise_is_small",
    "keeps_the_noise_too_often",
    "releases_the_least_noisy_first",
    "stops_on_the_next_release",
    "takes_times_for_deviations",
]

Array = NDArray[np.float64]

_SEEN = ("privacy_of_claim",)
_STOPS_WRONGLY = ("privacy_of_claim", "stopping_on_releases")


class FreshNoise(BrownianNoiseReduction):
    """Independent noise at every time, charged for the last one only."""

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw noise with the right variances and no correlation."""
        noise: Array = np.sqrt(np.array(self.times))[:, None] * rng.standard_normal((rows, len(self.times), self.size))
        return noise


class NarrowBridge(BrownianNoiseReduction):
    """A Brownian bridge from t to s with variance s (t - s)/t^2, too small by a factor of time."""

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw Brownian motions backwards with the wrong bridge."""
        t = self.times[0]
        values = [np.sqrt(t) * rng.standard_normal((rows, self.size))]
        for s in self.times[1:]:
            spread = np.sqrt(s * (t - s)) / t
            values.append(s / t * values[-1] + spread * rng.standard_normal((rows, self.size)))
            t = s
        return np.stack(values, axis=1)


class TimesForDeviations(BrownianNoiseReduction):
    """Noise whose standard deviation at time t is t."""

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw Brownian motions at the squares of the times."""
        return brownian_noise(np.array(self.times) ** 2, rows, rng, dimension=self.size)


class ForwardRelease(LaplaceNoiseReduction):
    """Releases in order of increasing times: the first release has the least noise."""

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw the noises of the process in the wrong order."""
        return np.flip(super().noise(rows, rng), axis=1)


class FreshLaplaceNoise(LaplaceNoiseReduction):
    """Independent Laplace noise at every time, charged for the last one only."""

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw noise with the right scales and no dependence."""
        return np.array(self.times)[:, None] * rng.laplace(size=(rows, len(self.times), self.size))


class FlatTooOften(LaplaceNoiseReduction):
    """Increments that vanish with probability s/t instead of (s/t)^2."""

    def noise(self, rows: int, rng: np.random.Generator) -> Array:
        """Draw processes that are constant too often."""
        grid = np.array(self.times)
        below = np.append(grid[1:], 0.0)
        shape = rows, len(grid), self.size
        moves = rng.random(shape) >= (below / grid)[:, None]
        increments = np.where(moves, grid[:, None] * rng.laplace(size=shape), 0.0)
        return np.cumsum(increments[:, ::-1], axis=1)[:, ::-1]


class PeeksAtTheNoise(LaplaceNoiseReduction):
    """Passes the noise to the stopping rule instead of the release: the rule depends on the true error."""

    def released(self, answers: Array, noise: Array) -> NDArray[np.int64]:  # noqa: ARG002  # the mistake
        """Return the number of releases of each run, determined by its noise."""
        return released_counts(self.stop, np.array(self.times), noise)


class LooksAhead(LaplaceNoiseReduction):
    """Passes the next release to the stopping rule instead of the last one."""

    def released(self, answers: Array, noise: Array) -> NDArray[np.int64]:
        """Return the number of releases of each run, determined by the next value."""
        values = answers + noise
        return released_counts(self.stop, np.array(self.times), np.roll(values, -1, axis=1))


class PostProcessedBound(LaplaceNoiseReduction):
    """Publishes the last release only, with the bound of a run of one release."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Ex-post: the cost of the largest time, because the outcome no longer contains the time."""
        return (ExPost(lambda _: self.ex_post_epsilon(1), "price of the first release"),)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw the last releases of `size` runs."""
        rows = super().sample(data, size, rng)
        last: NDArray[Any] = rows[np.arange(len(rows)), rows[:, 0].astype(int)]
        return last


draws_fresh_noise = catalogue(
    __name__,
    FreshNoise(size=1, times=(1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.0)),
    mutation=Mutation("the noise at each time is fresh, and only the last time is charged", _SEEN),
)

bridges_too_narrowly = catalogue(
    __name__,
    NarrowBridge(size=1, times=(16.0, 1.0)),
    mutation=Mutation("the bridge from t to s has variance s (t - s)/t^2 in the place of s (t - s)/t", _SEEN),
)

takes_times_for_deviations = catalogue(
    __name__,
    TimesForDeviations(size=1, times=(1.0, 0.25)),
    mutation=Mutation("the standard deviation at time t is t, not its root", _SEEN),
)

releases_the_least_noisy_first = catalogue(
    __name__,
    ForwardRelease(size=1, times=(4.0, 2.0, 1.0), stop=StopsAbove(0.5)),
    mutation=Mutation(
        "the values are released with growing noise, so that a run that stops early has told most", _SEEN
    ),
)

draws_fresh_laplace_noise = catalogue(
    __name__,
    FreshLaplaceNoise(size=1, times=(1.2, 1.1, 1.0)),
    mutation=Mutation("the Laplace noise at each time is fresh, and only the last time is charged", _SEEN),
)

keeps_the_noise_too_often = catalogue(
    __name__,
    FlatTooOften(size=1, times=(4.0, 0.5), stop=StopsAbove(-1.0)),
    mutation=Mutation("increments vanish with probability s/t in the place of (s/t)^2", _SEEN),
)

ends_when_the_noise_is_small = catalogue(
    __name__,
    PeeksAtTheNoise(size=1, times=(4.0, 1.0), stop=StopsAbove(0.0)),
    mutation=Mutation("the stopping rule sees the true error", _STOPS_WRONGLY),
)

stops_on_the_next_release = catalogue(
    __name__,
    LooksAhead(size=1, times=(4.0, 0.5), stop=StopsAbove(0.5)),
    mutation=Mutation("the stopping rule looks ahead: it sees the release that it decides about", _STOPS_WRONGLY),
)

charges_the_processed_outcome = catalogue(
    __name__,
    PostProcessedBound(size=1, times=(4.0, 0.5), stop=StopsAbove(1.0)),
    mutation=Mutation("an ex-post bound is evaluated at an outcome from which the time was dropped", _SEEN),
)
