"""Several contributions of one user: `l0` partitions, and `linf` records in each of them, that all change at once.

What the classes pass on is compared with what they were given. Inputs of sampled cases are numbers of equal records in
each partition, and outcomes are the releases of all partitions; a stated scale is written from its definition.
"""

from __future__ import annotations

import contextlib
import math

from pydp.algorithms import _algorithm, laplacian, numerical_mechanisms
from python_dp_calibration import sigma_ends

from dpassay.adapter import Family, Mechanism, Nonsense, Relations, protects
from dpassay.impl.libraries.references import near

__all__ = ["contribution_cases", "quantile_tree_cases"]

_COMPILED = ("RuntimeError",)
"""The exception by which the compiled mechanisms refuse."""

_NAN, _INFINITY = math.nan, math.inf

_BOUNDED = ("BoundedSum", "BoundedMean", "BoundedVariance", "BoundedStandardDeviation", "Max", "Min", "Median")

_TYPES = {"int": "Int", "int64": "Int64", "float": "Double"}
"""The ending of the compiled class of each type."""

# --- what reaches the compiled classes ---------------------------------------------------------------------------


class _Recorder:
    """Stands for the compiled classes; it notes which one is made, and of what."""

    def __init__(self):
        self.made = []

    def __getattr__(self, name):
        def make(**given):
            self.made.append((name, given))

        return make


@contextlib.contextmanager
def _recorded():
    compiled, recorder = _algorithm._algorithms, _Recorder()
    _algorithm._algorithms = recorder
    try:
        yield recorder.made
    finally:
        _algorithm._algorithms = compiled


def _given(random, name):
    """Return parameters of a class that differ from its defaults and from each other."""
    given = {"epsilon": random.uniform(0.2, 3)}
    if name != "Percentile":
        given["l0_sensitivity"], given["linf_sensitivity"] = random.sample(range(2, 9), 2)
    if name != "Count":
        given["lower_bound"] = random.randint(-9, -1)
        given["upper_bound"] = random.randint(10, 20)
    if name == "Percentile":
        given["percentile"] = random.uniform(0.1, 0.9)
    if name in _BOUNDED:
        given["delta"] = random.uniform(0.01, 0.3)
    return given


def _passed_on(random):
    for name in (*_BOUNDED, "Count", "Percentile"):
        for dtype, ending in _TYPES.items():
            given = _given(random, name)
            with _recorded() as made:
                algorithm = getattr(laplacian, name)(**given, dtype=dtype)
            words = f"{name}, {dtype}"
            yield (f"{words}: classes", *near(len(made), 1, 0.0, 0.0))
            yield f"{words}: class", 1.0, float(made[0][0] == name + ending), 1.0
            for key, value in given.items():
                yield (f"{words}: {key}={value}", *near(made[0][1].get(key, _NAN), value, 0.0, 0.0))
            for key in ("l0_sensitivity", "linf_sensitivity"):
                if key in given:
                    yield f"{words}: {key} is told", 1.0, float(getattr(algorithm, key) == given[key]), 1.0


def _told(random):
    """Compare what the compiled objects tell with what the classes were given."""
    for name in (*_BOUNDED, "Count", "Percentile"):
        given = {**_given(random, name), "delta": 0.0}
        if name in {"Count", "Percentile"}:
            del given["delta"]
        algorithm = getattr(laplacian, name)(**given, dtype="float")
        yield (f"{name}, {given}: epsilon", *near(algorithm.epsilon, given["epsilon"], 0.0, 0.0))
        yield (f"{name}, {given}: delta", *near(algorithm.delta, 0.0, 0.0, 0.0))
        if name == "Percentile":
            yield (f"{name}, {given}: percentile", *near(algorithm.percentile, given["percentile"], 0.0, 0.0))


# --- noise of a sensitivity --------------------------------------------------------------------------------------


