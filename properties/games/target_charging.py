"""The optimal adaptive analyst against target charging, and its exact delta(epsilon) beside every account.

The analyst offers randomised responses whose less likely answer is the target (the NotPrior target of least quality,
q = 1/(e^epsilon + 1)), either way round, in any number, until tau hits. A position is (hits so far, privacy loss
in units of epsilon); the payoff at the end is (1 - e^(epsilon' - loss))_+. There is no bound on the number of
calls, so that the value is a fixed point: it is approached from below and bounded from above, and both are returned.

Short games, with rational ratios and a bounded number of calls, are solved exactly by `Game` with a `ChargingRule`.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_at_least
from dpassay.impl.accounting.target_charging import METHODS, target_charging_account
from dpassay.impl.validation import require_count
from dpassay.properties.games.adversary import Game, hockey_stick_payoff
from dpassay.spec.interactions.charged_calls import ChargingRule, not_prior_quality, not_prior_response
from dpassay.spec.rational import at_most_exact
from dpassay.spec.theorems.target_charging.main_theorem import truncated_delta
from dpassay.spec.verdict import Verdict, conjunction

__all__ = [
    "Bracket",
    "adaptive_delta",
    "adaptive_epsilon",
    "compared_accounts",
    "short_game_delta",
    "target_charging_is_private",
]

Array = NDArray[np.float64]

MOST_LEVELS = 200_000
"""The largest lattice of losses: it bounds time and memory."""

LARGEST_EPSILON = 30.0  # of a call: above it, the likely answer has a probability that rounds to 1
_NEGLIGIBLE = 1e-13
"""Probability that the iterations leave out; the upper bound adds it."""


@dataclass(frozen=True)
class Bracket:
    """A lower and an upper bound of a number, up to float64 rounding of a relative 1e-9."""

    lower: float
    upper: float


# --- any number of calls ------------------------------------------------------------------------------------


def adaptive_delta(hits: int, epsilon: float, total: float) -> Bracket:
    """Return the exact delta at epsilon' = `total` of the best adaptive analyst.

    Parameters
    ----------
    hits : int
        tau, at least 1.
    epsilon : float
        Privacy parameter of a call, in nats, positive.
    total : float
        epsilon', in nats, at least 0.

    Raises
    ------
    UsageError
        If a parameter is out of its domain (epsilon at most `LARGEST_EPSILON`), or the lattice would be larger than
        `MOST_LEVELS`.
    """
    require_count("hits", hits)
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise UsageError(f"epsilon must lie in (0, {LARGEST_EPSILON:g}], got {epsilon!r}")
    require_at_least("total", total, 0)
    top = math.ceil((total - math.log(_NEGLIGIBLE)) / epsilon)
    levels = np.arange(-hits - 50, top + 1, dtype=np.float64)
    if levels.size > MOST_LEVELS:
        raise UsageError(f"epsilon must not be below total/{MOST_LEVELS}, got {epsilon!r} for total={total!r}")
    payoff = _payoff(levels, epsilon, total)
    above = float(_payoff(levels[-1:] + 1, epsilon, total)[0])
    lower = upper = payoff
    for _ in range(hits):
        lower = _before_a_hit(payoff, lower, epsilon, above, 0.0)
        upper = _before_a_hit(payoff, upper, epsilon, 1.0, None)
    at = hits + 50  # where the loss is 0
    missed = hits * _NEGLIGIBLE  # what the iterations left open
    return Bracket(float(lower[at]), min(1.0, float(upper[at]) + missed))


def _payoff(levels: Array, epsilon: float, total: float) -> Array:
    return np.maximum(0.0, -np.expm1(np.minimum(0.0, total - epsilon * levels)))


def _before_a_hit(payoff: Array, after: Array, epsilon: float, above: float, below: float | None) -> Array:
    """Iterate the value with one hit more to come, `after` being the value once it has come.

    `above` stands for the value beyond the highest level, `below` for that under the lowest (None: the lowest itself,
    which is no less, as the value grows with the loss). Each round leaves a fraction e^epsilon/(1 + e^epsilon) open.
    """
    likely = 1 / (1 + math.exp(-epsilon))
    rounds = math.ceil(math.log(_NEGLIGIBLE) / math.log1p(-1 / (1 + math.exp(epsilon))))
    up, down = np.append(after[1:], above), np.append(after[0] if below is None else below, after[:-1])
    fixed = np.maximum(payoff, 0), (1 - likely) * down, likely * up
    value = payoff
    for _ in range(rounds):
        ground = value[0] if below is None else below
        plain = likely * np.append(value[1:], above) + fixed[1]
        mirrored = (1 - likely) * np.append(ground, value[:-1]) + fixed[2]
        following = np.maximum(np.maximum(plain, mirrored), fixed[0])
        if bool(np.array_equal(following, value)):
            break
        value = following
    return value


def adaptive_epsilon(hits: int, epsilon: float, delta: float, *, accuracy: float = 1e-4) -> Bracket:
    """Return the epsilon' at which the best adaptive analyst has exactly `delta`, within a relative `accuracy`.

    Parameters
    ----------
    hits : int
        tau, the number of hits at which the interaction halts.
    epsilon : float
        Privacy parameter of a call, nats.
    delta : float
        Target delta, in (0, 1).
    accuracy : float
        Relative accuracy of the result.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """
    adaptive_delta(hits, epsilon, 0.0)  # for its refusals
    quality = 1 / (1 + math.exp(epsilon))
    low, high = 0.0, target_charging_account(hits, epsilon, quality, delta).epsilon
    while high - low > accuracy * high:
        middle = (low + high) / 2
        value = adaptive_delta(hits, epsilon, middle)
        if value.lower > delta:
            low = middle
        elif value.upper <= delta:
            high = middle
        else:
            break
    return Bracket(low, high)


def compared_accounts(hits: int, epsilon: float, delta: float) -> Iterator[dict[str, float | str]]:
    """Yield a row for every account: its epsilon', the adversary's, and how much larger it is."""
    quality = 1 / (1 + math.exp(epsilon)) * (1 - 1e-15)
    adversary = adaptive_epsilon(hits, epsilon, delta)
    for method in METHODS:
        account = target_charging_account(hits, epsilon, quality, delta, method=method)
        yield {
            "hits": hits,
            "epsilon": epsilon,
            "delta": delta,
            "account": method,
            "calls": account.calls,
            "total_epsilon": account.epsilon,
            "adversary_lower": adversary.lower,
            "adversary_upper": adversary.upper,
            "tightness": account.epsilon / adversary.upper,
        }


# --- short games, exactly -----------------------------------------------------------------------------------


def short_game_delta(hits: int, ratio: Fraction, budget: Fraction, horizon: int) -> Fraction:
    """Return the exact delta at e^epsilon' = `budget` of the best analyst that makes at most `horizon` calls.

    The analyst offers common and rare NotPrior targets in both orientations.

    Parameters
    ----------
    hits : int
        tau, the number of hits at which the interaction halts.
    ratio : Fraction
        e^epsilon of a call.
    budget : Fraction
        e^epsilon' of the whole.
    horizon : int
        Largest number of calls.
    """
    menu = [
        not_prior_response(ratio, mirrored=mirrored, rarity=rarity)
        for rarity in (Fraction(1), Fraction(1, 4))
        for mirrored in (False, True)
    ]
    return Game(menu, ChargingRule(hits), horizon, hockey_stick_payoff(budget)).value


def target_charging_is_private(hits: int, ratio: Fraction, budget: Fraction, horizon: int, calls: int) -> Verdict:
    """Decide the exact account with R = `calls`, and its basic form, in the worst case over short games.

    Parameters
    ----------
    hits : int
        tau, the number of hits at which the interaction halts.
    ratio : Fraction
        e^epsilon of a call.
    budget : Fraction
        e^epsilon' of the whole.
    horizon : int
        Largest number of calls in the game.
    calls : int
        R of the account.
    """
    quality = not_prior_quality(ratio)
    truth = short_game_delta(hits, ratio, budget, horizon)
    basic = short_game_delta(hits, ratio, ratio**calls, horizon)
    return conjunction([
        at_most_exact(truth, truncated_delta(hits, ratio, quality, calls, budget), "worst delta"),
        at_most_exact(basic, truncated_delta(hits, ratio, quality, calls, ratio**calls), "worst delta"),
    ])  # fmt: skip
