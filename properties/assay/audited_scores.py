"""Scores of known loss on which auditors are asked: the true epsilon, and the bound that a simple audit reaches."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from dpassay.arguments import UsageError
from dpassay.properties.assay.composition_reference_values import response_epsilon
from dpassay.properties.assay.enclosures import Truth
from dpassay.properties.assay.noise_reference_values import gaussian_epsilon, laplace_epsilon
from dpassay.properties.betting.intervals import clopper_pearson

__all__ = ["Scores", "scores_of", "telling_scores_of"]

_PARAMETERS = {
    "equal": 0.0,
    "tied": 0.0,
    "response": 1.3,
    "revealing response": 0.4,
    "laplace": 0.7,
    "gaussian": 1.2,
}
"""Parameters at which the confidence of a bound is tested; none is 1."""

_TELLING = {"response": 3.0, "laplace": 5.0, "gaussian": 3.5}
"""Parameters at which scores tell members well, the preferred family first."""


@dataclass(frozen=True)
class Scores:
    """The scores of an audit, and what the auditor is asked.

    Parameters
    ----------
    family : str
        One of `dpassay.adapter.SCORES`.
    parameter : float
        As for :func:`dpassay.impl.libraries.audits.draw_scores`.
    size : tuple of int
        Numbers of members and of others, or the number of canaries.
    significance, delta : float
        Arguments of the auditor.
    """

    family: str
    parameter: float
    size: tuple[int, ...]
    significance: float
    delta: float

    def __str__(self) -> str:
        about = "" if self.family in {"equal", "tied"} else f" ({self.parameter:g})"
        return (
            f"{self.family}{about} scores, {' + '.join(map(str, self.size))} records, delta {self.delta:g}, "
            f"significance {self.significance:g}"
        )

    @property
    def request(self) -> dict[str, Any]:
        """The scores as the worker reads them."""
        return {
            "family": self.family,
            "parameter": self.parameter,
            "size": list(self.size),
            "significance": self.significance,
            "delta": self.delta,
        }

    @property
    def is_defined(self) -> bool:
        """True unless the epsilon is infinite at this delta, or the family is another one without delta."""
        return self.delta > 0 or self.family not in {"gaussian", "revealing response"}

    def truth(self) -> Truth:
        """Enclose the least epsilon of the scores at delta, in either direction.

        Raises
        ------
        UsageError
            If there is none, or the family is unknown.
        """
        if self.family in {"equal", "tied"}:
            return Truth(0.0, 0.0)
        if self.family == "response":
            return response_epsilon(self.parameter, self.delta, 1)
        if self.family == "laplace":
            return laplace_epsilon(1 / self.parameter, self.delta, 1)
        if self.family == "gaussian" and self.delta > 0:
            return gaussian_epsilon(1 / self.parameter, self.delta, 1)
        if self.family == "revealing response":
            return Truth(self.parameter, self.parameter)  # attained: all of delta is spent on what reveals
        raise UsageError(f"no epsilon is known for {self}")

    @property
    def rates(self) -> tuple[float, float]:
        """Probabilities that a score of a member, and of another record, is at least 1/2."""
        half = self.parameter / 2
        others = {
            "response": 1 / (1 + math.exp(self.parameter)),
            "laplace": math.exp(-half) / 2,
            "gaussian": math.erfc(half / math.sqrt(2)) / 2,
        }[self.family]
        return 1 - others, others

    def simple_bound(self) -> float:
        """Return the bound of Clopper and Pearson at the threshold 1/2, at the mean numbers of errors."""
        members, others = self.size if len(self.size) == 2 else (self.size[0] // 2, self.size[0] // 2)
        true_rate, false_rate = self.rates
        confidence = 1 - self.significance  # each of two errors has half of it on either side
        low, _ = clopper_pearson(math.floor(true_rate * members), members, confidence)
        _, high = clopper_pearson(math.ceil(false_rate * others), others, confidence)
        return math.log((low - self.delta) / high) if low - self.delta > high else 0.0


def scores_of(description: Mapping[str, Any]) -> list[Scores]:
    """Return all scores on which the bounds of an auditor are compared with the truth."""
    return [scores for scores in _every(description, _PARAMETERS) if scores.is_defined]


def telling_scores_of(description: Mapping[str, Any]) -> Scores | None:
    """Return the scores on which the power of an auditor is measured, None if its documentation promises none.

    They have the largest size and significance and the smallest delta that the adapter states.
    """
    found = [scores for scores in _every(description, _TELLING) if scores.is_defined]
    return max(found, key=lambda scores: (sum(scores.size), scores.significance, -scores.delta), default=None)


def _every(description: Mapping[str, Any], parameters: Mapping[str, float]) -> Iterator[Scores]:
    sizes = [tuple(size) for size in description["sizes"]]
    families = [family for family in parameters if family in description["scores"]]
    for family, size, significance, delta in product(
        families, sizes, description["significances"], description["deltas"]
    ):
        yield Scores(family, parameters[family], size, significance, delta)
