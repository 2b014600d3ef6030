"""Families of targets with their claimed qualities, and adversarial pairs of output distributions.

Every epsilon-indistinguishable pair is randomised response seen through two distributions K^0, K^1 (see
:mod:`dpassay.spec.distributions.indistinguishable`); random pairs are drawn from random, mostly disjoint K^0 and K^1,
the designed ones sit where the claims are tight.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.accounting.target_quality import (
    between_thresholds_quality,
    boundary_quality,
    double_run_quality,
    not_prior_quality,
    printed_boundary_quality,
    printed_double_run_quality,
    revision_quality,
    wrapped_classifier_epsilon,
    wrapped_test_epsilon,
)
from dpassay.lazy import special

__all__ = ["FAMILIES", "Family", "random_pairs"]

Array = NDArray[np.float64]
Pairs = tuple[Array, Array]

RARE = 1e-6
OUTCOMES = 4
GAPS = (0.3, 1.0, 2.0, 10.0)


@dataclass(frozen=True)
class Family:
    """A family of targets.

    Parameters
    ----------
    name : str
        Which target of which algorithm.
    claimed : callable
        The quality in the paper, misprints corrected, of epsilon.
    exact : callable
        The largest quality that holds for the whole family.
    charged : callable
        The privacy parameter at which a call is charged.
    pairs : callable
        ``pairs(epsilon, count, rng)``: distributions of members of the family, one a row.
    target : tuple of int
        The outcomes in the target, from the end.
    """

    name: str
    claimed: Callable[[float], Array]
    exact: Callable[[float], Array]
    charged: Callable[[float], float]
    pairs: Callable[[float, int, np.random.Generator], Pairs]
    target: tuple[int, ...] = (-1,)


# --- pairs --------------------------------------------------------------------------------------------------


def random_pairs(epsilon: float, count: int, outcomes: int, rng: np.random.Generator) -> Pairs:
    """Draw indistinguishable pairs, extremal at most outcomes, over orders of magnitude; randomised response first.

    Parameters
    ----------
    epsilon : float
        Privacy parameter, nats.
    count : int
        Number of pairs.
    outcomes : int
        Number of outcomes.
    rng : numpy.random.Generator
        Source of randomness.
    """
    weights = np.exp(rng.uniform(-12, 0, (2, count, outcomes)))
    ours = rng.random((count, outcomes)) < 0.5
    shared = rng.random((count, outcomes)) < 0.1
    weights *= np.stack([ours | shared, ~ours | shared])
    weights[0, :, 0] += 1e-9
    weights[1, :, -1] += 1e-9
    weights[:, 0] = 0
    weights[0, 0, 0] = weights[1, 0, -1] = 1
    first, second = weights / weights.sum(axis=-1, keepdims=True)
    truthful, other = special.expit(epsilon), special.expit(-epsilon)
    return truthful * first + other * second, other * first + truthful * second


def _any_pairs(epsilon: float, count: int, rng: np.random.Generator) -> Pairs:
    return random_pairs(epsilon, count, OUTCOMES, rng)


def _with_rarity(pairs: Pairs, epsilon: float) -> Pairs:
    """Put in front a minority outcome of probability 1e-6 that rises by e^epsilon."""
    left, right = (side.copy() for side in pairs)
    for side, rare in ((left, RARE * np.exp(-epsilon)), (right, RARE)):
        side[1] = 0
        side[1, 0], side[1, -1] = 1 - rare, rare
    return left, right


def _tests(epsilon: float, count: int, rng: np.random.Generator) -> Pairs:
    return _with_rarity(random_pairs(epsilon, count, 2, rng), epsilon)


def _revised(epsilon: float, count: int, rng: np.random.Generator) -> Pairs:
    """Draw conditional releases, given that nothing was published for outcome 0, revised with the last outcome."""
    left, right = random_pairs(epsilon, count, OUTCOMES, rng)
    bulk = 1 / (2 * np.exp(epsilon))  # of the event, falling or rising against the rare outcome
    least = RARE * np.exp(-2 * epsilon)
    for side, rare, rest in ((left, least, np.exp(epsilon) * bulk), (right, least * np.exp(epsilon), bulk)):
        side[1] = 0
        side[1, 0], side[1, 1], side[1, -1] = 1 - rare - rest, rest, rare
    published = [np.stack([side[:, 1:-1].sum(axis=1), side[:, -1]], axis=1) for side in (left, right)]
    first, second = (side / side.sum(axis=1, keepdims=True) for side in published)
    return first, second


def _wrapped(draw: Callable[[float, int, np.random.Generator], Pairs]) -> Callable[..., Pairs]:
    """Return the pairs behind the boundary wrapper; the boundary comes last."""

    def pairs(epsilon: float, count: int, rng: np.random.Generator) -> Pairs:
        first, second = (_wrap(side) for side in _with_rarity(draw(epsilon, count, rng), epsilon))
        return first, second

    return pairs


def _wrap(side: Array) -> Array:
    ordered = np.sort(side, axis=1)
    doubt = ordered[:, :-1].sum(axis=1)
    boundary = np.minimum(1 / 3, doubt / (1 + doubt))[:, None]
    return np.concatenate([side * (1 - boundary), boundary], axis=1)


def _twice(epsilon: float, count: int, rng: np.random.Generator) -> Pairs:
    """Draw two runs: the outcomes that agree, and disagreement as one last outcome."""
    pairs = _with_rarity(random_pairs(epsilon, count, 3, rng), epsilon)
    first, second = (
        np.concatenate([side**2, np.sum(side * (1 - side), axis=1, keepdims=True)], axis=1) for side in pairs
    )
    return first, second


def _between(gap: float, epsilon: float, count: int, rng: np.random.Generator) -> Pairs:
    """Draw values around the thresholds 0 and `gap`, half of the pairs at the full distance 1."""
    low = rng.uniform(-3, gap + 2, count)
    low[0] = -1.0
    step = np.where(rng.random(count) < 0.5, 1.0, rng.random(count))
    step[0] = 1.0
    first, second = (_between_probabilities(value, gap, epsilon) for value in (low, low + step))
    return first, second


def _between_probabilities(value: Array, gap: float, epsilon: float) -> Array:
    from scipy.stats import laplace  # takes half a second to import

    below, above = laplace.cdf(-value * epsilon), laplace.sf((gap - value) * epsilon)
    outside = 0.5 * np.exp(-epsilon * np.maximum(-value, value - gap)) * -np.expm1(-gap * epsilon)
    between = np.where((value < 0) | (value > gap), outside, 1 - below - above)
    return np.stack([below, above, between], axis=1)


# --- the families -------------------------------------------------------------------------------------------


def _identity(epsilon: float) -> float:
    return epsilon


def _twofold(epsilon: float) -> float:
    return 2 * epsilon


def _four_thirds(epsilon: float) -> float:
    return 4 * epsilon / 3


def _at(quality: Callable[..., Array], charged: Callable[[float], float]) -> Callable[[float], Array]:
    return lambda epsilon: quality(epsilon, charged(epsilon))


def _test_epsilon(epsilon: float) -> float:
    return float(wrapped_test_epsilon(epsilon))


def _classifier_epsilon(epsilon: float) -> float:
    return float(wrapped_classifier_epsilon(epsilon))


FAMILIES = (
    Family("NotPrior", not_prior_quality, not_prior_quality, _identity, _any_pairs, tuple(range(-OUTCOMES + 1, 0))),
    Family("private test, either outcome", not_prior_quality, not_prior_quality, _identity, _tests),
    Family("conditional release", not_prior_quality, not_prior_quality, _identity, _tests),
    Family("revision of a conditional release", revision_quality, revision_quality, _twofold, _revised),
    *(
        Family(
            f"between thresholds, gap {gap:g}",
            partial(between_thresholds_quality, gap=gap),
            partial(between_thresholds_quality, gap=gap),
            _identity,
            partial(_between, gap),
        )
        for gap in GAPS
    ),
    *(
        Family(name, _at(printed_boundary_quality, charged), _at(boundary_quality, charged), charged, _wrapped(draw))
        for name, charged, draw in (
            ("boundary of a test, at its own t", _test_epsilon, _tests),
            ("boundary of a classifier, at its own t", _classifier_epsilon, _any_pairs),
            ("boundary of a classifier, at t = 4/3 epsilon", _four_thirds, _any_pairs),
        )
    ),
    Family("two runs that differ", printed_double_run_quality, double_run_quality, _twofold, _twice),
)
