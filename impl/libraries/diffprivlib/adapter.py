"""diffprivlib: its mechanisms, tools, models and budget accountant.

The library states epsilon (and delta) as parameters, so claims are read from the objects. Records are replaced, never
added, where the library calibrates to the number of records; histograms are of the add-remove kind. What
is released of a model is what its documentation lists as fitted attributes.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from diffprivlib import mechanisms, models, tools
from diffprivlib.accountant import BudgetAccountant
from diffprivlib_calls import call_relations
from diffprivlib_densities import density_relations
from diffprivlib_draws import draw_relations
from diffprivlib_families import families
from diffprivlib_faults import fault_relations
from diffprivlib_fits import fit_relations
from diffprivlib_fixed import fixed_noise, fixed_selection
from diffprivlib_forms import form_relations
from diffprivlib_limits import limit_cases
from diffprivlib_mechanisms import mechanism_families
from diffprivlib_models import model_families
from diffprivlib_options import option_relations
from diffprivlib_own_noise import own_noise_relations
from diffprivlib_refusals import refusals
from diffprivlib_relations import relations
from diffprivlib_selection import selection_families
from diffprivlib_tool_options import tool_option_relations

from dpassay.adapter import Answer, Mechanism, Nonsense, present_cases

LIBRARY = "diffprivlib"

warnings.simplefilter("ignore")
_ROUNDING = 1e-9
"""Relative; nothing is promised of the last digits of float64."""
_UNIT = "records:low=0,high=1,size={size},relation=replace"


# --- tools -----------------------------------------------------------------------------------------------------


def _quiet():
    return {"accountant": BudgetAccountant()}


def _tool(name, function, *, size=5, relation=None, calls=3000):
    neighbours = relation or _UNIT.format(size=size)

    def sample_one(data):
        return function(np.array(data), 1.0)

    return Mechanism(name, neighbours, "pure:1.0", sample_one=sample_one, calls=calls)


def _tools():
    unit = {"bounds": (0.0, 1.0)}
    for size in (1, 2, 5):
        for name in ("mean", "sum", "var", "std", "median"):
            if size == (2 if name in {"mean", "sum", "median"} else 1):
                continue  # the variance of one record is 0 whatever it is: that tests nothing
            function = getattr(tools, name)
            yield _tool(
                f"tools.{name}, {size} records",
                lambda array, epsilon, f=function: float(f(array, epsilon=epsilon, **unit, **_quiet())),
                size=size,
            )
    # a missing value is encoded as a record above 1
    with_missing = "records:low=0,high=2,size=5,relation=replace"
    for name in ("nanmean", "nansum", "nanvar"):
        function = getattr(tools, name)

        def missing(array, epsilon, f=function):
            array = np.where(array > 1, np.nan, array)
            return float(f(array, epsilon=epsilon, **unit, **_quiet()))

        yield _tool(f"tools.{name}, missing values", missing, relation=with_missing, calls=5000)
    yield _tool(
        "tools.quantile(0.25, 0.75)",
        lambda array, epsilon: tools.quantile(array, [0.25, 0.75], epsilon=epsilon, **unit, **_quiet()),
    )
    yield _tool(
        "tools.count_nonzero",
        lambda array, epsilon: int(tools.count_nonzero(array, epsilon=epsilon, **_quiet())),
    )
    yield _tool(
        "tools.histogram, 4 bins",
        lambda array, epsilon: tools.histogram(array, epsilon=epsilon, bins=4, range=(0, 1), **_quiet())[0],
        relation="records:low=0,high=1,size=4,max-size=5,relation=add-remove",
    )
    yield _tool(
        "tools.histogram2d, 2 x 2 bins",
        lambda array, epsilon: tools.histogram2d(
            array, array, epsilon=epsilon, bins=2, range=[(0, 1), (0, 1)], **_quiet()
        )[0].ravel(),
        relation="records:low=0,high=1,size=4,max-size=5,relation=add-remove",
    )
    for name in ("sum", "mean"):
        function = getattr(tools, name)

        def wide(array, epsilon, f=function):
            return float(f(array, epsilon=epsilon, bounds=(0.0, 1e16), **_quiet()))

        relation = "records:low=0,high=1e16,size=3,relation=replace"
        yield _tool(f"tools.{name}, bounds of 1e16", wide, relation=relation)


# --- models ----------------------------------------------------------------------------------------------------


def _bayes(data):
    """Naive Bayes on records whose integer part is the class, the rest the feature; all classes are known."""
    labels, features = np.floor(data).astype(int), np.mod(data, 1.0).reshape(-1, 1)
    model = models.GaussianNB(epsilon=1.0, bounds=(0.0, 1.0), **_quiet())
    model.partial_fit(features, labels, classes=[0, 1])
    return [*map(float, model.class_count_), *model.theta_.ravel().tolist()]


def _regression(data):
    """Regression of a known constant answer of 1 on the records: the coefficient alone is released."""
    data = np.array(data)
    model = models.LinearRegression(
        epsilon=1.0, bounds_X=(0.0, 1.0), bounds_y=(0.0, 1.0), fit_intercept=False, **_quiet()
    )
    model.fit(data.reshape(-1, 1), np.ones_like(data))
    return float(model.coef_[0])


def _means(data):
    """Return the centres of six records, five of which are 1; a fit takes long, so that one pair has all the calls."""
    model = models.KMeans(n_clusters=2, epsilon=1.0, bounds=(0.0, 1.0), random_state=None, **_quiet())
    model.fit(np.array([*data, 1, 1, 1, 1, 1]).reshape(-1, 1))
    return model.cluster_centers_.ravel().tolist()


def _scaler(data):
    model = models.StandardScaler(epsilon=1.0, bounds=(0.0, 1.0), **_quiet())
    model.fit(np.array(data).reshape(-1, 1))
    return [float(model.mean_[0]), float(model.var_[0])]


def _logistic(data):
    labels, features = np.floor(data).astype(int), np.mod(data, 1.0).reshape(-1, 1)
    model = models.LogisticRegression(epsilon=1.0, data_norm=1.0, fit_intercept=False, **_quiet())
    model.fit(features, labels)
    return model.coef_.ravel().tolist()


def _components(data):
    features = np.stack([data, np.sqrt(1 - np.square(data))], axis=1)
    model = models.PCA(n_components=1, epsilon=1.0, data_norm=1.0, bounds=(-1.0, 1.0), centered=True, **_quiet())
    model.fit(features)
    return [*model.components_.ravel().tolist(), *model.explained_variance_.tolist()]


def _forest(data):
    labels, features = np.floor(data).astype(int), np.mod(data, 1.0).reshape(-1, 1)
    model = models.RandomForestClassifier(
        n_estimators=1, epsilon=1.0, bounds=(0.0, 1.0), classes=[0, 1], max_depth=1, **_quiet()
    )
    model.fit(features, labels)
    return model.predict(np.array([[0.1], [0.9]])).tolist()


def _models():
    labelled = "records:low=0,high=1.75,size=6,relation=replace"
    plain = "records:low=0,high=1,size=6,relation=replace"
    bit = "vector:size=1,linf=1,low=0,high=1,integer"
    # near 0 the fit takes long
    pairs = "records:low=0.25,high=1,size=2,relation=replace"
    for name, sample_one, relation, calls in (
        ("models.GaussianNB, class counts and means", _bayes, labelled, 3000),
        ("models.LinearRegression, coefficient", _regression, pairs, 3000),
        ("models.KMeans, centres", _means, bit, 1500),
        ("models.StandardScaler", _scaler, plain, None),
        ("models.LogisticRegression, coefficient", _logistic, labelled, 3000),
        ("models.PCA, first component", _components, plain, None),
        ("models.RandomForestClassifier, predictions", _forest, labelled, None),
    ):
        yield Mechanism(name, relation, "pure:1.0", sample_one=sample_one, floats=False, calls=calls, slow=True)


# --- accountant and calibrators --------------------------------------------------------------------------------


def _repeated(epsilon0, count, delta):
    if count < 0 or count != int(count):
        raise ValueError(f"a list cannot have {count!r} entries")
    return _composed([epsilon0] * int(count), [0.0] * int(count), delta)


def _composed(epsilons, deltas, delta):
    spent = math.prod((1 - part for part in deltas), start=1.0)
    slack = 1 - (1 - delta) / spent if spent else -1.0  # the accountant multiplies the complements
    if slack < 0:
        raise ValueError(f"the deltas of the parts alone make more than {delta!r}")
    accountant = BudgetAccountant(spent_budget=list(zip(epsilons, deltas)))
    return accountant.total(slack=slack)[0]


def _answers():
    yield Answer(
        "BudgetAccountant.total, pure",
        "pure_composition_epsilon",
        _repeated,
        domain={"count": (1, 1000)},
        relative_error=_ROUNDING,
        account="BudgetAccountant.total",
    )
    yield Answer(
        "BudgetAccountant.total, heterogeneous",
        "heterogeneous_composition_epsilon",
        lambda epsilons, deltas, delta: _composed(list(epsilons), list(deltas), delta),
        relative_error=_ROUNDING,
        account="BudgetAccountant.total",
    )
    # rounding of (1 + erf) / 2 is an error in delta of up to 1.1e-16 exp(epsilon): the known findings stay apart
    for name, domain, error in (
        ("GaussianAnalytic, scale", {"epsilon": (1e-6, 5.0), "delta": (1e-9, 0.9)}, 2e-14),
        ("GaussianAnalytic, scale, tiny delta", {"epsilon": (1e-6, 5.0), "delta": (1e-300, 1e-9)}, 0.0),
        ("GaussianAnalytic, scale, large epsilon", {"epsilon": (5.0, 700.0)}, 0.0),
    ):
        yield Answer(
            name,
            "gaussian_sigma",
            lambda epsilon, delta: float(
                mechanisms.GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=1.0)._scale
            ),
            domain=domain,
            relative_error=_ROUNDING,
            delta_error=error,
        )
    yield Answer(
        "Gaussian, scale",
        "gaussian_sigma",
        lambda epsilon, delta: float(mechanisms.Gaussian(epsilon=epsilon, delta=delta, sensitivity=1.0)._scale),
        domain={"epsilon": (1e-6, 1.0)},
    )
    yield Answer(
        "Laplace, scale",
        "laplace_scale",
        lambda epsilon: math.sqrt(mechanisms.Laplace(epsilon=epsilon, sensitivity=1.0).variance(0) / 2),
    )


# --- what must be refused --------------------------------------------------------------------------------------


def _refusals():
    nan, infinity = math.nan, math.inf

    def draw(cls, **parameters):
        return lambda: cls(**parameters).randomise(1)

    numeric = (
        ("Laplace", mechanisms.Laplace, {"epsilon": 1.0, "delta": 0.0, "sensitivity": 1.0}),
        ("GaussianAnalytic", mechanisms.GaussianAnalytic, {"epsilon": 1.0, "delta": 0.1, "sensitivity": 1.0}),
        ("Staircase", mechanisms.Staircase, {"epsilon": 1.0, "sensitivity": 1.0}),
        ("Geometric", mechanisms.Geometric, {"epsilon": 1.0, "sensitivity": 1}),
        ("Uniform", mechanisms.Uniform, {"delta": 0.1, "sensitivity": 1.0}),
    )
    for name, cls, good in numeric:
        attempts = {}
        for parameter in good:
            for bad in (-1.0, nan) if parameter != "sensitivity" else (-1.0, nan, infinity):
                attempts[f"{parameter}={bad}"] = draw(cls, **{**good, parameter: bad})
        if "delta" in good:
            attempts["delta=2"] = draw(cls, **{**good, "delta": 2.0})
        yield Nonsense(name, attempts)
    truncated = {"epsilon": 1.0, "sensitivity": 1.0}
    yield Nonsense(
        "LaplaceTruncated",
        {
            "lower=1, upper=0": draw(mechanisms.LaplaceTruncated, **truncated, lower=1.0, upper=0.0),
            "lower=nan": draw(mechanisms.LaplaceTruncated, **truncated, lower=nan, upper=0.0),
        },
    )
    yield Nonsense(
        "BudgetAccountant",
        {
            "spend epsilon=-1": lambda: BudgetAccountant().spend(-1.0, 0.0),
            "spend epsilon=nan": lambda: BudgetAccountant().spend(nan, 0.0),
            "spend delta=2": lambda: BudgetAccountant().spend(1.0, 2.0),
            "epsilon=nan": lambda: BudgetAccountant(epsilon=nan, delta=0.0),
        },
    )
    yield Nonsense(
        "tools.mean",
        {
            "epsilon=-1": lambda: tools.mean(np.array([0.5]), epsilon=-1.0, bounds=(0, 1), **_quiet()),
            "epsilon=nan": lambda: tools.mean(np.array([0.5]), epsilon=nan, bounds=(0, 1), **_quiet()),
            "bounds reversed": lambda: tools.mean(np.array([0.5]), epsilon=1.0, bounds=(1, 0), **_quiet()),
            "no records": lambda: tools.mean(np.array([]), epsilon=1.0, bounds=(0, 1), **_quiet()),
        },
    )


def cases():
    """Return all cases that this version of the library has."""
    found = present_cases(
        families, model_families, mechanism_families, selection_families, fixed_noise, fixed_selection
    )
    told = present_cases(relations, call_relations, fit_relations, own_noise_relations, form_relations, draw_relations)
    options = present_cases(option_relations, tool_option_relations, fault_relations, density_relations)
    refused = present_cases(_refusals, refusals, limit_cases)
    return [*found, *present_cases(_tools, _models, _answers), *told, *options, *refused]
