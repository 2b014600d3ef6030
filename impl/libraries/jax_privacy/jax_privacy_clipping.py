"""Clipping of jax-privacy: norms and sums of clipped values, and the table of its documentation."""

from __future__ import annotations

import math

import dp_accounting
import jax.numpy as jnp
import numpy as np
from jax_privacy.clipping import clip_pytree, clipped_fun, clipped_grad

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import divided, near

_ROUNDING = 3e-6
"""Relative: sums of a few float32 numbers."""


def _norm(tree):
    return math.sqrt(math.fsum(float(x) ** 2 for leaf in tree for x in np.ravel(np.asarray(leaf, np.float64))))


def _trees(random):
    """Yield lists of arrays with entries of many magnitudes."""
    for size in (1, 3, 40):
        scale = 10 ** random.uniform(-6, 6)
        yield [
            jnp.asarray([random.gauss(0, 1) * scale for _ in range(size)], jnp.float32),
            jnp.asarray([[random.gauss(0, 1) * scale]], jnp.float32),
        ]


def _norms(random):
    for tree in _trees(random):
        norm = _norm(tree)
        for bound in (norm * random.uniform(0.05, 0.9), norm * random.uniform(1.1, 20)):
            for unit in (False, True):
                clipped, found = clip_pytree(tree, bound, rescale_to_unit_norm=unit)
                words = f"clip_pytree of norm {norm!r}, {bound!r}, rescale_to_unit_norm={unit}"
                yield (
                    f"norm after clipping, {words}",
                    *near(_norm(clipped), min(norm, bound) / (bound if unit else 1), _ROUNDING),
                )
                yield (f"before clipping, {words}", *near(float(found), norm, _ROUNDING))
                ratios = np.asarray(clipped[0], np.float64) / np.asarray(tree[0], np.float64)
                yield f"{words}, one direction", float(ratios.max()) * (1 - _ROUNDING), float(ratios.min()), math.inf


def _loss(weights, rows):
    return 0.5 * jnp.mean(jnp.sum((rows - weights) ** 2, axis=-1))


def _sums(random):
    """Compare with gradients by hand: the weights minus a record, clipped; what is no number counts as 0."""
    bound, divisor, size = random.uniform(0.3, 4), random.choice([1.0, 7.0]), 6
    weights = np.array([random.gauss(0, 1) for _ in range(3)], np.float32)
    rows = np.array([[random.gauss(0, 4) for _ in range(3)] for _ in range(size)], np.float32)
    padding = np.array([random.random() < 0.3 for _ in range(size)])
    rows[1, 2] = random.choice([math.nan, math.inf, 1.0])
    gradients = np.where(np.isfinite(weights - rows), weights - rows, 0.0).astype(np.float64)
    norms = np.linalg.norm(gradients, axis=1)
    for unit in (False, True):
        factors = np.minimum(1, bound / norms) / (bound if unit else 1) / divisor * ~padding
        exact = factors @ gradients
        for portion in (None, 2, 3):
            clip = clipped_grad(
                _loss,
                l2_clip_norm=bound,
                rescale_to_unit_norm=unit,
                normalize_by=divisor,
                microbatch_size=portion,
            )
            found = clip(jnp.asarray(weights), jnp.asarray(rows), is_padding_example=jnp.asarray(padding))
            words = f"clip {bound!r}, unit {unit}, divisor {divisor}, portions {portion}, {rows.tolist()!r}, {padding}"
            for place in range(3):
                yield (
                    f"coordinate {place}, {words}",
                    *near(float(found[place]), float(exact[place]), 1e-4, 1e-4),
                )
            most = (1.0 if unit else bound) / divisor
            relation = dp_accounting.NeighboringRelation
            stated = clip.sensitivity()
            yield (f"sensitivity, {words}", *near(stated, most, _ROUNDING))
            yield (
                f"sensitivity, replaced, {words}",
                *near(clip.sensitivity(relation.REPLACE_ONE), 2 * most, _ROUNDING),
            )
            for place in (0, 1) if portion is None else ():
                kept = np.delete(np.arange(size), place)
                fewer = clipped_grad(_loss, l2_clip_norm=bound, rescale_to_unit_norm=unit, normalize_by=divisor)(
                    jnp.asarray(weights), jnp.asarray(rows[kept]), is_padding_example=jnp.asarray(padding[kept])
                )
                moved = _norm([np.asarray(found, np.float64) - np.asarray(fewer, np.float64)])
                least = (moved - 1e-5) / (1 + 1e-4)
                yield f"sensitivity, without record {place}, {words}", least, stated, math.inf


def _functions(random):
    values = [random.gauss(0, 3) for _ in range(5)]
    bound = random.uniform(0.5, 3)
    found, norms = clipped_fun(jnp.sum, l2_clip_norm=bound, return_norms=True)(jnp.asarray(values, jnp.float32))
    norms = norms[-1] if isinstance(norms, tuple) else norms  # documented alone, returned as ((), norms)
    exact = math.fsum(max(-bound, min(bound, value)) for value in values)
    yield (f"clipped_fun of {values!r}, {bound!r}", *near(float(found), exact, 1e-5, 1e-5))
    for place, value in enumerate(values):
        yield (f"norm {place} of {values!r}", *near(float(norms[place]), abs(value), 1e-5))


def _clipped(values, bound, dtype=jnp.float32, **more):
    clipped, _ = clip_pytree(jnp.asarray(values, dtype), bound, **more)
    return np.asarray(clipped, np.float64).tolist()


def _documented():
    """Return the table of edge cases in the documentation of `clip_pytree`."""
    values, length = [3.0, -4.0], 5.0
    return {
        "clip_norm=0 gives zero": lambda: _clipped(values, 0.0) == [0.0, 0.0],
        "clip_norm=0, unit norm gives the direction": lambda: np.allclose(
            _clipped(values, 0.0, rescale_to_unit_norm=True), [value / length for value in values]
        ),
        "clip_norm=inf changes nothing": lambda: _clipped(values, math.inf) == values,
        "clip_norm=inf, unit norm gives zero": lambda: (
            _clipped(values, math.inf, rescale_to_unit_norm=True) == [0.0, 0.0]
        ),
        "clip_norm<0 in an array gives zero": lambda: _clipped(values, jnp.asarray(-1.0)) == [0.0, 0.0],
        "a norm of 0 is not changed": lambda: _clipped([0.0, 0.0], 2.0) == [0.0, 0.0],
        "nan and inf count as 0": lambda: _clipped([math.nan, 3.0, math.inf], 10.0) == [0.0, 3.0, 0.0],
        "return_zero gives zero": lambda: _clipped(values, 2.0, return_zero=True) == [0.0, 0.0],
        "half precision: small entries are clipped": lambda: (
            np.linalg.norm(_clipped([1e-4] * 10_000, 1e-3, jnp.float16)) <= 1.01e-3
        ),
    }


def clipping_relations():
    """Yield the relations of clipping."""
    norms, moved = "norms are clipped", "sensitivities are those of clipped gradients"
    protecting = ("half precision: small entries are clipped", "clip_norm=0 gives zero")
    yield Relations(
        "clip_pytree, clipped_grad",
        {
            **divided(_norms, norms, "clipping keeps the direction, and states the norm before", "norm after"),
            **divided(_sums, moved, "clipped gradients are added up", "sensitivity"),
            "clipped values are added up": _functions,
        },
        _documented(),
        unsafe={norms: "above", moved: "below", **dict.fromkeys(protecting, "either")},
    )
