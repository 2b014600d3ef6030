"""Exact probabilities of discrete distributions, and draws as sequences of choices."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from dpassay.properties.tracing.forms import exact
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.refusal import refuse
from dpassay.spec.ball import ball, precision
from dpassay.spec.leaves.model import NoiseKind

__all__ = [
    "binomial_weights",
    "geometric",
    "hypergeometric_weights",
    "integer_below",
    "multinomial",
    "normalised",
    "poisson_weights",
    "rational",
    "successive",
    "uniform",
]

MOST_VALUES = 4_096
"""An integer with more values than this is drawn as rounded noise."""

_POISSON_TAIL = Fraction(1, 2**70)
"""The tail of a Poisson distribution from which on its mass is undecided."""

_BITS = 128
"""Bits of a Poisson probability, beside those that its mean takes."""


def rational(value: Any, name: str) -> Fraction:
    """Return a parameter of a draw as a fraction; refuse noisy ones and those that are not finite."""
    try:
        number = exact(value)
    except TypeError:
        number = None
    if number is None:
        refuse(f"{name} = {'a noisy value' if not isinstance(value, float) else value} as a parameter of a draw")
    return number


def uniform(count: int) -> tuple[Fraction, ...]:
    """Return equal probabilities."""
    return (Fraction(1, count),) * count


def normalised(weights: Sequence[Any]) -> tuple[Fraction, ...]:
    """Return weights divided by their sum, as numpy does with the probabilities of `choice`."""
    numbers = [rational(weight, "p") for weight in weights]
    total = sum(numbers, Fraction(0))
    return tuple(number / total for number in numbers)


def binomial_weights(trials: int, chance: Fraction) -> tuple[Fraction, ...]:
    """Return the probabilities of 0 to `trials` successes."""
    return tuple(math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1))


def hypergeometric_weights(good: int, bad: int, drawn: int) -> tuple[Fraction, ...]:
    """Return the probabilities of 0 to `drawn` good ones in a sample without replacement."""
    every = math.comb(good + bad, drawn)
    return tuple(Fraction(math.comb(good, k) * math.comb(bad, drawn - k), every) for k in range(drawn + 1))


def poisson_weights(mean: Fraction) -> tuple[Fraction, ...]:
    """Return lower bounds on the probabilities of 0, 1, ...; they lack less than 2^-64 of 1.

    They are irrational; the rest of the mass, tail and rounding, is left undecided.
    """
    bits = _BITS + math.ceil(2 * mean)
    weights, term = [Fraction(_floor_of_exponential(mean, bits), 2**bits)], Fraction(1)
    while len(weights) <= mean or term > _POISSON_TAIL:
        term = weights[-1] * mean / len(weights)
        weights.append(Fraction(math.floor(term * 2**bits), 2**bits))
    return tuple(weights)


def _floor_of_exponential(mean: Fraction, bits: int) -> int:
    """Return an integer that is at most 2^bits e^-mean, and within 1 of it."""
    with precision(2 * bits):
        scaled = (-ball(mean)).exp() * arb(2) ** bits
        return int(str(scaled.lower().floor().unique_fmpz()))


def integer_below(tape: Any, label: str, count: int) -> Any:
    """Draw an integer from 0 to count - 1: one answer for each, or rounded noise where these would be too many.

    The integer part of `count` times uniform noise has exactly this distribution.
    """
    if count <= MOST_VALUES:
        return tape.choose(label, uniform(count))
    noise = tape.noise(NoiseKind.UNIFORM)
    exact_noise: Any = noise if isinstance(noise, Noisy) else Fraction(float(noise))
    return math.floor(exact_noise * count)


def geometric(tape: Any, label: str, chance: Fraction) -> int:
    """Draw the number of trials up to the first success, trial by trial."""
    trials = 1
    while tape.choose(label, (chance, 1 - chance)) == 1:
        trials += 1
    return trials


def multinomial(tape: Any, label: str, trials: int, chances: Sequence[Fraction]) -> list[int]:
    """Draw counts one after the other, each binomial given those before; the last takes the rest.

    Parameters
    ----------
    tape : Tape
        The run, which chooses among the weighted values of a draw.
    label : str
        Name of the draw.
    trials : int
        Sum of the counts.
    chances : sequence of Fraction
        Probability of each place; they sum to 1.
    """
    counts, left = list[int](), Fraction(1)
    for chance in chances[:-1]:
        share = min(Fraction(1), chance / left) if left > 0 else Fraction(0)
        counts.append(tape.choose(label, binomial_weights(trials - sum(counts), share)))
        left -= chance
    return [*counts, trials - sum(counts)]


def successive(tape: Any, label: str, weights: Sequence[Fraction], count: int) -> list[int]:
    """Draw different places one after the other, each with the probabilities that are left.

    Parameters
    ----------
    tape : Tape
        The run, which chooses among the weighted values of a draw.
    label : str
        Name of the draw.
    weights : sequence of Fraction
        Weight of each place.
    count : int
        Number of places that are drawn.
    """
    found: list[int] = []
    for _ in range(count):
        rest = [k for k in range(len(weights)) if k not in found]
        total = sum((weights[k] for k in rest), Fraction(0))
        found.append(rest[tape.choose(label, tuple(weights[k] / total for k in rest))])
    return found
