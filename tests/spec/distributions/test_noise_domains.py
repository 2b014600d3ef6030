"""Noise with ends needs both of them, in order; noise without ends has none."""

import pytest

from dpassay.arguments import UsageError
from dpassay.spec.distributions.noise import FAMILIES, NoiseDistribution


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("low", "high"), [(None, None), (-1, None), (None, 1), (-1, 1), (1, 1), (1, -1)])
def test_ends_belong_to_the_families_that_have_them(family: str, low: int | None, high: int | None) -> None:
    with_ends = family.startswith(("bounded", "clamped"))
    fits = (low, high) == ((-1, 1) if with_ends else (None, None))
    if fits:
        assert NoiseDistribution(family, 0, 1, low, high).has_ends is with_ends
    else:
        with pytest.raises(UsageError, match="low"):
            NoiseDistribution(family, 0, 1, low, high)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf")])
def test_a_scale_is_positive_and_finite(scale: float) -> None:
    with pytest.raises(UsageError, match="scale"):
        NoiseDistribution("laplace", 0, scale)
