"""The pages of findings: they follow one template, agree with the index and with the expected failures."""

import re
import sys
from pathlib import Path

import pytest
from benchmarks.findings import FOLDER, INDEX, LEVELS, SECTIONS, Page, index, outcome, pages

from dpassay.arguments import UsageError
from dpassay.impl.libraries.registry import find_library, known_libraries, parse_specifier
from dpassay.properties.assay.expected import ExpectedFailure, load_expected
from dpassay.properties.assay.kinds import FindingKind, FindingSeverity

PAGES = pages()
BY_NAME = {page.name: page for page in PAGES}
SERIOUS = {FindingSeverity.CRITICAL, FindingSeverity.THEORETICAL}
FAULTS = {FindingKind.VIOLATION, FindingKind.UNSOUND_NUMBER, FindingKind.WRONG_ANSWER}
LIBRARIES = sorted(known_libraries())


def entries_of(name: str) -> list[ExpectedFailure]:
    """Return all entries of a library, for whatever versions."""
    library = find_library(name)
    releases = {release for page in PAGES if page.library == name for release in page.releases}
    found = [load_expected(library.expected_failures, release) for release in sorted(releases)]
    return list(dict.fromkeys(entry for entries in found for entry in entries))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_follows_the_template(page: Page) -> None:
    assert re.findall(r"^## (.*)$", page.text, re.MULTILINE) == list(SECTIONS)
    assert page.text.startswith(f"\n# {page.title}\n")
    assert all(len(page.section(title)) > 5 for title in SECTIONS)
    assert page.level in LEVELS
    assert page.severity in list(FindingSeverity)
    assert page.library in LIBRARIES
    assert page.path.parent.name == page.library
    assert page.reproductions()
    assert page.shows, "nothing says what the reproduction shows"
    assert page.releases


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_figures_of_a_page_agree(page: Page) -> None:
    """The table, the report and the text state the same figures and the same reports."""
    if page.claimed and page.certified:
        assert f"{page.claimed}; certified: {page.certified}" in page.text or page.certified in page.text
    if page.severity in SERIOUS:
        assert page.claimed
        assert page.certified
    for url in page.upstream:
        assert url in page.section("Upstream")
    if not page.upstream:
        assert "ot reported" in page.section("Upstream") or "mended" in page.section("Upstream")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_resolve(page: Page) -> None:
    for target in re.findall(r"\]\(((?!https?:)[^)]+)\)", page.text):
        assert (page.path.parent / target).is_file(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_something(page: Page) -> None:
    """A pattern that an empty output matches would confirm anything."""
    assert not page.is_shown_by("")


@pytest.mark.parametrize("name", LIBRARIES)
def test_expected_failures_agree_with_their_pages(name: str) -> None:
    for entry in entries_of(name):
        assert entry.severity is not None, entry
        if entry.page is None:
            assert entry.severity not in SERIOUS or entry.finding not in FAULTS, f"{entry} has no page"
            continue
        page = BY_NAME[f"{name}/{entry.page}"]
        assert entry.severity == page.severity, entry
        assert any(parse_specifier(entry.versions).contains(release) for release in page.releases), entry
        if entry.upstream.startswith("https://"):
            assert entry.upstream in page.upstream, entry
        if entry.finding is FindingKind.VIOLATION:
            assert page.level == "violation", entry


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_finding_does_not_depend_on_the_seed(name: str) -> None:
    """Of the entries of a page one at least must appear in every run."""
    entries = [entry for entry in entries_of(name) if entry.page]
    assert {entry.page for entry in entries} == {entry.page for entry in entries if entry.occasional is None}


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_loss_is_no_mere_wrong_answer(name: str) -> None:
    """Of the entries of a page on a loss beyond the claim one at least has its level, unless draws alone show it."""
    entries = [entry for entry in entries_of(name) if entry.page and entry.law != "goodness_of_fit"]
    losses = {"violation", "unsound number"}
    grave = {entry.page for entry in entries if BY_NAME[f"{name}/{entry.page}"].level in losses}
    assert grave <= {entry.page for entry in entries if entry.finding in losses}


def test_every_serious_finding_of_the_suite_is_expected_somewhere() -> None:
    """Pages of certified losses belong to entries, so that no page outlives its finding unnoticed."""
    known = {f"{name}/{entry.page}" for name in LIBRARIES for entry in entries_of(name) if entry.page}
    assert {page.name for page in PAGES if page.severity == "critical"} <= known


def test_the_index_is_that_of_the_pages() -> None:
    text = INDEX.read_text(encoding="utf-8")
    assert index(PAGES) in text, "run python -m benchmarks.findings --index"
    for target in re.findall(r"\]\(((?!https?:)[^)#]+)\)", text):
        assert (FOLDER / target).is_file(), target


def test_patterns_are_found_in_their_order() -> None:
    page = Page(Path("x"), "t", "l", [], "", "", "", "", "", [], [r"^a: \d+", "b: 0"], "")
    assert page.is_shown_by("a: 12\nb: 0\n")
    assert not page.is_shown_by("b: 0\na: 12\n")
    assert not page.is_shown_by("a: x\nb: 0\n")


def test_a_page_without_its_facts_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "one.md").write_text('---\ntitle: "x"\n---\n# x\n')
    monkeypatch.setattr("benchmarks.findings.FOLDER", tmp_path)
    with pytest.raises(UsageError, match=r"one\.md: the facts are not complete"):
        pages()


@pytest.mark.parametrize(
    ("program", "release", "result"),
    [
        ("print('loss', 1 + 1)", "1.0", "confirmed"),
        ("print('loss', 1)", "1.0", "not shown"),
        ("print('loss', 1)", "2.0", "not affected"),
        ("raise ValueError('loss 2')", "1.0", "confirmed"),
    ],
)
def test_a_reproduction_runs_in_the_environment_of_a_release(
    monkeypatch: pytest.MonkeyPatch, program: str, release: str, result: str
) -> None:
    monkeypatch.setattr("benchmarks.findings.build_environment", lambda *_: Path(sys.executable))
    text = f"\n## Reproduction\n\n```python\n{program}\n```\n"
    page = Page(Path("x/y.md"), "t", "opendp", ["1.0"], "1.0", "violation", "critical", "", "", [], ["loss 2"], text)
    assert outcome(page, release)[0] == result


def test_a_release_without_an_environment_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Path:
        raise UsageError("no network")

    monkeypatch.setattr("benchmarks.findings.build_environment", fail)
    page = next(page for page in PAGES if page.library == "opendp")
    assert outcome(page, "0.16.0") == ("no environment", "no network")
