"""Probabilities of leaves against distributions that were derived in another way, and against each other."""

import math
from fractions import Fraction

import pytest
from flint import arb

from dpassay.spec.ball import ball, precision
from dpassay.spec.distributions.gaussian_race import GaussianRace, Hurdle
from dpassay.spec.distributions.laplace_noisy_max import LaplaceNoisyMaxDistribution
from dpassay.spec.leaves.exponential_sums import ExponentialSum
from dpassay.spec.leaves.model import CONTINUOUS, Affine, Constraint, LeafModel, Noise, NoiseKind, Relation
from dpassay.spec.leaves.probability import (
    UndecidedLeafError,
    exact_probability,
    leaf_probability,
    total_probability,
)

from .models import (
    at_least,
    leaf,
    minus,
    noise,
    noisy_max,
    noisy_max_loop,
    number,
    partial_sums,
    plus,
    ranking,
    sparse_vector,
)

DATA = (Fraction(0), Fraction(1, 3), Fraction(-2, 7), Fraction(1))
LAPLACE = NoiseKind.LAPLACE
PIECEWISE = (NoiseKind.LAPLACE, NoiseKind.EXPONENTIAL, NoiseKind.UNIFORM)


def agree(left: arb, right: arb, bits: int = 90) -> bool:
    return bool((left - right).abs_upper() < arb(2) ** -bits)


def exact_total(model: LeafModel) -> ExponentialSum:
    return sum((exact_probability(one) for one in model.leaves), start=ExponentialSum({}))


@pytest.mark.parametrize("kind", PIECEWISE)
@pytest.mark.parametrize("make", [noisy_max, noisy_max_loop])
def test_the_exact_probabilities_of_noisy_max_sum_to_one(make: object, kind: NoiseKind) -> None:
    assert callable(make)
    assert exact_total(make(DATA, kind, Fraction(3, 2))).rational == 1


@pytest.mark.parametrize("kind", PIECEWISE)
def test_the_exact_probabilities_of_partial_sums_sum_to_one(kind: NoiseKind) -> None:
    assert exact_total(partial_sums(DATA, kind, 2, 1)).rational == 1


@pytest.mark.parametrize("kind", [*PIECEWISE, NoiseKind.GUMBEL])
def test_the_orders_of_three_noisy_scores_partition_the_noise(kind: NoiseKind) -> None:
    with precision(128):
        assert agree(total_probability(ranking(DATA[:3], kind, 2, 1)), arb(1))


@pytest.mark.parametrize("cutoff", [1, 2, None])
def test_sparse_vector_sums_to_one_and_balls_agree_with_exact_sums(cutoff: int | None) -> None:
    model = sparse_vector(DATA, 2, 5, cutoff, Fraction(1, 2))
    with precision(128):
        for one in model.leaves:
            assert agree(leaf_probability(one), exact_probability(one).enclose(), 120)
        assert agree(total_probability(model), arb(1), 110)


def test_noisy_max_with_laplace_noise_agrees_with_its_law() -> None:
    scale = Fraction(5, 2)
    model = noisy_max(DATA, NoiseKind.LAPLACE, scale)
    with precision(128):
        for i, one in enumerate(model.leaves):
            rivals = tuple((x, 1) for j, x in enumerate(DATA) if j != i)
            log = LaplaceNoisyMaxDistribution.log_report_probability(DATA[i], rivals, 1 / scale)
            assert agree(leaf_probability(one), log.exp())


def test_noisy_max_with_gumbel_noise_is_softmax() -> None:
    model = noisy_max(DATA, NoiseKind.GUMBEL, 2)
    with precision(128):
        weights = [(ball(x) / 2).exp() for x in DATA]
        for weight, one in zip(weights, model.leaves, strict=True):
            assert agree(leaf_probability(one), weight / sum(weights, start=arb(0)))


def test_noisy_max_with_gaussian_noise_agrees_with_the_race() -> None:
    model = noisy_max(DATA, NoiseKind.NORMAL, 2)
    with precision(128):
        for i, one in enumerate(model.leaves):
            rivals = [x for j, x in enumerate(DATA) if j != i]
            race = GaussianRace(*(Hurdle.of(Fraction(1), (DATA[i] - x) / 2) for x in rivals))
            assert agree(leaf_probability(one), race.log_expectation().exp())
        assert agree(total_probability(model), arb(1))


