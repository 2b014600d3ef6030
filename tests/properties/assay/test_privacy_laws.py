"""Sampled laws where the time allows one pair only, and coordinates of which some say nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpassay.adapter import Mechanism
from dpassay.arguments import UsageError
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import RemoteMechanism, open_library
from dpassay.impl.libraries.worker_process import WorkerLostError
from dpassay.properties.assay import privacy_laws
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.privacy_laws import PRIVACY_LAWS
from dpassay.properties.hunting.idle import EveryCallRaisesError

LAWS = {law.name: law for law in PRIVACY_LAWS}
RNG = np.random.default_rng(0)
WHOLE = Settings(1e-9, 0, 1300, 1e6, pairs=4)
LEAST = Settings(1e-9, 0, 560, 1e6, pairs=1, is_least=True)


def found(settings: Settings, sample_many: Any, *, law: str = "privacy_of_claim", size: int = 2) -> Finding:
    return LAWS[law].check(opened(sample_many, size=size), settings)


def opened(sample_many: Any, *, size: int = 2) -> RemoteMechanism:
    case = Mechanism("case", f"vector:size={size},linf=1", "pure:1", sample_many=sample_many)
    (remote,) = open_library(InProcessWorker([case]))
    assert isinstance(remote, RemoteMechanism)
    return remote


def noisy_sum(scale: float) -> Any:
    return lambda data, size: sum(data) + RNG.laplace(scale=scale, size=size)


@pytest.mark.parametrize("settings", [WHOLE, LEAST])
def test_the_only_pair_moves_the_sum(settings: Settings) -> None:
    """On the first designed pair, (0, 0) and (1, -1), a sum has one distribution."""
    assert found(settings, noisy_sum(0.25)).kind == "violation"


def test_a_pass_on_one_pair_says_so_and_that_others_were_not_looked_at() -> None:
    whole, least = found(WHOLE, noisy_sum(3.0)), found(LEAST, noisy_sum(3.0))
    assert whole.kind == least.kind == "ok"
    assert "on one pair" in least.detail
    assert "on one pair" not in whole.detail
    assert least.power is not None
    assert least.power["on_a_single_pair"] == {"epsilon": "inf"}
    assert "if one pair alone shows it: none" in least.detail


def test_a_target_that_raises_on_the_only_pair_is_not_run_if_it_returns_on_another() -> None:
    """Where it returns on none that was asked, there is a mistake at any depth."""

    def raises(*_: Any) -> Any:
        raise ValueError("no records")

    def raises_near(data: list[float], size: int) -> Any:
        if data[0] < 5:  # the inputs of the only pair are (0, 0) and (1, 1)
            raise ValueError("no records")
        return noisy_sum(3.0)(data, size)

    assert found(WHOLE, raises).kind == found(LEAST, raises).kind == "error"
    end = found(LEAST, raises_near)
    assert (end.kind, "on the only pair" in end.detail, "no records" in end.detail) == ("not run", True, True)


SUSPECTED = Finding(FindingKind.WRONG_ANSWER, "a gap", certified=2.0, calls=5, witness={"gap": 2.0})
PAIR = (np.zeros(2), np.ones(2))


@pytest.mark.parametrize(
    "error", [WorkerLostError("it was killed"), UsageError("no number"), EveryCallRaisesError("it raises")]
)
def test_a_suspicion_stays_if_its_confirmation_fails(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(privacy_laws, "sample_pairs", fails)
    kept = privacy_laws.confirm_on_pair(opened(noisy_sum(3.0)), WHOLE, PAIR, SUSPECTED)
    assert kept == replace(SUSPECTED, detail=f"a gap; no samples confirm it: {error}")


@pytest.mark.parametrize("drawn", [0, 1])
def test_a_suspicion_stays_if_the_worker_is_lost(monkeypatch: pytest.MonkeyPatch, drawn: int) -> None:
    case, batches = opened(noisy_sum(3.0)), [np.arange(8.0)] * drawn

    def fails(data: Any, size: int, _: Any) -> Any:
        if batches:
            return np.resize(batches.pop(), size)
        raise WorkerLostError("it was killed")

    monkeypatch.setattr(case, "sample", fails)
    kept = privacy_laws.confirm_on_pair(case, WHOLE, PAIR, SUSPECTED)
    assert (kept.kind, kept.witness) == (SUSPECTED.kind, SUSPECTED.witness)
    assert kept.detail.startswith("a gap; no samples confirm it: ")
    assert "it was killed" in kept.detail


def test_samples_confirm_a_suspicion_or_say_why_they_do_not() -> None:
    kept = privacy_laws.confirm_on_pair(opened(noisy_sum(30.0)), WHOLE, PAIR, SUSPECTED)
    assert (kept.kind, kept.detail, kept.calls > 5) == ("wrong answer", "a gap", True)
    void = privacy_laws.confirm_on_pair(opened(lambda data, size: [7.0] * size), WHOLE, PAIR, SUSPECTED)
    assert (void.kind, "no samples confirm it: every call" in void.detail) == ("wrong answer", True)
    worse = privacy_laws.confirm_on_pair(opened(noisy_sum(0.1)), WHOLE, PAIR, SUSPECTED)
    assert (worse.kind, worse.witness, worse.detail.startswith("a gap; ")) == ("violation", SUSPECTED.witness, True)


def test_outcomes_that_repeat_are_undecided_for_good() -> None:
    """A constant outcome on the inputs of one round may not be one on others."""
    fixed = np.random.default_rng(3).laplace(size=5000)
    repeated = found(WHOLE, lambda data, size: sum(data) + fixed[:size])
    constant = found(WHOLE, lambda data, size: [7.0] * size)
    assert (repeated.kind, repeated.is_lasting, repeated.is_weak) == ("undecided", True, False)
    assert (constant.kind, constant.is_lasting, constant.is_weak) == ("undecided", False, False)


def test_a_coordinate_that_no_calls_would_decide_comes_before_a_weak_one() -> None:
    def last_is_constant(data: list[float], size: int) -> Any:
        noisy = np.array(data) + RNG.laplace(scale=2.0 * len(data), size=(size, len(data)))
        noisy[:, -1] = 7.0
        return noisy

    few = Settings(1e-9, 0, 400, 1e6, pairs=4)
    end = found(few, last_is_constant, law="coordinates", size=4)
    assert (end.kind, end.is_weak, "coordinate 3" in end.detail) == ("undecided", False, True)


def test_coordinates_say_so_too() -> None:
    def noisy(data: list[float], size: int) -> Any:
        return np.array(data) + RNG.laplace(scale=2.0, size=(size, len(data)))

    for settings, says_so in ((WHOLE, False), (replace(LEAST, calls=700), True)):
        end = found(settings, noisy, law="coordinates")
        assert (end.kind, "on one pair" in end.detail) == ("ok", says_so), end
