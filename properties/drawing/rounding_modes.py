"""Calls of a target in other modes of rounding: what is a matter of rounding changes with the mode.

The floating-point unit rounds to nearest, upwards, downwards or towards zero, as the thread asks it to. Arithmetic of
Python and of numpy follows; the functions of the C library stay accurate to a few units in the last place.
"""

import ctypes
import ctypes.util
import functools
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.outcomes.calls import Sampler

__all__ = ["RoundingMode", "in_rounding_mode", "modes_are_known"]

Array = NDArray[np.float64]

_NEAREST = 0
"""The usual mode, on either architecture."""


class RoundingMode(Enum):
    """A mode other than to nearest, by the values of ``fesetround`` on x86-64 and on 64-bit ARM."""

    UPWARDS = (0x800, 0x400000)
    DOWNWARDS = (0x400, 0x800000)

    @property
    def code(self) -> int:
        """The value on this machine."""
        return self.value[_ARCHITECTURES.index(platform.machine().lower()) // 2]


_ARCHITECTURES = ("x86_64", "amd64", "aarch64", "arm64")


@functools.cache
def _set_mode() -> Any:
    """Return ``fesetround`` of the C library; None where it, or the meaning of its values, is not known."""
    name = ctypes.util.find_library("m")
    if name is None or platform.machine().lower() not in _ARCHITECTURES:
        return None
    return getattr(ctypes.CDLL(name), "fesetround", None)


def modes_are_known() -> bool:
    """Return whether modes of rounding can be set on this machine."""
    return _set_mode() is not None


@contextmanager
def _rounding(mode: RoundingMode) -> Iterator[None]:
    set_mode = _set_mode()
    if set_mode is None:
        yield
        return
    set_mode(mode.code)
    try:
        yield
    finally:
        set_mode(_NEAREST)


@dataclass(frozen=True)
class _InMode:
    """Makes of a sampler one whose calls are made in a mode of rounding; it can be pickled."""

    mode: RoundingMode

    def __call__(self, sampler: Sampler) -> Sampler:
        def sample(data: Array, size: int, rng: np.random.Generator) -> Any:
            with _rounding(self.mode):
                return sampler(data, size, rng)

        return sample


def in_rounding_mode(mode: RoundingMode) -> _InMode:
    """Return a wrapper of samplers that makes calls in a mode of rounding, where the machine allows it."""
    return _InMode(mode)
