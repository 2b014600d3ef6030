"""Functions of data as coordinates: what neighbours move them by, and the cost of releasing them with noise."""

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.leaves.alignment import Aligned, alignment_bound
from dpassay.spec.leaves.certificates import certificate
from dpassay.spec.leaves.check import check_alignment
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.gaussian_alignment import GaussianAligned, gaussian_bound
from dpassay.spec.leaves.model import Affine, Derived, Function, Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.theorems.tracing.programs import half_moves
from dpassay.spec.verdict import Verdict

__all__ = [
    "alignment_of_a_function_of_data_costs_its_sensitivity",
    "alignment_of_a_histogram_costs_two_records",
    "certificates_of_functions_of_data_pass_the_checker",
    "gaussian_dp_of_functions_of_data",
    "pure_dp_of_functions_of_data",
]

ONE = Fraction(1)
END = 3.0
"""Data lie in [-3, 3]."""

Program = Annotated[int, Integers("number of a random program", 0, 10**6)]
Relation = Annotated[VectorNeighbours, Choices("neighbours of three numbers", (
    VectorNeighbours(3, linf=1, low=-END, high=END), VectorNeighbours(3, l1=1, low=-END, high=END),
    VectorNeighbours(3, l0=1, linf=1, low=-END, high=END), VectorNeighbours(3, l0=2, linf=1, low=-END, high=END),
    VectorNeighbours(3, l1=1.5, linf=1, low=-END, high=END),
    VectorNeighbours(3, linf=1, monotone=True, low=-END, high=END),
    VectorNeighbours(3, linf=1, integer=True, low=-END, high=END),
))]  # fmt: skip
Case = Annotated[int, Integers("number of a function", 0, 11)]
Bins = Annotated[int, Integers("number of bins", 2, 4)]


def _form(constant: Fraction | int, *slopes: tuple[int, int | Fraction]) -> Affine:
    return Affine(Fraction(constant), {}, {i: Fraction(slope) for i, slope in slopes})


def _released(
    derived: Sequence[Derived], numbers: Sequence[Affine], size: int, kind: NoiseKind = NoiseKind.LAPLACE
) -> LeafModel:
    """Return the numbers with noise of scale 1 each."""
    noisy = tuple(Affine(one.constant, {Noise(kind, k): ONE}, one.data) for k, one in enumerate(numbers))
    return LeafModel((Leaf((), ONE, noisy),), size=size, derived=tuple(derived))


def _random_functions(number: int) -> list[Derived]:
    """Return functions of three numbers, of sums of them, and of functions before."""
    rng = random.Random(number)  # noqa: S311
    found: list[Derived] = []
    for _ in range(rng.randint(1, 4)):
        places = rng.sample(range(3 + len(found)), rng.choice((1, 1, 2)))
        slopes = [(i, rng.choice((-1, 1, 1, 2, Fraction(1, 2)))) for i in places]
        function = rng.choice(list(Function))
        low = Fraction(rng.randint(-4, 2), 2) if function is Function.CLIP else None
        high = None if low is None else low + Fraction(rng.randint(1, 4), 2)
        found.append(Derived(function, _form(Fraction(rng.randint(-2, 2), 2), *slopes), low, high))
    return found


def _random_numbers(number: int, count: int) -> list[Affine]:
    """Return sums and differences of some of the coordinates."""
    rng = random.Random(~number)  # noqa: S311
    return [
        _form(0, *((i, rng.choice((-1, 1))) for i in rng.sample(range(count), rng.randint(1, count))))
        for _ in range(rng.randint(1, 2))
    ]


def _changes(model: LeafModel, relation: VectorNeighbours, number: int) -> Iterator[list[Fraction]]:
    """Yield the changes of all released numbers between some neighbours."""
    rng, step = random.Random(number), 1 if relation.integer else 2  # noqa: S311
    for _ in range(24):
        here = [Fraction(rng.randint(-3 * step, 3 * step), step) for _ in range(3)]
        for move in half_moves(relation):
            there = [x + change for x, change in zip(here, move, strict=True)]
            whole = all(x.denominator == 1 for x in there)
            if max(map(abs, there)) <= Fraction(END) and (whole or not relation.integer):
                pairs = zip(*(at_data(model, values).leaves[0].outcome for values in (here, there)), strict=True)
                yield [abs(one.constant - other.constant) for one, other in pairs]


