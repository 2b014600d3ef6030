"""Strategies for streams and runs build members of their domains, and reach the shapes where bounds are attained."""

from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from dpassay.properties.strategies import strategy_for
from dpassay.properties.strategies.laplace_streams import noisy_runs, threshold_streams
from dpassay.spec.domains.laplace_streams import NoisyRun, NoisyRuns, ThresholdStream, ThresholdStreams

quick = settings(max_examples=100, deadline=None, derandomize=True, database=None)


@quick
@given(st.data(), st.sampled_from([(1, 1), (6, 6), (40, 4)]), st.booleans())
def test_streams_are_members(data: st.DataObject, sizes: tuple[int, int], monotone: bool) -> None:
    domain = ThresholdStreams("streams", *sizes, monotone)
    assert domain.contains(data.draw(strategy_for(domain)))


@quick
@given(st.data())
def test_runs_are_members(data: st.DataObject) -> None:
    domain = NoisyRuns("runs")
    assert domain.contains(data.draw(strategy_for(domain)))


def test_worst_shapes_and_ties_are_reached() -> None:
    def is_worst(stream: ThresholdStream) -> bool:
        (left, right), step = stream.sides, stream.sensitivity
        *first, last = (b - a for a, b in zip(left, right, strict=True))
        return len(first) > 3 and all(move == step for move in first) and last == -step

    def is_tied(run: NoisyRun) -> bool:
        return any(q + nu == run.noisy_threshold for q, nu in zip(run.stream.sides[0], run.noises, strict=True))

    # found is enough: to shrink what was found may take minutes
    search = settings(quick, max_examples=2000, phases=[Phase.generate])
    assert find(threshold_streams(40, 4), is_worst, settings=search).size > 3
    assert find(noisy_runs(6), is_tied, settings=search).noises
