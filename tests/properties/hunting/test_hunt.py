import json
import math
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.keys import press_control_c

from dpassay.arguments import UsageError
from dpassay.claims import ExPost, PureDP, parse_claim
from dpassay.properties.betting.evidence import CampaignEvidence
from dpassay.properties.drawing.per_call import per_call
from dpassay.properties.drawing.target import describe_target, load_target
from dpassay.properties.hunting import black_box
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.replay import replay
from dpassay.properties.hunting.verdicts import HuntVerdict

Array = NDArray[np.float64]
LINE = "vector:size=1,linf=1"


def without_low_bits(outcomes: Array) -> Array:
    """Round to a lattice, so that floats do not give away what an ideal mechanism hides."""
    return np.asarray(np.round(outcomes * 2**20) / 2**20)


def laplace(data: Array, size: int, rng: np.random.Generator) -> Array:
    return without_low_bits(data[0] + rng.laplace(0, 1.0, size))


def naive_laplace(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.asarray(data[0] + rng.laplace(0, 1.0, size))


def half_the_noise(data: Array, size: int, rng: np.random.Generator) -> Array:
    return without_low_bits(data[0] + rng.laplace(0, 0.5, size))


def gaussian(data: Array, size: int, rng: np.random.Generator) -> Array:
    return without_low_bits(data[0] + rng.normal(0, 1.0, size))


def test_noise_in_float64_gives_the_answer_away_and_the_ideal_mechanism_does_not() -> None:
    result = hunt(naive_laplace, "pure:1.0", LINE, calls=200_000, alpha=1e-9)
    assert result.verdict == "not refuted"
    assert result.float64 is not None
    assert result.float64.verdict == "violated"
    assert result.float64.epsilon_lower > 5.5
    assert result.float64.witness is not None
    assert result.float64.witness.event.startswith("lowest_bit(outcome) <= ")
    ideal = hunt(naive_laplace, "pure:1.0", LINE, calls=20_000, alpha=1e-9, float64="ignore")
    assert ideal.verdict == "not refuted"
    assert ideal.float64 is None
    assert "--float64 ignore" in ideal.replay


def raises_on_large(data: Array, size: int, rng: np.random.Generator) -> Array:
    if data[0] > 0.5:
        raise ValueError("too large")
    return rng.random(size)


def raises_at_times(data: Array, size: int, rng: np.random.Generator) -> Array:
    outcomes = rng.random(size)
    if (outcomes < 1e-3).any():
        raise ValueError("at times")
    return outcomes


def halting_time(data: Array, size: int, rng: np.random.Generator) -> list[object]:
    """The first of 3 noisy comparisons that passes: losses of 1/2 and 1 for each comparison, None if all fail."""
    passes = rng.random((size, 3)) < (0.5 if data[0] > 0.5 else 0.5 * math.exp(-1))
    return [int(row.argmax()) + 1 if row.any() else None for row in passes]


def test_half_the_noise_is_found_with_its_witness() -> None:
    result = hunt(half_the_noise, "pure:1.0", LINE)
    assert result.verdict == "violated"
    assert 1.0 <= result.epsilon_lower < 2.0
    assert result.witness is not None
    assert result.witness.p_left[0] > math.e * result.witness.p_right[1] * 0.9
    assert result.e_value_log10 is not None
    assert result.e_value_log10 >= 6
    assert result.calls < 100_000


def test_a_correct_mechanism_is_not_refuted() -> None:
    # false alarm rate 1e-9 by construction; the seed is fixed besides
    result = hunt(laplace, "pure:1.0", LINE, calls=50_000, alpha=1e-9)
    assert result.verdict == "not refuted"
    assert 0.7 < result.epsilon_lower < 1.0
    assert result.witness is None
    assert result.calls == 50_000


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("pure:1", "violated"),
        ("approx:1,0.01", "violated"),
        ("approx:1,0.13", "not refuted"),  # the truth is 0.1269
        ("zcdp:0.05", "violated"),
        ("zcdp:0.5", "not refuted"),  # exact
        ("rdp:2,0.1", "violated"),
        ("rdp:2,1", "not refuted"),  # exact
        ("bounded-range:2", "violated"),
    ],
)
def test_claims_of_every_notion_are_tested_on_the_gaussian_mechanism(claim: str, verdict: str) -> None:
    result = hunt(gaussian, claim, LINE, calls=30_000, alpha=1e-9)
    assert result.verdict == verdict
    assert result.rho_lower is None or result.rho_lower < 0.5
    assert result.renyi_epsilon_lower is None or result.renyi_epsilon_lower < 1
    if claim.startswith("approx"):
        assert result.delta_lower is not None
        assert result.delta_lower < 0.127
    record = json.loads(json.dumps(result.to_json()))
    assert record["schema"] == 2
    assert record["calls"] == 30_000


