"""The geometric mechanism on 0, ..., n, with a rational decay, as finite computers can sample it.

After Balcer and Vadhan (2018), Algorithm 4.8 (GeoSample): all probabilities are multiples of 1/d for an integer d.
"""

import itertools
from fractions import Fraction
from typing import Annotated

from dpassay.spec.distributions.truncated_geometric import truncated_geometric_distribution
from dpassay.spec.domains.base import Integers
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import BALCER_VADHAN_2018
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["geometric_cumulative"]

Largest = Annotated[int, Integers("a largest count n", 1, 12, (1, 5, 12))]
Bits = Annotated[int, Integers("an exponent k", 0, 12, (0, 3))]


def geometric_cumulative(centre: int, largest: int, bits: int) -> list[int]:
    """Return F(0), ..., F(n): Pr[at most z] = F(z)/F(n), F(n) = d = (2^(k+1) + 1)(2^k + 1)^(n-1)."""
    step = 2**bits + 1
    d = (step + 2**bits) * step ** (largest - 1)
    below = [2 ** (bits * (centre - z)) * step ** (largest - centre + z) for z in range(min(centre, largest - 1) + 1)]
    above = [
        d - 2 ** (bits * (z - centre + 1)) * step ** (largest - 1 - z + centre) for z in range(centre + 1, largest)
    ]
    return [*below, *above, d]


@statement(BALCER_VADHAN_2018, "Algorithm 4.8")
def truncated_geometric_has_integer_probabilities(largest: Largest, bits: Bits) -> Verdict:
    """Inverting F on a uniform integer of 1, ..., d gives c plus two-sided geometric noise of decay 2^k/(2^k + 1),
    clipped to [0, n]; for every c.
    """
    decay = Fraction(2**bits, 2**bits + 1)
    verdicts = []
    for centre in range(largest + 1):
        cumulative = geometric_cumulative(centre, largest, bits)
        steps = [b - a for a, b in zip([0, *cumulative], cumulative, strict=False)]
        distribution = truncated_geometric_distribution(centre, largest, decay)
        verdicts.append(
            equal_exact(
                [Fraction(s, cumulative[-1]) for s in steps], list(distribution.weights.values()), "the probabilities"
            )
        )
    return conjunction(verdicts)


@statement(BALCER_VADHAN_2018, "Algorithm 4.8")
def pure_dp_of_truncated_geometric(largest: Largest, bits: Bits) -> Verdict:
    """For counts that differ by 1 it is epsilon-DP with epsilon = log(1 + 2^-k), attained at the ends."""
    decay = Fraction(2**bits, 2**bits + 1)
    distributions = [truncated_geometric_distribution(centre, largest, decay) for centre in range(largest + 1)]
    pairs = [pair for both in itertools.pairwise(distributions) for pair in (both, both[::-1])]
    ratios = {max(a.weights[z] / b.weights[z] for z in a.weights) for a, b in pairs}
    return equal_exact(ratios, {1 / decay}, "the largest ratio of every pair")
