"""Functions of symbolic data as coordinates of their own, in place of decisions about data.

`np.clip(data, 0, 1).sum()` takes two decisions for each coordinate, and cuts the data into 3^n cells. With the clipped
numbers as further coordinates it takes none: what is proved for all of their moves holds for those that occur.
"""

from typing import Any

from dpassay.properties.tracing.forms import exact, is_number
from dpassay.properties.tracing.symbols import Symbol
from dpassay.spec.leaves.model import Function

__all__ = ["both", "clipped", "comparison", "is_of_data", "power"]


def is_of_data(value: Any) -> bool:
    """Return whether functions of a value are to be coordinates: a symbol that holds data and no noise."""
    return isinstance(value, Symbol) and bool(value.run.derives(value.form))


def clipped(left: Any, right: Any, *, is_above: bool) -> Any:
    """Return the larger (`is_above`) or the smaller one of a function of data and a number; None for anything else."""
    value, limit = (left, right) if isinstance(left, Symbol) else (right, left)
    if not is_of_data(value) or not is_number(limit) or (end := exact(limit)) is None:
        return None
    known = value.run.clipped_form(value.form)
    form, low, high = (value.form, None, None) if known is None else known
    if is_above:
        low, high = (end if low is None else max(low, end)), (None if high is None else max(high, end))
    else:
        high, low = (end if high is None else min(high, end)), (None if low is None else min(low, end))
    return float(low) if low is not None and low == high else value.run.derived(Function.CLIP, form, low, high)


def comparison(name: str, left: Any, right: Any) -> Any:
    """Return 1 where a comparison of data is true, else 0; None for anything else.

    Parameters
    ----------
    name : str
        The comparison as numpy's ufunc.
    left, right : object
        What is compared.
    """
    if not (is_of_data(left) or is_of_data(right)) or not all(
        isinstance(s, Symbol) or is_number(s) for s in (left, right)
    ):
        return None
    difference = left - right
    if not is_of_data(difference):
        return None
    run, signed = difference.run, {"greater": difference, "less": -difference}
    if name.removesuffix("_equal") in signed:
        function = Function.AT_LEAST if name.endswith("_equal") else Function.ABOVE
        return run.derived(function, signed[name.removesuffix("_equal")].form)
    beside = sum(run.derived(Function.ABOVE, side.form) for side in signed.values())
    return beside if name == "not_equal" else 1 - beside


def both(left: Any, right: Any) -> Any:
    """Return the product of two numbers that are 0 or 1, functions of data or plain."""
    if not is_of_data(left) or not is_of_data(right):
        return left * right
    return left.run.derived(Function.ABOVE, (left + right - 1).form) if left.form != right.form else left


def power(base: Any, exponent: Any) -> Any:
    """Return the square of a function of data; None for anything else."""
    is_square = is_of_data(base) and is_number(exponent) and exponent == 2
    return base * base if is_square else None
