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
from diffprivlib.mechanisms.base import bernoulli_neg_exp
from diffprivlib_calls import call_relations
from diffprivlib_draws import draw_relations
from diffprivlib_families import families
from diffprivlib_fits import fit_relations
from diffprivlib_limits import limit_cases
from diffprivlib_mechanisms import mechanism_families
from diffprivlib_models import model_families
from diffprivlib_own_noise import own_noise_relations
from diffprivlib_refusals import refusals
from diffprivlib_relations import relations
from diffprivlib_selection import selection_families

from dpassay.adapter import Answer, Mechanism, Nonsense, present_cases

LIBRARY = "diffprivlib"

warnings.simplefilter("ignore")
_ONE = "vector:size=1,linf={step}"
_ROUNDING = 1e-9
"""Relative; nothing is promised of the last digits of float64."""
_UNIT = "records:low=0,high=1,size={size},relation=replace"


def _words(mechanism):
    epsilon, delta = float(mechanism.epsilon), float(mechanism.delta)
    return f"approx:{epsilon!r},{delta!r}" if delta else f"pure:{epsilon!r}"


def _number(make, *, name, step=1.0, bounds="", integer=False, **more):
    """Return a mechanism that randomises one number: `make()` builds it, `randomise` is all of its interface."""
    neighbours = _ONE.format(step=step) + bounds + (",integer" if integer else "")
    if "distribution" in more:
        distribution = more.pop("distribution")
        more["distribution"] = lambda data: distribution(make(), data)

    def sample_many(data, size):
        mechanism = make()
        value = int(data[0]) if integer else data[0]
        return np.array([mechanism.randomise(value) for _ in range(size)])

    return Mechanism(name, neighbours, lambda: _words(make()), sample_many=sample_many, **more)


# --- mechanisms that add noise to a number ---------------------------------------------------------------------


def _laplace_distribution(mechanism, data):
    scale = mechanism.sensitivity / (mechanism.epsilon - math.log1p(-mechanism.delta))
    return {"family": "laplace", "location": data[0], "scale": scale}


def _gaussian_distribution(mechanism, data):
    return {"family": "gaussian", "location": data[0], "scale": float(mechanism._scale)}


def _bounded_laplace_distribution(mechanism, data):
    mechanism.randomise(data[0])  # the scale is found at the first call
    location = min(max(data[0], mechanism.lower), mechanism.upper)
    bounds = {"low": float(mechanism.lower), "high": float(mechanism.upper)}
    return {"family": "bounded laplace", "location": location, "scale": float(mechanism._scale), **bounds}


def _geometric_distribution(mechanism, data):
    return {"family": "discrete laplace", "location": data[0], "scale": -1 / mechanism._scale}


def _clamped_laplace_distribution(mechanism, data):
    bounds = {"low": float(mechanism.lower), "high": float(mechanism.upper)}
    return {**_laplace_distribution(mechanism, data), "family": "clamped laplace", **bounds}


def _clamped_geometric_distribution(mechanism, data):
    """Return the probabilities of the integers between the bounds, which also stand for all that lies beyond."""
    ratio, low, high = math.exp(mechanism._scale), mechanism.lower, mechanism.upper
    inside = [(1 - ratio) * ratio ** abs(k - data[0]) for k in range(low + 1, high)]
    probabilities = [ratio ** (data[0] - low), *inside, ratio ** (high - data[0])]
    return {"family": "finite", "symbols": list(range(low, high + 1)), "probabilities": probabilities}


