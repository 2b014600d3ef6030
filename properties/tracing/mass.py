"""Upper bounds on the probability that independent noises lie in given intervals."""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

from flint import arb

from dpassay.properties.tracing.forms import Row
from dpassay.spec.ball import ball, float_upper, normal_cdf
from dpassay.spec.leaves.model import NoiseKind

__all__ = ["interval_upper", "intervals", "mass_upper"]

Interval = tuple[Fraction | None, Fraction | None]
"""Lower and upper end; None: unbounded."""


def intervals(rows: Iterable[Row]) -> dict[int, Interval]:
    """Return the interval to which the rows with a single variable confine it."""
    found: dict[int, Interval] = {}
    for (constant, terms), _ in rows:
        if len(terms) != 1:
            continue
        [(key, factor)] = terms.items()
        end, (low, high) = -constant / factor, found.get(key, (None, None))
        if factor > 0:
            found[key] = (end if low is None else max(low, end)), high
        else:
            found[key] = low, (end if high is None else min(high, end))
    return found


def mass_upper(rows: Iterable[Row], kinds: Mapping[int, NoiseKind]) -> Fraction:
    """Return an upper bound on the probability of the rows.

    Parameters
    ----------
    rows : iterable of Row
        Constraints; those with more than one variable are disregarded.
    kinds : mapping of int to NoiseKind
        Distribution of each noise; a variable that is not in it belongs to the data, and is disregarded.
    """
    bound = Fraction(1)
    for key, interval in intervals(rows).items():
        if key in kinds:
            bound *= interval_upper(kinds[key], interval)
    return bound


@lru_cache(4096)
def interval_upper(kind: NoiseKind, interval: Interval) -> Fraction:
    """Return an upper bound on the probability that a standard noise lies in an interval."""
    low, high = interval
    if kind is NoiseKind.GEOMETRIC:
        return Fraction(1)  # its ratio is not known here
    if low is not None and high is not None and high <= low:
        return Fraction(0)
    if kind is NoiseKind.UNIFORM:
        begin = max(Fraction(0), low or Fraction(0))
        end = Fraction(1) if high is None else min(high, Fraction(1))
        return max(Fraction(0), end - begin)
    if low is not None and low > 0 and kind in {NoiseKind.LAPLACE, NoiseKind.NORMAL, NoiseKind.LOGISTIC}:
        return _interval_upper(kind, None if high is None else -high, -low)  # the lower tail loses no digits
    return _interval_upper(kind, low, high)


def _interval_upper(kind: NoiseKind, low: Fraction | None, high: Fraction | None) -> Fraction:
    above = arb(0) if low is None else _cdf(kind, low)
    below = arb(1) if high is None else _cdf(kind, high)
    upper = float_upper(below - above)
    return Fraction(min(1.0, max(0.0, upper))) if math.isfinite(upper) else Fraction(1)


def _cdf(kind: NoiseKind, end: Fraction) -> arb:
    z = ball(end)
    match kind:
        case NoiseKind.LAPLACE:
            return z.exp() / 2 if end <= 0 else 1 - (-z).exp() / 2
        case NoiseKind.NORMAL:
            return normal_cdf(z)
        case NoiseKind.EXPONENTIAL:
            return arb(0) if end <= 0 else -(-z).expm1()
        case NoiseKind.LOGISTIC:
            return 1 / (1 + (-z).exp())
        case NoiseKind.GUMBEL:
            return (-(-z).exp()).exp()
        case NoiseKind.UNIFORM:
            return ball(min(max(end, Fraction(0)), Fraction(1)))
        case NoiseKind.GEOMETRIC:
            raise AssertionError("geometric noise has a ratio")
