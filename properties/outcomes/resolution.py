"""The resolution of float64 at the numbers of a pair, relative to the spread of what is released.

In real arithmetic, noise reaches every number. In float64, data and noisy answers lie on a lattice, whose step grows
with their size. Where the step is a visible part of the spread of the noise, a mechanism that is private in real
arithmetic may not be so in float64.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.outcomes.batch import Outcomes
from dpassay.properties.outcomes.flattening import OUTCOME

__all__ = ["LATTICE_SHOWS", "ROUNDING_SHOWS", "rounding_step", "step_of_pair"]

Array = NDArray[np.float64]

LATTICE_SHOWS = 2.0**-30
"""The step, in spreads, above which values that come again, ties and values of the inputs may come from rounding: of
2^15 numbers on a finer lattice, fewer than one pair is equal in the mean, and three of them almost never."""

ROUNDING_SHOWS = 2.0**-24
"""The step, in spreads, above which other differences may come from rounding as well. Below it, an event that rounding
makes has a probability of about 2^-24: a larger threshold would need fewer calls to meet such events, a smaller one
would leave fewer inputs to the ideal mechanism."""

_MOST_COLUMNS = 32
"""Numbers of an outcome that are looked at: more take longer, and find a narrower one."""

_QUARTILES = (25, 75)
"""The percentiles between which the spread lies: wider ones depend on the tails of the noise."""


def rounding_step(outcomes: Outcomes, left: Array, right: Array) -> float:
    """Return the step of float64 at the numbers of a pair, as a part of the smallest spread of a released number.

    The spread is the interquartile range of a number over the outcomes. Whole numbers and words have none that is
    known; where nothing else is released, the largest change of the inputs stands for it, because noise below the
    sensitivity protects little.

    Parameters
    ----------
    outcomes : Outcomes
        Outcomes on either input.
    left, right : ndarray
        The inputs.
    """
    unit, size = _unit_and_size(left, right)
    sizes = [size]
    spreads: list[float] = []
    for column in _released(outcomes):
        low, high = np.percentile(column, _QUARTILES)
        if high > low:
            spreads.append(float(high - low))
            sizes.append(float(np.median(np.abs(column))))
    return float(np.spacing(max(sizes))) / min(spreads, default=unit)


def step_of_pair(left: Array, right: Array) -> float:
    """Return the step of float64 at the inputs of a pair, as a part of their largest change."""
    unit, size = _unit_and_size(left, right)
    return float(np.spacing(size)) / unit


def _unit_and_size(left: Array, right: Array) -> tuple[float, float]:
    """Return the largest change of the inputs, 1 where a record is added, and their largest number."""
    unit = float(np.max(np.abs(left - right), initial=0.0)) if len(left) == len(right) else 1.0
    return unit or 1.0, max(float(np.max(np.abs(side), initial=0.0)) for side in (left, right))


def _released(outcomes: Outcomes) -> Iterator[Array]:
    """Yield the finite values of the numbers of outcomes that are not all whole."""
    rows = outcomes.rows
    if rows.dtype.kind in "iub":
        return
    if rows.dtype.kind == "f":
        columns = list((rows[:, None] if rows.ndim == 1 else rows).T[:_MOST_COLUMNS].astype(np.float64))
    else:
        names = [name for name in outcomes.common_features() if name.startswith(OUTCOME)]
        columns = [outcomes.features[name] for name in names[:_MOST_COLUMNS]]
    for column in columns:
        finite = column[np.isfinite(column)]
        if finite.size and (finite != np.floor(finite)).any():
            yield finite
