"""Calibrators of jax-privacy with all their arguments, accountants on samples, and events of training."""

from __future__ import annotations

import math

import dp_accounting
from jax_privacy import accounting
from jax_privacy.experimental import accounting as events
from jax_privacy_training import ORDERS, dp_params

from dpassay.adapter import Nonsense, Relations
from dpassay.impl.libraries.references import near

_TOLERANCE = 0.03
"""Three times what `calibrate_noise_multiplier` has as the tolerance of its root."""

_GRID = 0.05
"""Between the losses that are convolved: coarse, because numbers on one grid are compared; users take 1 s on 1e-3."""

_FIXED = accounting.SamplingMethod.FIXED_BATCH_SIZE


def _training(name):
    if name == "RDP":
        return accounting.DpsgdTrainingAccountant(accounting.RdpAccountantConfig(orders=ORDERS))
    return accounting.DpsgdTrainingAccountant(accounting.PldAccountantConfig(value_discretization_interval=_GRID))


def _users():
    return accounting.DpsgdTrainingUserLevelAccountant(
        accounting.PldAccountantConfig(value_discretization_interval=_GRID)
    )


def _settings(random):
    """Yield words, accountants, batch sizes and optional arguments of the calibrators, as a question takes them."""
    name, cycle = random.choice(["RDP", "PLD"]), random.randint(2, 4)
    # batches above 8, where the search of a calibrator begins, of which many are truncated
    batch, both = random.randint(9, 30), random.choice([{}, {"cycle_length": cycle}])
    yield f"{name}, cycles", _training(name), batch, {"cycle_length": cycle}
    yield "users", _users(), batch, {"examples_per_user": random.randint(2, 4)}
    yield "truncated", _training("PLD"), batch, {"truncated_batch_size": batch + random.randint(0, 4), **both}


class _Question:
    """Training with all parameters but one, for which the epsilon of the accountant is asked directly."""

    def __init__(self, random, words, accountant, batch, more):
        self.accountant, self.batch, self.more = accountant, batch, more
        self.delta, self.records = 10 ** random.uniform(-7, -3), random.randint(500, 900)
        # updates above 4, where the search of a calibrator begins
        self.count, self.sigma = more.get("cycle_length", 1) * random.randint(5, 7), random.uniform(1.2, 2.5)
        self.words = f"{words}, {more}, delta {self.delta!r}, {self.records} records"

    def epsilon(self, sigma, count, batch):
        """Return what the accountant says of parameters that are put together here."""
        params = dp_params(sigma, batch, self.delta, records=self.records, **self.more)
        return float(self.accountant.compute_epsilon(count, params))

    def common(self, target):
        """Return the arguments that all calibrators have."""
        return {
            "target_epsilon": target,
            "accountant": self.accountant,
            "num_samples": self.records,
            "target_delta": self.delta,
            **self.more,
        }


def _noises(random):
    """Check that calibrated noise meets the target, and that a little less would not, also for batches that grow."""
    for setting in _settings(random):
        asked = _Question(random, *setting)
        yield from _calibrated_noise(asked, asked.batch)
    asked = _Question(random, "batches that grow", _training("RDP"), random.randint(9, 30), {})
    yield from _calibrated_noise(asked, [(0, asked.batch), (random.randint(2, 4), 3 * asked.batch)])


def _calibrated_noise(asked, batch):
    target = asked.epsilon(asked.sigma, asked.count, batch)
    found = accounting.calibrate_noise_multiplier(batch_sizes=batch, num_updates=asked.count, **asked.common(target))
    words = f"{asked.words}, batch {batch}, {asked.count} updates, target {target!r}"
    yield f"{words}, spent", 0.0, asked.epsilon(found, asked.count, batch), target
    less = asked.epsilon(found - _TOLERANCE, asked.count, batch)
    yield f"{words}, spent with less noise", target, less, math.inf


def _updates(random):
    """Check that calibrated updates meet the target, and that one more would not, also for noise that falls."""
    for setting in _settings(random):
        asked = _Question(random, *setting)
        yield from _calibrated_updates(asked, asked.sigma, asked.batch)
    changed = random.randint(2, 4)
    asked = _Question(random, "noise that falls, batches that grow", _training("RDP"), random.randint(9, 30), {})
    noises, batches = (
        [(0, 2 * asked.sigma), (changed, asked.sigma)],
        [(0, asked.batch), (changed - 1, 2 * asked.batch)],
    )
    # the search asks for no number of updates at which parameters change: those are refused
    asked.count += changed
    yield from _calibrated_updates(asked, noises, batches, initial_min_updates=5, initial_max_updates=6)


