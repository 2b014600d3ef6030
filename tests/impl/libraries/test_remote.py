"""Mechanisms and answers of another interpreter as local objects."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.impl.libraries.fake_cases import ONE, ZERO, answer, mechanism, rng

from dpassay.claims import ZCDP, PureDP
from dpassay.impl.libraries.remote import BrokenCase, RefusedError, RemoteCase, RemoteNonsense
from dpassay.impl.libraries.worker_process import Worker, WorkerError
from dpassay.mechanism import ClaimedMechanism
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.drawing.call_guard import Habit
from dpassay.properties.drawing.draws import Draw, sample_side
from dpassay.properties.drawing.sessions import generators_of
from dpassay.properties.outcomes.calls import CallFailedError, call


def test_a_mechanism_is_one(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "correct")
    assert isinstance(case, ClaimedMechanism)
    assert case.claims == (PureDP(1.0),)
    assert case.neighbours == VectorNeighbours(1, linf=1.0, integer=True)
    assert case.description["distribution"] is False


def test_same_seed_same_outcomes(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "correct")
    first = np.asarray(case.sample(ONE, 50, rng()))
    assert first.shape == (50,)
    assert first.tolist() == np.asarray(case.sample(ONE, 50, rng())).tolist()
    assert len(set(first.tolist())) > 1


def test_portions_do_not_change_what_is_drawn(cases: dict[str, RemoteCase], monkeypatch: pytest.MonkeyPatch) -> None:
    case = mechanism(cases, "leaky")
    whole = case.sample(ZERO, 500, rng())
    monkeypatch.setattr("dpassay.impl.libraries.remote._LARGEST_PORTION", 7)
    assert case.sample(ZERO, 500, rng()) == whole


def test_a_call_that_raises_is_an_outcome(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "leaky")
    assert case.sample(ONE, 3, rng()) == ["<raises ValueError>"] * 3
    assert call(case.sample, ONE, 3, rng()).failures == 3


def test_a_call_that_would_end_the_process_is_an_outcome(cases: dict[str, RemoteCase]) -> None:
    assert mechanism(cases, "ends itself").sample(ONE, 2, rng()) == ["<raises SystemExit>"] * 2


def test_a_keyboard_interrupt_of_the_library_is_an_outcome(worker: Worker, cases: dict[str, RemoteCase]) -> None:
    losses = len(worker.losses)
    assert mechanism(cases, "interrupts itself").sample(ONE, 2, rng()) == ["<raises KeyboardInterrupt>"] * 2
    assert len(worker.losses) == losses


def test_a_bulk_call_that_raises_is_one_observation_by_the_librarys_name(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "raises")
    with pytest.raises(WorkerError, match="ZeroDivisionError: for all of them"):
        case.sample(ONE, 3, rng())
    with pytest.raises(CallFailedError) as caught:
        call(case.sample, ONE, 3, rng())
    assert caught.value.symbol == "<raises ZeroDivisionError>"


def test_apart_a_bulk_mechanism_is_called_one_by_one(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "raises")
    assert case.sample_one_by_one(ONE, 3, rng()) == ["<raises ZeroDivisionError>"] * 3
    draw = Draw(ONE, 3, np.random.SeedSequence(0), one_by_one=True)
    apart, whole = sample_side(case.sampler, draw), sample_side(case.sampler, replace(draw, one_by_one=False))
    assert apart is not None
    assert apart.failures == 3
    assert whole is None  # of a call for many outcomes that raised nobody knows how many would have


def test_law_and_noiseless_answer(cases: dict[str, RemoteCase]) -> None:
    case = mechanism(cases, "described")
    assert case.claims == (ZCDP(0.5),)
    assert case.distribution(ONE) == {"family": "gaussian", "location": 1.0, "scale": 1.0}
    assert case.noiseless(ONE) == 1.0
    assert case.description["sensitivity"] == 1.0
    assert case.distributions([ONE, ONE]) == [case.distribution(ONE)] * 2
    assert list(case.noiseless_values([ONE] * 40)) == [1.0] * 40


def test_the_code_of_a_sampler_in_a_worker_says_nothing_about_generators(cases: dict[str, RemoteCase]) -> None:
    """Nor is it read, for each hunt anew."""

    class Here:
        def __init__(self) -> None:
            self.generator = np.random.default_rng(0)

        def __call__(self, _data: Any, size: int, _rng: np.random.Generator) -> Any:
            return self.generator.laplace(size=size)

    class Elsewhere(Here):
        is_elsewhere = True

    assert generators_of(Here()) == {Habit.OWN_GENERATOR}
    assert generators_of(Elsewhere()) == set()
    assert mechanism(cases, "correct").sampler.is_elsewhere


@pytest.mark.parametrize(("name", "words"), [("unable", "RuntimeError: no claim"), ("unreadable", "'very private'")])
def test_a_case_without_a_readable_claim_is_broken(cases: dict[str, RemoteCase], name: str, words: str) -> None:
    case = cases[name]
    assert isinstance(case, BrokenCase)
    assert words in case.error


def test_answers_are_numbers_or_refusals(cases: dict[str, RemoteCase]) -> None:
    arguments = {"sigma": 1.0, "epsilon": 0.0}
    assert answer(cases, "honest").question == "gaussian_delta"
    assert answer(cases, "honest").compute(**arguments, count=1) == 0.4
    odd = [answer(cases, "odd").compute(**arguments, count=count) for count in range(4)]
    assert np.array_equal(odd, [math.nan, math.nan, math.inf, 0.5], equal_nan=True)
    with pytest.raises(RefusedError, match="ZeroDivisionError"):
        answer(cases, "refuses").compute(**arguments, count=1)
    with pytest.raises(RefusedError, match="TypeError"):
        answer(cases, "honest").compute(unknown=1.0)


def test_nonsense_is_attempted(cases: dict[str, RemoteCase]) -> None:
    careful, careless = cases["careful"], cases["careless"]
    assert isinstance(careful, RemoteNonsense)
    assert isinstance(careless, RemoteNonsense)
    assert careful.attempts == ("int of a word",)
    returned, words = careful.attempt("int of a word")
    assert not returned
    assert words.startswith("ValueError")
    assert careless.attempt("minus one") == (True, -1)


def test_what_the_adapters_own_lines_raise_is_no_refusal(cases: dict[str, RemoteCase]) -> None:
    clumsy = cases["clumsy"]
    assert isinstance(clumsy, RemoteNonsense)
    assert len(clumsy.attempts) == 9
    for words in clumsy.attempts:
        with pytest.raises(WorkerError) as caught:
            clumsy.attempt(words)
        assert caught.value.is_own or caught.value.is_unasked, words


def test_a_slow_mechanism_is_asked_for_few_outcomes_at_a_time(
    cases: dict[str, RemoteCase], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request is shorter than what counts as hung."""
    sizes = []
    request = Worker.request

    def noted(self: Worker, do: str, **fields: Any) -> Any:
        sizes.append(fields["size"])
        return request(self, do, **fields)

    monkeypatch.setattr(Worker, "request", noted)
    monkeypatch.setattr("dpassay.impl.libraries.remote.PORTION_SECONDS", 0.1)
    assert len(mechanism(cases, "slow").sample(ONE, 75, rng())) == 75
    assert sizes[0] == 64
    assert sum(sizes) == 75
    assert max(sizes[1:]) <= 5  # at 0.02 s each or more
