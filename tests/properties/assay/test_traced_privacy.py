"""The law of traced privacy composes the noises of replayed runs exactly, and certifies what it says."""

import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from dpassay.adapter import Family
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import open_library
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.laws import LAWS
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.verdict import Evidence

sys.path.insert(0, str(Path(__file__).parents[2] / "fake_library"))
from composed_noise import (  # type: ignore[import-not-found]
    adaptive,
    bounded,
    case,
    clamped_below,
    clamped_between,
    exact_count,
    folded,
    gaussian,
    geometric,
    half_integers,
    laplace,
    maker,
    raises_above,
    scale_of_data,
    sometimes_unknown,
)

TWO_LAPLACE = 1 - math.exp(-0.25) * (1 + 0.125)
"""The delta at epsilon of two Laplace noises that lose d each, by integration: 1 - e^(-x / 2) (1 + x / 4) with
x = 2 d - epsilon <= d; here x = d = 0.5."""

DELTA_OF_FIVE = float(gaussian_hockey_stick(5, 30).mid())
"""The delta at epsilon 30 of Gaussian noise at a distance of 5 scales, which rounding of the scale changes much."""


def found_by(law: str, one: Any) -> Finding:
    (remote,) = open_library(InProcessWorker([one]))
    (chosen,) = (each for each in LAWS if each.name == law)
    assert chosen.applies(remote) is None
    return chosen.check(remote, Settings(1e-9, 1, 600, 30.0, confirms=False))


def traced(one: Any) -> Finding:
    return found_by("traced_privacy", one)


HONEST = [
    (case(maker(laplace(2.0), laplace(3.0)), "pure:0.8334"), 5 / 6),
    (case(maker(laplace(2.0), laplace(2.0)), f"approx:0.5,{1.001 * TWO_LAPLACE}"), TWO_LAPLACE),
    (case(maker(gaussian(3.0), gaussian(4.0)), "zcdp:0.0869"), (1 / 9 + 1 / 16) / 2),
    (case(maker(laplace(2.0), gaussian(2.0)), "zcdp:0.2501"), 1 / 4),
    (case(maker(geometric(2.0)), "pure:0.5"), 0.5),
    (case(maker(bounded(4.0, 0.5)), "pure:0.5"), None),
    (case(maker(folded(2.0)), "pure:0.5"), 0.5),
    (case(maker(clamped_between(2.0)), "pure:0.47"), math.log((2 - math.exp(-0.2)) / math.exp(-0.3))),
    (case(maker(gaussian(0.2 * (1 - 2.0**-21))), f"approx:30.0,{DELTA_OF_FIVE}"), None),
]
LIARS = {
    "two Laplace noises, one delta": case(maker(laplace(2.0), laplace(2.0)), f"approx:0.5,{0.999 * TWO_LAPLACE}"),
    "Laplace and Gaussian noise": case(maker(laplace(2.0), gaussian(2.0)), "approx:0.7,0.05"),
    "different scales": case(maker(gaussian(2.0), gaussian(9.0)), "zcdp:0.125"),
    "integers between ends": case(maker(geometric(2.0)), "pure:0.49"),
    "bounded noise with the scale of unbounded noise": case(maker(bounded(2.0, 0.5)), "pure:0.5"),
    "integers and a delta": case(maker(geometric(2.0)), "approx:0.25,0.13"),  # of continuous noise 0.1175
    "values beyond the ends of clamped noise": case(maker(clamped_below(2.0)), "pure:0.49"),
    "a scale that depends on the data": case(scale_of_data, "pure:0.25"),
}


@pytest.mark.parametrize(("one", "loss"), HONEST, ids=lambda part: getattr(part, "claim", None))
def test_honest_noise_is_accepted_with_its_loss(one: Any, loss: float | None) -> None:
    found = traced(one)
    assert found.kind is FindingKind.OK, found.detail
    assert found.evidence is Evidence.ENCLOSED
    assert found.certified is not None
    assert found.claimed is not None
    assert found.certified <= found.claimed * (1 + 2.0**-14)  # the delta at 30 grows fast with the distance
    assert loss is None or loss * (1 - 1e-12) <= found.certified <= loss * 1.0001
    told = re.search(r"at most (\S+)", found.detail)
    assert told is not None
    assert found.certified <= float(told[1]) <= found.certified * (1 + 1e-5)  # rounded up


