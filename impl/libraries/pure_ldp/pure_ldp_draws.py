"""Exact distributions of the reports of pure-ldp: all draws of its generators are enumerated with their probabilities.

Samples see only what is far from a formula, and what a client holds is not what it uses. A number between 0 and 1 is
not drawn but compared: each comparison divides the interval in which it lies.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
import re
from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np
from pure_ldp import frequency_oracles as oracles
from pure_ldp.heavy_hitters import PEMClient, TreeHistClient
from pure_ldp_reports import best_buckets, direct_report, hashing, paired, plain
from pure_ldp_words import LENGTH, START, WORDS, number, of_alphabet

from dpassay.adapter import Relations, protects, spends
from dpassay.impl.libraries.references import marked, near

_APART = ("HEClient", "LHClient", "RAPPORClient", "HadamardMechClient, as returned")
"""Families without finite distributions, or whose draws are known to be others."""

_MANY = 10_000
"""Integers beyond this number are not enumerated: seeds of hash functions, which are released."""


class _Draws:
    """One way after another through the draws of a call: the options that were taken, and how many each draw had."""

    def __init__(self, chosen):
        self._chosen, self._start = chosen, []
        self.taken, self.options, self.probability = [], [], 1.0

    def take(self, weights):
        """Return the number of an option, which is taken with the probability of its weight."""
        possible = [number for number, weight in enumerate(weights) if weight > 0]
        place = len(self.taken)
        option = self._start[place] if place < len(self._start) else 0
        self.taken.append(option)
        self.options.append(len(possible))
        self.probability *= weights[possible[option]] / math.fsum(weights)
        return possible[option]

    def integer(self, low, high):
        """Return an integer of a range with both ends."""
        low, high = int(low), int(high)
        if high - low >= _MANY:
            return self._chosen(low, high)
        return low + self.take([1.0] * (high - low + 1))

    def turn(self):
        """Turn to the next way, and return whether there is one."""
        while self.taken and self.taken[-1] + 1 == self.options[len(self.taken) - 1]:
            self.taken.pop()
        more = bool(self.taken)
        self._start = [*self.taken[:-1], self.taken[-1] + 1] if more else []
        self.taken, self.options, self.probability = [], [], 1.0
        return more


class _Uniform:
    """A uniform number between 0 and 1, of which only an interval is known."""

    def __init__(self, draws):
        self._draws, self._low, self._high = draws, 0.0, 1.0

    def _is_below(self, threshold):
        cut = min(max(float(threshold), self._low), self._high)
        below = self._draws.take([cut - self._low, self._high - cut]) == 0
        if below:
            self._high = cut
        else:
            self._low = cut
        return below

    # ties have probability 0
    __lt__ = __le__ = _is_below

    def __gt__(self, threshold):
        return not self._is_below(threshold)

    __ge__ = __gt__


def _filled(size, draw):
    """Return one draw, or an array of independent ones."""
    if size is None:
        return draw()
    shape = tuple(size) if isinstance(size, (tuple, list)) else (int(size),)
    return np.array([draw() for _ in range(math.prod(shape))]).reshape(shape)


def _in_place(draws):
    """Return the functions of both generators that the library uses, and some that it could use instead."""

    def uniform(size=None):
        return _filled(size, lambda: _Uniform(draws))

    def choices(population, weights=None, *, k=1):
        shares = [1.0] * len(population) if weights is None else list(weights)
        return [population[draws.take(shares)] for _ in range(k)]

    def integers(low, high=None, size=None):
        first, end = (0, low) if high is None else (low, high)
        return _filled(size, lambda: draws.integer(first, int(end) - 1))

    def choice(options, size=None, *, p=None):
        values = list(range(options)) if isinstance(options, int) else list(options)
        shares = [1.0] * len(values) if p is None else [float(share) for share in p]
        return _filled(size, lambda: values[draws.take(shares)])

    def binomial(trials, chance, size=None):
        shares = [
            math.comb(trials, ones) * chance**ones * (1 - chance) ** (trials - ones) for ones in range(trials + 1)
        ]
        return _filled(size, lambda: draws.take(shares))

    return {
        random: {
            "random": uniform,
            "randint": draws.integer,
            "choices": choices,
            "choice": lambda options: choices(options)[0],
        },
        np.random: {
            "random_sample": uniform,
            "random": uniform,
            "rand": lambda *shape: uniform(shape or None),
            "randint": integers,
            "choice": choice,
            "binomial": binomial,
        },
    }


@contextmanager
def _replaced(functions):
    with ExitStack() as stack:
        for owner, named in functions.items():
            stack.enter_context(mock.patch.multiple(owner, **named))
        yield


def _refused(low, high):
    raise AssertionError(f"a draw of an integer from {low} to {high} is not enumerated")


def reports(call, chosen=_refused):
    """Return the probabilities of what a call returns; `chosen` returns an integer of a range that is too large."""
    found, draws, more = {}, _Draws(chosen), True
    with _replaced(_in_place(draws)):
        while more:
            report = repr(plain(call()))
            found[report] = found.get(report, 0.0) + draws.probability
            more = draws.turn()
    return found


# --- relations --------------------------------------------------------------------------------------------------


def compared(found, exact, words):
    """Compare the probabilities of reports with those of a distribution."""
    for report in sorted(found.keys() | exact.keys()):
        yield (f"probability of {report}, {words}", *near(found.get(report, 0.0), exact.get(report, 0.0)))


def loss_of(left, right):
    """Return the largest logarithm of the ratio of two distributions."""
    losses = [0.0]
    for report in left.keys() | right.keys():
        p, q = left.get(report, 0.0), right.get(report, 0.0)
        if p or q:
            losses.append(abs(math.log(p / q)) if p and q else math.inf)
    return max(losses)


def _stated(family):
    """Return the relation between the draws of a client and the distribution that its case states."""
    domains = family.parameters
    choices = {name: domain for name, domain in domains.items() if isinstance(domain, list)}

    def relation(random):
        for chosen in itertools.product(*choices.values()):
            arguments = {
                **{name: random.uniform(*domain) for name, domain in domains.items() if name not in choices},
                **dict(zip(choices, chosen)),
            }
            yield from _of_member(family.member(arguments))

    return relation


def _of_member(member):
    """Compare reports of all inputs with their distributions, and the largest loss with the claim."""
    inputs = int(re.search(r"high=(\d+)", member.neighbours)[1])
    found = []
    for value in range(1, inputs + 1):
        stated = member.distribution([value])
        total = math.fsum(stated["probabilities"])
        exact = {repr(symbol): p / total for symbol, p in zip(stated["symbols"], stated["probabilities"])}
        found.append(reports(functools.partial(member.sample_one, [value])))
        yield from compared(found[-1], exact, f"{member.name}, input {value}")
    epsilon = float(member.claim.removeprefix("pure:"))
    loss = max(itertools.starmap(loss_of, itertools.combinations(found, 2)))
    yield f"loss of {member.name}", 0.0, loss, epsilon * (1 + 1e-9)


class Seeds:
    """Hands out one seed for hash functions, and notes the ranges that it is drawn from."""

    def __init__(self, random):
        self.number, self.ranges = random.getrandbits(62), set()

    def __call__(self, low, high):
        """Return the seed; for `reports`."""
        self.ranges.add((low, high))
        return self.number


def _of_local_hashing(random):
    """Compare reports of local hashing, also inside heavy hitters that are given no client, given the seed."""
    epsilon, g, d = random.uniform(0.3, 3.5), random.randint(2, 6), 5
    seeds = Seeds(random)

    def hashed(epsilon, buckets, index):
        response = direct_report(epsilon, buckets, hashing(seeds.number, buckets)(index))
        return {(noisy, seeds.number): p for noisy, p in response.items()}

    for words, client, buckets in (
        (f"LHClient({epsilon!r}, {d}, g={g})", oracles.LHClient(epsilon, d, g=g), g),
        (
            f"LHClient({epsilon!r}, {d}, use_olh=True)",
            oracles.LHClient(epsilon, d, use_olh=True),
            best_buckets(epsilon),
        ),
    ):
        both = []
        for value in random.sample(range(1, d + 1), 2):
            both.append(reports(lambda client=client, value=value: client.privatise(value), seeds))
            exact = hashed(epsilon, buckets, value - 1)
            yield from compared(both[-1], _in_words(exact), f"{words}, input {value}")
        yield f"loss of {words}", 0.0, loss_of(*both), epsilon * (1 + 1e-9)
    alphabet = random.choice(list(WORDS))
    of_words = of_alphabet(alphabet)
    prefixes = PEMClient(epsilon, START, LENGTH, LENGTH - START, **of_words)
    tree = TreeHistClient(epsilon, LENGTH, LENGTH, **of_words)
    of_prefixes, of_trees = [], []
    for word in random.sample(WORDS[alphabet], 2):
        index = number(alphabet, word[:LENGTH])
        exact = {(report, 0): p for report, p in hashed(epsilon, best_buckets(epsilon), index).items()}
        of_prefixes.append(reports(lambda word=word: prefixes.privatise(word), seeds))
        yield from compared(of_prefixes[-1], _in_words(exact), f"PEMClient({epsilon!r}), {word}")
        half = hashed(epsilon / 2, best_buckets(epsilon / 2), index)
        of_trees.append(reports(lambda word=word: tree.privatise(word), seeds))
        yield from compared(of_trees[-1], _in_words(paired(half, half)), f"TreeHistClient({epsilon!r}), {word}")
    yield f"loss of PEMClient({epsilon!r})", 0.0, loss_of(*of_prefixes), epsilon * (1 + 1e-9)
    yield f"loss of TreeHistClient({epsilon!r})", 0.0, loss_of(*of_trees), epsilon * (1 + 1e-9)
    yield f"ranges of seeds, epsilon {epsilon!r}, g {g}", 1, len(seeds.ranges), 1


def _in_words(exact):
    """Return a distribution by the texts of its outcomes."""
    return {repr(plain(outcome)): p for outcome, p in exact.items()}


def _of_histograms(random):
    """Compare the noise of histograms with its definition, as clients are made and with another epsilon."""
    d = random.randint(2, 5)
    epsilon, other = random.uniform(0.3, 3.5), random.uniform(0.3, 3.5)
    client = oracles.HEClient(epsilon, d)
    for spent in (epsilon, other):
        client.update_params(epsilon=spent)
        for value in random.sample(range(1, d + 1), 2):
            words = f"HEClient({epsilon!r}, {d}), epsilon {spent!r}, input {value}"
            scales, noise = [], [random.randint(-64, 64) / 8 for _ in range(d)]

            def known(loc=0.0, scale=1.0, size=None, scales=scales, noise=noise):
                scales.append(float(scale))
                return loc + (np.array(noise) if size is not None else noise[0])

            with _replaced({np.random: {"laplace": known}}):
                report = client.privatise(value)
            yield f"draws of noise, {words}", 1, len(scales), 1
            for scale in scales:
                yield (f"scale, {words}", *near(scale, 2 / spent))
            for place, (found, added) in enumerate(zip(report, noise)):
                exact = added + (place == value - 1)
                yield f"entry {place}, {words}, {noise!r}", exact, float(found), exact


def _of_bloom_filters(random):
    """Compare bits of RAPPOR that are 0 in the filter with their distribution; those that are 1 are known to stay."""
    f, size, cohorts, functions = random.uniform(0.15, 0.9), 4, 3, random.randint(1, 2)
    hashes = [[hashing(functions * cohort + place, size) for place in range(functions)] for cohort in range(cohorts)]
    client = oracles.RAPPORClient(f, size, hashes, num_of_cohorts=cohorts)
    for value in random.sample(range(1, 6), 2):
        zeros = [
            [place for place in range(size) if place not in {hashed(value - 1) for hashed in functions_of}]
            for functions_of in hashes
        ]
        exact = {
            (bits, cohort): math.prod(f / 2 if bit else 1 - f / 2 for bit in bits) / cohorts
            for cohort in range(cohorts)
            for bits in itertools.product((0, 1), repeat=len(zeros[cohort]))
        }

        def read(value=value, zeros=zeros):
            bits, cohort = client.privatise(value)
            return [bits[place] for place in zeros[cohort]], cohort

        words = (
            f"RAPPORClient({f!r}, {size}), {functions} hash functions, input {value}, bits that are 0 in the filter"
        )
        yield from compared(reports(read), _in_words(exact), words)


def draws_of(families):
    """Return the relations between the draws of clients and the distributions of their reports."""
    stated = [family for family in families if not family.name.startswith(_APART)]
    relations = {
        f"{family.name}: its draws are those of its distribution": marked(_stated(family), spends, "loss of")
        for family in stated
    }
    return Relations(
        "clients, probabilities of their reports",
        {
            **relations,
            "LHClient: its draws are those of a hash function": marked(_of_local_hashing, spends, "loss of"),
            "HEClient: its noise is that of a histogram": marked(_of_histograms, protects, "draws", "scale"),
            "RAPPORClient: its draws for zeros are those of its distribution": _of_bloom_filters,
        },
    )
