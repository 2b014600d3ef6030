"""Verification: every statement against adversarial members of its domains, every erratum at its witness.

A statement without quantifiers is a proof and is asked once. One with quantifiers is decided at its examples, and
then at every point of a small finite domain; of a larger one at points that hypothesis draws, climbing towards the
bound where the statement reports a tightness. A violation is shrunk to a minimal point. An undecided point is counted
as such and never as a pass. Points are decided again: a statement that does not repeat its verdict is an error.
"""

import inspect
import itertools
import math
import os
import random
import signal
import threading
import time
import traceback
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings, target
from hypothesis.errors import Flaky
from joblib import Parallel, delayed

from dpassay.arguments import UsageError
from dpassay.properties.contract import ConsequenceRecord, ErratumRecord, StatementRecord
from dpassay.properties.records import plain
from dpassay.properties.strategies import all_points, quantifier_strategies
from dpassay.spec.ball import ATTAINED
from dpassay.spec.statement import Erratum, Fault, Statement, faults, find_statement, load_statements
from dpassay.spec.verdict import Evidence, Outcome, Scope, Verdict

__all__ = ["ErratumReport", "Profile", "StatementReport", "verify", "verify_errata", "verify_statement"]

Profile = Literal["quick", "thorough"]


THOROUGH_FACTOR = 10
"""Cases of the thorough profile for each case of the quick one."""

EXHAUSTIVE_FACTOR = 10
"""A domain with at most this many points for each case is decided at all of them."""

_REMEMBERED = 50
"""Points that may be decided again."""

_REPEATING_SECONDS = 0.02
"""Time for which points are decided again; one is decided again in any case."""


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
    exhausted: bool = False
    slack: Fraction = Fraction(0)

    @property
    def allowance(self) -> str:
        """The relative slack of the comparisons, where it is more than that of an attained bound; else empty."""
        return f"slack {float(self.slack):.6g}" if self.slack > ATTAINED else ""

    @property
    def as_expected(self) -> bool:
        """Return whether the corrected form holds, without an undecided case."""
        return self.outcome is Outcome.HOLDS and self.undecided == 0

    @property
    def reach(self) -> str:
        """The scope, with the number of prose steps (`all` alone has none), and whether these are all points."""
        words = [str(self.scope)]
        if self.exhausted:
            words.append("the whole domain")
        if self.prose_steps:
            words.append(f"{self.prose_steps} prose step{'s' if self.prose_steps > 1 else ''}")
        return ", ".join(words)

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
    seen: list[tuple[Mapping[str, Any], Verdict]] = field(default_factory=list)
    exhausted: bool = False
    slack: Fraction = Fraction(0)

    def decide(self, statement: Statement, values: Mapping[str, Any]) -> Verdict:
        """Decide one point, and remember it if it is among the first, or a violation."""
        verdict = statement(**values)
        self.add(verdict, values)
        if verdict.outcome is Outcome.VIOLATED or len(self.seen) < _REMEMBERED:
            self.seen.append((values, verdict))
        return verdict

    def add(self, verdict: Verdict, values: Mapping[str, Any]) -> None:
        self.cases += 1
        self.evidence = min(self.evidence, verdict.evidence)
        self.scope = min(self.scope, verdict.scope)
        self.prose_steps = max(self.prose_steps, verdict.prose_steps)
        self.slack = max(self.slack, verdict.slack)
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
            tally.decide(statement, example)
        for pin in statement.pins:
            tally.add(pin.check(statement), pin.at)
        if tally.violation is None:
            cases = statement.cases * (THOROUGH_FACTOR if profile == "thorough" else 1)
            points = all_points(statement, cases * EXHAUSTIVE_FACTOR)
            if points is None:
                _attack(statement, tally, cases, seed_value)
            else:
                _exhaust(statement, tally, points)
        _require_repeatable(statement, tally)
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
        exhausted=tally.exhausted,
        slack=tally.slack,
    )


def _exhaust(statement: Statement, tally: _Tally, points: Sequence[Mapping[str, Any]]) -> None:
    """Decide all points, up to the first violation: the points are in order, so that it is the simplest one."""
    for values in points:
        try:
            verdict = tally.decide(statement, values)
        except Exception as error:
            error.add_note(f"at {plain(values)}")
            raise
        if verdict.outcome is Outcome.VIOLATED:
            return
    tally.exhausted = True


def _require_repeatable(statement: Statement, tally: _Tally) -> None:
    """Decide remembered points again, the last ones first (a violation is the last), and require the same verdicts.

    Generators that code shares start elsewhere: a statement that draws from them, unseeded, is seen at once.

    Raises
    ------
    UsageError
        If a verdict differs, or depends on a shared generator of random numbers.
    """
    start = time.perf_counter()
    for values, verdict in itertools.cycle(reversed(tally.seen)):
        again, states = _decide_elsewhere(statement, values, seed_value=1)
        if states and states & _decide_elsewhere(statement, values, seed_value=2)[1] != states:
            raise UsageError(
                f"statement {statement.name} must be deterministic, but draws from the generator that `random` or "
                f"`numpy.random` shares, at {plain(values)}; accepted is a generator with a fixed seed"
            )
        if _compared(again) != _compared(verdict):
            raise UsageError(
                f"statement {statement.name} must be deterministic, but at {plain(values)} its verdict was "
                f"{_in_words(verdict)}, and decided again {_in_words(again)}"
            )
        if time.perf_counter() - start > _REPEATING_SECONDS:
            return


def _decide_elsewhere(
    statement: Statement, values: Mapping[str, Any], seed_value: int
) -> tuple[Verdict, set[Hashable]]:
    """Decide a point with the shared generators at a seed; return the states of those that the code moved."""
    saved = random.getstate(), np.random.get_state()  # noqa: NPY002  # the generators that a statement may not use
    try:
        random.seed(seed_value)
        np.random.seed(seed_value)  # noqa: NPY002
        before = _shared_states()
        verdict = statement(**values)
        after = _shared_states()
    finally:
        random.setstate(saved[0])
        np.random.set_state(saved[1])  # noqa: NPY002
    return verdict, after - before


def _shared_states() -> set[Hashable]:
    _, key, *rest = np.random.get_state()  # noqa: NPY002
    return {("random", random.getstate()), ("numpy", np.asarray(key).tobytes(), tuple(rest))}


def _compared(verdict: Verdict) -> tuple[object, ...]:
    return verdict.outcome, verdict.evidence, verdict.scope, repr(verdict.tightness), verdict.detail


def _in_words(verdict: Verdict) -> str:
    said = f"{verdict.outcome} ({verdict.evidence}" + (
        f", tightness {verdict.tightness!r}" if verdict.tightness else ""
    )
    return f"{said}){f': {verdict.detail}' if verdict.detail else ''}"


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
        verdict = tally.decide(statement, values)
        if verdict.tightness is not None and 0 < verdict.tightness < math.inf:
            target(-math.log(verdict.tightness))
        if verdict.outcome is Outcome.VIOLATED:
            raise _RefutedError

    try:
        attack()
    except _RefutedError:  # the tally holds the shrunk point: hypothesis runs it last
        return
    except Flaky:
        raise UsageError(
            f"statement {statement.name} must be deterministic, but was violated and did not repeat that"
        ) from None


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
