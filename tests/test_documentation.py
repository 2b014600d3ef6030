"""The documentation as a reader uses it: blocks of code are run, output is compared, links lead somewhere.

The Python blocks of a page are run in order, in one namespace; a test function whose comment says that it fails must
fail. A block after ``<!-- file: NAME -->`` is a file for the commands of the page. A console block is run, and what it
prints is compared, but for durations; a line ``...`` stands for any lines. A block with ``notest`` is not run: it
needs what is not there (another package, the network), or another test runs it.
"""

import doctest
import importlib.util
import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import dpassay.adapter

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GUIDES = [*PAGES, *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"))]
LIBRARIES = ("jax", "torch", "pandas")
BLOCK = re.compile(
    r"(?:<!-- (?P<note>[^>]*) -->\n)?^(?P<indent> *)```(?P<info>\w[^\n]*)\n(?P<text>.*?)^ *```$", re.M | re.S
)


@dataclass(frozen=True)
class Block:
    """A block of code: the words after its fence, the comment before it, its text and its place."""

    page: Path
    line: int
    info: str
    note: str
    text: str

    @property
    def runs(self) -> bool:
        return "notest" not in self.info and "notest" not in self.note

    def __str__(self) -> str:
        return f"{self.page.stem}-{self.line}"


def blocks(page: Path, language: str = "") -> list[Block]:
    content = page.read_text(encoding="utf-8")
    return [
        Block(page, content[: found.start("text")].count("\n") + 1, found["info"], found["note"] or "",
              textwrap.dedent(found["text"]))
        for found in BLOCK.finditer(content)
        if found["info"].split()[0].startswith(language)
    ]  # fmt: skip


def all_blocks(language: str) -> list[Block]:
    return [block for page in PAGES for block in blocks(page, language) if block.runs]


def write_files(page: Path, folder: Path) -> None:
    for block in blocks(page):
        if block.note.startswith("file: "):
            (folder / block.note.removeprefix("file: ")).write_text(block.text, encoding="utf-8")


# --- Python -------------------------------------------------------------------------------------------------


def run_python(block: Block, names: dict[str, Any]) -> list[Any]:
    """Run a block and return the test functions that it defines; skip it where an optional library is missing."""
    for library in LIBRARIES:
        if re.search(rf"^(import|from) {library}\b", block.text, re.MULTILINE):
            pytest.importorskip(library)
    lines = "\n" * (block.line - 1) + block.text  # so that tracebacks have the line of the page
    exec(compile(lines, str(block.page), "exec"), names)  # noqa: S102  # our own documentation
    return [names[name] for name in re.findall(r"^def (test_\w+)", block.text, re.MULTILINE)]


def namespace(block: Block) -> dict[str, Any]:
    """Return the names that the earlier blocks of the page define."""
    names: dict[str, Any] = {"__name__": "documentation"}
    for earlier in blocks(block.page, "python"):
        if (
            earlier.line < block.line
            and earlier.runs
            and not any(f"import {one}" in earlier.text for one in LIBRARIES)
        ):
            run_python(earlier, names)
    return names


@pytest.mark.usefixtures("own_registries")
@pytest.mark.parametrize("block", all_blocks("python"), ids=str)
def test_python_blocks_run(block: Block) -> None:
    run_python(block, namespace(block))


WITH_TESTS = [block for block in all_blocks("python") if "def test_" in block.text]


@pytest.mark.slow
@pytest.mark.traced
@pytest.mark.usefixtures("own_registries")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("block", WITH_TESTS, ids=str)
def test_the_tests_of_the_pages_pass_or_fail_as_they_say(block: Block) -> None:
    for function in run_python(block, namespace(block)):
        head = next(line for line in block.text.splitlines() if line.startswith(f"def {function.__name__}("))
        if "# fails" in head:
            with pytest.raises(AssertionError, match="allows at most"):
                function()
        else:
            function()


def test_the_list_of_tests_is_not_empty() -> None:
    assert len(WITH_TESTS) >= 4
    assert any("# fails" in block.text for block in WITH_TESTS)


@pytest.mark.parametrize("block", all_blocks("pycon"), ids=str)
def test_interactive_blocks_print_what_they_show(block: Block) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, {}, str(block), str(block.page), block.line)
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("block", all_blocks("toml"), ids=str)
def test_toml_blocks_can_be_read(block: Block) -> None:
    assert tomllib.loads(block.text)


# --- commands -----------------------------------------------------------------------------------------------


