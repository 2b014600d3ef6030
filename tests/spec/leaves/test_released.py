"""Outcomes with noise in them: supports, densities, cells."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from dpassay.spec.distributions.discrete import max_divergence
from dpassay.spec.leaves.cells import in_cells, kinks
from dpassay.spec.leaves.distribution import LeafDistribution, partition_of_unity
from dpassay.spec.leaves.model import Affine, Image, LeafModel, NoiseKind, Raised
from dpassay.spec.leaves.outcomes import SLOT, UnknownOutcomeError, plain, released_numbers, skeleton
from dpassay.spec.leaves.probability import UndecidedLeafError
from dpassay.spec.leaves.released import released_losses, worst_released_loss
from dpassay.spec.leaves.supports import infinite_loss, subspace
from dpassay.spec.verdict import Outcome

from .models import at_least, leaf, minus, noise, number, plus

LAPLACE = NoiseKind.LAPLACE
Number = int | Fraction


def additive(kind: NoiseKind, *values: Number, scale: Number = 1) -> LeafModel:
    """Every value plus noise of its own."""
    return LeafModel((leaf(tuple(plus(number(x), noise(kind, i, scale)) for i, x in enumerate(values))),))


# --- structures ---------------------------------------------------------------------------------------------


def test_numbers_of_every_type_are_slots_and_words_are_not() -> None:
    z = noise(LAPLACE, 0)
    structure, numbers = skeleton(("a", [z, 3], {"k": 1.5}, True, np.float64(2.0), None, float("nan")))
    assert numbers == (z, *(Affine(Fraction(x)) for x in (3, Fraction(3, 2), 2)))
    assert skeleton(("a", [0, 0], {"k": 0}, True, 0, None, float("nan")))[0] == structure
    assert skeleton(("b", [0, 0], {"k": 0}, True, 0, None, float("nan")))[0] != structure
    assert skeleton(7)[0] == SLOT
    assert skeleton(True)[0] != skeleton(1)[0]


def test_noise_in_a_set_is_refused() -> None:
    with pytest.raises(UnknownOutcomeError, match="set"):
        skeleton(frozenset({noise(LAPLACE, 0)}))


def test_a_decision_about_data_that_holds_with_equality_excludes_nothing() -> None:
    """At the end of a branch on data the same numbers are released from both sides."""
    z = noise(LAPLACE, 0)
    at_its_end = LeafModel((leaf(z, at_least(number(0), number(0))),))
    assert infinite_loss(released(plus(number(1), z)), at_its_end) is None


# --- functions of numbers and exceptions --------------------------------------------------------------------


def image(form: Affine, *names: str) -> Image:
    return Image(tuple((name,) for name in names), form)


def released(*outcomes: object) -> LeafModel:
    return LeafModel(tuple(leaf(outcome) for outcome in outcomes))


def test_functions_of_numbers_are_released_numbers_and_exceptions_are_words() -> None:
    z = noise(LAPLACE, 0)
    assert released_numbers((image(z, "exp"), Raised("ValueError"))) == [z]
    assert skeleton((image(z, "exp"), Raised("ValueError")), functions=True)[1] == (z,)
    assert skeleton(Raised("ValueError")) != skeleton(Raised("KeyError"))


def test_functions_of_numbers_are_not_read_as_the_numbers_themselves() -> None:
    """The rounded answers of uniform noise coincide, whatever the supports of the answers are."""
    sides = [
        released(image(plus(number(x), noise(NoiseKind.UNIFORM, 0, Fraction(1, 4))), "floor"))
        for x in (0, Fraction(1, 2))
    ]
    with pytest.raises(UnknownOutcomeError, match="floor"):
        infinite_loss(*sides)


def test_strictly_monotone_functions_are_left_out_and_roundings_are_jumps() -> None:
    z = noise(LAPLACE, 0)
    ((model, other), jumps) = plain(released((image(z, "exp"), 1)), released((image(plus(number(1), z), "exp"), 2)))
    assert [one.leaves[0].outcome for one in (model, other)] == [(z, 1), (plus(number(1), z), 2)]
    assert list(jumps.values()) == [(None, None)]
    assert list(plain(released(image(z, "rint", "exp")))[1].values()) == [(Fraction(1, 2),)]
    assert list(plain(released(image(z, "ceil")))[1].values()) == [(Fraction(0),)]


@pytest.mark.parametrize(
    "outcomes",
    [
        (image(noise(LAPLACE, 0), "exp"), noise(LAPLACE, 0)),
        (image(noise(LAPLACE, 0), "exp"), image(noise(LAPLACE, 0), "log")),
        (image(noise(LAPLACE, 0), "floor"), 1),
        (image(noise(LAPLACE, 0), "exp", "floor"),),
        (image(noise(LAPLACE, 0), "floor", "exp", "rint"),),
        (image(number(Fraction(5, 2)), "floor"),),
    ],
)
def test_functions_whose_values_may_coincide_are_not_compared(outcomes: tuple[object, ...]) -> None:
    with pytest.raises(UnknownOutcomeError):
        plain(*(released(outcome) for outcome in outcomes))


# --- supports -----------------------------------------------------------------------------------------------


def test_reused_noise_shows_the_difference_of_two_answers() -> None:
    def reused(x: int, y: int) -> LeafModel:
        z = noise(LAPLACE, 0)
        return LeafModel((leaf((plus(number(x), z), plus(number(y), z))),))

    found = infinite_loss(reused(0, 0), reused(1, 0))
    assert found is not None
    assert "no outcome of this form" in found.reason
    assert infinite_loss(reused(0, 0), reused(1, 1)) is None
    assert subspace(reused(0, 0).leaves[0]) == subspace(reused(5, 5).leaves[0])


def test_a_constant_that_one_side_releases_is_an_infinite_loss() -> None:
    zero, noisy = LeafModel((leaf(number(0)),)), additive(LAPLACE, 0)
    assert infinite_loss(zero, LeafModel((leaf(number(1)),))) is not None
    assert infinite_loss(zero, LeafModel((leaf(0),))) is None
    assert infinite_loss(LeafModel((leaf((number(0),)),)), noisy) is not None
    assert infinite_loss(noisy, LeafModel((leaf((number(0),)),))) is not None


@pytest.mark.parametrize(
    ("kind", "left", "right", "infinite"),
    [
        (NoiseKind.EXPONENTIAL, 0, 1, True),
        (NoiseKind.EXPONENTIAL, 1, 0, False),
        (NoiseKind.UNIFORM, 0, 1, True),
        (NoiseKind.UNIFORM, 1, 0, True),
        (NoiseKind.UNIFORM, 0, 0, False),
        (LAPLACE, 0, 1, False),
        (NoiseKind.NORMAL, 0, 1, False),
    ],
)
def test_edges_of_supports(kind: NoiseKind, left: int, right: int, infinite: bool) -> None:
    assert (infinite_loss(additive(kind, left), additive(kind, right)) is not None) == infinite


def test_released_answers_that_passed_a_test_lie_above_its_threshold() -> None:
    """The noisy answer is released if it is at least a threshold that depends on the data."""

    def tested(threshold: int) -> LeafModel:
        z = noise(LAPLACE, 0)
        return LeafModel((leaf(z, at_least(z, number(threshold))), leaf(None, at_least(number(threshold), z))))

    assert infinite_loss(tested(0), tested(1)) is not None
    assert infinite_loss(tested(1), tested(0)) is None


def test_two_right_leaves_cover_what_neither_covers_alone() -> None:
    z = noise(LAPLACE, 0)
    halves = LeafModel((leaf((z,), at_least(z, number(0))), leaf((z,), at_least(number(0), z))))
    assert infinite_loss(additive(LAPLACE, 0), halves) is None
    gap = LeafModel((leaf((z,), at_least(z, number(1))), leaf((z,), at_least(number(0), z)), leaf("between")))
    assert infinite_loss(additive(LAPLACE, 0), gap) is not None


def test_undecided_mass_on_the_right_excuses_everything() -> None:
    right = LeafModel((leaf(number(1)),), undecided=Fraction(1, 10**12))
    assert infinite_loss(LeafModel((leaf(number(0)),)), right) is None


def test_a_leaf_that_cannot_happen_is_no_event() -> None:
    z = noise(LAPLACE, 0)
    never = leaf(number(0), at_least(z, number(1)), at_least(number(0), z))
    assert infinite_loss(LeafModel((never, *additive(LAPLACE, 0).leaves)), additive(LAPLACE, 0)) is None


# --- densities ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(LAPLACE, Fraction(3, 2)), (NoiseKind.LOGISTIC, Fraction(3, 2)), (NoiseKind.NORMAL, None)],
)
def test_additive_noise_loses_the_sum_of_the_shifts(kind: NoiseKind, expected: Fraction | None) -> None:
    loss = worst_released_loss(additive(kind, 0, 1, scale=2), additive(kind, 1, -1, scale=2))
    assert loss == (arb.pos_inf() if expected is None else arb(3) / 2)


@pytest.mark.parametrize("kind", [NoiseKind.EXPONENTIAL, NoiseKind.GUMBEL])
def test_one_sided_noise_has_a_bounded_loss_in_one_direction(kind: NoiseKind) -> None:
    low, high = additive(kind, 0), additive(kind, 1)
    assert worst_released_loss(high, low) == 1
    assert worst_released_loss(low, high) == arb.pos_inf()


def test_gaussian_noise_is_a_pair_of_shift_the_norm() -> None:
    (loss,) = released_losses(additive(NoiseKind.NORMAL, 0, 0), additive(NoiseKind.NORMAL, 3, 4))
    assert loss.gaussian_shift is not None
    assert loss.gaussian_shift.contains(arb(5))


def test_partial_sums_of_noise_are_as_good_as_the_noise() -> None:
    """Released are x + Z and x + y + Z + W: the shifts of Z and W count, not those of the sums."""

    def sums(x: int, y: int) -> LeafModel:
        first = plus(number(x), noise(LAPLACE, 0))
        return LeafModel((leaf((first, plus(first, plus(number(y), noise(LAPLACE, 1))))),))

    assert worst_released_loss(sums(0, 0), sums(1, 0)) == 1
    assert worst_released_loss(sums(0, 0), sums(1, -1)) == 2


def test_weights_of_discrete_draws_count() -> None:
    def chosen(p: Fraction, x: int) -> LeafModel:
        return LeafModel((leaf(("a", plus(number(x), noise(LAPLACE, 0))), weight=p), leaf("b", weight=1 - p)))

    left, right = chosen(Fraction(1, 2), 0), chosen(Fraction(1, 4), 1)
    assert abs(worst_released_loss(left, right) - (arb(2).log() + 1)) < arb(2) ** -50


@pytest.mark.parametrize(
    "broken",
    [
        LeafModel((leaf(plus(noise(LAPLACE, 0), noise(LAPLACE, 1))),)),
        LeafModel((leaf(noise(LAPLACE, 0), at_least(noise(LAPLACE, 0), number(0))),)),
        LeafModel((leaf(noise(LAPLACE, 0), weight=Fraction(1, 2)), leaf(noise(LAPLACE, 1), weight=Fraction(1, 2)))),
        LeafModel((leaf(noise(LAPLACE, 0)),), undecided=Fraction(1, 2)),
    ],
)
def test_other_densities_are_undecided(broken: LeafModel) -> None:
    with pytest.raises(UndecidedLeafError):
        worst_released_loss(broken, broken)


def test_different_scales_are_undecided() -> None:
    with pytest.raises(UndecidedLeafError, match="scales"):
        worst_released_loss(additive(LAPLACE, 0), additive(LAPLACE, 0, scale=2))


# --- cells --------------------------------------------------------------------------------------------------


def gap(data: tuple[int, ...]) -> LeafModel:
    """Index and gap of noisy max with Lap(2)."""
    scores = [plus(number(x), noise(LAPLACE, i, 2)) for i, x in enumerate(data)]
    leaves = []
    for i, own in enumerate(scores):
        for j, second in enumerate(scores):
            others = [at_least(second, score) for k, score in enumerate(scores) if k not in (i, j)]
            if i != j:
                leaves.append(leaf((i, minus(own, second)), at_least(own, second), *others))
    return LeafModel(tuple(leaves))


def test_cells_of_laplace_noise_reach_its_loss() -> None:
    left, right = additive(LAPLACE, 0, scale=2), additive(LAPLACE, 1, scale=2)
    sides = [in_cells(model, kinks(left, right)) for model in (left, right)]
    assert all(partition_of_unity(side).outcome is Outcome.HOLDS for side in sides)
    loss = max_divergence(*(LeafDistribution(side) for side in sides))
    assert abs(loss - arb(1) / 2) < arb(2) ** -40


def test_index_and_gap_in_cells_stay_below_epsilon_and_come_near() -> None:
    """It is 1-DP (Ding and others 2019): winners that lead by much are at nearly the whole loss."""
    left, right = gap((3, 0, 0)), gap((2, 1, 1))
    cuts = {structure: [[], [Fraction(0), Fraction(4), Fraction(8)]] for structure in kinks(left, right)}
    sides = [in_cells(model, cuts) for model in (left, right)]
    assert all(partition_of_unity(side).outcome is Outcome.HOLDS for side in sides)
    loss = max_divergence(*(LeafDistribution(side) for side in sides))
    assert arb(0.9) < loss < 1
