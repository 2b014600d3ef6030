"""Public functions with four or more parameters describe each of them, and tuning constants say what they trade."""

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("spec/**/*.py", "impl/**/*.py", "properties/**/*.py", "src/dpassay/*.py", "src/dpassay/adapter/*.py")
ADAPTERS = "impl/libraries/*/*.py"
"""Scripts of other interpreters."""
FEWEST = 4
SUPPLIED = ("self", "cls", "draw")  # the last by `hypothesis.strategies.composite`
EXEMPT = ("statement", "overload", "click", "main.command")
"""Decorators of functions whose docstring is a statement, stands elsewhere, or is printed by the command line."""

TUNED = ("assay", "betting", "drawing", "hunting", "learners", "neighbours", "outcomes")
"""Folders of `properties` whose numeric constants are choices."""

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


def constants_in(source: str) -> Iterator[tuple[str, bool]]:
    """Yield the numeric constants of a module, each with whether a docstring or a comment of its line describes it."""
    tree, lines = ast.parse(source), source.splitlines()
    for node, after in itertools.zip_longest(tree.body, tree.body[1:]):
        match node:
            case ast.Assign([target], value) | ast.AnnAssign(target, value=ast.expr() as value):
                names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
                if all(name.isupper() for name in names) and is_numeric(value):
                    documented = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                    yield ", ".join(names), documented or "  # " in lines[(value.end_lineno or 1) - 1]


def is_numeric(value: ast.expr) -> bool:
    """Whether an expression is made of numbers: one number, arithmetic, a collection, or a function of numbers."""
    match value:
        case ast.Constant(number):
            return isinstance(number, int | float) and not isinstance(number, bool)
        case ast.Tuple(parts) | ast.List(parts) | ast.Call(_, parts, []) | ast.Dict(_, parts):
            return bool(parts) and all(map(is_numeric, parts))
        case ast.UnaryOp(_, operand):
            return is_numeric(operand)
        case ast.BinOp(left, _, right):
            return is_numeric(left) and is_numeric(right)
    return False


def test_every_tuning_constant_is_described() -> None:
    found = {
        str(path.relative_to(ROOT)): list(constants_in(path.read_text(encoding="utf-8")))
        for folder in TUNED
        for path in (ROOT / "properties" / folder).rglob("*.py")
    }
    assert sum(map(len, found.values())) > 150
    bare = {path: [names for names, described in each if not described] for path, each in found.items()}
    assert not {path: names for path, names in bare.items() if names}


@pytest.mark.parametrize("value", ["3", "-1 / 4", "(1, 2.0**-3)", "math.log(64)", "{'a': 1e3}", "np.uint64(1 << 63)"])
def test_a_constant_without_a_description_is_found(value: str) -> None:
    assert list(constants_in(f"_MOST = {value}")) == [("_MOST", False)]
    assert list(constants_in(f"_MOST = {value}  # most")) == [("_MOST", True)]
    assert list(constants_in(f'_MOST: int = {value}\n"""Most."""')) == [("_MOST", True)]
    assert not list(constants_in(f"most = {value}\nNAMES = ('a', {value})"))
