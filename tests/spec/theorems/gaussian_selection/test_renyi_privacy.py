from fractions import Fraction

import pytest
from flint import arb

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.gaussian_selection import renyi_privacy
from dpassay.spec.verdict import Outcome


def test_a_loss_that_is_constant_on_several_outcomes_is_decided() -> None:
    pair = PairAtRatio(FiniteDistribution.of(1, 1, 0), FiniteDistribution.of(3, 3, 1))
    verdict = find_statement("renyi_divergence_tends_to_relative_entropy")(pair=pair, alpha=Fraction(1001, 1000))
    assert verdict.outcome is Outcome.HOLDS


def test_a_finite_divergence_is_refuted_where_the_moment_is_infinite(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = find_statement("renyi_divergence_is_moment_of_loss")
    pair = PairAtRatio(FiniteDistribution.of(1, 1), FiniteDistribution.of(1, 0))
    assert claim(pair=pair, alpha=2).outcome is Outcome.HOLDS
    monkeypatch.setattr(renyi_privacy, "renyi_divergence", lambda *_: arb(1))
    assert claim(pair=pair, alpha=2).outcome is Outcome.VIOLATED
