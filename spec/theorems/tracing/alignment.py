"""The alignment lemma: shifts of the noise that keep decisions and released numbers bound the privacy loss."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.ball import ATTAINED, at_most, ball
from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.leaves.alignment import Aligned, alignment_bound
from dpassay.spec.leaves.certificates import certificate
from dpassay.spec.leaves.check import check_alignment
from dpassay.spec.leaves.data import at_data
from dpassay.spec.leaves.distribution import LeafDistribution
from dpassay.spec.leaves.merging import merged
from dpassay.spec.leaves.model import LeafModel, NoiseKind
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.theorems.tracing.programs import (
    half_moves,
    noisy_max_by_loop,
    random_answers,
    random_program,
    sparse_vector,
)
from dpassay.spec.theorems.tracing.second_derivations import RACE, race_losses
from dpassay.spec.verdict import Evidence, Holds, Verdict, conjunction

__all__ = [
    "alignment_of_noisy_max_costs_epsilon",
    "alignment_of_sparse_vector_is_approached_far_out",
    "certificates_of_alignments_pass_the_checker",
    "pure_dp_of_alignment",
]

KINDS = (NoiseKind.LAPLACE, NoiseKind.EXPONENTIAL)
Program = Annotated[int, Integers("number of a random program", 0, 10**6)]
Size = Annotated[int, Integers("number of answers", 2, 4)]
Kind = Annotated[NoiseKind, Choices("kind of noise", (NoiseKind.LAPLACE, NoiseKind.EXPONENTIAL, NoiseKind.GUMBEL))]
Relation = Annotated[VectorNeighbours, Choices("neighbours of three answers", (
    VectorNeighbours(3, linf=1), VectorNeighbours(3, l1=1), VectorNeighbours(3, l0=2, linf=1),
    VectorNeighbours(3, l1=1.5, linf=1), VectorNeighbours(3, linf=1, monotone=True),
))]  # fmt: skip


def _loss_is_at_most(
    model: LeafModel, answers: Sequence[Fraction], move: Sequence[Fraction], epsilon: Fraction
) -> Verdict:
    moved = [x + step for x, step in zip(answers, move, strict=True)]
    left, right = (LeafDistribution(at_data(model, values)) for values in (answers, moved))
    return at_most(lambda: max_divergence(left, right), lambda: ball(epsilon), slack=ATTAINED)


@statement(
    DPASSAY,
    "alignment lemma",
    cases=2,
    examples=tuple({"program": i, "relation": VectorNeighbours(3, linf=1)} for i in (42, 40, 8)),
    pins=(
        Pin(
            {"program": RACE, "relation": VectorNeighbours(3, linf=1)},
            "the difference of two exponential variables in closed form; the noise of scale 1/2 moves by 1",
            smaller=race_losses,
            larger=lambda: [2] * 9,
        ),
    ),
)
def pure_dp_of_alignment(program: Program, relation: Relation) -> Verdict:
    """If every leaf has, for every move of the data, a shift of the noise that keeps its decisions, then the privacy
    loss of neighbours is at most the largest cost of a shift. Without such shifts nothing is claimed.
    """
    model = random_program(program, 3, KINDS)
    bound = alignment_bound(model, relation)
    if not isinstance(bound, Aligned):
        return Holds(evidence=Evidence.EXACT, detail="no alignment, no claim")
    moves, answers = list(half_moves(relation)), random_answers(program, 3)
    longest = max(sum(map(abs, move)) for move in moves)
    extreme = [move for move in moves if sum(map(abs, move)) == longest and not {abs(step) for step in move} - {0, 1}]
    return conjunction([
        *(_loss_is_at_most(model, [8 * step for step in move], move, bound.epsilon) for move in extreme),
        _loss_is_at_most(model, answers, moves[program % len(moves)], bound.epsilon),
    ])  # fmt: skip


@statement(
    DPASSAY,
    "alignment of noisy max",
    cases=8,
    examples=({"size": 4, "kind": NoiseKind.EXPONENTIAL},),
    pins=(
        Pin(
            {"size": 3, "kind": NoiseKind.EXPONENTIAL},
            "the winner moves up by 2; on the path of two improvements both winners do",
            smaller=lambda: 1,
            larger=lambda: 2,
        ),
    ),
)
def alignment_of_noisy_max_costs_epsilon(size: Size, kind: Kind) -> Verdict:
    """The merged leaves of noisy max with noise of scale 2/epsilon, found by a loop, are aligned at cost epsilon: the
    noise of the winner moves up by 2, whatever the number of answers. Paths that are not merged cost more.
    """
    relation = VectorNeighbours(size, linf=1)
    loop = noisy_max_by_loop(size, kind, Fraction(2))
    whole, paths = alignment_bound(merged(loop), relation), alignment_bound(loop, relation)
    if not (isinstance(whole, Aligned) and isinstance(paths, Aligned)):
        return equal_exact(whole, "aligned", "alignment of noisy max")
    return conjunction([
        equal_exact(whole.epsilon, Fraction(1), "cost of the merged leaves"),
        at_most_exact(whole.epsilon, paths.epsilon, "cost of the merged leaves"),
    ])  # fmt: skip


@statement(
    DPASSAY,
    "alignment of sparse vector",
    cases=3,
    examples=({"size": 3},),
    pins=(
        Pin(
            {"size": 3},
            "each of three answers moves by 1; the threshold would move by 1 and the last answer by 2",
            smaller=lambda: [Fraction(3, 4), Fraction(3, 4) * Fraction(999, 1000), Fraction(3, 4)],
            larger=lambda: [1, Fraction(3, 4), Fraction(3, 4)],
        ),
    ),
)
def alignment_of_sparse_vector_is_approached_far_out(size: Size) -> Verdict:
    """Sparse vector with a threshold of Lap(2/epsilon), answers with Lap(4/epsilon) and one answer above costs at most
    epsilon = 1, and data far out in the direction of the worst move lose all but a thousandth of the bound.
    """
    model = sparse_vector(size, Fraction(2), Fraction(4))
    bound = alignment_bound(model, VectorNeighbours(size, linf=1))
    if not isinstance(bound, Aligned):
        return equal_exact(bound, "aligned", "alignment of sparse vector")
    start = [2000 * step for step in bound.worst_move]
    moved = [x + step for x, step in zip(start, bound.worst_move, strict=True)]
    left, right = (LeafDistribution(at_data(model, values)) for values in (start, moved))
    return conjunction([
        at_most_exact(bound.epsilon, Fraction(1), "cost"),
        at_most(lambda: ball(bound.epsilon * Fraction(999, 1000)), lambda: max_divergence(left, right)),
        _loss_is_at_most(model, start, bound.worst_move, bound.epsilon),
    ])  # fmt: skip


@statement(DPASSAY, "certificates", cases=15, examples=({"program": 3, "relation": VectorNeighbours(3, linf=1)},))
def certificates_of_alignments_pass_the_checker(program: Program, relation: Relation) -> Verdict:
    """Every alignment that the linear programmes find passes the independent checker."""
    model = random_program(program, 3, KINDS)
    bound = alignment_bound(model, relation)
    if not isinstance(bound, Aligned):
        return Holds(evidence=Evidence.EXACT, detail="no alignment, no certificate")
    return equal_exact(check_alignment(certificate(model, relation, bound)), [], "faults of the certificate")
