"""Assertions about statements, for the test suites of their authors."""

import importlib
from types import ModuleType
from typing import Any
from unittest.mock import patch

from dpassay.arguments import UsageError, shown
from dpassay.properties.contract import as_dictionary
from dpassay.properties.records import plain
from dpassay.properties.verify import Profile, StatementReport, verify_errata, verify_statement
from dpassay.spec.statement import Statement
from dpassay.spec.verdict import Outcome

__all__ = ["assert_errata", "assert_holds", "assert_kills"]


def assert_holds(statement: Statement, *, profile: Profile = "quick", seed: int = 0) -> StatementReport:
    """Raise AssertionError unless a statement holds, with no undecided case.

    Parameters
    ----------
    statement : Statement
        As the decorator `statement` returns it.
    profile : {"quick", "thorough"}
        Number of cases.
    seed : int
        Seed of the cases.

    Returns
    -------
    StatementReport
        Evidence, scope, cases and tightness.
    """
    __tracebackhide__ = True
    report = verify_statement(_required(statement), profile, seed)
    if not report.as_expected:
        at = f" at {plain(report.witness)}" if report.witness else ""
        raise AssertionError(f"{statement.name} is {report.outcome}{at}: {report.detail}")
    return report


def assert_errata(statement: Statement) -> None:
    """Raise AssertionError unless every erratum of a statement is confirmed at its witness.

    The published claim must fail there (a loose one must be weaker) and the corrected claim must hold.
    """
    __tracebackhide__ = True
    for report in verify_errata([_required(statement)]):
        if not report.as_expected:
            raise AssertionError(f"an erratum of {statement.name} is not confirmed: {as_dictionary(report.record())}")


def assert_kills(
    statement: Statement,
    module: ModuleType | str,
    name: str,
    wrong: Any,
    *,
    profile: Profile = "quick",
    seed: int = 0,
) -> StatementReport:
    """Raise AssertionError unless a statement detects a fault: a mutant that it must not survive.

    The attribute `name` of `module` is replaced by `wrong` while the statement is verified. A statement that
    quantifies must be violated; a proof must not be established.

    Parameters
    ----------
    statement : Statement
        As the decorator `statement` returns it.
    module : module, or str
        Module (or its name) whose global the claim of the statement uses.
    name : str
        Name of that global: a function, a class or a constant.
    wrong : object
        The faulty replacement.
    profile : {"quick", "thorough"}
        Number of cases.
    seed : int
        Seed of the cases.

    Returns
    -------
    StatementReport
        With the witness at which the statement is violated.

    Raises
    ------
    AssertionError
        If the statement survives.
    UsageError
        If the module has no such attribute, or the replacement is the original.
    """
    __tracebackhide__ = True
    planted = importlib.import_module(module) if isinstance(module, str) else module
    if not hasattr(planted, name):
        raise UsageError(f"{planted.__name__} has no attribute {name!r} to replace")
    if getattr(planted, name) is wrong:
        raise UsageError(f"{planted.__name__}.{name} is already {shown(wrong)}: this is not a fault")
    with patch.object(planted, name, wrong):
        report = verify_statement(_required(statement), profile, seed)
    survives = report.outcome is Outcome.HOLDS if not statement.quantifiers else report.outcome is not Outcome.VIOLATED
    if survives:
        raise AssertionError(
            f"{statement.name} does not detect the fault in {planted.__name__}.{name}: its verdict is {report.outcome}"
        )
    return report


def _required(statement: Any) -> Statement:
    if not isinstance(statement, Statement):
        raise UsageError(f"expected a function with the decorator `statement`, got {shown(statement)}")
    return statement
