"""Statements of a module as pytest items: one test each, and one that asks for mutants, whose tests are watched."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dpassay.properties.checks.statements import assert_errata, assert_holds
from dpassay.properties.verify import Profile
from dpassay.spec.proof.recording import recorded_outcomes
from dpassay.spec.statement import Statement, load_statements
from dpassay.spec.verdict import Outcome

__all__ = ["MutantWatch", "statement_items"]


def statement_items(session: pytest.Session, places: Sequence[str], tests: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the tests of the statements of modules, packages or files.

    Parameters
    ----------
    session : pytest.Session
        The parent of the items.
    places : sequence of str
        As for `load_statements`.
    tests : iterable of pytest.Item
        Collected tests, whose markers ``kills`` say which statements detect a fault.
    """
    killed = {name for test in tests for mark in test.iter_markers("kills") for name in mark.args}
    return [item for place in dict.fromkeys(places) for item in _items_of(session, place, killed)]


def _items_of(session: pytest.Session, place: str, killed: set[str]) -> Iterator[pytest.Item]:
    statements = load_statements(place)
    label = Path(place).stem if place.endswith(".py") else place
    for one in statements:
        yield StatementItem.from_parent(session, name=f"{label}::{one.name}", statement=one)
    names = frozenset(one.name for one in statements)
    missing = names - killed if killed & names else None
    yield KillsItem.from_parent(session, name=f"{label}::every statement detects a fault", missing=missing)


class MutantWatch:
    """A plugin that fails a test with the marker ``kills`` unless it decides the statements that the marker names.

    Each of them must come out violated or undecided at least once: that is what detects the fault.

    Parameters
    ----------
    places : sequence of str
        Modules whose statements are meant, as for `load_statements`.
    """

    def __init__(self, places: Sequence[str]) -> None:
        self.names = {one.name for place in places for one in load_statements(place)}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Watch the outcomes of statements while a test runs."""
        named = {name for mark in item.iter_markers("kills") for name in mark.args} & self.names
        with recorded_outcomes() as outcomes:
            yield
        missed = named - {name for name, outcome in outcomes if outcome is not Outcome.HOLDS}
        if missed:
            never = sorted(missed - {name for name, _ in outcomes})
            pytest.fail(
                f"the test is marked kills({', '.join(map(repr, sorted(missed)))}), but no verdict on "
                f"{'it' if len(missed) == 1 else 'them'} was violated or undecided during the test"
                + (f" ({', '.join(never)}: not decided at all)" if never else "")
                + ": plant a fault with dpassay.statements.assert_kills",
                pytrace=False,
            )


class _DpassayItem(pytest.Item):
    """Base class: failures are shown as their message, without frames."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.add_marker("dpassay")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message of an assertion; other exceptions are shown by pytest."""
        if isinstance(excinfo.value, AssertionError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the location that pytest prints."""
        return self.path, None, self.name


class StatementItem(_DpassayItem):
    """One statement, in its corrected form, and its errata."""

    def __init__(self, *, statement: Statement, **fields: Any) -> None:
        super().__init__(**fields)
        self.statement = statement

    def runtest(self) -> None:
        """Verify the statement; evidence, scope and cases become properties of the report."""
        thorough = self.config.getoption("--dpassay-profile") == "thorough"
        profile: Profile = "thorough" if thorough else "quick"
        report = assert_holds(self.statement, profile=profile)
        self.user_properties += [("evidence", str(report.evidence)), ("scope", report.reach), ("cases", report.cases)]
        assert_errata(self.statement)


class KillsItem(_DpassayItem):
    """The check that every statement is named by a marker ``kills`` of a collected test."""

    def __init__(self, *, missing: frozenset[str] | None, **fields: Any) -> None:
        super().__init__(**fields)
        self.missing = missing

    def runtest(self) -> None:
        """Fail for statements that no collected test shows to detect a fault; skip if no test has the marker."""
        if self.missing is None:
            pytest.skip("no collected test has the marker kills for a statement of this module")
        if self.missing:
            names = ", ".join(sorted(self.missing))
            raise AssertionError(
                f"no collected test has the marker kills for {names}: plant a fault with "
                "dpassay.statements.assert_kills in a test that is marked @pytest.mark.kills(name)"
            )
