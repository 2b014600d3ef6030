"""The optimal composition of a batch of pure and bounded-range mechanisms of one epsilon.

Chapter after Cesar and Rogers (2020), Section 4 and Appendix B. m mechanisms are epsilon-DP, k - m of bounded range
epsilon, all chosen before any interaction (the pure ones may even be chosen adaptively). The paper abbreviates k - m
in two ways and slips now and then: in App. B.1 it has e^(epsilon - epsilon m - t k') for e^(epsilon_g - ...), and
(k - i), q^(k-i) for (k' - i), q^(k'-i).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import comb
from typing import Annotated, Any

from dpassay.lazy import sympy as sp
from dpassay.spec.distributions.discrete import hockey_stick_exact
from dpassay.spec.distributions.generalized_randomized_response import (
    Number,
    RandomizedResponse,
    hinge,
    keep_probability,
    product_delta,
    product_distributions,
    pure_response,
)
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.interactions.mechanism_classes import (
    BatchesOnLattice,
    ClassSequence,
    ClassSequences,
    LatticeBatch,
    Shares,
    adaptive_delta,
    batch_delta,
    bounded_range,
    pure,
)
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, Step, checked, computed, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, positive, rational_identity
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.composition.optimal_bounded_range import optimal_bounded_range_delta
from dpassay.spec.theorems.composition.optimal_pure import optimal_pure_delta
from dpassay.spec.theorems.composition.second_derivations import (
    Masses,
    batch_excess,
    best_batch_delta,
    bounded_range_masses,
    response_masses,
)
from dpassay.spec.verdict import Evidence, Holds, Verdict, conjunction

__all__ = ["candidate_tops", "optimal_mixed_delta", "partial_sum"]

Batch = Annotated[LatticeBatch, BatchesOnLattice("a batch of pure and bounded-range mechanisms")]
SmallBatch = Annotated[
    LatticeBatch, BatchesOnLattice("a small batch of pure and bounded-range mechanisms", 2, 1, 3, least_bounded=1)
]
Tops = Annotated[tuple[Fraction, ...], Shares("positions of t_1, t_2, ... between 0 and epsilon", 6)]


def candidate_tops(bounded: int, pure_count: int, epsilon: Fraction, level: Fraction) -> list[Fraction]:
    """Return t_l = (epsilon_g + epsilon (l + 1 - m)) / (k - m + 1), l = 0..k+m, clipped to [0, epsilon].

    For epsilon_g > 0 the last one is never needed, since F_(k+m)(t) = 1 - e^epsilon_g; the text says "k + m terms".

    Parameters
    ----------
    bounded : int
        Number of bounded-range mechanisms, k - m in the paper.
    pure_count : int
        Number of pure mechanisms, m.
    epsilon : Fraction
        Parameter of each mechanism.
    level : Fraction
        epsilon_g.
    """
    free = ((level + epsilon * (ell + 1 - pure_count)) / (bounded + 1) for ell in range(bounded + 2 * pure_count + 1))
    return sorted({min(max(t, Fraction(0)), epsilon) for t in free})


def optimal_mixed_delta(batch: LatticeBatch) -> Fraction:
    """Return Thm 3, exactly, on a lattice that holds the candidates."""
    tops = candidate_tops(batch.bounded, batch.pure, Fraction(batch.steps), Fraction(batch.level))
    return max(_delta_at(batch, int(top)) for top in tops)


def _delta_at(batch: LatticeBatch, top: int) -> Fraction:
    return Fraction(product_delta(batch.bounded, batch.pure, batch.ratio, batch.base**top, batch.budget))


def _responses(batch: LatticeBatch, tops: Sequence[Fraction]) -> list[RandomizedResponse]:
    """Return the responses of a batch with arbitrary t_i, at the given positions of e^t_i between 1 and e^epsilon."""
    ratio = batch.ratio
    mixed = [RandomizedResponse(ratio, 1 + share * (ratio - 1)) for share in tops[: batch.bounded]]
    return [*mixed, *[pure_response(ratio)] * batch.pure]


# --- the order of a batch, and sums over it -----------------------------------------------------------------


@statement(
    CESAR_2020,
    "batch_order_invariance",
    examples=({"sequence": ClassSequence(Fraction(5, 4), (pure(6), bounded_range(6), bounded_range(6)), 1)},),
    cases=25,
)
def order_of_a_batch_never_matters(
    sequence: Annotated[ClassSequence, ClassSequences("pure and bounded-range classes on a lattice", 3, 6)],
) -> Verdict:
    """Batches of the same classes in any order have one delta_OPT, also with different epsilons and epsilon_g <= 0.

    Adaptive sequences do not (`order_of_two_bounded_range_and_one_pure_matters`).
    """
    reference = batch_delta(sequence.base, sequence.classes, sequence.level)
    swapped = [batch_delta(sequence.base, order, sequence.level) for order in sequence.orders()]
    nothing = Holds(evidence=Evidence.EXACT, detail="one mechanism")
    return conjunction([equal_exact(value, reference, "delta of two exchanged") for value in swapped] or [nothing])


def factorised_sum(batch: LatticeBatch, tops: Sequence[Fraction]) -> Fraction:
    """Return the subset sum that is factorised over the number of answers 1 in the pure block."""
    ratio, m = batch.ratio, batch.pure
    own = ratio / (1 + ratio)
    cells = [(Fraction(1), Fraction(1))]
    for response in _responses(batch, tops)[: batch.bounded]:
        q, p = response.left.probability(0), response.right.probability(0)
        cells = [(x * a, y * b) for x, y in cells for a, b in ((q, p), (1 - q, 1 - p))]
    total = Fraction(0)
    for j in range(m + 1):
        left, right = own ** (m - j) * (1 - own) ** j, (1 - own) ** (m - j) * own**j
        total += comb(m, j) * sum((hinge(left * x - batch.budget * right * y) for x, y in cells), Fraction(0))
    return total


@statement(CESAR_2020, "mixed_delta_subset_sum", cases=40)
def mixed_subset_sum_factorises(batch: Batch, tops: Tops) -> Verdict:
    """Beside bounded-range responses with any t_i, the pure block enters the subset sum through the number j of its
    answers 1 only, with weights Q^(m-j) (1-Q)^j and (1-Q)^(m-j) Q^j, Q = e^epsilon / (1 + e^epsilon).
    """
    brute = hockey_stick_exact(*product_distributions(_responses(batch, tops)), batch.budget)
    return equal_exact(factorised_sum(batch, tops), brute, "the factorised sum")


# --- averaging ----------------------------------------------------------------------------------------------

Steps = Annotated[int, Integers("half of epsilon, in lattice steps", 1, 4)]
Base = Annotated[Fraction, Reals("the base of the lattice", Fraction(21, 20), 3, (2, Fraction(3, 2)))]
Level = Annotated[int, Integers("epsilon_g, in lattice steps", -12, 16, (0, 1, 2))]


def _delta_of(base: Fraction, parameters: Sequence[tuple[int, int]], level: int) -> Fraction:
    """Return delta of responses with (epsilon_i, t_i) in lattice steps."""
    responses = (RandomizedResponse(base**steps, base**top) for steps, top in parameters)
    return hockey_stick_exact(*product_distributions(responses), base**level)


def averaged(first: int, second: int) -> tuple[int, int]:
    """Return ((t_1 + t_2)/2, (t_1 + t_2)/2) for two t's of the same parity."""
    return (first + second) // 2, (first + second) // 2


