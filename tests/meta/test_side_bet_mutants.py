"""Mutants of the mathematics of the audit: each is a way to cheat that its statement must refute."""

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.statement import find_statement
from dpassay.spec.theorems.auditing import side_bets
from dpassay.spec.verdict import Outcome


def without_the_fee(stake: Fraction, ratio: Fraction, delta: Fraction, weight: Fraction, cap: Fraction) -> Any:
    return side_bets_side_bet(stake, ratio, Fraction(0), weight, cap)


def capital_clipped_from_below(
    stake: Fraction, ratio: Fraction, delta: Fraction, weight: Fraction, cap: Fraction
) -> Any:
    left, right = side_bets_side_bet(stake, ratio, delta, weight, cap)
    return max(left, Fraction(1, 2)), max(right, Fraction(1, 2))


def stake_chosen_after_the_side(
    stake: Fraction, ratio: Fraction, delta: Fraction, weight: Fraction, cap: Fraction
) -> Any:
    return side_bets_side_bet(stake, ratio, delta, weight, cap)[0], 1 - delta * cap / 2


def one_fee_for_both_directions(
    up: Fraction, down: Fraction, ratio: Fraction, delta: Fraction, weight: Fraction, caps: tuple[Fraction, Fraction]
) -> Any:
    due = delta * min(caps) / 2
    return tuple(factor + due for factor in side_bets_two_sided(up, down, ratio, delta, weight, caps))


def caps_of_fair_sides(ratio: Fraction, delta: Fraction, weight: Fraction) -> tuple[Fraction, Fraction]:
    return 1 / (ratio + delta), 1 / (ratio + delta)


def payout_of_fair_sides(
    up: Fraction, down: Fraction, ratio: Fraction, delta: Fraction, weight: Fraction, caps: tuple[Fraction, Fraction]
) -> Any:
    return side_bets_two_sided(up, down, ratio, delta, Fraction(1, 2), caps)


def weight_chosen_after_the_side(
    stake: Fraction, ratio: Fraction, delta: Fraction, weight: Fraction, cap: Fraction
) -> Any:
    """On the left a weight is claimed for which a left call pays better than for the one that was drawn with."""
    return side_bets_side_bet(stake, ratio, delta, weight / 2, cap)[0], side_bets_side_bet(
        stake, ratio, delta, weight, cap
    )[1]


def cap_that_ignores_the_weight(ratio: Fraction, delta: Fraction, weight: Fraction) -> Fraction:
    return 1 / (ratio + delta / 2)


def posteriors_of_fair_sides(pair: PairAtRatio, weight: Fraction) -> Any:
    return side_bets_posteriors(pair, Fraction(1, 2))


def largest_loss_for_the_range(pair: PairAtRatio) -> bool:
    def weights(outcome: Hashable) -> tuple[Fraction, Fraction]:
        return pair.left.probability(outcome), pair.right.probability(outcome)

    return all(p <= pair.ratio * q and q <= pair.ratio * p for p, q in map(weights, pair.left.outcomes))


def first_standing_point(refuted: tuple[bool, ...]) -> int:
    return min(side_bets_bound(refuted) + 1, len(refuted))


def stake_that_forgets_what_a_miss_costs(posterior: Any, ratio: Any) -> Any:
    return posterior / ratio + posterior


def growth_of_left_calls_alone(weight: Fraction, mass: Fraction, ratio: Fraction) -> arb:
    return ball(mass) * ball((1 - weight) / (weight * ratio)).log1p()


side_bets_side_bet, side_bets_two_sided = side_bets.side_bet, side_bets.two_sided_bet
side_bets_posteriors, side_bets_bound = side_bets._posteriors, side_bets.bound_on_the_grid


def case(statement: str, name: str, wrong: Callable[..., Any]) -> Any:
    mark = pytest.mark.kills(statement)
    return pytest.param(statement, name, wrong, marks=mark, id=f"{statement}-{wrong.__name__}")


@pytest.mark.parametrize(
    ("statement", "name", "wrong"),
    [
        case("fair_side_bet_under_approximate_dp", "side_bet", without_the_fee),
        case("fair_side_bet_under_approximate_dp", "side_bet", stake_chosen_after_the_side),
        case("fair_side_bet_under_approximate_dp", "largest_stake", cap_that_ignores_the_weight),
        case("fair_two_sided_bet_under_approximate_dp", "two_sided_bet", one_fee_for_both_directions),
        case("fair_two_sided_bet_under_approximate_dp", "two_sided_bet", payout_of_fair_sides),
        case("fair_two_sided_bet_under_approximate_dp", "largest_stakes", caps_of_fair_sides),
        case("pure_dp_bounds_the_posterior_of_the_side", "_posteriors", posteriors_of_fair_sides),
        case("growth_optimal_side_bet_by_proof", "_best_stake", stake_that_forgets_what_a_miss_costs),
        case("bounded_range_is_pure_dp_of_ordered_pairs", "_has_range", largest_loss_for_the_range),
        case("stopped_wealth_has_mean_at_most_one", "side_bet", capital_clipped_from_below),
        case("stopped_wealth_has_mean_at_most_one", "side_bet", without_the_fee),
        case("stopped_wealth_has_mean_at_most_one", "side_bet", weight_chosen_after_the_side),
        case("bound_on_a_grid_errs_only_if_a_true_claim_is_refuted", "bound_on_the_grid", first_standing_point),
        case("growth_of_evidence_is_below_the_mass_over_the_ratio", "_growth", growth_of_left_calls_alone),
    ],
)
def test_cheating_is_refuted(
    monkeypatch: pytest.MonkeyPatch, statement: str, name: str, wrong: Callable[..., Any]
) -> None:
    monkeypatch.setattr(side_bets, name, wrong)
    assert verify_statement(find_statement(statement)).outcome is Outcome.VIOLATED
