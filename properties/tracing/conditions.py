"""Conditions: comparisons of array elements, decided when their truth is needed.

A mask of conditions that is only searched for its first true element has as many outcomes as elements; decided all at
once it has two to that power.
"""

import operator
from collections.abc import Callable
from typing import Any

from dpassay.properties.tracing.derived import both, comparison
from dpassay.properties.tracing.noisy import Noisy

__all__ = ["Condition", "as_number", "compare", "connect", "decided", "negate"]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip


class Condition:
    """A truth value that is decided when it is asked for.

    Parameters
    ----------
    decide : callable
        Takes the decisions; a second call takes none, because the run knows its answers.
    number : object, optional
        1 where it is true, else 0: a function of data that is a coordinate of its own.
    """

    __slots__ = ("_decide", "number")

    def __init__(self, decide: Callable[[], bool], number: Any = None) -> None:
        self._decide = decide
        self.number = number

    def __bool__(self) -> bool:
        return self._decide()

    def __int__(self) -> int:
        return int(bool(self))

    __index__ = __int__

    def __float__(self) -> float:
        return float(bool(self))

    def __eq__(self, other: object) -> bool:
        return bool(self) == other

    def __hash__(self) -> int:
        return hash(bool(self))

    def __repr__(self) -> str:
        return repr(bool(self))


def compare(name: str, left: Any, right: Any) -> Any:
    """Return the comparison with the name of numpy's ufunc: a condition if noise is in it, a bool otherwise."""
    left, right = decided(left), decided(right)
    operation = _COMPARISONS[name]
    if isinstance(left, Noisy) or isinstance(right, Noisy):
        return Condition(lambda: bool(operation(left, right)), comparison(name, left, right))
    return bool(operation(left, right))


def connect(name: str, left: Any, right: Any) -> Any:
    """Return ``left and right``, ``left or right`` or ``left xor right``, by name; the right side only if needed."""
    if not isinstance(left, Condition) and not isinstance(right, Condition):
        left, right = bool(left), bool(right)
    number = _connected(name, left, right)
    if name == "and":
        return Condition(lambda: bool(left) and bool(right), number)
    if name == "or":
        return Condition(lambda: bool(left) or bool(right), number)
    return Condition(lambda: bool(left) != bool(right), number)


def _connected(name: str, left: Any, right: Any) -> Any:
    numbers = [side.number if isinstance(side, Condition) else int(side) for side in (left, right)]
    if any(number is None for number in numbers):
        return None
    if name == "and":
        return both(*numbers)
    return 1 - both(*(1 - number for number in numbers)) if name == "or" else 1 - abs(sum(numbers) - 1)


def negate(value: Any) -> Any:
    """Return the contrary."""
    if not isinstance(value, Condition):
        return not value
    return Condition(lambda: not value, None if value.number is None else 1 - value.number)


def decided(value: Any) -> Any:
    """Return a condition as a bool, and anything else as it is."""
    return bool(value) if isinstance(value, Condition) else value


def as_number(value: Any) -> Any:
    """Return a condition about data as the coordinate that it is, if it is one; otherwise as `decided`."""
    return value.number if isinstance(value, Condition) and value.number is not None else decided(value)
