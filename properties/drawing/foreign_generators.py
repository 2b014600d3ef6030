"""Generators of other kinds, drawn from a generator of numpy; other libraries are imported on use.

In a trace the generator is one of symbols, and so are those made of it.
"""

import functools
import random
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from dpassay.arguments import UsageError, shown

__all__ = ["Library", "jax_key", "maker_of", "python_random", "random_state", "torch_generator"]

Library = Literal["numpy", "jax", "torch"]
"""Whose generator or key a function takes."""

_SEEDS = 1 << 32
"""Number of seeds: `RandomState` accepts no more."""

_WORDS = 1 << 32
"""Number of values of a word of a key."""

_TORCH_SEEDS = 1 << 63
"""Number of seeds: `manual_seed` takes 64 bits with a sign."""


def random_state(rng: Any) -> Any:
    """Return a fresh ``numpy.random.RandomState``, seeded from a generator of numpy."""
    like = getattr(rng, "like", None)
    return np.random.RandomState(rng.integers(_SEEDS)) if like is None else like(np.random.RandomState)


def python_random(rng: Any) -> Any:
    """Return a fresh ``random.Random``, seeded from a generator of numpy."""
    like = getattr(rng, "like", None)
    return random.Random(rng.bytes(32)) if like is None else like(random.Random)  # noqa: S311  # what is asked for


def jax_key(rng: Any) -> Any:
    """Return a fresh JAX key, all of its bits drawn from a generator of numpy.

    Equal generators give equal keys, so that a result can be replayed.

    Raises
    ------
    UsageError
        If JAX is not installed.
    """
    _refuse_traced("JAX")
    jax = _imported("jax", "jax_key")
    return jax.random.wrap_key_data(rng.integers(_WORDS, size=_key_shape(), dtype=np.uint32))


def torch_generator(rng: Any) -> Any:
    """Return a fresh ``torch.Generator`` on the CPU, seeded from a generator of numpy.

    Raises
    ------
    UsageError
        If PyTorch is not installed.
    """
    _refuse_traced("PyTorch")
    torch = _imported("torch", "torch_generator")
    return torch.Generator().manual_seed(int(rng.integers(_TORCH_SEEDS)))


def maker_of(library: Any) -> Callable[[Any], Any]:
    """Return the function that makes the generator or key of a library.

    Raises
    ------
    UsageError
        If the library is unknown.
    """
    makers: dict[Any, Callable[[Any], Any]] = {"numpy": _itself, "jax": jax_key, "torch": torch_generator}
    if library not in makers:
        raise UsageError(f"rng must be one of {', '.join(get_args(Library))}, got {shown(library)}")
    return makers[library]


def _itself(rng: Any) -> Any:
    return rng


@functools.cache
def _key_shape() -> tuple[int, ...]:
    jax = _imported("jax", "jax_key")
    shape: tuple[int, ...] = jax.random.key_data(jax.random.key(0)).shape
    return shape


def _imported(name: str, user: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"{user} needs {name}, which cannot be imported: {error}") from None


def _refuse_traced(library: str) -> None:
    from dpassay.properties.tracing.refusal import active, refuse

    if active.run is not None:
        refuse(f"{library} draws outside of numpy")
