import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP, ApproximateDP
from dpassay.impl.accounting.filters import (
    BudgetExceeded,
    ConcentratedOffer,
    ExPostFilter,
    ExPostOffer,
    FullyAdaptiveFilter,
    NoiseReductionOffer,
    Offer,
    OfferedMechanism,
    PrivacyFilter,
    SelfReportingFilter,
    TwoBudgetFilter,
    UnifiedFilter,
    ZCDPFilter,
    run_filtered,
)
from dpassay.impl.accounting.zcdp_budget import epsilon_of_rho, largest_rho
from dpassay.impl.mechanisms.brownian_noise_reduction import BrownianRun
from dpassay.impl.mechanisms.doubling import RelativeError
from dpassay.impl.mechanisms.gumbel_selection import GumbelSelection


def admitted(privacy_filter: PrivacyFilter, offer: Any, charge: float, most: int = 200) -> int:
    for count in range(most):
        try:
            privacy_filter.spend(offer, charge)
        except BudgetExceeded:
            return count
    return most


# --- budgets ------------------------------------------------------------------------------------------------


def test_the_budget_of_the_experiments() -> None:
    assert 2 * largest_rho(10.0, 1e-6) == pytest.approx(2.706029380337747, rel=1e-13)
    assert 2 * largest_rho(1.0, 1e-6) == pytest.approx(0.034938, rel=1e-4)


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 1.0, 10.0, 1e3, 1e9])
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.5, 1 - 2**-53])
def test_the_two_conversions_are_inverse(epsilon: float, delta: float) -> None:
    rho = largest_rho(epsilon, delta)
    assert epsilon_of_rho(rho, delta) == pytest.approx(epsilon, rel=1e-13)
    assert largest_rho(epsilon_of_rho(rho, delta), delta) >= rho * (1 - 1e-13)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (math.nan, 0.1), (1.0, 0.0), (1.0, 1.0), (1.0, math.nan)])
def test_budgets_out_of_their_domain(epsilon: float, delta: float) -> None:
    with pytest.raises(UsageError, match=r"epsilon|delta"):
        largest_rho(epsilon, delta)


# --- the zCDP filter ----------------------------------------------------------------------------------------


def test_it_admits_what_fits_and_the_first_may_be_refused() -> None:
    rho = largest_rho(1.0, 1e-5)
    assert admitted(ZCDPFilter(1.0, 1e-5), ConcentratedOffer(rho / 4), math.nan) == 4
    assert admitted(ZCDPFilter(1.0, 1e-5), ConcentratedOffer(rho / 3.999), math.nan) == 3
    assert ZCDPFilter(1.0, 1e-5).would_exceed(ConcentratedOffer(10.0))
    assert not ZCDPFilter(1.0, 1e-5).would_exceed(ConcentratedOffer(0.0))


def test_deltas_sum_exactly() -> None:
    assert admitted(ZCDPFilter(1.0, 1e-5, 0.5), ConcentratedOffer(0.0, 0.125), math.nan) == 4
    assert ZCDPFilter(1.0, 1e-5).would_exceed(ConcentratedOffer(0.0, 1e-300))


def test_the_claim_has_both_deltas() -> None:
    assert ZCDPFilter(1.0, 0.25, 0.5).claim == ApproximateDP(1.0, 0.75)
    assert ZCDPFilter(1.0, 1e-5, 1e-6).claim.delta >= 1.1e-5


def test_an_approximately_private_mechanism_is_offered_with_half_its_square() -> None:
    assert ConcentratedOffer.of_approximate_dp(0.5, 0.1).rho == pytest.approx(0.125, rel=1e-15)
    assert ConcentratedOffer.of_approximate_dp(0.5, 0.1).rho > 0.125
    assert ConcentratedOffer.of_approximate_dp(0.0) == ConcentratedOffer(0.0)


# --- the unified filter -------------------------------------------------------------------------------------


def test_noise_reduction_is_guarded_by_its_grid_and_charged_for_its_stop() -> None:
    privacy_filter = UnifiedFilter(rho=1.0)
    run = NoiseReductionOffer(precision=1.0)
    assert admitted(privacy_filter, run, 0.25) == 5  # 1/8 each; the sixth would need 1/2 of the 3/8 left
    assert privacy_filter.remaining.rho == 0.375
    assert privacy_filter.precision_left == 0.75
    assert not privacy_filter.would_exceed(NoiseReductionOffer(privacy_filter.precision_left))
    assert privacy_filter.would_exceed(NoiseReductionOffer(math.nextafter(0.75, 1)))


