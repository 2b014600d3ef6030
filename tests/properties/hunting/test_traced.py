"""Claims decided from the traced code of plain functions."""

import contextlib
import importlib
import math
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.claims import ApproximateDP, Claim, ExPost, parse_claim
from dpassay.neighbours import parse_neighbours
from dpassay.properties.hunting import traced, white_box
from dpassay.properties.hunting.decision import Decision
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.traced import decide
from dpassay.properties.hunting.traced_pairs import WrongTraceError, distributions, symbol_of
from dpassay.properties.hunting.traced_proofs import TracedProof
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.events import parse_event
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import trace
from dpassay.properties.tracing.watchdog import OutOfTime, time_limit
from dpassay.spec.leaves.check import check_alignment
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind, Raised

pytestmark = pytest.mark.traced

LINE, PAIR, THREE = "vector:size=1,linf=1", "vector:size=2,linf=1", "vector:size=3,linf=1"
ONE = Fraction(1)


def laplace(data: Any, size: Any, rng: Any) -> Any:
    return data[0] + rng.laplace(0, 1.0, size)


def gaussian(data: Any, size: Any, rng: Any) -> Any:
    return data[0] + rng.normal(0, 1.0, size)


def gaussian_above_5(data: Any, size: Any, rng: Any) -> Any:
    return data[0] + rng.normal(0, 1.0, size) > 5


def noisy_max(data: Any, size: Any, rng: Any) -> Any:
    return [int(np.argmax(data + rng.laplace(scale=2, size=len(data)))) for _ in range(size)]


def clipped_sum(data: Any, size: Any, rng: Any) -> Any:
    return np.clip(data, 0, 1).sum() + rng.laplace(0, 1.0, size)


def rounded(data: Any, size: Any, rng: Any) -> Any:
    return [np.round(data[0] + rng.laplace()) for _ in range(size)]


def exponential(data: Any, size: Any, rng: Any) -> Any:
    return np.exp(data[0] + rng.laplace(0, 1.0, size))


def reused(data: Any, size: Any, rng: Any) -> Any:
    return [(data[0] + z, data[1] + z) for z in rng.laplace(0, 10.0, size)]


def structured(data: Any, size: Any, rng: Any) -> Any:
    return [{"n": data[0] + rng.laplace(), "above": bool(data[1] + rng.laplace() > 1), "k": None} for _ in range(size)]


def in_floats(data: Any, size: Any, rng: Any) -> Any:
    return [np.float64(data[0] + rng.laplace()) for _ in range(size)]


def raising(data: Any, size: Any, rng: Any) -> Any:
    if data[0] + rng.laplace() > 0:
        raise ValueError("above")
    return ["below"] * size


def scaled_by_length(data: Any, size: Any, rng: Any) -> Any:
    """The loss is infinite: the tails of noise of different scales have no bounded ratio."""
    return data.mean() + rng.laplace(scale=1 / len(data), size=size)


def decision(target: Any, claim: str | Claim, relation: str, **options: Any) -> Decision:
    stated = parse_claim(claim) if isinstance(claim, str) else claim
    return decide(target, stated, parse_neighbours(relation), 0, **{"seconds": 60.0, **options})


# --- delta ----------------------------------------------------------------------------------------------------


def released_keys(data: Any, size: Any, rng: Any) -> Any:
    """Noisy counts above a threshold, of keys with a positive count."""
    noisy = {key: count + rng.laplace(scale=1.0) for key, count in enumerate(data) if count > 0}
    return [{key: value for key, value in noisy.items() if value > 9.5}]


def sometimes_bare(data: Any, size: Any, rng: Any) -> Any:
    return [data[0] + rng.laplace(scale=1.0) if rng.random() > 1e-5 else data[0]]


COUNTS = "vector:size={},l0=1,linf=1,low=0,high=100,integer"


