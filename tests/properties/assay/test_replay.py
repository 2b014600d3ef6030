"""The law of replay finds faults without noise, and families find them at parameters that show them."""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpassay.adapter import Family, Mechanism
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import RemoteFamily, open_library
from dpassay.properties.assay.families import corners
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.laws import LAWS
from dpassay.properties.assay.replay_laws import compare_runs

sys.path.insert(0, str(Path(__file__).parents[2] / "fake_library"))
import noisy_sums  # type: ignore[import-not-found]

(REPLAY,) = (law for law in LAWS if law.name == "replay")


def replayed(case: Any, *, confirms: bool = False) -> Finding:
    (remote,) = open_library(InProcessWorker([case]))
    assert REPLAY.applies(remote) is None
    return REPLAY.check(remote, Settings(1e-9, 1, 600, 30.0, confirms))


@pytest.mark.parametrize("case", noisy_sums.HONEST, ids=lambda case: f"{case.name}, {case.claim}")
def test_honest_mechanisms_pass(case: Mechanism) -> None:
    found = replayed(case)
    assert found.kind is FindingKind.OK, found.detail


@pytest.mark.parametrize(("case", "words"), noisy_sums.LIARS, ids=lambda part: getattr(part, "name", None))
def test_liars_are_found_without_samples(case: Mechanism, words: str) -> None:
    found = replayed(case)
    assert found.kind in {FindingKind.VIOLATION, FindingKind.WRONG_ANSWER}
    assert words in found.detail


@pytest.mark.parametrize("name", ["unclipped", "wrong_bound", "unsplit", "little_gauss"])
def test_a_loss_of_released_noise_is_certified(name: str) -> None:
    case = next(case for case, _ in noisy_sums.LIARS if case.name == name)
    found = replayed(case)
    assert found.kind is FindingKind.VIOLATION
    assert found.certified is not None
    assert found.claimed is not None
    assert found.certified > found.claimed


def test_a_loss_of_noise_that_is_not_released_is_no_violation_by_itself() -> None:
    found = replayed(noisy_sums.case(noisy_sums.unsplit, releases_noise=False))
    assert found.kind is FindingKind.WRONG_ANSWER


def test_samples_confirm_a_fault() -> None:
    found = replayed(noisy_sums.case(noisy_sums.exact_count, calls=600), confirms=True)
    assert found.kind is FindingKind.VIOLATION
    assert "e-value" in found.detail


def test_a_run_without_noise_is_an_error() -> None:
    assert replayed(noisy_sums.case(noisy_sums.nothing)).kind is FindingKind.ERROR


def summed_unless(is_refused: Callable[[list[float]], bool]) -> Callable[[list[float]], Any]:
    """Return an honest sum that draws its noise, and then refuses some data."""

    def refusing(data: list[float]) -> Any:
        total = noisy_sums.honest_sum(data)
        if is_refused(data):
            raise ValueError("not these")
        return total

    return refusing


def test_runs_that_all_raise_compare_nothing() -> None:
    found = replayed(noisy_sums.case(summed_unless(lambda data: True)))
    assert (found.kind, found.detail) == (
        FindingKind.UNDECIDED,
        "0 of 12 pairs compared: both runs raise ValueError",
    )


def test_pairs_whose_runs_both_raise_are_not_counted() -> None:
    """The first record is the same in two neighbours; it is the least one in seven of the pairs."""
    found = replayed(noisy_sums.case(summed_unless(lambda data: data[0] == -9)))
    assert (found.kind, found.power) == (FindingKind.OK, {"points": 5})
    assert found.detail == "5 of 12 pairs compared: both runs raise ValueError"


def test_one_run_that_raises_is_a_difference() -> None:
    found = replayed(noisy_sums.case(summed_unless(lambda data: len(data) == 2)))
    assert found.kind is FindingKind.WRONG_ANSWER
    assert "Raised(name='ValueError')" in found.detail


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_noise_about_what_is_not_finite_compares_nothing(value: float) -> None:
    found = replayed(noisy_sums.case(lambda data: noisy_sums.Noise(0.5, 3.0).add(value)))
    assert found.kind is FindingKind.UNDECIDED
    assert found.detail.startswith("0 of 12 pairs compared: what reaches the noise is infinite or NaN")


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), [(math.nan, 3.0), (0.5, math.nan), (math.nan, math.nan), (-0.5, 3.0)]
)
def test_noise_that_is_not_known_is_not_judged(epsilon: float, sensitivity: float) -> None:
    """The account would be NaN, which is not above any claim, or less than what other noise loses."""
    noise = noisy_sums.Noise(epsilon, sensitivity)
    found = replayed(noisy_sums.case(lambda data: noise.add(sum(noisy_sums.clip(x, -3.0, 2.0) for x in data))))
    assert found.kind is FindingKind.UNDECIDED
    assert found.detail.startswith("the noise of call 0 is not known: sensitivity is")


