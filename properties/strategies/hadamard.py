"""Strategies for the attack by Hadamard queries: errors of one size, errors on a few bits, arbitrary errors."""

from fractions import Fraction

from hypothesis import strategies as st

from dpassay.properties.strategies.base import exact_reals, strategy_for
from dpassay.spec.domains.hadamard import HadamardAnswers, NoisyAnswers, hadamard_transform

__all__ = ["noisy_answers"]


@strategy_for.register
def _(domain: HadamardAnswers) -> st.SearchStrategy[NoisyAnswers]:
    return noisy_answers(domain.largest_exponent)


@st.composite
def noisy_answers(draw: st.DrawFn, largest_exponent: int) -> NoisyAnswers:
    """Draw bits and errors; decoded values may lie exactly on the rounding threshold."""
    size = 2 ** draw(st.integers(0, largest_exponent))
    bits = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    shape = draw(st.sampled_from(["signs", "few bits", "any"]))
    scale = draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(2)]))
    if shape == "few bits":
        wrong = draw(st.lists(st.sampled_from([Fraction(0), Fraction(1, 2)]), min_size=size, max_size=size))
        flipped = [w * (1 - 2 * bit) for w, bit in zip(wrong, bits, strict=True)]
        errors = hadamard_transform(flipped) * 2
    else:
        error = st.sampled_from([scale, -scale]) if shape == "signs" else exact_reals(-scale, scale, digits=2)
        errors = draw(st.lists(error, min_size=2 * size, max_size=2 * size))
    return NoisyAnswers(tuple(bits), tuple(errors))