def test_sensitivity_enters_squared() -> None:
    privacy_filter = UnifiedFilter(rho=1.0)
    privacy_filter.spend(NoiseReductionOffer(precision=0.25, sensitivity=2.0), 0.25)
    assert privacy_filter.remaining.rho == 0.5


def test_kinds_mix_on_one_budget() -> None:
    privacy_filter = UnifiedFilter(rho=1.0, delta=0.5)
    privacy_filter.spend(ConcentratedOffer(0.5, 0.25))
    privacy_filter.spend(NoiseReductionOffer(0.5), 0.5)
    assert privacy_filter.remaining.rho == privacy_filter.remaining.delta == 0.25
    assert privacy_filter.would_exceed(ConcentratedOffer(0.25, 0.26))
    privacy_filter.spend(ConcentratedOffer(0.25, 0.25))
    assert privacy_filter.would_exceed(ConcentratedOffer(5e-324))


def test_the_guarantee_has_the_constant_of_the_proof() -> None:
    guarantee = UnifiedFilter(rho=1.353).guarantee(1e-6)
    assert guarantee.epsilon == pytest.approx(10.0, abs=1e-4)  # 13.58 with the printed one
    assert guarantee.delta == 1e-6


def test_the_guarantee_has_the_deltas_of_the_mechanisms_too() -> None:
    assert UnifiedFilter(rho=1.0, delta=0.5).guarantee(0.25).delta == 0.75
    for budget, slack in ((1e-6, 1e-5), (0.1, 0.2), (0.3, 1e-17)):
        total = Fraction(UnifiedFilter(rho=1.0, delta=budget).guarantee(slack).delta)
        assert Fraction(budget) + Fraction(slack) <= total
    assert UnifiedFilter(rho=1.0, delta=0.75).guarantee(0.5).delta == 1.0


@pytest.mark.parametrize("stop", [0.0, -1.0, 2.0, math.nan, math.inf])
def test_a_stop_outside_of_the_grid_is_refused_and_not_charged(stop: float) -> None:
    privacy_filter = UnifiedFilter(rho=1.0)
    with pytest.raises(UsageError, match="precision at the stop"):
        privacy_filter.spend(NoiseReductionOffer(1.0), stop)
    assert privacy_filter.remaining.rho == 1.0


def test_noise_reduction_is_charged_like_its_increments() -> None:
    # in information time a run is a sequence of independent Gaussian mechanisms: two filters, one decision
    rng = np.random.default_rng(5)
    whole, by_steps = UnifiedFilter(rho=1.0), UnifiedFilter(rho=1.0)
    for _ in range(40):
        grid = np.cumsum(rng.integers(1, 9, size=int(rng.integers(1, 6)))) / 64  # dyadic: differences are exact
        offer = NoiseReductionOffer(float(grid[-1]))
        steps = [ConcentratedOffer(float(step) / 2) for step in np.diff(grid, prepend=0.0)]
        fits = sum(Fraction(step.rho) for step in steps) <= Fraction(by_steps.remaining.rho)
        assert whole.would_exceed(offer) == (not fits)
        if fits:
            stop = int(rng.integers(grid.size))
            whole.spend(offer, float(grid[stop]))
            for step in steps[: stop + 1]:
                by_steps.spend(step)
        assert whole.remaining == by_steps.remaining


def test_a_budget_shared_by_selection_and_refined_counts() -> None:
    rng, counts = np.random.default_rng(2), np.array([500.0, 300.0, 200.0])
    privacy_filter = UnifiedFilter(largest_rho(1.0, 1e-6))
    selection, rule = GumbelSelection(3, 0.05), RelativeError(0.2)
    [claim] = [claim for claim in selection.claims if isinstance(claim, ZCDP)]
    released, spent = [], 0.0
    while not privacy_filter.would_exceed(ConcentratedOffer(claim.rho)):
        privacy_filter.spend(ConcentratedOffer(claim.rho))
        [chosen] = selection.sample(counts, 1, rng)
        largest = privacy_filter.precision_left
        if not largest > 2e-4:
            break
        run, times = BrownianRun(counts[chosen], rng), 1 / np.linspace(1e-4, largest, 50)
        run.refine_until(times, rule)
        privacy_filter.spend(NoiseReductionOffer(largest), min(run.precision, largest))
        released.append(chosen)
        spent += run.precision / 2 + claim.rho
    assert len(released) > 3
    assert spent <= privacy_filter.rho * (1 + 1e-12)


