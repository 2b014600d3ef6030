"""Probabilities that clients of pure-ldp hold, as they are made, inside heavy hitters, and after a new epsilon.

Samples see only what is far from a formula, and no sample is drawn after `update_params`. Sizes and epsilon are those
that are given here, not read from the clients.
"""

from __future__ import annotations

import math
import operator

from pure_ldp import frequency_oracles as oracles
from pure_ldp.heavy_hitters import PEMClient, SFPClient, TreeHistClient
from pure_ldp_draws import Seeds, compared, loss_of, reports
from pure_ldp_reports import seed
from pure_ldp_words import LENGTH, START, WORDS, of_alphabet

from dpassay.adapter import Relations, spends
from dpassay.impl.libraries.references import marked, near

_WIDE, _HIGH_PRIVACY, _LOW_PRIVACY = (0.3, 3.5), (0.2, 1.0), (1.1, 4.0)
_SIZES = [2, 4, 8]


def _first(_):
    """Return the hash 0, which is one of any size; nothing here depends on hashes."""
    return 0


_HASHES = [_first] * 3


def _response(epsilon, answers):
    """Return the probabilities of the true answer and of each other one in randomised response."""
    total = math.exp(epsilon) + answers - 1
    return {"p": math.exp(epsilon) / total, "q": 1 / total}


def _hashed_response(epsilon, buckets):
    return {"g": buckets, **_response(epsilon, buckets)}


def _optimal_response(epsilon, _=None):
    return _hashed_response(epsilon, round(math.exp(epsilon)) + 1)


def _unary_bits(epsilon, _):
    kept = 1 / (1 + math.exp(-epsilon / 2))
    return {"p": kept, "q": 1 - kept}


def _general_response(epsilon, d):
    permuted = oracles.HadamardResponseServer(epsilon, d).get_hash_funcs()
    return oracles.HadamardResponseClient(epsilon, d, permuted)


_ORACLES = {
    "DEClient": (oracles.DEClient, _response, _WIDE),
    "UEClient": (oracles.UEClient, _unary_bits, _WIDE),
    "UEClient, use_oue": (
        lambda epsilon, d: oracles.UEClient(epsilon, d, use_oue=True),
        lambda epsilon, _: {"p": 0.5, "q": 1 / (1 + math.exp(epsilon))},
        _WIDE,
    ),
    # each report computes the scale of its noise from this
    "HEClient": (oracles.HEClient, lambda epsilon, _: {"epsilon": epsilon}, _WIDE),
    "LHClient": (lambda epsilon, g: oracles.LHClient(epsilon, 8, g=g), _hashed_response, _WIDE),
    "LHClient, use_olh": (
        lambda epsilon, d: oracles.LHClient(epsilon, d, use_olh=True),
        _optimal_response,
        _WIDE,
    ),
    "FastLHClient": (lambda epsilon, g: oracles.FastLHClient(epsilon, 8, 3, g=g), _hashed_response, _WIDE),
    "FastLHClient, use_olh": (
        lambda epsilon, d: oracles.FastLHClient(epsilon, d, 3, use_olh=True),
        _optimal_response,
        _WIDE,
    ),
    "HadamardResponseClient, high privacy": (
        lambda epsilon, d: oracles.HadamardResponseClient(epsilon, d, None),
        lambda epsilon, _: {"hr.pri_para": 1 / (1 + math.exp(epsilon))},
        _HIGH_PRIVACY,
    ),
    "HadamardResponseClient, general": (
        _general_response,
        lambda epsilon, _: {"hr.exp": math.exp(epsilon)},
        _LOW_PRIVACY,
    ),
    "HadamardMechClient": (
        lambda epsilon, t: oracles.HadamardMechClient(epsilon, 8, t),
        lambda epsilon, t: {"p": _response(epsilon, 2**t)["p"]},
        _WIDE,
    ),
    "CMSClient": (
        lambda epsilon, m: oracles.CMSClient(epsilon, _HASHES, m),
        lambda epsilon, _: {"prob": 1 / (1 + math.exp(epsilon / 2))},
        _WIDE,
    ),
    "CMSClient, is_hadamard": (
        lambda epsilon, m: oracles.CMSClient(epsilon, _HASHES, m, is_hadamard=True),
        lambda epsilon, _: {"prob": 1 / (1 + math.exp(epsilon))},
        _WIDE,
    ),
    "PCSClient": (
        lambda epsilon, w: oracles.PCSClient(epsilon, 3, w, [(_first, _first)] * 3),
        lambda epsilon, _: {"bias": 1 / (1 + math.exp(-epsilon))},
        _WIDE,
    ),
    "SketchResponseClient": (
        lambda epsilon, m: oracles.SketchResponseClient(epsilon, m, _HASHES, lh_k=2),
        lambda epsilon, _: {f"client.{name}": value for name, value in _optimal_response(epsilon).items()},
        _WIDE,
    ),
}
"""For each oracle: how to make a client of epsilon and a size, what it then holds, and the range of epsilon."""

# heavy hitters change the number of values, which Hadamard response refuses without new hash functions
_OF_WORDS = [name for name in _ORACLES if not name.startswith("HadamardResponse")]
_OF_SKETCHES = ["CMSClient", "CMSClient, is_hadamard", "SketchResponseClient"]


