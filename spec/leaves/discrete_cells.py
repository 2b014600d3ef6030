"""Mechanisms that are discrete on every cell of data: the exact loss for all inputs of a length.

If the runs on a cell of data depend on discrete draws and on uniform noise beside numbers alone, and release no number
that depends on data, then the distribution of the outcomes is the same for all data of the cell, and rational. The
loss of the mechanism is the largest one between the distributions of cells that neighbours join.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpassay.neighbours import NeighbourRelation
from dpassay.spec.ball import ball, float_lower, float_upper, precision
from dpassay.spec.leaves.alignment import Unaligned
from dpassay.spec.leaves.cell_pairs import Cell, joined_cells
from dpassay.spec.leaves.model import Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.moves import UndecidedMovesError
from dpassay.spec.leaves.outcomes import UnknownOutcomeError, released_numbers

__all__ = ["DiscreteCells", "discrete_bound", "log_upper"]

BITS = 128
"""Precision of logarithms and exponentials."""

Masses = Mapping[Hashable, Fraction]


@dataclass(frozen=True)
class DiscreteCells:
    """A proof of (epsilon, delta) by the distributions on cells.

    Parameters
    ----------
    epsilon, delta : Fraction
        The parameters.
    masses : Mapping of Cell to Mapping of Hashable to Fraction
        The probability of each outcome on each cell.
    joined : tuple of (Cell, Cell)
        The pairs of cells that neighbours join.
    """

    epsilon: Fraction
    delta: Fraction
    masses: Mapping[Cell, Masses]
    joined: tuple[tuple[Cell, Cell], ...]


def discrete_bound(
    model: LeafModel, relation: NeighbourRelation, allowed: Fraction | None = None
) -> DiscreteCells | Unaligned:  # fmt: skip
    """Return the least epsilon for all data of the model's length, or the least delta at an epsilon.

    Parameters
    ----------
    model : LeafModel
        On symbolic data.
    relation : NeighbourRelation
        For data of the same length.
    allowed : Fraction, optional
        An epsilon at which delta is wanted. None: delta is only the undecided mass.
    """
    masses: dict[Cell, Masses] = {}
    joined: dict[tuple[Cell, Cell], None] = {}
    try:
        for pair in joined_cells(model, relation):
            for cell, leaves in ((pair.here, pair.sources), (pair.there, pair.targets)):
                if cell not in masses:
                    masses[cell] = _masses(leaves)
            joined[pair.here, pair.there] = None
    except (UndecidedMovesError, UnknownOutcomeError, _NotDiscreteError) as error:
        return Unaligned(str(error))
    epsilon = delta = Fraction(0)
    for here, there in joined:
        if allowed is not None:
            delta = max(delta, _delta(masses[here], masses[there], allowed))
            continue
        ratio = _largest_ratio(masses[here], masses[there])
        if ratio is None:
            return Unaligned("an outcome is possible for some data, and impossible for a neighbour")
        epsilon = max(epsilon, log_upper(ratio))
    return DiscreteCells(epsilon if allowed is None else allowed, delta + model.undecided, masses, tuple(joined))


class _NotDiscreteError(Exception):
    """The distribution on a cell of data is not known to be the same for all of them, or not rational."""


def _masses(leaves: tuple[Leaf, ...]) -> Masses:
    masses: dict[Hashable, Fraction] = {}
    for leaf in leaves:
        if released_numbers(leaf.outcome):
            raise _NotDiscreteError("a number that depends on data or noise is released")
        masses[leaf.outcome] = masses.get(leaf.outcome, Fraction(0)) + _mass(leaf)
    return masses


def _mass(leaf: Leaf) -> Fraction:
    """Return the probability of a leaf whose noise is uniform, each constraint about one noise beside a number."""
    ends: dict[Noise, tuple[Fraction, Fraction]] = {}
    for form in (one.form for one in leaf.constraints if one.form.noise):
        [noise, *others] = form.noise
        if others or form.data or noise.kind is not NoiseKind.UNIFORM:
            raise _NotDiscreteError("a decision compares noise with data")
        low, high = ends.get(noise, (Fraction(0), Fraction(1)))
        end = -form.constant / form.noise[noise]
        ends[noise] = (max(low, end), high) if form.noise[noise] > 0 else (low, min(high, end))
    mass = leaf.weight
    for low, high in ends.values():
        mass *= max(high - low, Fraction(0))
    return mass


def _largest_ratio(own: Masses, other: Masses) -> Fraction | None:
    """Return the largest ratio of the probabilities of an outcome; None if one is possible on one side only."""
    possible = [(mass, other.get(outcome, Fraction(0))) for outcome, mass in own.items() if mass]
    return None if any(not there for _, there in possible) else max(here / there for here, there in possible)


def _delta(own: Masses, other: Masses, epsilon: Fraction) -> Fraction:
    """Return an upper bound of delta: the sum of what the probabilities exceed e^epsilon times the other ones by."""
    with precision(BITS):
        factor = Fraction(float_lower(ball(epsilon).exp()))
    excesses = (mass - factor * other.get(outcome, Fraction(0)) for outcome, mass in own.items())
    return sum((excess for excess in excesses if excess > 0), Fraction(0))


def log_upper(ratio: Fraction) -> Fraction:
    """Return a rational number that is at least the logarithm, by a unit in the last place of a float."""
    if ratio <= 1:
        return Fraction(0)
    with precision(BITS):
        return Fraction(float_upper(ball(ratio).log()))
