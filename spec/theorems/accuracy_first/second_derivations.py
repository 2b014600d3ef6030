"""Values of the chapter's bounds by a second derivation, for pins."""

from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball
from dpassay.spec.theorems.gaussian_selection.second_derivations import gaussian_excess

__all__ = ["converted_delta", "loss_level", "mixture_level"]


def converted_delta(rho: Fraction, slack: Fraction) -> arb:
    """Enclose the delta of a Gaussian pair that is rho-zCDP at rho + 2 sqrt(rho L), L = log(1/slack).

    By adaptive integration, at (sqrt(rho) + sqrt(L))^2 - L.
    """
    root, log_inverse = ball(rho).sqrt(), -ball(slack).log()
    return gaussian_excess((2 * ball(rho)).sqrt(), (root + log_inverse.sqrt()) ** 2 - log_inverse)


def mixture_level(v: Fraction, g: Fraction, d: Fraction) -> arb:
    """Enclose the s at which the mean of e^(l s - l^2 v/2) over l ~ N(0, 1/g) is 1/d.

    That mean is sqrt(g/(v + g)) e^(s^2/(2 (v + g))).
    """
    total = ball(v + g)
    return (total * (total / (ball(g) * ball(d) ** 2)).log()).sqrt()


def loss_level(v: Fraction, g: Fraction, d: Fraction) -> arb:
    """Enclose the loss at which the mixture reaches 1/d, its drift v/2 included."""
    return mixture_level(v, g, d) + ball(v) / 2
