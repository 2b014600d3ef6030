"""Enumeration of the runs of a mechanism: shortest prefixes of decisions first, each leaf run a second time."""

import heapq
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpassay.properties.outcomes.raised import raised_words
from dpassay.properties.tracing.forms import Row
from dpassay.properties.tracing.outcome_types import types_of_parts
from dpassay.properties.tracing.outcomes import affine_of, first_outcome, normal_form
from dpassay.properties.tracing.refusal import Refusal, active, forget_frames, place_of, refuse, require_exception
from dpassay.properties.tracing.run import Interrupted, Mode, Run, Variables
from dpassay.properties.tracing.symbols import Symbol
from dpassay.properties.tracing.tree import Choice, Limits, Node, Pending
from dpassay.properties.tracing.watchdog import OutOfTime
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, NoiseKind, Raised, Relation

__all__ = ["Exploration", "Sampler", "TracedLeaf", "explore", "to_affine"]

Sampler = Callable[[Any, int, Any], Any]
MakeGenerator = Callable[[Any], Any]

_ALLOWANCE = 32
"""New decisions that a run may make before it is paused: other runs get their turn."""


@dataclass(frozen=True)
class TracedLeaf:
    """A leaf, with the data for comparing it with runs on numbers.

    Parameters
    ----------
    leaf : Leaf
        The leaf.
    answers : tuple of int
        Its path in the tree.
    draws : tuple of (NoiseKind, int)
        Numbers of noises drawn.
    choices : tuple of Choice
        The discrete draws.
    interior : callable
        Finds a point inside, by variable, in floats; None if it finds none.
    types : Hashable
        The types of the outcome and its parts.
    place : str
        File and line of the code under test where the exception was raised that is the outcome; empty for others.
    """

    leaf: Leaf
    answers: tuple[int, ...]
    draws: tuple[tuple[NoiseKind, int], ...]
    choices: tuple[Choice, ...]
    interior: Callable[[], dict[int, float] | None]
    types: Hashable = None
    place: str = ""


@dataclass
class Exploration:
    """The tree of a mechanism as far as it was explored."""

    root: Node
    variables: Variables
    leaves: list[TracedLeaf]
    undecided: Fraction
    reasons: dict[str, None]
    runs: int = 0


