"""The Gaussian naive Bayes model of pydp.ml: whether it is fitted, and what its mechanisms are made for.

The mechanisms are replaced by ones that return their value, so that budgets and sensitivities are compared without
noise. A function that numpy no longer has is supplied meanwhile.
"""

from __future__ import annotations

import contextlib
import math

import numpy as np
from pydp.ml import naive_bayes
from pydp.ml.util.accountant import BudgetAccountant
from pydp.ml.util.utils import BudgetError

from dpassay.adapter import Relations, protects, spends, understates
from dpassay.impl.libraries.references import near

__all__ = ["bayes_cases"]

_MECHANISMS = ("GeometricTruncated", "LaplaceTruncated", "LaplaceBoundedDomain")

_GONE = "in1d"
"""The name of a function that the model calls and numpy 2.4 does not have."""


@contextlib.contextmanager
def _without_noise():
    """Replace the mechanisms; yield the list of their names, objects and values."""
    calls, kept = [], {name: getattr(naive_bayes, name) for name in _MECHANISMS}

    def replaced(name, cls):
        class Quiet(cls):
            def randomise(self, value):
                calls.append((name, self, float(value)))
                return value

        return Quiet

    supplied = not hasattr(np, _GONE)
    if supplied:
        setattr(np, _GONE, np.isin)
    for name, cls in kept.items():
        setattr(naive_bayes, name, replaced(name, cls))
    try:
        yield calls
    finally:
        for name, cls in kept.items():
            setattr(naive_bayes, name, cls)
        if supplied:
            delattr(np, _GONE)


def _model(epsilon, bounds, account):
    return naive_bayes.GaussianNB(epsilon=epsilon, bounds=bounds, probability=0.5, accountant=account)


def _drawn(random):
    """Return records of two features and three classes of different sizes, and bounds that cut some."""
    generator, sizes = np.random.RandomState(random.getrandbits(31)), (3, 4, 6)
    low, width = generator.uniform(-4, 1, 2), generator.uniform(2, 6, 2)
    records = low + width * generator.uniform(-0.3, 1.3, (sum(sizes), 2))
    return records, np.repeat(range(3), sizes), (low, low + width)


def _fitted(random):
    """Check that the epsilons of a class add up, and that each mechanism is made for its own sensitivity."""
    records, labels, bounds = _drawn(random)
    epsilon, account = random.uniform(0.5, 4), BudgetAccountant()
    with _without_noise() as calls:
        model = _model(epsilon, bounds, account).fit(records, labels)
    words, clipped = f"epsilon={epsilon!r}, {bounds}", np.minimum(np.maximum(records, bounds[0]), bounds[1])
    yield understates((f"{words}: account", *near(account.total()[0], epsilon)))
    yield (f"{words}: delta", *near(account.total()[1], 0.0))
    count = [call for call in calls if call[0] == "GeometricTruncated"]
    rest = iter([call for call in calls if call[0] != "GeometricTruncated"])
    yield (f"{words}: counts", *near(len(count), 3, 0.0, 0.0))
    for label, (_, counter, size) in enumerate(count):
        inside = clipped[labels == label]
        yield (f"{words}, class {label}: count", *near(size, len(inside), 0.0, 0.0))
        yield protects((f"{words}, class {label}: sensitivity of the count", 1.0, counter._sensitivity, math.inf))
        spent = counter._epsilon
        for feature in range(2):
            (low, high), column = (bounds[0][feature], bounds[1][feature]), inside[:, feature]
            told, mean, name = f"{words}, class {label}, feature {feature}", float(np.mean(column)), "LaplaceTruncated"
            made, of, value = next(rest)
            yield f"{told}: {name}", 1.0, float(made == name), 1.0
            yield (f"{told}: sum", *near(value, float(np.sum(column)), 1e-9, 1e-9))
            least = (high - low) * (1 - 1e-9)
            yield protects((f"{told}: sensitivity of the sum", least, float(of._sensitivity), math.inf))
            yield (f"{told}: mean", *near(model.theta_[label, feature], mean, 1e-9, 1e-9))
            spent += of._epsilon
            made, of, value = next(rest)
            yield f"{told}: LaplaceBoundedDomain", 1.0, float(made == "LaplaceBoundedDomain"), 1.0
            yield (f"{told}: squares", *near(value, float(np.sum((column - mean) ** 2)), 1e-9, 1e-9))
            farthest = max(mean - low, high - mean) ** 2 * (1 - 1e-9)
            yield protects((f"{told}: sensitivity of the squares", farthest, float(of._sensitivity), math.inf))
            spent += of._epsilon
        yield spends((f"{words}, class {label}: epsilons", *near(spent, epsilon)))


def _refused_fit():
    """Return the calls of a model whose account has too little left, and what is spent then; None if it is fitted."""
    account = BudgetAccountant(epsilon=1.0, spent_budget=[(0.7, 0.0)])
    with _without_noise() as calls:
        try:
            _model(0.5, (0, 1), account).fit(np.array([[0.2], [0.7]]), np.array([0, 1]))
        except BudgetError:
            return calls, account.total()[0]
    return None


def _overspent():
    """Return whether a model is refused what its account has not left, before it uses the records."""
    found = _refused_fit()
    return found is not None and not found[0]


def _is_not_spent():
    """Return whether a refused fit leaves its account as it is."""
    found = _refused_fit()
    return found is None or found[1] == 0.7


def _is_fitted():
    """Return whether a model is fitted with its own mechanisms; an exception is a finding."""
    model = _model(1.0, (0, 1), BudgetAccountant())
    model.fit(np.array([[0.2], [0.7], [0.4], [0.9]]), np.array([0, 1, 0, 1]))
    return model.theta_.shape == (2, 1)


def bayes_cases():
    """Yield the relations."""
    fits, refused = {"budgets and sensitivities are those of the records": _fitted}, "more than is left is refused"
    yield Relations(
        "ml.GaussianNB",
        fits,
        {refused: _overspent, "what is refused is not spent": _is_not_spent, "a model is fitted": _is_fitted},
        unsafe={refused: "either"},
    )
