"""Monotonicity of the ex-post loss of AboveThreshold in its threshold.

Chapter after Lebensold, Precup and Balle (2024), Section 3.3. Its claim needs conditions that it does not state, on
the time of halting and on the sensitivity.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

from flint import arb

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import ATTAINED, Exact, Real, at_least, at_most, exact
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.domains.streams import ThresholdSetting
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, all_of, checked, lemma, proof, prose
from dpassay.spec.proof.symbolic import identity
from dpassay.spec.sources import LEBENSOLD_2024
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.gaussian_selection.above_threshold_expost import worst_halting_pair
from dpassay.spec.theorems.gaussian_selection.normal_hazard import (
    hazard,
    normal_hazard_slope_between_0_and_1,
    survival,
)
from dpassay.spec.theorems.gaussian_selection.second_derivations import halting_loss
from dpassay.spec.verdict import Verdict

LateTime = Annotated[int, Integers("a time from 3 on", 3, 10**6, (3, 10, 100), logarithmic=True)]
Position = Annotated[Exact, Reals("a threshold's place in the range", 0, 1, (0, Fraction(1, 2), Fraction(99, 100)))]
Part = Annotated[Exact, Reals("a part of the way up", Fraction(1, 1000), 1, (1,), logarithmic=True)]
Noise = Annotated[
    Exact,
    Reals("a noise scale, in widths of the range", Fraction(1, 1000), 1000, (1, Fraction(3, 20)), logarithmic=True),
]
Fineness = Annotated[
    Exact,
    Reals(
        "a sensitivity, in units of min(width, sigma_Z)",
        Fraction(1, 10**6),
        1,
        (1, Fraction(1, 1000)),
        logarithmic=True,
    ),
]


def _falls(setting: ThresholdSetting, time: int, higher: Fraction) -> Verdict:
    """Return whether the loss of halting at `time` is no larger at the higher threshold."""
    return at_most(_epsilon(replace(setting, threshold=higher), time), _epsilon(setting, time), slack=ATTAINED)


def _rises(setting: ThresholdSetting, time: int, higher: Fraction) -> Verdict:
    return at_least(_epsilon(replace(setting, threshold=higher), time), _epsilon(setting, time), slack=ATTAINED)


def _falls_when_fine(setting: ThresholdSetting, time: int, higher: Fraction) -> Verdict:
    return _falls(replace(setting, sensitivity=min(setting.sensitivity, setting.sigma_query)), time, higher)


def _epsilon(setting: ThresholdSetting, time: int) -> Real:
    return lambda: worst_halting_pair(setting, time).halting_loss()


def _witness(time: int, setting: str, higher: str) -> dict[str, object]:
    return {"setting": ThresholdSetting.of(setting), "time": time, "higher": Fraction(higher)}


def _reading(
    text: str,
    witness: dict[str, object],
    corrected: Callable[..., Verdict],
    figures: Figures,
    consequence_of: str | None = None,
) -> Erratum:
    return Erratum(
        kind="false",
        severity=Severity.INTERPRETATION,
        location="Section 3.3, the sentence after Theorem 11 on the loss as the threshold approaches b",
        printed_text=text,
        answer="The sentence describes Figure 2, whose caption excepts t = 2, for a small sensitivity and late halts.",
        witness=witness,
        printed=_falls,
        corrected=corrected,
        figures=figures,
        consequence_of=consequence_of,
    )


READINGS = (
    _reading(
        "less loss is reported as rho approaches b, with no time named; at t = 1 the loss grows with the threshold",
        _witness(1, "0 1 1/1000 1/2 3/20 13/50", "1"),
        _rises,
        Figures(("0.01196 > 0.006927",), ("0.006927 <= 0.01196",)),
    ),
    _reading(
        "nor is a sensitivity named; for one of several sigma_Z the loss can grow at t = 3, too",
        _witness(3, "0 1 9/10 7/10 3/100 9/100", "9/10"),
        _falls_when_fine,
        Figures(("54.68 > 48.84",), ("12.43 <= 13.76",)),
        "late_loss_falls_in_the_threshold",
    ),
)


def _loss_at(rho: Fraction) -> arb:
    setting = ThresholdSetting(Fraction(0), Fraction(1), Fraction(1, 2), rho, Fraction(1), Fraction(2))
    return halting_loss(worst_halting_pair(setting, 3))


@statement(
    LEBENSOLD_2024,
    "at_loss_decreases_in_threshold",
    errata=READINGS,
    cases=25,
    pins=(
        Pin(
            {
                "time": 3,
                "place": Fraction(1, 4),
                "part": Fraction(1, 2),
                "sigma_threshold": Fraction(1),
                "sigma_query": Fraction(2),
                "fineness": Fraction(1, 2),
            },
            "halfway from 1/4 to 1 is 5/8; adaptive integration",
            smaller=lambda: _loss_at(Fraction(5, 8)),
            larger=lambda: _loss_at(Fraction(1, 4)),
        ),
    ),
)
def late_loss_falls_in_the_threshold(
    *, time: LateTime, place: Position, part: Part, sigma_threshold: Noise, sigma_query: Noise, fineness: Fineness
) -> Verdict:
    """At t >= 3 and for Delta <= sigma_Z, the loss of halting does not increase as rho rises within [a, b].

    The paper says so with no condition on t. Not proved: decided at points only. Without the condition on Delta it is
    false.
    """
    rho, sigma = exact("place", place), exact("sigma_query", sigma_query)
    sensitivity = exact("fineness", fineness) * min(sigma, Fraction(1))
    higher = rho + (1 - rho) * exact("part", part)
    noise = exact("sigma_threshold", sigma_threshold)
    setting = ThresholdSetting(Fraction(0), Fraction(1), sensitivity, rho, noise, sigma)
    return _falls(setting, time, higher).without_tightness()


@statement(LEBENSOLD_2024, "at_loss_decreases_in_threshold")
def first_loss_rises_and_second_is_symmetric() -> Proof:
    """At t = 1 the loss grows with rho: with the normal hazard h, which rises, and u = (a - rho)/s, its
    derivative is (h(-u) - h(-u - Delta/s))/s. At t = 2 it is unchanged by rho -> a + b - rho: with x -> -x the two
    factors change places.
    """
    low, high, rho, x, xi = sp.symbols("a b rho x xi", real=True)
    step, scale, noise = sp.symbols("Delta s sigma_X", positive=True)
    u = (low - rho) / scale
    loss = sp.log(survival(-u - step / scale)) - sp.log(survival(-u))
    below, above = noise * x + rho - high + xi, -noise * x - rho + low + xi
    mirror = {x: -x, rho: low + high - rho}
    return proof(
        checked(
            "derivative",
            "At t = 1 the derivative of the loss in rho is (h(-u) - h(-u - Delta/s))/s.",
            identity,
            sp.diff(loss, rho),
            (hazard(-u) - hazard(-u - step / scale)) / scale,
        ),
        lemma("hazard", "The normal hazard rises.", normal_hazard_slope_between_0_and_1),
        prose("first loss", "So the loss at t = 1 grows with rho.", given=["derivative", "hazard"]),
        checked(
            "factor below",
            "Under x -> -x and rho -> a + b - rho the factor below becomes the one above.",
            identity,
            below.subs(mirror, simultaneous=True),
            above,
        ),
        checked(
            "factor above",
            "Under the same exchange the factor above becomes the one below.",
            identity,
            above.subs(mirror, simultaneous=True),
            below,
        ),
        prose(
            "second loss",
            "The density of x is symmetric and the loss at t = 2 has one factor of each kind: it is unchanged.",
            given=["factor below", "factor above"],
        ),
        all_of("both losses", "first loss", "second loss"),
    )
