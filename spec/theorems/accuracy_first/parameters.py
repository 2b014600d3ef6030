"""The quantifiers that the statements on filters share, and how a delta is decided at an irrational epsilon."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

from dpassay.spec.ball import Real, float_lower, float_upper, precision
from dpassay.spec.domains.base import Reals
from dpassay.spec.interactions.adaptive_rounds import MixedInteractions
from dpassay.spec.interactions.transcripts import (
    Analyst,
    FilterRule,
    Interaction,
    LossDistribution,
    Round,
    both_loss_distributions,
    branches,
    repeated,
)
from dpassay.spec.rational import at_most_exact
from dpassay.spec.verdict import Evidence, Holds, Outcome, Undecided, Verdict, conjunction

__all__ = [
    "Budget",
    "Concentrated",
    "ConversionDelta",
    "DeltaBudget",
    "ExPostPrivate",
    "Mixed",
    "NoiseReducing",
    "Rho",
    "SlackDelta",
    "filtered_distributions",
    "filtered_loss",
    "keeps_delta",
    "within_delta",
]

Concentrated = Annotated[
    Interaction,
    MixedInteractions("an adaptive interaction of approximately concentrated mechanisms", ("concentrated",)),
]
ExPostPrivate = Annotated[
    Interaction, MixedInteractions("an adaptive interaction of ex-post private mechanisms", ("ex-post",))
]
Mixed = Annotated[
    Interaction,
    MixedInteractions("an adaptive interaction of concentrated and ex-post mechanisms", ("concentrated", "ex-post")),
]
NoiseReducing = Annotated[
    Interaction,
    MixedInteractions(
        "an adaptive interaction of concentrated mechanisms and stopped runs",
        ("noise reduction", "concentrated"),
        largest_depth=2,
    ),
]
Budget = Annotated[
    Fraction, Reals("a budget e^epsilon", Fraction(101, 100), 10**6, (2, 3, 9, 100, 10**4), logarithmic=True)
]
SlackDelta = Annotated[
    Fraction,
    Reals("delta''", Fraction(1, 10**12), 1, (Fraction(1, 100), Fraction(1, 10**5), Fraction(1, 2)), logarithmic=True),
]  # fmt: skip
ConversionDelta = Annotated[
    Fraction,
    Reals(
        "delta'', down to where the constant of the conversion is sharp",
        Fraction(1, 10**300),
        1,
        (Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**300), Fraction(1, 2)),
        logarithmic=True,
    ),
]
DeltaBudget = Annotated[
    Fraction, Reals("a budget for delta", 0, 1, (0, Fraction(1, 10), Fraction(1, 2), Fraction(1, 100)))
]  # fmt: skip
Rho = Annotated[
    Fraction, Reals("a budget rho", Fraction(1, 1000), 20, (Fraction(1, 2), 1, Fraction(1, 10), 5), logarithmic=True)
]


def filtered_distributions(interaction: Analyst, rule: FilterRule) -> tuple[LossDistribution, LossDistribution]:
    """Return the exact distributions of the loss of a filtered interaction, in both orders of the pair."""
    return both_loss_distributions(branches(interaction, rule))


def filtered_loss(offers: Sequence[Round], rule: FilterRule, budget: Fraction) -> Fraction:
    """Return the exact delta at e^epsilon = `budget` of a fixed sequence of offers, in the worse order."""
    return max(distribution.hockey_stick(budget) for distribution in filtered_distributions(repeated(offers), rule))


def keeps_delta(distributions: Iterable[LossDistribution], budget: Fraction, delta: Fraction) -> Verdict:
    """Decide whether the delta of each distribution at e^epsilon = `budget` is at most `delta`."""
    return conjunction(
        at_most_exact(distribution.hockey_stick(budget), delta, "delta") for distribution in distributions
    )


def within_delta(distributions: Iterable[LossDistribution], epsilon: Real, delta: Fraction) -> Verdict:
    """Decide whether the delta of each distribution at epsilon is at most `delta`, epsilon an enclosed number.

    The delta falls in epsilon, so that rational ends of an enclosure of e^epsilon bracket it exactly.
    """
    with precision(96):
        power = epsilon().exp()
        low, high = Fraction(float_lower(power)), Fraction(float_upper(power))
    return conjunction(_between(distribution, low, high, delta) for distribution in distributions)


def _between(distribution: LossDistribution, low: Fraction, high: Fraction, delta: Fraction) -> Verdict:
    verdict = replace(at_most_exact(distribution.hockey_stick(low), delta, "delta"), evidence=Evidence.ENCLOSED)
    if isinstance(verdict, Holds):
        return verdict
    verdict = replace(at_most_exact(distribution.hockey_stick(high), delta, "delta"), evidence=Evidence.ENCLOSED)
    if verdict.outcome is Outcome.VIOLATED:
        return verdict
    detail = f"delta at e^epsilon in [{float(low)}, {float(high)}] is too close"
    return Undecided(evidence=Evidence.ENCLOSED, detail=detail)
