"""BetweenThresholds: a Laplace-noisy value, and the outcome "between two thresholds" as the target.

Chapter after Cohen and Lyu (2023), Section 2.6 and Appendix G. E = e^epsilon, W = e^(-(t_r - t_l) epsilon), and
s = e^((f - t_l) epsilon) for the position of the value f, which moves by a factor of at most E between neighbours:
everything is rational in them. The paper leaves out that the two values may lie on different outer sides.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, at_least, at_most, ball, exact
from dpassay.spec.distributions.between_thresholds import (
    ABOVE,
    BELOW,
    BETWEEN,
    BetweenThresholdsDistribution,
    Zone,
    between_thresholds_probabilities,
)
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.target_quality import enclosed_target_quality, indistinguishable, target_quality
from dpassay.spec.proof.box import prove_on_box
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.polynomial import nonnegative_on_orthant
from dpassay.spec.proof.rules import nonnegative_from_zero, parametrises
from dpassay.spec.proof.steps import Proof, all_of, checked, computed, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.target_charging.not_prior import not_prior_quality
from dpassay.spec.theorems.target_charging.quantifiers import Ratio, Share, WideRatio
from dpassay.spec.verdict import Evidence, Scope, Verdict, Violated, conjunction

__all__ = ["between_distribution", "between_quality", "charge_ratio"]

Width = Annotated[
    Exact,
    Reals("W = e^(-(t_r - t_l) epsilon)", Fraction(1, 10**6), Fraction(999, 1000), (Fraction(1, 10), Fraction(3, 4))),
]
Epsilon = Annotated[Exact, Reals("epsilon in nats", Fraction(1, 1000), 10, (1, Fraction(1, 10)), logarithmic=True)]
Gap = Annotated[
    Exact, Reals("the distance of the thresholds", Fraction(1, 1000), 100, (1, Fraction(3, 10), 10), logarithmic=True)
]
Value = Annotated[Exact, Reals("the smaller answer", -5, 105, (-1, -2, Fraction(-1, 2), 1, 20))]
Step = Annotated[Exact, Reals("by how much the other answer is larger", Fraction(1, 1000), 1, (1, Fraction(1, 2)))]
BOTTOM: dict[str, Any] = {"ratio": Fraction(3), "width": Fraction(1, 2), "position": Fraction(1, 7), "share": 1}
STRADDLING: dict[str, Any] = {"ratio": Fraction(3), "width": Fraction(3, 4), "position": Fraction(2, 3), "share": 1}


def between_quality(ratio: Any, width: Any) -> Any:
    """Return (1 - W)/(E + 1) = (1 - W)(E - 1)/(E^2 - 1)."""
    return (1 - width) / (ratio + 1)


def between_distribution(position: Fraction, width: Fraction) -> FiniteDistribution:
    """Return the distribution of the outcome, exactly."""
    zone: Zone = "below" if position <= 1 else "above" if position * width >= 1 else "inside"
    probabilities = between_thresholds_probabilities(position, width, zone)
    return FiniteDistribution(dict(zip((BELOW, BETWEEN, ABOVE), probabilities, strict=True)))


@statement(
    COHEN_2023,
    "between_thresholds_target",
    "between_thresholds_q_claim",
    examples=(BOTTOM, STRADDLING),
    pins=(
        Pin(BOTTOM, "half of 1/4", both=lambda: Fraction(1, 8)),
        Pin(STRADDLING, "a quarter of 1/4", smaller=lambda: Fraction(1, 16)),
    ),
    cases=60,
)
def between_is_target_of_between_thresholds(ratio: Ratio, width: Width, position: WideRatio, share: Share) -> Verdict:
    """BetweenThresholds is epsilon-DP, and "between" is a q-target for
    q = (1 - e^(-(t_r - t_l) epsilon))/(e^epsilon + 1), wherever the two values lie, at most 1 apart.
    """
    e, w, s = exact("ratio", ratio), exact("width", width), exact("position", position)
    distributions = between_distribution(s, w), between_distribution(s * (1 + (e - 1) * exact("share", share)), w)
    if not indistinguishable(*distributions, e):
        return Violated(evidence=Evidence.EXACT, detail="BetweenThresholds is not epsilon-DP")
    return at_most_exact(between_quality(e, w), target_quality(*distributions, frozenset({BETWEEN}), e), "quality")


@statement(
    COHEN_2023,
    "between_thresholds_q_claim",
    examples=({"epsilon": Fraction(1, 2), "gap": 2, "value": -1, "step": 1},),
    pins=(
        Pin(
            {"epsilon": Fraction(1, 2), "gap": 2, "value": -1, "step": 1},
            "the chance of a hit is e^(-1/2) (1 - e^-1)/2 at distance 1; the quality divides it by (1 + e^(-1/2))/2",
            both=lambda: (-ball(Fraction(1, 2))).exp() * (1 - arb(-1).exp()) / (1 + (-ball(Fraction(1, 2))).exp()),
        ),
    ),
    cases=25,
)
def between_is_target_at_real_parameters(epsilon: Epsilon, gap: Gap, value: Value, step: Step) -> Verdict:
    """With f(D) and f(D') = f(D) + step in units of the sensitivity, thresholds 0 and gap, and Laplace noise of scale
    1/epsilon, the quality of "between" is at least (1 - e^(-gap epsilon))/(e^epsilon + 1); it may be attained.
    """
    rate, width, low = exact("epsilon", epsilon), exact("gap", gap), exact("value", value)
    distributions = [BetweenThresholdsDistribution(f, 0, width, rate) for f in (low, low + exact("step", step))]
    return at_most(
        lambda: between_quality(ball(rate).exp(), ball(-rate * width).exp()),
        lambda: enclosed_target_quality(distributions[0], distributions[1], frozenset({BETWEEN}), ball(rate)),
        slack=ATTAINED,
    )


@statement(
    COHEN_2023,
    "between_thresholds_target",
    examples=(BOTTOM,),
    pins=(
        Pin(
            BOTTOM,
            "1/4 of 1/3; between with chances 1/12 and 1/6, below with 3/4 and 1/3, which have 1/8 in common",
            smaller=lambda: Fraction(1, 12),
            larger=lambda: Fraction(1, 12) / Fraction(7, 8),
        ),
    ),
)
def between_thresholds_quality_is_attained(ratio: Ratio, width: Width, position: WideRatio, share: Share) -> Verdict:
    """The quality is exactly (1 - W)/(e^epsilon + 1) for every two values at distance 1 on the same outer side; it is
    larger where they straddle both thresholds, which needs a gap below 1.
    """
    e, w = exact("ratio", ratio), exact("width", width)
    outer = min(exact("position", position), Fraction(1)) / e
    below = between_distribution(outer, w), between_distribution(outer * e, w)
    above = between_distribution(1 / (w * outer * e), w), between_distribution(1 / (w * outer), w)
    target = frozenset({BETWEEN})
    verdicts = [
        equal_exact(target_quality(*distributions, target, e), between_quality(e, w), "quality")
        for distributions in (below, above)
    ]
    narrow = 1 - (1 - 1 / e) * exact("share", share) / 2  # a gap below 1, so that there is room to straddle it
    room = e * narrow  # at least 1: how far apart the two may be beyond the thresholds
    straddling = between_distribution(1 / room, narrow), between_distribution(e / room, narrow)
    verdicts.append(
        at_most_exact(between_quality(e, narrow), target_quality(*straddling, target, e), "q").without_tightness()
    )
    return conjunction(verdicts)


def _margins(first: tuple[Any, ...], second: tuple[Any, ...], e: Any, w: Any) -> list[Any]:
    """Return (E + 1) Z^b(T) - (1 - W) (1 - c_max(off T)) for both b, the value of `second` lying above `first`'s."""
    common = (e * second[0] - first[0]) / (e - 1) + (e * first[2] - second[2]) / (e - 1)
    return [(e + 1) * side[1] - (e + 1) * between_quality(e, w) * (1 - common) for side in (first, second)]


@statement(COHEN_2023, "between_thresholds_target", "between_thresholds_q_claim")
def between_thresholds_quality_by_algebra() -> Proof:
    """For all epsilon, all thresholds and all pairs of values at most 1 apart the quality of "between" is at least
    (1 - W)/(e^epsilon + 1): in each of the four arrangements of the values, up to reflection, the margin has no
    negative coefficient. A proof for all parameters.
    """
    x, y, t, u = sp.symbols("x y t u", nonnegative=True)
    grow, slack = 1 + y, 1 + t  # G = s'/s, E = G slack
    arrangements: list[tuple[Zone, Zone, tuple[Any, ...], Callable[..., tuple[Any, ...]]]] = [
        # zones; s, s', E, W; what the zones, s' >= s, E >= s'/s and W <= 1 ask of them
        (
            "below",
            "below",
            (1 / (grow * (1 + x)), 1 / (1 + x), grow * slack, 1 / (1 + u)),
            lambda low, high, e, w: (1 / high - 1, high / low - 1, e * low / high - 1, 1 / w - 1),
        ),
        (
            "below",
            "inside",
            (1 / grow, 1 + x, (1 + x) * grow * slack, 1 / ((1 + x) * (1 + u))),
            lambda low, high, e, w: (high - 1, 1 / low - 1, e * low / high - 1, 1 / (w * high) - 1),
        ),
        (
            "inside",
            "inside",
            (1 + x, (1 + x) * grow, grow * slack, 1 / ((1 + x) * grow * (1 + u))),
            lambda low, high, e, w: (low - 1, high / low - 1, e * low / high - 1, 1 / (w * high) - 1),
        ),
        (
            "below",
            "above",
            (1 / (1 + x), (1 + u) * grow, (1 + x) * (1 + u) * grow * slack, 1 / (1 + u)),
            lambda low, high, e, w: (1 / low - 1, w * high - 1, e * low / high - 1, 1 / w - 1),
        ),
    ]
    steps = []
    for low_zone, high_zone, values, asked in arrangements:
        low, high, e, w = values
        distributions = [
            between_thresholds_probabilities(s, w, zone) for s, zone in ((low, low_zone), (high, high_zone))
        ]
        margins = _margins(distributions[0], distributions[1], e, w)
        steps.append(
            checked(
                f"{low_zone} and {high_zone}",
                "All values s, s', E and W of the arrangement, and no others, are covered.",
                parametrises,
                values,
                (x, y, t, u),
                asked,
            )
        )
        steps += [
            checked(
                f"{low_zone} and {high_zone}, {side}",
                f"(E + 1) Z(T) - (1 - W)(1 - c_max(off T)) has no negative coefficient for the {side} value.",
                nonnegative_on_orthant,
                margin,
                (x, y, t, u),
            )
            for side, margin in zip(("lower", "upper"), margins, strict=True)
        ]
    return proof(
        *steps,
        prose(
            "quality of between",
            "Up to reflection and exchange the lower value lies below or inside; q is at least (1 - W)/(E + 1) where "
            "the margins are not negative.",
            given=[step.name for step in steps],
        ),
    )


# --- against AboveThreshold ---------------------------------------------------------------------------------


def charge_ratio(offset: arb) -> arb:
    """Enclose the expected charge of BetweenThresholds(t - 1/eps, t + 1/eps) over that of AboveThreshold(t).

    A charge is Pr[target]/q; the factor 1/(e^epsilon + 1) of both qualities cancels. `offset` = (f - t) epsilon, in
    [-1, 1]; beyond, the ratio has the closed forms of `between_thresholds_is_cheaper_only_above`.
    """
    position, width = (offset + 1).exp(), ball(-2).exp()
    between: arb = between_thresholds_probabilities(position, width, "inside")[BETWEEN] / (1 - width)
    below = offset.exp() / 2
    above = ball(1) - (-offset).exp() / 2
    return between / (below if offset <= 0 else above if offset >= 0 else below.union(above))


def _cheaper(offset: Fraction) -> Verdict:
    return at_least(lambda: ball(1), lambda: charge_ratio(ball(offset)))


def _dearer(offset: Fraction) -> Verdict:
    return at_least(lambda: charge_ratio(ball(offset)), lambda: ball(Fraction(27, 10)))


CHEAPER_BELOW = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 2.6, second paragraph",
    printed_text="the cost of BetweenThresholds is said to be lower than that of AboveThreshold for "
    "values well above or well below; well below it is e times as high, though both are small",
    answer="The parenthesis speaks of values above the threshold only; below, both costs are small.",
    witness={"offset": Fraction(-1)},
    printed=_cheaper,
    corrected=_dearer,
    figures=Figures(published=("2.718 > 1.000",), corrected=("2.700 <= 2.718",)),
)


