"""Every statement and every erratum as a test: copied into the tests of a tree whose mutants are judged."""

import pytest

from dpassay.properties.verify import verify_errata, verify_statement
from dpassay.spec.statement import all_statements, find_statement


@pytest.mark.parametrize("name", [each.name for each in all_statements()])
def test_statement(name: str) -> None:
    """Verify a statement with the quick profile."""
    report = verify_statement(find_statement(name))
    assert report.as_expected, report.detail


@pytest.mark.parametrize("name", [each.name for each in all_statements() if each.errata])
def test_errata(name: str) -> None:
    """Evaluate its errata at their witnesses."""
    for report in verify_errata([find_statement(name)]):
        assert report.as_expected, report.printed
