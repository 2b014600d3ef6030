"""Integrals of products of normal distribution functions, where a closed form is known."""

import itertools

import mpmath as mp
import numpy as np

from dpassay.impl.accounting.gaussian_products import SAFETY, Factor, lifted_loss

POINTS = list(itertools.product((-20.0, -5.0, -1.0, 0.0, 2.0, 6.0), (0.0, 0.25, 1.0, 8.0), (2.0**-20, 0.125, 3.0)))


def loss_of_one_factor(offset: float, slope: float, lift: float) -> mp.mpf:
    """E Phi(a + b x) is Phi(a/sqrt(1 + b^2)); return the logarithm of its quotient with and without the lift."""
    width = mp.sqrt(1 + mp.mpf(slope) ** 2)
    with mp.workdps(60):
        return mp.log(mp.ncdf((offset + mp.mpf(lift)) / width)) - mp.log(mp.ncdf(offset / width))


def test_the_loss_exceeds_the_truth_by_the_safety_that_is_stated() -> None:
    """The quadrature is a thousand times better than the margin, so that the excess is the margin in three digits."""
    offset, slope, lift = (np.array(each) for each in zip(*POINTS, strict=True))
    found = lifted_loss(Factor(np.ones(len(POINTS)), offset, slope, lift))
    excess = [float(mp.mpf(float(x)) / loss_of_one_factor(*point) - 1) for x, point in zip(found, POINTS, strict=True)]
    assert min(excess) > SAFETY * (1 - 1e-3)
    assert max(excess) < SAFETY * (1 + 1e-3)
