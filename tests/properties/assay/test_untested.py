"""Cases that test nothing are no pass: errors of the adapter, constants, empty lists, weak tests."""

import itertools
import json
import math
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.adapter import Answer, Mechanism, Nonsense, Refused
from dpassay.arguments import UsageError
from dpassay.cli import main
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import open_library
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.fit_power import WEAK_DISTORTION, smallest_distortion
from dpassay.properties.assay.goodness_of_fit import FitTest, joint_evidence, joint_power
from dpassay.properties.assay.ideal_distributions import ideal_distribution
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.laws import LAWS
from dpassay.properties.outcomes.batch import Outcomes

RNG = np.random.default_rng(0)
LINE = "vector:size=1,linf=1"


def findings(case: Any, calls: int = 3000, only: str | None = None, *, seconds: float = 1e6) -> dict[str, Finding]:
    """Ask every law that applies to the case, or one."""
    (remote,) = open_library(InProcessWorker([case]))
    settings = Settings(1e-9, 0, calls, seconds)
    return {
        law.name: law.check(remote, settings)
        for law in LAWS
        if only in {None, law.name} and law.applies(remote) is None
    }


def misspelt(data: list[float]) -> Any:
    return nosuchfunction(data)  # type: ignore[name-defined]  # noqa: F821


def misspelt_answer(**_: Any) -> Any:
    return nosuchfunction()  # type: ignore[name-defined]  # noqa: F821


def laplace_words(data: list[float]) -> dict[str, Any]:
    return {"family": "laplace", "location": data[0], "scale": 1.0}


def mechanism(sample_one: Callable[[list[float]], Any], **fields: Any) -> Mechanism:
    given: dict[str, Any] = {"neighbours": LINE, "claim": "pure:1", "sample_one": sample_one} | fields
    return Mechanism("case", **given)


def test_a_misspelt_question_is_named_with_similar_ones() -> None:
    (remote,) = open_library(InProcessWorker([Answer("case", "laplace_scael", lambda **_: 1.0)]))
    reasons = {law.applies(remote) for law in LAWS}
    known = "`help(dpassay.adapter)` lists all questions; did you mean laplace_scale"
    assert any(f"the question 'laplace_scael'; {known}" in (reason or "") for reason in reasons)
    assert None not in reasons


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_would_end_the_program_is_an_error_of_the_case(raised: type[BaseException]) -> None:
    def stop(*_: Any, **__: Any) -> Any:
        raise raised

    for case in (mechanism(stop), Answer("case", "gaussian_delta", stop)):
        found = findings(case, calls=200)
        assert found
        for law, finding in found.items():
            assert (finding.kind, raised.__name__ in finding.detail) == ("error", True), law


def test_a_mechanism_whose_every_call_raises_is_an_error_of_every_sampled_law() -> None:
    case = mechanism(misspelt, distribution=laplace_words, neighbours="vector:size=1,linf=1,low=0,high=3")
    found = findings(case)
    for law in ("goodness_of_fit", "privacy_of_claim", "privacy_in_float64", "coordinates"):
        assert found[law].kind == "error", law
        assert "NameError: name 'nosuchfunction' is not defined" in found[law].detail


def test_a_bulk_mechanism_whose_every_call_raises_is_an_error() -> None:
    case = Mechanism("case", LINE, "pure:1", sample_many=lambda data, size: misspelt(data))
    found = findings(case)
    assert {finding.kind for finding in found.values()} == {"error"}
    assert "NameError" in found["privacy_of_claim"].detail


def test_a_bulk_call_that_raises_now_and_then_is_drawn_call_by_call() -> None:
    """One call of a hundred raises, so nearly every call for many outcomes does: the law cannot give that outcome."""

    def sample_many(data: list[float], size: int) -> Any:
        if (RNG.random(size) < 0.01).any():
            raise ValueError("cannot convert NaN")
        return RNG.laplace(data[0], size=size)

    case = Mechanism("case", LINE, "pure:1", sample_many=sample_many, distribution=laplace_words)
    found = findings(case, only="goodness_of_fit")["goodness_of_fit"]
    assert (found.kind, "<raises ValueError>" in found.detail) == ("wrong answer", True), found


def test_the_fit_looks_at_inputs_whose_law_leaves_something_open() -> None:
    """Nothing is kept up to 5, all from 8 on: a decision that is one too early shows in between alone."""

    def kept(count: float) -> float:
        return min(1.0, max(0.0, (count - 5) / 3))

    case = mechanism(
        lambda data: int(RNG.random() < kept(data[0] + 1)),
        neighbours="vector:size=1,linf=1,low=0,high=12,integer",
        distribution=lambda data: {
            "family": "finite",
            "symbols": [0, 1],
            "probabilities": [1 - kept(data[0]), kept(data[0])],
        },
    )
    assert findings(case, only="goodness_of_fit")["goodness_of_fit"].kind == "violation"  # samples confirm a leak


