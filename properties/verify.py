"""Verification: every statement against adversarial members of its domains, every erratum at its witness.

A statement without quantifiers is a proof and is asked once. One with quantifiers is decided at its examples
and at points that hypothesis draws, climbing towards the bound where the statement reports a tightness; a
violation is shrunk to a minimal point. An undecided point is counted as such and never as a pass.
"""

import inspect
import math
import os
import signal
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hypothesis import HealthCheck, Phase, given, seed, settings, target
from joblib import Parallel, delayed

from dpassay.claims import UsageError
from dpassay.properties.contract import ConsequenceRecord, ErratumRecord, StatementRecord
from dpassay.properties.records import plain
from dpassay.properties.strategies import quantifier_strategies
from dpassay.spec.statement import Erratum, Fault, Statement, faults, find_statement, load_statements
from dpassay.spec.verdict import Evidence, Outcome, Scope, Verdict

__all__ = ["ErratumReport", "Profile", "StatementReport", "verify", "verify_errata", "verify_statement"]

Profile = Literal["quick", "thorough"]


THOROUGH_FACTOR = 10
"""Cases of the thorough profile for each case of the quick one."""


@dataclass(frozen=True)
class StatementReport:
    """Result for one statement."""

    statement: Statement
    outcome: Outcome
    evidence: Evidence
    scope: Scope
    cases: int
    undecided: int
    tightness: float | None
    seconds: float
    witness: Mapping[str, Any]
    detail: str
    prose_steps: int

    @property
    def as_expected(self) -> bool:
        """Return whether the corrected form holds, without an undecided case."""
        return self.outcome is Outcome.HOLDS and self.undecided == 0

    @property
    def reach(self) -> str:
        """The scope, qualified by the number of prose steps where there are any: `all` alone needs none."""
        if not self.prose_steps:
            return self.scope
        return f"{self.scope}, {self.prose_steps} prose step{'s' if self.prose_steps > 1 else ''}"

    def record(self) -> StatementRecord:
        """Return the record of the result."""
        return StatementRecord(
            statement=self.statement.name,
            source=self.statement.source.key,
            item=self.statement.item.item,
            kind=self.statement.item.kind,
            verdict=self.outcome,
            evidence=self.evidence,
            scope=self.scope,
            prose_steps=self.prose_steps,
            cases=self.cases,
            undecided=self.undecided,
            tightness=plain(self.tightness),
            seconds=round(self.seconds, 3),
            witness=plain(self.witness) if self.outcome is Outcome.VIOLATED else None,
            detail=self.detail or None,
            as_expected=self.as_expected,
        )


@dataclass(frozen=True)
class ErratumReport:
    """Result for one erratum: the published and the corrected claim at the witness, and its consequences."""

    statement: Statement
    erratum: Erratum
    printed: Verdict
    corrected: Verdict
    figures: Verdict
    consequences: tuple["ErratumReport", ...] = ()

    @property
    def as_expected(self) -> bool:
        """Return whether the published claim fails (a loose one: is merely weaker) where the correction stands.

        Both must give the figures that the erratum states. The same is asked of all consequences.
        """
        printed = Outcome.HOLDS if self.erratum.kind == "loose" else Outcome.VIOLATED
        as_expected = self.printed.outcome is printed and self.corrected.outcome is Outcome.HOLDS
        as_expected = as_expected and self.figures.outcome is Outcome.HOLDS
        return as_expected and all(report.as_expected for report in self.consequences)

    def record(self) -> ErratumRecord:
        """Return the record of the result."""
        return ErratumRecord(
            erratum_of=self.statement.name,
            source=self.statement.source.key,
            item=self.item,
            erratum_class=self.erratum.kind,
            severity=self.erratum.severity,
            location=self.erratum.location,
            printed=self.printed.outcome,
            corrected=self.corrected.outcome,
            witness=plain(self.erratum.witness),
            evidence=min(self.printed.evidence, self.corrected.evidence),
            text=self.erratum.printed_text,
            answer=self.erratum.answer,
            detail=self.printed.detail if self.figures.outcome is Outcome.HOLDS else self.figures.detail,
            consequences=[report.as_consequence() for report in self.consequences],
            as_expected=self.as_expected,
        )

    def as_consequence(self) -> ConsequenceRecord:
        """Return the part of the record that differs from that of the erratum of which this is a consequence."""
        record = self.record()
        return ConsequenceRecord(**{name: getattr(record, name) for name in ConsequenceRecord.__struct_fields__})

    @property
    def item(self) -> str:
        """The label of the item that has the erratum."""
        rows = {row.name: row.item for row in (*self.statement.items, *self.statement.also)}
        return rows[self.erratum.item] if self.erratum.item else self.statement.item.item


@dataclass
class _Tally:
    """Verdicts of one statement, as they come in."""

    cases: int = 0
    undecided: int = 0
    evidence: Evidence = Evidence.SYMBOLIC
    scope: Scope = Scope.ALL
    tightness: float | None = None
    violation: tuple[Verdict, Mapping[str, Any]] | None = None
    open_case: str = ""
    details: list[str] = field(default_factory=list)
    prose_steps: int = 0

    def add(self, verdict: Verdict, values: Mapping[str, Any]) -> None:
        self.cases += 1
        self.evidence = min(self.evidence, verdict.evidence)
        self.scope = min(self.scope, verdict.scope)
        self.prose_steps = max(self.prose_steps, verdict.prose_steps)
        if verdict.outcome is Outcome.VIOLATED:
            self.violation = verdict, values
        elif verdict.outcome is Outcome.UNDECIDED:
            self.undecided += 1
            self.open_case = f"{verdict.detail} at {plain(values)}"
        if verdict.tightness is not None:
            self.tightness = min(self.tightness or math.inf, verdict.tightness)
        if verdict.detail and not values:
            self.details.append(verdict.detail)

    @property
    def outcome(self) -> Outcome:
        if self.violation is not None:
            return Outcome.VIOLATED
        return Outcome.UNDECIDED if self.undecided else Outcome.HOLDS


