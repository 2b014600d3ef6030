"""The randomness of a library: the functions through which noise passes, and choices that are fixed in a replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Choice", "NoisePrimitive"]


@dataclass(frozen=True)
class NoisePrimitive:
    """A function of the library through which its noise passes, for the laws `replay` and `traced_privacy`.

    While a run is replayed the function is replaced: it notes what it is called with and returns chosen outputs. Calls
    of primitives from within a primitive are not noted.

    Parameters
    ----------
    owner : class or module
        Where the library looks the function up.
    name : str
        Name of the attribute.
    read : callable
        Receives the arguments of a call (of a method, `self` first) and returns a mapping with

        - ``value``: the number, or list of numbers, to which noise is added, or the utilities of a selection;
        - ``family``: ``laplace`` (loss `epsilon` times the distance over `sensitivity`, in L1), ``gaussian`` (with
          `scale`, the standard deviation), ``bounded`` (any other noise whose loss is at most `epsilon` within
          `sensitivity`; with `scale`, `low` and `high`, Laplace noise on the condition that the sum lies between
          them) or ``selection`` (an index is released);
        - ``sensitivity``: the distance that the noise is made for (L2 for Gaussian noise), and ``epsilon`` or
          ``scale``, as the library passes them to the function;
        - optionally ``low`` and ``high``, the range of outputs (to which sums with Laplace noise are clamped, or, with
          ``folded``, into which they are reflected), ``integer``, if outputs are integers, and ``outputs``, those of
          a selection, by default the indices.
    """

    owner: Any
    name: str
    read: Callable[..., Mapping[str, Any]]


@dataclass(frozen=True)
class Choice:
    """A random choice of the library other than noise, replaced while runs are replayed.

    Parameters
    ----------
    owner, name
        As for `NoisePrimitive`.
    take : callable
        Replaces the function. It returns one possible choice, the same for the unchanged records of neighbours.
    """

    owner: Any
    name: str
    take: Callable[..., Any]
