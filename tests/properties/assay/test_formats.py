"""Reports for other programs: what they must contain, and that no text of a library breaks them."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace

import pytest

from dpassay.properties.assay.assessment import Assessment
from dpassay.properties.assay.finding import Finding
from dpassay.properties.assay.formats import FORMATS, Format, render
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.table import shown_witnesses

ODD = "100 % <b>|`sure`, ok: yes\nand\x00more\x1b"


def line(kind: str, law: str = "privacy_of_claim", **fields: object) -> Assessment:
    power = {"points": 1} if kind == "ok" else None
    finding = Finding(FindingKind(kind), ODD, claimed=1.0, certified=2.5, power=power)
    return Assessment("lib", "1.0", f"{kind} of {ODD}", law, finding, **fields)  # type: ignore[arg-type]


RUN = [
    line("ok"),
    line("not applicable"),
    line("violation", as_expected=False),
    line("wrong answer", "rejects_invalid_calls", expected="known (-)", severity="negligible"),
    line("error", as_expected=False),
]


def rendered(form: Format, runs: Sequence[Sequence[Assessment]] = (RUN,)) -> str:
    return render(form, runs, "privacy/adapter.py", [1.5] * len(runs))


def test_annotations_are_one_line_each_with_escaped_properties() -> None:
    lines = rendered("github").split("\n")
    assert len(lines) == 3
    assert [text.split(" ")[0] for text in lines] == ["::error", "::notice", "::error"]
    properties, message = lines[0].removeprefix("::error ").split("::", 1)
    assert properties.split(",")[0] == "file=privacy/adapter.py"
    assert properties.count(",") == 1
    assert ":" not in properties
    assert message.startswith("100 %25 <b>|`sure`, ok: yes%0Aand")


def test_what_was_not_run_is_told_once_and_passes_nowhere() -> None:
    run = [*RUN, *[line("not run", law) for law in ("privacy_of_claim", "coordinates")]]
    (notice,) = [text for text in rendered("github", [run]).split("\n") if "not run" in text]
    assert notice.endswith("::2 checks, because of the time limit")
    (suite,) = ET.fromstring(rendered("junit", [run]))  # noqa: S314  # our own text
    assert [[element.tag for element in case] for case in suite][-2:] == [["skipped"], ["skipped"]]
    assert len(json.loads(rendered("sarif", [run]))["runs"][0]["results"]) == 3
    assert "2 not run" in rendered("markdown", [run])
    assert "coordinates" not in rendered("markdown", [run])


def test_sarif_has_a_result_for_each_finding_and_suppresses_the_expected() -> None:
    log = json.loads(rendered("sarif", [RUN, RUN]))
    assert log["version"] == "2.1.0"
    assert len(log["runs"]) == 2
    (run, _) = log["runs"]
    rules = {rule["id"]: rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert rules["rejects_invalid_calls"] == "Every invalid call raises."
    results = run["results"]
    assert [result["level"] for result in results] == ["error", "warning", "error"]
    assert [len(result.get("suppressions", ())) for result in results] == [0, 1, 0]
    assert all(result["ruleId"] in rules for result in results)
    assert len({result["partialFingerprints"]["dpassay/v1"] for result in results}) == 3
    place = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "privacy/adapter.py"}
    assert results[0]["properties"]["certified"] == 2.5


def test_junit_is_xml_with_the_counts_of_its_cases() -> None:
    (suite,) = ET.fromstring(rendered("junit"))  # noqa: S314  # our own text
    assert suite.attrib | {"name": ""} == {
        "name": "", "tests": "4", "failures": "1", "errors": "1", "skipped": "1", "time": "1.500",
    }  # fmt: skip
    assert [[element.tag for element in case] for case in suite] == [[], ["failure"], ["skipped"], ["error"]]
    failure = suite[1][0]
    assert failure.attrib["type"] == "violation"
    assert failure.text is not None
    assert failure.text.startswith("100 % <b>|`sure`, ok: yes\nand\N{REPLACEMENT CHARACTER}more")


def test_markdown_is_a_table_whose_cells_no_text_breaks() -> None:
    text = rendered("markdown")
    rows = [row for row in text.split("\n") if row.startswith("| ")]
    assert len(rows) == 4
    assert all(row.replace("\\|", "").count("|") == 6 for row in rows)
    assert "**violation**" in rows[1]
    assert "1 violation, 1 wrong answer" in text


PAIR = {"left": [1.0], "right": [2.0], "event": "outcome > 1.5", "p_left": [0.1, 0.2], "p_right": [0.5, 0.625]}
SHOWN = [
    "  left   [1.0]",
    "  right  [2.0]",
    "  event  outcome > 1.5",
    "  Pr[event | left] in [0.1, 0.2], Pr[event | right] in [0.5, 0.625]",
]


def sampled(**fields: object) -> Assessment:
    """Return a violation with two inputs and an event."""
    found = line("violation", **fields)  # type: ignore[arg-type]
    return replace(found, finding=replace(found.finding, witness=dict(PAIR)))


def test_an_unexpected_violation_shows_its_inputs_and_its_event() -> None:
    run = [sampled(as_expected=False)]
    (text,) = shown_witnesses(run)
    assert text.split("\n")[-4:] == SHOWN
    assert rendered("github", [run]).endswith("%0A".join(["", *SHOWN]).replace("\n", "%0A"))
    lines = rendered("markdown", [run]).split("\n")
    start = lines.index(SHOWN[0])
    assert lines[start : start + 5] == [*SHOWN, "```" + "`" * (lines[start + 4].count("`") - 3)]


def test_an_expected_violation_does_not() -> None:
    run = [sampled(expected="known")]
    assert shown_witnesses(run) == []
    assert all(SHOWN[0] not in rendered(form, [run]) for form in ("github", "markdown"))


def test_inputs_that_codes_stand_for_are_shown_as_the_target_received_them() -> None:
    run = sampled(as_expected=False)
    told = replace(run, finding=replace(run.finding, witness={**PAIR, "inputs": ["{'a': 1}", "{}"]}))
    assert "  left   {'a': 1}\n  right  {}\n" in shown_witnesses([told])[0]


@pytest.mark.parametrize("form", FORMATS)
def test_a_run_without_findings_is_a_report_too(form: Format) -> None:
    text = rendered(form, [[line("ok")]])
    assert "violation" not in text
    if form == "junit":
        ET.fromstring(text)  # noqa: S314  # our own text
    if form == "sarif":
        assert json.loads(text)["runs"][0]["results"] == []
