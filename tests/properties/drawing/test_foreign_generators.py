"""Functions that take keys of JAX or generators of PyTorch; skipped where the libraries are not installed."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.properties.drawing.call_guard import Habit, habits_of
from dpassay.properties.drawing.per_call import per_call
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.neighbours.code_numbers import holds_generator
from dpassay.testing import assert_private, jax_key, torch_generator

DATA = np.array([2.0])


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def numbers(target: Any) -> list[float]:
    return [float(outcome) for outcome in target(DATA, 3, rng())]


# --- without the libraries ----------------------------------------------------------------------------------


def test_a_missing_library_is_an_error_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match="jax_key needs jax, which cannot be imported"):
        jax_key(rng())
    with pytest.raises(UsageError, match="torch_generator needs torch, which cannot be imported"):
        torch_generator(rng())


def test_errors_of_use() -> None:
    with pytest.raises(UsageError, match="rng must be one of numpy, jax, torch, got 'random'"):
        per_call(lambda data, key: key, rng="random")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="needs a function with a second parameter"):
        per_call(lambda data: data, rng="jax")
    with pytest.raises(UsageError, match="rng='jax' if one is a key of JAX"):
        per_call(lambda data, key: key)


@pytest.mark.parametrize(
    "function",
    [lambda data, key: key, lambda data, mode=3, *, key: key, lambda data, source: source, lambda rng, x: rng],
    ids=["key", "keyword", "second", "rng"],
)
def test_the_parameter_of_the_generator(function: Any) -> None:
    class Generator(np.random.Generator): ...

    given = Generator(np.random.PCG64(0))
    assert per_call(function, rng="numpy")(DATA, 1, given) == [given]


# --- JAX ----------------------------------------------------------------------------------------------------


def with_key(data: Any, key: Any) -> Any:
    import jax

    return data.sum() + jax.random.laplace(key)


def test_keys_are_fresh_and_can_be_replayed() -> None:
    pytest.importorskip("jax")
    first, again = (numbers(per_call(with_key, rng="jax")) for _ in range(2))
    assert first == again
    assert len(set(first)) == 3


def test_a_key_has_all_its_bits_from_the_generator() -> None:
    jax = pytest.importorskip("jax")
    source = rng()
    words = np.array([jax.random.key_data(jax_key(source)) for _ in range(40)])
    varying = np.bitwise_or.reduce(words, axis=0) & ~np.bitwise_and.reduce(words, axis=0)
    assert (varying == 2**32 - 1).all()  # a bit stays the same with a probability of 2^-39


def test_a_function_of_a_key_is_tested() -> None:
    pytest.importorskip("jax")
    result = hunt(per_call(with_key, rng="jax"), "pure:0.1", "vector:size=1,linf=1", calls=1500, shrink=False)
    assert result.verdict == "violated"
    assert not result.traced
    assert not [note for note in result.notes if "replayed" in note]
    with pytest.warns(UserWarning, match="weak"):
        assert_private(per_call(with_key, rng="jax"), "pure:1", "vector:size=1,linf=1", calls=400, allow_weak=True)


# --- PyTorch ------------------------------------------------------------------------------------------------


def with_generator(data: Any, generator: Any) -> Any:
    import torch

    return data.sum() + torch.randn((), generator=generator)


def test_generators_are_fresh_and_can_be_replayed() -> None:
    torch = pytest.importorskip("torch")
    first, again = (numbers(per_call(with_generator, rng="torch", takes=torch.as_tensor)) for _ in range(2))
    assert first == again
    assert len(set(first)) == 3


def test_annotations_of_torch_are_read() -> None:
    torch = pytest.importorskip("torch")

    def release(values: Any, source: Any) -> tuple[bool, bool]:
        return isinstance(values, torch.Tensor), isinstance(source, torch.Generator)

    release.__annotations__ = {"values": torch.Tensor, "source": torch.Generator}
    assert per_call(release)(DATA, 1, rng()) == [(True, True)]


def test_the_global_generator_of_torch_is_seeded_and_restored() -> None:
    torch = pytest.importorskip("torch")

    def release(data: Any, size: int, rng: Any) -> Any:
        return data[0] + torch.randn(size, dtype=torch.float64).numpy()

    before = torch.get_rng_state()
    first, again = (
        hunt(release, "approx:20,0.001", "vector:size=1,linf=1", calls=400, shrink=False, trace=False)
        for _ in range(2)
    )
    assert torch.equal(before, torch.get_rng_state())
    assert first.e_value_log10 == again.e_value_log10 != 0
    assert habits_of(release, DATA, 0) == {Habit.GLOBAL_GENERATORS}


def test_a_generator_that_a_target_holds_is_seen() -> None:
    torch = pytest.importorskip("torch")
    own = torch.Generator()

    def release(data: Any, size: int, rng: Any) -> Any:
        return torch.randn(size, generator=own).numpy()

    assert holds_generator(release)


def test_a_function_of_a_generator_is_tested_in_a_process_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "mechanism.py"
    file.write_text(
        "import torch\n"
        "def release(data: torch.Tensor, gen: torch.Generator):\n"
        "    return data.sum() + torch.empty((), dtype=torch.float64).exponential_(generator=gen)\n",
        encoding="utf-8",
    )
    result = hunt(f"per-call:{file}:release", "pure:1", "vector:size=1,linf=1", calls=1500, shrink=False)
    assert result.verdict == "violated"  # one-sided noise
