"""Utility of selections: accuracy of a selected candidate, F1 score of a vector of alarms."""

import numpy as np
from numpy.typing import ArrayLike

from dpassay.arguments import UsageError
from dpassay.impl.validation import real_array

__all__ = ["f1_score", "selection_accuracy"]


def selection_accuracy(answers: ArrayLike, winners: ArrayLike) -> float:
    """Return 1 - mean(best answer - chosen answer)/best answer over repeated selections.

    Parameters
    ----------
    answers : array_like
        Answers of the candidates, at least 0, one of them positive.
    winners : array_like of int
        Indices chosen, from 0, at least one.

    Returns
    -------
    float
        In [0, 1]; 1 if the best is always chosen.

    Raises
    ------
    UsageError
        If an argument is out of its domain.

    Notes
    -----
    Lebensold, Precup and Balle 2024, eq. 39, with the largest answer for q_max.

    Examples
    --------
    >>> selection_accuracy([1.0, 0.5], [0, 0, 0, 1])
    0.875
    """
    values = real_array("answers", answers, low=0)
    if values.ndim != 1 or values.size == 0 or values.max() == 0:
        raise UsageError(f"answers must be a vector with a positive entry, got {answers!r}")
    chosen = real_array("winners", winners, low=0, high=values.size - 1, integer=True).astype(np.intp)
    if chosen.size == 0:
        raise UsageError("winners must not be empty")
    return float(1 - np.mean(values.max() - values[chosen]) / values.max())


def f1_score(alarms: ArrayLike, truth: ArrayLike) -> float:
    """Return 2 TP / (2 TP + FP + FN), or 1 if the denominator is 0.

    Parameters
    ----------
    alarms, truth : array_like of bool
        Same shape.

    Raises
    ------
    UsageError
        If the shapes differ.

    Notes
    -----
    Lebensold, Precup and Balle 2024, section 4.1; the paper leaves 0/0 open.

    Examples
    --------
    >>> f1_score([True, False, True], [True, True, False])
    0.5
    """
    raised, due = np.asarray(alarms, dtype=bool), np.asarray(truth, dtype=bool)
    if raised.shape != due.shape:
        raise UsageError(f"alarms and truth must have the same shape, got {raised.shape} and {due.shape}")
    both, either = int(np.sum(raised & due)), int(raised.sum() + due.sum())
    return 1.0 if either == 0 else 2 * both / either
