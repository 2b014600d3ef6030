"""Public calls of dpmm: what whole pipelines and stored models spend, and what their files hold."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from dpmm.models import aim, load_model, mst, priv_bayes
from dpmm.pipelines import AIMPipeline, MSTPipeline, PrivBayesPipeline
from dpmm.pipelines.base import GenerativePipeline
from dpmm_bounds import as_number, column, decided, some_bins
from dpmm_budgets import (
    COLUMNS,
    SIZES,
    Selections,
    cdp_rho,
    compare_released,
    made_choices,
    random_codes,
    rho_of_noise,
    rows,
)
from dpmm_noise import agrees, recorded

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

_MODELS = {"MST": mst.MSTGM, "AIM": aim.AIMGM, "PrivBayes": priv_bayes.PrivBayesGM}
_PIPELINES = {"MST": MSTPipeline, "AIM": AIMPipeline, "PrivBayes": PrivBayesPipeline}
_ITERATIONS = 3

_PART_OF_MODEL = {"MST": 0.85, "AIM": 0.5, "PrivBayes": 0.999}
"""Parts of rho that a fit spends at least: MST has one marginal less than it has noise for, and AIM rounds."""


def _spent(model, fit, epsilon, delta):
    """Return the rho of a fit, the rho that is allowed, and the marginals with their noise.

    PrivBayes chooses with half of epsilon, and has the rho of the other half for noise.
    """
    generator = model.generator
    choices = Selections(generator) if hasattr(generator, "exponential_mechanism") else None
    with made_choices() as made:
        _, noises = recorded(fit)
    if choices:
        del generator.exponential_mechanism  # that of the class stays
        return rho_of_noise(noises) + choices.rho(), cdp_rho(epsilon, delta), noises
    chosen = math.fsum(choice.epsilon for choice in made)
    return rho_of_noise(noises), cdp_rho(max(0.0, epsilon - chosen), delta), noises


def _budget(random):
    return random.choice([(0.6, 1e-6), (2.3, 1e-9), (4.1, 1e-4)])  # the search for rho takes a part of a second


def _stored(thing, load):
    """Return a model or a pipeline that was stored and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        thing.store(folder)
        return load(Path(folder))


def _of_models(random):
    """Compare the cost of fits to private records, alone and after a fit to public ones that was stored."""
    (epsilon, delta), codes, public = _budget(random), random_codes(random, 30), random_codes(random, 12)
    for (name, maker), compress in itertools.product(_MODELS.items(), (False, True)):
        words = f"{name}, epsilon {epsilon!r}, delta {delta!r}, compress {compress}, {codes!r}"
        more = {"compress": compress, "n_jobs": 1, "n_iters": _ITERATIONS, "domain": dict(zip(COLUMNS, SIZES))}
        model = maker(epsilon, delta, **more)
        spent, allowed, noises = _spent(model, functools.partial(model.fit, rows(codes)), epsilon, delta)
        yield f"rho, {words}", allowed * _PART_OF_MODEL[name], spent, allowed * (1 + 1e-9)
        if not compress:
            yield from compare_released(model.generator.measures, noises, codes, words)
        model = maker(epsilon, delta, **more)
        model.fit(rows(public), public=True)
        again = _stored(model, load_model)
        only = random.random() < 0.5  # the marginals, without a model of them
        words = f"after public {public!r}, marginals_only {only}, {words}"
        fit = functools.partial(again.fit, rows(codes), marginals_only=only)
        spent, allowed, noises = _spent(again, fit, epsilon, delta)
        # nothing is chosen, so that all of the budget is for noise
        yield f"rho, {words}", allowed * (1 - 1e-9), spent, cdp_rho(epsilon, delta) * (1 + 1e-9)
        chosen = [tuple(clique) for clique in model.generator.cliques]
        measured = [tuple(clique) for *_, clique in again.generator.measures]
        yield f"marginals are those of the public records, {words}", 1.0, float(chosen == measured), 1.0
        if not compress:
            yield from compare_released(again.generator.measures, noises, codes, words)


def _table(random, size=40):
    """Return a table with a column of known bounds, one without, and one of categories; and its domain."""
    table = {name: column("f", [random.uniform(-500, 500) for _ in range(size)]) for name in ("one", "other")}
    table["kind"] = [*"uv", *(random.choice("uv") for _ in range(size - 2))]
    domain = {"one": {"lower": -512.0, "upper": 640.0}, "other": {}, "kind": {"categories": ["u", "v", "w"]}}
    return pd.DataFrame(table), domain


def _edges(pipeline):
    return [[as_number("f", edge) for edge in binner.bins] for binner in pipeline.proc.binners.values()]


