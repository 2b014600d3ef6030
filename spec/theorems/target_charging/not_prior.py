"""NotPrior targets: every outcome but one.

Chapter after Cohen and Lyu (2023), Section 2.1 and Appendix C. With r = e^epsilon, pi = Z^0(Y) and pi' = Z^1(Y) the
probabilities of not being the prior, the quality of the pair is pi (r - 1) / (r pi' - pi) for pi <= pi'; it is
smallest where pi' = r pi, and there it is 1/(r + 1) whatever pi is.
"""

from collections.abc import Hashable
from fractions import Fraction
from typing import Annotated, Any

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import Exact, exact
from dpassay.spec.distributions.discrete import FiniteDistribution, least_delta
from dpassay.spec.distributions.indistinguishable import private_pair
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.target_quality import (
    Mixture,
    Target,
    best_mixture,
    normalised,
    of_target,
    target_quality,
)
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.polynomial import nonnegative_on_orthant
from dpassay.spec.proof.steps import Proof, all_of, checked, proof
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.target_charging.decomposition import pure_with_errors
from dpassay.spec.theorems.target_charging.quantifiers import Pair, Ratio, Share, Targeted, Test
from dpassay.spec.verdict import Evidence, Holds, Verdict, conjunction

__all__ = ["not_prior_mixture", "not_prior_quality", "not_prior_weight", "odds"]

Delta = Annotated[Exact, Reals("delta", 0, Fraction(9, 10), (0, Fraction(1, 10**6), Fraction(1, 2)))]


def not_prior_quality(ratio: Fraction) -> Fraction:
    """Return 1/(e^epsilon + 1), e^epsilon = `ratio`."""
    return 1 / (ratio + 1)


def not_prior_weight(ratio: Any, low: Any, high: Any) -> Any:
    """Return p = 1 - (r pi' - pi)/(r - 1), the weight of the prior as the common part."""
    return 1 - (ratio * high - low) / (ratio - 1)


def not_prior_mixture(
    left: FiniteDistribution, right: FiniteDistribution, prior: Hashable, ratio: Fraction
) -> Mixture:
    """Return the decomposition of App C: C is the prior, and B^b(prior) has the ratio e^epsilon exactly.

    p = 1 - (r pi' - pi)/(r - 1); where pi = pi' the residuals are those given an outcome other than the prior.

    Parameters
    ----------
    left, right : FiniteDistribution
        The pair.
    prior : Hashable
        The outcome that is not a hit.
    ratio : Fraction
        e^epsilon.
    """
    others = frozenset(o for o in left.outcomes if o != prior)
    if of_target(left, others) > of_target(right, others):
        mirrored = not_prior_mixture(right, left, prior, ratio)
        return Mixture(mirrored.weight, mirrored.common, mirrored.right, mirrored.left)
    low, high = of_target(left, others), of_target(right, others)
    always = FiniteDistribution({prior: Fraction(1)})
    if high == 0:
        return Mixture(Fraction(1), always, always, always)  # nothing is ever hit, and nothing is ever charged
    weight = not_prior_weight(ratio, low, high)
    first, second = (
        normalised({o: p - (weight if o == prior else 0) for o, p in side.weights.items()}) for side in (left, right)
    )
    return Mixture(weight, always, first, second)


_RESPONSE = private_pair(Fraction(3), FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1))


@statement(
    COHEN_2023,
    "not_prior_target_pair",
    "not_prior_target",
    examples=({"targeted": _RESPONSE},),
    pins=(
        Pin({"targeted": _RESPONSE}, "randomised response at ratio 3 has no common part", both=lambda: Fraction(1, 4)),
    ),
)
def not_prior_outcomes_are_a_target(targeted: Targeted) -> Verdict:
    """The outcomes other than one prior are a q-target of an epsilon-indistinguishable pair, q = 1/(e^epsilon + 1), by
    the decomposition of App C; likewise of an epsilon-DP algorithm.

    The target is everything but the last outcome; `quality_falls_where_two_outcomes_are_left_out` is about two priors.
    """
    pair = targeted
    prior = pair.size - 1
    target = frozenset(range(prior))
    claimed = not_prior_quality(pair.ratio)
    if not of_target(pair.left, target):
        return Holds(evidence=Evidence.EXACT)  # constant algorithms: p = 1
    mixture = not_prior_mixture(pair.left, pair.right, prior, pair.ratio)
    quality = target_quality(pair.left, pair.right, target, pair.ratio)
    bound = at_most_exact(claimed, quality, "quality")
    return conjunction([bound, mixture.shows(pair.left, pair.right, target, pair.ratio, claimed)])


