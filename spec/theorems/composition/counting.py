"""Numbers of bounded-range mechanisms that cost as much as k pure ones.

Chapter after Cesar and Rogers (2020), Sections 1 and 2: "nearly four times more exponential mechanisms for the same
privacy". A batch of epsilon-bounded-range mechanisms is almost, but not quite, one of epsilon/2-DP mechanisms.
"""

from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.spec.ball import Exact, at_most, ball, exact, less_than, max_balls
from dpassay.spec.distributions.generalized_randomized_response import product_delta
from dpassay.spec.domains.base import Choices
from dpassay.spec.proof.figures import Figures
from dpassay.spec.rational import at_most_exact
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.composition.mixed_batch import candidate_tops
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["mixed_delta"]


def mixed_delta(bounded: int, pure: int, epsilon: Exact, level: Exact) -> arb:
    """Enclose Thm 3: delta_OPT of a batch of `bounded` and `pure` mechanisms at epsilon_g = `level`, any real.

    Parameters
    ----------
    bounded, pure : int
        Numbers of bounded-range and of pure mechanisms.
    epsilon : Exact
        Parameter of each mechanism, positive.
    level : Exact
        epsilon_g, any real.
    """
    e, g = exact("epsilon", epsilon), exact("level", level)
    tops = candidate_tops(bounded, pure, e, g) if bounded else [Fraction(0)]
    return max_balls(product_delta(bounded, pure, ball(e).exp(), ball(top).exp(), ball(g).exp()) for top in tops)


Case = tuple[int, Fraction, Fraction, int]
"""k, epsilon, epsilon_g and the number of bounded-range mechanisms."""

CASES: tuple[Case, ...] = (
    (20, Fraction(1, 10), Fraction(17886, 10**4), 66),
    (50, Fraction(1, 10), Fraction(31729, 10**4), 186),
    (25, Fraction(1, 50), Fraction(37478, 10**5), 90),
)


def _as_half_as_private(count: int, epsilon: Fraction, level: Fraction) -> Verdict:
    return at_most(lambda: mixed_delta(count, 0, epsilon, level), lambda: mixed_delta(0, count, epsilon / 2, level))


def _never_better_than_half(count: int, epsilon: Fraction, level: Fraction) -> Verdict:
    return at_most(lambda: mixed_delta(0, count, epsilon / 2, level), lambda: mixed_delta(count, 0, epsilon, level))


HALF_EPSILON = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 2, the paragraph before Definition 2.2",
    printed_text="in a batch, epsilon-bounded-range is said to be nearly the same as epsilon/2-DP; taken "
    "as a bound that understates delta",
    answer="The sentence says roughly and nearly, and no bound uses it.",
    witness={"count": 10, "epsilon": Fraction(1, 5), "level": Fraction(1, 2)},
    printed=_as_half_as_private,
    corrected=_never_better_than_half,
    figures=Figures(published=("0.01063 > 0.009930",), corrected=("0.009930 <= 0.01063",)),
)


@statement(CESAR_2020, "br_four_times_claim", errata=(HALF_EPSILON,), cases=3)
def three_to_four_times_as_many_bounded_range_mechanisms(
    case: Annotated[Case, Choices("k, epsilon, epsilon_g, number", CASES)],
) -> Verdict:
    """At the epsilon_g where k pure mechanisms have delta = 1e-6, between three and four times as many of bounded
    range epsilon have at most their delta: 66 for 20 and 186 for 50 at epsilon = 1/10, 90 for 25 at 1/50.
    """
    count, epsilon, level, number = case
    own = lambda: mixed_delta(0, count, epsilon, level)
    return conjunction([
        at_most(lambda: mixed_delta(number, 0, epsilon, level), own).without_tightness(),
        less_than(own, lambda: mixed_delta(number + 1, 0, epsilon, level)).without_tightness(),
        at_most(own, lambda: ball(Fraction(101, 100 * 10**6))).without_tightness(),
        at_most_exact(Fraction(3 * count), Fraction(number), "3 k").without_tightness(),
        at_most_exact(Fraction(number), Fraction(4 * count), "the number").without_tightness(),
    ])  # fmt: skip
