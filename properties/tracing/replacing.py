"""Names of modules that stand for something else while a target is traced."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from dpassay.properties.tracing.exact_names import spaces_of

__all__ = ["replace_name", "replace_where_imported"]


def replace_name(stack: ExitStack, names: dict[str, Any], name: str, made: Any, original: Any) -> None:
    """Bind a name until the end of the stack.

    Parameters
    ----------
    stack : ExitStack
        Puts the original back.
    names : dict
        The names of a module.
    name : str
        One of them.
    made, original : object
        What it stands for until then, and afterwards.
    """
    stack.callback(_put_back, names, name, made, original)
    names[name] = made


def replace_where_imported(stack: ExitStack, sampler: Any, made: Mapping[int, Any]) -> None:
    """Replace what the modules of a target import by name; `made` has what stands for an object, by its identity."""
    for space in spaces_of(sampler):
        for name, value in list(space.items()):
            if id(value) in made:
                replace_name(stack, space, name, made[id(value)], value)


def _put_back(names: dict[str, Any], name: str, made: Any, original: Any) -> None:
    """Put an original back, unless another trace replaces it by now: this one was left behind, and ends late."""
    if names.get(name) is made:
        names[name] = original
