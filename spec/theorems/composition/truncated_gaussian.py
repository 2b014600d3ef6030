"""Truncated Gaussian noise for counts of unknown labels: Cesar and Rogers (2020), Section 6.2, Alg 2, Lemma 6.4.

Notation: Delta counts move by at most tau; s = tau sigma is the standard deviation before truncation, T the half-width
of the noise, in units of s below. Labels with a noisy count above tau + T are released, and with probability
1 - delta each of the Delta moved counts could have come from both data sets.

Misprints without consequence: the inputs list epsilon, which is never used, for sigma, which is; in the reverse order
of the proof a bracket of the exponent is misplaced; labels with a true count *equal* to tau cannot appear either. The
released threshold tau + T costs utility only: T suffices (`appearance_at_the_half_width_is_paid_for`).
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, Real, at_least, at_most, ball, exact, less_than, normal_cdf
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick_exact
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.truncated_gaussian import (
    conditional_renyi_divergence,
    overlap_probability,
    singular_mass,
    truncated_hockey_stick,
    truncated_upper_tail,
)
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.domains.tables import RationalTables, Table
from dpassay.spec.notions.zcdp_conversions import optimal_probabilistic_epsilon
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, all_of, checked, proof
from dpassay.spec.proof.symbolic import identity, symbolic_normal_cdf, symbolic_normal_pdf
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.composition.second_derivations import slice_of_truncated_normal
from dpassay.spec.theorems.gaussian_selection.second_derivations import gaussian_excess
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["released_labels", "truncation_delta"]

HALF = Fraction(1, 2)

HalfWidth = Annotated[Exact, Reals("T, in noise scales", Fraction(1, 100), 12, (1, 3, 5), logarithmic=True)]
Share = Annotated[
    Exact, Reals("the shift, over 2 T or tau", Fraction(1, 1000), Fraction(999, 1000), (Fraction(1, 2),))
]
Order = Annotated[Exact, Reals("an order", Fraction(1001, 1000), 100, (2, Fraction(3, 2)), logarithmic=True)]
Size = Annotated[int, Integers("Delta", 1, 100, (1, 10), logarithmic=True)]
Multiplier = Annotated[
    Exact, Reals("a noise multiplier sigma", Fraction(1, 5), 50, (1, Fraction(3, 10)), logarithmic=True)
]
Excess = Annotated[
    Exact, Reals("T over tau, beyond 1/2", Fraction(1, 1000), 100, (Fraction(1, 2), 10), logarithmic=True)
]
Delta = Annotated[Exact, Reals("delta", Fraction(1, 10**9), Fraction(1, 2), (Fraction(1, 10),), logarithmic=True)]


# --- the distribution ---------------------------------------------------------------------------------------


def truncated_density(z: "sp.Expr", half_width: "sp.Expr", sigma: "sp.Expr") -> "sp.Expr":
    """Return the density of N_T(0, sigma^2) inside [-T, T]."""
    mass = symbolic_normal_cdf(half_width / sigma) - symbolic_normal_cdf(-half_width / sigma)
    return symbolic_normal_pdf(z / sigma) / sigma / mass


@statement(CESAR_2020, "truncated_gaussian")
def truncated_gaussian_is_conditional_gaussian() -> Proof:
    """phi((z - mu)/sigma)/(sigma (Phi(T/sigma) - Phi(-T/sigma))) on [mu - T, mu + T] integrates to 1, and on the
    overlap of two supports its likelihood ratio is that of the two normal distributions.
    """
    z, shift = sp.symbols("z h", real=True)
    half_width, sigma = sp.symbols("T sigma", positive=True)
    density: Callable[[Any], Any] = lambda centre: truncated_density(z - centre, half_width, sigma)
    ratio = sp.exp((shift * z - shift**2 / 2) / sigma**2)
    normal: Callable[[Any], Any] = lambda centre: sp.exp(-((z - centre) ** 2) / (2 * sigma**2))
    total = sp.integrate(density(0), (z, -half_width, half_width))
    return proof(
        checked("mass", "The density integrates to 1 over [-T, T].", identity, total.rewrite(sp.erf), 1),
        checked(
            "likelihood ratio",
            "The ratio of the densities centred at h and at 0 is exp((h z - h^2/2)/sigma^2).",
            identity,
            density(shift),
            ratio * density(0),
        ),
        checked(
            "normal ratio",
            "So is the ratio of the normal densities.",
            identity,
            normal(shift),
            ratio * normal(0),
        ),
        all_of("conditional Gaussian", "mass", "likelihood ratio", "normal ratio"),
    )


# --- eq (10) ------------------------------------------------------------------------------------------------


def truncation_delta(half_width: Exact, sigma: Exact, size: int) -> arb:
    """Enclose delta = Delta (Phi(T/s) - Phi((T - tau)/s))/(2 Phi(T/s) - 1); `half_width` is T/tau, s = tau sigma.

    The form of eq (10), Delta (1 - Pr[E]), loses all digits once delta is small.
    """
    scale = exact("sigma", sigma)
    return size * singular_mass(exact("half_width", half_width) / scale, 1 / scale)


def _overlap_is_rare(half_width: Fraction, sigma: Fraction) -> Verdict:
    share = lambda: truncation_delta(half_width, sigma, 1)
    return at_most(lambda: overlap_probability(half_width / sigma, 1 / sigma), share)


def _overlap_is_likely(half_width: Fraction, sigma: Fraction) -> Verdict:
    return overlap_of_truncated_gaussians_has_the_rest(excess=half_width - Fraction(1, 2), sigma=sigma, size=1)


OVERLAP_IS_LIKELY = Erratum(
    kind="proof",
    severity=Severity.MINOR,
    location="Section 6.2, proof of Lemma 6.4, the sentence before the Renyi divergence",
    printed_text="the proof of Lemma 6.4 has Pr[E] = Pr[E'] <= delta/Delta; it is at least 1 - delta/Delta, here 0.82",
    answer="The probability of the complement is meant.",
    witness={"half_width": Fraction(2), "sigma": Fraction(13, 10)},
    printed=_overlap_is_rare,
    corrected=_overlap_is_likely,
    figures=Figures(
        published=("0.8186 > 0.1814",),
        corrected=("0.1814 = 0.1814", "0.1814 <= 1.000", "0.1459 <= 0.1814", "1.000 = 1.000"),
    ),
)


@statement(
    CESAR_2020,
    "trunc_gauss",
    "trunc_gauss_zcdp",
    errata=(OVERLAP_IS_LIKELY,),
    examples=({"excess": Fraction(1, 1000), "sigma": 1, "size": 3},),
    pins=(
        Pin(
            {"excess": Fraction(1, 2), "sigma": 2, "size": 3},
            "the slices [0, 1/2] of [-1/2, 1/2] and [-1/20, 11/20] of [-11/20, 11/20] overlap",
            smaller=lambda: [
                Fraction(3, 2),
                3 * (1 - slice_of_truncated_normal(Fraction(-1, 20), Fraction(11, 20))),
            ],
            larger=lambda: [3, Fraction(3, 2)],
        ),
    ),
)
def overlap_of_truncated_gaussians_has_the_rest(excess: Excess, sigma: Multiplier, size: Size) -> Verdict:
    """Eq (10) reads delta = Delta (1 - Pr[E]), with Pr[E] the overlap of two noisy counts at distance tau. It falls
    from Delta at T = tau/2, so that exactly the delta in (0, Delta) have a solution T > tau/2.
    """
    scale = exact("sigma", sigma)
    width = exact("excess", excess) + Fraction(1, 2)
    delta = lambda: truncation_delta(width, scale, size)
    return conjunction([
        agree(lambda: size * (1 - overlap_probability(width / scale, 1 / scale)), delta, "eq (10)"),
        less_than(delta, lambda: arb(size)),
        less_than(lambda: truncation_delta(width * Fraction(11, 10), scale, size), delta),
        agree(lambda: truncation_delta(Fraction(1, 2), scale, size), lambda: arb(size), "value at tau/2"),
    ]).without_tightness()  # fmt: skip


# --- Lemma 6.4 ----------------------------------------------------------------------------------------------


@statement(
    CESAR_2020,
    "trunc_gauss_zcdp",
    examples=({"half_width": Fraction(5, 2), "share": Fraction(1, 5), "alpha": 2},),
    pins=(
        Pin(
            {"half_width": Fraction(5, 2), "share": Fraction(1, 5), "alpha": 2},
            "alpha h^2/2 with h = 1",
            larger=lambda: 1,
        ),
    ),
)
def conditional_renyi_of_truncated_gaussian(half_width: HalfWidth, share: Share, alpha: Order) -> Verdict:
    """On the overlap of the supports, D_alpha(N_T(h) | E || N_T(0) | E) <= alpha h^2/(2 s^2), for any shift h < 2 T,
    in both orders: the interval [h - T, T] has less mass about alpha h than about 0. So TruncGauss is
    delta-approximately Delta/(2 sigma^2)-zCDP. (`share` is h/(2 T).)
    """
    width = exact("half_width", half_width)
    shift, order = 2 * width * exact("share", share), exact("alpha", alpha)
    return at_most(
        lambda: conditional_renyi_divergence(order, width, shift), lambda: ball(order * shift**2 / 2), slack=ATTAINED
    )


@statement(
    CESAR_2020,
    "trunc_gauss_zcdp",
    "truncated_gaussian",
    examples=({"excess": 3, "sigma": 1, "share": Fraction(999, 1000), "delta": Fraction(1, 1000)},),
    pins=(
        Pin(
            {"excess": 3, "sigma": 1, "share": Fraction(999, 1000), "delta": Fraction(1, 1000)},
            "1/1000, and 999/1000 of the mass between 5/2 and 7/2",
            larger=lambda: (1 + 999 * slice_of_truncated_normal(Fraction(5, 2), Fraction(7, 2))) / 1000,
        ),
    ),
)
def approximate_dp_of_truncated_gaussian(excess: Excess, sigma: Multiplier, share: Share, delta: Delta) -> Verdict:
    """One count that moves by at most tau is (rho + 2 sqrt(rho log(1/delta')), delta + (1 - delta) delta')-DP with
    rho = 1/(2 sigma^2) and delta of eq (10); its exact delta is the singular part plus one half-line of the overlap.
    """
    scale, tail = exact("sigma", sigma), exact("delta", delta)
    width = (exact("excess", excess) + Fraction(1, 2)) / scale
    shift = exact("share", share) / scale
    epsilon: Real = lambda: optimal_probabilistic_epsilon(1 / (2 * scale**2), tail)
    total: Real = lambda: ball(tail) + (1 - ball(tail)) * singular_mass(width, 1 / scale)
    return at_most(lambda: truncated_hockey_stick(width, shift, epsilon()), total)


@statement(
    CESAR_2020,
    "trunc_gauss_zcdp",
    examples=({"half_width": 6, "shift": 1, "epsilon": 1},),
    pins=(
        Pin(
            {"half_width": 2, "shift": 1, "epsilon": HALF},
            "adaptive integration over Pr[|Z| < 2], and the mass between 1 and 2",
            larger=lambda: [
                gaussian_excess(arb(1), ball(HALF)) / (2 * normal_cdf(arb(2)) - 1)
                + slice_of_truncated_normal(Fraction(1), Fraction(2)),
                None,
            ],
            smaller=lambda: [None, slice_of_truncated_normal(Fraction(1), Fraction(2))],
        ),
        Pin(
            {"half_width": 2, "shift": Fraction(1, 100), "epsilon": 5},
            "the singular part alone",
            both=lambda: [slice_of_truncated_normal(Fraction(199, 100), Fraction(2))] * 2,
        ),
    ),
)
def truncation_loses_little_of_the_gaussian(
    half_width: Annotated[Exact, Reals("T, in noise scales", 2, 12, (6,))],
    shift: Annotated[Exact, Reals("a shift, in noise scales", Fraction(1, 100), 2, (1,), logarithmic=True)],
    epsilon: Annotated[Exact, Reals("epsilon", 0, 5, (0, 1))],
) -> Verdict:
    """The hockey-stick divergence of two truncated Gaussians is at most that of the Gaussians, over the common
    normaliser, plus the singular part; and at least the singular part.
    """
    width, m, level = exact("half_width", half_width), exact("shift", shift), exact("epsilon", epsilon)
    stick: Real = lambda: truncated_hockey_stick(width, m, ball(level))
    inside: Real = lambda: 1 - 2 * truncated_upper_tail_of_normal(width)
    return conjunction([
        at_most(stick, lambda: gaussian_hockey_stick(m, level) / inside() + singular_mass(width, m), slack=ATTAINED),
        at_least(stick, lambda: singular_mass(width, m), slack=ATTAINED),
    ])  # fmt: skip


def truncated_upper_tail_of_normal(half_width: Fraction) -> arb:
    """Enclose Pr[N(0, 1) > T], the mass that truncation takes from each end."""
    return normal_cdf(-ball(half_width))


# --- Alg 2 --------------------------------------------------------------------------------------------------


@statement(
    CESAR_2020,
    "trunc_gauss",
    examples=({"excess": 3, "sigma": 2, "beyond": 0}, {"excess": 3, "sigma": 1, "beyond": 1}),
    pins=(
        Pin(
            {"excess": 3, "sigma": 2, "beyond": 0},
            "between 5/4 and 7/4 deviations, of a noise within 7/4",
            both=lambda: slice_of_truncated_normal(Fraction(5, 4), Fraction(7, 4)),
        ),
    ),
)
def appearance_at_the_half_width_is_paid_for(
    excess: Excess, sigma: Multiplier, beyond: Annotated[Exact, Reals("threshold - T, over tau", 0, 1, (0, 1))]
) -> Verdict:
    """A label with count tau that the neighbour does not have appears, at any threshold from T to tau + T, with
    probability at most delta/Delta, equal to it at T: the paper's tau + T is more than privacy needs. A count of 0
    never appears, since the noise is at most T.
    """
    scale = exact("sigma", sigma)
    width = exact("excess", excess) + Fraction(1, 2)
    noise = width + exact("beyond", beyond) - 1  # how much of it lifts a count of tau above the threshold
    return at_most(
        lambda: truncated_upper_tail(noise / scale, width / scale),
        lambda: truncation_delta(width, scale, 1),
        slack=ATTAINED,
    )


def released_labels(histogram: Mapping[str, Exact], least: Fraction, limit: int, *, by_label: bool) -> tuple[str, ...]:
    """Return the labels that are released for certain, counts above `least`, the `limit` largest ones.

    In the order of their true counts (ties by label), or, as is private, in an order that the data do not decide.

    Parameters
    ----------
    histogram : mapping
        Count of each label.
    least : Fraction
        The threshold.
    limit : int
        Largest number of labels.
    by_label : bool
        Whether the labels are returned in their own order, in place of that of their counts.
    """
    ranked = sorted(histogram, key=lambda label: (-histogram[label], label))[:limit]
    kept = [label for label in ranked if histogram[label] > least]
    return tuple(sorted(kept) if by_label else kept)


TIED, RAISED = {"a": 10, "b": 10}, {"a": 10, "b": 11}


def _order_delta(half_width: Fraction, delta: Fraction, limit: int, *, by_label: bool) -> Verdict:
    """Decide whether the released labels of two neighbours, which are certain, differ by at most delta at every
    epsilon.

    Counts are at least 10 and the noise at most T: above tau + T = T + 1 whatever is drawn, if 10 > 2 T + 1.
    """
    least = 2 * half_width + 1
    first, second = (
        FiniteDistribution({released_labels(h, least, limit, by_label=by_label): Fraction(1)}) for h in (TIED, RAISED)
    )
    return at_most_exact(hockey_stick_exact(first, second, Fraction(10**6)), delta, "delta at epsilon = log 10^6")


ORDER_LEAKS = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 6.2, Algorithm 2, output and last lines",
    printed_text="Alg 2 returns an ordered set of (i, v_i) with i the rank of the true count; read as "
    "labels in that order, or with that rank, it tells {a: 10, b: 10} from {a: 10, b: 11} with certainty; "
    "ordered by label or by value it does not",
    answer="The index stands for a label, and the set is ordered by the noisy counts.",
    witness={"half_width": Fraction(4083730, 10**6), "delta": Fraction(1, 1000), "limit": 2},
    printed=lambda half_width, delta, limit: _order_delta(half_width, delta, limit, by_label=False),
    corrected=lambda half_width, delta, limit: _order_delta(half_width, delta, limit, by_label=True),
    figures=Figures(published=("1.000 > 0.001000",), corrected=("0 <= 0.001000",)),
)


Counts = Annotated[Table, RationalTables("counts of up to 6 labels", (1,), 6, Fraction(0), Fraction(12))]


@statement(
    CESAR_2020,
    "trunc_gauss",
    "count_mle",
    errata=(ORDER_LEAKS,),
    examples=(
        {"counts": ((Fraction(10), Fraction(10)),), "raised": 1, "half_width": Fraction(4)},
        {"counts": ((Fraction(12), Fraction(10), Fraction(11)),), "raised": 1, "half_width": Fraction(4)},
    ),
)
def release_in_order_of_labels_is_no_function_of_counts(
    counts: Counts,
    raised: Annotated[int, Integers("the label whose count rises by tau", 0, 5, (0, 1))],
    half_width: Annotated[Exact, Reals("T, in units of tau", 1, 5, (4,))],
) -> Verdict:
    """Labels whose counts are certain to pass are released in an order that does not depend on the counts, and none
    is cut off if dbar >= d, as the paper requires: exactly the labels above the least count come out, as they stand in
    the universe of labels, whatever the other counts are, so that neighbours differ at most by the label whose count
    rose.
    """
    least = 2 * exact("half_width", half_width) + 1
    row = counts[0]
    index = raised % len(row)
    verdicts = []
    for after in (row, tuple(count + (place == index) for place, count in enumerate(row))):
        histogram = {f"label{k}": count for k, count in enumerate(after)}
        above = tuple(f"label{k}" for k in range(len(after)) if after[k] > least)
        released = released_labels(histogram, least, len(after), by_label=True)
        verdicts.append(equal_exact(released, above, "the released labels, in the order of the universe"))
    return conjunction(verdicts)


# --- repeated calls -----------------------------------------------------------------------------------------


@statement(
    CESAR_2020,
    "trunc_gauss_repeated",
    examples=({"calls": 3, "excess": 3, "sigma": 1, "size": 2, "alpha": 2},),
    pins=(
        Pin(
            {"calls": 1, "excess": 3, "sigma": 1, "size": 2, "alpha": 2},
            "the mass between 5/2 and 7/2, twice; alpha Delta/2",
            smaller=lambda: [1 - 2 * slice_of_truncated_normal(Fraction(5, 2), Fraction(7, 2)), None],
            larger=lambda: [(1 - slice_of_truncated_normal(Fraction(5, 2), Fraction(7, 2))) ** 2, 2],
        ),
    ),
)
def repeated_truncated_gaussians_add_up(
    calls: Annotated[int, Integers("a number of calls", 1, 20, (1, 2))],
    excess: Excess,
    sigma: Multiplier,
    size: Annotated[int, Integers("Delta", 1, 10)],
    alpha: Order,
) -> Verdict:
    """Calls with parameters (Delta_i, tau_i, sigma_i, delta_i) are approximate zCDP with sum delta_i and
    sum Delta_i/(2 sigma_i^2): all moved counts lie in their overlaps with probability at least 1 - sum delta_i, and
    given that the divergences of the moved counts add up. Tried with sigma_i = i sigma.
    """
    order = exact("alpha", alpha)
    width = exact("excess", excess) + Fraction(1, 2)
    scales = [k * exact("sigma", sigma) for k in range(1, calls + 1)]

    def overlap() -> arb:
        product = arb(1)
        for scale in scales:
            product = product * overlap_probability(width / scale, 1 / scale) ** size
        return product

    def divergence() -> arb:
        parts = [size * conditional_renyi_divergence(order, width / scale, 1 / scale) for scale in scales]
        return sum(parts, arb(0))

    rho = sum((size / (2 * scale**2) for scale in scales), Fraction(0))
    return conjunction([
        at_least(overlap, lambda: 1 - sum((truncation_delta(width, s, size) for s in scales), arb(0)), slack=ATTAINED),
        at_most(divergence, lambda: ball(order * rho), slack=ATTAINED),
    ])  # fmt: skip
