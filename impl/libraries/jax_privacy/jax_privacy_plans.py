"""Plans of jax-privacy for banded noise: noise, events, batches and clipping fit together and meet the target."""

from __future__ import annotations

from unittest import mock

import dp_accounting
import jax.numpy as jnp
import numpy as np
from jax_privacy import noise_addition
from jax_privacy.batch_selection import CyclicPoissonSampling, PartitionType
from jax_privacy.experimental.execution_plan import BandMFExecutionPlanConfig
from jax_privacy.matrix_factorization import toeplitz
from jax_privacy_streams import lower_triangular, materialised

from dpassay.adapter import Nonsense, Relations
from dpassay.impl.libraries.references import divided, near

_ROUNDING = 1e-5
"""Relative: norms of float32 strategies, after an inversion."""

_GRID = 0.02
"""Between the losses that are convolved: coarse, because numbers on one grid are compared."""

_ABOVE, _MET = 1e-9, 1e-3
"""Relative: how far a calibrated plan may spend more than its target, by rounding, and less, by the search."""

_RELATION = dp_accounting.NeighboringRelation
_ADJACENCIES = (
    (_RELATION.REPLACE_SPECIAL, PartitionType.EQUAL_SPLIT),
    (_RELATION.REPLACE_ONE, PartitionType.EQUAL_SPLIT),
    (_RELATION.ADD_OR_REMOVE_ONE, PartitionType.INDEPENDENT),
)
"""The notions of neighbours with partitions that they are documented to be compatible with."""


def _accountant(relation):
    return dp_accounting.pld.PLDAccountant(relation, value_discretization_interval=_GRID)


def _strategy(random, bands, norm):
    values = np.array([1.0, *(random.uniform(-0.5, 0.7) for _ in range(bands - 1))])
    return values * norm / np.linalg.norm(values)


def _planned(config):
    """Return a plan with the noising matrix and the arguments that reach the privatizer."""
    make, reached = noise_addition.matrix_factorization_privatizer, []

    def privatizer(matrix, **more):
        reached.append((matrix, more))
        return make(matrix, **more)

    with mock.patch.object(noise_addition, "matrix_factorization_privatizer", privatizer):
        plan = config.plan
    [(matrix, more)] = reached
    return plan, matrix, more


def _plans(random):
    """Check plans for noise that is given, and for a target: of each notion of neighbours, once with truncation."""
    for place, (relation, partition) in enumerate(_ADJACENCIES):
        truncated = place < 2 and random.random() < 0.5
        for calibrated in (False, True):
            yield from _plan(random, relation, partition, truncated=truncated, calibrated=calibrated)


