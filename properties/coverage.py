"""Coverage: which item of the documents is covered by what.

Everything that covers an item says so itself (statements, notions, mechanisms, experiments); this module
collects. An item that nothing covers needs a reason here, and good reasons are few. An item that is covered in part
has a line here that says which part is not covered, and why.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpassay.impl.catalogue import entries
from dpassay.properties.contract import CoverageKind, ItemRecord
from dpassay.properties.experiments.base import all_experiments
from dpassay.registry import Item
from dpassay.spec.notions.base import all_notions
from dpassay.spec.sources import ItemRow, item_table, items_of
from dpassay.spec.statement import Statement, all_statements

__all__ = ["NOT_COVERED_IN_FULL", "REASONS", "ItemCoverage", "coverage", "coverage_by"]

Places = dict[Item, dict[CoverageKind, list[str]]]
"""For each item and each kind, the addresses of the objects that cover the item."""

NOT_STATED = "no statement covers it"

REASONS: dict[Item, str] = {
    ("lebensold2024", "cross_reference_errors"): "editorial: wrong numbers of sections and theorems, no mathematics",
    ("lebensold2024", "fig_lcl_online"): (
        "the London (LCL) smart-meter data are not shipped; the protocol is the one that `bike-sharing` runs"
    ),
}


NOT_COVERED_IN_FULL: dict[Item, str] = {
    ("lebensold2024", "fig_rnm_utility"): (
        "in part: Figs 9 to 12 show energy use of NEAR and LCL customers, whose data are not shipped; Figs 13 to 16 "
        "are reproduced on the bike rides"
    ),
    ("cesar2020", "fig6_macbeth_counts"): (
        "in part: the word counts of the play are not shipped; a synthetic list of the same range stands for them"
    ),
    ("cesar2020", "fig7_threshold_vs_unklap"): (
        "in part: the Laplace threshold UnkLap belongs to another paper and is not restated; the figure's threshold "
        "is compared with an assumed form of it"
    ),
    ("rogers2023", "reddit_experiment"): (
        "in part: the Reddit comments are not shipped, and the paper's figures for them are not reproduced; its "
        "protocol runs on synthetic counts"
    ),
}
"""Items that are covered in part, with the missing part and the reason."""


@dataclass(frozen=True)
class ItemCoverage:
    """An item and its coverage."""

    row: ItemRow
    covered_by: CoverageKind
    where: tuple[str, ...]
    reason: str | None

    def record(self) -> ItemRecord:
        """Return the record of the item."""
        return ItemRecord(
            source=self.row.source,
            item=self.row.item,
            name=self.row.name,
            kind=self.row.kind,
            covered_by=self.covered_by,
            where=list(self.where),
            reason=self.reason,
        )


def coverage(source: str | None = None) -> Iterator[ItemCoverage]:
    """Yield every item of the documents (of one source, if given) with its coverage."""
    return _coverage(item_table(), _places(), source)


def coverage_by(statements: Sequence[Statement], source: str | None = None) -> Iterator[ItemCoverage]:
    """Yield every item of the documents that these statements cite (of one, if given) with its coverage by them.

    The items are those of the table of a document, or else the labels that its statements have.
    """
    rows: dict[Item, ItemRow] = {}
    for one in statements:
        rows |= items_of(one.source.key) or {row.key: row for row in one.items}
    return _coverage(rows, _places_of(statements), source)


def _coverage(rows: Mapping[Item, ItemRow], places: Places, source: str | None) -> Iterator[ItemCoverage]:
    for key, row in rows.items():
        if source is not None and row.source != source:
            continue
        found = places.get(key, {})
        kind = next((kind for kind in CoverageKind if kind in found), CoverageKind.NONE)
        where = tuple(place for kind in CoverageKind for place in found.get(kind, ()))
        reason = _reason(row) if kind is CoverageKind.NONE else NOT_COVERED_IN_FULL.get(key)
        yield ItemCoverage(row, kind, where, reason)


def _reason(row: ItemRow) -> str | None:
    """Return the reason why nothing covers an item; None is an item of the shipped table that lacks one."""
    return REASONS.get(row.key, None if row.key in item_table() else NOT_STATED)


def _places_of(statements: Iterable[Statement]) -> Places:
    places: Places = defaultdict(lambda: defaultdict(list))
    for statement in statements:
        for key in statement.covered_items:
            places[key][CoverageKind.STATEMENT].append(statement.where)
    return places


def _places() -> Places:
    places = _places_of(all_statements())
    for notion in all_notions():
        for key in notion.items:
            places[key][CoverageKind.NOTION].append(notion.where)
    for entry in entries():
        for key in entry.items:
            places[key][CoverageKind.MECHANISM].append(entry.where)
    for experiment in all_experiments():
        for key in experiment.items:
            places[key][CoverageKind.EXPERIMENT].append(experiment.where)
    return places
