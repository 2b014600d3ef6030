"""Assertions for test suites of private mechanisms.

>>> import numpy as np
>>> from dpassay.claims import PureDP
>>> def noisy(data, size, rng):
...     return data[0] + rng.geometric(0.6, size) - rng.geometric(0.6, size)
>>> result = assert_private(noisy, PureDP(1.0), "vector:size=1,linf=1,integer")
>>> print(result.verdict, result.evidence, round(result.epsilon_upper, 4))
holds exact 0.9163
"""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import dpassay
import dpassay.properties
from dpassay.arguments import MOST_SECONDS, UsageError, require_flag
from dpassay.claims import Claim
from dpassay.curves import profile, trade_off
from dpassay.mechanism import ClaimedMechanism
from dpassay.neighbours import AnyNeighbours
from dpassay.properties.checks.failure import failure_message
from dpassay.properties.drawing.call_guard import CALL_TIMEOUT
from dpassay.properties.drawing.endpoints import endpoint
from dpassay.properties.drawing.foreign_generators import jax_key, torch_generator
from dpassay.properties.drawing.per_call import per_call, per_fit
from dpassay.properties.drawing.target_process import IMPORT_TIMEOUT
from dpassay.properties.hunting.formatting import figures_words, float64_lines, weakness_words
from dpassay.properties.hunting.hunt import Investigation, investigate
from dpassay.properties.hunting.replay import replay
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.hunting.task import FLOAT64_SHARE, read_claim, read_policy, require_level
from dpassay.properties.hunting.verdicts import Float64Policy, HuntVerdict, StopReason
from dpassay.properties.outcomes.calls import Sampler
from dpassay.spec.verdict import Evidence

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = [
    "DEFAULT_LEVEL",
    "LowBitsWarning",
    "MechanismWarning",
    "assert_private",
    "endpoint",
    "jax_key",
    "note_level",
    "note_power",
    "per_call",
    "per_fit",
    "replay",
    "take_levels",
    "take_powers",
    "torch_generator",
    "trade_off",
]

DEFAULT_LEVEL = 1e-9
"""Bound on the probability that one assertion fails although its claim is true."""

_FOLDERS = tuple(Path(package.__path__[0]).resolve() for package in (dpassay, dpassay.properties))

_levels: list[float] = []
_powers: list[tuple[float, str]] = []


class MechanismWarning(UserWarning):
    """Warning about behaviour of a mechanism that does not invalidate its test, or about a weak test."""


class LowBitsWarning(UserWarning):
    """Warning that floats break a claim that the ideal mechanism, in real arithmetic, was not seen to break."""


@overload
def assert_private(
    mechanism: str | ClaimedMechanism | Sampler,
    claim: Claim | str | None = None,
    neighbours: "AnyNeighbours | SearchStrategy[Any] | str | None" = None,
    *,
    level: float = ...,
    seed: int = ...,
    calls: int = ...,
    jobs: int = ...,
    white_box: bool = ...,
    float64: Float64Policy | str = ...,
    call_timeout_seconds: float = ...,
    import_timeout_seconds: float = ...,
    isolate: bool | None = ...,
    allow_weak: bool = ...,
    trace: bool = ...,
    session: int = ...,
) -> HuntResult: ...


@overload
def assert_private(
    mechanism: str | ClaimedMechanism | Sampler,
    claim: list[Any] | tuple[Claim | str, ...] | Callable[[float], float],
    neighbours: "AnyNeighbours | SearchStrategy[Any] | str | None" = None,
    *,
    level: float = ...,
    seed: int = ...,
    calls: int = ...,
    jobs: int = ...,
    white_box: bool = ...,
    float64: Float64Policy | str = ...,
    call_timeout_seconds: float = ...,
    import_timeout_seconds: float = ...,
    isolate: bool | None = ...,
    allow_weak: bool = ...,
    trace: bool = ...,
    session: int = ...,
) -> tuple[HuntResult, ...]: ...


