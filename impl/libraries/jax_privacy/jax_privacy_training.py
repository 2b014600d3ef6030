"""Accountants of jax-privacy for training, and what calibrates with them."""

from __future__ import annotations

import functools
import math
from collections import Counter

import dp_accounting
from jax_privacy import accounting
from jax_privacy.experimental import accounting as events

from dpassay.adapter import Answer, Nonsense, Relations
from dpassay.impl.libraries.references import divided, gaussian_epsilon, near

_INTERVAL = 1e-3
"""Between the losses that are convolved. The default is a tenth of it, which takes ten times as long."""

_CONVOLUTION = 1e-14
"""Absolute, in delta: the rounding of fast Fourier transforms. Six of 15 answers were short, by up to 7e-16."""

_SINGLE = 1e-6
"""Relative: the rates of batches that grow are float32."""

ORDERS = tuple(range(2, 65))
"""Whole orders, whose divergences are finite sums: other orders take many times as long."""

_RECORDS = 10**6
_DOMAIN = {"count": (1, 30), "sigma": (1.0, 100.0), "rate": (1e-3, 1.0), "delta": (1e-12, 0.5)}

_POISSON, _FIXED = accounting.SamplingMethod.POISSON, accounting.SamplingMethod.FIXED_BATCH_SIZE


def _config(name, interval=_INTERVAL):
    if name == "RDP":
        return accounting.RdpAccountantConfig()
    return accounting.PldAccountantConfig(value_discretization_interval=interval)


def dp_params(sigma, batch, delta, *, records, **more):
    """Return the parameters of training."""
    return accounting.DpParams(noise_multipliers=sigma, num_samples=records, delta=delta, batch_size=batch, **more)


def _epsilon(name, sigma, count, delta, rate=1.0):
    """Return the epsilon of training; the batch size is rounded up, which costs no less than was asked for."""
    accountant = accounting.DpsgdTrainingAccountant(_config(name))
    batch = math.ceil(rate * _RECORDS)
    return float(accountant.compute_epsilon(count, dp_params(sigma, batch, delta, records=_RECORDS)))


def training_answers():
    """Yield the answers of the accountants."""
    for name in ("RDP", "PLD"):
        for stem in ("gaussian", "subsampled_gaussian"):
            yield Answer(
                f"DpsgdTrainingAccountant, {name}, {stem}",
                f"{stem}_epsilon",
                lambda sigma, count, delta, rate=1.0, n=name: _epsilon(n, sigma, count, delta, rate),
                domain=_DOMAIN,
                relative_error=1e-9,
                absolute_error=1e-12,
                delta_error=0.0 if name == "RDP" else _CONVOLUTION,
                looseness=0.0 if name == "RDP" else 2 * _INTERVAL * 30,
                calls=40,
            )


def _noise(name, epsilon, delta, count, batch, records):
    accountant = accounting.DpsgdTrainingAccountant(_config(name))
    sigma = accounting.calibrate_noise_multiplier(
        target_epsilon=epsilon,
        accountant=accountant,
        batch_sizes=batch,
        num_updates=count,
        num_samples=records,
        target_delta=delta,
    )
    return sigma, float(accountant.compute_epsilon(count, dp_params(sigma, batch, delta, records=records)))


def _calibrated(random):
    """Check that calibrated parameters meet the target, and that one update more would not."""
    name = random.choice(["RDP", "PLD"])
    epsilon, delta, count = random.uniform(0.4, 3), 10 ** random.uniform(-8, -3), random.randint(1, 9)
    records, batch = 1000, random.choice([1000, 130])
    words = f"{name}, epsilon {epsilon!r}, delta {delta!r}, {count} updates, batch {batch} of {records}"
    sigma, spent = _noise(name, epsilon, delta, count, batch, records)
    yield f"noise multiplier, {words}", 0.0, spent, epsilon
    accountant = accounting.DpsgdTrainingAccountant(_config(name))
    sigma = sigma / 1.37 if batch < records else sigma

    def ask(updates):
        return float(accountant.compute_epsilon(updates, dp_params(sigma, batch, delta, records=records)))

    target = max(epsilon, 1.05 * ask(1))
    updates = accounting.calibrate_num_updates(
        target_epsilon=target,
        accountant=accountant,
        noise_multipliers=sigma,
        batch_sizes=batch,
        num_samples=records,
        target_delta=delta,
    )
    yield f"updates, {words}, target {target!r}", 0.0, ask(updates), target
    yield f"a further update, {words}, target {target!r}", target, ask(updates + 1), math.inf


