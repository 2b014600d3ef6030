"""Faults that people write down, for a library whose tests are measured: one replaced piece of text each.

A file of faults in TOML has a table for each: ``path`` (from the folder of installed packages), ``old`` (text that
occurs once in it), ``new``, ``what`` (what is wrong, in words) and ``level`` (how hard it is to see).
"""

import ast
import hashlib
import tomllib
from pathlib import Path

from benchmarks.mutation.mutants import Mutant, difference
from dpassay.arguments import UsageError

__all__ = ["read_faults"]


def read_faults(file: Path, packages: Path) -> list[Mutant]:
    """Read the faults of a file, and make each in the text of an installed package.

    Parameters
    ----------
    file : Path
        The faults.
    packages : Path
        The folder of installed packages that the paths of the file start from.

    Raises
    ------
    UsageError
        If the old text of a fault does not occur exactly once, or the new one is no other valid Python.
    """
    entries = tomllib.loads(file.read_text("utf-8"))["fault"]
    return [_made(entry, (packages / entry["path"]).read_text("utf-8")) for entry in entries]


def _made(entry: dict[str, str], text: str) -> Mutant:
    path, old, new = entry["path"], entry["old"], entry["new"]
    if text.count(old) != 1:
        raise UsageError(f"fault of {path}: old={old!r} occurs {text.count(old)} times, and must occur once")
    changed = text.replace(old, new)
    try:
        if ast.dump(ast.parse(changed)) == ast.dump(ast.parse(text)):
            raise UsageError(f"fault of {path}: new={new!r} is the same program as the old text")
    except SyntaxError as error:
        raise UsageError(f"fault of {path}: new={new!r} is no valid Python: {error}") from error
    key = hashlib.sha256("\n".join((path, old, new)).encode()).hexdigest()[:12]
    line = _first_change(text, changed)
    return Mutant(
        key, path, _function_at(ast.parse(text), line), line, entry["level"], None, difference(text, changed), changed
    )


def _first_change(before: str, after: str) -> int:
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    same = (number for number, (one, other) in enumerate(lines, start=1) if one != other)
    return next(same, min(before.count("\n"), after.count("\n")) + 1)


def _function_at(tree: ast.Module, line: int) -> str:
    """Return the innermost function or class whose lines hold a line, with those around it."""
    names = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return ".".join(node.name for node in sorted(names, key=lambda node: node.lineno))