def run_command(command: str, folder: Path) -> str:
    """Run a line of a shell in a folder, with this interpreter's commands, and return what it prints."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


def matches(printed: str, shown: str) -> bool:
    """Return whether a command printed what a page shows, but for durations and the ends of lines."""

    def without_durations(text: str) -> str:
        lines = (re.sub(r"\b[\d.,]+ s\b| \d+\.\d{3} *$", " T", line).rstrip() for line in text.strip().splitlines())
        return "\n".join(lines)

    pattern = re.escape(without_durations(shown)).replace(re.escape("\n...\n"), r"\n(?:.*\n)*?")
    return re.fullmatch(re.sub(r"\\\n\\\.\\\.\\\.$", r"(?:\\n.*)*", pattern), without_durations(printed)) is not None


def test_output_is_compared() -> None:
    assert matches("a 1.5 s  \nb\n", "a 2 s\nb")
    assert not matches("a\nc", "a\nb")
    assert matches("a\nb\nc\nd", "a\n...\nd")
    assert matches("a\nb\nc", "a\n...")
    assert not matches("a\nb\nc", "b\n...")


CONSOLE = [
    pytest.param(block, id=str(block), marks=[pytest.mark.slow] if block.note == "slow" else [])
    for block in all_blocks("console")
]


@pytest.mark.parametrize("block", CONSOLE)
def test_commands_print_what_the_pages_show(block: Block, tmp_path: Path) -> None:
    write_files(block.page, tmp_path)
    # the pages show what a free machine decides within the usual limit
    (tmp_path / "pyproject.toml").write_text('[tool.dpassay.hunt]\ntrace-limit = "200s"\n', encoding="utf-8")
    for part in block.text.split("$ ")[1:]:
        command, _, shown = part.partition("\n")
        printed = run_command(command, tmp_path).replace(" --trace-limit 200s", "")
        assert matches(printed, shown), f"{command} prints\n{printed}"


def test_the_answer_of_the_page_on_ci_obeys_all_laws(tmp_path: Path) -> None:
    (block,) = (one for one in blocks(ROOT / "docs" / "ci.md", "python") if "Answer(" in one.text)
    library, _, case = block.text.partition("accountant = ")
    (tmp_path / "mylibrary.py").write_text(library, encoding="utf-8")
    (tmp_path / "privacy").mkdir()
    adapter = f"from mylibrary import *\nLIBRARY = 'mylibrary'\nCASES = [{case.strip()}]\n"
    (tmp_path / "privacy" / "adapter.py").write_text(adapter, encoding="utf-8")
    command = "PYTHONPATH=.:$PYTHONPATH dpassay assay privacy/adapter.py --calls 20 --jobs 1 --json"
    findings = [json.loads(line) for line in run_command(command, tmp_path).splitlines()]
    found = {one["law"]: one["finding"] for one in findings if one["finding"] != "not applicable"}
    assert {"soundness", "monotone_in_count", "rejects_invalid_arguments"} <= set(found)
    assert set(found.values()) == {"ok"}


@pytest.mark.slow
def test_the_commands_of_the_page_on_statements_succeed(tmp_path: Path) -> None:
    (block,) = (one for one in blocks(ROOT / "docs" / "statements.md", "sh") if "dpassay init" in one.text)
    run_command("set -e\n" + block.text, tmp_path)
    assert (tmp_path / "mypaper" / "mypaper.py").exists()


# --- links --------------------------------------------------------------------------------------------------

MADE = ("commands.md", "gallery.md", "questions.md", "findings.md", "documents/")
"""Pages that exist on the site only."""


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page, as GitHub makes them of its headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        if name.startswith(MADE):
            continue
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


def test_every_page_is_in_the_contents() -> None:
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if f" {page.name}" not in contents] == []


def test_the_reference_has_all_public_names_of_adapters() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    members = re.search(r"^::: dpassay\.adapter\n *options:\n *members: \[(.*)\]$", page, re.MULTILINE)
    assert members is not None
    assert sorted(members[1].split(", ")) == sorted(dpassay.adapter.__all__)


def test_every_extra_is_in_the_table_of_extras() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    table = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8").partition("| extra |")[2]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table.partition("\n\n")[0], re.MULTILINE)) == sorted(extras)


WORKFLOW = ".github/workflows/privacy.yml"


@pytest.mark.parametrize(
    "name", ["docs/ci.md", f"src/dpassay/templates/adapter/{WORKFLOW}", f"tests/third_party/noisycounts/{WORKFLOW}"]
)
def test_workflows_install_dpassay_from_its_repository(name: str) -> None:
    """No package index has dpassay."""
    installs = re.findall(r"^ *- run: pip install ([^#\n]*)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert len(installs) == 1
    assert installs[0].split()[-1] == "git+URL"


# --- pictures -----------------------------------------------------------------------------------------------


def pictures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / ".ci" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["relations.svg", "losses.svg"])
def test_diagrams_are_those_that_the_script_draws(name: str) -> None:
    assert (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8") == pictures().DIAGRAMS[name]()


def test_pictures_are_shown_described_and_name_no_place_of_a_machine() -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    drawn = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
    assert drawn
    for path in drawn:
        text = path.read_text(encoding="utf-8")
        assert f"pictures/{path.name}" in shown
        assert 'role="img" aria-label="' in text
        assert "<title>" in text
        assert str(ROOT) not in text
        assert "/home/" not in text
