"""Reports of clients of pure-ldp: how they are read, and distributions of the papers that several clients share."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import xxhash

from dpassay.adapter import Mechanism

_ROUNDING = 1e-9
"""Relative; probabilities are float64 numbers."""


def seed(number):
    """Seed both generators that the library draws from."""
    random.seed(number)
    np.random.seed(number % 2**32)  # noqa: NPY002  # the generator that the library draws from


def plain(report):
    """Return a report with lists and numbers in place of arrays and tuples."""
    if isinstance(report, (list, tuple, np.ndarray)):
        return [plain(part) for part in report]
    return report.item() if isinstance(report, np.generic) else report


def hashing(seed, size):
    """Return a hash function of texts, as servers of the library make them."""
    return lambda text: xxhash.xxh32(str(text), seed=seed).intdigest() % size


def finite(weights):
    """Return a distribution as the suite reads it, of weights by outcome."""
    return {"family": "finite", "symbols": list(map(plain, weights)), "probabilities": list(weights.values())}


def report_case(privatise, values, claim, *, distribution=None, floats=True, call="", slow=True, **more):
    """Return the case of a client whose inputs are the numbers 1 to `values`; all pairs are neighbours."""
    return Mechanism(
        "",
        f"vector:size=1,linf={values - 1},low=1,high={values},integer",
        f"pure:{claim!r}",
        sample_one=lambda data: privatise(int(data[0])),
        distribution=None if distribution is None else (lambda data: distribution(int(data[0]) - 1)),
        seed=seed,
        relative_error=_ROUNDING,
        floats=floats,
        slow=slow,
        call=call,
        **more,
    )


# --- distributions, as probabilities of outcomes; outcomes are tuples, and tuples of tuples ---------------------


def normalised(weights):
    """Return probabilities in the ratio of weights."""
    total = math.fsum(weights.values())
    return {outcome: weight / total for outcome, weight in weights.items()}


def mixed(parts):
    """Return the distribution of one of several, which are chosen with the same probability."""
    mixture = {}
    for part in parts:
        for outcome, probability in part.items():
            mixture[outcome] = mixture.get(outcome, 0.0) + probability / len(parts)
    return mixture


def paired(first, second, *beside):
    """Return the distribution of two independent reports, and of what stands beside them."""
    return {(one, other, *beside): p * q for (one, p), (other, q) in itertools.product(first.items(), second.items())}


def direct_report(epsilon, d, index):
    """Return the distribution of randomised response."""
    return normalised({value: math.exp(epsilon) if value == index else 1.0 for value in range(d)})


def best_buckets(epsilon):
    """Return the number of buckets of optimal local hashing."""
    return round(math.exp(epsilon)) + 1


def hashed_report(epsilon, buckets, hashes, index):
    """Return the distribution of a noisy hash beside the number of the hash function."""
    return mixed([
        {(noisy, number): p for noisy, p in direct_report(epsilon, buckets, hashing(number, buckets)(index)).items()}
        for number in range(hashes)
    ])  # fmt: skip


def sketch_vector(epsilon, m, hashes, text):
    """Return the distribution of a row of signs, each of which is flipped, beside the number of its hash function."""
    kept, weights = 1 / (1 + math.exp(-epsilon / 2)), {}
    for choice, hashed in enumerate(hashes):
        true = [1 if place == hashed(text) else -1 for place in range(m)]
        for signs in itertools.product((-1, 1), repeat=m):
            weights[signs, choice] = math.prod(kept if sign == right else 1 - kept for sign, right in zip(signs, true))
    return normalised(weights)


def is_even(number):
    """Return whether the number of ones among the bits is even."""
    return bin(number).count("1") % 2 == 0


def sketch_bit(epsilon, m, hashes, text):
    """Return the distribution of an entry of a Hadamard matrix, beside its hash function and its column."""
    return normalised({
        (sign, choice, place): math.exp(epsilon) if (sign == 1) == is_even(place & hashed(text)) else 1.0
        for choice, hashed in enumerate(hashes)
        for place in range(m)
        for sign in (-1, 1)
    })  # fmt: skip
