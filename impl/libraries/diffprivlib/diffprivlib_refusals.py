"""Invalid arguments of the mechanisms, tools, models and the accountant of diffprivlib, each of which must raise."""

from __future__ import annotations

import math

import numpy as np
from diffprivlib import mechanisms, models, tools
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.utils import BudgetError

from dpassay.adapter import Nonsense, Refused

__all__ = ["refusals"]

_EPSILON = [("epsilon", -1.0), ("epsilon", "1"), ("epsilon", 0.0)]
_SENSITIVITY = [("sensitivity", -1.0), ("sensitivity", "1")]
_BOUNDS = [("lower", 9.0), ("lower", "0"), ("upper", None)]
_DELTA = [("delta", -0.1), ("delta", 2.0), ("delta", "0")]
_WHOLE = [("sensitivity", 1.5), ("lower", 0.3), ("lower", "0")]


def _of(name, good, bad, value):
    """Return the invalid calls of a mechanism: one parameter wrong, or the value."""
    cls = getattr(mechanisms, name)

    def attempt(one, changed):
        return lambda: cls(**{**good, **changed}).randomise(one)

    attempts = {f"{key}={wrong!r}": attempt(value, {key: wrong}) for key, wrong in bad}
    later = {f"{key} set to {wrong!r}": _changed(cls, good, value, key, wrong) for key, wrong in bad if key in good}
    return Nonsense(f"mechanisms.{name}", {**attempts, **later, "value=''": attempt("", {})})


def _changed(cls, good, value, key, wrong):
    """Return a call of a mechanism of which a parameter is changed after it is made."""

    def call():
        mechanism = cls(**good)
        setattr(mechanism, key, wrong)
        return mechanism.randomise(value)

    return call


def _mechanisms():
    number = {"epsilon": 1.0, "sensitivity": 1.0}
    whole = {"epsilon": 1.0, "sensitivity": 1}
    bounds = {"lower": 0.0, "upper": 4.0}
    noisy = [*_EPSILON, *_SENSITIVITY]
    # epsilon may be 0 where there is a delta
    with_delta = [*_EPSILON[:2], *_SENSITIVITY, *_DELTA]
    yield _of("Laplace", {**number, "delta": 0.0}, [*noisy, *_DELTA], 1.0)
    for name in ("LaplaceTruncated", "LaplaceFolded", "LaplaceBoundedDomain"):
        yield _of(name, {**number, **bounds}, [*noisy, *_BOUNDS], 1.0)
    yield _of("LaplaceBoundedNoise", {**number, "delta": 0.1}, [*with_delta, ("epsilon", 0.0), ("delta", 0.5)], 1.0)
    yield _of("Gaussian", {**number, "delta": 0.1}, [*with_delta, ("epsilon", 1.5), ("epsilon", 0.0)], 1.0)
    yield _of("GaussianAnalytic", {**number, "delta": 0.1}, with_delta, 1.0)
    yield _of("GaussianDiscrete", {**whole, "delta": 0.1}, [*with_delta, _WHOLE[0]], 1)
    yield _of("Geometric", whole, [*noisy, _WHOLE[0]], 1)
    for name in ("GeometricTruncated", "GeometricFolded"):
        yield _of(name, {**whole, "lower": 0, "upper": 4}, [*noisy, *_BOUNDS, *_WHOLE], 1)
    yield _of("Staircase", {**number, "gamma": 0.5}, [*noisy, ("gamma", -0.1), ("gamma", 1.5), ("gamma", "")], 1.0)
    yield _of("Uniform", {"delta": 0.1, "sensitivity": 1.0}, [*_SENSITIVITY, *_DELTA, ("delta", 0.7)], 1.0)
    yield _of("Snapping", {**number, **bounds}, [*noisy, *_BOUNDS], 1.0)
    yield _of(
        "Binary", {"epsilon": 1.0, "value0": "a", "value1": "b"}, [*_EPSILON, ("value0", 1), ("value0", "b")], "a"
    )
    yield _of("Bingham", number, [*noisy], np.eye(2))
    select = {**number, "utility": [0.0, 1.0, 2.0]}
    wrong = [("utility", []), ("utility", "ab"), ("utility", ["a"]), ("utility", [0.0, float("inf")])]
    wrong += [("candidates", ["a"]), ("candidates", "abc")]
    yield _selecting("Exponential", select, [*noisy, *wrong, ("measure", [1.0]), ("measure", ["a"] * 3)])
    yield _selecting("PermuteAndFlip", select, [*noisy, *wrong])
    vector = {"epsilon": 1.0, "function_sensitivity": 1.0, "dimension": 2, "alpha": 0.5, "n": 3}
    bad = [("function_sensitivity", -1.0), ("function_sensitivity", "1"), ("data_sensitivity", -1.0)]
    bad += [("dimension", 0), ("dimension", 1.5), ("alpha", 0.0), ("alpha", -1.0), ("alpha", "1"), ("n", 0)]
    yield _of("Vector", vector, [*_EPSILON, *bad], np.sum)


