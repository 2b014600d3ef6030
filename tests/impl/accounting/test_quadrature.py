import numpy as np
import pytest

from dpassay.impl.accounting.quadrature import log_trapezoid
from dpassay.impl.accounting.search import smallest_accepted

Array = np.ndarray


def test_integrals_of_very_different_size_and_shape() -> None:
    level, skew = np.array([0.0, -5e4, 3e3]), np.array([0.0, 5.0, 40.0])

    def log_shifted_normal(index: Array, x: Array) -> Array:
        return np.asarray(level[index, None] - x * x / 2 + skew[index, None] * x)

    result = log_trapezoid(log_shifted_normal, skew - 9.5, skew + 9.5)
    np.testing.assert_allclose(result, level + skew**2 / 2 + np.log(2 * np.pi) / 2, rtol=1e-14, atol=1e-13)


def test_a_narrow_bump_is_found_by_halving() -> None:
    result = log_trapezoid(lambda _, x: -np.square(x / 0.02) / 2, np.array([-9.0]), np.array([9.0]))
    assert result[0] == pytest.approx(np.log(0.02 * np.sqrt(2 * np.pi)), abs=1e-13)


def test_a_jump_is_not_passed_off_as_an_integral() -> None:
    with pytest.raises(ArithmeticError, match="did not converge"):
        log_trapezoid(lambda _, x: np.where(x < 1 / 3, 0.0, -700.0), np.array([-1.0]), np.array([1.0]))


@pytest.mark.parametrize("parts", [2, 16])
def test_the_search_ends_on_the_accepted_side(parts: int) -> None:
    roots = np.array([1e-9, 0.3, 0.99])
    arithmetic = smallest_accepted(lambda x: x >= roots, np.zeros(3), np.ones(3), parts=parts)
    assert np.all((arithmetic >= roots) & (arithmetic <= roots * (1 + 1e-14)))
    geometric = smallest_accepted(lambda x: x >= roots, np.full(3, 1e-12), np.ones(3), geometric=True, parts=parts)
    assert np.all((geometric >= roots) & (geometric <= roots * (1 + 2**-43)))
