"""Distributions of leaf models under the divergences of spec, with known losses."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, precision
from dpassay.spec.distributions.discrete import max_divergence, privacy_loss
from dpassay.spec.leaves.distribution import LeafDistribution, finite_distribution, partition_of_unity
from dpassay.spec.leaves.model import Leaf, LeafModel, NoiseKind
from dpassay.spec.verdict import Outcome

from .models import at_least, leaf, noise, noisy_max, number, plus, sparse_vector

LAPLACE = NoiseKind.LAPLACE


def unstopped(answers: Sequence[int], outcome: tuple[bool, ...], scale: int) -> LeafModel:
    """Return the leaf of sparse vector without a cutoff, threshold 1, that has this outcome."""
    level = plus(number(1), noise(LAPLACE, 0, scale))
    scores = [plus(number(x), noise(LAPLACE, i + 1, scale)) for i, x in enumerate(answers)]
    decisions = [at_least(*((x, level) if above else (level, x))) for x, above in zip(scores, outcome, strict=True)]
    return LeafModel((leaf(outcome, *decisions),))


def test_the_loss_of_sparse_vector_without_a_cutoff_is_the_known_one() -> None:
    """Ten queries, noise Lap(2/eps), eps = 1/10, answers in [-10, 10]: five of ten are above."""
    half = (True,) * 5 + (False,) * 5
    with precision(96):
        left = LeafDistribution(unstopped([-9] * 5 + [9] * 5, half, 20))
        right = LeafDistribution(unstopped([-10] * 5 + [10] * 5, half, 20))
        assert abs(privacy_loss(left, right, half) - arb("0.46766299680837461482")) < arb(10) ** -19


def test_the_loss_of_noisy_max_with_gumbel_noise_is_that_of_the_exponential_mechanism() -> None:
    """Three answers, one ahead by 2 after moving by 1 against the rest: log of two softmax probabilities."""
    left, right = (LeafDistribution(noisy_max(data, NoiseKind.GUMBEL, 2)) for data in ((1, 0, 0), (0, 1, 1)))
    root = ball(Fraction(1, 2)).exp()
    expected = (root / (root + 2)).log() - (1 / (1 + 2 * root)).log()
    assert abs(max_divergence(left, right) - expected) < arb(2) ** -45


def test_discrete_draws_give_rational_probabilities() -> None:
    coin = [
        Leaf((), Fraction(1, 3), "heads", (("coin", True),)),
        Leaf((), Fraction(2, 3), "tails", (("coin", False),)),
    ]
    distribution = finite_distribution(LeafModel(tuple(coin)))
    assert distribution is not None
    assert distribution.probability("tails") == Fraction(2, 3)
    assert finite_distribution(noisy_max((0, 1), LAPLACE, 1)) is None


def test_uniform_noise_against_rationals_is_rational() -> None:
    model = noisy_max((0, Fraction(1, 2)), NoiseKind.UNIFORM, 1)
    distribution = finite_distribution(model)
    assert distribution is not None
    assert distribution.probability(0) == Fraction(1, 8)


def test_undecided_mass_widens_every_probability() -> None:
    model = LeafModel((leaf("a", weight=Fraction(1, 2)), leaf("b", weight=Fraction(1, 4))), undecided=Fraction(1, 4))
    value = LeafDistribution(model).probability("b")
    assert value.contains(arb(1) / 4)
    assert value.contains(arb(1) / 2)
    assert finite_distribution(model) is None


def test_outcomes_with_noise_have_no_discrete_distribution() -> None:
    with pytest.raises(UsageError, match="discrete"):
        LeafDistribution(LeafModel((leaf(noise(LAPLACE, 0)),)))


# --- partition of unity -------------------------------------------------------------------------------------


def test_a_whole_model_is_a_partition() -> None:
    assert partition_of_unity(sparse_vector((0, 1, 2), 2, 4, 1)).outcome is Outcome.HOLDS


@pytest.mark.parametrize("undecided", [Fraction(0), Fraction(1, 10**6)])
def test_a_lost_leaf_is_seen(undecided: Fraction) -> None:
    model = sparse_vector((0, 1, 2), 2, 4, 1)
    for lost in range(len(model.leaves)):
        rest = tuple(one for i, one in enumerate(model.leaves) if i != lost)
        assert partition_of_unity(LeafModel(rest, undecided)).outcome is Outcome.VIOLATED


def test_every_dropped_constraint_and_every_doubled_leaf_is_seen() -> None:
    model = noisy_max((0, 1, 2), LAPLACE, 2)
    for i, one in enumerate(model.leaves):
        for constraint in one.constraints:
            fewer = replace(one, constraints=tuple(c for c in one.constraints if c is not constraint))
            broken = LeafModel((*model.leaves[:i], fewer, *model.leaves[i + 1 :]))
            assert partition_of_unity(broken).outcome is Outcome.VIOLATED
        assert partition_of_unity(LeafModel((*model.leaves, one))).outcome is Outcome.VIOLATED


def test_a_lost_tail_that_is_stated_is_accepted_and_one_that_is_not_is_seen() -> None:
    draws = [leaf(k, weight=Fraction(1, 2 ** (k + 1))) for k in range(40)]
    assert partition_of_unity(LeafModel(tuple(draws), Fraction(1, 2**40))).outcome is Outcome.HOLDS
    assert partition_of_unity(LeafModel(tuple(draws), Fraction(1, 2**41))).outcome is Outcome.VIOLATED


def test_an_undecided_leaf_leaves_the_partition_undecided() -> None:
    a, b = noise(LAPLACE, 0), noise(NoiseKind.NORMAL, 0)
    verdict = partition_of_unity(LeafModel((leaf("x", at_least(a, b)), leaf("y", at_least(b, a)))))
    assert verdict.outcome is Outcome.UNDECIDED
    assert "laplace, normal" in verdict.detail
    assert partition_of_unity(LeafModel((leaf("never", at_least(number(-1), number(0))),))).outcome is Outcome.VIOLATED
