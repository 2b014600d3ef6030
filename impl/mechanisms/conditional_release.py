"""Conditional release: an outcome is published if it lies in a target, and may be revised with a further target.

Cohen and Lyu 2023, Alg 2, inside the session that counts the hits (the published algorithm has no halt of its own).
The outcome is drawn once and kept; a revision is charged at 2 epsilon, since the withheld part has been learnt.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpassay.arguments import UsageError, require_positive
from dpassay.impl.accounting.target_quality import not_prior_quality
from dpassay.impl.mechanisms.target_charging import TargetCharging

__all__ = ["WITHHELD", "ConditionalReleases", "Interval", "Released", "Withheld"]


class Withheld:
    """The type of `WITHHELD`, the prior outcome of a conditional release."""

    def __repr__(self) -> str:
        return "WITHHELD"


WITHHELD = Withheld()
"""Published instead of an outcome outside the target."""


@dataclass(frozen=True)
class Interval:
    """The numbers x with low <= x < high, as a target; high may be infinite and is then included."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise UsageError(f"low must be below high, got low={self.low!r}, high={self.high!r}")

    def __contains__(self, value: Any) -> bool:
        """Return whether a number, or the score at the end of a tuple, lies in the interval."""
        number = value[-1] if isinstance(value, tuple) else value
        return bool(self.low <= number < self.high or (math.isinf(self.high) and number == self.high))

    def meets(self, other: "Interval") -> bool:
        """Return whether two intervals have a number in common."""
        return self.low < other.high and other.low < self.high


ReleaseTarget = frozenset[Any] | Interval


@dataclass(frozen=True)
class Released:
    """Result of a conditional release: its identifier for revisions, and the outcome or `WITHHELD`."""

    identifier: int
    outcome: Any


class ConditionalReleases:
    """Conditional releases and their revisions, charged to a session.

    Parameters
    ----------
    session : TargetCharging
        Counts the hits; of one target. For revisions it must be made for twice the epsilon of the releases, with
        the quality 1/(e^(2 epsilon) + 1) at most.
    epsilon : float
        Privacy parameter of every release, in nats, positive.

    Raises
    ------
    UsageError
        If `epsilon` is not positive, or the session is made for less.
    """

    def __init__(self, session: TargetCharging, epsilon: float) -> None:
        self.session = session
        self.epsilon = require_positive("epsilon", epsilon)
        self._require_session(epsilon)
        self._held: dict[int, tuple[Any, list[ReleaseTarget]]] = {}

    def release(self, run: Callable[[], Any], target: ReleaseTarget, *, delta: float = 0.0) -> Released:
        """Run a call once, store its outcome, and publish it if it lies in the target.

        Raises
        ------
        HaltedError, BudgetExceeded, UsageError
            As `TargetCharging.ask`; nothing is kept then.
        """
        _require_target(target)
        if not callable(run):
            raise UsageError(f"run must be callable, got {run!r}")
        kept: list[Any] = []

        def conditionally() -> Any:
            kept.append(run())
            return kept[0] if kept[0] in target else WITHHELD

        quality = float(not_prior_quality(self.epsilon))
        outcome = self.session.ask(conditionally, _Published(), epsilon=self.epsilon, quality=quality, delta=delta)
        identifier = len(self._held)
        self._held[identifier] = kept[0], [target]
        return Released(identifier, outcome)

    def revise(self, identifier: int, target: ReleaseTarget) -> Any:
        """Publish the stored outcome if it lies in a further target, else `WITHHELD`.

        Raises
        ------
        UsageError
            If the identifier is unknown, the target meets one that the release had before, or the session is not
            made for 2 epsilon. Nothing is published or charged.
        HaltedError
            If the session has halted.
        """
        _require_target(target)
        if isinstance(identifier, bool) or not isinstance(identifier, int) or identifier not in self._held:
            raise UsageError(f"identifier must be that of an earlier release, got {identifier!r}")
        outcome, before = self._held[identifier]
        if any(_meet(target, earlier) for earlier in before):
            raise UsageError(f"target must not meet what the release was asked for before, got {target!r}")
        self._require_session(2 * self.epsilon)
        published = self.session.ask(
            lambda: outcome if outcome in target else WITHHELD,
            _Published(),
            epsilon=2 * self.epsilon,
            quality=float(not_prior_quality(2 * self.epsilon)),
        )
        before.append(target)
        return published

    def _require_session(self, epsilon: float) -> None:
        quality = float(not_prior_quality(epsilon))
        if self.session.targets != 1 or self.session.epsilon < epsilon or self.session.quality > quality:
            raise UsageError(
                f"session must have one target and be made for epsilon >= {epsilon!r} and quality <= {quality!r}, "
                f"got {self.session.targets} targets, epsilon={self.session.epsilon!r}, "
                f"quality={self.session.quality!r}"
            )


class _Published:
    """The NotPrior target: everything but `WITHHELD`."""

    def __contains__(self, outcome: object) -> bool:
        return outcome is not WITHHELD


def _require_target(target: Any) -> None:
    if not isinstance(target, (frozenset, Interval)):
        raise UsageError(f"target must be a frozenset of outcomes or an Interval, got {target!r}")


def _meet(first: ReleaseTarget, second: ReleaseTarget) -> bool:
    if isinstance(first, Interval) and isinstance(second, Interval):
        return first.meets(second)
    if isinstance(first, frozenset):
        return any(value in second for value in first)
    return any(value in first for value in second) if isinstance(second, frozenset) else False
