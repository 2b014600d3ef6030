"""Functions that make one release a call, as targets."""

import functools
import os
import random
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.random import default_rng

from dpassay.arguments import UsageError
from dpassay.claims import PureDP
from dpassay.mechanism import SamplerLostError
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.drawing.call_guard import carry_out
from dpassay.properties.drawing.draws import Draw, sample_side
from dpassay.properties.drawing.own_generators import drawing_from
from dpassay.properties.drawing.per_call import per_call, per_fit
from dpassay.properties.drawing.sessions import SessionSampler
from dpassay.properties.hunting.traced import decide
from dpassay.testing import assert_private

if TYPE_CHECKING:
    from random import Random


def twice(function: Any, **options: Any) -> list[list[Any]]:
    """Release three outcomes from equal generators, twice."""
    data = options.pop("data", np.array([2.0]))
    target = per_call(function, **options)
    return [target(data, 3, np.random.default_rng(5)) for _ in range(2)]


def by_rng(x: float, rng: Any) -> float:
    return float(x + rng.random())


def by_annotation(x: float, source: np.random.Generator) -> float:
    return x + source.random()


def by_seed(x: float, *, seed: int) -> float:
    return x + random.Random(seed).random()  # noqa: S311


def by_state(x: float, random_state: Any = None) -> float:
    return float(x + random_state.random_sample())


def by_own_generator(x: float) -> float:
    return x + np.random.default_rng().random()


def by_name(x: float) -> float:
    return x + default_rng().random()


def by_secrets(x: float) -> float:
    return x + secrets.randbelow(1 << 40) / (1 << 40)


def by_system(x: float) -> float:
    return x + random.SystemRandom().random() + os.urandom(1)[0]


FUNCTIONS = [by_rng, by_annotation, by_seed, by_state, by_own_generator, by_name, by_secrets, by_system]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_releases_are_fresh_and_can_be_replayed(function: Any) -> None:
    first, again = twice(function)
    assert first == again
    assert len(set(first)) == 3
    assert all(outcome >= 2 for outcome in first)


def test_entropy_is_restored() -> None:
    before = np.random.default_rng, os.urandom, random._urandom, default_rng  # type: ignore[attr-defined]
    with drawing_from(np.random.default_rng(0), globals()):
        assert default_rng is not before[3]
    assert (np.random.default_rng, os.urandom, random._urandom, default_rng) == before  # type: ignore[attr-defined]


def test_own_seeds_are_left_alone() -> None:
    first, _ = twice(lambda x: np.random.default_rng(7).random())
    assert first == [np.random.default_rng(7).random()] * 3


def test_shapes_of_data() -> None:
    data = np.array([1.0, 2.0])

    def received(function: Any, **options: Any) -> object:
        return twice(function, data=data, **options)[0][0]

    def of_list(values: list[float]) -> object:
        return type(values), values

    def of_two(a: float, b: float) -> tuple[float, float]:
        return b, a

    assert received(of_list) == (list, [1.0, 2.0])
    assert received(of_two, takes="arguments") == (2.0, 1.0)
    assert received(lambda x: x, takes=lambda values: {"sum": values.sum()}) == {"sum": 3.0}
    assert received(lambda x: x.shape) == (2,)

    def of_int(count: int) -> object:
        return type(count)

    assert twice(of_int)[0] == [int] * 3


def test_an_edit_of_the_input_is_not_seen_by_the_next_call() -> None:
    def clear(x: Any) -> float:
        x[0] += 1
        return float(x[0])

    assert twice(clear)[0] == [3.0, 3.0, 3.0]


def test_errors_of_use() -> None:
    with pytest.raises(UsageError, match="takes must be one of"):
        per_call(by_rng, takes="words")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="needs a, b"):
        per_call(lambda a, b: a)
    with pytest.raises(UsageError, match="function must be callable"):
        per_call(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="size 2"):
        per_call(by_rng)(np.zeros(2), 1, np.random.default_rng(0))


def noisy_count(values: list[float]) -> float:
    noise: float = np.random.default_rng().laplace(scale=0.5)
    return sum(values) + noise


@pytest.mark.traced
def test_a_function_with_its_own_generator_is_traced() -> None:
    with pytest.raises(AssertionError, match="certified"):
        assert_private(per_call(noisy_count), "pure:1", "vector:size=1,linf=1")
    with pytest.warns(UserWarning, match="low-order bits"):
        assert assert_private(per_call(noisy_count), "pure:2", "vector:size=1,linf=1").traced


class Mean:
    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Any:
        self.mean_ = np.mean(y if y is not None else X) + self.random_state.random_sample()
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def test_a_class_is_fitted_anew_for_each_release() -> None:
    data = np.array([1.0, 3.0])
    first = per_fit(Mean, "mean_")(data, 2, np.random.default_rng(0))
    assert first == per_fit(Mean, "mean_")(data, 2, np.random.default_rng(0))
    assert first[0] != first[1]
    rows = [{"x": 1, "y": 5.0}, {"x": 2, "y": 5.0}]
    (predicted,) = per_fit(Mean, target="y", predict=[0, 1])(rows, 1, np.random.default_rng(0))
    assert len(predicted) == 2
    assert 5 <= predicted[0] <= 6


def test_an_exception_of_one_release_hides_no_other() -> None:
    def often(data: Any, rng: np.random.Generator) -> float:
        if rng.random() < 0.1:
            raise OSError("full")
        return float(data[0])

    draw = Draw(np.ones(1), 1000, np.random.SeedSequence(0), one_by_one=False)
    drawn = sample_side(per_call(often), draw)
    assert drawn is not None
    assert 0 < drawn.failures < 300
    assert set(drawn.symbols()) == {1.0, "<raises OSError: full>"}
    guarded, _ = carry_out(per_call(often), draw)
    assert guarded is not None
    assert guarded.failures == drawn.failures
    in_pairs = sample_side(SessionSampler(lambda data, size, rng: [often(data, rng)], 2), draw)
    assert in_pairs is not None
    assert 0 < in_pairs.failures < 50


def test_what_says_that_nothing_was_observed_is_no_outcome() -> None:
    def lost(data: Any) -> float:
        raise SamplerLostError("gone")

    draw = Draw(np.ones(1), 2, np.random.SeedSequence(0), one_by_one=False)
    with pytest.raises(SamplerLostError, match="gone"):
        sample_side(per_call(lost), draw)


def by_python(data: list[float], source: random.Random) -> float:
    return data[0] + source.expovariate(1.0) - source.expovariate(1.0)


def by_text(data: list[float], source: "random.Random") -> float:
    return by_python(data, source)


def by_a_name_for_type_checkers(data: list[float], rng: "Random") -> float:
    return by_python(data, rng)


def by_an_option(data: list[float] | None, *, rng: random.Random | None = None) -> float:
    assert data is not None
    assert rng is not None
    return by_python(data, rng)


def by_annotated_state(data: Any, rng: np.random.RandomState) -> float:
    return float(data[0]) + rng.laplace() + 0 * rng.randn()


@pytest.mark.parametrize(
    "function",
    [by_python, by_text, by_a_name_for_type_checkers, by_an_option, by_annotated_state, functools.partial(by_text)],
)
def test_an_annotation_says_which_generator_a_function_gets(function: Any) -> None:
    first, again = twice(function)
    assert first == again
    assert len(set(first)) == 3
    decision = decide(per_call(function), PureDP(1.0), VectorNeighbours(size=1, linf=1), 0, 10.0)
    assert str(decision.verdict) == "holds"  # in a trace as well