def test_two_dependent_sums_of_gaussian_noise_have_the_angle_between_them() -> None:
    """Pr[X >= 0, Y >= 0] = 1/4 + asin(rho)/(2 pi): three noises, two sums that share one of them."""
    a, b, c = (noise(NoiseKind.NORMAL, i) for i in range(3))
    one = leaf("both", at_least(plus(a, b), number(0)), at_least(plus(b, c), number(0)))
    with precision(128):
        assert agree(leaf_probability(one), arb(1) / 4 + (arb(1) / 2).asin() / (2 * arb.pi()))


def test_sums_of_unequal_variances_have_the_angle_between_them() -> None:
    """3 X + Y has the correlation 3/10^(1/2) with X: their covariance exceeds the variance of X."""
    x = noise(NoiseKind.NORMAL, 0)
    for first, second in ((1, 3), (3, 1), (-3, 1)):
        total = plus(noise(NoiseKind.NORMAL, 0, first), noise(NoiseKind.NORMAL, 1, second))
        one = leaf("both", at_least(x, number(0)), at_least(total, number(0)))
        with precision(128):
            angle = (arb(first) / arb(10).sqrt()).asin()
            assert agree(leaf_probability(one), arb(1) / 4 + angle / (2 * arb.pi()))


def test_orthogonal_gaussian_sums_are_independent_and_bands_are_differences() -> None:
    a, b = (noise(NoiseKind.NORMAL, i) for i in range(2))
    band = (at_least(plus(a, b), number(0)), at_least(number(1), plus(a, b)))
    with precision(128):
        alone = leaf_probability(leaf("band", *band))
        assert agree(leaf_probability(leaf("both", *band, at_least(minus(a, b), number(0)))), alone / 2)
        assert agree(alone, ((arb(1) / 2).erf()) / 2)


@pytest.mark.parametrize("kind", CONTINUOUS)
def test_an_interval_of_one_noise_and_its_outside_sum_to_one(kind: NoiseKind) -> None:
    z = noise(kind, 0, -3)
    low, high = number(Fraction(-1, 2)), number(Fraction(5, 3))
    model = LeafModel((
        leaf("below", at_least(low, z)),
        leaf("inside", at_least(z, low), at_least(high, z)),
        leaf("above", at_least(z, high)),
    ))  # fmt: skip
    with precision(128):
        assert agree(total_probability(model), arb(1))


@pytest.mark.parametrize("kind", CONTINUOUS)
def test_a_distant_interval_keeps_its_relative_accuracy(kind: NoiseKind) -> None:
    z = noise(kind, 0)
    far = at_least(z, number(40))
    if kind is NoiseKind.UNIFORM:
        assert leaf_probability(leaf("never", far)).is_zero()
    else:
        assert leaf_probability(leaf("far", far, at_least(number(41), z))).rel_accuracy_bits() >= 50


def test_a_tail_far_below_the_precision_is_accurate_relative_to_itself() -> None:
    a, b = (noise(NoiseKind.LAPLACE, i) for i in range(2))
    one = leaf("rare", at_least(a, plus(b, number(2000))))
    value = leaf_probability(one)  # (1/2 + x/4) e^-x at x = 2000
    assert (value / (ball(501) / ball(2000).exp() - ball(Fraction(1, 2)) / ball(2000).exp())).overlaps(arb(1))
    assert value.rel_accuracy_bits() >= 50


def test_an_empty_leaf_has_probability_zero_exactly() -> None:
    a, b = (noise(NoiseKind.LAPLACE, i) for i in range(2))
    one = leaf("never", at_least(a, plus(b, number(1))), at_least(b, a))
    assert exact_probability(one).is_zero()
    assert leaf_probability(one).is_zero()


def test_three_uniform_noises_sum_to_at_most_one_with_probability_one_sixth() -> None:
    total = number(0)
    for i in range(3):
        total = plus(total, noise(NoiseKind.UNIFORM, i))
    assert exact_probability(leaf("simplex", at_least(number(1), total))).rational == Fraction(1, 6)


