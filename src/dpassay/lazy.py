"""Libraries that take long to import, loaded at their first use.

``list`` and ``show`` import every statement, and few of these need computer algebra or special functions. A module
writes ``from dpassay.lazy import sympy as sp``; nothing is imported until an attribute is read, so that none may be
read where the module itself is executed (at its top level, in default values and in annotations that are not quoted).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["mpmath", "optimize", "sparse", "special", "sympy"]


class _Late:
    """Stands for a module; an attribute that was read once is read directly from then on."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._module), name)
        if not name.startswith("__"):  # names of Python itself stay those of this object
            setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import mpmath
    import sympy
    from scipy import optimize, sparse, special
else:
    mpmath, sympy = _Late("mpmath"), _Late("sympy")
    optimize, sparse, special = _Late("scipy.optimize"), _Late("scipy.sparse"), _Late("scipy.special")
