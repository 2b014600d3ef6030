"""Results of trials, a line of JSON each, so that a run can be resumed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.mutation.schedule import Trial

__all__ = ["ALIVE", "PART", "Record", "append", "read"]

PART = "part"
"""Alive after the first stage: the other checks are due."""
ALIVE = ("survived", "unreached", "open", PART)


@dataclass(frozen=True)
class Record:
    """The result of a mutant, without its source."""

    key: str
    path: str
    line: int
    function: str
    operator: str
    diff: Sequence[str]
    status: str
    killer: str | None
    checks: int
    planned: int
    seconds: float

    @classmethod
    def of(cls, trial: Trial) -> "Record":
        """Make a record of a trial."""
        mutant = trial.mutant
        return cls(
            mutant.key, mutant.path, mutant.line, mutant.function, mutant.operator, mutant.diff,
            trial.status, trial.killer, trial.checks, trial.planned, trial.seconds,
        )  # fmt: skip

    def after(self, before: "Record | None", last: bool) -> "Record":
        """Return the record of this stage and of the one before it, if any."""
        checks = self.checks + (before.checks if before else 0)
        planned = self.planned + (before.planned if before else 0)
        status = self.status
        if self.alive:
            missing = "open" if checks < planned else "survived" if planned else "unreached"
            status = missing if last else PART
        seconds = self.seconds + (before.seconds if before else 0.0)
        return replace(self, status=status, checks=checks, planned=planned, seconds=seconds)

    @property
    def alive(self) -> bool:
        """Whether no check failed."""
        return self.status in ALIVE


def append(path: Path, record: Record) -> None:
    """Add a record to the file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(record)) + "\n")


def read(path: Path, *, first: bool = False) -> Mapping[str, Record]:
    """Return the last record of each mutant by its key, or that of its first complete trial."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    records = [Record(**json.loads(line)) for line in lines]
    if first:
        return {each.key: each for each in reversed(records) if each.status not in ("error", PART)}
    return {each.key: each for each in records}
