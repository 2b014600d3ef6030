"""Bounds on the quantities of a claim, and their one text form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

__all__ = ["Bound", "bounds_of_record", "bounds_text"]


@dataclass(frozen=True)
class Bound:
    """What is known of one quantity.

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


def bounds_of_record(record: Mapping[str, Any]) -> tuple[Bound, ...]:
    """Return the bounds of a JSON record of a hunt; those of a record without `bounds` come from its single fields."""
    if record.get("bounds"):
        names = [each.name for each in fields(Bound)]
        return tuple(Bound(*[_number(bound.get(name)) for name in names]) for bound in record["bounds"])
    lower = {name: _number(record.get(f"{name}_lower")) for name in ("epsilon", "delta", "rho", "renyi_epsilon")}
    uppers = {"epsilon": _number(record.get("epsilon_upper"))}
    return tuple(Bound(name, value, uppers.get(name), None, name.replace("_", " ")) for name, value in lower.items())


def _number(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf") else value