@pytest.mark.parametrize("size", [1, 2])
def test_the_delta_of_released_keys_is_proved_and_attained(size: int) -> None:
    delta = math.exp(-8.5) / 2
    found = decision(released_keys, ApproximateDP(1.0, 1.01 * delta), COUNTS.format(size))
    assert found.verdict == "holds"
    assert found.uppers["delta"] == pytest.approx(delta, rel=1e-12)
    assert found.uppers["delta"] >= delta
    assert decision(released_keys, ApproximateDP(1.0, 0.99 * delta), COUNTS.format(size)).verdict == "violated"


def test_a_constant_beside_noise_costs_its_probability() -> None:
    """Where floats are sparse, the constant and the interval of noise at it are one event."""
    found = decision(sometimes_bare, "approx:1,1e-5", LINE)
    assert found.verdict == "holds"
    assert found.uppers["delta"] == pytest.approx(1e-5, rel=1e-12)
    assert decision(sometimes_bare, "approx:1,9.9e-6", LINE).verdict == "violated"


# --- claims that hold ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "claim", "relation"),
    [
        (laplace, "pure:1", LINE),
        (laplace, "zcdp:0.5", LINE),
        (laplace, "approx:1,1e-9", LINE),
        (laplace, "bounded-range:2", LINE),
        (laplace, "rdp:2,0.95", LINE),
        (noisy_max, "pure:1", THREE),
        (clipped_sum, "pure:1", "records:size=4,low=0,high=1,relation=replace"),
        (clipped_sum, "pure:1", "vector:size=1,linf=3"),  # three cells of data
        (rounded, "pure:1", LINE),
        (exponential, "pure:1", LINE),
        (raising, "pure:1", LINE),
    ],
)
def test_claims_that_hold_are_proved_for_all_inputs(target: Any, claim: str, relation: str) -> None:
    found = decision(target, claim, relation)
    assert (found.verdict, found.reason) == ("holds", None)
    assert found.epsilon_upper is not None
    assert found.epsilon_upper <= (2 if claim.startswith("bounded") else 1)


@pytest.mark.parametrize("target", [laplace, noisy_max])
def test_the_lower_bound_meets_the_proof_and_the_certificate_passes(target: Any) -> None:
    found = decision(target, "pure:1", THREE)
    assert found.finding is not None
    assert 1 - 1e-6 <= (found.finding.bounds[0].lower or 0) <= 1 == found.epsilon_upper
    assert found.certificate is not None
    assert check_alignment(found.certificate) == []


def test_a_claim_below_the_true_loss_is_never_proved() -> None:
    for claim in ("pure:0.999", "zcdp:0.3", "bounded-range:1.9", "rdp:2,0.3"):
        assert decision(laplace, claim, LINE).verdict != "holds"


# --- claims that are violated -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "claim", "relation", "least"),
    [
        (laplace, "pure:0.9", LINE, 1),
        (noisy_max, "pure:0.9", THREE, 1),
        (gaussian, "pure:5", LINE, 5),
        (gaussian, "approx:1,0.12", LINE, 1),
        (rounded, "pure:0.9", LINE, 1),
        (exponential, "pure:0.9", LINE, 1),
        (reused, "pure:50", PAIR, math.inf),
        (structured, "pure:1.5", PAIR, 2),
        (raising, "pure:0.9", LINE, 0.9),
        (scaled_by_length, "pure:20", "records:low=0,high=1,size=3,relation=add-remove", 20),
    ],
)
def test_violations_are_certified_with_an_event(target: Any, claim: str, relation: str, least: float) -> None:
    found = decision(target, claim, relation)
    assert found.verdict == "violated"
    assert found.finding is not None
    assert (found.finding.bounds[0].lower or 0) >= least * (1 - 1e-6)
    witness = found.finding.witness
    assert 0 <= witness.p_right[1] < witness.p_left[0] <= 1


