"""Randomness that a function gets for itself, drawn from a given generator for the time of a call.

``numpy.random.default_rng()`` without a seed, ``os.urandom``, ``secrets`` and ``random.SystemRandom`` ask the system
for entropy. Within :func:`drawing_from` they ask a generator, so that a call can be replayed, and a trace can follow
``default_rng()``. The global generators of `numpy.random` and `random` are seeded for each draw by
:mod:`dpassay.properties.drawing.call_guard`.

Other entropy cannot be replaced: generators made at import, ``random.Random()`` and ``PCG64()`` without a seed, other
libraries, C. A hunt then notes that its result cannot be replayed.
"""

import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

__all__ = ["drawing_from"]

_source: ContextVar[Any] = ContextVar("source of entropy", default=None)
_lock = threading.Lock()
_replaced: list[tuple[dict[str, Any], str, Any]] = []
_depth = 0


@contextmanager
def drawing_from(rng: Any, names: dict[str, Any]) -> Iterator[None]:
    """Let the calls of this thread get their entropy from `rng` until the end of the context.

    Parameters
    ----------
    rng : Generator
        Of numpy; in a trace, the generator of symbols, which ``default_rng()`` then returns.
    names : dict
        The global names of the function that is called: what it imported by name is replaced as well.
    """
    global _depth  # noqa: PLW0603  # how many threads are inside: the last one restores
    with _lock:
        if not _depth:
            _replace(names)
        _depth += 1
    token = _source.set(rng)
    try:
        yield
    finally:
        _source.reset(token)
        with _lock:
            _depth -= 1
            if not _depth:
                _restore()


def _replace(names: dict[str, Any]) -> None:
    generator, entropy = np.random.default_rng, os.urandom
    own_generator, own_entropy = _own_generator(generator), _own_entropy(entropy)
    _set(vars(np.random), "default_rng", own_generator)
    _set(vars(os), "urandom", own_entropy)
    _set(vars(random), "_urandom", own_entropy)  # SystemRandom and secrets call it
    for name, value in list(names.items()):
        if value is generator:
            _set(names, name, own_generator)
        elif value is entropy:
            _set(names, name, own_entropy)


def _set(namespace: dict[str, Any], name: str, value: Any) -> None:
    _replaced.append((namespace, name, namespace[name]))
    namespace[name] = value


def _restore() -> None:
    while _replaced:
        namespace, name, value = _replaced.pop()
        namespace[name] = value


def _own_generator(original: Callable[..., Any]) -> Callable[..., Any]:
    def default_rng(seed: Any = None) -> Any:
        source = _source.get()
        if seed is not None or source is None:
            return original(seed)
        is_traced = type(source) is not np.random.Generator  # the generator of symbols is a subclass
        return source if is_traced else original(int(source.integers(1 << 63)))

    return default_rng


def _own_entropy(original: Callable[[int], bytes]) -> Callable[[int], bytes]:
    def urandom(size: int) -> bytes:
        source = _source.get()
        return source.bytes(size) if type(source) is np.random.Generator else original(size)

    return urandom
