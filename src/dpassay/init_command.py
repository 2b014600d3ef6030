"""The command ``dpassay init``: a small working example to start from."""

import keyword
from importlib.resources import as_file, files
from pathlib import Path

import click

from dpassay.arguments import UsageError
from dpassay.command_line import EXPECTED

__all__ = ["KINDS", "init"]

KINDS = ("paper", "mechanism", "adapter")
PLACEHOLDER = "PROJECT"
"""Stands for the name in the files of a template and in their names."""

_TAKEN = {"adapter": ("privacy",)}
"""Names that a module of the example cannot have, beside a folder of the same name."""


@click.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name", required=False)
def init(kind: str, name: str | None) -> int:
    """Write a small working example into the folder NAME (default: my_KIND).

    paper: statements of a paper, an erratum and mutants. mechanism: a mechanism, its claim and a broken twin. adapter:
    a library in CI. Each passes its tests as it stands; its README.md lists the commands.
    """
    chosen = name or f"my_{kind}"
    if not chosen.isidentifier() or keyword.iskeyword(chosen):
        raise UsageError(f"NAME must be a Python identifier, such as my_{kind}, got {chosen!r}")
    if chosen in _TAKEN.get(kind, ()):
        raise UsageError(f"NAME must not be {chosen!r}, which is a folder of the example itself")
    folder = Path(chosen)
    if folder.exists():
        raise UsageError(f"{folder} exists; give another NAME, or remove it")
    for path in write_template(kind, chosen, folder):
        click.echo(path)
    return EXPECTED


def write_template(kind: str, name: str, folder: Path) -> list[Path]:
    """Write the files of a template into a new folder, with the name in place of the placeholder; return them."""
    written = []
    with as_file(files("dpassay") / "templates" / kind) as template:
        for source in sorted(path for path in template.rglob("*") if path.is_file()):
            if "__pycache__" in source.parts:
                continue
            path = folder / str(source.relative_to(template)).replace(PLACEHOLDER, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8").replace(PLACEHOLDER, name)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return written
