"""The quality q of targets: exact for a pair of output distributions, and closed forms for families of targets.

A target T of an epsilon-DP algorithm has quality q if, on neighbouring data sets, its output is a mixture of one
common distribution and of distributions that are epsilon-indistinguishable and hit T with probability at least q
(Cohen and Lyu 2023, Def 2.1). Target charging pays 1/q calls for a hit, and nothing else. All qualities are rounded
down, all privacy parameters up; both are in nats where they are privacy parameters.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.arguments import UsageError
from dpassay.impl.validation import broadcast, real_array
from dpassay.lazy import special

__all__ = [
    "between_thresholds_quality",
    "boundary_quality",
    "double_run_quality",
    "not_prior_quality",
    "printed_boundary_quality",
    "printed_double_run_quality",
    "revision_quality",
    "target_quality",
    "wrapped_classifier_epsilon",
    "wrapped_test_epsilon",
]

Array = NDArray[np.float64]

_DOWN = 1 - 2.0**-48
_UP = 1 + 2.0**-48
_UNIT = 2.0**-52
LARGEST_EXPONENT = 700.0  # of exp, in float64
LARGEST_EXCESS = 2.0**-40
"""The relative rounding error by which a likelihood ratio may exceed e^epsilon, or a sum of probabilities miss 1."""


# --- the exact quality of a pair ----------------------------------------------------------------------------


def target_quality(left: ArrayLike, right: ArrayLike, target: ArrayLike, epsilon: ArrayLike) -> Array:
    """Return the largest quality of a target for pairs of output distributions, rounded down.

    Of the admissible common masses the best is none on the target and the largest possible elsewhere, so that with
    x <= x + d the two probabilities of the target and A the mass by which outcomes off it rise as the target does,

        q = x / (x + (e^eps d + (e^eps + 1) A) / (e^eps - 1)).

    Parameters
    ----------
    left, right : array_like, shape (..., n)
        Probabilities of n outcomes on neighbouring data sets. The likeliest outcome is read as one minus the
        others, so that tiny probabilities of the others keep their accuracy.
    target : array_like of bool, shape (..., n)
        Which outcomes are in the target.
    epsilon : array_like, shape (...)
        Privacy parameter, positive; the two distributions must be epsilon-indistinguishable.

    Returns
    -------
    ndarray, shape (...)
        q in [0, 1]: at most the exact value, and by at most a relative (n + 16) (1 + e^epsilon) 2^-52 below it, so
        that nothing is left from epsilon = 33 on. Where the two agree on every outcome it is 1.

    Raises
    ------
    UsageError
        If the rows are not probabilities or do not sum to one, the target is not an array of truth values of a
        fitting shape, or a likelihood ratio exceeds e^epsilon.

    Examples
    --------
    >>> float(target_quality([0.75, 0.25], [0.25, 0.75], [True, False], np.log(3)).round(12))
    0.25
    """
    p, q, hit, eps = _pairs(left, right, target, epsilon)
    _require_indistinguishable(p, q, eps)
    dominant = np.expand_dims((p + q).argmax(axis=-1), -1)
    dominant_hit = np.take_along_axis(hit, dominant, axis=-1)[..., 0]
    moved = q - p
    np.put_along_axis(moved, dominant, 0.0, axis=-1)  # known from the others: all moves add up to 0
    on_target, off_target = np.where(hit, moved, 0.0), np.where(hit, 0.0, moved)
    change = np.where(dominant_hit, -off_target.sum(axis=-1), on_target.sum(axis=-1))
    falls = change < 0  # the target is rarer on the right: exchange the two
    rise, up, down = np.abs(change), off_target.clip(min=0).sum(axis=-1), -off_target.clip(max=0).sum(axis=-1)
    up, down = np.where(falls, down, up), np.where(falls, up, down)
    dominant_rises = ~dominant_hit & (down > up + rise)
    k = np.exp(-eps)
    moving = np.where(dominant_rises, (1 + k) * down - k * rise, rise + (1 + k) * up) / -np.expm1(-eps)
    least = np.sum(np.where(falls[..., None], q, p) * hit, axis=-1)
    whole = least + moving
    quality = np.divide(least, whole, out=np.ones_like(least), where=whole > 0)
    margin = (p.shape[-1] + 16) * (1 + np.exp(np.minimum(eps, 100))) * _UNIT
    return np.asarray(np.where(moving > 0, quality * (1 - margin).clip(min=0), 1.0))


def _pairs(
    left: ArrayLike, right: ArrayLike, target: ArrayLike, epsilon: ArrayLike
) -> tuple[Array, Array, NDArray[np.bool_], Array]:
    p, q = (real_array(name, value, low=0, high=1) for name, value in (("left", left), ("right", right)))
    hit = np.asarray(target)
    if hit.dtype != np.bool_:
        raise UsageError(f"target must be an array of truth values, one for each outcome, got {target!r}")
    if 0 in (p.ndim, q.ndim, hit.ndim) or not p.shape[-1] == q.shape[-1] == hit.shape[-1] > 0:
        shapes = f"left {p.shape}, right {q.shape}, target {hit.shape}"
        raise UsageError(f"left, right and target need one entry for each outcome, at least one, got {shapes}")
    for name, rows in (("left", p), ("right", q)):
        sums = rows.sum(axis=-1)
        if bool(np.any(np.abs(sums - 1) > LARGEST_EXCESS)):
            worst = float(np.ravel(sums)[np.abs(np.ravel(sums) - 1).argmax()])
            raise UsageError(f"{name} must hold probabilities that sum to 1, got a sum of {worst!r}")
    eps = real_array("epsilon", epsilon, low=0, strict=True)
    p, q, hits, eps = broadcast(left=p, right=q, target=hit.astype(np.float64), epsilon=eps[..., None])
    return p, q, hits > 0, eps[..., 0]


def _require_indistinguishable(p: Array, q: Array, eps: Array) -> None:
    ratio = np.exp(np.minimum(eps, LARGEST_EXPONENT))[..., None]
    if bool(np.any(np.maximum(p, q) > ratio * np.minimum(p, q) * (1 + LARGEST_EXCESS))):
        raise UsageError("left and right must be epsilon-indistinguishable, but a likelihood ratio exceeds e^epsilon")


# --- claimed for families -----------------------------------------------------------------------------------


def not_prior_quality(epsilon: ArrayLike) -> Array:
    """Return 1/(e^epsilon + 1), the quality of "every outcome but one" of an epsilon-DP algorithm, rounded down.

    Exact: randomised response has no larger one. Cohen and Lyu 2023, Lem 2.3.
    """
    return np.asarray(special.expit(-_positive("epsilon", epsilon)) * _DOWN)


def revision_quality(epsilon: ArrayLike) -> Array:
    """Return the quality 1/(e^(2 epsilon) + 1) of a revised conditional release, rounded down.

    The revision is 2 epsilon-DP: what remains of an epsilon-DP outcome once it is known not to be in the first
    target. Cohen and Lyu 2023, Lem 2.5.
    """
    return not_prior_quality(2 * _positive("epsilon", epsilon))


def between_thresholds_quality(epsilon: ArrayLike, gap: ArrayLike) -> Array:
    """Return (1 - e^(-gap epsilon)) / (e^epsilon + 1), the quality of "between" the thresholds, rounded down.

    Parameters
    ----------
    epsilon : array_like
        Privacy parameter in nats, positive; the noise is Laplace of scale 1/epsilon for a query of sensitivity 1.
    gap : array_like
        Upper minus lower threshold, in sensitivities of the query, positive.

    Returns
    -------
    ndarray
        q, of the broadcast shape. Exact. Cohen and Lyu 2023, Lem G.1.
    """
    eps, width = broadcast(epsilon=_positive("epsilon", epsilon), gap=_positive("gap", gap))
    with np.errstate(over="ignore"):
        share = -np.expm1(-width * eps)
    return np.asarray(share * special.expit(-eps) * _DOWN)


def wrapped_test_epsilon(epsilon: ArrayLike) -> Array:
    """Return the exact privacy parameter of a boundary-wrapped epsilon-DP *test*, rounded up.

    max(epsilon, log(3 (2 e^eps - 1)/(2 e^eps + 1))); with three outcomes or more it is larger
    (:func:`wrapped_classifier_epsilon`). Cohen and Lyu 2023 bound both by 4/3 epsilon (Lem 2.8, Lem E.1).
    """
    eps = _positive("epsilon", epsilon)
    turned = np.log1p(-4 * np.expm1(-eps) / (2 + np.exp(-eps)))
    return np.asarray(np.maximum(eps, turned) * _UP)


def wrapped_classifier_epsilon(epsilon: ArrayLike) -> Array:
    """Return the privacy parameter epsilon + log(3/(2 + e^-eps)) of any boundary-wrapped algorithm, rounded up.

    The supremum over epsilon-DP algorithms with three outcomes or more; at most 4/3 epsilon.
    """
    eps = _positive("epsilon", epsilon)
    return np.asarray((eps + np.log1p(-np.expm1(-eps) / (2 + np.exp(-eps)))) * _UP)


def boundary_quality(epsilon: ArrayLike, wrapped_epsilon: ArrayLike | None = None) -> Array:
    """Return the exact quality of the boundary outcome of a wrapped epsilon-DP algorithm, rounded down.

    (e^t - 1) / (2 e^(eps + t) - 2 - e^t + e^eps), the infimum over all algorithms; at t = 4 epsilon/3 up to 8 %
    above what Lem 2.9 of Cohen and Lyu 2023 says (`printed_boundary_quality`).

    Parameters
    ----------
    epsilon : array_like
        Privacy parameter of the algorithm that is wrapped, positive.
    wrapped_epsilon : array_like, optional
        t, at which the wrapped algorithm is charged: at least its privacy parameter, by default that of a
        classifier. The same t must be charged for a hit.

    Returns
    -------
    ndarray
        q, of the broadcast shape.

    Raises
    ------
    UsageError
        If a parameter is not positive, or t is below `wrapped_test_epsilon`, so that no wrapped algorithm fits.
    """
    eps, t = _wrapped(epsilon, wrapped_epsilon)
    share = -np.expm1(-t)
    whole = -2 * np.expm1(-(eps + t)) - np.expm1(-eps) - share
    return np.asarray(np.exp(-eps) * share / whole * _DOWN)


def printed_boundary_quality(epsilon: ArrayLike, wrapped_epsilon: ArrayLike | None = None) -> Array:
    """Return (e^t - 1) / (2 (e^(eps + t) - 1)), Lem E.2 of Cohen and Lyu 2023; arguments of `boundary_quality`.

    Lem 2.9 prints e^(t-1) for e^t - 1.
    """
    eps, t = _wrapped(epsilon, wrapped_epsilon)
    return np.asarray(np.exp(-eps) * np.expm1(-t) / (2 * np.expm1(-(eps + t))) * _DOWN)


def double_run_quality(epsilon: ArrayLike) -> Array:
    """Return the exact quality of disagreement of two runs of an epsilon-DP algorithm, at 2 epsilon; rounded down.

    min(2 e^eps/(1 + e^eps)^2, (e^(2 eps) - 1)/(e^(3 eps) - 1)), the infimum over all algorithms; about twice what
    Lem F.1 of Cohen and Lyu 2023 says (`printed_double_run_quality`).
    """
    eps = _positive("epsilon", epsilon)
    k = np.exp(-eps)
    return np.asarray(np.minimum(2 * special.expit(eps) * special.expit(-eps), k * (1 + k) / (1 + k + k * k)) * _DOWN)


def printed_double_run_quality(epsilon: ArrayLike) -> Array:
    """Return 1 - sqrt(e^(2 eps)/(1 + e^(2 eps))), Lem F.1 of Cohen and Lyu 2023, rounded down."""
    eps = _positive("epsilon", epsilon)
    return np.asarray(special.expit(-2 * eps) / (1 + np.sqrt(special.expit(2 * eps))) * _DOWN)


def _positive(name: str, value: ArrayLike) -> Array:
    return real_array(name, value, low=0, strict=True)


def _wrapped(epsilon: ArrayLike, wrapped_epsilon: ArrayLike | None) -> tuple[Array, ...]:
    eps = _positive("epsilon", epsilon)
    if wrapped_epsilon is None:
        return eps, wrapped_classifier_epsilon(eps)
    eps, t = broadcast(epsilon=eps, wrapped_epsilon=_positive("wrapped_epsilon", wrapped_epsilon))
    least = wrapped_test_epsilon(eps)
    if bool(np.any(t < least * (1 - 2.0**-46))):
        raise UsageError("wrapped_epsilon must be at least wrapped_test_epsilon(epsilon): no wrapped algorithm fits")
    return eps, t