def _noise_of_a_sensitivity(random):
    epsilon, sensitivity, delta = random.uniform(0.2, 4), random.uniform(2, 9), 10 ** random.uniform(-6, -0.5)
    words = f"epsilon={epsilon!r}, sensitivity={sensitivity!r}"
    laplace = numerical_mechanisms.LaplaceMechanism(epsilon, sensitivity)
    yield protects((f"Laplace, {words}", *near(laplace.diversity, sensitivity / epsilon)))
    yield (f"Laplace, {words}: sensitivity", *near(laplace.sensitivity, sensitivity, 0.0, 0.0))
    level = random.uniform(0.3, 0.95)
    ends = laplace.noise_confidence_interval(level, 2.5)
    half = -math.log(1 - level) * sensitivity / epsilon
    yield (f"Laplace, {words}: lower end of {level!r}", *near(ends.lower_bound, 2.5 - half))
    yield (f"Laplace, {words}: upper end of {level!r}", *near(ends.upper_bound, 2.5 + half))
    gaussian = numerical_mechanisms.GaussianMechanism(epsilon, delta, sensitivity)
    least, most = sigma_ends(epsilon, delta, sensitivity)
    words += f", delta={delta!r}"
    yield protects((f"Gaussian, {words}", least * (1 - 1e-9), gaussian.std, most))
    yield (f"Gaussian, {words}: sensitivity", *near(gaussian.l2_sensitivity, sensitivity, 0.0, 0.0))
    ends = gaussian.noise_confidence_interval(level, 2.5)
    inside = math.erf((ends.upper_bound - ends.lower_bound) / 2 / (math.sqrt(2) * gaussian.std))
    yield (f"Gaussian, {words}: probability of the interval of {level!r}", *near(inside, level, 1e-6))
    yield (f"Gaussian, {words}: middle of the interval", *near((ends.upper_bound + ends.lower_bound) / 2, 2.5, 1e-6))
    again = numerical_mechanisms.GaussianMechanism.create_from_standard_deviation(gaussian.std)
    yield (f"a standard deviation of {gaussian.std!r}", *near(again.std, gaussian.std))


def _gaussian(epsilon, delta, sensitivity):
    mechanism = numerical_mechanisms.GaussianMechanism(epsilon, delta, sensitivity)
    return Mechanism(
        f"GaussianMechanism(epsilon={epsilon}, delta={delta}, sensitivity={sensitivity})",
        f"vector:size=1,linf={sensitivity}",
        f"approx:{epsilon!r},{delta!r}",
        sample_many=lambda data, size: [mechanism.add_noise(float(data[0])) for _ in range(size)],
        distribution=lambda data: {"family": "gaussian", "location": data[0], "scale": mechanism.std},
        notes="noise is drawn on a grid, which the library's documentation names as its defence against float64",
        floats=False,
        calls=20_000,
    )


# --- releases of all partitions ----------------------------------------------------------------------------------

_RELEASES = "vector:size=1,linf={linf},integer,low=0,high={high}"


def _releases(name, epsilon, l0, linf, record, bounds, dtype="float"):
    """Return a function that releases the aggregates of `l0` partitions of some number of equal records."""
    cls = getattr(laplacian, name)

    def sample_many(data, size):
        algorithm = cls(epsilon=epsilon, l0_sensitivity=l0, linf_sensitivity=linf, dtype=dtype, **bounds)
        records = [record] * int(data[0])
        return [[algorithm.quick_result(records) for _ in range(l0)] for _ in range(size)]

    return sample_many


def _sum(epsilon, l0, linf, upper):
    """Return the sums of partitions: noise of the scale l0 linf max(|lower|, |upper|) / epsilon."""
    bounds = {"lower_bound": -2.0, "upper_bound": upper}
    return Mechanism(
        "",
        _RELEASES.format(linf=linf, high=3 * linf),
        f"pure:{epsilon!r}",
        sample_many=_releases("BoundedSum", epsilon, l0, linf, upper, bounds),
        distribution=lambda data: {
            "family": "laplace",
            "location": [data[0] * upper] * l0,
            "scale": l0 * linf * upper / epsilon,
        },
        relative_error=1e-9,  # nothing is promised of the last digits of float64
        floats=False,
        calls=20_000,
    )


_FARTHEST = 5
"""Counts are cut this many scales from the truth, so that their outcomes are finitely many."""


