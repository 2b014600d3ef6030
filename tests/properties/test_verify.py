from fractions import Fraction
from typing import Annotated

import pytest

from dpassay.properties.verify import verify, verify_errata, verify_statement
from dpassay.spec import statement as registry
from dpassay.spec.ball import at_most, ball
from dpassay.spec.domains import Integers, Reals
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import Erratum, Statement, all_statements, statement
from dpassay.spec.verdict import Evidence, Holds, Outcome, Scope, Undecided, Verdict, Violated

X = Annotated[Fraction, Reals("a number", 0, 100)]
N = Annotated[int, Integers("a count", 0, 1000)]


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    all_statements()
    monkeypatch.setattr(registry, "_REGISTRY", {})


def make(claim) -> Statement:  # type: ignore[no-untyped-def]
    made: Statement = statement(LEBENSOLD_2024, "rnm_pure_dp")(claim)
    return made


def test_a_false_statement_is_refuted_and_shrunk() -> None:
    def below_42(n: N) -> Verdict:
        """Every count is below 42."""
        return at_most(lambda: ball(n), lambda: ball(41))

    report = verify_statement(make(below_42))
    assert report.outcome is Outcome.VIOLATED
    assert report.witness == {"n": 42}
    assert not report.as_expected


def test_undecided_cases_are_counted_and_not_expected() -> None:
    def sometimes(n: N) -> Verdict:
        """Decided for even counts only."""
        return Undecided(evidence=Evidence.ENCLOSED, detail="odd") if n % 2 else Holds(evidence=Evidence.EXACT)

    report = verify_statement(make(sometimes))
    assert report.outcome is Outcome.UNDECIDED
    assert 0 < report.undecided < report.cases
    assert not report.as_expected
    assert "odd" in report.detail


def test_points_are_never_taken_for_a_proof() -> None:
    def trivial(x: X) -> Verdict:
        """Claims to hold for all, at one point."""
        return Holds(evidence=Evidence.SYMBOLIC, scope=Scope.ALL)

    assert verify_statement(make(trivial)).scope is Scope.POINTS


def test_the_search_climbs_towards_the_bound() -> None:
    def bounded(x: X) -> Verdict:
        """x (100 - x) <= 2500, attained in the middle."""
        return at_most(lambda: ball(x * (100 - x)), lambda: ball(2500))

    tightness = verify_statement(make(bounded)).tightness
    assert tightness is not None
    assert tightness < 1.01


def test_the_same_seed_gives_the_same_report() -> None:
    def bounded(x: X) -> Verdict:
        """x <= 100.5."""
        return at_most(lambda: ball(x), lambda: ball(Fraction(201, 2)))

    made = make(bounded)
    first, second, other = (verify_statement(made, seed_value=s).tightness for s in (1, 1, 2))
    assert first == second
    assert first != other or first is not None


def test_an_erratum_that_does_not_fail_as_printed_is_not_as_expected() -> None:
    right = Erratum("false", "text", {"x": 1}, printed=lambda x: Holds(evidence=Evidence.EXACT),
                    corrected=lambda x: Holds(evidence=Evidence.EXACT))  # fmt: skip
    wrong = Erratum("false", "text", {"x": 1}, printed=lambda x: Violated(evidence=Evidence.EXACT),
                    corrected=lambda x: Undecided(evidence=Evidence.EXACT))  # fmt: skip

    def claim() -> Verdict:
        """A claim."""
        return Holds(evidence=Evidence.EXACT)

    made = statement(LEBENSOLD_2024, "rnm_pure_dp", errata=(right, wrong))(claim)
    assert [report.as_expected for report in verify_errata([made])] == [False, False]


def test_reports_come_in_order() -> None:
    chosen = [one for one in _REAL if one.name.endswith("by_proof")][:3]
    registry._REGISTRY.update({one.name: one for one in chosen})
    assert [report.statement.name for report in verify(chosen, jobs=1)] == [one.name for one in chosen]


_REAL = all_statements()
