"""Finite sums of rational multiples of exponentials of rationals: a ring in which zero is decidable.

Integrals of products of Laplace, exponential and uniform densities over rational polyhedra are such sums. By the
theorem of Lindemann and Weierstrass the exponentials of distinct rationals are linearly independent over the
rationals, so that a sum is 0 exactly if all its coefficients are 0, and two probabilities are equal exactly if their
sums are.
"""

from collections.abc import Mapping
from fractions import Fraction

from flint import arb, ctx

from dpassay.spec.ball import ball, precision, sum_balls

__all__ = ["ExponentialSum"]

MOST_BITS = 1 << 16
"""Precision at which the search for the leading bits of a non-zero sum ends."""


class ExponentialSum:
    """The number sum_i coefficient_i e^exponent_i.

    Parameters
    ----------
    terms : Mapping of Fraction to Fraction
        Coefficients by exponent; zeros are dropped.

    Examples
    --------
    >>> one = ExponentialSum({Fraction(0): Fraction(1)})
    >>> half = ExponentialSum({Fraction(-1): Fraction(1, 2)})
    >>> (one - half + half) == one
    True
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Fraction, Fraction]) -> None:
        self.terms = {exponent: coefficient for exponent, coefficient in terms.items() if coefficient}

    @classmethod
    def lift(cls, coefficient: Fraction, exponent: Fraction) -> "ExponentialSum":
        """Return coefficient e^exponent."""
        return cls({exponent: coefficient})

    def __add__(self, other: "ExponentialSum") -> "ExponentialSum":
        terms = dict(self.terms)
        for exponent, coefficient in other.terms.items():
            terms[exponent] = terms.get(exponent, Fraction(0)) + coefficient
        return ExponentialSum(terms)

    def __neg__(self) -> "ExponentialSum":
        return ExponentialSum({exponent: -coefficient for exponent, coefficient in self.terms.items()})

    def __sub__(self, other: "ExponentialSum") -> "ExponentialSum":
        return self + -other

    def __mul__(self, other: "ExponentialSum") -> "ExponentialSum":
        terms: dict[Fraction, Fraction] = {}
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                terms[a + b] = terms.get(a + b, Fraction(0)) + x * y
        return ExponentialSum(terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExponentialSum) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __repr__(self) -> str:
        return " + ".join(f"{c} e^({a})" for a, c in self.terms.items()) or "0"

    def is_zero(self) -> bool:
        """Return whether the number is 0."""
        return not self.terms

    @property
    def rational(self) -> Fraction | None:
        """The number itself if it is rational, None otherwise."""
        return self.terms.get(Fraction(0), Fraction(0)) if set(self.terms) <= {Fraction(0)} else None

    def enclose(self) -> arb:
        """Enclose the number with relative radius about 2^-p at working precision p, whatever cancels."""
        wanted, bits = ctx.prec, ctx.prec + 32
        while True:
            with precision(bits):
                value = sum_balls(ball(c) * ball(a).exp() for a, c in self.terms.items())
            if not self.terms or value.rel_accuracy_bits() >= wanted or bits >= MOST_BITS:
                return value
            bits *= 2
