"""Which mechanisms have a known output distribution, and which a worst-pair theorem: the pairing registries.

The modules of `properties/pairing/` fill them; anybody may add the law of a mechanism of theirs:

>>> from dpassay.spec.distributions.discrete import FiniteDistribution
>>> class FairCoin:
...     pass
>>> register_law(FairCoin, lambda mechanism, data: FiniteDistribution.of(1, 1))
>>> exact_law(FairCoin(), np.zeros(1)).outcomes
(0, 1)
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.discovery import import_all_below
from dpassay.properties.search.pairs import adversarial_pairs
from dpassay.spec.ball import Real
from dpassay.spec.distributions.discrete import DiscreteDistribution

__all__ = ["exact_law", "has_exact_law", "register_law", "register_worst_case", "worst_case"]

Array = NDArray[np.float64]
Law = Callable[[Any, Array], DiscreteDistribution | None]
WorstCase = Callable[[Any, Claim], Real | None]

_LAWS: dict[type, Law] = {}
_WORST_CASES: dict[type, WorstCase] = {}
_PAIRING = "dpassay.properties.pairing"


def register_law(mechanism_type: type, law: Law) -> None:
    """Declare the exact output distribution of a type of mechanism.

    It is not inherited: a subtype may sample differently, as the broken ones do, and declares its own.

    Parameters
    ----------
    mechanism_type : type
        The class of the mechanism.
    law : callable
        ``law(mechanism, data)``: its distribution on an input, with the outcomes as the mechanism returns them;
        None where it is not known for these parameters.

    Raises
    ------
    ValueError
        If the type has a law already.
    """
    _enter(_LAWS, mechanism_type, law)


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
    _enter(_WORST_CASES, mechanism_type, worst)


def exact_law(mechanism: Any, data: Array) -> DiscreteDistribution | None:
    """Return the exact output distribution of a mechanism on an input, None if it is not known."""
    law = _find(_LAWS, mechanism)
    return law(mechanism, data) if law is not None else None


def worst_case(mechanism: Any, claim: Claim) -> Real | None:
    """Return the upper bound of a worst-pair theorem on the figure that the claim bounds, None without one."""
    worst = _find(_WORST_CASES, mechanism)
    return worst(mechanism, claim) if worst is not None else None


def _enter(registry: dict[type, Any], mechanism_type: type, entry: Any) -> None:
    if mechanism_type in registry:
        raise ValueError(f"{mechanism_type.__name__} is registered already")
    registry[mechanism_type] = entry


def _find(registry: dict[type, Any], mechanism: Any) -> Any:
    _import_pairing()
    return registry.get(type(mechanism))


@cache
def _import_pairing() -> None:
    import_all_below(_PAIRING)


def has_exact_law(mechanism: Any) -> bool:
    """Whether the exact output distribution of a mechanism is known."""
    ((data, _),) = adversarial_pairs(mechanism.neighbours, seed=0, limit=1)
    return exact_law(mechanism, data) is not None
