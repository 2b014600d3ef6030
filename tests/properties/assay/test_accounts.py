"""What belongs to one account, and how answers that must be the same are compared."""

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dpassay.adapter import Answer, Refused
from dpassay.impl.accounting.gaussian import gaussian_delta
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import RemoteAnswer, open_library
from dpassay.impl.libraries.worker_process import WorkerLostError
from dpassay.properties.assay.accountant_laws import ACCOUNTANT_LAWS
from dpassay.properties.assay.consistency import Asked, agreement, costs_nothing
from dpassay.properties.assay.expected import ExpectedFailure
from dpassay.properties.assay.finding import UNANSWERED, Finding, Settings
from dpassay.properties.assay.inquiry import Inquiry, falls_below, margin, related_to
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.questions import INVERSES, QUESTIONS, Inverse
from dpassay.properties.assay.reference_values import truth_of

SETTINGS = Settings(1e-9, 0, 1000, 1e6)


def opened(*answers: Answer) -> list[RemoteAnswer]:
    cases = open_library(InProcessWorker(answers))
    assert all(isinstance(case, RemoteAnswer) for case in cases)
    return cases  # type: ignore[return-value]


def constant(name: str, question: str, value: float = 1.0, **fields: Any) -> Answer:
    return Answer(name, question, lambda **_: value, **fields)


def check(law: str, *answers: Answer) -> Finding:
    first = opened(*answers)[0]
    (one,) = (each for each in ACCOUNTANT_LAWS if each.name == law)
    assert one.applies(first) is None
    return one.check(first, SETTINGS)


def reason(law: str, *answers: Answer) -> str | None:
    (one,) = (each for each in ACCOUNTANT_LAWS if each.name == law)
    return one.applies(opened(*answers)[0])


# --- accounts -------------------------------------------------------------------------------------------------


def test_names_tell_accounts_unless_the_adapter_does() -> None:
    epsilon, delta, sampled, other, scale = opened(
        constant("PLD, gaussian, epsilon", "gaussian_epsilon"),
        constant("PLD, gaussian, delta", "gaussian_delta"),
        constant("PLD, subsampled_gaussian, epsilon", "subsampled_gaussian_epsilon"),
        constant("RDP, gaussian, delta", "gaussian_delta"),
        constant("calibrate", "gaussian_sigma", account="PLD"),
    )
    assert epsilon.related == (delta, sampled, scale)
    assert other.related == ()
    assert related_to(scale, "gaussian_epsilon", "gaussian_delta") == [epsilon, delta]


def test_a_name_that_is_all_question_is_its_own_account() -> None:
    epsilon, delta, laplace = opened(
        constant("gaussian_epsilon", "gaussian_epsilon"),
        constant("gaussian_delta", "gaussian_delta"),
        constant("laplace_delta", "laplace_delta"),
    )
    assert epsilon.related == (delta,)
    assert laplace.related == ()


def test_inverse_questions_exchange_an_argument_with_the_answer() -> None:
    for inverse in INVERSES:
        first, second = QUESTIONS[inverse.first], QUESTIONS[inverse.second]
        found = second.argument(inverse.found)
        assert found is not None
        # what the first states on its safe side is on the safe side as an argument of the second
        assert found.direction == (-1 if first.safe == "above" else 1)
        back = inverse.asked_back(first.typical, 1.0)
        assert set(back) == {argument.name for argument in second.arguments}
        assert first.argument(inverse.level) is not None
        assert inverse.calibrates == (not first.name.endswith("_epsilon"))


KNOWN_BOTH_WAYS = [inverse for inverse in INVERSES if not inverse.first.startswith("zcdp")]


@pytest.mark.parametrize("inverse", KNOWN_BOTH_WAYS, ids=lambda inverse: f"{inverse.second} of {inverse.first}")
def test_certified_truths_make_the_round_trip(inverse: Inverse) -> None:
    typical = QUESTIONS[inverse.first].typical
    once = {name: 1 if name == "count" else value for name, value in typical.items()}
    found = truth_of(inverse.first, **once).upper
    assert found is not None
    back = truth_of(inverse.second, **inverse.asked_back(once, found)).lower
    assert back is not None
    assert back <= once[inverse.level] * (1 + 1e-9)


