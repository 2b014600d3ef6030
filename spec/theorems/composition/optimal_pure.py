"""The optimal composition of pure mechanisms: adaptivity and order never matter.

Chapter after Cesar and Rogers (2020), Thm 1 (of Kairouz, Oh and Viswanath 2015), Def 2.5 and Lemma C.2. Whatever
the history, the worst epsilon-DP mechanism is randomised response; the losses of the rounds are then independent.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import comb
from typing import Annotated

from dpassay.spec.distributions.discrete import hockey_stick_exact
from dpassay.spec.distributions.generalized_randomized_response import hinge, product_distributions, pure_response
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.interactions.mechanism_classes import (
    ClassSequence,
    ClassSequences,
    MechanismClass,
    adaptive_delta,
    batch_delta,
    pure,
)
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["hinge_weights", "optimal_pure_delta"]

Count = Annotated[int, Integers("a number of mechanisms", 1, 7)]
Ratio = Annotated[Fraction, Reals("e^epsilon", Fraction(101, 100), 30, (2, 3, Fraction(3, 2)), logarithmic=True)]
Budget = Annotated[
    Fraction, Reals("e^epsilon_g, also below 1", Fraction(1, 100), 100, (1, 2, 4, Fraction(1, 2)), logarithmic=True)
]
Mixed = Annotated[ClassSequence, ClassSequences("pure and bounded-range classes on a lattice", 3, 3)]
Pure = Annotated[ClassSequence, ClassSequences("pure classes on a lattice", 4, 4, kinds=("pure",))]


def optimal_pure_delta(count: int, ratio: Fraction, budget: Fraction) -> Fraction:
    """Return Thm 1: (1 + s)^-k sum_{l >= l_0} C(k,l) (s^l - e^epsilon_g s^(k-l)), s = e^epsilon.

    The printed l_0 = ceil((epsilon_g + k epsilon) / (2 epsilon)) is the first l >= 0 with s^(2l - k) >= e^epsilon_g;
    the clipping at 0 is needed for epsilon_g < -k epsilon only.
    """
    first = next((ell for ell in range(count + 1) if ratio ** (2 * ell - count) >= budget), count + 1)
    terms = (comb(count, ell) * (ratio**ell - budget * ratio ** (count - ell)) for ell in range(first, count + 1))
    return sum(terms, Fraction(0)) / (1 + ratio) ** count


@statement(CESAR_2020, "optimal_dp_composition", cases=60)
def optimal_delta_of_pure_composition(count: Count, ratio: Ratio, budget: Budget) -> Verdict:
    """k epsilon-DP mechanisms, adaptively chosen, are at best (epsilon_g, delta)-DP with
    delta = (1 + e^epsilon)^-k sum_l C(k,l) (e^(l epsilon) - e^(epsilon_g + (k - l) epsilon)) over
    l >= (epsilon_g + k epsilon)/(2 epsilon): the delta of k randomised responses. Holds for epsilon_g < 0 as well.

    That adaptively chosen mechanisms do no worse is `adaptive_interactions_stay_below_the_recursion`.
    """
    brute = hockey_stick_exact(*product_distributions([pure_response(ratio)] * count), budget)
    return equal_exact(optimal_pure_delta(count, ratio, budget), brute, "delta of k randomised responses")


def hinge_weights(count: int, ratio: Fraction) -> list[Fraction]:
    """Return lambda_{l,i} = C(l,i) e^((l-i) epsilon) / (1 + e^epsilon)^l for i = 0..l."""
    return [comb(count, i) * ratio ** (count - i) / (1 + ratio) ** count for i in range(count + 1)]


def hinge_level(count: int, i: int) -> int:
    """Return 2i - l, the multiple of epsilon in the i-th hinge."""
    return 2 * i - count


@statement(CESAR_2020, "dp_delta_hinge_expansion", cases=60)
def pure_delta_is_a_mixture_of_hinges(count: Count, ratio: Ratio, budget: Budget) -> Verdict:
    """delta_l(x) = sum_i lambda_{l,i} [1 - e^((2i - l) epsilon + x)]_+ for all real x, with the binomial weights
    lambda_{l,i} = C(l,i) e^((l-i) epsilon) / (1 + e^epsilon)^l, which sum to 1. The paper leaves them open.
    """
    weights = hinge_weights(count, ratio)
    hinges = [hinge(1 - ratio ** hinge_level(count, i) * budget) for i in range(count + 1)]
    expanded = sum((w * h for w, h in zip(weights, hinges, strict=True)), Fraction(0))
    return conjunction([
        equal_exact(expanded, optimal_pure_delta(count, ratio, budget), "the sum of hinges"),
        equal_exact(sum(weights, Fraction(0)), Fraction(1), "the sum of the weights"),
    ])  # fmt: skip


def _set_wise_delta(base: Fraction, classes: Sequence[MechanismClass], level: int) -> Fraction:
    """Return the delta when the analyst also chooses, from the outcomes, which parameter comes next."""
    if not classes:
        return adaptive_delta(base, (), level)
    best = Fraction(0)
    for k, each in enumerate(classes):
        rest = [*classes[:k], *classes[k + 1 :]]
        kept = base**each.steps / (1 + base**each.steps)
        value = kept * _set_wise_delta(base, rest, level - each.steps)
        best = max(best, value + (1 - kept) * _set_wise_delta(base, rest, level + each.steps))
    return best


@statement(CESAR_2020, "open_questions", cases=25)
def order_of_pure_mechanisms_never_matters(sequence: Pure) -> Verdict:
    """For pure mechanisms with different epsilons neither the order, nor adaptivity, nor choosing the next parameter
    from the outcomes changes delta: it is a sum over sign patterns. Answers the paper's third question for pure DP.
    """
    reference = batch_delta(sequence.base, sequence.classes, sequence.level)
    orders = set(permutations(sequence.classes))
    return conjunction([
        *(equal_exact(adaptive_delta(sequence.base, o, sequence.level), reference, f"order {o}") for o in orders),
        equal_exact(_set_wise_delta(sequence.base, sequence.classes, sequence.level), reference, "any order"),
    ])  # fmt: skip


def opposite_delta(delta: Fraction, budget: Fraction) -> Fraction:
    """Return 1 - e^-epsilon_g + e^-epsilon_g delta(epsilon_g), which is delta(-epsilon_g)."""
    return 1 - 1 / budget + delta / budget


@statement(
    CESAR_2020,
    "delta_opt",
    cases=30,
    pins=(
        Pin(
            {"sequence": ClassSequence(Fraction(2), (pure(2),), 0)},
            "one response of ratio 4: (4 - e^epsilon_g)/5 is linear between its kinks, where the chord is attained",
            smaller=lambda: [Fraction(2, 5), Fraction(3, 5), 0],
            larger=lambda: [Fraction(3, 5)] * 3,
        ),
    ),
)
def optimal_delta_is_its_own_dual(sequence: Mixed) -> Verdict:
    """delta_OPT is defined at every real epsilon_g, falls, is convex in e^epsilon_g, at least [1 - e^epsilon_g]_+,
    0 from the sum of the epsilons on; and delta(-epsilon_g) = 1 - e^-epsilon_g + e^-epsilon_g delta(epsilon_g), since
    the classes are closed under exchanging the neighbours.
    """
    base, classes, level = sequence.base, sequence.classes, sequence.level
    curve = [adaptive_delta(base, classes, level + step) for step in (-1, 0, 1)]
    share = Fraction(1) / (base + 1)  # where e^level sits between its neighbours on the lattice
    total = sum(each.steps for each in classes)
    dual = opposite_delta(curve[1], sequence.budget)
    return conjunction([
        equal_exact(adaptive_delta(base, classes, -level), dual, "delta(-epsilon_g)"),
        at_most_exact(curve[2], curve[1], "delta further on").without_tightness(),
        at_most_exact(curve[1], (1 - share) * curve[0] + share * curve[2], "delta between").without_tightness(),
        at_most_exact(hinge(1 - sequence.budget), curve[1], "[1 - e^epsilon_g]_+").without_tightness(),
        equal_exact(adaptive_delta(base, classes, total), Fraction(0), "delta at the sum of the epsilons"),
    ])  # fmt: skip