@pytest.mark.parametrize("target", [laplace, noisy_max, rounded, structured, raising])
def test_the_probabilities_of_the_event_are_those_of_fresh_samples(target: Any) -> None:
    """4,000 calls on each side: a deviation of 0.06 has probability below 2 exp(-2 * 4000 * 0.06^2) = 7e-13."""
    found = decision(target, "pure:0.4", PAIR).finding
    assert found is not None
    event, rng, witness = parse_event(found.witness.event), np.random.default_rng(1), found.witness
    for side, interval in ((witness.left, witness.p_left), (witness.right, witness.p_right)):
        outcomes = Outcomes.of([_outcome(target, np.array(side), rng) for _ in range(4_000)])
        assert abs(float(event.holds(outcomes).mean()) - sum(interval) / 2) < 0.06


def _outcome(target: Any, data: Any, rng: Any) -> Any:
    try:
        return target(data, 1, rng)[0]
    except ValueError as error:
        return f"<raises {type(error).__name__}>"


def test_a_number_rounded_after_noise_is_not_read_through_its_rounding() -> None:
    """Uniform noise of width 1/4 has infinite loss; rounded to integers, both answers are always 0."""

    def hidden(data: Any, size: Any, rng: Any) -> Any:
        return [np.floor((data[0] + rng.uniform(0, 1)) / 4) for _ in range(size)]

    found = decision(hidden, "pure:0.1", "vector:size=1,linf=1,low=0,high=3,integer")
    assert found.verdict != "violated"


# --- what is not decided ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "claim", "relation", "reason"),
    [
        (in_floats, "pure:1", LINE, "float() of a noisy value"),
        (clipped_sum, "pure:1", "records:size=2,low=0,high=1,relation=add-remove", "another number of records"),
        (clipped_sum, "approx:0.5,0.25", LINE, "does not imply the claim"),
        (gaussian_above_5, "approx:1,0.1269", f"{LINE},low=0,high=1", "Gaussian DP with mu <= 1 is proved"),
        (gaussian, ExPost(lambda _: 1.0, "one"), LINE, "ex-post"),
    ],
)
def test_what_is_undecided_has_a_reason(target: Any, claim: Any, relation: str, reason: str) -> None:
    found = decision(target, claim, relation)
    assert found.verdict is None
    assert reason in (found.reason or "")


def test_equal_outcomes_of_different_types_are_not_merged() -> None:
    """1 and True are equal in Python, and tell the sign of the answer: this is no private mechanism."""

    def typed(data: Any, size: Any, rng: Any) -> Any:
        return [1 if data[0] + rng.laplace(0, 0.01) > 0 else True for _ in range(size)]

    found = decision(typed, "pure:1", LINE)
    assert found.verdict is None
    assert "different types" in (found.reason or "")


def test_time_is_limited_also_where_the_target_blocks() -> None:
    def slow(data: Any, size: Any, rng: Any) -> Any:
        time.sleep(4)
        return [0] * size

    began = time.monotonic()
    found = decision(slow, "pure:1", LINE, seconds=0.2)
    assert found.verdict is None
    assert "return within" in (found.reason or "")
    assert time.monotonic() - began < 3.5


def test_a_limit_that_is_over_at_once_strikes_in_its_block_alone() -> None:
    with pytest.raises(OutOfTime), time_limit(0.0):
        pass
    for _ in range(20):
        with contextlib.suppress(OutOfTime), time_limit(1e-6):
            pass
    time.sleep(0.6)  # a watcher that was left behind would strike here, and again after half a second


def test_errors_of_the_decision_are_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(traced, "proof_of", broken)
    with pytest.raises(ZeroDivisionError, match="inside"):
        decision(laplace, "pure:1", LINE)


def test_a_proof_and_a_witness_that_contradict_each_other_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = TracedProof(Fraction(1, 2), Fraction(0))
    monkeypatch.setattr(traced, "proof_of", lambda *_: proof)
    found = decision(laplace, "pure:0.75", LINE)
    assert found.verdict is None
    assert "contradicts itself" in (found.reason or "")


# --- partition of unity -------------------------------------------------------------------------------------


