import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

import numpy as np
import pytest
import sympy as sp

from dpassay.arguments import UsageError
from dpassay.properties.verify import ErratumReport, verify, verify_errata, verify_statement
from dpassay.registry import Registry
from dpassay.spec import statement as registry
from dpassay.spec.ball import at_most, ball
from dpassay.spec.domains.base import Choices, Integers, Reals
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.steps import Proof, checked, proof, prose
from dpassay.spec.proof.symbolic import nonnegative
from dpassay.spec.rational import at_most_exact, below_exact
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import Erratum, Severity, Statement, all_statements, statement
from dpassay.spec.verdict import Evidence, Holds, Outcome, Scope, Undecided, Verdict, Violated

X = Annotated[Fraction, Reals("a number", 0, 100)]
N = Annotated[int, Integers("a count", 0, 1000)]


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    all_statements()
    monkeypatch.setattr(registry, "_STATEMENTS", Registry("statement"))


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


Few = Annotated[int, Integers("a shift", -40, 59)]
Either = Annotated[bool, Choices("a truth value", (False, True))]


def test_a_small_finite_domain_is_exhausted() -> None:
    def false_at_one_point(shift: Few, flag: Either) -> Verdict:
        """No shift is 57, or the flag is not set."""
        return at_most_exact(int(shift == 57 and flag), 0, "whether it is")

    def true(shift: Few, flag: Either) -> Verdict:
        """All shifts are below 60, whatever the flag."""
        return below_exact(shift - flag, 60, "the shift")

    report = verify_statement(make(false_at_one_point))
    assert (report.outcome, report.witness) == (Outcome.VIOLATED, {"shift": 57, "flag": True})
    assert not report.exhausted
    report = verify_statement(make(true))
    assert (report.outcome, report.scope, report.cases) == (Outcome.HOLDS, Scope.POINTS, 200)
    assert report.reach == "points, the whole domain"


def test_an_exception_at_one_point_of_a_finite_domain_is_seen() -> None:
    def raises_at_one_point(shift: Few) -> Verdict:
        """1/(shift - 31) is at most 1."""
        return at_most_exact(Fraction(1, shift - 31), Fraction(1), "ratio")

    with pytest.raises(ZeroDivisionError) as caught:
        verify_statement(make(raises_at_one_point))
    assert caught.value.__notes__ == ["at {'shift': 31}"]


@pytest.mark.parametrize("draw", [lambda: random.random(), lambda: np.random.random()])  # noqa: NPY002, PLW0108, S311
def test_a_statement_that_draws_at_random_is_an_error(draw: Callable[[], float]) -> None:
    def rarely_false(x: X) -> Verdict:
        """A number is not negative, mostly."""
        return at_most_exact(int(draw() < 1e-9), x, "whether it fails")

    with pytest.raises(UsageError, match="rarely_false must be deterministic, but draws from the generator"):
        verify_statement(make(rarely_false))


def test_a_statement_that_does_not_repeat_its_verdict_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpassay.properties.verify._REPEATING_SECONDS", 60.0)  # it ends at the first difference
    calls = itertools.count()

    def changes(x: X) -> Verdict:
        """A number is not negative, at first."""
        return at_most_exact(int(next(calls) > 100), x / 1000, "whether it fails")

    with pytest.raises(UsageError, match=r"changes must be deterministic, but at \{.*decided again violated"):
        verify_statement(make(changes))


def test_a_statement_may_seed_a_shared_generator() -> None:
    def seeded(x: X) -> Verdict:
        """A random number is at most 1."""
        random.seed(int(x))
        return at_most_exact(Fraction(random.random()), Fraction(1), "the number")  # noqa: S311

    assert verify_statement(make(seeded)).as_expected


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
        return Holds(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=f"at {x}")

    assert verify_statement(make(trivial)).scope is Scope.POINTS