def _selecting(name, good, bad):
    cls = getattr(mechanisms, name)
    return Nonsense(
        f"mechanisms.{name}",
        {f"{key}={wrong!r}": lambda k=key, w=wrong: cls(**{**good, k: w}).randomise() for key, wrong in bad},
    )


def _distances():
    labels = [["a", "b", 1.0], ["a", "c", 2.0], ["b", "c", 2.0]]

    def categorical(rows=labels, value="a", epsilon=1.0):
        return lambda: mechanisms.ExponentialCategorical(epsilon=epsilon, utility_list=rows).randomise(value)

    yield Nonsense(
        "mechanisms.ExponentialCategorical",
        {
            "epsilon=-1": categorical(epsilon=-1.0),
            "no list": categorical(rows="abc"),
            "a negative distance": categorical(rows=[*labels[:2], ["b", "c", -1.0]]),
            "a distance in words": categorical(rows=[*labels[:2], ["b", "c", "2"]]),
            "a label that is none": categorical(rows=[*labels[:2], ["b", 3, 2.0]]),
            "a distance missing": categorical(rows=labels[:2]),
            "an unknown value": categorical(value="d"),
            "a value that is none": categorical(value=1),
        },
    )

    def hierarchical(tree=(["a", "b"], ["c", "d"]), value="a", epsilon=1.0):
        return lambda: mechanisms.ExponentialHierarchical(epsilon=epsilon, hierarchy=list(tree)).randomise(value)

    yield Nonsense(
        "mechanisms.ExponentialHierarchical",
        {
            "epsilon=-1": hierarchical(epsilon=-1.0),
            "leaves at different depths": hierarchical(tree=(["a", "b"], ["c", ["d"]])),
            "a leaf that is no text": hierarchical(tree=(["a", 1], ["c", "d"])),
            "an unknown value": hierarchical(value="e"),
        },
    )


def _tools():
    records, quiet = np.array([0.2, 0.6, 0.9]), {"accountant": BudgetAccountant()}
    for name in ("mean", "sum", "var", "std", "nanmean", "nansum", "nanvar", "nanstd", "median"):
        function = getattr(tools, name)
        attempts = {
            f"{key}={wrong!r}": lambda k=key, w=wrong, f=function: f(
                records, **{"epsilon": 1.0, "bounds": (0, 1), **quiet, k: w}
            )
            for key, wrong in (
                ("epsilon", -1.0),
                ("epsilon", "1"),
                ("epsilon", 0.0),
                ("bounds", (1, 0)),
                ("bounds", (0, 1, 2)),
                ("bounds", 1.0),
                ("bounds", ("a", "b")),
                ("bounds", [[0, 0], [1, 1]]),
            )
        }
        yield Nonsense(f"tools.{name}, refusals", attempts)
    yield Nonsense(
        "tools.quantile, refusals",
        {
            f"quant={quant}": lambda q=quant: tools.quantile(records, q, epsilon=1.0, bounds=(0, 1), **quiet)
            for quant in (-0.1, 1.1)
        }
        | {
            f"percent={percent}": lambda p=percent: tools.percentile(records, p, epsilon=1.0, bounds=(0, 1), **quiet)
            for percent in (-1, 101)
        },
    )
    for name, ranges in (("histogram", (0, 1)), ("histogramdd", [(0, 1)])):
        function = getattr(tools, name)
        yield Nonsense(
            f"tools.{name}, refusals",
            {
                f"epsilon={bad!r}": lambda b=bad, f=function, r=ranges: f(
                    records.reshape(-1, 1) if r != (0, 1) else records, epsilon=b, bins=3, range=r, **quiet
                )
                for bad in (-1.0, 0.0, "1")
            },
        )


