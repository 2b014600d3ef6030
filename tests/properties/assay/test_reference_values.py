import math
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.calibration import gaussian_sigma
from dpassay.impl.accounting.gaussian import gaussian_delta, gaussian_epsilon
from dpassay.impl.accounting.pure_composition import response_delta, response_epsilon
from dpassay.properties.assay.enclosures import Truth, least_argument
from dpassay.properties.assay.questions import QUESTIONS, points_of
from dpassay.properties.assay.reference_values import truth_of
from dpassay.spec.ball import ball, precision
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.notions.renyi_conversions import approximate_epsilon_of_renyi
from dpassay.spec.notions.zcdp_conversions import optimal_probabilistic_epsilon


def lower(question: str, **arguments: Any) -> float:
    bound = truth_of(question, **arguments).lower
    assert bound is not None
    return bound


def upper(question: str, **arguments: Any) -> float:
    bound = truth_of(question, **arguments).upper
    assert bound is not None
    return bound


@pytest.mark.parametrize("delta", [1e-300, 1e-100, 1e-20, 1e-6, 0.3])
def test_gaussian_truths_agree_with_the_other_derivation(delta: float) -> None:
    for sigma, count in ((0.5, 1), (3.0, 7), (100.0, 10**6)):
        effective = sigma / math.sqrt(count)
        epsilon = lower("gaussian_epsilon", sigma=sigma, delta=delta, count=count)
        assert epsilon == pytest.approx(float(gaussian_epsilon(delta, effective)), rel=1e-8)
        assert upper("gaussian_epsilon", sigma=sigma, delta=delta, count=count) <= epsilon * (1 + 1e-9) + 1e-12
        at = truth_of("gaussian_delta", sigma=sigma, epsilon=1.0, count=count)
        assert at.lower == pytest.approx(float(gaussian_delta(1.0, effective)), rel=1e-8, abs=1e-300)
    assert truth_of("gaussian_sigma", epsilon=0.5, delta=delta).lower == pytest.approx(
        float(gaussian_sigma(0.5, delta)), rel=1e-8
    )


@pytest.mark.parametrize("count", [1, 10, 2000])
def test_response_truths_agree_with_the_other_derivation(count: int) -> None:
    for name in ("pure_composition", "randomised_response"):
        epsilon = truth_of(f"{name}_epsilon", epsilon0=0.1, delta=1e-6, count=count)
        assert epsilon.lower == pytest.approx(response_epsilon(count, 0.1, 1e-6), rel=1e-7)
        delta = truth_of(f"{name}_delta", epsilon0=0.1, epsilon=0.05, count=count)
        assert delta.lower == pytest.approx(response_delta(count, 0.1, 0.05), rel=1e-7)


def test_truths_that_follow_from_each_other() -> None:
    pure = truth_of("pure_composition_epsilon", epsilon0=0.2, delta=1e-5, count=20)
    assert truth_of("approximate_composition_epsilon", epsilon0=0.2, delta0=0.0, delta=1e-5, count=20) == pure
    assert truth_of("discrete_laplace_epsilon", scale=5.0, delta=1e-5, count=20).lower == pytest.approx(pure.lower)
    mixed = truth_of("heterogeneous_composition_epsilon", epsilons=[0.2] * 20, deltas=[0.0] * 20, delta=1e-5)
    assert mixed.lower == pytest.approx(pure.lower, rel=1e-9)
    gaussian = truth_of("gaussian_epsilon", sigma=2.0, delta=1e-5, count=30)
    for rate, count, expected in ((1.0, 30, gaussian), (0.0, 30, Truth(0.0, 0.0)), (0.5, 0, Truth(0.0, 0.0))):
        assert truth_of("subsampled_gaussian_epsilon", sigma=2.0, rate=rate, count=count, delta=1e-5) == expected


def test_leaks_beyond_delta_leave_no_epsilon() -> None:
    truth = truth_of("approximate_composition_epsilon", epsilon0=0.1, delta0=1e-6, count=10, delta=1e-6)
    assert truth == Truth(math.inf, None)


def test_subsampled_bounds_are_consistent() -> None:
    """What is bounded from below by events stays below what composition theorems allow, and one step is exact."""
    for sigma, rate, count in ((1.0, 0.01, 500), (2.0, 0.3, 20), (0.7, 1e-3, 2000)):
        epsilon = lower("subsampled_gaussian_epsilon", sigma=sigma, rate=rate, count=count, delta=1e-6)
        orders = np.concatenate([np.arange(2, 64), np.array([128, 256])])
        renyi = [lower("subsampled_gaussian_renyi", sigma=sigma, rate=rate, order=int(a)) for a in orders]
        with precision(96):
            bound = min(
                float(approximate_epsilon_of_renyi(int(a), ball(count) * ball(r), 1e-6).mid())
                for a, r in zip(orders, renyi, strict=True)
            )
        assert 0.4 * bound < epsilon < bound
        delta = lower("subsampled_gaussian_delta", sigma=sigma, rate=rate, count=count, epsilon=epsilon)
        assert delta == pytest.approx(1e-6, rel=0.3)
    few = lower("subsampled_gaussian_epsilon", sigma=1.0, rate=0.01, count=1, delta=1e-6)
    more = lower("subsampled_gaussian_epsilon", sigma=1.0, rate=0.01, count=2, delta=1e-6)
    assert few < more


