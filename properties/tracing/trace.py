"""Tracing a mechanism: its leaves, exactly, from the code that runs."""

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

import dpassay.properties.tracing.array_rules  # noqa: F401 - enters the rules
from dpassay.arguments import UsageError
from dpassay.properties.drawing.global_generators import kept_global_generators, seed_global_generators
from dpassay.properties.tracing.arrays import wrap
from dpassay.properties.tracing.exact_names import exact_names
from dpassay.properties.tracing.exact_numbers import ExactNumber
from dpassay.properties.tracing.execution import Exploration, Sampler, explore
from dpassay.properties.tracing.forms import Form, Row
from dpassay.properties.tracing.generators import SymbolicGenerator, SymbolicRandomState
from dpassay.properties.tracing.noisy_names import noisy_names
from dpassay.properties.tracing.outcome_types import Typed
from dpassay.properties.tracing.own_draws import OwnGenerators, watched_clock
from dpassay.properties.tracing.patches import Watch, patched
from dpassay.properties.tracing.python_random import SymbolicRandom
from dpassay.properties.tracing.refusal import Refusal, forget_frames, original_of
from dpassay.properties.tracing.replay import Replays, replay
from dpassay.properties.tracing.run import Mode, Run
from dpassay.properties.tracing.shared_generators import shared_generators
from dpassay.properties.tracing.tree import Limits
from dpassay.properties.tracing.unity import Domain, checked_unity
from dpassay.properties.tracing.watchdog import OutOfTime, time_limit
from dpassay.spec.leaves.model import LeafModel, NoiseKind, Raised
from dpassay.spec.verdict import Outcome, Verdict

__all__ = ["EVERYWHERE", "REPLAYS", "Trace", "trace"]

EVERYWHERE: Domain = (-math.inf, math.inf)
"""The domain of data without bounds."""

REPLAYS = 64
"""Number of runs on numbers that are compared with the leaves."""

_GENERATORS: dict[str, Callable[[Any], Any]] = {
    "numpy": SymbolicGenerator,
    "random_state": SymbolicRandomState,
    "random": SymbolicRandom,
}
_MODES = [Mode(is_lifted, is_lazy) for is_lazy in (True, False) for is_lifted in (False, True)]
_GRACE_SECONDS = 1.0
"""Time after the deadline in which a run may end by itself before it is interrupted."""


@dataclass(frozen=True)
class Trace:
    """A mechanism that was traced.

    Parameters
    ----------
    model : LeafModel
        Its leaves.
    exploration : Exploration
        The tree of its decisions.
    replays : Replays
        How the runs on numbers ended.
    seconds : float
        Time that it took.
    unity : Verdict
        Whether the probabilities of its leaves sum to 1, up to the undecided mass: "holds" or "undecided".
    notes : tuple of str
        What a user should know.
    """

    model: LeafModel
    exploration: Exploration
    replays: Replays
    seconds: float
    unity: Verdict
    notes: tuple[str, ...] = ()

    def typed(self) -> list[Typed]:
        """Return the outcomes of the leaves with their types, on symbols and in the runs on numbers."""
        types = self.replays.types
        return [
            Typed(leaf.leaf.outcome, leaf.types, frozenset(types.get(leaf.answers, ())))
            for leaf in self.exploration.leaves
            if not isinstance(leaf.leaf.outcome, Raised)
        ]