@statement(COHEN_2023, "between_vs_above_cost", errata=(CHEAPER_BELOW,))
def between_thresholds_is_cheaper_only_above() -> Proof:
    """With thresholds t - 1/epsilon and t + 1/epsilon in place of t, the expected charge is e times as high for every
    value up to t - 1/epsilon, higher up to t + 0.45/epsilon, and lower from t + 0.47/epsilon on. A proof: boxes within
    1/epsilon of t, closed forms beyond.
    """
    u = sp.Symbol("u", positive=True)
    width = sp.exp(-2)
    far_below = between_thresholds_probabilities(sp.exp(-u), width, "below")[BETWEEN] / (1 - width)
    far_above = between_thresholds_probabilities(sp.exp(2 + u), width, "above")[BETWEEN] / (1 - width)
    above = 1 - sp.exp(-1 - u) / 2  # f = t + (1 + u)/epsilon: the probability of a hit is that of 1 - e^(-1-u)/2
    return proof(
        suppose("charge", "The expected charge is Pr[hit] times (E + 1)/(1 - W) for between, and E + 1 for above."),
        checked(
            "far below",
            "Below t - 1/epsilon the quotient of the charges is e.",
            identity,
            far_below / (sp.exp(-u - 1) / 2),
            sp.E,
            given=["charge"],
        ),
        checked(
            "far above",
            "At t + (1 + u)/epsilon the charge of between is e^-u/2.",
            identity,
            far_above,
            sp.exp(-u) / 2,
            given=["charge"],
        ),
        checked(
            "hit far above",
            "There that of above exceeds 1/2 by (1 - e^(-1-u))/2.",
            identity,
            above - sp.Rational(1, 2),
            (1 - sp.exp(-1 - u)) / 2,
            given=["charge"],
        ),
        checked("exponential", "e^-u <= 1 for u >= 0.", nonnegative_from_zero, 1 - sp.exp(-u), u, sp.exp(-u)),
        computed(
            "costlier below t",
            "The quotient is above 1 for all values from t - 1/epsilon to t.",
            lambda: prove_on_box(lambda v: charge_ratio(v) - 1, {"v": (-1, 0)}),
            given=["charge"],
            scope=Scope.ALL,
        ),
        computed(
            "costlier above t",
            "It is above 1 for all values from t to t + 0.45/epsilon.",
            lambda: prove_on_box(lambda v: charge_ratio(v) - 1, {"v": (0, Fraction(9, 20))}),
            given=["charge"],
            scope=Scope.ALL,
        ),
        computed(
            "cheaper",
            "It is below 1 for all values from t + 0.47/epsilon to t + 1/epsilon.",
            lambda: prove_on_box(lambda v: 1 - charge_ratio(v), {"v": (Fraction(47, 100), 1)}),
            given=["charge"],
            scope=Scope.ALL,
        ),
        all_of(
            "cheaper only above",
            "far below",
            "far above",
            "hit far above",
            "exponential",
            "costlier below t",
            "costlier above t",
            "cheaper",
        ),
    )


