"""Randomness of dpmm: no two runs without a seed have equal noise or choices, nor have two draws of one run.

Noise that is the same in each run can be subtracted, and equal noise of two counts shows their difference.
"""

from __future__ import annotations

import copy
import itertools
import random as _random
from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np
import pandas as pd
from dpmm.models import aim, mst, priv_bayes
from dpmm.models.base.compression import DomainCompressor
from dpmm.models.base.mbi import Dataset, Domain
from dpmm.models.base.mechanisms import mechanism
from dpmm.models.base.utils import gaussian_noise
from dpmm.pipelines import AIMPipeline, MSTPipeline, PrivBayesPipeline
from dpmm.processing import binners
from dpmm.processing.table_binner import TableBinner
from dpmm_bounds import Noise
from dpmm_budgets import dataset, random_codes, rows
from dpmm_noise import in_place_of
from dpmm_replays import Pool

from dpassay.adapter import Relations

_BUDGET = {"epsilon": 1.0, "delta": 1e-5}
"""Models of one budget share the search for rho."""

_MODELS = {"MST": mst.MST, "AIM": aim.AIM, "PrivBayes": priv_bayes.PrivBayes}
_OUTER = {"MST": mst.MSTGM, "AIM": aim.AIMGM, "PrivBayes": priv_bayes.PrivBayesGM}
_PIPELINES = {"MST": MSTPipeline, "AIM": AIMPipeline, "PrivBayes": PrivBayesPipeline}

_DOMAIN = {"a": {"categories": ["u", "v"]}, "n": {"lower": -500.0, "upper": 500.0}}

_OPTIONS, _DRAWS = 1000, 8
"""Choices among equal options: the probability that two runs have the same is 1e-24."""

_SELECTIONS = 30
"""Selections of PrivBayes, which starts at one of three columns: the probability of equal starts is below 1e-13."""


class _Forked(Pool):
    """The same, where each task starts from copies of what it gets and of the global generators."""

    @staticmethod
    def starmap(function, arguments):
        """Return the values of a function."""
        states, found = (np.random.get_state(), _random.getstate()), []  # noqa: NPY002  # of all of this process
        for task in arguments:
            np.random.set_state(states[0])  # noqa: NPY002
            _random.setstate(states[1])
            own, its = copy.deepcopy((function, task))
            found.append(own(*its))
        return found


@contextmanager
def _forked():
    with ExitStack() as stack:
        for module in (mst, aim, priv_bayes, mechanism):
            stack.enter_context(mock.patch.object(module, "Pool", _Forked))
        yield


def _apart(words, one, *others):
    """Compare runs with each other, and the draws of a run."""
    for other in others:
        yield f"runs that are the same, {words}", 0.0, float(one == other), 0.0
    yield f"runs with the same draw throughout, {words}", 0.0, float(all(draw == one[0] for draw in one)), 0.0


def _all_apart(words, noise):
    """Compare the number of different entries of noise with that of all."""
    yield f"entries with noise, {words}", 2, len(noise), float("inf")
    yield f"entries with the noise of another one, {words}", 0.0, len(noise) - len(set(noise)), 0.0


# --- choices ----------------------------------------------------------------------------------------------------


def _choices(model, data):
    """Return some choices of a model among options with equal scores, or its selections."""
    if hasattr(model, "exponential_mechanism"):
        return [int(model.exponential_mechanism(np.zeros(_OPTIONS), 0.7, 1.0)) for _ in range(_DRAWS)]
    return ["".join(itertools.chain(*model.select(data))) for _ in range(_SELECTIONS)]


def _fitted_pipeline(name, table, seed):
    pipeline = _PIPELINES[name](**_BUDGET, n_jobs=1, gen_kwargs={"n_iters": 3})
    pipeline.fit(table, domain=_DOMAIN, random_state=seed)
    return pipeline


def _table(random, size=40):
    return pd.DataFrame({
        "a": [random.choice("uv") for _ in range(size - 2)] + ["u", "v"],
        "n": [random.uniform(-500, 500) for _ in range(size)],
    })  # fmt: skip


def _no_choices_again(random):
    """Compare choices of models that are made alike, and of a model that was moved to a seed or to none."""
    data, table, seed = dataset(random_codes(random, 12)), _table(random), random.randrange(2**32)
    for name, maker in _MODELS.items():
        models = {
            "the model": [maker(**_BUDGET, n_jobs=1) for _ in range(2)],
            "its generator": [_OUTER[name](**_BUDGET, n_jobs=1).generator for _ in range(2)],
            "its pipeline": [_fitted_pipeline(name, table, None).gen.generator for _ in range(2)],
        }
        for words, alike in models.items():
            yield from _apart(f"{words} {name}, no seed", *(_choices(model, data) for model in alike))
        seeded = maker(**_BUDGET, n_jobs=1, prng=np.random.RandomState(seed))
        yield from _apart(f"{name}, seed {seed}", _choices(seeded, data))
        yield from _apart(
            f"pipeline {name}, seed {seed}", _choices(_fitted_pipeline(name, table, seed).gen.generator, data)
        )


