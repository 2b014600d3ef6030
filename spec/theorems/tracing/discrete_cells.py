"""Mechanisms that are discrete on cells of data: their exact loss, the boundaries of cells, and certificates."""

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.ball import ATTAINED, Real, at_most, ball
from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.leaves.cell_certificates import cell_certificate
from dpassay.spec.leaves.certificates import sealed
from dpassay.spec.leaves.check_cells import check_cells
from dpassay.spec.leaves.discrete_cells import DiscreteCells, discrete_bound
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind, Relation
from dpassay.spec.leaves.polyhedra import opposite
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated, conjunction

__all__ = [
    "boundaries_of_branches_are_cells",
    "certificates_of_cells_prove_the_loss_and_no_less",
    "delta_of_distributions_on_cells",
    "exact_loss_of_distributions_on_cells",
]

ONE = Fraction(1)
UNIFORM = Noise(NoiseKind.UNIFORM, 0)
ROUNDING = Fraction(1, 2**50)
"""Relative error of a certified number that was rounded to float64."""
LESS = Fraction(1, 2**20)
"""A part of the loss that a certificate must not be short of."""
LOW, HIGH, GRID = -5, 6, 8
"""Data are multiples of 1/8; decisions at whole numbers and moves of at most 3 join no other cells than these do."""

Masses = tuple[Fraction, Fraction, Fraction]
Program = Annotated[int, Integers("number of a random program", 0, 10**6)]
Reach = Annotated[Fraction, Choices("largest move", (Fraction(1, 2), Fraction(1), Fraction(3)))]
Epsilon = Annotated[Fraction, Choices("epsilon of the claim", (Fraction(0), Fraction(1, 4), Fraction(1)))]
Eighths = Annotated[int, Integers("eighths of a chance", 1, 7)]
Strict = Annotated[bool, Choices("whether heads ask for x > 0 and tails for x >= 0, or the reverse", (True, False))]


@dataclass(frozen=True)
class _Stairs:
    """Under one side of a coin: the chance of "yes" for data below the first end, up to the second one, and so on.

    Parameters
    ----------
    weight : Fraction
        Probability of the side of the coin.
    ends : tuple of (int, bool)
        Increasing ends of steps, and whether a step ends with its end: then the next begins strictly above.
    chances : tuple of Fraction
        The chance on each step.
    otherwise : str, optional
        The other answer.
    """

    weight: Fraction
    ends: tuple[tuple[int, bool], ...]
    chances: tuple[Fraction, ...]
    otherwise: str | None = "no"

    def chance(self, x: Fraction) -> Fraction:
        return self.chances[sum(x > end if strictly else x >= end for end, strictly in self.ends)]

    def leaves(self, side: int) -> Iterator[Leaf]:
        """Yield the leaves: heads (0) draw their answer, tails (1) compare uniform noise with the chance."""
        path: tuple[Constraint, ...] = ()
        for step, chance in enumerate(self.chances):
            last = step == len(self.ends)
            beyond = () if last else (_beyond(*self.ends[step]),)
            here = (*path, *map(opposite, beyond))
            if side:
                lead = Constraint(Affine(chance, {UNIFORM: -ONE}), Relation.ABOVE)
                for outcome, one in (("yes", lead), (self.otherwise, opposite(lead))):
                    yield Leaf((*here, one), self.weight, outcome, (("coin", side),))
            else:
                for answer, (outcome, mass) in enumerate((("yes", chance), (self.otherwise, 1 - chance))):
                    yield Leaf(here, self.weight * mass, outcome, (("coin", side), ("answer", answer)))
            path = (*path, *beyond)


def _beyond(end: int, strictly: bool) -> Constraint:
    return Constraint(Affine(Fraction(-end), {}, {0: ONE}), Relation.ABOVE if strictly else Relation.AT_LEAST)


def _random_stairs(number: int, *, with_certainty: bool) -> list[_Stairs]:
    """Return two random staircases with ends in common; chances of 0 and 1 among the others if that is asked for."""
    rng = random.Random(number)  # noqa: S311
    heads = Fraction(rng.randint(1, 7), 8)
    low, high = (0, 8) if with_certainty else (1, 7)
    found = []
    for weight, otherwise in ((heads, "no"), (1 - heads, None)):
        ends = tuple((end, rng.random() < 0.5) for end in sorted(rng.sample((-1, 0, 1, 2), rng.randint(1, 2))))
        chances = tuple(Fraction(rng.randint(low, high), 8) for _ in range(len(ends) + 1))
        found.append(_Stairs(weight, ends, chances, otherwise))
    return found


