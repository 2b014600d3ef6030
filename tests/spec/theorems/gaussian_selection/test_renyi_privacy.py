from fractions import Fraction

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.statement import find_statement
from dpassay.spec.verdict import Outcome


def test_a_loss_that_is_constant_on_several_outcomes_is_decided() -> None:
    pair = PairAtRatio(FiniteDistribution.of(1, 1, 0), FiniteDistribution.of(3, 3, 1))
    verdict = find_statement("renyi_divergence_tends_to_relative_entropy")(pair=pair, alpha=Fraction(1001, 1000))
    assert verdict.outcome is Outcome.HOLDS
