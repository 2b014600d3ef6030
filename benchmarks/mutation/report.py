"""The table of a run: kill rates with confidence intervals, survivors by class."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from scipy.stats import binomtest

from benchmarks.mutation.records import Record
from benchmarks.mutation.sorting import EQUIVALENT, Sorted
from benchmarks.results import markdown_table

__all__ = ["Rate", "by_folder", "rate_of", "rates_line", "section", "survivor_lines"]

UNSORTED = "not sorted yet"
LEVEL = 0.95


@dataclass(frozen=True)
class Rate:
    """Mutants that are not equivalent, and how many of them were killed."""

    killed: int
    total: int

    def __str__(self) -> str:
        """Return the rate and its Clopper-Pearson interval."""
        if not self.total:
            return "-"
        interval = binomtest(self.killed, self.total).proportion_ci(LEVEL, method="exact")
        return f"{self.killed / self.total:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def kind_of(record: Record, sorting: Mapping[str, Sorted]) -> str:
    """Return ``killed``, the class of a survivor, or that it has none yet."""
    if not record.alive:
        return "killed"
    return sorting[record.key].kind if record.key in sorting else UNSORTED


def rate_of(records: Iterable[Record], sorting: Mapping[str, Sorted]) -> Rate:
    """Return the rate among the mutants that are not equivalent; one that is not sorted counts as such."""
    kinds = [kind for record in records if (kind := kind_of(record, sorting)) not in EQUIVALENT]
    return Rate(kinds.count("killed"), len(kinds))


def by_folder(record: Record) -> str:
    """Group by the folder of the file."""
    return PurePosixPath(record.path).parent.as_posix()


def rates_line(records: Sequence[Record], first: Sequence[Record], sorting: Mapping[str, Sorted]) -> str:
    """Return the kill rate at the last trial of each mutant and at the first one, in words."""
    hung = sum(record.status == "hung" for record in records)
    limited = sum(record.status == "open" for record in records)
    return (
        f"{len(records)} mutants of `spec` and `impl`, drawn at random, one expression each. Rates are of the mutants "
        "that are not equivalent, with Clopper-Pearson intervals at 95 %; an unsorted survivor counts as not "
        f"equivalent. At the first trial {rate_of(first, sorting)} were killed, at the last "
        f"{rate_of(records, sorting)}. A mutant whose check takes five times as long, and five seconds, counts as "
        f"killed ({hung}); {limited} survivors met only the checks that a limit of CPU time allowed."
    )


def section(records: Sequence[Record], sorting: Mapping[str, Sorted]) -> str:
    """Return the tables by folder and by operator, and the survivors that are not equivalent."""
    tables = [
        markdown_table([title, "mutants", "killed", "equivalent", "weaker", "unsafe", UNSORTED, "kill rate"], rows)
        for title, rows in (
            ("folder", _rows(records, sorting, by_folder)),
            ("operator", _rows(records, sorting, lambda record: record.operator)),
        )
    ]
    return "\n\n".join([*tables, "Survivors that are not equivalent:", *survivor_lines(records, sorting)])


def _rows(records: Sequence[Record], sorting: Mapping[str, Sorted], group: Callable[[Record], str]) -> list[list[str]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[group(record)].append(record)
    return [_row("all", records, sorting), *(_row(name, groups[name], sorting) for name in sorted(groups))]


def _row(name: str, records: Sequence[Record], sorting: Mapping[str, Sorted]) -> list[str]:
    counts = Counter(kind_of(record, sorting) for record in records)
    equivalent = sum(counts[kind] for kind in EQUIVALENT)
    cells = [len(records), counts["killed"], equivalent, counts["weaker"], counts["unsafe"], counts[UNSORTED]]
    return [name, *map(str, cells), str(rate_of(records, sorting))]


def survivor_lines(records: Iterable[Record], sorting: Mapping[str, Sorted]) -> list[str]:
    """Return an item of a list for each survivor that is not equivalent."""
    lines = []
    for record in sorted(records, key=lambda record: (record.path, record.line)):
        kind = kind_of(record, sorting)
        if kind not in ("killed", *EQUIVALENT):
            change = " ".join(f"`{line}`" for line in record.diff)
            reason = f": {sorting[record.key].reason}" if record.key in sorting else ""
            lines.append(f"- {kind}, `{record.path}:{record.line}` ({record.key}) {change}{reason}")
    return ["\n".join(lines)] if lines else ["none."]
