"""The file that the benchmarks write: ``RESULTS.md``, a section for each of them."""

import platform
import re
from importlib.metadata import version
from pathlib import Path

__all__ = ["machine", "markdown_table", "write_section"]

RESULTS = Path(__file__).with_name("RESULTS.md")


def machine() -> str:
    """Describe the machine and the versions in one sentence."""
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    processor = found[1].strip() if found else platform.machine()
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    return f"One core of: {processor}; Python {platform.python_version()}, {packages}."


def markdown_table(headings: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def write_section(title: str, body: str) -> None:
    """Put a section into the file in place of the one with the same title, else at the end."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Results of the benchmarks\n"
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    new = f"## {title}\n\n{body.strip()}\n"
    places = [k for k, section in enumerate(sections) if section.startswith(f"## {title}\n")]
    sections[places[0] if places else len(sections) :] = [new, *sections[places[0] + 1 :]] if places else [new]
    RESULTS.write_text("\n".join(section.strip() + "\n" for section in sections), encoding="utf-8")
