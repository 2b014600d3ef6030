"""The partition of unity of a trace: the probabilities of its leaves sum to 1 up to the undecided mass."""

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpassay.properties.tracing.watchdog import OutOfTime, time_limit
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.distribution import partition_of_unity
from dpassay.spec.leaves.model import LeafModel
from dpassay.spec.leaves.siblings import joined_siblings
from dpassay.spec.verdict import Evidence, Scope, Undecided, Verdict

__all__ = ["Domain", "checked_unity", "point_of"]

_SHARE = 1 / 4
"""Part of the time that is left which the check may take."""

_SPREAD = 4
"""The width of the data that are tried about 0."""


Domain = tuple[float, float]
"""The least and the largest value of a coordinate of the data; infinite where there is no bound."""


def checked_unity(model: LeafModel, domain: Domain, seed: int, deadline: float) -> Verdict:
    """Decide whether the leaves of a model sum to 1, symbolic data at a random point.

    On numbers, where the probabilities of the leaves are figures that others read, all of them are added up. On
    symbolic data, siblings in the tree of decisions are joined first, which leaves the sum as it is for all data; a
    whole tree needs no probability.

    Parameters
    ----------
    model : LeafModel
        The leaves.
    domain : (float, float)
        Range of symbolic data.
    seed : int
        Seed of the point.
    deadline : float
        Time, as `time.monotonic` gives it, at which the trace ends.

    Returns
    -------
    Verdict
        Undecided, with the reason, if a probability has no rule or takes too long. The scope is that of all data in
        the domain if no constraint is left after siblings were joined; otherwise it is the point.
    """
    try:
        with time_limit(max(0.0, _SHARE * (deadline - time.monotonic()))):
            if not model.size:
                return partition_of_unity(model)
            point = point_of(random.Random(seed), domain, model.size)  # noqa: S311
            joined = joined_siblings(model)
            found = partition_of_unity(at_data(joined, point))
            is_constant = not any(leaf.constraints for leaf in joined.leaves)
            return replace(found, scope=Scope.ALL) if is_constant else found
    except OutOfTime:
        return Undecided(evidence=Evidence.ENCLOSED, detail="the probabilities of the leaves take too long")


def point_of(rng: random.Random, domain: Domain, size: int) -> Sequence[Fraction]:
    """Return data in the domain, in steps of 1/64 at most."""
    low, high = (Fraction(max(-_SPREAD, min(_SPREAD, end))) for end in domain)
    if low == high:  # a domain far away from 0
        low, high = (Fraction(end) for end in _near(domain))
    return [low + (high - low) * Fraction(rng.randint(0, 64), 64) for _ in range(size)]


def _near(domain: Domain) -> Domain:
    low, high = domain
    return (low, min(high, low + _SPREAD)) if low > 0 else (max(low, high - _SPREAD), high)