def test_an_exception_that_depends_on_the_data_is_a_leak() -> None:
    result = hunt(raises_on_large, "pure:1", "vector:size=1,linf=1,low=0,high=1")
    assert result.verdict == "violated"
    assert result.witness is not None
    assert result.witness.event == "outcome in {'<raises ValueError: too large>'}"
    assert replay(result.to_json(), raises_on_large, calls=2000).verdict == "violated"


def test_an_exception_that_does_not_depend_on_the_data_is_none() -> None:
    result = hunt(raises_at_times, "pure:0.1", LINE, calls=20_000)
    assert result.verdict == "not refuted"


def test_ex_post_bounds_are_tested_outcome_by_outcome() -> None:
    # log ratios: halting at time t gives 1 - (t - 1) * 0.49, None gives 3 * 0.49 the other way
    def bound(outcome: Hashable) -> float:
        return {1: 1.0, 2: 0.6, 3: 0.05, None: 1.5}[outcome]  # type: ignore[index]

    def too_small(outcome: Hashable) -> float:
        return 1.0 if outcome is None else bound(outcome)

    relation = "vector:size=1,linf=1,low=0,high=1,integer"
    assert hunt(halting_time, ExPost(bound), relation, calls=30_000).verdict == "not refuted"
    refuted = hunt(halting_time, ExPost(too_small), relation, calls=30_000)
    assert refuted.verdict == "violated"
    assert refuted.epsilon_lower > 0.9


def test_an_ex_post_bound_that_cannot_tell_is_named() -> None:
    bounds = {1: 1.0, 2: 0.6, 3: 0.05}
    with pytest.raises(UsageError, match="epsilon_of must bound every outcome, but on None it raises KeyError"):
        hunt(halting_time, ExPost(bounds.__getitem__), "vector:size=1,linf=1,low=0,high=1,integer", calls=1_000)  # type: ignore[arg-type]


@pytest.mark.parametrize(("jobs", "backend"), [(2, "threading"), (2, "loky")])
def test_the_result_depends_on_seed_and_calls_alone(tmp_path: Path, jobs: int, backend: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def noisy(data, size, rng):\n    return data[0] + rng.laplace(0, 0.5, size)\nnumber = 3\n", encoding="utf-8"
    )
    name = f"{file}:noisy"
    alone = hunt(name, "pure:1", LINE, calls=6_000, seed=5)
    together = hunt(name, "pure:1", LINE, calls=6_000, seed=5, jobs=jobs, backend=backend)
    assert replace(alone, seconds=0, cpu_seconds=0) == replace(together, seconds=0, cpu_seconds=0)
    assert alone.verdict == "violated"
    assert name in alone.replay


def test_a_hunt_limited_by_time_is_replayed_by_its_calls() -> None:
    first = hunt(half_the_noise, "pure:1", LINE, seed=2)
    again = hunt(half_the_noise, "pure:1", LINE, seed=2, calls=first.calls)
    assert f"--calls {first.calls}" in first.replay
    assert (first.stopped, again.stopped) == ("refuted", "calls")
    assert replace(first, seconds=0, cpu_seconds=0, stopped=None) == replace(
        again, seconds=0, cpu_seconds=0, stopped=None
    )


def test_progress_shows_the_current_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(black_box, "_SHARE_FOR_DISPLAY", math.inf)  # whatever the time that it takes
    shown: list[tuple[int, float]] = []

    def progress(*, calls: int, seconds: float, e_value_log10: float, epsilon_lower: float) -> None:
        shown.append((calls, epsilon_lower))

    result = hunt(half_the_noise, "pure:1", LINE, calls=3_000, progress=progress)
    assert shown[-1] == (3_000, result.epsilon_lower)
    assert shown[0][1] == 0
    assert [calls for calls, _ in shown] == sorted(calls for calls, _ in shown)


def test_an_interruption_returns_what_is_known() -> None:
    drawn = 0

    def interrupted(data: Array, size: int, rng: np.random.Generator) -> Array:
        nonlocal drawn
        drawn += size
        if drawn > 5_000:
            press_control_c()
        return half_the_noise(data, size, rng)

    result = hunt(interrupted, "pure:1", LINE, alpha=1e-300)
    assert result.stopped == "interrupted"
    assert 1000 < result.calls <= 5_000
    assert result.epsilon_lower == 0 or result.verdict == "not refuted"


