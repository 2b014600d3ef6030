from fractions import Fraction

import pytest

from dpassay.spec.verdict import Evidence, Holds, Outcome, Scope, Undecided, Violated, conjunction

HOLDS = Holds(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, tightness=2.0)
WEAKER = Holds(evidence=Evidence.ENCLOSED, scope=Scope.POINTS, tightness=1.5, slack=Fraction(1, 8))
OPEN = Undecided(evidence=Evidence.ENCLOSED, detail="open")
WRONG = Violated(evidence=Evidence.EXACT)


def test_a_verdict_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="three values"):
        bool(HOLDS)


def test_a_conjunction_is_as_weak_as_its_weakest_link() -> None:
    both = conjunction([HOLDS, WEAKER])
    assert both.outcome is Outcome.HOLDS
    assert (both.evidence, both.scope, both.slack) == (Evidence.ENCLOSED, Scope.POINTS, Fraction(1, 8))
    assert both.tightness == 1.5


def test_an_undecided_part_is_never_a_pass() -> None:
    assert conjunction([HOLDS, OPEN]).outcome is Outcome.UNDECIDED
    assert conjunction([OPEN, WRONG, HOLDS]).outcome is Outcome.VIOLATED


def test_nothing_is_no_claim() -> None:
    with pytest.raises(ValueError, match="at least one"):
        conjunction([])


def test_evidence_and_scope_are_ordered_from_weak_to_strong() -> None:
    assert sorted(Evidence) == ["sampled", "enclosed", "exact", "box", "symbolic"]
    assert sorted(Scope) == ["samples", "points", "box", "all"]