class _RefutedError(Exception):
    """Tells hypothesis that a point violates the statement, so that it shrinks it."""


def verify_statement(statement: Statement, profile: Profile = "quick", seed_value: int = 0) -> StatementReport:
    """Decide one statement: at once if it is a proof, at its examples and at drawn points otherwise."""
    start = time.perf_counter()
    tally = _Tally()
    if not statement.quantifiers:
        verdict = statement()
        tally.add(verdict, verdict.witness if verdict.outcome is Outcome.VIOLATED else {})
    else:
        for example in statement.examples:
            tally.add(statement(**example), example)
        for pin in statement.pins:
            tally.add(pin.check(statement), pin.at)
        if tally.violation is None:
            _attack(statement, tally, statement.cases * (THOROUGH_FACTOR if profile == "thorough" else 1), seed_value)
        widest = Scope.SAMPLES if tally.evidence is Evidence.SAMPLED else Scope.POINTS
        tally.scope = min(tally.scope, widest)
    violated, witness = tally.violation or (None, {})
    return StatementReport(
        statement=statement,
        outcome=tally.outcome,
        evidence=tally.evidence,
        scope=tally.scope,
        cases=tally.cases,
        undecided=tally.undecided,
        tightness=tally.tightness,
        seconds=time.perf_counter() - start,
        witness=witness,
        detail=violated.detail if violated is not None else tally.open_case or "; ".join(tally.details),
        prose_steps=tally.prose_steps,
    )


def _attack(statement: Statement, tally: _Tally, cases: int, seed_value: int) -> None:
    @seed(seed_value)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.target, Phase.shrink),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(**quantifier_strategies(statement))
    def attack(**values: Any) -> None:
        verdict = statement(**values)
        tally.add(verdict, values)
        if verdict.tightness is not None and 0 < verdict.tightness < math.inf:
            target(-math.log(verdict.tightness))
        if verdict.outcome is Outcome.VIOLATED:
            raise _RefutedError

    try:
        attack()
    except _RefutedError:  # the tally holds the shrunk point: hypothesis runs it last
        return


def verify(
    statements: Iterable[Statement],
    profile: Profile = "quick",
    seed_value: int = 0,
    *,
    jobs: int = -1,
    places: tuple[str, ...] = (),
) -> Iterable[StatementReport]:
    """Verify statements in parallel; reports come in the order of the statements.

    The result does not depend on the number of jobs: every statement is seeded by itself.

    Parameters
    ----------
    statements : iterable of Statement
        Of this package, or of the modules in `places`.
    profile : {"quick", "thorough"}
        Number of cases per statement.
    seed_value : int
        Seed of the cases.
    jobs : int
        Number of worker processes, -1 for one per core.
    places : tuple of str
        Modules, packages or files of others that a worker imports first, as for `load_statements`.
    """
    own = os.getpid()
    work = [delayed(_verify_by_name)(statement.name, profile, seed_value, own, places) for statement in statements]
    for fields in Parallel(n_jobs=jobs, return_as="generator")(work):
        name, report = fields
        yield StatementReport(statement=find_statement(name), **report)


def _verify_by_name(
    name: str, profile: Profile, seed_value: int, parent: int, places: tuple[str, ...]
) -> tuple[str, dict[str, Any]]:
    # Statements are found by name in the worker: claims are functions of modules and need not travel.
    with _interruptions_left_to(parent):
        for place in places:
            load_statements(place)
        statement = find_statement(name)
        try:
            report = verify_statement(statement, profile, seed_value)
        except UsageError:
            raise
        except Exception as error:  # whatever the code of a statement raises
            raise UsageError(_complaint(statement, error)) from error
    return name, {key: value for key, value in vars(report).items() if key != "statement"}


def _complaint(statement: Statement, error: Exception) -> str:
    """Return the exception of a statement in one line, with the line of the statement's own file."""
    code = inspect.unwrap(statement.claim).__code__
    frames = traceback.extract_tb(error.__traceback__)
    frame = next((one for one in reversed(frames) if one.filename == code.co_filename), frames[-1])
    at = " ".join(note.replace("\n", " ") for note in getattr(error, "__notes__", ()))
    words = f"statement {statement.name} raises {type(error).__name__}: {error} ({frame.filename}:{frame.lineno})"
    return f"{words} {at}".strip()


@contextmanager
def _interruptions_left_to(parent: int) -> Iterator[None]:
    """In a worker, do not hear the keyboard: its parent does, and ends the workers.

    A terminal interrupts all of them, and a worker may be where python can only print that and go on.
    """
    if os.getpid() == parent or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def verify_errata(statements: Iterable[Statement]) -> Iterable[ErratumReport]:
    """Evaluate the errata of the statements, the published and the corrected claim, at their witnesses.

    Consequences are reported with the erratum that is their cause, be it of one of these statements or of another.
    """
    return map(_report_fault, faults(statements))


def _report_fault(fault: Fault) -> ErratumReport:
    consequences = tuple(_report_erratum(statement, erratum) for statement, erratum in fault.consequences)
    return replace(_report_erratum(fault.statement, fault.erratum), consequences=consequences)


def _report_erratum(statement: Statement, erratum: Erratum) -> ErratumReport:
    printed, corrected, figures = erratum.decide()
    return ErratumReport(statement=statement, erratum=erratum, printed=printed, corrected=corrected, figures=figures)