def test_prose_steps_are_reported() -> None:
    def seen() -> Proof:
        """A square is not negative, as everybody knows."""
        square = sp.Symbol("x", real=True) ** 2
        return proof(checked("square", "x^2 >= 0.", nonnegative, square), prose("seen", "So it is.", given=["square"]))

    report = verify_statement(make(seen))
    assert (report.scope, report.prose_steps, report.reach) == (Scope.ALL, 1, "all, 1 prose step")
    assert report.record().prose_steps == 1


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


def erratum(printed: Verdict, corrected: Verdict, consequence_of: str | None = None) -> Erratum:
    return Erratum(
        kind="false", severity=Severity.MINOR, location="Section 1", printed_text="text", answer="none known",
        witness={}, printed=lambda: printed, corrected=lambda: corrected, consequence_of=consequence_of,
    )  # fmt: skip


def test_an_erratum_whose_figures_are_off_is_not_as_expected() -> None:
    def too_large() -> Verdict:
        return at_most(lambda: ball(2), lambda: ball(1))

    def fits() -> Verdict:
        """1 <= 2."""
        return at_most(lambda: ball(1), lambda: ball(2))

    made = make(fits)

    def reported(figures: Figures) -> ErratumReport:
        wrong = replace(erratum(fits(), fits()), printed=too_large, corrected=fits, figures=figures)
        (report,) = verify_errata([replace(made, errata=(wrong,))])
        return report

    published, corrected = ("2.00 > 1.00",), ("1.00 <= 2.00",)
    assert reported(Figures(published, corrected)).as_expected
    for figures in (Figures(("2.02 > 1.00",), corrected), Figures(published, ("1.00 <= 2.03",)), Figures(published)):
        report = reported(figures)
        assert not report.as_expected
        assert report.record().detail == report.figures.detail != ""


def test_a_consequence_counts_for_its_cause_and_is_reported_once() -> None:
    violated, holds = Violated(evidence=Evidence.EXACT), Holds(evidence=Evidence.EXACT)

    def cause() -> Verdict:
        """A claim."""
        return holds

    def other() -> Verdict:
        """Another claim."""
        return holds

    first = statement(LEBENSOLD_2024, "rnm_pure_dp", errata=(erratum(violated, holds),))(cause)
    second = statement(LEBENSOLD_2024, "rnm_pure_dp", errata=(erratum(holds, holds, "cause"),))(other)
    for asked in ([first], [second], [first, second]):
        (report,) = verify_errata(asked)
        assert report.statement is first
        assert not report.as_expected  # the consequence does not fail as published
        assert [one.erratum_of for one in report.record().consequences] == ["other"]


def test_a_consequence_of_nothing_is_refused() -> None:
    holds = Holds(evidence=Evidence.EXACT)

    def claim() -> Verdict:
        """A claim."""
        return holds

    made = statement(LEBENSOLD_2024, "rnm_pure_dp", errata=(erratum(holds, holds, "claim/no_such_item"),))(claim)
    with pytest.raises(UsageError, match="consequence of 'claim/no_such_item'"):
        list(verify_errata([made]))


def test_an_erratum_that_does_not_fail_as_printed_is_not_as_expected() -> None:
    right = erratum(Holds(evidence=Evidence.EXACT), Holds(evidence=Evidence.EXACT))
    wrong = erratum(Violated(evidence=Evidence.EXACT), Undecided(evidence=Evidence.EXACT))

    def claim() -> Verdict:
        """A claim."""
        return Holds(evidence=Evidence.EXACT)

    made = statement(LEBENSOLD_2024, "rnm_pure_dp", errata=(right, wrong))(claim)
    assert [report.as_expected for report in verify_errata([made])] == [False, False]


def test_reports_come_in_order() -> None:
    chosen = [one for one in _REAL if one.name.endswith("by_proof")][:3]
    for one in chosen:
        registry._STATEMENTS.enter(one.name, one)
    assert [report.statement.name for report in verify(chosen, jobs=1)] == [one.name for one in chosen]


_REAL = all_statements()
