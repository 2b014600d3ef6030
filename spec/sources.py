"""The bibliography, and the table of items that the documents contain.

Every statement cites a `Source`; the items of the documents that dpassay sets out to cover are the rows of
``items.csv`` beside this file, keyed by (source key, item name).
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from dpassay.arguments import UsageError
from dpassay.registry import Item

__all__ = ["SOURCES", "ItemRow", "Source", "item_row", "item_table", "items_of", "register_items"]


@dataclass(frozen=True)
class Source:
    """A document that statements cite."""

    key: str
    authors: str
    title: str
    year: int
    venue: str
    url: str

    def __str__(self) -> str:
        return f"{self.authors} ({self.year}). {self.title}. {self.venue}. {self.url}"


@dataclass(frozen=True)
class ItemRow:
    """One row of the table of items: a numbered or named piece of a document."""

    source: str
    item: str
    name: str
    kind: str

    @property
    def key(self) -> Item:
        """The (source key, item name) that identifies the row."""
        return self.source, self.name


DPASSAY = Source(
    key="dpassay",
    authors="The dpassay developers",
    title="Results of this project",
    year=2026,
    venue="stated and proved in the code",
    url="",
)
LEBENSOLD_2024 = Source(
    key="lebensold2024",
    authors="J. Lebensold, D. Precup and B. Balle",
    title="On the Privacy of Selection Mechanisms with Gaussian Noise",
    year=2024,
    venue="AISTATS; arXiv 2402.06137v2",
    url="https://arxiv.org/abs/2402.06137",
)
COHEN_2023 = Source(
    key="cohen2023",
    authors="E. Cohen and X. Lyu",
    title="The Target-Charging Technique for Privacy Analysis across Interactive Computations",
    year=2023,
    venue="NeurIPS; arXiv 2302.11044",
    url="https://arxiv.org/abs/2302.11044",
)
CESAR_2020 = Source(
    key="cesar2020",
    authors="M. Cesar and R. Rogers",
    title="Bounding, Concentrating, and Truncating: Unifying Privacy Loss Composition for Data Analytics",
    year=2020,
    venue="ALT 2021; arXiv 2004.07223",
    url="https://arxiv.org/abs/2004.07223",
)
GABOARDI_2017 = Source(
    key="gaboardi2017",
    authors="M. Gaboardi",
    title="Lecture slides on differential privacy",
    year=2017,
    venue="October 2017",
    url="",
)
ROGERS_2023 = Source(
    key="rogers2023",
    authors="R. Rogers, G. Samorodnitsky, Z. S. Wu and A. Ramdas",
    title="Adaptive Privacy Composition for Accuracy-first Mechanisms",
    year=2023,
    venue="NeurIPS; arXiv 2306.13824",
    url="https://arxiv.org/abs/2306.13824",
)
BALLE_WANG_2018 = Source(
    key="balle2018",
    authors="B. Balle and Y.-X. Wang",
    title="Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and Optimal Denoising",
    year=2018,
    venue="ICML",
    url="https://arxiv.org/abs/1805.06530",
)
MIRONOV_2017 = Source(
    key="mironov2017",
    authors="I. Mironov",
    title="Renyi Differential Privacy",
    year=2017,
    venue="CSF",
    url="https://arxiv.org/abs/1702.07476",
)
BUN_STEINKE_2016 = Source(
    key="bun2016",
    authors="M. Bun and T. Steinke",
    title="Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds",
    year=2016,
    venue="TCC",
    url="https://arxiv.org/abs/1605.02065",
)
BALLE_2020 = Source(
    key="balle2020",
    authors="B. Balle, G. Barthe, M. Gaboardi, J. Hsu and T. Sato",
    title="Hypothesis Testing Interpretations and Renyi Differential Privacy",
    year=2020,
    venue="AISTATS",
    url="https://arxiv.org/abs/1905.09982",
)
ZHU_WANG_2020 = Source(
    key="zhu2020",
    authors="Y. Zhu and Y.-X. Wang",
    title="Improving Sparse Vector Technique with Renyi Differential Privacy",
    year=2020,
    venue="NeurIPS",
    url="https://papers.nips.cc/paper/2020/hash/e9bf14a419d77534105016f5ec122d62-Abstract.html",
)
WHITEHOUSE_2023 = Source(
    key="whitehouse2023",
    authors="J. Whitehouse, A. Ramdas, R. Rogers and Z. S. Wu",
    title="Fully-Adaptive Composition in Differential Privacy",
    year=2023,
    venue="ICML",
    url="https://arxiv.org/abs/2203.05481",
)

ERLINGSSON_2014 = Source(
    key="erlingsson2014",
    authors="U. Erlingsson, V. Pihur and A. Korolova",
    title="RAPPOR: Randomized Aggregatable Privacy-Preserving Ordinal Response",
    year=2014,
    venue="CCS",
    url="https://arxiv.org/abs/1407.6981",
)
BALCER_VADHAN_2018 = Source(
    key="balcer2018",
    authors="V. Balcer and S. Vadhan",
    title="Differential Privacy on Finite Computers",
    year=2018,
    venue="ITCS; arXiv 1709.05396",
    url="https://arxiv.org/abs/1709.05396",
)
DONG_2022 = Source(
    key="dong2022",
    authors="J. Dong, A. Roth and W. J. Su",
    title="Gaussian Differential Privacy",
    year=2022,
    venue="Journal of the Royal Statistical Society B; arXiv 1905.02383",
    url="https://arxiv.org/abs/1905.02383",
)

SOURCES: dict[str, Source] = {
    source.key: source
    for source in (
        DPASSAY, LEBENSOLD_2024, COHEN_2023, CESAR_2020, GABOARDI_2017, ROGERS_2023,
        BALLE_WANG_2018, MIRONOV_2017, BUN_STEINKE_2016, BALLE_2020, ZHU_WANG_2020, WHITEHOUSE_2023,
        ERLINGSSON_2014, BALCER_VADHAN_2018, DONG_2022,
    )
}  # fmt: skip


@cache
def item_table() -> dict[Item, ItemRow]:
    """Return the shipped table of items, in the order of the documents."""
    text = files("dpassay.spec").joinpath("items.csv").read_text(encoding="utf-8")
    rows = [ItemRow(**row) for row in csv.DictReader(text.splitlines())]
    return {row.key: row for row in rows}


def item_row(source: str, name: str) -> ItemRow:
    """Return one row of the table of items.

    Raises
    ------
    KeyError
        If there is no such item; the message names it.
    """
    try:
        return items_of(source)[source, name]
    except KeyError:
        raise KeyError(f"{name!r} is not an item of {source!r}") from None


_OTHER_ITEMS: dict[str, dict[Item, ItemRow]] = {}


def register_items(source: Source, table: Path | Iterable[tuple[str, str, str]]) -> None:
    """Register the numbered or named items of a document, so that coverage can be reported.

    Without a table the statements of a document have labels instead, and coverage lists these.

    Parameters
    ----------
    source : Source
        The document; its items are not yet registered.
    table : Path, or iterable of (item, name, kind)
        Label in the document, such as ``Theorem 4``; identifier, such as ``zcdp_of_discrete_gaussian``; kind, such as
        ``theorem``. A path leads to a CSV file with the columns ``item``, ``name`` and ``kind``.

    Raises
    ------
    UsageError
        If the document has items already, other than these, or two items have the same name.
    """
    rows = [ItemRow(source.key, *labels) for labels in (_rows_of(table) if isinstance(table, Path) else table)]
    made = {row.key: row for row in rows}
    if len(made) < len(rows):
        twice = next(row.name for row in rows if sum(row.name == other.name for other in rows) > 1)
        raise UsageError(f"the items of {source.key!r} have the name {twice!r} twice")
    if items_of(source.key) not in ({}, made):
        raise UsageError(f"the items of {source.key!r} are registered already; use another key")
    _OTHER_ITEMS[source.key] = made


def _rows_of(table: Path) -> list[tuple[str, str, str]]:
    lines = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    missing = {"item", "name", "kind"} - set(lines.fieldnames or ())
    if missing:
        raise UsageError(f"{table} has no column {', '.join(sorted(missing))}; expected item, name, kind")
    return [(line["item"], line["name"], line["kind"]) for line in lines]


def items_of(source: str) -> dict[Item, ItemRow]:
    """Return the registered items of a document, shipped ones included; none for a document without a table."""
    return dict(_shipped_items(source)) or _OTHER_ITEMS.get(source, {})


@cache
def _shipped_items(source: str) -> dict[Item, ItemRow]:
    return {key: row for key, row in item_table().items() if key[0] == source}
