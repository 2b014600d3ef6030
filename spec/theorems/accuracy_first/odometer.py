"""An odometer: how much privacy has been lost so far, at any moment, of mechanisms chosen without a budget.

Rounds of Brownian noise reduction that end at time t, for queries of sensitivity Delta, count V += Delta^2/t; rho-zCDP
rounds count V += 2 rho. The reading is V/2 + b(V), with b the boundary of the half-normal mixture at a tuning g and a
level d that are fixed beforehand.

**Prior work.** Odometers are due to Rogers, Roth, Ullman and Vadhan (2016). Whitehouse, Ramdas, Rogers and Wu (2023,
"Fully-adaptive composition in differential privacy") build them from time-uniform boundaries, among them mixtures; the
loss of adaptively chosen (epsilon_n, delta_n)-DP mechanisms is bounded at a V made of sums of the epsilon_n^2. The
boundary is the one-sided normal mixture of Howard, Ramdas, McAuliffe and Sekhon (2021, "Time-uniform, nonparametric,
nonasymptotic confidence sequences"). Rogers, Samorodnitsky, Wu and Ramdas (2023) have filters for zCDP rounds and
Brownian noise reduction together (Thm 6), and a time-uniform bound for noise reduction alone (Thm 5).

**What is added here** is the combination: one reading for zCDP rounds and noise reduction that stops on its own
output, the latter counted by the time at which it has stopped and not by a parameter fixed before; and the boundary in
exact form with certified enclosures, in place of a closed-form upper bound. The method is that of the papers above.

**Statement.** With probability at least 1 - d the privacy loss of the whole transcript stays below the reading at
*every* moment, so also at any moment that the analyst picks by looking at the outcomes.

**Proof, in short.** For lambda >= 0 and a rho-zCDP round, E exp(lambda L) <= exp(lambda (lambda + 1) rho), that is
E exp(lambda (L - rho) - lambda^2 (2 rho)/2) <= 1; a stopped Brownian round obeys it with Delta^2/(2t) in place of rho
(`brownian_rounds_keep_the_moments_down`). Products over adaptive rounds are nonnegative supermartingales that start at
1, and so is their mean over lambda ~ |N(0, 1/g)|, which is the half-normal mixture at S = loss - V/2 and V. By Ville's
inequality it ever reaches 1/d with probability at most d; and it grows with S.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import Exact, at_most, ball, exact, less_than, normal_quantile
from dpassay.spec.domains.base import Choices, Integers, Reals
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, checked, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.theorems.accuracy_first.evalue_mixture import mixture_of_evalues, reaches_the_level
from dpassay.spec.theorems.accuracy_first.second_derivations import either_exceeds
from dpassay.spec.theorems.accuracy_first.time_uniform_loss import (
    Boundary,
    half_normal_boundary,
    loss_crossing_at_many_looks,
    loss_crossing_probability,
)
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["crossing_probability_of_responses", "fixed_time_reading", "information_of_zcdp", "odometer_reading"]

HALF = Fraction(1, 2)

Information = Annotated[Exact, Reals("information spent", Fraction(1, 100), 1000, (1, 100, Fraction(27, 10)), True)]
Share = Annotated[
    Exact, Reals("share of it spent at the first look", Fraction(1, 20), Fraction(19, 20), (Fraction(1, 10),))
]
Distance = Annotated[Exact, Reals("how far the query moves, at most its sensitivity 1", Fraction(1, 10), 1, (1,))]
Tuning = Annotated[Exact, Reals("the information at which the bound is tuned", Fraction(1, 100), 100, (1, 10), True)]
Delta = Annotated[
    Exact, Reals("a probability", Fraction(1, 10**9), Fraction(1, 2), (Fraction(1, 10), Fraction(1, 10**6)), True)
]
FixedLevel = Annotated[
    Exact, Reals("a probability", Fraction(1, 1000), Fraction(1, 4), (Fraction(1, 10),), logarithmic=True)
]
WidelySpread = Annotated[
    Exact, Reals("share of it spent at the first look", Fraction(1, 20), Fraction(1, 2), (Fraction(1, 10),))
]
Ratio = Annotated[
    Fraction, Choices("e^epsilon of a randomised response", (Fraction(3, 2), Fraction(3), Fraction(11, 10)))
]
Rounds = Annotated[int, Integers("number of rounds", 1, 40, (1, 12, 40))]


def information_of_zcdp(rho: Any) -> Any:
    """Return 2 rho, the V that a rho-zCDP round counts."""
    return 2 * rho


def odometer_reading(information: Exact, tuning: Exact, delta: Exact) -> arb:
    """Enclose V/2 + b(V; g, d)."""
    return ball(information) / 2 + half_normal_boundary(information, tuning, delta)


def fixed_time_reading(information: Exact, delta: Exact) -> arb:
    """Enclose V/2 - sqrt(V) Phi^-1(d), exceeded by the loss N(V/2, V) of a fixed moment with probability d."""
    v = ball(information)
    return v / 2 - v.sqrt() * normal_quantile(ball(delta))


@statement(
    DPASSAY,
    "odometer",
    cases=20,
    also=(("rogers2023", "bm_time_uniform_ex_post"),),
    examples=(
        {
            "information": Fraction(100),
            "share": Fraction(1, 10),
            "distance": Fraction(1),
            "tuning": Fraction(1),
            "delta": Fraction(1, 10),
        },
    ),
    pins=(
        Pin(
            {
                "information": Fraction(4),
                "share": HALF,
                "distance": HALF,
                "tuning": Fraction(3),
                "delta": Fraction(1, 10),
            },
            "a run watched twice",
            smaller=lambda: loss_crossing_at_many_looks(
                (Fraction(2), Fraction(4)), HALF, lambda v: odometer_reading(v, 3, Fraction(1, 10))
            ),
            larger=lambda: Fraction(1, 10),
        ),
    ),
)
def odometer_covers_brownian_rounds(
    information: Information, share: Share, distance: Distance, tuning: Tuning, delta: Delta
) -> Verdict:
    """Pr[the loss reaches the reading at some time] <= d for rounds of Brownian noise reduction, decided for
    adversaries with two looks that stop where it does; and where the loss is the reading, the integral of the e-values
    exp(lambda loss - lambda (lambda + 1) V/2) over |N(0, 1/g)| is 1/d (agreement to 60 bits), which is what Ville's
    inequality needs.
    """
    v, g, d = exact("information", information), exact("tuning", tuning), exact("delta", delta)
    looks, s = (v * exact("share", share), v), exact("distance", distance)
    return conjunction([
        reaches_the_level(lambda: mixture_of_evalues(odometer_reading(v, g, d), v, g, drift=1, one_sided=True), d),
        at_most(lambda: loss_crossing_probability(looks, s, lambda u: odometer_reading(u, g, d)), lambda: ball(d)),
    ])  # fmt: skip


@statement(DPASSAY, "odometer")
def zcdp_rounds_are_subgaussian_above_the_mean() -> Proof:
    """For a rho-zCDP round, lambda (L - rho) - lambda^2 (2 rho)/2 is lambda L - lambda (lambda + 1) rho,
    so that the e-value of a Brownian round with information V = 2 rho is one for every zCDP round, where lambda >= 0.
    """
    tilt, rho, loss, later_rho, later_loss = sp.symbols("lambda rho L rho2 L2", real=True)

    def exponent(total: Any, cost: Any) -> Any:
        information = information_of_zcdp(cost)
        return tilt * (total - information / 2) - tilt**2 * information / 2

    return proof(
        suppose(
            "zCDP round",
            "Given the past, E exp(lambda L) <= exp(lambda (lambda + 1) rho) for lambda >= 0: D_(lambda+1).",
        ),
        checked(
            "exponent",
            "lambda (L - V/2) - lambda^2 V/2 = lambda L - lambda (lambda + 1) rho for V = 2 rho.",
            identity,
            exponent(loss, rho),
            tilt * loss - tilt * (tilt + 1) * rho,
        ),
        checked(
            "rounds add up",
            "The exponents of two rounds add up to that of their total loss and information.",
            identity,
            exponent(loss, rho) + exponent(later_loss, later_rho),
            exponent(loss + later_loss, rho + later_rho),
        ),
        prose(
            "e-value",
            "The conditional mean of each round's factor is at most 1, so that exp(lambda (L - V/2) - lambda^2 V/2) "
            "is a "
            "nonnegative supermartingale that starts at 1, for every lambda >= 0 and rounds chosen adaptively.",
            given=["zCDP round", "exponent", "rounds add up"],
        ),
    )


def crossing_probability_of_responses(ratio: Fraction, rounds: int, reading: Boundary) -> Fraction:
    """Return Pr[the loss reaches reading(V) after some round], V = m (log ratio)^2, for repeated randomised responses.

    Exact: a random walk on the multiples of log ratio that ends where it reaches the reading.
    """
    rho = Fraction(math.log(ratio) ** 2 * (1 - 2.0**-48)) / 2  # rounded down: the reading errs towards crossing
    up, ended = ratio / (1 + ratio), Fraction(0)
    walk: dict[int, Fraction] = {0: Fraction(1)}
    for played in range(1, rounds + 1):
        moved: dict[int, Fraction] = {}
        for place, mass in walk.items():
            for to, p in ((place + 1, up), (place - 1, 1 - up)):
                moved[to] = moved.get(to, Fraction(0)) + mass * p
        least = reading(information_of_zcdp(played * rho)) / ball(ratio).log()
        walk = {}
        for place, mass in moved.items():
            if ball(place) < least:
                walk[place] = mass
            else:
                ended += mass
    return ended


@statement(
    DPASSAY,
    "odometer",
    cases=15,
    examples=({"ratio": Fraction(3, 2), "rounds": 40, "tuning": Fraction(1), "delta": Fraction(1, 10)},),
    pins=(
        Pin(
            {"ratio": Fraction(3, 2), "rounds": 4, "tuning": Fraction(1), "delta": Fraction(1, 10)},
            "delta itself",
            larger=lambda: Fraction(1, 10),
        ),
    ),
)
def odometer_covers_randomised_responses(ratio: Ratio, rounds: Rounds, tuning: Tuning, delta: Delta) -> Verdict:
    """Pr[the loss reaches the reading after some round] <= d for repeated randomised response, which is
    epsilon^2/2-zCDP: the exact distribution of the loss, stopped where it reaches the reading.
    """
    g, d = exact("tuning", tuning), exact("delta", delta)
    crossed = crossing_probability_of_responses(ratio, rounds, lambda v: odometer_reading(v, g, d))
    return at_most_exact(crossed, d, "probability that the loss reaches the reading")


@statement(
    DPASSAY,
    "odometer at a fixed time",
    cases=20,
    examples=({"information": Fraction(10), "share": Fraction(1, 10), "delta": Fraction(1, 10)},),
    pins=(
        Pin(
            {"information": Fraction(10), "share": Fraction(1, 4), "delta": Fraction(1, 10)},
            "two normal variables of correlation 1/2, by an integral over the correlation (Plackett)",
            smaller=lambda: Fraction(1, 10),
            larger=lambda: either_exceeds(Fraction(1, 10), Fraction(1, 2)),
        ),
    ),
)
def fixed_time_quantiles_are_no_odometer(information: Information, share: WidelySpread, delta: FixedLevel) -> Verdict:
    """The quantile of the loss at a fixed moment is exceeded with probability d there, and with more than d at one of
    two moments: the loss at the moment that the analyst picks is not covered.
    """
    v, d = exact("information", information), exact("delta", delta)
    looks = v * exact("share", share), v
    reading: Callable[[Fraction], arb] = lambda u: fixed_time_reading(u, d)
    verdict = less_than(lambda: ball(d), lambda: loss_crossing_probability(looks, Fraction(1), reading))
    return verdict.without_tightness()