def _calibrated_exactly(random):
    """Check that the target of full batches is at least the exact epsilon of what is calibrated for it."""
    name, records = random.choice(["RDP", "PLD"]), 1000
    epsilon, delta, count = random.uniform(0.4, 3), 10 ** random.uniform(-8, -3), random.randint(1, 9)
    words = f"{name}, delta {delta!r}, batches of all records"
    sigma, _ = _noise(name, epsilon, delta, count, records, records)
    exact = gaussian_epsilon(sigma / math.sqrt(count), delta)
    yield f"target, {words}, {count} updates, noise {sigma!r}", exact * (1 - 1e-9), epsilon, math.inf
    target, sigma = random.uniform(2, 3), random.uniform(5, 9)
    updates = accounting.calibrate_num_updates(
        target_epsilon=target,
        accountant=accounting.DpsgdTrainingAccountant(_config(name)),
        noise_multipliers=sigma,
        batch_sizes=records,
        num_samples=records,
        target_delta=delta,
    )
    exact = gaussian_epsilon(sigma / math.sqrt(updates), delta)
    yield f"target, {words}, {updates} updates, noise {sigma!r}", exact * (1 - 1e-9), target, math.inf


def _schedules(random):
    """Check that noise that changes costs what its parts cost."""
    delta, records = 10 ** random.uniform(-8, -3), 500
    first, second = random.uniform(2, 4), random.uniform(5, 9)
    changed, count = random.randint(1, 4), random.randint(5, 9)
    accountant = accounting.DpsgdTrainingAccountant(_config("PLD"))
    found = accountant.compute_epsilon(
        count, dp_params([(0, first), (changed, second)], records, delta, records=records)
    )
    sigma = (changed / first**2 + (count - changed) / second**2) ** -0.5
    exact = gaussian_epsilon(sigma, delta)
    words = f"noise {first!r}, from update {changed} on {second!r}, {count} updates, delta {delta!r}"
    yield words, exact * (1 - 1e-9), float(found), exact * 1.02 + 2 * _INTERVAL * count
    yield (
        f"no updates, {words}",
        *near(float(accountant.compute_epsilon(0, dp_params(first, records, delta, records=records))), 0.0),
    )
    unbounded = dp_params(first, records, delta, records=records, is_finite_guarantee=False)
    yield f"no guarantee, {words}", math.inf, float(accountant.compute_epsilon(count, unbounded)), math.inf


def _batch_schedules(random):
    """Check that batches that grow, and noise that changes at another update, cost what their parts cost.

    A comment of the library says that each factor applies to the first size, and its code multiplies by one factor
    after the other: with two factors either cost is right. The factors apply at odd updates, because the code has
    the size after both from the first of two neighbouring updates on.
    """
    delta, records, count = 10 ** random.uniform(-8, -3), 500, random.randint(9, 14)
    noises, batch = (random.uniform(1.2, 2), random.uniform(3, 5)), random.randint(10, 20)
    changed, (early, late) = random.randrange(2, 9, 2), sorted(random.sample(range(1, 9, 2), 2))
    one, other = random.sample(range(2, 6), 2)
    accountant = accounting.DpsgdTrainingAccountant(accounting.RdpAccountantConfig(orders=ORDERS))

    def parts(last):
        noise = [noises[update >= changed] for update in range(count)]
        factors = [1] * early + [one] * (late - early) + [last] * (count - late)
        return _composed(Counter(zip(noise, factors, strict=True)), batch / records, delta)

    for schedule, lasts in (({early: one}, (one,)), ({early: one, late: other}, (other, one * other))):
        params = dp_params(
            [(0, noises[0]), (changed, noises[1])], batch, delta, records=records, batch_size_scale_schedule=schedule
        )
        found = float(accountant.compute_epsilon(count, params))
        nearest = min(map(parts, lasts), key=lambda cost: abs(cost - found))
        yield (f"{count} updates, {params!r}", *near(found, nearest, _SINGLE))


def _composed(counts, rate, delta):
    """Return the epsilon of Gaussian noise on Poisson samples: how often there is a sigma and a factor on the rate."""
    accountant = dp_accounting.rdp.RdpAccountant(ORDERS)
    for (sigma, factor), count in counts.items():
        gaussian = dp_accounting.GaussianDpEvent(sigma)
        accountant.compose(dp_accounting.PoissonSampledDpEvent(rate * factor, gaussian), count)
    return float(accountant.get_epsilon(delta))


_NOISES = [k / 20 for k in range(60, 121)]
_RAISES = 3.45
"""The only one of these numbers at which the end of a tail is lost by rounding, a known fault."""
_OF_USERS = 4e-3
"""Between the losses of mixtures, which take seconds on a finer grid."""