def half_model(weight: Fraction) -> LeafModel:
    form = Affine(Fraction(0), {Noise(NoiseKind.LAPLACE, 0): ONE})
    return LeafModel((Leaf((Constraint(form),), weight, "above"),))


def test_leaves_that_do_not_sum_to_one_are_no_distribution() -> None:
    with pytest.raises(WrongTraceError):
        distributions(half_model(ONE), half_model(ONE))


def test_a_trace_that_loses_a_leaf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = importlib.import_module("dpassay.properties.tracing.trace")

    def lost(*arguments: Any) -> Any:
        found = explored(*arguments)
        found.leaves.pop()
        return found

    explored: Callable[..., Any] = module.explore
    monkeypatch.setattr(module, "explore", lost)
    monkeypatch.setattr(module, "replay", lambda *_, **__: module.Replays())
    for options in ({"data": [0.5]}, {"size": 1}):
        refusal = trace(lambda data, size, rng: [bool(data[0] + rng.laplace() > 1)], **options)
        assert isinstance(refusal, Refusal)
        assert "the trace is wrong" in str(refusal)


def test_the_domain_of_the_data_settles_decisions_and_nothing_beyond_it() -> None:
    inside = trace(clipped_sum, size=3, domain=(0.0, 1.0), replays=8)
    assert not isinstance(inside, Refusal)
    assert [leaf.constraints for leaf in inside.model.leaves] == [()]
    wider = trace(clipped_sum, size=1, domain=(0.0, 1.5), replays=8)
    assert not isinstance(wider, Refusal)
    assert len(wider.model.leaves) == 2


# --- symbols ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "outcome", [3, True, 2.5, "a", None, (1, (2.0, "b")), {"a": 1, "b": (True, None)}, float("nan"), np.int64(4)]
)
def test_outcomes_of_traces_are_the_symbols_of_samples(outcome: Any) -> None:
    from dpassay.properties.outcomes.symbols import comparable
    from dpassay.properties.tracing.outcomes import normal_form

    normal = normal_form(outcome, lambda symbol: Fraction(0))
    assert symbol_of(normal) == comparable(Outcomes.of([outcome]).symbols()[0])
    assert symbol_of(Raised("ValueError")) == "<raises ValueError>"


# --- results ------------------------------------------------------------------------------------------------


def test_what_differs_in_the_first_call_alone_is_not_proved_by_later_ones() -> None:
    begun = list[int]()

    def raw_at_first(data: Any, size: Any, rng: Any) -> Any:
        begun.append(1)
        return data[0] + (rng.laplace(size=size) if begun[1:] else np.zeros(size))

    found = decision(raw_at_first, "pure:1", LINE)
    assert found.verdict is None
    assert "two runs with the same decisions differ" in str(found.reason)


def test_a_clipped_normal_number_has_no_cut_beyond_all_floats() -> None:
    def in_unit_interval(data: Any, size: Any, rng: Any) -> Any:
        return np.clip(data[0] + rng.normal(size=size), 0, 1)

    unit = f"{LINE},low=0,high=1"
    assert decision(in_unit_interval, "approx:1,0.06", unit).verdict == "violated"
    assert decision(in_unit_interval, "approx:1,0.13", unit).verdict == "holds"


