"""pure-ldp: frequency oracles and heavy hitters of the local model, in which a user's report is one release.

All values of a domain are neighbours. The distributions are those of the papers behind the oracles, computed here from
epsilon and the sizes, not read from the probabilities that the library computes.
"""

from __future__ import annotations

import itertools
import math

from pure_ldp import frequency_oracles as oracles
from pure_ldp_budgets import budgets
from pure_ldp_draws import draws_of
from pure_ldp_reports import (
    best_buckets,
    direct_report,
    finite,
    hashed_report,
    hashing,
    is_even,
    mixed,
    plain,
    report_case,
    sketch_bit,
    sketch_vector,
)
from pure_ldp_words import heavy_hitters

from dpassay.adapter import Family, Nonsense, Relations
from dpassay.impl.libraries.references import near

LIBRARY = "pure-ldp"

_EPSILON = (0.3, 3.5)
_HASHES = 3
"""Hash functions of oracles that choose one at random: few, so that all outcomes are seen."""


def _call(client, arguments):
    words = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"from pure_ldp.frequency_oracles import {client}\n{client}({words}).privatise(int({{data}}[0]))"


# --- oracles that report a value, a vector of bits or a histogram -----------------------------------------------


def _direct(epsilon, d):
    client = oracles.DEClient(epsilon, d)

    def distribution(index):
        return finite(direct_report(epsilon, d, index))

    call = _call("DEClient", {"epsilon": epsilon, "d": d})
    return report_case(lambda value: plain(client.privatise(value)), d, epsilon, distribution=distribution, call=call)


def _bits_distribution(size, ones):
    """Return the distribution of independent bits; `ones` has the probability that each is 1."""
    return finite({
        bits: math.prod(chance if bit else 1 - chance for bit, chance in zip(bits, ones))
        for bits in itertools.product((0, 1), repeat=size)
    })  # fmt: skip


def _unary(epsilon, d, use_oue):
    client = oracles.UEClient(epsilon, d, use_oue=use_oue)
    kept = 0.5 if use_oue else 1 / (1 + math.exp(-epsilon / 2))
    flipped = 1 / (1 + math.exp(epsilon)) if use_oue else 1 - kept

    def distribution(index):
        return _bits_distribution(d, [kept if place == index else flipped for place in range(d)])

    call = _call("UEClient", {"epsilon": epsilon, "d": d, "use_oue": use_oue})
    return report_case(lambda value: plain(client.privatise(value)), d, epsilon, distribution=distribution, call=call)


def _histogram(epsilon, d):
    client = oracles.HEClient(epsilon, d)

    def distribution(index):
        return {"family": "laplace", "location": [float(place == index) for place in range(d)], "scale": 2 / epsilon}

    call = _call("HEClient", {"epsilon": epsilon, "d": d})
    return report_case(
        lambda value: plain(client.privatise(value)), d, epsilon, distribution=distribution, floats=False, call=call
    )


# --- oracles that report a hash ---------------------------------------------------------------------------------


def _local_hashing(epsilon, g, use_olh):
    """Hashes have seeds of 63 bits: the report is read as the hashes of all values beside the noisy hash."""
    d = 2  # as few values as possible: an outcome has a hash of each
    client = oracles.LHClient(epsilon, d, g=g, use_olh=use_olh)
    buckets = best_buckets(epsilon) if use_olh else g

    def privatise(value):
        noisy, seed = client.privatise(value)
        return [*(hashing(seed, client.g)(index) for index in range(d)), int(noisy)]

    def distribution(index):
        return finite({
            (*hashes, noisy): weight
            for hashes in itertools.product(range(buckets), repeat=d)
            for noisy, weight in direct_report(epsilon, buckets, hashes[index]).items()
        })  # fmt: skip

    call = _call("LHClient", {"epsilon": epsilon, "d": d, "g": g, "use_olh": use_olh})
    return report_case(
        privatise, d, epsilon, distribution=distribution, call=call, notes="the hash is taken to be uniform"
    )


