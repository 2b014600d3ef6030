"""Which mechanisms have a known output distribution, and which a worst-pair theorem: the pairing registries.

The modules of `properties/pairing/` fill them; anybody may add the distribution of a mechanism of theirs:

>>> from dpassay.spec.distributions.discrete import FiniteDistribution
>>> class FairCoin:
...     pass
>>> register_distribution(FairCoin, lambda mechanism, data: FiniteDistribution.of(1, 1))
>>> exact_distribution(FairCoin(), np.zeros(1)).outcomes
(0, 1)
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.neighbours import NeighbourRelation
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.neighbours.pairs import adversarial_pairs, are_neighbours
from dpassay.registry import Registry
from dpassay.spec.ball import Real
from dpassay.spec.distributions.discrete import DiscreteDistribution
from dpassay.spec.distributions.noise import NoisePair

__all__ = [
    "PushedForward",
    "exact_distribution",
    "has_exact_distribution",
    "is_registered",
    "pair_distribution",
    "register_distribution",
    "register_pair_distribution",
    "register_worst_case",
    "register_worst_pairs",
    "worst_case",
    "worst_pairs",
]

Array = NDArray[np.float64]
Distribution = Callable[[Any, Array], DiscreteDistribution | None]
DistributionPair = tuple[DiscreteDistribution, DiscreteDistribution]
PairDistribution = Callable[[Any, Array, Array], DistributionPair | None]
WorstCase = Callable[[Any, Claim], Real | None]

WorstPairs = Callable[[Any, NeighbourRelation], Iterable[Pair]]

_PAIRING = "dpassay.properties.pairing"
_DISTRIBUTIONS: Registry[type, Distribution] = Registry("distribution of", _PAIRING)
_PAIR_DISTRIBUTIONS: Registry[type, PairDistribution] = Registry("pair distribution of", _PAIRING)
_WORST_CASES: Registry[type, WorstCase] = Registry("worst case of", _PAIRING)
_WORST_PAIRS: Registry[type, WorstPairs] = Registry("worst pairs of", _PAIRING)


@dataclass(frozen=True)
class PushedForward:
    """A distribution seen through a finite partition of its outcomes.

    Parameters
    ----------
    cells : Mapping of outcome or event to Real
        What encloses the logarithm of the probability of each cell. A key is an event of
        :mod:`dpassay.properties.outcomes.events`, or an outcome as the mechanism returns it, which stands for itself.
    cost : float
        Time that one probability takes, in units of the 5 ms of a Gaussian race.
    added : Fraction
        What a randomised step of post-processing may have added to the probability of a cell, at most.
    behind : tuple of NoisePair
        Independent noise on both inputs that the outcomes are at most as private as, in either order; none if empty.
    is_behind : bool
        Whether the cells are a function of that noise, which is Gaussian, so that they show no more than it does.
    """

    cells: Mapping[Hashable, Real]
    cost: float = 0.02
    added: Fraction = Fraction(0)
    behind: tuple[NoisePair, ...] = ()
    is_behind: bool = False

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The cells."""
        return tuple(self.cells)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of a cell."""
        return self.cells[outcome]() if outcome in self.cells else arb.neg_inf()


def register_distribution(mechanism_type: type, distribution: Distribution) -> None:
    """Declare the exact output distribution of a type of mechanism.

    It is not inherited: a subtype may sample differently, as the broken ones do, and declares its own.

    Parameters
    ----------
    mechanism_type : type
        The class of the mechanism.
    distribution : callable
        ``distribution(mechanism, data)``: its distribution on an input, with the outcomes as the mechanism returns
        them; None where it is not known for these parameters.

    Raises
    ------
    ValueError
        If the type has a distribution already.
    """
    _DISTRIBUTIONS.enter(mechanism_type, distribution)


def register_pair_distribution(mechanism_type: type, distribution: PairDistribution) -> None:
    """Declare how a mechanism with infinitely many outcomes is compared on a pair of inputs.

    The outcomes are cut into finitely many cells, which may depend on the pair. A function of the outcome is at
    least as private as the mechanism: what the cells refute is refuted, and what they do not is not thereby proved.
    As with `register_distribution`, nothing is inherited.

    Parameters
    ----------
    mechanism_type : type
        The class of the mechanism.
    distribution : callable
        ``distribution(mechanism, left, right)``: the two distributions of the cell, `PushedForward` through the same
        cells; None where they are not known for these parameters.

    Raises
    ------
    ValueError
        If the type has one already.
    """
    _PAIR_DISTRIBUTIONS.enter(mechanism_type, distribution)


def register_worst_case(mechanism_type: type, worst: WorstCase) -> None:
    """Declare a worst-pair theorem.

    Parameters
    ----------
    mechanism_type : type
        The class of the mechanism.
    worst : callable
        ``worst(mechanism, claim)``: a thunk that encloses an upper bound, over all pairs of the mechanism's own
        relation, on the figure that the claim bounds (epsilon; delta for an approximate claim, at its epsilon; rho);
        None where no theorem speaks of that notion.

    Raises
    ------
    ValueError
        If the type has one already.
    """
    _WORST_CASES.enter(mechanism_type, worst)


def register_worst_pairs(mechanism_type: type, pairs: WorstPairs) -> None:
    """Declare pairs of inputs that a search should try before all others.

    Parameters
    ----------
    mechanism_type : type
        The class of the mechanism.
    pairs : callable
        ``pairs(mechanism, relation)``: pairs of inputs, the likely worst ones first; those outside the relation are
        left out.

    Raises
    ------
    ValueError
        If the type has some already.
    """
    _WORST_PAIRS.enter(mechanism_type, pairs)


def exact_distribution(mechanism: Any, data: Array) -> DiscreteDistribution | None:
    """Return the exact output distribution of a mechanism on an input, None if it is not known."""
    distribution = _DISTRIBUTIONS.get(type(mechanism))
    return distribution(mechanism, data) if distribution is not None else None


def pair_distribution(mechanism: Any, left: Array, right: Array) -> DistributionPair | None:
    """Return the distributions of a mechanism on two inputs through one partition, None if they are not known."""
    distribution = _PAIR_DISTRIBUTIONS.get(type(mechanism))
    return distribution(mechanism, left, right) if distribution is not None else None


def worst_case(mechanism: Any, claim: Claim) -> Real | None:
    """Return the upper bound of a worst-pair theorem on the figure that the claim bounds, None without one."""
    worst = _WORST_CASES.get(type(mechanism))
    return worst(mechanism, claim) if worst is not None else None


def worst_pairs(mechanism: Any, relation: NeighbourRelation) -> list[Pair]:
    """Return the pairs of the relation that are declared for a mechanism; none where nothing is declared."""
    pairs = _WORST_PAIRS.get(type(mechanism))
    if pairs is None:
        return []
    return [pair for pair in pairs(mechanism, relation) if are_neighbours(relation, *pair)]


def is_registered(mechanism_type: type) -> bool:
    """Return whether a distribution is declared for a type, whatever the parameters and inputs are."""
    return any(registry.get(mechanism_type) is not None for registry in (_DISTRIBUTIONS, _PAIR_DISTRIBUTIONS))


def has_exact_distribution(mechanism: Any) -> bool:
    """Return whether the exact output distribution is known, outcome by outcome or through partitions."""
    ((left, right),) = adversarial_pairs(mechanism.neighbours, seed=0, limit=1)
    return exact_distribution(mechanism, left) is not None or pair_distribution(mechanism, left, right) is not None
