"""Probes: which block of a source file an expression belongs to, and a copy of the file that reports its blocks.

A block is a run of statements of a function between two branches, or the body of a lambda. A check reaches a mutant
if it enters the block of the mutant. Code that runs at import only has no probe.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["COLLECTION", "PROBE_MODULE", "Probes", "instrumented"]

PROBE_MODULE = "dpassay_mutation_probe"
COLLECTION = "collection"
"""The name under which the blocks are recorded that imports and the collection of tests enter."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
_COMPOUND = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match, ast.FunctionDef, ast.ClassDef)


@dataclass
class Probes:
    """The probes of one file.

    `names` are stable under edits elsewhere in the file: the qualified name of the function and a number within it.
    `owner` maps statements of functions, and lambdas, to positions in `names`.
    """

    names: list[str] = field(default_factory=list)
    owner: dict[ast.AST, int] = field(default_factory=dict)
    first: set[ast.AST] = field(default_factory=set)

    @classmethod
    def of(cls, tree: ast.Module) -> "Probes":
        """Assign probes to every function and lambda of a module."""
        probes = cls()
        probes._outside(tree.body, "")
        return probes

    def _outside(self, statements: Sequence[ast.stmt], scope: str) -> None:
        """Walk statements that run at import."""
        for statement in statements:
            self._below(statement, scope, None)

    def _below(self, node: ast.AST, scope: str, counter: list[int] | None) -> None:
        if isinstance(node, Function):
            inner = f"{scope}.{node.name}".lstrip(".")
            for outer in (*node.decorator_list, node.args):
                self._below(outer, scope, counter)
            self._block(node.body, inner, [0])
        elif isinstance(node, ast.ClassDef):
            self._outside(node.body, f"{scope}.{node.name}".lstrip("."))
        elif isinstance(node, ast.Lambda):
            own = counter if counter is not None else [0]
            self.owner[node] = self._new(f"{scope}.<lambda{f' {node.lineno}' if counter is None else ''}>", own)
            self._below(node.body, scope, own)
        else:
            for child in _parts(node):
                self._below(child, scope, counter)
            for block in _blocks(node):
                if counter is None:
                    self._outside(block, scope)
                else:
                    self._block(block, scope, counter)

    def _block(self, statements: Sequence[ast.stmt], scope: str, counter: list[int]) -> None:
        current: int | None = None
        for statement in statements:
            if current is None:
                current = self._new(scope, counter)
                self.first.add(statement)
            self.owner[statement] = current
            self._below(statement, scope, counter)
            if isinstance(statement, _COMPOUND):
                current = None

    def _new(self, scope: str, counter: list[int]) -> int:
        self.names.append(f"{scope}#{counter[0]}")
        counter[0] += 1
        return len(self.names) - 1


def _blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children that are not statements of a block."""
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt))


def instrumented(source: str, start: int) -> tuple[str, list[str]]:
    """Return a copy of the source that reports each block it enters, and the names of the blocks.

    Block k reports the number ``start + k``.
    """
    tree = ast.parse(source)
    probes = Probes.of(tree)
    _Instrument(probes, start).visit(tree)
    at = next((k for k, each in enumerate(tree.body) if not _is_header(each)), len(tree.body))
    tree.body[at:at] = ast.parse(f"from {PROBE_MODULE} import reached as _reached").body
    return ast.unparse(ast.fix_missing_locations(tree)), probes.names


def _is_header(statement: ast.stmt) -> bool:
    return _is_docstring(statement) or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


class _Instrument(ast.NodeTransformer):
    def __init__(self, probes: Probes, start: int) -> None:
        self.probes, self.start = probes, start

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for block in _blocks(node):
            assert isinstance(block, list)
            block[:] = [each for statement in block for each in self._with_report(statement)]
        if isinstance(node, ast.Lambda):
            node.body = ast.BoolOp(ast.Or(), [self._report(node), node.body])
        return node

    def _with_report(self, statement: ast.stmt) -> list[ast.stmt]:
        if statement not in self.probes.first:
            return [statement]
        report = ast.Expr(self._report(statement))
        return [statement, report] if _is_docstring(statement) else [report, statement]

    def _report(self, node: ast.AST) -> ast.Call:
        number = ast.Constant(self.start + self.probes.owner[node])
        return ast.Call(ast.Name("_reached", ast.Load()), [number], [])