def test_exceptions_that_tell_the_sides_apart_are_a_violation() -> None:
    def tells(data: list[float]) -> Any:
        raise ValueError if data[0] > 0.5 else TypeError

    case = mechanism(tells, neighbours="vector:size=1,linf=1,low=0,high=1")
    found = findings(case, only="privacy_of_claim")["privacy_of_claim"]
    assert found.kind == "violation"
    told = re.search(r">= (\S+),", found.detail)
    assert told is not None
    assert found.certified is not None
    assert found.certified * (1 - 1e-5) <= float(told[1]) <= found.certified  # rounded down


def test_exceptions_of_some_calls_stay_outcomes() -> None:
    def sometimes(data: list[float]) -> Any:
        if RNG.random() < 0.5:
            raise ValueError
        return int(RNG.integers(3))

    assert findings(mechanism(sometimes), only="privacy_of_claim")["privacy_of_claim"].kind == "ok"


EIGHT = Mechanism(
    "case",
    "vector:size=8,l1=1",
    "pure:1",
    sample_many=lambda data, size: np.array(data) + RNG.laplace(size=(size, len(data))),
)


def test_each_coordinate_has_the_calls_that_its_test_needs() -> None:
    """Eight coordinates: an eighth of the calls would be a weak test of each."""
    found = findings(EIGHT, calls=2500, only="coordinates")["coordinates"]
    assert found.kind == "ok", found
    assert found.calls > 2500


def test_coordinates_with_few_calls_are_a_weak_test_that_more_calls_may_decide() -> None:
    found = findings(EIGHT, calls=510, only="coordinates")["coordinates"]
    assert (found.kind, found.is_weak) == ("undecided", True), found


def test_a_sensitivity_of_zero_between_neighbours_is_no_constant() -> None:
    """A value that is equal on all neighbours, and differs between inputs far apart, depends on the input."""
    case = mechanism(
        lambda data: RNG.laplace(data[0]),
        noiseless=lambda data: float(data[0] > 33.3),
        sensitivity=1.0,
        neighbours="vector:size=1,linf=1e-9,low=0,high=100",
    )
    found = findings(case, only="sensitivity")["sensitivity"]
    assert (found.kind, found.certified) == ("ok", 0.0), found


def test_calls_that_raise_do_not_count_for_the_power() -> None:
    """One call of a hundred returns: a test of 30 calls would have seen nothing."""
    calls = itertools.count()

    def sample_one(data: list[float]) -> Any:
        if next(calls) % 100:
            raise ValueError("nearly always")
        return data[0] + RNG.laplace()

    found = findings(mechanism(sample_one))
    for law in ("privacy_of_claim", "privacy_in_float64"):
        assert found[law].kind == "undecided", found[law]
        assert found[law].is_weak
        assert "calls raised" in found[law].detail


@pytest.mark.parametrize("value", [None, math.nan, 0.0, (), "text"], ids=repr)
def test_one_outcome_whatever_the_input_is_undecided(value: Any) -> None:
    found = findings(mechanism(lambda data: value), only="privacy_of_claim")["privacy_of_claim"]
    assert found.kind == "undecided"
    assert "same outcome" in found.detail


def test_a_law_of_the_adapter_that_raises_is_an_error() -> None:
    case = mechanism(lambda data: RNG.laplace(data[0]), distribution=misspelt, floats=False)
    found = findings(case)
    for law in ("goodness_of_fit", "claim_follows_from_parameters"):
        assert (found[law].kind, "NameError" in found[law].detail) == ("error", True)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (None, "law must return a mapping with a family and its parameters, got None"),
        ({"family": "laplace", "location": 0.0, "scale": 1.0, "hihg": 1.0}, "got 'hihg'"),
        ({"family": "laplace", "location": 0.0}, "lacks 'scale'"),
        ({"family": "cauchy"}, "family must be one of laplace"),
    ],
)
def test_an_unreadable_law_is_an_error_that_names_it(law: Any, words: str) -> None:
    found = findings(mechanism(lambda data: RNG.laplace(data[0]), distribution=lambda data: law, floats=False))
    for name in ("goodness_of_fit", "claim_follows_from_parameters"):
        assert found[name].kind == "error", found[name]
        assert words in found[name].detail