def _of_pipelines(random):
    """Compare the cost of the bins and that of the model with the two budgets; bins that are made are kept."""
    (epsilon, delta), part, above = _budget(random), random.uniform(0.5, 8), some_bins(random, "f")
    table, domain = _table(random)
    for (name, maker), binner_type in zip(_PIPELINES.items(), random.sample(["priv-tree", "uniform", None], 3)):
        more = {"binner_type": binner_type, "proc_epsilon": part, "n_bins": 6, "compress": random.random() < 0.5}
        pipeline = maker(epsilon, delta, n_jobs=1, gen_kwargs={"n_iters": _ITERATIONS}, **more)
        words = f"{name}, epsilon {epsilon!r}, delta {delta!r}, {more!r}, bins {above}"
        columns = []

        def fit(pipeline=pipeline, columns=columns):
            columns += decided(lambda: pipeline.fit(table, domain=domain), above, 3)[1]

        spent, allowed, noises = _spent(pipeline.gen, fit, epsilon, delta)
        # values beyond the bounds of the noise are in few cells, which are compressed
        yield f"rho of the model, {words}", allowed * 0.3, spent, allowed * (1 + 1e-9)
        measures = pipeline.gen.generator.measures
        yield f"marginals without noise, {words}", 0.0, len(measures) - len(noises), 0.0
        # bounds that are known cost nothing where bins are even
        known = 1 if binner_type == "uniform" else 2
        cost = math.fsum(one.epsilon() for one in columns)
        yield f"epsilon of the bins, {words}", 0.0, cost, part * (1 + 1e-9)
        yield agrees(f"epsilon of the bins, {words}", cost, part * known / 2)
        edges = _edges(pipeline)
        again = _stored(pipeline, GenerativePipeline.load)
        for which, other in (("same", pipeline), ("loaded", again)):
            other.gen.generator.fit_state = None  # as of a model that is fitted for the first time
            _, columns = decided(lambda other=other: other.fit(table[::-1], domain=domain), above, 3)
            cost = math.fsum(one.epsilon() for one in columns)
            yield agrees(f"epsilon of the bins, fitted again, {which}, {words}", cost, 0.0)
            yield f"bins are the same, {which}, {words}", 1.0, float(edges == _edges(other)), 1.0
            yield (f"epsilon, {which}, {words}", *near(other.gen.generator.epsilon, epsilon))
            yield (f"delta, {which}, {words}", *near(other.gen.generator.delta, delta, 1e-9, 0.0))


def _without_bins(random):
    """Compare the cost of pipelines of codes alone with the budget."""
    (epsilon, delta), codes = _budget(random), random_codes(random, 30)
    for name, maker in _PIPELINES.items():
        more = {"compress": False, "n_jobs": 1, "gen_kwargs": {"n_iters": _ITERATIONS}}
        pipeline = maker(epsilon, delta, disable_processing=True, **more)
        fit = functools.partial(pipeline.fit, rows(codes), domain=dict(zip(COLUMNS, SIZES)))
        spent, allowed, noises = _spent(pipeline.gen, fit, epsilon, delta)
        words = f"{name}, epsilon {epsilon!r}, delta {delta!r}, {codes!r}"
        yield f"rho, {words}", allowed * _PART_OF_MODEL[name], spent, allowed * (1 + 1e-9)
        yield from compare_released(pipeline.gen.generator.measures, noises, codes, words)


def _by_default():
    """Return whether models and pipelines have the budgets that their signatures name."""
    right = []
    for made in (*_MODELS.values(), *_PIPELINES.values()):
        named = {name: value.default for name, value in inspect.signature(made).parameters.items()}
        thing = made(n_jobs=1)
        model = getattr(thing, "gen", thing)
        right += [(model.epsilon, model.delta) == (named["epsilon"], named["delta"])]
        right += [(model.generator.epsilon, model.generator.delta) == (named["epsilon"], named["delta"])]
        if "proc_epsilon" in named:
            right += [thing.proc.binner_settings["epsilon"] == named["proc_epsilon"]]
    return all(right)


def _stored_records(binner_type):
    """Return how many records of a column without repeated values are in the files of a pipeline that was fitted."""
    values = np.random.RandomState(7).uniform(0, 100, 60)
    pipeline = MSTPipeline(1.0, 1e-5, binner_type=binner_type, n_jobs=1, gen_kwargs={"n_iters": _ITERATIONS})
    table = pd.DataFrame({"n": values, "kind": [*"uv"] * 30})
    pipeline.fit(table, domain={"n": {"lower": 0.0, "upper": 100.0}, "kind": {"categories": ["u", "v"]}})
    with tempfile.TemporaryDirectory() as folder:
        pipeline.store(folder)
        files = b"".join(path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file())
    return sum(value.tobytes() in files for value in values)


def pipeline_cases():
    """Yield the cases of public calls."""
    budgets = {
        "models spend their rho": _of_models,
        "pipelines spend both budgets": _of_pipelines,
        "pipelines without bins spend their rho": _without_bins,
    }
    defaults = {"budgets by default are those of signatures": _by_default}
    yield Relations("budgets, by public calls", budgets, defaults, unsafe=dict.fromkeys(budgets, "above"))
    files = {
        f"{binner_type}: files hold no record": lambda binner_type=binner_type: _stored_records(binner_type) == 0
        for binner_type in ("uniform", "priv-tree")
    }
    yield Relations("stored pipelines", {}, files, unsafe=dict.fromkeys(files, "either"))
