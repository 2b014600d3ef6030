"""Public functions with four or more parameters describe each of them in a `Parameters` section."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("spec/**/*.py", "impl/**/*.py", "properties/**/*.py", "src/dpassay/*.py")
ADAPTERS = "impl/libraries/*/*.py"
"""Scripts of other interpreters."""
FEWEST = 4
SUPPLIED = ("self", "cls", "draw")  # the last by `hypothesis.strategies.composite`
EXEMPT = ("statement", "overload", "click", "main.command")
"""Decorators of functions whose docstring is a statement, stands elsewhere, or is printed by the command line."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def source_files() -> list[Path]:
    return sorted({path for pattern in SOURCES for path in ROOT.glob(pattern)} - set(ROOT.glob(ADAPTERS)))


def public_functions(tree: ast.Module | ast.ClassDef) -> Iterator[Function]:
    """Functions and methods without an underscore, of modules and of public classes."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node)
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield node


def parameters_of(function: Function) -> list[str]:
    given = function.args
    listed = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    return [each.arg for each in listed if each is not None and each.arg not in SUPPLIED]


def described_parameters(docstring: str) -> set[str]:
    """The names that stand before a colon, or alone on a line, in the section."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", docstring, re.DOTALL | re.MULTILINE)
    if section is None:
        return set()
    heads = re.findall(r"^([*\w][*\w, ]*?)(?: ?:.*)?$", section[1], re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def is_exempt(function: Function) -> bool:
    decorators = (ast.unparse(each).partition("(")[0] for each in function.decorator_list)
    return any(decorator.startswith(EXEMPT) for decorator in decorators)


def undescribed(source: str) -> list[str]:
    return [
        f"{function.name}: {', '.join(missing)}"
        for function in public_functions(ast.parse(source))
        if len(names := parameters_of(function)) >= FEWEST and not is_exempt(function)
        if (missing := [n for n in names if n not in described_parameters(ast.get_docstring(function) or "")])
    ]


def test_every_parameter_of_a_function_with_many_is_described() -> None:
    found = {str(path.relative_to(ROOT)): undescribed(path.read_text(encoding="utf-8")) for path in source_files()}
    assert len(found) > 500
    assert not {path: missing for path, missing in found.items() if missing}


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("", ["f: a, b, c, d"]),
        ("Parameters\n----------\na, b : int\n    Numbers.\n*c : str\n    Words.", ["f: d"]),
        ("Parameters\n----------\na, b, c : int\n    Numbers.\n\nRaises\n------\nd\n    An error.", ["f: d"]),
        ("Parameters\n----------\na, b : int\n    Numbers.\nc, d\n    As elsewhere.", []),
    ],
)
def test_a_parameter_without_a_description_is_found(section: str, expected: list[str]) -> None:
    docstring = "\n    ".join(["Do something.", "", *section.splitlines()])
    assert undescribed(f'def f(a, b, *c, d):\n    """{docstring}\n    """') == expected
