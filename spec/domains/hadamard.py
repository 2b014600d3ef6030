"""Exact Hadamard matrices of order 2^k, and the noisy answers for an attack with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.spec.domains.base import Domain

__all__ = ["HadamardAnswers", "NoisyAnswers", "hadamard_sign", "hadamard_transform"]


def hadamard_sign(row: int, column: int) -> int:
    """Return an entry of Sylvester's matrix, (-1)^(number of common binary ones): symmetric, first row all 1.

    Examples
    --------
    >>> [[hadamard_sign(i, j) for j in range(4)] for i in range(4)]
    [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]
    """
    return 1 - 2 * ((row & column).bit_count() % 2)


def hadamard_transform(values: Sequence[Fraction]) -> list[Fraction]:
    """Return the product of the matrix with a vector of 2^k rationals, by halves: [[H, H], [H, -H]]."""
    if len(values) == 1:
        return list(values)
    half = len(values) // 2
    first, second = hadamard_transform(values[:half]), hadamard_transform(values[half:])
    pairs = list(zip(first, second, strict=True))
    return [a + b for a, b in pairs] + [a - b for a, b in pairs]


@dataclass(frozen=True)
class NoisyAnswers:
    """Secret bits, 2^k of them, and an error for each of twice as many answers, of which an attack may use half."""

    bits: tuple[int, ...]
    errors: tuple[Fraction, ...]

    @property
    def size(self) -> int:
        """The number of bits."""
        return len(self.bits)


@dataclass(frozen=True)
class HadamardAnswers(Domain):
    """Noisy answers about at most 2^largest_exponent bits."""

    largest_exponent: int = 5

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a set of answers."""
        return (
            isinstance(value, NoisyAnswers)
            and value.size in {2**k for k in range(self.largest_exponent + 1)}
            and len(value.errors) == 2 * value.size
            and set(value.bits) <= {0, 1}
        )