def test_a_law_that_does_not_depend_on_the_input_decides_nothing() -> None:
    case = mechanism(lambda data: RNG.laplace(), distribution=lambda data: laplace_words([0.0]))
    found = findings(case, only="claim_follows_from_parameters")["claim_follows_from_parameters"]
    assert (found.kind, "same distribution" in found.detail) == ("undecided", True)


@pytest.mark.parametrize(
    ("noiseless", "kind"), [(misspelt, "error"), (lambda _: 1.0, "undecided"), (lambda _: None, "undecided")]
)
def test_what_is_computed_without_noise_must_be_computed_and_move(noiseless: Any, kind: str) -> None:
    case = mechanism(lambda data: RNG.laplace(data[0]), noiseless=noiseless, sensitivity=1.0)
    assert findings(case, only="sensitivity")["sensitivity"].kind == kind


# --- answers --------------------------------------------------------------------------------------------------


def raised_by_the_library(**_: Any) -> Any:
    raise RuntimeError("not here")


QUESTIONS = (
    "gaussian_delta",
    "heterogeneous_composition_epsilon",
    "subsampled_gaussian_renyi",
    "pure_composition_epsilon",
)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("compute", [misspelt_answer, raised_by_the_library])
def test_an_answer_that_always_raises_is_an_error_for_every_law(question: str, compute: Callable[..., Any]) -> None:
    found = findings(Answer("case", question, compute), calls=200)
    assert len(found) > 5
    assert {finding.kind for finding in found.values()} == {"error"}, found
    words = "NameError" if compute is misspelt_answer else "not here"
    assert all(words in finding.detail for finding in found.values())


@pytest.mark.parametrize("value", [None, math.nan, "0.5"], ids=repr)
def test_an_answer_that_is_never_a_number_is_never_ok(value: Any) -> None:
    found = findings(Answer("case", "gaussian_delta", lambda **_: value), calls=200)
    assert {finding.kind for finding in found.values()} <= {"undecided", "wrong answer"}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("value", "certainty"), [(math.inf, "upper"), (math.inf, "estimate"), (0.0, "estimate")])
def test_an_accountant_without_an_informative_answer_is_never_ok(question: str, value: float, certainty: str) -> None:
    """The range, monotonicity and rejection of invalid arguments hold for it: no answer says anything."""
    if question.endswith("_delta") and value == math.inf:
        value = 1.0
    found = findings(Answer("case", question, lambda **_: value, certainty=certainty), calls=200)
    assert len(found) > 4
    assert {finding.kind for finding in found.values()} <= {"error", "wrong answer"}, found
    assert {found[law].kind for law in found if law == "range" or law.startswith("monotone")} == {"error"}
    assert "none of" in found["range"].detail


def test_an_accountant_may_be_vacuous_at_some_points() -> None:
    def compute(sigma: float, epsilon: float, count: int) -> float:
        return 1.0 if sigma < 1e3 else 0.999

    assert findings(Answer("case", "gaussian_delta", compute), only="range")["range"].kind == "ok"


# --- nonsense -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: nosuchfunction(-1),  # type: ignore[name-defined]  # noqa: F821
        lambda: math.nosuchfunction(-1),  # type: ignore[attr-defined]
        lambda: laplace_words(epsilon=-1),  # type: ignore[call-arg]
        lambda: laplace_words([0.0], [0.0]),  # type: ignore[call-arg]
    ],
)
def test_a_mistake_of_the_adapter_is_no_refusal(attempt: Callable[[], Any]) -> None:
    case = Nonsense("case", {"right": lambda: math.sqrt(-1), "wrong": attempt}, refused_by=("ValueError", "TypeError"))
    found = findings(case)["rejects_invalid_calls"]
    assert found.kind == "error"
    assert "wrong: " in found.detail
    assert "right" not in found.detail


def test_an_accepted_call_does_not_hide_a_mistake_of_the_adapter() -> None:
    case = Nonsense("case", {"accepted": lambda: 1.0, "wrong": lambda: LINE[999]})
    found = findings(case)["rejects_invalid_calls"]
    assert found.kind == "wrong answer"
    assert found.witness is not None
    assert found.witness["unanswered"] == ["wrong"]
    assert "no answer to wrong" in found.detail


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: LINE[999],
        lambda: {"y": 1}["x"],
        lambda: 1 + "a",  # type: ignore[operator]
        lambda: None.privacy,  # type: ignore[attr-defined]
        lambda: sys.exit(1),
        lambda: exit(3),  # noqa: PLR1722  # raises in a module of Python
        lambda: int("word"),  # raised by compiled code, which might be Python's
    ],
)
def test_an_exception_of_the_adapters_own_line_is_no_refusal(attempt: Callable[[], Any]) -> None:
    case = Nonsense("case", {"right": lambda: json.loads("{"), "wrong": attempt}, refused_by=("RuntimeError",))
    found = findings(case)["rejects_invalid_calls"]
    assert (found.kind, "wrong: " in found.detail, "right" in found.detail) == ("error", True, False), found


