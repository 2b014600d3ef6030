"""Mutants of concentrated notions, set-wise bounds, histograms, truncated noise and top-k. Each must be refuted."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import arb

from dpassay.properties.verify import verify_statement
from dpassay.spec.ball import ball, sum_balls
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.peeling import arrival_probability_exact
from dpassay.spec.distributions.truncated_gaussian import singular_mass, truncated_upper_tail
from dpassay.spec.interactions import setwise as game
from dpassay.spec.interactions.transcripts import Branch
from dpassay.spec.notions.concentrated_conversions import mean_loss_of_bounded_range
from dpassay.spec.statement import Statement
from dpassay.spec.theorems.composition import (
    concentrated,
    concentrated_bounded_range,
    histograms,
    setwise,
    subgaussian,
    top_k,
    truncated_gaussian,
)
from dpassay.spec.verdict import Outcome, Verdict

C, B, S, U = concentrated, concentrated_bounded_range, setwise, subgaussian
H, T, K = histograms, truncated_gaussian, top_k

subgaussian_of = concentrated._subgaussian
right_value = game.setwise_value
released = truncated_gaussian.released_labels
truncation_delta = truncated_gaussian.truncation_delta
upper_tail, singular = truncated_upper_tail, singular_mass
laplace_delta = histograms.laplace_histogram_delta
mean_of_range = mean_loss_of_bounded_range


def half_of_the_scale(pair: Any, order: Fraction, tau: Any) -> Verdict:
    return subgaussian_of(pair, order, lambda: tau() / 2)


def variance_taken_twice(mu: Any, tau: Any) -> tuple[Any, Any]:
    return mu - tau**2, tau**2 / 2


def rho_of_bounded_range_for_pure(mu: Any, tau: Any) -> tuple[Any, Any]:
    return 0 * mu, tau**2 / 8


def two_missing(rho: Fraction, delta: Fraction) -> arb:
    return ball(rho) + (-ball(rho) * ball(delta).log()).sqrt()


class Replacing(game.SetwiseRule):
    """Parameters that may be used again, a few times."""

    def start(self) -> Any:
        return (frozenset(range(self.size)), 2 * self.size)

    def admits(self, state: Any, offer: Any) -> bool:
        return offer.index in state[0] and state[1] > 0

    def spend(self, state: Any, offer: Any, outcome: Any) -> Any:  # noqa: ARG002
        return (state[0], state[1] - 1)


def last_parameter_only(offers: Sequence[Any], size: int, budget: Fraction) -> Fraction:
    return right_value([offer for offer in offers if offer.index == size - 1], size, budget)


def loss_not_centred(branch: Branch) -> arb:
    steps = zip(branch.rounds, branch.transcript, strict=True)
    return sum_balls(ball(Fraction(offer.likelihood_ratio(o))).log() for offer, o in steps)


def largest_in_place_of_sum(means: list[arb], scales: list[arb], delta: Fraction) -> arb:
    return means[0] + (-ball(delta).log()).sqrt() * scales[0] / 2


def gaussian_variance_missing(pure: Any, ranged: Any, gaussian: Any, delta: Fraction) -> arb:
    mean = sum_balls(count * mu for count, mu, _ in (pure, ranged, gaussian))
    return mean + (-2 * sum_balls(n * tau**2 for n, _, tau in (pure, ranged)) * ball(delta).log()).sqrt()


def two_missing_in_lemma_3_3(means: list[arb], scales: list[arb], delta: Fraction) -> arb:
    return right_setwise_epsilon(means, [tau / arb(2).sqrt() for tau in scales], delta)


def half_of_the_means(means: list[arb], scales: list[arb], delta: Fraction) -> arb:
    return right_setwise_epsilon([mu / 2 for mu in means], scales, delta)


def smaller_scales_in_equation_3(share: Fraction) -> Any:
    """Return eq (3) with alpha^2/8 for alpha^2/4, and with epsilon^2/2 for epsilon^2, at `share` = 1/2."""

    def wrong(pure: Any, ranged: Any, gaussian: Any, delta: Fraction) -> arb:
        first, second = ((n, mu, tau * ball(share).sqrt()) for n, mu, tau in (pure, ranged))
        return right_mixed_epsilon(first, second, gaussian, delta)

    return wrong


def two_missing_in_lemma_3_4(curves: list[tuple[arb, arb]], delta: Fraction) -> arb:
    rho = sum_balls(each for _, each in curves)
    return sum_balls(xi for xi, _ in curves) + rho + (-rho * ball(delta).log()).sqrt()


right_setwise_epsilon, right_mixed_epsilon = setwise.setwise_epsilon, setwise.mixed_epsilon


def largest_delta(deltas: list[Fraction], delta: Fraction) -> Fraction:
    return delta + max(deltas)


def one_count_fewer(base: arb, size: int, epsilon: arb) -> arb:
    return laplace_delta(base, size - 1, epsilon) if size > 1 else arb(0)


def root_of_the_number_missing(size: int, sigma: arb, delta: arb) -> arb:
    return size / (2 * sigma**2) + (-2 * delta.log()).sqrt() / sigma / size


def half_of_kappa(width: arb) -> arb:
    return mean_of_range(width) / 2


def l1_for_l2(size: Any, tau: Any, sigma: Any) -> Any:
    return size * tau / (tau * sigma)


def l1_for_l2_in_balls(base: Fraction, size: int, level: Fraction) -> arb:
    return gaussian_hockey_stick(size * ball(base) / arb(2).sqrt(), ball(level))


def unnormalised(z: Any, half_width: Any, sigma: Any) -> Any:
    return sp.exp(-(z**2) / sigma**2 / 2) / sp.sqrt(2 * sp.pi) / sigma


def cut_before_pooling(noisy: Any) -> Any:
    return right_fit(tuple(max(y, Fraction(0)) for y in noisy))


def increasing(noisy: Any) -> Any:
    return tuple(reversed(right_fit(tuple(reversed(noisy)))))


def cut_on_the_wrong_side(noisy: Any) -> Any:
    return tuple(-x for x in right_fit(tuple(-y for y in noisy)))


def squared_weights(weights: list[Fraction], taken: tuple[int, ...]) -> Any:
    return right_choice([w * w for w in weights], taken)


def uniform_arrivals(weights: Sequence[Fraction], ranked: Sequence[int]) -> Fraction:
    return right_arrivals([Fraction(1)] * len(weights), ranked)


right_fit, right_choice, right_arrivals = top_k.count_mle, top_k.next_choice, arrival_probability_exact

REFUTED = [
    ("cdp_of_pure_dp", "mean of bounded range", C, "zcdp_rho_of_pure", mean_of_range),
    ("cdp_of_pure_dp", "half of the scale", C, "_subgaussian", half_of_the_scale),
    ("cdp_of_bounded_range", "half of the mean", C, "mean_loss_of_bounded_range", half_of_kappa),
    ("cdp_of_bounded_range", "half of the scale", C, "_subgaussian", half_of_the_scale),
    ("zcdp_of_cdp", "mu - tau^2", C, "zcdp_of_cdp_parameters", variance_taken_twice),
    ("approximate_dp_of_gaussian_through_zcdp", "2 missing", C, "optimal_probabilistic_epsilon", two_missing),
    (
        "approximate_dp_of_approximate_zcdp_with_an_offset",
        "delta forgotten",
        C,
        "implied_delta",
        lambda delta, tail: tail,
    ),
    ("affine_zcdp_of_pure_dp_and_bounded_range", "mu - tau^2", B, "zcdp_of_cdp_parameters",
     variance_taken_twice),
    ("affine_zcdp_of_pure_dp_and_bounded_range", "epsilon^2/8", B, "zcdp_of_cdp_parameters",
     rho_of_bounded_range_for_pure),
    ("zcdp_of_bounded_range", "half of kappa", B, "mean_loss_of_bounded_range", half_of_kappa),
    ("curvature_series_has_no_negative_coefficient", "another series", B, "curvature_coefficient",
     lambda n: 4**n - 4),
    ("tail_of_adaptively_scaled_subgaussian_sum", "the largest square", U, "total_square",
     lambda s: max(s) ** 2),
    ("tail_of_adaptively_scaled_subgaussian_sum", "2 missing", U, "subgaussian_tail",
     lambda level, square: ball(-(level**2) / square).exp()),
    ("setwise_view_is_at_most_the_optimal_analysts", "with replacement", game, "SetwiseRule", Replacing),
    ("setwise_view_is_at_most_the_optimal_analysts", "one parameter", S, "setwise_value", last_parameter_only),
    ("setwise_value_is_best_of_all_plans", "one parameter", S, "setwise_value", last_parameter_only),
    ("centred_losses_are_martingale_differences", "not centred", S, "centred_loss", loss_not_centred),
    ("approximate_dp_of_setwise_cdp", "one parameter", S, "setwise_epsilon", largest_in_place_of_sum),
    ("approximate_dp_of_mixed_classes", "no Gaussian variance", S, "mixed_epsilon", gaussian_variance_missing),
    ("setwise_bounds_hold_for_many_mechanisms", "2 missing in Lemma 3.3", S, "setwise_epsilon",
     two_missing_in_lemma_3_3),
    ("setwise_bounds_hold_for_many_mechanisms", "half of the means", S, "setwise_epsilon", half_of_the_means),
    ("setwise_bounds_hold_for_many_mechanisms", "alpha^2/8 and epsilon^2/2", S, "mixed_epsilon",
     smaller_scales_in_equation_3(Fraction(1, 2))),
    ("setwise_bounds_hold_for_many_mechanisms", "half of kappa", S, "mean_loss_of_bounded_range", half_of_kappa),
    ("setwise_bounds_hold_for_many_mechanisms", "2 missing in Lemma 3.4", S, "setwise_approximate_epsilon",
     two_missing_in_lemma_3_4),
    ("approximate_dp_of_setwise_approximate_zcdp", "max delta_i", S, "setwise_total_delta", largest_delta),
    ("approximate_dp_of_laplace_histogram", "one count fewer", H, "laplace_histogram_delta", one_count_fewer),
    ("approximate_dp_of_gaussian_histogram", "1/size for sqrt(size)", H, "gaussian_histogram_epsilon",
     root_of_the_number_missing),
    ("mean_losses_cross_at_3_83", "epsilon^2/2", H, "zcdp_rho_of_pure", lambda e: e**2 / 2),
    ("gaussian_overtakes_laplace_at_the_crossover", "l1 for l2", H, "gaussian_delta", l1_for_l2_in_balls),
    ("constants_of_the_word_counts", "1/size for sqrt(size)", H, "gaussian_histogram_epsilon",
     root_of_the_number_missing),
    ("constants_of_the_word_counts", "one count fewer", H, "laplace_histogram_delta", one_count_fewer),
    ("overlap_of_truncated_gaussians_has_the_rest", "Delta forgotten", T, "truncation_delta",
     lambda width, sigma, size: truncation_delta(width, sigma, 1)),
    ("conditional_renyi_of_truncated_gaussian", "1/2 missing", T, "conditional_renyi_divergence",
     lambda alpha, width, shift: ball(alpha) * ball(shift) ** 2),
    ("approximate_dp_of_truncated_gaussian", "half of delta", T, "singular_mass",
     lambda width, shift: singular(width, shift) / 4),
    ("truncation_loses_little_of_the_gaussian", "no singular part", T, "singular_mass", lambda w, m: arb(1)),
    ("appearance_at_the_half_width_is_paid_for", "threshold below T", T, "truncated_upper_tail",
     lambda position, width: upper_tail(ball(position) - ball(Fraction(1, 10)), width)),
    ("release_in_order_of_labels_is_no_function_of_counts", "true order", T, "released_labels",
     lambda histogram, least, limit, by_label: released(histogram, least, limit, by_label=False)),
    ("release_in_order_of_labels_is_no_function_of_counts", "dbar < d", T, "released_labels",
     lambda histogram, least, limit, by_label: released(histogram, least, 1, by_label=True)),
    ("repeated_truncated_gaussians_add_up", "delta of one count", T, "truncation_delta",
     lambda width, sigma, size: truncation_delta(width, sigma, 1)),
    ("top_k_of_gumbel_noise_is_peeling", "equal rates", K, "arrival_probability_exact", uniform_arrivals),
    ("each_peel_is_bounded_range", "half of the scale", K, "next_choice", squared_weights),
    ("count_mle_is_the_projection", "cut before pooling", K, "count_mle", cut_before_pooling),
    ("count_mle_is_the_projection", "increasing", K, "count_mle", increasing),
    ("count_mle_does_not_increase_the_error", "cut on the wrong side", K, "count_mle", cut_on_the_wrong_side),
]  # fmt: skip

UNPROVED = [
    ("cdp_of_gaussian_mechanism", "variance for scale", C, "gaussian_cdp", lambda s: (1 / (2 * s**2), 1 / s**2)),
    ("bounded_range_mean_is_attained", "1/a missing", C, "extremal_mean_point", lambda a: sp.log(sp.exp(a) - 1)),
    ("bounded_range_moment_is_superadditivity_gap", "u^(s+1)", B, "response_moment",
     lambda u, a, s: u * (1 - sp.exp(-(s + 1) * a)) / (1 - sp.exp(-a))),
    ("largest_mean_loss_has_concave_derivative", "another series", B, "curvature_coefficient", lambda n: 4**n),
    ("zcdp_of_gaussian_histogram", "l1 for l2", H, "gaussian_histogram_shift", l1_for_l2),
    ("laplace_and_gaussian_noise_of_equal_variance", "sigma = b", H, "equal_variance_multiplier",
     lambda e: 1 / e),
    ("truncated_gaussian_is_conditional_gaussian", "not normalised", T, "truncated_density", unnormalised),
]  # fmt: skip


def test_a_wrong_formula_is_refuted(refuted: Statement) -> None:
    assert verify_statement(refuted).outcome is Outcome.VIOLATED


def test_a_proof_of_a_wrong_formula_does_not_go_through(unproved: Statement) -> None:
    assert verify_statement(unproved).outcome is not Outcome.HOLDS
