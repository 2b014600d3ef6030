"""Collects which statements kill which mutants: a statement that refutes nothing is no check.

A module lists its mutants as rows (statement, fault, module, name, wrong): `name` of `module` is replaced by something
wrong, and the statement must not survive that. A test with the argument `refuted` gets the statement of each row of
`REFUTED`, one with the argument `unproved` that of each row of `UNPROVED`, with the mutant in place.
"""

from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from dpassay.spec.statement import Statement, find_statement

KILLED: pytest.StashKey[set[str]] = pytest.StashKey()
HERE = Path(__file__).parent


class Mutant(NamedTuple):
    """One row."""

    statement: str
    fault: str
    module: ModuleType
    name: str
    wrong: Any


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for argument, rows in (("refuted", "REFUTED"), ("unproved", "UNPROVED")):
        if argument in metafunc.fixturenames:
            mutants = [Mutant(*row) for row in getattr(metafunc.module, rows)]
            metafunc.parametrize(argument, [_parameter(mutant) for mutant in mutants], indirect=True)


def _parameter(mutant: Mutant) -> Any:
    mark = pytest.mark.kills(mutant.statement)
    return pytest.param(mutant, id=f"{mutant.statement}: {mutant.fault}", marks=mark)


def _planted(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> Statement:
    statement = find_statement(mutant.statement)
    monkeypatch.setattr(mutant.module, mutant.name, mutant.wrong)
    return statement


@pytest.fixture
def refuted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Statement:
    """A statement that the mutant in place makes false."""
    return _planted(request.param, monkeypatch)


@pytest.fixture
def unproved(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Statement:
    """A statement whose proof the mutant in place breaks."""
    return _planted(request.param, monkeypatch)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    marks = (mark for item in items for mark in item.iter_markers("kills"))
    config.stash[KILLED] = {name for mark in marks for name in mark.args}


@pytest.fixture
def killing_statements(request: pytest.FixtureRequest) -> set[str]:
    """The statements that refute a mutant; only known when the whole folder is collected."""
    collected = {item.path for item in request.session.items}
    if not set(HERE.rglob("test_*.py")) <= collected or request.config.getoption("keyword"):
        pytest.skip("needs the whole of tests/meta")
    return request.config.stash[KILLED]
