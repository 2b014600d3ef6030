"""The functions of the log domain agree with those of scipy."""

import numpy as np
import pytest
from scipy import special

from dpassay.properties import log_domain

X = np.concatenate([np.geomspace(1e-3, 1e12, 4001), np.linspace(0.01, 40, 2001)])
Y = np.linspace(-700, 700, 4001)


def test_log_gamma() -> None:
    error = np.abs(log_domain.log_gamma(X) - special.gammaln(X)) / np.maximum(1, np.abs(special.gammaln(X)))
    assert error.max() < 1e-13


def test_logistic_functions() -> None:
    np.testing.assert_allclose(log_domain.expit(Y), special.expit(Y), rtol=1e-14)
    np.testing.assert_allclose(log_domain.log_expit(Y), special.log_expit(Y), rtol=1e-14)
    np.testing.assert_allclose(log_domain.logit([1e-9, 0.5, 0.75]), special.logit([1e-9, 0.5, 0.75]), rtol=1e-14)
    assert log_domain.expit(np.float32(2.0)).dtype == np.float32
    np.testing.assert_allclose(log_domain.expit([-1e4, 1e4]), [0, 1])


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_sums(axis: int | None) -> None:
    values = np.array([[-np.inf, -np.inf, 3.0], [-np.inf, 800.0, -900.0]])
    factors = np.array([[1.0, 2.0, 0.0], [0.5, 1.0, 4.0]])
    for b in (1.0, factors):
        expected = special.logsumexp(values, axis=axis, b=b)
        np.testing.assert_allclose(log_domain.logsumexp(values, axis=axis, b=b), expected, rtol=1e-14)


def test_xlogy() -> None:
    assert log_domain.xlogy([0.0, 2.0], [0.0, np.e]).tolist() == [0.0, 2.0]
