"""Runs that tested nothing: every call raises, or every call returns the same outcome."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from dpassay.arguments import UsageError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.betting.game import PairGame
from dpassay.properties.drawing.call_guard import Habit, WatchedSampler
from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.calls import CallFailedError, Sampler, WrongCountError, call

__all__ = [
    "CONSTANT_OUTCOME",
    "ROUNDING_EVERYWHERE",
    "SAME_OUTCOME",
    "EveryCallRaisesError",
    "every_call_raised",
    "exception_of",
    "is_one_exception",
    "notes_on_calls",
    "only_outcome",
    "raise_exception_of",
]

CONSTANT_OUTCOME = (
    "every call on every input returned the same outcome, so nothing was tested: check that the target uses its input"
)
"""The note of a run that saw one outcome only."""

SAME_OUTCOME = "the target returns the same outcome on every input: check that it is meant to release nothing else"
"""The note of a proof about one outcome only."""

ROUNDING_EVERYWHERE = (
    "on every input that was tried the rounding of float64 is visible beside the noise, so that nothing is known of "
    "the ideal mechanism: smaller numbers would show it"
)
"""The note of a run that tested float64 only."""


class EveryCallRaisesError(UsageError):
    """Every call of a target raised, on both sides of every pair: there is a mistake to mend, and nothing to test."""


def only_outcome(games: Sequence[PairGame]) -> tuple[Hashable] | None:
    """Return the one outcome that all games remember; None if there are several, or none."""
    seen = []
    for game in games:
        for outcomes, _ in game.archive:
            if not outcomes.are_alike():
                return None
            seen.append(outcomes.taken(np.arange(1)))
    if not seen or not Outcomes.joined(seen).are_alike():
        return None
    return (seen[0].atoms()[0],)


def every_call_raised(games: Sequence[PairGame]) -> bool:
    """Return whether every call of these games raised, on both inputs of a pair.

    The first calls of a pair may all fall on one input; where that one raises and the other does not, the target has
    an outcome that tells them apart, and no mistake to mend.
    """
    return all(game.calls and game.only_failures for game in games) and any(game.called_both for game in games)


def is_one_exception(games: Sequence[PairGame]) -> bool:
    """Return whether every call of these games raised, always the same exception."""
    if not every_call_raised(games):
        return False
    return len({atom for game in games for outcomes, _ in game.archive for atom in outcomes.atoms()}) <= 1


_ASKED = 3
"""Outcomes for which a target is asked to see whether it returns as many: a trace asks for one at a time."""


def notes_on_calls(sampler: Sampler, inputs: Sequence[Any]) -> tuple[str, ...]:
    """Call a target that a trace decided, once on each input, and return notes on what the trace does not show.

    Raises
    ------
    UsageError
        If the target returns another number of outcomes than it is asked for.
    """
    watched = WatchedSampler(sampler)
    for data in inputs:
        try:
            call(watched, data, _ASKED, np.random.default_rng(0))
        except WrongCountError as error:
            raise UsageError(error.complaint) from None
        except CallFailedError:
            continue  # itself an outcome
    return (Habit.EDITS_INPUT.value,) if Habit.EDITS_INPUT in watched.habits else ()


def raise_exception_of(sampler: Sampler, data: Any) -> None:
    """Call once more and raise `EveryCallRaisesError`, with the exception of the target as its cause."""
    words = "target, called as f(data, size, rng), raises on every input: "
    try:
        call(getattr(sampler, "raising", sampler), data, 1, np.random.default_rng(0))
    except WrongCountError as error:
        raise UsageError(error.complaint) from None
    except CallFailedError as error:
        raise EveryCallRaisesError(f"{words}{error}") from error
    raise EveryCallRaisesError(f"{words}{exception_of(sampler, data)}")


def exception_of(sampler: Sampler, data: Any) -> str:
    """Call once more, and return the type and the message of the exception.

    A sampler that returns symbols for exceptions may have a function `raising`, which lets them through.
    """
    raising: Sampler = getattr(sampler, "raising", sampler)
    try:
        outcomes = call(raising, data, 1, np.random.default_rng(0))
    except (CallFailedError, SamplerLostError, UsageError) as error:
        return str(error)
    return f"a repeated call did not raise; it returned {outcomes.symbols()[0]!r}"
