"""Exact confidence intervals for a probability."""

from dpassay.arguments import UsageError

__all__ = ["clopper_pearson"]


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the two-sided interval of Clopper and Pearson (1934).

    Examples
    --------
    >>> low, high = clopper_pearson(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv  # takes as long to import as numpy

    if not (trials >= 0 and 0 <= successes <= trials and 0 < confidence < 1):
        raise UsageError(f"successes must lie between 0 and trials, got {successes!r} of {trials!r}")
    tail = (1 - confidence) / 2
    low = float(betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, trials - successes, 1 - tail)) if successes < trials else 1.0
    return low, high
