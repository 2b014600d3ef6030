"""The quality of a target by linear programming: independent of the closed form, slower, and valid for delta > 0."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError, require_positive, require_probability
from dpassay.impl.validation import real_array
from dpassay.lazy import optimize

__all__ = ["quality_by_programme"]

Array = NDArray[np.float64]
_SUM_ERROR = 2.0**-40
_INFEASIBLE = 2  # of scipy's status codes


def quality_by_programme(
    left: ArrayLike, right: ArrayLike, target: ArrayLike, epsilon: float, delta: float = 0.0
) -> float | None:
    """Return the largest quality of a target of one pair of output distributions at (epsilon, delta).

    The decomposition Z^b = (1 - delta) (p C + (1 - p) B^b) + delta E^b is sought in the unknowns B^b, c = p C/(1 - p)
    and kappa = 1/((1 - delta) (1 - p)), in which everything is linear: B^b + c <= kappa Z^b, the masses 1 + c =
    kappa (1 - delta), the two orders of B^0 ~ B^1, and q <= B^b(T). Cohen and Lyu 2023, Def 2.1 and Def B.1.

    Parameters
    ----------
    left, right : array_like, shape (n,)
        Probabilities of n outcomes on neighbouring data sets.
    target : array_like of bool, shape (n,)
        Which outcomes are in the target.
    epsilon : float
        Privacy parameter in nats, positive.
    delta : float
        In [0, 1).

    Returns
    -------
    float or None
        q with p below 1, to the solver's tolerance of about 1e-7 (not rounded to the safe side), or None where the
        pair is not (epsilon, delta)-indistinguishable, so that there is no decomposition.

    Raises
    ------
    UsageError
        If the distributions or the target do not fit each other, or a parameter is out of its domain.
    RuntimeError
        If the solver gives up.
    """
    p, q = (_distribution(name, value) for name, value in (("left", left), ("right", right)))
    hit = np.asarray(target)
    if hit.dtype != np.bool_ or not p.shape == q.shape == hit.shape:
        raise UsageError(f"target must hold a truth value for each of the {p.size} outcomes, got {target!r}")
    require_positive("epsilon", epsilon)
    if not require_probability("delta", delta) < 1:
        raise UsageError(f"delta must be below 1, got {delta!r}")
    n, eye, zero = p.size, np.eye(p.size), np.zeros((p.size, p.size))
    column, k = np.zeros((n, 1)), float(np.exp(-epsilon))
    upper = np.block([
        [eye, zero, eye, -p[:, None], column],
        [zero, eye, eye, -q[:, None], column],
        [k * eye, -eye, zero, column, column],
        [-eye, k * eye, zero, column, column],
        [-hit.astype(float), np.zeros(n), np.zeros(n), np.zeros(1), np.ones(1)],
        [np.zeros(n), -hit.astype(float), np.zeros(n), np.zeros(1), np.ones(1)],
    ])  # fmt: skip
    ones, none = np.ones(n), np.zeros(n)
    equal = np.array([
        [*ones, *none, *none, 0, 0],
        [*none, *ones, *none, 0, 0],
        [*none, *none, *ones, -(1 - delta), 0],
    ])  # fmt: skip
    objective = np.zeros(3 * n + 2)
    objective[-1] = -1
    found = optimize.linprog(
        objective, A_ub=upper, b_ub=np.zeros(len(upper)), A_eq=equal, b_eq=[1, 1, -1], method="highs"
    )
    if found.status == _INFEASIBLE:
        return None
    if found.status != 0 or found.fun is None:
        raise RuntimeError(f"the solver gave up: {found.message}")
    return -float(found.fun)


def _distribution(name: str, value: ArrayLike) -> Array:
    row = real_array(name, value, low=0, high=1)
    if row.ndim != 1 or not abs(float(row.sum()) - 1) <= _SUM_ERROR:
        raise UsageError(f"{name} must be a vector of probabilities that sum to 1, got {value!r}")
    return row
