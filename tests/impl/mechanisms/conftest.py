"""The exact test that samplers are held to."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

ALARM = 1e-10
"""Probability, at most, that one call of `follows` fails on a correct sampler."""


@pytest.fixture
def follows() -> Callable[[Sequence[Any], dict[Any, float]], None]:
    """Assert that outcomes follow a distribution, by the Chernoff bound on each outcome's count, shared by union.

    A count k of n with chance p satisfies n KL(k/n, p) > t with probability at most 2 e^-t.
    """

    def check(outcomes: Sequence[Any], distribution: dict[Any, float]) -> None:
        assert sum(distribution.values()) == pytest.approx(1, abs=1e-9)
        count = len(outcomes)
        seen: dict[Any, int] = {}
        for outcome in outcomes:
            seen[outcome] = seen.get(outcome, 0) + 1
        assert set(seen) <= set(distribution)
        limit = np.log(2 * len(distribution) / ALARM)
        for outcome, chance in distribution.items():
            share = seen.get(outcome, 0) / count
            divergence = sum(a * np.log(a / b) for a, b in ((share, chance), (1 - share, 1 - chance)) if a > 0)
            assert count * divergence <= limit, f"{outcome!r}: {share} of {count}, but should be {chance}"

    return check
