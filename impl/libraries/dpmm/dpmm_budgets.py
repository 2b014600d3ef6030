"""Budgets of the models of dpmm: noise and choices of a fit, and the marginals that it releases with that noise.

The optimisation that makes a model of noisy marginals is post-processing: it runs with few iterations here.
"""

from __future__ import annotations

import collections
import functools
import math
from contextlib import contextmanager

import numpy as np
import pandas as pd
from dpmm.models import aim, mst, priv_bayes
from dpmm.models.base.mbi import Dataset, Domain, FactoredInference
from dpmm.models.base.mechanisms import cdp_rho as _cdp_rho
from dpmm.models.base.mechanisms import mechanism
from dpmm_noise import agrees, recorded

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

COLUMNS, SIZES = ("a", "b", "c"), (2, 3, 2)
_STEPS = 5

cdp_rho = functools.lru_cache(None)(_cdp_rho)
"""The search for rho takes a part of a second: models with the same parameters share it."""

for _module in (mst, priv_bayes, mechanism):
    _module.cdp_rho = cdp_rho


def _few_steps(module):
    """Make the inference that a module imported take few iterations."""

    def make(*arguments, **named):
        return FactoredInference(*arguments, **{**named, "iters": _STEPS})

    module.FactoredInference = functools.wraps(FactoredInference)(make)


for _module in (mst, aim):
    _few_steps(_module)


def rows(codes):
    """Return a table: a code counts through the values of the columns."""
    values = [np.unravel_index(int(code), SIZES) for code in codes]
    return pd.DataFrame({name: [int(row[place]) for row in values] for place, name in enumerate(COLUMNS)}, dtype=int)


def dataset(codes):
    """Return a data set with the full domain."""
    return Dataset(rows(codes), Domain(list(COLUMNS), list(SIZES)))


def random_codes(random, size):
    """Return codes of random records."""
    return [random.randrange(12) for _ in range(size)]


# --- budgets ----------------------------------------------------------------------------------------------------


def rho_of_noise(noises):
    """Return the cost of measured marginals: a record changes one count by 1 in each."""
    return math.fsum(1 / (2 * sigma**2) for sigma, _ in noises)


class Selections:
    """Choices of an exponential mechanism, with the arguments that it was called with."""

    def __init__(self, model):
        self.calls = []
        self._choose = model.exponential_mechanism
        model.exponential_mechanism = self

    def __call__(self, qualities, epsilon, sensitivity=1.0, **more):
        """Choose as the model does, and note the arguments."""
        self.calls.append((float(epsilon), float(sensitivity)))
        return self._choose(qualities, epsilon, sensitivity, **more)

    def rho(self):
        """Return the cost of all choices."""
        return math.fsum(epsilon**2 / 8 for epsilon, _ in self.calls)


def _spent(model, codes):
    """Return the rho of all noise and of all choices of a fit, the choices, and the marginals with their noise."""
    choices = Selections(model) if hasattr(model, "exponential_mechanism") else None
    (_, measures), noises = recorded(lambda: model._fit(dataset(codes)))
    return rho_of_noise(noises), choices.rho() if choices else 0.0, choices, (measures, noises)


def compare_released(measures, noises, codes, words):
    """Compare released marginals with the counts of the records, plus the noise that was drawn for them.

    What has no noise is above its bounds, and what is not the sum is below them.
    """
    yield f"marginals without noise, {words}", 0.0, len(measures) - len(noises), 0.0
    table = rows(codes)
    for number, ((_, released, _, clique), (_, noise)) in enumerate(zip(measures, noises)):
        counts = np.zeros([SIZES[COLUMNS.index(name)] for name in clique])
        for record in table[list(clique)].to_numpy():
            counts[tuple(record)] += 1
        about = f"marginal {number} of {clique}, {words}"
        yield f"cells without noise, {about}", 0.0, counts.size - noise.size, 0.0
        yield f"counts alone, {about}", 0.0, float(np.array_equal(np.ravel(released), counts.ravel())), 0.0
        yield f"counts and noise, {about}", 1.0, float(np.array_equal(np.ravel(released), counts.ravel() + noise)), 1.0


def _parameters(random):
    return random.uniform(0.3, 6), 10 ** random.uniform(-9, -2), random_codes(random, random.randint(8, 30))


def _budget_of_mst(random):
    epsilon, delta, codes = _parameters(random)
    compress = random.random() < 0.5
    model = mst.MST(epsilon, delta, compress=compress, n_jobs=1, prng=np.random.RandomState(7))
    measured, chosen, choices, released = _spent(model, codes)
    total, words = cdp_rho(epsilon, delta), f"epsilon {epsilon!r}, delta {delta!r}, compress {compress}, {codes!r}"
    if not compress:  # compression adds up cells whose counts are small
        yield from compare_released(*released, codes, words)
    yield f"rho of everything, {words}", total * 0.85, measured + chosen, total * (1 + 1e-9)
    yield agrees(f"rho of the choices, {words}", chosen, total / 3)
    for number, (_, sensitivity) in enumerate(choices.calls):
        yield f"change of a score over the sensitivity of choice {number}, {words}", 1.0, 1 / sensitivity, 1.0
    yield from _weighted(model, codes, random, words)


