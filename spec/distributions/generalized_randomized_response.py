"""Exact generalised randomised response, the extremal mechanism of bounded range, and its products.

RR_{epsilon,t} answers a bit by a bit, with loss t on the answer 0 and t - epsilon on the answer 1 (input 0 against
input 1). Every pair of distributions whose losses lie in [t - epsilon, t] is a post-processing of it; ordinary
epsilon-DP randomised response is RR_{2 epsilon, epsilon}. Privacy parameters enter as ratios: ``range_ratio`` is
e^epsilon and ``top`` is e^t. Cesar and Rogers 2020, Def 2.4, which prints epsilon >= 0; at 0 the formula is 0 / 0.

Formulas take rationals (exact) or balls (enclosed), and return the same.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import comb
from typing import Any

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, ball, exact
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.interactions.transcripts import Round

__all__ = [
    "Number",
    "RandomizedResponse",
    "RandomizedResponseTreeDistribution",
    "RenamedDistribution",
    "hinge",
    "keep_probability",
    "power",
    "product_delta",
    "product_distributions",
    "pure_response",
]

Number = Any
"""A `Fraction` or an `arb`; the types of one call agree."""


def hinge(x: Number) -> Number:
    """Return max(0, x)."""
    return x.max(arb(0)) if isinstance(x, arb) else max(x, Fraction(0))


def power(x: Number, exponent: int) -> Number:
    """Return x^exponent for exponent >= 0, also for balls around 0."""
    result = x**0
    for _ in range(exponent) if isinstance(x, arb) else ():
        result = result * x
    return result if isinstance(x, arb) else x**exponent


def keep_probability(range_ratio: Number, top: Number) -> Number:
    """Return q_{epsilon,t} = (1 - e^(t - epsilon)) / (1 - e^-epsilon), the probability of the answer 0 to input 0."""
    return (range_ratio - top) / (range_ratio - 1)


@dataclass(frozen=True)
class RandomizedResponse:
    """RR_{epsilon,t} with e^epsilon = `range_ratio` and e^t = `top`, as a pair of distributions on {0, 1}.

    Parameters
    ----------
    range_ratio : Fraction
        Above 1.
    top : Fraction
        In [1, range_ratio]; at either end both inputs are answered alike.

    Raises
    ------
    UsageError
        If a ratio is outside.
    """

    range_ratio: Fraction
    top: Fraction

    def __post_init__(self) -> None:
        if not self.range_ratio > 1:
            raise UsageError(f"range_ratio must be above 1, got {self.range_ratio!r}")
        if not 1 <= self.top <= self.range_ratio:
            raise UsageError(f"top must lie in [1, {self.range_ratio}], got {self.top!r}")

    @cached_property
    def left(self) -> FiniteDistribution:
        """The distribution of the answer to input 0."""
        q = keep_probability(self.range_ratio, self.top)
        return FiniteDistribution({0: q, 1: 1 - q})

    @cached_property
    def right(self) -> FiniteDistribution:
        """The distribution of the answer to input 1."""
        p = keep_probability(self.range_ratio, self.top) / self.top
        return FiniteDistribution({0: p, 1: 1 - p})

    def as_round(self) -> Round:
        """Return it as a round of an interaction."""
        return Round(self.left, self.right, max(self.top, self.range_ratio / self.top))


def pure_response(ratio: Fraction) -> RandomizedResponse:
    """Return RR_{2 epsilon, epsilon} with e^epsilon = `ratio`, which is epsilon-DP and the worst such mechanism."""
    return RandomizedResponse(ratio**2, ratio)


def product_distributions(responses: Iterable[RandomizedResponse]) -> tuple[FiniteDistribution, FiniteDistribution]:
    """Return the distributions, on both inputs, of the answers of several responses to the same bit."""
    sides = []
    parts = list(responses)
    for side in ("left", "right"):
        weights: dict[Hashable, Fraction] = {}
        for answers in product((0, 1), repeat=len(parts)):
            weight = Fraction(1)
            for response, answer in zip(parts, answers, strict=True):
                weight *= getattr(response, side).probability(answer)
            weights[answers] = weight
        sides.append(FiniteDistribution(weights))
    return sides[0], sides[1]


def product_delta(bounded: int, pure: int, ratio: Number, top: Number, budget: Number) -> Number:
    """Return delta^{m,k}(t; epsilon_g): k - m copies of RR_{epsilon,t} beside m of RR_{2 epsilon,epsilon}.

    The sum of eq. (6) over the numbers i, j of answers 1 in the two blocks; the loss of a cell is
    epsilon (m - 2j - i) + t (k - m).

    Parameters
    ----------
    bounded, pure : int
        k - m and m.
    ratio, top, budget : Fraction or arb
        e^epsilon, e^t, e^epsilon_g; the last may be below 1.
    """
    q, pure_q = keep_probability(ratio, top), ratio / (1 + ratio)
    total = 0 * q
    for i in range(bounded + 1):
        for j in range(pure + 1):
            weight = comb(bounded, i) * comb(pure, j) * pure_q ** (pure - j) * (1 - pure_q) ** j
            weight *= power(q, bounded - i) * power(1 - q, i)
            total += weight * hinge(1 - budget / (ratio ** (pure - 2 * j - i) * top**bounded))
    return total


@dataclass(frozen=True)
class RandomizedResponseTreeDistribution:
    """The distribution of the answers of adaptively chosen responses, in balls.

    Parameters
    ----------
    bit : int
        The input.
    length : int
        The number of responses.
    choose : callable
        From the answers so far to (epsilon, t) of the next response, exact numbers, 0 <= t <= epsilon.
    """

    bit: int
    length: int
    choose: Any

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """All tuples of answers."""
        return tuple(product((0, 1), repeat=self.length))

    def log_probability(self, outcome: Any) -> arb:
        """Enclose the logarithm of the probability of a tuple of answers; -inf where it is 0."""
        total = arb(0)
        for place, answer in enumerate(outcome):
            epsilon, top = self.choose(tuple(outcome[:place]))
            total = total + _log_answer(exact("epsilon", epsilon), exact("top", top), self.bit, answer)
        return total


@dataclass(frozen=True)
class RenamedDistribution:
    """A distribution with renamed outcomes.

    Parameters
    ----------
    distribution : RandomizedResponseTreeDistribution
        The distribution.
    names : dict
        From the new name to the outcome.
    """

    distribution: RandomizedResponseTreeDistribution
    names: dict[Hashable, Hashable]

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The new names."""
        return tuple(self.names)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of an outcome by its new name."""
        return self.distribution.log_probability(self.names[outcome])


def _log_answer(epsilon: Exact, top: Exact, bit: int, answer: int) -> arb:
    """Enclose log q, log(1 - q), log p or log(1 - p); the ends t = 0 and t = epsilon are certain answers."""
    if top in (0, epsilon):
        return arb(0) if answer == (top != 0) else arb.neg_inf()
    e, t = ball(epsilon), ball(top)
    own = (-(t - e).expm1()).log() if answer == 0 else (-(-t).expm1()).log() + (t - e)
    loss = t if answer == 0 else t - e
    return own - (-(-e).expm1()).log() - (loss if bit else arb(0))
