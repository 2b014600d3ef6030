"""Counts to a relative accuracy: the predicate, and a stopping rule that sees the noisy value only.

Chapter after Rogers, Samorodnitsky, Wu and Ramdas (2023), Sec 7 and 7.2. Edge cases that the paper passes over: a true
count of 0 is never met, and a negative noisy value whose modulus is close to the count counts as accurate.
"""

from fractions import Fraction
from typing import Annotated

from dpassay.spec.domains.base import Reals
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Evidence, Holds, Verdict, conjunction

__all__ = ["accepted_noise", "is_accurate", "stops", "threshold_above", "threshold_below"]

Accuracy = Annotated[
    Fraction,
    Reals("a relative accuracy", Fraction(1, 1000), Fraction(999, 1000), (Fraction(1, 10), Fraction(1, 100))),
]
Deviation = Annotated[
    Fraction, Reals("a standard deviation", Fraction(1, 1000), 1000, (1, Fraction(1, 2)), logarithmic=True)
]
Place = Annotated[
    Fraction, Reals("the noisy value over its threshold", -3, 3, (1, -1, Fraction(999, 1000), Fraction(-999, 1000), 0))
]
Share = Annotated[Fraction, Reals("a share of an interval", -1, 1, (0, 1, -1, Fraction(999, 1000)))]


def is_accurate(noisy: Fraction, count: Fraction, accuracy: Fraction) -> bool:
    """Return whether | |noisy / count| - 1 | < accuracy; never, if the count is 0."""
    return count != 0 and abs(abs(noisy / count) - 1) < accuracy


def stops(noisy: Fraction, deviation: Fraction, accuracy: Fraction) -> bool:
    """Return whether |noisy| > s and 1 - accuracy < |(noisy + s)/(noisy - s)| <= 1 + accuracy, s the deviation."""
    if abs(noisy) <= deviation:
        return False
    quotient = abs((noisy + deviation) / (noisy - deviation))
    return 1 - accuracy < quotient <= 1 + accuracy


def threshold_above(deviation: Fraction, accuracy: Fraction) -> Fraction:
    """Return s (2 + accuracy)/accuracy, the least positive noisy value that stops."""
    return deviation * (2 + accuracy) / accuracy


def threshold_below(deviation: Fraction, accuracy: Fraction) -> Fraction:
    """Return s (2 - accuracy)/accuracy: a negative noisy value stops if its modulus is larger."""
    return deviation * (2 - accuracy) / accuracy


@statement(ROGERS_2023, "relative_error_stopping_rule")
def stopping_rule_is_a_threshold(place: Place, deviation: Deviation, accuracy: Accuracy) -> Verdict:
    """The rule stops if and only if noisy >= s (2 + alpha)/alpha or noisy < -s (2 - alpha)/alpha: it is not symmetric,
    and either bound on the quotient decides one side.
    """
    verdicts = []
    for threshold in (threshold_above(deviation, accuracy), threshold_below(deviation, accuracy)):
        noisy = place * threshold
        direct = noisy >= threshold_above(deviation, accuracy) or noisy < -threshold_below(deviation, accuracy)
        verdicts.append(equal_exact(stops(noisy, deviation, accuracy), direct, f"stopping at {noisy}"))
    return conjunction(verdicts)


def accepted_noise(deviation: Fraction, accuracy: Fraction) -> tuple[Fraction, Fraction]:
    """Return how far the noise may go down and up so that the value just at the threshold is accurate."""
    reach = threshold_above(deviation, accuracy) * accuracy
    return -reach / (1 - accuracy), reach / (1 + accuracy)


@statement(
    ROGERS_2023,
    "relative_error_predicate",
    "relative_error_stopping_rule",
    pins=(
        Pin(
            {"share": Fraction(1), "deviation": Fraction(3), "accuracy": Fraction(1, 10)},
            "attained at one deviation",
            both=lambda: Fraction(1, 20),
        ),
        Pin(
            {"share": Fraction(-1), "deviation": Fraction(3), "accuracy": Fraction(1, 10)},
            "21 to 22, less 1",
            smaller=lambda: Fraction(1, 22),
            larger=lambda: Fraction(1, 20),
        ),
    ),
)
def noise_within_one_deviation_is_half_the_accuracy(share: Share, deviation: Deviation, accuracy: Accuracy) -> Verdict:
    """At the threshold s (2 + alpha)/alpha, noise within one standard deviation leaves a relative error of at most
    alpha/2, and the value is accurate if and only if the noise lies strictly between -s (2 + alpha)/(1 - alpha) and
    s (2 + alpha)/(1 + alpha): 1.909 s above and 2.333 s below at alpha = 0.1.
    """
    noisy = threshold_above(deviation, accuracy)
    within = noisy - share * deviation
    low, high = accepted_noise(deviation, accuracy)
    noises = [end * size for end in (low, high) for size in (abs(share) * Fraction(5, 4), Fraction(99, 100), 1)]
    return conjunction([
        at_most_exact(abs(noisy / within - 1), accuracy / 2, "relative error"),
        *(equal_exact(is_accurate(noisy, noisy - x, accuracy), low < x < high, f"with noise {x}") for x in noises),
    ])  # fmt: skip


@statement(ROGERS_2023, "relative_error_predicate")
def edge_cases_of_the_relative_error() -> Verdict:
    """A count of 0 is never met, however small the noise; a value of the wrong sign with the right modulus counts as
    accurate; an error of exactly alpha does not.
    """
    tenth = Fraction(1, 10)
    return conjunction([
        equal_exact(is_accurate(Fraction("1e-9"), Fraction(0), tenth), False, "count 0"),
        equal_exact(is_accurate(Fraction(-100), Fraction(100), tenth), True, "wrong sign"),
        equal_exact(is_accurate(Fraction(110), Fraction(100), tenth), False, "an error of alpha"),
        equal_exact(is_accurate(Fraction(109), Fraction(100), tenth), True, "an error below alpha"),
        Holds(evidence=Evidence.EXACT),
    ])  # fmt: skip
