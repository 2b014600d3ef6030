"""Broken additive noise and exponents: wrong scale, wrong norm, shared noise, exponents that are too large."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PureDP
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.hadamard import walsh_hadamard
from dpassay.impl.mechanisms.dual_query import DualQuery
from dpassay.impl.mechanisms.exponential import ExponentialMechanism
from dpassay.impl.mechanisms.laplace import LaplaceMechanism
from dpassay.impl.mechanisms.laplace_sums import LaplacePrefixSum
from dpassay.impl.mechanisms.posterior_sampling import PosteriorSample
from dpassay.impl.mechanisms.randomised_response import RandomisedResponse
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "AllDiffer",
    "AnswersRepeatedly",
    "ClaimsTheLastRound",
    "DoubledExponent",
    "HadamardAnswers",
    "HalvesTheLikelihoodBound",
    "InvertedScale",
    "MaximumNorm",
    "NoisyDatabase",
    "SharedNoise",
    "UnscaledNoise",
    "claims_one_answer_of_a_noisy_database",
    "claims_the_last_round",
    "claims_the_maximum_norm",
    "drops_the_factor_two",
    "forgets_epsilon_in_the_scale",
    "halves_the_likelihood_bound",
    "inverts_the_scale",
    "noise_below_root_n",
    "prefix_sum_of_all_answers",
    "reports_each_bit_twice",
    "shares_the_laplace_noise",
]

Array = NDArray[np.float64]

_SEEN = ("privacy_of_claim",)


# --- the scale of the noise ---------------------------------------------------------------------------------


class InvertedScale(LaplaceMechanism):
    """Noise of scale epsilon times sensitivity: NoisyHist2 of the common benchmark."""

    @property
    def scale(self) -> float:
        """The wrong scale."""
        return self.sensitivity * self.epsilon


class UnscaledNoise(LaplaceMechanism):
    """Noise of scale sensitivity, independent of epsilon."""

    @property
    def scale(self) -> float:
        """The wrong scale."""
        return self.sensitivity


class MaximumNorm(LaplaceMechanism):
    """Noise for the largest change of one answer, although all answers may change."""

    @property
    def neighbours(self) -> VectorNeighbours:
        """Vectors at a distance of at most the sensitivity in every coordinate."""
        return VectorNeighbours(self.size, linf=self.sensitivity, low=self.low, high=self.high)


class SharedNoise(LaplaceMechanism):
    """One noise, of the right scale, added to all answers."""

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` vectors whose differences are those of the data."""
        answers = require_vector("data", data, self.size)
        return in_chunks(lambda rows: answers + self.scale * rng.laplace(size=(rows, 1)), size, self.size)


class AllDiffer(LaplacePrefixSum):
    """Running sums with noise calibrated for one changed answer, although all may change."""

    @property
    def neighbours(self) -> VectorNeighbours:
        """Every answer may differ by 1."""
        return VectorNeighbours(self.size, linf=1.0, low=self.low, high=self.high)


# --- answers about bits -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HadamardAnswers:
    """All n sums of n bits with coefficients of a Hadamard matrix, with Laplace noise of scale sqrt(n)/8.

    Far less than an error of sqrt(n)/4: three quarters of the bits can be told from one outcome.
    """

    size: int
    epsilon: float = 1.0

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return math.sqrt(self.size) / 8

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The wrong claim."""
        return (PureDP(self.epsilon),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Bit vectors of which one bit differs."""
        return VectorNeighbours(self.size, l0=1, linf=1.0, low=0.0, high=1.0, integer=True)

    def answers(self, data: Array) -> Array:
        """Return the sums without noise."""
        return walsh_hadamard(require_vector("data", data, self.size, 0.0, 1.0))

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of answers."""
        answers = self.answers(data)

        def draw(rows: int) -> Array:
            return np.asarray(answers + rng.laplace(scale=self.scale, size=(rows, self.size)))

        return in_chunks(draw, size, self.size)


@dataclass(frozen=True)
class NoisyDatabase(HadamardAnswers):
    """Noise is added once to the bits, all sums are computed from the noisy bits, and the claim covers one sum only.

    A sum of n noisy bits has noise of scale about sqrt(n)/epsilon, and epsilon/sqrt(n) is claimed for it.
    """

    @property
    def scale(self) -> float:
        """Scale of the noise of one bit."""
        return 1 / self.epsilon

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claim for a single sum."""
        return (PureDP(self.epsilon / math.sqrt(self.size)),)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of sums of noisy bits."""
        bits = require_vector("data", data, self.size, 0.0, 1.0)

        def draw(rows: int) -> Array:
            return walsh_hadamard(bits + rng.laplace(scale=self.scale, size=(rows, self.size)))

        return in_chunks(draw, size, self.size)


class AnswersRepeatedly(RandomisedResponse):
    """Releases the vector twice with independent responses, and claims the cost of one release."""

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` rows of two responses."""
        once, again = (super(AnswersRepeatedly, self).sample(data, size, rng).reshape(size, -1) for _ in range(2))
        return np.concatenate([once, again], axis=1)