@statement(
    DPASSAY,
    "functions of data as coordinates",
    cases=12,
    examples=tuple({"program": i, "relation": VectorNeighbours(3, l1=1, low=-END, high=END)} for i in range(6))
    + tuple({"program": i, "relation": VectorNeighbours(3, l0=1, linf=1, low=-END, high=END)} for i in range(6, 12)),
    pins=(
        Pin(
            {"program": 303, "relation": VectorNeighbours(3, l0=1, linf=1, low=-END, high=END)},
            "|x + 1| - x moves by 2 below -1",
            both=lambda: 2,
        ),
    ),
)
def pure_dp_of_functions_of_data(program: Program, relation: Relation) -> Verdict:
    """Where clipped, rounded, compared or squared data, and functions of these, are coordinates of their own, the
    alignments for all moves that these functions allow bound the privacy loss of all neighbours: the sum of the
    changes of released numbers in units of the scale of their Laplace noise.
    """
    derived = _random_functions(program)
    model = _released(derived, _random_numbers(program, 3 + len(derived)), 3)
    bound = alignment_bound(model, relation)
    if not isinstance(bound, Aligned):
        return equal_exact(bound, "aligned", "alignment of released functions")
    worst = max(sum(changes, Fraction(0)) for changes in _changes(model, relation, program))
    return at_most_exact(worst, bound.epsilon, "privacy loss")


@statement(
    DPASSAY,
    "functions of data beside Gaussian noise",
    cases=6,
    examples=tuple(
        {"program": i, "relation": VectorNeighbours(3, l0=1, linf=1, low=-END, high=END)} for i in (16, 18, 41)
    ),
    pins=(
        Pin(
            {"program": 303, "relation": VectorNeighbours(3, l0=1, linf=1, low=-END, high=END)},
            "|x + 1| - x moves by 2 below -1",
            both=lambda: 4,
        ),
    ),
)
def gaussian_dp_of_functions_of_data(program: Program, relation: Relation) -> Verdict:
    """With Gaussian noise of standard deviation 1 the square of mu is at least the sum of the squares of the changes
    that functions of data make in released numbers, also where comparisons of one number move together.
    """
    derived = _random_functions(program)
    model = _released(derived, _random_numbers(program, 3 + len(derived)), 3, NoiseKind.NORMAL)
    bound = gaussian_bound(model, relation)
    if not isinstance(bound, GaussianAligned):
        return equal_exact(bound, "aligned", "common shift of released functions")
    worst = max(sum((change**2 for change in changes), Fraction(0)) for changes in _changes(model, relation, program))
    return at_most_exact(worst, bound.square, "square of mu")