def test_a_weighted_sum_of_exponential_noises_has_its_own_density() -> None:
    """Z + 2 W + 3 V >= 0 always; Z - W >= t with probability e^-t / 2."""
    z, w, v = (noise(NoiseKind.EXPONENTIAL, i, i + 1) for i in range(3))
    assert exact_probability(leaf("all", at_least(plus(plus(z, w), v), number(0)))).rational == 1
    difference = exact_probability(leaf("difference", at_least(minus(z, noise(NoiseKind.EXPONENTIAL, 1)), number(2))))
    assert difference == ExponentialSum({Fraction(-2): Fraction(1, 2)})


def test_a_cycle_is_undecided_and_named() -> None:
    a, b, c = (noise(NoiseKind.LAPLACE, i) for i in range(3))
    triangle = leaf("cycle", at_least(a, b), at_least(b, plus(c, number(1))), at_least(plus(a, number(5)), c))
    with pytest.raises(UndecidedLeafError, match="cycle"):
        leaf_probability(triangle)


def test_noises_of_different_kinds_in_one_constraint_are_undecided_and_named() -> None:
    mixed = leaf("mixed", at_least(noise(NoiseKind.LAPLACE, 0), noise(NoiseKind.NORMAL, 0)))
    with pytest.raises(UndecidedLeafError, match="laplace, normal"):
        leaf_probability(mixed)


def test_symbolic_data_have_no_probabilities() -> None:
    with pytest.raises(UndecidedLeafError, match="not numbers"):
        total_probability(noisy_max(3, NoiseKind.LAPLACE, 1))


@pytest.mark.parametrize(("relation", "expected"), [(Relation.AT_LEAST, 1), (Relation.ABOVE, 0)])
def test_a_constant_decision_is_strict_or_not(relation: Relation, expected: int) -> None:
    assert leaf_probability(leaf("constant", Constraint(number(0), relation))) == expected


def test_two_noises_of_one_kind_and_place_are_the_same_noise() -> None:
    z = Affine(Fraction(0), {Noise(NoiseKind.LAPLACE, 3): Fraction(1)})
    assert math.isclose(float(leaf_probability(leaf("same", at_least(z, noise(NoiseKind.LAPLACE, 3))))), 1)


def test_sums_that_share_a_noise_replace_other_noises() -> None:
    """W + Z and Z + U + V: Z must stay a variable, since V is written by it."""
    z, u, v, w = (noise(LAPLACE, i) for i in range(4))
    sums = plus(w, z), plus(plus(z, u), v)
    sides = [(at_least(one, number(0)), at_least(number(0), one)) for one in sums]
    model = LeafModel(tuple(leaf("quadrant", a, b) for a in sides[0] for b in sides[1]))
    assert exact_total(model).rational == 1


@pytest.mark.parametrize("pair", [(0, 1), (0, 3), (1, 3), (2, 3)])
def test_gaussian_constraints_without_one_common_factor_are_undecided(pair: tuple[int, int]) -> None:
    """Four rows with one factor, two of which share another noise as well."""
    shared = noise(NoiseKind.NORMAL, 9)
    rows = [plus(noise(NoiseKind.NORMAL, 0), noise(NoiseKind.NORMAL, i + 1)) for i in range(4)]
    with precision(64):
        assert leaf_probability(leaf("star", *(at_least(row, number(0)) for row in rows))).overlaps(arb(1) / 5)
    broken = [plus(row, shared) if i in pair else row for i, row in enumerate(rows)]
    with pytest.raises(UndecidedLeafError, match="common factor"):
        leaf_probability(leaf("no star", *(at_least(row, number(0)) for row in broken)))


@pytest.mark.parametrize("kind", [NoiseKind.NORMAL, NoiseKind.GUMBEL, LAPLACE])
def test_bounds_that_contradict_each_other_leave_nothing(kind: NoiseKind) -> None:
    a, b = noise(kind, 0), noise(kind, 1)
    assert leaf_probability(leaf("never", at_least(a, plus(b, number(1))), at_least(b, a))).is_zero()


def test_a_noise_that_writes_another_one_is_not_replaced() -> None:
    """Sums of exponential noise that are positive anyway: U is written by Z, which is rarer than W."""
    z, u, v, w, *rest = (noise(NoiseKind.EXPONENTIAL, i) for i in range(7))
    sums = [plus(z, u), plus(z, w), *(plus(w, other) for other in rest), plus(plus(z, u), v)]
    assert exact_probability(leaf("all", *(at_least(one, number(0)) for one in sums))).rational == 1