def assert_private(
    mechanism: str | ClaimedMechanism | Sampler,
    claim: Claim | str | list[Any] | tuple[Claim | str, ...] | Callable[[float], float] | None = None,
    neighbours: "AnyNeighbours | SearchStrategy[Any] | str | None" = None,
    *,
    level: float = DEFAULT_LEVEL,
    seed: int = 0,
    calls: int = 50_000,
    jobs: int = 1,
    white_box: bool = True,
    float64: Float64Policy | str = Float64Policy.WARN,
    call_timeout_seconds: float = CALL_TIMEOUT,
    import_timeout_seconds: float = IMPORT_TIMEOUT,
    isolate: bool | None = None,
    allow_weak: bool = False,
    trace: bool = True,
    session: int = 1,
) -> HuntResult | tuple[HuntResult, ...]:
    """Raise AssertionError if a privacy claim of a mechanism is refuted.

    If the exact output distribution is known, the claim is decided rigorously at adversarial pairs of inputs.
    Otherwise the code is run on symbols in place of noise, which may prove the claim for all inputs of the given
    length, or certify a violation; such a decision is about the ideal mechanism, in real arithmetic. Only the
    comparison of outcomes in batches with the traced ones, which may leave a proof undecided, takes the level.
    Otherwise `calls` outcomes are drawn, and a pass means "not refuted", which is not a proof of privacy.

    Parameters
    ----------
    mechanism, neighbours
        As for :func:`dpassay.properties.hunting.hunt.hunt`; a function returns independent outcomes.
    claim : Claim, str, a list or tuple of them, or a function
        As for `hunt`. Each of several claims is tested separately, with `calls` calls and an equal share of the level.
        A function is a curve: its value at epsilon is the claimed delta (:func:`dpassay.curves.profile`). `trade_off`
        makes claims of a trade-off function.
    level : float
        Bound on the probability of failing although all claims are true; an exact decision never errs. The pytest
        plugin reports the sum of the levels of a run.
    seed : int
        Determines the result, together with `calls`.
    calls : int
        Number of outcomes to draw, for each claim, from a mechanism without a known distribution.
    jobs : int
        Number of worker processes.
    white_box : bool
        Whether to use the exact distribution if it is known.
    float64 : {"warn", "fail", "ignore"}
        What follows if floats break the claim through low-order bits or visible rounding: a `LowBitsWarning`, or an
        AssertionError; "ignore" does not look for it. The claim itself is about the ideal mechanism. Unless it is
        ignored, the question has 1/8 of the level.
    call_timeout_seconds : float
        Time limit of one call of the mechanism, inf for none. With a limit it is called in a thread.
    import_timeout_seconds : float
        Time limit for importing a mechanism that is given by name.
    isolate : bool, optional
        As for `hunt`: by default a mechanism that is given by name runs in a separate process, and an object runs in
        the current process, with its state, debugger and coverage. There ``os._exit`` raises an error, and a crash
        of the interpreter ends the test run.
    allow_weak : bool
        Whether a weak test passes, with a warning. A test is weak if with `calls` calls fewer than half of all runs
        would refute a mechanism with twice the claimed loss (:mod:`dpassay.properties.betting.power`).
    trace : bool
        Whether to trace the code of the mechanism. It is run many times; its output is dropped.
    session : int
        As for `hunt`: the number of calls on one input that make an outcome, tested against the composed claim;
        `calls` counts sessions. It finds noise that is reused and state that is kept between calls.

    Returns
    -------
    HuntResult, or a tuple of them for a list or tuple of claims, or a curve
        Verdict, bounds and power of the test, for claims that were not refuted.

    Raises
    ------
    AssertionError
        If a claim is violated; the message has the inputs, the event, both probabilities and code to repeat it.
    UsageError
        If a parameter is out of its domain; if the mechanism cannot be called, exits, hangs, or returns the same
        outcomes for every rng, so that nothing was tested; or if the test is weak (the message states the calls
        needed).

    Warns
    -----
    MechanismWarning
        If the mechanism changes its input in place, is not random, or uses random numbers that do not come from
        `rng`; or if the test is weak.
    LowBitsWarning
        If `float64` is "warn" and the claim is violated in float64.
    """
    __tracebackhide__ = True
    try:
        require_flag("allow_weak", allow_weak)
        policy = read_policy(float64)
        claims = _claims_of(claim)
        share = require_level("level", require_level("level", level) / len(claims))
        found = []
        for one in claims:
            investigation = investigate(
                mechanism,
                one,
                neighbours,
                alpha=share,
                seed=seed,
                calls=_given("calls", calls),
                jobs=_given("jobs", jobs),
                white_box=white_box,
                float64=float64,
                budget_seconds=MOST_SECONDS,
                call_timeout_seconds=call_timeout_seconds,
                import_timeout_seconds=import_timeout_seconds,
                isolate=isolate,
                trace=trace,
                session=session,
            )
            if investigation.result.stopped == StopReason.INTERRUPTED:
                raise KeyboardInterrupt
            found.append(investigation)
    except UsageError as error:  # raised again below, so that the traceback has the test and the mechanism only
        complaint: str | None = str(error)
        origin = _origin(error)
    else:
        complaint, origin = _judged(found, share, calls=calls, float64=policy, allow_weak=allow_weak), None
    if complaint is not None:
        raise UsageError(complaint) from origin
    results = tuple(one.result for one in found)
    for note in dict.fromkeys(f"{result.target}: {note}" for result in results for note in result.notes):
        warnings.warn(note, MechanismWarning, stacklevel=2)
    for result in results if policy is Float64Policy.WARN else ():
        if result.float64 is not None and result.float64.is_violated:
            words = "\n".join(float64_lines(result.float64))
            warnings.warn(f"{result.target}, claim {result.claim}: {words}", LowBitsWarning, stacklevel=2)
    is_one = claim is None or isinstance(claim, Claim | str)
    return results[0] if is_one else results