def _noise():
    laplace, geometric = mechanisms.Laplace, mechanisms.Geometric
    for epsilon, delta, sensitivity in ((1.0, 0.0, 1.0), (0.1, 0.0, 1.0), (4.0, 0.0, 1.0), (0.5, 0.1, 2.0)):
        yield _number(
            lambda e=epsilon, d=delta, s=sensitivity: laplace(epsilon=e, delta=d, sensitivity=s),
            name=f"Laplace(epsilon={epsilon}, delta={delta}, sensitivity={sensitivity})",
            step=sensitivity,
            distribution=_laplace_distribution,
        )
    for cls in (mechanisms.LaplaceTruncated, mechanisms.LaplaceFolded):
        yield _number(
            lambda c=cls: c(epsilon=1.0, sensitivity=1.0, lower=0.0, upper=2.0),
            name=f"{cls.__name__}(epsilon=1, sensitivity=1, [0, 2])",
            bounds=",low=0,high=2",
            **({"distribution": _clamped_laplace_distribution} if cls is mechanisms.LaplaceTruncated else {}),
        )
    for sensitivity in (1.0, 0.25, 1.3):
        yield _number(
            lambda s=sensitivity: mechanisms.LaplaceBoundedDomain(epsilon=1.0, sensitivity=s, lower=0.0, upper=1.0),
            name=f"LaplaceBoundedDomain(epsilon=1, sensitivity={sensitivity}, [0, 1])",
            step=sensitivity,
            bounds=",low=0,high=1",
            distribution=_bounded_laplace_distribution,
        )
    yield _number(
        lambda: mechanisms.LaplaceBoundedNoise(epsilon=1.0, delta=0.01, sensitivity=1.0),
        name="LaplaceBoundedNoise(epsilon=1, delta=0.01, sensitivity=1)",
    )
    for epsilon, delta in ((1.0, 1e-5), (0.1, 0.01)):
        yield _number(
            lambda e=epsilon, d=delta: mechanisms.Gaussian(epsilon=e, delta=d, sensitivity=1.0),
            name=f"Gaussian(epsilon={epsilon}, delta={delta})",
            distribution=_gaussian_distribution,
        )
    for epsilon, delta in ((1.0, 1e-5), (4.0, 0.1)):
        yield _number(
            lambda e=epsilon, d=delta: mechanisms.GaussianAnalytic(epsilon=e, delta=d, sensitivity=1.0),
            name=f"GaussianAnalytic(epsilon={epsilon}, delta={delta})",
            distribution=_gaussian_distribution,
            relative_error=_ROUNDING,  # the scale is found by bisection
        )
    yield _number(
        lambda: mechanisms.Uniform(delta=0.1, sensitivity=1.0),
        name="Uniform(delta=0.1, sensitivity=1)",
    )
    yield _number(
        lambda: mechanisms.Staircase(epsilon=1.0, sensitivity=1.0), name="Staircase(epsilon=1, sensitivity=1)"
    )
    yield _number(
        lambda: mechanisms.Snapping(epsilon=1.0, sensitivity=1.0, lower=0.0, upper=4.0),
        name="Snapping(epsilon=1, sensitivity=1, [0, 4])",
        bounds=",low=0,high=4",
    )
    for epsilon, sensitivity in ((1.0, 1), (0.2, 1), (1.0, 3)):
        yield _number(
            lambda e=epsilon, s=sensitivity: geometric(epsilon=e, sensitivity=s),
            name=f"Geometric(epsilon={epsilon}, sensitivity={sensitivity})",
            step=sensitivity,
            integer=True,
            distribution=_geometric_distribution,
        )
    yield _beyond_float64(geometric)
    yield _number(
        lambda: mechanisms.GeometricTruncated(epsilon=1.0, sensitivity=1, lower=0, upper=3),
        name="GeometricTruncated(epsilon=1, sensitivity=1, [0, 3])",
        bounds=",low=0,high=3",
        integer=True,
        distribution=_clamped_geometric_distribution,
    )
    yield _number(
        lambda: mechanisms.GeometricFolded(epsilon=1.0, sensitivity=1, lower=0.5, upper=3),
        name="GeometricFolded(epsilon=1, sensitivity=1, [0.5, 3])",
        bounds=",low=1,high=3",
        integer=True,
    )
    for sensitivity in (1, 2):
        yield _number(
            lambda s=sensitivity: mechanisms.GaussianDiscrete(epsilon=1.0, delta=0.01, sensitivity=s),
            name=f"GaussianDiscrete(epsilon=1, delta=0.01, sensitivity={sensitivity})",
            step=sensitivity,
            integer=True,
            distribution=lambda m, data: {
                "family": "discrete gaussian",
                "location": data[0],
                "scale": float(m._scale),
            },
        )