@statement(
    COHEN_2023,
    "not_prior_target",
    examples=(
        {"pair": PairAtRatio(FiniteDistribution.of(1), FiniteDistribution.of(1))},
        {"pair": PairAtRatio(_RESPONSE.left, _RESPONSE.right, _RESPONSE.ratio)},
    ),
)
def not_prior_outcomes_are_a_target_with_delta(pair: Pair) -> Verdict:
    """The outcomes other than one prior are a q-target of an (epsilon, delta)-indistinguishable pair with (epsilon,
    delta), q = 1/(e^epsilon + 1): the pure parts N^b have it as a target, and delta E^b is put aside.
    """
    ratio = pair.ratio if pair.ratio > 1 else Fraction(2)
    delta = least_delta(pair.left, pair.right, ratio)
    if delta == 1:
        return Holds(evidence=Evidence.EXACT)
    parts = pure_with_errors(pair.left, pair.right, ratio, delta)
    prior = pair.size - 1
    target = frozenset(range(prior))
    pure = not_prior_mixture(parts.left, parts.right, prior, ratio)
    if not of_target(parts.left, target):
        return Holds(evidence=Evidence.EXACT)
    whole = Mixture(pure.weight, pure.common, pure.left, pure.right, delta, parts.left_error, parts.right_error)
    return whole.shows(pair.left, pair.right, target, ratio, not_prior_quality(ratio))


@statement(COHEN_2023, "not_prior_target_pair", "not_prior_target")
def not_prior_quality_is_attained(ratio: Ratio, share: Share, delta: Delta) -> Verdict:
    """No larger q holds for all pairs, also with delta: where pi' = e^epsilon pi the quality is 1/(e^epsilon + 1), for
    every pi up to 1/(e^epsilon + 1), randomised response, where every call touches the secret.

    With delta: each side leaks itself with probability delta. A decomposition of mass 1 - delta cannot contain the
    leaks, which the other side never produces, so that N^b is the rest, and the quality is that of the rest.
    """
    r, weight = exact("ratio", ratio), exact("delta", delta)
    rare = exact("share", share) / (r + 1)
    distributions = tuple(FiniteDistribution({"hit": hit, "prior": 1 - hit}) for hit in (rare, r * rare))
    first, second = (
        FiniteDistribution({**{o: (1 - weight) * p for o, p in distribution.weights.items()}, leak: weight})
        for distribution, leak in zip(distributions, ("left", "right"), strict=True)
    )
    rest = pure_with_errors(first, second, r, weight)
    left, right = (
        FiniteDistribution({o: distribution.probability(o) for o in ("hit", "prior")})
        for distribution in (rest.left, rest.right)
    )
    return conjunction([
        equal_exact(least_delta(first, second, r), weight, "delta"),
        equal_exact((left, right), distributions, "the pure parts"),
        equal_exact(target_quality(left, right, frozenset({"hit"}), r), not_prior_quality(r), "quality"),
    ])  # fmt: skip


@statement(COHEN_2023, "not_prior_target_pair")
def not_prior_decomposition_by_algebra() -> Proof:
    """With p = 1 - (r pi' - pi)/(r - 1) the residual distributions hit with probability pi (r - 1)/(r pi' - pi) and
    pi' (r - 1)/(r pi' - pi), and B^0(prior) = r B^1(prior); for pi <= pi' <= r pi the former is at least 1/(r + 1),
    and 0 <= p for 1 - pi <= r (1 - pi'). A proof for all parameters.
    """
    z, part = sp.symbols("z u", nonnegative=True)
    low, slack = sp.symbols("pi s")
    r = 1 + z
    high = low * (1 + z / (1 + part))  # pi < pi' <= r pi
    p = not_prior_weight(r, low, high)
    tied = 1 - (1 - low + slack) / r  # pi' for which r (1 - pi') exceeds 1 - pi by the slack
    return proof(
        checked(
            "left hits",
            "The left residual distribution hits with probability pi (r - 1)/(r pi' - pi).",
            identity,
            low / (1 - p),
            low * (r - 1) / (r * high - low),
        ),
        checked(
            "right hits",
            "The right one hits with probability pi' (r - 1)/(r pi' - pi).",
            identity,
            high / (1 - p),
            high * (r - 1) / (r * high - low),
        ),
        checked("prior", "B^0(prior) = r B^1(prior).", identity, 1 - low - p, r * (1 - high - p)),
        checked(
            "quality",
            "For pi < pi' <= r pi the left probability is at least 1/(r + 1).",
            nonnegative_on_orthant,
            (r - 1) / (r * (high / low) - 1) - 1 / (r + 1),
            (z, part),
            given=["left hits"],
        ),
        checked(
            "equal hits",
            "For pi' = pi it is 1.",
            identity,
            low * (r - 1) / (r * low - low),
            1,
            given=["left hits"],
        ),
        checked(
            "weight",
            "p (r - 1) is the slack of the prior's likelihood ratio, r (1 - pi') - (1 - pi).",
            identity,
            not_prior_weight(r, low, tied) * (r - 1),
            slack,
        ),
        all_of("decomposition", "right hits", "prior", "quality", "equal hits", "weight"),
    )


# --- private tests ------------------------------------------------------------------------------------------


def _tight_where_equal(ratio: Fraction, probability: Fraction) -> Verdict:
    distribution = FiniteDistribution.of(probability, 1 - probability)
    return equal_exact(
        target_quality(distribution, distribution, frozenset({0}), ratio), not_prior_quality(ratio), "quality"
    )


