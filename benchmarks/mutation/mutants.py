"""Mutants: one expression of one file replaced, drawn at random with a seed."""

import ast
import difflib
import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.mutation.operators import Replacement, Signatures, replacements
from benchmarks.mutation.places import Place, places

__all__ = ["Mutant", "Source", "difference", "draw", "find", "read_sources"]

FOLDERS = ("spec", "impl")
LEFT_OUT = ("impl/broken", "impl/libraries")


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    `key` names it by its function and the text before and after, so that it stays the same while other code changes.
    """

    key: str
    path: str
    function: str
    line: int
    operator: str
    block: str | None
    diff: tuple[str, ...]
    changed: str
    """The whole file with the change."""


@dataclass(frozen=True)
class Source:
    """One file, and how to change it."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)

    @cached_property
    def _dumped(self) -> str:
        return ast.dump(self.tree)

    def sites(self, signatures: Signatures) -> Iterator[tuple[Place, list[Replacement]]]:
        """Yield the places that can be changed, each with its replacements."""
        names = _bound_names(self.tree)
        for place in places(self.tree):
            made = list(replacements(place, names, signatures))
            if made:
                yield place, made

    def mutant(self, place: Place, replacement: Replacement) -> Mutant | None:
        """Put a replacement into its place; None if python reads the result as the original, or not at all."""
        operator, node = replacement
        changed = self._changed(place.node, node)
        try:
            if ast.dump(ast.parse(changed)) == self._dumped:
                return None
        except SyntaxError:
            return None
        diff = difference(self.text, changed)
        return Mutant(
            self._key(place, diff), self.path, place.function, place.node.lineno, operator, place.block, diff, changed
        )

    def _changed(self, old: ast.expr, new: ast.expr) -> str:
        text = ast.unparse(new)
        if not isinstance(new, ast.Constant | ast.Name | ast.Slice | ast.Call | ast.Attribute):
            text = f"({text})"
        start = self._offset(old.lineno, old.col_offset)
        end = self._offset(old.end_lineno or old.lineno, old.end_col_offset or old.col_offset)
        raw = self.text.encode()
        return (raw[:start] + text.encode() + raw[end:]).decode()

    def _offset(self, line: int, column: int) -> int:
        lines = self.text.encode().splitlines(keepends=True)
        return sum(map(len, lines[: line - 1])) + column

    def _key(self, place: Place, diff: tuple[str, ...]) -> str:
        lines = self.text.splitlines()
        line = lines[place.node.lineno - 1]
        before = [each for each in lines[: place.node.lineno - 1] if each == line]
        parts = (self.path, place.function, *diff, place.node.col_offset, len(before))
        return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:12]


def _bound_names(tree: ast.Module) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.asname or node.name for node in ast.walk(tree) if isinstance(node, ast.alias)}
    return names | {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def difference(before: str, after: str) -> tuple[str, ...]:
    """Return the lines that differ, without their indentation, after a minus or a plus."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0))[2:]
    return tuple(line[0] + line[1:].strip() for line in lines if not line.startswith("@@"))


def read_sources(root: Path, folders: Sequence[str] = FOLDERS) -> list[Source]:
    """Read the files that are mutated."""
    paths = sorted(path.relative_to(root).as_posix() for folder in folders for path in (root / folder).rglob("*.py"))
    return [Source(path, (root / path).read_text("utf-8")) for path in paths if not path.startswith(LEFT_OUT)]


def draw(root: Path, count: int, seed: int, folders: Sequence[str] = FOLDERS) -> list[Mutant]:
    """Draw mutants without replacement: every place is as likely as any other, then every replacement there.

    With the same seed and sources, a larger `count` only appends.
    """
    every = read_sources(root, folders)
    signatures = _signatures(every)
    sites = [(source, place, made) for source in every for place, made in source.sites(signatures)]
    rng = random.Random(seed)  # noqa: S311  # no secret: a draw that can be repeated
    rng.shuffle(sites)
    drawn: list[Mutant] = []
    for source, place, made in sites:
        rng.shuffle(made)
        mutant = next(filter(None, (source.mutant(place, one) for one in made)), None)
        if len(drawn) == count:
            break
        if mutant is not None:
            drawn.append(mutant)
    return drawn


def find(root: Path, wanted: Mapping[str, tuple[str, str]]) -> list[Mutant]:
    """Return the mutants with some keys, in their order; one whose code has changed since is not found.

    Parameters
    ----------
    root : Path
        The tree.
    wanted : Mapping
        From the key of each mutant to its file and its function.
    """
    every = read_sources(root)
    signatures, functions = _signatures(every), set(wanted.values())
    found: dict[str, Mutant] = {}
    for source in every:
        if any(path == source.path for path, _ in functions):
            for place, made in source.sites(signatures):
                if (source.path, place.function) in functions:
                    found |= {each.key: each for one in made if (each := source.mutant(place, one)) is not None}
    return [found[key] for key in wanted if key in found]


def _signatures(sources: Iterable[Source]) -> Signatures:
    signatures = Signatures()
    for source in sources:
        signatures.add(source.tree)
    return signatures
