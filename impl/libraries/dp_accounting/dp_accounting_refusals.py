"""Invalid arguments that dp-accounting refuses as documented: of losses, distributions, events and calibrations."""

from __future__ import annotations

import dp_accounting as dp
from dp_accounting import mechanism_calibration, pld, rdp
from dp_accounting.pld import common, pld_pmf
from dp_accounting.pld import privacy_loss_mechanism as mechanisms

from dpassay.adapter import Nonsense

__all__ = ["further_refusals"]

_distributions = pld.privacy_loss_distribution
_Way = mechanisms.AdjacencyType
_REPLACE, _SPECIAL = dp.NeighboringRelation.REPLACE_ONE, dp.NeighboringRelation.REPLACE_SPECIAL


def _sparse(interval=0.1, pessimistic=True):
    return pld_pmf.create_pmf({-1: 0.2, 0: 0.3, 2: 0.4}, interval, 0.1, pessimistic)


def _dense(interval=0.1, pessimistic=True):
    return _sparse(interval, pessimistic).to_dense_pmf()


def _losses_on_a_grid():
    dots, gap = pld_pmf.create_pmf_pessimistic_connect_dots, pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap
    attempts = {}
    for words, make in (("sparse", _sparse), ("dense", _dense)):
        attempts |= {
            f"{words}, levels out of order": lambda m=make: m().get_delta_for_epsilon([1.0, 0.5]),
            f"{words}, none": lambda m=make: m().self_compose(0),
            f"{words}, -1 times": lambda m=make: m().self_compose(-1),
            f"{words}, another interval": lambda m=make: m().compose(m(0.2)),
            f"{words}, another rounding": lambda m=make: m().compose(m(0.1, False)),
            f"{words}, a mixture with another interval": lambda m=make: m().compute_mixture(m(0.2), 0.5),
            f"{words}, a mixture with another rounding": lambda m=make: m().compute_mixture(m(0.1, False), 0.5),
            f"{words}, a weight of 1.5": lambda m=make: m().compute_mixture(m(), 1.5),
            f"{words}, a weight of -0.5": lambda m=make: m().compute_mixture(m(), -0.5),
        }
    attempts |= {
        "sparse with dense": lambda: _sparse().compose(_dense()),
        "dense with sparse": lambda: _dense().compose(_sparse()),
        "dots, lengths": lambda: dots(0.1, [0, 1, 2], [0.5, 0.2]),
        "dots, none": lambda: dots(0.1, [], []),
        "dots, a point twice": lambda: dots(0.1, [1, 1], [0.5, 0.2]),
        "dots, points out of order": lambda: dots(0.1, [2, 1], [0.5, 0.2]),
        "dots, a delta of 1.5": lambda: dots(0.1, [0, 1], [1.5, 0.2]),
        "dots, a delta of -0.5": lambda: dots(0.1, [0, 1], [0.5, -0.5]),
        "dots, deltas that grow": lambda: dots(0.1, [0, 1], [0.2, 0.5]),
        "gap, ends": lambda: gap(0.1, 2, 1, []),
        "gap, lengths": lambda: gap(0.1, 0, 2, [0.5, 0.2]),
        "gap, a delta of 1.5": lambda: gap(0.1, 0, 1, [1.5, 0.2]),
        "gap, a delta of -0.5": lambda: gap(0.1, 0, 1, [0.5, -0.5]),
        "gap, deltas that grow": lambda: gap(0.1, 0, 1, [0.2, 0.5]),
        "the logarithm of a negative sinh": lambda: common.log_sinh(-1.0),
    }
    yield Nonsense("pld_pmf, refusals", attempts)


def _guarantee(make, delta=1e-5, **more):
    return lambda: make.from_privacy_guarantee(common.DifferentialPrivacyParameters(1.0, delta), **more)


