"""Broken sparse vector techniques: the broken rows of the common benchmark, and further mutants.

Lyu, Su and Li 2017 compare six published variants, of which the third to the sixth are wrong; the numbers are theirs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.laplace_above_threshold import leads_over
from dpassay.impl.mechanisms.laplace_sparse_vector import LaplaceSparseVector, first_places, interleaved
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_vector

__all__ = [
    "BareQueries",
    "HaltsLate",
    "IgnoresEpsilon",
    "NeverHalts",
    "OneMoveForgotten",
    "QuarterSplit",
    "ReleasesTestedAnswer",
    "StaleThresholdNoise",
    "ThirdAndFourth",
    "ThresholdFromData",
]

Array = NDArray[np.float64]

_SEEN = ("privacy_of_claim",)
_ITEMS = (("gaboardi2017", "sparse_vector"),)
_BENCHMARK: dict[str, Any] = {"size": 10, "threshold": 1.0, "epsilon": 0.1, "low": -10.0, "high": 10.0}


# --- the benchmark's rows -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReleasesTestedAnswer(LaplaceSparseVector):
    """Releases (place, noisy answer) of each hit, the answer that was tested, noise Lap(2 cutoff/epsilon). SVT3."""

    @property
    def query_scale(self) -> float:
        """Scale of the noise on every answer."""
        return 2 * self.cutoff * self.sensitivity / self.epsilon

    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `rows` outcomes, wrongly."""
        noise = self.query_scale * rng.laplace(size=(rows, self.size))
        thresholds = self.threshold_scale * rng.laplace(size=(rows, 1))
        places = first_places(noise + leads_over(self.threshold, answers) >= thresholds, self.most_hits)
        chosen = np.take_along_axis(answers + noise, np.maximum(places - 1, 0), axis=1)
        return interleaved(places, chosen)


@dataclass(frozen=True)
class QuarterSplit(LaplaceSparseVector):
    """A quarter of the budget for the threshold, the rest for the answers, independent of the cutoff. SVT4."""

    @property
    def threshold_scale(self) -> float:
        """Scale of the noise on the threshold."""
        return 4 * self.sensitivity / self.epsilon

    @property
    def query_scale(self) -> float:
        """Scale of the noise on every answer."""
        return 4 * self.sensitivity / (3 * self.epsilon)


@dataclass(frozen=True)
class BareQueries(LaplaceSparseVector):
    """No noise on the answers, and no halt. SVT5."""

    @property
    def most_hits(self) -> int:
        """The length of an outcome."""
        return self.size

    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `rows` outcomes, wrongly."""
        thresholds = self.threshold_scale * rng.laplace(size=(rows, 1))
        return first_places(leads_over(self.threshold, answers) >= thresholds, self.size)


@dataclass(frozen=True)
class NeverHalts(LaplaceSparseVector):
    """Noise Lap(2/epsilon) on threshold and answers, and no halt. SVT6."""

    @property
    def most_hits(self) -> int:
        """The length of an outcome."""
        return self.size

    @property
    def query_scale(self) -> float:
        """Scale of the noise on every answer."""
        return 2 * self.sensitivity / self.epsilon


@dataclass(frozen=True)
class ThirdAndFourth(LaplaceSparseVector):
    """SVT3 and SVT4 on the same input, independently: the row of the one followed by that of the other."""

    @property
    def parts(self) -> tuple[ReleasesTestedAnswer, QuarterSplit]:
        """The two mechanisms."""
        fields = (self.size, self.threshold, self.epsilon, self.cutoff, self.sensitivity, self.low, self.high)
        return ReleasesTestedAnswer(*fields), QuarterSplit(*fields)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows on the answers `data`."""
        answers = require_vector("data", data, self.size, self.low, self.high)
        return in_chunks(lambda rows: self.draw(answers, rows, rng), size, 2 * (self.size + 1))

    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `rows` outcomes, wrongly."""
        return np.concatenate([part.draw(answers, rows, rng) for part in self.parts], axis=1)


# --- mutants beyond the benchmark ---------------------------------------------------------------------------


@dataclass(frozen=True)
class OneMoveForgotten(LaplaceSparseVector):
    """Half of the required noise on the answers, as if answer and threshold did not move in opposite directions."""

    @property
    def query_scale(self) -> float:
        """Scale of the noise on every answer."""
        return 2 * self.cutoff * self.sensitivity / self.epsilon


@dataclass(frozen=True)
class StaleThresholdNoise(LaplaceSparseVector):
    """Noise of one run for `cutoff` runs: the threshold noise is not redrawn, the answer noise is not scaled."""

    @property
    def query_scale(self) -> float:
        """Scale of the noise on every answer."""
        return 4 * self.sensitivity / self.epsilon


@dataclass(frozen=True)
class IgnoresEpsilon(LaplaceSparseVector):
    """Noise for epsilon = 1 at every budget."""

    @property
    def threshold_scale(self) -> float:
        """Scale of the noise on the threshold."""
        return 2 * self.sensitivity

    @property
    def query_scale(self) -> float:
        """Scale of the noise on every answer."""
        return 4 * self.cutoff * self.sensitivity


@dataclass(frozen=True)
class HaltsLate(LaplaceSparseVector):
    """Halts one hit after the cutoff for which the noise is calibrated."""

    @property
    def most_hits(self) -> int:
        """The length of an outcome."""
        return min(self.cutoff + 1, self.size)


@dataclass(frozen=True)
class ThresholdFromData(LaplaceSparseVector):
    """The threshold is the first answer of the stream, as if it were public."""

    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `rows` outcomes, wrongly."""
        return super().draw(answers - (answers[0] - self.threshold), rows, rng)


