import math

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.mechanisms.halting import HaltedError
from dpassay.impl.mechanisms.teacher_votes import TeacherVotes, affordable_hits, wrapped_vote


def votes(hits: int = 2, epsilon: float = 0.2) -> TeacherVotes:
    return TeacherVotes(250, 10, hits, epsilon, np.random.default_rng(0))


def test_teachers_who_agree_are_hardly_ever_charged() -> None:
    session = votes()
    agreed = np.eye(10)[3] * 250
    assert {session.ask(agreed) for _ in range(300)} == {3}
    assert not session.halted


def test_teachers_who_do_not_agree_end_the_session() -> None:
    session = votes()
    asked = 0
    while not session.halted:
        session.ask(np.full(10, 25.0))
        asked += 1
    assert asked < 100  # a boundary has probability 1/3 each time: fails with probability 1e-16
    with pytest.raises(HaltedError):
        session.ask(np.full(10, 25.0))


@pytest.mark.parametrize(
    ("epsilon", "share", "expected"),
    [(0.1, 0.3, 1.284), (0.1, 0.5, 0.1533), (0.1, 0.6, 0.0417), (0.2, 0.3, 0.162), (0.2, 1.0, 6.5e-10)],
)
def test_the_charge_of_a_query_falls_with_the_agreement(epsilon: float, share: float, expected: float) -> None:
    """Pr[boundary]/q in units of one call, the privacy parameter being that of the wrapper at 4/3 of the base."""
    wrapper, agreed = wrapped_vote(10, epsilon), round(250 * share)
    counts = np.array([agreed, *[(250 - agreed) // 9] * 9], dtype=np.float64)
    quality = math.expm1(4 / 3 * epsilon) / (2 * math.expm1(7 / 3 * epsilon))
    charge = wrapper.boundary_probability(counts) / quality * 4 / 3
    assert charge == pytest.approx(expected, rel=0.02)


def test_counts_that_are_none_charge_nothing() -> None:
    session = votes()
    halves = [24.5, 25.5] + [25] * 8
    for counts in (np.full(10, 24.0), np.full(9, 25.0), halves, [-25] + [25] * 8 + [75], [math.nan] * 10):
        with pytest.raises(UsageError, match="counts"):
            session.ask(counts)
    assert session.session.counts == (0,)


def test_affordable_hits_fit() -> None:
    hits = affordable_hits(10, 0.01, 1.0, 1e-6)
    assert votes(hits, 0.01).account(1e-6).epsilon <= 1
    assert votes(hits + 1, 0.01).account(1e-6).epsilon > 1
    assert affordable_hits(10, 0.5, 1.0, 1e-6) == 0


def test_errors_of_use() -> None:
    for arguments, named in (((0, 10, 1, 0.1), "teachers"), ((5, 1, 1, 0.1), "labels"), ((5, 10, 1, 0.0), "epsilon")):
        with pytest.raises(UsageError, match=named):
            TeacherVotes(*arguments, np.random.default_rng(0))
