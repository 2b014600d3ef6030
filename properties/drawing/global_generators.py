"""The global generators of `random`, `numpy.random` and PyTorch, which targets should not use and often do.

They are seeded for each draw, so that a hunt can be replayed and workers share no stream. PyTorch is looked at only if
it was imported.
"""

import itertools
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["global_state", "kept_global_generators", "seed_global_generators"]

_GLOBAL_GENERATORS = 1 << 31  # key of a seed that no draw of a hunt has


def seed_global_generators(seed: np.random.SeedSequence) -> None:
    """Seed them from the seed of a draw."""
    own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _GLOBAL_GENERATORS))
    state = own.generate_state(4)
    np.random.seed(state)  # noqa: NPY002  # the generator that a target should not use
    random.seed(state.tobytes())
    torch = _torch()
    if torch is not None:
        torch.default_generator.manual_seed(int.from_bytes(state.tobytes()[:7], "little"))


def global_state() -> tuple[Any, ...]:
    """Return their state, for comparison."""
    state: Any = np.random.get_state()  # noqa: NPY002  # see above
    _, words, *others = state
    torch = _torch()
    of_torch = b"" if torch is None else torch.get_rng_state().numpy().tobytes()
    return words.tobytes(), *others, random.getstate(), of_torch


_NUMBERS = itertools.count(1)
"""Numbers of the users, in the order in which they begin."""

_users = [0]
"""The number of the last user that keeps them."""


@contextmanager
def kept_global_generators() -> Iterator[None]:
    """Leave them as they were found.

    A user that was left behind in its thread, and ends late, leaves them to the one that began after it.
    """
    outer = _users[0]
    _users[0] = own = max(_users[0], next(_NUMBERS))
    of_numpy, of_python = np.random.get_state(), random.getstate()  # noqa: NPY002  # see above
    torch = _torch()
    of_torch = None if torch is None else torch.get_rng_state()
    try:
        yield
    finally:
        if _users[0] == own:
            _users[0] = outer
            _put_back(of_numpy, of_python, of_torch)


def _put_back(of_numpy: Any, of_python: Any, of_torch: Any) -> None:
    np.random.set_state(of_numpy)  # noqa: NPY002  # see above
    random.setstate(of_python)
    torch = _torch()
    if torch is not None and of_torch is not None:
        torch.set_rng_state(of_torch)


def _torch() -> Any:
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "default_generator") else None  # half imported, it has none
