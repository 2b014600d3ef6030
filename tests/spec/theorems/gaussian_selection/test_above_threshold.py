"""The AboveThreshold chapter: its figures, its errata, and independent computations of the same numbers."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import arb
from scipy.special import log_ndtr, logsumexp

from dpassay.arguments import UsageError
from dpassay.properties.verify import verify_errata, verify_statement
from dpassay.spec.ball import FAR, ball, enclosure, float_lower, float_upper, log_normal_sf, midpoint, precision
from dpassay.spec.domains.answers import Block
from dpassay.spec.domains.streams import NeighbouringStreams, StreamPairs, ThresholdSetting, ThresholdSettings
from dpassay.spec.statement import Statement, find_statement
from dpassay.spec.theorems.gaussian_selection import above_threshold_renyi as renyi
from dpassay.spec.theorems.gaussian_selection.above_threshold_expost import all_below_epsilon, halting_epsilon
from dpassay.spec.theorems.gaussian_selection.normal_hazard import normal_hazard
from dpassay.spec.theorems.gaussian_selection.renyi_scalar_inequality import ScalarInequality, prove_gap
from dpassay.spec.verdict import Evidence, Outcome, Scope

NAMES = (
    "above_threshold_distribution_is_a_distribution",
    "stream_at_the_threshold_halts_in_closed_form",
    "lowest_stream_runs_longest",
    "expost_dp_of_above_threshold",
    "expost_dp_of_never_halting",
    "expost_epsilons_are_attained",
    "above_threshold_ratio_at_most_its_enlargement",
    "enlarged_ratio_moves_with_the_answers",
    "enlarged_ratio_is_a_ratio_of_tilted_means",
    "tilted_ratio_moves_with_the_tilt",
    "tilted_means_are_ordered",
    "late_loss_falls_in_the_threshold",
    "first_loss_rises_and_second_is_symmetric",
    "normal_cdf_is_log_concave",
    "normal_hazard_slope_between_0_and_1",
    "normal_hazard_is_convex",
    "direct_rdp_of_above_threshold",
    "general_rdp_of_above_threshold",
    "closed_rdp_of_above_threshold",
    "direct_rdp_by_a_shift_of_the_threshold",
)


def quickly(name: str) -> Statement:
    return replace(find_statement(name), cases=4)


@pytest.mark.parametrize("name", NAMES)
def test_statements_hold_with_no_case_open(name: str) -> None:
    report = verify_statement(quickly(name), seed_value=3)
    assert report.as_expected, report.detail


@pytest.mark.parametrize("name", NAMES)
def test_errata_fail_where_the_correction_stands(name: str) -> None:
    reports = list(verify_errata([find_statement(name)]))
    assert all(report.as_expected for report in reports)
    assert all(len(report.consequences) == 1 for report in reports)
    assert len(reports) == {
        "expost_dp_of_above_threshold": 2,
        "late_loss_falls_in_the_threshold": 1,
    }.get(name, 0)


# --- ex-post ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "time", "epsilon"),
    [
        ("0 1 1/20 1/2 1/2 1/10", 3, 6.634569),
        ("1 2 1/10 3/2 3/20 13/50", 10, 4.545318),
        ("1 2 1/10 3/2 3/20 13/50", 50, 6.883954),
        ("5 6 1/10 11/2 3/20 13/50", 3, 2.352726),
        ("0 1 1/5 1/5 3/10 1/20", 4, 98.47533),
        ("-2 -1 1/5 -3/2 1/5 7/20", 3, 2.70128),
        ("0 1 1/100 1 1/20 1/10", 5, 1.47900),
        ("0 1 1/100 1 1/10 1/10", 5, 1.59395),  # more noise on the threshold alone: more loss
        ("0 1 1/100 0 1 2", 1000, 0.094853),
        ("0 1 1/100 0 1 10", 1000, 0.157080),
    ],
)
def test_the_loss_of_halting_is_the_recomputed_figure(setting: str, time: int, epsilon: float) -> None:
    value = enclosure(lambda: halting_epsilon(ThresholdSetting.of(setting), time))
    assert midpoint(value) == pytest.approx(epsilon, rel=6e-6)


def test_the_loss_of_never_halting_is_the_recomputed_figure() -> None:
    setting = ThresholdSetting.of("0 1 1/10 1/2 3/20 13/50")
    assert midpoint(enclosure(lambda: all_below_epsilon(setting, 3))) == pytest.approx(1.37186, abs=5e-6)


def test_one_step_has_a_closed_form() -> None:
    setting = ThresholdSetting.of("0 1 1/10 3/10 3/20 13/50")
    spread = mp.sqrt(mp.mpf("0.15") ** 2 + mp.mpf("0.26") ** 2)
    expected = mp.log(mp.ncdf(mp.mpf("-0.2") / spread)) - mp.log(mp.ncdf(mp.mpf("-0.3") / spread))
    assert midpoint(enclosure(lambda: halting_epsilon(setting, 1))) == pytest.approx(float(expected), rel=1e-14)


def bivariate_normal_cdf(h: mp.mpf, k: mp.mpf, correlation: mp.mpf) -> mp.mpf:
    """Plackett's identity: the derivative in the correlation is the bivariate density."""

    def density(r: mp.mpf) -> mp.mpf:
        rest = 1 - r * r
        return mp.exp(-(h * h - 2 * r * h * k + k * k) / (2 * rest)) / (2 * mp.pi * mp.sqrt(rest))

    return mp.ncdf(h) * mp.ncdf(k) + mp.quad(density, mp.linspace(0, correlation, 9))


