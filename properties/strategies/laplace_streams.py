"""Adversarial streams for thresholds with Laplace noise: worst shapes, extreme thresholds, ties in one run."""

from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.base import exact_reals, log_integers, strategy_for
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.laplace_streams import NoisyRun, NoisyRuns, ThresholdStream, ThresholdStreams

__all__ = ["noisy_runs", "threshold_streams"]

SENSITIVITIES = (Fraction(1), Fraction(1, 3), Fraction(10))
HEIGHTS = tuple(map(Fraction, (0, 1, 5, 40, 400)))
"""In sensitivities, between the answers that rise and those that fall."""

MOVES = tuple(map(Fraction, ("1", "-1", "0", "1/2")))


@strategy_for.register
def _(domain: ThresholdStreams) -> st.SearchStrategy[ThresholdStream]:
    return threshold_streams(domain.largest_size, domain.largest_blocks, domain.monotone)


@strategy_for.register
def _(domain: NoisyRuns) -> st.SearchStrategy[NoisyRun]:
    return noisy_runs(domain.largest_size)


@st.composite
def threshold_streams(
    draw: st.DrawFn, largest_size: int, largest_blocks: int, monotone: bool = False
) -> ThresholdStream:
    """Draw a pair; half of the pairs have rising answers far above the threshold and a few low falling ones."""
    step = draw(st.sampled_from(SENSITIVITIES))
    height = step * draw(st.one_of(st.sampled_from(HEIGHTS), exact_reals(Fraction(0), Fraction(50), digits=2)))
    way = draw(st.sampled_from([1, -1])) if monotone else 0
    if draw(st.booleans()) and largest_size > 1 and largest_blocks > 1:
        many = draw(log_integers(1, largest_size - 1))
        rising = Block(height - step, height, many) if way >= 0 else Block(height, height, many)
        falling = Block(step, Fraction(0)) if way <= 0 else Block(Fraction(0), Fraction(0))
        blocks = draw(st.sampled_from([(rising, falling), (falling, rising), (rising,)]))
    else:
        count = draw(st.integers(1, min(largest_blocks, largest_size)))
        blocks = tuple(_block(draw, height, step, way, largest_size // count) for _ in range(count))
    places = st.one_of(
        st.sampled_from([Fraction(0), height, height / 2, -20 * step, height + 20 * step]),
        exact_reals(-20 * step, height + 20 * step, digits=2),
    )
    left, right = ThresholdStream(blocks, draw(places), step), [Block(b.right, b.left, b.count) for b in blocks]
    return left if draw(st.booleans()) else ThresholdStream(tuple(right), left.threshold, step)


def _block(draw: st.DrawFn, height: Fraction, step: Fraction, way: int, largest_count: int) -> Block:
    left = draw(st.one_of(st.sampled_from([Fraction(0), height]), exact_reals(Fraction(0), height, digits=2)))
    move = draw(st.sampled_from(MOVES)) * step
    count = draw(st.one_of(st.just(1), log_integers(1, max(largest_count, 1))))
    return Block(left, left + (way * abs(move) if way else move), count)


@st.composite
def noisy_runs(draw: st.DrawFn, largest_size: int) -> NoisyRun:
    """Draw a run; the noisy threshold often equals a noisy answer or is next to one."""
    stream = draw(threshold_streams(largest_size, largest_size))
    span = stream.high - stream.low + 4 * stream.sensitivity
    noises = tuple(draw(exact_reals(-span, span, digits=1)) for _ in range(stream.size))
    noisy = [answer + noise for side in stream.sides for answer, noise in zip(side, noises, strict=True)]
    near = st.sampled_from(noisy).flatmap(lambda x: st.sampled_from([x, x - Fraction(1, 1000), x + Fraction(1, 1000)]))
    return NoisyRun(stream, noises, draw(st.one_of(near, exact_reals(min(noisy) - 1, max(noisy) + 1, digits=2))))
