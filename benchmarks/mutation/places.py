"""Places: the expressions of a file that a mutant may change.

Left out: docstrings and other text, annotations and domains (``Annotated[...]``), messages of errors, ``__all__``,
and settings of tests and caches (``examples`` and ``cases`` of a statement, ``lru_cache``): what they say is not a
claim.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.mutation.probes import Probes

__all__ = ["Place", "places"]

_NOT_A_CLAIM = {"cases", "examples", "detail", "maxsize"}
_SKIPPED = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_TYPE_MAKERS = {"TypeVar", "ParamSpec", "NewType", "cast", "lru_cache", "isinstance", "issubclass"}


_ANNOTATIONS = {"Annotated", "Literal", "Callable", "NDArray"}


@dataclass(frozen=True)
class Place:
    """An expression, the function that it stands in, its block (None: runs at import only) and its parent."""

    node: ast.expr
    function: str
    block: str | None
    parent: ast.AST


def places(tree: ast.Module) -> Iterator[Place]:
    """Yield the places of a module in the order of the text."""
    yield from _Walk(Probes.of(tree)).below(tree, "", None)


class _Walk:
    def __init__(self, probes: Probes) -> None:
        self.probes = probes

    def below(self, node: ast.AST, scope: str, block: str | None) -> Iterator[Place]:
        for name, value in ast.iter_fields(node):
            if (isinstance(node, ast.Call) and name == "func") or name in {"annotation", "returns", "type_params"}:
                if name == "func":  # a method's object is a place, its name is the operators' business
                    yield from self.below(value, scope, block)
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_skipped(child):
                    yield from self._at(child, node, scope, block, name)

    def _at(self, node: ast.AST, parent: ast.AST, scope: str, block: str | None, field: str) -> Iterator[Place]:
        if node in self.probes.owner:
            block = self.probes.names[self.probes.owner[node]]
        if isinstance(node, ast.expr):
            yield Place(node, scope, block, parent)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            scope = f"{scope}.{node.name}".lstrip(".")
        if not (field == "target" and isinstance(node, ast.Name)):
            yield from self.below(node, scope, block)


def _is_skipped(node: ast.AST) -> bool:
    match node:
        case ast.keyword(arg=name):
            return name in _NOT_A_CLAIM
        case ast.Subscript(value=called) | ast.Call(func=called):
            return _called(called) in (_ANNOTATIONS if isinstance(node, ast.Subscript) else _TYPE_MAKERS)
        case ast.If(test=test):
            return _called(test) == "TYPE_CHECKING" or "__name__" in ast.dump(test)
        case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
    return isinstance(node, _SKIPPED)


def _called(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