# --- which laws apply -----------------------------------------------------------------------------------------


def test_laws_of_two_answers_need_both() -> None:
    epsilon = constant("a, epsilon", "gaussian_epsilon")
    listed = constant("a", "heterogeneous_composition_epsilon")
    sampled = constant("a", "subsampled_gaussian_epsilon")
    assert reason("epsilon_and_delta_agree", epsilon) == "this account has no inverse of the question"
    assert reason("calibration_suffices", constant("a", "gaussian_sigma")) is not None
    assert reason("list_matches_count", listed) == "this account has no answer for a count of repetitions"
    assert reason("full_sampling_rate", sampled) == "this account has no answer without sampling"


def test_estimates_without_an_error_contradict_nothing() -> None:
    vague: dict[str, Any] = {"certainty": "estimate"}
    delta = constant("a, delta", "gaussian_delta")
    assert "estimate" in str(
        reason("epsilon_and_delta_agree", constant("a, epsilon", "gaussian_epsilon", **vague), delta)
    )
    epsilon = constant("a, epsilon", "gaussian_epsilon")
    assert reason("epsilon_and_delta_agree", epsilon, constant("a, delta", "gaussian_delta", **vague)) is not None
    known = constant("a, delta", "gaussian_delta", **vague, relative_error=0.1)
    assert reason("epsilon_and_delta_agree", epsilon, known) is None


def test_domains_decide() -> None:
    sampled = "subsampled_gaussian_epsilon"
    assert reason("zero_sampling_rate", constant("a", sampled, domain={"rate": (0.1, 1.0)})) is not None
    assert reason("zero_sampling_rate", constant("a", "subsampled_gaussian_sigma")) is not None
    once = constant("a", "gaussian_epsilon", splits=True, domain={"count": (1, 1)})
    assert reason("splitting_invariance", once) == "the function of the library has no repetitions"
    assert reason("zero_repetitions", constant("a", "gaussian_epsilon", domain={"count": (1, 9)})) is not None


# --- comparison -----------------------------------------------------------------------------------------------


def compared(first: float, second: float, **fields: Any) -> str:
    one, other = opened(
        constant("a", "gaussian_epsilon", first, **fields), constant("b", "gaussian_epsilon", second, **fields)
    )
    pair = Asked(one, QUESTIONS["gaussian_epsilon"].typical), Asked(other, QUESTIONS["gaussian_epsilon"].typical)
    return agreement(Inquiry(one, SETTINGS), [pair]).kind


def test_answers_agree_up_to_what_the_library_says_of_them() -> None:
    assert compared(1.0, 1.0) == "ok"
    assert compared(math.inf, math.inf) == "error"  # they agree, and neither answer says anything
    assert compared(1.0, 1.01) == compared(math.inf, 1.0) == compared(1.0, math.inf) == "wrong answer"
    assert compared(1.0, 1.01, relative_error=0.01) == "ok"
    assert compared(1.0, 1.01, looseness=0.01) == "ok"
    assert compared(1.0, 1.01, absolute_error=0.001) == "wrong answer"
    assert compared(1.0, math.nan) == compared(math.nan, 1.0) == "wrong answer"
    (case,) = opened(constant("a", "gaussian_epsilon", relative_error=0.25, absolute_error=1.0, looseness=2.0))
    assert margin(case, -8.0) == pytest.approx(5.0, rel=1e-5)


def refusing_above(most: float, error: type[Exception] = Refused) -> Callable[..., float]:
    def compute(count: int, **_: float) -> float:
        if count > most:
            raise error("too many")
        return float(count)

    return compute


