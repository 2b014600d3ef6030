"""Sensitivities of correlated noise in jax-privacy, against all participation patterns, and the noise itself."""

from __future__ import annotations

import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy.matrix_factorization import banded, sensitivity, toeplitz
from jax_privacy.noise_addition import gaussian_privatizer, matrix_factorization_privatizer

from dpassay.adapter import Mechanism, Relations, protects
from dpassay.impl.libraries.references import marked, near

_ROUNDING = 1e-4
"""Relative: products of float32 matrices."""


def participations(n, apart, most):
    """Yield the sets of rounds in which one record takes part: `apart` or more between any two."""
    for count in range(1, n + 1 if most is None else most + 1):
        for rounds in itertools.combinations(range(n), count):
            if all(later - earlier >= apart for earlier, later in itertools.pairwise(rounds)):
                yield rounds


def largest_norm(matrix, patterns):
    """Return the largest norm of a sum of columns with signs: gradients of one record point anywhere."""
    gram = np.asarray(matrix, np.float64).T @ np.asarray(matrix, np.float64)
    best = 0.0
    for rounds in patterns:
        part = gram[np.ix_(rounds, rounds)]
        for signs in itertools.product((1.0, -1.0), repeat=len(rounds) - 1):
            vector = np.array((1.0, *signs))
            best = max(best, float(vector @ part @ vector))
    return math.sqrt(best)


def _encoder(random, n, bands):
    matrix = np.array([[random.gauss(0, 1) if 0 <= i - j < bands else 0.0 for j in range(n)] for i in range(n)])
    return jnp.asarray(matrix + np.diag(np.where(np.diag(matrix) == 0, 1.0, 0.0)), jnp.float32)


_BLOCK = 2048
"""Releases that are drawn at once, and rows of a table of noise."""

_ROUNDS = 6
"""One size, because JAX compiles its functions for each."""

_SIGMA, _STEPS = 2.5, 2
"""The standard deviation of the noise that is drawn, and the number of rounds."""

_MOMENTS = 0.25
"""Absolute. The mean square of _BLOCK standard normal numbers is farther from 1 with probability below 2e-12, and the
mean product of as many pairs farther from 0 with probability below 1e-26 (Chernoff)."""


_WEAKEST = 0.5
"""The least eigenvalue of the moments of 12 columns of _BLOCK rows is below with probability below 1e-18 (Davidson and
Szarek 2001); where columns share their noise it is 0."""


def _separated(random):
    for apart in (1, 2, 3):
        most = random.choice([None, 1, 2])
        patterns = list(participations(_ROUNDS, apart, most))
        for bands in (_ROUNDS, apart):
            matrix = _encoder(random, _ROUNDS, bands)
            exact, words = (
                largest_norm(matrix, patterns),
                f"{apart} apart, at most {most}, {np.asarray(matrix).tolist()!r}",
            )
            upper = sensitivity.get_min_sep_sensitivity_upper_bound(matrix, apart, most)
            yield f"upper bound, {words}", exact * (1 - _ROUNDING), float(upper), math.inf
        yield (
            f"banded, {words}",
            *near(float(sensitivity.get_sensitivity_banded(matrix, apart, most)), exact, _ROUNDING),
        )


def _epochs(random):
    for epochs, length in ((1, 6), (2, 3), (3, 2)):
        matrix = _encoder(random, epochs * length, epochs * length)
        patterns = [tuple(range(start, epochs * length, length)) for start in range(length)]
        exact = largest_norm(matrix, patterns)
        found = sensitivity.fixed_epoch_sensitivity(matrix, epochs)
        words = f"{epochs} epochs, {np.asarray(matrix).tolist()!r}"
        yield f"fixed_epoch_sensitivity, {words}", exact * (1 - _ROUNDING), float(found), math.inf
        if epochs == 1:
            single = float(sensitivity.single_participation_sensitivity(matrix))
            yield (f"single_participation_sensitivity, {words}", *near(single, exact, _ROUNDING))
            yield (f"fixed_epoch_sensitivity, one epoch, {words}", *near(float(found), exact, _ROUNDING))


