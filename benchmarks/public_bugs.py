"""Public bugs of libraries, each run for real: found, or not and why.

``python -m benchmarks.public_bugs [LIBRARY ...]`` installs each version of ``benchmarks/public_bugs.toml`` and runs
the checks that can show the bug. A bug is found if a check that matches its `mechanism` and `law` has a finding with a
certified fault, expected or not. What cannot be installed, or asked, is reported with the reason.
"""

import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from dpassay.arguments import UsageError
from dpassay.impl.libraries.registry import find_library
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.laws import LAWS
from dpassay.properties.assay.suite import make_plan, run_plan
from dpassay.properties.assay.targets import targets_of

TABLE = Path(__file__).with_suffix(".toml")
_FAULTS = {FindingKind.VIOLATION, FindingKind.UNSOUND_NUMBER, FindingKind.WRONG_ANSWER}
_SECONDS = 60.0
"""Time limit of the checks of one bug."""


@dataclass(frozen=True)
class Bug:
    """A row of the table; without `mechanism` and `law` no check can show the bug, and `why` says why."""

    library: str
    version: str
    issue: str
    what: str
    mechanism: str = ""
    law: str = ""
    why: str = ""


def read() -> list[Bug]:
    """Return the rows of the table."""
    return [Bug(**row) for row in tomllib.loads(TABLE.read_text("utf-8"))["bug"]]


def judge(bug: Bug) -> tuple[str, str]:
    """Return whether a bug is found, and the finding or the reason why not."""
    if bug.why:
        return "not asked", bug.why
    try:
        library = find_library(bug.library)
        (target,) = targets_of(library, (bug.version,), None, lambda words: print(words, file=sys.stderr))
        plan = make_plan(target, LAWS, mechanism=bug.mechanism, law=bug.law)
    except UsageError as error:
        return "not run", str(error)
    undecided = 0
    for result in run_plan(plan, budget=_SECONDS):
        if result.finding.kind in _FAULTS:
            return "found", f"{result.check.mechanism} / {result.check.law.name}: {result.finding.detail}"
        undecided += result.finding.kind is FindingKind.UNDECIDED
    return "missed", f"{undecided} checks undecided" if undecided else "all checks pass"


def main() -> None:
    """Run the bugs of the libraries that are named, or of all, and print a line for each."""
    wanted = set(sys.argv[1:])
    counts: Counter[str] = Counter()
    for bug in read():
        if not wanted or bug.library in wanted:
            outcome, detail = judge(bug)
            counts[outcome] += 1
            print(f"| {bug.library} {bug.version} | {bug.issue} | {outcome} | {bug.what} {detail[:160]} |", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))


if __name__ == "__main__":
    main()