def _averaging_across_different_epsilons(
    base: Fraction, steps: tuple[int, int], tops: tuple[int, int], level: int
) -> Verdict:
    before = _delta_of(base, list(zip(steps, tops, strict=True)), level)
    after = _delta_of(base, list(zip(steps, averaged(*tops), strict=True)), level)
    return at_most_exact(before, after, "delta before averaging")


def _averaging_within_one_epsilon(
    base: Fraction, steps: tuple[int, int], tops: tuple[int, int], level: int
) -> Verdict:
    return _averaging_across_different_epsilons(base, (steps[0], steps[0]), tops, level)


AVERAGED_ACROSS_BLOCKS = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 4, Lemma 4.4",
    printed_text="Lemma 4.4 does not say that k - m is at least 2, as its display takes it to be; with k "
    "- m = 1 the two averaged t's belong to different epsilons, and it fails",
    answer="The display writes (t_1, epsilon), (t_2, epsilon), so that k - m is at least 2.",
    witness={"base": Fraction(3, 2), "steps": (8, 4), "tops": (6, 0), "level": 3},
    printed=_averaging_across_different_epsilons,
    corrected=_averaging_within_one_epsilon,
    figures=Figures(published=("0.4068 > 0.2641",), corrected=("0.4068 <= 0.5745",)),
)


