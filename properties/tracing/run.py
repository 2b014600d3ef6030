"""One run of a mechanism on symbols, under given answers to its first decisions."""

import functools
import itertools
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpassay.properties.tracing.arrays import SymbolArray, wrap
from dpassay.properties.tracing.discrete import geometric
from dpassay.properties.tracing.forms import Form, KnownForms, Row, combine
from dpassay.properties.tracing.inversion import inversion_of
from dpassay.properties.tracing.mass import intervals, mass_upper
from dpassay.properties.tracing.outcomes import affine_of
from dpassay.properties.tracing.polyhedron import Polyhedron
from dpassay.properties.tracing.refusal import Refusal, active, caller, placed, refuse
from dpassay.properties.tracing.symbols import Symbol
from dpassay.properties.tracing.tree import Cell, Choice, Limits, Node
from dpassay.spec.leaves.model import CONTINUOUS, Affine, Derived, Function, Noise, NoiseKind

__all__ = ["Interrupted", "Mode", "Run", "Variables", "has_living_run", "runs_made"]

_ONE = Fraction(1)
_FEW = 3
"""With at most this many answers a decision is checked for one that the constraints imply."""


_ZERO = Fraction(0)
_ENDS: dict[Function, tuple[Fraction | None, Fraction | None]] = {
    Function.ABOVE: (_ZERO, _ONE), Function.AT_LEAST: (_ZERO, _ONE), Function.ABS: (_ZERO, None),
    Function.SQUARE: (_ZERO, None),
}  # fmt: skip
"""Least and largest values of functions of data."""


_LIVING: "weakref.WeakSet[Run]" = weakref.WeakSet()
_NUMBERS = itertools.count()


def runs_made() -> int:
    """Return a number that is larger than those of all runs before."""
    return next(_NUMBERS)


def has_living_run(since: int) -> bool:
    """Return whether something refers to a run made since: after a trace, the code under test keeps its symbols."""
    return any(run.number > since for run in _LIVING)


def _says_nothing(_: int) -> Cell:
    return ()


@dataclass(frozen=True)
class Mode:
    """The behaviour of arrays.

    Parameters
    ----------
    is_lifted : bool
        Whether arrays of floats that are made during the run can hold symbols, the data among them.
    is_lazy : bool
        Whether comparisons of arrays are decided element by element when they are used, or all at once.
    on_lattice : bool
        Whether geometric draws are noise on a lattice, in place of draws trial by trial.
    is_exact : bool
        Whether the data are exact numbers in place of floats.
    joins_close : bool
        Whether exact numbers that differ by no more than the rounding of constants are equal.
    derives : bool
        Whether functions of symbolic data, such as clipping, are coordinates of their own in place of decisions.
    """

    is_lifted: bool
    is_lazy: bool
    on_lattice: bool = False
    is_exact: bool = False
    joins_close: bool = False
    derives: bool = False


class Interrupted(BaseException):
    """The run is abandoned: it is paused, impossible, or at its limit."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Variables:
    """The numbers of the variables: coordinates of the data first, then noises in order of appearance.

    Derived coordinates have the numbers -1, -2, ...

    Parameters
    ----------
    size : int
        Number of coordinates of symbolic data.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.noises: list[Noise] = []
        self.derived: dict[Derived, int] = {}
        self.forms = KnownForms()
        self._numbers: dict[Noise, int] = {}
        self._draws: dict[tuple[str, int], list[tuple[Fraction, ...]]] = {}

    def number(self, noise: Noise) -> int:
        """Return the number of a noise."""
        if noise not in self._numbers:
            self._numbers[noise] = self.size + len(self.noises)
            self.noises.append(noise)
        return self._numbers[noise]

    def name_of_draw(self, label: str, position: int, weights: tuple[Fraction, ...]) -> str:
        """Return a name for a discrete draw that no draw with other probabilities has."""
        kinds = self._draws.setdefault((label, position), [])
        if weights not in kinds:
            kinds.append(weights)
        kind = kinds.index(weights)
        return f"{label}[{position}]" + (f" of kind {kind}" if kind else "")

    def number_of_derived(self, function: Derived) -> int:
        """Return the number of a derived coordinate."""
        return self.derived.setdefault(function, -1 - len(self.derived))

    def noise(self, number: int) -> Noise:
        """Return the noise that has a number."""
        return self.noises[number - self.size]


