"""The base of all values that depend on noise or on symbolic data: they refuse operations without an exact answer."""

from typing import Any, NoReturn

from dpassay.properties.tracing.refusal import active, refuse

__all__ = ["Noisy"]


def _refusing(operation: str) -> Any:
    def method(self: Any, *_: Any, **__: Any) -> NoReturn:  # noqa: ARG001
        refuse(f"{operation} of a noisy value")

    return method


class Noisy:
    """A value that depends on noise; every operation that is not defined by a subclass is refused by name."""

    __slots__ = ()

    __float__ = _refusing("float()")
    __int__ = _refusing("int()")
    __index__ = _refusing("use as an index")
    __complex__ = _refusing("complex()")
    __format__ = _refusing("formatting")
    __mod__ = __rmod__ = _refusing("%")
    __pow__ = __rpow__ = _refusing("**")
    __floordiv__ = __rfloordiv__ = _refusing("//")
    __divmod__ = __rdivmod__ = _refusing("divmod()")
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = _refusing("a bitwise operation")
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refusing("a bitwise operation")
    __reduce__ = __reduce_ex__ = _refusing("pickling")
    is_integer = as_integer_ratio = hex = _refusing("reading the digits")
    tobytes = _refusing("reading the digits")
    __hash__ = _refusing("hash()")

    def __copy__(self) -> "Noisy":
        return self

    def __deepcopy__(self, memo: Any) -> "Noisy":
        return self

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        if active.run is not None:
            refuse("formatting of a noisy value")
        return f"<{type(self).__name__.lower()}>"
