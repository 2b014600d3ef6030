"""Strategies for the lemmas on monotone ratios."""

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from dpassay.properties.strategies.base import exact_reals, strategy_for
from dpassay.spec.theorems.gaussian_selection.monotone_ratios import AtomLists, SlopeLists

Pieces = tuple[tuple[Fraction, Fraction], ...]


@strategy_for.register
def _(domain: SlopeLists) -> st.SearchStrategy[Pieces]:
    rise = exact_reals(Fraction(1, 100), Fraction(100), logarithmic=True)
    piece = st.tuples(exact_reals(Fraction(-5), Fraction(5), digits=2), rise)  # (slope ratio, rise of g)
    return st.lists(piece, min_size=1, max_size=6).map(
        lambda pieces: tuple((ratio * g, g) for ratio, g in sorted(pieces, key=lambda pair: pair[0]))
    )


@strategy_for.register
def _(domain: AtomLists) -> st.SearchStrategy[Any]:
    value = exact_reals(Fraction(-6), Fraction(6), digits=2)
    weight = st.one_of(
        st.sampled_from([Fraction(1), Fraction(3)]), exact_reals(Fraction(1, 10**6), Fraction(100), logarithmic=True)
    )
    return st.lists(st.tuples(value, weight), min_size=1, max_size=4).map(tuple)