def test_a_violation_is_kept_if_the_time_ends_while_its_pair_is_simplified(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(*_: Any) -> Any:
        raise OutOfTime

    whole = decision(laplace, "pure:0.9", LINE)
    monkeypatch.setattr(white_box, "_simplified", out_of_time)
    kept = decision(laplace, "pure:0.9", LINE)
    assert (kept.verdict, whole.verdict) == ("violated", "violated")
    assert kept.finding is not None
    assert whole.finding is not None
    assert kept.finding.bounds == whole.finding.bounds


def test_a_hunt_reports_the_decision(tmp_path: Path) -> None:
    file = tmp_path / "traced_hunt_target.py"
    file.write_text("def noisy(data, size, rng):\n    return data[0] + rng.laplace(0, 1.0, size)\n")
    result = hunt(f"{file}:noisy", "pure:1", PAIR, trace_seconds=60)
    assert (result.verdict, result.evidence, result.scope, result.calls) == ("holds", "exact", "all", 0)
    assert (result.traced, result.not_traced, result.epsilon_upper) == (True, None, 1)
    assert str(result).startswith("holds (exact, all inputs of length 2)")
    record = result.to_json()
    assert record["certificate"]["target"] == f"{file}:noisy"
    assert check_alignment(record["certificate"]) == []
    violated = hunt(f"{file}:noisy", "pure:0.5", PAIR, trace_seconds=60)
    assert (violated.verdict, violated.evidence, violated.calls, violated.certificate) == (
        "violated",
        "enclosed",
        0,
        None,
    )
    assert violated.witness is not None
    assert violated.witness.certified


def test_an_undecided_trace_sharpens_the_sampled_figures() -> None:
    relation = "records:size=1,low=0,high=1,relation=add-remove"
    result = hunt(clipped_sum, "pure:1", relation, calls=64, float64="ignore", trace_seconds=60)
    assert (result.traced, result.evidence, result.calls) == (False, "sampled", 64)
    assert result.epsilon_lower >= 1 - 1e-6  # exactly, where 64 calls show nothing
    assert "another number of records" in (result.not_traced or "")
    assert "--no-trace" in result.replay
    known = hunt(clipped_sum, "approx:0.5,0.25", LINE, calls=64, float64="ignore", trace_seconds=60)
    assert known.epsilon_upper == 1


def test_without_tracing_nothing_is_said_of_it() -> None:
    result = hunt(laplace, "pure:1", LINE, calls=64, float64="ignore", trace=False)
    assert (result.traced, result.not_traced, result.evidence) == (False, None, "sampled")


# --- discrete on every cell of data ---------------------------------------------------------------------------


def subsampled_response(data: Any, size: Any, rng: Any) -> Any:
    """The bit of a random record of three, flipped with chance 1/4: a loss of log(5/3)."""
    bits = [data[rng.integers(3)] > 0.5 for _ in range(size)]
    return [int(bit) if rng.random() < 0.75 else 1 - int(bit) for bit in bits]


def test_a_discrete_mechanism_is_proved_at_its_exact_loss() -> None:
    relation = "records:size=3,low=0,high=1,relation=replace"
    found = decision(subsampled_response, "pure:0.511", relation)
    assert found.verdict == "holds"
    assert found.epsilon_upper == pytest.approx(math.log(5 / 3), abs=1e-15)
    assert decision(subsampled_response, "pure:0.51", relation).verdict == "violated"


def test_a_decision_about_data_is_tried_on_both_sides() -> None:
    def picky(data: Any, size: Any, rng: Any) -> Any:
        if data[0] > 3.25:
            raise ValueError("large")
        return data[0] + rng.laplace(size=size)

    found = decision(picky, "pure:1", LINE)
    assert found.verdict == "violated"
    assert found.finding is not None
    assert found.finding.witness is not None
    assert len({data[0] > 3.25 for data in (found.finding.witness.left, found.finding.witness.right)}) == 2


def test_sets_of_indices_are_compared() -> None:
    def top_two(data: Any, size: Any, rng: Any) -> Any:
        return [frozenset(np.argsort(data + rng.laplace(size=3))[1:].tolist()) for _ in range(size)]

    assert decision(top_two, "pure:2", THREE).verdict == "holds"
    assert decision(top_two, "pure:1.9", THREE).verdict == "violated"


def test_a_sum_of_noises_is_compared_far_out() -> None:
    """The loss of the sum of two Laplace noises is approached in the tails alone, where it has no kink."""

    def two_noises(data: Any, size: Any, rng: Any) -> Any:
        return data[0] + rng.laplace(size=size) + rng.laplace(size=size)

    assert decision(two_noises, "pure:0.9", LINE).verdict == "violated"
    found = decision(two_noises, "pure:1", LINE)
    assert (found.verdict, found.epsilon_upper) == ("holds", 1.0)