@pytest.mark.parametrize("claim", ["zcdp:0.0556", "approx:0.7,0.1"])
@pytest.mark.parametrize(("scale", "sensitivity"), [(math.nan, 3.0), (9.0, math.nan)])
def test_gaussian_noise_that_is_not_known_is_not_judged(claim: str, scale: float, sensitivity: float) -> None:
    noise = noisy_sums.Gauss(scale, sensitivity)
    found = replayed(noisy_sums.case(lambda data: noise.add(sum(noisy_sums.clip(x, -3.0, 2.0) for x in data)), claim))
    assert found.kind is FindingKind.UNDECIDED
    assert found.detail.startswith("the noise of call 0 is not known: sensitivity is")


def test_noise_that_is_not_known_hides_no_other_fault() -> None:
    def unclipped_twice(data: list[float]) -> Any:
        return [noisy_sums.Noise(math.nan, 3.0).add(0.0), noisy_sums.unclipped(data)]

    found = replayed(noisy_sums.case(unclipped_twice))
    assert found.kind is FindingKind.VIOLATION
    assert "what reaches the noise changes by" in found.detail


def test_no_noise_is_needed_where_nothing_changes() -> None:
    call = {"family": "laplace", "value": [math.nan, 1.0], "sensitivity": 1.0, "epsilon": math.inf}
    found = compare_runs(([call], 1.0), ([call], 1.0))
    assert (found.pure, found.gaps, found.unknown, found.uncompared) == (0.0, (0.0,), (), "")
    found = compare_runs(([call], 1.0), ([{**call, "value": [math.nan, 2.0]}], 1.0))
    assert (found.pure, found.gaps) == (math.inf, (1.0,))
    found = compare_runs(([call], 1.0), ([{**call, "value": [0.0, 1.0]}], 1.0))
    assert found.gaps == (math.inf,)


def test_other_randomness_is_fixed_while_runs_are_replayed() -> None:
    assert replayed(noisy_sums.SHUFFLED).kind is FindingKind.OK
    assert replayed(noisy_sums.case(noisy_sums.in_random_order)).kind is FindingKind.WRONG_ANSWER
    assert noisy_sums.shuffled.__name__ == "shuffled"
    assert noisy_sums.Noise.add.__name__ == "add"


def test_a_selection_returns_one_of_its_outputs() -> None:
    found = replayed(noisy_sums.case(noisy_sums.chosen, noise=noisy_sums.CHOICE, releases_noise=False))
    assert found.kind is FindingKind.OK, found.detail


def test_a_slow_mechanism_is_replayed_on_few_pairs() -> None:
    assert replayed(noisy_sums.case(noisy_sums.honest_sum, calls=12)).detail.startswith("2 pairs")


def test_a_family_is_found_at_its_simplest_parameters() -> None:
    found = replayed(noisy_sums.family(noisy_sums.forgets_low))
    assert found.kind is FindingKind.VIOLATION
    assert "low=-" in found.detail.partition(":")[0]


def test_an_honest_family_passes() -> None:
    found = replayed(noisy_sums.family(noisy_sums.replaced_sum))
    assert found.kind is FindingKind.OK, found.detail
    assert found.detail.startswith("10 parameters")


def test_every_pair_of_ends_is_a_corner() -> None:
    family = noisy_sums.family(noisy_sums.replaced_sum)
    wide = Family("wide", family.make, dict.fromkeys("abcdefg", (0, 2)))
    (remote,) = open_library(InProcessWorker([wide]))
    assert isinstance(remote, RemoteFamily)
    found = list(corners(remote.parameters))
    for one in "abcdefg":
        for other in "abcdefg".replace(one, ""):
            assert {(corner[one], corner[other]) for corner in found} == {(0, 0), (0, 2), (2, 0), (2, 2)}


def test_a_finding_holds_the_call_to_paste(capsys: pytest.CaptureFixture[str]) -> None:
    found = replayed(noisy_sums.case(noisy_sums.unclipped, call="from math import fsum\nfsum({data})"))
    assert found.witness is not None
    text = found.witness["call"]
    assert text.startswith("# expected: pure:0.5 for these two neighbours; found: what reaches the noise changes by")
    exec(text)  # noqa: S102  # the text is to be pasted
    left, right = found.witness["left"], found.witness["right"]
    assert capsys.readouterr().out == f"{sum(left)}\n{sum(right)}\n"
