"""The releases of a run of noise reduction: an answer with noise at decreasing times, for two data sets."""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.spec.domains.base import Domain

__all__ = ["ReleasedPath", "ReleasedPaths", "Vector"]

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class ReleasedPath:
    """Releases of a run on the left of two answers: `left` plus `noise[k]` at `times[k]`.

    Parameters
    ----------
    times : tuple of Fraction
        Positive, falling strictly.
    left, right : tuple of Fraction
        The answers on the two data sets.
    noise : tuple of tuples of Fraction
        The noise at each time.
    """

    times: tuple[Fraction, ...]
    left: Vector
    right: Vector
    noise: tuple[Vector, ...]

    @property
    def last_time(self) -> Fraction:
        """The time of the last release."""
        return self.times[-1]

    def residuals(self, answer: Vector) -> list[Vector]:
        """Return the releases minus an answer, which is the noise for the true answer."""
        return [tuple(a + b - c for a, b, c in zip(self.left, noise, answer, strict=True)) for noise in self.noise]


@dataclass(frozen=True)
class ReleasedPaths(Domain):
    """Paths of a few releases in a few dimensions, the answers possibly equal."""

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such a path."""
        return (
            isinstance(value, ReleasedPath)
            and len(value.times) == len(value.noise) > 0
            and value.last_time > 0
            and all(a > b for a, b in itertools.pairwise(value.times))
            and all(len(vector) == len(value.left) for vector in (value.right, *value.noise))
        )
