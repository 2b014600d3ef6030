"""Targets that cannot be traced or decided: the reason is named, nothing is proved, and the time is limited."""

import contextlib
import copy
import math
import pickle
import re
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.claims import parse_claim
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting.decision import Decision
from dpassay.properties.hunting.traced import decide
from dpassay.properties.hunting.traced_pairs import distributions
from dpassay.spec.leaves.model import LeafModel
from dpassay.spec.leaves.probability import UndecidedLeafError

pytestmark = pytest.mark.traced

LINE = "vector:size=1,linf=1"

KEPT: list[Any] = []


def loops(data: Any, size: Any, rng: Any) -> Any:
    while True:
        data = data + 0


def rejects(data: Any, size: Any, rng: Any) -> Any:
    while data[0] + rng.laplace() < 1e6:
        pass
    return [0] * size


def recurses(data: Any, size: Any, rng: Any) -> Any:
    return recurses(data, size, rng)


def without_scale(data: Any, size: Any, rng: Any) -> Any:
    return data[0] + rng.laplace(0, 0.0, size)


def negative_scale(data: Any, size: Any, rng: Any) -> Any:
    return data[0] + rng.laplace(0, -1.0, size)


def unknown_scale(data: Any, size: Any, rng: Any) -> Any:
    return data[0] + rng.laplace(0, float("nan"), size)


def keeps_its_generator(data: Any, size: Any, rng: Any) -> Any:
    KEPT.append(rng)
    return data[0] + KEPT[0].laplace(0, 1.0, size)


def copies_its_generator(data: Any, size: Any, rng: Any) -> Any:
    return data[0] + copy.deepcopy(rng).laplace(0, 1.0, size) + rng.laplace(0, 1.0, size)


def pickles_its_generator(data: Any, size: Any, rng: Any) -> Any:
    return data[0] + pickle.loads(pickle.dumps(rng)).laplace(0, 1.0, size)  # noqa: S301


def draws_in_a_thread(data: Any, size: Any, rng: Any) -> Any:
    drawn: list[Any] = []

    def draw() -> None:
        with contextlib.suppress(BaseException):
            drawn.append(rng.laplace(0, 1.0, size))

    thread = threading.Thread(target=draw)
    thread.start()
    thread.join()
    return data[0] + drawn[0]


def returns_a_generator(data: Any, size: Any, rng: Any) -> Any:
    return [(data[0] + rng.laplace() for _ in range(3)) for _ in range(size)]


def returns_an_object(data: Any, size: Any, rng: Any) -> Any:
    return [object() for _ in range(size)]


def returns_one_number(data: Any, size: Any, rng: Any) -> Any:
    return data[0] + rng.laplace()


def noisy_key(data: Any, size: Any, rng: Any) -> Any:
    return [{data[0] + rng.laplace(): 1} for _ in range(size)]


def ignores_size(data: Any, size: Any, rng: Any) -> Any:
    return [data[0] + rng.laplace(), data[0] + rng.laplace()]


def hidden_randomness(data: Any, size: Any, rng: Any) -> Any:
    np.random.seed(0)  # noqa: NPY002
    return data[0] + np.random.laplace(0, 1.0, size)  # noqa: NPY002


def swallows_everything(data: Any, size: Any, rng: Any) -> Any:
    try:
        return [(data[0] + rng.laplace()) % 2]
    except BaseException:  # noqa: BLE001 - refusals must not be swallowed
        return [0.0]


def decision(target: Any, claim: str, relation: str, *, seconds: float = 60.0) -> Decision:
    return decide(target, parse_claim(claim), parse_neighbours(relation), 0, seconds=seconds)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (loops, "seconds"),
        (rejects, "not traced|seconds|decisions|proof"),
        (recurses, "every run raises RecursionError"),
        (negative_scale, "every run raises ValueError"),
        (keeps_its_generator, "kept from an earlier call"),
        (copies_its_generator, "copy|deepcopy|pickl"),
        (pickles_its_generator, "pickl|copy"),
        (draws_in_a_thread, "in another thread"),
        (returns_a_generator, "^an outcome that contains an object of type generator$"),
        (returns_an_object, "^an outcome that contains an object of type object$"),
        (returns_one_number, "^a sampler that returns a number in place"),
        (noisy_key, "hash"),
        (ignores_size, "2 outcomes when asked for 1"),
        (hidden_randomness, "hidden randomness: numpy.random"),
        (swallows_everything, "%"),
    ],
)
def test_what_cannot_be_traced_is_named_and_never_proved(target: Any, words: str) -> None:
    KEPT.clear()
    found = decision(target, "pure:1", LINE, seconds=3.0)
    assert found.verdict is None
    assert re.search(words, found.reason or ""), found.reason
    named = set(re.findall(r"(\w+\.py):\d+", found.reason or ""))
    assert named <= {Path(__file__).name}, "a line of ours is named"


def test_models_without_a_run_that_ends_are_not_compared() -> None:
    nothing = LeafModel((), undecided=Fraction(1))
    with pytest.raises(UndecidedLeafError, match="no run that ends"):
        distributions(nothing, nothing)


@pytest.mark.parametrize("target", [lambda data, size, rng: [0] * size, unknown_scale])
def test_a_constant_outcome_is_noted(target: Any) -> None:
    """Noise of scale NaN makes every outcome NaN."""
    found = decision(target, "pure:1", LINE)
    assert found.verdict == "holds"
    assert any("returns the same outcome on every input" in note for note in found.notes)


def test_noise_of_scale_zero_reveals_the_input() -> None:
    found = decision(without_scale, "pure:1", LINE)
    assert found.verdict == "violated"
    assert found.finding is not None
    assert found.finding.bounds[0].lower == math.inf


def test_huge_data_take_a_limited_time() -> None:
    def total(data: Any, size: Any, rng: Any) -> Any:
        return data.sum() + rng.laplace(0, 1.0, size)

    began = time.monotonic()
    found = decision(total, "pure:1", "vector:size=100000,l1=1", seconds=5.0)
    assert time.monotonic() - began < 30
    assert found.verdict in {"holds", None}
    assert found.verdict or found.reason
