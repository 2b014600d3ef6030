"""Betting on the probability of a failure: what an auditor of auditors may win if failures are as rare as is said.

A trial fails with a probability of at most s, whatever came before. For an alternative p > s the wealth is multiplied
by

    p / s on a failure,      (1 - p) / (1 - s) on a success.

The mean of the factor is 1 if the trial fails with probability s, and grows with that probability; so the wealth is a
supermartingale and may be looked at after any trial. The wealth against s is the mean over a fixed list of
alternatives, those up to s with wealth 0. Everything here is exact.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.domains.tables import RationalTables, Table
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import DPASSAY
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["ALTERNATIVES", "failure_factors", "failure_wealth", "is_bet_on", "mean_wealths"]

ALTERNATIVES = tuple(1 / (1 + Fraction(2) ** power) for power in range(6, -7, -1))
"""Alternatives whose odds are the powers of two from 1/64 to 64."""

Allowed = Annotated[
    Fraction,
    Reals(
        "s, the probability of a failure that is allowed", Fraction(1, 100), Fraction(99, 100), (*ALTERNATIVES[2:-2],)
    ),
]
Beyond = Annotated[
    Fraction,
    Reals("(p - s)/(1 - s) of the alternative p that is bet on", Fraction(1, 1000), Fraction(1), logarithmic=True),
]
Shares = Annotated[
    Table,
    RationalTables(
        "probability of a failure, as a part of s, of up to 4 trials, by the number of failures so far",
        (1, 2, 3, 4),
        4,
        Fraction(0),
        Fraction(1),
    ),
]
Failures = Annotated[int, Integers("number of failures", 0, 12)]
Successes = Annotated[int, Integers("number of successes", 0, 12)]
Part = Annotated[
    Fraction, Reals("a part of s", Fraction(1, 100), Fraction(1), (Fraction(1, 2), Fraction(9, 10)), logarithmic=True)
]

HALF = Fraction(1, 2)
_ALWAYS = ((Fraction(1),) * 4,) * 4
_RARER_AFTER_A_FAILURE = ((Fraction(1), Fraction(0)),) * 3


def is_bet_on(alternative: Fraction, allowed: Fraction) -> bool:
    """Return whether the alternative is above the probability that is allowed."""
    return alternative > allowed


def failure_factors(alternative: Fraction, allowed: Fraction) -> tuple[Fraction, Fraction]:
    """Return the factors of the wealth on a failure and on a success.

    Examples
    --------
    >>> failure_factors(Fraction(1, 2), Fraction(1, 10))
    (Fraction(5, 1), Fraction(5, 9))
    """
    return alternative / allowed, (1 - alternative) / (1 - allowed)


def failure_wealth(failures: int, successes: int, allowed: Fraction, alternatives: Sequence[Fraction]) -> Fraction:
    """Return the mean wealth over the alternatives against the probability `allowed`.

    Parameters
    ----------
    failures, successes : int
        The trials.
    allowed : Fraction
        The probability s, in (0, 1).
    alternatives : sequence of Fraction
        What is bet on; those up to s have no wealth.
    """
    total = Fraction(0)
    for alternative in alternatives:
        if is_bet_on(alternative, allowed):
            on_failure, on_success = failure_factors(alternative, allowed)
            total += on_failure**failures * on_success**successes
    return total / len(alternatives)


def mean_wealths(shares: Table, allowed: Fraction, alternative: Fraction) -> list[Fraction]:
    """Return the mean wealth after each trial, where a trial fails with the probability s times its share.

    Parameters
    ----------
    shares : tuple of tuple of Fraction
        Row i, column j: the share of trial i if j trials failed before; the last column serves more failures, too.
    allowed, alternative : Fraction
        The probability s, and the alternative that is bet on.
    """
    factors = failure_factors(alternative, allowed)
    chances, means = {0: Fraction(1)}, []
    for number, row in enumerate(shares, start=1):
        after: dict[int, Fraction] = {}
        for failures, chance in chances.items():
            probability = allowed * row[min(failures, len(row) - 1)]
            for failed, part in ((1, probability), (0, 1 - probability)):
                after[failures + failed] = after.get(failures + failed, Fraction(0)) + chance * part
        chances = after
        means.append(sum((p * factors[0] ** k * factors[1] ** (number - k) for k, p in chances.items()), Fraction(0)))
    return means


@statement(
    DPASSAY,
    "failure bet",
    examples=(
        {"shares": _ALWAYS, "allowed": Fraction(1, 20), "beyond": Fraction(1, 2)},
        {"shares": _RARER_AFTER_A_FAILURE, "allowed": Fraction(1, 3), "beyond": Fraction(1)},
    ),
    pins=(
        Pin(
            {"shares": _RARER_AFTER_A_FAILURE, "allowed": Fraction(1, 3), "beyond": Fraction(1, 2)},
            "factors 2 and 1/2: no loss in the first trial, then 2/3 halved and 1/3 kept, then 1/3 + 2/9 halved",
            smaller=lambda: [1, Fraction(2, 3), Fraction(7, 18), HALF],
            larger=lambda: [1, 1, Fraction(2, 3), 1],
        ),
    ),
)
def fair_bet_on_the_probability_of_a_failure(shares: Shares, allowed: Allowed, beyond: Beyond) -> Verdict:
    """If every trial fails with probability at most s, whatever came before, the mean wealth of a bet on p > s never
    grows from 1, and stays 1 if every trial fails with probability s; no factor is negative.
    """
    alternative = allowed + beyond * (1 - allowed)
    means = mean_wealths(shares, allowed, alternative)
    always = mean_wealths(_ALWAYS, allowed, alternative)
    return conjunction([
        *(at_most_exact(after, before, "mean wealth")
          for before, after in zip((Fraction(1), *means), means, strict=False)),
        equal_exact(always, [Fraction(1)] * len(always), "mean wealth where every trial fails with probability s"),
        at_most_exact(1 - min(failure_factors(alternative, allowed)), Fraction(1), "share of the wealth that is lost"),
    ])  # fmt: skip


def _likelihood_of_odds(least: int) -> Fraction:
    """Return the sum of the likelihoods of 5 failures and a success for the odds 2^least, ..., 64."""
    odds = (Fraction(2) ** power for power in range(least, 7))
    return sum((one**5 / (1 + one) ** 6 for one in odds), Fraction(0))


@statement(
    DPASSAY,
    "failure bet, smaller probabilities",
    examples=(
        {"failures": 5, "successes": 3, "allowed": Fraction(1, 10), "part": Fraction(1, 2)},
        {"failures": 2, "successes": 0, "allowed": Fraction(2, 5), "part": Fraction(1, 4)},
        {"failures": 0, "successes": 12, "allowed": Fraction(1, 2), "part": Fraction(1, 2)},
        {"failures": 5, "successes": 1, "allowed": Fraction(501, 1000), "part": Fraction(499, 501)},
    ),
    pins=(
        Pin(
            {"failures": 5, "successes": 1, "allowed": HALF, "part": HALF},
            "likelihoods in the odds 2^j of the alternatives: j from 1 against 1/2, from -1 against 1/4",
            smaller=lambda: 64 * _likelihood_of_odds(1) / 13,
            larger=lambda: 4**5 * Fraction(4, 3) * _likelihood_of_odds(-1) / 13,
        ),
    ),
)
def failures_that_refute_a_probability_refute_smaller_ones(
    failures: Failures, successes: Successes, allowed: Allowed, part: Part
) -> Verdict:
    """Where the wealth against s exceeds 1, the wealth against any smaller probability is at least as large; so the
    largest s that is refuted is a lower confidence bound.
    """
    wealth, of_smaller = (
        max(Fraction(1), failure_wealth(failures, successes, probability, ALTERNATIVES))
        for probability in (allowed, part * allowed)
    )
    return at_most_exact(wealth, of_smaller, "wealth against s, or 1")