def test_what_is_refused_is_ok_only_where_it_may_be() -> None:
    (case,) = opened(Answer("a", "gaussian_epsilon", refusing_above(1)))
    typical = QUESTIONS["gaussian_epsilon"].typical
    pairs = [(Asked(case, {**typical, "count": 1}), Asked(case, {**typical, "count": 2}))]
    assert agreement(Inquiry(case, SETTINGS), pairs).kind == "undecided"
    assert agreement(Inquiry(case, SETTINGS), pairs, may_refuse=True).kind == "ok"
    assert agreement(Inquiry(case, SETTINGS), [pairs[0][::-1]], may_refuse=True).kind == "undecided"
    inquiry = Inquiry(case, SETTINGS)
    assert costs_nothing(inquiry, [{**typical, "count": 2}], "nothing was asked").kind == "ok"
    assert costs_nothing(inquiry, [{**typical, "count": 1}], "nothing was asked").kind == "wrong answer"
    assert costs_nothing(Inquiry(case, SETTINGS), [], "nothing was asked").kind == "undecided"


def test_what_the_adapter_does_not_ask_is_no_refusal() -> None:
    (case,) = opened(Answer("a", "gaussian_epsilon", refusing_above(1, ValueError)))
    typical = QUESTIONS["gaussian_epsilon"].typical
    pairs = [(Asked(case, {**typical, "count": 1}), Asked(case, {**typical, "count": 2}))]
    assert agreement(Inquiry(case, SETTINGS), pairs, may_refuse=True).kind == "not applicable"
    assert costs_nothing(Inquiry(case, SETTINGS), [{**typical, "count": 2}], "nothing").kind == "not applicable"


def test_a_contradiction_compares_levels_of_one_quantity() -> None:
    found = check(
        "epsilon_and_delta_agree",
        constant("a, epsilon", "gaussian_epsilon", 0.5),
        Answer("a, delta", "gaussian_delta", lambda **_: 1.0, domain={"count": (10, 10)}),
    )
    assert found.kind == "wrong answer"
    assert found.witness is not None
    assert (found.claimed, found.certified) == (found.witness["arguments"]["delta"], 1.0)
    assert found.witness["answer"] == 0.5
    assert found.witness["other"] == "a, delta"
    assert found.witness["other arguments"]["epsilon"] == pytest.approx(0.5, rel=1e-5)


def test_the_largest_contradiction_is_told() -> None:
    """The typical point comes first, and contradicts by less than the corners do."""
    found = check(
        "epsilon_and_delta_agree",
        constant("a, epsilon", "gaussian_epsilon", 0.5),
        constant("a, delta", "gaussian_delta", 0.25),
    )
    assert (found.claimed, found.certified) == (1e-300, 0.25)


def test_levels_that_say_nothing_are_told_for_want_of_others() -> None:
    epsilon = constant("a, epsilon", "gaussian_epsilon", 0.5)
    vacuous = Answer("a, delta", "gaussian_delta", lambda sigma, **_: 1.0 if sigma > 1 else 0.9)
    found = check("epsilon_and_delta_agree", epsilon, vacuous)
    assert found.certified == 0.9
    assert check("epsilon_and_delta_agree", epsilon, constant("a, delta", "gaussian_delta", 1.0)).certified == 1.0


def test_a_calibrator_is_told_its_target_beside_what_it_reaches() -> None:
    found = check(
        "calibration_suffices",
        constant("a", "laplace_scale", 3.0),
        Answer("a, epsilon", "laplace_epsilon", lambda scale, **_: 1e4 / scale),
    )
    assert found.kind == "wrong answer"
    assert found.claimed is not None
    assert found.claimed < 1
    assert found.certified == pytest.approx(1e4 / 3, rel=1e-5)
    assert "times the epsilon that was asked for" in found.detail


def test_batches_of_nothing_cost_nothing() -> None:
    def largest(epsilons: tuple[float, ...], deltas: tuple[float, ...], delta: float) -> float:
        return max(epsilons) + sum(deltas)

    assert check("zero_repetitions", Answer("a", "heterogeneous_composition_epsilon", largest)).kind == "ok"
    toll = Answer("a", "heterogeneous_composition_epsilon", lambda **a: largest(**a) + 1e-3)
    assert check("zero_repetitions", toll).kind == "wrong answer"


# --- ladders --------------------------------------------------------------------------------------------------


def test_ladders_climb_inside_a_domain_between_their_rungs() -> None:
    narrow = {"delta0": (1e-4, 1e-3)}
    falling = Answer("falling", "approximate_composition_epsilon", lambda delta0, **_: 1 / delta0, domain=narrow)
    found = check("monotone_in_delta0", falling)
    assert found.kind == "wrong answer"
    assert found.witness is not None
    assert 1e-4 <= found.witness["arguments"]["delta0"] <= 1e-3


