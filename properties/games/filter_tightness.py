"""The worst delta of an optimal adaptive adversary for each filter, compared with its claim.

Budgets are cut into levels and losses into units so that a response of k units costs what it must: k^2 levels of
zCDP where a unit u and a level u^2/2 belong together, k levels where ex-post bounds are summed. For pure mechanisms
the fully adaptive filter of advanced composition is the zCDP filter with 2 rho for the sum of the squares.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb

from dpassay.properties.games.lattice import LatticeGame, LatticeMove
from dpassay.properties.games.lattice_moves import discretised_gaussian, leak, response, star, stopped_step
from dpassay.spec.ball import Real, ball, float_upper
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.interactions.budget_rules import concentrated_epsilon
from dpassay.spec.rational import at_most_exact
from dpassay.spec.theorems.accuracy_first.odometer import odometer_reading
from dpassay.spec.verdict import Verdict

__all__ = ["FilterGame", "filter_games", "zcdp_game"]

POINTS: tuple[tuple[Fraction, Fraction], ...] = tuple(
    (Fraction(rho), Fraction(slack))
    for rho, slack in (("1/50", "1/5"), ("1/10", "1/20"), ("1/2", "1/100"), ("1353/1000", "1/1000"),
                       ("1353/1000", "1/1000000"))
)  # fmt: skip
RESPONSES = (1, 2, 3, 4, 6, 8, 12)
"""Numbers of randomised responses among which the adversary chooses."""

LEVELS = 144
"""Levels of the budget: more let the adversary use it more evenly and take more time."""

WIDTH = Fraction(1, 2**38)
"""Relative width of the enclosures of values, at the most."""


@dataclass(frozen=True)
class FilterGame:
    """A filter with given budgets against a menu of mechanisms.

    Parameters
    ----------
    name : str
        The filter.
    setting : str
        Its budgets.
    game : LatticeGame
        The adversary's game at the filter's epsilon.
    delta : Fraction
        The delta that the filter claims at this epsilon.
    gaussian : Real, optional
        The delta of a Gaussian mechanism that uses the same zCDP budget up, to compare.
    """

    name: str
    setting: str
    game: LatticeGame
    delta: Fraction
    gaussian: Real | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict that the worst delta, rounded up, is at most the claim, enlarged by `WIDTH`."""
        worst = Fraction(self.game.value[1])
        return replace(at_most_exact(worst, self.delta * (1 + WIDTH), "worst delta"), slack=WIDTH)

    def row(self) -> dict[str, float | str]:
        """Return the row of the table."""
        low, high = self.game.value
        gaussian = float_upper(self.gaussian()) if self.gaussian is not None else float("nan")
        return {
            "filter": self.name,
            "setting": self.setting,
            "rounds": self.game.rounds,
            "levels": max(self.game.levels),
            "epsilon": float_upper(self.game.epsilon()),
            "delta_claimed": float(self.delta),
            "delta_worst_lower": low,
            "delta_worst_upper": high,
            "claimed_over_worst": float(self.delta) / high if high else float("inf"),
            "delta_gaussian": gaussian,
        }


def _rho_unit(rho: Fraction, levels: int) -> Real:
    def unit() -> arb:
        return (2 * ball(rho) / levels).sqrt()

    return unit


def _epsilon(rho: Fraction, slack: Fraction) -> Real:
    return lambda: concentrated_epsilon(ball(rho), ball(slack))


def _gaussian(rho: Fraction, epsilon: Real) -> Real:
    def delta() -> arb:
        return gaussian_hockey_stick((2 * ball(rho)).sqrt(), epsilon())

    return delta


