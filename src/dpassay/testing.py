"""Assertions for the test suites of people who write private mechanisms.

>>> import numpy as np
>>> from dpassay.claims import PureDP
>>> def noisy(data, size, rng):
...     return data[0] + rng.geometric(0.6, size) - rng.geometric(0.6, size)
>>> result = assert_private(noisy, PureDP(1.0), "vector:size=1,linf=1,integer", calls=2000)
>>> result.verdict
'not refuted'
"""

import warnings

from dpassay.claims import Claim, Mechanism, NeighbourRelation, UsageError
from dpassay.properties.audit.outcomes import Sampler
from dpassay.properties.audit.watching import CALL_TIMEOUT
from dpassay.properties.checks.failure import failure_message
from dpassay.properties.search.hunt import hunt
from dpassay.properties.search.replay import replay
from dpassay.properties.search.result import HuntResult
from dpassay.properties.search.target import load_target
from dpassay.properties.search.task import claim_of, neighbours_of

__all__ = ["DEFAULT_LEVEL", "MechanismWarning", "assert_private", "note_level", "replay", "take_levels"]

DEFAULT_LEVEL = 1e-9
"""The probability with which one assertion may fail although its claim is true."""

_NO_TIME_LIMIT = 1e9  # an assertion must depend on its seed and calls, never on the speed of the machine

_levels: list[float] = []


class MechanismWarning(UserWarning):
    """Given where a mechanism does something that does not invalidate its test, but that its author should know."""


def assert_private(
    mechanism: str | Mechanism | Sampler,
    claim: Claim | str | None = None,
    neighbours: NeighbourRelation | str | None = None,
    *,
    level: float = DEFAULT_LEVEL,
    seed: int = 0,
    calls: int = 50_000,
    jobs: int = 1,
    white_box: bool = True,
    low_bits: bool = True,
    call_timeout_seconds: float = CALL_TIMEOUT,
) -> HuntResult:
    """Fail if a mechanism is caught breaking its privacy claim.

    Where the exact output distribution is known the claim is decided rigorously at adversarial pairs of inputs.
    Otherwise the mechanism is called `calls` times, and a pass says "not refuted": no proof of privacy.

    Parameters
    ----------
    mechanism, claim, neighbours
        As for :func:`dpassay.properties.search.hunt.hunt`.
    level : float
        Probability of failing although the claim is true; an exact decision never errs. The pytest plugin reports
        the sum of the levels of a run.
    seed : int
        Determines the result, together with `calls`.
    calls : int
        Number of outcomes to draw from a mechanism without a known law.
    jobs : int
        Workers that sample.
    white_box : bool
        Whether to use the exact law where it is known.
    low_bits : bool
        Whether to look at the low-order bits of numbers. Noise computed in float64 is given away by them; without
        them the assertion is about the ideal mechanism.
    call_timeout_seconds : float
        Time that one call of the mechanism may take, inf for no limit. With a limit it is called in a thread.

    Returns
    -------
    HuntResult
        For a claim that was not refuted: the bounds that were reached.

    Raises
    ------
    AssertionError
        If the claim is violated, with the pair of inputs, the event, both probabilities and what to paste.
    UsageError
        If a parameter is out of its domain, the mechanism cannot be called, hangs, or repeats itself whatever its
        rng, so that nothing was tested.

    Warns
    -----
    MechanismWarning
        If the mechanism changes its input in place, is not random, or draws from elsewhere than its rng.
    """
    __tracebackhide__ = True
    result = hunt(
        mechanism,
        claim,
        neighbours,
        alpha=level,
        seed=seed,
        calls=calls,
        jobs=jobs,
        white_box=white_box,
        low_bits=low_bits,
        budget_seconds=_NO_TIME_LIMIT,
        call_timeout_seconds=call_timeout_seconds,
    )
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    note_level(level if result.evidence == "sampled" else 0.0)
    if result.verdict == "violated":
        target = load_target(mechanism) if isinstance(mechanism, str) else mechanism
        raise AssertionError(
            failure_message(
                result, claim_of(target, claim), neighbours_of(target, neighbours), calls=calls, low_bits=low_bits
            )
        )
    if result.is_void:
        raise UsageError(f"mechanism {result.target!r} was not tested to the end: {'; '.join(result.notes)}")
    for note in result.notes:
        warnings.warn(f"{result.target}: {note}", MechanismWarning, stacklevel=2)
    return result


def note_level(level: float) -> None:
    """Enter the level of an assertion that something else than `assert_private` made, 0 for an exact decision."""
    _levels.append(level)


def take_levels() -> list[float]:
    """Return the levels of the assertions made since the last call, 0 for exact decisions, and forget them."""
    taken = _levels.copy()
    _levels.clear()
    return taken
