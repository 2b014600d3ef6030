"""Partition selection: the probability of keeping a partition, its own closed forms, and sampled decisions.

A delta that one user spends in m partitions is split: each partition that holds this user alone is kept with the
probability 1 - (1 - delta)^(1/m), and epsilon is divided by m (for Gaussian noise, the distance is sqrt(m)).
"""

from __future__ import annotations

import math
from statistics import NormalDist

from pydp.algorithms import partition_selection
from python_dp_calibration import sigma_ends

from dpassay.adapter import Mechanism, Relations, protects, spends
from dpassay.impl.libraries.references import near, normal_cdf

__all__ = ["partition_cases"]

_KINDS = ("truncated_geometric", "laplace", "gaussian")


def _made(kind, epsilon, delta, partitions, threshold=None):
    return partition_selection.create_partition_strategy(kind, epsilon, delta, partitions, threshold)


# --- closed forms ------------------------------------------------------------------------------------------------


def _share(delta, partitions):
    """Return the probability of keeping each of some partitions that keeps any of them with probability delta."""
    return -math.expm1(math.log1p(-delta) / partitions)


def _optimal(users, epsilon, delta, partitions):
    """Return the largest probability that (epsilon, delta) allows (Desfontaines and others 2022, Theorem 1)."""
    step, first, keep = epsilon / partitions, _share(delta, partitions), 0.0
    for _ in range(users):
        keep = min(math.exp(step) * keep + first, 1 - math.exp(-step) * (1 - keep - first), 1.0)
    return keep


def _laplace_tail(x):
    return 0.5 * math.exp(-x) if x > 0 else 1 - 0.5 * math.exp(x)


def _laplace_quantile(tail):
    """Return where Laplace noise of scale 1 has this upper tail."""
    return -math.log(2 * tail) if tail < 0.5 else math.log(2 * (1 - tail))


def _bounds(kind, users, epsilon, delta, partitions):
    """Return the smallest and the largest probability of keeping a partition of these users."""
    if kind == "truncated_geometric":
        keep = _optimal(users, epsilon, delta, partitions)
        return keep, keep
    if kind == "laplace":
        keep = _laplace_tail(_laplace_quantile(_share(delta, partitions)) - (users - 1) * epsilon / partitions)
        return keep, keep
    quantile = _gaussian_quantile(delta, partitions)
    ends = [normal_cdf((users - 1) / sigma - quantile) for sigma in _sigma_ends(epsilon, delta, partitions)]
    return min(ends), max(ends)


def _sigma_ends(epsilon, delta, partitions):
    """Return the ends of the standard deviation; half of delta pays for the noise."""
    return sigma_ends(epsilon, delta / 2, math.sqrt(partitions))


def _gaussian_quantile(delta, partitions):
    """Return where standard normal noise keeps a user alone; the other half of delta pays for that."""
    return -NormalDist().inv_cdf(_share(delta / 2, partitions))


def _drawn(random):
    """Return an epsilon and a delta."""
    return random.uniform(0.3, 4), 10 ** random.uniform(-4, -0.3)


def _different(random):
    """Return a number of partitions and a threshold, in both orders."""
    one, other = random.sample(range(2, 8), 2)
    return (one, other), (other, one)


def _keeps(kind):
    """Return the relation that a partition is kept with the probability of the closed form."""

    def relation(random):
        for partitions in (1, random.randint(2, 7)):
            epsilon, delta = _drawn(random)
            strategy = _made(kind, epsilon, delta, partitions)
            words = f"epsilon={epsilon!r}, delta={delta!r}, {partitions} partitions"
            yield spends((f"{words}: no user", 0.0, strategy.probability_of_keep(0), 0.0))
            for users in (1, 2, *random.sample(range(3, 40), 6)):
                low, high = _bounds(kind, users, epsilon, delta, partitions)
                keep = strategy.probability_of_keep(users)
                found = (f"{words}, {users} users", near(keep, low)[0], keep, near(keep, high)[2])
                # no mechanism may keep one user more often, and none at all more often than the geometric one
                yield spends(found) if users == 1 or kind == "truncated_geometric" else found
            for name, stated in (("epsilon", epsilon), ("delta", delta), ("max_partitions_contributed", partitions)):
                yield (f"{words}: {name}", *near(getattr(strategy, name), stated, 0.0, 0.0))
            if kind == "laplace":
                exact = 1 + _laplace_quantile(_share(delta, partitions)) * partitions / epsilon
                yield protects((f"{words}: threshold", *near(strategy.threshold, exact)))
            if kind == "gaussian":
                quantile = _gaussian_quantile(delta, partitions)
                ends = sorted(1 + sigma * quantile for sigma in _sigma_ends(epsilon, delta, partitions))
                found = strategy.threshold
                yield protects((f"{words}: threshold", near(found, ends[0])[0], found, near(found, ends[1])[2]))

    return relation


