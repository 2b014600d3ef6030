"""Adversarial runs of noise reduction: windows at and far from the true answer, times close together and far apart."""

import itertools
import operator
from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.base import exact_reals, strategy_for
from dpassay.spec.distributions.stopped_brownian import StoppedRun, StoppedRuns
from dpassay.spec.interactions.brownian_rounds import BrownianRound, BrownianRounds
from dpassay.spec.interactions.released_paths import ReleasedPath, ReleasedPaths

ANSWERS = (Fraction(0), Fraction(1), Fraction(-1), Fraction(5, 2))


@strategy_for.register
def _(domain: StoppedRuns) -> st.SearchStrategy[StoppedRun]:
    def build(
        second: Fraction, share: Fraction, low: Fraction, width: Fraction, inside: bool, f: Fraction
    ) -> StoppedRun:
        return StoppedRun(second * share, second, low, low + width, inside, f)

    return st.builds(
        build,
        exact_reals(Fraction(1, 16), domain.largest),
        st.one_of(st.sampled_from([Fraction(1, 4), Fraction(1, 2)]), exact_reals(Fraction(1, 50), Fraction(49, 50))),
        exact_reals(Fraction(-3), Fraction(3), digits=2),
        st.one_of(st.just(Fraction(1)), exact_reals(Fraction(1, 10), Fraction(20), digits=2)),
        st.booleans(),
        st.sampled_from(ANSWERS),
    )


@strategy_for.register
def _(domain: ReleasedPaths) -> st.SearchStrategy[ReleasedPath]:  # chosen by its type
    @st.composite
    def build(draw: st.DrawFn) -> ReleasedPath:
        size, releases = draw(st.integers(1, 3)), draw(st.integers(1, 4))
        numbers = exact_reals(Fraction(-4), Fraction(4), digits=2)
        vectors = st.tuples(*[numbers] * size)
        left = draw(vectors)
        right = draw(st.one_of(st.just(left), vectors))
        noise = [draw(vectors)]
        for _ in range(releases - 1):  # Laplace noise stands still now and then
            noise.append(draw(st.one_of(st.just(noise[-1]), vectors, vectors)))
        return ReleasedPath(draw(falling_times(releases)), left, right, tuple(noise))

    return build()


def falling_times(count: int) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Draw strictly decreasing positive times, close together and far apart."""
    shares = st.one_of(
        st.sampled_from([Fraction(1, 2), Fraction(999, 1000), Fraction(1, 1000)]),
        exact_reals(Fraction(1, 50), Fraction(49, 50), digits=2),
    )

    def build(first: Fraction, rest: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        return tuple(itertools.accumulate((first, *rest), operator.mul))

    starts = st.sampled_from([Fraction(1), Fraction(4), Fraction(1, 3), Fraction(100)])
    return st.builds(build, starts, st.tuples(*[shares] * (count - 1)))


@strategy_for.register
def _(domain: BrownianRounds) -> st.SearchStrategy[tuple[BrownianRound, ...]]:
    def build(times: tuple[Fraction, ...], end: int) -> BrownianRound:
        precisions = tuple(1 / time for time in times)
        return BrownianRound(precisions, min(end, len(precisions) - 1))

    grids = st.integers(1, 4).flatmap(falling_times)
    rounds = st.builds(build, grids, st.integers(0, 3))
    return st.lists(rounds, max_size=domain.most).map(tuple)
