"""The 20 mechanisms of the common benchmark, as a user would write them: plain functions of data and a generator.

Each takes the data, a number of runs and a `numpy.random.Generator`, and returns one outcome for each run. Try

    dpassay trace examples/benchmark_rows.py:noisy_max_1 --size 5
    dpassay hunt examples/benchmark_rows.py:svt_4 --claim pure:0.1 --neighbours vector:size=10,linf=1,low=-10,high=10

Some of them are broken; the table in `benchmarks/RESULTS.md` says which, and by how much.
"""

import bisect
import hashlib

import numpy as np

EPSILON = 0.1


# --- noise on numbers ---------------------------------------------------------------------------------------


def laplace(data, size, rng):
    return [data[0] + rng.laplace(scale=1 / EPSILON) for _ in range(size)]


def noisy_hist_1(data, size, rng):
    return [tuple(data + rng.laplace(scale=1 / EPSILON, size=len(data))) for _ in range(size)]


def noisy_hist_2(data, size, rng):
    return [tuple(data + rng.laplace(scale=EPSILON, size=len(data))) for _ in range(size)]


def laplace_parallel(data, size, rng):
    return [tuple(data[0] + rng.laplace(scale=200, size=20)) for _ in range(size)]


def prefix_sum(data, size, rng):
    return [tuple(np.cumsum(data + rng.laplace(scale=1 / EPSILON, size=len(data)))) for _ in range(size)]


def truncated_geometric(data, size, rng):
    """GeoSample of Balcer and Vadhan for a count from 0 to 5: integers only, k = 3."""
    count, largest, k = int(data[0]), 5, 3
    cases = (2 ** (k + 1) + 1) * (2**k + 1) ** (largest - 1)

    def cases_up_to(z):
        if z == largest:
            return cases
        if z <= count:
            return 2 ** (k * (count - z)) * (2**k + 1) ** (largest - count + z)
        return cases - 2 ** (k * (z - count + 1)) * (2**k + 1) ** (largest - 1 - z + count)

    ends = [cases_up_to(z) for z in range(largest + 1)]
    return [bisect.bisect_left(ends, rng.integers(1, cases + 1)) for _ in range(size)]


# --- noisy max ----------------------------------------------------------------------------------------------


def noisy_max_1(data, size, rng):
    return [int(np.argmax(data + rng.laplace(scale=2 / EPSILON, size=len(data)))) for _ in range(size)]


def noisy_max_2(data, size, rng):
    return [int(np.argmax(data + rng.exponential(scale=2 / EPSILON, size=len(data)))) for _ in range(size)]


def noisy_max_3(data, size, rng):
    return [np.max(data + rng.laplace(scale=2 / EPSILON, size=len(data))) for _ in range(size)]


def noisy_max_4(data, size, rng):
    return [np.max(data + rng.exponential(scale=2 / EPSILON, size=len(data))) for _ in range(size)]


# --- sparse vector ------------------------------------------------------------------------------------------


def svt_1(data, size, rng, cutoff=1):
    def run():
        threshold = 0.5 + rng.laplace(scale=2 / EPSILON)
        answers = []
        for query in data:
            answers.append(bool(query + rng.laplace(scale=4 * cutoff / EPSILON) >= threshold))
            if sum(answers) == cutoff:
                break
        return tuple(answers)

    return [run() for _ in range(size)]


def svt_2(data, size, rng, cutoff=1):
    def run():
        threshold = 1 + rng.laplace(scale=2 * cutoff / EPSILON)
        answers = []
        for query in data:
            answers.append(bool(query + rng.laplace(scale=4 * cutoff / EPSILON) >= threshold))
            if answers[-1]:
                threshold = 1 + rng.laplace(scale=2 * cutoff / EPSILON)
            if sum(answers) == cutoff:
                break
        return tuple(answers)

    return [run() for _ in range(size)]


def svt_3(data, size, rng, cutoff=1):
    def run():
        threshold = 1 + rng.laplace(scale=2 / EPSILON)
        answers, hits = [], 0
        for query in data:
            noisy = query + rng.laplace(scale=2 * cutoff / EPSILON)
            hit = noisy >= threshold
            answers.append(noisy if hit else None)
            hits += hit
            if hits == cutoff:
                break
        return tuple(answers)

    return [run() for _ in range(size)]


def svt_4(data, size, rng, cutoff=1):
    def run():
        threshold = 1 + rng.laplace(scale=4 / EPSILON)
        answers = []
        for query in data:
            answers.append(bool(query + rng.laplace(scale=4 / (3 * EPSILON)) >= threshold))
            if sum(answers) == cutoff:
                break
        return tuple(answers)

    return [run() for _ in range(size)]


def svt_5(data, size, rng):
    def run():
        threshold = 1 + rng.laplace(scale=2 / EPSILON)
        return tuple(bool(query >= threshold) for query in data)

    return [run() for _ in range(size)]


def svt_6(data, size, rng):
    def run():
        threshold = 1 + rng.laplace(scale=2 / EPSILON)
        return tuple(bool(query + rng.laplace(scale=2 / EPSILON) >= threshold) for query in data)

    return [run() for _ in range(size)]


def numerical_svt(data, size, rng, cutoff=2):
    def run():
        threshold = 1 + rng.laplace(scale=3 / EPSILON)
        answers, hits = [], 0
        for query in data:
            hit = query + rng.laplace(scale=6 * cutoff / EPSILON) >= threshold
            answers.append(query + rng.laplace(scale=3 * cutoff / EPSILON) if hit else None)
            hits += hit
            if hits == cutoff:
                break
        return tuple(answers)

    return [run() for _ in range(size)]


def svt_34_parallel(data, size, rng):
    return [(svt_3(data, 1, rng, cutoff=2)[0], svt_4(data, 1, rng, cutoff=2)[0]) for _ in range(size)]


# --- randomised response on Bloom filters -------------------------------------------------------------------


def bloom_filter(value, bits=20, hashes=4):
    chosen = np.zeros(bits, dtype=bool)
    for k in range(hashes):
        digest = hashlib.sha256(f"{k}:{int(value)}".encode()).digest()
        chosen[int.from_bytes(digest[:8], "big") % bits] = True
    return chosen


def one_time_rappor(data, size, rng):
    bits = bloom_filter(data[0])
    coin = rng.random((size, len(bits)))
    return np.where(coin < 0.475, True, (coin >= 0.95) & bits)


def rappor(data, size, rng):
    bits = bloom_filter(data[0])
    coin = rng.random((size, len(bits)))
    permanent = np.where(coin < 0.375, True, (coin >= 0.75) & bits)
    return permanent ^ (rng.random((size, len(bits))) < 0.45)
