import math
from typing import Any

import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.target_quality import not_prior_quality
from dpassay.impl.mechanisms.conditional_release import WITHHELD, ConditionalReleases, Interval
from dpassay.impl.mechanisms.halting import HaltedError
from dpassay.impl.mechanisms.target_charging import TargetCharging


def releases(hits: int = 3, epsilon: float = 0.1) -> ConditionalReleases:
    session = TargetCharging(hits, 2 * epsilon, float(not_prior_quality(2 * epsilon)))
    return ConditionalReleases(session, epsilon)


def once(outcome: Any) -> Any:
    """A call that may run once only."""
    drawn = [outcome]
    return drawn.pop


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [((0, 2), (1, 3), True), ((0, 1), (1, 2), False), ((0, 1), (2, 3), False), ((0, 9), (2, 3), True)],
)
def test_intervals_meet_where_they_have_a_number_in_common(
    one: tuple[float, float], other: tuple[float, float], common: bool
) -> None:
    first, second = Interval(*one), Interval(*other)
    assert (first.meets(second), second.meets(first)) == (common, common)


def test_an_outcome_is_drawn_once_and_released_where_it_first_fits() -> None:
    store = releases()
    first = store.release(once("b"), frozenset({"a"}))
    assert first.outcome is WITHHELD
    assert store.revise(first.identifier, frozenset({"c"})) is WITHHELD
    assert store.revise(first.identifier, frozenset({"b"})) == "b"
    assert store.revise(first.identifier, frozenset({"d"})) is WITHHELD  # never again
    assert store.session.counts == (1,)


def test_splitting_a_target_releases_the_same() -> None:
    for outcome in range(4):
        whole, parts = releases(), releases()
        once_asked = whole.release(once(outcome), frozenset({0, 1, 2})).outcome
        first = parts.release(once(outcome), frozenset({0}))
        split = [first.outcome, *(parts.revise(first.identifier, frozenset({k})) for k in (1, 2))]
        published = [found for found in split if found is not WITHHELD]
        assert published == ([once_asked] if once_asked is not WITHHELD else [])
        assert whole.session.counts == parts.session.counts


def test_meeting_targets_and_unknown_identifiers_are_refused() -> None:
    store = releases()
    kept = store.release(once(5), Interval(10, math.inf)).identifier
    for target in (Interval(3, 10.5), frozenset({11}), Interval(20, 30)):
        with pytest.raises(UsageError, match="target"):
            store.revise(kept, target)
    for unknown in (kept + 1, [kept], float(kept), False, None):
        with pytest.raises(UsageError, match="identifier"):
            store.revise(unknown, Interval(1, 2))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="run"):
        store.release(5, Interval(1, 2))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="target"):
        store.revise(kept, {5})  # type: ignore[arg-type]
    assert store.session.counts == (0,)
    assert store.revise(kept, Interval(3, 10)) == 5
    with pytest.raises(UsageError, match="target"):
        store.revise(kept, frozenset({9}))


TARGETS: list[tuple[Any, Any, bool]] = [
    (Interval(0, 2), Interval(1, 3), True),
    (Interval(0, 1), Interval(1, 2), False),
    (Interval(5, math.inf), frozenset({math.inf}), True),
    (Interval(0, 2), frozenset({7, 1}), True),
    (Interval(0, 2), frozenset({2, -1}), False),
    (Interval(0, 2), frozenset(), False),
    (frozenset({1, 2}), frozenset({3, 2}), True),
    (frozenset({1, 2}), frozenset({3}), False),
]


@pytest.mark.parametrize("between", [0, 1])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("one", "other", "common"), TARGETS)
def test_whichever_target_came_first_a_second_one_must_not_meet_it(
    one: Any, other: Any, common: bool, swapped: bool, between: int
) -> None:
    """Targets of both kinds, in both orders, and with another target in between."""
    before, after = (other, one) if swapped else (one, other)
    store = releases()
    kept = store.release(once(-100), before).identifier
    for k in range(between):
        store.revise(kept, frozenset({-7 - k}))
    if common:
        with pytest.raises(UsageError, match="target"):
            store.revise(kept, after)
    else:
        assert store.revise(kept, after) is WITHHELD


def test_revisions_need_a_session_for_twice_the_epsilon() -> None:
    session = TargetCharging(3, 0.1, float(not_prior_quality(0.1)))
    store = ConditionalReleases(session, 0.1)
    kept = store.release(once(0), frozenset({1})).identifier
    with pytest.raises(UsageError, match="session"):
        store.revise(kept, frozenset({0}))
    assert session.counts == (0,)
    with pytest.raises(UsageError, match="session"):
        ConditionalReleases(session, 0.2)


def test_hits_of_revisions_halt_the_session() -> None:
    store = releases(hits=1)
    kept = store.release(once(0), frozenset({1})).identifier
    store.revise(kept, frozenset({0}))
    with pytest.raises(HaltedError):
        store.release(once(0), frozenset({1}))
    with pytest.raises(HaltedError):
        store.revise(kept, frozenset({7}))


def test_intervals() -> None:
    assert 1 in Interval(1, 2)
    assert 2 not in Interval(1, 2)
    assert math.inf in Interval(1, math.inf)
    assert ("name", 1.5) in Interval(1, 2)
    with pytest.raises(UsageError, match="low"):
        Interval(2, 2)
    with pytest.raises(UsageError, match="epsilon"):
        releases(epsilon=0.0)