def _fast_local_hashing(epsilon, g, use_olh):
    d = 4
    client = oracles.FastLHClient(epsilon, d, _HASHES, g=g, use_olh=use_olh)
    buckets = best_buckets(epsilon) if use_olh else g

    def distribution(index):
        return finite(hashed_report(epsilon, buckets, _HASHES, index))

    call = _call("FastLHClient", {"epsilon": epsilon, "d": d, "k": _HASHES, "g": g, "use_olh": use_olh})
    return report_case(lambda value: plain(client.privatise(value)), d, epsilon, distribution=distribution, call=call)


# --- Hadamard matrices ------------------------------------------------------------------------------------------


def _few_outputs(epsilon, d):
    """Hadamard response for epsilon of at most 1: an output of the value's row is e^epsilon times as probable."""
    client = oracles.HadamardResponseClient(epsilon, d, None)
    outputs = 2 ** math.ceil(math.log2(d + 1))

    def distribution(index):
        return finite({
            output: math.exp(epsilon) if is_even(output & (index + 1)) else 1.0 for output in range(outputs)
        })  # fmt: skip

    call = _call("HadamardResponseClient", {"epsilon": epsilon, "d": d, "hash_funcs": None})
    return report_case(lambda value: plain(client.privatise(value)), d, epsilon, distribution=distribution, call=call)


def _many_outputs(epsilon, d):
    """Hadamard response in general (Acharya and others 2019): rows of a block diagonal matrix.

    A value has a block and a row in it; the outputs in its block whose entry in the row is 1 are e^epsilon times as
    probable as all others. The permutation is public, and fixed, so that it is the same in all processes.
    """
    permuted = [(value + 1) % d for value in range(d)]
    client = oracles.HadamardResponseClient(epsilon, d, permuted)
    blocks = 2 ** math.floor(math.log2(min(math.exp(epsilon), 2 * d)))
    size = 2 ** math.ceil(math.log2(d / blocks + 1))

    def distribution(index):
        block, row = divmod(permuted[index], size - 1)  # without the first row of a block, which is that of ones
        first = block * size
        likely = {first + place for place in range(size) if is_even(place & (row + 1))}
        return finite({output: math.exp(epsilon) if output in likely else 1.0 for output in range(blocks * size)})

    call = (
        "from pure_ldp.frequency_oracles import HadamardResponseClient, HadamardResponseServer\n"
        f"functions = HadamardResponseServer({epsilon!r}, {d!r}).get_hash_funcs()\n"
        f"HadamardResponseClient({epsilon!r}, {d!r}, functions).privatise(int({{data}}[0]))"
    )
    return report_case(lambda value: plain(client.privatise(value)), d, epsilon, distribution=distribution, call=call)


def _hadamard_report(epsilon, d, t, as_returned):
    """Return the case of reports as lists of pairs, or with the name of the type that the library returns.

    Without `t`, the number of pairs is the one that the library finds best.
    """
    client = oracles.HadamardMechClient(epsilon, d, t, use_optimal_t=t is None)
    t = math.ceil(math.log2(math.exp(epsilon) + 1)) if t is None else t

    def privatise(value):
        report = client.privatise(value)
        name, pairs = type(report).__name__, plain(list(report))
        return [name, pairs] if as_returned else pairs

    def distribution(index):
        signs = list(itertools.product((-1, 1), repeat=t))
        weights = {}
        for places in itertools.product(range(d), repeat=t):
            true = tuple(1 if is_even(place & index) else -1 for place in places)
            for reported in signs:
                report = tuple([place, sign] for place, sign in zip(places, reported))
                weights[tuple(map(tuple, report))] = math.exp(epsilon) if reported == true else 1.0
        return {
            "family": "finite",
            "symbols": [[list(pair) for pair in report] for report in weights],
            "probabilities": list(weights.values()),
        }

    call = _call("HadamardMechClient", {"epsilon": epsilon, "d": d, "t": t})
    return report_case(privatise, d, epsilon, distribution=None if as_returned else distribution, call=call)


# --- sketches ---------------------------------------------------------------------------------------------------


def _count_mean_sketch(epsilon, m, is_hadamard):
    hashes = [hashing(seed, m) for seed in range(_HASHES)]
    client = oracles.CMSClient(epsilon, hashes, m, is_hadamard=is_hadamard)
    report = sketch_bit if is_hadamard else sketch_vector

    def distribution(index):
        return finite(report(epsilon, m, hashes, index + 1))

    return report_case(lambda value: plain(client.privatise(value)), 3, epsilon, distribution=distribution)