X = _form(0, (0, 1))
CASES: tuple[tuple[int, tuple[Derived, ...], Affine, Fraction], ...] = (
    (1, (Derived(Function.CLIP, X, Fraction(0), Fraction(2)),), _form(0, (1, 1)), ONE),
    (1, (Derived(Function.CLIP, X, Fraction(0), Fraction(1, 2)),), _form(0, (1, 3)), Fraction(3, 2)),
    (1, (Derived(Function.ABS, X),), _form(0, (1, 1)), ONE),
    (1, (Derived(Function.FLOOR, X),), _form(0, (1, 1)), ONE),
    (1, (Derived(Function.CEIL, _form(0, (0, Fraction(1, 2)))),), _form(0, (1, 1)), ONE),
    (1, (Derived(Function.RINT, X),), _form(0, (1, 1)), Fraction(2)),
    (1, (Derived(Function.RINT, _form(0, (0, 2))),), _form(0, (1, 1)), Fraction(2)),
    (1, (Derived(Function.ABOVE, _form(0, (0, Fraction(1, 2)))),), _form(0, (1, 5)), Fraction(5)),
    (1, (Derived(Function.AT_LEAST, X), Derived(Function.ABOVE, X)), _form(0, (1, 1), (2, -1)), ONE),
    (1, (Derived(Function.SQUARE, X),), _form(0, (1, 1)), Fraction(6)),
    (1, (Derived(Function.ABS, X), Derived(Function.CLIP, _form(0, (1, 2)), None, ONE)), _form(0, (2, 1)), ONE),
    (
        2,  # a clipped count need not move with the comparison that moves
        (
            Derived(Function.ABOVE, X),
            Derived(Function.ABOVE, _form(0, (1, 1))),
            Derived(Function.CLIP, _form(0, (2, 1), (3, 1)), ONE, Fraction(2)),
        ),
        _form(0, (4, 1), (2, -1), (3, -1)),
        ONE,
    ),
)
"""Number of coordinates of the data, derived coordinates, a released number, and what it costs for neighbours in
[-3, 3] of which one coordinate moves by at most 1."""


@statement(DPASSAY, "cost of a function of data", cases=12, examples=tuple({"case": i} for i in range(len(CASES))))
def alignment_of_a_function_of_data_costs_its_sensitivity(case: Case) -> Verdict:
    """A function of one number with Laplace noise of scale 1 costs its sensitivity, also where two comparisons of the
    number move together, or where a clipped number stays while its argument moves; a square costs at most 2 max|x|.
    From one tie to the next a rounded number moves by 2.
    """
    size, derived, number, cost = CASES[case]
    relation = VectorNeighbours(size, l0=1, linf=1, low=-END, high=END)
    bound = alignment_bound(_released(derived, [number], size), relation)
    if not isinstance(bound, Aligned):
        return equal_exact(bound, "aligned", "alignment of a released function")
    return equal_exact(bound.epsilon, cost, "cost")


@statement(DPASSAY, "cost of a histogram", cases=3, examples=({"bins": 3},))
def alignment_of_a_histogram_costs_two_records(bins: Bins) -> Verdict:
    """The numbers of records in bins with Laplace noise of scale 1 cost 2 if one of three records is replaced: it
    leaves one bin and comes into another one, whatever the number of bins.
    """
    derived: list[Derived] = []
    sums: list[dict[int, Fraction]] = [{} for _ in range(bins)]
    for i in range(3):
        known: list[int] = []
        for cut in range(1, bins):
            known.append(3 + len(derived))
            derived.append(Derived(Function.AT_LEAST, _form(-cut, (i, 1))))
        for place in range(bins):
            if place:
                sums[place][known[place - 1]] = ONE
            if place < bins - 1:
                sums[place][known[place]] = -ONE
    counts = [Affine(Fraction(3 if not place else 0), {}, slopes) for place, slopes in enumerate(sums)]
    relation = VectorNeighbours(3, l0=1, linf=2 * END, low=-END, high=END)
    bound = alignment_bound(_released(derived, counts, 3), relation)
    if not isinstance(bound, Aligned):
        return equal_exact(bound, "aligned", "alignment of a histogram")
    return equal_exact(bound.epsilon, Fraction(2), "cost")


@statement(
    DPASSAY,
    "certificates of functions of data",
    cases=12,
    examples=tuple(
        {"program": i, "relation": VectorNeighbours(3, l0=1, linf=1, low=-END, high=END)} for i in range(8)
    ),
)
def certificates_of_functions_of_data_pass_the_checker(program: Program, relation: Relation) -> Verdict:
    """Every alignment with functions of data as coordinates passes the independent checker, which computes from the
    functions how far they move.
    """
    derived = _random_functions(program)
    model = _released(derived, _random_numbers(program, 3 + len(derived)), 3)
    bound = alignment_bound(model, relation)
    if not isinstance(bound, Aligned):
        return equal_exact(bound, "aligned", "alignment of released functions")
    return equal_exact(check_alignment(certificate(model, relation, bound)), [], "faults of the certificate")
