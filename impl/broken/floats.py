"""Textbook samplers in floating point: private in real arithmetic, but the set of possible floats depends on the data.

With few random bits the whole support is small, and the law of the outcome is known exactly. With 53 bits it is the
sampler that libraries shipped: of 1 + noise near 0 no bit below 2^-53 is ever set, of 0 + noise many are, so that the
lowest bit of the outcome tells the answer (Mironov 2012).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ApproximateDP, Claim, PureDP
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "BoxMullerGaussian",
    "InversionLaplace",
    "PolarGaussian",
    "TextbookSampler",
    "box_muller",
    "box_muller_of_few_bits",
    "inversion_laplace",
    "inversion_laplace_of_few_bits",
    "polar",
    "polar_of_few_bits",
]

Array = NDArray[np.float64]

_SEEN, _BITS = ("privacy_of_claim",), ("privacy_in_float64",)


@dataclass(frozen=True)
class TextbookSampler(ABC):
    """A number plus noise that is a float64 function of uniform words.

    Parameters
    ----------
    bits : int
        Bits of a word, up to 53.
    scale : float
        Scale or standard deviation of the noise.
    """

    bits: int
    scale: float = 1.0

    words = 1
    """Number of words per outcome."""

    @property
    def neighbours(self) -> VectorNeighbours:
        """Numbers that differ by at most 1."""
        return VectorNeighbours(1, l0=1, linf=1.0, low=-10.0, high=10.0)

    @property
    @abstractmethod
    def claims(self) -> tuple[Claim, ...]:
        """The claim in real arithmetic."""

    @abstractmethod
    def noise_of(self, words: NDArray[np.int64]) -> Array:
        """Return the noise for rows of words in [0, 2^bits)."""

    def outcomes_of(self, data: Array, words: NDArray[np.int64]) -> Array:
        """Return the outcomes on a number for rows of words."""
        [answer] = require_vector("data", data, 1)
        return np.asarray(answer + self.scale * self.noise_of(words))

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw `size` outcomes."""

        def draw(rows: int) -> Array:
            words = rng.integers(0, 2**self.bits, (rows, self.words))
            while bool((refused := ~self.accepts(words)).any()):
                words[refused] = rng.integers(0, 2**self.bits, (int(refused.sum()), self.words))
            return self.outcomes_of(data, words)

        return in_chunks(draw, size, self.words)

    def accepts(self, words: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which rows of words are accepted; the others are drawn again."""
        return np.ones(len(words), dtype=np.bool_)

    def unit(self, words: NDArray[np.int64]) -> Array:
        """Return the numbers in (0, 1) for words: the middles of 2^bits equal intervals, or their left ends."""
        if self.bits < 52:
            return np.asarray((words + 0.5) * 2.0**-self.bits)
        return np.asarray(np.maximum(words, 1) * 2.0**-self.bits)


@dataclass(frozen=True)
class InversionLaplace(TextbookSampler):
    """Laplace noise as -sign(u) log(1 - 2 |u|) of a uniform u in (-1/2, 1/2)."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Pure DP with 1/scale."""
        return (PureDP(1 / self.scale),)

    def noise_of(self, words: NDArray[np.int64]) -> Array:
        """Return unit Laplace noise."""
        uniform = self.unit(words[:, 0]) - 0.5
        return np.asarray(-np.sign(uniform) * np.log1p(-2 * np.abs(uniform)))


@dataclass(frozen=True)
class BoxMullerGaussian(TextbookSampler):
    """Normal noise as sqrt(-2 log u) cos(2 pi v)."""

    scale: float = 1.25
    words = 2

    @property
    def claims(self) -> tuple[Claim, ...]:
        """(1, 0.1)-DP, which holds for a shift of 1 and normal noise of standard deviation 1.25: delta is 0.064."""
        return (ApproximateDP(1.0, 0.1),)

    def noise_of(self, words: NDArray[np.int64]) -> Array:
        """Return standard normal noise."""
        radius = np.sqrt(-2 * np.log(self.unit(words[:, 0])))
        return np.asarray(radius * np.cos(2 * np.pi * self.unit(words[:, 1])))


@dataclass(frozen=True)
class PolarGaussian(BoxMullerGaussian):
    """Normal noise by Marsaglia's polar method: x sqrt(-2 log(s)/s) for a point of the unit circle, s = x^2 + y^2."""

    def _point(self, words: NDArray[np.int64]) -> tuple[Array, Array]:
        x, y = (2 * self.unit(words[:, k]) - 1 for k in (0, 1))
        return x, x * x + y * y

    def accepts(self, words: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which points lie in the unit circle, without its centre."""
        _, square = self._point(words)
        return np.asarray((square < 1) & (square > 0))

    def noise_of(self, words: NDArray[np.int64]) -> Array:
        """Return standard normal noise."""
        x, square = self._point(words)
        return np.asarray(x * np.sqrt(-2 * np.log(square) / square))


inversion_laplace = catalogue(
    __name__,
    InversionLaplace(53),
    mutation=Mutation("the floats that noise by inversion can reach depend on the answer", _BITS),
)
box_muller = catalogue(
    __name__,
    BoxMullerGaussian(53),
    mutation=Mutation("the floats that Box and Muller's noise can reach depend on the answer", _BITS),
)
polar = catalogue(
    __name__,
    PolarGaussian(53),
    mutation=Mutation("the floats that polar noise can reach depend on the answer", _BITS),
)
inversion_laplace_of_few_bits = catalogue(
    __name__,
    InversionLaplace(10),
    mutation=Mutation("2^10 floats carry all of the noise, and other ones for another answer", _SEEN),
)
box_muller_of_few_bits = catalogue(
    __name__,
    BoxMullerGaussian(3),
    mutation=Mutation("2^6 pairs of words carry all of Box and Muller's noise", _SEEN),
)
polar_of_few_bits = catalogue(
    __name__,
    PolarGaussian(3),
    mutation=Mutation("2^6 pairs of words carry all of the polar noise", _SEEN),
)
