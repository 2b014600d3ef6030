"""Models of dpmm: the budget that a fit spends, the sensitivity of scores and counts, and what depends on the data.

The optimisation that makes a model of noisy marginals is post-processing: it runs with few iterations here.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import pandas as pd
from dpmm.models import aim, mst, priv_bayes
from dpmm.models.base.compression import DomainCompressor
from dpmm.models.base.mbi import Dataset, Domain, FactoredInference
from dpmm.models.base.mechanisms import cdp_rho as _cdp_rho
from dpmm.models.base.mechanisms import mechanism
from dpmm_noise import recorded

from dpassay.adapter import Mechanism, Nonsense, Relations
from dpassay.impl.libraries.references import near

_COLUMNS, _SIZES = ("a", "b", "c"), (2, 3, 2)
_STEPS = 5
_CALLS = 1200
"""Outcomes of a case that takes milliseconds; its distributions are compared exactly as well."""

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
    values = [np.unravel_index(int(code), _SIZES) for code in codes]
    return pd.DataFrame({name: [int(row[place]) for row in values] for place, name in enumerate(_COLUMNS)}, dtype=int)


def dataset(codes):
    """Return a data set with the full domain."""
    return Dataset(rows(codes), Domain(list(_COLUMNS), list(_SIZES)))


def _codes(data):
    return [min(11, max(0, math.floor(x))) for x in data]


def _random_codes(random, size):
    return [random.randrange(12) for _ in range(size)]


# --- budgets ----------------------------------------------------------------------------------------------------


def _rho_of_noise(scales):
    """Return the cost of measured marginals: a record changes one count by 1 in each."""
    return math.fsum(1 / (2 * sigma**2) for sigma, _ in scales)


class _Selections:
    """Choices of an exponential mechanism, with the arguments that it was called with."""

    def __init__(self, model):
        self.calls = []
        self._choose = model.exponential_mechanism
        model.exponential_mechanism = self

    def __call__(self, qualities, epsilon, sensitivity=1.0, **more):
        self.calls.append((float(epsilon), float(sensitivity)))
        return self._choose(qualities, epsilon, sensitivity, **more)

    def rho(self):
        return math.fsum(epsilon**2 / 8 for epsilon, _ in self.calls)


def _spent(model, codes):
    """Return the rho of all noise and of all choices of a fit."""
    choices = _Selections(model) if hasattr(model, "exponential_mechanism") else None
    _, scales = recorded(lambda: model._fit(dataset(codes)))
    return _rho_of_noise(scales), choices.rho() if choices else 0.0, choices


def _parameters(random):
    return random.uniform(0.3, 6), 10 ** random.uniform(-9, -2), _random_codes(random, random.randint(8, 30))


def _budget_of_mst(random):
    epsilon, delta, codes = _parameters(random)
    compress = random.random() < 0.5
    model = mst.MST(epsilon, delta, compress=compress, n_jobs=1, prng=np.random.RandomState(7))
    measured, chosen, choices = _spent(model, codes)
    total, words = cdp_rho(epsilon, delta), f"epsilon {epsilon!r}, delta {delta!r}, compress {compress}, {codes!r}"
    yield f"rho of everything, {words}", total * 0.85, measured + chosen, total * (1 + 1e-9)
    yield (f"rho of the choices, {words}", *near(chosen, total / 3))
    for number, (_, sensitivity) in enumerate(choices.calls):
        yield f"sensitivity of choice {number}, {words}", 1.0, sensitivity, 1.0
    yield from _weighted(model, codes, random, words)


def _weighted(model, codes, random, words):
    """Compare noise by weights: the costs add up to that of the standard deviation alone."""
    weights = [random.uniform(0.3, 4) for _ in _COLUMNS]
    sigma = model.sigma
    _, scales = recorded(lambda: model.measure(dataset(codes), [(name,) for name in _COLUMNS], weights))
    yield (f"weights {weights!r}, {words}", *near(_rho_of_noise(scales), 1 / (2 * sigma**2)))
    for place, (found, _) in enumerate(scales):
        exact = sigma * math.hypot(*weights) / weights[place]
        yield (f"weights {weights!r}, noise {place}, {words}", *near(found, exact))


def _budget_of_aim(random):
    epsilon, delta, codes = _parameters(random)
    rounds = random.choice([None, random.randint(8, 20)])
    model = aim.AIM(epsilon, delta, rounds=rounds, n_jobs=1, prng=np.random.RandomState(7), max_model_size=None)
    measured, chosen, choices = _spent(model, codes)
    total, words = cdp_rho(epsilon, delta), f"epsilon {epsilon!r}, delta {delta!r}, rounds {rounds}, {codes!r}"
    yield f"rho of everything, {words}", total * 0.5, measured + chosen, total * (1 + 1e-9)
    yield f"choices, {words}", 1, len(choices.calls), math.inf


def _budget_of_few_rounds():
    """Return whether AIM with two rounds stays within its budget: three columns are measured first."""
    model = aim.AIM(0.8, 1e-5, rounds=2, n_jobs=1, prng=np.random.RandomState(7), max_model_size=None)
    measured, chosen, _ = _spent(model, [0, 3, 5, 7, 11, 2])
    return measured + chosen <= cdp_rho(0.8, 1e-5) * (1 + 1e-9)


def _budget_of_priv_bayes(random):
    """Compare the choices with half of epsilon, and the noise with the other half."""
    epsilon, delta, codes = _parameters(random)
    model = priv_bayes.PrivBayes(epsilon, delta, n_jobs=1, prng=np.random.RandomState(7))
    measured, _, _ = _spent(model, codes)
    words = f"epsilon {epsilon!r}, delta {delta!r}, {codes!r}"
    yield (f"rho of the noise, {words}", *near(measured, cdp_rho(epsilon / 2, delta)))
    size, nodes = len(codes), len(_COLUMNS)
    sensitivity = 2 / size * math.log((size + 1) / 2) + (1 - 1 / size) * math.log(1 + 2 / (size - 1))
    data, half = dataset(codes), epsilon / 2
    choice = priv_bayes.ExponentialMechanism(data, half)
    yield f"scale of the choice, {words}", sensitivity * nodes / half * (1 - 1e-9), choice.delta, math.inf
    scores = [random.uniform(0, 1) for _ in range(5)]
    found = choice(scores)
    exact = [math.exp(score / (2 * choice.delta)) for score in scores]
    for place, value in enumerate(exact):
        yield (f"probability {place}, {words}, {scores!r}", *near(float(found[place]), value / math.fsum(exact), 1e-7))
    raw = priv_bayes.ExponentialMechanism(data, half, normalise=False)(scores)
    yield (f"not normalised, {words}, {scores!r}", *near(float(raw[0]), exact[0], 1e-7))


def _pretrained_budget(random):
    """Compare the noise of a model whose marginals were chosen on public data with its whole budget."""
    epsilon, delta, codes = _parameters(random)
    model = mst.MST(epsilon, delta, compress=False, n_jobs=1, prng=np.random.RandomState(7))
    model.set_domain(dict(zip(_COLUMNS, _SIZES)))
    model.cliques, model.fit_state = [("a", "b"), ("b", "c")], "pretrained"
    _, scales = recorded(lambda: model.fit(rows(codes), marginals_only=True))
    words = f"epsilon {epsilon!r}, delta {delta!r}, {codes!r}"
    yield f"rho of the noise, {words}", 0.0, _rho_of_noise(scales), cdp_rho(epsilon, delta) * (1 + 1e-9)
    yield f"marginals with noise, {words}", 2, len(scales), 2


# --- sensitivities ----------------------------------------------------------------------------------------------


def _scores(random):
    """Compare scores on neighbours with the sensitivity that the choice is made for."""
    codes, record = _random_codes(random, random.randint(4, 25)), random.randrange(12)
    left, right = dataset(codes), dataset([*codes, record])
    words = f"{codes!r} and {record!r}"
    estimate = dataset(_random_codes(random, 20))
    for pair in (("a", "b"), ("b", "c")):
        change = mst.compute_weight(estimate, left, pair)[2] - mst.compute_weight(estimate, right, pair)[2]
        yield f"compute_weight, {pair}, {words}", 0.0, abs(change), 1.0 + 1e-9
        model = aim.AIM(1.0, 1e-5, n_jobs=1)
        weight, sigma = random.uniform(0.3, 4), random.uniform(0.5, 9)
        one, other = (
            model._worst_approximated(pair, weight, side.project(pair).datavector(), estimate, sigma)
            for side in (left, right)
        )
        yield f"AIM, weight {weight!r}, {pair}, {words}", 0.0, abs(one[1] - other[1]), one[2] * (1 + 1e-9)


def _information(codes):
    return priv_bayes.MI(dataset(codes))(("a",), "c")


def _information_moves_as_stated():
    """Return whether one record changes the score of PrivBayes by no more than its exponential mechanism assumes."""
    codes = [0] * 200
    choice = priv_bayes.ExponentialMechanism(dataset(codes), 1.0)
    stated = choice.delta * 1.0 / len(_COLUMNS)
    return abs(_information([*codes[1:], 7]) - _information(codes)) <= stated  # 7 has other values in a and c


_EQUAL_ROWS = 1000
"""Rows without rare values, beside which one record is replaced."""


def _chosen_marginals(epsilon, delta):
    """Return the case of the marginals that PrivBayes chooses; the number of records is fixed, and so is the root."""
    source = np.random.RandomState(0)

    class _Random:
        """Starts at the first column, and chooses at random then."""

        @staticmethod
        def choice(options, **named):
            return source.choice(options, **named) if named else _COLUMNS[0]

    model = priv_bayes.PrivBayes(epsilon, delta, n_jobs=1, prng=_Random())
    data_of = functools.lru_cache(None)(lambda code: dataset([code, *[0] * _EQUAL_ROWS]))

    def select(values):
        return "".join("".join(clique) for clique in model.select(data_of(*_codes(values)))[:2])

    def distribution(values):
        data = data_of(*_codes(values))
        scores = [priv_bayes.MI(data)(("a",), other) for other in "bc"]
        scale = 2 * priv_bayes.ExponentialMechanism(data, epsilon / 2).delta
        weights = [math.exp((score - max(scores)) / scale) for score in scores]
        return {"family": "finite", "symbols": ["aab", "aac"], "probabilities": weights}

    return Mechanism(
        f"PrivBayes.select({epsilon=}, {delta=})",
        "records:low=0,high=11,size=1,relation=replace",
        f"approx:{epsilon!r},{delta!r}",
        sample_one=select,
        seed=lambda number: source.seed(number % 2**32),
        distribution=distribution,
        floats=False,
        calls=_CALLS,
        call=(
            "from dpmm.models.priv_bayes import PrivBayes\n"
            f"# asked about {_EQUAL_ROWS} equal rows and the rows {{data}}\n"
            f"PrivBayes({epsilon!r}, {delta!r}, n_jobs=1).select"
        ),
    )


def _measured(random):
    """Compare noisy counts with the counts, and their change with that of one record in each column."""
    epsilon, delta, codes = _parameters(random)
    model = mst.MST(epsilon, delta, compress=random.random() < 0.5, n_jobs=1)
    model.cliques = cliques = [("a",), ("b", "c")]
    words = f"epsilon {epsilon!r}, delta {delta!r}, {codes!r}"
    table = rows(codes)
    found, scales = recorded(lambda: model.measure(dataset(codes), cliques))
    exact = [
        [int((table["a"] == k).sum()) for k in range(_SIZES[0])],
        [int(((table["b"] == k) & (table["c"] == m)).sum()) for k in range(_SIZES[1]) for m in range(_SIZES[2])],
    ]
    for (_, noisy, _, clique), counts, (sigma, size) in zip(found, exact, scales):
        yield f"counts of {clique}, {words}", 1.0, float(np.ravel(noisy).tolist() == counts), 1.0
        yield f"cells of {clique} with noise, {words}", len(counts), size, len(counts)
        yield (f"noise of {clique}, {words}", *near(sigma, model.sigma * math.sqrt(len(cliques))))
    other, _ = recorded(lambda: model.measure(dataset([*codes, random.randrange(12)]), cliques))
    moved = math.fsum(float(np.sum((x[1] - y[1]) ** 2)) for x, y in zip(found, other))
    yield (f"squares of the change, {words}", *near(moved, len(cliques)))


# --- what depends on the data -----------------------------------------------------------------------------------


def _keeps_its_domain():
    """Return whether a model with a domain measures all of it, whatever the records are."""
    return _sizes({"a": 12}) == {12}


def _sizes(domain):
    """Return the numbers of noisy counts of models of different records."""
    sizes = set()
    for codes in ([0, 1, 2], [11, 11], [5]):
        model = mst.MSTGM(1.0, 1e-5, compress=False, n_jobs=1, domain=domain)
        model.fit(pd.DataFrame({"a": codes}), marginals_only=True)
        sizes.add(sum(int(np.size(y)) for _, y, _, _ in model.generator.measures))
    return sizes


def _records_changed_by_zeros():
    """Return whether compression with structural zeros changes one record only where one record changes."""
    compressor = DomainCompressor(structural_zeros={"a": [1]}, zeros_only=True)
    measure = (None, np.zeros(3), 1.0, ("a",))
    compressor.fit([measure])
    moved = []
    for seed in range(20):
        sizes = []
        for values in ([1] * 8 + [0, 2], [1] * 8 + [0, 0]):
            np.random.seed(seed)  # noqa: NPY002  # the generator that pandas draws from
            frame = pd.DataFrame({"a": values})
            sizes.append(compressor.transform_col(frame, "a")[0].tolist())
        moved.append(sum(left != right for left, right in zip(*sizes)))
    return max(moved) <= 1


def model_cases():
    """Yield the cases of the models."""
    yield Relations(
        "budgets",
        {
            "MST spends its rho": _budget_of_mst,
            "AIM spends its rho": _budget_of_aim,
            "PrivBayes spends half and half": _budget_of_priv_bayes,
            "a model with chosen marginals spends its rho": _pretrained_budget,
        },
        {
            "AIM with two rounds spends no more": _budget_of_few_rounds,
        },
    )
    yield Relations(
        "MSTGM, sizes",
        {},
        {
            "a model measures its domain": _keeps_its_domain,
            "sizes without a domain are not those of the records": lambda: len(_sizes(None)) == 1,
        },
    )
    yield Relations(
        "scores",
        {"scores move as stated": _scores},
        {
            "the mutual information of PrivBayes moves as stated": _information_moves_as_stated,
            "records in structural zeros are replaced one by one": _records_changed_by_zeros,
        },
    )
    yield Relations("MST.measure", {"noisy counts are those of records": _measured})
    yield _chosen_marginals(1.0, 1e-6)


def model_refusals():
    """Yield invalid calls of the models."""
    table, nan = rows([0, 5, 7, 11]), math.nan
    makers = {
        "MSTGM": lambda **named: mst.MSTGM(**named, n_jobs=1),
        "AIMGM": lambda **named: aim.AIMGM(**named, n_jobs=1),
        "PrivBayesGM": lambda **named: priv_bayes.PrivBayesGM(**named, n_jobs=1),
    }
    for name, make in makers.items():
        yield Nonsense(
            f"{name}, invalid",
            {
                **{f"epsilon={value}": _with(make, epsilon=value) for value in (0, -1.0, nan)},
                **{f"delta={value}": _with(make, delta=value) for value in (-0.1, nan, 1.5)},
                "values beyond the domain": lambda make=make: make(domain={"a": 2, "b": 3, "c": 1}).check_fit(table),
                "negative values": lambda make=make: make(domain={"a": 2}).check_fit(pd.DataFrame({"a": [-1, 0]})),
                "missing values": lambda make=make: make(domain={"a": 2}).check_fit(pd.DataFrame({"a": [nan, 0]})),
            },
        )


def _with(make, **named):
    return lambda: make(**named)
