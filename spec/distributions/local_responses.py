"""Reports of a single user: Hadamard response, and Bloom filters with two stages of randomised response."""

import itertools
from collections.abc import Hashable, Sequence
from fractions import Fraction

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.domains.hadamard import hadamard_sign

__all__ = ["bloom_report_distribution", "hadamard_order", "hadamard_response_distribution", "report_chance"]


def hadamard_order(values: int) -> int:
    """Return the least power of 2 above the number of values, so that each value has its own non-constant row."""
    return 1 << values.bit_length()


def hadamard_response_distribution(value: int, values: int, ratio: Fraction) -> FiniteDistribution:
    """Return the distribution of the reported index: `ratio` times as likely where row value + 1 is +1 as at -1."""
    order = hadamard_order(values)
    low = Fraction(2) / (order * (1 + ratio))
    return FiniteDistribution({o: low * (ratio if hadamard_sign(value + 1, o) > 0 else 1) for o in range(order)})


def report_chance(bit: int, permanent: Fraction, high: Fraction) -> Fraction:
    """Return the probability of a reported 1.

    The bit is replaced by a fair coin with probability `permanent`; what comes of it is told with probability `high`,
    its opposite otherwise.
    """
    kept = (1 - permanent) * bit + permanent / 2
    return kept * high + (1 - kept) * (1 - high)


def bloom_report_distribution(bits: Sequence[int], permanent: Fraction, high: Fraction) -> FiniteDistribution:
    """Return the distribution of the reports on some bits of a filter, 2^n outcomes; high = 1: no second stage."""
    chances = [report_chance(bit, permanent, high) for bit in bits]
    weights: dict[Hashable, Fraction] = {}
    for told in itertools.product((0, 1), repeat=len(bits)):
        weight = Fraction(1)
        for one, chance in zip(told, chances, strict=True):
            weight *= chance if one else 1 - chance
        weights[told] = weight
    return FiniteDistribution(weights)
