"""The claim of the mechanism, tested on adversarial neighbours; and a broken twin, to see the test fail."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.testing import assert_private
from PROJECT import EPSILON, PROJECT

NEIGHBOURS = "records:low=0,high=1,size=0,max-size=3,relation=add-remove"


def test_the_claim_is_not_refuted() -> None:
    result = assert_private(PROJECT, f"pure:{EPSILON}", NEIGHBOURS)
    assert result.verdict in {"holds", "not refuted"}


def test_a_broken_twin_is_refuted() -> None:
    def with_half_the_noise(data: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[Any]:
        return 2 * len(data) + PROJECT(data, size, rng) - len(data)

    with pytest.raises(AssertionError, match="privacy loss"):
        assert_private(with_half_the_noise, f"pure:{EPSILON}", NEIGHBOURS)
