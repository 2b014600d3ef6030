"""Findings: pages with reproductions that need the library alone, and the runs that confirm them.

``python -m benchmarks.findings [PAGE ...]`` extracts the reproductions of the pages in ``findings/`` and runs them on
the newest release of the library and on each affected release that the page names, in environments that pip builds.
A finding is confirmed if the output shows all that the page says it shows; a release that the page does not name is
not affected if it does not. With ``--newest`` only the newest release is tried. ``python -m benchmarks.findings
--index`` writes the index from the pages.

A page begins with its facts between two lines ``---``, each a key and a JSON value, and has the sections `SECTIONS`.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpassay.arguments import UsageError
from dpassay.impl.libraries.environments import build_environment, newest_version
from dpassay.impl.libraries.registry import find_library

__all__ = ["FOLDER", "LEVELS", "SECTIONS", "Page", "index", "pages"]

FOLDER = Path(__file__).parent.parent / "findings"
INDEX = FOLDER / "README.md"
SECTIONS = (
    "Finding",
    "Threat model",
    "Reproduction",
    "Certified figure",
    "Affected versions",
    "Upstream",
    "Report",
)
LEVELS = ("violation", "unsound number", "wrong answer", "not tight")
_SECONDS = 300.0
"""Time limit of a reproduction; those that show that a call does not return take a minute."""

_TABLE = "<!-- the table is made by `python -m benchmarks.findings --index` -->"


@dataclass(frozen=True)
class Page:
    """A finding.

    Parameters
    ----------
    path : Path
        The file.
    title : str
        What was found, in one line.
    library : str
        Distribution.
    releases : list of str
        Affected releases on which the reproduction is run.
    versions : str
        All affected versions, in words.
    level : str
        One of `LEVELS`.
    severity : str
        As for an expected failure.
    claimed, certified : str
        The figures of the library and the certified ones; empty if there are none.
    upstream : list of str
        Reports; empty if there is none.
    shows : list of str
        Regular expressions; the output of the reproduction matches them in this order.
    text : str
        The page after its facts.
    """

    path: Path
    title: str
    library: str
    releases: list[str]
    versions: str
    level: str
    severity: str
    claimed: str
    certified: str
    upstream: list[str]
    shows: list[str]
    text: str

    @property
    def name(self) -> str:
        """Folder and file, without the suffix."""
        return f"{self.path.parent.name}/{self.path.stem}"

    def section(self, title: str) -> str:
        """Return the text of a section."""
        found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", self.text, re.MULTILINE | re.DOTALL)
        if found is None:
            raise UsageError(f"{self.path} has no section {title!r}")
        return found[1].strip()

    def reproductions(self) -> list[str]:
        """Return the programs of the page."""
        return re.findall(r"```python\n(.*?)```", self.section("Reproduction"), re.DOTALL)

    def is_shown_by(self, output: str) -> bool:
        """Return whether an output has all that the page says it shows, in this order."""
        place = 0
        for pattern in self.shows:
            found = re.compile(pattern).search(output, place)
            if found is None:
                return False
            place = found.end()
        return True


def pages() -> list[Page]:
    """Return all findings, in order of libraries and severities.

    Raises
    ------
    UsageError
        If a page lacks a fact or has an unknown one.
    """
    order = {"critical": 0, "theoretical": 1, "negligible": 2}
    found = [_read(path) for path in sorted(FOLDER.glob("*/*.md"))]
    return sorted(found, key=lambda page: (page.library, order.get(page.severity, 3), page.path.stem))


def _read(path: Path) -> Page:
    _, head, text = path.read_text(encoding="utf-8").split("---\n", 2)
    try:
        facts = {key: json.loads(value) for key, value in (line.split(": ", 1) for line in head.splitlines())}
        return Page(path=path, text=text, **facts)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{path}: the facts are not complete: {error}") from None


def index(found: Sequence[Page]) -> str:
    """Return the table of all findings, as Markdown."""
    head = "| library | finding | level | severity | versions | claimed | certified | upstream |"
    return "\n".join([head, "|---" * 8 + "|", *map(_row, found)])


def _row(page: Page) -> str:
    upstream = ", ".join(f"[#{url.rsplit('/', 1)[1]}]({url})" for url in page.upstream) or "not reported"
    link = f"[{page.title}]({page.name}.md)"
    cells = (
        page.library,
        link,
        page.level,
        page.severity,
        page.versions,
        page.claimed,
        page.certified,
        upstream,
    )
    return f"| {' | '.join(cells)} |"


def write_index() -> None:
    """Write the table into the index, between its marks."""
    before, _, after = INDEX.read_text(encoding="utf-8").split(_TABLE)
    INDEX.write_text(f"{before}{_TABLE}\n\n{index(pages())}\n\n{_TABLE}{after}", encoding="utf-8")


# --- reproductions ------------------------------------------------------------------------------------------------


def releases_of(page: Page, *, newest_only: bool) -> list[str]:
    """Return the newest release and those that the page names, without repetition."""
    newest = newest_version(find_library(page.library))
    return [newest] if newest_only else list(dict.fromkeys([newest, *page.releases]))


def outcome(page: Page, release: str) -> tuple[str, str]:
    """Return whether a release shows a finding, and the last lines of the output or the reason why it was not run."""
    library = find_library(page.library)
    try:
        python = build_environment(library, release, lambda words: print(words, file=sys.stderr))
    except UsageError as error:
        return "no environment", str(error)
    output = "".join(_run(python, library.adapter.parent, program) for program in page.reproductions())
    if page.is_shown_by(output):
        return "confirmed", output
    return ("not shown" if release in page.releases else "not affected"), output


def _run(python: Path, adapter: Path, program: str) -> str:
    """Return what a program prints; without PyTorch, opacus needs the stand-ins of its adapter."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "reproduction.py")
        file.write_text(program, encoding="utf-8")
        before = [f"import {path.stem}" for path in adapter.glob("*_without_torch.py")]
        start = f"import runpy, sys; sys.path.append({str(adapter)!r}); {'; '.join(before)}"
        run = ["-c", f"{start}; runpy.run_path({str(file)!r}, run_name='__main__')"] if before else [str(file)]
        try:
            done = subprocess.run(  # noqa: S603  # the interpreter of an environment of dpassay
                [str(python), "-W", "ignore", *run],
                capture_output=True,
                text=True,
                errors="replace",
                cwd=folder,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            kept = error.stdout or b""
            return f"{kept.decode(errors='replace')}\n(no end within {_SECONDS:g} s)\n"
    end = f"(the process ends with signal {-done.returncode})\n" if done.returncode < 0 else ""
    return done.stdout + "\n".join(done.stderr.splitlines()[-1:]) + "\n" + end


def outcomes(names: Sequence[str], *, newest_only: bool) -> Iterator[tuple[Page, str, str, str]]:
    """Yield page, release, outcome and output for the pages with these names, or for all."""
    for page in pages():
        if names and page.name not in names and page.library not in names:
            continue
        for release in releases_of(page, newest_only=newest_only):
            yield page, release, *outcome(page, release)


def main() -> None:
    """Run the reproductions and print a line for each, or write the index."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("page", nargs="*", help="pages such as opendp/bit-vectors, or libraries; default: all")
    parser.add_argument("--newest", action="store_true", help="run on the newest release only")
    parser.add_argument("--output", action="store_true", help="print the outputs of the reproductions")
    parser.add_argument("--index", action="store_true", help="write the index from the pages")
    options = parser.parse_args()
    if options.index:
        write_index()
        return
    counts: Counter[str] = Counter()
    for page, release, result, output in outcomes(options.page, newest_only=options.newest):
        counts[result] += 1
        print(f"| {page.name} | {page.library} {release} | {result} |", flush=True)
        if options.output or result in {"not shown", "no environment"}:
            print(output)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))


if __name__ == "__main__":
    main()
