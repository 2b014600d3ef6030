import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay.properties.assay.goodness_of_fit import FitTest, joint_evidence
from dpassay.properties.assay.ideal_distributions import ideal_distribution
from dpassay.properties.outcomes.batch import Outcomes

CALLS = 100_000
LAPLACE = {"family": "laplace", "location": 3.0, "scale": 2.0}
GAUSSIAN = {"family": "gaussian", "location": 3.0, "scale": 2.0}
DISCRETE = {"family": "discrete laplace", "location": 3, "scale": 2.0}
VECTOR = {"family": "gaussian", "location": [0.0, 1.0, 2.0], "scale": 1.0}
FINITE = {"family": "finite", "symbols": ["a", "b"], "probabilities": [3, 1]}
BOUNDED = {"family": "bounded laplace", "location": 0.3, "scale": 0.5, "low": 0.0, "high": 1.0}
CLAMPED = {**BOUNDED, "family": "clamped laplace"}


Draw = Callable[[np.random.Generator, int], Any]


def evidence(words: dict[str, Any], draw: Draw, calls: int = CALLS, seed: int = 0, batches: int = 1) -> float:
    rng, test = np.random.default_rng(seed), FitTest(ideal_distribution(words))
    for _ in range(batches):
        test.enter(Outcomes.of(draw(rng, calls // batches)))
    return joint_evidence([test])


def discrete(rng: np.random.Generator, n: int, scale: float = 2.0) -> Any:
    p = 1 - math.exp(-1 / scale)
    return 3 + rng.geometric(p, n) - rng.geometric(p, n)


def bounded(rng: np.random.Generator, n: int) -> Any:
    noisy = 0.3 + rng.laplace(0, 0.5, 4 * n + 100)
    return noisy[(noisy >= 0) & (noisy <= 1)][:n]


def clamped(rng: np.random.Generator, n: int) -> Any:
    return np.clip(0.3 + rng.laplace(0, 0.5, n), 0, 1)


def letters(rng: np.random.Generator, n: int, p: float = 0.25) -> Any:
    return np.where(rng.random(n) < p, "b", "a").tolist()


HONEST: dict[str, tuple[dict[str, Any], Draw]] = {
    "laplace": (LAPLACE, lambda r, n: 3 + r.laplace(0, 2, n)),
    "gaussian": (GAUSSIAN, lambda r, n: 3 + r.normal(0, 2, n)),
    "discrete laplace": (DISCRETE, discrete),
    "vector": (VECTOR, lambda r, n: np.arange(3) + r.normal(0, 1, (n, 3))),
    "finite": (FINITE, letters),
    "bounded": (BOUNDED, bounded),
    "clamped": (CLAMPED, clamped),
}


@pytest.mark.parametrize("name", sorted(HONEST))
def test_honest_samples_gain_nothing(name: str) -> None:
    words, draw = HONEST[name]
    assert max(evidence(words, draw, seed=seed) for seed in range(3)) < math.log(1e3)
    assert evidence(words, draw, batches=7) < math.log(1e3)


LIARS: dict[str, tuple[dict[str, Any], Draw]] = {
    "scale 2 % too large": (LAPLACE, lambda r, n: 3 + r.laplace(0, 2.04, n)),
    "scale 2 % too small": (LAPLACE, lambda r, n: 3 + r.laplace(0, 1.96, n)),
    "Gaussian scale 2 % too small": (GAUSSIAN, lambda r, n: 3 + r.normal(0, 1.96, n)),
    "shifted by 3 % of the scale": (LAPLACE, lambda r, n: 3.06 + r.laplace(0, 2, n)),
    "tails cut at seven scales": (LAPLACE, lambda r, n: 3 + np.clip(r.laplace(0, 2, n), -14, 14)),
    "rounded to three digits": (LAPLACE, lambda r, n: np.round(3 + r.laplace(0, 2, n), 3)),
    "noise used twice": (LAPLACE, lambda r, n: 3 + np.repeat(r.laplace(0, 2, n // 2), 2)),
    "Laplace for Gaussian": (GAUSSIAN, lambda r, n: 3 + r.laplace(0, 2 / math.sqrt(2), n)),
    "rounded Laplace for discrete": (DISCRETE, lambda r, n: np.round(3 + r.laplace(0, 2, n))),
    "no integers": (DISCRETE, lambda r, n: 3 + r.laplace(0, 2, n)),
    "one noise for all coordinates": (VECTOR, lambda r, n: np.arange(3) + r.normal(0, 1, (n, 1))),
    "one coordinate too quiet": (VECTOR, lambda r, n: np.arange(3) + r.normal(0, [1, 1, 0.97], (n, 3))),
    "one coordinate too few": (VECTOR, lambda r, n: r.normal(0, 1, (n, 2))),
    "a wrong frequency": (FINITE, lambda r, n: letters(r, n, 0.26)),
    "an unknown symbol": (FINITE, lambda r, n: [*letters(r, n - 1), "c"]),
    "clamped for bounded": (BOUNDED, clamped),
    "bounded for clamped": (CLAMPED, bounded),
    "NaN": (LAPLACE, lambda r, n: np.append(3 + r.laplace(0, 2, n - 1), np.nan)),
    "an exception": (LAPLACE, lambda r, n: [*(3 + r.laplace(0, 2, n - 1)).tolist(), "<raises ValueError>"]),
}


@pytest.mark.parametrize("fault", sorted(LIARS))
def test_liars_are_caught(fault: str) -> None:
    """At the level 1e-4 with 1e5 samples: 2 % of a Laplace scale is 20 nats on average for the best bet of all."""
    words, draw = LIARS[fault]
    assert evidence(words, draw) > math.log(1e4)


def test_the_mean_of_the_e_value_is_at_most_one() -> None:
    """Few samples, so that the mean is not ruled by rare values."""
    values = [
        math.exp(
            evidence({"family": "laplace", "location": 0.0, "scale": 1.0}, lambda r, n: r.laplace(0, 1, n), 40, seed)
        )
        for seed in range(150)
    ]
    assert np.mean(values) < 1.3


def test_the_level_is_kept_under_stopping_at_the_best_moment() -> None:
    crossed = 0
    for seed in range(30):
        rng, test = np.random.default_rng(seed), FitTest(ideal_distribution(GAUSSIAN))
        best = -math.inf
        for _ in range(12):
            test.enter(Outcomes.of(3 + rng.normal(0, 2, 200)))
            best = max(best, joint_evidence([test]))
        crossed += best >= math.log(20)
    assert crossed <= 6  # 1.5 expected at most


def test_an_atomic_null_widens_nothing_else() -> None:
    """What lies on a grid finer than 2^-30 scales passes as continuous."""

    def fine(rng: np.random.Generator, n: int) -> Any:
        return np.round((3 + rng.laplace(0, 2, n)) * 2**32) / 2**32

    assert evidence(LAPLACE, fine) < math.log(1e3)


def test_inputs_are_judged_together_and_each_by_itself() -> None:
    rng = np.random.default_rng(0)
    tests = [FitTest(ideal_distribution(LAPLACE)) for _ in range(4)]
    for k, test in enumerate(tests):
        test.enter(Outcomes.of(3 + rng.laplace(0, 2 if k else 1.5, 20_000)))
    assert joint_evidence(tests) > math.log(1e6)  # one bad input among four
    tests = [FitTest(ideal_distribution(LAPLACE)) for _ in range(4)]
    for test in tests:
        test.enter(Outcomes.of(3 + rng.laplace(0, 1.95, 20_000)))
    assert joint_evidence(tests) > max(joint_evidence([test]) for test in tests)  # small faults add up


def test_remainders_that_are_drawn_wrongly_show_in_integers() -> None:
    # a sampler that draws quotient and remainder by 3 apart, and the remainder uniformly
    def wrong(rng: np.random.Generator, n: int) -> Any:
        quotient = rng.geometric(1 - math.exp(-1), n) - 1
        distance = 3 * quotient + rng.choice(3, n, p=[0.4, 0.32, 0.28])
        return np.where(rng.random(n) < 0.5, -distance, distance)

    words = {"family": "discrete laplace", "location": 0, "scale": 3.0}
    assert evidence(words, wrong, calls=20_000) > math.log(1e9)
    assert evidence(words, lambda r, n: discrete(r, n, 3.0) - 3, calls=20_000) < math.log(1e6)