# --- against the analysis before ----------------------------------------------------------------------------


@statement(
    COHEN_2023,
    "prior_work_comparisons",
    pins=(
        Pin(
            {"ratio": Fraction(2), "delta": Fraction(1, 10)},
            "logarithms of 2, 10 and 100",
            smaller=lambda: 10 * arb(10).log() / arb(2).log(),
            larger=lambda: 12 * (arb(100).log() - arb(2).log().log() + 1) / arb(2).log(),
        ),
    ),
)
def gap_of_log_ten_over_epsilon_keeps_nine_tenths(
    ratio: Ratio, delta: Annotated[Exact, Reals("delta", Fraction(1, 10**12), Fraction(1, 10), logarithmic=True)]
) -> Verdict:
    """A gap of log(10)/epsilon gives nine tenths of the NotPrior quality. The gap (12/epsilon)(log(10/epsilon) +
    log(1/delta) + 1) that the paper quotes of earlier work is more than ten times that for epsilon <= 1.

    (The other comparisons of Sections 1, 2, 2.7, 2.8 and I quote constants or orders of magnitude of documents.)
    """
    e, level = exact("ratio", ratio), exact("delta", delta)
    share = equal_exact(between_quality(e, Fraction(1, 10)), Fraction(9, 10) * not_prior_quality(e), "quality")
    if e > 2:
        return share

    def needed() -> arb:
        epsilon = ball(e).log()
        return 12 / epsilon * ((10 / epsilon).log() - ball(level).log() + 1)

    return conjunction([share, at_least(needed, lambda: 10 * ball(10).log() / ball(e).log())])