def _beyond_float64(geometric):
    """Return the geometric mechanism on integers that float64 cannot tell from their neighbours."""
    base = 2**53

    def sample_many(data, size):
        mechanism, value = geometric(epsilon=1.0, sensitivity=1), base + int(data[0])
        return [mechanism.randomise(value) - base for _ in range(size)]

    name = "Geometric(epsilon=1, sensitivity=1) at 2^53"
    return Mechanism(name, "vector:size=1,linf=1,integer,low=0,high=8", "pure:1.0", sample_many=sample_many)


# --- mechanisms that select or respond ---------------------------------------------------------------------------


def _selection():
    for cls in (mechanisms.Exponential, mechanisms.PermuteAndFlip):
        for monotonic in (False, True):

            def make(data, c=cls, mono=monotonic):
                return c(epsilon=1.0, sensitivity=1.0, utility=list(data), monotonic=mono)

            def sample_many(data, size, make=make):
                mechanism = make(data)
                return np.array([mechanism.randomise() for _ in range(size)])

            direction = ",monotone" if monotonic else ""
            yield Mechanism(
                f"{cls.__name__}(epsilon=1, sensitivity=1, monotonic={monotonic}), 4 candidates",
                f"vector:size=4,linf=1{direction}",
                "pure:1.0",
                sample_many=sample_many,
                distribution=_exponential_distribution(monotonic) if cls is mechanisms.Exponential else None,
            )

    def respond(data, size):
        mechanism = mechanisms.Binary(epsilon=1.0, value0="no", value1="yes")
        return [mechanism.randomise("yes" if data[0] else "no") for _ in range(size)]

    def response_distribution(data):
        truth, other = ("yes", "no") if data[0] else ("no", "yes")
        return {"family": "finite", "symbols": [truth, other], "probabilities": [math.e, 1.0]}

    one_bit = "vector:size=1,linf=1,low=0,high=1,integer"
    yield Mechanism("Binary(epsilon=1)", one_bit, "pure:1.0", sample_many=respond, distribution=response_distribution)

    labels = ["a", "b", "c"]
    distances = [["a", "b", 1], ["a", "c", 2], ["b", "c", 2]]

    def categorise(data, size):
        mechanism = mechanisms.ExponentialCategorical(epsilon=1.0, utility_list=distances)
        return [mechanism.randomise(labels[int(data[0])]) for _ in range(size)]

    any_label = "vector:size=1,linf=2,low=0,high=2,integer"
    yield Mechanism("ExponentialCategorical(epsilon=1)", any_label, "pure:1.0", sample_many=categorise)

    def climb(data, size):
        mechanism = mechanisms.ExponentialHierarchical(epsilon=1.0, hierarchy=[["a", "b"], ["c", "d"]])
        return [mechanism.randomise("abcd"[int(data[0])]) for _ in range(size)]

    any_leaf = "vector:size=1,linf=3,low=0,high=3,integer"
    yield Mechanism("ExponentialHierarchical(epsilon=1)", any_leaf, "pure:1.0", sample_many=climb)
    yield Mechanism(
        "bernoulli_neg_exp(0.7)",
        "vector:size=1,linf=1",
        "pure:0.0",
        sample_many=_coins,
        distribution=_coin_distribution,
    )


def _exponential_distribution(monotonic):
    def distribution(data):
        rate = 1.0 if monotonic else 0.5
        best = max(data)
        return {
            "family": "finite",
            "symbols": list(range(len(data))),
            "probabilities": [math.exp(rate * (utility - best)) for utility in data],
        }

    return distribution


def _coins(_data, size):
    return np.array([int(bernoulli_neg_exp(0.7)) for _ in range(size)])


def _coin_distribution(_data):
    return {"family": "finite", "symbols": [0, 1], "probabilities": [-math.expm1(-0.7), math.exp(-0.7)]}


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
    yield Answer(
        "GaussianAnalytic, scale",
        "gaussian_sigma",
        lambda epsilon, delta: float(
            mechanisms.GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=1.0)._scale
        ),
        relative_error=_ROUNDING,
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
    found = present_cases(families, model_families, mechanism_families, selection_families, _noise, _selection)
    told = present_cases(relations, call_relations, fit_relations, own_noise_relations, draw_relations)
    refused = present_cases(_refusals, refusals, limit_cases)
    return [*found, *present_cases(_tools, _models, _answers), *told, *refused]