def _calibrated_updates(asked, sigma, batch, **more):
    # between the cost of a number of updates and that of one more
    target = (asked.epsilon(sigma, asked.count, batch) + asked.epsilon(sigma, asked.count + 1, batch)) / 2
    found = accounting.calibrate_num_updates(
        noise_multipliers=sigma, batch_sizes=batch, **asked.common(target), **more
    )
    yield (f"{asked.words}, noise {sigma}, batch {batch}, target {target!r}", *near(found, asked.count))


def _batches(random):
    """Check that a calibrated batch size meets the target, and that one more would not, also for noise that falls."""
    for setting in _settings(random):
        asked = _Question(random, *setting)
        yield from _calibrated_batch(asked, asked.sigma)
    asked = _Question(random, "noise that falls", _training("RDP"), random.randint(9, 30), {})
    yield from _calibrated_batch(asked, [(0, 2 * asked.sigma), (random.randint(2, 4), asked.sigma)])


def _calibrated_batch(asked, sigma):
    target = (asked.epsilon(sigma, asked.count, asked.batch) + asked.epsilon(sigma, asked.count, asked.batch + 1)) / 2
    found = accounting.calibrate_batch_size(noise_multipliers=sigma, num_updates=asked.count, **asked.common(target))
    yield (f"{asked.words}, noise {sigma}, {asked.count} updates, target {target!r}", *near(found, asked.batch))


def _spent(name, parts, delta):
    """Return the epsilon of events, each with how often there is it."""
    if name == "RDP":
        accountant = dp_accounting.rdp.RdpAccountant(ORDERS)
    else:
        accountant = dp_accounting.pld.PLDAccountant(value_discretization_interval=_GRID)
    for event, count in parts:
        accountant.compose(event, count)
    return float(accountant.get_epsilon(delta))


