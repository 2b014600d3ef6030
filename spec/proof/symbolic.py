"""Symbolic proofs: identities and signs, by computer algebra, or undecided.

Nothing here is heuristic in the dangerous direction: an identity holds when a difference is *transformed to
0*, a sign when sympy derives it from the assumptions on the symbols. What is not reached is undecided, and so is
whatever contains a float, in which small terms vanish.

Take limits of expressions in one symbol only: with a free symbol beside it sympy is wrong about some of them (it
returns 2 for erfc(y - x) as y grows).
"""

from collections.abc import Callable
from typing import Any

from dpassay.spec.verdict import Evidence, Holds, Scope, Undecided, Verdict, Violated

__all__ = [
    "identity",
    "nonnegative",
    "positive",
    "rational_identity",
    "symbolic_normal_cdf",
    "symbolic_normal_pdf",
]


def identity(left: Any, right: Any, name: str) -> Verdict:
    """Decide whether two expressions are equal for all values of their symbols.

    Parameters
    ----------
    left, right : sympy expressions
        The two sides, under the assumptions that their symbols carry.
    name : str
        The step's name, for the reader.

    Returns
    -------
    Verdict
        Holds if the difference is transformed to 0, which makes the two equal wherever both are defined; violated
        if it is a non-zero number; undecided otherwise.
    """
    import sympy as sp  # here and below: it takes a quarter of a second to import

    if _has_float(left) or _has_float(right):
        return _undecided(f"{name}: a float is not exact")
    difference = sp.sympify(left) - sp.sympify(right)
    if difference == 0:
        return _holds(name)
    for transform in _transformations():
        reduced = transform(difference)
        if reduced == 0:
            return _holds(name)
        if reduced.is_number and reduced.is_zero is False:
            return Violated(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=f"{name}: differs by {reduced}")
    return _undecided(f"{name}: {difference} is not reduced to 0")


def _transformations() -> tuple[Callable[[Any], Any], ...]:
    import sympy as sp

    return (
        sp.expand,
        sp.simplify,
        lambda e: sp.simplify(sp.expand(e)),
        lambda e: sp.simplify(sp.powsimp(sp.expand(e), force=False)),
        lambda e: sp.simplify(e.rewrite(sp.exp)),
    )


def rational_identity(left: Any, right: Any, name: str) -> Verdict:
    """Decide whether two elements of one field of rational functions over the rationals are equal.

    Always decidable: their normal forms are compared. A difference that is not the zero function does not vanish at
    almost any point.
    """
    if left == right:
        return _holds(name)
    return Violated(
        evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=f"{name}: the two sides are different functions"
    )


def nonnegative(expression: Any, name: str) -> Verdict:
    """Decide whether an expression is at least 0 under the assumptions of its symbols."""
    return _sign(expression, name, "is_nonnegative")


def positive(expression: Any, name: str) -> Verdict:
    """Decide whether an expression is above 0 under the assumptions of its symbols."""
    return _sign(expression, name, "is_positive")


def _sign(expression: Any, name: str, query: str) -> Verdict:
    import sympy as sp

    if _has_float(expression):
        return _undecided(f"{name}: a float is not exact")
    for form in (expression, sp.factor(expression), sp.simplify(expression)):
        known = getattr(sp.sympify(form), query)
        if known is True:
            return _holds(name)
        if known is False:
            return Violated(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=f"{name}: {form} has the wrong sign")
    return _undecided(f"{name}: the sign of {expression} is open")


def _has_float(expression: Any) -> bool:
    import sympy as sp

    return bool(sp.sympify(expression).has(sp.Float))


def _undecided(detail: str) -> Verdict:
    return Undecided(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=detail)


def _holds(name: str) -> Verdict:
    return Holds(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=name)


def symbolic_normal_pdf(u: Any) -> Any:
    """Return the standard normal density as a sympy expression."""
    import sympy as sp

    return sp.exp(-(u**2) / 2) / sp.sqrt(2 * sp.pi)


def symbolic_normal_cdf(u: Any) -> Any:
    """Return the standard normal distribution function as a sympy expression."""
    import sympy as sp

    return sp.erfc(-u / sp.sqrt(2)) / 2