def _excess_of(*parameters: tuple[int, int]) -> Fraction:
    base = Fraction(3, 2)
    return batch_excess([response_masses(base**steps, base**top) for steps, top in parameters], base)


@statement(
    CESAR_2020,
    "averaging_t_lemma",
    errata=(AVERAGED_ACROSS_BLOCKS,),
    cases=60,
    pins=(
        Pin(
            {
                "base": Fraction(3, 2),
                "half": 3,
                "other_half": 1,
                "level": 1,
                "tops": tuple(map(Fraction, ("1/3", "2/3", "1/2", "1/2", "0", "0"))),
            },
            "sums over the vectors of four answers",
            smaller=lambda: _excess_of((6, 2), (6, 4), (6, 3), (2, 1)),
            larger=lambda: _excess_of((6, 3), (6, 3), (6, 3), (2, 1)),
        ),
    ),
)
def averaging_two_parameters_never_lowers_delta(
    base: Base, half: Steps, other_half: Steps, level: Level, tops: Tops
) -> Verdict:
    """Two responses with one epsilon and t_1, t_2, beside any others: replacing both by (t_1 + t_2)/2 does not lower
    delta. Needs k - m >= 2 and a common epsilon of the two, neither of which is stated.
    """
    steps, others = 2 * half, 2 * other_half
    first, second = (2 * round(share * half) for share in tops[:2])
    beside = [(steps, round(tops[2] * steps)), (others, round(tops[3] * others))]
    middle = averaged(first, second)
    before = _delta_of(base, [(steps, first), (steps, second), *beside], level)
    after = _delta_of(base, [(steps, middle[0]), (steps, middle[1]), *beside], level)
    return at_most_exact(before, after, "delta before averaging").without_tightness()


def _eq_5_for_adaptive_choice(batch: LatticeBatch) -> Verdict:
    adaptive = adaptive_delta(batch.base, batch.classes, batch.level)
    return at_most_exact(adaptive, optimal_mixed_delta(batch), "adaptive delta")


def _eq_5_for_a_batch(batch: LatticeBatch) -> Verdict:
    return one_parameter_suffices_for_a_batch(batch=batch)


ADAPTIVE_TUPLE_FOR_BATCH = Erratum(
    kind="false",
    severity=Severity.MINOR,
    location="Section 4, eq. (5), left side",
    printed_text="the left side of eq. (5) is written as a tuple, which the paper defines as adaptive composition",
    answer="The non-adaptive product is meant, as in the title of the section and in Theorem 3.",
    witness={"batch": LatticeBatch(Fraction(9, 8), 2, 1, 3, 0)},
    printed=_eq_5_for_adaptive_choice,
    corrected=_eq_5_for_a_batch,
    figures=Figures(published=("0.5113 > 0.5013",), corrected=("0.5013 = 0.5013",)),
)


