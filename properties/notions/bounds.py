"""Bounds on the quantities of a claim, and their one text form."""

from collections.abc import Iterable
from dataclasses import dataclass

from dpassay.properties.contract import HuntRecord

__all__ = ["Bound", "bounds_of_record", "bounds_text"]


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
        lower = [] if self.lower is None else [f">= {self.lower:.10g}"]
        return lower + ([] if self.upper is None else [f"<= {self.upper:.10g}"])


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
