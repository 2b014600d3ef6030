"""Exact relations of losses of a few outcomes: products of probabilities, written out, and a few closed forms.

Both directions between neighbours are written out, so that neither may stand in for the other, and their compositions.
"""

from __future__ import annotations

import functools
import math

from dp_accounting import pld
from dp_accounting.pld import common

from dpassay.adapter import Relations

__all__ = ["outcome_relations"]

_INTERVAL = 0.1
_ROUNDING = 1e-11
"""Absolute, in delta: sums of a few probabilities, and fast Fourier transforms of them."""

_EPSILON_ROUNDING = 1e-9
"""Absolute: rounding in delta, over the probability of the outcome with the largest loss."""

_LEVELS = (0.0, 0.37, 1.13)
_DELTAS = (1e-6, 0.02, 0.2)
_LARGEST = 40.0
"""More than three of the largest finite losses together."""

_LOST = 0.05
"""The mass that a composition may truncate: several of its outcomes, and an amount that no rounding has."""

_ALL = -20.0
"""A level at which delta is 1 but for 2e-9: the losses and the mass at infinity add up to 1."""

_distributions = pld.privacy_loss_distribution


class _Outcomes:
    """The probabilities of each outcome on both inputs: as pairs for one direction, and as pairs for the other."""

    def __init__(self, remove, add):
        self.directions = (remove, add)

    def delta(self, epsilon):
        growth = math.exp(epsilon)
        return max(math.fsum(max(p - growth * q, 0.0) for p, q in pairs) for pairs in self.directions)

    def epsilon(self, delta):
        """Return the least nonnegative epsilon with this delta."""
        if self.delta(_LARGEST) > delta:
            return math.inf
        if self.delta(0.0) <= delta:
            return 0.0
        low, high = 0.0, _LARGEST
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high

    def and_then(self, other):
        return _Outcomes(
            *(
                [(p * r, q * s) for p, q in first for r, s in second]
                for first, second in zip(self.directions, other.directions)
            )
        )


def _of(upper, lower):
    return _Outcomes(list(zip(upper, lower)), list(zip(lower, upper)))


def _around(near, far, rounded, lost=0.0, *, pessimistic):
    """Yield bounds of delta and of epsilon.

    On one side are those of the outcomes `near`; on the other those of `far`, of which each of `rounded` losses has
    moved by an interval, and a mass of at most `lost` to infinity, or out of sight.
    """
    moved, aside = (rounded * _INTERVAL, lost) if pessimistic else (-rounded * _INTERVAL, -lost)
    for level in _LEVELS:
        low, high = sorted([near.delta(level), far.delta(level - moved) + aside])
        yield "delta", level, low - _ROUNDING, high + _ROUNDING
    for delta in _DELTAS:
        low, high = sorted([near.epsilon(delta), max(far.epsilon(delta - aside) + moved, 0.0)])
        yield "epsilon", delta, low - _EPSILON_ROUNDING, high + _EPSILON_ROUNDING


def _compare(words, found, near, far, rounded, lost=0.0, *, pessimistic=True):
    """Compare delta and epsilon of losses with those of outcomes."""
    ask = {"delta": found.get_delta_for_epsilon, "epsilon": found.get_epsilon_for_delta}
    for asked, given, low, high in _around(near, far, rounded, lost, pessimistic=pessimistic):
        yield f"{words}, {asked} at {given!r}", low, float(ask[asked](given)), high


def _compare_composed(words, one, two, near, far, rounded, *, pessimistic=True):
    """Compare the composition of two losses, in both orders, truncated or not, and at once."""
    for order, first, second in (("", one, two), (", in the other order", two, one)):
        composed = f"{words}, composed{order}"
        yield from _compare(composed, first.compose(second), near, far, rounded, pessimistic=pessimistic)
        found = first.compose(second, _LOST)
        yield from _compare(f"{composed}, truncated", found, near, far, rounded, _LOST, pessimistic=pessimistic)
        for asked, level, low, high in _around(near, far, rounded, pessimistic=pessimistic):
            if asked == "delta":
                at_once = float(first.get_delta_for_epsilon_for_composed_pld(second, level))
                yield f"{words}, at once{order}, delta at {level!r}", low, at_once, high