def test_a_slow_library_gives_as_many_answers_as_a_law_compares() -> None:
    (case,) = opened(Answer("slow", "zcdp_epsilon", lambda rho, delta: rho + 2 * math.sqrt(rho * math.log(1 / delta))))
    (law,) = (each for each in ACCOUNTANT_LAWS if each.name == "monotone_in_rho")
    found = law.check(case, replace(SETTINGS, seconds=1e-9))
    assert found.kind == "ok", found.detail
    assert found.power is not None
    assert 1 <= found.power["points"] < 8


@pytest.mark.parametrize(("least", "found"), [(2.0**-1022, "ok"), (1e-290, "unsound number")])
def test_only_a_number_below_the_normal_ones_of_float64_may_be_0(least: float, found: str) -> None:
    def delta(sigma: float, epsilon: float, count: int) -> float:  # the count is 1
        safe = float(gaussian_delta(epsilon, sigma))
        return safe if safe > least else 0.0  # never below the least normal number

    domain = {"sigma": (50.0, 52.0), "epsilon": (0.7, 0.74), "count": (1, 1)}
    told = check("soundness", Answer("delta", "gaussian_delta", delta, domain=domain))
    assert told.kind == found, told


# --- answers that are no numbers, infinite ones, and none at all -------------------------------------------------


def renyi(order: float, sigma: float = 1.0, **_: Any) -> float:
    return order / (2 * sigma**2)


NO_NUMBERS: dict[str, Callable[[], list[Answer]]] = {
    "soundness": lambda: [Answer("a", "gaussian_renyi", nan_where(lambda sigma, order: order > 20, renyi))],
    "exactness": lambda: [
        Answer("a", "gaussian_renyi", nan_where(lambda sigma, order: order > 20, renyi), claims_exact=True)
    ],
    "monotone_in_order": lambda: [Answer("a", "gaussian_renyi", nan_where(lambda sigma, order: order > 20, renyi))],
    "convex_in_order": lambda: [Answer("a", "gaussian_renyi", nan_where(lambda sigma, order: order > 20, renyi))],
    "epsilon_and_delta_agree": lambda: [
        constant("a, epsilon", "gaussian_epsilon", 0.5),
        constant("a, delta", "gaussian_delta", math.nan),
    ],
}


def nan_where(lacks: Callable[..., bool], compute: Callable[..., float]) -> Callable[..., float]:
    return lambda **arguments: math.nan if lacks(**arguments) else compute(**arguments)


@pytest.mark.parametrize("law", NO_NUMBERS)
def test_nan_is_no_answer_and_no_refusal(law: str) -> None:
    found = check(law, *NO_NUMBERS[law]())
    assert found.kind is FindingKind.WRONG_ANSWER
    assert "= nan" in found.detail
    assert found.claimed is not None
    assert math.isnan(found.claimed)
    assert found.witness is not None
    assert found.witness[UNANSWERED] == []


def test_an_unsound_number_is_told_before_nan() -> None:
    unsound = Answer("a", "gaussian_renyi", nan_where(lambda sigma, order: order > 20, lambda **a: 0.9 * renyi(**a)))
    assert check("soundness", unsound).kind is FindingKind.UNSOUND_NUMBER


def infinite_where(infinite: Callable[[float], bool], *, exact: bool) -> Answer:
    def compute(sigma: float, order: float) -> float:
        return math.inf if infinite(order) else renyi(order, sigma)

    return Answer("a", "gaussian_renyi", compute, claims_exact=exact)


@pytest.mark.parametrize(
    ("infinite", "found"),
    [
        (lambda order: order > 20, "ok"),  # it overflows, and stays there
        (lambda order: order < 20, "wrong answer"),
    ],
)
def test_what_is_infinite_may_not_fall_to_a_finite_number(infinite: Callable[[float], bool], found: str) -> None:
    """A bound may be infinite anywhere, which stands for a refusal; a number that is documented as exact may not."""
    assert check("monotone_in_order", infinite_where(infinite, exact=True)).kind == found
    assert check("monotone_in_order", infinite_where(infinite, exact=False)).kind == "ok"


