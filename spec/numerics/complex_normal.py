"""The normal survival function on complex balls, for the quadrature of Arb.

For Re z > 0, S(z) = e^(z^2/2) Phi(-z) is the Laplace transform of the normal density on the positive axis,
S(z) = integral of e^(-z t) phi(t) over t > 0. Hence |S'(z)| <= -S'(Re z) = phi(0) - Re z S(Re z), which encloses S on
a ball by its value at the centre far more narrowly than ball arithmetic through erfc does.
"""

from flint import acb, arb

from dpassay.spec.ball import FAR, normal_cdf, scaled_normal_sf

__all__ = ["log_complex_normal_sf", "log_complex_normal_sf_fall"]


def log_complex_normal_sf(z: acb, analytic: bool) -> acb:
    """Enclose log Phi(-z), the continuation of `log_normal_sf` from the real line.

    Parameters
    ----------
    z : acb
        A complex ball. Phi has zeros away from the real line; a ball that meets one, or the cut of the logarithm,
        gives an indeterminate value if `analytic` is set.
    analytic : bool
        Whether the result must be analytic on the ball, as Arb's quadrature asks.

    Returns
    -------
    acb
        An enclosure.
    """
    if z.real.mid() > 0:
        return _scaled_sf(z).log(analytic=analytic) - z * z / 2
    return (1 - (-z * z / 2).exp() * _scaled_sf(-z)).log(analytic=analytic)


def log_complex_normal_sf_fall(z: acb, step: arb, analytic: bool) -> acb:
    """Enclose log Phi(-z) - log Phi(-z - step) for a step that is not negative; the squares cancel on the right."""
    if z.real.mid() > 0:
        scaled = _scaled_sf(z).log(analytic=analytic) - _scaled_sf(z + step).log(analytic=analytic)
        return scaled + step * (z + step / 2)
    return log_complex_normal_sf(z, analytic) - log_complex_normal_sf(z + step, analytic)


def _scaled_sf(z: acb) -> acb:
    """Enclose e^(z^2/2) Phi(-z) on a ball with a centre in the right half-plane."""
    centre, radius = acb(z.real.mid(), z.imag.mid()), (arb(z.real.rad()) ** 2 + arb(z.imag.rad()) ** 2).sqrt()
    value = _scaled_sf_at(centre)
    if radius == 0:
        return value
    leftmost = arb((centre.real - radius).lower())
    steepest = 1 / (2 * arb.pi()).sqrt() - leftmost * _real_scaled_sf(leftmost)
    error = arb(0, (steepest * radius).abs_upper())
    return value + acb(error, error)


def _scaled_sf_at(z: acb) -> acb:
    if abs(z) > FAR:
        return (z * z / 2).hypgeom_u(acb(1) / 2, acb(1) / 2) / (2 * arb.pi().sqrt())
    return (z * z / 2).exp() * (z / arb(2).sqrt()).erfc() / 2


def _real_scaled_sf(x: arb) -> arb:
    return scaled_normal_sf(x) if x > FAR else (x * x / 2).exp() * normal_cdf(-x)
