"""Every broken filter of accuracy-first privacy is visibly broken: an event that refutes its claim.

Frequencies are compared through Clopper and Pearson's limits, each wrong with probability at most 1e-11.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from dpassay.claims import ApproximateDP, PureDP
from dpassay.impl.broken import accuracy_filters
from dpassay.impl.catalogue import entries

LEVEL = 1e-11
DRAWS = 20_000
PLACE = "dpassay.impl.broken.accuracy_filters:"

ON, OFF = [1.0], [0.0]
CASES: dict[str, tuple[list[float], list[float], Callable[[Any], bool]]] = {
    "looks_back_only": (ON, OFF, lambda o: o == (1,) * 3),
    "needs_an_equality_to_stop": (ON, OFF, lambda o: o == (1,) * 6),
    "refusal_restores_the_budget": (ON, OFF, lambda o: sum(o) >= 5),
    "looks_back_only_at_rho": (ON, OFF, lambda o: o == (1,)),
    "charges_only_the_last_step": (ON, OFF, lambda o: sum(o) >= 5),
    "forgets_the_deltas": (ON, OFF, lambda o: 1 in o),
    "gumbel_in_both_directions": ([5.0, 4.0, 4.0], [4.0, 5.0, 5.0], lambda o: o == 0),
    "half_of_the_scale": ([3.0, 4.0, 4.0], [2.0, 4.0, 4.0], lambda o: o == 0),
}


def frequency(mechanism: Any, data: list[float], event: Callable[[Any], bool], seed: int) -> int:
    return sum(event(outcome) for outcome in mechanism.sample(np.array(data), DRAWS, np.random.default_rng(seed)))


@pytest.mark.parametrize("name", CASES)
def test_an_event_refutes_the_claim(name: str) -> None:
    mechanism, (left, right, event) = getattr(accuracy_filters, name), CASES[name]
    assert mechanism.neighbours.admits(np.array(left), np.array(right))
    [claim] = [claim for claim in mechanism.claims if isinstance(claim, (ApproximateDP, PureDP))]
    counts = frequency(mechanism, left, event, 0), frequency(mechanism, right, event, 1)
    least = beta.ppf(LEVEL, counts[0], DRAWS - counts[0] + 1)
    most = beta.ppf(1 - LEVEL, counts[1] + 1, DRAWS - counts[1])
    delta = claim.delta if isinstance(claim, ApproximateDP) else 0.0
    assert least > np.exp(claim.epsilon) * most + delta


def test_every_mutant_is_examined() -> None:
    assert {e.where.removeprefix(PLACE) for e in entries() if e.where.startswith(PLACE)} == set(CASES)