def _weighted(model, codes, random, words):
    """Compare noise by weights: the costs add up to that of the standard deviation alone."""
    weights = [random.uniform(0.3, 4) for _ in COLUMNS]
    sigma = model.sigma
    _, noises = recorded(lambda: model.measure(dataset(codes), [(name,) for name in COLUMNS], weights))
    yield (f"weights {weights!r}, {words}", *near(rho_of_noise(noises), 1 / (2 * sigma**2)))
    for place, (found, _) in enumerate(noises):
        exact = sigma * math.hypot(*weights) / weights[place]
        yield agrees(f"weights {weights!r}, noise {place}, {words}", found, exact)


def _budget_of_aim(random):
    epsilon, delta, codes = _parameters(random)
    rounds = random.choice([None, random.randint(8, 20)])
    model = aim.AIM(epsilon, delta, rounds=rounds, n_jobs=1, prng=np.random.RandomState(7), max_model_size=None)
    measured, chosen, choices, released = _spent(model, codes)
    total, words = cdp_rho(epsilon, delta), f"epsilon {epsilon!r}, delta {delta!r}, rounds {rounds}, {codes!r}"
    yield from compare_released(*released, codes, words)
    yield f"rho of everything, {words}", total * 0.5, measured + chosen, total * (1 + 1e-9)
    yield f"choices, {words}", 1, len(choices.calls), math.inf


def _budget_of_few_rounds():
    """Return whether AIM with two rounds stays within its budget: three columns are measured first."""
    model = aim.AIM(0.8, 1e-5, rounds=2, n_jobs=1, prng=np.random.RandomState(7), max_model_size=None)
    measured, chosen, *_ = _spent(model, [0, 3, 5, 7, 11, 2])
    return measured + chosen <= cdp_rho(0.8, 1e-5) * (1 + 1e-9)


def information(codes, parents, child):
    """Return the mutual information of columns over the geometric mean of their entropies, which PrivBayes scores."""
    table = rows(codes)

    def entropy(names):
        counts = collections.Counter(map(tuple, table[list(names)].to_numpy().tolist()))
        return -math.fsum(count / len(codes) * math.log2(count / len(codes)) for count in counts.values())

    one, other = entropy((child,)), entropy(parents)
    return (one + other - entropy((*parents, child))) / math.sqrt(one * other) if one and other else 0.0


def scale_of_choice(size, epsilon):
    """Return the sensitivity of mutual information (Zhang and others 2017, Lemma 1) over the epsilon of a choice."""
    sensitivity = 2 / size * math.log((size + 1) / 2) + (1 - 1 / size) * math.log(1 + 2 / (size - 1))
    return sensitivity * len(COLUMNS) / epsilon


class _Drawn:
    """Draws at random for PrivBayes, and notes the probabilities beside the candidates that were scored for them."""

    def __init__(self):
        self.scored, self.drawn, self._source = [], [], np.random.RandomState(7)

    def scores(self, data):
        """Stand for the scores of columns."""
        score = _MI(data)

        def noted(parents, child):
            self.scored.append((tuple(parents), child))
            return score(parents, child)

        return noted

    def choice(self, options, size=None, replace=True, p=None):
        """Stand for the choices of a random generator."""
        if p is not None:
            self.drawn.append((np.array(p), list(self.scored)))
            self.scored.clear()
        return self._source.choice(options, size=size, replace=replace, p=p)


_MI = priv_bayes.MI


@contextmanager
def _scored_by(drawn):
    priv_bayes.MI = drawn.scores
    try:
        yield
    finally:
        priv_bayes.MI = _MI


@contextmanager
def made_choices():
    """Note the exponential mechanisms that PrivBayes makes, with the numbers of their calls."""
    made, kept = [], priv_bayes.ExponentialMechanism

    class _Noted(kept):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            self.calls = 0
            made.append(self)

        def __call__(self, scores):
            self.calls += 1
            return super().__call__(scores)

    priv_bayes.ExponentialMechanism = _Noted
    try:
        yield made
    finally:
        priv_bayes.ExponentialMechanism = kept


