"""Helpers of the laws of mechanisms: handling of failing libraries, and claims as numbers."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.claims import BoundedRange, Claim, PureDP
from dpassay.impl.libraries.remote import RemoteCase, RemoteFamily, RemoteMechanism
from dpassay.impl.libraries.worker_process import WorkerError
from dpassay.mechanism import SamplerLostError
from dpassay.neighbours import NeighbourRelation
from dpassay.properties.assay.families import COMPUTED, SAMPLED, Asking, check_family, unless_member
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.ideal_distributions import IdealDistribution, UnreadableLawError, ideal_loss
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.reproduction import reproduction
from dpassay.properties.hunting.idle import EveryCallRaisesError
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.properties.outcomes.calls import CallFailedError, call
from dpassay.spec.ball import ball, float_lower, float_upper, precision
from dpassay.spec.distributions.noise import NoisePair
from dpassay.spec.notions.base import ALLOWANCE, allowed, find_notion

__all__ = [
    "BITS",
    "NoiseLoss",
    "bound_of",
    "claim_in_words",
    "exceeds_claim",
    "has_pairs",
    "loss_of_noise",
    "mechanism_law",
    "moves",
]

Check = Callable[[RemoteMechanism, Settings], Finding]

Array = NDArray[np.float64]

_ASKED_PAIRS = 4
"""Pairs whose inputs are asked once each, where every call on another pair raises."""

BITS = 128
"""Working precision of certified numbers, bits."""


def _is_mechanism(case: RemoteCase) -> str | None:
    return None if isinstance(case, RemoteMechanism | RemoteFamily) else "not a mechanism"


def mechanism_law(
    name: str,
    sentence: str,
    condition: Callable[[RemoteMechanism], str | None],
    check: Check,
    *,
    sampled: bool,
    asking: Asking | None = None,
    turn: Turn | None = None,
) -> Law:
    """Make a law for mechanisms; it is undecided if the worker fails, an error if the case fails.

    Parameters
    ----------
    name, sentence, sampled
        As for `Law`.
    condition : callable
        Returns None if the law applies to a mechanism, else the reason why it does not.
    check : callable
        Takes the mechanism and the settings.
    asking : Asking, optional
        At which parameters of a family the law is asked; by default `SAMPLED` or `COMPUTED`.
    turn : Turn, optional
        As for `Law`.
    """
    chosen = asking if asking is not None else SAMPLED if sampled else COMPUTED

    def needs_samples(member: RemoteMechanism) -> str | None:
        return "the runs of the family are replayed" if member.description["replayed"] else condition(member)

    def applies(case: RemoteCase) -> str | None:
        if isinstance(case, RemoteFamily):
            return unless_member(case, condition if chosen.shrinks else needs_samples)
        return condition(case) if isinstance(case, RemoteMechanism) else _is_mechanism(case)

    def check_case(case: RemoteCase, settings: Settings) -> Finding:
        if isinstance(case, RemoteFamily):
            return check_family(guarded, case, settings, chosen)
        assert isinstance(case, RemoteMechanism)
        return guarded(case, settings)

    @functools.wraps(check)
    def guarded(case: RemoteMechanism, settings: Settings) -> Finding:
        try:
            return _with_call(case, check(case, settings))
        except SamplerLostError as error:
            lasts = not error.is_late
            return Finding(FindingKind.UNDECIDED, str(error), claim=claim_in_words(case), is_lasting=lasts)
        except EveryCallRaisesError as error:
            return _of_raising(case, settings, str(error))
        except (WorkerError, UnreadableLawError) as error:
            return Finding(FindingKind.ERROR, str(error), claim=claim_in_words(case))
        except UsageError as error:
            is_lost = isinstance(error.__cause__, SamplerLostError)  # the run knows whether the time was over
            detail, words = f"{type(error).__name__}: {error}", claim_in_words(case)
            return Finding(FindingKind.UNDECIDED, detail, words, is_lasting=not is_lost)

    return Law(name, sentence, applies, check_case, sampled=sampled, turn=turn)


def _of_raising(case: RemoteMechanism, settings: Settings, detail: str) -> Finding:
    """Return the finding that every call raises: an error, unless one pair only was looked at and others return.

    The whole depth, for which there was no time yet, looks at those.
    """
    words = claim_in_words(case)
    try:
        returns = settings.is_least and _returns_elsewhere(case, settings.seed)
    except SamplerLostError as error:
        return Finding(FindingKind.UNDECIDED, f"{detail}; on another input {error}", words)
    if returns:
        return Finding(FindingKind.NOT_RUN, f"on the only pair of the least depth: {detail}", words)
    return Finding(FindingKind.ERROR, detail, words)


def _returns_elsewhere(case: RemoteMechanism, seed: int) -> bool:
    """Return whether a call returns on an input of some designed pairs."""
    pairs = adversarial_pairs(case.neighbours, seed=seed, limit=_ASKED_PAIRS)
    return any(_returns(case, data, seed) for pair in pairs for data in pair)


def _returns(case: RemoteMechanism, data: Array, seed: int) -> bool:
    try:
        return call(case.sample, data, 1, np.random.default_rng(seed)).failures == 0
    except CallFailedError:
        return False


def _with_call(case: RemoteMechanism, finding: Finding) -> Finding:
    """Return the finding with the library's own call in its witness, if the adapter states it."""
    witness = finding.witness
    if witness is None or finding.kind is FindingKind.OK:
        return finding
    text = reproduction(case.description["call"], witness, claim_in_words(case), finding.detail)
    return finding if text is None else replace(finding, witness={**witness, "call": text})


