"""Conditional release and its revisions: the published part of an outcome that is drawn once and kept.

Chapter after Cohen and Lyu (2023), Sections 2.2 and 2.3, Appendix D. A_T publishes the outcome of A if it is in T, and
nothing otherwise. A revision with a target T', disjoint from T, publishes the kept outcome if it is in T'; given that
nothing was published before, the kept outcome follows A conditioned off T, which is 2 epsilon-DP.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Annotated

from dpassay.spec.ball import Exact, exact
from dpassay.spec.distributions.discrete import FiniteDistribution, least_delta
from dpassay.spec.distributions.indistinguishable import (
    NOTHING,
    TargetedPair,
    conditioned,
    private_pair,
    restricted,
)
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.domains.base import Reals
from dpassay.spec.notions.target_quality import Target, indistinguishable, of_target, target_quality
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.target_charging.not_prior import not_prior_mixture, not_prior_quality
from dpassay.spec.theorems.target_charging.quantifiers import Kept, Pair, Ratio, Several, Targeted
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated, conjunction

__all__ = ["Distributions", "release", "revise", "revision_ratio", "worst_ratio"]

Rare = Annotated[
    Exact, Reals("a probability", Fraction(1, 10**12), Fraction(1, 10), (Fraction(1, 10**6),), logarithmic=True)
]

Distributions = tuple[FiniteDistribution, FiniteDistribution]


def worst_ratio(left: FiniteDistribution, right: FiniteDistribution) -> Fraction:
    """Return the largest likelihood ratio, in either order, of two distributions with the same support."""
    pairs = [(p, right.probability(o)) for o, p in left.weights.items() if p]
    return max(max(p / q, q / p) for p, q in pairs)


def revision_ratio(ratio: Fraction) -> Fraction:
    """Return e^(2 epsilon), at which a revision is charged."""
    return ratio**2


def release(distributions: Distributions, target: Target) -> Distributions:
    """Return the distributions of a conditional release."""
    return restricted(distributions[0], target), restricted(distributions[1], target)


def revise(distributions: Distributions, before: Target, target: Target) -> Distributions:
    """Return the distributions of a revision, given that nothing was published for the targets `before`."""
    kept = [conditioned(distribution, frozenset(distribution.outcomes) - before) for distribution in distributions]
    return restricted(kept[0], target), restricted(kept[1], target)


def _bulk_and_rare(ratio: Fraction, rare: Fraction) -> Distributions:
    """A rare outcome gains e^epsilon while the bulk of the event loses it: nearly 2 epsilon once conditioned."""
    bulk = 1 / (2 * ratio)
    distributions = [(rare, ratio * bulk), (ratio * rare, bulk)]
    left, right = (FiniteDistribution({"a": a, "b": b, "t": 1 - a - b}) for a, b in distributions)
    return left, right


_RESPONSE = private_pair(Fraction(3), FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1))
MILLIONTH = Fraction(1, 10**6)


def _as_targeted(ratio: Fraction, order: str, hits: int) -> TargetedPair:
    """The same pair, its outcomes renamed 0, 1, 2 in that order."""
    left, right = (
        FiniteDistribution({k: distribution.probability(o) for k, o in enumerate(order)})
        for distribution in _bulk_and_rare(ratio, Fraction(1, 10**6))
    )
    return TargetedPair(left, right, ratio, hits)


@statement(
    COHEN_2023,
    "restriction_indistinguishable",
    examples=(
        {
            "pair": PairAtRatio(FiniteDistribution.of(1, 2, 7), FiniteDistribution.of(2, 1, 7), Fraction(3, 2)),
            "kept": 2,
        },
    ),
    pins=(
        Pin(
            {
                "pair": PairAtRatio(FiniteDistribution.of(1, 2, 7), FiniteDistribution.of(2, 4, 4), Fraction(3, 2)),
                "kept": 2,
            },
            "2/10 - 3/2 * 1/10 + 4/10 - 3/2 * 2/10 of the kept outcomes; 7/10 - 3/2 * 4/10 is less",
            both=lambda: Fraction(3, 20),
        ),
        Pin(
            {
                "pair": PairAtRatio(FiniteDistribution.of(1, 2, 7), FiniteDistribution.of(1, 5, 4), Fraction(5, 4)),
                "kept": 1,
            },
            "the outcomes that are hidden together have 9/10 on both sides; 5/10 - 5/4 * 2/10",
            smaller=lambda: 0,
            larger=lambda: Fraction(1, 4),
        ),
    ),
)
def restriction_is_post_processing(pair: Pair, kept: Kept) -> Verdict:
    """If B^0 and B^1 are (epsilon, delta)-indistinguishable, so are their restrictions to a set of outcomes."""
    hidden = release((pair.left, pair.right), frozenset(range(kept)))
    delta = least_delta(pair.left, pair.right, pair.ratio)
    return at_most_exact(least_delta(*hidden, pair.ratio), delta, "delta of the restriction").without_tightness()


@statement(
    COHEN_2023,
    "conditional_release_privacy",
    examples=({"targeted": _as_targeted(Fraction(3), "abt", 2)},),
    pins=(Pin({"targeted": _RESPONSE}, "randomised response at ratio 3", both=lambda: Fraction(1, 4)),),
)
def conditional_release_is_private_with_not_prior_target(targeted: Targeted) -> Verdict:
    """A_T is epsilon-DP if A is, and T is a q-target of A_T (the paper says: of A), q = 1/(e^epsilon + 1), the prior
    outcome being "nothing published". With delta by `restriction_is_post_processing` and the NotPrior lemma.
    """
    distributions = release((targeted.left, targeted.right), targeted.target)
    if not indistinguishable(*distributions, targeted.ratio):
        return Violated(evidence=Evidence.EXACT, detail="the conditional release is not epsilon-DP")
    return _has_quality(distributions, targeted.target, targeted.ratio)


def _has_quality(distributions: Distributions, target: Target, ratio: Fraction) -> Verdict:
    """Decide whether the target of a release is a NotPrior target at e^epsilon = `ratio`, by the construction too."""
    if not of_target(distributions[0], target):
        return Holds(evidence=Evidence.EXACT)
    claimed = not_prior_quality(ratio)
    mixture = not_prior_mixture(*distributions, NOTHING, ratio)
    return conjunction([
        at_most_exact(claimed, target_quality(*distributions, target, ratio), "quality"),
        mixture.shows(*distributions, target, ratio, claimed),
    ])  # fmt: skip


@statement(
    COHEN_2023,
    "conditioning_doubles_eps",
    examples=({"targeted": _as_targeted(Fraction(3), "abt", 2)},),
    pins=(
        Pin(
            {"targeted": _as_targeted(Fraction(3), "abt", 2)},
            "the rare outcome given the event: eta/(eta + 1/2) and 3 eta/(3 eta + 1/6)",
            smaller=lambda: (3 * MILLIONTH + Fraction(3, 2)) / (3 * MILLIONTH + Fraction(1, 6)),
            larger=lambda: 9,
        ),
    ),
)
def conditioning_doubles_epsilon(targeted: Targeted) -> Verdict:
    """If B^0 and B^1 are epsilon-indistinguishable, then given an event of positive probability they are 2
    epsilon-indistinguishable. (With delta there is no such lemma: the error is divided by the event's probability.)
    """
    if not of_target(targeted.left, targeted.target):
        return Holds(evidence=Evidence.EXACT)
    given = [conditioned(distribution, targeted.target) for distribution in (targeted.left, targeted.right)]
    return at_most_exact(worst_ratio(*given), revision_ratio(targeted.ratio), "likelihood ratio")


@statement(
    COHEN_2023,
    "conditioning_doubles_eps",
    "revise_call_privacy",
    pins=(
        Pin(
            {"ratio": Fraction(2), "rare": Fraction(1, 10**6)},
            "the square of the ratio, which is approached",
            both=lambda: 4,
            within=Fraction(1, 10**5),
        ),
    ),
)
def two_epsilon_of_a_revision_is_approached(ratio: Ratio, rare: Rare) -> Verdict:
    """No less than 2 epsilon will do for a revised release: a rare outcome of ratio e^epsilon in an event whose bulk
    has the ratio e^-epsilon has a likelihood ratio of at least e^(2 epsilon) (1 - 4 e^(2 epsilon) eta), eta its
    probability.
    """
    r = exact("ratio", ratio)
    eta = exact("rare", rare) / (10 * r**2)
    distributions = revise(_bulk_and_rare(r, eta), frozenset({"t"}), frozenset({"a"}))
    reached = distributions[1].probability("a") / distributions[0].probability("a")
    return at_most_exact(revision_ratio(r) * (1 - 4 * r**2 * eta), reached, "ratio").without_tightness()


# --- revisions ----------------------------------------------------------------------------------------------


def _within_a_factor(ratio: Fraction, factor: Fraction) -> Verdict:
    """Decide whether revising costs at most `factor` times as much a hit as releasing at once: epsilon/q each."""
    revising = 2 / not_prior_quality(revision_ratio(ratio))
    return at_most_exact(revising, factor / not_prior_quality(ratio), "cost of a hit")


FACTOR_TWO = Erratum(
    kind="false",
    severity=Severity.MINOR,
    location="Section 2.3, the sentence after Lemma 2.5",
    printed_text="release and revisions are said to cost at most twice a release with the final target, "
    "for the doubled epsilon; q falls, too, and a hit costs 2 (e^(2 epsilon) + 1)/(e^epsilon + 1) times as much: "
    "4.5 at epsilon = 1, 2 in the limit of small epsilon",
    answer="True in the limit of small epsilon, in which costs are compared throughout.",
    witness={"ratio": Fraction(272, 100)},
    printed=lambda ratio: _within_a_factor(ratio, Fraction(2)),
    corrected=lambda ratio: _within_a_factor(ratio, 2 * (ratio**2 + 1) / (ratio + 1)),
    figures=Figures(published=("16.80 > 7.440",), corrected=("16.80 <= 16.80",)),
)


@statement(
    COHEN_2023,
    "revise_call_privacy",
    errata=(FACTOR_TWO,),
    examples=tuple({"several": _as_targeted(ratio, "tab", 1), "kept": 0} for ratio in (Fraction(11, 10), Fraction(3))),
    pins=(
        Pin(
            {"several": _as_targeted(Fraction(3), "tab", 1), "kept": 0},
            "1/(1 + 9), reached in the limit of a rare outcome",
            smaller=lambda: Fraction(1, 10),
            larger=lambda: Fraction(1, 10),
            within=Fraction(1, 10**4),
        ),
    ),
)
def revision_is_private_at_two_epsilon_with_not_prior_target(several: Several, kept: Kept) -> Verdict:
    """A call that revises a conditional release to a disjoint target T' is, given that nothing was published, 2
    epsilon-DP, and T' is a NotPrior target of it at 2 epsilon: q = 1/(e^(2 epsilon) + 1).

    Every call is tested by itself: with a single identifier the whole sequence is a function of one epsilon-DP draw.
    """
    distributions = several.left, several.right
    before = several.target
    target = frozenset(range(several.hits, min(several.hits + 1 + kept, several.size)))
    if of_target(several.left, before) == 1:
        return Holds(evidence=Evidence.EXACT)  # a revision never happens
    revised = revise(distributions, before, target)
    at = revision_ratio(several.ratio)
    if not indistinguishable(*revised, at):
        return Violated(evidence=Evidence.EXACT, detail=f"a likelihood ratio exceeds {at}")
    return _has_quality(revised, target, at)


@statement(COHEN_2023, "revise_proof")
def release_and_revisions_publish_one_draw(several: Several, kept: Kept) -> Verdict:
    """A release with T followed by revisions publishes y at the call whose target holds it with probability A(y): the
    chain of conditional calls is one draw from A, published when it is asked for, on both data sets.
    """
    sizes = (several.hits, min(several.hits + 1 + kept, several.size), several.size)
    targets: list[Target] = [frozenset(range(*ends)) for ends in zip((0, *sizes), sizes, strict=False)]
    published = [_published(distribution, targets) for distribution in (several.left, several.right)]
    drawn = [{o: w for o, w in distribution.weights.items() if w} for distribution in (several.left, several.right)]
    return equal_exact(published, drawn, "the published outcomes on the two data sets")


def _published(distribution: FiniteDistribution, targets: Sequence[Target]) -> dict[Hashable, Fraction]:
    """Return the probability of each outcome to be published by a call with one of the targets, where positive."""
    silent, published = Fraction(1), dict[Hashable, Fraction]()
    seen: Target = frozenset()
    for target in targets:
        if silent == 0:
            break
        call = revise((distribution, distribution), seen, target)[0]
        published |= {o: silent * call.probability(o) for o in target}
        silent, seen = silent * call.probability(NOTHING), seen | target
    return {o: w for o, w in published.items() if w}