# --- noise ------------------------------------------------------------------------------------------------------


def _noise_of_fits(name, codes, jobs, generators):
    """Return all noise of some fits of models to the same records."""
    noise = []

    def noted(sigma, size=None):
        drawn = gaussian_noise(sigma=sigma, size=size)
        noise.extend(np.ravel(drawn).tolist())
        return drawn

    with in_place_of(noted), _forked():
        for generator in generators:
            _MODELS[name](**_BUDGET, n_jobs=jobs, prng=generator)._fit(dataset(codes))
    return noise


def _no_noise_again(random):
    """Compare the noise of marginals in two fits without a seed, and in one with a seed, in one or two processes."""
    codes, seed = random_codes(random, random.randint(8, 30)), random.randrange(2**32)
    for name, jobs in itertools.product(_MODELS, (1, 2)):
        words = f"{name}, {jobs} jobs, {codes!r}"
        yield from _all_apart(f"no seed, {words}", _noise_of_fits(name, codes, jobs, [None, None]))
        seeded = [np.random.RandomState(seed)]
        yield from _all_apart(f"seed {seed}, {words}", _noise_of_fits(name, codes, jobs, seeded))


def _noise_of_columns(binner_type, table, seeds):
    """Return all noise of some fits of bins to two equal columns."""
    noise, kept = [], (Noise.add, binners.laplace_noise)

    def add(value, scale):
        noise.append(kept[0](0.0, scale))
        return value + noise[-1]

    def draw(scale):
        noise.append(kept[1](scale=scale))
        return noise[-1]

    with mock.patch.object(Noise, "add", staticmethod(add)), mock.patch.object(binners, "laplace_noise", draw):
        for seed in seeds:
            generator = None if seed is None else np.random.RandomState(seed)
            settings = {"epsilon": 40.0, "n_bins": 6}  # bounds of 40 records are found
            TableBinner(binner_type, settings, random_state=generator).fit(table)
    return noise


def _no_noise_of_columns_again(random):
    """Compare the noise of the bins of two equal columns, in two fits without a seed, and in one with a seed."""
    values, seed = [random.uniform(-500, 500) for _ in range(40)], random.randrange(2**32)
    table = pd.DataFrame({"one": values, "other": values})
    for binner_type, seeds in itertools.product(("priv-tree", "uniform"), ([None, None], [seed])):
        yield from _all_apart(f"{binner_type}, seeds {seeds}", _noise_of_columns(binner_type, table, seeds))


# --- records ----------------------------------------------------------------------------------------------------


def _values_in_bins(seed, size=12):
    """Return values that a table draws for the codes of two equal columns, in two calls."""
    values = np.linspace(0.0, 1.0, size)
    domain = {name: {"lower": 0.0, "upper": 1.0} for name in ("one", "other")}
    generator = None if seed is None else np.random.RandomState(seed)
    binner = TableBinner("uniform", {"n_bins": 4}, domain=domain, random_state=generator)
    codes = binner.fit_transform(pd.DataFrame({"one": values, "other": values}))
    return [value for _ in range(2) for value in binner.inverse_transform(codes).to_numpy().ravel().tolist()]


def _values_of_compression(size=200, count=20):
    """Return what a value that stands for many becomes."""
    compressor = DomainCompressor()
    compressor.fit([(None, np.array([100.0, *[0.0] * (size - 1)]), 1.0, ("a",))])
    return compressor.reverse(Dataset(pd.DataFrame({"a": [1] * count}), Domain(["a"], [2]))).df["a"].tolist()


def _no_records_again(random):
    """Compare synthetic records of two calls, and the values of two columns that have the same bins."""
    seed, codes, table = random.randrange(2**32), random_codes(random, 30), _table(random)
    yield from _all_apart("bins of two columns, no seed", [x for _ in range(2) for x in _values_in_bins(None)])
    yield from _all_apart(f"bins of two columns, seed {seed}", _values_in_bins(seed))
    yield from _apart("compressed values, no seed", _values_of_compression(), _values_of_compression())
    for name, maker in _OUTER.items():
        model = maker(**_BUDGET, n_jobs=1, n_iters=3, domain={"a": 2, "b": 3, "c": 2})
        model.fit(rows(codes))
        made = [list(map(tuple, model.generate(60).to_numpy().tolist())) for _ in range(2)]
        yield from _apart(f"records of {name}, no seed", *made)
        pipeline = _fitted_pipeline(name, table, seed)
        made = [pipeline.generate(20)["n"].tolist() for _ in range(2)]
        yield from _all_apart(f"records of the pipeline {name}, no seed", [*made[0], *made[1]])


def randomness_cases():
    """Yield the cases of randomness."""
    private = {
        "choices are made anew": _no_choices_again,
        "noise is drawn anew": _no_noise_again,
        "noise of bins is drawn anew": _no_noise_of_columns_again,
    }
    processed = {"records are drawn anew": _no_records_again}  # of what is private already
    yield Relations("randomness", {**private, **processed}, unsafe=dict.fromkeys(private, "above"))
