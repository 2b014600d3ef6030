"""Assertions about statements: what passes, what fails, what is refused."""

import sys
from fractions import Fraction
from typing import Annotated

import pytest

from dpassay.arguments import UsageError
from dpassay.properties.checks import statements as module
from dpassay.spec import statement as registry
from dpassay.spec.ball import at_most, ball
from dpassay.spec.domains.base import Integers
from dpassay.spec.proof.steps import Proof, checked, proof
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.sources import Source
from dpassay.spec.statement import Statement, statement
from dpassay.spec.verdict import Verdict
from dpassay.statements import assert_errata, assert_holds, assert_kills

PAPER = Source(key="a paper", authors="A", title="T", year=2026, venue="V", url="")
LIMIT = 1000
ONE = 1
Count = Annotated[int, Integers("a count", 0, 1000)]


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.all_statements()
    monkeypatch.setattr(registry._STATEMENTS, "_entries", dict(registry._STATEMENTS._entries))


def counts_are_small() -> Statement:
    def counts_are_small(count: Count) -> Verdict:
        """No count exceeds the limit."""
        return at_most(lambda: ball(count), lambda: ball(LIMIT))

    return statement(PAPER, "Lemma 1")(counts_are_small)


def one_is_one() -> Statement:
    def one_is_one() -> Proof:
        """One is one."""
        return proof(checked("one", "1 = 1.", identity, 1, ONE))

    return statement(PAPER, "Lemma 2")(one_is_one)


def test_a_statement_that_holds_passes_with_its_report() -> None:
    assert assert_holds(counts_are_small()).cases >= 2
    assert_errata(one_is_one())


def test_a_false_statement_fails_at_its_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "LIMIT", 41)
    with pytest.raises(AssertionError, match=r"counts_are_small is violated at \{'count': 42\}"):
        assert_holds(counts_are_small())


def test_a_detected_fault_passes_and_is_taken_away_again() -> None:
    own = sys.modules[__name__]
    report = assert_kills(counts_are_small(), own, "LIMIT", 998)
    assert report.witness == {"count": 999}
    assert_kills(one_is_one(), own, "ONE", 2)
    assert (LIMIT, ONE) == (1000, 1)


def test_a_fault_that_a_statement_survives_fails() -> None:
    own = sys.modules[__name__]
    with pytest.raises(
        AssertionError, match=r"counts_are_small does not detect the fault in .*\.LIMIT: its verdict is holds"
    ):
        assert_kills(counts_are_small(), own, "LIMIT", 1001)
    with pytest.raises(AssertionError, match="one_is_one does not detect"):
        assert_kills(one_is_one(), own, "ONE", Fraction(1))


def test_wrong_use_is_named() -> None:
    small = counts_are_small()
    with pytest.raises(UsageError, match="has no attribute 'NOTHING' to replace"):
        assert_kills(small, module, "NOTHING", 1)
    with pytest.raises(UsageError, match="this is not a fault"):
        assert_kills(small, module, "assert_holds", module.assert_holds)
    with pytest.raises(UsageError, match="expected a function with the decorator `statement`"):
        assert_holds(ball)  # type: ignore[arg-type]