def _samples(random):
    """Compare epsilons of batches that are samples with those of the events that they are made of."""
    delta, sigma, records = 10 ** random.uniform(-7, -3), random.uniform(1.2, 2.5), random.randint(300, 500)
    batch, count, cycle = random.randint(10, 40), random.randint(5, 15), random.randint(2, 4)
    examples, limit, name = random.randint(2, 3), batch + random.randint(-3, 3), random.choice(["RDP", "PLD"])
    group, rate = records // cycle, batch / records
    gaussian = dp_accounting.GaussianDpEvent

    def truncated(size):
        return dp_accounting.TruncatedSubsampledGaussianDpEvent(size, batch / size, limit, sigma)

    def sampled(sigma, rate):
        return dp_accounting.PoissonSampledDpEvent(rate, gaussian(sigma))

    def of_users(chances, step):
        return dp_accounting.dp_event.MixtureOfGaussiansDpEvent(
            sigma, [step * number for number in range(examples + 1)], chances
        )

    poisson = [math.comb(examples, k) * rate**k * (1 - rate) ** (examples - k) for k in range(examples + 1)]
    fixed = [
        math.comb(examples, k) * math.comb(records - examples, batch - k) / math.comb(records, batch)
        for k in range(examples + 1)
    ]
    rounds, training = -(-count // cycle), _training(name)
    for words, kind, accountant, more, event, times in (
        ("cycles", name, training, {"cycle_length": cycle}, sampled(sigma, batch / group), rounds),
        ("a fixed size", name, training, {"sampling_method": _FIXED}, sampled(sigma / 2, rate), count),
        ("truncated", "PLD", _training("PLD"), {"truncated_batch_size": limit}, truncated(records), count),
        (
            "truncated, cycles",
            "PLD",
            _training("PLD"),
            {"truncated_batch_size": limit, "cycle_length": cycle},
            truncated(group),
            rounds,
        ),
        ("users", "PLD", _users(), {"examples_per_user": examples}, of_users(poisson, 1), count),
        (
            "users, a fixed size",
            "PLD",
            _users(),
            {"examples_per_user": examples, "sampling_method": _FIXED},
            of_users(fixed, 2),
            count,
        ),
    ):
        found = float(accountant.compute_epsilon(count, dp_params(sigma, batch, delta, records=records, **more)))
        said = (
            f"{words}, {kind}: {count} updates, noise {sigma!r}, batch {batch} of {records}, {more}, delta {delta!r}"
        )
        # the last digits of probabilities may differ
        yield (said, *near(found, _spent(kind, [(event, times)], delta), 1e-6))
    changed, grown = random.randint(2, 4), random.randint(2, 3) * batch
    params = dp_params(sigma, [(0, batch), (changed, grown)], delta, records=records)
    found = float(_training("RDP").compute_epsilon(count, params))
    parts = [(sampled(sigma, rate), changed), (sampled(sigma, grown / records), count - changed)]
    yield (f"{count} updates, {params!r}", *near(found, _spent("RDP", parts, delta)))


def _events(random):
    """Check that the events say what they are made of."""
    sigma, rate, size = random.uniform(1, 5), random.uniform(0.01, 0.9), random.randint(50, 90)
    batch, bands = random.randint(5, 40), random.randint(2, 5)
    # a number of updates that is no multiple of the bands: the first group takes part once more
    count = bands * random.randint(1, 6) + random.randint(1, bands - 1)
    rounds, gaussian = count // bands + 1, dp_accounting.GaussianDpEvent(sigma)
    poisson = dp_accounting.PoissonSampledDpEvent(rate, gaussian)
    truncated = dp_accounting.TruncatedSubsampledGaussianDpEvent(size, rate, batch, sigma)
    without = dp_accounting.dp_event.SampledWithoutReplacementDpEvent(size, batch, gaussian)
    repeated = dp_accounting.dp_event.SampledWithReplacementDpEvent(size, batch, gaussian)
    sampled, cut = {"sampling_prob": rate}, {"sampling_prob": rate, "truncated_batch_size": batch}
    fixed, banded = {"dataset_size": size, "batch_size": batch}, {"num_bands": bands}
    for make, more, event, times in (
        (events.dpsgd_event, sampled, poisson, count),
        (events.fixed_dpsgd_event, fixed, without, count),
        (events.fixed_dpsgd_event, {**fixed, "replace": True}, repeated, count),
        (events.truncated_dpsgd_event, {**cut, "num_examples": size}, truncated, count),
        (events.amplified_bandmf_event, {**sampled, **banded}, poisson, rounds),
        (events.truncated_amplified_bandmf_event, {**cut, **banded, "largest_group_size": size}, truncated, rounds),
    ):
        expected = dp_accounting.SelfComposedDpEvent(event, times)
        found = make(sigma, count, **more)
        yield f"{make.__name__}({sigma!r}, {count}, {more}): {found!r}", 1.0, float(found == expected), 1.0


def calibration_relations():
    """Yield relations of calibrators, samples and events."""
    yield Relations(
        "calibrators, events",
        {
            "calibrated noise meets the target": _noises,
            "calibrated updates meet the target": _updates,
            "calibrated batches meet the target": _batches,
            "samples cost what their events cost": _samples,
            "events are those of the training": _events,
        },
        seconds=60.0,
    )


def calibration_refusals():
    """Yield invalid events, and targets that nothing meets."""
    common = {
        "accountant": _training("RDP"),
        "num_samples": 100,
        "target_delta": 1e-6,
        "target_epsilon": 1e-3,
    }
    nan = math.nan
    yield Nonsense(
        "calibrators, events, refusals",
        {
            "updates for a target that one exceeds": lambda: accounting.calibrate_num_updates(
                noise_multipliers=0.5, batch_sizes=50, **common
            ),
            "a batch for a target that one record exceeds": lambda: accounting.calibrate_batch_size(
                noise_multipliers=0.5, num_updates=9, **common
            ),
            "amplified_bandmf_event, sampling_prob=nan": lambda: events.amplified_bandmf_event(
                1.0, 3, num_bands=2, sampling_prob=nan
            ),
            "fixed_dpsgd_event, batch_size=21 of 20": lambda: events.fixed_dpsgd_event(
                1.0, 3, dataset_size=20, batch_size=21
            ),
            "fixed_dpsgd_event, noise_multiplier=-1": lambda: events.fixed_dpsgd_event(
                -1.0, 3, dataset_size=20, batch_size=2
            ),
            "truncated_dpsgd_event, sampling_prob=1.5": lambda: events.truncated_dpsgd_event(
                1.0, 3, sampling_prob=1.5, num_examples=9, truncated_batch_size=4
            ),
        },
    )