def test_a_calibrated_scale_just_does_not_suffice() -> None:
    sigma = lower("subsampled_gaussian_sigma", rate=0.01, count=100, epsilon=0.5, delta=1e-6)
    short = lower("subsampled_gaussian_delta", sigma=sigma, rate=0.01, count=100, epsilon=0.5)
    assert short > 1e-6
    more = lower("subsampled_gaussian_delta", sigma=1.001 * sigma, rate=0.01, count=100, epsilon=0.5)
    assert more < 1e-6


@pytest.mark.parametrize("delta", [1e-100, 1e-12, 1e-3])
def test_conversions_lie_below_the_theorems(delta: float) -> None:
    for rho in (0.001, 0.1, 3.0):
        epsilon = lower("zcdp_epsilon", rho=rho, delta=delta)
        with precision(96):
            bound = float(optimal_probabilistic_epsilon(rho, delta).mid())
        assert 0.3 * bound < epsilon < bound
        assert truth_of("zcdp_rho", epsilon=epsilon, delta=delta).lower is None
        assert upper("zcdp_rho", epsilon=epsilon, delta=delta) == pytest.approx(rho, rel=1e-6)
    for order, renyi in ((2.0, 1.0), (20.0, 0.3)):
        epsilon = lower("renyi_epsilon", order=order, renyi=renyi, delta=delta)
        with precision(96):
            bound = float(approximate_epsilon_of_renyi(order, ball(renyi), delta).mid())
        assert epsilon <= max(bound, 0.0)
        assert epsilon > 0.7 * bound


@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_every_question_has_a_truth_everywhere(question: str) -> None:
    asked = QUESTIONS[question]
    for arguments in points_of(asked, {}, np.random.default_rng(1), 10 if "sigma" not in question else 3):
        truth = truth_of(question, **arguments)
        if truth.lower is not None and truth.upper is not None:
            assert 0 <= truth.lower <= truth.upper
            assert not asked.probability or truth.lower <= 1


def test_points_keep_to_the_domain() -> None:
    domain = {"delta": (1e-9, 1e-3), "count": (2.0, 5.0)}
    points = list(points_of(QUESTIONS["gaussian_epsilon"], domain, np.random.default_rng(0), 30))
    assert len(points) == 30
    assert all(1e-9 <= p["delta"] <= 1e-3 and 2 <= p["count"] <= 5 and isinstance(p["count"], int) for p in points)
    narrow = {"delta0": (1e-4, 1e-3), "count": (200.0, 1000.0), "delta": (0.05, 0.5)}  # a thousandth of the whole
    few = list(points_of(QUESTIONS["approximate_composition_epsilon"], narrow, np.random.default_rng(0), 8))
    assert len(few) == 8
    assert all(low <= point[name] <= high for point in few for name, (low, high) in narrow.items())
    nowhere = points_of(QUESTIONS["gaussian_epsilon"], {"delta": (2.0, 3.0)}, np.random.default_rng(0), 5)
    assert list(nowhere) == []


def test_inversion_brackets_the_level() -> None:
    def curve(x: float) -> Truth:
        return Truth.of(lambda: gaussian_hockey_stick(1, x))

    found = least_argument(curve, 1e-3)
    assert found.lower is not None
    assert found.upper is not None
    below, above = curve(found.lower).lower, curve(found.upper).upper
    assert below is not None
    assert above is not None
    assert below > 1e-3 >= above
    assert least_argument(curve, 0.9) == Truth(0.0, 0.0)


def test_unknown_questions_are_refused() -> None:
    with pytest.raises(UsageError, match="question"):
        truth_of("anything_else", epsilon=1.0)


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("discrete_gaussian_delta", {"sigma": 1e6, "epsilon": 1.0, "count": 1}),
        ("pure_composition_epsilon", {"epsilon0": 0.1, "delta": 1e-6, "count": 10**9}),
        ("gaussian_delta", {"sigma": math.nan, "epsilon": 1.0, "count": 1}),
        ("gaussian_delta", {"sigma": 0.0, "epsilon": 1.0, "count": 1}),
    ],
)
def test_what_cannot_be_certified_is_refused(question: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        truth_of(question, **arguments)
