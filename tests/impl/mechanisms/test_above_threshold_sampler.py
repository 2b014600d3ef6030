import numpy as np
import pytest
from scipy.special import ndtr

from dpassay.arguments import UsageError
from dpassay.claims import ExPost
from dpassay.impl.mechanisms.above_threshold import GaussianAboveThreshold
from dpassay.impl.mechanisms.halting import HaltedError

MECHANISM = GaussianAboveThreshold(4, 1.5, 0.3, 0.5, 1.0, 2.0, 0.2)
ANSWERS = np.array([1.2, 1.9, 1.0, 1.6])


def distribution(mechanism: GaussianAboveThreshold, answers: np.ndarray) -> dict[int, float]:
    x = np.linspace(-12, 12, 8001)
    weight = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    margin = (mechanism.sigma_threshold * x + mechanism.threshold - answers[:, None]) / mechanism.sigma_query
    below = np.cumprod(np.vstack([np.ones_like(x), ndtr(margin)]), axis=0)
    halted = {t: float(weight @ (below[t - 1] * ndtr(-margin[t - 1]))) for t in range(1, answers.size + 1)}
    return {0: float(weight @ below[-1]), **halted}


def test_the_sampler_follows_its_distribution(follows) -> None:  # type: ignore[no-untyped-def]
    outcomes = MECHANISM.sample(ANSWERS, 300_000, np.random.default_rng(3))
    follows(np.asarray(outcomes).tolist(), distribution(MECHANISM, ANSWERS))


def test_sessions_follow_the_same_distribution(follows) -> None:  # type: ignore[no-untyped-def]
    rng, outcomes = np.random.default_rng(4), []
    for _ in range(10_000):
        session = MECHANISM.session(rng)
        any(session.ask(answer) for answer in ANSWERS)
        outcomes.append(session.outcome)
    follows(outcomes, distribution(MECHANISM, ANSWERS))


@pytest.mark.parametrize("time", range(5))
def test_the_claim_is_attained_by_the_worst_pair(time: int) -> None:
    left, right = np.full(4, 1.8), np.full(4, 2.0)
    if time:
        left[time - 1], right[time - 1] = 1.2, 1.0
    [claim] = MECHANISM.claims
    assert isinstance(claim, ExPost)
    assert MECHANISM.neighbours.admits(left, right)
    loss = np.log(distribution(MECHANISM, left)[time] / distribution(MECHANISM, right)[time])
    assert claim.epsilon_of(time) == pytest.approx(loss, rel=1e-8)


def test_a_session_keeps_count_of_what_it_has_revealed() -> None:
    session = GaussianAboveThreshold(3, 1.5, 1e-3, 1e-3, 1.0, 2.0, 1e-4).session(np.random.default_rng(0))
    assert session.loss == 0
    assert not session.ask(1.0)
    assert session.outcome == 0
    before = session.loss
    assert before > 0
    assert session.ask(2.0)
    assert session.outcome == 2
    assert session.loss > before


def test_a_session_refuses_to_go_on() -> None:
    mechanism = GaussianAboveThreshold(2, 1.5, 1e-3, 1e-3, 1.0, 2.0, 0.2)
    halted = mechanism.session(np.random.default_rng(0))
    assert halted.ask(2.0)
    with pytest.raises(HaltedError, match="halted after 1"):
        halted.ask(1.0)
    exhausted = mechanism.session(np.random.default_rng(0))
    assert not exhausted.ask(1.0)
    assert not exhausted.ask(1.0)
    with pytest.raises(HaltedError, match="end of its stream after 2"):
        exhausted.ask(1.0)


def test_a_refused_answer_is_not_counted() -> None:
    session = MECHANISM.session(np.random.default_rng(0))
    with pytest.raises(UsageError, match=r"^answer must"):
        session.ask(2.5)
    assert session.asked == 0


@pytest.mark.parametrize("outcome", [-1, 5, 1.0, "1", None, True])
def test_only_outcomes_have_a_bound(outcome: object) -> None:
    with pytest.raises(UsageError, match=r"^outcome must"):
        MECHANISM.epsilon_of(outcome)


def test_numpy_outcomes_have_one() -> None:
    assert MECHANISM.epsilon_of(np.int64(2)) == MECHANISM.epsilon_of(2)


@pytest.mark.parametrize(
    "change",
    [{"size": 0}, {"threshold": np.nan}, {"threshold": np.inf}, {"sigma_threshold": 0.0}, {"sigma_query": -1.0},
     {"low": 3.0}, {"sensitivity": np.inf}],
)  # fmt: skip
def test_parameters_are_checked(change: dict[str, float]) -> None:
    good = {"size": 3, "threshold": 1.5, "sigma_threshold": 1.0, "sigma_query": 1.0, "low": 1.0, "high": 2.0}
    with pytest.raises(UsageError, match="must be"):
        GaussianAboveThreshold(**{**good, "sensitivity": 0.1, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [[1.2] * 3, [1.2, 1.2, 1.2, 0.9], [1.2, 1.2, 1.2, np.nan]])
def test_data_are_checked(data: list[float]) -> None:
    with pytest.raises(UsageError, match=r"^data must"):
        MECHANISM.sample(np.array(data), 5, np.random.default_rng(0))