def claim_in_words(case: RemoteMechanism) -> str:
    """Return the claim of the library in the form of the command line."""
    return str(case.claims[0])


def moves(case: RemoteMechanism) -> str | None:
    """Return None if two different inputs are neighbours, else the reason that the law does not apply."""
    return None if has_pairs(case.neighbours) else "no two different inputs are neighbours"


def has_pairs(relation: NeighbourRelation) -> bool:
    """Return whether two different inputs are neighbours."""
    try:
        adversarial_pairs(relation, seed=0, limit=1)
    except UsageError:
        return False
    return True


def exceeds_claim(
    claim: Claim, left: IdealDistribution, right: IdealDistribution, relative_error: float = 0.0
) -> tuple[bool, float]:
    """Return whether the loss certainly exceeds the claim, and a certified lower bound on the loss.

    Parameters
    ----------
    claim : Claim
        The claim.
    left, right : IdealDistribution
        Output distributions of neighbouring inputs.
    relative_error : float
        Relative error allowed for the claimed parameters.
    """
    with precision(BITS):
        loss = ideal_loss(claim, left, right)
        bound = allowed(claim) * (1 + ball(relative_error))
        if isinstance(claim, (PureDP, BoundedRange)):  # the ratio of probabilities, too, is a float64 number
            bound = bound + ball(ALLOWANCE)
        return bool(loss > bound), float_lower(loss)


@dataclass(frozen=True)
class NoiseLoss:
    """Certified bounds on what a claim bounds, the larger of both directions, for noise that is known.

    Parameters
    ----------
    lower, upper : float
        The upper one is infinite where none is known.
    exceeds, is_allowed : bool
        Whether the loss certainly exceeds the claim, or certainly does not; neither if it is undecided.
    """

    lower: float
    upper: float
    exceeds: bool
    is_allowed: bool


@functools.lru_cache(maxsize=512)
def loss_of_noise(claim: Claim, moved: tuple[NoisePair, ...], relative_error: float = 0.0) -> NoiseLoss:
    """Return the loss of independent noise in both directions.

    Parameters
    ----------
    claim : Claim
        The claim, of a notion with a certified loss of noise.
    moved : tuple of NoisePair
        The noisy numbers that differ, with their distributions on both inputs.
    relative_error : float
        Relative error allowed for the claimed parameters.
    """
    notion = find_notion(claim)
    assert notion.of_noise is not None
    assert notion.of_noise_upper is not None
    lowers, uppers = [arb(0)], [arb(0)]
    with precision(BITS):
        bound = allowed(claim) * (1 + ball(relative_error))
        for pairs in (moved, [(b, a) for a, b in moved]) if moved else ():
            upper = notion.of_noise_upper(claim, pairs)
            lowers.append(notion.of_noise(claim, pairs))
            uppers.append(arb.pos_inf() if upper is None else upper)
        return NoiseLoss(
            max(map(float_lower, lowers)),
            max(map(float_upper, uppers)),
            any(loss > bound for loss in lowers),
            all(loss <= bound for loss in uppers),
        )


def bound_of(claim: Claim) -> float:
    """Return the bound that a claim states, rounded to float64."""
    with precision(BITS):
        return float(allowed(claim).mid())