def _keeps_above_a_threshold(kind):
    """Return the relation that below a threshold t nothing is kept, and n users count from there on as n - t + 1."""

    def relation(random):
        epsilon, delta = _drawn(random)
        for partitions, threshold in _different(random):
            strategy = _made(kind, epsilon, delta, partitions, threshold)
            words = f"epsilon={epsilon!r}, delta={delta!r}, {partitions} partitions, threshold {threshold}"
            for users in range(threshold):
                yield f"{words}, {users} users", 0.0, strategy.probability_of_keep(users), 0.0
                kept = any(strategy.should_keep(users) for _ in range(20))
                yield f"{words}, {users} users: decisions", 0.0, float(kept), 0.0
            plain = _made(kind, epsilon, delta, partitions)
            for users in range(threshold, threshold + 25):
                counted = users - threshold + 1
                keep = strategy.probability_of_keep(users)
                yield (f"{words}, {users} users", *near(keep, plain.probability_of_keep(counted)))
                low, high = _bounds(kind, counted, epsilon, delta, partitions)
                yield f"{words}, {users} users, own", near(keep, low)[0], keep, near(keep, high)[2]
            stated = {"epsilon": epsilon, "delta": delta, "max_partitions_contributed": partitions}
            for name, value in {**stated, "pre_threshold": threshold}.items():
                yield (f"{words}: {name}", *near(getattr(strategy, name), value, 0.0, 0.0))

    return relation


# --- sampled decisions -------------------------------------------------------------------------------------------


def _decided_at_once(name, strategy, delta, high):
    """Return the case of a user in three partitions, where decisions on all of them are released."""
    return Mechanism(
        f"should_keep, {name}, 3 partitions",
        f"vector:size=3,linf=1,integer,monotone,low=0,high={high}",
        f"approx:1.0,{delta}",
        sample_many=lambda data, size: [[strategy.should_keep(int(users)) for users in data] for _ in range(size)],
    )


def _sampled():
    one = "vector:size=1,linf=1,integer,low=0,high=25"
    for kind in _KINDS:
        for epsilon, delta, threshold in ((1.0, 0.1, None), (1.0, 0.01, 3)):
            strategy = _made(kind, epsilon, delta, 1, threshold)

            def distribution(data, s=strategy):
                keep = s.probability_of_keep(int(data[0]))
                return {"family": "finite", "symbols": [True, False], "probabilities": [keep, 1 - keep]}

            words = "" if threshold is None else f", pre_threshold={threshold}"
            yield Mechanism(
                f"should_keep, {kind}(epsilon={epsilon}, delta={delta}{words})",
                one,
                f"approx:{strategy.epsilon!r},{strategy.delta!r}",
                sample_many=lambda data, size, s=strategy: [s.should_keep(int(data[0])) for _ in range(size)],
                distribution=distribution,
                relative_error=1e-9,  # nothing is promised of the last digits of float64
            )
        yield _decided_at_once(f"{kind}(epsilon=1, delta=0.05)", _made(kind, 1.0, 0.05, 3), 0.05, 25)
        above = _made(kind, 1.0, 0.05, 3, 2)
        yield _decided_at_once(f"{kind}(epsilon=1, delta=0.05, pre_threshold=2)", above, 0.05, 25)
        if kind == "truncated_geometric":
            continue
        alone = _made(kind, 1.0, 0.05, 1)
        yield Mechanism(
            f"noised_value_if_should_keep, {kind}(epsilon=1, delta=0.05)",
            one,
            f"approx:{alone.epsilon!r},{alone.delta!r}",
            sample_many=lambda data, size, s=alone: [s.noised_value_if_should_keep(int(data[0])) for _ in range(size)],
        )


def partition_cases():
    """Yield the mechanisms, and the relations of their probabilities."""
    yield from _sampled()
    probabilities = {f"{kind}: that of the closed form": _keeps(kind) for kind in _KINDS}
    yield Relations(
        "partition selection, probabilities",
        {
            **probabilities,
            **{f"{kind}: that of users from a threshold on": _keeps_above_a_threshold(kind) for kind in _KINDS},
        },
    )
