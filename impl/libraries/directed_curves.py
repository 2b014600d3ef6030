"""Curves that differ by direction, for adapters of libraries that read error rates from losses of dp-accounting.

It runs inside workers, and imports no library: the adapter hands over the module of privacy loss distributions.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from dpassay.impl.libraries.references import (
    deltas_with_response,
    least_error_rate,
    no_deltas,
    sampled_gaussian_deltas,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from dpassay.impl.libraries.references import Deltas

__all__ = ["EXACT_STEP", "DirectedCurve", "crossing_rates", "directed_curves"]

EXACT_STEP = 2.0**-10
"""A step of which multiples are exact, so that a loss is on the grid."""


class DirectedCurve:
    """Losses of a mechanism, with its deltas and the error rates that they allow in each direction.

    Parameters
    ----------
    words : str
        The mechanism.
    losses, exchanged : dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        Its losses on a grid with steps of `EXACT_STEP`, and those with both directions exchanged.
    deltas : callable
        From an epsilon to its deltas, a record removed and one added.
    epsilon, delta : float
        Of the response that is among the mechanisms of a draw, and of the leak.
    """

    def __init__(self, words: str, losses: Any, exchanged: Any, deltas: Deltas, *, epsilon: float, delta: float):
        self.words, self.losses, self.exchanged, self.deltas = words, losses, exchanged, deltas
        self._corner, self._kept = (1 - delta) / (1 + math.exp(epsilon)), 1 - delta
        near_zero = [k * EXACT_STEP for k in range(-1024, 1025)]  # where the losses of a small sample are
        levels = [-epsilon, epsilon, *near_zero, *(k / 64 for k in range(-576, 577)), 30.0]
        self._pairs = [(level, deltas(level)) for level in levels]

    def rates(self, random: Random) -> Iterator[float]:
        """Yield false positive rates: on both sides of the corner of the response, and anywhere."""
        yield self._corner * random.uniform(0.1, 0.9)
        yield random.uniform(self._corner, self._kept)
        yield random.random()

    def error_rates(self, rate: float) -> tuple[float, float, float]:
        """Return the least false negative rates at a false positive rate: removed, added, and the larger deltas."""
        removed, added = (
            least_error_rate(((level, pair[way]) for level, pair in self._pairs), rate) for way in (0, 1)
        )
        return removed, added, least_error_rate(((level, max(pair)) for level, pair in self._pairs), rate)


def _response(pld: Any, epsilon: float, delta: float) -> Any:
    """Return the losses of a randomised response that may leak, on the grid."""
    return pld.from_privacy_parameters(pld.common.DifferentialPrivacyParameters(epsilon, delta), EXACT_STEP)


def _sampled(pld: Any, sigma: float, share: float) -> Any:
    """Return the losses of a Gaussian mechanism on a Poisson sample, on the grid."""
    return pld.from_gaussian_mechanism(sigma, sampling_prob=share, value_discretization_interval=EXACT_STEP)


def directed_curves(random: Random, pld: Any) -> Iterator[DirectedCurve]:
    """Yield a randomised response, a Gaussian mechanism on a sample, and that one with a leak.

    Parameters
    ----------
    random : random.Random
        Source of the parameters.
    pld : module
        ``dp_accounting.pld.privacy_loss_distribution``.
    """
    sigma, share = random.uniform(0.8, 2), random.uniform(0.05, 0.6)
    epsilon, delta = random.randint(300, 2500) * EXACT_STEP, random.uniform(0.05, 0.2)
    response, leak, sampled = _response(pld, epsilon, delta), _response(pld, 0.0, delta), _sampled(pld, sigma, share)
    of_sample = partial(sampled_gaussian_deltas, sigma, share)
    for words, losses, deltas in (
        (f"a response of {epsilon!r}, {delta!r}", response, deltas_with_response(no_deltas, epsilon, delta)),
        (f"noise {sigma!r}, sample {share!r}", sampled, of_sample),
        (f"the same with a leak of {delta!r}", leak.compose(sampled), deltas_with_response(of_sample, 0.0, delta)),
    ):
        exchanged = pld.PrivacyLossDistribution(losses._pmf_add, losses._pmf_remove)  # noqa: SLF001  # no public way
        yield DirectedCurve(words, losses, exchanged, deltas, epsilon=epsilon, delta=delta)


def crossing_rates(random: Random, pld: Any) -> Iterator[tuple[str, Any, float, float]]:
    """Yield false positive rates of a sample with noise beside a response, where the curves of both directions cross.

    Parameters
    ----------
    random : random.Random
        Source of the parameters.
    pld : module
        ``dp_accounting.pld.privacy_loss_distribution``.

    Yields
    ------
    words : str
        The mechanism and the rate.
    losses : dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        Its losses on a grid with steps of `EXACT_STEP`.
    rate, least : float
        The false positive rate, and the false negative rate that the larger deltas of both directions allow.
    """
    sigma, share, epsilon = random.uniform(0.8, 1.2), random.uniform(0.1, 0.3), random.randint(700, 1500) * EXACT_STEP
    losses = _response(pld, epsilon, 0.0).compose(_sampled(pld, sigma, share))
    deltas = deltas_with_response(partial(sampled_gaussian_deltas, sigma, share), epsilon, 0.0)
    words = f"noise {sigma!r}, sample {share!r}, beside a response of {epsilon!r}"
    curve = DirectedCurve(words, losses, losses, deltas, epsilon=epsilon, delta=0.0)
    for rate in (0.003, 0.01, random.uniform(0.02, 0.1), random.uniform(0.3, 0.9)):
        yield f"true positive rate at {rate!r}, {words}", losses, rate, curve.error_rates(rate)[2]
