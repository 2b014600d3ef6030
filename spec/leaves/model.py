"""The data of a traced mechanism: noises, affine forms, constraints, leaves.

A run of a mechanism is determined by its noise. The noises are independent and standard: location and scale are
coefficients of the affine forms in which they occur. Every run takes decisions, each about the sign of an affine form
in noises and data; the runs with the same decisions form a polyhedron, and return the same outcome as a function of
noise and data. That is a leaf. The leaves of a mechanism partition the space of its noise.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

__all__ = [
    "CONTINUOUS",
    "Affine",
    "Constraint",
    "Derived",
    "Function",
    "Image",
    "Leaf",
    "LeafModel",
    "Noise",
    "NoiseKind",
    "Raised",
    "Relation",
]


class NoiseKind(StrEnum):
    """The standard distributions that a noise can follow."""

    LAPLACE = "laplace"
    """Density e^-|z| / 2."""
    NORMAL = "normal"
    """Mean 0, variance 1."""
    EXPONENTIAL = "exponential"
    """Density e^-z for z >= 0."""
    UNIFORM = "uniform"
    """On [0, 1)."""
    GUMBEL = "gumbel"
    """Distribution function exp(-e^-z)."""
    LOGISTIC = "logistic"
    """Distribution function 1 / (1 + e^-z)."""
    GEOMETRIC = "geometric"
    """Mass (1 - q) q^z at the integers z >= 0, q the ratio of the noise: noise on a lattice."""


CONTINUOUS = tuple(kind for kind in NoiseKind if kind is not NoiseKind.GEOMETRIC)
"""The distributions with a density."""


@dataclass(frozen=True)
class Noise:
    """One of the independent noises of a mechanism.

    Parameters
    ----------
    kind : NoiseKind
        Its standard distribution.
    position : int
        Its place among the draws of this kind in a run: two leaves share the noise if all three agree.
    ratio : Fraction
        For geometric noise the ratio q of its masses, in (0, 1); 0 for other noise, which is standard.
    """

    kind: NoiseKind
    position: int
    ratio: Fraction = Fraction(0)

    def __hash__(self) -> int:
        return self.position  # quick: noises are keys of all forms, and few of them share a position


@dataclass(frozen=True, eq=False)
class Affine:
    """A constant plus rational multiples of noises and of data.

    Parameters
    ----------
    constant : Fraction
        The constant term.
    noise : Mapping of Noise to Fraction
        Coefficients of the noises, none of them 0.
    data : Mapping of int to Fraction
        Coefficients of the coordinates of the data, by index, none of them 0; empty where the data are numbers.
    """

    constant: Fraction
    noise: Mapping[Noise, Fraction] = field(default_factory=dict)
    data: Mapping[int, Fraction] = field(default_factory=dict)

    @property
    def is_constant(self) -> bool:
        """Return whether neither noise nor data occur."""
        return not self.noise and not self.data

    @cached_property
    def _key(self) -> Hashable:
        return self.constant, frozenset(self.noise.items()), frozenset(self.data.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Affine) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


Step = tuple[str, *tuple[Fraction, ...]]
"""A function of one number: its name, and its parameters."""


@dataclass(frozen=True)
class Image:
    """A monotone function of an affine form, as a number in an outcome.

    Parameters
    ----------
    steps : tuple of (str, *Fraction)
        Functions that are applied one after the other: "exp", "expm1", "log", "log1p", "sqrt", "erfinv" (all
        strictly increasing), "floor", "ceil", "rint" (halves to even), and ("scale", a, b) for a x + b with a other
        than 0.
    form : Affine
        To which the first is applied; within its domain throughout the leaf.
    """

    steps: tuple[Step, ...]
    form: Affine


@dataclass(frozen=True)
class Raised:
    """The outcome of a run that raises an exception.

    Parameters
    ----------
    words : str
        The type of the exception and its message.
    """

    words: str


class Relation(StrEnum):
    """The sign that a constraint asks of its form."""

    AT_LEAST = ">= 0"
    ABOVE = "> 0"


@dataclass(frozen=True)
class Constraint:
    """An affine form is at least 0, or above 0; the two differ where noise is discrete or the form is constant."""

    form: Affine
    relation: Relation = Relation.AT_LEAST


@dataclass(frozen=True)
class Leaf:
    """The runs with the same decisions.

    Parameters
    ----------
    constraints : tuple of Constraint
        The decisions, in the order in which they were taken.
    weight : Fraction
        Probability of the discrete draws on the way, exact.
    outcome : Hashable
        The structure that is returned, with `Affine` forms where numbers depend on noise or data.
    choices : tuple of (label, Hashable)
        The discrete draws on the way: which draw, and its value.
    """

    constraints: tuple[Constraint, ...]
    weight: Fraction
    outcome: Hashable
    choices: tuple[tuple[str, Hashable], ...] = ()


class Function(StrEnum):
    """The functions of data that make derived coordinates."""

    CLIP = "clip"
    """To an interval, one end of which may be missing."""
    ABS = "abs"
    FLOOR = "floor"
    CEIL = "ceil"
    RINT = "rint"
    """The nearest integer, halves to even ones."""
    ABOVE = "above"
    """1 if the argument is above 0, else 0."""
    AT_LEAST = "at least"
    """1 if the argument is at least 0, else 0."""
    SQUARE = "square"


@dataclass(frozen=True)
class Derived:
    """A coordinate that is a function of the data (:mod:`dpassay.spec.leaves.derived`).

    Parameters
    ----------
    function : Function
        The function.
    form : Affine
        Its argument: of data and of derived coordinates before it.
    low, high : Fraction, optional
        The ends of "clip".
    """

    function: Function
    form: Affine
    low: Fraction | None = None
    high: Fraction | None = None


@dataclass(frozen=True)
class LeafModel:
    """A mechanism on one input, or on symbolic data of one length.

    Parameters
    ----------
    leaves : tuple of Leaf
        A partition of the noise space, up to the undecided mass.
    undecided : Fraction
        Upper bound on the probability of the runs that no leaf describes.
    size : int
        Number of coordinates of symbolic data; 0 where the data are numbers.
    derived : tuple of Derived
        Coordinates that are functions of the data; the numbers of the first ones follow those of the data.
    """

    leaves: tuple[Leaf, ...]
    undecided: Fraction = Fraction(0)
    size: int = 0
    derived: tuple[Derived, ...] = ()

    @property
    def width(self) -> int:
        """Number of coordinates, derived ones included."""
        return self.size + len(self.derived)

    @cached_property
    def on_lattice(self) -> bool:
        """Return whether a decision depends on noise on a lattice: then strict and non-strict constraints differ."""
        forms = (constraint.form for leaf in self.leaves for constraint in leaf.constraints)
        return any(noise.kind is NoiseKind.GEOMETRIC for form in forms for noise in form.noise)