def _losses():
    laplace, gaussian = mechanisms.LaplacePrivacyLoss, mechanisms.GaussianPrivacyLoss
    attempts = {}
    for make in (laplace, gaussian, mechanisms.DiscreteLaplacePrivacyLoss, mechanisms.DiscreteGaussianPrivacyLoss):
        name = make.__name__
        for words, arguments in (
            ("a scale of 0", {"scale": 0}),
            ("a scale of -1", {"scale": -1}),
            ("a sensitivity of 0", {"sensitivity": 0}),
            ("a sensitivity of -1", {"sensitivity": -1}),
            ("a rate of 0", {"sampling_prob": 0.0}),
            ("a rate of -0.5", {"sampling_prob": -0.5}),
            ("a rate of 1.5", {"sampling_prob": 1.5}),
        ):
            scale = arguments.pop("scale", 1)
            attempts[f"{name}, {words}"] = lambda m=make, s=scale, a=arguments: m(s, **a)
    whole = (mechanisms.DiscreteLaplacePrivacyLoss, mechanisms.DiscreteGaussianPrivacyLoss)
    for make in whole:
        name = make.__name__
        attempts |= {
            f"{name}, a sensitivity of 1.5": lambda m=make: m(1.0, sensitivity=1.5),
            f"{name}, a guarantee for a sensitivity of 1.5": _guarantee(make, sensitivity=1.5),
            f"{name}, the loss of half an integer": lambda m=make: m(1.0).privacy_loss(0.5),
        }
    for make in (gaussian, whole[1]):
        attempts[f"{make.__name__}, a guarantee without a delta"] = _guarantee(make, delta=0.0)
    for way, beyond in ((_Way.ADD, 0.7), (_Way.REMOVE, -0.7)):
        for make in (laplace, gaussian):
            attempts[f"{make.__name__}, a loss of {beyond}, {way}"] = lambda m=make, w=way, x=beyond: m(
                1.0, sampling_prob=0.5, adjacency_type=w
            ).inverse_privacy_loss(x)
    attempts |= {
        "DiscreteLaplacePrivacyLoss, a guarantee for a sensitivity of 0": _guarantee(whole[0], 0.0, sensitivity=0),
        "DiscreteLaplacePrivacyLoss, a guarantee for no sample": _guarantee(whole[0], 0.0, sampling_prob=0.0),
        "DiscreteGaussianPrivacyLoss, a support below the sensitivity": lambda: whole[1](
            1.0, sensitivity=5, truncation_bound=2
        ),
        "DiscreteGaussianPrivacyLoss, the loss of no outcome": lambda: whole[1](
            1.0, truncation_bound=5, adjacency_type=_Way.REMOVE
        ).privacy_loss(9),
        "DiscreteGaussianPrivacyLoss, the loss of no outcome, below": lambda: whole[1](
            1.0, truncation_bound=5, adjacency_type=_Way.REMOVE
        ).privacy_loss(-9),
        "GaussianPrivacyLoss, a lost mass above 1": lambda: gaussian(1.0, log_mass_truncation_bound=0.5),
    }
    yield Nonsense("privacy_loss_mechanism, refusals", attempts)


def _mixtures():
    mixture = mechanisms.MixtureGaussianPrivacyLoss

    def made(sigma=1.0, shifts=(0.0, 1.0), chances=(0.5, 0.5), **more):
        return mixture(sigma, list(shifts), list(chances), **more)

    yield Nonsense(
        "MixtureGaussianPrivacyLoss, refusals",
        {
            "noise of 0": lambda: made(0.0),
            "noise of -1": lambda: made(-1.0),
            "a lost mass above 1": lambda: made(log_mass_truncation_bound=0.5),
            "lengths": lambda: made(chances=(0.5, 0.25, 0.25)),
            "a shift of -1": lambda: made(shifts=(-1.0, 1.0)),
            "no shift": lambda: made(shifts=(0.0, 0.0)),
            "chances of 1.1": lambda: made(chances=(0.5, 0.6)),
            "levels out of order": lambda: made().get_delta_for_epsilon([1.0, 0.5]),
            "losses out of order": lambda: made().inverse_privacy_losses([0.5, 0.1]),
            "a loss beyond the largest": lambda: made(adjacency_type=_Way.ADD).inverse_privacy_losses([0.5, 0.8]),
            "a loss beyond the least": lambda: made(adjacency_type=_Way.REMOVE).inverse_privacy_losses([-0.8, 0.1]),
        },
    )


