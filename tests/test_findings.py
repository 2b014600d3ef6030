"""FINDINGS.md: each finding has a severity and a threat model, the table agrees with the text, and links resolve."""

import re
from pathlib import Path

import pytest

from dpassay.impl.libraries import registry
from dpassay.properties.assay.expected import load_expected
from dpassay.properties.assay.kinds import FindingSeverity

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "FINDINGS.md").read_text(encoding="utf-8")
NO_FINDINGS = ("Older releases", "Looked at and found right", "Versions")
SECTIONS = [
    (heading, body)
    for heading, body in re.findall(r"^### ([^\n]*)\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    if heading not in NO_FINDINGS
]
ROWS = [row.strip("|").split(" | ") for row in TEXT.splitlines() if re.match(r"\| [a-z.-]+ \d", row)]


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as renderers of Markdown make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def severity(body: str) -> str:
    """Return the severity that a section states."""
    found = re.match(r"\nSeverity: \*\*(\w+)\*\*\. Threat model: .{10,}", body)
    assert found is not None
    return found.group(1)


@pytest.mark.parametrize(("heading", "body"), SECTIONS, ids=[heading for heading, _ in SECTIONS])
def test_every_finding_has_a_severity_a_threat_model_and_a_snippet(heading: str, body: str) -> None:
    assert severity(body) in list(FindingSeverity), heading
    assert "```python" in body, heading


def test_the_table_has_the_severities_of_the_text() -> None:
    by_anchor = {anchor(heading): severity(body) for heading, body in reversed(SECTIONS)}
    assert len(ROWS) > 40
    for row in ROWS:
        anchors = re.findall(r"\]\(#([^)]*)\)", row[1])
        assert anchors, row
        said = row[3].strip().split(", ")
        mixed = "pure-mechanisms-at-the-ends" in anchors  # two findings in one section
        assert mixed or set(said) == {by_anchor[one] for one in anchors}, row


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("impl/libraries/*/expected_failures.toml")), ids=lambda p: p.parent.name
)
def test_every_expected_failure_of_ours_has_a_severity(path: Path) -> None:
    entries = registry.read_table(path, {"failure": list})["failure"]
    assert all(entry.get("severity") in list(FindingSeverity) for entry in entries)
    load_expected(path, None)