def _fits():
    features, labels = np.array([[0.1], [0.5], [0.9], [0.3]]), np.array([0, 1, 0, 1])
    good = {
        "GaussianNB": {"bounds": (0, 1)},
        "LogisticRegression": {"data_norm": 1.0},
        "LinearRegression": {"bounds_X": (0, 1), "bounds_y": (0, 1)},
        "KMeans": {"bounds": (0, 1), "n_clusters": 2},
        "PCA": {"bounds": (0, 1), "data_norm": 1.0},
        "StandardScaler": {"bounds": (0, 1)},
        "RandomForestClassifier": {"bounds": (0, 1), "classes": [0, 1], "n_estimators": 2},
    }
    for name, arguments in good.items():

        def fit(name=name, arguments=arguments, **changed):
            account = BudgetAccountant(epsilon=0.5) if changed.pop("spent", False) else BudgetAccountant()
            model = getattr(models, name)(**{"epsilon": 1.0, "accountant": account, **arguments, **changed})
            return model.fit(features, labels)

        attempts = {f"epsilon={bad!r}": lambda f=fit, b=bad: f(epsilon=b) for bad in (-1.0, "1")}
        attempts["more epsilon than the accountant has left"] = lambda f=fit: f(spent=True)
        if "bounds" in arguments:
            attempts["bounds reversed"] = lambda f=fit: f(bounds=(1, 0))
            attempts["bounds of two features"] = lambda f=fit: f(bounds=([0, 0], [1, 1]))
        yield Nonsense(f"models.{name}, refusals", attempts)


def _accounts():
    def overspent(*spent, epsilon=1.0, delta=0.1, slack=0.0):
        def call():
            account = BudgetAccountant(epsilon=epsilon, delta=delta, slack=slack)
            for part in spent:
                account.spend(*part)
            return account.total()

        return call

    def counted(function):
        """Return a call that is refused if the account is not what it must be."""

        def call():
            if function():
                raise Refused("as it must be")
            return "the account is wrong"

        return call

    def remaining(count):
        account = BudgetAccountant(epsilon=3.0, delta=0.2)
        account.spend(1.0, 0.1)
        epsilon, delta = account.remaining(count)
        return abs(epsilon - 2.0 / count) < 1e-6 and abs(1 - (1 - 0.1) * (1 - delta) ** count - 0.2) < 1e-6

    def within():
        inner = BudgetAccountant(epsilon=2.0)
        with inner:
            tools.mean(np.array([0.2, 0.7]), epsilon=1.5, bounds=(0, 1))
        return inner.total()[0] == 1.5 and len(inner) == 1

    def refuses_in_tools():
        account = BudgetAccountant(epsilon=1.0)
        try:
            tools.mean(np.array([0.2, 0.7]), epsilon=1.5, bounds=(0, 1), accountant=account)
        except BudgetError:
            return account.total() == (0, 0)
        return False

    yield Nonsense(
        "BudgetAccountant, refusals",
        {
            "1.5 of 1": overspent((1.5, 0.0)),
            "0.6 and 0.6 of 1": overspent((0.6, 0.0), (0.6, 0.0)),
            "a delta of 0.08 and 0.08 of 0.1": overspent((0.1, 0.08), (0.1, 0.08)),
            "a delta of 0.08 and 0.08 of 0.1, any epsilon": overspent((0.1, 0.08), (0.1, 0.08), epsilon=math.inf),
            "a delta of 0.08 and a slack of 0.05 of 0.1": overspent((0.1, 0.08), slack=0.05),
            "a total of epsilon=-1": lambda: BudgetAccountant(epsilon=-1.0),
            "a total of delta=2": lambda: BudgetAccountant(delta=2.0),
            "a total of nothing": lambda: BudgetAccountant(epsilon=0.0, delta=0.0),
            "a slack of -1": lambda: BudgetAccountant(epsilon=1.0, delta=0.1, slack=-1.0),
            "a slack above delta": lambda: BudgetAccountant(epsilon=1.0, delta=0.1, slack=0.5),
            "spent (-1, 0)": lambda: BudgetAccountant(spent_budget=[(-1.0, 0.0)]),
            "spent no pair": lambda: BudgetAccountant(spent_budget=[1.0]),
            "spent no list": lambda: BudgetAccountant(spent_budget=1.0),
            "spend (0, 0)": lambda: BudgetAccountant().spend(0.0, 0.0),
            "spend text": lambda: BudgetAccountant().spend("1", 0.0),
            "remaining(0)": lambda: BudgetAccountant(epsilon=1.0).remaining(0),
            "remaining(1.5)": lambda: BudgetAccountant(epsilon=1.0).remaining(1.5),
            "total, slack=2": lambda: BudgetAccountant().total(slack=2.0),
        },
    )
    yield Nonsense(
        "BudgetAccountant, accounts that are wrong",
        {
            "what remains for one": counted(lambda: remaining(1)),
            "what remains for four": counted(lambda: remaining(4)),
            "what is spent in a scope": counted(within),
            "what is refused is not spent": counted(refuses_in_tools),
        },
    )


def refusals():
    """Yield the invalid calls."""
    for group in (_mechanisms, _distances, _tools, _fits, _accounts):
        yield from group()