def _model(stairs: Sequence[_Stairs]) -> LeafModel:
    return LeafModel(tuple(leaf for side, one in enumerate(stairs) for leaf in one.leaves(side)), size=1)


def _masses(stairs: Sequence[_Stairs], x: Fraction) -> Masses:
    """Return the probabilities of "yes", "no" and nothing."""
    (heads, p), (tails, q) = ((one.weight, one.chance(x)) for one in stairs)
    return heads * p + tails * q, heads * (1 - p), tails * (1 - q)


def _grid() -> list[Fraction]:
    return [Fraction(k, GRID) for k in range(LOW * GRID, HIGH * GRID + 1)]


def _pairs(stairs: Sequence[_Stairs], reach: Fraction) -> set[tuple[Masses, Masses]]:
    """Return the probabilities for neighbours."""
    masses = {x: _masses(stairs, x) for x in _grid()}
    places = itertools.product(masses, repeat=2)
    return {(masses[x], masses[y]) for x, y in places if abs(x - y) <= reach}


def _largest_ratio(stairs: Sequence[_Stairs], reach: Fraction) -> Fraction:
    return max(one / two for own, other in _pairs(stairs, reach) for one, two in zip(own, other, strict=True))


def _agree(found: Fraction, truth: Real) -> Verdict:
    """Decide whether a number that is rounded up is a real number."""
    return conjunction([
        at_most(truth, lambda: ball(found), slack=ATTAINED),
        at_most(lambda: ball(found), lambda: truth() * ball(1 + ROUNDING), slack=ATTAINED),
    ])  # fmt: skip


def _relation(reach: Fraction) -> VectorNeighbours:
    return VectorNeighbours(1, linf=float(reach))


@statement(
    DPASSAY,
    "loss of cells",
    cases=8,
    examples=tuple({"program": i, "reach": Fraction(reach)} for i, reach in ((1, 3), (5, 1), (18, 3), (31, 1))),
    pins=(
        Pin(
            {"program": 3, "reach": ONE},
            '"no" is heads and falls from 1/2 to 1/4 at 1; all else has smaller ratios',
            both=lambda: [ball(2).log()] * 2,
        ),
    ),
)
def exact_loss_of_distributions_on_cells(program: Program, reach: Reach) -> Verdict:
    """Where data decide between distributions, the privacy loss of all neighbours is the largest one between the
    distributions on two cells of data that some neighbours lie in.
    """
    stairs = _random_stairs(program, with_certainty=False)
    found = discrete_bound(_model(stairs), _relation(reach))
    if not isinstance(found, DiscreteCells):
        return equal_exact(found, "a proof", "cells of data")
    ratio = _largest_ratio(stairs, reach)
    return _agree(found.epsilon, lambda: ball(ratio).log())


@statement(
    DPASSAY,
    "delta of cells",
    cases=8,
    examples=tuple(
        {"program": i, "reach": Fraction(reach), "epsilon": Fraction(1, 4)} for i, reach in ((0, 1), (2, 3), (29, 1))
    ),
    pins=(
        Pin(
            {"program": 36, "reach": ONE, "epsilon": Fraction(1, 4)},
            '"no" is heads of chance 3/8, and rises from 1/2 to 7/8 of it at -1',
            both=lambda: [1 + (21 - 12 * (ball(1) / 4).exp()) / 64] * 2,
        ),
    ),
)
def delta_of_distributions_on_cells(program: Program, reach: Reach, epsilon: Epsilon) -> Verdict:
    """Where data decide between distributions, the least delta at an epsilon is the largest sum, over the outcomes, of
    what a probability exceeds e^epsilon times that of a neighbour by.
    """
    stairs = _random_stairs(program, with_certainty=True)
    found = discrete_bound(_model(stairs), _relation(reach), epsilon)
    if not isinstance(found, DiscreteCells):
        return equal_exact(found, "a proof", "cells of data")
    pairs = _pairs(stairs, reach)
    return _agree(1 + found.delta, lambda: 1 + _largest_stick(pairs, ball(epsilon).exp()))


def _largest_stick(pairs: Iterable[tuple[Masses, Masses]], factor: arb) -> arb:
    largest = ball(0)
    for own, other in pairs:
        excesses = (ball(one) - factor * ball(two) for one, two in zip(own, other, strict=True))
        largest = largest.max(sum((one.max(ball(0)) for one in excesses), ball(0)))
    return largest


