"""Batches of jax-privacy: what a strategy guarantees of all rounds, and how often records take part in them."""

from __future__ import annotations

import itertools
import math

import numpy as np
from jax_privacy.batch_selection import (
    BallsInBinsSampling,
    BMinSepSampling,
    CyclicPoissonSampling,
    FixedBatchSampling,
    PartitionType,
    UserSelectionStrategy,
    pad_to_multiple_of,
    split_and_pad_global_batch,
)
from scipy import special, stats

from dpassay.adapter import Nonsense, Relations
from dpassay.impl.libraries.references import divided, near

LIMIT = 40.0
"""An exponent of Chernoff: a count is beyond it with probability below 1e-17, and a relation has below 1e5 counts."""

_RUNS = 250
"""Runs with few records, in which the rounds of each record and the sizes of batches are counted."""


def exponent(counts, trials, probability):
    """Return the largest exponent of the bounds of Chernoff on the probability of counts as far from their means."""
    if not trials:
        return 0.0
    shares, expected = np.asarray(counts) / trials, np.asarray(probability)
    return float(trials * np.max(special.rel_entr(shares, expected) + special.rel_entr(1 - shares, 1 - expected)))


class _Rounds:
    """A strategy with what it documents: before truncation, batches have binomial sizes.

    `apart` rounds or more are between two of a record, a multiple of it if it `repeats`; of `trials` records each is
    taken in a round with a probability of `shares`. From what the rounds before show, `rate` is the probability for
    each record that may be taken.
    """

    def __init__(self, strategy, apart, trials, shares, *, rate=None, repeats=False):
        self.strategy, self.apart, self.repeats = strategy, apart, repeats
        self.trials, self.shares, self.rate = trials, shares, rate
        most = getattr(strategy, "truncated_batch_size", None)
        self.most, self.truncated = math.inf if most is None else most, most is not None

    def sizes(self, place):
        """Return the distribution function of the size of a batch, from 0 to the number of records."""
        k = np.arange(self.trials + 1)
        return np.where(k < self.most, stats.binom.cdf(k, self.trials, self.shares[place]), 1.0)

    def free(self, seen, place):
        """Return the records that are known to be taken with the rate in a round, from the rounds before."""
        if not self.repeats:  # a warm start hides rounds before the first
            hidden = place < self.apart - 1 and self.strategy.warm_start
            return seen[0] & False if hidden else ~seen[max(place - self.apart + 1, 0) : place].any(axis=0)
        return seen[place % self.apart : place : self.apart].any(axis=0)