# --- the ex-post filter -------------------------------------------------------------------------------------


def test_the_dearest_outcome_must_fit_and_the_realised_one_is_charged() -> None:
    privacy_filter = ExPostFilter(1.0)
    assert admitted(privacy_filter, ExPostOffer(0.5), 0.125) == 5
    assert privacy_filter.remaining.epsilon == 0.375
    privacy_filter.spend(ExPostOffer(0.375), 0.375)
    assert privacy_filter.would_exceed(ExPostOffer(5e-324))
    assert not privacy_filter.would_exceed(ExPostOffer(0.0))


def test_it_does_not_wait_for_an_equality() -> None:
    assert admitted(ExPostFilter(1.0), ExPostOffer(0.1), 0.1) == 9  # ten float64 tenths are more than 1
    assert admitted(ExPostFilter(1.0), ExPostOffer(0.25), 0.25) == 4


@pytest.mark.parametrize("loss", [-0.1, 0.6, math.nan, math.inf])
def test_a_bound_above_the_offer_is_refused(loss: float) -> None:
    privacy_filter = ExPostFilter(1.0)
    with pytest.raises(UsageError, match="loss must lie in"):
        privacy_filter.spend(ExPostOffer(0.5), loss)
    assert privacy_filter.remaining.epsilon == 1.0


# --- two budgets --------------------------------------------------------------------------------------------


def test_each_kind_has_its_own_budget() -> None:
    privacy_filter = TwoBudgetFilter(ZCDPFilter(1.0, 1e-5), ExPostFilter(2.0, 0.25))
    privacy_filter.spend(ExPostOffer(2.0, 0.125), 2.0)
    assert privacy_filter.would_exceed(ExPostOffer(0.5))
    assert not privacy_filter.would_exceed(ConcentratedOffer(largest_rho(1.0, 1e-5)))
    privacy_filter.spend(ConcentratedOffer(0.001))
    assert privacy_filter.remaining.ex_post.delta == 0.125
    assert privacy_filter.claim.epsilon == pytest.approx(3.0)
    assert privacy_filter.claim.epsilon >= 3.0
    assert privacy_filter.claim.delta >= 0.25001


# --- refusals -----------------------------------------------------------------------------------------------

FILTERS: list[tuple[Any, Any]] = [
    (lambda: ZCDPFilter(1.0, 1e-5), ConcentratedOffer(1.0)),
    (lambda: UnifiedFilter(0.5), NoiseReductionOffer(1.5)),
    (lambda: ExPostFilter(1.0), ExPostOffer(1.5)),
    (lambda: TwoBudgetFilter(ZCDPFilter(1.0, 1e-5), ExPostFilter(2.0)), ExPostOffer(2.5)),
]


@pytest.mark.parametrize(("make", "dear"), FILTERS)
def test_a_refusal_spends_nothing_and_carries_what_is_left(make: Any, dear: Any) -> None:
    privacy_filter = make()
    before = privacy_filter.remaining
    for _ in range(2):
        with pytest.raises(BudgetExceeded) as refusal:
            privacy_filter.spend(dear, 0.1)
        assert refusal.value.offer == dear
        assert privacy_filter.remaining == before
        assert refusal.value.remaining in (before, getattr(before, "ex_post", None))


