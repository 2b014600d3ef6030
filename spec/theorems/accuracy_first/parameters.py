"""The quantifiers that the statements on filters share, and how a delta is decided at an irrational epsilon."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from dpassay.spec.adaptive_rounds import MixedInteractions
from dpassay.spec.ball import Real, float_lower, float_upper, precision
from dpassay.spec.domains import Reals
from dpassay.spec.interactions import Analyst, FilterRule, Interaction, LossLaw, Round, branches, loss_law_of_branches
from dpassay.spec.rational import at_most_exact
from dpassay.spec.verdict import Evidence, Holds, Outcome, Undecided, Verdict

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
    "filtered_law",
    "filtered_loss",
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


def filtered_law(analyst: Analyst, rule: FilterRule) -> LossLaw:
    """Return the exact law of the loss of a filtered interaction, in the order left, right."""
    return loss_law_of_branches(branches(analyst, rule))


def filtered_loss(offers: Sequence[Round], rule: FilterRule, budget: Fraction) -> Fraction:
    """Return the exact delta at e^epsilon = `budget` of a fixed sequence of offers."""
    law = filtered_law(lambda seen: offers[len(seen)] if len(seen) < len(offers) else None, rule)
    return law.hockey_stick(budget)


def within_delta(law: LossLaw, epsilon: Real, delta: Fraction) -> Verdict:
    """Decide whether the delta of a law at epsilon is at most `delta`, epsilon an enclosed number.

    The delta falls in epsilon, so that rational ends of an enclosure of e^epsilon bracket it exactly.
    """
    with precision(96):
        power = epsilon().exp()
        low, high = float_lower(power), float_upper(power)
    verdict = at_most_exact(law.hockey_stick(Fraction(low)), delta, "delta").with_(evidence=Evidence.ENCLOSED)
    if isinstance(verdict, Holds):
        return verdict
    verdict = at_most_exact(law.hockey_stick(Fraction(high)), delta, "delta").with_(evidence=Evidence.ENCLOSED)
    if verdict.outcome is Outcome.VIOLATED:
        return verdict
    return Undecided(evidence=Evidence.ENCLOSED, detail=f"delta at e^epsilon in [{low}, {high}] is too close")