class _Explorer:
    def __init__(
        self, sampler: Sampler, data: Any, size: int, generator: MakeGenerator, mode: Mode, limits: Limits,
        deadline: float,
    ) -> None:  # fmt: skip
        self.sampler, self.data, self.generator = sampler, data, generator
        self.mode, self.limits, self.deadline = mode, limits, deadline
        self.found = Exploration(Node(None, 1, lambda _: ()), Variables(size), [], Fraction(0), {})
        self.waiting = [Pending.at((), 0, Fraction(1))]
        self.arrivals = 1
        self.constraints: dict[int, tuple[Row, Constraint]] = {}

    def explore(self) -> Exploration:
        while self.waiting:
            pending = heapq.heappop(self.waiting)
            reason = self._reason_to_stop(pending)
            if reason is None:
                self._run(pending)
            else:
                self._give_up(pending.mass, reason)
        return self.found

    def _reason_to_stop(self, pending: Pending) -> str | None:
        if pending.mass < self.limits.negligible:
            return "runs of negligible probability"
        if len(self.found.leaves) >= self.limits.leaves:
            return f"more than {self.limits.leaves} leaves"
        if time.monotonic() > self.deadline:
            return f"more than {self.limits.seconds:g} seconds"
        return None

    def _run(self, pending: Pending) -> None:
        run, outcome = self._execute(pending.prefix, _ALLOWANCE)
        self._give_up(run.lost, "tails of discrete draws, and gaps beside irrational numbers")
        for prefix, mass in run.departures:
            self._wait(prefix, mass)
        if run.interruption is None:
            self._finish(run, outcome)
        elif run.interruption.reason == "paused":
            self._wait(tuple(run.answers), run.mass)
        elif run.interruption.reason != "impossible":
            self._give_up(run.mass, run.interruption.reason)

    def _finish(self, run: Run, outcome: Hashable) -> None:
        again, same = self._execute(tuple(run.answers), 0)
        if again.interruption is not None:  # out of time: nothing is known of its determinism
            self._give_up(run.mass, again.interruption.reason)
            return
        if (same, again.answers, again.counts, again.choices) != (outcome, run.answers, run.counts, run.choices):
            refusal = Refusal(
                "not a function of its data and its generator: two runs with the same decisions differ",
                "",
            )
            refusal.is_final = True  # what changes with the calls may look like a function in later runs
            raise refusal
        self.found.leaves.append(replace(self._leaf(run, outcome, again.types), place=again.place))

    def _execute(self, prefix: Sequence[int], allowance: int) -> tuple[Run, Hashable]:
        found = self.found
        found.runs += 1
        run = Run(
            found.root, tuple(prefix), found.variables, self.limits, self.mode, allowance, self.deadline
        )  # fmt: skip
        data, generator = self.data(run), self.generator(run)
        active.run = active.tape = run
        try:
            outcome = self._outcome(run, data, generator)
        finally:
            active.run = active.tape = None
            for ended in (run.refusal, run.interruption):
                forget_frames(ended)
        if run.refusal is not None:
            raise run.refusal
        return run, outcome

    def _outcome(self, run: Run, data: Any, generator: Any) -> Hashable:
        """Return the outcome of a run; None if it was interrupted or refused, which the run knows."""
        try:
            return self._released_or_raised(run, data, generator)
        except (Interrupted, Refusal):
            return None
        except OutOfTime:
            run.interruption = Interrupted(f"more than {self.limits.seconds:g} seconds")
            return None

    def _released_or_raised(self, run: Run, data: Any, generator: Any) -> Hashable:
        try:
            outcome = first_outcome(self.sampler(data, 1, generator))
            run.types = types_of_parts(outcome)
            return normal_form(outcome, lambda symbol: to_affine(symbol, run, self.found.variables))
        except (Interrupted, Refusal, OutOfTime):
            raise
        except BaseException as error:  # noqa: BLE001 - an exception is an outcome if numbers confirm it
            require_exception(error)
            run.place = place_of(error)
            return Raised(raised_words(error))  # a message that needs noise decides or refuses as all code does

    def _leaf(self, run: Run, outcome: Hashable, types: Hashable) -> TracedLeaf:
        constraints = tuple(map(self._constraint, run.polyhedron.rows))
        choices = tuple(run.choices)
        leaf = Leaf(constraints, run.weight, outcome, tuple(run.named_choices))
        return TracedLeaf(
            leaf, tuple(run.answers), tuple(sorted(run.counts.items())), choices, run.polyhedron.interior_point,
            types,
        )  # fmt: skip

    def _constraint(self, row: Row) -> Constraint:
        """Return a row as a constraint: one object for all leaves below its node, whose rows are one object, too."""
        known = self.constraints.get(id(row))
        if known is None:
            form = affine_of(row.form, self.found.variables.noise, self.found.variables.size)
            assert isinstance(form, Affine)
            known = row, Constraint(form, Relation.ABOVE if row.is_strict else Relation.AT_LEAST)
            self.constraints[id(row)] = known  # the row lives on: its id stays its own
        return known[1]

    def _wait(self, prefix: tuple[int, ...], mass: Fraction) -> None:
        heapq.heappush(self.waiting, Pending.at(prefix, self.arrivals, mass))
        self.arrivals += 1

    def _give_up(self, mass: Fraction, reason: str) -> None:
        if mass:
            self.found.undecided += mass
            self.found.reasons[reason] = None


def explore(
    sampler: Sampler, data: Callable[[Run], Any], size: int, generator: MakeGenerator, mode: Mode, limits: Limits,
    deadline: float,
) -> Exploration:  # fmt: skip
    """Enumerate the runs of a mechanism.

    Parameters
    ----------
    sampler : callable
        The mechanism, ``f(data, size, rng)``.
    data : callable
        Makes the input of a run.
    size : int
        Number of coordinates of symbolic data; 0 for numbers.
    generator : callable
        Makes the generator of a run from the run.
    mode : Mode
        How arrays behave.
    limits : Limits
        How much is explored.
    deadline : float
        Time at which it ends.

    Raises
    ------
    Refusal
        If a run does something that has no exact counterpart.
    """
    explorer = _Explorer(sampler, data, size, generator, mode, limits, deadline)
    try:
        return explorer.explore()
    except Refusal as refusal:
        noises = explorer.found.variables.noises
        refusal.on_lattice = any(noise.kind is NoiseKind.GEOMETRIC for noise in noises)
        raise


def to_affine(symbol: Symbol, run: Run, variables: Variables) -> Affine | Fraction:
    """Return a symbol of a run as an affine form."""
    if symbol.run is not run:
        refuse("a noisy value kept from an earlier call")
    run.require_unused(symbol.form)
    return affine_of(symbol.form, variables.noise, variables.size)
