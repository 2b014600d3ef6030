"""Further refusals of diffprivlib, and facts about what is released where nothing can be lost.

Parameters that are changed after a mechanism was made are checked when it is used. With a sensitivity of 0, or an
infinite epsilon, the answer has no noise.
"""

from __future__ import annotations

import math

import numpy as np
from diffprivlib import mechanisms, models, tools
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.mechanisms.base import bernoulli_neg_exp
from diffprivlib.mechanisms.transforms import RoundedInteger
from diffprivlib.models.utils import covariance_eig
from diffprivlib.utils import BudgetError

from dpassay.adapter import Nonsense, Relations

__all__ = ["limit_cases"]


def _later(make, key, wrong, value):
    """Return a use of a mechanism of which a parameter is changed after it is made."""

    def use():
        mechanism = make()
        setattr(mechanism, key, wrong)
        return mechanism.randomise(value)

    return use


def _mechanisms():
    pure = {
        "Geometric": (lambda: mechanisms.Geometric(epsilon=1.0, sensitivity=1), 1),
        "Staircase": (lambda: mechanisms.Staircase(epsilon=1.0, sensitivity=1.0), 1.0),
        "Exponential": (lambda: mechanisms.Exponential(epsilon=1.0, sensitivity=1.0, utility=[0.0, 1.0]), None),
        "PermuteAndFlip": (lambda: mechanisms.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, utility=[0.0, 1.0]), None),
        "Bingham": (lambda: mechanisms.Bingham(epsilon=1.0, sensitivity=1.0), np.eye(2)),
        "Vector": (lambda: mechanisms.Vector(epsilon=1.0, function_sensitivity=1.0, dimension=2), np.sum),
        "ExponentialCategorical": (
            lambda: mechanisms.ExponentialCategorical(epsilon=1.0, utility_list=[["a", "b", 1.0]]),
            "a",
        ),
    }
    attempts = {f"{name}, delta set to 0.1": _later(make, "delta", 0.1, at) for name, (make, at) in pure.items()}
    attempts |= {f"{name}, epsilon set to -1": _later(make, "epsilon", -1.0, at) for name, (make, at) in pure.items()}
    for name in ("sensitivity", "function_sensitivity", "data_sensitivity", "alpha", "dimension", "n"):
        for one, (make, at) in pure.items():
            if hasattr(make(), name):
                attempts[f"{one}, {name} set to -1"] = _later(make, name, -1, at)
    select = pure["Exponential"][0]
    attempts |= {
        "Exponential, utility set to text": _later(select, "utility", "ab", None),
        "Exponential, candidates set to one": _later(select, "candidates", ["a"], None),
        "Exponential, measure set to one": _later(select, "measure", [1.0], None),
        "Exponential, an infinite measure": lambda: mechanisms.Exponential(
            epsilon=1.0, sensitivity=1.0, utility=[0.0, 1.0], measure=[1.0, math.inf]
        ),
        "Exponential, a value": lambda: select().randomise(1),
        "Uniform, epsilon set to 0.5": _later(
            lambda: mechanisms.Uniform(delta=0.1, sensitivity=1.0), "epsilon", 0.5, 1.0
        ),
        "Bingham, a list": lambda: pure["Bingham"][0]().randomise([[1.0, 0.0], [0.0, 1.0]]),
        "Bingham, a vector": lambda: pure["Bingham"][0]().randomise(np.ones(2)),
        "Bingham, no square": lambda: pure["Bingham"][0]().randomise(np.ones((2, 3))),
        "Bingham, not symmetric": lambda: pure["Bingham"][0]().randomise(np.array([[1.0, 2.0], [0.0, 1.0]])),
        "Vector, no function": lambda: pure["Vector"][0]().randomise(1.0),
        "Snapping, an epsilon of 1e-17": lambda: mechanisms.Snapping(
            epsilon=1e-17, sensitivity=1.0, lower=0.0, upper=4.0
        ),
        "Binary, an empty label": lambda: mechanisms.Binary(epsilon=1.0, value0="", value1="b"),
        "Binary, another label": lambda: mechanisms.Binary(epsilon=1.0, value0="a", value1="b").randomise("c"),
        "Binary, a number": lambda: mechanisms.Binary(epsilon=1.0, value0="a", value1="b").randomise(1),
        "Binary, labels set to one": _later(
            lambda: mechanisms.Binary(epsilon=1.0, value0="a", value1="b"), "value1", "a", "a"
        ),
        "ExponentialHierarchical, text": lambda: mechanisms.ExponentialHierarchical(epsilon=1.0, hierarchy="ab"),
        "bernoulli_neg_exp(-1)": lambda: bernoulli_neg_exp(-1.0),
        "a transform of no mechanism": lambda: RoundedInteger(1.0),
    }
    yield Nonsense("mechanisms, further refusals", attempts)


