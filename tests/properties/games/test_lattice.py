"""The lattice adversary: against the rational one, against known values, and wrong filters refuted."""

from fractions import Fraction

import pytest
from flint import arb

from dpassay.arguments import UsageError
from dpassay.properties.games.adversary import Game, hockey_stick_payoff
from dpassay.properties.games.filter_tightness import FilterGame, filter_games, zcdp_game
from dpassay.properties.games.lattice import LatticeGame, LatticeMove, LatticeOutcome
from dpassay.properties.games.lattice_moves import discretised_gaussian, leak, response, star, stopped_step
from dpassay.spec.ball import Real, ball, float_upper
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.interactions.adaptive_rounds import concentrated_leak, ex_post_leak, ex_post_response
from dpassay.spec.interactions.budget_rules import ExPostRule, concentrated_epsilon
from dpassay.spec.interactions.transcripts import branches, loss_distribution_of_branches, repeated
from dpassay.spec.verdict import Outcome


def log_two() -> arb:
    return ball(2).log()


def epsilon_of(rho: str, slack: str) -> Real:
    return lambda: concentrated_epsilon(ball(Fraction(rho)), ball(Fraction(slack)))


@pytest.mark.parametrize(("rounds", "levels", "budget"), [(1, 3, 3), (4, 3, 5), (6, 6, 20), (3, 0, 2), (0, 4, 2)])
def test_the_value_encloses_the_exact_one(rounds: int, levels: int, budget: int) -> None:
    moves = [response(log_two, k, (k, 0)) for k in (1, 2)] + [leak(Fraction(1, 8), (0, 1))]
    game = LatticeGame(moves, (levels, 2), rounds, log_two, lambda: ball(budget).log())
    menu = [*(ex_post_response(Fraction(2**k)) for k in (1, 2)), ex_post_leak(Fraction(1, 8))]
    rule = ExPostRule(Fraction(2**levels), Fraction(2, 8))
    exact = Game(menu, rule, rounds, hockey_stick_payoff(Fraction(budget))).value
    low, high = game.value
    assert Fraction(low) <= exact <= Fraction(high)
    assert high - low <= 1e-12 * high + 1e-300


@pytest.mark.parametrize(
    ("rho", "slack", "worst"),
    [("1/10", "1/20", 1.14186e-3), ("1353/1000", "1/1000000", 8.06805e-9)],
)
def test_known_worst_cases_of_the_zcdp_filter(rho: str, slack: str, worst: float) -> None:
    low, high = zcdp_game(Fraction(rho), epsilon_of(rho, slack)).value
    assert low == pytest.approx(worst, rel=1e-5)
    assert high <= low * (1 + 1e-11)


def test_the_adaptive_adversary_beats_equal_offers_and_the_gaussian() -> None:
    rho, epsilon = Fraction(1, 10), epsilon_of("1/10", "1/20")
    alone = [zcdp_game(rho, epsilon, responses=(k,), levels=36).value[1] for k in (1, 2, 3)]
    assert zcdp_game(rho, epsilon, responses=(1, 2, 3), levels=36).value[0] > max(alone)
    gaussian = float_upper(gaussian_hockey_stick(ball(2 * rho).sqrt(), epsilon()))
    assert zcdp_game(rho, epsilon).value[0] > 1.2 * gaussian  # the filter may not promise what Gaussians would allow


def test_fifty_rounds_and_two_hundred_levels() -> None:
    game = zcdp_game(Fraction(1, 2), epsilon_of("1/2", "1/100"), levels=200, rounds=50)
    low, high = game.value
    assert 1e-4 < low <= high < 0.01
    assert game.reach == 200  # four Gaussians of fifty responses


def test_a_discretised_gaussian_is_so_many_responses() -> None:
    epsilon: Real = lambda: ball(1)
    at_once = LatticeGame([discretised_gaussian(log_two, 4, (4,))], (4,), 4, log_two, epsilon).value
    one_by_one = LatticeGame([response(log_two, 1, (1,))], (4,), 4, log_two, epsilon).value
    assert at_once[0] <= one_by_one[1]
    assert one_by_one[0] <= at_once[1]