def _sampling_methods(random):
    """Compare with full batches: of a fixed size, of users with several examples, in cycles, in one release."""
    delta, records, count = 10 ** random.uniform(-6, -3), 60, random.randint(2, 5)
    sigma = random.choice([noise for noise in _NOISES if noise != _RAISES])
    pld = _config("PLD")
    training = accounting.DpsgdTrainingAccountant(pld)
    users = accounting.DpsgdTrainingUserLevelAccountant(_config("PLD", _OF_USERS))
    single = accounting.SingleReleaseTrainingAccountant(pld)
    examples, cycle = random.randint(2, 3), 3
    fixed = dp_params(sigma, records, delta, records=records, sampling_method=_FIXED)
    of_users = dp_params(sigma, records, delta, records=records, examples_per_user=examples)
    of_fixed_users = dp_params(
        sigma, records, delta, records=records, examples_per_user=examples, sampling_method=_FIXED
    )
    in_cycles = dp_params(sigma, records // cycle, delta, records=records, cycle_length=cycle)
    alone = dp_params(sigma, records, delta, records=records)
    for name, found, multiplier, times in (
        ("a fixed batch", training.compute_epsilon(count, fixed), 2, count),
        ("users", users.compute_epsilon(count, of_users), examples, count),
        ("users, a fixed batch", users.compute_epsilon(count, of_fixed_users), 2 * examples, count),
        ("cycles", training.compute_epsilon(count, in_cycles), 1, math.ceil(count / cycle)),
        ("one release", single.compute_epsilon(count, alone), 1, 1),
    ):
        exact = gaussian_epsilon(sigma / multiplier / math.sqrt(times), delta)
        words = f"{name}: noise {sigma!r}, {count} updates, {examples} examples of a user, delta {delta!r}"
        yield words, exact * (1 - 1e-9), float(found), exact * 1.02 + 2 * _OF_USERS * (count + 1)


def _has_a_cost():
    """Return whether a full batch of users with two examples costs at least what its Gaussian noise does."""
    users, delta = accounting.DpsgdTrainingUserLevelAccountant(_config("PLD", _OF_USERS)), 1e-5
    params = dp_params(_RAISES, 60, delta, records=60, examples_per_user=2, sampling_method=_FIXED)
    return float(users.compute_epsilon(1, params)) >= gaussian_epsilon(_RAISES / 4, delta) * (1 - 1e-9)


def _cached(random):
    """Check that a cached number is that of as many updates, or of more: of those to the next of even points."""
    training = accounting.DpsgdTrainingAccountant(accounting.RdpAccountantConfig(orders=ORDERS))
    most, points, delta = random.randint(20, 90), random.randint(3, 9), 10 ** random.uniform(-8, -3)
    params = dp_params(random.uniform(1.5, 4), 70, delta, records=300)
    cached = accounting.CachedExperimentAccountant(training, most, points)
    exact = functools.cache(lambda count: float(training.compute_epsilon(count, params)))
    for count in (0, 1, random.randint(2, most - 1), most):
        words = f"{count} of {most} updates, {points} points, {params!r}"
        yield (
            f"{words}, cached",
            exact(count),
            float(cached.compute_epsilon(count, params, allow_approximate_cache=True)),
            exact(min(count + math.ceil(most / points), most)),
        )
        yield (f"{words}, computed", *near(float(cached.compute_epsilon(count, params)), exact(count)))


def training_relations():
    """Yield relations of the accountants."""
    # those of Gaussian noise, whose epsilon is known; the others are compared with bounds
    exact = {
        "targets cover what full batches cost": _calibrated_exactly,
        "full batches are Gaussian": _sampling_methods,
    }
    parts = "schedules cost what their parts cost"
    yield Relations(
        "DpsgdTrainingAccountant, relations",
        {
            **exact,
            **divided(_schedules, parts, "without updates nothing is spent, without a guarantee all", "noise"),
            "calibrated parameters meet the target": _calibrated,
            "batches that grow cost what their parts cost": _batch_schedules,
            "a cache never understates": _cached,
        },
        seconds=120.0,
        understated=[*exact, parts],
    )
    cost = f"noise of {_RAISES} has a cost"
    yield Relations("DpsgdTrainingUserLevelAccountant, full batches", {}, {cost: _has_a_cost}, understated=[cost])


def training_refusals():
    """Yield invalid calls of accountants and calibrators."""
    training = accounting.DpsgdTrainingAccountant(_config("RDP"))
    users = accounting.DpsgdTrainingUserLevelAccountant(_config("RDP"))

    def ask(accountant=training, sigma=2.0, batch=10, delta=1e-5, count=3, **more):
        return lambda: float(accountant.compute_epsilon(count, dp_params(sigma, batch, delta, records=100, **more)))

    nan = math.nan
    yield Nonsense(
        "training accountants",
        {
            "sigma=nan": ask(sigma=nan),
            "sigma=-1": ask(sigma=-1.0),
            "batch=200 of 100": ask(batch=200),
            "batch=-1": ask(batch=-1),
            "delta=nan": ask(delta=nan),
            "delta=-0.1": ask(delta=-0.1),
            "count=-1": ask(count=-1),
            "no noise": ask(sigma=None),
            "two examples of a user": ask(examples_per_user=2),
            "users without a number of examples": ask(accountant=users),
            "cycles that do not fit": ask(batch=60, cycle_length=2),
            "a truncated batch with RDP": ask(truncated_batch_size=5),
            "steps of one release are calibrated": lambda: accounting.calibrate_num_updates(
                target_epsilon=1.0,
                accountant=accounting.SingleReleaseTrainingAccountant(_config("RDP")),
                noise_multipliers=2.0,
                batch_sizes=10,
                num_samples=100,
                target_delta=1e-5,
            ),
            "dpsgd_event, noise_multiplier=-1": lambda: events.dpsgd_event(-1.0, 3, sampling_prob=0.1),
            "dpsgd_event, sampling_prob=1.5": lambda: events.dpsgd_event(1.0, 3, sampling_prob=1.5),
        },
    )
