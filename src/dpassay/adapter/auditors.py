"""Auditors: lower bounds on epsilon from the scores of an attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpassay.adapter.numbers import require_finite

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SCORES", "Auditor"]

SCORES = ("equal", "tied", "response", "revealing response", "laplace", "gaussian")
"""Families of scores on which an `Auditor` can be asked; their losses are known."""


@dataclass(frozen=True)
class Auditor:
    """A lower bound on epsilon that an auditor computes from the scores of members and of non-members.

    It is asked on scores of known loss. The bound may exceed the true epsilon at most as often as `significance` says,
    and it must have power: on scores that tell members well it must not stay near 0. The scores of the families, of a
    member and of another record, are

    - ``equal``: standard normal for both, and ``tied``: one of four numbers for both, so that epsilon is 0;
    - ``response``: randomised response (1 or 0); ``revealing response``: the same, but with probability delta the
      score tells which of the two it is (2 or -1);
    - ``laplace`` and ``gaussian``: noise around 1 and 0; the epsilon of the latter exists for a positive delta.

    Scores above 1/2 are more probable for members. Numpy is needed in the interpreter of the library.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``epsilon_clopper_pearson``.
    bound : callable
        ``bound(members, others, significance, delta)`` returns the bound; the scores are numpy arrays. An exception of
        the library is a refusal to state a bound.
    sizes : tuple
        Numbers of scores, as pairs (members, others) of independent records; or, of an auditor in one run, as
        integers: the number of canaries, each of which is a member with probability 1/2.
    significances : tuple of float
        Allowed probabilities of failure at which the auditor is asked.
    deltas : tuple of float
        The deltas at which it is asked; 0 for pure differential privacy.
    scores : tuple of str
        The families of `SCORES` for which the documentation promises the bound: `equal`, `tied` and `gaussian` for
        one that assumes Gaussian noise.
    attains : float
        Part of the bound of Clopper and Pearson at the threshold 1/2, both error rates with half the significance,
        that the auditor is expected to reach at least half of the times.
    absolute_error : float
        Documented or requested error of the bound.
    excess : float
        The smallest ratio of the probability of failure to the significance that the test must notice, greater than 1;
        a small one takes many audits.
    notes : str
        Remarks for readers.

    Examples
    --------
    >>> def confident(members, others, significance, delta):
    ...     return 0.0
    >>> Auditor("nothing", confident, sizes=((100, 100),)).describe()["design"]
    'independent'
    """

    name: str
    bound: Callable[..., Any]
    sizes: tuple[int | tuple[int, int], ...]
    significances: tuple[float, ...] = (0.05,)
    deltas: tuple[float, ...] = (0.0,)
    scores: tuple[str, ...] = SCORES
    attains: float = 0.5
    absolute_error: float = 0.0
    excess: float = 4.0
    notes: str = ""

    def __post_init__(self) -> None:
        counts = [count for size in self.sizes for count in (size if isinstance(size, tuple) else (size,))]
        if not counts or len({isinstance(size, tuple) for size in self.sizes}) > 1 or min(counts) < 1:
            raise ValueError(f"{self.name}: sizes must be pairs of counts, or counts, got {self.sizes!r}")
        if not self.significances or not all(0 < one < 1 for one in self.significances):
            raise ValueError(f"{self.name}: significances must lie between 0 and 1, got {self.significances!r}")
        if not self.deltas or not all(0 <= delta < 1 for delta in self.deltas):
            raise ValueError(f"{self.name}: deltas must lie in [0, 1), got {self.deltas!r}")
        strangers = [name for name in self.scores if name not in SCORES]
        if strangers or not self.scores:
            raise ValueError(f"{self.name}: scores must be among {', '.join(SCORES)}, got {strangers or 'none'}")
        for what in ("attains", "absolute_error"):
            require_finite(self.name, what, getattr(self, what))
        if not 1 < self.excess < float("inf"):
            raise ValueError(f"{self.name}: excess must be a finite number above 1, got {self.excess!r}")

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent process reads."""
        pairs = isinstance(self.sizes[0], tuple)
        return {
            "kind": "auditor",
            "name": self.name,
            "design": "independent" if pairs else "coins",
            "sizes": [list(size) if isinstance(size, tuple) else [size] for size in self.sizes],
            "significances": list(self.significances),
            "deltas": list(self.deltas),
            "scores": list(self.scores),
            "attains": self.attains,
            "absolute_error": self.absolute_error,
            "excess": self.excess,
            "notes": self.notes,
        }
