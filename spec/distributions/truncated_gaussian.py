"""The normal distribution truncated to a half-width T about its mean, and divergences of shifted copies.

N_T(mu, s^2) has the normal density, divided by Phi(T/s) - Phi(-T/s), on [mu - T, mu + T] and nothing outside (Cesar
and Rogers 2020, Section 6.2). Lengths are in noise scales: `half_width` is T/s and `shift` is |mu - mu'|/s. Compared
are P = N_T(shift) and Q = N_T(0); the other order follows by reflection.
"""

from flint import arb

from dpassay.spec.ball import Exact, ball, exact, normal_cdf

__all__ = [
    "conditional_renyi_divergence",
    "interval_mass",
    "overlap_probability",
    "singular_mass",
    "truncated_hockey_stick",
    "truncated_upper_tail",
]


def interval_mass(low: arb, high: arb) -> arb:
    """Enclose Phi(high) - Phi(low) for low <= high, by the smaller tails."""
    if low > 0:
        return normal_cdf(-low) - normal_cdf(-high)
    return normal_cdf(high) - normal_cdf(low)


def _normaliser(half_width: arb) -> arb:
    return interval_mass(-half_width, half_width)


def truncated_upper_tail(position: Exact | arb, half_width: Exact | arb) -> arb:
    """Enclose the probability that N_T(0, 1) exceeds `position`, for positions in [-T, T]."""
    t = ball(half_width)
    return interval_mass(ball(position), t) / _normaliser(t)


def singular_mass(half_width: Exact | arb, shift: Exact | arb) -> arb:
    """Enclose the P-mass outside the support of Q: Pr[N_T(0,1) > T - shift], 0 <= shift <= 2 T.

    It is (Phi(T) - Phi(T - shift))/(2 Phi(T) - 1), in noise scales: what eq (10) sets to delta/Delta.
    """
    t, m = ball(half_width), ball(shift)
    return interval_mass(t - m, t) / _normaliser(t)


def overlap_probability(half_width: Exact | arb, shift: Exact | arb) -> arb:
    """Enclose Pr[E] for E = "the value lies in both supports": (Phi(T) - Phi(shift - T))/(Phi(T) - Phi(-T))."""
    t, m = ball(half_width), ball(shift)
    return interval_mass(m - t, t) / _normaliser(t)


def conditional_renyi_divergence(alpha: Exact | arb, half_width: Exact | arb, shift: Exact | arb) -> arb:
    """Enclose D_alpha(P|E || Q|E) for shift < 2 T, equal in both orders by reflection.

    With m the shift, (alpha - 1) D_alpha = alpha (alpha - 1) m^2/2 + log(mass of [m - T, T] under N(alpha m, 1) over
    its mass under N(0, 1)): on the overlap both normalisers are the same, and p^alpha q^(1-alpha) is a normal density
    about alpha m times the first factor.
    """
    order, t, m = ball(alpha), ball(half_width), ball(shift)
    moved = interval_mass(m - t - order * m, t - order * m)
    if t - order * m < 0:  # both ends on the left: by the small tails
        moved = interval_mass(order * m - t, order * m - m + t)
    return order * m**2 / 2 + (moved / interval_mass(m - t, t)).log() / (order - 1)


def truncated_hockey_stick(half_width: Exact, shift: Exact, epsilon: arb) -> arb:
    """Enclose the least delta of P against Q at epsilon.

    The loss of x is infinite on (T, m + T], where Q has nothing, and m x - m^2/2 on the overlap: the best event is
    x > max(m - T, epsilon/m + m/2), cut at T.
    """
    t, m = exact("half_width", half_width), exact("shift", shift)
    left_out = singular_mass(t, m)
    if m >= 2 * t:
        return arb(1)
    threshold = (epsilon / ball(m) + ball(m) / 2).max(ball(m - t)).min(ball(t))
    own = interval_mass(threshold - ball(m), ball(t - m))
    other = interval_mass(threshold, ball(t))
    return left_out + ((own - epsilon.exp() * other) / _normaliser(ball(t))).max(arb(0))
