"""The command ``dpassay check``: a second, independent check of a saved certificate."""

import json
from pathlib import Path
from typing import Any

import click

from dpassay.arguments import UsageError
from dpassay.command_line import EXPECTED, UNEXPECTED, json_option, print_records
from dpassay.neighbours import parse_neighbours

__all__ = ["check", "leaf_words", "save_certificate"]

_MOST_BYTES = 1 << 28


@click.command()
@click.argument("certificate", type=click.Path(path_type=Path))
@json_option
def check(certificate: Path, as_json: bool) -> int:
    """Check CERTIFICATE, a proof that `dpassay hunt --certificate FILE` saved.

    The check shares no code with the search for the proof and uses rational arithmetic. It verifies that the shifts
    of the noise, integers for geometric noise, keep the decisions and the released numbers of every leaf listed, for
    every move that the neighbour relation allows, at a cost of at most epsilon; or that the probabilities of all
    outcomes, on all cells into which decisions cut the data, agree with epsilon and delta. That the leaves or the
    probabilities describe the target is not part of the certificate.
    The exit status is 1 if the certificate is wrong.
    """
    from dpassay.properties.contract import CheckRecord

    content = _read(certificate)
    faults = _faults(content)
    if as_json:
        record = CheckRecord(
            valid=not faults,
            faults=faults,
            target=_text_of(content, "target"),
            claim=_text_of(content, "claim"),
            neighbours=_text_of(content, "neighbours"),
            epsilon=_text_of(content, "epsilon"),
            delta=_text_of(content, "delta"),
        )
        print_records([record])
    elif faults:
        click.echo("\n".join(["wrong certificate:", *(f"  {fault}" for fault in faults)]))
    else:
        click.echo(_summary(content))
    return UNEXPECTED if faults else EXPECTED


def save_certificate(content: dict[str, Any], path: Path) -> None:
    """Write a certificate to a file."""
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def leaf_words(count: int) -> str:
    """Return a number of leaves in words."""
    return "1 leaf" if count == 1 else f"{count} leaves"


def _read(path: Path) -> dict[str, Any]:
    """Return the certificate in a file.

    Raises
    ------
    UsageError
        If the file cannot be read or holds no JSON object.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"certificate {str(path)!r} has more than {_MOST_BYTES} bytes")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"certificate {str(path)!r} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"certificate {str(path)!r} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise UsageError(f"certificate {str(path)!r} must be a JSON object, got a {type(content).__name__}")
    return content


def _text_of(content: dict[str, Any], name: str) -> str | None:
    """Return a text of a certificate; a malformed one may have anything in its place."""
    value = content.get(name)
    return value if isinstance(value, str) else None


def _faults(content: dict[str, Any]) -> list[str]:
    from dpassay.spec.leaves import check_cells, check_lattice
    from dpassay.spec.leaves.check import MalformedCertificateError, check_alignment

    others = {check_cells.FORMAT: check_cells.check_cells, check_lattice.FORMAT: check_lattice.check_lattice}
    form = content.get("format")
    checked = others.get(form, check_alignment) if isinstance(form, str) else check_alignment
    try:
        return [*checked(content), *_foreign_relation(content)]
    except MalformedCertificateError as error:
        return [str(error)]


def _foreign_relation(content: dict[str, Any]) -> list[str]:
    """Return the fault of a certificate whose proof is about another relation than its words."""
    from dpassay.spec.leaves.certificates import relation_record

    words = content.get("neighbours")
    try:
        expected = relation_record(parse_neighbours(words)) if words is not None else content["relation"]
    except UsageError as error:
        return [str(error)]
    return [] if content["relation"] == expected else [f"the proof is not about the neighbours {words}"]


def _summary(content: dict[str, Any]) -> str:
    delta = "" if content["delta"] == "0" else f", delta <= {content['delta']}"
    target, neighbours = content.get("target", "the mechanism"), content.get("neighbours", "the relation")
    if "leaves" in content:
        proof, parts = f"{leaf_words(len(content['leaves']))}, aligned for all moves of {neighbours}", "leaves"
    else:
        proof, parts = f"probabilities on cells of data, compared for all moves of {neighbours}", "probabilities"
    return (
        f"valid: {proof}; epsilon <= {content['epsilon']}{delta}\n"
        f"  for all inputs of length {content['relation']['size']}, if these are the {parts} of {target}"
    )
