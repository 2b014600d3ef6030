"""Laws of families: how many outcomes are drawn at each parameter, and what several findings become."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpassay.adapter import Family, Mechanism
from dpassay.claims import PureDP
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import RemoteFamily, RemoteMechanism, open_library
from dpassay.impl.libraries.worker_process import WorkerLostError
from dpassay.properties.assay import families
from dpassay.properties.assay.expected import ExpectedFailure
from dpassay.properties.assay.families import FITTED, SAMPLED, Asking, check_family
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.sufficiency import MOST_SAMPLED_PAIRS, sufficient_calls

CLAIMS = (PureDP(2.0), PureDP(0.5))
"""Of the two corners of the family."""

SETTINGS = Settings(1e-9, 0, 20_000, 1e6, pairs=4)


def calls_at_parameters(settings: Settings, asking: Asking, stated: int | None = None) -> list[int]:
    """Return the limits of calls with which a law is asked, at one parameter after the other."""

    def make(scale: float) -> Mechanism:
        return Mechanism(
            "laplace",
            "vector:size=1,linf=1",
            f"pure:{1 / scale!r}",
            sample_many=lambda data, size: data[0] + np.random.default_rng(0).laplace(scale=scale, size=size),
            calls=stated,
        )

    (family,) = open_library(InProcessWorker([Family("family", make, {"scale": (0.5, 2.0)})]))
    assert isinstance(family, RemoteFamily)
    asked = list[int]()

    def law(_: RemoteMechanism, own: Settings) -> Finding:
        asked.append(own.calls)
        return Finding(FindingKind.OK, "asked", power={"points": 1})

    assert check_family(law, family, settings, asking).kind == "ok"
    return asked


def test_a_hunt_draws_what_it_needs_on_the_most_pairs_and_deeper_rounds_as_much_more() -> None:
    both = calls_at_parameters(SETTINGS, SAMPLED)
    deeper = calls_at_parameters(replace(SETTINGS, depth=4, calls=80_000, pairs=16), SAMPLED)
    assert both == [sufficient_calls(claim, SETTINGS.alpha / 2, pairs=MOST_SAMPLED_PAIRS) for claim in CLAIMS]
    assert deeper == [4 * calls for calls in both]


def test_where_the_time_is_short_a_hunt_draws_what_one_pair_needs() -> None:
    least = calls_at_parameters(replace(SETTINGS, pairs=1, is_least=True), SAMPLED)
    assert least == [sufficient_calls(claim, SETTINGS.alpha / 2, pairs=1) for claim in CLAIMS]


def test_a_fit_draws_what_the_adapter_states_unless_the_time_is_short() -> None:
    assert set(calls_at_parameters(replace(SETTINGS, calls=4000), FITTED, 60_000)) == {60_000}
    assert set(calls_at_parameters(replace(SETTINGS, calls=2000, is_least=True), FITTED, 60_000)) == {2000}
    assert set(calls_at_parameters(replace(SETTINGS, calls=4000), FITTED)) == {4000}


def told(
    findings: Callable[[float], Finding], *, confirms: bool = False, draws: int = 0, settings: Settings = SETTINGS
) -> Finding:
    """Return the finding of a law whose finding at a parameter, 1, 2 or 3, is known."""

    def make(scale: int) -> Mechanism:
        return Mechanism(
            "laplace", "vector:size=1,linf=1", f"pure:{scale}", sample_many=lambda data, size: np.full(size, data[0])
        )

    (family,) = open_library(InProcessWorker([Family("family", make, {"scale": [1, 2, 3]})]))
    assert isinstance(family, RemoteFamily)
    asking = Asking(corners=3, draws=draws, shrinks=confirms)
    return check_family(lambda member, _: findings(_scale_of(member)), family, settings, asking)


def _scale_of(member: RemoteMechanism) -> float:
    (claim,) = member.claims
    assert isinstance(claim, PureDP)
    return float(claim.epsilon)


def fault(kind: FindingKind, claimed: float, certified: float) -> Finding:
    return Finding(kind, "a fault", claimed=claimed, certified=certified)


def _fault_of(kinds: dict[float, FindingKind], scale: float) -> Finding:
    return fault(kinds[scale], 1.0, 2.0)


PASS = Finding(FindingKind.OK, "asked", power={"points": 1})


def test_the_worst_kind_of_fault_is_told_wherever_it_is() -> None:
    for worst in (1, 2, 3):
        kinds = dict.fromkeys((1.0, 2.0, 3.0), FindingKind.WRONG_ANSWER) | {float(worst): FindingKind.VIOLATION}
        assert told(partial(_fault_of, kinds)).kind is FindingKind.VIOLATION


def test_an_entry_must_excuse_the_faults_at_all_parameters() -> None:
    known = ExpectedFailure("family", "law", "", FindingKind.UNSOUND_NUMBER, "known", "none", factor=2.0)
    alike = told(lambda scale: fault(FindingKind.UNSOUND_NUMBER, 1.0, 2.0))
    worse = told(lambda scale: fault(FindingKind.UNSOUND_NUMBER, 1.0, 5.0 if scale == 2 else 2.0))
    assert known.excess_of(alike) is None
    assert (worse.claimed, worse.certified) == (1.0, 2.0)
    assert known.excess_of(worse) == "worse than expected: by a factor of 5, expected at most 2"


def lost_at_two(kind: FindingKind) -> Callable[[float], Finding]:
    def ask(scale: float) -> Finding:
        if scale == 2:
            raise WorkerLostError("the worker hangs")
        return fault(kind, 1.0, 2.0) if kind is not FindingKind.OK else PASS

    return ask


def test_a_worker_that_is_lost_at_one_parameter_is_no_pass_and_not_excused() -> None:
    found = told(lost_at_two(FindingKind.OK))
    assert (found.kind, "the worker hangs" in found.detail) == (FindingKind.UNDECIDED, True)
    beside = told(lost_at_two(FindingKind.UNSOUND_NUMBER))
    known = ExpectedFailure("family", "law", "", FindingKind.UNSOUND_NUMBER, "known", "none")
    assert (beside.kind, "the worker hangs" in beside.detail) == (FindingKind.UNSOUND_NUMBER, True)
    assert "no answer to" in (known.excess_of(beside) or "")


def test_a_worker_that_is_lost_once_at_a_drawn_parameter_is_no_pass() -> None:
    """Asked again at the same parameters it answers: hypothesis calls such a law flaky."""
    asked = list[float]()

    def ask(scale: float) -> Finding:
        asked.append(scale)
        if len(asked) == 4:  # the first draw after the corners
            raise WorkerLostError("the worker hangs")
        return PASS

    found = told(ask, draws=2)
    assert len(asked) >= 4
    assert (found.kind, "the worker hangs" in found.detail) == (FindingKind.UNDECIDED, True)


def test_a_mistake_at_one_parameter_is_not_hidden_by_a_known_fault() -> None:
    mistake = Finding(FindingKind.ERROR, "the adapter raised")
    found = told(lambda scale: mistake if scale == 3 else fault(FindingKind.VIOLATION, 1.0, 2.0))
    known = ExpectedFailure("family", "law", "", FindingKind.VIOLATION, "known", "none")
    assert found.kind is FindingKind.VIOLATION
    assert "the adapter raised" in found.detail
    assert "no answer to" in (known.excess_of(found) or "")
    assert told(lambda scale: mistake if scale == 1 else PASS).kind is FindingKind.ERROR


def test_a_fault_that_samples_do_not_confirm_is_not_lost() -> None:
    asked = list[float]()

    def ask(scale: float) -> Finding:
        asked.append(scale)
        if len(asked) <= 3:
            return fault(FindingKind.WRONG_ANSWER, 1.0, 2.0)
        return Finding(FindingKind.UNDECIDED, "too few calls")

    assert told(ask, confirms=True).kind is FindingKind.WRONG_ANSWER
    assert len(asked) == 4


def test_the_power_of_a_pass_is_that_of_the_weakest_parameter() -> None:
    found = told(lambda scale: replace(PASS, power={"weakness": {1.0: 0.1, 2.0: 0.9, 3.0: 0.2}[scale]}))
    assert found.power == {"weakness": 0.9}
    assert "3 parameters" in found.detail


def test_what_more_calls_do_not_decide_comes_before_a_weak_test() -> None:
    weak, constant = (Finding(FindingKind.UNDECIDED, words, is_weak=words == "weak") for words in ("weak", "constant"))
    found = told(lambda scale: constant if scale == 2 else weak)
    assert (found.is_weak, "constant" in found.detail) == (False, True)


def test_parameters_that_are_undecided_for_good_are_not_hidden_by_a_known_fault() -> None:
    killed = Finding(FindingKind.UNDECIDED, "the worker was killed", is_lasting=True)
    found = told(lambda scale: killed if scale == 3 else fault(FindingKind.VIOLATION, 1.0, 2.0))
    entry = ExpectedFailure("family", "law", "", FindingKind.VIOLATION, "known", "none")
    assert "no answer to" in (entry.excess_of(found) or "")
    not_run = Finding(FindingKind.NOT_RUN, "on the only pair")
    assert told(lambda scale: not_run if scale == 3 else PASS).kind is FindingKind.NOT_RUN


def test_all_corners_are_asked_after_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "_SHRINKING_SECONDS", 0.0)
    found = told(lambda scale: fault(FindingKind.VIOLATION, 1.0, 100.0 if scale == 3 else 1.05))
    assert found.witness is not None
    assert (found.certified, found.witness["further"]) == (100.0, [(1.0, 1.05)])


def test_parameters_that_the_end_of_the_time_left_out_are_told() -> None:
    """A known fault may be at one of them, so that its absence is no news."""

    def ask_slowly(_: float) -> Finding:
        time.sleep(0.2)
        return PASS

    found = told(ask_slowly, settings=replace(SETTINGS, seconds=0.1))
    assert (found.kind, found.power) == (FindingKind.OK, {"points": 1, "late": 2})
    assert found.detail.startswith("1 parameters, 2 not asked in time; ")
    assert told(lambda scale: PASS).power == {"points": 1}


def test_what_decides_nothing_has_no_power_however_many_parameters_were_asked() -> None:
    def ask_slowly(_: float) -> Finding:
        time.sleep(0.2)
        return Finding(FindingKind.UNDECIDED, "an unreadable outcome")

    found = told(ask_slowly, settings=replace(SETTINGS, seconds=0.1))
    assert (found.kind, found.power) == (FindingKind.UNDECIDED, None)
