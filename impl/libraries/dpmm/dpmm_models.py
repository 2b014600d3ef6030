"""Models of dpmm: the sensitivity of scores, what is chosen by them, and what else depends on the data."""

from __future__ import annotations

import functools
import math

import numpy as np
import pandas as pd
from dpmm.models import aim, mst, priv_bayes
from dpmm.models.base.compression import DomainCompressor
from dpmm_budgets import COLUMNS, dataset, information, random_codes, rows, scale_of_choice

from dpassay.adapter import Mechanism, Nonsense, Relations

# --- sensitivities ----------------------------------------------------------------------------------------------


def _scores(random):
    """Compare scores on neighbours with the sensitivity that the choice is made for."""
    codes, record = random_codes(random, random.randint(4, 25)), random.randrange(12)
    left, right = dataset(codes), dataset([*codes, record])
    words = f"{codes!r} and {record!r}"
    estimate = dataset(random_codes(random, 20))
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
    stated = choice.delta * 1.0 / len(COLUMNS)
    return abs(_information([*codes[1:], 7]) - _information(codes)) <= stated  # 7 has other values in a and c


_CALLS = 1200
"""Outcomes of a case that takes milliseconds; its distributions are compared exactly as well."""

_EQUAL_ROWS = 1000
"""Rows without rare values, beside which one record is replaced."""


def _codes(data):
    return [min(11, max(0, math.floor(x))) for x in data]


def _chosen_marginals(epsilon, delta):
    """Return the case of the marginals that PrivBayes chooses; the number of records is fixed, and so is the root."""
    source = np.random.RandomState(0)

    class _Random:
        """Starts at the first column, and chooses at random then."""

        @staticmethod
        def choice(options, **named):
            return source.choice(options, **named) if named else COLUMNS[0]

    model = priv_bayes.PrivBayes(epsilon, delta, n_jobs=1, prng=_Random())
    data_of = functools.lru_cache(None)(lambda code: dataset([code, *[0] * _EQUAL_ROWS]))

    def select(values):
        return "".join("".join(clique) for clique in model.select(data_of(*_codes(values)))[:2])

    def distribution(values):
        codes = [*_codes(values), *[0] * _EQUAL_ROWS]
        scores = [information(codes, ("a",), other) for other in "bc"]
        scale = 2 * scale_of_choice(len(codes), epsilon / 2)
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
    sizes = {
        "sizes with a domain are not those of the records": lambda: len(_sizes({"a": 12})) == 1,
        "sizes without a domain are not those of the records": lambda: len(_sizes(None)) == 1,
    }
    domain = {"a model measures its domain": _keeps_its_domain}
    yield Relations("MSTGM, sizes", {}, {**domain, **sizes}, unsafe=dict.fromkeys(sizes, "either"))
    yield Relations(
        "scores",
        {"scores move as stated": _scores},
        {
            "the mutual information of PrivBayes moves as stated": _information_moves_as_stated,
            "records in structural zeros are replaced one by one": _records_changed_by_zeros,
        },
        unsafe={
            "scores move as stated": "above",
            "the mutual information of PrivBayes moves as stated": "either",
        },
    )
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
