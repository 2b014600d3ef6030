"""Mutants of the notions: wrong divergences, wrong conversions, wrong calibrations. Each must be refuted."""

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from dpassay.claims import ZCDP
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import at_most, ball, normal_quantile
from dpassay.spec.distributions.discrete import (
    DiscreteDistribution,
    FiniteDistribution,
    hockey_stick_exact,
    loss_tail_exact,
    privacy_loss,
    relative_entropy,
    renyi_divergence,
)
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick, gaussian_loss_tail
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.distributions.permute_and_flip import PermuteAndFlipDistribution
from dpassay.spec.distributions.selection import Rivals, selection_rate
from dpassay.spec.notions import pure_conversions, renyi_conversions, zcdp_conversions
from dpassay.spec.notions.renyi_conversions import approximate_epsilon_of_renyi, probabilistic_epsilon_of_renyi
from dpassay.spec.statement import Statement, find_statement
from dpassay.spec.theorems.gaussian_selection import (
    approximate_privacy,
    ex_post_privacy,
    gaussian_mechanism,
    renyi_privacy,
    selection_baselines,
)
from dpassay.spec.theorems.gaussian_selection.approximate_privacy import worst_advantage
from dpassay.spec.verdict import Outcome, Verdict

Finite = FiniteDistribution


# --- wrong formulas -----------------------------------------------------------------------------------------


class OnlyAdditions(VectorNeighbours):
    """The relation in which nothing is ever taken away."""

    def admits(self, left: Any, right: Any) -> bool:
        return bool((right >= left).all()) and super().admits(left, right)


def singletons_only(left: Finite, right: Finite, ratio: Fraction) -> Fraction:
    return max(max(p - ratio * right.probability(o), Fraction(0)) for o, p in left.weights.items())


def tail_with_ties(left: Finite, right: Finite, ratio: Fraction) -> Fraction:
    return sum((p for o, p in left.weights.items() if p >= ratio * right.probability(o)), Fraction(0))


def tail_under_right(left: Finite, right: Finite, ratio: Fraction) -> Fraction:
    bad = (o for o, p in left.weights.items() if p > ratio * right.probability(o))
    return sum((right.probability(o) for o in bad), Fraction(0))


def tail_of_absolute_loss(left: Finite, right: Finite, ratio: Fraction) -> Fraction:
    weights = left.weights.items()
    bad = (p for o, p in weights if p > ratio * right.probability(o) or ratio * p < right.probability(o))
    return sum(bad, Fraction(0))


def tail_swapped(left: Finite, right: Finite, ratio: Fraction) -> Fraction:
    return loss_tail_exact(right, left, ratio)


def exceeding_with_ties(pair: PairAtRatio) -> list[int]:
    return [o for o in range(pair.size) if pair.left.probability(o) >= pair.ratio * pair.right.probability(o)]


def swapped_loss(left: DiscreteDistribution, right: DiscreteDistribution, outcome: Hashable) -> arb:
    return privacy_loss(right, left, outcome)


def absolute_loss(left: DiscreteDistribution, right: DiscreteDistribution, outcome: Hashable) -> arb:
    return abs(privacy_loss(left, right, outcome))


def loss_in_bits(left: DiscreteDistribution, right: DiscreteDistribution, outcome: Hashable) -> arb:
    return privacy_loss(left, right, outcome) / arb(2).log()


def exponent_outside(left: DiscreteDistribution, right: DiscreteDistribution, alpha: arb) -> arb:
    return arb(0)  # (E_Q[P/Q])^alpha = 1


def swapped_renyi(left: DiscreteDistribution, right: DiscreteDistribution, alpha: arb) -> arb:
    return renyi_divergence(right, left, alpha)


def not_normalised(left: DiscreteDistribution, right: DiscreteDistribution, alpha: arb) -> arb:
    return renyi_divergence(left, right, alpha) * (alpha - 1)


def normalised_twice(left: DiscreteDistribution, right: DiscreteDistribution, alpha: arb) -> arb:
    return renyi_divergence(left, right, alpha) / (alpha - 1)


