"""Directed curves: losses go with the deltas of their mechanism, and error rates are those of a closed form."""

import math
import random
from types import SimpleNamespace
from typing import Any

import pytest

from dpassay.impl.libraries.directed_curves import EXACT_STEP, directed_curves


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
