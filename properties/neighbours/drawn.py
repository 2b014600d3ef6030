"""A neighbour relation given by a hypothesis strategy of pairs."""

import copy
from collections.abc import Iterator
from typing import Any

import cloudpickle
import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import HypothesisException
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

from dpassay.arguments import UsageError, shown
from dpassay.neighbours import EncodedNeighbours

__all__ = ["MOST_DRAWN", "DrawnNeighbours"]

Array = NDArray[np.float64]

MOST_DRAWN = 400
"""Pairs drawn from a strategy."""

_SETTINGS = settings(
    database=None,
    deadline=None,
    max_examples=MOST_DRAWN,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
    verbosity=Verbosity.quiet,
    derandomize=False,
)


class DrawnNeighbours(EncodedNeighbours):
    """The pairs that a strategy draws, `MOST_DRAWN` of them at most, the same in every process and on every day.

    The code of an input is its place among the drawn ones. That the pairs are neighbours is the word of the strategy.

    Parameters
    ----------
    strategy : SearchStrategy
        Of pairs (left, right): tuples or lists of two inputs, of any type that can be pickled.

    Raises
    ------
    UsageError
        If it draws something else than pairs, only pairs of equal inputs, or nothing.
    """

    def __init__(self, strategy: SearchStrategy[Any]) -> None:
        self._words = f"strategy:{' '.join(repr(strategy).split())}"
        drawn = dict.fromkeys(_pickled_pair(pair) for pair in _drawn(strategy))
        pairs = sorted((pair for pair in drawn if pair[0] != pair[1]), key=lambda pair: (sum(map(len, pair)), pair))
        if not pairs:
            raise UsageError(f"neighbours must draw pairs of two different inputs, got {shown(strategy)}")
        self._contents = tuple(content for pair in pairs for content in pair)

    @property
    def words(self) -> str:
        """The representation of the strategy; a command cannot read it."""
        return self._words

    def decoded(self, codes: Array) -> Any:
        """Return a new copy of the input with this place."""
        return cloudpickle.loads(self._contents[int(codes[0])])

    def admits(self, left: Array, right: Array) -> bool:
        """Return whether two places are those of a pair."""
        if left.shape != (1,) or right.shape != (1,):
            return False
        first, second = sorted((float(left[0]), float(right[0])))
        return first.is_integer() and 0 <= first < len(self._contents) and first % 2 == 0 and second == first + 1

    def pairs(self, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:  # noqa: ARG002  # drawn before
        """Yield the places of all pairs, those of small inputs first."""
        for place in range(0, len(self._contents), 2):
            yield np.array([float(place)]), np.array([place + 1.0])

    def simpler(self, left: Array, right: Array) -> Iterator[tuple[Array, Array]]:
        """Yield the pairs of smaller inputs, the smallest first, in the same orientation."""
        for place in range(0, int(min(left[0], right[0])), 2):
            pair = np.array([float(place)]), np.array([place + 1.0])
            yield pair if left[0] < right[0] else pair[::-1]


def _drawn(strategy: SearchStrategy[Any]) -> list[Any]:
    found: list[Any] = []

    @seed(0)
    @_SETTINGS
    @given(strategy)
    def collect(pair: Any) -> None:
        found.append(copy.deepcopy(pair))

    try:
        collect()
    except HypothesisException as error:
        raise UsageError(f"neighbours: the strategy draws nothing: {type(error).__name__}: {error}") from error
    return found


def _pickled_pair(pair: Any) -> tuple[bytes, bytes]:
    if not (isinstance(pair, tuple | list) and len(pair) == 2):
        raise UsageError(f"neighbours must draw pairs (left, right), got {shown(pair)}")
    try:
        return cloudpickle.dumps(pair[0]), cloudpickle.dumps(pair[1])
    except Exception as error:
        raise UsageError(f"neighbours: an input cannot be pickled: {type(error).__name__}: {error}") from error
