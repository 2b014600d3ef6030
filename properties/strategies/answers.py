"""Adversarial pairs of query answers: corners, one against all, ties, both orders, extreme ranges."""

from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.base import exact_reals, log_integers, strategy_for
from dpassay.spec.domains.answers import AnswerPairs, Block, NeighbouringAnswers

__all__ = ["neighbouring_answers"]

LOWS = (Fraction(0), Fraction(1), Fraction(-1), Fraction(-1, 2), Fraction(-7, 3), Fraction(5))
WIDTHS = (Fraction(1), Fraction(1, 10), Fraction(3))
STEPS = tuple(map(Fraction, ("1/10", "1/2", "1/100", "1/1000000", "1", "99/100", "13/10", "0")))


@strategy_for.register
def _(domain: AnswerPairs) -> st.SearchStrategy[NeighbouringAnswers]:
    return neighbouring_answers(domain.largest_size, domain.largest_blocks)


@st.composite
def neighbouring_answers(draw: st.DrawFn, largest_size: int, largest_blocks: int) -> NeighbouringAnswers:
    """Draw a pair; half of the pairs have a shape at which selection bounds are attained."""
    low, width = draw(st.sampled_from(LOWS)), draw(st.sampled_from(WIDTHS))
    step = width * draw(st.one_of(st.sampled_from(STEPS), exact_reals(Fraction(0), Fraction(3, 2))))
    high, move = low + width, min(step, width)
    if draw(st.booleans()):
        blocks = _one_against_all(draw, low, high, move, largest_size)
    else:
        blocks = tuple(
            _block(draw, low, high, move, largest_size // largest_blocks)
            for _ in range(draw(st.integers(1, largest_blocks)))
        )
    pair = NeighbouringAnswers(blocks, low, high, step)
    return pair.swapped if draw(st.booleans()) else pair


def _one_against_all(
    draw: st.DrawFn, low: Fraction, high: Fraction, move: Fraction, largest_size: int
) -> tuple[Block, ...]:
    rivals = draw(log_integers(1, max(largest_size - 1, 1)))
    return (Block(high - move, high, rivals), Block(low + move, low))


def _block(draw: st.DrawFn, low: Fraction, high: Fraction, move: Fraction, largest_count: int) -> Block:
    grid = st.one_of(st.sampled_from([low, high, low + move, high - move]), exact_reals(low, high, digits=2))
    left = draw(grid)
    shift = draw(st.sampled_from([Fraction(1), Fraction(-1), Fraction(0), Fraction(1, 3)])) * move
    right = min(max(left + shift, low), high)
    return Block(left, right, draw(st.one_of(st.just(1), log_integers(1, max(largest_count, 1)))))
