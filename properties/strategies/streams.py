"""Adversarial streams for AboveThreshold: extreme ranges, thresholds outside them, unequal noise, worst corners."""

from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.answers import LOWS, STEPS, WIDTHS
from dpassay.properties.strategies.base import exact_reals, log_integers, strategy_for
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.streams import (
    FARTHEST,
    NeighbouringStreams,
    StreamPairs,
    ThresholdSetting,
    ThresholdSettings,
)

__all__ = ["moderate_settings", "neighbouring_streams", "threshold_settings"]

SQRT_3_UPPER = Fraction(17320508076, 10**10)
NOISES = tuple(map(Fraction, ("3/20", "1/20", "1", "13/50", "1/1000", "1000")))
QUERY_NOISES = (Fraction(1), SQRT_3_UPPER, Fraction(2), Fraction(1, 2), Fraction(1, 20), Fraction(20))
POSITIONS = tuple(map(Fraction, ("1/2", "1", "0", "1/5", "23/40")))


@strategy_for.register
def _(domain: ThresholdSettings) -> st.SearchStrategy[ThresholdSetting]:
    return moderate_settings() if domain.moderate else threshold_settings()


@strategy_for.register
def _(domain: StreamPairs) -> st.SearchStrategy[NeighbouringStreams]:
    return neighbouring_streams(domain.largest_size, domain.largest_blocks, domain.non_negative)


@st.composite
def threshold_settings(draw: st.DrawFn, *, non_negative: bool = False) -> ThresholdSetting:
    """Draw a setting; with `non_negative`, threshold >= low and sigma_query >= sqrt(3) sigma_threshold."""
    low, width = draw(st.sampled_from(LOWS)), draw(st.sampled_from(WIDTHS))
    steps = st.sampled_from([step for step in STEPS if step])
    sensitivity = width * draw(st.one_of(steps, exact_reals(Fraction(1, 1000), Fraction(3, 2))))
    sizes = exact_reals(Fraction(1, 1000), Fraction(1000), logarithmic=True, digits=2)
    sigma_threshold = width * draw(st.one_of(st.sampled_from(NOISES), sizes))
    if non_negative:
        factors = exact_reals(SQRT_3_UPPER, Fraction(100), logarithmic=True)
        sigma_query = sigma_threshold * draw(st.one_of(st.just(SQRT_3_UPPER), factors))
    else:
        related = st.sampled_from(QUERY_NOISES).map(lambda factor: factor * sigma_threshold)
        sigma_query = draw(st.one_of(related, sizes.map(lambda size: width * size)))
    threshold = draw(_thresholds(low, width, sigma_threshold + sigma_query, non_negative))
    return ThresholdSetting(low, low + width, sensitivity, threshold, sigma_threshold, sigma_query)


@st.composite
def moderate_settings(draw: st.DrawFn) -> ThresholdSetting:
    """Draw a setting whose noise scales are between a tenth of the width of the range and ten widths."""
    low, width = draw(st.sampled_from(LOWS)), draw(st.sampled_from(WIDTHS))
    sensitivity = width * draw(exact_reals(Fraction(1, 1000), Fraction(3, 2)))
    sizes = exact_reals(Fraction(1, 10), Fraction(10), logarithmic=True, digits=2)
    sigma_threshold, sigma_query = width * draw(sizes), width * draw(sizes)
    threshold = draw(_thresholds(low, width, sigma_threshold + sigma_query, non_negative=False))
    return ThresholdSetting(low, low + width, sensitivity, threshold, sigma_threshold, sigma_query)


def _thresholds(low: Fraction, width: Fraction, noise: Fraction, non_negative: bool) -> st.SearchStrategy[Fraction]:
    inside = st.one_of(st.sampled_from(POSITIONS), exact_reals(Fraction(0), Fraction(1)))
    distance = exact_reals(Fraction(0), Fraction(FARTHEST), digits=2)
    above = distance.map(lambda d: low + width + d * noise)
    choices = [inside.map(lambda u: low + u * width), above]
    if not non_negative:
        choices.append(distance.map(lambda d: low - d * noise))
    return st.one_of(choices)


@st.composite
def neighbouring_streams(
    draw: st.DrawFn, largest_size: int, largest_blocks: int, non_negative: bool
) -> NeighbouringStreams:
    """Draw a pair; half of the pairs have the shape at which the bounds are attained, or a part of it."""
    setting = draw(threshold_settings(non_negative=non_negative))
    if draw(st.booleans()):
        blocks = _rise_then_fall(draw, setting, largest_size)
    else:
        count = draw(st.integers(1, largest_blocks))
        blocks = tuple(_block(draw, setting, max(largest_size // largest_blocks, 1)) for _ in range(count))
    pair = NeighbouringStreams(setting, blocks)
    return pair.swapped if draw(st.booleans()) else pair


def _rise_then_fall(draw: st.DrawFn, setting: ThresholdSetting, largest_size: int) -> tuple[Block, ...]:
    """Let the first answers rise to the top or move at the bottom, and the last one fall to the bottom."""
    low, high, step = setting.low, setting.high, setting.step
    last = Block(low + step, low)
    if largest_size == 1:
        return (last,)
    rising = Block(high - step, high)  # twice: it is where the ex-post bounds are attained
    first = draw(st.sampled_from([rising, rising, Block(low, low + step), Block(low + step, low)]))
    many = Block(first.left, first.right, draw(log_integers(1, largest_size - 1)))
    return draw(st.sampled_from([(many, last), (many, last), (many,), (last,)]))


def _block(draw: st.DrawFn, setting: ThresholdSetting, largest_count: int) -> Block:
    low, high, step = setting.low, setting.high, setting.step
    corners = st.sampled_from([low, high, low + step, high - step])
    left = draw(st.one_of(corners, exact_reals(low, high, digits=2)))
    shift = draw(st.sampled_from([Fraction(1), Fraction(-1), Fraction(0), Fraction(1, 3)])) * step
    right = min(max(left + shift, low), high)
    return Block(left, right, draw(st.one_of(st.just(1), log_integers(1, largest_count))))
