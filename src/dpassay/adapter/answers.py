"""Functions of accountants, calibrators and converters, each of which answers a question."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dpassay.adapter.numbers import require_finite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Answer"]


@dataclass(frozen=True)
class Answer:
    """A function of an accountant, calibrator or converter that answers a question with a certified value.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``RdpAccountant.get_epsilon``.
    question : str
        Name of the question; `help(dpassay.adapter)` lists the questions and their arguments.
    compute : callable
        Takes the arguments of the question by name and returns a number. An exception of the library is a refusal.
        One that the adapter's own lines raise, except `Refused`, means that the library was not asked.
    domain : mapping
        Documented bounds of arguments: name to (low, high), both included. Questions outside are not asked.
    claims_exact : bool
        Whether the library documents its number as exact up to rounding, and not as a bound.
    relative_error, absolute_error : float
        Documented or requested error of the number.
    delta_error : float
        For a number that is found at a delta, but is not one: absolute error of that delta inside the library, such as
        the rounding of fast Fourier transforms. The number may be the one of a delta larger by as much.
    looseness : float
        Documented absolute distance of the bound from the true value, on the safe side; within it, answers need not
        be monotone.
    certainty : str
        ``upper`` if the library promises never to understate (default), ``estimate`` if it may.
    notes : str
        Remarks for readers.
    account : str, optional
        Name of the accounting method. Answers of one account must be consistent; bounds of different methods, or on
        different grids, need not be. By default the name without the question and the mechanism:
        ``PLD, gaussian, epsilon`` and ``PLD, laplace, delta`` belong to one account.
    splits : bool
        Whether `compute` accepts a tuple as its `count`: the repetitions of the parts, composed one after the other.
    calls : int, optional
        Maximum number of questions of a law, for slow searches.
    refused_by : tuple of str
        As for `Nonsense`.

    Examples
    --------
    >>> def basic_composition(epsilon, count):
    ...     return epsilon * count
    >>> case = Answer(
    ...     "basic_composition",
    ...     "pure_composition_epsilon",
    ...     lambda epsilon0, count, delta: basic_composition(epsilon0, count),
    ... )
    >>> case.compute(epsilon0=0.5, count=3, delta=1e-6)
    1.5
    """

    name: str
    question: str
    compute: Callable[..., Any]
    domain: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    claims_exact: bool = False
    relative_error: float = 0.0
    absolute_error: float = 0.0
    delta_error: float = 0.0
    looseness: float = 0.0
    certainty: str = "upper"
    notes: str = ""
    account: str | None = None
    splits: bool = False
    calls: int | None = None
    refused_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.certainty not in {"upper", "estimate"}:
            raise ValueError(f"{self.name}: certainty must be 'upper' or 'estimate', got {self.certainty!r}")
        for what in ("relative_error", "absolute_error", "delta_error", "looseness"):
            require_finite(self.name, what, getattr(self, what))
        if self.claims_exact and self.delta_error:
            raise ValueError(
                f"{self.name}: a number that is exact has a delta_error of 0, got {self.delta_error!r}; "
                "state claims_exact=False, or a relative_error"
            )
        if self.calls is not None and self.calls < 1:
            raise ValueError(f"{self.name}: calls must be at least 1, got {self.calls!r}")

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent process reads."""
        return {
            "kind": "answer",
            "name": self.name,
            "question": self.question,
            "domain": {name: list(bounds) for name, bounds in self.domain.items()},
            "claims_exact": self.claims_exact,
            "relative_error": self.relative_error,
            "absolute_error": self.absolute_error,
            "delta_error": self.delta_error,
            "looseness": self.looseness,
            "certainty": self.certainty,
            "notes": self.notes,
            "account": _account_named(self.name, self.question) if self.account is None else self.account,
            "splits": self.splits,
            "calls": self.calls,
        }


def _account_named(name: str, question: str) -> str:
    """Return a name without the words of its question: `PLD, laplace, delta` belongs to the account `PLD`."""
    stem, _, asked = question.rpartition("_")
    rest = " ".join(word for word in re.split(r"[\s,_]+", name) if word not in {"", asked})
    account = " ".join(rest.replace(stem.replace("_", " "), " ").split()) if stem else rest
    return account or rest