def _claims_of(claim: Any) -> list[Claim | None]:
    """Return the claims to test; None stands for the claim that the mechanism declares, a function for its points."""
    if claim is None:
        return [None]
    if callable(claim) and not isinstance(claim, Claim | type):
        return list(profile(claim))
    if not isinstance(claim, list | tuple):
        return [read_claim(claim)]
    if not claim:
        raise UsageError("claim must not be an empty list")
    return [read_claim(one) for one in claim]


def _given(name: str, value: int) -> int:
    if value is None:
        raise UsageError(f"{name} must be an integer, got None")
    return value


def _judged(
    found: Sequence[Investigation], share: float, *, calls: int, float64: Float64Policy, allow_weak: bool
) -> str | None:
    """Record the levels; raise AssertionError for violated claims; return a message if a test is void or weak."""
    __tracebackhide__ = True
    results = [one.result for one in found]
    for result in results:
        sampled_floats = float64 is Float64Policy.FAIL and result.float64 is not None
        exact_level = FLOAT64_SHARE * share if sampled_floats else 0.0
        note_level(share if result.evidence is Evidence.SAMPLED else exact_level)
    reports = [
        failure_message(one.result, one.claim, one.neighbours, calls=calls, float64=float64, stated=one.stated)
        for one in found
        if one.result.verdict is HuntVerdict.VIOLATED or _fails_in_float64(one.result, float64)
    ]
    if reports:
        raise AssertionError("\n\n".join(reports))
    # a test without any power is void too, but says how many calls it needs, and `allow_weak` accepts it
    void = next((result for result in results if result.is_void and result.power is None), None)
    if void is not None:
        return f"mechanism {void.target!r} was not fully tested: {'; '.join(void.notes)}"
    complaints = [_weakness_of(result, calls, allow_weak=allow_weak) for result in results]
    return next(filter(None, complaints), None)


def _fails_in_float64(result: HuntResult, float64: Float64Policy) -> bool:
    return float64 is Float64Policy.FAIL and result.float64 is not None and result.float64.is_violated


def _origin(error: UsageError) -> BaseException | None:
    """Return the exception of the mechanism that caused an error, with the frames of the mechanism only."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    frames = cause.__traceback__
    while frames is not None and _is_own_file(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return None if frames is None or isinstance(cause, UsageError) else cause.with_traceback(frames)


def _is_own_file(file: str) -> bool:
    return any(Path(file).resolve().is_relative_to(folder) for folder in _FOLDERS)


def _weakness_of(result: HuntResult, calls: int, *, allow_weak: bool) -> str | None:
    """Record the power of an assertion; return a message if it is too weak."""
    if result.power is None:
        return None
    weakness = weakness_words(result.power, result.claim)
    if weakness is not None and not allow_weak:
        return f"calls={calls} is a {weakness} (allow_weak=True accepts it)"
    note_power(result.power.weakness, f"{figures_words(result.power)} for the claim {result.claim}")
    return None


def note_level(level: float) -> None:
    """Record the level of an assertion made outside `assert_private`; 0 for an exact decision."""
    _levels.append(level)


def note_power(weakness: float, words: str) -> None:
    """Record the power of an assertion that passed: its weakness (above 1 means weak) and its figures as text."""
    _powers.append((weakness, words))


def take_powers() -> list[tuple[float, str]]:
    """Return the powers recorded since the last call, and clear the record.

    Returns
    -------
    list of (float, str)
        The weakness (see :class:`dpassay.properties.betting.power.Power`), and the figures as text.
    """
    taken = _powers.copy()
    _powers.clear()
    return taken


def take_levels() -> list[float]:
    """Return the levels of the assertions made since the last call, 0 for exact decisions, and clear the record."""
    taken = _levels.copy()
    _levels.clear()
    return taken
