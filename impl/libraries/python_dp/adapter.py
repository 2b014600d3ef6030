"""PyDP: the noise mechanisms, bounded aggregates, partition selection and quantile trees of Google's C++ library.

Aggregates take a collection of records of which one is added or removed; where many records matter, an input of one
integer says how many equal records there are. Epsilon is read from the objects where they state it.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import sys

from pydp.algorithms import laplacian, numerical_mechanisms, partition_selection

from dpassay.adapter import Answer, Mechanism, Nonsense, Refused

LIBRARY = "python-dp"

_NAN, _INFINITY = math.nan, math.inf
_NUMBER = "vector:size=1,linf={step}"
_ADD_REMOVE = "records:low={low},high={high},size=3,max-size=4,relation=add-remove"
_CALLS, _MANY = 5000, 200_000
_COMPILED = ("RuntimeError",)
"""The exception by which the compiled mechanisms refuse."""

_ROUNDING = 1e-9
"""Relative; sums of many numbers are off by their rounding, and nothing is promised of the last digits of float64."""

_SAFE_NOISE = "noise is drawn on a grid, which the library's documentation names as its defence against float64"


def _named(group):
    """Return the cases of a group; what this version lacks ends the group, and is told."""
    found, generator = [], group()
    while True:
        try:
            found.append(next(generator))
        except StopIteration:
            return found
        except (AttributeError, ImportError, TypeError) as error:
            print(f"left out after {found[-1].name if found else 'nothing'}: {error}", file=sys.stderr)
            return found


# --- noise on a number -------------------------------------------------------------------------------------------


def _noise():
    for epsilon, sensitivity in ((1.0, 1.0), (8.0, 1.0), (0.1, 3.0)):
        mechanism = numerical_mechanisms.LaplaceMechanism(epsilon, sensitivity)
        yield Mechanism(
            f"LaplaceMechanism(epsilon={epsilon}, sensitivity={sensitivity})",
            _NUMBER.format(step=sensitivity),
            f"pure:{mechanism.epsilon!r}",
            sample_many=lambda data, size, m=mechanism: [m.add_noise(float(data[0])) for _ in range(size)],
            distribution=lambda data, m=mechanism: {"family": "laplace", "location": data[0], "scale": m.diversity},
            notes=_SAFE_NOISE,
            calls=_MANY if epsilon == 8.0 else None,
        )
    whole = numerical_mechanisms.LaplaceMechanism(1.0)
    yield Mechanism(
        "LaplaceMechanism(epsilon=1), integers",
        "vector:size=1,linf=1,integer",
        f"pure:{whole.epsilon!r}",
        sample_many=lambda data, size: [whole.add_noise(int(data[0])) for _ in range(size)],
    )
    for epsilon, delta in ((1.0, 1e-5), (0.1, 0.01), (8.0, 1e-5), (1.0, 0.3)):
        mechanism = numerical_mechanisms.GaussianMechanism(epsilon, delta)
        yield Mechanism(
            f"GaussianMechanism(epsilon={epsilon}, delta={delta})",
            _NUMBER.format(step=1),
            f"approx:{mechanism.epsilon!r},{mechanism.delta!r}",
            sample_many=lambda data, size, m=mechanism: [m.add_noise(float(data[0])) for _ in range(size)],
            distribution=lambda data, m=mechanism: {"family": "gaussian", "location": data[0], "scale": m.std},
            notes=_SAFE_NOISE,
            calls=_MANY if epsilon == 8.0 else 10_000 if delta == 0.3 else None,  # the lowest bits take a while
        )
    mechanism = numerical_mechanisms.LaplaceMechanism(1.0)
    yield Mechanism(
        "LaplaceMechanism(epsilon=1).noised_value_above_threshold(2)",
        _NUMBER.format(step=1),
        "pure:1.0",
        sample_many=lambda data, size: [mechanism.noised_value_above_threshold(data[0], 2.0) for _ in range(size)],
    )


# --- bounded aggregates ------------------------------------------------------------------------------------------


def _aggregate(name, epsilon=1.0, low=0.0, high=1.0, dtype="float", **more):
    """Return a case that computes a bounded aggregate of a few records."""
    cls = getattr(laplacian, name)
    bounds = {} if name == "Count" else {"lower_bound": low, "upper_bound": high}
    convert = float if dtype == "float" else int

    def make():
        return cls(epsilon=epsilon, dtype=dtype, **bounds, **more)

    def sample_many(data, size):
        algorithm, records = make(), [convert(record) for record in data]
        return [algorithm.quick_result(records) for _ in range(size)]

    relation = _ADD_REMOVE.format(low=float(low), high=float(high))
    words = ", ".join(f"{key}={value}" for key, value in more.items())
    title = f"{name}(epsilon={epsilon}, [{low}, {high}], {dtype}{', ' + words if words else ''})"
    return Mechanism(title, relation, f"pure:{make().epsilon!r}", sample_many=sample_many)


def _aggregates():
    for name in ("Count", "BoundedSum", "BoundedMean", "BoundedVariance", "BoundedStandardDeviation"):
        yield _aggregate(name)
    yield _aggregate("BoundedSum", low=-3.0, high=1.0)
    yield _aggregate("BoundedSum", low=0, high=5, dtype="int")
    yield _aggregate("BoundedMean", low=0, high=1, dtype="int")
    yield _aggregate("BoundedMean", low=0.0, high=1e16)
    yield from (_aggregate("Max"), _aggregate("Min", low=0, high=9, dtype="int"), _aggregate("Median"))
    yield _aggregate("Percentile", percentile=0.25)
    yield from (_many("BoundedSum"), _many("BoundedMean"))
    yield from (_accurate_percentile("float"), _accurate_percentile("int"))


def _many(name):
    """Return a case with about 2^31 / 2^20 records at an upper bound of 2^20, where a 32-bit sum is full."""
    bound, cls = 2**20, getattr(laplacian, name)

    def sample_many(data, size):
        algorithm = cls(epsilon=1.0, lower_bound=0, upper_bound=bound, dtype="int")
        records = [bound] * int(data[0])
        return [algorithm.quick_result(records) for _ in range(size)]

    return Mechanism(
        f"{name}(epsilon=1.0, [0, 2^20], int), about 2^11 records",
        "vector:size=1,linf=1,integer,low=2044,high=2052",
        "pure:1.0",
        sample_many=sample_many,
        notes="the input says how many records there are, all at the upper bound",
        calls=6000,  # the mean wraps around in some calls only
    )


def _accurate_percentile(dtype):
    """Return whether the 0.9 percentile of many records is about right at a huge epsilon, where noise is no excuse."""
    records = [(float if dtype == "float" else int)(record) for record in range(100)] * 20

    def sample_many(data, size):
        percentile = laplacian.Percentile(epsilon=1e3, percentile=0.9, lower_bound=0, upper_bound=100, dtype=dtype)
        added = [*records, records[int(data[0])]]
        return [abs(percentile.quick_result(added) - 90) <= 5 for _ in range(size)]

    return Mechanism(
        f"Percentile(epsilon=1000, 0.9, [0, 100], {dtype}) of 0 to 99 lies near 90",
        "vector:size=1,linf=1,integer,low=0,high=0",
        "pure:1000.0",
        sample_many=sample_many,
        distribution=lambda _: {"family": "finite", "symbols": [True, False], "probabilities": [1.0, 0.0]},
        calls=60,
    )


def _trees():
    quantile_tree = importlib.import_module("pydp.algorithms.quantile_tree")

    def sample_many(data, size):
        found = []
        for _ in range(size):
            tree = quantile_tree.QuantileTree(0.0, 1.0, 3, 4)
            for record in data:
                tree.add_entry(record)
            found.append(tree.compute_quantiles(1.0, 0.0, 1, 1, [0.25, 0.75], "laplace"))
        return found

    relation = _ADD_REMOVE.format(low=0, high=1)
    yield Mechanism(
        "QuantileTree.compute_quantiles(epsilon=1), laplace", relation, "pure:1.0", sample_many=sample_many
    )


# --- pydp.ml -------------------------------------------------------------------------------------------------------


def _composed_alike(epsilon0, count, delta):
    if count != int(count) or count < 1:  # the accountant has no such parameter that could refuse it
        raise ValueError(f"count must be a positive integer, got {count!r}")
    return _composed([epsilon0] * int(count), [0.0] * int(count), delta)


def _composed(epsilons, deltas, delta):
    accountant = importlib.import_module("pydp.ml.util.accountant").BudgetAccountant
    spent = math.prod((1 - part for part in deltas), start=1.0)
    slack = 1 - (1 - delta) / spent  # the accountant multiplies the complements
    epsilon, stated = accountant(spent_budget=list(zip(epsilons, deltas))).total(slack=max(slack, 0.0))
    if stated > delta * (1 + 1e-9):
        raise Refused(f"the accountant says delta={stated!r} for the smallest slack that it can take")
    return epsilon


def _answers():
    yield Answer(
        "GaussianMechanism.std",
        "gaussian_sigma",
        lambda epsilon, delta: numerical_mechanisms.GaussianMechanism(epsilon, delta).std,
        refused_by=_COMPILED,
    )
    yield Answer(
        "LaplaceMechanism.diversity",
        "laplace_scale",
        lambda epsilon: numerical_mechanisms.LaplaceMechanism(epsilon).diversity,
        refused_by=_COMPILED,
    )
    yield Answer(
        "ml.BudgetAccountant.total, pure",
        "pure_composition_epsilon",
        _composed_alike,
        domain={"count": (1, 300)},
        relative_error=_ROUNDING,
        account="ml.BudgetAccountant.total",
    )
    yield Answer(
        "ml.BudgetAccountant.total, heterogeneous",
        "heterogeneous_composition_epsilon",
        lambda epsilons, deltas, delta: _composed(list(epsilons), list(deltas), delta),
        relative_error=_ROUNDING,
        account="ml.BudgetAccountant.total",
    )


# --- what must be refused ------------------------------------------------------------------------------------------


def _refusals():
    laplace, gaussian = numerical_mechanisms.LaplaceMechanism, numerical_mechanisms.GaussianMechanism
    yield Nonsense(
        "LaplaceMechanism",
        {f"epsilon={bad}": lambda b=bad: laplace(b).add_noise(0.0) for bad in (-1.0, 0.0, _NAN, _INFINITY)}
        | {f"sensitivity={bad}": lambda b=bad: laplace(1.0, b).add_noise(0.0) for bad in (-1.0, 0.0, _NAN, _INFINITY)}
        | {f"add_noise({bad})": lambda b=bad: laplace(1.0).add_noise(b) for bad in (_NAN, _INFINITY)},
        refused_by=_COMPILED,
    )
    yield Nonsense(
        "GaussianMechanism",
        {f"epsilon={bad}": lambda b=bad: gaussian(b, 0.1).add_noise(0.0) for bad in (-1.0, 0.0, _NAN, _INFINITY)}
        | {f"delta={bad}": lambda b=bad: gaussian(1.0, b).add_noise(0.0) for bad in (-1.0, 0.0, 1.0, 2.0, _NAN)}
        | {
            f"standard deviation={bad}": lambda b=bad: gaussian.create_from_standard_deviation(b).std
            for bad in (-1.0, _NAN, _INFINITY)
        }
        | {"add_noise(nan)": lambda: gaussian(1.0, 0.1).add_noise(_NAN)},
        refused_by=_COMPILED,
    )
    for name in ("BoundedSum", "BoundedMean", "BoundedVariance", "Max"):
        good = {"epsilon": 1.0, "lower_bound": 0.0, "upper_bound": 1.0, "dtype": "float"}

        def ask(name=name, good=good, **bad):
            return getattr(laplacian, name)(**{**good, **bad}).quick_result([0.5])

        attempts = {f"epsilon={bad}": lambda b=bad, a=ask: a(epsilon=b) for bad in (-1.0, 0.0, _NAN, _INFINITY)}
        attempts |= {f"delta={bad}": lambda b=bad, a=ask: a(delta=b) for bad in (-1.0, 2.0, _NAN)}
        attempts |= {f"l0_sensitivity={bad}": lambda b=bad, a=ask: a(l0_sensitivity=b) for bad in (-1, 0)}
        attempts |= {f"linf_sensitivity={bad}": lambda b=bad, a=ask: a(linf_sensitivity=b) for bad in (-1, 0)}
        attempts["bounds reversed"] = lambda a=ask: a(lower_bound=1.0, upper_bound=0.0)
        attempts["lower_bound=nan"] = lambda a=ask: a(lower_bound=_NAN)
        yield Nonsense(name, attempts)
    make = partition_selection.create_partition_strategy
    for kind in ("truncated_geometric", "laplace", "gaussian"):
        attempts = {f"epsilon={bad}": lambda b=bad, k=kind: make(k, b, 0.1, 1) for bad in (-1.0, 0.0, _NAN, _INFINITY)}
        attempts |= {f"delta={bad}": lambda b=bad, k=kind: make(k, 1.0, b, 1) for bad in (-1.0, 2.0, _NAN)}
        attempts |= {f"partitions={bad}": lambda b=bad, k=kind: make(k, 1.0, 0.1, b) for bad in (-1, 0)}
        attempts["should_keep(nan)"] = lambda k=kind: make(k, 1.0, 0.1, 1).should_keep(_NAN)
        yield Nonsense(f"partition selection, {kind}", attempts)


# --- cases of the files beside this one ------------------------------------------------------------------------------


def _of_file(name, function):
    """Return a group of cases of another file; what that file imports may be missing in this version."""

    def group():
        yield from getattr(importlib.import_module(name), function)()

    return group


_FILES = (
    ("python_dp_contributions", "contribution_cases"),
    ("python_dp_contributions", "quantile_tree_cases"),
    ("python_dp_partitions", "partition_cases"),
    ("python_dp_learning", "learning_cases"),
    ("python_dp_accounts", "account_cases"),
    ("python_dp_bayes", "bayes_cases"),
)


def cases():
    """Return all cases that this version of the library has."""
    groups = (_noise, _aggregates, _trees, _answers, _refusals, *(_of_file(*names) for names in _FILES))
    found = [case for group in groups for case in _named(group)]
    return [_with_calls(case) if isinstance(case, Mechanism) else case for case in found]


def _with_calls(mechanism):
    slow = mechanism.name.startswith(("Max", "Min", "Median", "Percentile", "QuantileTree"))
    if slow or mechanism.name.endswith("3 partitions"):
        return dataclasses.replace(mechanism, slow=mechanism.calls is None)
    return mechanism if mechanism.calls else dataclasses.replace(mechanism, calls=_CALLS)