def _tight_where_tied(ratio: Fraction, probability: Fraction) -> Verdict:
    left, right = (FiniteDistribution.of(p, 1 - p) for p in (probability, ratio * probability))
    return equal_exact(target_quality(left, right, frozenset({0}), ratio), not_prior_quality(ratio), "quality")


TIGHT_WHERE_EQUAL = Erratum(
    kind="false",
    severity=Severity.MINOR,
    location="Appendix C, proof of Lemma C.3, the closing remark on tightness",
    printed_text="after the proof of Lem C.3 the bounds are called tight where pi' = pi, and tighter the "
    "closer they are: at pi' = pi the residual distributions always hit; the bound is tight at pi' = e^epsilon pi",
    answer="Tight at pi' = e^epsilon pi is meant; the conclusion that q is the largest possible is right.",
    witness={"ratio": Fraction(3), "probability": Fraction(1, 5)},
    printed=_tight_where_equal,
    corrected=_tight_where_tied,
    figures=Figures(published=("1.000 != 0.2500",), corrected=("0.2500 = 0.2500",)),
)


@statement(
    COHEN_2023,
    "private_testing_target_pair",
    errata=(TIGHT_WHERE_EQUAL,),
    pins=(
        Pin(
            {"test": _RESPONSE}, "randomised response at ratio 3 has no common part", both=lambda: [Fraction(1, 4)] * 2
        ),
    ),
)
def either_outcome_of_a_private_test_is_a_target(test: Test) -> Verdict:
    """Both {1} and {0} are q-targets of a private test, q = 1/(e^epsilon + 1), each by its own decomposition."""
    claimed = not_prior_quality(test.ratio)
    verdicts = []
    for outcome in (0, 1):
        target: Target = frozenset({outcome})
        mixture = not_prior_mixture(test.left, test.right, 1 - outcome, test.ratio)
        if of_target(test.left, target):
            verdicts.append(at_most_exact(claimed, target_quality(test.left, test.right, target, test.ratio), "q"))
            verdicts.append(mixture.shows(test.left, test.right, target, test.ratio, claimed))
    return conjunction(verdicts)


@statement(COHEN_2023, "not_prior_target")
def quality_falls_where_two_outcomes_are_left_out(ratio: Ratio, share: Share) -> Verdict:
    """With two prior outcomes the lemma fails: if one takes all from the other, the quality of the third outcome is as
    small as its probability; there the best decomposition has no common part.
    """
    r, rare = exact("ratio", ratio), exact("share", share) / 2
    left, right = (
        FiniteDistribution({"hit": rare, "a": (1 - rare) * p, "b": (1 - rare) * (1 - p)})
        for p in (r / (r + 1), 1 / (r + 1))
    )
    target: Target = frozenset({"hit"})
    return conjunction([
        equal_exact(target_quality(left, right, target, r), rare, "quality"),
        equal_exact(best_mixture(left, right, target, r).weight, Fraction(0), "weight of the common part"),
    ])  # fmt: skip


# --- footnote 4 ---------------------------------------------------------------------------------------------


def odds(probability: Fraction) -> Fraction:
    """Return p/(1 - p), e^logit."""
    return probability / (1 - probability)


def _laplace_scale(epsilon: Fraction, scale: Fraction) -> Verdict:
    """Decide whether Lap(scale) on the logit, which moves by up to 2 epsilon, is epsilon-DP."""
    return at_most_exact(2 * epsilon / scale, epsilon, "loss")


LAPLACE_SCALE_OF_LOGIT = Erratum(
    kind="false",
    severity=Severity.INTERPRETATION,
    location="Section 1, footnote 4",
    printed_text="footnote 4 adds Lap(1/epsilon) to the logit of an epsilon-DP test, which moves by 2 "
    "epsilon; read as the noise of an epsilon-DP method that is 2 epsilon^2-DP, above epsilon for epsilon > 1/2; "
    "Lap(2) is epsilon-DP",
    answer="The footnote sketches another paper's method, whose parameters it does not restate.",
    witness={"epsilon": Fraction(3, 4)},
    printed=lambda epsilon: _laplace_scale(epsilon, 1 / epsilon),
    corrected=lambda epsilon: _laplace_scale(epsilon, Fraction(2)),
    figures=Figures(published=("1.125 > 0.7500",), corrected=("0.7500 <= 0.7500",)),
)


@statement(
    COHEN_2023,
    "logit_lipschitz",
    errata=(LAPLACE_SCALE_OF_LOGIT,),
    examples=({"test": _RESPONSE},),
    pins=(Pin({"test": _RESPONSE}, "odds of 3 and of 1/3", both=lambda: 9),),
)
def logit_of_private_test_moves_by_two_epsilon(test: Test) -> Verdict:
    """For an epsilon-DP test, log(p/(1 - p)) moves by at most 2 epsilon between neighbours; randomised response moves
    it by that much.
    """
    p, q = test.left.probability(0), test.right.probability(0)
    if p in (0, 1):
        return Holds(evidence=Evidence.EXACT)  # then q = p, and the logit is infinite on both sides
    largest = max(odds(p) / odds(q), odds(q) / odds(p))
    return at_most_exact(largest, test.ratio**2, "e^(difference of the logits)")