def _plan(random, relation, partition, *, truncated, calibrated):
    bands, rate, seed = random.randint(2, 4), random.uniform(0.2, 0.8), random.randrange(2**31)
    # a number of iterations that is no multiple of the bands: the first group takes part once more
    iterations = bands * random.randint(1, 2) + random.randint(1, bands - 1)
    unit, clip, divisor = random.random() < 0.5, random.uniform(0.3, 4), random.uniform(0.5, 20)
    normalised = random.random() < 0.3
    records, limit = (random.randint(50, 90), random.randint(6, 12)) if truncated else (None, None)
    given = {"epsilon": random.uniform(0.5, 3), "delta": 10 ** random.uniform(-6, -3)}
    if not calibrated:
        given = {"epsilon": None, "delta": None, "noise_multiplier": random.uniform(0.6, 5)}
    config = {
        # where columns are normalised, a norm of 1 is required
        "strategy": _strategy(random, bands, 1.0 if normalised else random.uniform(0.4, 3)),
        "iterations": iterations,
        "l2_clip_norm": clip,
        "rescale_to_unit_norm": unit,
        "normalize_by": divisor,
        "sampling_prob": rate,
        "truncated_batch_size": limit,
        "num_examples": records,
        "partition_type": partition,
        "column_normalize": normalised,
        "noise_seed": seed,
        **given,
    }
    words = ", ".join(f"{name}={value}" for name, value in config.items()) + f", {relation}"
    plan, matrix, more = _planned(BandMFExecutionPlanConfig(accountant=_accountant(relation), **config))
    event = plan.dp_event.event
    multiplier = (event if truncated else event.event).noise_multiplier
    if calibrated:
        spent = _accountant(relation).compose(plan.dp_event).get_epsilon(given["delta"])
        target = given["epsilon"]
        yield f"{words}, epsilon of the event", target * (1 - _MET), float(spent), target * (1 + _ABOVE)
    else:
        yield (f"{words}, noise of the event", *near(multiplier, given["noise_multiplier"]))
    if truncated:
        once = dp_accounting.TruncatedSubsampledGaussianDpEvent(records // bands, rate, limit, multiplier)
    else:
        once = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(multiplier))
    expected = dp_accounting.SelfComposedDpEvent(once, iterations // bands + 1)
    yield f"{words}, event {plan.dp_event!r}", 1.0, float(plan.dp_event == expected), 1.0
    sensitivity = (1 if unit else clip) / divisor * (2 if relation is _RELATION.REPLACE_ONE else 1)
    stated = plan.clipped_grad(lambda weights, row: jnp.sum(weights * row)).sensitivity(relation)
    yield (f"sensitivity, {words}", *near(stated, sensitivity, _ROUNDING))
    inverted = np.linalg.inv(materialised(matrix, iterations))
    needed = multiplier * sensitivity * float(np.linalg.norm(inverted, axis=0).max())
    yield (f"standard deviation, {words}", *near(more["stddev"], needed, _ROUNDING))
    strategy = lower_triangular(config["strategy"], iterations)
    strategy /= np.linalg.norm(strategy, axis=0) if normalised else 1.0
    yield f"{words}, largest error of the strategy", 0.0, float(np.abs(inverted - strategy).max()), 1e-4
    key = more["prng_key"]
    yield f"{words}, key {key!r}", 1.0, float(key == seed), 1.0
    batches = CyclicPoissonSampling(rate, iterations, limit, bands, partition)
    found = plan.batch_selection_strategy
    yield f"{words}, batches {found!r}", 1.0, float(found == batches), 1.0


def _amplified(random):
    """Check the standard deviation for coefficients that are optimised together with their number.

    The optimisation is replaced, because it takes long and returns coefficients of norm 1, which hide their norm.
    """
    bands, n = random.randint(2, 3), random.randint(30, 50)
    batch = random.randint(10, 15)
    # a data set whose batches have room for so many bands; with 1 band few records more or less are sampled
    records, epsilon, delta = bands * batch + bands * random.randint(0, 2), random.uniform(8, 15), 1e-4
    norm = random.uniform(0.4, 3)

    def coefficients(n, bands, **_more):
        values = 1 / np.sqrt(np.arange(1, min(bands, n) + 1))
        return jnp.asarray(norm * values / np.linalg.norm(values))

    with mock.patch.object(toeplitz, "optimize_banded_toeplitz", coefficients):
        found, stddev = toeplitz.optimize_coefs_for_amplifications(
            n, dataset_size=records, expected_batch_size=batch, epsilon=epsilon, delta=delta
        )
    chosen = len(found)
    once = dp_accounting.PoissonSampledDpEvent(
        batch / (records // chosen), dp_accounting.GaussianDpEvent(float(stddev) / norm)
    )
    accountant = dp_accounting.rdp.RdpAccountant()
    spent = accountant.compose(once, -(-n // chosen)).get_epsilon(delta)
    words = f"optimize_coefs_for_amplifications, n={n}, batch {batch} of {records}, norm {norm!r}, {chosen} bands"
    yield f"{words}, epsilon", epsilon * (1 - _MET), float(spent), epsilon * (1 + 1e-6)


def _normalised_noise():
    """Return whether a plan that normalises the columns of a strategy has noise for their norm of 1, or is refused."""
    config = {"strategy": np.array([0.5, 0.25]), "iterations": 6, "epsilon": None, "delta": None}
    try:
        plan = BandMFExecutionPlanConfig(noise_multiplier=3.0, column_normalize=True, **config)
        _, matrix, more = _planned(plan)
    except ValueError:
        return True
    norm = np.linalg.norm(np.linalg.inv(materialised(matrix, config["iterations"])), axis=0).max()
    return more["stddev"] >= 3.0 * float(norm) * (1 - _ROUNDING)


def plan_relations():
    """Yield the relations of plans."""
    noise, normalised = "plans have the noise of their events", "normalised columns have noise for their norm"
    yield Relations(
        "BandMFExecutionPlanConfig",
        {
            **divided(_plans, noise, "parts of a plan fit together", "sensitivity", "standard deviation"),
            "coefficients and their noise meet the target": _amplified,
        },
        {normalised: _normalised_noise},
        seconds=60.0,
        unsafe={noise: "below", normalised: "either"},
    )


def plan_refusals():
    """Yield invalid plans."""

    def plan(relation=_RELATION.REPLACE_SPECIAL, **more):
        config = {"strategy": np.array([0.8, 0.6]), "iterations": 4, "epsilon": 1.0, "delta": 1e-5, **more}
        return lambda: BandMFExecutionPlanConfig(accountant=_accountant(relation), **config).plan

    nan, independent = float("nan"), PartitionType.INDEPENDENT
    added = {"relation": _RELATION.ADD_OR_REMOVE_ONE}
    yield Nonsense(
        "BandMFExecutionPlanConfig, refusals",
        {
            "epsilon and noise": plan(noise_multiplier=1.0),
            "neither epsilon nor noise": plan(epsilon=None, delta=None),
            "epsilon without delta": plan(delta=None),
            "epsilon=-1": plan(epsilon=-1.0),
            "delta=0": plan(delta=0.0),
            "delta=1.5": plan(delta=1.5),
            "delta=nan": plan(delta=nan),
            "noise_multiplier=-1": plan(epsilon=None, delta=None, noise_multiplier=-1.0),
            "sampling_prob=1.5": plan(sampling_prob=1.5),
            "sampling_prob=nan": plan(sampling_prob=nan),
            "l2_clip_norm=-1": plan(l2_clip_norm=-1.0),
            "more bands than iterations": plan(iterations=1),
            "no bands": plan(strategy=np.array([])),
            "a table of bands": plan(strategy=np.eye(2)),
            "a record added, equal groups": plan(**added),
            "a record added, truncation": plan(
                **added, partition_type=independent, truncated_batch_size=3, num_examples=9
            ),
            "independent groups, truncation": plan(partition_type=independent, truncated_batch_size=3, num_examples=9),
            "truncation, no number of examples": plan(truncated_batch_size=3),
        },
    )