@statement(
    DPASSAY,
    "boundaries as cells",
    cases=8,
    examples=({"low": 1, "high": 3, "strict": True},),
    pins=(Pin({"low": 1, "high": 3, "strict": True}, "1/8 at 0, 1/4 beside", both=lambda: [ball(2).log()] * 2),),
)
def boundaries_of_branches_are_cells(low: Eighths, high: Eighths, strict: Strict) -> Verdict:
    """A boundary on which branches disagree is a cell of its own: a fair coin decides between a chance that rises at 0
    and one that falls there, so that data on either side have the same distribution and data at 0 another one.
    """
    p, q = Fraction(low, 8), Fraction(high, 8)
    half = Fraction(1, 2)
    stairs = [_Stairs(half, ((0, strict),), (p, q)), _Stairs(half, ((0, not strict),), (q, p))]
    found = discrete_bound(_model(stairs), _relation(ONE))
    if not isinstance(found, DiscreteCells):
        return equal_exact(found, "a proof", "cells of data")
    beside, at = (p + q) / 2, p if strict else q
    ratios = (at / beside, beside / at, (1 - at) / (1 - beside), (1 - beside) / (1 - at))
    return _agree(found.epsilon, lambda: ball(max(ratios)).log())


def _found_at(node: Mapping[str, Any], x: Fraction) -> Mapping[str, Any]:
    """Follow the tree of a certificate."""
    while "masses" not in node:
        value = Fraction(node["constant"]) + Fraction(node["data"]["0"]) * x
        node = node["yes" if value > 0 or (value == 0 and not node["strict"]) else "no"]
    masses: Mapping[str, Any] = node["masses"]
    return masses


def _depths(node: Mapping[str, Any], depth: int = 0) -> Iterator[int]:
    """Yield the number of decisions on the way to each end of a tree."""
    if "masses" in node:
        yield depth
    for side in ("yes", "no") if "yes" in node else ():
        yield from _depths(node[side], depth + 1)


def _without_neighbours(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the certificate with the claim that no neighbours lie in any cells, and multipliers of 0 as its proof."""
    depths = list(enumerate(_depths(saved["tree"])))
    apart = [
        {"from": i, "to": j, "proofs": [["0"] * (here + there + 2)]}
        for (i, here), (j, there) in itertools.product(depths, repeat=2)
    ]
    return sealed({**saved, "epsilon": "0", "apart": apart})


def _is_refused(saved: Mapping[str, Any], what: str) -> Verdict:
    if check_cells(saved):
        return Holds(evidence=Evidence.EXACT)
    return Violated(evidence=Evidence.EXACT, detail=f"the checker accepts {what}")


@statement(
    DPASSAY,
    "certificates of cells",
    cases=6,
    examples=tuple({"program": i, "reach": Fraction(reach)} for i, reach in ((5, 1), (18, 3), (31, Fraction(1, 2)))),
)
def certificates_of_cells_prove_the_loss_and_no_less(program: Program, reach: Reach) -> Verdict:
    """The certificate of a proof by cells passes the independent checker, and its tree of decisions leads all data to
    their distribution. With an epsilon that is short of the loss by a millionth it is refused, and so is a claim that
    no neighbours lie in two cells whose multipliers prove nothing.
    """
    stairs = _random_stairs(program, with_certainty=False)
    model, relation = _model(stairs), _relation(reach)
    found = discrete_bound(model, relation)
    if not isinstance(found, DiscreteCells):
        return equal_exact(found, "a proof", "cells of data")
    saved = cell_certificate(model, relation, found)
    [name] = [name for name, outcome in saved["outcomes"].items() if outcome == repr("yes")]
    led = [Fraction(_found_at(saved["tree"], x)[name]) for x in _grid()]
    verdicts = [
        equal_exact(check_cells(saved), [], "faults of the certificate"),
        equal_exact(led, [_masses(stairs, x)[0] for x in _grid()], "probabilities at the ends of the tree"),
    ]
    if found.epsilon:
        short = sealed({**saved, "epsilon": str(found.epsilon * (1 - LESS))})
        verdicts += [
            _is_refused(short, "an epsilon below the loss"),
            _is_refused(_without_neighbours(saved), "multipliers that prove nothing"),
        ]
    return conjunction(verdicts)
