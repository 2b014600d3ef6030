"""The set union of SmartNoise SQL: a user alone, items at their cap, and the weights of items before noise."""

from __future__ import annotations

import functools
import math
from contextlib import contextmanager

import pandas as pd
from snsql.sql import dpsu
from snsql.sql.dpsu import policy_laplace

from dpassay.adapter import Family, Mechanism, Relations, protects, spends
from dpassay.impl.libraries.references import near

__all__ = ["unions"]


@contextmanager
def _noise_by(laplace):
    """Replace the noise of the set union."""
    kept, dpsu.laplace = dpsu.laplace, laplace
    try:
        yield
    finally:
        dpsu.laplace = kept


@contextmanager
def _without_noise(outputs=0.0):
    """Replace the noise of the set union by a constant, and yield the list of its scales."""
    scales = []

    def laplace(location, scale, size):
        scales.append(scale)
        return [location + outputs] * size

    with _noise_by(laplace):
        yield scales


def _union(users, epsilon, delta, contributions):
    frame = pd.DataFrame([(user, (item,)) for user, items in enumerate(users) for item in items])
    frame.columns = ["user", "group_cols"]
    return policy_laplace(frame, epsilon, delta, contributions)


def _least(is_released, low, high):
    """Return the least noise between two numbers with which an item is released, by bisection."""
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if is_released(middle) else (middle, high)
    return high


def _above(least, scale):
    """Return how likely Laplace noise is above a number."""
    return 0.5 * math.exp(-least / scale) if least > 0 else 1 - 0.5 * math.exp(least / scale)


_FULL = ["ca", "c", "bc", "a", "ab", "bac", "c", "bca"]
"""The items of users who give two items all the weight that they may have."""


def _full_union():
    """Return whether an item is released, with or without the fifth user: two other items are at their cap."""
    epsilon, delta, contributions, item = 8.0, 0.001, 3, "b"

    def users(data):
        return [items for place, items in enumerate(_FULL) if place != 4 or data[0]]

    def released(data):
        return (item,) in set(_union(users(data), epsilon, delta, contributions)["group_cols"])

    def is_released(noise, data):
        with _without_noise(noise):
            return released(data)

    def distribution(data):
        least = _least(lambda noise: is_released(noise, data), -10.0, 10.0)
        above = _above(least, 1 / epsilon)
        return {"family": "finite", "symbols": [True, False], "probabilities": [above, 1 - above]}

    return Mechanism(
        "policy_laplace(epsilon=8, delta=0.001, max_contrib=3), items at their cap",
        "vector:size=1,linf=1,integer,low=0,high=1",
        f"approx:{epsilon!r},{delta!r}",
        sample_one=released,
        distribution=distribution,
        floats=False,
        slow=True,
        calls=4000,
        relative_error=1e-9,
    )


def _released_alone(epsilon, delta, contributions, items):
    """Return how likely a user alone is seen, from the threshold and the scale that the library uses."""

    def is_released(noise):
        with _without_noise(noise):
            return len(_union([range(items)], epsilon, delta, contributions)) > 0

    @functools.lru_cache(maxsize=None)
    def kept():
        low, high = -1e3, 1e3
        if is_released(low) or not is_released(high):
            return float(is_released(low))
        least = _least(is_released, low, high)
        with _without_noise() as scales:
            _union([range(items)], epsilon, delta, contributions)
        scale, counted = scales[0], len(scales)  # each item that counts has noise of its own
        above = _above(least, scale)
        return -math.expm1(counted * math.log1p(-above)) if above < 1 else 1.0

    def distribution(data):
        probability = kept() if data[0] else 0.0
        return {"family": "finite", "symbols": [True, False], "probabilities": [probability, 1 - probability]}

    return Mechanism(
        "",
        "vector:size=1,linf=1,integer,low=0,high=1",
        f"approx:{epsilon!r},{delta!r}",
        sample_one=lambda data: bool(data[0]) and len(_union([range(items)], epsilon, delta, contributions)) > 0,
        distribution=distribution,
        floats=False,
        slow=True,
        calls=4000,
        relative_error=1e-9,
    )


# --- weights -----------------------------------------------------------------------------------------------------


def _weights(users, epsilon, delta, contributions):
    """Return the weights of all items before noise, the largest first."""
    seen = []

    class Noise(float):
        """A noise of 0 that notes the weight that it is added to."""

        def __radd__(self, weight):
            seen.append(float(weight))
            return weight

    with _noise_by(lambda _location, _scale, size: [Noise()] * size):
        _union(users, epsilon, delta, contributions)
    return sorted(seen, reverse=True)


def _descent(gaps):
    """Return what a user adds to items with these gaps to the cap, the smallest first, by the rule of the paper.

    All weights grow alike (Gopi et al. 2020, l1-descent). An item that reaches its cap stops, and a budget of 1 ends.
    """
    level, budget = 0.0, 1.0
    for place, gap in enumerate(gaps):
        growing = len(gaps) - place
        step = min(gap - level, budget / growing)
        level, budget = level + step, budget - step * growing
        if level < gap:
            break
    return [min(level, gap) for gap in gaps]


