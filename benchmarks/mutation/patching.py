"""A mutant put into modules that are imported: the code of the functions that it changes is replaced in place.

Whoever holds a reference to a function then calls the mutant. It is the same as an import of the changed file if no
block that the mutant changes has run before: what ran at import stays as it was.
"""

import gc
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType

__all__ = ["functions_below", "patch"]

_Key = tuple[str, tuple[tuple[int | None, ...], ...]]


def functions_below(root: Path) -> Mapping[str, Sequence[FunctionType]]:
    """Return all functions that were made from files below a directory, by file."""
    found: dict[str, list[FunctionType]] = defaultdict(list)
    prefix = f"{root}/"
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(prefix):
            found[each.__code__.co_filename].append(each)
    return found


def patch(functions: Sequence[FunctionType], file: str, before: str, after: str) -> int:
    """Give the functions of a file the code that they have in the text `after`; return how many changed.

    Parameters
    ----------
    functions
        The functions that were made from the file.
    file
        The file as the functions name it.
    before, after
        Its text without and with the mutant.
    """
    old, new = (compile(text, file, "exec", dont_inherit=True) for text in (before, after))
    changed = {_key(one): other for one, other in _pairs(old, new) if one != other}
    count = 0
    for function in functions:
        code = changed.get(_key(function.__code__))
        if code is not None:
            function.__code__ = code
            count += 1
    return count


def _key(code: CodeType) -> _Key:
    """Return what tells one function of a file from every other, also two lambdas of one line."""
    return code.co_qualname, tuple(code.co_positions())


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield the code objects of two texts that stand at the same place."""
    yield old, new
    inner = [[each for each in code.co_consts if isinstance(each, CodeType)] for code in (old, new)]
    if len(inner[0]) == len(inner[1]):
        for one, other in zip(*inner, strict=True):
            yield from _pairs(one, other)
