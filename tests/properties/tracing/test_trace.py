"""Tracing of plain Python functions: leaves, outcomes, and what is refused."""

import contextlib
import heapq
import itertools
import math
import random
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import Trace, trace
from dpassay.properties.tracing.tree import Limits
from dpassay.spec.leaves.model import Affine, Image, Noise, NoiseKind, Raised, Relation

FEW: dict[str, Any] = {"replays": 8}
FIRST = Noise(NoiseKind.LAPLACE, 0)


def traced(sampler: Any, data: Any = (0.5,), **options: Any) -> Any:
    result = trace(sampler, None if options.get("size") else data, **FEW, **options)
    assert isinstance(result, Trace), result
    assert result.replays.agreed
    return result.model


def refused(sampler: Any, data: Any = (0.5,), **options: Any) -> Any:
    result = trace(sampler, data, **FEW, **options)
    assert isinstance(result, Refusal), result
    return str(result)


def outcomes(sampler: Any, data: Any = (0.5,), **options: Any) -> Any:
    return sorted(leaf.outcome for leaf in traced(sampler, data, **options).leaves)


def test_location_and_scale_are_coefficients() -> None:
    [leaf] = traced(lambda data, size, rng: [rng.laplace(data[0], 0.1)]).leaves
    assert leaf.outcome == Affine(Fraction(1, 2), {FIRST: Fraction(0.1)})
    assert leaf.constraints == ()


def test_symbolic_data() -> None:
    [leaf] = traced(lambda data, size, rng: [data.sum() + rng.laplace()], size=3).leaves
    assert leaf.outcome == Affine(Fraction(0), {FIRST: Fraction(1)}, dict.fromkeys(range(3), Fraction(1)))


def test_a_comparison_has_two_leaves_that_are_complements() -> None:
    leaves = traced(lambda data, size, rng: [bool(data[0] + rng.laplace() > 2)]).leaves
    by_outcome = {leaf.outcome: leaf.constraints for leaf in leaves}
    [above], [below] = by_outcome[True], by_outcome[False]
    assert (above.form.constant, above.relation) == (Fraction(-3, 2), Relation.ABOVE)
    assert (below.form.constant, below.relation) == (Fraction(3, 2), Relation.AT_LEAST)
    assert above.form.noise[FIRST] == -below.form.noise[FIRST]


def test_a_repeated_comparison_takes_no_decision() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        noise = rng.laplace()
        return [(bool(noise > 1), bool(noise >= 0), bool(2 * noise > 1), bool(noise < -1))]

    assert outcomes(sampler) == [
        (False, False, False, False), (False, False, False, True), (False, True, False, False),
        (False, True, True, False), (True, True, True, False),
    ]  # fmt: skip


def test_contradictions_between_several_noises_are_pruned() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        x, y, z = rng.normal(size=3)
        return [(bool(x > y), bool(y > z), bool(x > z))]

    assert len(outcomes(sampler)) == 6


def sparse_vector(data: Any, size: Any, rng: Any, cutoff: Any = 2) -> Any:
    threshold, answers, count = 1 + rng.laplace(scale=2), [], 0
    for value in data:
        answers.append(bool(value + rng.laplace(scale=8) >= threshold))
        count += answers[-1]
        if count == cutoff:
            break
    return [tuple(answers)]


def test_sparse_vector_has_a_leaf_for_each_outcome() -> None:
    leaves = traced(sparse_vector, [0.0] * 5).leaves
    assert len(leaves) == len({leaf.outcome for leaf in leaves}) == 16


@pytest.mark.parametrize("largest", [np.argmax, lambda values: values.argmax(), lambda values: np.argmin(-values)])
def test_noisy_max_by_numpy_has_a_leaf_for_each_index(largest: Any) -> None:
    assert outcomes(lambda data, size, rng: [int(largest(data + rng.laplace(size=5)))], [0.0] * 5) == [0, 1, 2, 3, 4]


def test_noisy_max_as_a_loop_has_a_leaf_for_each_path() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        noisy = [value + rng.laplace() for value in data]
        return [max(range(len(noisy)), key=noisy.__getitem__)]

    assert len(traced(sampler, [0.0] * 4).leaves) == 8


def test_order_statistics_of_python_and_numpy() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        noisy = [value + rng.laplace() for value in data]
        heap = list(noisy)
        heapq.heapify(heap)
        top = [heapq.heappop(heap) for _ in noisy]
        return [(sorted(noisy) == top, min(noisy) is top[0], bool(np.sort(noisy)[-1] == max(noisy)))]

    assert set(outcomes(sampler, [0.0] * 3)) == {(True, True, True)}


