"""Directed curves: losses go with the deltas of their mechanism, and error rates are those of a closed form."""

import math
import random
from types import SimpleNamespace
from typing import Any

import pytest

from dpassay.impl.libraries.directed_curves import EXACT_STEP, crossing_rates, directed_curves
from dpassay.impl.libraries.references import normal_cdf


class Losses:
    """Losses that say what they are made of."""

    def __init__(self, *made: Any) -> None:
        self.made, self._pmf_add, self._pmf_remove = made, "add", "remove"

    def compose(self, other: "Losses") -> "Losses":
        return Losses(*self.made, *other.made)


LIBRARY = SimpleNamespace(
    common=SimpleNamespace(DifferentialPrivacyParameters=lambda epsilon, delta: (epsilon, delta)),
    from_privacy_parameters=lambda parameters, step: Losses(("response", *parameters, step)),
    from_gaussian_mechanism=lambda sigma, sampling_prob, value_discretization_interval: Losses(
        ("sample", sigma, sampling_prob, value_discretization_interval)
    ),
    PrivacyLossDistribution=lambda remove, add: ("exchanged", remove, add),
)


@pytest.mark.parametrize("seed", range(5))
def test_losses_go_with_their_deltas(seed: int) -> None:
    response, sample, both = directed_curves(random.Random(seed), LIBRARY)  # noqa: S311  # a draw that can be repeated
    ((_, epsilon, delta, step),) = response.losses.made
    assert (epsilon / EXACT_STEP).is_integer()
    assert step == EXACT_STEP
    assert both.losses.made == (("response", 0.0, delta, EXACT_STEP), *sample.losses.made)
    assert response.deltas(epsilon) == pytest.approx((delta, delta))
    removed, added = sample.deltas(0.25)
    assert removed > added  # a sample has larger losses where its record is removed
    assert both.deltas(0.25) == pytest.approx((delta + (1 - delta) * removed, delta + (1 - delta) * added))
    assert response.exchanged == ("exchanged", "add", "remove")


@pytest.mark.parametrize("seed", range(5))
def test_error_rates_of_a_response_are_those_of_its_corner(seed: int) -> None:
    """Its curve is 1 - delta - e^epsilon alpha, or e^-epsilon (1 - delta - alpha), whichever is larger."""
    generator = random.Random(seed)  # noqa: S311  # a draw that can be repeated
    response, *_ = directed_curves(generator, LIBRARY)
    ((_, epsilon, delta, _),) = response.losses.made
    below, above, _ = rates = list(response.rates(generator))
    assert below < (1 - delta) / (1 + math.exp(epsilon)) < above < 1 - delta
    for rate in rates:
        exact = max(0.0, 1 - delta - math.exp(epsilon) * rate, math.exp(-epsilon) * (1 - delta - rate))
        assert response.error_rates(rate) == pytest.approx((exact, exact, exact), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_an_attack_succeeds_as_often_as_crossing_curves_allow(seed: int) -> None:
    """It has a threshold for each answer of the response, and is the best one for few false positives."""
    for words, losses, rate, least in crossing_rates(random.Random(seed), LIBRARY):  # noqa: S311  # can be repeated
        (_, epsilon, _, _), (_, sigma, share, _) = losses.made
        assert f"{rate!r}, noise {sigma!r}" in words
        kept = 1 / (1 + math.exp(-epsilon))
        attacks = []
        for place in range(-800, 1600):
            low, high = 0.01 * place, _other_threshold(0.01 * place, sigma, share, epsilon)
            false = (1 - kept) * normal_cdf(-low / sigma) + kept * normal_cdf(-high / sigma)
            true = sum(
                chance * (kept * normal_cdf((center - low) / sigma) + (1 - kept) * normal_cdf((center - high) / sigma))
                for center, chance in ((0.0, 1 - share), (1.0, share))
            )
            attacks.append((false, true))
        best = max(true for false, true in attacks if false <= rate)
        assert 1 - least >= best - 1e-12
        assert rate > 0.02 or 1 - least == pytest.approx(best, rel=0.03)


def _other_threshold(low: float, sigma: float, share: float, epsilon: float) -> float:
    """Return where the loss, with the answer that speaks against a record, is what it is at `low` with the other."""
    ratio = (1 - share + share * math.exp((2 * low - 1) / (2 * sigma**2))) * math.exp(2 * epsilon)
    return 0.5 + sigma**2 * math.log((ratio - 1 + share) / share) if ratio > 1 - share else -math.inf
