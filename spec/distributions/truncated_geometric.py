"""The two-sided geometric distribution, clipped to 0, ..., n."""

from collections.abc import Hashable
from fractions import Fraction

from dpassay.spec.distributions.discrete import FiniteDistribution

__all__ = ["truncated_geometric_distribution"]


def truncated_geometric_distribution(centre: int, largest: int, decay: Fraction) -> FiniteDistribution:
    """Return the distribution of centre + noise, clipped: Pr[noise = z] = decay^|z| (1 - decay)/(1 + decay); exact.

    Its tails from distance d on have mass decay^d/(1 + decay), which the ends 0 and `largest` collect.

    Examples
    --------
    >>> [str(w) for w in truncated_geometric_distribution(1, 2, Fraction(1, 2)).weights.values()]
    ['1/3', '1/3', '1/3']
    """
    inner = (1 - decay) / (1 + decay)
    weights: dict[Hashable, Fraction] = {z: inner * decay ** abs(z - centre) for z in range(largest + 1)}
    weights[0] = decay**centre / (1 + decay)
    weights[largest] = decay ** (largest - centre) / (1 + decay) if largest else Fraction(1)
    return FiniteDistribution(weights)
