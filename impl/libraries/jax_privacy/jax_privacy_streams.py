"""Streaming matrices of jax-privacy: materialised, and inverted, they are the strategies of their definitions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy.matrix_factorization import banded, buffered_toeplitz, streaming_matrix, toeplitz
from jax_privacy_matrices import largest_norm, participations

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import divided, near

_ROUNDING = 1e-4
"""Absolute, for entries that are about 1, after an inversion: strategies are float32."""

_DOUBLE = 1e-9
"""The same of buffered matrices, which are float64."""

_ROUNDS = 7


def lower_triangular(coefficients, n):
    """Return the Toeplitz matrix whose first column begins with the coefficients."""
    padded = [*coefficients, *[0.0] * n][:n]
    return np.array([[padded[row - column] if row >= column else 0.0 for column in range(n)] for row in range(n)])


def materialised(stream, n):
    """Return the product with the identity, one row after the other: `materialize` compiles itself each time."""
    rows, out = jnp.eye(n), []
    state = stream.init_multiply(rows[0])
    for row in rows:
        product, state = stream.multiply_next(row, state)
        out.append(np.asarray(product, np.float64))
    return np.array(out)


def _norms(matrix):
    return np.linalg.norm(matrix, axis=0)


def _compared(words, found, expected, error=_ROUNDING):
    """Yield how far entries are from those of the definition, and the extreme norms of columns."""
    yield f"{words}, largest error of an entry", 0.0, float(np.abs(found - expected).max()), error
    for extreme in (np.max, np.min):
        norm = float(extreme(_norms(found)))
        yield (f"{words}, {extreme.__name__} of the norms of columns", *near(norm, extreme(_norms(expected)), error))


def _inverted(words, found, expected, error=_ROUNDING):
    """Yield the same of a strategy whose noise is made for the largest norm of its definition."""
    yield from _compared(words, found, expected, error)
    largest = float(_norms(found).max())
    yield (f"largest norm of a column, {words}", *near(largest, _norms(expected).max(), error))


def _coefficients(random, bands):
    """Return coefficients of norm 1, the first of which is large enough for an inverse of moderate entries."""
    values = np.array([1.0, *(random.uniform(-0.7, 0.7) for _ in range(bands - 1))])
    return values / np.linalg.norm(values)


def _toeplitz_inverses(random):
    """Invert what is returned: the Toeplitz matrix, or its columns divided by their norms."""
    for bands, sizes in ((random.randint(1, 3), (None, _ROUNDS)), (random.randint(4, 6), (_ROUNDS, 3))):
        for size in sizes:
            coefficients, rounds = _coefficients(random, bands), size or _ROUNDS
            # where columns are normalised, a norm of 1 is required
            coefficients *= random.uniform(0.5, 2) if size is None else 1.0
            strategy = lower_triangular(coefficients, rounds)
            stream = toeplitz.inverse_as_streaming_matrix(jnp.asarray(coefficients), size)
            found = np.linalg.inv(materialised(stream, rounds))
            words = f"{coefficients.tolist()!r}, column_normalize_for_n={size}"
            yield from _inverted(words, found, strategy if size is None else strategy / _norms(strategy))


def _banded_inverses(random):
    """Invert strategies whose columns have norm 1, and compare their sensitivities with those of all patterns."""
    bands, n = random.randint(2, 4), _ROUNDS
    table = np.array([[1.0, *(random.uniform(-0.7, 0.7) for _ in range(bands - 1))] for _ in range(n)])
    table *= np.array([[random.uniform(0.5, 2)] for _ in range(n)])
    coefficients = random.uniform(0.5, 2) * _coefficients(random, bands)
    constant = np.tile(coefficients, (n, 1))
    for name, strategy, values in (
        ("params", banded.ColumnNormalizedBanded(params=jnp.asarray(np.tril(table[::-1])[::-1])), table),
        ("from_banded_toeplitz", banded.ColumnNormalizedBanded.from_banded_toeplitz(n, coefficients), constant),
    ):
        matrix = np.zeros((n, n))
        for column in range(n):
            matrix[column : column + bands, column] = values[column][: n - column]
        words = f"ColumnNormalizedBanded, {name}, {values.tolist()!r}"
        expected = matrix / _norms(matrix)
        yield from _compared(f"{words}, materialize", np.asarray(strategy.materialize(), np.float64), expected)
        found = np.linalg.inv(materialised(strategy.inverse_as_streaming_matrix(), n))
        yield from _inverted(f"{words}, inverse", found, expected)
        apart, most, rounds = random.randint(bands, n), random.choice([None, 1, 2]), random.randint(bands, n)
        exact = largest_norm(expected[:, :rounds], participations(rounds, apart, most)) ** 2
        squared = banded.minsep_sensitivity_squared(strategy, apart, most, rounds)
        words = f"{words}, {apart} apart, at most {most}, n={rounds}"
        yield (f"largest norm over the stated sensitivity, {words}", *near(exact / float(squared), 1.0, _ROUNDING))
    # entries below the last row take no part in the matrix, but may make the noise larger
    stream = banded.ColumnNormalizedBanded(params=jnp.asarray(table)).inverse_as_streaming_matrix()
    norm = float(_norms(np.linalg.inv(materialised(stream, n))).max())
    words = f"entries below the last row, {table.tolist()!r}"
    yield f"largest norm of a column, {words}", 0.0, norm, 1 + _ROUNDING


def _buffered(random):
    """Compare buffered Toeplitz matrices, in float64, with their coefficients."""
    n, count = _ROUNDS, random.randint(2, 3)
    decays = np.array([random.uniform(0.3 * place + 0.05, 0.3 * place + 0.3) for place in range(count)])
    scales = np.array([random.uniform(0.1, 0.5) for _ in range(count)])
    words = f"BufferedToeplitz, decays {decays.tolist()!r}, scales {scales.tolist()!r}"
    expected = lower_triangular([1.0, *((decays**power @ scales) for power in range(n - 1))], n)
    with jax.enable_x64():
        strategy = buffered_toeplitz.BufferedToeplitz.build(decays, scales)
        for name, compared, found in (
            ("materialize", _compared, np.asarray(strategy.materialize(n))),
            ("as_streaming_matrix", _compared, materialised(strategy.as_streaming_matrix(), n)),
            ("inverse", _inverted, np.linalg.inv(np.asarray(strategy.inverse().materialize(n)))),
            (
                "inverse_as_streaming_matrix",
                _inverted,
                np.linalg.inv(materialised(strategy.inverse_as_streaming_matrix(), n)),
            ),
        ):
            yield from compared(f"{words}, {name}", found, expected, _DOUBLE)
        ratio = float(_norms(expected).max()) ** 2 / float(buffered_toeplitz.sensitivity_squared(strategy, n))
        yield (f"largest norm over the stated sensitivity, {words}", *near(ratio, 1.0, _DOUBLE))
        # decays of a matrix and of its inverse that alternate
        others = decays - np.array([random.uniform(0.01, 0.04) for _ in range(count)])
        one, other = buffered_toeplitz.blt_pair_from_theta_pair(jnp.asarray(decays), jnp.asarray(others))
        product = np.asarray(one.materialize(n)) @ np.asarray(other.materialize(n))
        error = float(np.abs(product - np.eye(n)).max())
        yield f"blt_pair_from_theta_pair, {decays.tolist()!r}, {others.tolist()!r}", 0.0, error, _DOUBLE


def _parts(random):
    """Compare the parts of streaming matrices with products of arrays."""
    n = _ROUNDS
    rows, columns = (np.array([random.uniform(0.3, 3) for _ in range(n)]) for _ in range(2))
    momentum, rates = random.uniform(0.2, 0.9), np.array([random.uniform(0.3, 3) for _ in range(n)])
    ones, sums = np.tri(n), streaming_matrix.prefix_sum()
    steps = streaming_matrix.momentum_sgd_matrix(momentum, jnp.asarray(rates))
    descent = ones @ np.diag(rates) @ lower_triangular([momentum**power for power in range(n)], n)
    scaled = streaming_matrix.scale_rows_and_columns(sums, jnp.asarray(rows), jnp.asarray(columns))
    words = f"rows {rows.tolist()!r}, columns {columns.tolist()!r}, momentum {momentum!r}, rates {rates.tolist()!r}"
    yield from _compared(f"scale_rows_and_columns, {words}", materialised(scaled, n), rows[:, None] * ones * columns)
    yield from _compared(f"materialize, {words}", np.asarray(scaled.materialize(n)), rows[:, None] * ones * columns)
    yield from _compared(f"momentum_sgd_matrix, {words}", materialised(steps, n), descent, n * n * _ROUNDING)
    product = materialised(steps @ scaled, n)
    yield from _compared(f"product, {words}", product, descent @ (rows[:, None] * ones * columns), n**4 * _ROUNDING)
    squares = np.asarray(scaled.row_norms_squared(n), np.float64)
    error = np.abs(squares / ((rows[:, None] * ones * columns) ** 2).sum(axis=1) - 1).max()
    yield f"row_norms_squared, {words}, largest relative error", 0.0, float(error), _ROUNDING


def stream_relations():
    """Yield the relations of streaming matrices."""
    relations, unsafe = {}, {}
    for kind, relation in (("Toeplitz", _toeplitz_inverses), ("banded", _banded_inverses), ("buffered", _buffered)):
        protecting = f"{kind} strategies have the norms for which noise is made"
        relations |= divided(relation, protecting, f"{kind} strategies are inverted", "largest norm")
        unsafe[protecting] = "above"
    yield Relations("streaming matrices", {**relations, "parts are products of arrays": _parts}, unsafe=unsafe)
