"""Facts of dp-accounting at the ends of the ranges: events without noise, a delta of 0, noise without end."""

from __future__ import annotations

import itertools
import math

import dp_accounting as dp
from dp_accounting import pld, rdp

from dpassay.adapter import Relations

__all__ = ["end_relations"]

_ADD_REMOVE, _REPLACE = dp.NeighboringRelation.ADD_OR_REMOVE_ONE, dp.NeighboringRelation.REPLACE_ONE
_SPECIAL = dp.NeighboringRelation.REPLACE_SPECIAL
_INTERVAL = 1e-2
"""Between the losses of a distribution on a grid."""


def _losses(relation):
    return pld.PLDAccountant(relation, _INTERVAL)


def _divergences(relation):
    return rdp.RdpAccountant([1.5, 3.0, 8.0], relation)


def _events_without_noise():
    """Yield events without noise, how records are neighbours, and accountants of these events.

    Left out: a discrete Laplace parameter of 0, which is infinite noise, and Laplace noise or a sample of a fixed size
    in `RdpAccountant`, which raises ZeroDivisionError.
    """
    every, one_way = (_ADD_REMOVE, _REPLACE, _SPECIAL), (_ADD_REMOVE, _SPECIAL)
    gaussian, laplace = dp.GaussianDpEvent(0.0), dp.LaplaceDpEvent(0.0)
    yield gaussian, every, (_losses, _divergences)
    yield laplace, one_way, (_losses,)
    yield dp.PoissonSampledDpEvent(0.3, gaussian), every, (_losses,)
    yield dp.PoissonSampledDpEvent(0.3, gaussian), one_way, (_divergences,)
    yield dp.PoissonSampledDpEvent(0.3, laplace), one_way, (_losses,)
    yield dp.dp_event.MixtureOfGaussiansDpEvent(0.0, [0.0, 1.5], [0.4, 0.6]), one_way, (_losses,)
    yield dp.dp_event.TruncatedSubsampledGaussianDpEvent(30, 0.3, 8, 0.0), every, (_losses,)
    yield dp.RandomizedResponseDpEvent(0.0, 3), (_REPLACE, _SPECIAL), (_losses, _divergences)
    yield dp.SingleEpochTreeAggregationDpEvent(0.0, 5), (_SPECIAL,), (_divergences,)
    yield dp.dp_event.RepeatAndSelectDpEvent(gaussian, 3.0, 1.0), one_way, (_divergences,)


def _without_noise(random):
    """Check that events without noise are not private, after private ones too."""
    for event, relations, accountants in _events_without_noise():
        for relation, make in itertools.product(relations, accountants):
            accountant = make(relation)
            accountant.compose(dp.GaussianDpEvent(random.uniform(1, 3))).compose(event, random.randint(1, 3))
            words = f"{type(accountant).__name__}, {relation}, {event!r}"
            yield f"{words}, epsilon", math.inf, accountant.get_epsilon(1e-3), math.inf
            yield f"{words}, delta", 1.0, accountant.get_delta(1.0), 1.0


_WITHOUT_PRIVACY = {
    "without a delta no Gaussian noise is enough": lambda: dp.get_sigma_gaussian(1.5, 0.0) == math.inf,
    "without a delta Gaussian noise has no epsilon": lambda: dp.get_epsilon_gaussian(2.5, 0.0) == math.inf,
    "without noise there is no epsilon": lambda: dp.get_epsilon_gaussian(0.0, 0.3) == math.inf,
}
"""Facts about a delta of 0 and about no noise: another number is too small."""

_AT_THE_ENDS = {
    "infinite noise has an epsilon of 0": lambda: dp.get_epsilon_gaussian(math.inf, 0.3) == 0,
    "a delta of 1 needs no noise": lambda: dp.get_sigma_gaussian(1.5, 1.0) == 0 == dp.get_epsilon_gaussian(2.5, 1.0),
    "an infinite epsilon needs no noise": lambda: dp.get_sigma_gaussian(math.inf, 0.3) == 0,
    "without a delta a divergence has no epsilon": lambda: (
        rdp.compute_epsilon([2.0, 5.0], [0.0, 0.7], 0.0)[0] == math.inf
    ),
    "a divergence of 0 has an epsilon of 0": lambda: rdp.compute_epsilon([2.0, 5.0], [0.0, 0.0], 0.0)[0] == 0,
}
"""Facts about the smallest and the greatest delta, epsilon and noise."""


def end_relations():
    """Yield the events without noise, and the facts."""
    attained = {"what has no noise is not private": _without_noise}
    facts = _WITHOUT_PRIVACY | _AT_THE_ENDS
    yield Relations("ends of ranges", attained, facts, understated=attained | _WITHOUT_PRIVACY)
