"""Privacy losses that jax-privacy draws: their distribution and value, against sums over all patterns of rounds.

A record that takes part in a round moves the releases of that round and of later ones, by the first column of the
strategy. Where batches are truncated, it may push another record out, and counts twice or against it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
from jax_privacy.batch_selection import BallsInBinsSampling, BMinSepSampling
from jax_privacy.experimental.monte_carlo import sample_generation
from jax_privacy_batches import LIMIT, exponent
from scipy import special

from dpassay.adapter import Nonsense, Relations
from dpassay.impl.libraries.references import divided, near

_ROUNDS = 5
_FAINT = 0.02
"""The standard deviation of noise from which rounds are read: half a unit is farther away than 20 deviations."""

_DRAWS, _SLOW_DRAWS = 10_000, 600
"""Samples that are drawn, and of balls in bins, which are drawn one after the other."""


def _column(random, size):
    return np.array([random.uniform(0.8, 1.2), *(random.uniform(0.1, 0.6) for _ in range(size - 1))])


def _strategy_matrix(column):
    padded = [*column, *[0.0] * _ROUNDS][:_ROUNDS]
    return np.array([[padded[i - j] if i >= j else 0.0 for j in range(_ROUNDS)] for i in range(_ROUNDS)])


def _patterns(strategy):
    """Return the probability of each set of rounds in which a record takes part, as a tuple of 0 and 1."""
    chances = defaultdict(float)
    if isinstance(strategy, BallsInBinsSampling):
        for place in range(strategy.cycle_length):
            rounds = tuple(int(i % strategy.cycle_length == place) for i in range(_ROUNDS))
            chances[rounds] += 1 / strategy.cycle_length
        return dict(chances)
    rate, apart = strategy.sampling_prob, strategy.min_sep
    # a record that took part in one of the last rounds before the first is free only later
    late = rate / (1 + (apart - 1) * rate) if strategy.warm_start else 0.0
    for rounds in itertools.product((0, 1), repeat=_ROUNDS):
        for free in range(apart):
            chance, next_free = (late if free else 1 - (apart - 1) * late), free
            for i, taken in enumerate(rounds):
                if i >= next_free:
                    chance *= rate if taken else 1 - rate
                    next_free = i + apart if taken else next_free
                elif taken:
                    chance = 0.0
            chances[rounds] += chance
    return {rounds: chance for rounds, chance in chances.items() if chance}


def _effects(strategy, others, *, positive):
    """Return for a round with as many other records the effects of taking part, with their probabilities."""
    if strategy.truncated_batch_size is None or others < strategy.truncated_batch_size:
        return ((1.0, 1.0),) if positive else ((0.0, 1.0),)
    kept = strategy.truncated_batch_size / (others + 1)
    return (2.0 if positive else -1.0, kept), (0.0, 1 - kept)


def _log_density(strategy, column, sigma, sample, others, *, positive):
    """Return the logarithm of the density of releases, over that of noise alone."""
    matrix, terms = _strategy_matrix(column), []
    for rounds, chance in _patterns(strategy).items():
        if others is None:
            choices = [((float(taken), 1.0),) for taken in rounds]
        else:
            choices = [
                _effects(strategy, number, positive=positive) if taken else ((0.0, 1.0),)
                for taken, number in zip(rounds, others, strict=True)
            ]
        for effects in itertools.product(*choices):
            center = matrix @ np.array([effect for effect, _ in effects])
            weight = chance * math.prod(one for _, one in effects)
            if weight:
                terms.append(math.log(weight) + (2 * sample @ center - center @ center) / (2 * sigma**2))
    return float(special.logsumexp(terms))


def _strategies(random, bands):
    """Yield strategies, columns of at most as many bands, and the number of records where batches are truncated."""
    length, apart = random.randint(2, 4), random.randint(1, 3)
    yield BallsInBinsSampling(_ROUNDS, length), _column(random, random.randint(1, length)), None
    for warm in (False, True):
        rate, column = random.uniform(0.3, 0.9), _column(random, random.randint(1, min(apart, bands)))
        yield BMinSepSampling(rate, _ROUNDS, apart, warm), column, None
        records = random.randint(5, 15)
        # batches are truncated about half of the time
        limit = max(1, round(records * rate / (1 + (apart - 1) * rate)))
        yield BMinSepSampling(rate, _ROUNDS, apart, warm, limit), column, records


def _values(random):
    """Compare losses of samples, alone and in a table, with the densities of all patterns, for one or two bands."""
    for words, found, exact in _losses(random, _strategies(random, 2), 0.6):
        yield (words, *near(found, exact, 1e-7, 1e-7))


def _long_columns(random):
    """Compare ratios of densities for three bands, whose last two columns the end cuts; batches truncated or not."""
    rate, records = random.uniform(0.3, 0.9), random.randint(5, 15)
    column, warm, limit = _column(random, 3), random.random() < 0.5, max(1, round(records * rate / (1 + 2 * rate)))
    strategies = [
        (BMinSepSampling(rate, _ROUNDS, 3, warm), column, None),
        (BMinSepSampling(rate, _ROUNDS, 3, warm, limit), column, records),
    ]
    for words, found, exact in _losses(random, strategies, 1.0):
        yield (f"{words}, ratio", *near(math.exp(found), math.exp(exact), 1e-6, 0))


def _losses(random, strategies, least_sigma):
    """Yield losses of samples with words and exact values: each sample in a table, and alone."""
    for strategy, column, records in strategies:
        sigma, seed = random.uniform(least_sigma, 3), random.getrandbits(32)
        for positive in (True, False):
            losses, drawn = sample_generation.get_privacy_loss_sample(
                strategy, sigma, column, seed, positive, num_samples=4, dataset_size=records
            )
            samples, others = drawn if isinstance(drawn, tuple) else (drawn, None)
            words = f"{strategy!r}, noise {sigma!r}, column {column.tolist()!r}, records {records}, seed {seed}"
            for place in range(2):
                sample, rest = samples[:, place], None if others is None else others[:, place]
                exact = _log_density(strategy, column, sigma, sample, rest, positive=True)
                if rest is not None:
                    exact -= _log_density(strategy, column, sigma, sample, rest, positive=False)
                said = f"{words}, positive {positive}, sample {sample.tolist()!r}, others {rest}"
                yield f"in a table, {said}", float(losses[place]), exact if positive else -exact
                alone = sample_generation.compute_privacy_loss(strategy, sample, sigma, column, rest)
                yield f"alone, {said}", float(alone), exact


def _draws(random):
    """Read the rounds of samples with faint noise, and count them: sums over patterns say how often there is each."""
    for strategy, column, records in _strategies(random, 3):
        count, seed = _SLOW_DRAWS if isinstance(strategy, BallsInBinsSampling) else _DRAWS, random.getrandbits(32)
        inverse, chances = np.linalg.inv(_strategy_matrix(column)), _patterns(strategy)
        taken = [sum(chance for rounds, chance in chances.items() if rounds[i]) for i in range(_ROUNDS)]
        words = f"{strategy!r}, column {column.tolist()!r}, records {records}, seed {seed}"
        for positive in (True, False):
            drawn = sample_generation.generate_sample(
                strategy, _FAINT, column, seed, positive, num_samples=count, dataset_size=records
            )
            samples, others = drawn if isinstance(drawn, tuple) else (drawn, None)
            effects = np.rint(inverse @ samples)
            noise = (samples - _strategy_matrix(column) @ effects) / _FAINT
            ratio = float(np.mean(noise**2))
            said = f"{words}, positive {positive}"
            # Chernoff for a sum of squares of normal numbers
            yield f"{said}, square of the noise", 0.0, noise.size / 2 * (ratio - 1 - math.log(ratio)), LIMIT
            if others is not None:
                yield from _truncated_draws(strategy, effects, others, taken, records, positive=positive, words=said)
                continue
            found = Counter(map(tuple, effects.T.astype(int).tolist()))
            expected = chances if positive else {(0,) * _ROUNDS: 1.0}
            for rounds in sorted({*found, *expected}):
                far = exponent(found[rounds], count, min(expected.get(rounds, 0.0), 1.0))
                yield f"{said}, samples with rounds {rounds}", 0.0, far, LIMIT


def _truncated_draws(strategy, effects, others, taken, records, *, positive, words):
    """Yield comparisons of effects with the numbers of other records in the same rounds, and of those numbers."""
    count = effects.shape[1]
    chances = [dict(_effects(strategy, number, positive=positive)) for number in range(records)]
    for i, share in enumerate(taken):
        far = exponent(others[i].sum(), count * (records - 1), share)
        yield f"{words}, other records in round {i}", 0.0, far, LIMIT
        numbers = np.bincount(others[i], minlength=records)
        for effect in (2.0, 1.0, -1.0):
            mean = share * float(numbers @ [one.get(effect, 0.0) for one in chances]) / count
            far = exponent((effects[i] == effect).sum(), count, mean)
            yield f"{words}, samples with effect {effect} in round {i}", 0.0, far, LIMIT
    strange = (~np.isin(effects, (0.0, 1.0, 2.0) if positive else (0.0, -1.0))).sum()
    yield f"{words}, other effects", 0.0, float(strange), 0.0
    places = effects != 0
    near_ones = sum((places[gap:] & places[:-gap]).sum() for gap in range(1, strategy.min_sep))
    yield f"{words}, rounds that are too near", 0.0, float(near_ones), 0.0


def loss_relations():
    """Yield the relations of privacy losses that are drawn."""
    short, long = (
        f"losses of {columns} columns in a table are those of all patterns" for columns in ("short", "long")
    )
    yield Relations(
        "monte_carlo, losses",
        {
            **divided(_values, short, "losses are those of all patterns", "in a table"),
            **divided(_long_columns, long, "losses of longer columns are those of all patterns", "in a table"),
            "samples have the rounds of a record": _draws,
        },
        # a loss alone is that of one direction, of which the other one is the negative
        understated=[short, long],
    )


def loss_refusals():
    """Yield invalid calls of the functions of losses."""
    balls, apart = BallsInBinsSampling(_ROUNDS, 2), BMinSepSampling(0.5, _ROUNDS, 2)
    column, sample = np.array([1.0, 0.5]), np.ones(_ROUNDS)
    draw, loss = sample_generation.generate_sample, sample_generation.compute_privacy_loss
    yield Nonsense(
        "monte_carlo, losses, refusals",
        {
            "generate_sample, noise_multiplier=-1": lambda: draw(balls, -1.0, column),
            "generate_sample, c_col=-1": lambda: draw(balls, 1.0, -column),
            "generate_sample, a column longer than min_sep": lambda: draw(apart, 1.0, np.ones(3)),
            "generate_sample, truncation without dataset_size": lambda: draw(
                BMinSepSampling(0.5, _ROUNDS, 2, truncated_batch_size=3), 1.0, column
            ),
            "generate_sample, dataset_size of balls in bins": lambda: draw(balls, 1.0, column, dataset_size=9),
            "compute_privacy_loss, a sample of another size": lambda: loss(balls, sample[1:], 1.0, column),
            "compute_privacy_loss, noise_multiplier=0": lambda: loss(balls, sample, 0.0, column),
            "compute_privacy_loss, truncation without numbers": lambda: loss(
                BMinSepSampling(0.5, _ROUNDS, 2, truncated_batch_size=3), sample, 1.0, column
            ),
        },
    )
