"""Claims and neighbour relations in the words of the command line, so that a result can be repeated from a shell."""

import math

from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    NeighbourRelation,
    ProbabilisticDP,
    PureDP,
    RecordNeighbours,
    RenyiDP,
    VectorNeighbours,
)

__all__ = ["claim_words", "relation_words"]


def claim_words(claim: Claim) -> str:  # noqa: PLR0911  # one branch for each notion
    """Return a claim as the command line takes it; notions that it does not take, by their description.

    Examples
    --------
    >>> claim_words(ApproximateDP(1.0, 1e-6))
    'approx:1.0,1e-06'
    """
    match claim:
        case PureDP(epsilon):
            return f"pure:{epsilon!r}"
        case ApproximateDP(epsilon, delta):
            return f"approx:{epsilon!r},{delta!r}"
        case ProbabilisticDP(epsilon, delta):
            return f"probabilistic:{epsilon!r},{delta!r}"
        case ZCDP(rho):
            return f"zcdp:{rho!r}"
        case ApproximateZCDP(rho, delta, 0):
            return f"approx-zcdp:{rho!r},{delta!r}"
        case ApproximateZCDP(rho, delta, xi):
            return f"approx-zcdp:{rho!r},{delta!r},{xi!r}"
        case ConcentratedDP(mu, tau):
            return f"cdp:{mu!r},{tau!r}"
        case RenyiDP(alpha, epsilon):
            return f"rdp:{alpha!r},{epsilon!r}"
        case BoundedRange(epsilon):
            return f"bounded-range:{epsilon!r}"
        case ExPost():
            return f"ex-post:{claim.description}"


def relation_words(relation: NeighbourRelation) -> str:
    """Return a neighbour relation as the command line takes it.

    Examples
    --------
    >>> relation_words(VectorNeighbours(3, linf=1.0, low=0.0))
    'vector:size=3,linf=1.0,low=0.0'
    """
    match relation:
        case VectorNeighbours():
            bounds = {"size": relation.size, "l0": relation.l0, "l1": relation.l1, "l2": relation.l2}
            bounds |= {"linf": relation.linf}
            words = [f"{key}={value!r}" for key, value in bounds.items() if value is not None]
            words += [f"low={relation.low!r}"] * math.isfinite(relation.low)
            words += [f"high={relation.high!r}"] * math.isfinite(relation.high)
            words += [name for name in ("integer", "monotone") if getattr(relation, name)]
            return "vector:" + ",".join(words)
        case RecordNeighbours():
            most = [] if relation.max_size is None else [f"max-size={relation.max_size!r}"]
            words = [f"low={relation.low!r}", f"high={relation.high!r}", f"size={relation.size!r}", *most]
            return "records:" + ",".join([*words, f"relation={relation.relation}"])
