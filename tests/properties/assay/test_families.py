"""How many outcomes a law of a family draws at each parameter."""

from dataclasses import replace

import numpy as np

from dpassay.adapter import Family, Mechanism
from dpassay.claims import PureDP
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import RemoteFamily, RemoteMechanism, open_library
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
