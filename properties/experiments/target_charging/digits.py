"""Votes of teachers on the digits of scikit-learn.

1,300 of the 1,797 images are private, dealt to 100 teachers; a teacher names the label of the nearest of its own 13
images. The other images are the queries.
"""

import importlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError

__all__ = ["LABELS", "TEACHERS", "Votes", "digit_votes"]

Array = NDArray[np.float64]

LABELS = 10
TEACHERS = 100
IMAGES_EACH = 13
NO_DATA = "the digits come with scikit-learn, which is not installed: pip install 'dpassay[experiments]'"


@dataclass(frozen=True)
class Votes:
    """The counts of every query, one row each, and the true labels.

    Parameters
    ----------
    counts : ndarray, shape (queries, labels)
        Whole numbers; every row sums to `teachers`.
    truth : ndarray, shape (queries,)
        Labels.
    teachers : int
        How many vote.
    """

    counts: Array
    truth: NDArray[np.int64]
    teachers: int

    def scaled(self, factor: int) -> "Votes":
        """Return the votes of `factor` times as many teachers in the same proportions."""
        return Votes(self.counts * factor, self.truth, self.teachers * factor)


def digit_votes(rng: np.random.Generator) -> Votes:
    """Distribute the images to teachers and return their votes on the remaining images.

    Raises
    ------
    UsageError
        If scikit-learn is not installed.
    """
    images, labels = _digits()
    order = rng.permutation(len(labels))
    private, public = order[: TEACHERS * IMAGES_EACH], order[TEACHERS * IMAGES_EACH :]
    squares = (images[public] ** 2).sum(axis=1)[:, None] + (images[private] ** 2).sum(axis=1)
    distances = squares - 2 * images[public] @ images[private].T
    nearest = distances.reshape(len(public), TEACHERS, IMAGES_EACH).argmin(axis=2)
    votes = labels[private].reshape(TEACHERS, IMAGES_EACH)[np.arange(TEACHERS), nearest]
    counts = (votes[:, :, None] == np.arange(LABELS)).sum(axis=1).astype(np.float64)
    return Votes(counts, labels[public], TEACHERS)


def _digits() -> tuple[Array, NDArray[np.int64]]:
    try:
        datasets = importlib.import_module("sklearn.datasets")
    except ImportError:
        raise UsageError(NO_DATA) from None
    data = datasets.load_digits()
    return np.asarray(data.data, dtype=np.float64), np.asarray(data.target, dtype=np.int64)
