"""Top-k lists: the exact law of peeling. The other mechanisms of the chapter have continuous outcomes and are sampled."""

import numpy as np
from numpy.typing import NDArray

from dpassay.impl.broken.histograms import HalfTheScale
from dpassay.impl.mechanisms.gumbel_top_k import GumbelTopK
from dpassay.properties.search.laws import register_law
from dpassay.spec.ball import exact
from dpassay.spec.distributions.peeling import PeelingLaw

MOST_LISTS = 1000


def _peeling_law(mechanism: GumbelTopK, data: NDArray[np.float64], factor: int = 1) -> PeelingLaw | None:
    law = PeelingLaw(
        tuple(data.tolist()), mechanism.k, factor * exact("epsilon", mechanism.epsilon) / exact("linf", mechanism.linf)
    )
    return law if len(law.outcomes) <= MOST_LISTS else None


register_law(GumbelTopK, _peeling_law)
register_law(HalfTheScale, lambda mechanism, data: _peeling_law(mechanism, data, 2))
