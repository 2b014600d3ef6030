"""Collects which statements kill which mutants: a statement that refutes nothing is no check."""

from pathlib import Path

import pytest

KILLED: pytest.StashKey[set[str]] = pytest.StashKey()
HERE = Path(__file__).parent


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