@statement(CESAR_2020, "mixed_delta_one_t", "delta_mk_of_t", errata=(ADAPTIVE_TUPLE_FOR_BATCH,), cases=20)
def one_parameter_suffices_for_a_batch(batch: SmallBatch) -> Verdict:
    """delta_OPT of a batch of m pure and k - m bounded-range mechanisms is the supremum over one common t of
    delta^{m,k}(t) = sum_{i,j} C(k-m,i) C(m,j) Q^(m-j) (1-Q)^j q^(k-m-i) (1-q)^i [1 - e^(epsilon_g - epsilon(m-2j-i) -
    t(k-m))]_+: on the lattice, the largest delta over all vectors of t's is the one over the diagonal.
    """
    diagonal = max(_delta_at(batch, top) for top in range(batch.steps + 1))
    return equal_exact(batch_delta(batch.base, batch.classes, batch.level), diagonal, "the largest delta over vectors")


# --- F_l and Thm 3 ------------------------------------------------------------------------------------------


def partial_sum(  # the formula has these parameters
    ell: int, bounded: int, pure_count: int, ratio: Number, top: Number, budget: Number, *, printed: bool = False
) -> Number:
    """Return F_l(t), the sum of the cells with n = i + 2j <= l, positive or not.

    The paper has the exponent j where (1 - q) needs i, in Section 4 and in App. B.1.

    Parameters
    ----------
    ell : int
        Index l of the sum.
    bounded : int
        Number of bounded-range mechanisms.
    pure_count : int
        Number of pure mechanisms.
    ratio : Number
        e^epsilon.
    top : Number
        e^t, between 1 and the ratio.
    budget : Number
        e^epsilon_g.
    printed : bool
        Whether to use the exponent of the paper.
    """
    q, own = keep_probability(ratio, top), ratio / (1 + ratio)
    total = 0 * q
    for j in range(min(pure_count, ell // 2) + 1):
        for i in range(min(bounded, ell - 2 * j) + 1):
            weight = comb(bounded, i) * comb(pure_count, j) * own ** (pure_count - j) * (1 - own) ** j
            weight *= q ** (bounded - i) * (1 - q) ** (j if printed else i)
            total += weight * (1 - budget / (ratio ** (pure_count - 2 * j - i) * top**bounded))
    return total


@statement(CESAR_2020, "F_ell", "delta_mk_of_t", cases=60)
def delta_is_the_largest_partial_sum(batch: Batch, tops: Tops) -> Verdict:
    """delta^{m,k}(t) = max(0, max_l F_l(t)), l = 0..k+m: cell n contributes iff epsilon (m - n) + t (k - m) >
    epsilon_g, which is a condition on n = i + 2j alone. Hence delta^{m,k} is a maximum of functions with one peak
    each, and not unimodal itself.
    """
    top = 1 + tops[0] * (batch.ratio - 1)
    sums = (
        partial_sum(ell, batch.bounded, batch.pure, batch.ratio, top, batch.budget)
        for ell in range(batch.bounded + 2 * batch.pure + 1)
    )
    delta = hockey_stick_exact(*product_distributions(_responses(batch, [tops[0]] * batch.bounded)), batch.budget)
    return equal_exact(max(Fraction(0), *sums), delta, "the largest partial sum")


def derivative_formula(  # the formula has these parameters
    ell: int, bounded: int, pure_count: int, ratio: Number, top: Number, budget: Number
) -> Number:
    """Return Lemma 4.5: (e^(epsilon_g - epsilon(m-l) - t(k-m)) - e^(t-epsilon)) / (1 - e^-epsilon) times
    sum_{i+2j=l} alpha_{i,j} (k-m-i) q^(k-m-i-1) (1-q)^i.

    Parameters
    ----------
    ell, bounded, pure_count, ratio, top, budget
        As for :func:`partial_sum`.
    """
    q, own = keep_probability(ratio, top), ratio / (1 + ratio)
    total = 0 * q
    for j in range(min(pure_count, ell // 2) + 1):
        i = ell - 2 * j
        if i < bounded:
            weight = comb(bounded, i) * comb(pure_count, j) * own ** (pure_count - j) * (1 - own) ** j
            total += weight * (bounded - i) * q ** (bounded - i - 1) * (1 - q) ** i
    slope = budget * ratio ** (ell - pure_count) / top**bounded - top / ratio
    return slope / (1 - 1 / ratio) * total


def _derivative(*, ell: int, bounded: int, pure_count: int, printed: bool = False) -> tuple[Any, Any]:
    """Return dF_l/dt = e^t dF_l/de^t, and the formula, as elements of Q(s, T, G): e^epsilon, e^t, e^epsilon_g."""
    _, s, top, budget = sp.field("s,T,G", sp.QQ)
    function = partial_sum(ell, bounded, pure_count, s, top, budget, printed=printed)
    return top * function.diff(top), derivative_formula(ell, bounded, pure_count, s, top, budget)


def _printed_derivative_at(ell: int, bounded: int, pure_count: int, point: tuple[Fraction, ...]) -> Verdict:
    left, right = _derivative(ell=ell, bounded=bounded, pure_count=pure_count, printed=True)
    values = dict(zip(sp.symbols("s T G"), map(sp.Rational, point), strict=True))
    slope, formula = (Fraction(str(side.as_expr().subs(values))) for side in (left, right))
    return equal_exact(slope, formula, "F_l'")


def _derivative_symbolic(ell: int, bounded: int, pure_count: int, point: tuple[Fraction, ...]) -> Verdict:  # noqa: ARG001  # holds at every point
    return rational_identity(*_derivative(ell=ell, bounded=bounded, pure_count=pure_count), "F_l'")


def _derivative_identity(ell: int, bounded: int, pure_count: int) -> Verdict:
    """Decide the formula, and that its denominator has e^((k - m) t) if it is not 0: that it is the one asked for."""
    left, right = _derivative(ell=ell, bounded=bounded, pure_count=pure_count)
    name = f"F_{ell}' for k - m = {bounded}, m = {pure_count}"
    top, power = left.denom.ring.gens[1], bounded if left else 0
    return conjunction([
        rational_identity(left, right, name),
        equal_exact(left.denom.degree(top), power, f"power of e^t in the denominator of {name}"),
    ])  # fmt: skip


EXPONENT_J = Erratum(
    kind="false",
    severity=Severity.MINOR,
    location="Section 4, the definition of F_l before Lemma 4.5, and Appendix B.1",
    printed_text="F_l has (1 - q)^j for (1 - q)^i, in Section 4 and in App. B.1",
    answer="The exponent is i; Lemma 4.5 has it right.",
    witness={
        "ell": 1,
        "bounded": 2,
        "pure_count": 0,
        "point": (Fraction(2), Fraction(27, 20), Fraction(3, 2)),
    },
    printed=_printed_derivative_at,
    corrected=_derivative_symbolic,
    figures=Figures(published=("6.409 != 1.360",)),
    item="F_ell",
)

LARGEST_SYMBOLIC = 3


def _instances() -> list[Step]:
    """Return a step for each F_l with k - m and m up to 3: its derivative, as rational functions."""
    shapes = [(b, m) for b in range(1, LARGEST_SYMBOLIC + 1) for m in range(LARGEST_SYMBOLIC + 1)]
    return [
        computed(
            f"k - m = {b}, m = {m}, l = {n}",
            "The formula of the code is the derivative of its partial sum.",
            partial(_derivative_identity, n, b, m),
        )
        for b, m in shapes
        for n in range(b + 2 * m + 1)
    ]


@statement(CESAR_2020, "F_ell_derivative", "F_ell", errata=(EXPONENT_J,))
def partial_sums_have_one_peak() -> Proof:
    """F_l'(t) = (e^(epsilon_g - epsilon(m-l) - t(k-m)) - e^(t-epsilon)) / (1 - e^-epsilon) times a sum of positive
    terms, so that F_l rises up to t_l = (epsilon_g + epsilon (l + 1 - m)) / (k - m + 1) and falls after it.

    The sums over i telescope, for all k - m, m and l; the formulas of the code are compared for k - m, m <= 3, where
    they are rational functions.
    """
    s, top, budget, q, weight = sp.symbols("s T G q C", positive=True)
    b, i, m, j, ell = sp.symbols("b i m j l", integer=True, positive=True)
    q_of = (s - top) / (s - 1)
    rate: Callable[[Any], Any] = lambda expression: top * sp.diff(expression, top)  # d/dt, T = e^t
    edge: Callable[[Any, Any], Any] = lambda count, at: (
        (b - count) * sp.binomial(b, count) * at ** (b - count - 1) * (1 - at) ** count
    )
    n = ell - 2 * j
    below = budget * s ** (ell - m) / top**b - top / s
    tilted = (q / top) ** (b - n - 1) * (s * (1 - q) / top) ** n * q ** (1 + n - b) * (1 - q) ** (-n)  # D(p)/D(q)
    instances = _instances()
    return proof(
        suppose("responses", "F_l sums, for j <= l/2 and i <= min(k - m, l - 2j), the cells of Thm 3."),
        checked(
            "neighbours",
            "i C(b, i) = (b - i + 1) C(b, i - 1).",
            identity,
            sp.gammasimp(i * sp.binomial(b, i) / sp.binomial(b, i - 1)),
            b - i + 1,
        ),
        checked(
            "telescope",
            "d/dq C(b, i) q^(b-i) (1-q)^i = D_i - D_(i-1), D_i = (b - i) C(b, i) q^(b-i-1) (1-q)^i.",
            identity,
            sp.diff(q ** (b - i) * (1 - q) ** i, q) * weight,
            (b - i) * weight * q ** (b - i - 1) * (1 - q) ** i - i * weight * q ** (b - i) * (1 - q) ** (i - 1),
            given=["neighbours"],
        ),
        checked("first", "For i = 0 the derivative is D_0.", identity, sp.diff(q**b, q), edge(sp.Integer(0), q)),
        checked("last", "D_b = 0, so that nothing is left where i reaches b = k - m.", identity, edge(b, q), 0),
        checked(
            "other side",
            "With p = q/T the other probability is s (1 - q)/T = 1 - p.",
            identity,
            1 - q_of / top,
            s * (1 - q_of) / top,
        ),
        checked("rate of q", "dq/dt = -T/(s - 1).", identity, rate(q_of), -top / (s - 1)),
        checked("rate of p", "dp/dt = -(s/T)/(s - 1).", identity, rate(q_of / top), -s / top / (s - 1)),
        checked(
            "cell sum",
            "For each j the two sums, D_n(q) dq/dt - G s^(2j-m) D_n(p) dp/dt with n = l - 2j, give D_n(q) times "
            "(G s^(l-m)/T^b - T/s)/(1 - 1/s).",
            identity,
            sp.powsimp(sp.expand_power_base(-top / (s - 1) + budget * s ** (2 * j - m) * tilted * s / top / (s - 1))),
            below / (1 - 1 / s),
            given=["telescope", "first", "last", "other side", "rate of q", "rate of p"],
        ),
        prose(
            "derivative",
            "F_l' is (G s^(l-m)/T^b - T/s)/(1 - 1/s) times the sum of alpha_{i,j} D_n(q)/C(b, n) over i = n = l - 2j, "
            "by linearity; the factors of alpha that depend on j alone are carried along.",
            given=["responses", "cell sum"],
        ),
        checked(
            "peak",
            "The slope G s^(l-m)/T^b - T/s vanishes at t_l: T^(b+1) = G s^(l+1-m).",
            identity,
            below.subs(budget, top ** (b + 1) * s ** (m - 1 - ell)),
            0,
        ),
        checked("falls", "The slope falls in T.", positive, -sp.diff(below, top)),
        *instances,
        prose(
            "one peak",
            "The terms D_n(q) are not negative, since 0 <= q <= 1; so F_l rises up to t_l and falls after it.",
            given=["derivative", "peak", "falls", *(step.name for step in instances)],
        ),
    )


@statement(
    CESAR_2020,
    "optimal_mixed_batch",
    examples=(
        {"batch": LatticeBatch(Fraction(11, 10), 4, 2, 2, 4), "tops": (Fraction(3, 5),) * 6},
        *(
            {"batch": LatticeBatch(Fraction(5, 4), bounded, pure_count, 2, level), "tops": (Fraction(1, 2),) * 6}
            for bounded, pure_count in ((1, 2), (1, 3), (2, 3))
            for level in (-1, 0, 1)
        ),
    ),
    cases=40,
    pins=(
        Pin(
            {"batch": LatticeBatch(Fraction(2), 0, 1, 1, 0), "tops": (Fraction(1, 2),) * 6},
            "one response with odds of 2 to 1",
            both=lambda: [Fraction(1, 3)] * 2,
        ),
    ),
)
def optimal_delta_of_mixed_batch(
    batch: Annotated[LatticeBatch, BatchesOnLattice("a batch of pure and bounded-range mechanisms", 4, 3)], tops: Tops
) -> Verdict:
    """delta_OPT of a batch of m epsilon-DP and k - m epsilon-bounded-range mechanisms is the largest delta^{m,k}(t_l),
    t_l = (epsilon_g + epsilon (l + 1 - m))/(k - m + 1) clipped to [0, epsilon], l = 0..k+m. Neither another common t
    nor different t_i do better. Printed for epsilon_g > 0; holds for every real epsilon_g.
    """
    best = optimal_mixed_delta(batch)
    places = [(batch.base**top - 1) / (batch.ratio - 1) for top in range(batch.steps + 1)]
    common = max(factorised_sum(batch, [place] * 6) for place in places)
    return conjunction([
        equal_exact(common, best, "the largest delta with a common t on the lattice"),
        at_most_exact(factorised_sum(batch, [tops[0]] * 6), best, "delta with a common t"),
        at_most_exact(factorised_sum(batch, tops), best, "delta with different t"),
    ])  # fmt: skip


def _ranges_of_four() -> list[Masses]:
    return bounded_range_masses(Fraction(3, 2), 4)


def _pure_of_four() -> list[Masses]:
    return [response_masses(Fraction(3, 2) ** 8, Fraction(3, 2) ** 4)]


@statement(
    CESAR_2020,
    "thm3_special_cases_cost",
    cases=30,
    pins=(
        Pin(
            {"batch": LatticeBatch(Fraction(3, 2), 1, 1, 2, 1)},
            "the best of all batches, tried one by one",
            smaller=lambda: best_batch_delta(
                [bounded_range_masses(Fraction(3, 2), 4), _pure_of_four()], Fraction(9, 4)
            ),
            larger=lambda: best_batch_delta([_pure_of_four()] * 2, Fraction(9, 4)),
        ),
    ),
)
def mixed_batch_interpolates_between_pure_and_bounded_range(batch: Batch) -> Verdict:
    """Thm 3 is Thm 1 for m = k and Thm 2 for m = 0, and grows with m: replacing a bounded-range mechanism by a pure
    one of the same epsilon never helps. Only the candidates strictly inside (0, epsilon) and the two ends differ.
    """
    k = batch.bounded + batch.pure
    only_pure = LatticeBatch(batch.base, 0, k, batch.epsilon_units, batch.level_units)
    only_bounded = LatticeBatch(batch.base, k, 0, batch.epsilon_units, batch.level_units)
    steps, level = (batch.bounded + 1) * batch.epsilon_units, (batch.bounded + 1) * batch.level_units
    fewer, more = ((bounded_range(steps), pure(steps)), (pure(steps), pure(steps)))
    return conjunction([
        equal_exact(
            optimal_mixed_delta(only_pure), optimal_pure_delta(k, only_pure.ratio, only_pure.budget), "Thm 3 at m = k"
        ),
        equal_exact(optimal_mixed_delta(only_bounded), optimal_bounded_range_delta(only_bounded), "Thm 3 at m = 0"),
        at_most_exact(
            batch_delta(batch.base, fewer, level), batch_delta(batch.base, more, level), "delta with fewer pure"
        ).without_tightness(),
    ])  # fmt: skip