def _known_descent(gaps, capped):
    """Return what the library adds, a known finding with a page: while an item is capped, no other item grows.

    All are charged for it nevertheless, and as many items as are capped get nothing of what is left.
    """
    growing = len(gaps) - capped
    left = 1.0 - math.fsum(gap * (len(gaps) - place) for place, gap in enumerate(gaps[:capped]))
    return [*gaps[:capped], *([left / growing] * (growing - capped)), *([0.0] * capped)]


def _approach(random, cap, ranges, contributions):
    """Return users who bring the items 0, 1, ... near the cap, and the gaps that they leave, within these ranges.

    A user shares the weight of 1 among one of them and items that no other user has. A range is at least as wide as
    the smallest share.
    """
    users, gaps = [], []
    for item, (low, high) in enumerate(ranges):
        gap = cap
        while gap > high:
            share = random.choice([many for many in range(1, contributions + 1) if gap - 1 / many > low])
            users.append([item, *(f"{len(users)}, {other}" for other in range(1, share))])
            gap -= 1 / share
        gaps.append(gap)
    return users, gaps


def _weights_at_the_cap(random):
    """Check what a user adds to items of which one or two reach their cap, by the rule or with the known finding."""
    epsilon, delta = random.uniform(1.0, 3.0), 10 ** random.uniform(-4, -2)
    contributions = random.randint(10, 13)
    # the cap is less than 15 at these parameters
    cap, same = (_weights([["one"]] * many, epsilon, delta, contributions)[0] for many in (20, 22))
    words = f"epsilon {epsilon!r}, delta {delta!r}, at most {contributions} items"
    yield f"{words}, cap", *near(same, cap)
    least = 1 / contributions
    for items, capped in ((3, 1), (4, 1), (5, 2)):
        # gaps of a tenth leave a tenth of the budget or more, which does not suffice for another of more than 1/2
        ranges = [(0.0, least)] * capped + [(0.6, 0.6 + least)] * (items - capped)
        users, gaps = _approach(random, cap, ranges, contributions)
        gaps.sort()
        found = _weights([*users, random.sample(range(items), items)], epsilon, delta, contributions)
        gains = [weight - (cap - gap) for weight, gap in zip(found, gaps)]
        yield spends((f"{words}, gaps {gaps!r}, weight of a user", 0.0, math.fsum(gains), 1 + 1e-9))
        expected = min((_descent(gaps), _known_descent(gaps, capped)), key=lambda other: math.dist(gains, other))
        for place, (gain, other) in enumerate(zip(gains, expected)):
            yield f"{words}, gaps {gaps!r}, item {place}", *near(gain, other, absolute=1e-9)


def _weights_far_from_the_cap(random):
    """Check that a user gives the items that count equal parts of a weight of 1, however many there are."""
    epsilon, delta = random.uniform(0.3, 3.0), 10 ** random.uniform(-6, -2)
    contributions = random.randint(3, 6)
    for items in (contributions - 1, contributions + 2):
        found = _weights([range(items)], epsilon, delta, contributions)
        counted = min(items, contributions)
        words = f"epsilon {epsilon!r}, delta {delta!r}, {items} items, at most {contributions}"
        yield f"{words}, number of weights", counted, len(found), counted
        yield spends((f"{words}, weight of a user", 0.0, math.fsum(found), 1 + 1e-9))
        for weight in found:
            yield words, *near(weight, 1 / counted)


def _draws(random):
    """Check that each item has noise of its own, and that one draw decides on one item."""
    items, users = random.randint(4, 7), random.randint(3, 6)
    owned = [random.sample(range(items), random.randint(1, 4)) for _ in range(users)]
    held = {item for own in owned for item in own}

    def released(chosen):
        """Return the items that are released where one draw is large, and the number of draws."""
        drawn = []

        def laplace(location, _scale, size):
            drawn.extend([location - 1e9] * size)
            if len(drawn) - size <= chosen < len(drawn):
                drawn[chosen] = location + 1e9
            return drawn[-size:]

        with _noise_by(laplace):
            found = _union(owned, 1.0, 0.01, 4)
        return {row[0] for row in set(found["group_cols"])}, len(drawn)

    everything = []
    for draw in range(len(held)):
        found, number = released(draw)
        words = f"items {owned!r}, draw {draw} is large"
        yield protects((f"{words}, draws", float(len(held)), float(number), float(len(held))))
        yield spends((f"{words}, released {sorted(found)}", 1.0, float(len(found)), 1.0))
        everything += found
    yield f"items {owned!r}, released by some draw", 1.0, float(sorted(everything) == sorted(held)), 1.0


def unions():
    """Yield the cases of the set union."""
    yield _full_union()
    yield Family(
        "policy_laplace, a user alone, family",
        _released_alone,
        # at a smaller delta hardly any of the few calls that a slow mechanism has would show the user
        {"epsilon": (0.3, 2.0), "delta": (0.02, 0.2), "contributions": (2, 4), "items": (2, 5)},
    )
    yield Relations(
        "policy_laplace, weights",
        {
            "a user spends what is left of a weight of 1": _weights_at_the_cap,
            "a user gives equal parts of a weight of 1": _weights_far_from_the_cap,
        },
    )
    yield Relations("policy_laplace, noise", {"each item has noise of its own": _draws})