def _truncated(outcomes, bound, *, pessimistic):
    """Return the outcomes: one with a probability of at most `bound` reveals the input, or is left out."""
    return _Outcomes(
        *(
            [(p, q) if p > bound else (p, 0.0) if pessimistic else (0.0, q) for p, q in pairs]
            for pairs in outcomes.directions
        )
    )


def _two_functions(random):
    """Two distributions on a few outcomes, of which either may exclude one, and either may truncate one."""
    chances = []
    for _ in range(2):
        weights = [random.random() + 0.05 for _ in range(4)]
        chances.append([weight / sum(weights) for weight in weights])
    missing = random.choice([None, 0, 1])
    if missing is not None:
        left = 1 - chances[missing][3]
        chances[missing] = [*(weight / left for weight in chances[missing][:3]), 0.0]
    least, second = sorted(p for part in chances for p in part if p > 0)[:2]
    keep = random.uniform(0.55, 0.9)
    response = [{0: math.log(p), 1: math.log1p(-p)} for p in (1 - keep, keep)]
    # in one of the two orders the direction that is not kept alone has the larger loss
    for lower, upper in (chances, chances[::-1]):
        for bound in (0.0, math.sqrt(least * second)):
            for pessimistic in (True, False):
                yield from _of_functions(lower, upper, bound, response, keep, pessimistic=pessimistic)


def _of_functions(lower, upper, bound, response, keep, *, pessimistic):
    """Compare two distributions, alone and composed with themselves and with a symmetric pair."""
    options = {"pessimistic_estimate": pessimistic, "value_discretization_interval": _INTERVAL}
    losses = _distributions.from_two_probability_mass_functions(
        *({k: math.log(p) for k, p in enumerate(part) if p > 0} for part in (lower, upper)),
        log_mass_truncation_bound=math.log(bound) if bound else -math.inf,
        symmetric=False,
        **options,
    )
    symmetric = _distributions.from_two_probability_mass_functions(*response, symmetric=True, **options)
    exact, other = _of(upper, lower), _of([keep, 1 - keep], [1 - keep, keep])
    far = _truncated(exact, bound, pessimistic=pessimistic)
    near = far if pessimistic else exact
    words = f"lower {lower!r}, upper {upper!r}, truncated {bound!r}, pessimistic {pessimistic}"
    yield from _compare(words, losses, near, far, 1, pessimistic=pessimistic)
    twice = near.and_then(near), far.and_then(far)
    yield from _compare(f"{words}, twice", losses.self_compose(2), *twice, 2, pessimistic=pessimistic)
    found = losses.self_compose(2, _LOST)
    yield from _compare(f"{words}, twice, truncated", found, *twice, 2, _LOST, pessimistic=pessimistic)
    nothing = _distributions.identity(_INTERVAL, pessimistic)
    yield from _compare(f"nothing, and {words}", nothing.compose(losses), near, far, 1, pessimistic=pessimistic)
    both = near.and_then(other), far.and_then(other)
    words = f"{words}, and a response kept with {keep!r}"
    yield from _compare_composed(words, losses, symmetric, *both, 2, pessimistic=pessimistic)