def test_two_steps_are_a_bivariate_normal_probability() -> None:
    setting = ThresholdSetting.of("0 1 1/10 1/5 1/5 1/4")
    x, z, rho = mp.mpf("0.2"), mp.mpf("0.25"), mp.mpf("0.2")
    spread = mp.sqrt(x * x + z * z)
    with mp.workdps(40):
        below, above = mp.mpf("0.9"), mp.mpf("0.1")
        expected = mp.log(bivariate_normal_cdf((rho - below) / spread, (above - rho) / spread, -x * x / spread**2))
    value = enclosure(lambda: setting.log_halts([(Fraction(9, 10), 1)], Fraction(1, 10)))
    assert midpoint(value) == pytest.approx(float(expected), rel=1e-13)


def test_no_corner_of_the_cube_exceeds_the_bound() -> None:
    setting = ThresholdSetting.of("-1 1/2 2/5 0 1/5 1/10")
    low, high, step = setting.low, setting.high, setting.step
    moves = [(low, low + step), (low + step, low), (high, high - step), (high - step, high)]
    losses = []
    with precision(64):
        for corner in itertools.product(moves, repeat=3):
            stream = NeighbouringStreams(setting, tuple(Block(*move) for move in corner))
            losses.append(float_upper(stream.halting_loss()))
        bound = halting_epsilon(setting, 3)
    assert max(losses) <= float_upper(bound)
    assert max(losses) >= float_lower(bound) * (1 - 1e-12)


@pytest.mark.parametrize("setting", ["0 1 1/10 1/2 3/20 0", "0 0 1/10 1/2 1 1", "0 1 1/10 100 1 1", "0 1 -1 0 1 1"])
def test_settings_outside_the_domain_are_refused(setting: str) -> None:
    made = ThresholdSetting.of(setting)
    assert not ThresholdSettings("a setting").contains(made)
    with pytest.raises(UsageError, match="setting must be"):
        find_statement("expost_epsilons_are_attained")(setting=made, time=2)


def test_streams_that_break_range_or_sensitivity_are_refused() -> None:
    setting = ThresholdSetting.of("0 1 1/10 1/2 1 1")
    domain = StreamPairs("a pair of streams")
    assert domain.contains(NeighbouringStreams(setting, (Block(Fraction(0), Fraction(1, 10)),)))
    for block in (
        Block(Fraction(0), Fraction(1, 5)),
        Block(Fraction(-1, 10), Fraction(0)),
        Block(Fraction(0), Fraction(0), 0),
    ):
        assert not domain.contains(NeighbouringStreams(setting, (block,)))


# --- Renyi --------------------------------------------------------------------------------------------------

SQRT_3 = Fraction(17320508076, 10**10)


