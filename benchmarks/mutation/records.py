"""Results of trials, a line of JSON each, so that a run can be resumed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.mutation.schedule import Trial

__all__ = ["ALIVE", "Record", "append", "read"]

ALIVE = ("survived", "unreached", "open")


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

    @property
    def alive(self) -> bool:
        """Whether no check failed."""
        return self.status in ALIVE


def append(path: Path, record: Record) -> None:
    """Add a record to the file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(record)) + "\n")


def read(path: Path, *, first: bool = False) -> Mapping[str, Record]:
    """Return the last record of each mutant by its key, or the first one."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    records = [Record(**json.loads(line)) for line in lines]
    return {record.key: record for record in (reversed(records) if first else records)}