@pytest.mark.parametrize(
    ("infinite", "found"),
    [
        (lambda order: order > 20, "ok"),
        (lambda order: order == round(order), "wrong answer"),
    ],
)
def test_between_finite_divergences_none_is_infinite(infinite: Callable[[float], bool], found: str) -> None:
    assert check("convex_in_order", infinite_where(infinite, exact=True)).kind == found
    bound = check("convex_in_order", infinite_where(infinite, exact=False))
    assert bound.kind == ("ok" if found == "ok" else "undecided")  # of three orders one is always an integer


def test_a_number_that_is_exact_is_infinite_where_it_must_be() -> None:
    assert falls_below(1.0, math.inf, math.inf)
    assert not falls_below(math.inf, math.inf, math.inf)
    assert falls_below(1.0, 2.0, 0.5)
    assert not falls_below(1.0, 2.0, 1.0)


@pytest.mark.parametrize(("every", "found"), [(1, "ok"), (4, "ok"), (20, "undecided")])
def test_a_library_that_refuses_most_of_its_domain_is_not_passed(every: int, found: str) -> None:
    questions = itertools.count()

    def compute(sigma: float, order: float) -> float:
        if next(questions) % every:
            raise Refused("not today")
        return renyi(order, sigma)

    told = check("soundness", Answer("a", "gaussian_renyi", compute))
    assert told.kind == found, told.detail
    if found == "undecided":
        assert told.detail.startswith("most valid questions are not answered: ")
        assert told.detail.endswith("Refused: not today")


def test_what_was_not_asked_is_told() -> None:
    (case,) = opened(constant("a", "gaussian_renyi", math.pi))
    for name in ("range", "monotone_in_order", "convex_in_order"):
        (law,) = (each for each in ACCOUNTANT_LAWS if each.name == name)
        told = law.check(case, replace(SETTINGS, calls=3))
        assert re.search(r"[1-9]\d* not asked within the limits", told.detail), told.detail
        assert "within the limits" not in law.check(case, SETTINGS).detail


def test_answers_without_a_certified_value_are_counted() -> None:
    told = check("soundness", Answer("a", "gaussian_renyi", lambda sigma, order: math.inf if order > 4 else 1e9))
    assert re.search(r"[1-9]\d* answers that are 0 or infinite, or have no certified value$", told.detail), told.detail


# --- errors in delta --------------------------------------------------------------------------------------------


def of_larger_delta(error: float) -> Callable[..., float]:
    """Return an accountant whose epsilon is the one of a delta that is larger by this error."""

    def compute(sigma: float, delta: float, count: int) -> float:
        upper = truth_of("gaussian_epsilon", sigma=sigma, delta=delta + error, count=count).upper
        assert upper is not None
        return upper

    return compute


def test_an_error_in_delta_is_granted_and_nothing_beyond() -> None:
    domain = {"sigma": (1.0, 2.0), "delta": (1e-12, 1e-10), "count": (1, 1)}

    def found(error: float) -> Finding:
        answer = Answer("pld", "gaussian_epsilon", of_larger_delta(error), domain=domain, delta_error=1e-13)
        return check("soundness", answer)

    assert found(0.9e-13).kind is FindingKind.OK
    beyond = found(1.1e-13)
    assert beyond.kind is FindingKind.UNSOUND_NUMBER
    assert beyond.detail.endswith(", of a delta larger by 1e-13")


@pytest.mark.parametrize(("error", "found"), [(0.9e-13, "ok"), (1e-9, "wrong answer")])
def test_answers_need_not_rise_within_their_error_in_delta(error: float, found: str) -> None:
    """Eleven releases cost less than ten if only their delta is larger by an error."""

    def compute(sigma: float, delta: float, count: int) -> float:
        return of_larger_delta(error if count == 11 else 0.0)(sigma=sigma, delta=delta, count=count)

    domain = {"sigma": (1.0, 1.1), "delta": (1e-15, 1.1e-15), "count": (10, 11)}
    assert compute(1.0, 1e-15, 11) < compute(1.0, 1e-15, 10)
    answer = Answer("pld", "gaussian_epsilon", compute, domain=domain, delta_error=1e-13)
    assert check("monotone_in_count", answer).kind == found


