"""Concentrated DP: guarantees of pure, bounded-range and Gaussian mechanisms, and their consequences.

After Cesar and Rogers (2020), Section 2 (Defs 2.6 and 2.7, Lemmas 2.2 and 2.3) and Section 3 (Lemma 3.2, last
paragraph). L is the privacy loss under the left distribution, a the length of its range, kappa(a) the largest mean
loss of an a-bounded-range pair (`mean_loss_of_bounded_range`).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

from flint import arb

from dpassay.claims import ZCDP, ApproximateZCDP
from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, Real, at_most, ball, exact, less_than
from dpassay.spec.distributions.discrete import FiniteDistribution, hockey_stick, relative_entropy, renyi_divergence
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.pairs import FinitePairs, PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.approximate_zcdp import approximate_zcdp_holds, clipped_pair, implied_delta, implied_epsilon
from dpassay.spec.notions.cdp import centred_log_moment
from dpassay.spec.notions.concentrated_conversions import mean_loss_of_bounded_range
from dpassay.spec.notions.pure_conversions import zcdp_rho_of_pure
from dpassay.spec.notions.zcdp import zcdp_holds
from dpassay.spec.notions.zcdp_conversions import optimal_probabilistic_epsilon
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.rules import largest_at, nonnegative_from_zero
from dpassay.spec.proof.steps import Proof, all_of, checked, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, nonnegative, positive
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import statement
from dpassay.spec.theorems.accuracy_first.second_derivations import converted_delta
from dpassay.spec.theorems.composition.second_derivations import loss_of_21, mean_of_range_441, renyi_of_21
from dpassay.spec.verdict import Evidence, Holds, Outcome, Verdict, Violated, conjunction

__all__ = ["gaussian_cdp", "loss_ratios", "response", "zcdp_of_cdp_parameters"]

Pair = Annotated[
    PairAtRatio, FinitePairs("a pair of different rational distributions, the right one positive", positive=True)
]
Order = Annotated[
    Exact, Reals("an order", Fraction(100001, 100000), 200, (2, Fraction(3, 2), Fraction(100001, 100000)), True)
]
Magnitude = Annotated[Exact, Reals("|lambda|", Fraction(1, 100), 30, (1, 2, Fraction(1, 2)), logarithmic=True)]
Share = Annotated[Exact, Reals("delta", Fraction(1, 1000), Fraction(1, 2), (Fraction(1, 10), Fraction(1, 4)), True)]
Tail = Annotated[Exact, Reals("a probability", Fraction(1, 10**9), Fraction(1, 2), (Fraction(1, 100),), True)]
Shift = Annotated[Exact, Reals("a shift, in noise scales", Fraction(1, 1000), 20, (1,), logarithmic=True)]

VACUOUS = Holds(evidence=Evidence.EXACT, detail="an infinite loss, or none at all: nothing to show")


def response(odds: int, other: int, scale: int) -> PairAtRatio:
    """Return two distributions on two outcomes with weights (odds, scale) and (other, scale): near extremal pairs."""
    return PairAtRatio(FiniteDistribution.of(odds, scale), FiniteDistribution.of(other, scale))


SYMMETRIC = PairAtRatio(FiniteDistribution.of(21, 20), FiniteDistribution.of(20, 21))
STRONG = PairAtRatio(FiniteDistribution.of(20, 1), FiniteDistribution.of(1, 20))


def loss_ratios(pair: PairAtRatio) -> tuple[Fraction, Fraction]:
    """Return the smallest and the largest likelihood ratio e^L over the outcomes that the left can produce."""
    ratios = [p / pair.right.probability(o) for o, p in pair.left.weights.items() if p]
    return min(ratios), max(ratios)


def _log(ratio: Fraction) -> arb:
    return arb(0) if ratio == 1 else ball(ratio).log()


def _range_ratio(pair: PairAtRatio) -> Fraction | None:
    """Return e^a; None for equal distributions, or if the left cannot produce all outcomes."""
    if pair.left == pair.right or not all(pair.left.weights.values()):
        return None
    least, most = loss_ratios(pair)
    return most / least


def _pure_ratio(pair: PairAtRatio) -> Fraction | None:
    """Return e^epsilon of the sharpest pure claim in both orders; None as for `_range_ratio`."""
    if _range_ratio(pair) is None:
        return None
    least, most = loss_ratios(pair)
    return max(1 / least, most)


# --- the Gaussian mechanism ---------------------------------------------------------------------------------


def gaussian_cdp(sigma: Any) -> tuple[Any, Any]:
    """Return (mu, tau) of Gaussian noise with noise multiplier sigma, for numbers and for symbols alike."""
    return 1 / (2 * sigma**2), 1 / sigma


@statement(CESAR_2020, "gaussian_is_cdp", "cdp")
def cdp_of_gaussian_mechanism() -> Proof:
    """N(f(x), Delta^2 sigma^2) for f of sensitivity Delta is (1/(2 sigma^2), 1/sigma)-CDP; both are attained.

    The loss of N(m, 1) against N(0, 1) at x is m x - m^2/2; its mean is m^2/2, and tilting by lambda times the centred
    loss moves the normal density by lambda m and multiplies it by e^(lambda^2 m^2/2), whatever the sign of lambda.
    """
    x, order = sp.symbols("x lambda", real=True)
    sigma, sensitivity = sp.symbols("sigma Delta", positive=True)
    less = sp.Symbol("w", nonnegative=True)
    gap, scale = sensitivity, sensitivity * sigma
    mu, tau = gaussian_cdp(sigma)
    log_density: Callable[[Any], Any] = lambda centre: -((x - centre) ** 2) / (2 * scale**2)
    density = sp.exp(log_density(gap)) / (scale * sp.sqrt(2 * sp.pi))
    loss = (gap * x - gap**2 / 2) / scale**2
    return proof(
        suppose("pair", "f(x) and f(x') differ by at most Delta; the noise has standard deviation Delta sigma."),
        checked(
            "loss", "log p/q is the loss, for means Delta and 0.", identity, log_density(gap) - log_density(0), loss
        ),
        checked(
            "mean",
            "The mean of the loss is mu = 1/(2 sigma^2).",
            identity,
            sp.integrate(loss * density, (x, -sp.oo, sp.oo)),
            mu,
        ),
        checked(
            "moment",
            "p e^(lambda (L - mu)) is the density moved by lambda Delta, times e^(lambda^2 tau^2/2), tau = 1/sigma.",
            identity,
            log_density(gap) + order * (loss - mu),
            log_density(gap + order * gap) + order**2 * tau**2 / 2,
        ),
        checked(
            "mass",
            "The tilted density is normal: it integrates to 1.",
            identity,
            sp.integrate(density, (x, -sp.oo, sp.oo)),
            1,
        ),
        checked(
            "smaller mean",
            "A smaller difference, Delta/(1 + w), has a smaller mean loss.",
            nonnegative,
            sp.factor(mu - (gap / (1 + less)) ** 2 / (2 * scale**2)),
        ),
        checked(
            "smaller scale",
            "A smaller difference, Delta/(1 + w), has a smaller scale of the loss.",
            nonnegative,
            sp.factor(tau - gap / (1 + less) / scale),
        ),
        all_of("attained", "loss", "mean", "moment", "mass"),
        prose(
            "CDP",
            "The loss of every pair has mean at most mu and is subgaussian with scale at most tau about its mean, "
            "with "
            "equality at the distance Delta.",
            given=["pair", "attained", "smaller mean", "smaller scale"],
        ),
    )


# --- Lemma 3.2: pure and bounded range ----------------------------------------------------------------------


@statement(
    CESAR_2020,
    "class_loss_moments",
    examples=({"pair": SYMMETRIC, "order": 1}, {"pair": STRONG, "order": 1}),
    pins=(
        Pin(
            {"pair": SYMMETRIC, "order": 1},
            "e^epsilon = 21/20, tanh(epsilon/2) = 1/41; E[e^-L] = 1",
            smaller=lambda: [loss_of_21() / 41, renyi_of_21() - loss_of_21() / 41, loss_of_21() / 41],
            larger=lambda: [loss_of_21() / 41, loss_of_21() ** 2 / 2, loss_of_21() ** 2 / 2],
        ),
    ),
)
def cdp_of_pure_dp(pair: Pair, order: Magnitude) -> Verdict:
    """epsilon-DP, in both orders, implies (epsilon tanh(epsilon/2), epsilon)-CDP: E[L] <= epsilon tanh(epsilon/2),
    attained by randomised response, and E[e^(lambda (L - E[L]))] <= e^(lambda^2 epsilon^2/2) for both signs.
    """
    ratio = _pure_ratio(pair)
    if ratio is None:
        return VACUOUS
    mean = at_most(
        lambda: relative_entropy(pair.left, pair.right), lambda: zcdp_rho_of_pure(_log(ratio)), slack=ATTAINED
    )
    return conjunction([mean, _subgaussian(pair, exact("order", order), lambda: _log(ratio))])


@statement(
    CESAR_2020,
    "class_loss_moments",
    "dp_br_to_zcdp",
    examples=(
        {"pair": response(1718, 632, 1000), "order": Fraction(1, 100)},  # e^a = e, at the t of the largest mean
        {"pair": SYMMETRIC, "order": 1},
    ),
    pins=(
        Pin(
            {"pair": SYMMETRIC, "order": 1},
            "e^a = 441/400",
            smaller=lambda: [
                loss_of_21() / 41,
                mean_of_range_441(),
                renyi_of_21() - loss_of_21() / 41,
                loss_of_21() / 41,
            ],
            larger=lambda: [mean_of_range_441(), *[loss_of_21() ** 2 / 2] * 3],
        ),
    ),
)
def cdp_of_bounded_range(pair: Pair, order: Magnitude) -> Verdict:
    """a-bounded range implies (kappa(a), a/2)-CDP, kappa(a) = a/(e^a - 1) - 1 - log(a/(e^a - 1)) <= a^2/8."""
    ratio = _range_ratio(pair)
    if ratio is None:
        return VACUOUS
    width: Real = lambda: _log(ratio)
    return conjunction([
        at_most(lambda: relative_entropy(pair.left, pair.right), lambda: mean_loss_of_bounded_range(width())),
        less_than(lambda: mean_loss_of_bounded_range(width()), lambda: width() ** 2 / 8),
        _subgaussian(pair, exact("order", order), lambda: width() / 2),
    ])  # fmt: skip


def _subgaussian(pair: PairAtRatio, order: Fraction, tau: Real) -> Verdict:
    return conjunction(
        at_most(
            lambda signed=signed: centred_log_moment(pair.left, pair.right, ball(signed)),  # type: ignore[misc]
            lambda signed=signed: ball(signed) ** 2 * tau() ** 2 / 2,  # type: ignore[misc]
        )
        for signed in (order, -order)
    )


def extremal_mean_point(width: Any) -> Any:
    """Return the t of the bounded-range response with the largest mean loss: log((e^a - 1)/a)."""
    return sp.log((sp.exp(width) - 1) / width)


@statement(CESAR_2020, "class_loss_moments")
def bounded_range_mean_is_attained() -> Proof:
    """The largest mean loss of the generalised randomised response with losses t and t - a, over t in [0, a], is
    kappa(a), at t = log((e^a - 1)/a): the mean is concave in t, and its derivative vanishes there.
    """
    a, t = sp.symbols("a t", positive=True)
    lower = (sp.exp(t - a) - sp.exp(-a)) / (1 - sp.exp(-a))  # probability of the loss t - a
    mean = t - a * lower
    best = extremal_mean_point(a)
    above_zero = sp.exp(a) - 1 - a, a, sp.exp(a / 2) * 2 * sp.sinh(a / 2)
    below_a = a * sp.exp(a) - sp.exp(a) + 1, a, a * sp.exp(a)
    kappa = a / (sp.exp(a) - 1) - 1 - sp.log(a / (sp.exp(a) - 1))
    w = sp.Symbol("w", positive=True)  # e^a - 1
    return proof(
        checked(
            "mass",
            "The other distribution, with the probabilities divided by the likelihood ratios, has mass 1.",
            identity,
            (1 - lower) * sp.exp(-t) + lower * sp.exp(a - t),
            1,
        ),
        checked("e^a - 1", "e^a - 1 is positive for a > 0.", positive, (sp.exp(a) - 1).subs(a, sp.log(1 + w))),
        checked(
            "largest",
            "The mean, concave in t, is largest at t = log((e^a - 1)/a).",
            largest_at,
            mean.subs(a, sp.log(1 + w)),
            t,
            best.subs(a, sp.log(1 + w)),
            sp.log(1 + w) * sp.exp(t) / w,
            given=["mass", "e^a - 1"],
        ),
        checked("t from 0", "e^a - 1 >= a: the point is at least 0.", nonnegative_from_zero, *above_zero),
        checked("t to a", "a e^a >= e^a - 1: the point is at most a.", nonnegative_from_zero, *below_a),
        checked(
            "kappa", "The mean there is kappa(a).", identity, sp.expand_log(mean.subs(t, best) - kappa, force=True), 0
        ),
        all_of("the largest mean loss", "largest", "t from 0", "t to a", "kappa"),
    )


# --- Lemma 2.2 ----------------------------------------------------------------------------------------------


def zcdp_of_cdp_parameters(mu: Any, tau: Any) -> tuple[Any, Any]:
    """Return (xi, rho) = (mu - tau^2/2, tau^2/2), for numbers, symbols and balls alike."""
    return mu - tau**2 / 2, tau**2 / 2


@statement(
    CESAR_2020,
    "cdp_to_zcdp",
    examples=({"pair": SYMMETRIC, "alpha": 2}, {"pair": SYMMETRIC, "alpha": 1.5}),
    pins=(
        Pin(
            {"pair": SYMMETRIC, "alpha": 2},
            "log E[e^L]; epsilon/41 + epsilon^2/2",
            smaller=renyi_of_21,
            larger=lambda: loss_of_21() / 41 + loss_of_21() ** 2 / 2,
        ),
    ),
)
def zcdp_of_cdp(pair: Pair, alpha: Order) -> Verdict:
    """(mu, tau)-CDP implies (mu - tau^2/2, tau^2/2)-zCDP: D_alpha <= mu + (alpha - 1) tau^2/2.

    (alpha - 1) D_alpha is the log-moment of L at alpha - 1. Tried with mu = E[L] and tau = a/2, which the pair has by
    Hoeffding's lemma.
    """
    least, most = loss_ratios(pair)
    order = exact("alpha", alpha)

    def bound() -> arb:
        xi, rho = zcdp_of_cdp_parameters(relative_entropy(pair.left, pair.right), _log(most / least) / 2)
        return arb(xi + ball(order) * rho)

    return at_most(lambda: renyi_divergence(pair.left, pair.right, ball(order)), bound, slack=ATTAINED)


# --- Lemma 2.3 ----------------------------------------------------------------------------------------------


@statement(
    CESAR_2020,
    "zcdp_to_dp",
    examples=({"shift": 1, "delta": Fraction(999, 1000)},),
    pins=(
        Pin(
            {"shift": Fraction(3, 2), "delta": Fraction(1, 100)},
            "adaptive integration at a completed square",
            smaller=lambda: converted_delta(Fraction(9, 8), Fraction(1, 100)),
            larger=lambda: Fraction(1, 100),
        ),
    ),
)
def approximate_dp_of_gaussian_through_zcdp(
    shift: Shift, delta: Annotated[Exact, Reals("delta", Fraction(1, 10**300), 1, (1, Fraction(1, 10**6)), True)]
) -> Verdict:
    """rho-zCDP implies (rho + 2 sqrt(rho log(1/delta)), delta)-DP for 0 < delta <= 1.

    Tried on the Gaussian pair with shift m, whose Renyi curve is exactly rho alpha with rho = m^2/2; for any pair the
    statement is `probabilistic_dp_of_zcdp`.
    """
    m, tail = exact("shift", shift), exact("delta", delta)
    return at_most(lambda: gaussian_hockey_stick(m, optimal_probabilistic_epsilon(m**2 / 2, tail)), lambda: ball(tail))


# --- approximate zCDP ---------------------------------------------------------------------------------------


@statement(
    CESAR_2020,
    "approx_zcdp",
    "setwise_approx_zcdp_bound",
    examples=(
        {"pair": PairAtRatio(FiniteDistribution.of(1, 9, 0), FiniteDistribution.of(0, 9, 1)), "delta": Fraction(1, 10),
         "tail": Fraction(1, 100)},
    ), pins=(Pin(
            {"pair": PairAtRatio(FiniteDistribution.of(1, 9, 0), FiniteDistribution.of(0, 9, 1)),
             "delta": Fraction(1, 10), "tail": Fraction(1, 100)},
            "a leak of 1/10, and 9/10 of 1/100", smaller=lambda: Fraction(1, 10), larger=lambda: Fraction(109, 1000),
        ), Pin(
            {"pair": PairAtRatio(FiniteDistribution.of(16, 36, 108, 0), FiniteDistribution.of(0, 9, 135, 16)),
             "delta": Fraction(1, 10), "tail": Fraction(1, 2)},
            "a leak of 1/10, or losses log 4 and log 4/5: mu = log 4 - (3/4) log 5, tau = log(5)/2",
            smaller=lambda: ball(Fraction(13, 40)) - ball(Fraction(9, 40)) * (
                arb(5).log() * ((arb(2).log() / 2).sqrt() - arb(3) / 4)
            ).exp(),
            larger=lambda: Fraction(55, 100),
        )),
)  # fmt: skip
def approximate_dp_of_approximate_zcdp_with_an_offset(
    pair: Annotated[PairAtRatio, FinitePairs("a pair of rational distributions")], delta: Share, tail: Tail
) -> Verdict:
    """delta-approximate (xi, rho)-zCDP implies (xi + rho + 2 sqrt(rho log(1/delta')), delta + (1 - delta) delta')-DP.

    Tried with the events of the clipped pair, on which rho = a^2/8 and xi = E[L] - rho; and rho-zCDP is
    delta-approximate rho-zCDP for every delta. Printed with delta + delta' (for one mechanism, Lemma 3.4).
    """
    left_out, rest = exact("delta", delta), exact("tail", tail)
    clipped = clipped_pair(pair.left, pair.right, left_out)
    if clipped is None:
        return VACUOUS
    left, right = clipped
    least, most = loss_ratios(PairAtRatio(left, right))

    def epsilon() -> arb:
        if left == right:
            return arb(0)
        xi, rho = zcdp_of_cdp_parameters(relative_entropy(left, right), _log(most / least) / 2)
        return implied_epsilon(rho, xi, rest)

    return conjunction([
        at_most(lambda: hockey_stick(pair.left, pair.right, epsilon()), lambda: ball(implied_delta(left_out, rest)),
                slack=ATTAINED),
        _weakened(pair, left_out),
    ])  # fmt: skip


def _weakened(pair: PairAtRatio, delta: Fraction) -> Verdict:
    """Decide that a zCDP claim that holds is not refuted as an approximate one with the same rho."""
    for rho in (Fraction(1, 8), Fraction(2)):
        if zcdp_holds(ZCDP(float(rho)), pair.left, pair.right).outcome is Outcome.HOLDS:
            weaker = approximate_zcdp_holds(ApproximateZCDP(float(rho), float(delta)), pair.left, pair.right)
            if weaker.outcome is Outcome.VIOLATED:
                return Violated(evidence=weaker.evidence, detail=f"{float(rho)}-zCDP, but {weaker.detail}")
    return Holds(evidence=Evidence.BOX)
