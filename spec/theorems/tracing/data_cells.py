"""Decisions about data: shifts into the leaves of another cell, with disjoint images."""

from fractions import Fraction
from typing import Annotated

from dpassay.claims import VectorNeighbours
from dpassay.spec.ball import ATTAINED, at_most, ball
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.domains.base import Choices
from dpassay.spec.leaves.cells import in_cells, kinks
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.data_cells import AlignedCells, cell_bound
from dpassay.spec.leaves.distribution import LeafDistribution
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.polyhedra import negated
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Evidence, Holds, Verdict, conjunction

__all__ = ["alignment_of_a_clipped_answer_costs_its_range", "pure_dp_of_alignment_into_other_cells"]

ONE = Fraction(1)
NOISE = Noise(NoiseKind.LAPLACE, 0)
DATUM = Affine(Fraction(0), {}, {0: ONE})
Scale = Annotated[Fraction, Choices("scale of the noise", (Fraction(1, 2), Fraction(2), Fraction(10)))]
Fold = Annotated[int, Choices("parts of one event", (1, 2, 3))]
Start = Annotated[int, Choices("where the event begins", (1, 2))]
Step = Annotated[Fraction, Choices("largest move", (Fraction(1, 4), Fraction(1), Fraction(3)))]


def _between(form: Affine, low: Fraction | None, high: Fraction | None) -> tuple[Constraint, ...]:
    """Return that a form lies between two numbers; None where there is no bound."""
    above = () if low is None else (Constraint(Affine(form.constant - low, form.noise, form.data)),)
    below = () if high is None else (negated(Affine(form.constant - high, form.noise, form.data)),)
    return (*above, *map(Constraint, below))


def _folded(parts: int, start: int, scale: Fraction) -> LeafModel:
    """Return a branch on data: event "a" is noise in [0, 1] for x <= 0, in `parts` intervals up to start + 1 else."""
    noise = Affine(Fraction(0), {NOISE: scale})
    leaves = []
    for sign, most, top in ((1, parts, start + 1), (-1, 1, 1)):
        side = Constraint(Affine(Fraction(0), {}, {0: Fraction(sign)}))
        ends = [Fraction(k) for k in range(top - most, top + 1)]
        leaves += [Leaf((side, *_between(noise, low, low + 1)), ONE, "a") for low in ends[:-1]]
        leaves += [Leaf((side, *_between(noise, ends[-1], None)), ONE, "right")]
        leaves += [Leaf((side, *_between(noise, None, ends[0])), ONE, "left")]
    return LeafModel(tuple(leaves), size=1)


@statement(
    DPASSAY,
    "disjoint images",
    cases=6,
    examples=({"parts": 2, "start": 1, "scale": Fraction(10)}, {"parts": 1, "start": 1, "scale": Fraction(10)}),
)
def pure_dp_of_alignment_into_other_cells(parts: Fold, start: Start, scale: Scale) -> Verdict:
    """Where data decide between branches, leaves of one branch may be shifted into leaves of the other one with the
    same outcome if the images are disjoint; the privacy loss is then at most the largest cost of a shift. Intervals of
    noise that fit into one interval only one at a time are no proof.
    """
    model = _folded(parts, start, scale)
    bound = cell_bound(model, VectorNeighbours(1, linf=1))
    if not isinstance(bound, AlignedCells):
        return Holds(evidence=Evidence.EXACT, detail="no alignment, no claim")
    left, right = (LeafDistribution(at_data(model, [x])) for x in (Fraction(1, 2), Fraction(-1, 2)))
    return conjunction([
        at_most(lambda: max_divergence(left, right), lambda: ball(bound.epsilon), slack=ATTAINED),
        at_most(lambda: max_divergence(right, left), lambda: ball(bound.epsilon), slack=ATTAINED),
    ])  # fmt: skip


def _clipped(scale: Fraction) -> LeafModel:
    """Return an answer clipped to [0, 1] plus noise."""
    numbers = [Affine(c, {NOISE: scale}, data) for c, data in ((Fraction(0), {}), (Fraction(0), {0: ONE}), (ONE, {}))]
    cells = (_between(DATUM, None, Fraction(0)), _between(DATUM, Fraction(0), ONE), _between(DATUM, ONE, None))
    leaves = [Leaf(cell, ONE, number) for cell, number in zip(cells, numbers, strict=True)]
    return LeafModel(tuple(leaves), size=1)


@statement(DPASSAY, "clipping", cases=6, examples=({"step": Fraction(3), "scale": Fraction(2)},))
def alignment_of_a_clipped_answer_costs_its_range(step: Step, scale: Scale) -> Verdict:
    """An answer clipped to [0, 1] plus Laplace noise of scale b costs min(1, step)/b, and its loss at the ends of the
    range is as large.
    """
    model = _clipped(scale)
    bound = cell_bound(model, VectorNeighbours(1, linf=float(step)))
    if not isinstance(bound, AlignedCells):
        return equal_exact(bound, "aligned", "alignment of a clipped answer")
    inner = LeafModel(model.leaves[1:2], size=1)  # at the ends of the range the other leaves say the same
    sides = [at_data(inner, [x]) for x in (Fraction(0), min(step, ONE))]
    left, right = (LeafDistribution(in_cells(side, kinks(*sides))) for side in sides)
    return conjunction([
        equal_exact(bound.epsilon, min(ONE, step) / scale, "cost"),
        at_most(lambda: max_divergence(left, right), lambda: ball(bound.epsilon), slack=ATTAINED),
        at_most(lambda: ball(bound.epsilon), lambda: max_divergence(left, right), slack=ATTAINED),
    ])  # fmt: skip
