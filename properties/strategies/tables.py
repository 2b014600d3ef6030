"""Strategies for tables of rationals: entries at the ends of their range and between them."""

from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.base import exact_reals, strategy_for
from dpassay.spec.domains.tables import RationalTables, Table

__all__ = ["tables"]


@strategy_for.register
def _(domain: RationalTables) -> st.SearchStrategy[Table]:
    return tables(domain)


@st.composite
def tables(draw: st.DrawFn, domain: RationalTables) -> Table:
    """Draw a table with equal, extreme or arbitrary rows."""
    rows, columns = draw(st.sampled_from(domain.rows)), draw(st.integers(1, domain.columns))
    low, high = Fraction(domain.low), Fraction(domain.high)
    extreme = st.sampled_from([high, low])
    between = exact_reals(low, high, logarithmic=True) if low > 0 else exact_reals(low, high)
    entry = draw(st.sampled_from([extreme, extreme | between, between]))
    row = st.lists(entry, min_size=columns, max_size=columns).map(tuple)
    if draw(st.integers(0, 5)) == 0:
        return (draw(row),) * rows
    return tuple(draw(st.lists(row, min_size=rows, max_size=rows)))