def test_compiled_functions_refuse_by_the_exceptions_that_the_case_names() -> None:
    case = Nonsense("case", {"a word": lambda: int("word")}, refused_by=("ValueError",))
    assert findings(case)["rejects_invalid_calls"].kind == "ok"


def test_a_named_exception_that_no_call_raised_is_no_refusal() -> None:
    case = Nonsense("case", {"no such place": lambda: LINE[999]}, refused_by=("IndexError",))
    assert findings(case)["rejects_invalid_calls"].kind == "error"


def test_an_error_inside_the_library_is_a_refusal() -> None:
    def refuse() -> Any:
        return json.loads(1.0)  # type: ignore[arg-type]  # a TypeError in a line of json

    assert findings(Nonsense("case", {"a number": refuse}))["rejects_invalid_calls"].kind == "ok"


def raised_by_the_adapter(*_: Any, **arguments: Any) -> Any:
    if not all(math.isfinite(number) and number >= 0 for number in arguments.values()) or not arguments:
        raise ValueError("the library would compute without end")
    return 0.5


def refused_by_an_answer(*_: Any) -> Any:
    raise Refused("infinite: no privacy is claimed")


def test_what_the_adapter_refuses_in_place_of_the_library_is_no_refusal() -> None:
    case = Nonsense("case", {"refused": refused_by_an_answer, "not asked": raised_by_the_adapter})
    found = findings(case)["rejects_invalid_calls"]
    assert (found.kind, "not asked: " in found.detail, "refused" in found.detail) == ("error", True, False)
    assert findings(Nonsense("case", {"refused": refused_by_an_answer}))["rejects_invalid_calls"].kind == "ok"


def test_arguments_that_the_adapter_does_not_ask_count_for_nothing() -> None:
    law = "rejects_invalid_arguments"
    found = findings(Answer("case", "gaussian_delta", raised_by_the_adapter), calls=200, only=law)[law]
    assert found.kind == "wrong answer"  # a count of 3/2 is answered
    assert found.detail.startswith("1 of 1 invalid")

    def compute(sigma: float, epsilon: float, count: float) -> float:
        assert count == int(count)
        return float(raised_by_the_adapter(sigma=sigma, epsilon=epsilon, count=count))

    none = findings(Answer("case", "gaussian_delta", compute, domain={"count": (1, 1)}), calls=200, only=law)[law]
    assert none.kind == "not applicable"
    assert "sigma=nan" in none.detail


def test_an_accepted_argument_does_not_hide_a_mistake_of_the_adapter() -> None:
    def compute(sigma: float, epsilon: float, count: float) -> float:
        if math.isnan(epsilon):
            return float(nosuchfunction(sigma))  # type: ignore[name-defined]  # noqa: F821
        return 0.5

    law = "rejects_invalid_arguments"
    found = findings(Answer("case", "gaussian_delta", compute), calls=200, only=law)[law]
    assert found.kind == "wrong answer"
    assert found.witness is not None
    assert found.witness["unanswered"] == ["epsilon=nan"]
    assert "no answer to epsilon=nan" in found.detail


@pytest.mark.parametrize("calls", [2, 200])
def test_every_invalid_argument_is_asked_however_late_it_is(calls: int) -> None:
    """The list is short, and a valid library answers at once: neither the time nor the calls end it."""
    asked = list[float]()

    def compute(sigma: float, epsilon: float, count: float) -> float:
        asked.append(sigma)
        time.sleep(0.02)
        is_valid = 0 < sigma < math.inf and 0 <= epsilon < math.inf and 0 < count < math.inf and count == int(count)
        return 0.5 if is_valid else 1.0  # which says nothing

    law = "rejects_invalid_arguments"
    case = Answer("case", "gaussian_delta", compute)
    found = findings(case, calls, law, seconds=0.01)[law]
    assert found.kind == "ok"
    assert found.calls == len(asked) == findings(case, 200, law)[law].calls


def test_no_attempts_are_an_error() -> None:
    assert findings(Nonsense("case", {}))["rejects_invalid_calls"].kind == "error"


# --- power ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("calls", [1, 3, 60])
def test_too_few_calls_are_undecided(calls: int) -> None:
    case = mechanism(lambda data: RNG.laplace(data[0]), distribution=laplace_words, floats=False)
    found = findings(case, calls)
    for law in ("goodness_of_fit", "privacy_of_claim"):
        assert (found[law].kind, found[law].is_weak) == ("undecided", True), found[law]