def test_a_witness_is_replayed_on_fresh_samples(tmp_path: Path) -> None:
    saved = hunt(half_the_noise, "pure:1", LINE).to_json()
    file = tmp_path / "witness.json"
    file.write_text(json.dumps(saved), encoding="utf-8")
    again = replay(file, half_the_noise, calls=20_000)
    assert again.verdict == "violated"
    assert again.witness is not None
    assert again.witness.event == saved["witness"]["event"]
    assert replay(file, laplace, calls=20_000).verdict == "not refuted"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"witness": null, "target": "x:y", "claim": "pure:1"}'])
def test_a_file_without_a_witness_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "witness.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="witness"):
        replay(file, laplace)
    with pytest.raises(UsageError, match="cannot be read"):
        replay(tmp_path / "missing.json", laplace)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nocolon", "form"),
        (":x", "form"),
        ("missing.py:x", "does not exist"),
        ("no_such_package.module:x", "No module named"),
        ("math:no_such_thing", "no attribute"),
        ("math:pi", "callable"),
    ],
)
def test_targets_that_cannot_be_used_are_named_in_one_line(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        load_target(name)
    assert "\n" not in str(caught.value)


def test_a_file_that_fails_is_named_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("raise RuntimeError('first\\nsecond')", encoding="utf-8")
    with pytest.raises(UsageError, match=r"RuntimeError: first$"):
        load_target(f"{file}:x")
    assert describe_target(laplace).endswith(":laplace")


def test_targets_that_never_work_are_mistakes_of_the_user() -> None:
    with pytest.raises(UsageError, match=r"must take f\(data, size, rng\), got .*per_call\("):
        hunt(lambda: 0, "pure:1", LINE)  # type: ignore[arg-type,misc]
    with pytest.raises(UsageError, match=r"1 outcomes \(a sequence or an array\) for size=1, got 2"):
        hunt(lambda _, size, __: [0.0] * (size + 1), "pure:1", LINE)
    with pytest.raises(UsageError, match="target must be a mechanism"):
        hunt(3, "pure:1", LINE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": math.nan}, "alpha"),
        ({"seed": -1}, "seed"),
        ({"calls": 0}, "calls"),
        ({"budget_seconds": math.inf}, "budget_seconds"),
        ({"jobs": 0}, "jobs"),
        ({"backend": "abacus"}, "backend"),
        ({"claim": None}, "claim"),
        ({"neighbours": None}, "neighbours"),
        ({"neighbours": "vector:size=1,linf=0"}, "neighbours"),
    ],
)
def test_parameters_outside_their_domain_are_named(arguments: dict[str, object], message: str) -> None:
    usual: dict[str, object] = {"claim": PureDP(1), "neighbours": LINE}
    with pytest.raises(UsageError, match=message):
        hunt(laplace, **(usual | arguments))  # type: ignore[arg-type]


def test_outcomes_may_be_anything() -> None:
    def odd(data: Array, size: int, rng: np.random.Generator) -> list[object]:
        return [[None, "yes", math.nan, (1, None), rng.integers(3)][rng.integers(5)] for _ in range(size)]

    assert hunt(odd, "pure:0.5", LINE, calls=3_000).verdict == "not refuted"


# --- what a result shows ------------------------------------------------------------------------------------

RAISES_ON_NOTHING = """
def bits(data, rng):
    if len(data) == 0:
        raise ValueError("needs\\n1 record")
    return int(rng.random() < 0.5), int(rng.random() < 0.5)
"""


@pytest.mark.parametrize("isolate", [True, False])
def test_the_exception_of_an_event_is_told_with_its_message(isolate: bool, tmp_path: Path) -> None:
    path = tmp_path / "raises_on_nothing_target.py"
    path.write_text(RAISES_ON_NOTHING, encoding="utf-8")
    records = "records:low=0,high=1,size=0,max-size=1,relation=add-remove"
    result = hunt(f"per-call:{path}:bits", "pure:1", records, calls=2_000, shrink=False, isolate=isolate)
    assert result.verdict == "violated"
    assert result.witness is not None
    assert result.witness.event == r"outcome in {'<raises ValueError: needs\n1 record>'}"


def quotes_the_data(data: Array, rng: np.random.Generator) -> int:
    """Raises as often on every input, with a message that tells the input."""
    if rng.random() < 0.05:
        raise ValueError(f"bad record {data[0] > 0.5}")
    return 0


def quotes_noise(data: Array, rng: np.random.Generator) -> float:
    """Raises on large data alone, with a message that is another one each time."""
    if data[0] > 0.5 and rng.random() < 0.1:
        raise ValueError(f"bad {rng.laplace()}")
    return float(rng.laplace())