# --- the catalogue ------------------------------------------------------------------------------------------

releases_tested_answer = catalogue(
    __name__,
    ReleasesTestedAnswer(**_BENCHMARK),
    items=_ITEMS,
    mutation=Mutation(
        "SVT3: the noisy answer that passed the test is released, so that the threshold lies below it", _SEEN
    ),
)

quarter_split = catalogue(
    __name__,
    QuarterSplit(**_BENCHMARK),
    items=_ITEMS,
    mutation=Mutation(
        "SVT4: an answer that passes pays twice its share, and the noise is not scaled with the cutoff", _SEEN
    ),
)

bare_queries = catalogue(
    __name__,
    BareQueries(**_BENCHMARK),
    items=_ITEMS,
    mutation=Mutation("SVT5: the answers have no noise, so that their order shows", _SEEN),
)

never_halts = catalogue(
    __name__,
    NeverHalts(**_BENCHMARK),
    items=_ITEMS,
    mutation=Mutation("SVT6: no halt, so that the loss grows with the stream", _SEEN),
)

third_and_fourth = catalogue(
    __name__,
    ThirdAndFourth(**_BENCHMARK, cutoff=2),
    items=_ITEMS,
    mutation=Mutation("SVT34Parallel: SVT3 and SVT4 on the same input, together claimed as private as one", _SEEN),
)

one_move_forgotten = catalogue(
    __name__,
    OneMoveForgotten(size=10, threshold=0.0, epsilon=1.0, low=-10.0, high=10.0),
    mutation=Mutation("noise for answers that all move the same way, on streams whose answers do not", _SEEN),
)

stale_threshold_noise = catalogue(
    __name__,
    StaleThresholdNoise(size=10, threshold=0.0, epsilon=1.0, cutoff=3, low=-10.0, high=10.0),
    mutation=Mutation("the threshold's noise is kept for several runs that are charged as one", _SEEN),
)

ignores_epsilon = catalogue(
    __name__,
    IgnoresEpsilon(**_BENCHMARK),
    mutation=Mutation("the noise does not depend on epsilon", _SEEN),
)

halts_late = catalogue(
    __name__,
    HaltsLate(size=10, threshold=-10.0, epsilon=2.0, low=-10.0, high=10.0),
    mutation=Mutation("one hit more than the noise is made for", _SEEN),
)

threshold_from_data = catalogue(
    __name__,
    ThresholdFromData(size=10, threshold=0.0, epsilon=1.0, low=-10.0, high=10.0),
    mutation=Mutation("the threshold is the first answer, and moves against the others", _SEEN),
)