def test_partition_chooses_sets() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        return [frozenset(np.argpartition(data + rng.laplace(size=4), 1)[:2].tolist())]

    leaves = traced(sampler, [0.0] * 4).leaves
    assert (len(leaves), len({leaf.outcome for leaf in leaves})) == (12, 6)


def test_ties_of_constants_belong_to_one_cell() -> None:
    assert outcomes(lambda data, size, rng: [int(np.argmax(data + 0 * rng.laplace(size=3)))], [1.0, 1.0, 0.0]) == [0]


def test_a_mask_is_decided_as_far_as_it_is_used() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        hits = data + rng.laplace(size=6) > 1
        return [int(hits.argmax()) if hits.any() else -1]

    assert outcomes(sampler, [0.0] * 6) == [-1, 0, 1, 2, 3, 4, 5]


def test_sums_count_the_truth_values_of_a_mask() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        hits = data + rng.laplace(size=2) > 0
        return [
            (*np.cumsum(hits).tolist(), int(hits.sum()), int(np.count_nonzero(hits)), *hits.astype(np.int8).tolist())
        ]

    assert outcomes(sampler, [0.0, 0.0]) == [
        (0, 0, 0, 0, 0, 0), (0, 1, 1, 1, 0, 1), (1, 1, 1, 1, 1, 0), (1, 2, 2, 2, 1, 1),
    ]  # fmt: skip


def test_masks_select_elements_of_ordinary_arrays() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        return [tuple(data[data + rng.laplace(size=2) > 0].tolist())]

    assert outcomes(sampler, [1.0, 2.0]) == [(), (1.0,), (1.0, 2.0), (2.0,)]


@pytest.mark.parametrize(
    "make",
    ["zeros", "empty", lambda n: np.full(n, 0.0), lambda n: np.zeros_like(np.ones(n))],
)
def test_symbols_are_stored_in_arrays_of_floats(make: Any) -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        released = getattr(np, make)(len(data)) if isinstance(make, str) else make(len(data))
        for place, value in enumerate(data):
            released[place] = value + rng.laplace()
        return [released]

    [leaf] = traced(sampler, [1.0, 2.0]).leaves
    assert [number.constant for number in leaf.outcome] == [1, 2]


def test_functions_of_numpy_that_were_imported_by_name_are_not_lifted() -> None:
    zeros = np.zeros

    def sampler(data: Any, size: Any, rng: Any) -> Any:
        released = zeros(1)
        released[0] = rng.laplace()
        return [released]

    assert "float()" in refused(sampler)


def test_data_are_changed_in_place() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        data += rng.laplace(size=2)
        return [data]

    [leaf] = traced(sampler, [1.0, 2.0]).leaves
    assert [len(number.noise) for number in leaf.outcome] == [1, 1]


def test_monotone_functions_are_kept() -> None:
    [leaf] = traced(lambda data, size, rng: [2 * np.exp(rng.laplace()) + 1]).leaves
    assert isinstance(leaf.outcome, Image)
    assert leaf.outcome.steps == (("exp",), ("scale", Fraction(2), Fraction(1)))


def test_the_same_function_of_two_noises_compares_them() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        return [int(np.argmax(np.exp(-rng.laplace(size=3))))]

    assert outcomes(sampler) == [0, 1, 2]


def test_rounded_noise_is_compared_with_integers() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        rounded = math.floor(rng.exponential())
        return [0 if rounded == 0 else 1 if rounded <= 1 else 2]

    bounds = {leaf.outcome: [row.form.constant for row in leaf.constraints] for leaf in traced(sampler).leaves}
    assert bounds == {0: [1], 1: [-1, 2], 2: [-1, -2]}


def test_floors_are_not_compared_as_their_arguments() -> None:
    assert "two functions of noisy values" in refused(
        lambda data, size, rng: [bool(math.floor(rng.laplace()) >= math.floor(rng.laplace()))]
    )


def test_rejection_ends_with_undecided_mass() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        while rng.random() < 0.5:
            pass
        return ["done"]

    model = traced(sampler, limits=Limits(negligible=Fraction(1, 2**20)))
    assert 0 < model.undecided < Fraction(1, 2**19)
    assert len(model.leaves) >= 20


def test_an_exception_is_an_outcome_that_numbers_confirm() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        if rng.laplace() > 1:
            raise KeyError
        return [0]

    assert {leaf.outcome for leaf in traced(sampler).leaves} == {Raised("KeyError"), 0}


