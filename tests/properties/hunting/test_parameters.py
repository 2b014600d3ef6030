"""Parameters at their extremes: a refusal that names them or a right answer, and no warning of float64."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import ExPost, parse_claim
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.replay import replay
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.testing import assert_private

Array = NDArray[np.float64]
LINE = "vector:size=1,linf=1"
BIT = "vector:size=1,linf=1,low=0,high=1,integer"


def laplace(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.asarray(data[0] + rng.laplace(size=size))


# --- values that are no values of a parameter ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["white_box", "shrink"])
@pytest.mark.parametrize("value", ["no", 0, None, [True]])
def test_a_flag_must_be_true_or_false(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"{name} must be True or False, got"):
        hunt(laplace, "pure:1", LINE, calls=100, **{name: value})


@pytest.mark.parametrize("value", ["no", True, None])
def test_float64_must_be_a_policy(value: Any) -> None:
    with pytest.raises(UsageError, match="float64 must be one of fail, warn, ignore, got"):
        hunt(laplace, "pure:1", LINE, calls=100, float64=value)


@pytest.mark.parametrize("name", ["white_box", "allow_weak"])
def test_a_flag_of_an_assertion_must_be_true_or_false(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} must be True or False, got 'no'"):
        assert_private(laplace, "pure:1", LINE, calls=100, **{name: "no"})  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("name", "value"),
    {
        "isolate": "no",
        "progress": "bar",
        "backend": 7,
        "jobs": "2",
        "seed": True,
        "calls": "many",
        "alpha": "small",
        "budget_seconds": None,
        "call_timeout_seconds": "long",
        "import_timeout_seconds": -1,
    }.items(),
)
def test_a_keyword_is_named_with_the_value_that_it_cannot_have(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"^{name} must (be|lie)"):
        hunt(laplace, "pure:1", LINE, **{"calls": 100, name: value})


def test_a_replay_names_them_too() -> None:
    saved = hunt(lambda data, size, rng: data[0] + np.zeros(size), "pure:1", BIT, calls=300).to_json()
    with pytest.raises(UsageError, match="isolate must be True, False or None, got 'no'"):
        replay(saved, laplace, isolate="no")  # type: ignore[arg-type]


# --- claims -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", ["approx:1,1", "probabilistic:1,1", "approx-zcdp:1,1", "approx:0,1.0"])
def test_a_claim_that_every_mechanism_satisfies_is_refused(claim: str) -> None:
    with pytest.raises(UsageError, match="is vacuous: delta must be below 1"):
        hunt(laplace, claim, LINE, calls=100)
    with pytest.raises(UsageError, match="is vacuous: delta must be below 1"):
        assert_private(laplace, claim, LINE, calls=100)


EXTREMES = st.sampled_from(["0", "5e-324", "1e-300", "1e-12", "700", "1e5", "1e154", "1e200", "1e308", "1.7e308"])
DELTAS = st.sampled_from(["0", "5e-324", "1e-300", "0.5", "0.9999999999999999"])
ORDERS = st.sampled_from(["1.0000000000000002", "1.5", "1e10", "1e308"])
CLAIMS = st.one_of(
    st.builds("{}:{}".format, st.sampled_from(["pure", "zcdp", "bounded-range", "gdp"]), EXTREMES),
    st.builds("{}:{},{}".format, st.sampled_from(["approx", "probabilistic", "approx-zcdp"]), EXTREMES, DELTAS),
    st.builds("cdp:{},{}".format, EXTREMES, EXTREMES),
    st.builds("rdp:{},{}".format, ORDERS, EXTREMES),
)


@given(CLAIMS)
@example("pure:1e308")
@example("gdp:5e-324")
@example("gdp:1.7e308")
@example("cdp:0,1e308")
@example("cdp:1e308,1e154")
@settings(max_examples=6)
def test_extreme_claims_are_answered_without_a_warning(claim: str) -> None:
    """With a screening of further pairs. Noise that satisfies the claim 1 refutes claims near 0 at most."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = hunt(laplace, claim, "vector:size=2,linf=1", calls=600, white_box=False, shrink=False)
    parameters = list(parse_claim(claim).parameters.values())
    assert result.verdict in {"not refuted", "undecided"} or min(parameters) < 1e-9
    assert result.power is not None or result.verdict == "violated", result.notes


@pytest.mark.parametrize("bound", [0.0, 5e-324, 1e308, float("inf")])
def test_extreme_bounds_of_outcomes_are_answered_without_a_warning(bound: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = hunt(laplace, ExPost(lambda _: bound), "vector:size=2,linf=1", calls=1_500, shrink=False)
    assert result.verdict != "violated" or bound < 1


# --- relations ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("low", "linf=1,low=1e20,high=1e20"),
        ("high", "linf=1,low=0,high=9007199254740994"),
        ("low", "linf=1,low=-1e300"),
        ("linf", "linf=1e308"),
        ("l1", "l1=1e20"),
        ("l2", "l2=1e200"),
    ],
)
def test_integers_that_float64_does_not_hold_are_refused(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=rf"^{name} must lie within \+-2\^53 .* for an integer relation"):
        parse_neighbours(f"vector:size=2,{words},integer")


def test_the_largest_integers_that_float64_holds_are_accepted() -> None:
    relation = parse_neighbours("vector:size=1,linf=1,low=9007199254740990,high=9007199254740992,integer")
    pairs = adversarial_pairs(relation, seed=0)
    assert {abs(right - left).item() for left, right in pairs} == {1.0}
