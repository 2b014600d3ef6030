"""Decisions about data: shifts into the leaves of another cell, with disjoint images, and leaves that are given up."""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated

from flint import arb

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.ball import ATTAINED, at_most, ball
from dpassay.spec.distributions.discrete import hockey_stick, max_divergence
from dpassay.spec.domains.base import Choices
from dpassay.spec.leaves.cells import in_cells, kinks
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.data_cells import AlignedCells, cell_bound
from dpassay.spec.leaves.distribution import LeafDistribution
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind, Relation
from dpassay.spec.leaves.polyhedra import negated
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Evidence, Holds, Verdict, conjunction

__all__ = [
    "alignment_of_a_clipped_answer_costs_its_range",
    "approximate_dp_of_leaves_given_up",
    "pure_dp_of_alignment_into_other_cells",
]

ONE = Fraction(1)
ROUNDING = Fraction(1, 2**50)
"""Relative error of a certified probability that was rounded up to float64."""
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
    pins=(
        Pin(
            {"parts": 1, "start": 1, "scale": Fraction(2)},
            "noise is below 1 or below 0; the event moves by 1",
            smaller=lambda: [(2 - (-ball(1) / 2).exp()).log(), Fraction(1, 2)],
            larger=lambda: [Fraction(1, 2)] * 2,
        ),
    ),
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


@statement(
    DPASSAY,
    "clipping",
    cases=6,
    examples=({"step": Fraction(3), "scale": Fraction(2)},),
    pins=(
        Pin({"step": Fraction(1, 4), "scale": Fraction(2)}, "a move by 1/4", both=lambda: [Fraction(1, 8)] * 2),
        Pin({"step": Fraction(3), "scale": Fraction(2)}, "the whole range", both=lambda: [Fraction(1, 2)] * 2),
    ),
)
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


def _released_count() -> arb:
    return (-ball(1) / 2).exp() / 2


Keys = Annotated[int, Choices("number of keys", (1, 2))]
Threshold = Annotated[Fraction, Choices("threshold of the noisy count", (Fraction(2), Fraction(9, 2)))]
ABOVE_ALL = Fraction(9)


def _selected(keys: int, threshold: Fraction, scale: Fraction) -> LeafModel:
    """Return the noisy counts above a threshold, of the keys with a positive count; noise is drawn for these alone."""
    leaves = []
    for present in itertools.product((False, True), repeat=keys):
        drawn = [i for i in range(keys) if present[i]]
        counts = [Affine(Fraction(0), {Noise(NoiseKind.LAPLACE, k): scale}, {i: ONE}) for k, i in enumerate(drawn)]
        forms = [Affine(Fraction(0), {}, {i: ONE if present[i] else -ONE}) for i in range(keys)]
        for kept in itertools.product((False, True), repeat=len(drawn)):
            leads = (Affine(count.constant - threshold, count.noise, count.data) for count in counts)
            sides = [Constraint(lead if own else negated(lead)) for lead, own in zip(leads, kept, strict=True)]
            outcome = tuple((i, count) for i, count, own in zip(drawn, counts, kept, strict=True) if own)
            leaves.append(Leaf((*_strictly(forms), *sides), ONE, outcome))
    return LeafModel(tuple(leaves), size=keys)


def _strictly(forms: list[Affine]) -> Iterator[Constraint]:
    """Yield that counts are above 0, or that they are not."""
    for form in forms:
        (slope,) = form.data.values()
        yield Constraint(form, Relation.ABOVE if slope > 0 else Relation.AT_LEAST)


@statement(
    DPASSAY,
    "delta by giving up leaves",
    cases=4,
    examples=(
        {"keys": 2, "threshold": Fraction(9, 2), "scale": Fraction(1, 2)},
        {"keys": 1, "threshold": Fraction(2), "scale": Fraction(2)},
    ),
    pins=(
        Pin(
            {"keys": 1, "threshold": Fraction(2), "scale": Fraction(2)},
            "a count of 1 with noise is above 2 with probability e^(-1/2)/2; from 2 to 1 no ratio is above e^(1/2)",
            smaller=lambda: [0, _released_count(), 0, None, _released_count()],
            larger=lambda: [_released_count()] * 5,
        ),
    ),
)
def approximate_dp_of_leaves_given_up(keys: Keys, threshold: Threshold, scale: Scale) -> Verdict:
    """If the leaves, and the parts of leaves, that no shift of cost epsilon takes into those of a neighbour are given
    up, delta is at most their probability. Where counts are released only if positive and above a threshold with noise
    of scale b, epsilon = 1/b needs the delta e^((1 - T)/b)/2 of a count of 1 that is released; it is attained.
    """
    model = _selected(keys, threshold, scale)
    relation = VectorNeighbours(keys, l0=1, linf=1, low=0, high=float(ABOVE_ALL))
    bound = cell_bound(model, relation, ONE / scale)
    if not isinstance(bound, AlignedCells):
        return equal_exact(bound, "aligned", "alignment of released counts")
    epsilon, delta, rest = bound.epsilon, bound.delta, [ABOVE_ALL] * (keys - 1)
    verdicts = [equal_exact(epsilon, ONE / scale, "epsilon")]
    for here, there in itertools.permutations((Fraction(0), ONE, Fraction(2)), 2):
        if abs(here - there) == 1:
            sides = [at_data(model, [x, *rest]) for x in (here, there)]
            pair = [LeafDistribution(in_cells(side, kinks(*sides))) for side in sides]
            verdicts.append(at_most(partial(_stick, pair, epsilon), lambda: _rounded(ball(delta)), slack=ATTAINED))
    verdicts.append(at_most(lambda: ball(delta), lambda: _rounded(_tail(threshold - 1, scale)), slack=ATTAINED))
    return conjunction(verdicts)


def _stick(pair: Sequence[LeafDistribution], epsilon: Fraction) -> arb:
    left, right = pair
    return hockey_stick(left, right, ball(epsilon))


def _tail(distance: Fraction, scale: Fraction) -> arb:
    """Enclose the probability that Laplace noise exceeds a positive number."""
    return (-ball(distance / scale)).exp() / 2


def _rounded(value: arb) -> arb:
    return value * ball(1 + ROUNDING)
