"""Pages of the documentation that are made when it is built: from the repository's files and from the registries."""

import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
COPIED = {
    "architecture.md": "ARCHITECTURE.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md",
    "findings/README.md": "findings/README.md",
}  # fmt: skip
LEAD_OF_GALLERY = """`dpassay show NAME` prints the code of a mechanism and the largest loss that a search finds;
`dpassay hunt NAME` tests its claim. Names such as SVT3 are those of the common benchmark of testing tools."""
DOCUMENTS = ("lebensold2024", "cohen2023", "cesar2020", "gaboardi2017", "rogers2023")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that no file of the folder docs holds."""
    pages = {name: within_site((ROOT / source).read_text(encoding="utf-8")) for name, source in COPIED.items()}
    pages |= {"commands.md": commands(), "gallery.md": gallery()}
    pages |= {f"documents/{key}.md": document(key) for key in DOCUMENTS}
    pages |= {f"findings/{page.name}.md": finding(page) for page in all_findings()}
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Let links to files of the repository lead to their pages."""
    return within_site(markdown)


def within_site(markdown: str) -> str:
    """Return a page whose links between documents are links of the site; links to code become code."""
    for name, source in COPIED.items():
        markdown = re.sub(rf"\]\((\.\./)?{re.escape(source)}", f"]({name}", markdown)
    markdown = markdown.replace("](docs/", "](")
    return re.sub(r"\[([^\]]+)\]\((?:\.\./)?(?:benchmarks|examples|src|impl|tests|README)[^)]*\)", r"\1", markdown)


def all_findings() -> list[Any]:
    """Return the pages of findings; their folder is that of the repository, not of the installed package."""
    sys.path.insert(0, str(ROOT))
    from benchmarks.findings import pages

    return pages()


def finding(page: Any) -> str:
    """Return the page of a finding, with its facts as a table."""
    facts = {
        "library": page.library,
        "versions": page.versions,
        "level": page.level,
        "severity": page.severity,
        "claimed": page.claimed,
        "certified": page.certified,
    }
    told = {name: value for name, value in facts.items() if value}
    head, rule, row = ("| " + " | ".join(cells) + " |" for cells in (told, ["---"] * len(told), told.values()))
    title, body = page.text.strip().split("\n", 1)
    return "\n".join([title, "", head, rule, row, body])


def commands() -> str:
    """Return the help of every command."""
    import click

    from dpassay.cli import cli

    context = click.Context(cli, info_name="dpassay", max_content_width=100, terminal_width=100)
    parts = [
        "# Commands",
        "With `--json` a command prints one JSON object per line; `dpassay schema` prints their schemas.",
    ]
    for name, command in cli.commands.items():
        own = click.Context(command, parent=context, info_name=name, max_content_width=100, terminal_width=100)
        parts += [f"## dpassay {name}", f"```text\n{command.get_help(own)}\n```"]
    return "\n\n".join(parts)


def gallery() -> str:
    """Return the mechanisms, correct and broken, with their names in the literature."""
    from dpassay.properties.mechanisms import mechanism_records

    records = mechanism_records()
    parts = [
        "# Mechanisms",
        LEAD_OF_GALLERY,
    ]
    for title, broken in (("Correct", False), ("Deliberately broken", True)):
        parts.append(f"## {title}")
        head = "| mechanism | name | claims | exact distribution |" + (" fault |" if broken else "")
        lines = [head, "|---" * (5 if broken else 4) + "|"]
        for one in records:
            if one.broken is not broken:
                continue
            cells = [f"`{one.where.removeprefix('dpassay.impl.')}`", ", ".join(one.names)]
            cells += [", ".join(f"`{claim}`" for claim in one.claims), "known" if one.exact_distribution else ""]
            cells += [escaped(one.fault or "")] if broken else []
            lines.append("| " + " | ".join(cell.replace("|", "&#124;") for cell in cells) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def document(key: str) -> str:
    """Return the statements and errata of a document."""
    from dpassay.spec.sources import SOURCES
    from dpassay.spec.statement import all_statements, faults

    source = SOURCES[key]
    statements = [one for one in all_statements() if one.source.key == key]
    errata = faults(statements)
    parts = [
        f"# {source.title}",
        f"{source.authors} ({source.year}). {source.venue}. [{source.url}]({source.url})",
        f"{len(statements)} statements, {len(errata)} errata and remarks, checked by `dpassay verify --source {key}`.",
        "## Errata and remarks" if errata else "",
    ]
    for fault in errata:
        one = fault.erratum
        place = escaped(", ".join(row.item for row in fault.statement.items))
        parts.append(f"- **{place}** ({one.severity}): {escaped(one.printed_text)}")
    parts.append("## Statements")
    for statement in statements:
        parts.append(f"### `{statement.name}`")
        parts.append("*" + "; ".join(escaped(row.item) for row in statement.items) + "*")
        parts += blocks(statement.sentence)
    return "\n\n".join(part for part in parts if part)


def blocks(sentence: str) -> Iterator[str]:
    """Yield the paragraphs of a sentence; those that are indented are formulas."""
    for block in re.split(r"\n\s*\n", sentence.rstrip()):
        yield f"```text\n{block}\n```" if block.startswith("  ") else escaped(" ".join(block.split()))


def escaped(text: str) -> str:
    """Return text that means itself in Markdown."""
    return re.sub(r"([\\*_\[\]`|~^$#])", r"\\\1", html.escape(text, quote=False))
