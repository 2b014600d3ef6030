"""What the commands print with ``--json`` is valid against the schemas that `dpassay schema` prints."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from dpassay.claims import PureDP
from dpassay.cli import main
from dpassay.properties.assay.assessment import Assessment
from dpassay.properties.assay.finding import Finding
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.betting.power import power_of
from dpassay.properties.contract import RECORDS, SCHEMA, Record, as_dictionary, json_schemas
from dpassay.properties.notions.base import all_audited
from dpassay.spec.verdict import Evidence, Scope

Capture = pytest.CaptureFixture[str]

TARGET = """
def coin(data, size, rng):
    return [bool(value > data[0]) for value in rng.laplace(size=size)]
def noise(data, size, rng):
    return [float(data[0] + value) for value in rng.normal(size=size)]
def formatted(data, size, rng):
    return [format(data[0] + value, ".0f") for value in rng.laplace(size=size)]
"""

FEW = "pure_dp_of_gaussian_noisy_max"
COMMANDS = {
    "verify": ("StatementRecord", ["verify", "--name", FEW, "--jobs", "1"]),
    "errata": ("ErratumRecord", ["verify", "--name", "approximate_dp_of_individual_svt", "--errata"]),
    "items": ("ItemRecord", ["list"]),
    "mechanisms": ("MechanismRecord", ["list", "--mechanisms"]),
    "a statement": ("ShownStatementRecord", ["show", FEW]),
    "a mechanism": ("ShownMechanismRecord", ["show", "dpassay.impl.mechanisms.laplace:laplace_mechanism"]),
    "holds": ("HuntRecord", ["hunt", "dpassay.impl.mechanisms.laplace:laplace_mechanism"]),
    "violated": ("HuntRecord", ["hunt", "{target}:noise", "--claim", "pure:0.1", "--calls", "4000"]),
    "not refuted": ("HuntRecord", ["hunt", "{target}:coin", "--claim", "pure:2", "--calls", "4000", "--no-trace"]),
    "leaves": ("LeafRecord", ["trace", "{target}:coin", "--data", "0.5"]),
    "no leaves": ("NotTracedRecord", ["trace", "{target}:formatted", "--data", "0.5"]),
    "report": ("ReportRecord", ["report", "--name", FEW, "--jobs", "1", "--output", "{folder}/page.html"]),
}


def validator(kind: str) -> Draft202012Validator:
    schemas = json_schemas()
    definitions = {name: dict(each) for name, each in schemas["$defs"].items()}
    for each in definitions.values():  # nothing that is not in the schema is printed
        if each.get("type") == "object":
            each["additionalProperties"] = False
    return Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": definitions})


@pytest.fixture
def filled(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "contract_target.py"
    path.write_text(TARGET)
    return {"target": str(path), "folder": str(tmp_path)}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_what_the_schema_says(capsys: Capture, filled: dict[str, str], name: str) -> None:
    kind, words = COMMANDS[name]
    words = [word.format(**filled) for word in words]
    if "--claim" in words:
        words += ["--neighbours", "vector:size=1,linf=1", "--call-timeout", "inf"]
    status = main([*words, "--json"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert status in {0, 1}
    assert lines
    for line in lines:
        validator(kind).validate(line)
        assert line["schema"] == SCHEMA == 2


def test_a_traced_pair_is_printed_after_its_leaves(capsys: Capture, filled: dict[str, str]) -> None:
    assert main(["trace", f"{filled['target']}:coin", "--data", "0.5", "--neighbour", "1.5", "--json"]) == 0
    *leaves, pair = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert leaves
    validator("PairRecord").validate(pair)
    for leaf in leaves:
        validator("LeafRecord").validate(leaf)


def finding(**changes: Any) -> Record:
    found = Finding(
        FindingKind.VIOLATION, "it is", "pure:1", 1.0, float("inf"), Evidence.SAMPLED, Scope.SAMPLES, 10,
        {"left": [0.0], "event": "outcome > 0"}, power_of(PureDP(1), calls=100, alpha=1e-6).record(),
    )  # fmt: skip
    return Assessment("library", None, "mechanism", "law", found, **changes).record()


def test_findings_are_what_the_schema_says() -> None:
    for record in (finding(), finding(alpha=1e-8, as_expected=False, expected="known")):
        validator("FindingRecord").validate(json.loads(json.dumps(as_dictionary(record))))
    with pytest.raises(ValidationError):
        validator("FindingRecord").validate(as_dictionary(finding()) | {"x": 1})


def test_the_command_schema_prints_a_schema_of_every_record(capsys: Capture) -> None:
    assert main(["schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    Draft202012Validator.check_schema(printed)
    assert printed == json_schemas()
    assert {kind.__name__ for kind in RECORDS} <= set(printed["$defs"])
    assert printed["$defs"]["HuntRecord"]["properties"]["schema"]["enum"] == [SCHEMA]


def test_every_quantity_of_a_notion_has_a_key() -> None:
    keys = set(json_schemas()["$defs"]["HuntRecord"]["properties"])
    assert {f"{notion.divergence}_lower" for notion in all_audited()} <= keys
