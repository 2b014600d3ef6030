"""The name ``float`` in the code under test during a trace: a noisy value is a real number, and stays what it is.

Ideal arithmetic does not round. Code that asks ``type(x) is float`` may take another way than on numbers; the runs on
numbers, which keep Python's own name, show it.
"""

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpassay.properties.tracing.arrays import SymbolArray
from dpassay.properties.tracing.exact_names import spaces_of
from dpassay.properties.tracing.images import Image
from dpassay.properties.tracing.refusal import active
from dpassay.properties.tracing.symbols import Symbol

__all__ = ["noisy_names"]


class _FloatType(type):
    """The type that stands for ``float``."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, builtins.float)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, builtins.float)

    def __call__(cls, value: Any = 0.0) -> Any:
        if isinstance(value, SymbolArray) and value.size == 1 and active.run is not None:
            value = value.item()
        return value if isinstance(value, Symbol | Image) and active.run is not None else builtins.float(value)

    def __getattr__(cls, name: str) -> Any:
        return getattr(builtins.float, name)


class _Float(metaclass=_FloatType):
    """The name ``float``; arrays of this type are arrays of floats."""

    dtype = np.dtype(np.float64)


@contextmanager
def noisy_names(sampler: Any) -> Iterator[None]:
    """Let ``float`` keep noisy values in the code of a sampler, while in the context.

    A name that a module binds itself stays as it is: then a conversion of noise to a float is refused.
    """
    spaces = [space for space in spaces_of(sampler) if "float" not in space]
    try:
        for space in spaces:
            space["float"] = _Float
        yield
    finally:
        for space in spaces:
            space.pop("float", None)
