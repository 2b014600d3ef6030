"""What the laws for mechanisms share: a guard against libraries that fail, and claims as figures."""

import functools
from collections.abc import Callable

from dpassay.claims import BoundedRange, Claim, NeighbourRelation, PureDP, SamplerLostError, UsageError
from dpassay.impl.libraries.remote import RemoteCase, RemoteMechanism, WorkerError
from dpassay.properties.assay.exact_laws import IdealLaw, ideal_loss
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.search.figures import ALLOWANCE, allowed
from dpassay.properties.search.pairs import adversarial_pairs
from dpassay.properties.search.words import claim_words
from dpassay.spec.ball import ball, float_lower, precision

__all__ = ["BITS", "bound_of", "claim_in_words", "exceeds_claim", "has_pairs", "mechanism_law", "moves"]

Check = Callable[[RemoteMechanism, Settings], Finding]

BITS = 128
"""Working precision of certified figures."""


def _is_mechanism(case: RemoteCase) -> str | None:
    return None if isinstance(case, RemoteMechanism) else "not a mechanism"


def mechanism_law(
    name: str, sentence: str, condition: Callable[[RemoteMechanism], str | None], check: Check, *, sampled: bool
) -> Law:
    """Make a law for mechanisms whose check ends as undecided where the library or its worker fails.

    Parameters
    ----------
    name, sentence, sampled
        As for `Law`.
    condition : callable
        Returns None where the law applies to a mechanism, else the reason why not.
    check : callable
        Takes the mechanism and the settings.
    """

    def applies(case: RemoteCase) -> str | None:
        return condition(case) if isinstance(case, RemoteMechanism) else _is_mechanism(case)

    @functools.wraps(check)
    def guarded(case: RemoteCase, settings: Settings) -> Finding:
        assert isinstance(case, RemoteMechanism)
        try:
            return check(case, settings)
        except SamplerLostError as error:
            return Finding("undecided", str(error), claim=claim_in_words(case))
        except (WorkerError, UsageError) as error:
            return Finding("undecided", f"{type(error).__name__}: {error}", claim=claim_in_words(case))

    return Law(name, sentence, applies, guarded, sampled=sampled)


def claim_in_words(case: RemoteMechanism) -> str:
    """Return the claim of the library as the command line takes it."""
    return claim_words(case.claims[0])


def moves(case: RemoteMechanism) -> str | None:
    """Return None where some inputs are neighbours and differ, else that there are none."""
    return None if has_pairs(case.neighbours) else "no two different inputs are neighbours"


def has_pairs(relation: NeighbourRelation) -> bool:
    """Whether two different inputs are neighbours."""
    try:
        adversarial_pairs(relation, seed=0, limit=1)
    except UsageError:
        return False
    return True


def exceeds_claim(claim: Claim, left: IdealLaw, right: IdealLaw, relative_error: float = 0.0) -> tuple[bool, float]:
    """Tell whether the loss certainly exceeds the claim, and return a certified lower bound on it."""
    with precision(BITS):
        loss = ideal_loss(claim, left, right)
        bound = allowed(claim) * (1 + ball(relative_error))
        if isinstance(claim, (PureDP, BoundedRange)):  # the ratio of probabilities, too, is a float64 number
            bound = bound + ball(ALLOWANCE)
        return bool(loss > bound), float_lower(loss)


def bound_of(claim: Claim) -> float:
    """Return the figure that a claim allows, about."""
    with precision(BITS):
        return float(allowed(claim).mid())