def _budget_of_priv_bayes(random):
    """Compare the choices with half of epsilon, and the noise with the other half."""
    epsilon, delta, codes = _parameters(random)
    drawn, degree = _Drawn(), random.randint(2, 3)
    model = priv_bayes.PrivBayes(epsilon, delta, degree=degree, n_jobs=1, prng=drawn)
    with made_choices() as choices, _scored_by(drawn):
        measured, _, _, released = _spent(model, codes)
    words = f"epsilon {epsilon!r}, delta {delta!r}, degree {degree}, {codes!r}"
    yield from compare_released(*released, codes, words)
    # what the choices leave of epsilon is for noise
    left = max(0.0, epsilon - math.fsum(made.epsilon for made in choices))
    yield (f"rho of the noise, {words}", *near(measured, cdp_rho(left, delta)))
    size, nodes = len(codes), len(COLUMNS)
    for made in choices:
        yield agrees(f"epsilon of the choices, {words}", made.epsilon, epsilon / 2)
    # a choice has a part of the epsilon; the first column is drawn without looking at the records
    yield agrees(f"choices, {words}", sum(made.calls for made in choices), nodes - 1)
    data, half = dataset(codes), epsilon / 2
    scale = scale_of_choice(size, half)
    for number, (found, candidates) in enumerate(drawn.drawn):
        exact = [math.exp(information(codes, *candidate) / (2 * scale)) for candidate in candidates]
        yield agrees(f"options, choice {number}, {words}", len(found), len(candidates))
        for candidate, value, weight in zip(candidates, found, exact):
            about = f"probability of {candidate}, choice {number}, {words}"
            yield agrees(about, value, weight / math.fsum(exact), 1e-7)
    yield agrees(f"choices by probabilities, {words}", len(drawn.drawn), nodes - 1)
    choice = priv_bayes.ExponentialMechanism(data, half)
    for made in (*choices, choice):
        yield f"least scale over that of the choice, {words}", 0.0, scale / made.delta, 1 + 1e-9
    scores = [random.uniform(0, 1) for _ in range(5)]
    found = choice(scores)
    exact = [math.exp(score / (2 * choice.delta)) for score in scores]
    for place, value in enumerate(exact):
        yield agrees(f"probability {place}, {words}, {scores!r}", found[place], value / math.fsum(exact), 1e-7)
    raw = priv_bayes.ExponentialMechanism(data, half, normalise=False)(scores)
    yield agrees(f"not normalised, {words}, {scores!r}", raw[0], exact[0], 1e-7)


def _pretrained_budget(random):
    """Compare the noise of a model whose marginals were chosen on public data with its whole budget."""
    epsilon, delta, codes = _parameters(random)
    model = mst.MST(epsilon, delta, compress=False, n_jobs=1, prng=np.random.RandomState(7))
    model.set_domain(dict(zip(COLUMNS, SIZES)))
    model.cliques, model.fit_state = [("a", "b"), ("b", "c")], "pretrained"
    _, noises = recorded(lambda: model.fit(rows(codes), marginals_only=True))
    words = f"epsilon {epsilon!r}, delta {delta!r}, {codes!r}"
    yield f"rho of the noise, {words}", 0.0, rho_of_noise(noises), cdp_rho(epsilon, delta) * (1 + 1e-9)
    yield agrees(f"chosen marginals, {words}", len(model.measures), 2)
    yield from compare_released(model.measures, noises, codes, words)


def _measured(random):
    """Compare noisy counts with the counts, and their change with that of one record in each column."""
    epsilon, delta, codes = _parameters(random)
    model = mst.MST(epsilon, delta, compress=random.random() < 0.5, n_jobs=1)
    model.cliques = cliques = [("a",), ("b", "c")]
    words = f"epsilon {epsilon!r}, delta {delta!r}, {codes!r}"
    found, noises = recorded(lambda: model.measure(dataset(codes), cliques))
    yield from compare_released(found, noises, codes, words)
    for clique, (sigma, _) in zip(cliques, noises):
        yield agrees(f"noise of {clique}, {words}", sigma, model.sigma * math.sqrt(len(cliques)))
    yield (f"rho of the noise, {words}", *near(rho_of_noise(noises), 1 / (2 * model.sigma**2)))
    other, _ = recorded(lambda: model.measure(dataset([*codes, random.randrange(12)]), cliques))
    moved = math.fsum(float(np.sum((x[1] - y[1]) ** 2)) for x, y in zip(found, other))
    yield (f"squares of the change, {words}", *near(moved, len(cliques)))


def budget_cases():
    """Yield the cases of budgets."""
    budgets = {
        "MST spends its rho": _budget_of_mst,
        "AIM spends its rho": _budget_of_aim,
        "PrivBayes spends half and half": _budget_of_priv_bayes,
        "a model with chosen marginals spends its rho": _pretrained_budget,
    }
    few_rounds = {"AIM with two rounds spends no more": _budget_of_few_rounds}
    yield Relations("budgets", budgets, few_rounds, unsafe=dict.fromkeys([*budgets, *few_rounds], "above"))
    counts = {"noisy counts are those of records": _measured}
    yield Relations("MST.measure", counts, unsafe=dict.fromkeys(counts, "above"))
