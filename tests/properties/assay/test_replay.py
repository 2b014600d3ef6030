"""The law of replay finds faults without noise, and families find them at parameters that show them."""

import sys
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
