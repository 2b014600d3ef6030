"""Auditors: scores of known loss, liars that the laws must catch, and honest auditors that they must not accuse."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.adapter import SCORES, Auditor
from dpassay.impl.libraries.audits import draw_scores
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import open_library
from dpassay.properties.assay.audited_scores import Scores, scores_of, telling_scores_of
from dpassay.properties.assay.auditor_laws import AUDITOR_LAWS
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.betting.intervals import clopper_pearson

CONFIDENCE, POWER = AUDITOR_LAWS
Array = NDArray[np.float64]
Bound = Callable[[Array, Array, float, float], float]


def finding(
    bound: Bound, law: Any = CONFIDENCE, seconds: float = 60.0, calls: int = 100_000, **fields: Any
) -> Finding:
    given: dict[str, Any] = {"sizes": ((300, 200),), "deltas": (0.0, 0.2)} | fields
    (case,) = open_library(InProcessWorker([Auditor("auditor", bound, **given)]))
    assert law.applies(case) is None
    found: Finding = law.check(case, Settings(1e-9, 7, calls, seconds))
    return found


def at_threshold(members: Array, others: Array, significance: float, delta: float, threshold: float = 0.5) -> float:
    """Return the bound of Clopper and Pearson at one threshold."""
    low, _ = clopper_pearson(int((members >= threshold).sum()), len(members), 1 - significance)
    _, high = clopper_pearson(int((others >= threshold).sum()), len(others), 1 - significance)
    return math.log((low - delta) / high) if low - delta > high else 0.0


def without_confidence(members: Array, others: Array, significance: float, delta: float) -> float:
    low, high = float((members >= 0.5).mean()), max(float((others >= 0.5).mean()), 1 / len(others))
    return math.log((low - delta) / high) if low - delta > high else 0.0


def swapped(members: Array, others: Array, significance: float, delta: float) -> float:
    return at_threshold(others, members, significance, delta)


def without_delta(members: Array, others: Array, significance: float, delta: float) -> float:
    return max(at_threshold(members, others, significance, 0.0, threshold) for threshold in (0.5, 1.5))


def best_of_many(members: Array, others: Array, significance: float, delta: float) -> float:
    """Return the best bound of all thresholds, each with the whole significance for one of its two errors alone."""
    return max(at_threshold(members, others, 2 * significance, delta, float(threshold)) for threshold in members[:60])


def above_the_mean(members: Array, others: Array, significance: float, delta: float) -> float:
    """Return a bound as if the scores were normal, at half the confidence that it states."""
    mean = float(members.mean() - others.mean())
    return max(mean - 0.3 * math.sqrt(1 / len(members) + 1 / len(others)), 0.0)


LIARS: dict[str, Bound] = {
    "without confidence": without_confidence,
    "without delta": without_delta,
    "best of many": best_of_many,
    "above the mean": above_the_mean,
    "too large by a constant": lambda *arguments: at_threshold(*arguments) + 0.4,
    "no number": lambda *_: math.nan,
    "infinite": lambda *_: math.inf,
}


@pytest.mark.parametrize("name", sorted(LIARS))
def test_a_bound_that_exceeds_the_truth_too_often_is_unsound(name: str) -> None:
    found = finding(LIARS[name], sizes=((3000, 40),) if name == "best of many" else ((300, 200),))
    assert found.kind is FindingKind.UNSOUND_NUMBER, found.detail
    assert found.claimed == 0.05
    assert found.certified is not None
    assert found.certified > 0.05


@pytest.mark.parametrize("bound", [swapped, lambda *_: 0.0, lambda *_: -math.inf, lambda *_: math.nan])
def test_a_bound_without_power_is_said_to_have_none(bound: Bound) -> None:
    found = finding(bound, POWER)
    assert found.kind is FindingKind.WRONG_ANSWER
    assert "powerless" in found.detail


def test_an_honest_bound_passes_both_laws() -> None:
    found = finding(at_threshold)
    assert found.kind is FindingKind.OK, found.detail
    assert found.power is not None
    assert 0.05 < found.power["failure_probability"] <= 0.2
    powerful = finding(at_threshold, POWER)
    assert powerful.kind is FindingKind.OK, powerful.detail


def test_a_bound_that_fails_exactly_as_often_as_it_says_passes() -> None:
    """The bound does not look at the scores: it fails with the probability that it states."""
    rng = np.random.default_rng(5)
    found = finding(lambda m, o, significance, delta: math.inf if rng.random() < significance else 0.0)
    assert found.kind is FindingKind.OK, found.detail


def test_an_oracle_of_the_truth_is_not_accused() -> None:
    """Numbers of float64 may lie above the truth by their last digit; the adapter states the error."""
    found = finding(lambda *_: 1.3 * (1 + 1e-15), scores=("response",), deltas=(0.0,), absolute_error=1e-12)
    assert found.kind is FindingKind.OK, found.detail


def test_refused_audits_state_no_bound() -> None:
    calls = [0]

    def every_other(members: Array, others: Array, significance: float, delta: float) -> float:
        calls[0] += 1
        if calls[0] % 2:
            raise ArithmeticError
        return at_threshold(members, others, significance, delta)

    found = finding(every_other)
    assert found.kind is FindingKind.OK
    assert "audits refused" in found.detail


def test_a_mistake_of_the_adapter_is_no_finding_about_the_library() -> None:
    for law in AUDITOR_LAWS:
        assert finding(lambda *_: missing, law).kind is FindingKind.ERROR  # type: ignore[name-defined]  # noqa: F821


def test_a_mistake_of_the_adapter_at_some_scores_is_no_refusal() -> None:
    def on_many(members: Array, others: Array, significance: float, delta: float) -> float:
        return missing if delta > 0 else 0.0  # type: ignore[name-defined]  # noqa: F821

    calls = [0]

    def every_other(members: Array, others: Array, significance: float, delta: float) -> float:
        calls[0] += 1
        return missing if calls[0] % 2 else at_threshold(members, others, significance, delta)  # type: ignore[name-defined]  # noqa: F821

    for bound in (on_many, every_other):
        found = finding(bound)
        assert found.kind is FindingKind.ERROR
        assert "name 'missing' is not defined" in found.detail


def test_a_library_that_refuses_valid_scores_is_found() -> None:
    def refused(members: Array, others: Array, significance: float, delta: float) -> float:
        return float(__import__("statistics").mean([]))

    assert finding(refused).kind is FindingKind.WRONG_ANSWER


def test_too_few_audits_are_no_pass() -> None:
    assert finding(at_threshold, calls=50).kind is FindingKind.UNDECIDED
    assert finding(at_threshold, POWER, calls=3).kind is FindingKind.UNDECIDED


def test_scores_too_few_for_any_power_are_a_mistake_of_the_adapter() -> None:
    assert finding(at_threshold, POWER, sizes=((2, 2),)).kind is FindingKind.ERROR


def test_audits_of_one_run_toss_a_coin_for_each_canary() -> None:
    seen = []

    def count(members: Array, others: Array, significance: float, delta: float) -> float:
        seen.append((len(members), len(others)))
        return 0.0

    finding(count, sizes=(50,), scores=("equal",), deltas=(0.0,))
    assert {sum(pair) for pair in seen} == {50}
    assert 15 < np.mean([members for members, _ in seen]) < 35
    assert len(set(seen)) > 5


def test_an_audit_depends_on_the_seed_and_not_on_the_time() -> None:
    found = [finding(without_confidence) for _ in range(2)]
    assert found[0].witness == found[1].witness


# --- the scores -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", SCORES)
def test_the_scores_have_the_stated_loss(family: str) -> None:
    """An event that attains the stated epsilon has the stated odds, up to the error of the sample."""
    delta, size = 0.1, 400_000
    (scores,) = scores_of(Auditor("one", at_threshold, sizes=((1, 1),), deltas=(delta,), scores=(family,)).describe())
    truth = scores.truth()
    assert truth.lower is not None
    assert truth.upper is not None
    rng = np.random.default_rng(11)
    members, others = (
        draw_scores(rng, family, scores.parameter, delta, size, is_member=is_member) for is_member in (True, False)
    )
    best = max(
        float((members >= threshold).mean()) - math.exp(truth.upper) * float((others >= threshold).mean())
        for threshold in np.linspace(-2, 5, 141)
    )
    error = 5 * (1 + math.exp(truth.upper)) / math.sqrt(size)
    assert best <= delta + error
    if truth.lower > 0:
        assert best >= delta - error


def test_a_positive_delta_is_needed_where_pure_privacy_does_not_hold() -> None:
    pure = Auditor("one", at_threshold, sizes=((300, 300),), scores=("gaussian", "revealing response")).describe()
    assert scores_of(pure) == []
    assert telling_scores_of(pure) is None
    assert finding(at_threshold, scores=("gaussian",), deltas=(0.0,)).kind is FindingKind.ERROR


def test_the_rates_of_a_simple_audit_are_those_of_the_scores() -> None:
    rng = np.random.default_rng(3)
    for family, parameter in (("response", 3.0), ("laplace", 5.0), ("gaussian", 3.5)):
        scores = Scores(family, parameter, (300, 200), 0.05, 0.01)
        for rate, is_member in zip(scores.rates, (True, False), strict=True):
            drawn = draw_scores(rng, family, parameter, 0.0, 100_000, is_member=is_member)
            assert float((drawn >= 0.5).mean()) == pytest.approx(rate, abs=0.01)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"sizes": ()}, "sizes"),
        ({"sizes": (3, (2, 2))}, "sizes"),
        ({"sizes": ((0, 2),)}, "sizes"),
        ({"sizes": (5,), "significances": (1.0,)}, "significances"),
        ({"sizes": (5,), "deltas": (1.0,)}, "deltas"),
        ({"sizes": (5,), "scores": ("unknown",)}, "scores"),
        ({"sizes": (5,), "excess": 1.0}, "excess"),
        ({"sizes": (5,), "attains": -1.0}, "attains"),
    ],
)
def test_a_description_out_of_its_domain_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Auditor("one", at_threshold, **fields)


def test_an_unknown_family_of_scores_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown family"):
        draw_scores(np.random.default_rng(0), "unknown", 1.0, 0.0, 3, is_member=True)
