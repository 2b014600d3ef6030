"""The figures on documents, errata and mechanisms in README and docs, held against the registry."""

import re
from collections import Counter
from pathlib import Path

import pytest

from dpassay.properties.mechanisms import mechanism_records
from dpassay.properties.verify import verify_errata
from dpassay.spec.sources import item_table
from dpassay.spec.statement import Severity, all_statements, faults

ROOT = Path(__file__).parent.parent
README, ERRATA, COVERAGE = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/errata.md", "docs/coverage.md")
)
FAULTS = faults(all_statements())
DOCUMENTS = {
    "Lebensold": "lebensold2024", "Cohen": "cohen2023", "Cesar": "cesar2020", "Gaboardi": "gaboardi2017",
    "Rogers": "rogers2023",
}  # fmt: skip
TITLES = {
    "Gaussian selection": "lebensold2024", "target charging": "cohen2023", "composition": "cesar2020",
    "accuracy first": "rogers2023",
}  # fmt: skip


def cells(page: str, heading: str) -> list[list[str]]:
    """Return the rows of the table with that heading, without the heading."""
    table = page[page.index(heading) :].split("\n\n", maxsplit=1)[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table]


def test_the_counts_by_severity_are_those_of_the_registry() -> None:
    said = re.search(
        r"lists (\d+) errors and (\d+) minor slips .*?\. (\d+) informal .*? and (\d+) bounds", ERRATA, re.DOTALL
    )
    assert said is not None
    counts = Counter(fault.erratum.severity for fault in FAULTS)
    assert [int(number) for number in said.groups()] == [counts[severity] for severity in Severity]


def test_the_table_of_errors_has_the_errors_and_nothing_else() -> None:
    rows = [row[0].partition(", ") for row in cells(ERRATA, "| document, item | what is wrong")]
    listed = Counter((TITLES[title], item) for title, _, item in rows)
    errors = [fault for fault in FAULTS if fault.erratum.severity is Severity.ERROR]
    reports = verify_errata({fault.statement.name: fault.statement for fault in errors}.values())
    wanted = [(r.statement.source.key, r.item) for r in reports if r.erratum.severity is Severity.ERROR]
    assert listed == Counter(wanted)


def test_the_figures_of_the_errors_are_those_that_are_certified() -> None:
    details = " ".join(
        f"{report.printed.detail} {report.erratum.printed_text}"
        for fault in FAULTS
        if fault.erratum.severity is Severity.ERROR
        for report in verify_errata([fault.statement])
        for report in (report, *report.consequences)
    )
    for *_, figures in cells(ERRATA, "| document, item | what is wrong"):
        for number in re.findall(r"\d\.\d{6,}(?:e-\d+)?", figures):
            assert number in details, number


@pytest.mark.parametrize(
    "row", cells(COVERAGE, "| document | items |"), ids=lambda row: row[0].split(",")[0].split()[0]
)
def test_the_row_of_a_document_is_that_of_the_registry(row: list[str]) -> None:
    key = DOCUMENTS.get(row[0].split(",")[0].split()[0], "others")
    keys = [one.source.key if one.source.key in DOCUMENTS.values() else "others" for one in all_statements()]
    items = sum(item.source == key for item in item_table().values())
    severities = Counter(f.erratum.severity for f in FAULTS if f.statement.source.key == key)
    wanted = [items, keys.count(key), severities[Severity.ERROR], severities[Severity.MINOR]]
    assert row[1:5] == [str(number) if number else "-" for number in wanted]


def test_the_main_results_are_those_of_the_registry() -> None:
    keys = Counter(one.source.key in DOCUMENTS.values() for one in all_statements())
    items = sum(item.source in DOCUMENTS.values() for item in item_table().values())
    counts = Counter(fault.erratum.severity for fault in FAULTS)
    assert f"{keys[True]} statements of {items} items; {keys[False]} more" in README
    assert f"{counts[Severity.ERROR]} errors and {counts[Severity.MINOR]} minor slips" in README
    broken = sum(record.broken for record in mechanism_records())
    assert f"none of {broken} deliberately broken mechanisms" in README
    assert f"{broken} deliberately broken mechanisms, all detected" in " ".join(COVERAGE.split())