def _cyclic(records, length, rounds, *, rate, most, kind):
    strategy = CyclicPoissonSampling(rate, rounds, most, length, kind)
    even = kind is PartitionType.EQUAL_SPLIT
    trials, share = (records // length, rate) if even else (records, rate / length)
    return _Rounds(strategy, length, trials, [share] * rounds, rate=rate, repeats=True)


def _balls(records, length, rounds):
    strategy = BallsInBinsSampling(rounds, length)
    return _Rounds(strategy, length, records, [1 / length] * rounds, rate=1.0, repeats=True)


def _min_sep(records, apart, rounds, *, rate, most, warm):
    """Return a strategy that takes a record with the rate unless one of the last `apart - 1` rounds did."""
    shares = [rate / (1 + (apart - 1) * rate)] * (apart - 1) if warm else [0.0] * (apart - 1)
    for _ in range(rounds):
        shares.append(rate * (1 - sum(shares[len(shares) - apart + 1 :])))
    return _Rounds(BMinSepSampling(rate, rounds, apart, warm, most), apart, records, shares[apart - 1 :], rate=rate)


def _strategies(random, records):
    """Yield strategies of both rates, all separations up to 4, both partitions and both starts."""
    for rate, apart in itertools.product((0.7, 1.0), range(1, 5)):
        rounds = 3 * apart + random.randint(1, 3)
        most = random.choice([None, max(1, round(records * random.uniform(0.6, 1.1) * rate / apart))])
        for kind in PartitionType:
            yield _cyclic(records, apart, rounds, rate=rate, most=most, kind=kind)
        for warm in (False, True) if apart > 1 else (False,):
            yield _min_sep(records, apart, rounds, rate=rate, most=most, warm=warm)
    for length in range(1, 5):
        yield _balls(records, length, 3 * length + random.randint(1, 3))


def _seen(batches, records):
    """Return which records are in which batches, as a table with a row for each batch."""
    return np.array([np.isin(np.arange(records), batch) for batch in batches])


def _guarantees(rounds, batches, records, words):
    """Yield comparisons of one run with what holds of every run, and with the probabilities of a round."""
    members = np.concatenate([np.asarray(batch, np.int64) for batch in batches])
    sizes = np.array([len(batch) for batch in batches])
    yield f"{words}, batches", *near(len(batches), rounds.strategy.iterations)
    yield f"{words}, lowest record", 0, float(members.min(initial=0)), math.inf
    yield f"{words}, highest record", 0, float(members.max(initial=0)), records - 1
    yield f"{words}, largest batch", 0, float(sizes.max()), rounds.most
    seen = _seen(batches, records)
    yield f"distinct records less all of a batch, {words}", *near(float((seen.sum(axis=1) - sizes).min()), 0.0)
    nearest = next((gap for gap in range(1, len(seen)) if (seen[gap:] & seen[:-gap]).any()), math.inf)
    yield f"nearest rounds of a record, {words}", rounds.apart, nearest, math.inf
    if rounds.repeats:
        places = sum(seen[place :: rounds.apart].any(axis=0).astype(int) for place in range(rounds.apart))
        yield f"{words}, places of a record in a cycle", 0, float(places.max()), 1.0
    for place, size in enumerate(sizes):
        # a batch that is full says no more than that as many records were taken
        low = size == rounds.most and size <= rounds.trials * rounds.shares[place]
        far = 0.0 if low else exponent(size, rounds.trials, rounds.shares[place])
        yield f"{words}, size of batch {place}", 0.0, far, LIMIT
        if not rounds.truncated:
            free = rounds.free(seen, place)
            far = exponent((free & seen[place]).sum(), free.sum(), rounds.rate)
            yield f"{words}, share of free records in batch {place}", 0.0, far, LIMIT


def _apart(random):
    records, seed = random.choice([random.randint(130, 255), random.randint(900, 1300)]), random.getrandbits(32)
    for rounds in _strategies(random, records):
        words = f"{rounds.strategy!r}, {records} records, seed {seed}"
        yield from _guarantees(rounds, list(rounds.strategy.batch_iterator(records, seed)), records, words)


def _frequencies(random):
    """Count in many runs with few records in which rounds each record is, and the sizes of batches."""
    seed, records = random.getrandbits(32), random.randint(9, 12)
    generator = np.random.default_rng(seed)
    apart, length = random.randint(2, 4), random.randint(2, 3)
    for rounds in (
        *(
            one
            for rate, most in ((0.7, None), (random.choice([0.7, 1.0]), random.randint(1, 4)))
            for one in (
                *(_cyclic(records, length, length + 1, rate=rate, most=most, kind=kind) for kind in PartitionType),
                *(_min_sep(records, apart, apart + 2, rate=rate, most=most, warm=warm) for warm in (False, True)),
            )
        ),
        _balls(records, length, length + 1),
    ):
        seen = np.array([_seen(rounds.strategy.batch_iterator(records, generator), records) for _ in range(_RUNS)])
        words = f"{rounds.strategy!r}, {records} records, seed {seed}"
        for place in range(seen.shape[1]):
            sizes = rounds.sizes(place)
            share = float(np.sum(1 - sizes)) / records
            far = exponent(seen[:, place].sum(axis=0), _RUNS, share)
            yield f"{words}, runs with each record in batch {place}", 0.0, far, LIMIT
            too_often = exponent(np.maximum(seen[:, place].sum(axis=0), _RUNS * share), _RUNS, share)
            yield f"excess of a record in batch {place}, {words}", 0.0, too_often, LIMIT
            found = (seen[:, place].sum(axis=1)[:, None] <= np.arange(len(sizes))).sum(axis=0)
            yield f"{words}, runs with each size of batch {place}", 0.0, exponent(found, _RUNS, sizes), LIMIT


def _fixed(random):
    """Check batches of one size: each record is as likely as others, and repeated only where that is asked for."""
    records, size, count, seed = random.randint(9, 12), random.randint(2, 7), 700, random.getrandbits(32)
    for replace in (False, True):
        strategy = FixedBatchSampling(size, count, replace)
        batches = np.array(list(strategy.batch_iterator(records, seed)))
        words = f"{strategy!r}, {records} records, seed {seed}"
        yield f"{words}, shape", 1.0, float(batches.shape == (count, size)), 1.0
        yield f"{words}, lowest record", 0, float(batches.min()), records - 1
        yield f"{words}, highest record", 0, float(batches.max()), records - 1
        counts = np.array([(batches == record).sum() for record in range(records)])
        # without replacement an entry is as spread as in independent draws, or less
        yield f"{words}, entries of each record", 0.0, exponent(counts, count * size, 1 / records), LIMIT
        same = sum(len(set(batch)) == size for batch in batches.tolist())
        distinct = math.perm(records, size) / records**size if replace else 1.0
        yield f"{words}, batches without repetition", 0.0, exponent(same, count, distinct), LIMIT
        again = (batches[1:, :1] == batches[:-1]).any(axis=1).sum()
        twice = 1 - (1 - 1 / records) ** size if replace else size / records
        yield f"{words}, first records of the batch before", 0.0, exponent(again, count - 1, twice), LIMIT


def _users(random):
    """Check that each row has the examples of one user in turn, and that users take part as records do."""
    users, seed = random.randint(130, 200), random.getrandbits(32)
    owners = np.array([*range(users), *(random.randrange(users) for _ in range(2 * users))])
    random.shuffle(owners)
    of_users, shift = [np.flatnonzero(owners == user) for user in range(users)], random.randint(-9, 9)
    for rounds in random.sample(list(_strategies(random, users)), 8):
        width, shuffled = random.randint(1, 3), random.random() < 0.5
        strategy = UserSelectionStrategy(rounds.strategy, width, shuffled)
        # names of users that are not their ranks from 0
        tables = [table.astype(np.int64) for table in strategy.batch_iterator(2 * owners + shift, seed)]
        words = f"{strategy!r}, {users} users, seed {seed}"
        turns = [[] for _ in range(users)]
        foreign, narrow = 0, 0
        for table in tables:
            narrow += table.size > 0 and table.shape[1:] != (width,)
            for row in table:
                foreign += len(set(owners[row])) > 1
                turns[owners[row[0]]].extend(row.tolist())
        yield f"{words}, rows of several users", 0.0, float(foreign), 0.0
        yield f"{words}, rows of another width", 0.0, float(narrow), 0.0
        unfair = sum(_out_of_turn(turn, of_users[user], shuffled) for user, turn in enumerate(turns))
        yield f"{words}, users whose examples are out of turn", 0.0, float(unfair), 0.0
        batches = [owners[table[:, 0]] if table.size else np.array([], int) for table in tables]
        yield from _guarantees(rounds, batches, users, words)


def _out_of_turn(turn, examples, shuffled):
    """Return whether a user's examples are not drawn one after the other, again and again in one order."""
    first = turn[: len(examples)]
    order = first if shuffled else examples.tolist()[: len(first)]
    known = len(set(first)) == len(first) and set(first) <= set(examples.tolist())
    return not known or first != order or any(one != turn[place % len(examples)] for place, one in enumerate(turn))


def _padding(random):
    """Check that padding and splitting keep every index once, and that portions of padding alone come last."""
    for _ in range(6):
        size, portion, parts = random.randint(0, 40), random.randint(1, 4), random.randint(1, 4)
        width = portion * parts
        indices = np.array(random.sample(range(1000), size), np.int64)
        words = f"{indices.tolist()!r}"
        padded = pad_to_multiple_of(indices, width).tolist()
        expected = indices.tolist() + [-1] * (-size % width)
        yield f"pad_to_multiple_of({width}), {words}", 1.0, float(padded == expected), 1.0
        for micro, table in itertools.product((None, portion), (indices, np.stack([indices, indices + 7], axis=1))):
            batches = split_and_pad_global_batch(table, width, micro)
            said = f"split_and_pad_global_batch({width}, {micro}), {table.ndim} dimensions, {words}"
            count = max(1, -(-size // width))
            yield (f"{said}, batches", *near(len(batches), count))
            full = [(width, *table.shape[1:])] * count
            yield f"{said}, sizes", 1.0, float([batch.shape for batch in batches] == full), 1.0
            # portions are read in the order of Fortran
            last = batches[-1]
            order = last if micro is None else last.reshape(micro, parts, *table.shape[1:]).swapaxes(0, 1)
            joined = np.concatenate([*batches[:-1], order.reshape(last.shape)]).tolist()
            filled = np.concatenate([table, np.full((count * width - size, *table.shape[1:]), -1)]).tolist()
            yield f"{said}, indices", 1.0, float(joined == filled), 1.0


def batch_relations():
    """Yield the relations of batches."""
    apart, often, users = "rounds of a record are apart", "no record is taken too often", "rounds of a user are apart"
    once = ("nearest rounds", "distinct records")
    yield Relations(
        "batch_selection",
        {
            **divided(_apart, apart, "batches are those of their strategy", *once),
            **divided(_frequencies, often, "records take part as often as stated", "excess"),
            "batches of one size are drawn evenly": _fixed,
            **divided(_users, users, "users take part as records do, their examples in turn", *once),
            "padding keeps every index": _padding,
        },
        unsafe={apart: "below", often: "above", users: "below"},
    )


def batch_refusals():
    """Yield invalid strategies, and padding to no multiple."""

    def batches(strategy, *arguments, **more):
        return lambda: list(strategy(*arguments, **more).batch_iterator(20, 0))

    yield Nonsense(
        "batch_selection, refusals",
        {
            "CyclicPoissonSampling, sampling_prob=1.5": batches(CyclicPoissonSampling, 1.5, 3),
            "CyclicPoissonSampling, sampling_prob=nan": batches(CyclicPoissonSampling, math.nan, 3),
            "CyclicPoissonSampling, cycle_length=0": batches(CyclicPoissonSampling, 0.5, 3, cycle_length=0),
            "CyclicPoissonSampling, partition_type=None": batches(CyclicPoissonSampling, 0.5, 3, partition_type=None),
            "CyclicPoissonSampling, truncated_batch_size=-1": batches(CyclicPoissonSampling, 0.5, 3, -1),
            "BallsInBinsSampling, cycle_length=0": batches(BallsInBinsSampling, 3, 0),
            "FixedBatchSampling, batch_size=21 of 20": batches(FixedBatchSampling, 21, 3),
            "FixedBatchSampling, batch_size=-1": batches(FixedBatchSampling, -1, 3),
            "BMinSepSampling, min_sep=0": batches(BMinSepSampling, 0.5, 3, 0),
            "BMinSepSampling, sampling_prob=1.5": batches(BMinSepSampling, 1.5, 3, 2),
            "BMinSepSampling, sampling_prob=nan": batches(BMinSepSampling, math.nan, 3, 2),
            "BMinSepSampling, truncated_batch_size=-1": batches(BMinSepSampling, 0.5, 3, 2, True, -1),
            "pad_to_multiple_of, multiple=0": lambda: pad_to_multiple_of(np.arange(3), 0),
        },
    )