def _coefficients(random):
    """Toeplitz matrices with coefficients that fall."""
    n = _ROUNDS
    for apart in (1, 2, 4):
        most = random.choice([None, 1, 2])
        coefficients = sorted((random.random() for _ in range(random.choice([3, n]))), reverse=True)
        padded = coefficients + [0.0] * (n - len(coefficients))
        matrix = np.array([[padded[i - j] if i >= j else 0.0 for j in range(n)] for i in range(n)])
        exact = largest_norm(matrix, participations(n, apart, most))
        words = f"{coefficients!r}, n={n}, {apart} apart, at most {most}"
        found = toeplitz.minsep_sensitivity_squared(jnp.asarray(coefficients), apart, most, n)
        yield (f"minsep_sensitivity_squared, {words}", *near(float(found), exact**2, _ROUNDING))
        norm = math.fsum(x * x for x in coefficients)
        yield (
            f"sensitivity_squared, {words}",
            *near(float(toeplitz.sensitivity_squared(jnp.asarray(coefficients), n)), norm, _ROUNDING),
        )
        inverse = toeplitz.inverse_coef(jnp.asarray(padded), n)
        product = np.convolve(np.asarray(inverse, np.float64), padded)[:n]
        for place, value in enumerate(product):
            yield (
                f"inverse_coef, {words}, coefficient {place} of the product",
                *near(value, float(place == 0), 0.0, 1e-3),
            )


def _stated(function, *arguments):
    """Return a sensitivity, which is infinite where the library refuses to state one."""
    try:
        return float(function(*arguments))
    except Exception:  # noqa: BLE001  # a refusal
        return math.inf


def _crossing(random):
    """Check strategies with more bands than rounds between two of a record, whose columns are not orthogonal."""
    n = _ROUNDS
    for apart in (1, 2, 3):
        most = random.choice([None, 2, 3])
        allowed, said = list(participations(n, apart, most)), f"{apart} apart, at most {most}"
        for bands in (apart + 1, n):
            matrix = _encoder(random, n, bands)
            least, words = largest_norm(matrix, allowed) * (1 - _ROUNDING), f"{said}, {np.asarray(matrix).tolist()!r}"
            found = _stated(sensitivity.get_sensitivity_banded, matrix, apart, most)
            yield f"get_sensitivity_banded, {words}", least, found, math.inf
            found = _stated(sensitivity.get_sensitivity_banded_for_X, matrix.T @ matrix, apart, most)
            yield f"get_sensitivity_banded_for_X, {words}", least, found, math.inf
        values = np.tril(np.array([[random.uniform(0.2, 1) for _ in range(apart + 1)] for _ in range(n)])[::-1])[::-1]
        table = np.array([np.pad(row, (start, n))[:n] for start, row in enumerate(values)]).T
        least = largest_norm(table / np.linalg.norm(table, axis=0), allowed) ** 2 * (1 - _ROUNDING)
        strategy = banded.ColumnNormalizedBanded(params=jnp.asarray(values))
        found = _stated(banded.minsep_sensitivity_squared, strategy, apart, most)
        yield f"banded.minsep_sensitivity_squared, {said}, {values.tolist()!r}", least, found, math.inf


def _unordered(random):
    """Check Toeplitz matrices whose coefficients rise or are negative."""
    n = _ROUNDS
    for apart in (1, 2, 3):
        falling = sorted((random.uniform(0.1, 1) for _ in range(random.choice([apart + 2, n]))), reverse=True)
        place = random.randrange(1, len(falling))
        # of two rounds, those as far apart as two large coefficients are have more in common than closer ones
        peaks = [1.0, *[0.1] * apart, random.uniform(1, 3)]
        for coefficients, most in (
            (peaks, 2),
            (falling[::-1], random.choice([None, 2, 3])),
            ([-value for value in falling], random.choice([None, 2, 3])),
            ([value * (-1) ** index for index, value in enumerate(falling)], random.choice([None, 2, 3])),
            ([*falling[:place], *(-value for value in falling[place:])], random.choice([None, 2, 3])),
        ):
            padded = [*coefficients, *[0.0] * n][:n]
            matrix = np.array([[padded[i - j] if i >= j else 0.0 for j in range(n)] for i in range(n)])
            least = largest_norm(matrix, participations(n, apart, most)) ** 2 * (1 - _ROUNDING)
            found = _stated(toeplitz.minsep_sensitivity_squared, jnp.asarray(coefficients), apart, most, n)
            words = f"minsep_sensitivity_squared, {coefficients!r}, n={n}, {apart} apart, at most {most}"
            yield words, least, found, math.inf


