"""The mutation engine: what each operator makes, what is left alone, and a toy project with known survivors."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.mutation.__main__ import is_due
from benchmarks.mutation.mutants import Source, draw, find, read_sources
from benchmarks.mutation.operators import Signatures, replacements
from benchmarks.mutation.overlay import Overlay
from benchmarks.mutation.patching import functions_below, patch
from benchmarks.mutation.places import Place, places
from benchmarks.mutation.probes import instrumented
from benchmarks.mutation.reach import load, measure
from benchmarks.mutation.records import Record, append, read
from benchmarks.mutation.report import Rate, rate_of
from benchmarks.mutation.sorting import Sorted, read_sorting

ROOT = Path(__file__).parents[2]
SMALL = ("spec/proof", "impl/attacks")


def made(text: str, kind: type[ast.expr], *, context: str = "") -> set[tuple[str, str]]:
    """Return (operator, replacement) of the first expression of a kind in the text."""
    tree, signatures = ast.parse(text), Signatures()
    signatures.add(ast.parse(context or text))
    place = next(place for place in places(tree) if isinstance(place.node, kind))
    names = {node.id for node in ast.walk(ast.parse(context or text)) if isinstance(node, ast.Name)}
    return {(name, ast.unparse(node)) for name, node in replacements(place, names, signatures)}


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("a - b", ast.BinOp, {("operator", "a + b"), ("dropped term", "a"), ("dropped term", "-b")}),
        ("a + b", ast.BinOp, {("operator", "a - b"), ("operator", "a * b"), ("dropped term", "a"),
                              ("dropped term", "b")}),
        ("a ** b", ast.BinOp, {("operator", "a * b"), ("dropped factor", "a"), ("swapped operands", "b ** a")}),
        ("'a' + b", ast.BinOp, set()),
        ("a < b", ast.Compare, {("comparison", "a <= b"), ("comparison", "a > b")}),
        ("a and b and c", ast.BoolOp, {("and/or", "a or b or c"), ("dropped condition", "b and c"),
                                       ("dropped condition", "a and c"), ("dropped condition", "a and b")}),
        ("not a", ast.UnaryOp, {("negated boolean", "a")}),
        ("-a", ast.UnaryOp, {("sign", "a")}),
        ("y = 6", ast.Constant, {("constant", "7"), ("constant", "5"), ("constant", "12"), ("constant", "3"),
                                 ("constant", "0")}),
        ("y = 0.5", ast.Constant, {("constant", "1.5"), ("constant", "-0.5"), ("constant", "1.0"),
                                   ("constant", "0.25"), ("constant", "0.0")}),
        ("y = True", ast.Constant, {("negated boolean", "False")}),
        ("x[i]", ast.Name, set()),
        ("x[a:]", ast.Slice, {("slice", "a + 1:"), ("slice", "a - 1:"), ("slice", "a:-1")}),
        ("y = math.inf", ast.Attribute, {("sign", "-math.inf")}),
        ("max(a, b)", ast.Call, {("direction", "min(a, b)")}),
        ("np.floor(a)", ast.Call, set()),
        ("np.floor(a) + np.ceil(b)", ast.Call, {("direction", "np.ceil(a)")}),
        ("f(a, b)", ast.Call, {("swapped arguments", "f(b, a)")}),
        ("f(a, 'b')", ast.Call, set()),
        ("range(n)", ast.Call, {("range", "range(n + 1)"), ("range", "range(n - 1)")}),
        ("a if b else c", ast.IfExp, {("dropped guard", "a")}),
    ],
)  # fmt: skip
def test_what_an_operator_makes(text: str, kind: type[ast.expr], expected: set[tuple[str, str]]) -> None:
    assert made(text, kind) == expected


def test_arguments_of_different_types_are_not_swapped() -> None:
    context = "def f(a: int, b: str, c: str) -> None: ..."
    assert made("f(x, y, z)", ast.Call, context=context) == {("swapped arguments", "f(x, z, y)")}


def test_guards_and_indices_depend_on_where_they_stand() -> None:
    found = {text for place in places(ast.parse("if a:\n    x[i]")) for _, text in _texts(place)}
    assert found == {"False", "not a", "i + 1", "i - 1"}


def _texts(place: Place) -> list[tuple[str, str]]:
    return [(name, ast.unparse(node)) for name, node in replacements(place, set(), Signatures())]


QUIET = '''
"""Text 1."""
__all__ = ["a"]
Width = Annotated[int, Integers("a width", 1, 5)]
def f(x: Literal[3], *, n: int) -> Literal[4]:
    """Text 2."""
    if x:
        raise ValueError(f"{x + 1} is more than {7}")
    return g(x, detail=5, cases=6)
'''


def test_text_annotations_and_messages_are_left_alone() -> None:
    changed = {text for place in places(ast.parse(QUIET)) for _, text in _texts(place)}
    assert changed == {"False", "not x"}


def test_a_mutant_changes_one_expression_and_nothing_else() -> None:
    for mutant in draw(ROOT, 40, seed=7, folders=SMALL):
        source = (ROOT / mutant.path).read_text("utf-8")
        assert mutant.changed != source
        removed = [line for line in mutant.diff if line.startswith("-")]
        assert all(line[1:] in source for line in removed)
        compile(mutant.changed, mutant.path, "exec")


def test_broken_variants_and_adapters_are_not_mutated() -> None:
    folders = {Path(source.path).parts[:2] for source in read_sources(ROOT)}
    assert ("impl", "accounting") in folders
    assert not {("impl", "broken"), ("impl", "libraries"), ("properties",)} & folders


def test_a_larger_draw_with_the_same_seed_appends() -> None:
    some, more = (draw(ROOT, count, seed=3, folders=SMALL) for count in (4, 9))
    assert [mutant.key for mutant in more[:4]] == [mutant.key for mutant in some]
    assert [mutant.key for mutant in draw(ROOT, 4, seed=4, folders=SMALL)] != [mutant.key for mutant in some]


BLOCKS = '''
"""Text."""
from __future__ import annotations
def f(x):
    """Text."""
    if x:
        return 1
    return (lambda y: y + 1)(x)
'''


def test_an_instrumented_file_reports_the_blocks_that_it_enters() -> None:
    text, names = instrumented(BLOCKS, 100)
    assert names == ["f#0", "f#1", "f#2", "f.<lambda>#3"]
    hits: set[int] = set()
    space: dict[str, object] = {}
    without_import = text.replace("from dpassay_mutation_probe import reached as _reached", "")
    exec(compile(without_import, "f", "exec"), space)  # noqa: S102
    space["_reached"] = hits.add
    function = space["f"]
    assert callable(function)
    assert function(0) == 1
    assert hits == {100, 102, 103}
    hits.clear()
    assert function(1) == 1
    assert hits == {100, 101}


def test_survivors_are_sorted_with_a_reason(tmp_path: Path) -> None:
    assert all(entry.reason for entry in read_sorting().values())
    bad = tmp_path / "survivors.toml"
    bad.write_text('[k]\nplace = "p"\nchange = "c"\nclass = "weaker"\nreason = " "\n')
    with pytest.raises(ValueError, match="k needs a class"):
        read_sorting(bad)


def test_rates_leave_out_equivalents_and_count_what_is_not_sorted() -> None:
    def record(key: str, status: str) -> Record:
        return Record(key, "spec/a.py", 1, "f", "sign", (), status, None, 0, 0, 0.0)

    records = [*(record(str(k), "killed") for k in range(8)), record("h", "hung"), record("e", "survived"),
               record("n", "unreached")]  # fmt: skip
    rate = rate_of(records, {"e": Sorted("p", "c", "equivalent", "r")})
    assert rate == Rate(9, 10)
    assert str(rate) == "90.0% [55.5%, 99.7%]"  # Clopper-Pearson, from a table


TOY = {
    "src/dpassay/__init__.py": "",
    "properties/__init__.py": "",
    "properties/verify.py": "def verify_statement(x): ...\ndef verify_errata(x): return []\n",
    "spec/__init__.py": "",
    "spec/statement.py": "def all_statements(): return ()\ndef find_statement(x): ...\n",
    "spec/formula.py": "def pinned(x):\n    return 5 * x - 3\n\n\ndef one_sided(x):\n    return 5 * x - 3\n\n\n"
    "def unseen(x):\n    return 5 * x - 3\n",
    "spec/table.py": "def step(x):\n    return 5 * x - 3\n\n\nTABLE = tuple(step(x) for x in (0, 1, 2))\n\n\n"
    "def entry(k):\n    return TABLE[k]\n",
    "impl/__init__.py": "",
    "tests/test_formula.py": "from dpassay.spec.formula import one_sided, pinned, unseen\n\nSEEN = []\n\n\n"
    "def test_pinned():\n    assert [pinned(x) for x in (0, 1, 2)] == [-3, 2, 7]\n    SEEN.append(7)\n\n\n"
    "def test_one_sided():\n    assert one_sided(2) <= 7\n\n\n"
    "def test_that_needs_the_first():\n    unseen(2)\n    assert SEEN\n",
    "tests/spec/test_table.py": "from dpassay.spec.table import entry\n\n\n"
    "def test_table():\n    assert [entry(k) for k in (0, 1, 2)] == [-3, 2, 7]\n",
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n',
}


FIRST_STAGE = ("step", "entry")
"""The functions that a test in ``tests/spec`` reaches: the first stage kills their mutants."""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    for name, text in TOY.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for folder in ("spec", "impl", "properties"):
        (tmp_path / "src" / "dpassay" / folder).symlink_to(f"../../{folder}")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def mutate(toy: Path) -> list[Record]:
    command = [sys.executable, "-m", "benchmarks.mutation", "--tree", str(toy), "--store", str(toy / "results")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([*command, "--count", "100"], check=True, cwd=toy, env=environment, capture_output=True)
    return [Record(**json.loads(line)) for line in (toy / "results" / "results.jsonl").read_text().splitlines()]


def test_a_toy_project_has_the_survivors_that_it_must_have(toy: Path) -> None:
    """A formula pinned by values loses every mutant; a one-sided check sees those that rise; the third is unseen."""
    before = (toy / "spec/formula.py").read_text()
    found = mutate(toy)
    first, found = [r for r in found if r.status == "part"], [r for r in found if r.status != "part"]
    assert {record.key for record in first} == {record.key for record in found if record.function not in FIRST_STAGE}
    assert len({record.key for record in found}) == len(found)
    of = {
        name: [r for r in found if r.function == name] for name in ("pinned", "one_sided", "unseen", "step", "entry")
    }
    assert [len(some) for some in of.values()] == [4, 4, 4, 4, 1]
    assert {record.status for record in of["pinned"] + of["entry"]} == {"killed"}
    assert {record.status for record in of["unseen"]} == {"unreached"}, "a check that fails without a mutant counts"
    assert {record.status for record in of["step"]} == {"killed"}, "what runs at import is not imported anew"
    for record in of["one_sided"]:
        expression = record.diff[1].removeprefix("+return ")
        rises = eval(expression, {"x": 2}) > 7  # noqa: S307
        assert record.status == ("killed" if rises else "survived"), record
    assert (toy / "spec/formula.py").read_text() == before


def test_a_change_is_measured_anew_and_nothing_else_is(toy: Path, tmp_path: Path) -> None:
    store = toy / "reach.jsonl"

    def measured() -> list[str]:
        measure(Overlay.of(toy, tmp_path / "copy"), ["tests"], store)
        reach, failed = load(toy, store)
        assert failed == 2  # the statement checks of a project without statements are skipped
        assert {check.name for check in reach.by_block["spec/formula.py::one_sided#0"]} == {
            "tests/test_formula.py::test_one_sided"
        }
        assert "spec/table.py::step#0" in reach.early
        assert "spec/table.py::entry#0" not in reach.early
        return [json.loads(line)["check"] for line in store.read_text().splitlines()]

    before = measured()
    (toy / "spec/table.py").write_text("# moved\n" + TOY["spec/table.py"])
    after = measured()
    assert set(after) == set(before)
    assert after[-2:] == ["collection", "tests/spec/test_table.py::test_table"]
    (toy / "tests/test_formula.py").write_text(
        TOY["tests/test_formula.py"].replace("SEEN.append(7)", "SEEN.append(8)")
    )
    measure(Overlay.of(toy, tmp_path / "copy"), ["tests/test_formula.py"], store)
    assert [json.loads(line)["check"] for line in store.read_text().splitlines()][-4] == "collection"


FUNCTIONS = """
def plain(x):
    return x + 1