def zcdp_game(
    rho: Fraction, epsilon: Real, *, levels: int = LEVELS, rounds: int = LEVELS, responses: tuple[int, ...] = RESPONSES
) -> LatticeGame:
    """Make the game of Thm 2: responses of k units cost k^2 levels, discretised Gaussians of k responses k levels.

    Parameters
    ----------
    rho : Fraction
        Budget of zCDP.
    epsilon : callable
        Encloses the epsilon of the claim.
    levels : int
        Number of levels of the budget.
    rounds : int
        Largest number of rounds.
    responses : tuple of int
        Sizes of the responses, in units.
    """
    unit = _rho_unit(rho, levels)
    moves = [response(unit, k, (k * k,)) for k in responses if k * k <= levels]
    moves.append(discretised_gaussian(unit, max(1, levels // 4), (max(1, levels // 4),)))
    return LatticeGame(moves, (levels,), rounds, unit, epsilon)


def _setting(**values: Fraction) -> str:
    return ", ".join(f"{name} = {float(value):g}" for name, value in values.items())


def _zcdp_filters() -> Iterator[FilterGame]:
    for rho, slack in POINTS:
        epsilon = _epsilon(rho, slack)
        game = zcdp_game(rho, epsilon)
        yield FilterGame("zCDP", _setting(rho=rho, slack=slack), game, slack, _gaussian(rho, epsilon))


def _odometer_with_a_limit() -> FilterGame:
    """Play against an odometer that refuses offers which would lift its reading above a limit: a budget of V."""
    rho, tuning, delta = Fraction(1, 2), Fraction(1, 10), Fraction(1, 100)

    def limit() -> arb:
        return odometer_reading(2 * rho, tuning, delta)

    setting = _setting(rho=rho, tuning=tuning, delta=delta)
    return FilterGame("odometer with a limit", setting, zcdp_game(rho, limit), delta, _gaussian(rho, limit))


def _leaks(delta: Fraction, parts: int) -> tuple[LatticeMove, LatticeMove]:
    """Return a leak of a part of the budget for delta, and one of all of it: partial leaks do not add up."""
    return leak(delta / parts, (0, 1)), leak(delta, (0, parts))


def _zcdp_filter_with_leaks() -> FilterGame:
    rho, slack, delta, leaks = Fraction(1, 2), Fraction(1, 100), Fraction(1, 50), 4
    levels = 64
    unit, epsilon = _rho_unit(rho, levels), _epsilon(rho, slack)
    moves = [*(response(unit, k, (k * k, 0)) for k in (1, 2, 3, 4, 8)), *_leaks(delta, leaks)]
    game = LatticeGame(moves, (levels, leaks), levels + leaks, unit, epsilon)
    return FilterGame("zCDP with leaks", _setting(rho=rho, slack=slack, delta=delta), game, slack + delta)


def _eighth() -> arb:
    return ball(Fraction(1, 8))


def _ex_post_filter() -> FilterGame:
    levels, leaks, delta = 24, 5, Fraction(1, 10)
    unit = _eighth
    moves = [
        *(response(unit, k, (k, 0)) for k in (1, 2, 4, 8)),
        star(unit, Fraction(1, 4), 8, (8, 0), (0, 0)),
        *_leaks(delta, leaks),
    ]
    game = LatticeGame(moves, (levels, leaks), 60, unit, lambda: levels * unit())
    return FilterGame("ex-post", _setting(epsilon=Fraction(levels, 8), delta=delta), game, delta)


def _self_reporting_filter() -> FilterGame:
    """Lebensold, Precup and Balle 2024, Thm 11 corrected: halts on reaching the budget, deltas multiply."""
    levels, leaks, each = 24, 5, Fraction(1, 50)
    unit = _eighth
    moves = [response(unit, k, (k, 0), needs=(k + 1, 0)) for k in (1, 2, 4, 8)]
    moves.append(leak(each, (0, 1)))
    game = LatticeGame(moves, (levels, leaks), 60, unit, lambda: levels * unit())
    claim = 1 - (1 - each) ** leaks
    return FilterGame("self-reporting", _setting(epsilon=Fraction(levels, 8), delta=claim), game, claim)


def _ex_post_filter_below_its_budget() -> FilterGame:
    """At a smaller epsilon than the budget the delta is not bounded by the lemma; pure privacy bounds it."""
    levels = 24
    unit = _eighth
    moves = [*(response(unit, k, (k,)) for k in (1, 2, 4, 8, 24)), star(unit, Fraction(1, 4), 8, (8,), (0,))]
    below = Fraction(2)
    claim = Fraction(float_upper((ball(3).exp() - ball(below).exp()) / (1 + ball(3).exp())))
    return FilterGame(
        "ex-post, pure",
        _setting(budget=Fraction(3), epsilon=below),
        LatticeGame(moves, (levels,), 60, unit, lambda: ball(below)),
        claim,
    )


def _two_budget_filter() -> FilterGame:
    rho, slack, levels, other = Fraction(1, 2), Fraction(1, 1000), 64, 8
    unit = _rho_unit(rho, levels)
    moves = [
        *(response(unit, k, (k * k, 0)) for k in (1, 2, 4, 8)),
        *(response(unit, k, (0, k)) for k in (1, 2, 4, 8)),
        star(unit, Fraction(1, 4), 4, (0, 4), (0, 0)),
    ]
    budget = _epsilon(rho, slack)
    game = LatticeGame(moves, (levels, other), 80, unit, lambda: budget() + other * unit())
    return FilterGame("two budgets", f"{_setting(rho=rho, slack=slack)}, ex-post = 8 units", game, slack)


def _unified_filters() -> Iterator[FilterGame]:
    rho, slack, levels = Fraction(1353, 1000), Fraction(1, 1000), 100
    unit = _rho_unit(rho, levels)
    moves = [
        *(response(unit, k, (k * k,)) for k in (1, 2, 5, 10)),
        *(stopped_step(unit, k, (need,), (k * k,)) for k, need in ((1, 4), (1, 25), (2, 50))),
        discretised_gaussian(unit, 25, (25,)),
    ]
    for name, epsilon in (
        ("unified", _epsilon(rho, slack)),
        ("unified, printed constant", lambda: ball(rho) + 2 * (-2 * ball(rho) * ball(slack).log()).sqrt()),
    ):
        game = LatticeGame(moves, (levels,), levels, unit, epsilon)
        yield FilterGame(name, _setting(rho=rho, slack=slack), game, slack, _gaussian(rho, epsilon))


def filter_games() -> Iterator[FilterGame]:
    """Yield the games of the table, one or more for each filter."""
    yield from _zcdp_filters()
    yield _zcdp_filter_with_leaks()
    yield _odometer_with_a_limit()
    yield _self_reporting_filter()
    yield _ex_post_filter()
    yield _ex_post_filter_below_its_budget()
    yield _two_budget_filter()
    yield from _unified_filters()