def _count_sketch(epsilon, w):
    pairs = [(hashing(seed, w), hashing(seed + _HASHES, 2)) for seed in range(_HASHES)]
    client = oracles.PCSClient(epsilon, _HASHES, w, pairs)

    def distribution(index):
        weights = {}
        for choice, (placed, signed) in enumerate(pairs):
            true = 2 * signed(index + 1) - 1
            for signs in itertools.product((-1, 1), repeat=w):
                weights[(*signs, choice)] = math.exp(epsilon) if signs[placed(index + 1)] == true else 1.0
        return {
            "family": "finite",
            "symbols": [[list(symbol[:-1]), symbol[-1]] for symbol in weights],
            "probabilities": list(weights.values()),
        }

    return report_case(lambda value: plain(client.privatise(value)), 3, epsilon, distribution=distribution)


def _sketch_response(epsilon, m, count_sketch):
    """Return the case of an entry of a sketch, a place or a place and its sign, that local hashing reports."""
    inner = 2  # hash functions of the report, beside those of the sketch
    if count_sketch:
        hashes = [(hashing(seed, m), hashing(seed + _HASHES, 2)) for seed in range(_HASHES)]
    else:
        hashes = [hashing(seed, m) for seed in range(_HASHES)]
    client = oracles.SketchResponseClient(epsilon, m, hashes, lh_k=inner, count_sketch=count_sketch)

    def entry(hashed, index):
        """Return the number of an entry; those with a negative sign stand behind the others, in reverse."""
        if not count_sketch:
            return hashed(index)
        place, positive = hashed[0](index), hashed[1](index) == 1
        return place if positive else 2 * m - 1 - place

    def distribution(index):
        parts = [hashed_report(epsilon, best_buckets(epsilon), inner, entry(hashed, index)) for hashed in hashes]
        return finite(
            mixed([{(report, choice): p for report, p in part.items()} for choice, part in enumerate(parts)])
        )

    return report_case(lambda value: plain(client.privatise(value)), 4, epsilon, distribution=distribution)


# --- RAPPOR -----------------------------------------------------------------------------------------------------


def _bloom_filters(f, size, functions):
    """Return a client whose cohorts have `functions` hash functions each, and its hash functions."""
    hashes = [[hashing(2 * cohort + place, size) for place in range(functions)] for cohort in range(2)]
    return oracles.RAPPORClient(f, size, hashes, num_of_cohorts=2), hashes


def _rappor(f, functions):
    size, values = 4, 3
    client, hashes = _bloom_filters(f, size, functions)

    def distribution(index):
        weights = {}
        for cohort, functions_of in enumerate(hashes):
            filled = {hashed(index) for hashed in functions_of}
            for bits in itertools.product((0, 1), repeat=size):
                weights[(*bits, cohort)] = math.prod(
                    1 - f / 2 if bit == (place in filled) else f / 2 for place, bit in enumerate(bits)
                )
        return {
            "family": "finite",
            "symbols": [[list(symbol[:-1]), symbol[-1]] for symbol in weights],
            "probabilities": list(weights.values()),
        }

    claim = float(client.convert_f_to_eps(f, functions))
    return report_case(lambda value: plain(client.privatise(value)), values, claim, distribution=distribution)


def _rappor_of_epsilon(epsilon):
    size, values = 4, 3
    chosen = oracles.RAPPORClient(0.5, size, []).convert_eps_to_f(epsilon)
    client, _ = _bloom_filters(chosen, size, 1)
    return report_case(lambda value: plain(client.privatise(value)), values, epsilon)


# --- refusals and conversions ------------------------------------------------------------------------------------


def _nonsense():
    clients = {
        "DEClient": lambda epsilon: oracles.DEClient(epsilon, 4).privatise(1),
        "UEClient": lambda epsilon: oracles.UEClient(epsilon, 4).privatise(1),
        "HEClient": lambda epsilon: oracles.HEClient(epsilon, 4).privatise(1),
        "LHClient": lambda epsilon: oracles.LHClient(epsilon, 4).privatise(1),
        "CMSClient": lambda epsilon: oracles.CMSClient(epsilon, [hashing(0, 4)], 4).privatise(1),
        "HadamardMechClient": lambda epsilon: oracles.HadamardMechClient(epsilon, 4, 2).privatise(1),
    }
    for name, privatise in clients.items():
        attempts = {f"epsilon={value}": lambda make=privatise, value=value: make(value) for value in (-1.0, math.nan)}
        yield Nonsense(f"{name}, invalid", attempts)
    yield Nonsense(
        "RAPPORClient, invalid",
        {f"f={value}": lambda value=value: _bloom_filters(value, 4, 1)[0].privatise(1) for value in (-0.5, 0.0, 2.5)},
    )


