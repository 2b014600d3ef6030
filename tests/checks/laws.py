"""The laws that mechanisms must obey, by name: what mutants are held against.

A law takes a mechanism and says whether it obeys. Sampled laws say so at a stated level; a mechanism that is not
refuted has not been proved private.
"""

from collections.abc import Callable

import numpy as np
from tests.checks.bounds import ACCURACY
from tests.checks.stopping import changed_decisions

from dpassay.claims import PureDP
from dpassay.impl.mechanisms.noise_reduction import NoiseReduction
from dpassay.mechanism import ClaimedMechanism
from dpassay.properties.checks.events import privacy_at_known_events
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.spec.verdict import Evidence

__all__ = [
    "LAWS",
    "privacy_at_known_events",
    "privacy_in_float64",
    "privacy_of_claim",
    "stopping_on_releases",
    "tightness_of_claim",
]

Law = Callable[[ClaimedMechanism], bool]

LEVEL = 1e-10
STAGES = (10_000, 40_000, 200_000)


def privacy_of_claim(mechanism: ClaimedMechanism, *, most_calls: int = STAGES[-1]) -> bool:
    """Return whether no pair of neighbours is found on which the mechanism breaks its first claim.

    From the exact distribution where it is known; otherwise from up to `most_calls` calls, in stages that share a
    false-alarm probability of at most 1e-10, so that what is badly broken is told quickly. It is a law of the ideal
    mechanism: the low-order bits of floats are not looked at.
    """
    return _survives(mechanism, most_calls, float64="ignore")


def privacy_in_float64(mechanism: ClaimedMechanism, *, most_calls: int = STAGES[-1]) -> bool:
    """Return whether the same holds for the returned floats, down to their lowest bits: few samplers obey."""
    return _survives(mechanism, most_calls, float64="fail")


def _survives(mechanism: ClaimedMechanism, most_calls: int, *, float64: str) -> bool:
    share = LEVEL / len(STAGES)
    stages = (calls for calls in STAGES if calls <= most_calls)
    found = (hunt(mechanism, calls=calls, alpha=share, float64=float64, trace=False) for calls in stages)
    return all(
        result.verdict is not HuntVerdict.VIOLATED and not (result.float64 is not None and result.float64.is_violated)
        for result in found
    )


def tightness_of_claim(mechanism: ClaimedMechanism) -> bool:
    """Return whether an exact loss is claimed: within 1e-9 of the certified loss at the worst pair found.

    Speaks of mechanisms with a pure claim and a known distribution only; others obey vacuously.
    """
    claim, result = mechanism.claims[0], hunt(mechanism, calls=1, trace=False)
    if not isinstance(claim, PureDP) or result.evidence is not Evidence.ENCLOSED:
        return True
    return claim.epsilon <= result.epsilon_lower * (1 + float(ACCURACY))


def stopping_on_releases(mechanism: ClaimedMechanism) -> bool:
    """Return whether noise reduction stops on what it has released alone: no run changes its decision in a replay.

    Speaks of noise-reduction mechanisms only; others obey vacuously.
    """
    if not isinstance(mechanism, NoiseReduction):
        return True
    changed = changed_decisions(mechanism, np.zeros(mechanism.size), np.random.default_rng(0))
    return not (changed.by_the_future or changed.by_the_data)


LAWS: dict[str, Law] = {
    "privacy_at_known_events": privacy_at_known_events,
    "privacy_in_float64": privacy_in_float64,
    "privacy_of_claim": privacy_of_claim,
    "stopping_on_releases": stopping_on_releases,
    "tightness_of_claim": tightness_of_claim,
}
"""Every law by the name under which mutants cite it."""
