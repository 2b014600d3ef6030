"""The doubling method: independent Gaussian releases of doubled precision until one is good enough, all of them paid.

Chapter after Rogers, Samorodnitsky, Wu and Ramdas (2023), Sec 7.1. Precisions u = (epsilon^(i))^2 double from u_1; the
release of precision u costs u/2 of zCDP. The paper omits a condition: the ideal precision must not lie far below u_1.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import Real, at_most, ball
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.interactions.budget_rules import concentrated_epsilon
from dpassay.spec.numerics.smoothing import loss_excess
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.rules import at_least_by
from dpassay.spec.proof.steps import Proof, checked, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.accuracy_first.second_derivations import converted_delta
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["charged_precision", "doubled_precisions"]

Smallest = Annotated[Fraction, Reals("the smallest precision u_1", Fraction(1, 10**6), 1, (1,), logarithmic=True)]
Ideal = Annotated[
    Fraction,
    Reals(
        "ideal precision over the smallest",
        Fraction(1, 4),
        10**9,
        (1, Fraction(1, 4), Fraction(2**20 + 1, 2**0), Fraction(1025, 1), 1024, Fraction(1, 2)),
        logarithmic=True,
    ),
]
Steps = Annotated[int, Integers("number of steps", 2, 12, (2, 3))]
Last = Annotated[
    Fraction, Reals("the last precision", Fraction(1, 1000), 20, (1, Fraction(2706, 1000)), logarithmic=True)
]
SmallDelta = Annotated[
    Fraction,
    Reals("delta''", Fraction(1, 10**12), Fraction(1, 2), (Fraction(1, 100), Fraction(1, 10**6)), logarithmic=True),
]


def doubled_precisions(smallest: Fraction, ideal: Fraction) -> list[Fraction]:
    """Return u_1, 2 u_1, 4 u_1, ... up to the first that is at least the ideal one."""
    precisions = [smallest]
    while precisions[-1] < ideal:
        precisions.append(2 * precisions[-1])
    return precisions


def symbolic_precision(smallest: Any, doublings: Any) -> Any:
    """Return the precision after some doublings as a sympy expression."""
    return 2**doublings * smallest


def charged_precision(precisions: list[Fraction]) -> Fraction:
    """Return the precision that the whole method is charged: every release is independent, so they add."""
    return sum(precisions, Fraction(0))


def _cost(smallest: Fraction, ideal: Fraction) -> Verdict:
    wanted = smallest * ideal
    return at_most_exact(charged_precision(doubled_precisions(smallest, wanted)), 4 * wanted, "sum of the precisions")


IDEAL_BELOW_THE_START = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 7.1, last but one sentence",
    printed_text="the sum of squares is at most 4 (epsilon*)^2 for the ideal parameter epsilon*; that "
    "takes epsilon* to be at least half of the smallest parameter: at a tenth of it the first release costs 100 "
    "(epsilon*)^2",
    answer="The parameter at which the algorithm would have halted is one of its parameters, hence at "
    "least the smallest.",
    witness={"smallest": Fraction(1), "ideal": Fraction(1, 100)},
    printed=_cost,
    corrected=lambda smallest, ideal: _cost(smallest, max(ideal, Fraction(1, 4))),
    figures=Figures(published=("1.000 > 0.04000",), corrected=("1.000 <= 1.000",)),
)


@statement(
    ROGERS_2023,
    "doubling_method",
    errata=(IDEAL_BELOW_THE_START,),
    pins=(
        Pin(
            {"smallest": Fraction(1), "ideal": Fraction(3)},
            "1 + 2 + 4, and 4 alone",
            smaller=lambda: [7, 4],
            larger=lambda: [12, 6],
        ),
    ),
)
def doubling_costs_at_most_four_times_the_ideal(smallest: Smallest, ideal: Ideal) -> Verdict:
    """If the ideal precision u* = (epsilon*)^2 is at least u_1 / 4, the precisions spent sum to at most 4 u*, and from
    u* >= u_1 / 2 on the last one is at most 2 u*: the last epsilon overshoots by a factor of at most sqrt 2.
    """
    last = doubled_precisions(smallest, smallest * ideal)[-1]
    verdicts = [_cost(smallest, ideal)]
    if ideal >= Fraction(1, 2):
        verdicts.append(at_most_exact(last, 2 * smallest * ideal, "the last precision").without_tightness())
    return conjunction(verdicts)


@statement(ROGERS_2023, "doubling_method")
def doubling_cost_is_a_geometric_sum() -> Proof:
    """The precisions u, 2u, ..., 2^k u sum to (2^(k+1) - 1) u, which is u below four times the least ideal precision
    that needs k doublings, 2^(k-1) u: the factor 4 is the supremum and is not attained for k >= 1.
    """
    k = sp.Symbol("k", integer=True, positive=True)
    i = sp.Symbol("i", integer=True, nonnegative=True)
    u = sp.Symbol("u", positive=True)
    total = sp.summation(symbolic_precision(u, i), (i, 0, k))
    least_ideal = symbolic_precision(u, k - 1)  # the ideal precision is above this one, if k doublings are needed
    short = 2 ** (1 - k)
    return proof(
        suppose("doublings", "The ideal precision is above 2^(k-1) u, and as close to it as one likes."),
        checked("sum", "The precisions sum to (2^(k+1) - 1) u.", identity, total, (2 ** (k + 1) - 1) * u),
        checked(
            "distance",
            "That is u below four times 2^(k-1) u.",
            at_least_by,
            4 * least_ideal,
            total,
            u,
            given=["sum"],
        ),
        checked(
            "ratio",
            "The ratio is 4 - 2^(1-k).",
            identity,
            sp.expand(total / least_ideal),
            4 - short,
            given=["sum"],
        ),
        checked("limit", "2^(1-k) tends to 0.", identity, sp.limit(short, k, sp.oo), 0),
        prose(
            "supremum",
            "The ratio to the ideal precision is below 4 and comes as close to it as one likes as k grows.",
            given=["doublings", "distance", "ratio", "limit"],
        ),
    )


@statement(
    ROGERS_2023,
    "doubling_method",
    cases=25,
    examples=(
        {"last": Fraction(2706, 1000), "steps": 12, "slack_delta": Fraction(1, 10**6)},
        {"last": Fraction(10), "steps": 2, "slack_delta": Fraction(1, 10**12)},
    ),
    pins=(
        Pin(
            {"last": Fraction(2706, 1000), "steps": 12, "slack_delta": Fraction(1, 10**6)},
            "a geometric sum; adaptive integration at a completed square",
            smaller=lambda: converted_delta(Fraction(1353, 1000) * (2 - Fraction(1, 2**11)), Fraction(1, 10**6)),
            larger=lambda: Fraction(1, 10**6),
        ),
    ),
)
def doubling_is_private_at_the_sum_of_its_steps(last: Last, steps: Steps, slack_delta: SmallDelta) -> Verdict:
    """Independent Gaussian releases of precisions u_1, ..., u_k about one value are one of precision u_1 + ... + u_k:
    their delta at rho + 2 sqrt(rho log(1/delta'')) is at most delta'' for rho half of that sum. (Half of the last
    precision, the charge of noise reduction, does not suffice.)

    The delta is integrated over the last release; those before it count as one.
    """
    precisions = [last / 2**i for i in range(steps)]
    epsilon: Real = lambda: concentrated_epsilon(ball(charged_precision(precisions) / 2), ball(slack_delta))
    return at_most(lambda: _delta_of_releases(precisions, epsilon()), lambda: ball(slack_delta))


def _delta_of_releases(precisions: Sequence[Fraction], epsilon: arb) -> arb:
    """Enclose the delta at `epsilon` of Gaussian releases with gap 1, integrated over the first of the list."""
    last, *others = precisions
    before = loss_excess(epsilon - ball(last / 2), ball(sum(others, Fraction(0))).sqrt())
    return before.mean_between(ball(last), None, None)