def _compared(words, client, expected):
    for name, exact in expected.items():
        yield (f"{name} of {words}", *near(operator.attrgetter(name)(client), exact))


def _updated(random):
    """Compare what clients hold, as they are made and with another epsilon, with the formulas of their papers."""
    for name, (make, held, domain) in _ORACLES.items():
        size, epsilon, other = random.choice(_SIZES), random.uniform(*domain), random.uniform(*domain)
        client = make(epsilon, size)
        words = f"{name}({epsilon!r}, {size})"
        yield from _compared(words, client, held(epsilon, size))
        client.update_params(epsilon=other)
        yield from _compared(f"{words}, update_params(epsilon={other!r})", client, held(other, size))


def _reports_of(client, value, seeds):
    """Return the probabilities of the reports of a client; Hadamard mechanisms return some as an iterator."""

    def read():
        report = client.privatise(value)
        return list(report) if isinstance(report, zip) else report

    return reports(read, seeds)


def _renewed(random):
    """Compare the probabilities of reports after `update_params` with those of a new client."""
    for name, (make, _, domain) in _ORACLES.items():
        if name == "HEClient":  # its noise has a relation of its own
            continue
        # the size of this one is the number of pairs in a report, and all reports are enumerated
        size = 2 if name == "HadamardMechClient" else random.choice(_SIZES)
        epsilon, other = random.uniform(*domain), random.uniform(*domain)
        client, renewed, seeds = make(epsilon, size), make(other, size), Seeds(random)
        client.update_params(epsilon=other)
        if name == "HadamardResponseClient, general":
            renewed.hr.permute = client.hr.permute
        words = f"{name}({epsilon!r}, {size}), update_params(epsilon={other!r})"
        found = {value: _reports_of(client, value, seeds) for value in (1, 2)}
        value = random.randint(1, 2)
        yield from compared(found[value], _reports_of(renewed, value, seeds), f"{words}, input {value}")
        yield f"loss of {words}", 0.0, loss_of(found[1], found[2]), other * (1 + 1e-9)


def _halved(random):
    """Compare what the two clients of a heavy hitter hold with the formulas at half of its epsilon."""
    for heavy, names, parts in (
        (TreeHistClient, _OF_WORDS, ("word_estimator", "fragment_estimator")),
        (SFPClient, _OF_SKETCHES, ("word_client", "fragment_client")),
    ):
        for name in names:
            make, held, domain = _ORACLES[name]
            size, epsilon, other = random.choice(_SIZES), random.uniform(*domain), random.uniform(*domain)
            alphabet = random.choice(list(WORDS))
            of_words = of_alphabet(alphabet)
            client = heavy(epsilon, random.choice([1, 2]), LENGTH, fo_client=make(other, size), **of_words)
            # only the probabilities of direct encoding depend on the number of values, which is that of all words
            expected = held(epsilon / 2, len(alphabet) ** LENGTH if name == "DEClient" else size)
            for part in parts:
                words = f"{heavy.__name__}({epsilon!r}, {name}({other!r}, {size})), letters {alphabet}, {part}"
                yield from _compared(words, getattr(client, part), expected)


def _whole(random):
    """Compare what the client of prefixes holds with the formulas at its epsilon: a user reports one prefix."""
    for name in _OF_WORDS:
        make, held, domain = _ORACLES[name]
        size, epsilon, fragment = random.choice(_SIZES), random.uniform(*domain), random.choice([1, 2])
        alphabet = random.choice(list(WORDS))
        word = random.choice(WORDS[alphabet])
        client = PEMClient(epsilon, START, LENGTH, fragment, fo_client=make(epsilon, size), **of_alphabet(alphabet))
        seed(random.getrandbits(31))  # the group of the user is drawn
        _, group = client.privatise(word)
        values = len(alphabet) ** (START + (group + 1) * fragment)
        words = f"PEMClient({epsilon!r}, {name}({size})), {word}, a report of group {group}"
        yield from _compared(words, client.client, held(epsilon, values if name == "DEClient" else size))


def _by_default(random):
    """Compare what heavy hitters hold that are given no client: it is of optimal local hashing."""
    epsilon = random.uniform(*_WIDE)
    tree, halved = TreeHistClient(epsilon, 2, LENGTH), _optimal_response(epsilon / 2)
    for part in ("word_estimator", "fragment_estimator"):
        yield from _compared(f"TreeHistClient({epsilon!r}), {part}", getattr(tree, part), halved)
    prefixes = PEMClient(epsilon, START, LENGTH, 1)
    yield from _compared(f"PEMClient({epsilon!r})", prefixes.client, _optimal_response(epsilon))


def budgets():
    """Return the relations of what clients hold."""
    return Relations(
        "clients, probabilities that they hold",
        {
            "those of oracles are those of epsilon, after update_params as well": _updated,
            "reports after update_params are those of a new client": marked(_renewed, spends, "loss of"),
            "TreeHistClient, SFPClient: both are those of half of epsilon": _halved,
            "PEMClient: they are those of epsilon": _whole,
            "heavy hitters that are given no client": _by_default,
        },
    )