REFUSED = {
    "float()": lambda data, size, rng: [np.float64(rng.laplace())],
    "int()": lambda data, size, rng: [np.int64(rng.laplace())],
    "hash()": lambda data, size, rng: [len({rng.laplace()})],
    "%": lambda data, size, rng: [rng.laplace() % 2],
    "**": lambda data, size, rng: [rng.laplace() ** 2],
    "formatting": lambda data, size, rng: [f"{rng.laplace():.3f}"],
    "index": lambda data, size, rng: [[1, 2][rng.laplace()]],
    "product": lambda data, size, rng: [rng.laplace() * rng.laplace()],
    "division": lambda data, size, rng: [1 / rng.laplace()],
    "numpy.tanh": lambda data, size, rng: [np.tanh(rng.laplace(size=2))],
    "pickling": lambda data, size, rng: [__import__("pickle").dumps(rng.laplace())],
    "Generator.bytes": lambda data, size, rng: [rng.bytes(3)],
    "Generator.beta": lambda data, size, rng: [rng.beta(1, 2)],
    "copying": lambda data, size, rng: [__import__("copy").deepcopy(rng).laplace()],
    "numpy.random.seed": lambda data, size, rng: [np.random.seed(0)],  # noqa: NPY002
    "random.seed": lambda data, size, rng: [random.seed(0)],
    "entropy": lambda data, size, rng: [random._urandom(8)],  # type: ignore[attr-defined]
    "2 outcomes": lambda data, size, rng: [1, 2],
    "generator": lambda data, size, rng: [(value for value in [rng.laplace()])],
    "scale of noise": lambda data, size, rng: [rng.laplace(scale=rng.exponential())],
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_name_operation_and_place(words: Any) -> None:
    message = refused(REFUSED[words])
    assert words in message
    assert message.startswith("test_trace.py:")


def test_a_refusal_cannot_be_swallowed() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        with contextlib.suppress(BaseException):
            rng.laplace() % 2
        return [0]

    assert "%" in refused(sampler)


def test_the_name_of_floats_keeps_noisy_values() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        name = float
        values = map(name, [data[0] + rng.laplace(), 1, "2"])
        return [(*values, name(), float(np.zeros(1, dtype=float)[0] + rng.laplace()), isinstance(1.0, float))]

    [leaf] = traced(sampler).leaves
    first, *plain, last, is_float = leaf.outcome
    assert (first, last) == (Affine(Fraction(1, 2), {FIRST: Fraction(1)}), Affine(Fraction(0), {
        Noise(NoiseKind.LAPLACE, 1): Fraction(1)
    }))  # fmt: skip
    assert (plain, is_float) == ([1.0, 2.0, 0.0], True)
    assert "float" not in globals()


def test_a_check_for_the_type_float_is_caught_by_numbers() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        return ["float" if type(float(data[0] + rng.laplace())) is float else "other"]

    assert "replay on numbers" in refused(sampler)


def test_a_silent_check_of_the_type_is_caught_by_numbers() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        noisy = data[0] + rng.laplace()
        return [0.0 if type(noisy) is np.float64 else noisy]

    assert "replay on numbers" in refused(sampler)


def test_noise_that_floats_round_away_leaves_nothing_to_compare() -> None:
    """At data near 1e12 no run on numbers is far from the boundary: the check of the type would not be seen."""

    def sampler(data: Any, size: Any, rng: Any) -> Any:
        noisy = data[0] + rng.laplace()
        return [data[0] > 1e12 if isinstance(noisy, float) else noisy > 1e12]

    far = trace(sampler, size=1, domain=(1e12 - 1, 1e12 + 1))
    assert isinstance(far, Refusal)
    assert "too few runs on numbers" in str(far)


def test_state_between_calls_is_caught() -> None:
    calls = []

    def sampler(data: Any, size: Any, rng: Any) -> Any:
        calls.append(1)
        return [len(calls)]

    assert "not a function of its data and its generator" in refused(sampler)


def test_probabilities_that_depend_on_earlier_calls_are_caught() -> None:
    """Every other call exchanges the probabilities of two values: those of the leaves sum to 1 all the same."""
    calls = []

    def sampler(data: Any, size: Any, rng: Any) -> Any:
        calls.append(1)
        chances = [0.5, 0.25, 0.25]
        return [int(rng.choice(3, p=chances if len(calls) % 2 else chances[::-1]))]

    assert "not a function of its data and its generator" in refused(sampler)


@pytest.mark.parametrize("kept", ["generator", "noise"])
def test_what_is_kept_from_an_earlier_call_is_caught(kept: Any) -> None:
    memory = []

    def sampler(data: Any, size: Any, rng: Any) -> Any:
        memory.append(rng if kept == "generator" else rng.laplace())
        first = memory[0]
        return [first.laplace() if kept == "generator" else first + rng.laplace()]

    assert "earlier call" in refused(sampler)


def test_an_endless_loop_meets_the_time_limit() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        while True:
            pass

    assert "0.05 seconds" in refused(sampler, limits=Limits(seconds=0.05))


class DecidesInItsMessageError(Exception):
    """Its message tells the sign of a noise."""

    def __str__(self) -> str:
        return str(bool(self.args[0] > 0))


@pytest.mark.parametrize("scale", [-1.0, -0.0])
def test_bad_scales_raise_what_numpy_raises(scale: Any) -> None:
    [leaf] = traced(lambda data, size, rng: [rng.laplace(scale=scale)]).leaves
    assert leaf.outcome == Raised("ValueError: scale < 0")


def test_the_message_of_an_exception_is_part_of_the_outcome() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        if rng.random() < 0.25:
            raise ValueError(f"bad {data[0] > 0}")
        return [0]

    for data, word in ([0.0], "False"), ([1.0], "True"):
        leaves = traced(sampler, data).leaves
        assert {leaf.outcome for leaf in leaves} == {Raised(f"ValueError: bad {word}"), 0}


def test_a_message_that_quotes_noise_is_refused() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        raise ValueError(rng.laplace())

    assert "formatting" in refused(sampler)


def test_a_message_may_decide_on_noise() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        raise DecidesInItsMessageError(rng.laplace())

    leaves = traced(sampler).leaves
    assert {leaf.outcome for leaf in leaves} == {Raised(f"DecidesInItsMessageError: {word}") for word in (True, False)}


def test_noise_without_scale_is_a_number() -> None:
    [leaf] = traced(lambda data, size, rng: [data[0] + rng.laplace(scale=0.0)]).leaves
    assert leaf.outcome == 0.5


def test_printing_is_noted() -> None:
    result = trace(lambda data, size, rng: [print("x")], [0.0], **FEW)  # noqa: T201
    assert isinstance(result, Trace)
    assert any("prints" in note for note in result.notes)


def test_other_interfaces() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        return [rng.uniform(0.0, 1.0) < 0.25]

    for source in ("numpy", "random_state", "random"):
        assert outcomes(sampler, source=source) == [False, True]


@pytest.mark.parametrize(
    "options", [{"data": [math.nan]}, {"data": [[1.0]]}, {"data": None}, {"data": [1.0], "source": "dice"}]
)
def test_bad_arguments(options: Any) -> None:
    with pytest.raises(UsageError):
        trace(lambda data, size, rng: [0], **options)


def test_sums_of_many_records_are_not_quadratic() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        total = 0
        for record in data:
            total = total + record
        return [total + rng.laplace()]

    [leaf] = traced(sampler, size=1_000).leaves
    assert len(leaf.outcome.data) == 1_000


def test_a_run_that_is_out_of_time_is_not_called_random() -> None:
    calls = itertools.count()

    def sampler(data: Any, size: Any, rng: Any) -> Any:
        noise = rng.laplace()
        if next(calls) == 1:  # the second run of the first leaf
            time.sleep(0.5)
        return [bool(noise > 0)]

    result = trace(sampler, [0.0], limits=Limits(seconds=0.3), **FEW)
    assert "not a function" not in str(result)


def test_ties_of_discrete_noise_have_no_order_of_their_own() -> None:
    """numpy promises no order of equal elements; drawn trial by trial they are numbers that numpy itself sorts."""

    def sorted_places(data: Any, size: Any, rng: Any) -> Any:
        return [tuple(map(int, np.argsort(data + rng.geometric(0.5, 2)))) for _ in range(size)]

    found = trace(sorted_places, None, size=2, on_lattice=True, limits=Limits(negligible=Fraction(1, 64)))
    assert not isinstance(found, Refusal)
    assert all(leaf.choices for leaf in found.model.leaves)


@pytest.mark.parametrize("value", [1, 3])
def test_discrete_noise_may_equal_a_number(value: int) -> None:
    def equals(data: Any, size: Any, rng: Any) -> Any:
        return [bool(data[0] + rng.geometric(0.5) == value) for _ in range(size)]

    found = trace(equals, None, size=1, on_lattice=True)
    assert not isinstance(found, Refusal)
    assert {leaf.outcome for leaf in found.model.leaves} == {True, False}
    assert found.model.on_lattice