def test_more_noise_on_integers_may_have_a_larger_delta() -> None:
    for question in ("discrete_gaussian_delta", "discrete_gaussian_epsilon"):
        told = reason("monotone_in_sigma", constant("pld", question))
        assert told == "the answer need not be monotone in sigma"


def test_an_exact_number_has_no_error_in_delta() -> None:
    with pytest.raises(ValueError, match=r"pld: a number that is exact has a delta_error of 0, got 1e-13"):
        constant("pld", "gaussian_epsilon", claims_exact=True, delta_error=1e-13)
    with pytest.raises(ValueError, match="delta_error"):
        constant("pld", "gaussian_epsilon", delta_error=-1e-13)


def known(law: str, kind: FindingKind, **size: Any) -> ExpectedFailure:
    return ExpectedFailure("a", law, "", kind, "known", "none", **size)


def test_an_entry_must_excuse_the_worst_answer_of_a_series_and_not_only_the_first() -> None:
    asked = itertools.count()

    def compute(sigma: float, epsilon: float, count: int) -> float:
        return -1e-12 if next(asked) < 5 else -1e9

    found = check("range", Answer("a", "gaussian_delta", compute))
    assert found.claimed == -1e-12
    assert known("range", FindingKind.WRONG_ANSWER, least=-1e-9).excess_of(found) is not None
    assert known("range", FindingKind.WRONG_ANSWER, least=-1e10).excess_of(found) is None


@pytest.mark.parametrize("law", ["exactness", "monotone_in_order"])
def test_an_entry_with_a_factor_must_excuse_the_largest_one(law: str) -> None:
    asked = itertools.count()

    def compute(sigma: float, order: float) -> float:
        number = next(asked)
        return renyi(order, sigma) * (1.01 if number < 7 else 100.0 if number % 2 else 1.0)

    found = check(law, Answer("a", "gaussian_renyi", compute, claims_exact=True))
    assert found.kind is FindingKind.WRONG_ANSWER
    assert known(law, FindingKind.WRONG_ANSWER, factor=1.02).excess_of(found) is not None
    assert known(law, FindingKind.WRONG_ANSWER, factor=math.inf).excess_of(found) is None


def test_an_unsound_number_does_not_hide_nan_nor_a_mistake() -> None:
    entry = known("soundness", FindingKind.UNSOUND_NUMBER, factor=1.2)

    def mistaken(sigma: float, order: float) -> float:
        return float(nosuchfunction(order)) if order > 20 else 0.9 * renyi(order, sigma)  # type: ignore[name-defined]  # noqa: F821

    plain = check("soundness", Answer("a", "gaussian_renyi", lambda sigma, order: 0.9 * renyi(order, sigma)))
    wild = check(
        "soundness",
        Answer("a", "gaussian_renyi", nan_where(lambda sigma, order: order > 20, lambda **a: 0.9 * renyi(**a))),
    )
    hidden = check("soundness", Answer("a", "gaussian_renyi", mistaken))
    assert entry.excess_of(plain) is None
    assert "NaN" in (entry.excess_of(wild) or "")
    assert "no answer to" in (entry.excess_of(hidden) or "")


@pytest.mark.parametrize("is_late", [False, True])
def test_a_lost_worker_beside_an_unsound_number_is_excused_only_by_the_end_of_the_time(
    monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    asked, compute = itertools.count(), RemoteAnswer.compute

    def lost_once(self: RemoteAnswer, **arguments: Any) -> float:
        if next(asked) == 3:
            raise WorkerLostError("it hangs", is_late=is_late)
        return compute(self, **arguments)

    monkeypatch.setattr(RemoteAnswer, "compute", lost_once)
    found = check("soundness", Answer("a", "gaussian_renyi", lambda sigma, order: 0.9 * renyi(order, sigma)))
    excess = known("soundness", FindingKind.UNSOUND_NUMBER).excess_of(found)
    assert (excess is None) == is_late, found