def _loss_of_f(f):
    """Return the epsilon of a Bloom filter in which one hash function sets a bit (Erlingsson and others 2014)."""
    return 2 * math.log((2 - f) / f) if f > 0 else math.inf


def _converted(random):
    client = _bloom_filters(0.5, 4, 1)[0]
    for functions in (1, 2, 3):
        f = random.uniform(0.05, 0.95)
        exact = functions * _loss_of_f(f)
        yield (f"convert_f_to_eps({f!r}, {functions})", *near(client.convert_f_to_eps(f, functions), exact))


def _conversions():
    """Return the relations of the conversions of RAPPOR; those from epsilon assume one hash function."""
    client = _bloom_filters(0.5, 4, 1)[0]
    facts = {
        f"convert_eps_to_f({epsilon}) costs no more": lambda epsilon=epsilon: (
            _loss_of_f(client.convert_eps_to_f(epsilon)) <= epsilon * (1 + 1e-9)
        )
        for epsilon in (0.1, 1.0, 2.0, 3.0, 8.0, 12.0)
    }
    exact = "convert_f_to_eps is exact"
    return Relations(
        "RAPPORClient, conversions",
        {exact: _converted},
        facts,
        unsafe=dict.fromkeys(facts, "either"),
        understated=[exact],
    )


def cases():
    """Return all cases."""
    flags = [False, True]
    found = [
        Family("DEClient", _direct, {"epsilon": _EPSILON, "d": [2, 3, 6]}),
        Family("UEClient", _unary, {"epsilon": _EPSILON, "d": [2, 4], "use_oue": flags}),
        Family("HEClient", _histogram, {"epsilon": _EPSILON, "d": [2, 3]}),
        Family("LHClient", _local_hashing, {"epsilon": (0.3, 1.9), "g": [2, 3], "use_olh": flags}),
        Family("FastLHClient", _fast_local_hashing, {"epsilon": (0.3, 2.5), "g": [2, 5], "use_olh": flags}),
        Family("HadamardResponseClient, high privacy", _few_outputs, {"epsilon": (0.2, 1.0), "d": [2, 4, 7]}),
        Family("HadamardResponseClient, general", _many_outputs, {"epsilon": (1.1, 4.0), "d": [3, 5]}),
        Family(
            "HadamardMechClient, pairs",
            lambda epsilon, d, t: _hadamard_report(epsilon, d, t, False),
            {"epsilon": _EPSILON, "d": [2, 4], "t": [1, 2]},
        ),
        Family(
            "HadamardMechClient, as returned",
            lambda epsilon, d, t: _hadamard_report(epsilon, d, t, True),
            {"epsilon": _EPSILON, "d": [2, 4], "t": [1, 2]},
        ),
        Family("CMSClient", _count_mean_sketch, {"epsilon": _EPSILON, "m": [2, 4], "is_hadamard": flags}),
        Family("PCSClient", _count_sketch, {"epsilon": _EPSILON, "w": [2, 4]}),
        Family("SketchResponseClient", _sketch_response, {"epsilon": (0.3, 2.5), "m": [3], "count_sketch": flags}),
        Family("RAPPORClient", _rappor, {"f": (0.15, 0.9), "functions": [1, 2]}),
        Family("RAPPORClient, convert_eps_to_f", _rappor_of_epsilon, {"epsilon": (0.3, 6.0)}),
        *heavy_hitters(),
    ]
    optimal = Family(
        "HadamardMechClient, use_optimal_t",
        lambda epsilon, d: _hadamard_report(epsilon, d, None, False),
        {"epsilon": (0.3, 1.9), "d": [2, 4]},
    )
    return [*found, budgets(), draws_of([*found, optimal]), _conversions(), *_nonsense()]