def trace(
    sampler: Sampler,
    data: Sequence[float] | None = None,
    *,
    size: int = 0,
    domain: Domain = EVERYWHERE,
    source: str = "numpy",
    limits: Limits | None = None,
    replays: int = REPLAYS,
    seed: int = 0,
    on_lattice: bool = False,
    is_exact: bool = False,
    joins_close: bool = False,
    derives: bool = False,
) -> Trace | Refusal:
    """Run a mechanism on symbolic noise and return its leaves, or the reason why that is not possible.

    The mechanism is run once for each leaf, again for its determinism, and on numbers. Arithmetic is exact: floats
    are the dyadic rationals that they are, and what is traced is the ideal mechanism.

    Parameters
    ----------
    sampler : callable
        ``f(data, size, rng)``, which returns `size` outcomes; it is asked for one at a time.
    data : sequence of float, optional
        The input, finite numbers.
    size : int
        Without `data`: the number of coordinates of symbolic data.
    domain : (float, float)
        Least and largest value of each coordinate of symbolic data: decisions that it settles are not taken, and the
        leaves describe the mechanism on such data only.
    source : str
        Interface of the generator: "numpy", "random_state" or "random".
    limits : Limits, optional
        How much is traced.
    replays : int
        Number of runs on numbers that are compared with the leaves, at least 0.
    seed : int
        Seed of the runs on numbers.
    on_lattice : bool
        Whether geometric draws are noise on a lattice where the code supports that, in place of draws trial by trial:
        decisions about them have no probabilities then, but shifts.
    is_exact : bool
        Whether the data are exact numbers, so that arithmetic on data alone does not round either; there are no
        replays then, because runs on floats may differ from such leaves.
    joins_close : bool
        With `is_exact`: whether numbers that differ by a relative 2^-45 or less are equal. The constants of the code
        may stand for decimals that floats are not: ``x * 0.1 + x * 0.2`` and ``x * 0.3`` are equal then.
    derives : bool
        On symbolic data: whether functions of data, such as clipping, are derived coordinates in place of decisions.

    Returns
    -------
    Trace or Refusal
        The leaves; or what is not supported, with file and line.

    Raises
    ------
    UsageError
        If an argument is out of its domain.
    """
    numbers = _require_data(data, size)
    if source not in _GENERATORS:
        raise UsageError(f"source must be one of {', '.join(_GENERATORS)}, got {source!r}")
    limits, first = limits or Limits(), None
    deadline = time.monotonic() + limits.seconds
    if is_exact:
        with exact_names(sampler):
            attempts = (
                _Attempt(
                    sampler,
                    numbers,
                    size,
                    domain,
                    _GENERATORS[source],
                    replace(mode, is_exact=True, joins_close=joins_close),
                    limits,
                    deadline,
                ).carry_out(0, seed)
                for mode in _MODES
                if mode.is_lifted
            )
            return _first_trace(attempts)
    plain = [replace(mode, derives=derives) for mode in _MODES]
    modes = [replace(mode, on_lattice=True) for mode in plain] if on_lattice else []
    for mode in (*modes, *plain):
        if modes and not mode.on_lattice and first is not None and not first.on_lattice:
            return first
        attempt = _Attempt(sampler, numbers, size, domain, _GENERATORS[source], mode, limits, deadline)
        result = attempt.carry_out(replays, seed)
        if isinstance(result, Trace) or result.is_final:
            return result
        first = first or result
    assert first is not None
    return first


def _first_trace(attempts: Iterable[Trace | Refusal]) -> Trace | Refusal:
    """Return the first trace; the first refusal if there is none."""
    first: Refusal | None = None
    for result in attempts:
        if isinstance(result, Trace):
            return result
        first = first or result
    assert first is not None
    return first