def _count(epsilon, l0, linf):
    """Return the count of one partition: noise of the scale l0 linf / epsilon that is rounded to an integer."""
    scale, high = l0 * linf / epsilon, 3 * linf
    low, top = -math.ceil(_FARTHEST * scale), high + math.ceil(_FARTHEST * scale)
    of_one = _releases("Count", epsilon, l0, linf, 1, {}, "int")

    def below(x):
        return 0.5 * math.exp(x / scale) if x < 0 else 1 - 0.5 * math.exp(-x / scale)

    def distribution(data):
        inner = [below(k + 0.5 - data[0]) for k in range(low, top)]
        ends = [0.0, *inner, 1.0]
        return {
            "family": "finite",
            "symbols": list(range(low, top + 1)),
            "probabilities": [after - before for after, before in zip(ends[1:], ends)],
        }

    return Mechanism(
        "",
        _RELEASES.format(linf=linf, high=high),
        f"pure:{epsilon!r}",
        sample_many=lambda data, size: [min(max(row[0], low), top) for row in of_one(data, size)],
        distribution=distribution,
        relative_error=1e-9,  # nothing is promised of the last digits of float64
        calls=20_000,
    )


def _sampled():
    yield Family(
        "BoundedSum of several contributions",
        _sum,
        {"epsilon": (0.4, 3.0), "l0": (2, 4), "linf": (2, 5), "upper": (3.0, 7.0)},
    )
    yield Family("Count of several contributions", _count, {"epsilon": (0.4, 3.0), "l0": (2, 4), "linf": (2, 5)})
    yield Mechanism(
        "Count(epsilon=1.0, l0_sensitivity=3, linf_sensitivity=2), 3 releases",
        _RELEASES.format(linf=2, high=6),
        "pure:1.0",
        sample_many=_releases("Count", 1.0, 3, 2, 1, {}, "int"),
    )
    bounds = {"lower_bound": 0.0, "upper_bound": 1.0}
    for name in _BOUNDED:
        yield Mechanism(
            f"{name}(epsilon=2.0, [0, 1], l0_sensitivity=2, linf_sensitivity=3), 2 releases",
            _RELEASES.format(linf=3, high=9),
            "pure:2.0",
            sample_many=_releases(name, 2.0, 2, 3, 0.0 if name == "Min" else 1.0, bounds),
            slow=name in {"Max", "Min", "Median"},
            calls=None if name in {"Max", "Min", "Median"} else 20_000,
        )
    yield _gaussian(1.0, 1e-3, 3.0)


# --- what must be refused ----------------------------------------------------------------------------------------


def _refusals():
    def count(**given):
        return lambda: laplacian.Count(**given).quick_result([1])

    attempts = {f"epsilon={bad}": count(epsilon=bad) for bad in (-1.0, 0.0, _NAN, _INFINITY)}
    for name in ("l0_sensitivity", "linf_sensitivity"):
        attempts |= {f"{name}={bad}": count(**{name: bad}) for bad in (-1, 0, 1.5)}
    yield Nonsense("Count", {**attempts, "dtype=str": count(dtype="str")}, refused_by=(*_COMPILED, "TypeError"))
    good = {"epsilon": 1.0, "percentile": 0.25, "lower_bound": 0.0, "upper_bound": 1.0, "dtype": "float"}

    def percentile(**bad):
        return lambda: laplacian.Percentile(**{**good, **bad}).quick_result([0.5])

    attempts = {f"epsilon={bad}": percentile(epsilon=bad) for bad in (-1.0, 0.0, _NAN, _INFINITY)}
    attempts |= {f"percentile={bad}": percentile(percentile=bad) for bad in (-0.1, 1.1, _NAN)}
    for name in ("lower_bound", "upper_bound"):
        attempts |= {f"{name}={bad}": percentile(**{name: bad}) for bad in (_NAN, _INFINITY, -_INFINITY)}
    attempts["bounds reversed"] = percentile(lower_bound=1.0, upper_bound=0.0)
    attempts["dtype=str"] = percentile(dtype="str")
    yield Nonsense("Percentile", attempts, refused_by=_COMPILED)
    good = {"epsilon": 1.0, "lower_bound": 0.0, "upper_bound": 1.0, "dtype": "float"}
    for name in ("BoundedStandardDeviation", "Min", "Median"):

        def bounded(name=name, **bad):
            return lambda: getattr(laplacian, name)(**{**good, **bad}).quick_result([0.5])

        attempts = {f"epsilon={bad}": bounded(epsilon=bad) for bad in (-1.0, 0.0, _NAN, _INFINITY)}
        for key in ("l0_sensitivity", "linf_sensitivity"):
            attempts |= {f"{key}={bad}": bounded(**{key: bad}) for bad in (-1, 0)}
        for key in ("lower_bound", "upper_bound"):
            attempts |= {f"{key}={bad}": bounded(**{key: bad}) for bad in (_NAN, _INFINITY, -_INFINITY)}
        attempts["bounds reversed"] = bounded(lower_bound=1.0, upper_bound=0.0)
        yield Nonsense(name, attempts, refused_by=_COMPILED)