def _models():
    features, labels = np.array([[0.1], [0.5], [0.9], [0.3]]), np.array([0, 1, 0, 1])

    def quiet():
        return {"accountant": BudgetAccountant(), "epsilon": 1.0}

    def bayes(**more):
        return models.GaussianNB(bounds=(0, 1), **more, **quiet())

    def again(rows, names):
        return lambda: bayes().partial_fit(features, labels, classes=[0, 1]).partial_fit(rows, names)

    def fewer_trees():
        forest = models.RandomForestClassifier(
            n_estimators=3, bounds=(0, 1), classes=[0, 1], warm_start=True, **quiet()
        )
        forest.fit(features, labels)
        forest.n_estimators = 2
        forest.fit(features, labels)

    rows = np.array([[3.0, 4.0], [0.0, 1.0]])
    yield Nonsense(
        "models, further refusals",
        {
            "GaussianNB, priors of three": lambda: bayes(priors=[0.3, 0.3, 0.4]).fit(features, labels),
            "GaussianNB, priors of 1.2": lambda: bayes(priors=[0.6, 0.6]).fit(features, labels),
            "GaussianNB, a prior of -0.2": lambda: bayes(priors=[-0.2, 1.2]).fit(features, labels),
            "GaussianNB, another number of features": again(np.repeat(features, 2, axis=1), labels),
            "GaussianNB, an unknown class": again(features, labels + 1),
            "LogisticRegression, one class": lambda: models.LogisticRegression(data_norm=1.0, **quiet()).fit(
                features, np.zeros(4, dtype=int)
            ),
            "KMeans, more clusters than records": lambda: models.KMeans(n_clusters=5, bounds=(0, 1), **quiet()).fit(
                features
            ),
            "RandomForestClassifier, fewer trees": fewer_trees,
            "covariance_eig, dims 1.5": lambda: covariance_eig(rows, norm=5.0, dims=1.5),
            "covariance_eig, dims -1": lambda: covariance_eig(rows, norm=5.0, dims=-1),
            "covariance_eig, a longer row": lambda: covariance_eig(rows, norm=4.0),
        },
    )


def _accounts():
    records = np.array([0.2, 0.7])

    def slack_that_costs():
        account = BudgetAccountant(epsilon=1.0, delta=0.1, spent_budget=[(0.5, 0.08)])
        account.slack = 0.05

    def spent_before(name):
        def call():
            account = BudgetAccountant(epsilon=0.5)
            return getattr(tools, name)(records, epsilon=1.0, accountant=account, **bounds[name])

        return call

    unit = {"bounds": (0.0, 1.0)}
    bounds = dict.fromkeys(("mean", "sum", "var", "std", "nanmean", "nansum", "nanvar", "nanstd", "median"), unit)
    bounds |= {"histogram": {"range": (0, 1), "bins": 2}, "count_nonzero": {}}
    yield Nonsense(
        "BudgetAccountant, further refusals",
        {
            "a slack that exceeds delta": slack_that_costs,
            "an epsilon that is lost in rounding": lambda: BudgetAccountant(epsilon=1.0).spend(1e-16, 0.0),
            "an accountant that is none": lambda: tools.mean(records, accountant="account", **unit),
            **{f"tools.{name}, more than is left": spent_before(name) for name in bounds},
            "tools.histogramdd, more than is left": lambda: tools.histogramdd(
                records.reshape(-1, 1), range=[(0, 1)], bins=2, epsilon=1.0, accountant=BudgetAccountant(epsilon=0.5)
            ),
        },
    )


