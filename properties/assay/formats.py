"""Reports of a run for other programs: GitHub annotations, SARIF, JUnit XML, Markdown.

Sources: the workflow commands of GitHub Actions; SARIF 2.1.0 (OASIS 2020), sections 3.14, 3.27 and 3.35; the JUnit
format as the Jenkins plugin reads it, which has no standard.
"""

import hashlib
import json
import re
import xml.etree.ElementTree as ET  # it only writes
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from typing import Any, Literal, get_args

from dpassay.properties.assay.assessment import Assessment
from dpassay.properties.assay.expected import FINE
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.laws import LAWS
from dpassay.properties.assay.table import shown_witnesses, summary, witness_lines
from dpassay.properties.contract import as_dictionary

__all__ = ["FORMATS", "Format", "render"]

Format = Literal["github", "sarif", "junit", "markdown"]

FORMATS: tuple[Format, ...] = get_args(Format)

Runs = Sequence[Sequence[Assessment]]

_SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LEVELS: dict[FindingKind, str] = {FindingKind.WRONG_ANSWER: "warning", FindingKind.UNDECIDED: "warning"}


def render(name: Format, runs: Runs, adapter: str, seconds: Sequence[float]) -> str:
    """Return the report of some runs in a format.

    Parameters
    ----------
    name : str
        One of `FORMATS`.
    runs : sequence of sequences of Assessment
        The lines of each run, one run for each version.
    adapter : str
        The file of the adapter, to which findings are attached.
    seconds : sequence of float
        Duration of each run.
    """
    makers: dict[Format, Callable[[Runs, str, Sequence[float]], str]] = {
        "github": _github,
        "sarif": _sarif,
        "junit": _junit,
        "markdown": _markdown,
    }
    return makers[name](runs, adapter, seconds)


def _is_finding(line: Assessment) -> bool:
    """Return whether a line is a result to report; checks that were not run are counted in the summary."""
    return not line.as_expected or not (line.finding.kind in FINE or line.finding.kind is FindingKind.NOT_RUN)


def _title(line: Assessment) -> str:
    severity = f", {line.severity}" if line.severity else ""
    return f"{line.mechanism}: {line.law}: {line.finding.kind}{severity}"


def _message(line: Assessment) -> str:
    return line.finding.detail if line.expected is None else f"{line.finding.detail} [expected: {line.expected}]"


# --- GitHub annotations ---------------------------------------------------------------------------------------


def _github(runs: Runs, adapter: str, seconds: Sequence[float]) -> str:  # noqa: ARG001  # as the others
    lines = [line for run in runs for line in run if _is_finding(line)]
    return "\n".join([*(_annotation(line, adapter) for line in lines), *_notices(runs, adapter)])


def _notices(runs: Runs, adapter: str) -> Iterator[str]:
    """Yield an annotation for each run with checks that were not run, one for all of them."""
    for run in runs:
        count = sum(line.finding.kind is FindingKind.NOT_RUN for line in run)
        if count:
            title = f"{run[0].library} {run[0].version or ''}".strip() + f": {FindingKind.NOT_RUN}"
            message = f"{count} checks, because of the time limit"
            yield f"::notice file={_property(adapter)},title={_property(title)}::{message}"


def _annotation(line: Assessment, adapter: str) -> str:
    command = "notice" if line.as_expected else "error"
    title = f"{line.library} {line.version or ''}".strip() + f": {_title(line)}"
    message = "\n".join(filter(None, [_message(line), "" if line.as_expected else witness_lines(line)]))
    return f"::{command} file={_property(adapter)},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# --- SARIF ----------------------------------------------------------------------------------------------------


def _sarif(runs: Runs, adapter: str, seconds: Sequence[float]) -> str:  # noqa: ARG001  # as the others
    log = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [_sarif_run(run, adapter) for run in runs]}
    return json.dumps(log, indent=2)


