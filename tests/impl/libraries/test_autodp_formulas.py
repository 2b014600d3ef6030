"""The formulas that autodp is compared with agree with integrals and sums, and with each other."""

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest

import dpassay.impl.libraries
from dpassay.impl.libraries.references import gaussian_delta, gaussian_epsilon, sampled_gaussian_divergence


@pytest.fixture(scope="module")
def formulas() -> ModuleType:
    """The module of the adapter, which is no package and does not import its library."""
    path = Path(str(dpassay.impl.libraries.__file__)).parent / "autodp" / "autodp_formulas.py"
    spec = importlib.util.spec_from_file_location("autodp_formulas", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("order", [2, 3, 7])
def test_samples_of_gaussian_noise_cost_their_integral(formulas: ModuleType, order: int) -> None:
    curve = formulas.gaussian_divergence(1.7)
    exact = sampled_gaussian_divergence(1.7, 0.3, order)
    assert formulas.sampled_divergence(curve, 0.3, order) == pytest.approx(exact, rel=1e-9)
    assert formulas.sampled_divergence(curve, 0.3, order, general=True) >= exact
    assert exact <= formulas.sampled_without_replacement(curve, 0.3, order) <= curve(order)


@pytest.mark.parametrize("order", [1.3, 2.0, 9.5])
def test_the_closed_form_of_laplace_noise_is_its_integral(formulas: ModuleType, order: float) -> None:
    exact = formulas.laplace_divergence(1.3, order)
    assert formulas.closed_laplace_divergence(1.3, order) == pytest.approx(exact, rel=1e-9)
    assert exact < formulas.closed_laplace_divergence(1.3, math.inf) == pytest.approx(1 / 1.3)


def test_a_randomised_response_is_the_worst_pure_mechanism(formulas: ModuleType) -> None:
    assert formulas.pure_divergence(0.7, 2.0) == pytest.approx(
        formulas.response_divergence(1 / (1 + math.exp(-0.7)), 2.0)
    )
    assert formulas.laplace_divergence(1 / 0.7, 2.0) < formulas.pure_divergence(0.7, 2.0) < 0.7


def test_the_best_order_costs_no_less_than_the_exact_curve(formulas: ModuleType) -> None:
    curve, delta = formulas.gaussian_divergence(1.4), 1e-5
    balle = formulas.least(curve, formulas.conversion_of_balle(delta))
    mironov = formulas.least(curve, formulas.conversion_of_mironov(delta))
    assert gaussian_epsilon(1.4, delta) < balle < mironov
    assert gaussian_delta(1.4, 2.0) < formulas.least(curve, formulas.delta_of_balle(2.0)) < 1


def test_a_chord_lies_above_a_convex_function(formulas: ModuleType) -> None:
    curve = formulas.gaussian_divergence(1.4)
    assert formulas.chord(curve, 3.4) >= curve(3.4)
    assert formulas.chord(curve, 3.0) == pytest.approx(curve(3.0))
    assert formulas.chord(curve, 1.2) == curve(2)
