"""The shared generators of `random` and `numpy.random`, and entropy of the system, while a target is traced.

``numpy.random.laplace(...)`` and ``random.random()`` draw from generators that all code shares. During a run they draw
from the tape of the run, as the generator does that the target gets: fresh noise, independent of all other. So do
``numpy.random.default_rng()`` without a seed, ``random.SystemRandom`` and `secrets`. What sets or reads the state of a
shared generator is refused: its noise need not be fresh afterwards.
"""

import functools
import random
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from dpassay.properties.tracing.generators import SymbolicGenerator, SymbolicRandomState
from dpassay.properties.tracing.own_draws import SHARED
from dpassay.properties.tracing.python_random import SymbolicRandom
from dpassay.properties.tracing.refusal import active, original_of, refuse
from dpassay.properties.tracing.replacing import replace_name, replace_where_imported

__all__ = ["shared_generators"]

_STATES = frozenset({"seed", "getstate", "setstate", "get_state", "set_state", "get_bit_generator",
                     "set_bit_generator", "__getstate__", "__setstate__", "__reduce__"})  # fmt: skip
"""Methods that read or set the state of a generator."""

_ALIASES = {"ranf": "random_sample", "sample": "random_sample"}
"""Functions of `numpy.random` with the name of their method."""

_SECRETS = {"randbelow": "randrange", "randbits": "getrandbits", "choice": "choice"}
"""Functions of `secrets` with methods of the same effect."""


class _ActiveTape:
    """The tape of whatever run is under way in this thread."""

    def __getattr__(self, name: str) -> Any:
        return getattr(active.tape, name)


_OF_NUMPY, _OF_PYTHON = SHARED


class _Shared:
    """Stands for a shared generator: outside of runs it is that generator."""

    stands_for: Any
    module: str

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__") or name == "_tape":
            return super().__getattribute__(name)
        kind = type(self)  # the attributes of the instance are those of the generator
        if active.tape is None:
            return getattr(kind.stands_for, name)
        if name in _STATES:
            refuse(f"hidden randomness: {kind.module}.{name}: the noise of a shared generator need not be fresh")
        return super().__getattribute__(name)


class _SharedState(_Shared, SymbolicRandomState):
    stands_for, module = _OF_NUMPY, "numpy.random"


class _SharedRandom(_Shared, SymbolicRandom):
    stands_for, module = _OF_PYTHON, "random"


_OWN_METHODS = dict(vars(random.SystemRandom))
_STATE, _RANDOM = _SharedState(_ActiveTape()), _SharedRandom(_ActiveTape())


@contextmanager
def shared_generators(sampler: Any) -> Iterator[None]:
    """Let shared generators draw from the tape of the run until the end of the context.

    Parameters
    ----------
    sampler : object
        The target: functions that its modules import by name are replaced there as well.
    """
    with ExitStack() as stack:
        made: dict[int, Any] = {id(_OF_NUMPY): _STATE, id(_OF_PYTHON): _RANDOM}
        for module, name, draw in _draws():
            original = original_of(getattr(module, name))
            made[id(original)] = routed = _routed(original, draw)
            replace_name(stack, vars(module), name, routed, original)
        replace_name(stack, vars(np.random.mtrand), "_rand", _STATE, _OF_NUMPY)
        replace_name(stack, vars(random), "_inst", _RANDOM, _OF_PYTHON)
        replace_where_imported(stack, sampler, made)
        _replace_system_random(stack)
        yield


def _draws() -> Iterator[tuple[Any, str, Callable[[], Any]]]:
    """Yield modules, names of their functions, and what returns the method that stands for a function in a run."""
    for name in np.random.__all__:
        function = original_of(getattr(np.random, name))
        if name == "default_rng":
            yield np.random, name, lambda: _default_rng
        elif callable(function) and not isinstance(function, type):
            yield np.random, name, functools.partial(getattr, _STATE, _ALIASES.get(name, name))
    for name in random.__all__:
        if getattr(original_of(getattr(random, name)), "__self__", None) is _OF_PYTHON:
            yield random, name, functools.partial(getattr, _RANDOM, name)
    for name, method in _SECRETS.items():
        yield secrets, name, functools.partial(getattr, _RANDOM, method)


def _routed(original: Any, draw: Callable[[], Any]) -> Any:
    @functools.wraps(original)
    def routed(*arguments: Any, **options: Any) -> Any:
        return (original if active.tape is None else draw())(*arguments, **options)

    routed.replaces = original  # type: ignore[attr-defined]
    return routed


def _default_rng(seed: Any = None) -> Any:
    return SymbolicGenerator(active.tape) if seed is None else np.random.Generator(np.random.PCG64(seed))


def _replace_system_random(stack: ExitStack) -> None:
    for name in dir(SymbolicRandom):
        if name.startswith("_") or name in _STATES or not hasattr(random.SystemRandom, name):
            continue
        own = _OWN_METHODS.get(name)
        stack.callback(_restore, name, own)
        setattr(random.SystemRandom, name, _routed_method(own or getattr(random.Random, name), name))


def _routed_method(original: Any, name: str) -> Any:
    @functools.wraps(original)
    def routed(self: Any, *arguments: Any, **options: Any) -> Any:
        if active.tape is None:
            return original(self, *arguments, **options)
        return getattr(_RANDOM, name)(*arguments, **options)

    return routed


def _restore(name: str, own: Any) -> None:
    if own is None:
        if name in vars(random.SystemRandom):
            delattr(random.SystemRandom, name)
    else:
        setattr(random.SystemRandom, name, own)
