"""The records that the commands print with ``--json``: one class for each kind, and their JSON Schemas.

The same classes write the records, read saved ones (`dpassay.properties.report.lines`) and give the schemas of
``dpassay schema``, so that none of the three can differ from the others. Further fields are ignored on reading: a
newer version may have them.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from dpassay.properties.assay.kinds import FindingKind, FindingSeverity
from dpassay.properties.hunting.verdicts import HuntVerdict, StopReason
from dpassay.spec.statement import ErratumClass, Severity
from dpassay.spec.verdict import Evidence, Outcome, Scope

__all__ = [
    "LARGEST",
    "RECORDS",
    "SCHEMA",
    "BoundRecord",
    "CheckRecord",
    "ConsequenceRecord",
    "CoverageKind",
    "ErratumRecord",
    "ExperimentRecord",
    "FindingRecord",
    "Float64Record",
    "FunctionRecord",
    "HuntRecord",
    "ItemRecord",
    "LeafRecord",
    "MechanismRecord",
    "NotTracedRecord",
    "PairRecord",
    "Record",
    "ReportRecord",
    "ShownMechanismRecord",
    "ShownStatementRecord",
    "StatementRecord",
    "WitnessRecord",
    "as_dictionary",
    "json_schemas",
]

SCHEMA: Literal[2] = 2
"""Version of the records."""

LARGEST = 1e300
"""No command prints a larger number, and float64 may not represent it."""

Finite = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Number = Finite | Literal["inf", "-inf"] | None
"""A number of a record: infinity is a string, an unknown number null."""
Count = Annotated[int, Meta(ge=0)]
Object = dict[str, Any]


class Record(Struct, kw_only=True, frozen=True):
    """Common part of all records.

    Parameters
    ----------
    schema : int
        `SCHEMA`.
    """

    schema: Literal[2] = SCHEMA


class StatementRecord(Record, kw_only=True, frozen=True):
    """A verified statement."""

    statement: str
    source: str
    item: str
    kind: str
    verdict: Outcome
    evidence: Evidence
    scope: Scope
    prose_steps: Count = 0
    cases: Count
    undecided: Count
    tightness: Number
    seconds: Number
    witness: Object | None = None
    detail: str | None = None
    as_expected: bool


class ShownStatementRecord(Record, kw_only=True, frozen=True):
    """A statement in words, with its errata, its proof and a verification."""

    statement: str
    sentence: str
    quantifiers: list[str]
    items: list[str]
    where: str
    source: str
    verdict: Outcome
    evidence: Evidence
    scope: Scope
    prose_steps: Count = 0
    proof: list[str] = field(default_factory=list)
    cases: Count
    undecided: Count
    tightness: Number
    argument: str | None = None
    errata: list[str] = field(default_factory=list)


class ConsequenceRecord(Struct, kw_only=True, frozen=True):
    """A consequence of an erratum: the fields in which it differs from the erratum."""

    erratum_of: str | None = None
    item: str
    erratum_class: ErratumClass | None = field(name="class", default=None)
    location: str | None = None
    printed: Outcome | None = None
    corrected: Outcome | None = None
    witness: Object | None = None
    text: str
    detail: str | None = None


class ErratumRecord(Record, kw_only=True, frozen=True):
    """An erratum, evaluated at its witness."""

    erratum_of: str
    source: str
    item: str
    erratum_class: ErratumClass = field(name="class")
    severity: Severity | None = None
    location: str | None = None
    printed: Outcome
    corrected: Outcome
    witness: Object | None
    evidence: Evidence
    text: str | None = None
    answer: str | None = None
    detail: str | None = None
    consequences: list[ConsequenceRecord] = field(default_factory=list)
    as_expected: bool


class BoundRecord(Struct, kw_only=True, frozen=True):
    """The bounds of one quantity of a claim."""

    quantity: str
    lower: Number
    upper: Number
    allowed: Number
    label: str


class WitnessRecord(Struct, kw_only=True, frozen=True):
    """Two neighbouring inputs and an event on which they differ too much."""

    left: list[Number]
    right: list[Number]
    event: str
    p_left: tuple[Number, Number]
    p_right: tuple[Number, Number]
    certified: bool = False
    snippet: str | None = None
    inputs: tuple[str, str] | None = None
    is_described: bool = False


class Float64Record(Struct, kw_only=True, frozen=True):
    """The verdict on the low-order bits of floats, and on inputs at which rounding is visible."""

    verdict: HuntVerdict
    epsilon_lower: Number
    evidence: Evidence
    calls: Count
    witness: WitnessRecord | None
    is_same: bool = False


class HuntRecord(Record, kw_only=True, frozen=True):
    """The result of a hunt; ``<quantity>_lower`` repeats the lower bound of a quantity in `bounds`."""

    target: str
    claim: str
    verdict: HuntVerdict
    bounds: list[BoundRecord] = field(default_factory=list)
    evidence: Evidence
    scope: Scope
    alpha: Number
    e_value_log10: Number
    calls: Count
    seconds: Number
    cpu_seconds: Number = None
    witness: WitnessRecord | None
    seed: Count | None = None
    replay: str
    stopped: StopReason | None = None
    notes: list[str] = field(default_factory=list)
    power: Object | None = None
    shrink_calls: Count = 0
    confirm_calls: Count = 0
    neighbours: str | None = None
    also_refutes: list[str] = field(default_factory=list)
    epsilon_lower: Number
    delta_lower: Number
    rho_lower: Number
    renyi_epsilon_lower: Number = None
    mu_lower: Number = None
    excess_lower: Number = None
    loss_tail_lower: Number = None
    epsilon_upper: Number = None
    traced: bool = False
    not_traced: str | None = None
    certificate: Object | None = None
    float64: Float64Record | None = None
    session: Count = 1


class CheckRecord(Record, kw_only=True, frozen=True):
    """The check of a certificate."""

    valid: bool
    faults: list[str]
    target: str | None = None
    claim: str | None = None
    neighbours: str | None = None
    epsilon: str | None = None
    delta: str | None = None


class FindingRecord(Record, kw_only=True, frozen=True):
    """The finding of one law about one case of a library."""

    library: str
    version: str | None
    mechanism: str
    law: str
    claim: str | None
    finding: FindingKind
    severity: FindingSeverity | None = None
    claimed: Number
    certified: Number
    evidence: Evidence | None
    scope: Scope | None
    alpha: Number
    calls: Count
    seconds: Number
    witness: Object | None
    expected: str | None
    as_expected: bool
    power: Object | None = None
    detail: str | None = None


class FunctionRecord(Record, kw_only=True, frozen=True):
    """A public function or class of a library, and the cases that ask it."""

    library: str
    version: str | None
    function: str
    kind: Literal["function", "class"]
    cases: list[str]


class CoverageKind(StrEnum):
    """The kind of the main object that covers an item, or `NONE`."""

    STATEMENT = "statement"
    NOTION = "notion"
    MECHANISM = "mechanism"
    EXPERIMENT = "experiment"
    NONE = "none"


class ItemRecord(Record, kw_only=True, frozen=True):
    """An item of a document and its coverage."""

    source: str
    item: str
    name: str
    kind: str
    covered_by: CoverageKind
    where: list[str]
    reason: str | None


class MechanismRecord(Record, kw_only=True, frozen=True):
    """A mechanism of the catalogue."""

    where: str
    claims: list[str]
    neighbours: str
    exact_distribution: bool
    broken: bool
    fault: str | None
    caught_by: list[str]
    sources: list[str]
    items: list[tuple[str, str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


class ShownMechanismRecord(MechanismRecord, kw_only=True, frozen=True):
    """A mechanism as `show` prints it: described, with its code and the largest loss that a search finds.

    The figures are null where the exact distribution is not known. `epsilon_lower` is certified at `witness`, whose
    event has probabilities on the two inputs with a ratio within `ratio`; `epsilon_upper` is that of a worst-pair
    theorem.
    """

    description: str
    reference: str | None = None
    epsilon_lower: Number = None
    epsilon_upper: Number = None
    ratio: tuple[Number, Number] | None = None
    witness: WitnessRecord | None = None
    code: str = ""


class LeafRecord(Record, kw_only=True, frozen=True):
    """A leaf of a traced mechanism."""

    target: str
    traced: Literal[True] = True
    leaf: Count
    decisions: list[str]
    choices: list[str]
    weight: str
    outcome: str
    probability: tuple[Finite, Finite] | None


class PairRecord(Record, kw_only=True, frozen=True):
    """The certified bounds on epsilon of a pair of inputs, for the worse order of them."""

    target: str
    pair: Literal[True] = True
    epsilon_lower: Number
    epsilon_upper: Number


class NotTracedRecord(Record, kw_only=True, frozen=True):
    """A mechanism that could not be traced, and the operation that has no exact counterpart."""

    target: str
    traced: Literal[False] = False
    not_traced: str


class ExperimentRecord(Record, kw_only=True, frozen=True):
    """An experiment: one that can be run, or the files that a run wrote; `trials` is null for those of the paper."""

    experiment: str
    summary: str
    seed: Count | None = None
    trials: Count | None = None
    files: list[str] = field(default_factory=list)


class ReportRecord(Record, kw_only=True, frozen=True):
    """The counts of a report: records of each kind and unexpected ones."""

    report: str
    statements: Count
    errata: Count
    hunts: Count
    findings: Count
    items: Count
    mechanisms: Count
    not_run: Count
    unexpected: Count
    interrupted: bool
    as_expected: bool


RECORDS: tuple[type[Record], ...] = (
    StatementRecord,
    ErratumRecord,
    ShownStatementRecord,
    ItemRecord,
    MechanismRecord,
    ShownMechanismRecord,
    HuntRecord,
    CheckRecord,
    FindingRecord,
    FunctionRecord,
    LeafRecord,
    PairRecord,
    NotTracedRecord,
    ReportRecord,
    ExperimentRecord,
)
"""The records that the commands print."""


def as_dictionary(record: Struct) -> dict[str, Any]:
    """Return a record as dictionaries, lists, strings, numbers and None."""
    plain: dict[str, Any] = msgspec.to_builtins(record)
    return plain


def json_schemas() -> dict[str, Any]:
    """Return the JSON Schema of every record: any line that a command prints is valid against it.

    Returns
    -------
    dict
        A schema of draft 2020-12; ``$defs`` has the schema of each kind of record by name.
    """
    schemas, definitions = msgspec.json.schema_components(RECORDS, ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "records of dpassay",
        "anyOf": list(schemas),
        "$defs": definitions,
    }
