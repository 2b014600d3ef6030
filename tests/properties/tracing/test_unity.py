import math
import time

import pytest
from tests.spec.leaves.models import at_least, leaf, noise, noisy_max_loop, number, sparse_vector

from dpassay.properties.tracing import unity
from dpassay.properties.tracing.unity import checked_unity
from dpassay.spec.leaves.model import LeafModel, NoiseKind
from dpassay.spec.verdict import Outcome, Scope

EVERYWHERE = -math.inf, math.inf


def outcome_of(model: LeafModel) -> Outcome:
    return checked_unity(model, EVERYWHERE, 0, time.monotonic() + 60).outcome


@pytest.mark.parametrize("model", [sparse_vector(4, 2, 4, 1), noisy_max_loop(3, NoiseKind.LAPLACE, 2)])
def test_a_lost_or_doubled_leaf_on_symbolic_data_is_seen(model: LeafModel) -> None:
    assert outcome_of(model) is Outcome.HOLDS
    for i, one in enumerate(model.leaves):
        rest = (*model.leaves[:i], *model.leaves[i + 1 :])
        assert outcome_of(LeafModel(rest, size=model.size)) is Outcome.VIOLATED
        assert outcome_of(LeafModel((*rest, one, one), size=model.size)) is Outcome.VIOLATED


def test_a_sum_that_is_known_at_a_point_says_nothing_of_other_data() -> None:
    """Each leaf has the probability 1/2, at this point and at others: only what was joined shows that."""
    whole = sparse_vector(4, 2, 4, 1)
    assert checked_unity(whole, EVERYWHERE, 0, time.monotonic() + 60).scope is Scope.ALL
    halves = [leaf(place, at_least(noise(NoiseKind.LAPLACE, place), number(0))) for place in range(2)]
    found = checked_unity(LeafModel(tuple(halves), size=1), EVERYWHERE, 0, time.monotonic() + 60)
    assert (found.outcome, found.scope) == (Outcome.HOLDS, Scope.POINTS)


def test_the_probabilities_of_leaves_on_numbers_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def joined(model: LeafModel) -> LeafModel:
        raise AssertionError("leaves on numbers are not joined")

    monkeypatch.setattr(unity, "joined_siblings", joined)
    assert outcome_of(sparse_vector((0, 1, 2), 2, 4, 1)) is Outcome.HOLDS