def _sarif_run(run: Sequence[Assessment], adapter: str) -> dict[str, Any]:
    sentences = {law.name: law.sentence for law in LAWS}
    lines = [line for line in run if _is_finding(line)]
    rules = [
        {"id": name, "shortDescription": {"text": sentences.get(name, name)}}
        for name in sorted({line.law for line in lines})
    ]
    driver = {"name": "dpassay", "version": metadata.version("dpassay"), "rules": rules}
    identity = f"{run[0].library} {run[0].version or ''}".strip()
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"dpassay/{identity}"},
        "results": [_sarif_result(line, adapter) for line in lines],
    }


def _sarif_result(line: Assessment, adapter: str) -> dict[str, Any]:
    identity = f"{line.library}\0{line.mechanism}\0{line.law}\0{line.finding.kind}"
    result: dict[str, Any] = {
        "ruleId": line.law,
        "level": _LEVELS.get(line.finding.kind, "error"),
        "message": {"text": f"{_title(line)}: {_message(line)}"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": adapter}, "region": {"startLine": 1}},
                "logicalLocations": [{"fullyQualifiedName": f"{line.library}: {line.mechanism}"}],
            }
        ],
        "partialFingerprints": {"dpassay/v1": hashlib.sha256(identity.encode()).hexdigest()},
        "properties": as_dictionary(line.record()),
    }
    if line.as_expected:
        result["suppressions"] = [{"kind": "external", "justification": line.expected}]
    return result


# --- JUnit XML ------------------------------------------------------------------------------------------------


def _junit(runs: Runs, adapter: str, seconds: Sequence[float]) -> str:
    root = ET.Element("testsuites")
    for run, spent in zip(runs, seconds, strict=True):
        _suite(root, run, adapter, spent)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def _suite(root: ET.Element, run: Sequence[Assessment], adapter: str, spent: float) -> None:
    lines = [line for line in run if _is_finding(line) or line.finding.kind is not FindingKind.NOT_APPLICABLE]
    outcomes = [_outcome(line) for line in lines]
    suite = ET.SubElement(
        root,
        "testsuite",
        name=_xml(f"{run[0].library} {run[0].version or ''}".strip()),
        tests=str(len(lines)),
        failures=str(outcomes.count("failure")),
        errors=str(outcomes.count("error")),
        skipped=str(outcomes.count("skipped")),
        time=f"{spent:.3f}",
    )
    for line, outcome in zip(lines, outcomes, strict=True):
        name, time = _xml(f"{line.library}.{line.mechanism}"), f"{line.seconds:.3f}"
        case = ET.SubElement(suite, "testcase", classname=name, name=line.law, time=time, file=adapter)
        if outcome is not None:
            element = ET.SubElement(case, outcome, message=_xml(_title(line)), type=line.finding.kind)
            element.text = _xml(_message(line))


def _outcome(line: Assessment) -> str | None:
    """Return the element of a test case that says how it ended; None if it passed."""
    if line.as_expected:
        return None if line.finding.kind in FINE else "skipped"
    return "error" if line.finding.kind is FindingKind.ERROR else "failure"


def _xml(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


# --- Markdown -------------------------------------------------------------------------------------------------


def _markdown(runs: Runs, adapter: str, seconds: Sequence[float]) -> str:  # noqa: ARG001  # as the others
    return "\n\n".join(_section(run, spent) for run, spent in zip(runs, seconds, strict=True))


def _section(run: Sequence[Assessment], spent: float) -> str:
    title = f"### {_cell(run[0].library)} {_cell(run[0].version or '')}".rstrip()
    head = ["| mechanism | law | finding | severity | detail |", "|---|---|---|---|---|"]
    body = [_table_row(line) for line in run if _is_finding(line)]
    blocks = [part for text in shown_witnesses(run) for part in ("", _block(text))]
    return "\n".join([title, "", _cell(summary(run, spent)), *(["", *head, *body] if body else []), *blocks])


def _block(text: str) -> str:
    """Return a text as a block of code that it cannot end."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _table_row(line: Assessment) -> str:
    kind = line.finding.kind if line.as_expected else f"**{line.finding.kind}**"
    cells = (_cell(line.mechanism), _cell(line.law), kind, line.severity or "", _cell(_message(line)))
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Return a text that a cell of a table shows as it is."""
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", " ".join(text.split()))