def _of_events():
    gaussian, laplace = dp.GaussianDpEvent(1.0), dp.LaplaceDpEvent(1.0)
    sampled = dp.PoissonSampledDpEvent(0.5, gaussian)

    def composed(event, relation=dp.NeighboringRelation.ADD_OR_REMOVE_ONE, make=rdp.RdpAccountant):
        return lambda: make(neighboring_relation=relation).compose(event)

    repeated = dp.dp_event.RepeatAndSelectDpEvent
    yield Nonsense(
        "accountants, further refusals",
        {
            "a rate of 1.5": composed(dp.PoissonSampledDpEvent(1.5, gaussian)),
            "a rate of -0.5": composed(dp.PoissonSampledDpEvent(-0.5, gaussian)),
            "a rate of nan": composed(dp.PoissonSampledDpEvent(float("nan"), gaussian)),
            "sampled noise of -1": composed(dp.PoissonSampledDpEvent(0.5, dp.GaussianDpEvent(-1.0))),
            "rho of -1": composed(dp.ZCDpEvent(-1.0)),
            "xi of -1": composed(dp.ZCDpEvent(1.0, -1.0)),
            "a mean of nan": composed(repeated(gaussian, float("nan"), 1.0)),
            "a mean of 0.5 of Poisson runs": composed(repeated(gaussian, 0.5, float("inf"))),
            "a response with noise of 1.5": composed(dp.RandomizedResponseDpEvent(1.5, 3), _REPLACE),
            "a response with noise of -0.5": composed(dp.RandomizedResponseDpEvent(-0.5, 3), _REPLACE),
            "a response of no bucket": composed(dp.RandomizedResponseDpEvent(0.5, 0), _REPLACE),
            "a Poisson sample where records are replaced": composed(sampled, _REPLACE),
            "a tree where records are replaced": composed(dp.SingleEpochTreeAggregationDpEvent(1.0, 4), _REPLACE),
            "a fixed sample where records are added": composed(dp.SampledWithoutReplacementDpEvent(9, 3, gaussian)),
            "an event that no accountant supports": composed(dp.UnsupportedDpEvent()),
            "an event that losses do not support": composed(dp.ZCDpEvent(1.0), make=pld.PLDAccountant),
            "a tree of losses": composed(dp.SingleEpochTreeAggregationDpEvent(1.0, 4), make=pld.PLDAccountant),
            **{
                f"{words} where records are replaced": composed(event, _REPLACE, pld.PLDAccountant)
                for words, event in (
                    ("Laplace noise", laplace),
                    ("discrete Laplace noise", dp.dp_event.DiscreteLaplaceDpEvent(0.5, 1)),
                    ("a mixture", dp.dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.5, 0.5])),
                    ("a sample of Laplace noise", dp.PoissonSampledDpEvent(0.5, laplace)),
                )
            },
            **{
                f"a response where records are added, {make.__name__}": composed(
                    dp.RandomizedResponseDpEvent(0.5, 3), make=make
                )
                for make in (rdp.RdpAccountant, pld.PLDAccountant)
            },
        },
    )
    build = dp.DpEventBuilder
    yield Nonsense(
        "DpEventBuilder, refusals",
        {
            "no event": lambda: build().compose("gaussian"),
            "1.5 times": lambda: build().compose(gaussian, 1.5),
            "0 times": lambda: build().compose(gaussian, 0),
            "-1 times": lambda: build().compose(gaussian, -1),
        },
    )


def _calibrations():
    def calibrate(*, fresh=rdp.RdpAccountant, make=dp.GaussianDpEvent, bracket=None, epsilon=1.0, **more):
        return lambda: dp.calibrate_dp_mechanism(fresh, make, epsilon, 1e-5, bracket, **more)

    yield Nonsense(
        "calibrate_dp_mechanism, further refusals",
        {
            "an accountant that is none": calibrate(fresh=rdp.RdpAccountant()),
            "an event that is made": calibrate(make=dp.GaussianDpEvent(1.0)),
            "an accountant in use": calibrate(fresh=lambda: rdp.RdpAccountant().compose(dp.GaussianDpEvent(9.0))),
            "a tolerance of 0": calibrate(tol=0.0),
            "a tolerance of -1": calibrate(tol=-1.0),
            "a bracket that is none": calibrate(bracket=(0.0, 1.0)),
            "a guess below the end": calibrate(bracket=dp.LowerEndpointAndGuess(2.0, 1.0)),
            "a guess at the end": calibrate(bracket=dp.LowerEndpointAndGuess(2.0, 2.0)),
            "a bracket without a solution": calibrate(bracket=dp.ExplicitBracketInterval(50.0, 90.0)),
            "a bisection without a change of sign": lambda: mechanism_calibration._bisect(lambda x: x, 1.0, 2.0, 1e-3),
            "no solution": calibrate(make=lambda _: dp.NonPrivateDpEvent()),
        },
    )


def _distributions_refused():
    rounded = _distributions.PrivacyLossDistribution.create_from_rounded_probability
    gaussian = _distributions.from_gaussian_mechanism
    yield Nonsense(
        "privacy_loss_distribution, further refusals",
        {
            "two sides of a symmetric loss": lambda: rounded(
                {0: 1.0}, 0.0, 0.1, rounded_probability_mass_function_add={0: 1.0}, infinity_mass_add=0.0
            ),
            "one side of two": lambda: rounded({0: 1.0}, 0.0, 0.1, symmetric=False),
            "a response where records are added": lambda: _distributions.from_randomized_response(
                0.5, 3, neighboring_relation=_distributions.NeighborRel.ADD_OR_REMOVE_ONE
            ),
            "a response without noise": lambda: _distributions.from_randomized_response(0.0, 3),
            "a response of noise alone": lambda: _distributions.from_randomized_response(1.0, 3),
            "two roundings": lambda: gaussian(2.0, value_discretization_interval=0.1).compose(
                gaussian(2.0, value_discretization_interval=0.1, pessimistic_estimate=False, use_connect_dots=False)
            ),
        },
    )


def further_refusals():
    """Yield the invalid calls."""
    for group in (_losses_on_a_grid, _losses, _mixtures, _of_events, _calibrations, _distributions_refused):
        yield from group()
