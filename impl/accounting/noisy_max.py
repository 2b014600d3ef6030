"""The exact pure-DP parameter of Gaussian report-noisy-max over queries with a bounded range."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError
from dpassay.impl.accounting.gaussian_products import LARGEST_RATIO, Factor, lifted_loss, rounded_up
from dpassay.impl.accounting.gaussian_tails import log_cdf_gain
from dpassay.impl.validation import broadcast, real_array

__all__ = ["gaussian_noisy_max_epsilon"]


def gaussian_noisy_max_epsilon(
    size: ArrayLike, sigma: ArrayLike, width: ArrayLike, sensitivity: ArrayLike
) -> NDArray[np.float64]:
    r"""Return the smallest epsilon for which Gaussian report-noisy-max is epsilon-DP, rounded up.

    The worst pair lets one candidate lead the last place by less: its value is lower + Delta on one side and
    lower on the other, that of all others upper - Delta and upper. Here the race is seen from the field: with M
    the maximum of the n = size - 1 other noises, the last candidate wins with probability

        P(g) = E[Phi(-M - g)] = int n phi(m) Phi(m)^(n-1) Phi(-m - g) dm

    against a gap of g standard deviations, and epsilon = log P((width - 2 Delta)/sigma) - log P(width/sigma).

    Parameters
    ----------
    size : array_like of int
        Number of queries, at least 1 (a single candidate is always chosen: epsilon 0).
    sigma : array_like
        Standard deviation of the noise added to each query, positive and at least width / 2^20.
    width : array_like
        Length of the interval that all queries lie in, at least 0.
    sensitivity : array_like
        Largest change of each query between neighbours, at least 0; more than `width` counts as `width`.

    Returns
    -------
    ndarray
        epsilon in nats, of the broadcast shape; never below the truth, and above it by less than 1e-9 of itself
        for width/sigma up to 10^3.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Notes
    -----
    Lebensold, Precup and Balle 2024, Thm 8 = Thm 12, with the logarithm that the statement lacks and with the
    sensitivity capped at the width, which makes the bound attained for every sensitivity. The printed form
    averages Phi(z - g)^n over the noise of the candidate instead; the two are one integration by parts apart.

    Examples
    --------
    >>> round(float(gaussian_noisy_max_epsilon(5, 1, 1, 0.2)), 6)
    0.652465
    """
    sizes, sigmas, widths, steps = broadcast(
        size=real_array("size", size, low=1, integer=True),
        sigma=real_array("sigma", sigma, low=0, strict=True),
        width=real_array("width", width, low=0),
        sensitivity=real_array("sensitivity", sensitivity, low=0),
    )
    if bool(np.any(widths > LARGEST_RATIO * sigmas)):
        raise UsageError(f"sigma must be at least width / 2^20, got sigma={sigma!r} and width={width!r}")
    gap = (widths / sigmas).ravel()
    lift = (2 * np.minimum(steps, widths) / sigmas).ravel()
    others = sizes.ravel() - 1
    epsilon = np.zeros(gap.shape)
    pair = (others == 1) & (lift > 0)
    epsilon[pair] = rounded_up(_two_candidates(gap[pair], lift[pair]))
    field = (others > 1) & (lift > 0)
    epsilon[field] = _many_candidates(others[field], gap[field], lift[field])
    return epsilon.reshape(sizes.shape)


def _two_candidates(gap: NDArray[np.float64], lift: NDArray[np.float64]) -> NDArray[np.float64]:
    # The difference of the two noises is normal: a closed form.
    return np.exp(log_cdf_gain(-gap * math.sqrt(0.5), lift * math.sqrt(0.5)))


def _many_candidates(
    others: NDArray[np.float64], gap: NDArray[np.float64], lift: NDArray[np.float64]
) -> NDArray[np.float64]:
    ones = np.ones_like(gap)
    field = Factor(power=others - 1, offset=0 * ones, slope=ones)
    candidate = Factor(power=ones, offset=-gap, slope=-ones, lift=lift)
    return lifted_loss(field, candidate)