pair = lambda x: x + 1, lambda x: x + 1

def outer():
    def inner(x):
        return x + 1
    return inner

closure = outer()

class Held:
    @property
    def value(self):
        return 1 + 1
"""


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("return x + 1\n\npair", "return x - 1\n\npair", [0, 2, 2, 2, 2, 2]),
        ("lambda x: x + 1, lambda", "lambda x: x - 1, lambda", [2, 0, 2, 2, 2, 2]),
        (", lambda x: x + 1", ", lambda x: x - 1", [2, 2, 0, 2, 2, 2]),
        ("    return x + 1\n    return inner", "    return x - 1\n    return inner", [2, 2, 2, 0, 0, 2]),
        ("return 1 + 1", "return 1 - 1", [2, 2, 2, 2, 2, 0]),
        ("    return x + 1\n\npair", "    return (\n        x - 1)\n\npair", [0, 2, 2, 2, 2, 2]),
    ],
)
def test_functions_change_in_place(tmp_path: Path, before: str, after: str, expected: list[int]) -> None:
    file = f"{tmp_path}/functions.py"
    space: dict[str, Any] = {}
    exec(compile(FUNCTIONS, file, "exec"), space)  # noqa: S102
    held = [space["plain"], *space["pair"], space["closure"]]
    assert patch(functions_below(tmp_path)[file], file, FUNCTIONS, FUNCTIONS.replace(before, after)) > 0
    assert [*(each(1) for each in held), space["outer"]()(1), space["Held"]().value] == expected


@pytest.mark.parametrize(
    ("status", "budget", "stages"),
    [
        (None, None, [True, True]),
        ("killed", None, [False, False]),
        ("hung", None, [False, False]),
        ("survived", None, [False, False]),
        ("open", 5.0, [False, False]),
        ("open", None, [True, True]),
        ("part", 5.0, [False, True]),
        ("error", 5.0, [True, True]),
    ],
)
def test_what_a_resumed_run_tries(status: str | None, budget: float | None, stages: list[bool]) -> None:
    record = None if status is None else trial(status, 0, 0)
    assert [is_due(record, budget, last) for last in (False, True)] == stages


def trial(status: str, checks: int, planned: int) -> Record:
    return Record("k", "spec/a.py", 1, "f", "sign", (), status, None, checks, planned, 1.0)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("unreached", 0, 0), ("unreached", 0, 0), "unreached"),
        (("survived", 3, 3), ("unreached", 0, 0), "survived"),
        (("unreached", 0, 0), ("survived", 2, 2), "survived"),
        (("open", 3, 4), ("survived", 2, 2), "open"),
        (("survived", 3, 3), ("open", 2, 5), "open"),
        (("survived", 3, 3), ("killed", 1, 2), "killed"),
        (("survived", 3, 3), ("error", 0, 2), "error"),
    ],
)
def test_two_stages_make_one_trial(
    first: tuple[str, int, int], second: tuple[str, int, int], expected: str, tmp_path: Path
) -> None:
    part = trial(*first).after(None, last=False)
    both = trial(*second).after(part, last=True)
    assert (part.status, both.status, both.seconds) == ("part", expected, 2.0)
    for record in (part, both):
        append(tmp_path / "results.jsonl", record)
    assert read(tmp_path / "results.jsonl")["k"].status == expected
    assert ("k" in read(tmp_path / "results.jsonl", first=True)) is (expected != "error")


def test_a_kill_of_the_first_stage_is_final() -> None:
    assert trial("killed", 1, 5).after(None, last=False) == trial("killed", 1, 5)


def test_a_mutant_is_found_again_after_other_code_has_moved(toy: Path) -> None:
    drawn = draw(toy, 100, seed=1)
    wanted = {mutant.key: (mutant.path, mutant.function) for mutant in drawn}
    assert find(toy, wanted) == drawn
    before, _, after = TOY["spec/formula.py"].partition("def unseen(x):\n    return 5")
    (toy / "spec/formula.py").write_text(f"MOVED = 1\n{before}def unseen(x):\n    return 6{after}")
    keys = [mutant.key for mutant in find(toy, wanted)]
    assert keys == [mutant.key for mutant in drawn if mutant.function != "unseen"]


def test_sources_parse_as_they_are_changed() -> None:
    """A replacement in parentheses is read as one expression, whatever stands around it."""
    source = Source("spec/x.py", "def f(a, b, c):\n    return a * (b + c) ** 2 # é\n")
    found = set()
    for place, each in source.sites(Signatures()):
        found |= {mutant.diff[1] for one in each if (mutant := source.mutant(place, one)) is not None}
    assert "+return a * ((b - c)) ** 2 # é" in found
    assert "+return ((b + c) ** 2) # é" in found