def contribution_cases():
    """Yield the sampled cases, the relations and the invalid arguments."""
    yield from _sampled()
    noise = {"noise is that of the sensitivity": _noise_of_a_sensitivity}
    yield Relations(
        "aggregates and noise, parameters",
        {
            "the compiled classes receive what is given": _passed_on,
            "the objects tell what is given": _told,
            **noise,
        },
    )
    yield from _refusals()


# --- quantile trees ----------------------------------------------------------------------------------------------


def _asked(tree, **given):
    """Return quantiles of a tree of one record; `tree` and `given` replace valid arguments."""
    from pydp.algorithms.quantile_tree import QuantileTree

    shape = {"lower": 0.0, "upper": 1.0, "tree_height": 3, "branching_factor": 4, **tree}
    made = QuantileTree(*shape.values())
    made.add_entry(0.5)
    good = {"epsilon": 1.0, "delta": 0.0, "partitions": 1, "contributions": 1, "quantiles": [0.5], "noise": "laplace"}
    return made.compute_quantiles(*{**good, **given}.values())


def quantile_tree_cases():
    """Yield quantiles of two trees to which one user adds three records each, and invalid arguments."""
    from pydp.algorithms.quantile_tree import QuantileTree

    for noise, delta in (("laplace", 0.0), ("gaussian", 0.05)):

        def sample_many(data, size, noise=noise, delta=delta):
            tree = QuantileTree(0.0, 1.0, 2, 4)
            for _ in range(int(data[0])):
                tree.add_entry(0.9)
            asked = (2.0, delta, 2, 3, [0.5], noise)
            return [[tree.compute_quantiles(*asked)[0] for _ in range(2)] for _ in range(size)]

        yield Mechanism(
            f"QuantileTree.compute_quantiles(epsilon=2, 2 partitions, 3 contributions), {noise}, 2 releases",
            _RELEASES.format(linf=3, high=9),
            f"approx:2.0,{delta!r}" if delta else "pure:2.0",
            sample_many=sample_many,
            slow=True,
        )
    attempts = {f"epsilon={bad}": lambda b=bad: _asked({}, epsilon=b) for bad in (-1.0, 0.0, _NAN, _INFINITY)}
    for noise in ("laplace", "gaussian"):
        attempts |= {
            f"delta={bad}, {noise}": lambda b=bad, n=noise: _asked({}, delta=b, noise=n) for bad in (-1.0, 2.0, _NAN)
        }
    attempts["delta=0, gaussian"] = lambda: _asked({}, noise="gaussian")
    for key in ("partitions", "contributions"):
        attempts |= {f"{key}={bad}": lambda b=bad, k=key: _asked({}, **{k: b}) for bad in (-1, 0)}
    attempts |= {f"quantile={bad}": lambda b=bad: _asked({}, quantiles=[b]) for bad in (-0.1, 1.1, _NAN)}
    attempts["noise=none"] = lambda: _asked({}, noise="none")
    attempts |= {f"tree_height={bad}": lambda b=bad: _asked({"tree_height": b}) for bad in (-1, 0)}
    attempts |= {f"branching_factor={bad}": lambda b=bad: _asked({"branching_factor": b}) for bad in (-1, 0, 1)}
    attempts |= {f"lower={bad}": lambda b=bad: _asked({"lower": b}) for bad in (2.0, 1.0, _NAN, -_INFINITY)}
    yield Nonsense("QuantileTree", attempts, refused_by=(*_COMPILED, "ValueError"))
