"""Signs of polynomials by their coefficients: no coefficient below 0, so none of the values for arguments from 0.

To prove an inequality between rational functions on a region, map the region onto the non-negative orthant (x >= 1
is x = 1 + z; 0 < u < b is u = b/(1 + v)), clear the positive denominators, and look at the coefficients.
"""

from collections.abc import Iterable
from typing import Any

from dpassay.spec.verdict import Evidence, Holds, Scope, Undecided, Verdict, Violated

__all__ = ["nonnegative_on_orthant", "positive_on_orthant"]


def nonnegative_on_orthant(expression: Any, symbols: Iterable[Any], name: str) -> Verdict:
    """Decide whether a rational function is at least 0 for all non-negative values of its symbols.

    Parameters
    ----------
    expression : sympy expression
        A quotient of polynomials with rational coefficients.
    symbols : iterable of sympy symbols
        All that it depends on; each stands for a number of at least 0.
    name : str
        The step's name, for the reader.

    Returns
    -------
    Verdict
        Holds if the denominator's coefficients are positive and the numerator's not negative; violated, with the
        witness, if a value at one of a few integer points is negative; undecided otherwise.
    """
    import sympy as sp  # takes a quarter of a second to import

    variables = tuple(symbols)
    numerator, denominator = sp.fraction(sp.together(expression))
    below = sp.Poly(denominator, *variables, domain="QQ")
    above = sp.Poly(numerator, *variables, domain="QQ")
    if all(c < 0 for c in below.coeffs()):
        above, below = -above, -below
    if all(c > 0 for c in below.coeffs()) and all(c >= 0 for c in above.coeffs()):
        return Holds(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=name)
    for value in (sp.Rational(1, 100), sp.Rational(1, 3), 1, 10, 1000):
        point = dict.fromkeys(variables, value)
        if sp.sympify(expression).subs(point) < 0:
            witness = {str(symbol): str(value) for symbol in variables}
            return Violated(evidence=Evidence.SYMBOLIC, detail=f"{name}: negative at a point", witness=witness)
    return Undecided(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=f"{name}: the signs of the terms differ")


def positive_on_orthant(expression: Any, symbols: Iterable[Any], name: str) -> Verdict:
    """Decide whether a rational function is above 0 for all positive values of its symbols.

    It is if it is not the zero function and `nonnegative_on_orthant` finds no negative coefficient: then every term
    is positive there. The parameters are the same.
    """
    import sympy as sp

    if sp.cancel(expression) == 0:
        return Violated(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=f"{name}: identically 0")
    return nonnegative_on_orthant(expression, symbols, name)