def quotes_objects(data: Array, rng: np.random.Generator) -> int:
    """Raises as often on every input, with a message that holds the address of an object."""
    kept = [object() for _ in range(1 + int(data[0] > 0.5) * 100)]
    if rng.random() < 0.5:
        raise ValueError(f"bad {kept[-1]}")
    return 0


@pytest.mark.parametrize("target", [quotes_the_data, quotes_noise])
def test_the_message_of_an_exception_is_part_of_the_outcome(target: Any) -> None:
    result = hunt(per_call(target), "pure:1", "vector:size=1,linf=1,low=0,high=1", calls=20_000)
    assert result.verdict == "violated"
    assert result.epsilon_lower > 1.5


def test_the_address_of_an_object_in_a_message_is_no_part_of_the_outcome() -> None:
    result = hunt(per_call(quotes_objects), "pure:1", "vector:size=1,linf=1,low=0,high=1", calls=10_000, trace=False)
    assert result.verdict == "not refuted"
    assert result.epsilon_lower < 0.5


def test_derived_claims_are_rounded_and_do_not_contradict_larger_figures() -> None:
    result = hunt(lambda data, size, rng: (data[0] > 0) | (rng.random(size) < 0.1), "approx:1,0.01", LINE, calls=3_000)
    assert result.verdict == "violated"
    (line,) = (line for line in str(result).splitlines() if "also refutes" in line)
    assert "pure:1.013;" in line
    assert line.endswith("(derived from the claim alone; the figures above refute more)")
    exactly = {words.partition(":")[0]: parse_claim(words) for words in result.also_refutes}
    assert exactly["pure"].epsilon > 1.013  # type: ignore[attr-defined]  # what is shown is the stronger claim


def test_a_delta_that_is_the_rounding_of_the_claim_is_shown_as_none() -> None:
    result = hunt(laplace, "pure:1", LINE, calls=300)
    epsilon, delta = result.bounds
    tiny = replace(result, bounds=(epsilon, replace(delta, lower=1.4e-17)))
    assert "delta >= 0 (delta at epsilon 1)" in str(tiny)
    assert tiny.delta_lower == 1.4e-17
    assert "delta >= 1.4e-17" in str(replace(tiny, verdict=HuntVerdict.VIOLATED))


def test_a_refutation_stands_when_later_calls_lose_the_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The level holds for the first time at which the evidence suffices, whatever becomes of the bets afterwards."""
    present, crossed_at = CampaignEvidence.log_value, list[int]()

    def lost_afterwards(self: CampaignEvidence) -> float:
        value, calls = present(self), sum(game.calls for _, game in self.played)
        if value >= math.log(1e6) and not crossed_at:
            crossed_at.append(calls)
        return value if not crossed_at or calls == crossed_at[0] else 0.0

    monkeypatch.setattr(CampaignEvidence, "log_value", lost_afterwards)

    def exposed(data: Any, size: int, rng: np.random.Generator) -> Any:
        return data[0] + rng.laplace(0, 0.1, size)

    options: dict[str, Any] = {"trace": False, "shrink": False, "white_box": False, "isolate": False}
    result = hunt(exposed, "pure:1", "vector:size=1,linf=1,integer,low=0,high=1", calls=4000, **options)
    assert result.calls == 4000 > 2 * crossed_at[0]
    assert result.verdict == "violated"
    assert (result.e_value_log10 or 0) >= 6
    assert result.epsilon_lower is not None
    assert result.epsilon_lower > 1
    assert result.witness is not None
    assert result.float64 is not None
    assert result.float64.is_violated


@pytest.mark.parametrize(
    ("apart", "blamed", "stands"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_a_refutation_falls_with_the_outcomes_that_it_rests_on(apart: bool, blamed: bool, stands: bool) -> None:
    """Noise that the outcomes of a call share breaks the level, and rounding is no fault of the ideal mechanism."""
    game = SimpleNamespace(is_about_rounding=False)
    evidence = SimpleNamespace(log_value=lambda: 20.0, bounds=lambda alpha: {"epsilon": 2.0})
    campaign: Any = SimpleNamespace(calls=100, evidence=evidence, best_game=lambda: game, draws_apart=False)
    task: Any = SimpleNamespace(ideal_alpha=1e-6)
    attribution: Any = SimpleNamespace(is_refuted=lambda _: True)
    watch = black_box._Watch(task, attribution)
    assert watch.look(campaign) is not None
    campaign.draws_apart, game.is_about_rounding = apart, blamed
    assert (watch.known(campaign) is not None) == stands