def test_a_constant_is_undecided_but_no_weak_test() -> None:
    """More calls would not change it, so that a run that is over does not excuse it."""
    found = findings(mechanism(lambda data: 3), only="privacy_of_claim")["privacy_of_claim"]
    assert (found.kind, found.is_weak) == ("undecided", False), found


def test_a_test_with_a_result_is_not_weak() -> None:
    with pytest.raises(UsageError, match="is_weak must be False where a test has a result, got ok"):
        Finding(FindingKind.OK, "all is well", power={"points": 1}, is_weak=True)


def test_enough_calls_state_their_power() -> None:
    found = findings(mechanism(lambda data: RNG.laplace(data[0]), distribution=laplace_words, floats=False))
    assert found["privacy_of_claim"].power is not None
    assert 1 < found["privacy_of_claim"].power["epsilon"] < 2
    assert found["goodness_of_fit"].power is not None
    assert 0 < found["goodness_of_fit"].power["total_variation"] <= WEAK_DISTORTION


@pytest.mark.parametrize("attribute", ["relative_error", "sensitivity"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_an_allowance_that_lets_everything_pass_is_refused(attribute: str, value: float) -> None:
    with pytest.raises(ValueError, match=attribute):
        mechanism(misspelt, noiseless=misspelt, **({"sensitivity": 1.0} | {attribute: value}))


def test_the_power_of_a_fair_coin_is_that_of_its_relative_entropy() -> None:
    """A coin of bias 1/2 + t against a fair one gains 2 t^2 nats a call, nearly: t is sqrt(needed / (2 calls))."""
    probabilities, statistics = np.array([0.5, 0.5]), np.array([[-1.0, 1.0]])
    found = smallest_distortion(probabilities, statistics, calls=10_000, needed=20.0)
    assert found == pytest.approx(math.sqrt(20 / 20_000), rel=0.02)


@pytest.mark.parametrize("location", [0.0, 0.4, 1.0])
def test_cells_below_the_lower_end_of_a_distribution_do_not_make_its_test_blind(location: float) -> None:
    """A statistic is huge there; the other statistics see a total variation of about a tenth."""
    law = {"family": "bounded laplace", "location": location, "scale": 1.0, "low": 0.0, "high": 1.0}
    test = FitTest(ideal_distribution(law))
    test.calls = 4000
    assert 0.03 < test.power(20.0) < 0.2


def test_the_stated_distortion_is_seen_in_about_half_of_the_runs() -> None:
    """A fixed seed. Of 20 runs on a coin with the stated bias, those are counted whose evidence reaches the level."""
    law = ideal_distribution({"family": "finite", "symbols": [0, 1], "probabilities": [1, 1]})
    rng, alpha, seen = np.random.default_rng(3), 1e-6, 0
    for _ in range(20):
        test = FitTest(law)
        test.enter(Outcomes.of(np.zeros(2000, dtype=np.int64)))
        bias = 0.5 + joint_power([test], alpha)
        played = FitTest(law)
        played.enter(Outcomes.of((rng.random(2000) < bias).astype(np.int64)))
        seen += joint_evidence([played]) >= -math.log(alpha)
    assert 7 <= seen <= 20


# --- the command ----------------------------------------------------------------------------------------------

ADAPTER = """
from dpassay.adapter import Answer, Mechanism, Nonsense, Refused
LIBRARY = "numpy"
CASES = [
    Mechanism("typo", "vector:size=1,linf=1", "pure:1", sample_one=lambda data: nosuchfunction(data)),
    Answer("unknown", "gausian_delta", lambda **_: 0.5),
    Nonsense("attempts", {"minus one": lambda: nosuchfunction(-1)}),
]
"""


def test_errors_of_cases_end_with_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    adapter = tmp_path / "adapter.py"
    adapter.write_text(ADAPTER)
    assert main(["assay", str(adapter), "--jobs", "1", "--calls", "600", "--json"]) == 2
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    errors = {(record["mechanism"], record["law"]): record for record in records if record["finding"] == "error"}
    assert {("typo", "privacy_of_claim"), ("unknown", "tested"), ("attempts", "rejects_invalid_calls")} <= set(errors)
    assert not any(record["finding"] == "ok" for record in records)
    assert "NameError: name 'nosuchfunction' is not defined" in errors["typo", "privacy_of_claim"]["detail"]
    assert "gausian_delta" in errors["unknown", "tested"]["detail"]
    assert "NameError" in errors["attempts", "rejects_invalid_calls"]["detail"]
