"""Strategies for the small domains of the chapter on accuracy-first privacy: counts, and queries as tables."""

from typing import Any

from hypothesis import strategies as st

from dpassay.properties.strategies.base import strategy_for
from dpassay.spec.theorems.accuracy_first.gumbel_selection import Counts, CountVectors
from dpassay.spec.theorems.accuracy_first.sensitivity import DATA_SETS, QueryTables


@strategy_for.register
def _(domain: CountVectors) -> st.SearchStrategy[tuple[Counts, Counts]]:
    steps = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1)), min_size=1, max_size=5)
    return steps.map(lambda pairs: (tuple(a for a, _ in pairs), tuple(a + step for a, step in pairs)))


@strategy_for.register
def _(domain: QueryTables) -> st.SearchStrategy[Any]:
    return st.integers(1, 3).flatmap(
        lambda size: st.tuples(*[st.tuples(*[st.integers(-4, 4)] * size)] * len(DATA_SETS))
    )