class Run:
    """A run: its decisions, its noises, and where it departs from the answers that were given.

    Parameters
    ----------
    root : Node
        A node whose answer 0 leads to the first decision.
    prefix : tuple of int
        Answers to the first decisions.
    variables : Variables
        Shared by all runs of a trace.
    limits : Limits
        Limits of the trace.
    mode : Mode
        How arrays behave.
    allowance : int
        Number of decisions beyond the prefix after which the run is paused.
    deadline : float
        Time, as `time.monotonic` gives it, at which the trace ends.
    """

    def __init__(
        self, root: Node, prefix: tuple[int, ...], variables: Variables, limits: Limits, mode: Mode, allowance: int,
        deadline: float,
    ) -> None:  # fmt: skip
        self.refusal: Refusal | None = None
        self.interruption: Interrupted | None = None
        self.types: Hashable = None
        self.place = ""
        self.mode = mode
        self.limits = limits
        self.kinds: dict[int, NoiseKind] = {}
        self._polyhedron = Polyhedron(self.kinds)
        self._unread: list[tuple[bool, Cell]] = []
        self.answers: list[int] = []
        self.choices: list[Choice] = []
        self.named_choices: list[Choice] = []
        self.counts: Counter[NoiseKind] = Counter()
        self._inverted: dict[int, Form] = {}
        self._inversions: dict[tuple[Any, ...], dict[int, Fraction]] = {}
        self._clipped: dict[int, tuple[Form, Fraction | None, Fraction | None]] = {}
        self._drawn = 0
        self.weight = _ONE
        self.lost = Fraction(0)
        self.departures: list[tuple[tuple[int, ...], Fraction]] = []
        self._node, self._prefix, self._variables = root, prefix, variables
        self.forms = variables.forms
        self._allowance, self._deadline = allowance, deadline
        self._thread = threading.get_ident()
        self.number = next(_NUMBERS)
        _LIVING.add(self)

    # --- noise ---

    def noise(self, kind: NoiseKind, ratio: Fraction = Fraction(0)) -> Symbol:
        """Return a fresh symbol; geometric noise has a ratio."""
        self._require_alive()
        if self._drawn >= self.limits.draws:
            refuse(f"more than {self.limits.draws} draws in a run")
        key = self._variables.number(Noise(kind, self.counts[kind], ratio))
        self.counts[kind] += 1
        self._drawn += 1
        self.kinds[key] = kind
        return Symbol(self, self.forms.variable(key))

    def trials(self, label: str, chance: Fraction) -> Any:
        """Return the number of trials up to the first success."""
        if self.mode.on_lattice and 0 < chance < 1:
            return self.noise(NoiseKind.GEOMETRIC, 1 - chance) + 1
        return geometric(self, label, chance)

    def datum(self, index: int) -> Symbol:
        """Return a coordinate of symbolic data."""
        return Symbol(self, self.forms.variable(index))

    def is_whole(self, form: Form) -> bool:
        """Return whether a form is a sum of noise on a lattice alone, which is an integer."""
        keys = form.terms
        return bool(keys) and all(self.kinds.get(key) is NoiseKind.GEOMETRIC for key in keys)

    def is_integer(self, form: Form) -> bool:
        """Return whether a form is an integer for all noise: integer multiples of noise on a lattice."""
        factors = [form.constant, *form.terms.values()]
        is_lattice = all(self.kinds.get(key) is NoiseKind.GEOMETRIC for key in form.terms)
        return is_lattice and all(factor.denominator == 1 for factor in factors)

    def is_rounded(self, form: Form) -> bool:
        """Return whether ``int`` rounds a form, one with continuous noise; data alone are traced as numbers."""
        return any(self.kinds.get(key) in CONTINUOUS for key in form.terms) and not any(
            self.kinds.get(key) is NoiseKind.GEOMETRIC for key in form.terms
        )

    def derives(self, form: Form) -> bool:
        """Return whether a function of the form is to be a coordinate of its own: it holds data and no noise."""
        return self.mode.derives and bool(form.terms) and all(key < self._variables.size for key in form.terms)

    def derived(
        self, function: Function, form: Form, low: Fraction | None = None, high: Fraction | None = None
    ) -> Symbol:  # fmt: skip
        """Return a function of data as a coordinate.

        Parameters
        ----------
        function : Function
            The function.
        form : Form
            Its argument.
        low, high : Fraction, optional
            The ends of "clip".
        """
        self._require_alive()
        argument = affine_of(form, self._variables.noise, self._variables.size)
        assert isinstance(argument, Affine)
        made = Derived(function, argument, low, high)
        key = self._variables.number_of_derived(made)
        if function is Function.CLIP:
            self._clipped[key] = form, low, high
        for end, sign in zip(_ENDS.get(function, (low, high)), (_ONE, -_ONE), strict=True):
            if end is not None:
                self.polyhedron.note([Row(Form(-sign * end, {key: sign}), False)])
        return Symbol(self, self.forms.variable(key))

    def clipped_form(self, form: Form) -> tuple[Form, Fraction | None, Fraction | None] | None:
        """Return argument and ends where the form is a clipped number."""
        [*others, key] = form.terms
        is_plain = not others and not form.constant and form.terms[key] == 1
        return self._clipped.get(key) if is_plain else None

    def choose(self, label: str, weights: Sequence[Fraction]) -> int:
        """Return the place of the value that a discrete draw takes in this run."""
        self._require_alive()
        if len(weights) > self.limits.values:
            refuse(f"{label}: a discrete draw with {len(weights)} values, more than {self.limits.values}")
        answer = self._answer(Node(label, len(weights), _says_nothing, label, tuple(weights)))
        self.weight *= weights[answer]
        position = sum(known == label for known, _ in self.choices)
        self.named_choices.append((self._variables.name_of_draw(label, position, tuple(weights)), answer))
        self.choices.append((label, answer))
        return answer

    def gather(self, values: list[Any], shape: tuple[int, ...]) -> SymbolArray:
        """Return noises as an array."""
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return wrap(array.reshape(shape))

    # --- decisions ---

    @property
    def polyhedron(self) -> Polyhedron:
        """The noise and data that agree with the answers so far; rows are added when it is read, as at new nodes."""
        for is_taken, rows in self._unread:
            (self._polyhedron.add if is_taken else self._polyhedron.note)(rows)
        self._unread.clear()
        return self._polyhedron

    def decide(self, form: Form, *, is_strict: bool) -> bool:
        """Return whether the form is above 0 (strict), or at least 0."""

        def cell(place: int) -> Cell:
            return (Row(form.scaled(-_ONE), not is_strict) if place else Row(form, is_strict),)

        return self.pick((form, is_strict), 2, cell) == 0

    def logarithm(self, form: Form) -> Symbol | None:
        """Return the logarithm of a multiple of one draw as other noise; None if it is none, or used elsewhere."""
        if form in self._inverted.values():
            return Symbol(self, Form(Fraction(0), dict(self._inversions[form.constant, *form.terms.items()])))
        if len(form.terms) != 1 or any(key in self._inverted for key in form.terms):
            return None
        [(key, slope)] = form.terms.items()
        if key < self._variables.size:
            return None
        rows = [row for row in self.polyhedron.rows if key in row.form.terms]
        if any(len(row.form.terms) > 1 for row in rows):
            return None
        low, high = intervals(rows).get(key, (None, None))
        interval = max(_ZERO, low or _ZERO), _ONE if high is None else min(high, _ONE)
        found = inversion_of(self._variables.noise(key), slope, form.constant, interval if rows else None)
        if found is None:
            return None
        made = self._variables.number(found.noise)
        self.kinds[made] = found.noise.kind
        self._inverted[key] = form
        terms = {made: Fraction(found.sign)}
        self._inversions[form.constant, *form.terms.items()] = terms
        self.polyhedron.replace(key, found.rows(made))
        return Symbol(self, Form(Fraction(0), terms))

    def require_unused(self, form: Form) -> None:
        """Refuse a form with a draw that stands for other noise."""
        if self._inverted and not self._inverted.keys().isdisjoint(form.terms):
            refuse("a draw that is used beside its logarithm")

    def exceeds_enclosed(self, form: Form, low: Fraction, high: Fraction) -> bool | None:
        """Return whether a form exceeds a number between two bounds; None if no density tells how likely that gap is.

        Given all other noises, a noise with a standard density of at most 1 lies in an interval of the width of the
        gap, divided by its coefficient: that much of the mass is left undecided.
        """
        factors = [abs(value) for key, value in form.terms.items() if self.kinds.get(key) in CONTINUOUS]
        if not factors:
            return None

        def cell(place: int) -> Cell:
            end, sign = (low, -_ONE) if place else (high, _ONE)
            return (Row(combine(((sign, form), (-sign, Form(end, {})))), False),)

        return self.pick(("exceeds", form, low, high), 2, cell, (high - low) / max(factors)) == 0

    def is_zero(self, form: Form) -> bool:
        """Return whether the form is 0; noise with a density equals a number with probability 0."""
        self._require_alive()
        if not form.terms:
            return form.constant == 0
        if self._polyhedron.has_density(form):
            return False
        negative = form.scaled(Fraction(-1))
        cells = (Row(form, True),), (Row(negative, True),), (Row(form, False), Row(negative, False))
        return self.pick(("equal", form), 3, cells.__getitem__) == 2

    def pick(self, question: object, count: int, cell: Callable[[int], Cell], missing: Fraction = _ZERO) -> int:
        """Return the place of the cell in which the run lies; together the cells cover everything that is not missing.

        Parameters
        ----------
        question : object
            The decision as a value that can be compared.
        count : int
            Number of cells.
        cell : callable
            From a place to the rows of the cell.
        missing : Fraction
            Upper bound on the probability of what no cell covers.
        """
        self._require_alive()
        if count > self.limits.values:
            refuse(f"a decision with {count} answers, more than {self.limits.values}")
        asked = self._known_decision(question)
        if asked is None:
            asked = Node(question, count, cell, missing=missing)
            for place in range(count) if count <= _FEW else ():
                if all(self.polyhedron.implies(row) for row in cell(place)):
                    return place
        for place in range(count) if self._inverted else ():
            for row in asked.cell(place):
                self.require_unused(row.form)
        answer = self._answer(asked)
        self._unread.append((len(self._node.options) > 1, self._node.cell(answer)))
        return answer

    def _known_decision(self, question: object) -> Node | None:
        """Return the node of a run with the same answers so far that has decided this: they did not imply it."""
        known = self._node.children.get(self.answers[-1] if self.answers else 0)
        return known if known is not None and not known.is_draw and known.question == question else None

    @property
    def mass(self) -> Fraction:
        """Upper bound on the probability of the runs with these answers."""
        return self.weight * mass_upper(self.polyhedron.rows, self.kinds)

    def _answer(self, asked: Node) -> int:
        node = self._visit(asked)
        depth = len(self.answers)
        answer = self._prefix[depth] if depth < len(self._prefix) else self._depart(node)
        self.answers.append(answer)
        self._node = node
        return answer

    def _visit(self, asked: Node) -> Node:
        last = self.answers[-1] if self.answers else 0
        known = self._node.children.get(last)
        if known is None:
            self._require_within_limits()
            asked.place = caller()
            asked.cell = functools.cache(asked.cell)  # replays read it again and again
            asked.options = self._options(asked)
            self._node.children[last] = known = asked
        elif known is not asked and not known.agrees(asked):
            refuse("not a function of its data and its generator: the same run took another decision")
        return known

    def _options(self, node: Node) -> tuple[int, ...]:
        if node.is_draw:
            self.lost += self.weight * (1 - sum(node.weights, Fraction(0)))
            return tuple(place for place, weight in enumerate(node.weights) if weight)
        self.lost += self.weight * node.missing
        options = tuple(k for k in range(node.count) if not self.polyhedron.is_empty_with(node.cell(k)))
        if not options:
            self._interrupt("impossible")
        return options

    def _depart(self, node: Node) -> int:
        first, *others = node.options
        mass = self.mass if others else _ONE
        for other in others:
            factor = node.weights[other] if node.is_draw else 1
            self.departures.append(((*self.answers, other), mass * factor))
        return first

    # --- limits ---

    def _require_alive(self) -> None:
        if self.interruption is not None:  # swallowed by the code under test
            raise self.interruption
        if self.refusal is not None:
            raise self.refusal
        if active.run is not self:
            finished = threading.get_ident() == self._thread
            words = "a generator kept from an earlier call" if finished else "a draw or decision in another thread"
            self.refusal = Refusal(words, caller())  # in another thread it would stay unknown to the run
            refuse(words)

    def _require_within_limits(self) -> None:
        if len(self.answers) >= self.limits.decisions:
            self._interrupt(placed(f"more than {self.limits.decisions} decisions in a run", caller()))
        if time.monotonic() > self._deadline:
            self._interrupt("time")
        if len(self.answers) >= len(self._prefix) + self._allowance:
            self._interrupt("paused")

    def _interrupt(self, reason: str) -> None:
        self.interruption = Interrupted(reason)
        raise self.interruption