def moment_without_weights(left: Finite, right: Finite, alpha: int) -> Fraction | None:
    pairs = [(p, right.probability(o)) for o, p in left.weights.items() if p]
    return None if any(q == 0 for _, q in pairs) else sum(((p / q) ** alpha for p, q in pairs), Fraction(0))


def smallest_bound(preimages: Iterable[Fraction | None]) -> Fraction | None:
    return min((b for b in preimages if b is not None), default=Fraction(1))


def one_outcome_suffices(pair: PairAtRatio, bounds: list[Fraction]) -> bool:
    return any(pair.left.probability(o) <= bound * pair.right.probability(o) for o, bound in enumerate(bounds))


def larger_bound(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    return None if first is None or second is None else max(first, second)


def softmax(acceptance: Mapping[Hashable, Fraction]) -> dict[Hashable, Fraction]:
    return {o: p / sum(acceptance.values()) for o, p in acceptance.items()}


def factor_two_dropped(epsilon: Fraction, sensitivity: Fraction, *, monotone: bool = False) -> Fraction:
    return 2 * selection_rate(epsilon, sensitivity, monotone=monotone)


class PerRivals(ExponentialMechanismDistribution):
    """The softmax whose normaliser forgets the candidate itself."""

    @staticmethod
    def log_report_probability(own: Fraction, rivals: Rivals, rate: Fraction) -> arb:
        return -(arb(1) + sum((count * ball(rate * (q - own)).exp() for q, count in rivals), arb(1))).log()


class Timid(PermuteAndFlipDistribution):
    """Permute-and-flip at a hundredth of the rate."""

    @staticmethod
    def log_report_probability(own: Fraction, rivals: Rivals, rate: Fraction) -> arb:
        return PermuteAndFlipDistribution.log_report_probability(own, rivals, rate / 100)


def limit_only(claim: ZCDP, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    return at_most(lambda: relative_entropy(left, right), lambda: ball(claim.rho))


def order_in_place_of_excess(alpha: Fraction, epsilon: arb, delta: Fraction) -> arb:
    return epsilon - ball(delta).log() / ball(alpha)


def sign_of_log_delta(alpha: Fraction, epsilon: arb, delta: Fraction) -> arb:
    return epsilon + ball(delta).log() / ball(alpha - 1)


def gained_twice(alpha: Fraction, epsilon: arb, delta: Fraction) -> arb:
    gain = probabilistic_epsilon_of_renyi(alpha, epsilon, delta) - approximate_epsilon_of_renyi(alpha, epsilon, delta)
    return approximate_epsilon_of_renyi(alpha, epsilon, delta) - gain


def optimum_without_two(rho: Fraction, delta: Fraction) -> arb:
    return ball(rho) + (-ball(rho) * ball(delta).log()).sqrt()


def quantile_added(shift: Fraction, delta: Fraction) -> arb:
    return ball(shift) ** 2 / 2 + ball(shift) * normal_quantile(ball(delta))


def variance_in_place_of_scale(shift: Fraction, epsilon: Any) -> arb:
    return gaussian_hockey_stick(Fraction(shift) ** 2, epsilon)


def tail_under_the_neighbour(shift: Fraction, epsilon: Any) -> arb:
    return gaussian_loss_tail(shift, ball(epsilon) + ball(shift) ** 2)


def bounded_range_rho(epsilon: arb) -> arb:
    return epsilon**2 / 8


A, R, X = approximate_privacy, renyi_privacy, ex_post_privacy
G, S = gaussian_mechanism, selection_baselines
P, C, Z = pure_conversions, renyi_conversions, zcdp_conversions

REFUTED = [
    ("neighbouring_is_symmetric", "sensitivity over additions", A, "VectorNeighbours", OnlyAdditions),
    (
        "one_order_does_not_bound_the_other",
        "the worse order taken for either",
        A,
        "worst_advantage",
        lambda pair: max(worst_advantage(pair), worst_advantage(pair.swapped)),
    ),
    ("delta_is_hockey_stick", "single outcomes only", A, "hockey_stick_exact", singletons_only),
    (
        "delta_is_hockey_stick", "P, Q swapped", A, "hockey_stick_exact", lambda p, q, r: hockey_stick_exact(q, p, r)
    ),
    ("pure_dp_is_pointwise", ">= in place of >", A, "exceeding_outcomes", exceeding_with_ties),
    ("approximate_dp_survives_post_processing", "single outcomes", A, "hockey_stick_exact", singletons_only),
    ("privacy_loss_is_log_likelihood_ratio", "P, Q swapped", A, "privacy_loss", swapped_loss),
    ("privacy_loss_is_log_likelihood_ratio", "absolute value", A, "privacy_loss", absolute_loss),
    ("privacy_loss_is_log_likelihood_ratio", "logarithm to base 2", A, "privacy_loss", loss_in_bits),
    ("probabilistic_delta_is_least_bad_event", ">= in place of >", A, "loss_tail_exact", tail_with_ties),
    ("probabilistic_delta_is_least_bad_event", "under Q", A, "loss_tail_exact", tail_under_right),
    ("probabilistic_delta_is_least_bad_event", "|L|", A, "loss_tail_exact", tail_of_absolute_loss),
    ("probabilistic_delta_is_least_bad_event", "swapped", A, "loss_tail_exact", tail_swapped),
    ("probabilistic_dp_does_not_survive_post_processing", "under Q", A, "loss_tail_exact", tail_under_right),
    (
        "approximate_dp_does_not_imply_probabilistic_dp", "the notions equal", A, "hockey_stick_exact", loss_tail_exact
    ),
    ("renyi_divergence_is_moment_of_loss", "exponent outside", R, "renyi_divergence", exponent_outside),
    ("renyi_divergence_is_moment_of_loss", "P, Q swapped", R, "renyi_divergence", swapped_renyi),
    ("renyi_divergence_is_moment_of_loss", "1/(alpha-1) missing", R, "renyi_divergence", not_normalised),
    ("renyi_divergence_increases_with_order", "1/(alpha-1) twice", R, "renyi_divergence", normalised_twice),
    ("renyi_divergence_tends_to_max_divergence", "1/(alpha-1) missing", R, "renyi_divergence", not_normalised),
    ("renyi_divergence_tends_to_max_divergence", "P, Q swapped", R, "renyi_divergence", swapped_renyi),
    (
        "renyi_divergence_tends_to_relative_entropy",
        "entropy of the other order",
        R,
        "relative_entropy",
        lambda p, q: relative_entropy(q, p),
    ),
    ("renyi_dp_survives_post_processing", "weights missing", R, "renyi_moment_exact", moment_without_weights),
    ("pure_dp_of_constant_ex_post_dp", "one outcome suffices", X, "obeys_bound",
     one_outcome_suffices),
    ("ex_post_bounds_add_under_composition", "maximum of the two", X, "composed_bound", larger_bound),
    ("ex_post_bound_after_post_processing_is_maximum", "minimum", X, "image_bound", smallest_bound),
    ("ex_post_dp_does_not_survive_averaging", "bounds are 0", X, "least_bound", lambda p, q, o: Fraction(1)),
    ("gaussian_renyi_divergence_is_moment_of_normal_loss", "1/2 missing", G, "gaussian_renyi_divergence",
     lambda m, alpha: ball(alpha) * ball(m) ** 2),
    ("approximate_dp_of_gaussian_mechanism", "variance for scale", G, "gaussian_hockey_stick",
     variance_in_place_of_scale),
    ("gaussian_delta_is_attained", "the loss tail", G, "gaussian_hockey_stick", gaussian_loss_tail),
    ("probabilistic_dp_of_gaussian_mechanism", "sign of the quantile", G, "gaussian_probabilistic_epsilon",
     quantile_added),
    ("gaussian_conversion_to_probabilistic_dp_is_sound", "2 missing", G, "optimal_probabilistic_epsilon",
     optimum_without_two),
    ("gaussian_delta_at_most_loss_tail", "under Q", G, "gaussian_loss_tail", tail_under_the_neighbour),
    *(
        (f"pure_dp_of_{name}{suffix}", "factor 2", S, "selection_rate", factor_two_dropped)
        for name in ("exponential_mechanism", "permute_and_flip", "laplace_noisy_max")
        for suffix in ("", "_for_monotone_scores")
    ),
    ("permute_and_flip_distribution_is_mean_over_orders", "softmax", S, "first_accepted_exact", softmax),
    ("permute_and_flip_errs_no_more_than_exponential", "lower rate", S, "PermuteAndFlipDistribution", Timid),
    ("selection_distributions_sum_to_one", "wrong normaliser", S, "ExponentialMechanismDistribution", PerRivals),
    ("approximate_dp_of_pure_dp", "denominator too large", P, "approximate_delta_of_pure",
     lambda largest, ratio: max(Fraction(0), (largest - ratio) / (largest + 2))),
    ("probabilistic_dp_of_pure_dp", ">= in place of >", P, "loss_tail_exact", tail_with_ties),
    ("zcdp_of_pure_dp", "rho of bounded range", P, "zcdp_rho_of_pure", bounded_range_rho),
    ("approximate_dp_of_probabilistic_dp", "under Q", C, "loss_tail_exact", tail_under_right),
    ("probabilistic_dp_of_renyi_dp", "alpha for alpha - 1", C, "probabilistic_epsilon_of_renyi",
     order_in_place_of_excess),
    ("probabilistic_dp_of_renyi_dp", "log delta", C, "probabilistic_epsilon_of_renyi", sign_of_log_delta),
    ("probabilistic_dp_of_renyi_dp", "the conversion to DP", C, "probabilistic_epsilon_of_renyi",
     approximate_epsilon_of_renyi),
    ("approximate_dp_of_renyi_dp", "gain counted twice", C, "approximate_epsilon_of_renyi", gained_twice),
    ("tighter_conversion_does_not_give_probabilistic_dp", "Markov", C, "approximate_epsilon_of_renyi",
     probabilistic_epsilon_of_renyi),
    ("renyi_dp_of_zcdp", "the limit alpha -> 1 only", Z, "zcdp_holds", limit_only),
    ("probabilistic_dp_of_zcdp", "2 missing", Z, "optimal_probabilistic_epsilon", optimum_without_two),
    ("approximate_dp_of_zcdp", "gain counted twice", Z, "approximate_epsilon_of_renyi", gained_twice),
]  # fmt: skip

# A wrong step of a proof is not reduced to 0; whether the difference is a number is another matter.
UNPROVED = [
    ("renyi_dp_of_gaussian_mechanism", "no 1/2", G, "gaussian_renyi_curve", lambda a, d, s: a * (d / s) ** 2),
    ("renyi_dp_of_gaussian_mechanism", "d for d^2", G, "gaussian_renyi_curve", lambda a, d, s: a * d / 2 / s**2),
    ("best_event_against_gaussian_is_half_line", "wrong end", G, "best_half_line", lambda m, e: e / m - m / 2),
    ("best_order_of_conversion_to_probabilistic_dp", "2 missing", R, "rdp_curve_optimum",
     lambda a, c: (a + (a * c) ** 0.5, 1 + (c / a) ** 0.5)),
    ("zcdp_of_pure_dp_by_randomised_response", "half of it", P, "randomised_response_rho", lambda e: e**2 / 8),
]  # fmt: skip


def test_a_wrong_formula_is_refuted(refuted: Statement) -> None:
    assert verify_statement(refuted).outcome is Outcome.VIOLATED


def test_a_proof_of_a_wrong_formula_does_not_go_through(unproved: Statement) -> None:
    assert verify_statement(unproved).outcome is not Outcome.HOLDS


@pytest.mark.parametrize("name", [name for name, *_ in UNPROVED])
def test_the_unmutated_proof_goes_through(name: str) -> None:
    assert verify_statement(find_statement(name)).outcome is Outcome.HOLDS