def _responses(random, *, pessimistic):
    """Randomised response among several buckets; an input may be replaced by a uniform answer."""
    noise, buckets = random.uniform(0.05, 0.95), random.randint(2, 6)
    keep, other = 1 - noise * (buckets - 1) / buckets, noise / buckets
    relations = pld.privacy_loss_distribution.NeighborRel
    exact = {
        relations.REPLACE_ONE: _of([keep, other, *[other] * (buckets - 2)], [other, keep, *[other] * (buckets - 2)]),
        relations.REPLACE_SPECIAL: _of([keep, *[other] * (buckets - 1)], [1 / buckets] * buckets),
    }
    both = exact[relations.REPLACE_ONE].and_then(exact[relations.REPLACE_SPECIAL])
    losses = {
        relation: _distributions.from_randomized_response(
            noise, buckets, pessimistic, _INTERVAL, neighboring_relation=relation
        )
        for relation in exact
    }
    for relation, once in exact.items():
        words = f"from_randomized_response({noise!r}, {buckets}, {pessimistic}, {relation})"
        yield from _compare(words, losses[relation], once, once, 1, pessimistic=pessimistic)
        twice, found = once.and_then(once), losses[relation].self_compose(2)
        yield from _compare(f"{words}, twice", found, twice, twice, 2, pessimistic=pessimistic)
    words = f"from_randomized_response({noise!r}, {buckets}, {pessimistic}) of both relations"
    yield from _compare_composed(words, *losses.values(), both, both, 2, pessimistic=pessimistic)


def _guaranteed(random):
    """Check the worst losses of a guarantee: randomised response and a leak."""
    epsilon, leak = random.uniform(0.15, 2), random.choice([0.0, random.uniform(0, 0.1)])
    keep = 1 / (1 + math.exp(-epsilon))

    def exact(at):
        terms = (max(a - math.exp(at) * b, 0.0) for a, b in ((keep, 1 - keep), (1 - keep, keep)))
        return leak + (1 - leak) * math.fsum(terms)

    losses = _distributions.from_privacy_parameters(
        common.DifferentialPrivacyParameters(epsilon, leak), value_discretization_interval=_INTERVAL
    )
    for level in (-0.5, 0.0, 0.41, 1.07):
        words = f"from_privacy_parameters({epsilon!r}, {leak!r}), delta at {level!r}"
        low, high = exact(level) - _ROUNDING, exact(level - _INTERVAL) + _ROUNDING
        yield words, low, float(losses.get_delta_for_epsilon(level)), high


def _from_cdf(random, *, pessimistic):
    """Check that the loss of Gaussian noise is Gaussian, and that what is truncated of it is not forgotten."""
    loss = random.uniform(0.3, 1.5)
    phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))  # noqa: E731  # a formula
    exact = lambda e: phi(loss / 2 - e / loss) - math.exp(e) * phi(-loss / 2 - e / loss)  # noqa: E731  # a formula
    # the default truncates less than any rounding
    for options in ({}, {"tail_mass_truncation": 10 ** random.uniform(-4, -2)}):
        lost = options.get("tail_mass_truncation", 0.0)
        found = _distributions.create_from_cdf(
            lambda x: phi((x - loss**2 / 2) / loss),
            pessimistic_estimate=pessimistic,
            value_discretization_interval=_INTERVAL,
            **options,
        )
        for level in (_ALL, 0.0, 0.5, 1.3, loss**2 / 2 + 3 * loss):
            aside = exact(level - _INTERVAL) + lost if pessimistic else exact(level + _INTERVAL) - lost
            low, high = sorted([exact(level), aside])
            words = f"the loss of noise {1 / loss!r}, truncated {lost}, pessimistic {pessimistic}, delta at {level!r}"
            yield words, low - 1e-9, float(found.get_delta_for_epsilon(level)), high + 1e-9


def outcome_relations():
    """Yield the relations."""
    sided = {
        "responses among buckets have the delta of their outcomes": _responses,
        "a distribution of losses has their delta": _from_cdf,
    }
    attained = {
        "a guarantee has the worst losses that it allows": _guaranteed,
        **{words: functools.partial(check, pessimistic=True) for words, check in sided.items()},
    }
    yield Relations(
        "privacy_loss_distribution, a few outcomes",
        {
            **attained,
            **{
                f"{words}, rounded down": functools.partial(check, pessimistic=False) for words, check in sided.items()
            },
            "two distributions have the delta of their outcomes": _two_functions,
        },
        understated=attained,
    )
