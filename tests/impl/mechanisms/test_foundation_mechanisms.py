"""Claims, parameters and bad input of the mechanisms of the foundations chapter."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import PureDP
from dpassay.impl.hadamard import walsh_hadamard
from dpassay.impl.mechanisms.dual_query import DualQuery
from dpassay.impl.mechanisms.exponential import ExponentialMechanism
from dpassay.impl.mechanisms.exponential_noisy_max import ExponentialNoisyMax
from dpassay.impl.mechanisms.hadamard_response import HadamardResponse
from dpassay.impl.mechanisms.laplace import LaplaceMechanism
from dpassay.impl.mechanisms.laplace_above_threshold import LaplaceAboveThreshold
from dpassay.impl.mechanisms.laplace_sparse_vector import LaplaceSparseVector, NumericSparseVector
from dpassay.impl.mechanisms.laplace_sums import LaplaceParallel, LaplacePrefixSum
from dpassay.impl.mechanisms.noisy_max import LaplaceNoisyMax
from dpassay.impl.mechanisms.noisy_mean import NoisyMean
from dpassay.impl.mechanisms.posterior_sampling import PosteriorSample
from dpassay.impl.mechanisms.randomised_response import RandomisedResponse, truth_probability
from dpassay.impl.mechanisms.rappor import Rappor
from dpassay.impl.mechanisms.truncated_geometric import TruncatedGeometric

QUERIES = ((1, 0, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1))


def epsilon_of(mechanism: Any) -> float:
    claim = mechanism.claims[0]
    assert isinstance(claim, PureDP)
    return claim.epsilon


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        (LaplaceParallel(20, 0.005), 0.1),
        (LaplacePrefixSum(10, 0.1), 0.1),
        (TruncatedGeometric.of_epsilon(5, 0.1), math.log(1 + 2**-3)),
        (Rappor(), 8 * math.log(0.5125 / 0.4875)),
        (Rappor(permanent=0.95, high=1.0), 8 * math.log(0.525 / 0.475)),
        (PosteriorSample((0.25, 0.5)), 4 * math.log(4)),
        (PosteriorSample((0.5, 0.75)), 4 * math.log(4)),
        (PosteriorSample((0.25, 0.5), 0, 2, "add-remove"), 2 * math.log(4)),
        (DualQuery(QUERIES, 10, 4, 3, 0.5), 3 * 0.5 * 12 / 10),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_claim_is_that_of_the_literature(mechanism: Any, epsilon: float) -> None:
    assert epsilon_of(mechanism) == pytest.approx(epsilon, rel=1e-11)


REFUSED: dict[str, Callable[[], Any]] = {
    "size": lambda: LaplaceMechanism(0, 1.0),
    "epsilon": lambda: LaplaceMechanism(1, math.nan),
    "sensitivity": lambda: LaplaceMechanism(1, 1.0, -1.0),
    "copies": lambda: LaplaceParallel(0, 1.0),
    "largest": lambda: TruncatedGeometric(0, 1),
    "cases": lambda: TruncatedGeometric(40, 10),
    "hashes": lambda: Rappor(hashes=0),
    "permanent": lambda: Rappor(permanent=0.0),
    "high": lambda: Rappor(high=0.4),
    "grid": lambda: PosteriorSample((0.0, 0.5)),
    "grid must": lambda: PosteriorSample(()),
    "queries": lambda: DualQuery(((1, 0), (0,)), 2, 2),
    "1 - q": lambda: DualQuery(((1, 0), (0, 0)), 2, 2),
    "values": lambda: HadamardResponse(1, 1.0),
    "low": lambda: NoisyMean(1.0, 1.0, 0.0),
    "rounds": lambda: DualQuery(QUERIES, 2, 0),
    "values must be at most": lambda: HadamardResponse(2**70, 1.0),
    "number of cases": lambda: TruncatedGeometric(10**7, 10**7),
    "low_value": lambda: Rappor(low_value=0.5),  # type: ignore[arg-type]
    "low=5": lambda: Rappor(low_value=5, high_value=1),
    "cutoff": lambda: LaplaceSparseVector(3, 0.0, 1.0, cutoff=10**400),
    "threshold": lambda: LaplaceSparseVector(3, math.inf, 1.0),
    "low=nan": lambda: LaplaceMechanism(1, 1.0, low=math.nan),
    "low=1, high=0": lambda: LaplaceSparseVector(3, 0.0, 1.0, low=1, high=0),
    "sum_scale=inf": lambda: NoisyMean(1.0, -1.7e308, 1.7e308),
}


@pytest.mark.parametrize("named", REFUSED)
def test_parameters_out_of_their_domain_are_refused(named: str) -> None:
    with pytest.raises(UsageError, match=named):
        REFUSED[named]()


LAPLACE: dict[str, Callable[[float, float], Any]] = {
    "mechanism": lambda epsilon, step: LaplaceMechanism(1, epsilon, step),
    "parallel": lambda epsilon, _: LaplaceParallel(2, epsilon),
    "prefix sum": lambda epsilon, _: LaplacePrefixSum(2, epsilon),
    "noisy max": lambda epsilon, step: LaplaceNoisyMax(2, epsilon, step),
    "exponential noisy max": lambda epsilon, step: ExponentialNoisyMax(2, epsilon, step),
    "above threshold": lambda epsilon, step: LaplaceAboveThreshold(2, 0.0, epsilon, step),
    "sparse vector": lambda epsilon, step: LaplaceSparseVector(2, 0.0, epsilon, 1, step),
    "numeric": lambda epsilon, step: NumericSparseVector(2, 0.0, epsilon, 1, step),
    "mean": lambda epsilon, step: NoisyMean(epsilon, 0.0, step),
}


@pytest.mark.parametrize("name", LAPLACE)
def test_noise_that_float64_cannot_hold_is_refused(name: str) -> None:
    """Each parameter is in its domain, but the noise would be infinite, or none at all."""
    with pytest.raises(UsageError, match="scale=inf"):
        LAPLACE[name](5e-324, 1.0)
    if name not in {"parallel", "prefix sum"}:
        with pytest.raises(UsageError, match=r"scale=0\.0"):
            LAPLACE[name](1e10, 1e-320)


@pytest.mark.parametrize("mechanism", [LaplaceNoisyMax(3, 1.0), ExponentialNoisyMax(3, 1.0)])
def test_large_equal_answers_win_equally_often(mechanism: Any) -> None:
    winners = mechanism.sample(np.array([1e308, -1e308, 1e308]), 1000, np.random.default_rng(0))
    counts = np.bincount(winners, minlength=3)
    assert counts[1] == 0
    assert abs(int(counts[0]) - 500) < 110  # Hoeffding: beyond it with probability below 1e-10


def test_a_refused_answer_leaves_the_session_as_it_was() -> None:
    session = LaplaceAboveThreshold(3, 0.0, 1.0).session(np.random.default_rng(0))
    for bad in (math.nan, math.inf, "high", None):
        with pytest.raises(UsageError, match="answer"):
            session.ask(bad)  # type: ignore[arg-type]
    assert (session.asked, session.halted) == (0, False)


@pytest.mark.parametrize(
    ("mechanism", "data"),
    [
        (LaplaceMechanism(1, 1.0, low=0.0, high=1.0), [2.0]),
        (LaplaceMechanism(2, 1.0), [0.0, math.inf]),
        (RandomisedResponse(1, 1.0), [0.5]),
        (TruncatedGeometric(5, 1), [0.5]),
        (TruncatedGeometric(5, 1), [6.0]),
        (Rappor(), [0.5]),
        (HadamardResponse(3, 1.0), [1.5]),
        (NoisyMean(1.0), [2.0]),
        (NoisyMean(1.0), [math.nan]),
        (NoisyMean(1.0), ["a"]),
        (PosteriorSample((0.5,)), [-1.0]),
        (DualQuery(QUERIES, 2, 2), [0.5]),
        (ExponentialMechanism(2, 1.0), [-math.inf, -math.inf]),
        (ExponentialMechanism(2, 1.0), []),
    ],
    ids=lambda value: type(value).__name__,
)
def test_data_out_of_their_domain_are_refused(mechanism: Any, data: list[Any]) -> None:
    with pytest.raises(UsageError, match="data"):
        mechanism.sample(np.array(data), 1, np.random.default_rng(0))


def test_scores_near_the_largest_float_are_ranked() -> None:
    scores = np.array([1e308, -1e308, 1e308 * (1 - 1e-15)])
    drawn = ExponentialMechanism(3, 1.0).sample(scores, 100, np.random.default_rng(0))
    assert set(drawn.tolist()) == {0}


def test_without_sensitivity_nothing_needs_noise() -> None:
    drawn = LaplaceMechanism(2, 1.0, 0.0).sample(np.array([1.0, 2.0]), 3, np.random.default_rng(0))
    assert drawn.tolist() == [[1.0, 2.0]] * 3
    with pytest.raises(UsageError, match="sensitivity"):
        ExponentialMechanism(2, 1.0, 0.0)


def test_an_empty_data_set_has_a_noisy_mean() -> None:
    drawn = NoisyMean(1.0).sample(np.array([]), 5, np.random.default_rng(0))
    assert drawn.shape == (5, 2)
    assert bool(np.isfinite(drawn).all())


@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 2.0, 30.0, 700.0])
def test_the_truth_is_told_no_more_often_than_epsilon_allows(epsilon: float) -> None:
    truth = truth_probability(epsilon)
    assert truth == math.ldexp(math.floor(math.ldexp(truth, 53)), -53)
    assert math.log(truth) - math.log1p(-truth) <= epsilon


def test_the_transform_is_the_matrix_of_the_spec() -> None:
    matrix = walsh_hadamard(np.eye(8))
    expected = [[(-1) ** (i & j).bit_count() for j in range(8)] for i in range(8)]
    assert matrix.tolist() == expected
    assert all(walsh_hadamard(np.ones(length)).tolist() == [length] + [0] * (length - 1) for length in (1, 2, 4, 8))
    for shape in ((), (0,), (3,), (5,), (6,), (7,), (9,), (12,)):
        with pytest.raises(UsageError, match="power of 2"):
            walsh_hadamard(np.zeros(shape))


def test_heavy_hitters_are_found() -> None:
    mechanism, rng = HadamardResponse(10, 2.0), np.random.default_rng(1)
    shares = np.array([0.5, 0.3, 0.2, *[0.0] * 7])
    users = np.repeat(np.arange(10), (shares * 20_000).astype(int))
    estimates = mechanism.frequencies(mechanism.reports(users, rng))
    # the tail bound with t = 0.06: 20 exp(-20000 * 0.0036 * tanh(1)^2 / 2) < 1e-8
    assert float(np.abs(estimates - shares).max()) < 0.06
    for reports in ([], [16], [[1]], [0.5], [math.nan], ["a"], [-1]):
        with pytest.raises(UsageError, match="reports"):
            mechanism.frequencies(reports)
    for wrong in ([10], [-1]):
        with pytest.raises(UsageError, match="users"):
            mechanism.reports(np.array(wrong), rng)


@pytest.mark.parametrize("epsilon", [1e-12, 1.0, 60.0])
def test_estimates_have_no_bias_even_where_the_truth_is_rounded(epsilon: float) -> None:
    mechanism = HadamardResponse(3, epsilon)
    truth = truth_probability(epsilon)
    columns = np.arange(mechanism.order)
    agrees = np.array([(2 & column).bit_count() % 2 == 0 for column in columns.tolist()])  # with the row of value 1
    expected = sum(
        chance * mechanism.frequencies([column])
        for column, chance in zip(columns, np.where(agrees, truth, 1 - truth) / (mechanism.order / 2), strict=True)
    )
    assert np.asarray(expected) == pytest.approx([0, 1, 0], abs=1e-3)
    with pytest.raises(UsageError, match="epsilon"):
        HadamardResponse(3, 1e-16).frequencies([0])


def test_queries_whose_complements_are_rounded_are_closed() -> None:
    assert 1 - (1 - 0.1) != 0.1
    assert len(DualQuery(((0.1, 1.0), (1 - 0.1, 0.0)), 2, 2).queries) == 2


def test_synthetic_records_answer_the_queries() -> None:
    data = np.repeat([0.1, 0.9], [900, 100])
    mechanism = DualQuery(QUERIES, 1000, 200, 20, 0.25)
    published = mechanism.sample(data, 3, np.random.default_rng(2))
    # regret: eta/2 + log(4)/(eta T) = 0.153, and the mean of 20 draws of a query errs by 0.2 in a round at most
    assert float(mechanism.largest_error(data, published).max()) < 0.35
    blind = DualQuery(QUERIES, 1000, 200, 20, 1e-9).sample(data, 1, np.random.default_rng(2))
    assert float(mechanism.largest_error(data, blind).max()) > 0.35