def test_stars_are_ex_post_mechanisms() -> None:
    star_game = LatticeGame([star(log_two, Fraction(1, 4), 2, (2,), (0,))], (2,), 50, log_two, lambda: 2 * log_two())
    assert star_game.value[0] == 0  # no loss beyond the budget: the upper end is rounding
    assert star_game.value[1] < 1e-25
    below = LatticeGame([star(log_two, Fraction(1, 4), 2, (2,), (0,))], (2,), 50, log_two, log_two)
    assert below.value[0] == pytest.approx(0.4, rel=1e-5)  # names the bit sooner or later: 4/5, half of it is delta


@pytest.mark.parametrize(
    "moves",
    [
        [response(log_two, 4, (1,))],  # charged a quarter
        [stopped_step(log_two, 3, (1,), (0,))],  # charged nothing
        [leak(Fraction(1, 10), (0,))],  # a leak that nobody counts
    ],
)
def test_undercharging_is_refuted(moves: list[LatticeMove]) -> None:
    game = LatticeGame(moves, (6,), 30, log_two, lambda: 6 * log_two())
    assert FilterGame("undercharged", "", game, Fraction(1, 1000)).verdict.outcome is Outcome.VIOLATED


def test_every_filter_keeps_its_promise() -> None:
    seen: set[str] = set()
    for game in filter_games():
        if game.name not in seen:  # one setting for each filter; the experiment has all
            seen.add(game.name)
            assert game.verdict.outcome is Outcome.HOLDS, game.name
            assert set(game.row()) >= {"delta_claimed", "delta_worst_upper"}
    assert len(seen) == 9


def test_the_ex_post_filter_is_tight_in_delta() -> None:
    game = next(game for game in filter_games() if game.name == "ex-post")
    assert game.game.value[0] > 0.1 * (1 - 1e-9)


def test_games_refuse_what_cannot_be_played() -> None:
    with pytest.raises(UsageError, match="at least one"):
        LatticeGame([], (1,), 1, log_two, log_two)
    with pytest.raises(UsageError, match="2 budgets"):
        LatticeGame([response(log_two, 1, (1,))], (1, 1), 1, log_two, log_two)
    with pytest.raises(UsageError, match="rounds"):
        LatticeGame([response(log_two, 1, (1,))], (1,), -1, log_two, log_two)
    with pytest.raises(UsageError, match="levels"):
        LatticeGame([response(log_two, 1, (1,))], (-1,), 1, log_two, log_two)
    half: Real = lambda: arb(1) / 2  # its distribution on the other side would sum to 1.5
    for distributions in (
        (LatticeOutcome(half, 0, (0,)),),  # sums to a half
        (
            LatticeOutcome(half, -1, (0,)),
            LatticeOutcome(half, 0, (0,)),
        ),  # a loss with no distribution on the other side
        (LatticeOutcome(lambda: arb(2), 1, (0,)), LatticeOutcome(lambda: arb(-1), 0, (0,))),
    ):
        with pytest.raises(UsageError, match="must sum to 1"):
            LatticeGame([LatticeMove("no distributions", (0,), distributions)], (1,), 1, log_two, log_two)
    with pytest.raises(UsageError, match="charges"):
        LatticeMove("of another budget", (1,), (LatticeOutcome(lambda: arb(1), 0, (1, 1)),))
    with pytest.raises(UsageError, match="charges"):
        LatticeMove("overdrawn", (1,), (LatticeOutcome(lambda: arb(1), 0, (2,)),))


def test_leaks_by_both_routes() -> None:
    distribution = loss_distribution_of_branches(
        branches(repeated([ex_post_leak(Fraction(1, 8))] * 2), ExPostRule(Fraction(2), Fraction(1)))
    )
    game = LatticeGame([leak(Fraction(1, 8), (1,))], (2,), 2, log_two, log_two)
    assert game.value[0] <= float(distribution.hockey_stick(Fraction(2))) <= game.value[1]
    assert concentrated_leak(Fraction(1, 8)).delta == Fraction(1, 8)