def infinite_setting(sensitivity: str, sigma: str, rho: str) -> ThresholdSetting:
    scale = Fraction(sigma)
    return ThresholdSetting(Fraction(0), Fraction(2), Fraction(sensitivity), Fraction(rho), scale, SQRT_3 * scale)


@pytest.mark.parametrize(
    ("setting", "alpha", "direct", "closed"),
    [
        (("1/2", "1/5", "0"), 4, 33.6631, 42.079),
        (("1", "1/2", "0"), 4, 21.6595, 27.079),
        (("3/10", "3/10", "1/5"), 4, 6.05374, 7.409),
        (("1/10", "3/10", "0"), 10, 1.62867, 1.9893),
    ],
)
def test_renyi_bounds_are_the_recomputed_figures(
    setting: tuple[str, str, str], alpha: int, direct: float, closed: float
) -> None:
    made = infinite_setting(*setting)
    with precision(128):
        assert midpoint(renyi.rdp_direct(made, alpha)) == pytest.approx(direct, rel=3e-6)
        assert midpoint(renyi.rdp_nonneg(made, alpha)) == pytest.approx(closed, rel=3e-5)


def test_the_direct_bound_becomes_narrower_with_the_precision() -> None:
    made, found = infinite_setting("1/10", "3/10", "0"), []
    for bits in (64, 128, 192):
        with precision(bits):
            found.append(renyi.rdp_direct(made, 10))
    assert found[0].contains(found[1].mid())
    assert found[1].contains(found[2].mid())
    assert [x.rel_accuracy_bits() >= least for x, least in zip(found, (10, 30, 90), strict=True)] == [True] * 3


def direct_by_trapezoid(setting: ThresholdSetting, alpha: float) -> float:
    """The direct bound in float64: a wide grid in log space, with differences of log_ndtr."""
    w = float(setting.step / setting.sigma_threshold)
    k, r = float(setting.sigma_query / setting.sigma_threshold), float(setting.threshold / setting.sigma_threshold)
    m, s = (alpha - 1) * w, 2 * w / k
    x = np.linspace(m - 40, m * (1 + 2 / k**2) + 40, 200_001)
    v = (x + r) / k
    log_terms = -((x - m) ** 2) / 2 + (alpha - 1) * (log_ndtr(-v) - log_ndtr(-v - s))
    moment = logsumexp(log_terms) + math.log((x[1] - x[0]) / math.sqrt(2 * math.pi))
    return float(alpha * w * w / 2 + moment / (alpha - 1))


@pytest.mark.parametrize(
    ("setting", "alpha"),
    [
        ("0 1 1/10 1/2 3/20 13/50", 20.0),
        ("0 1 1/2 -1/5 1/5 1/10", 5.0),
        ("0 1 1 1 1 1/4", 1.5),
        ("0 1 1/1000 1 1/5 1", 900.0),
    ],
)
def test_the_direct_bound_agrees_with_a_float_computation(setting: str, alpha: float) -> None:
    made = ThresholdSetting.of(setting)
    with precision(128):
        value = renyi.rdp_direct(made, alpha)
    assert midpoint(value) == pytest.approx(direct_by_trapezoid(made, alpha), rel=1e-5)


@pytest.mark.parametrize(("r", "moment"), [("0", 12.96436), ("1/10", 15.75936), ("7/20", 27.03788), ("2/5", 30.40078)])
def test_moments_of_the_stopping_time_are_the_recomputed_figures(r: str, moment: float) -> None:
    with precision(128):
        root = arb(3).sqrt()
        value = renyi.log_stopping_moment(arb(2), 1 / root, ball(Fraction(r)) / root).exp()
    assert midpoint(value) == pytest.approx(moment, rel=1e-5)


def probabilistic_epsilon(setting: ThresholdSetting, delta: float, *, direct: bool) -> float:
    """The smallest epsilon over a grid of orders, by epsilon + log(1/delta)/(alpha - 1)."""
    bound = renyi.rdp_direct if direct else renyi.rdp_nonneg
    with precision(64):
        orders = np.geomspace(100, 6000, 40)
        return min(float_upper(bound(setting, float(a))) + math.log(1 / delta) / (float(a) - 1) for a in orders)


