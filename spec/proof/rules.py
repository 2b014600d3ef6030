"""Rules of calculus and algebra that reduce an inequality to identities and signs, for steps of proofs.

Each rule checks its premises by computer algebra; its docstring says why they suffice. Symbols range over the interval
that their assumptions give.
"""

from collections.abc import Callable, Sequence
from typing import Any

from dpassay.spec.proof.symbolic import identity, nonnegative, positive
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["at_least_by", "largest_at", "nonnegative_from_zero", "parametrises", "positive_integral", "same_sign"]


def at_least_by(larger: Any, smaller: Any, margin: Any, name: str) -> Verdict:
    """Decide ``larger >= smaller`` by a margin: the difference is `margin`, whose sign its symbols give.

    Parameters
    ----------
    larger, smaller : sympy expressions
        The two sides.
    margin : sympy expression
        Their difference in a form whose sign sympy derives.
    name : str
        The step's name.
    """
    return conjunction([identity(larger - smaller, margin, name), nonnegative(margin, name)])


def same_sign(left: Any, right: Any, factor: Any, name: str) -> Verdict:
    """Decide that two expressions have the same sign: ``left = factor right`` with a positive factor.

    Parameters
    ----------
    left, right : sympy expressions
        The two sides.
    factor : sympy expression
        Their quotient in a form whose sign sympy derives.
    name : str
        The step's name.
    """
    return conjunction([identity(left, factor * right, name), positive(factor, name)])


def largest_at(function: Any, symbol: Any, where: Any, curvature: Any, name: str) -> Verdict:
    """Decide that a function of a real variable is largest at a point, on any interval that contains it.

    The derivative vanishes there and the second derivative is negative on the whole interval, so that the derivative
    falls from positive to negative values.

    Parameters
    ----------
    function, symbol : sympy expression and symbol
        The function and its argument.
    where : sympy expression
        The point.
    curvature : sympy expression
        The negative of the second derivative, in a form whose sign sympy derives.
    name : str
        The step's name.
    """
    import sympy as sp  # takes a quarter of a second to import

    return conjunction([
        identity(sp.diff(function, symbol).subs(symbol, where), 0, name),
        identity(-sp.diff(function, symbol, 2), curvature, name),
        positive(curvature, name),
    ])  # fmt: skip


def nonnegative_from_zero(function: Any, symbol: Any, slope: Any, name: str) -> Verdict:
    """Decide that a function is at least 0 for arguments from 0: it vanishes at 0 and does not fall.

    Parameters
    ----------
    function, symbol : sympy expression and symbol
        The function, continuous at 0, and its argument.
    slope : sympy expression
        The derivative in a form whose sign sympy derives for positive arguments.
    name : str
        The step's name.
    """
    import sympy as sp

    return conjunction([
        identity(function.subs(symbol, 0), 0, name),
        identity(sp.diff(function, symbol), slope, name),
        nonnegative(slope, name),
    ])  # fmt: skip


def positive_integral(value: Any, integrand: Any, symbol: Any, name: str) -> Verdict:
    """Decide that an expression is positive: it is the integral of a positive function over the positive half-line.

    Parameters
    ----------
    value : sympy expression
        The value of the integral.
    integrand, symbol : sympy expression and symbol
        A function of a positive symbol, in a form whose sign sympy derives.
    name : str
        The step's name.
    """
    import sympy as sp

    integral = sp.integrate(integrand, (symbol, 0, sp.oo))
    return conjunction([identity(integral, value, name), positive(integrand, name)])


def parametrises(
    values: Sequence[Any], parameters: Sequence[Any], margins: Callable[..., Sequence[Any]], name: str
) -> Verdict:
    """Decide that expressions in non-negative parameters take exactly the values whose margins are not negative.

    The margins of the expressions are the parameters, and the expressions at the margins of any values are these
    values: each map inverts the other.

    Parameters
    ----------
    values, parameters : sequence of sympy expressions and of symbols
        The expressions and their variables; as many of each.
    margins : callable
        Takes a value for each; returns the expressions that must be at least 0 for these values.
    name : str
        The step's name.
    """
    import sympy as sp

    free = sp.symbols(f"value:{len(values)}", positive=True)
    back = dict(zip(parameters, margins(*free), strict=True))
    there = [
        identity(sp.sympify(value).subs(back, simultaneous=True), x, name)
        for value, x in zip(values, free, strict=True)
    ]
    return conjunction([identity(m, p, name) for m, p in zip(margins(*values), parameters, strict=True)] + there)
