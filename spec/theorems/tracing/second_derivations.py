"""Values of the chapter's bounds by a second derivation, for pins."""

from fractions import Fraction
from operator import truediv

from flint import arb

from dpassay.neighbours import VectorNeighbours
from dpassay.spec.ball import ball
from dpassay.spec.theorems.tracing.programs import half_moves, random_answers

__all__ = ["DIFFERENCE", "RACE", "difference_losses", "race_losses"]

RACE = 469
"""The number of a random program that releases whether the first answer + E/2 is at least 2 E', both exponential."""
DIFFERENCE = 2
"""The number of a random program that asks whether an integer with the difference of two geometric variables of ratio
1/4 is below -2, above 0, or neither."""


def race_losses() -> list[arb]:
    """Return the losses of `RACE` that the alignment lemma is tried on: eight moves far out, and one elsewhere.

    E/2 - 2 E' exceeds t >= 0 with probability e^(-2 t)/5, and stays below -t with probability 4 e^(-t/2)/5.
    """
    moves = list(half_moves(VectorNeighbours(3, linf=1)))
    tried = [(8 * move[0], move[0]) for move in moves if {abs(step) for step in move} == {1}]
    elsewhere = random_answers(RACE, 3)[0], moves[RACE % len(moves)][0]
    return [_loss(answer, answer + step) for answer, step in (*tried, elsewhere)]


def _loss(answer: Fraction, moved: Fraction) -> arb:
    sides = [_sides(value) for value in (answer, moved)]
    losses = [(here / there).log() for here, there in zip(*sides, strict=True)]
    largest: arb = losses[0].max(losses[1])
    return largest


def _sides(answer: Fraction) -> tuple[arb, arb]:
    """Enclose the probabilities of "at least" and "below"."""
    if answer >= 0:
        below = 4 * (-ball(answer) / 2).exp() / 5
        return 1 - below, below
    above = (2 * ball(answer)).exp() / 5
    return above, 1 - above


def difference_losses() -> list[arb]:
    """Return the losses of `DIFFERENCE` for integers one apart: the difference reaches k > 0 with chance 4^(1-k)/5."""
    pairs = [(x, x + step) for x in range(-3, 4) for step in (-1, 1)]
    return [ball(max(map(truediv, _places(x), _places(y)))).log() for x, y in pairs]


def _places(x: int) -> tuple[Fraction, Fraction, Fraction]:
    below, above = _reaches(x + 3), _reaches(1 - x)
    return below, 1 - below - above, above


def _reaches(level: int) -> Fraction:
    power = max(level, 1 - level)
    beyond = Fraction(4, 5 * 4**power)
    return beyond if level > 0 else 1 - beyond
