"""Heavy hitters of pure-ldp: clients that report prefixes and parts of words, and the exact distributions.

Words are neighbours whatever their lengths: they are cut or padded before anything is drawn, and the draws that choose
a part have the same range for all of them.
"""

from __future__ import annotations

from functools import reduce

from pure_ldp import frequency_oracles as oracles
from pure_ldp.heavy_hitters import PEMClient, SFPClient, TreeHistClient
from pure_ldp_reports import (
    best_buckets,
    direct_report,
    finite,
    hashed_report,
    hashing,
    mixed,
    paired,
    plain,
    report_case,
    sketch_bit,
    sketch_vector,
)

from dpassay.adapter import Family

WORDS = {"01": ["1", "01", "0110", "111010"], "abc": ["c", "abbc", "bacbab"]}
"""Words over two alphabets: shorter than the longest word, of its length, and longer."""

LENGTH, START = 4, 1
"""Letters of the longest word, and of the start of prefixes; prefixes that grow by two letters pass the longest."""

_HASHES, _SKETCH_HASHES = 2, 2
_EPSILON, _FLAGS = (0.3, 3.5), [False, True]


def number(alphabet, text):
    """Return the number that a text without padding has in the base of an alphabet."""
    return reduce(lambda total, letter: total * len(alphabet) + alphabet.index(letter), text, 0)


def of_alphabet(alphabet):
    """Return the arguments that clients take for an alphabet: the binary one is their default."""
    if alphabet == "01":
        return {}
    return {"alphabet": list(alphabet), "index_mapper": lambda text: number(alphabet, text)}


def _padded(word):
    return word[:LENGTH].ljust(LENGTH, "*")


def _index(alphabet, text):
    return number(alphabet, text.split("*")[0])


def _case(client, epsilon, alphabet, reported):
    words = WORDS[alphabet]

    def privatise(value):
        return plain(client.privatise(words[value - 1]))

    def distribution(index):
        return finite(reported(_padded(words[index])))

    return report_case(privatise, len(words), epsilon, distribution=distribution)


def _prefix_extending(epsilon, fragment, alphabet, direct):
    oracle = oracles.DEClient(epsilon, 2) if direct else oracles.FastLHClient(epsilon, None, _HASHES, use_olh=True)
    client = PEMClient(epsilon, START, LENGTH, fragment, fo_client=oracle, **of_alphabet(alphabet))
    ends = range(START + fragment, LENGTH + fragment, fragment)

    def reported(word):
        parts = []
        for group, end in enumerate(ends):
            index = _index(alphabet, word[:end])
            if direct:
                report = direct_report(epsilon, len(alphabet) ** end, index)
            else:
                report = hashed_report(epsilon, best_buckets(epsilon), _HASHES, index)
            parts.append({(outcome, group): p for outcome, p in report.items()})
        return mixed(parts)

    return _case(client, epsilon, alphabet, reported)


def _tree_histogram(epsilon, fragment, alphabet):
    oracle = oracles.FastLHClient(epsilon, None, _HASHES, use_olh=True)
    client = TreeHistClient(epsilon, fragment, LENGTH, fo_client=oracle, **of_alphabet(alphabet))

    def half(text):
        return hashed_report(epsilon / 2, best_buckets(epsilon / 2), _HASHES, _index(alphabet, text))

    def reported(word):
        ends = range(fragment, LENGTH + 1, fragment)
        return paired(mixed([half(word[:end]) for end in ends]), half(word))

    return _case(client, epsilon, alphabet, reported)


def _fragment_puzzle(epsilon, fragment, alphabet, is_hadamard):
    size = 4 if is_hadamard else 2
    hashes = [hashing(seed, size) for seed in range(_SKETCH_HASHES)]
    sketch = oracles.CMSClient(epsilon, hashes, size, is_hadamard=is_hadamard)
    client = SFPClient(epsilon, fragment, LENGTH, fo_client=sketch, **of_alphabet(alphabet))
    report = sketch_bit if is_hadamard else sketch_vector

    def half(text):
        return report(epsilon / 2, size, hashes, text)

    def reported(word):
        name, starts = client.hash_256(word), range(0, LENGTH, fragment)
        return mixed([paired(half(f"{name}_{word[at : at + fragment]}"), half(word), at) for at in starts])

    return _case(client, epsilon, alphabet, reported)


def heavy_hitters():
    """Yield the cases of clients that report words."""
    parameters = {"epsilon": _EPSILON, "fragment": [1, 2], "alphabet": list(WORDS)}
    yield Family("PEMClient", _prefix_extending, {**parameters, "direct": _FLAGS})
    yield Family("TreeHistClient", _tree_histogram, parameters)
    yield Family("SFPClient", _fragment_puzzle, {**parameters, "fragment": [2], "is_hadamard": _FLAGS})
