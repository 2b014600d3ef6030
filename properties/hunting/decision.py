"""The decision by the traced code of a target, as a value; the module that decides takes a while to import."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dpassay.properties.hunting.verdicts import HuntVerdict

if TYPE_CHECKING:
    from dpassay.properties.hunting.white_box import WhiteBoxResult

__all__ = ["TRACE_SECONDS", "Decision"]

TRACE_SECONDS = 5.0
"""Time that the exact decision may take before a hunt samples."""


@dataclass(frozen=True)
class Decision:
    """The decision by the traced code.

    Parameters
    ----------
    verdict : HuntVerdict or None
        `HOLDS` for all inputs of the length, `VIOLATED` at the witness of the finding; None: undecided.
    finding : WhiteBoxResult or None
        The worst pair that was found, with certified figures.
    epsilon_upper : float or None
        Bound on epsilon (the range of the losses for bounded range) for all inputs of the length.
    certificate : dict or None
        The alignments that prove it, where a single alignment for each leaf and move does.
    reason : str or None
        Why the code was not traced, or the claim was not decided.
    notes : tuple of str
        What a user should know of the target.
    uppers : Mapping of str to float
        Bounds on other quantities of the claim for all inputs of the length, by name: mu, rho, ...
    low_bits_open : bool
        Whether the numbers that are released may hold noise in their low-order bits: then a proof in real arithmetic
        says nothing of these.
    float64 : WhiteBoxResult or None
        A pair at which floats violate the claim, and exact arithmetic on the same data does not.
    leaves_marks : bool
        Whether the target keeps something of the trace that could not be removed.
    """

    verdict: HuntVerdict | None = None
    finding: "WhiteBoxResult | None" = None
    epsilon_upper: float | None = None
    certificate: Mapping[str, Any] | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    uppers: Mapping[str, float] = field(default_factory=dict)
    low_bits_open: bool = False
    float64: "WhiteBoxResult | None" = None
    leaves_marks: bool = False