# --- exponents ----------------------------------------------------------------------------------------------


class DoubledExponent(ExponentialMechanism):
    """Probabilities proportional to exp(epsilon score / sensitivity) for scores that move both ways."""

    def log_weights(self, data: Array) -> Array:
        """Return the wrong exponents."""
        return 2 * super().log_weights(data)


class HalvesTheLikelihoodBound(PosteriorSample):
    """Claims B where a record is replaced."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The wrong claim."""
        return (PureDP(self.log_likelihood_bound),)


class ClaimsTheLastRound(DualQuery):
    """Claims the cost of the last round alone, (T - 1) eta/n without the factor 2."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The wrong claim."""
        return (PureDP(self.samples * self.eta * (self.rounds - 1) / (2 * self.records)),)


inverts_the_scale = catalogue(
    __name__,
    InvertedScale(5, 0.1, low=-10.0, high=10.0, l0=1, integer=True),
    mutation=Mutation("the noise has scale epsilon in place of 1/epsilon", _SEEN),
)
forgets_epsilon_in_the_scale = catalogue(
    __name__,
    UnscaledNoise(2, 0.5),
    mutation=Mutation("the noise is not scaled by 1/epsilon", _SEEN),
)
claims_the_maximum_norm = catalogue(
    __name__,
    MaximumNorm(5, 0.5),
    mutation=Mutation("the sensitivity is that of one answer, where all answers may change", _SEEN),
)
shares_the_laplace_noise = catalogue(
    __name__,
    SharedNoise(3, 1.0),
    mutation=Mutation("one noise is added to all answers, so that their differences are exact", _SEEN),
)
prefix_sum_of_all_answers = catalogue(
    __name__,
    AllDiffer(10, 0.1),
    mutation=Mutation("running sums calibrated for one answer that differs, where all differ", _SEEN),
)
noise_below_root_n = catalogue(
    __name__,
    HadamardAnswers(16),
    mutation=Mutation("noise of scale sqrt(n)/8 on n sums of n bits, with a claim of 1", _SEEN),
)
claims_one_answer_of_a_noisy_database = catalogue(
    __name__,
    NoisyDatabase(2),
    mutation=Mutation("noise is added once to the database, and the cost of a single sum over it is claimed", _SEEN),
)
reports_each_bit_twice = catalogue(
    __name__,
    AnswersRepeatedly(2, 1.0),
    mutation=Mutation("two responses about every bit at the price of one", _SEEN),
)
drops_the_factor_two = catalogue(
    __name__,
    DoubledExponent(size=5, epsilon=1.0),
    mutation=Mutation("exp(epsilon u / sensitivity), though scores move both ways", _SEEN),
)
halves_the_likelihood_bound = catalogue(
    __name__,
    HalvesTheLikelihoodBound((0.25, 0.75)),
    mutation=Mutation("the cost of a posterior sample is taken to be the bound on one log-likelihood", _SEEN),
)
claims_the_last_round = catalogue(
    __name__,
    ClaimsTheLastRound(((1, 0, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1)), records=2, rounds=3),
    mutation=Mutation("a query is paid for at half of its price, and in the last round only", _SEEN),
)
