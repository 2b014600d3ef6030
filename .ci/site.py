"""Pages of the documentation that are made when it is built: from the repository's files and from the registries."""

import html
import json
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
LEAD_OF_QUESTIONS = """The question of an [`Answer`](reference.md#dpassay.adapter.Answer) says which arguments its
function receives and which number the function returns. The sensitivity is 1, and privacy parameters are in nats.
[`dpassay.adapter`](reference.md#dpassay.adapter) states what the arguments are. Random values are drawn from the
ranges below, and some corner cases outside of them are asked as well; `domain=` restricts an argument to documented
bounds. An answer is unsound if it does not lie on the safe side of the certified number."""
FIGURES = ROOT / "build" / "experiments"
DOCUMENTS = ("lebensold2024", "cohen2023", "cesar2020", "gaboardi2017", "rogers2023")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that no file of the folder docs holds."""
    pages = {name: within_site((ROOT / source).read_text(encoding="utf-8")) for name, source in COPIED.items()}
    pages |= {"commands.md": commands(), "gallery.md": gallery()}
    pages |= {"experiments.md": experiments(), "questions.md": questions()}
    pages |= {f"documents/{key}.md": document(key) for key in DOCUMENTS}
    pages |= {f"findings/{page.name}.md": finding(page) for page in all_findings()}
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    for figure in FIGURES.glob("*.png"):
        files.append(File.generated(config, f"figures/{figure.name}", abs_src_path=str(figure)))
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


def experiments() -> str:
    """Return the experiments, and the figures in build/experiments, where `--out` wrote them."""
    from dpassay.properties.experiments.base import all_experiments

    parts = ["# Experiments", "`dpassay experiment NAME` writes tables and figures to `results/`."]
    parts += [
        "| name | contents |\n|---|---|\n"
        + "\n".join(f"| `{one.name}` | {escaped(one.summary)} |" for one in all_experiments())
    ]
    for figure in sorted(FIGURES.glob("*.png")):
        title = figure.stem.replace("_", " ").replace("-", " ").capitalize()
        parts.append(f"## {title}\n\n![{title}](figures/{figure.name})")
    return "\n\n".join(parts)


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


def questions() -> str:
    """Return the questions of answers of accountants, with their arguments and the numbers that are asked most."""
    from dpassay.properties.assay.questions import QUESTIONS

    lines = ["| question | the number returned | arguments | safe side |", "|---|---|---|---|"]
    for one in QUESTIONS.values():
        arguments = ", ".join(f"`{argument.name}` {argument.low:g} to {argument.high:g}" for argument in one.arguments)
        lines.append(f"| `{one.name}` | {one.sentence} | {arguments} | {one.safe} |")
    return "\n\n".join(["# Questions for accountants", LEAD_OF_QUESTIONS, "\n".join(lines)])


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
        head = "| mechanism | name | claims | neighbours | exact distribution |" + (
            " fault | caught by |" if broken else ""
        )
        lines = [head, "|---" * (7 if broken else 5) + "|"]
        for one in records:
            if one.broken is not broken:
                continue
            cells = [f"`{one.where.removeprefix('dpassay.impl.')}`", ", ".join(one.names)]
            cells += [", ".join(f"`{claim}`" for claim in one.claims), f"`{one.neighbours}`"]
            cells += ["known" if one.exact_distribution else ""]
            cells += [escaped(one.fault or ""), ", ".join(one.caught_by)] if broken else []
            lines.append("| " + " | ".join(cell.replace("|", "&#124;") for cell in cells) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def document(key: str) -> str:
    """Return a document chapter by chapter: its statements, their formulas, errata and results."""
    from dpassay.spec.sources import SOURCES
    from dpassay.spec.statement import all_statements, faults

    source = SOURCES[key]
    statements = [one for one in all_statements() if one.source.key == key]
    errata = faults(statements)
    results = saved_results()
    chapters: dict[str, list[Any]] = {}
    for statement in statements:
        chapters.setdefault(statement.where.partition(":")[0], []).append(statement)
    parts = [
        f"# {source.title}",
        f"{source.authors} ({source.year}). {source.venue}. [{source.url}]({source.url})",
        f"{len(statements)} statements in {len(chapters)} chapters, {len(errata)} errata and remarks:",
        f"```sh\ndpassay verify --source {key}\n```",
        "## Errata and remarks" if errata else "",
    ]
    for fault in errata:
        one = fault.erratum
        place = escaped(", ".join(row.item for row in fault.statement.items))
        answer = f" A possible answer: {escaped(one.answer)}" if one.answer else ""
        parts.append(f"- **{place}** ({one.severity}): {escaped(one.printed_text)}{answer}")
    for module, members in chapters.items():
        title, *lead = list(blocks(sys.modules[module].__doc__ or module))
        parts += [f"## {title.rstrip('.')}", *lead]
        for statement in members:
            parts += statement_parts(statement, results)
    return "\n\n".join(part for part in parts if part)


def statement_parts(statement: Any, results: dict[str, Any]) -> Iterator[str]:
    """Yield a statement: its items, its sentence, its quantifiers, and its result where one was saved."""
    yield f"### `{statement.name}`"
    yield "*" + "; ".join(escaped(row.item) for row in statement.items) + "*"
    yield from blocks(statement.sentence)
    domains = "; ".join(f"{name}: {domain.sentence}" for name, domain in statement.quantifiers.items())
    yield f"For every {escaped(domains)}." if domains else ""
    result = results.get(statement.name)
    if result is not None:
        tightness = result["tightness"]
        prose = f", {result['prose_steps']} prose steps" if result.get("prose_steps") else ""
        words = f"{result['verdict']} ({result['evidence']}, scope {result['scope']}{prose})"
        yield f"Verdict: {words}" + ("." if tightness is None else f"; tightness {tightness:.6g}.")


def saved_results() -> dict[str, Any]:
    """Return the records of statements in build/verify.jsonl, where `dpassay verify --json` was saved there."""
    saved = ROOT / "build" / "verify.jsonl"
    if not saved.exists():
        return {}
    records = map(json.loads, saved.read_text(encoding="utf-8").splitlines())
    return {record["statement"]: record for record in records if "statement" in record}


def blocks(sentence: str) -> Iterator[str]:
    """Yield the paragraphs of a sentence; those that are indented are formulas."""
    for block in re.split(r"\n\s*\n", sentence.rstrip()):
        yield f"```text\n{block}\n```" if block.startswith("  ") else escaped(" ".join(block.split()))


def escaped(text: str) -> str:
    """Return text that means itself in Markdown."""
    return re.sub(r"([\\*_\[\]`|~^$#])", r"\\\1", html.escape(text, quote=False))