@pytest.mark.parametrize("name", LIARS)
def test_liars_are_refuted_with_a_certified_loss(name: str) -> None:
    found = traced(LIARS[name])
    assert found.kind is FindingKind.VIOLATION, found.detail
    assert found.certified is not None
    assert found.claimed is not None
    assert found.certified > found.claimed
    told = re.search(r"at least (\S+?)(,| at epsilon)", found.detail)
    assert told is not None
    assert found.certified * (1 - 1e-5) <= float(told[1]) <= found.certified  # rounded down


def test_replay_does_not_see_the_scale_of_bounded_noise() -> None:
    assert found_by("replay", LIARS["bounded noise with the scale of unbounded noise"]).kind is FindingKind.OK


def test_replay_does_not_add_up_losses_where_a_delta_is_claimed() -> None:
    honest, _ = HONEST[1]
    assert found_by("replay", honest).kind is FindingKind.OK


def test_a_mixture_of_noises_is_certified_by_replay_as_well() -> None:
    found = found_by("replay", LIARS["Laplace and Gaussian noise"])
    assert found.kind is FindingKind.VIOLATION
    assert found.certified is not None
    assert found.certified > 0.05


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (adaptive, "depends on other noise"),
        (raises_above, "a run raises"),
        (half_integers, "the distribution of the noise is not known"),
    ],
)
def test_what_the_noise_does_not_determine_is_not_asked(function: Any, reason: str) -> None:
    found = traced(case(function, "pure:0.01"))
    assert found.kind is FindingKind.NOT_APPLICABLE
    assert reason in found.detail


def test_the_loss_of_folded_noise_is_known_from_above_only() -> None:
    found = traced(case(maker(folded(2.0)), "pure:0.49"))
    assert found.kind is FindingKind.NOT_APPLICABLE
    assert "from above only" in found.detail


def test_runs_without_noise_are_no_pass() -> None:
    assert traced(case(maker(), "pure:0.5")).kind is FindingKind.NOT_APPLICABLE


def test_an_outcome_that_depends_on_the_data_otherwise_is_not_accepted() -> None:
    found = traced(case(exact_count, "pure:0.5"))
    assert found.kind is FindingKind.NOT_APPLICABLE
    assert "in other ways than by its noise" in found.detail


def test_replay_certifies_no_noise_that_depends_on_other_noise() -> None:
    assert found_by("replay", case(adaptive, "pure:0.3")).kind is FindingKind.WRONG_ANSWER


def test_a_pair_that_is_not_traced_is_no_pass() -> None:
    found = traced(case(sometimes_unknown, "pure:0.5"))
    assert found.kind is FindingKind.NOT_APPLICABLE
    assert re.match("[1-9] of 12 pairs are not traced", found.detail)


def test_parameters_at_which_a_law_does_not_apply_are_not_counted() -> None:
    def make(scale: float, kind: str) -> Any:
        made = laplace(scale) if kind == "plain" else folded(scale / 2)
        return case(maker(made), f"pure:{1 / scale}")

    found = traced(Family("noise", make, {"scale": (1.0, 3.0), "kind": ["plain", "folded"]}))
    assert found.kind is FindingKind.OK
    of, total = re.match(r"(\d+) of (\d+) parameters", found.detail).groups()  # type: ignore[union-attr]
    assert 0 < int(of) < int(total)


def test_a_maximum_of_noisy_values_is_not_asked() -> None:
    (remote,) = open_library(InProcessWorker([case(maker(laplace(2.0)), "pure:0.5", releases_noise=False)]))
    (law,) = (each for each in LAWS if each.name == "traced_privacy")
    assert law.applies(remote) == "the outcome does not determine the outputs of the noise"


def test_a_claim_between_the_bounds_is_undecided() -> None:
    # zCDP of Laplace noise: the orders that are tried lie below d^2 / 2, the bound for a loss of at most d
    found = traced(case(maker(laplace(2.0)), "zcdp:0.1249"))
    assert found.kind is FindingKind.UNDECIDED
    assert found.witness is not None