def _incomplete(random):
    """Check epochs that do not divide the rounds: one round more or less lies between those of a record."""
    n = _ROUNDS
    # columns grow, so that rounds that are left out are missing
    matrix = _encoder(random, n, n) * jnp.linspace(1, 4, n)
    for epochs in (4, 5):
        least = min(
            largest_norm(matrix, [tuple(range(start, n, length)) for start in range(length)])
            for length in (n // epochs, -(-n // epochs))
        )
        found = _stated(sensitivity.fixed_epoch_sensitivity, matrix, epochs)
        words = f"fixed_epoch_sensitivity, {epochs} epochs, {np.asarray(matrix).tolist()!r}"
        yield words, least * (1 - _ROUNDING), found, math.inf


def _repeated_noise():
    """Return whether the steps after the last row of a matrix get noise of their own, or are refused."""
    privatizer = matrix_factorization_privatizer(jnp.eye(2), stddev=1.0, prng_key=3)
    zero = jnp.zeros(4)
    state, seen = privatizer.init(zero), []
    for _ in range(4):
        try:
            noisy, state = privatizer.update(zero, state)
        except Exception:  # noqa: BLE001  # a refusal
            return True
        seen.append(tuple(np.asarray(noisy).tolist()))
    return len(set(seen)) == len(seen)


def _noise_without_a_key():
    """Return whether privatizers that are given no key draw noise of their own; three equal draws are no accident."""
    zero = jnp.zeros(8)
    for make in (gaussian_privatizer, functools.partial(matrix_factorization_privatizer, jnp.eye(2))):
        seen = set()
        for _ in range(3):
            privatizer = make(stddev=1.0)
            noisy, _ = privatizer.update(zero, privatizer.init(zero))
            seen.add(tuple(np.asarray(noisy).tolist()))
        if len(seen) == 1:
            return False
    return True


def _privatizers():
    """Yield the privatizers: a name, the maker from a key, and the inverse of the noising matrix."""
    matrix, coefficients = jnp.asarray([[1.0, 0.0], [-0.5, 1.0]]), jnp.asarray([0.8, 0.6])
    yield "gaussian_privatizer", lambda key: gaussian_privatizer(stddev=_SIGMA, prng_key=key), np.eye(_STEPS)
    yield (
        "matrix_factorization_privatizer",
        lambda key: matrix_factorization_privatizer(matrix, stddev=_SIGMA, prng_key=key),
        np.linalg.inv(np.asarray(matrix, np.float64)),
    )
    yield (
        "matrix_factorization_privatizer, a streaming matrix",
        lambda key: matrix_factorization_privatizer(
            toeplitz.inverse_as_streaming_matrix(coefficients, _STEPS), stddev=_SIGMA, prng_key=key
        ),
        np.array([[0.8, 0.0], [0.6, 1.0]]),  # the Toeplitz matrix, with columns divided by their norms
    )


def _rounds(make):
    """Return a function that adds the noise of a key to the gradients of all rounds."""

    def rounds(key, data):
        privatizer = make(key)
        state, out = privatizer.init(data[0]), []
        for step in range(_STEPS):
            noisy, state = privatizer.update(data[step], state)
            out.append(noisy)
        return out

    return rounds


@functools.cache
def _compiled():
    """Return for each privatizer its name, the compiled function of `_rounds`, and the inverse of its matrix."""
    return [(name, jax.jit(_rounds(make)), encoder) for name, make, encoder in _privatizers()]


def _entries(random):
    """Compare second moments of the columns of gradients, decoded, with those of independent noise, and count rows.

    Two leaves have one shape, and each has several columns: entries must not share their noise.
    """
    zeros = {"bias": jnp.zeros((_BLOCK, 3)), "scale": jnp.zeros((_BLOCK, 3))}
    for name, rounds, encoder in _compiled():
        seed = random.getrandbits(32)
        trees = rounds(jax.random.key(seed), [zeros] * _STEPS)
        noise = [np.hstack(jax.tree.leaves(tree)) for tree in trees]
        plain = np.hstack(list(np.tensordot(encoder, np.asarray(noise, np.float64), 1))) / _SIGMA
        moments = plain.T @ plain / _BLOCK
        error = np.abs(moments - np.eye(plain.shape[1]))
        first, second = np.unravel_index(np.argmax(error), error.shape)
        words = f"{name}, key {seed}, {_BLOCK} rows"
        yield f"{words}, moment of columns {first} and {second} of both rounds", 0.0, float(error.max()), _MOMENTS
        yield (f"rows that differ, {words}", *near(float(len(np.unique(plain, axis=0))), float(_BLOCK)))
        least = 1 - _MOMENTS
        yield f"mean square of the column with least noise, {words}", least, float(moments.diagonal().min()), math.inf
        weakest = float(np.linalg.eigvalsh(moments).min())
        yield f"mean square of the direction with least noise, {words}", _WEAKEST, weakest, math.inf


def matrix_relations():
    """Yield the relations, and the mechanisms that add the noise."""
    of_toeplitz = ("minsep_sensitivity_squared", "sensitivity_squared")
    sensitivities = {
        "records far apart have the largest norm of a pattern": _separated,
        "epochs have the largest norm of a pattern": _epochs,
        "columns that are not orthogonal are refused or covered": _crossing,
        "coefficients that rise or are negative are refused or covered": _unordered,
        "epochs that are not complete are refused or covered": _incomplete,
    }
    repeated, keyless = "no noise is used twice", "without a key every run has noise of its own"
    yield Relations(
        "sensitivity, toeplitz",
        {
            **sensitivities,
            "coefficients are inverted": marked(_coefficients, protects, *of_toeplitz),
            "the noise of entries has the stated moments": marked(_entries, protects, "rows", "mean square"),
        },
        {repeated: _repeated_noise, keyless: _noise_without_a_key},
        unsafe={**dict.fromkeys(sensitivities, "below"), **dict.fromkeys((repeated, keyless), "either")},
    )
    for name, make, encoder in _privatizers():
        yield _noisy(name, make, encoder)


def _noisy(name, make, encoder):
    """Return the case of gradients in two rounds, decoded, so that independent Gaussian noise is left."""
    rounds = _rounds(make)
    many = jax.jit(jax.vmap(lambda key, data: jnp.stack(rounds(key, data)), in_axes=(0, None)))
    seeds = [0]

    def seed(number):
        seeds[0] = number

    def sample(data, size):
        blocks = []
        for _ in range(0, size, _BLOCK):
            seeds[0] += 1
            keys = jax.random.split(jax.random.key(seeds[0] % 2**32), _BLOCK)
            blocks.append(np.asarray(many(keys, jnp.asarray(data, jnp.float32)), np.float64))
        return np.concatenate(blocks)[:size] @ encoder.T

    mu = float(np.linalg.norm(encoder, 2)) / _SIGMA
    return Mechanism(
        name,
        "vector:size=2,l2=1",
        f"gdp:{mu!r}",
        sample_many=sample,
        seed=seed,
        distribution=lambda data: {
            "family": "gaussian",
            "location": (encoder @ np.asarray(data)).tolist(),
            "scale": _SIGMA,
        },
        floats=False,
        relative_error=1e-6,
        notes="the releases of two rounds, multiplied by the inverse of the noising matrix",
    )
