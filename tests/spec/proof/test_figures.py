"""Figures of errata: a number that is off is seen, on either side, and none may be left out."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import at_most, ball
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.figures import Figure, Figures
from dpassay.spec.proof.recording import Comparison, recorded
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.statement import Erratum, all_statements
from dpassay.spec.verdict import Outcome, Verdict

ERRATA = [(one.name, erratum) for one in all_statements() for erratum in one.errata]


def comparisons_of(claim: Callable[[], Verdict]) -> list[Comparison]:
    with recorded() as comparisons:
        claim()
    return comparisons


ROOT = comparisons_of(lambda: at_most(lambda: arb(2).sqrt(), lambda: arb(1)))
EQUAL = comparisons_of(lambda: equal_exact(Fraction(3, 2), Fraction(-1, 2), "loss"))


@pytest.mark.parametrize(
    ("figures", "sides"),
    [
        (Figures(("1.414 > 1.000",)), (ROOT, [])),
        (Figures(corrected=("1.41421 > 1/1",)), ([], ROOT)),
        (Figures(("3/2 != -1/2",)), (EQUAL, [])),
        (Figures(), ([], [])),
    ],
)
def test_right_figures_hold(figures: Figures, sides: tuple[list[Comparison], list[Comparison]]) -> None:
    assert figures.check(*sides).outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    ("lines", "sides"),
    [
        (("1.415 > 1.000",), ROOT),
        (("1.414 > 1.010",), ROOT),
        (("1.414 > 0",), ROOT),
        (("1.414 != 1.000",), ROOT),
        ((), ROOT),
        (("1.414 > 1.000", "1.414 > 1.000"), ROOT),
        (("3/2 != -1/3",), EQUAL),
        (("3/2 > -1/2",), EQUAL),
    ],
)
def test_wrong_figures_are_seen_in_either_claim(lines: tuple[str, ...], sides: list[Comparison]) -> None:
    assert Figures(published=lines).check(sides, []).outcome is Outcome.VIOLATED
    assert Figures(corrected=lines).check([], sides).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("line", ["1", "1.5 2.5", "1.41 > about 1", "1.4 > 1.00", "2 = 2.00", "nan < 1.00"])
def test_a_coarse_or_unreadable_figure_is_refused(line: str) -> None:
    with pytest.raises(UsageError, match="figure"):
        Figures(published=(line,))


def test_a_figure_is_known_to_half_a_unit_of_its_last_digit() -> None:
    assert Figure("0.227").check(lambda: ball(Fraction("0.2274")), "x").outcome is Outcome.HOLDS
    assert Figure("0.227").check(lambda: ball(Fraction("0.2276")), "x").outcome is Outcome.VIOLATED
    assert Figure("9.56e-21").uncertainty == Fraction(1, 2 * 10**23)
    assert Figure("2400").uncertainty == Fraction(1, 2)


def test_comparisons_of_all_kinds_are_recorded() -> None:
    kinds = [
        *comparisons_of(lambda: at_most_exact(Fraction(1), Fraction(2), "x")),
        *comparisons_of(lambda: agree(lambda: arb(2), lambda: arb(2), "x")),
        *comparisons_of(lambda: equal_exact(("a", "b"), ("b", "a"), "order")),
    ]
    assert [each.equality for each in kinds] == [False, True]


@pytest.mark.parametrize(("name", "erratum"), ERRATA, ids=[name for name, _ in ERRATA])
def test_every_erratum_gives_its_figures(name: str, erratum: Erratum) -> None:
    *_, figures = erratum.decide()
    assert figures.outcome is Outcome.HOLDS, f"{name}: {figures.detail}"
