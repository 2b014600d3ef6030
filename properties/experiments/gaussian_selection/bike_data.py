"""Daily counts of a bike-sharing system, the data of the selection experiments."""

import csv
from dataclasses import dataclass
from datetime import date
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError

__all__ = ["REGISTERED_BOUND", "DailyCounts", "registered_rides"]

REGISTERED_BOUND = 6946
"""The largest daily number of rides by registered users, treated as public (Lebensold et al. 2024, Section 4)."""

FILE = "data/bike_sharing_daily.csv"


@dataclass(frozen=True)
class DailyCounts:
    """A daily series in [0, 1] to which one individual adds at most `sensitivity` a day.

    Parameters
    ----------
    days : tuple of date
        Consecutive days.
    answers : array of shape (len(days),)
        Normalised counts.
    sensitivity : float
        What one ride is worth.
    """

    days: tuple[date, ...]
    answers: NDArray[np.float64]
    sensitivity: float

    def window(self, first: date, length: int) -> "DailyCounts":
        """Return `length` days from `first` on, normalised as before.

        Raises
        ------
        UsageError
            If the series does not hold all of them.
        """
        start = (first - self.days[0]).days
        if length < 1 or start < 0 or start + length > len(self.days):
            raise UsageError(
                f"a window of {length} days from {first} does not lie in {self.days[0]} to {self.days[-1]}"
            )
        return DailyCounts(self.days[start : start + length], self.answers[start : start + length], self.sensitivity)


def registered_rides() -> DailyCounts:
    """Read the rides by registered users on 731 days of 2011 and 2012, divided by `REGISTERED_BOUND`.

    As in the paper, neighbouring data sets differ in one individual, who is taken to ride at most once a day, on as
    many days as they like: every count moves by at most 1, and the sensitivity is 1 / `REGISTERED_BOUND`.
    """
    source = resources.files(__package__).joinpath(FILE)
    rows = list(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))
    days = tuple(date.fromisoformat(row["date"]) for row in rows)
    counts = np.array([int(row["registered"]) for row in rows], dtype=np.float64)
    return DailyCounts(days, counts / REGISTERED_BOUND, 1 / REGISTERED_BOUND)
