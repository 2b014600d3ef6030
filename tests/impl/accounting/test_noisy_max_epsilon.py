import numpy as np
import pytest
from scipy.special import ndtr

from dpassay.arguments import UsageError
from dpassay.impl.accounting.noisy_max import gaussian_noisy_max_epsilon as epsilon


@pytest.mark.parametrize(
    ("arguments", "digits"),
    [
        ((5, 1, 1, 0.2), 0.652465),
        ((4, 0.2, 1, 0.3), 9.512576),
        ((365, 0.05, 1, 1 / 6946), 0.126527336903720321556),
        ((100, 0.1, 1, 0.001), 0.232416280),
        ((100, 0.1, 1, 0.01), 2.30707436),
        ((100, 0.3, 1, 0.01), 0.358669),
        ((3, 0.5, 1, 0.7), 3.215070),
        ((7, 0.3, 1, 0.1), 2.2930797),
    ],
)
def test_known_values(arguments: tuple[float, ...], digits: float) -> None:
    assert float(epsilon(*arguments)) == pytest.approx(digits, rel=2e-6)


def test_the_value_with_nineteen_digits() -> None:
    assert float(epsilon(365, 0.05, 1, 1 / 6946)) == pytest.approx(0.126527336903720321556, rel=1e-9)


@pytest.mark.parametrize("step", [1e-9, 0.01, 0.3, 1.0])
def test_two_candidates_have_a_closed_form(step: float) -> None:
    sigma = 0.7
    root = sigma * np.sqrt(2)
    low, high = ndtr(-1 / root), ndtr((2 * step - 1) / root)
    assert float(epsilon(2, sigma, 1, step)) == pytest.approx(np.log(high / low), rel=1e-6 if step < 1e-6 else 1e-9)


def test_the_closed_form_agrees_with_the_quadrature_used_for_more_candidates() -> None:
    from dpassay.impl.accounting.noisy_max import _many_candidates

    gap, lift = np.array([0.5, 3.0, 700.0]), np.array([1e-7, 2.0, 100.0])
    np.testing.assert_allclose(_many_candidates(np.ones(3), gap, lift), epsilon(2, 1, gap, lift / 2), rtol=1e-9)


def test_only_ratios_matter() -> None:
    np.testing.assert_allclose(epsilon(7, 0.3, 1, 0.1), epsilon(7, 300, 1000, 100), rtol=1e-12)


def test_a_sensitivity_above_the_width_counts_as_the_width() -> None:
    assert float(epsilon(3, 0.5, 1, 1.3)) == float(epsilon(3, 0.5, 1, 1.0)) == pytest.approx(3.625240, rel=1e-6)


def test_it_grows_with_size_sensitivity_and_width_and_falls_with_noise() -> None:
    grid = np.geomspace(0.01, 1, 30)
    assert np.all(np.diff(epsilon(9, 0.4, 1, grid)) > 0)
    assert np.all(np.diff(epsilon(9, 0.4, grid, 0.01)) > 0)
    assert np.all(np.diff(epsilon(9, grid, 1, 0.01)) < 0)
    assert np.all(np.diff(epsilon(np.arange(2, 60), 0.4, 1, 0.01)) > 0)


def test_the_asymptote_of_wide_ranges() -> None:
    size, step, sigma, width = 50, 0.1, 0.3, 50.0
    slope = 2 * (size - 1) / size * step * (width - step) / sigma**2
    assert float(epsilon(size, sigma, width, step)) / slope == pytest.approx(1.0017, abs=1e-4)


def test_nothing_to_hide() -> None:
    np.testing.assert_array_equal(epsilon([1, 5, 5], 1.0, [1, 1, 0], [0.1, 0, 0.1]), 0)


def test_it_broadcasts() -> None:
    table = epsilon(np.array([2, 10, 100])[:, None], 0.3, 1, np.array([0.01, 0.1]))
    assert table.shape == (3, 2)
    assert table[2, 0] == pytest.approx(float(epsilon(100, 0.3, 1, 0.01)), rel=1e-12)
    assert epsilon(np.zeros((0,)) + 2, 1, 1, 1).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, 1, 1, 0.1), "size"),
        ((2.5, 1, 1, 0.1), "size"),
        ((2, 0, 1, 0.1), "sigma"),
        ((2, float("nan"), 1, 0.1), "sigma"),
        ((2, 1, -1, 0.1), "width"),
        ((2, 1, float("inf"), 0.1), "width"),
        ((2, 1, 1, [0.1, -0.1]), "sensitivity"),
    ],
)
def test_bad_input_is_named(arguments: tuple[float, ...], name: str) -> None:
    with pytest.raises(UsageError, match=f"^{name} must"):
        epsilon(*arguments)


@pytest.mark.parametrize(("size", "gap"), [(3, 1e5), (10, 1e6), (3, 2.0**20)])
def test_hardly_any_noise(size: int, gap: float) -> None:
    # P(g) ~ const exp(-n g^2 / (2 (n + 1))) g^-n: the last candidate has to beat n others by g.
    n, step = size - 1, 0.25
    leading = n / (n + 1) * gap**2 * (1 - (1 - 2 * step) ** 2) / 2 - n * np.log(1 - 2 * step)
    assert float(epsilon(size, 1 / gap, 1, step)) == pytest.approx(leading, rel=1e-9)


def test_less_noise_than_float64_can_handle_is_refused() -> None:
    with pytest.raises(UsageError, match="sigma must be at least"):
        epsilon(3, 1e-7, 1, 0.1)


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(UsageError, match="broadcast"):
        epsilon([2, 3], 1, 1, [0.1, 0.2, 0.3])
