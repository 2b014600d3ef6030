"""Bounds on the quantities of a claim, and their one text form."""

import decimal
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpassay.properties.contract import HuntRecord

__all__ = ["Bound", "bounds_of_record", "bounds_text", "interval_words", "words_above", "words_below"]

_DIGITS = 10
"""Significant digits of a bound in the output; JSON has all."""

_NEARLY = 1e-12
"""A number that lies so close to a short one, relatively, is written out: 1.0000000000000002, not 1.000000001."""


@dataclass(frozen=True)
class Bound:
    """The bounds of one quantity.

    Parameters
    ----------
    quantity : {"epsilon", "delta", "rho", "renyi_epsilon", ...}
        The key of the quantity; ``<quantity>_lower`` is a key of the JSON record for the first four.
    lower, upper : float or None
        Bounds on the true value; None where nothing is known.
    allowed : float or None
        The largest value that the claim allows; None where the claim states none.
    label : str
        The quantity in the words of the field.
    """

    quantity: str
    lower: float | None
    upper: float | None
    allowed: float | None
    label: str

    def __str__(self) -> str:
        name = self.quantity.replace("_", " ")
        explained = "" if self.label == name else f" ({self.label})"
        return ", ".join([f"{name} {end}" for end in self._ends()]) + explained

    def _ends(self) -> list[str]:
        lower = [] if self.lower is None else [f">= {words_below(self.lower)}"]
        return lower + ([] if self.upper is None else [f"<= {words_above(self.upper)}"])


def bounds_text(bounds: Iterable[Bound]) -> str:
    """Return bounds as every output shows them; those of which nothing is known are left out.

    Examples
    --------
    >>> bounds_text([Bound("epsilon", 0.5, 1.0, 1.0, "privacy loss"), Bound("rho", 0.125, None, 0.1, "rho")])
    'epsilon >= 0.5, epsilon <= 1 (privacy loss); rho >= 0.125'
    """
    known = (bound for bound in bounds if bound.lower is not None or bound.upper is not None)
    return "; ".join(map(str, known))


def bounds_of_record(record: HuntRecord) -> tuple[Bound, ...]:
    """Return the bounds of the record of a hunt; those of a record without `bounds` come from its single fields."""
    if record.bounds:
        return tuple(
            Bound(each.quantity, _number(each.lower), _number(each.upper), _number(each.allowed), each.label)
            for each in record.bounds
        )
    names = ("epsilon", "delta", "rho", "renyi_epsilon")
    lower = {name: _number(getattr(record, f"{name}_lower")) for name in names}
    uppers = {"epsilon": _number(record.epsilon_upper)}
    return tuple(Bound(name, value, uppers.get(name), None, name.replace("_", " ")) for name, value in lower.items())


def _number(value: float | str | None) -> float | None:
    return None if value is None else float(value)


def interval_words(interval: Sequence[float], digits: int = 6) -> str:
    """Return an interval in a few digits, rounded outward.

    Examples
    --------
    >>> interval_words((0.2560178, 0.2560179))
    '[0.256017, 0.256018]'
    """
    low, high = interval
    return f"[{words_below(low, digits)}, {words_above(high, digits)}]"


def words_below(value: float, digits: int = _DIGITS) -> str:
    """Return a lower bound in a few digits, rounded down.

    Examples
    --------
    >>> words_below(0.6201145069580544), words_below(0.5)
    ('0.6201145069', '0.5')
    """
    return _rounded(value, digits, decimal.ROUND_FLOOR)


def words_above(value: float, digits: int = _DIGITS) -> str:
    """Return an upper bound in a few digits, rounded up.

    Examples
    --------
    >>> words_above(1.3333333333333335), words_above(1.0000000000000002), words_above(float("inf"))
    ('1.333333334', '1.0000000000000002', 'inf')
    """
    return _rounded(value, digits, decimal.ROUND_CEILING)


def _rounded(value: float, digits: int, rounding: str) -> str:
    nearest = f"{value:.{digits}g}"
    if not math.isfinite(value):
        return nearest
    exact = decimal.Decimal(value)
    outward = decimal.Context(prec=digits, rounding=rounding).create_decimal(exact)
    if decimal.Decimal(nearest) in {exact, outward}:
        return nearest
    return repr(value) if abs(float(nearest) - value) <= _NEARLY * abs(value) else f"{float(outward):.{digits}g}"