@pytest.mark.parametrize("make", [make for make, _ in FILTERS])
def test_offers_of_another_kind_are_errors_of_use(make: Any) -> None:
    with pytest.raises(UsageError, match="offer must be of type"):
        make().would_exceed(Offer(0.1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ZCDPFilter(-1.0, 0.1), "epsilon"),
        (lambda: ZCDPFilter(1.0, 0.0), "delta"),
        (lambda: ZCDPFilter(1.0, 0.1, math.nan), "delta_mechanisms"),
        (lambda: UnifiedFilter(math.nan), "rho"),
        (lambda: UnifiedFilter(-0.5), "rho"),
        (lambda: UnifiedFilter(1.0, 1.5), "delta"),
        (lambda: ExPostFilter(math.inf), "epsilon"),
        (lambda: ExPostFilter(0.0), "epsilon"),
        (lambda: ExPostFilter(1.0, -0.1), "delta"),
        (lambda: ConcentratedOffer(-1.0), "rho"),
        (lambda: ConcentratedOffer(1.0, 2.0), "delta"),
        (lambda: ExPostOffer(math.nan), "epsilon"),
        (lambda: NoiseReductionOffer(0.0), "precision"),
        (lambda: NoiseReductionOffer(1.0, -1.0), "sensitivity"),
        (lambda: UnifiedFilter(1.0).guarantee(0.0), "delta"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


@pytest.mark.parametrize("bad", ["0.5", None, [1.0], 1j, math.nan, -math.inf])
@pytest.mark.parametrize(
    "make",
    [
        UnifiedFilter,
        lambda bad: UnifiedFilter(1.0, bad),
        lambda bad: UnifiedFilter(1.0).guarantee(bad),
        lambda bad: ZCDPFilter(1.0, bad),
        ExPostFilter,
        ConcentratedOffer.of_approximate_dp,
        lambda bad: ExPostOffer(0.5, bad),
        NoiseReductionOffer.of_time,
        lambda bad: ExPostFilter(1.0).spend(ExPostOffer(0.5), bad),
        lambda bad: UnifiedFilter(1.0).spend(NoiseReductionOffer(0.5), bad),
        lambda bad: largest_rho(1.0, bad),
    ],
)
def test_what_is_no_number_is_an_error_of_use(make: Any, bad: Any) -> None:
    with pytest.raises(UsageError, match=r"must (be a finite|lie in)"):
        make(bad)


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), Fraction(1, 2), np.int64(1), True])
def test_numbers_of_any_type_are_charged_exactly(number: Any) -> None:
    privacy_filter = UnifiedFilter(4.0)
    privacy_filter.spend(ConcentratedOffer(number))
    privacy_filter.spend(NoiseReductionOffer(2 * number), number)
    assert privacy_filter.remaining.rho == 4 - 1.5 * float(number)


def test_integers_of_numpy_do_not_overflow() -> None:
    whole: Any = np.int64
    dear = NoiseReductionOffer(whole(3), whole(2**32))
    assert dear.cost(whole(1)) == 2**63
    assert UnifiedFilter(1.0).would_exceed(dear)


def test_a_grid_is_offered_by_its_last_time() -> None:
    times = 1 / np.linspace(1e-4, 0.7, 50)  # 1/(1/0.7) is not 0.7
    offer, run = NoiseReductionOffer.of_time(times[-1]), BrownianRun(3.0, np.random.default_rng(0))
    run.refine_until(times)
    assert run.precision == offer.precision
    UnifiedFilter(1.0).spend(offer, run.precision)


def test_what_remains_of_an_ex_post_budget_fits() -> None:
    privacy_filter = ExPostFilter(1.0, 0.3)
    privacy_filter.spend(ExPostOffer(0.5, 0.1), 0.1)
    left = privacy_filter.remaining
    assert left.epsilon < 0.9  # 1 less the float64 number 0.1, rounded down
    assert not privacy_filter.would_exceed(ExPostOffer(left.epsilon, left.delta))
    assert privacy_filter.would_exceed(ExPostOffer(math.nextafter(left.epsilon, 1), left.delta))


@pytest.mark.parametrize("make", [lambda: FullyAdaptiveFilter(1.0, 0.1), lambda: SelfReportingFilter(1.0, 0.1)])
@pytest.mark.parametrize("offer", [ConcentratedOffer(0.1), NoiseReductionOffer(0.1), ExPostOffer(0.1), None])
def test_filters_of_plain_offers_refuse_other_kinds(make: Any, offer: Any) -> None:
    with pytest.raises(UsageError, match="offer must be of type Offer"):
        make().would_exceed(offer)


def test_nothing_is_run_that_is_not_admitted() -> None:
    runs: list[float] = []

    def run() -> float:
        runs.append(0.25)
        return 0.25

    offer = NoiseReductionOffer(0.5)
    got = run_filtered(
        UnifiedFilter(0.5), lambda _: OfferedMechanism(offer, run, lambda precision: float(str(precision)))
    )
    assert got == runs == [0.25] * 3  # 1/8 each; the fourth could cost 1/4 of the 1/8 left