@pytest.mark.parametrize(
    ("size", "rho", "sigma", "direct", "closed"),
    [
        (6946, "23/40", "9/100", 0.01832, 0.02388),
        (6946, "23/40", "15/100", 0.00941, 0.01104),
        (5564, "33/100", "4/100", 0.05654, 0.07962),
        (5564, "33/100", "16/100", 0.00965, 0.01077),
    ],
)
def test_the_direct_bound_gains_on_the_printed_one(
    size: int, rho: str, sigma: str, direct: float, closed: float
) -> None:
    setting = replace(infinite_setting("1", sigma, rho), high=Fraction(1), sensitivity=Fraction(1, size))
    new = probabilistic_epsilon(setting, 1 / size, direct=True)
    old = probabilistic_epsilon(setting, 1 / size, direct=False)
    assert new == pytest.approx(direct, rel=4e-3)
    assert old == pytest.approx(closed, rel=4e-3)
    assert new < 0.9 * old


def test_the_hazard_is_accurate_far_out() -> None:
    for u in (FAR - 1, FAR + 1, 2**18, 2**40):
        with precision(96):
            far, near = normal_hazard(arb(u)), log_normal_sf(arb(u))
        with mp.workdps(60):
            exact = mp.npdf(u) / mp.ncdf(-u) if u < 2**17 else u + mp.mpf(1) / u - 2 / mp.mpf(u) ** 3
            log_survival = -(mp.mpf(u) ** 2) / 2 - mp.log(2 * mp.pi) / 2 - mp.log(exact)
        assert midpoint(far) == pytest.approx(float(exact), rel=1e-15)
        assert midpoint(near) == pytest.approx(float(log_survival), rel=1e-15)


# --- the scalar inequality ----------------------------------------------------------------------------------


def literal_gap(m: mp.mpf, r: mp.mpf, k: mp.mpf) -> mp.mpf:
    moment = 1 + 2 * mp.sqrt(3) * mp.pi * (1 + 9 * r**2) * mp.exp(r**2)
    exponent = 2 * m**2 / k**2 + 2 * m**2 / k**4 + 2 * m * r / k**2
    return (
        m**2 / 2 + 2 * m**2 / k**2 + mp.log(moment) / 2 - 2 * mp.sqrt(2 / mp.pi) * m / k - mp.log(1 + mp.exp(exponent))
    )


def test_the_direct_bound_implies_the_printed_one_for_all_parameters() -> None:
    report = verify_statement(find_statement("closed_rdp_follows_from_direct_rdp"))
    assert report.as_expected
    assert report.evidence is Evidence.BOX
    assert report.scope is Scope.ALL


def test_a_margin_beyond_the_infimum_is_refuted() -> None:
    verdict = prove_gap(ScalarInequality(), Fraction(85, 1000))
    assert verdict.outcome is Outcome.VIOLATED
    assert float(verdict.witness["r"]) == pytest.approx(4.397, abs=0.1)


def test_the_reduced_inequality_bounds_the_literal_one() -> None:
    rng = np.random.default_rng(5)
    inequality = ScalarInequality()
    with mp.workdps(40), precision(120):
        for _ in range(200):
            m, r = mp.mpf(10 ** rng.uniform(-2, 1.6)), mp.mpf(10 ** rng.uniform(-2, 1.4))
            k = mp.sqrt(3) + rng.choice([0, 10 ** rng.uniform(-3, 2)])
            worst = literal_gap(m, r, mp.sqrt(3))
            t = arb(float(m)) / inequality.vertex(arb(float(r)))
            assert literal_gap(m, r, k) >= worst - mp.mpf(10) ** -30
            assert midpoint(inequality.gap(t, arb(float(r)))) == pytest.approx(float(worst), rel=1e-12)
            at_vertex = inequality.gap(t.min(arb(1)), arb(float(r)))
            assert float_lower(at_vertex) <= float(worst) * (1 + 1e-12)
            if r >= inequality.tail_start:
                assert float_lower(inequality.tail_gap()) <= worst


@pytest.mark.parametrize("wrong", [{"factor": Fraction(0)}, {"squared_ratio": Fraction(28, 10)}])
def test_members_outside_the_family_are_refused(wrong: dict[str, Fraction]) -> None:
    with pytest.raises(UsageError):
        ScalarInequality(**wrong)
