"""Draws from the shared generators of `random` and `numpy.random` in traces."""

# ruff: noqa: NPY002, PLW0108, S311 - the shared generators are what is tested

import os
import random
import secrets
import ssl
import threading
from os import urandom as BOUND_AT_IMPORT  # noqa: N812
from random import random as draw
from typing import Any

import numpy as np
import pytest
from numpy.random import laplace

from dpassay import per_call
from dpassay.claims import PureDP
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.hunting.decision import Decision
from dpassay.properties.hunting.traced import decide
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import Trace, trace
from dpassay.spec.leaves.model import Affine

LINE = VectorNeighbours(size=1, linf=1)
BIT = VectorNeighbours(size=1, linf=1, low=0, high=1, integer=True)
_get, _set, _laplace = np.random.get_state, np.random.set_state, np.random.laplace


class Kept:
    get, put, draw = np.random.get_state, np.random.set_state, np.random.laplace


def decided(function: Any, epsilon: float = 1.0, relation: Any = LINE) -> Decision:
    return decide(per_call(function), PureDP(epsilon), relation, 0, 10.0)


@pytest.mark.parametrize(
    "noise",
    [
        lambda: np.random.laplace(),
        lambda: laplace(0, 1),
        lambda: np.random.mtrand._rand.laplace(),
        lambda: random.expovariate(1) - random.expovariate(1),
        lambda: random._inst.expovariate(1) - random.expovariate(1),
        lambda: random.SystemRandom().expovariate(1) - secrets.SystemRandom().expovariate(1),
        lambda: np.random.default_rng().laplace(),
        lambda: np.random.standard_exponential() - np.random.standard_exponential(),
    ],
)
def test_noise_of_shared_generators_is_noise(noise: Any) -> None:
    found = decided(lambda data: data[0] + noise())
    assert str(found.verdict) == "holds"
    assert found.epsilon_upper == pytest.approx(1)


def test_too_little_noise_of_a_shared_generator_is_shown() -> None:
    assert str(decided(lambda data: data[0] + np.random.laplace(0, 0.5)).verdict) == "violated"


def test_bits_of_shared_generators() -> None:
    chances = (lambda: draw(), lambda: random.random(), lambda: np.random.sample(), lambda: secrets.randbelow(4) / 4)
    for chance in chances:
        assert str(decided(lambda data, chance=chance: int(data[0]) ^ (chance() < 0.25), 1.1, BIT).verdict) == "holds"


def test_beside_the_generator_of_the_target_it_is_independent() -> None:
    found = trace(lambda data, size, rng: [data[0] + rng.laplace() - np.random.laplace()], size=1)
    assert isinstance(found, Trace)
    [leaf] = found.model.leaves
    assert isinstance(leaf.outcome, Affine)
    assert len(leaf.outcome.noise) == 2


def seeded(data: Any) -> Any:
    np.random.seed(0)
    return data[0] + np.random.laplace()


def seeded_in_python(data: Any) -> Any:
    random.seed(1)
    return data[0] + random.expovariate(1) - random.expovariate(1)


def repeated(data: Any) -> Any:
    state = np.random.get_state()
    noise = np.random.laplace()
    np.random.set_state(state)
    return data[0] + noise - np.random.laplace()


def repeated_by_names(data: Any) -> Any:
    state = _get()
    noise = _laplace()
    _set(state)
    return data[0] + noise - np.random.laplace()


def repeated_by_the_object(data: Any) -> Any:
    state = np.random.mtrand._rand.get_state()
    noise = np.random.mtrand._rand.laplace()
    np.random.mtrand._rand.set_state(state)
    return data[0] + noise - np.random.laplace()


def repeated_by_a_class(data: Any) -> Any:
    state = Kept.get()
    noise = Kept.draw()
    Kept.put(state)
    return data[0] + noise - np.random.laplace()


def in_a_default(data: Any, noise: Any = np.random.laplace) -> Any:
    return data[0] + noise()


def in_a_thread(data: Any) -> Any:
    box: list[float] = []
    thread = threading.Thread(target=lambda: box.append(np.random.laplace()))
    thread.start()
    thread.join()
    return data[0] + np.random.laplace() + 0 * box[0]


@pytest.mark.parametrize(
    "function",
    [seeded, seeded_in_python, repeated, repeated_by_names, repeated_by_the_object, repeated_by_a_class, in_a_default,
     in_a_thread],
)  # fmt: skip
def test_noise_that_need_not_be_fresh_is_refused(function: Any) -> None:
    found = trace(lambda data, size, rng: [function(data)], size=1)
    assert isinstance(found, Refusal)
    assert "hidden randomness" in str(found)


def test_a_seed_that_was_set_before_is_seen_as_well() -> None:
    np.random.seed(0)
    assert decided(seeded).verdict is None


def test_afterwards_the_generators_are_as_they_were() -> None:
    random.seed(3)
    np.random.seed(3)
    names = [np.random.laplace, np.random.mtrand._rand, random._inst, random.random, secrets.randbelow, laplace]
    methods = dict(vars(random.SystemRandom))
    before = random.getstate(), str(np.random.get_state(legacy=False))
    decided(lambda data: data[0] + laplace() + random.random())
    assert (random.getstate(), str(np.random.get_state(legacy=False))) == before
    after = [np.random.laplace, np.random.mtrand._rand, random._inst, random.random, secrets.randbelow, laplace]
    assert all(one is other for one, other in zip(names, after, strict=True))
    assert dict(vars(random.SystemRandom)) == methods


def _from_a_file() -> bytes:
    with open("/dev/urandom", "rb") as file:  # noqa: PTH123  # as a user may write
        return file.read(1)


@pytest.mark.parametrize(
    ("entropy", "words"),
    [
        (lambda: BOUND_AT_IMPORT(1), "os.urandom"),
        (lambda: os.getrandom(1), "os.getrandom"),
        (lambda: ssl.RAND_bytes(1), "ssl.RAND_bytes"),
        (_from_a_file, "/dev/urandom"),
        (lambda: os.read(os.open("/dev/random", os.O_RDONLY), 1), "/dev/random"),
    ],
)
def test_entropy_of_the_system_is_refused_by_every_name(entropy: Any, words: str) -> None:
    """A branch that entropy takes once in 64 runs is in none of the few runs of a trace."""

    def rarely_without_noise(data: Any, size: Any, rng: Any) -> Any:
        return [data[0] if entropy()[0] < 4 else data[0] + rng.laplace() for _ in range(size)]

    found = trace(rarely_without_noise, [0.5])
    assert isinstance(found, Refusal)
    assert f"hidden randomness: {words}" in str(found)
