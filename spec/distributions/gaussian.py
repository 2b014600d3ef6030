"""Two normal distributions with the same standard deviation: their divergences in closed form.

N(mu, sigma^2) against N(mu', sigma^2) depends on ``shift = |mu - mu'| / sigma`` alone, and so do two spherical
normal distributions in any dimension, with the Euclidean distance of their means. The privacy loss of the pair
is itself normal, with mean shift^2 / 2 and variance shift^2, and all divergences are read off from that.

References
----------
Balle and Wang 2018, Thm 8 (hockey-stick); Mironov 2017, Prop. 7 (Renyi).
"""

from fractions import Fraction

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import FAR, Exact, ball, exact, normal_cdf, normal_quantile, scaled_normal_sf

__all__ = [
    "gaussian_hockey_stick",
    "gaussian_loss_tail",
    "gaussian_probabilistic_epsilon",
    "gaussian_renyi_divergence",
    "gaussian_shift",
]


def gaussian_shift(mean: Exact, other_mean: Exact, sigma: Exact) -> Fraction:
    """Return |mean - other_mean| / sigma, which determines all divergences.

    Raises
    ------
    UsageError
        If an argument is not a finite number or sigma is not positive.
    """
    scale = exact("sigma", sigma)
    if scale <= 0:
        raise UsageError(f"sigma must be positive, got {sigma!r}")
    return abs(exact("mean", mean) - exact("other_mean", other_mean)) / scale


def gaussian_hockey_stick(shift: Exact | arb, epsilon: Exact | arb) -> arb:
    """Enclose the least delta: Phi(m/2 - epsilon/m) - e^epsilon Phi(-m/2 - epsilon/m), m the shift.

    Parameters
    ----------
    shift : exact number or arb
        At least 0; at 0 the two distributions are one.
    epsilon : exact number or arb
        Any real, nats. (Lebensold, Precup and Balle 2024, GM'; Cesar and Rogers 2020, Lemma 6.1, ask for
        epsilon > 0.)

    Returns
    -------
    arb
        Relative radius about 2^(c - p) at precision p, with c <= 40 bits lost where delta is about 1e-92; the
        two terms have relative accuracy in both tails and their difference loses no more than their quotient's
        distance from 1.
    """
    m, level = _shift(shift), ball(epsilon)
    if m == 0:
        return (1 - level.exp()).max(arb(0))
    near, beyond = level / m - m / 2, level / m + m / 2
    if near > FAR:  # both densities at the end of the best half-line: e^epsilon phi(beyond) = phi(near)
        return (-near * near / 2).exp() * (scaled_normal_sf(near) - scaled_normal_sf(beyond))
    return normal_cdf(-near) - level.exp() * normal_cdf(-beyond)


def gaussian_loss_tail(shift: Exact, epsilon: Exact | arb) -> arb:
    """Enclose the probability that the privacy loss exceeds epsilon, strictly: Phi(m/2 - epsilon/m).

    At shift 0 the loss is the constant 0: the tail is 1 for epsilon < 0 and 0 for epsilon >= 0.
    """
    m, level = _shift(shift), ball(epsilon)
    if m == 0:
        return arb(0) if level >= 0 else (arb(1) if level < 0 else arb(0).union(arb(1)))
    return normal_cdf(m / 2 - level / m)


def gaussian_probabilistic_epsilon(shift: Exact, delta: Exact) -> arb:
    """Enclose the epsilon at which the loss tail is delta: m^2/2 - m Phi^-1(delta); negative for delta near 1.

    Raises
    ------
    UsageError
        If delta is not in (0, 1).
    """
    m, tail = _shift(shift), exact("delta", delta)
    if not 0 < tail < 1:
        raise UsageError(f"delta must lie strictly between 0 and 1, got {delta!r}")
    return m * m / 2 - m * normal_quantile(ball(tail))


def gaussian_renyi_divergence(shift: Exact, alpha: Exact | arb) -> arb:
    """Enclose the Renyi divergence of order alpha: alpha m^2 / 2, equal in both orders."""
    m = _shift(shift)
    return ball(alpha) * m * m / 2


def _shift(shift: Exact | arb) -> arb:
    value = shift if isinstance(shift, arb) else ball(exact("shift", shift))
    if not value >= 0:
        raise UsageError(f"shift must be at least 0, got {shift!r}")
    return value
