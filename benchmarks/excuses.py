"""Cases that expected failures excuse, and entries that are wider than needed.

``dpassay assay LIBRARY --json | python -m benchmarks.excuses`` lists, for each entry of the expected failures, the
cases that it covers with what was found there. An entry is too wide if it covers a case whose finding is another:
a fault that appears there later would be excused. Checks that do not apply or are undecided do not count, and entries
that state why the finding is `common` to all of them, or `occasional`, are not too wide.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.impl.libraries.registry import find_library
from dpassay.properties.assay.expected import ExpectedFailure, load_expected

__all__ = ["Excuse", "excuses", "main"]

_OPEN = {"not applicable", "undecided"}


@dataclass(frozen=True)
class Excuse:
    """An entry, the lines that show its finding, and the lines that it covers without it."""

    entry: ExpectedFailure
    shown: tuple[str, ...]
    without: tuple[str, ...]

    def __str__(self) -> str:
        head = f"{self.entry.mechanism!r}, {self.entry.law!r}: {self.entry.finding}"
        return "\n".join([head, *(f"    {name}" for name in self.shown), *(f"  ! {name}" for name in self.without)])


def excuses(records: Sequence[dict[str, Any]], entries: Iterable[ExpectedFailure]) -> list[Excuse]:
    """Return what each entry excuses.

    Parameters
    ----------
    records : sequence of dict
        The lines of a run in JSON.
    entries : iterable of ExpectedFailure
        The expected failures of the version.
    """
    found = []
    for entry in entries:
        covered = [
            record
            for record in records
            if entry.covers(record["mechanism"], record["law"])
            and (record["finding"] not in _OPEN or record["finding"] == entry.finding)
        ]
        shown = [_words(record) for record in covered if record["finding"] == entry.finding]
        without = [_words(record) for record in covered if record["finding"] != entry.finding]
        found.append(Excuse(entry, tuple(shown), tuple(without)))
    return found


def _words(record: dict[str, Any]) -> str:
    return f"{record['mechanism']}, {record['law']}: {record['finding']}"


def main() -> int:
    """Read the lines of a run, print what each entry excuses, and return 1 if one is too wide."""
    records = [json.loads(line) for line in sys.stdin]
    library = find_library(records[0]["library"])
    found = excuses(records, load_expected(library.expected_failures, records[0]["version"]))
    for one in found:
        print(one)
    wide = sum(bool(one.without) and not (one.entry.common or one.entry.occasional) for one in found)
    print(f"{len(found)} entries, {wide} wider than needed")
    return 1 if wide else 0


if __name__ == "__main__":
    sys.exit(main())
