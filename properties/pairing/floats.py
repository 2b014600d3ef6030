"""Samplers in floating point with few random bits: their distributions, by running through all words.

The distribution of such a sampler is a structural fact: the float64 function that it is, applied to every equally
likely word. It is enumerated with the mechanism's own arithmetic, which is what is examined, and not what real numbers
would give.
"""

import itertools
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.broken.floats import BoxMullerGaussian, InversionLaplace, PolarGaussian, TextbookSampler
from dpassay.properties.pairing.registry import register_distribution
from dpassay.spec.distributions.discrete import FiniteDistribution

__all__ = ["MOST_WORD_BITS", "enumerated_distribution"]

MOST_WORD_BITS = 12
"""Random bits of an outcome whose distribution is enumerated: the time doubles with each bit."""


def enumerated_distribution(mechanism: TextbookSampler, data: NDArray[np.float64]) -> FiniteDistribution | None:
    """Return the distribution of a sampler on a number, None if an outcome takes over `MOST_WORD_BITS` random bits."""
    if mechanism.bits * mechanism.words > MOST_WORD_BITS or data.shape != (1,):
        return None
    words = np.array(list(itertools.product(range(2**mechanism.bits), repeat=mechanism.words)), dtype=np.int64)
    words = words[mechanism.accepts(words)]
    counts = Counter(mechanism.outcomes_of(data, words).tolist())
    weights: dict[Hashable, Fraction] = {outcome: Fraction(count, len(words)) for outcome, count in counts.items()}
    return FiniteDistribution(weights)


for sampler_type in (InversionLaplace, BoxMullerGaussian, PolarGaussian):
    register_distribution(sampler_type, enumerated_distribution)