def _no_noise():
    number = {"sensitivity": 0.0, "epsilon": 1.0}
    bounds = {"lower": -5.0, "upper": 5.0}
    made = [
        mechanisms.Laplace(**number),
        mechanisms.LaplaceTruncated(**number, **bounds),
        mechanisms.LaplaceFolded(**number, **bounds),
        mechanisms.LaplaceBoundedNoise(**number, delta=0.1),
        mechanisms.Gaussian(**number, delta=0.1),
        mechanisms.GaussianAnalytic(**number, delta=0.1),
        mechanisms.Uniform(delta=0.1, sensitivity=0.0),
        mechanisms.Staircase(**number),
    ]
    whole = [
        mechanisms.Geometric(epsilon=1.0, sensitivity=0),
        mechanisms.GaussianDiscrete(epsilon=1.0, sensitivity=0, delta=0.1),
    ]
    return all(one.randomise(1.5) == 1.5 for one in made) and all(one.randomise(3) == 3 for one in whole)


def _the_best():
    select = {"sensitivity": 0.0, "epsilon": 1.0, "utility": [1.0, 3.0, 2.0], "candidates": ["a", "b", "c"]}
    both = [getattr(mechanisms, name)(**select) for name in ("Exponential", "PermuteAndFlip")]
    chosen = {one.randomise() for one in both for _ in range(40)}  # a wrong choice may be the best one now and then
    matrix = np.diag([1.0, 3.0, 2.0])
    axis = mechanisms.Bingham(epsilon=1.0, sensitivity=0.0).randomise(matrix)
    return chosen == {"b"} and abs(abs(axis[1]) - 1) < 1e-9


def _inside():
    """Return whether values outside of the bounds are moved inside, and sums are reflected."""
    bounds = {"lower": -5.0, "upper": 5.0}
    cut = mechanisms.LaplaceTruncated(sensitivity=0.0, epsilon=1.0, **bounds)
    fold = mechanisms.LaplaceFolded(sensitivity=0.0, epsilon=1.0, **bounds)
    cuts = [cut.randomise(x) for x in (-7.0, 7.0)]
    folds = [fold.randomise(x) for x in (-7.0, 7.0, 17.0, -28.0)]
    return cuts == [-5.0, 5.0] and folds == [-3.0, 3.0, -3.0, -2.0]


def _scopes():
    """Return whether the account of a scope is used inside it, and the one before it afterwards."""
    outer, inner, records = BudgetAccountant(), BudgetAccountant(), np.array([0.2, 0.7])
    with outer:
        tools.mean(records, epsilon=0.5, bounds=(0, 1))
        with inner:
            tools.mean(records, epsilon=0.25, bounds=(0, 1))
        tools.mean(records, epsilon=1.0, bounds=(0, 1))
    return (outer.total()[0], inner.total()[0], len(outer), len(inner)) == (1.5, 0.25, 2, 1)


def _refused_is_not_spent():
    account = BudgetAccountant(epsilon=1.0)
    account.spend(0.7, 0.0)
    try:
        account.spend(0.4, 0.0)
    except BudgetError:
        return account.total()[0] == 0.7 and BudgetAccountant(epsilon=1.0).check(1.0, 0.0)
    return False


def _trees_are_added():
    """Return whether a forest that is fitted again keeps its trees and adds those that are missing."""
    features, labels = np.linspace(0, 1, 12).reshape(-1, 1), np.arange(12) % 2
    forest = models.RandomForestClassifier(
        n_estimators=2, epsilon=1.0, bounds=(0, 1), classes=[0, 1], warm_start=True, accountant=BudgetAccountant()
    )
    first = list(forest.fit(features, labels).estimators_)
    forest.n_estimators = 5
    after = forest.fit(features, labels).estimators_
    return len(after) == 5 and after[:2] == first and forest.accountant.total()[0] == 2.0


def limit_cases():
    """Yield the refusals and the facts."""
    for group in (_mechanisms, _models, _accounts):
        yield from group()
    yield Relations(
        "limits",
        {},
        {
            "without a sensitivity there is no noise": _no_noise,
            "without a sensitivity the best is chosen": _the_best,
            "sums outside of bounds are moved inside": _inside,
            "accounts of scopes": _scopes,
            "what is refused is not spent": _refused_is_not_spent,
            "trees are added to a forest": _trees_are_added,
        },
    )