@dataclass(frozen=True)
class _Attempt:
    sampler: Sampler
    numbers: list[float] | None
    size: int
    domain: Domain
    generator: Callable[[Any], Any]
    mode: Mode
    limits: Limits
    deadline: float

    def carry_out(self, replays: int, seed: int) -> Trace | Refusal:
        with kept_global_generators():
            seed_global_generators(_unlikely())  # a seed that the target sets itself changes the state
            return self._carried_out(replays, seed)

    def _carried_out(self, replays: int, seed: int) -> Trace | Refusal:
        began, watch, found, own = time.monotonic(), Watch(), None, OwnGenerators(self.sampler)
        try:
            with patched(watch, self.sampler), shared_generators(self.sampler), self._in_time(began):
                own.require_no_shared()
                with noisy_names(self.sampler) if not self.mode.is_exact else nullcontext():
                    found = self._explore()
                with watched_clock(self.sampler) as clock:
                    ended = replay(
                        self.sampler, self.numbers, found, self.generator, replays, seed, self.domain,
                        on_lattice=self.mode.on_lattice,
                    )  # fmt: skip
            if clock.was_read:
                raise _final("the outcome may depend on the time, which the target asks for")
            if words := own.why_used():
                raise _final(words)
        except Refusal as refusal:
            forget_frames(refusal)
            words = own.why_used()
            reason = refusal if words is None else _final(words)
            if found is not None:
                reason.on_lattice = any(noise.kind is NoiseKind.GEOMETRIC for noise in found.variables.noises)
            return reason
        except OutOfTime:
            return Refusal(f"more than {self.limits.seconds:g} seconds", "trace")
        leaves = tuple(leaf.leaf for leaf in found.leaves)
        model = LeafModel(
            leaves, min(found.undecided, Fraction(1)), found.variables.size, tuple(found.variables.derived)
        )
        unity = checked_unity(model, self.domain, seed, self.deadline)
        if unity.outcome is Outcome.VIOLATED:
            return Refusal(f"the trace is wrong: {unity.detail}", "trace")
        return Trace(model, found, ended, time.monotonic() - began, unity, _notes(watch, found))

    def _in_time(self, began: float) -> AbstractContextManager[None]:
        return time_limit(max(0.0, self.deadline - began) + _GRACE_SECONDS)

    def _explore(self) -> Exploration:
        size = 0 if self.numbers is not None else self.size
        found = explore(self.sampler, self._data, size, self.generator, self.mode, self.limits, self.deadline)
        if not found.leaves:
            raise Refusal(f"no run ends: {', '.join(found.reasons)}", "trace")
        return found

    def _data(self, run: Run) -> Any:
        if self.numbers is None:
            values: list[Any] = [run.datum(index) for index in range(self.size)]
            for index in range(self.size):
                run.polyhedron.note(_range(index, self.domain))
        elif self.mode.is_exact:
            values = [ExactNumber(run, Fraction(number)) for number in self.numbers]
        elif not self.mode.is_lifted:
            return np.array(self.numbers, dtype=np.float64)
        else:
            values = list(self.numbers)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return wrap(array)


def _unlikely() -> np.random.SeedSequence:
    """Return a seed that no target sets."""
    return np.random.SeedSequence(int.from_bytes(original_of(os.urandom)(16), "little"))


def _final(words: str) -> Refusal:
    """Return a refusal of the target as such: its outcome depends on more than its data and the generator it gets."""
    refusal = Refusal(words, "")
    refusal.is_final = True
    return refusal


def _range(index: int, domain: Domain) -> list[Row]:
    """Return the rows that say that a coordinate lies in the domain."""
    low, high = domain
    above = [] if low == -math.inf else [Row(Form(-Fraction(low), {index: Fraction(1)}), is_strict=False)]
    below = [] if high == math.inf else [Row(Form(Fraction(high), {index: Fraction(-1)}), is_strict=False)]
    return [*above, *below]


def _require_data(data: Sequence[float] | None, size: int) -> list[float] | None:
    if data is None:
        if not isinstance(size, int) or size < 1:
            raise UsageError(f"size must be at least 1 where there are no data, got {size!r}")
        return None
    numbers = np.asarray(data, dtype=np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise UsageError(f"data must be a list of finite numbers, got {data!r}")
    return [float(number) for number in numbers]


def _notes(watch: Watch, found: Exploration) -> tuple[str, ...]:
    notes = []
    if watch.prints:
        notes.append(f"the target prints; the trace ran it {found.runs} times")
    if watch.writes:
        notes.append(f"the target writes files; the trace ran it {found.runs} times")
    notes.extend(f"undecided: {reason}" for reason in found.reasons)
    return tuple(notes)
