"""Relations of diffprivlib: each draw of noise is used once, and transformed mechanisms draw as their parents do.

Mechanisms add chosen amounts, which differ from draw to draw. The amounts must turn up in what is released, each in
its place.
"""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
from diffprivlib import mechanisms, models, tools
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.mechanisms.transforms import IntToString, RoundedInteger, StringToInt
from diffprivlib.models.utils import covariance_eig
from diffprivlib_comparisons import apart

from dpassay.adapter import Relations

__all__ = ["own_noise_relations"]

_NUMBERS = ("Laplace", "LaplaceTruncated", "LaplaceFolded", "LaplaceBoundedDomain", "GeometricTruncated")
_NUMBERS += ("GeometricFolded",)


def _with_amounts(amounts):
    """Let mechanisms that randomise a number add these amounts, one after the other and again from the first."""
    return _with_noise(itertools.cycle(amounts))


@contextlib.contextmanager
def _with_noise(after):
    """Let mechanisms that randomise a number add what an iterator gives."""
    kept = {name: getattr(mechanisms, name).randomise for name in _NUMBERS}
    for name in _NUMBERS:
        getattr(mechanisms, name).randomise = lambda _, value: value + next(after)
    try:
        yield
    finally:
        for name, randomise in kept.items():
            getattr(mechanisms, name).randomise = randomise


def _tools(random):
    generator = np.random.RandomState(random.getrandbits(31))
    array, amounts = generator.uniform(0, 1, (50, 3)), [random.randint(2, 9) * sign for sign in (1, -1, 2)]
    quiet = {"epsilon": 1.0, "accountant": BudgetAccountant()}
    for name in ("mean", "sum", "var", "nanmean", "nansum", "nanvar"):
        with _with_amounts(amounts):
            found = getattr(tools, name)(array, axis=0, bounds=(0, 1), **quiet)
        yield apart(f"{name}, amounts {amounts}", found, getattr(np, name)(array, axis=0) + amounts)
    exact, edges = np.histogramdd(array[:, :2], bins=[2, 3], range=[(0, 1)] * 2)
    with _with_amounts(amounts):
        found = tools.histogramdd(array[:, :2], bins=[2, 3], range=[(0, 1)] * 2, **quiet)[0]
        one = tools.histogram(array[:, 0], bins=6, range=(0, 1), **quiet)[0]
    both = amounts * 2
    yield apart(f"histogramdd, amounts {amounts}, edges {len(edges)}", found, exact + np.reshape(both, (2, 3)))
    yield apart(f"histogram, amounts {amounts}", one, np.histogram(array[:, 0], bins=6, range=(0, 1))[0] + both)


def _counts_of_classes(random):
    """Amounts that add up to 0 leave the number of records as it is, so that nothing is corrected."""
    sizes, amount = [random.randint(9, 14) for _ in range(3)], random.randint(1, 3)
    labels, amounts = np.repeat([0, 1, 2], sizes), [amount, -2 * amount, amount]
    model = models.GaussianNB(epsilon=1.0, bounds=(0, 1), accountant=BudgetAccountant())
    with _with_amounts(amounts):
        found = model._noisy_class_counts(labels, random_state=np.random.RandomState(0))
    yield apart(f"GaussianNB, classes {sizes}, amounts {amounts}", found, np.add(sizes, amounts))


def _centres(random):
    """Check a step of k-means: each cluster has a count and a sum for each column."""
    amounts = [
        float(random.randint(1, 9)) for _ in range(5)
    ]  # for three draws of a cluster: none is used in two places
    generator = np.random.RandomState(random.getrandbits(31))
    points, labels = generator.uniform(0, 1, (30, 2)), np.repeat([0, 1], [12, 18])
    model = models.KMeans(n_clusters=2, epsilon=1.0, bounds=([0, 0], [1, 1]), accountant=BudgetAccountant())
    with _with_amounts(amounts):
        found = model._update_centers(
            points, np.zeros((2, 2)), labels, dims=2, total_iters=3, random_state=np.random.RandomState(0)
        )
    after, exact = itertools.cycle(amounts), []
    for label in (0, 1):
        count = np.sum(labels == label) + next(after)
        exact.append([(column + next(after)) / count for column in points[labels == label].sum(axis=0)])
    yield apart(f"KMeans, amounts {amounts}", found, exact)


def _eigenvalues(random):
    generator = np.random.RandomState(random.getrandbits(31))
    array, amounts = generator.uniform(-1, 1, (9, 3)), [random.uniform(1, 9) for _ in range(3)]
    norm = float(np.linalg.norm(array, axis=1).max())
    with _with_amounts(amounts):
        found = covariance_eig(array, epsilon=1.0, norm=norm, eigvals_only=True)
    exact = np.linalg.eigvalsh(array.T @ array)[::-1] + norm**2 * np.array(amounts)
    yield apart(f"covariance_eig, amounts {amounts}", found, exact)


def _polynomial(random):
    """Check the coefficients of a linear regression, of which those of two mixed squares are one draw."""
    generator = np.random.RandomState(random.getrandbits(31))
    features, labels = generator.uniform(0, 1, (9, 2)), generator.uniform(0, 1, (9, 2))
    amounts = [random.uniform(1, 9) for _ in range(9)]
    model = models.LinearRegression(
        epsilon=1.0, bounds_X=(0, 1), bounds_y=(0, 1), fit_intercept=False, accountant=BudgetAccountant()
    )
    with _with_amounts(amounts):
        model.fit(features, labels)
    squares, products, mixed = model._obj_coefs
    moved = np.array([[amounts[6], amounts[7]], [amounts[7], amounts[8]]])
    yield apart("LinearRegression, squares of answers", squares, (labels**2).sum(axis=0) + amounts[:2])
    yield apart("LinearRegression, products", products, features.T @ labels + np.reshape(amounts[2:6], (2, 2)).T)
    yield apart("LinearRegression, squares", mixed, features.T @ features + moved)


# --- no combination of released numbers is without noise -----------------------------------------------------


def _responses(release):
    """Return how far released numbers (rows) move with each draw of noise (columns)."""
    places = itertools.count()
    with _with_noise(0.0 * place for place in places):
        start = np.ravel(release())
    columns = []
    for place in range(next(places)):
        with _with_noise(float(draw == place) for draw in itertools.count()):
            columns.append(np.ravel(release()) - start)
    return np.array(columns).reshape(-1, len(start)).T


def _released(model, features, other):
    """Return what a fit releases, without what follows from it."""
    model.fit(features.copy(), other)
    if isinstance(model, models.LinearRegression):
        squares, products, mixed = model._obj_coefs
        return np.concatenate([squares, products.ravel(), mixed[np.triu_indices(len(mixed))]])
    names = {"StandardScaler": ("mean_", "var_"), "GaussianNB": ("theta_", "var_")}
    names = names.get(type(model).__name__, ("mean_", "explained_variance_"))
    return np.concatenate([np.ravel(getattr(model, name)) for name in names])


def _directions(random):
    """Check that noise moves what is released in every direction: a combination that it does not move leaks.

    Noise that entries share, or that is used twice, leaves fewer directions than there are numbers.
    """
    features = np.random.RandomState(random.getrandbits(31)).uniform(0.2, 0.8, (15, 3))
    labels, state = np.arange(15) % 2, random.getrandbits(31)
    unit = {"epsilon": 1.0, "random_state": state}
    for name, more, other in (
        ("StandardScaler", {"bounds": (0, 1)}, None),
        ("GaussianNB", {"bounds": (0, 1)}, labels),
        ("LinearRegression", {"bounds_X": (0, 1), "bounds_y": (0, 1), "fit_intercept": False}, features[:, :2]),
        ("PCA", {"bounds": (0, 1), "data_norm": 2.0}, None),
    ):

        def release(name=name, more=more, other=other):
            account = BudgetAccountant()
            return _released(getattr(models, name)(**unit, **more, accountant=account), features, other)

        moved = _responses(release)
        rank = np.linalg.matrix_rank(moved, tol=1e-7 * np.max(np.abs(moved), initial=1e-300))
        yield f"{name}: directions of {moved.shape[1]} draws", float(len(moved)), float(rank), float(len(moved))


def _transforms(random):
    """Check that transformed mechanisms draw what their parents draw from the same random state."""
    state, number = random.getrandbits(31), random.uniform(-9, 9)
    given = {"epsilon": 0.3, "sensitivity": 2.0}
    direct, parent = (mechanisms.Laplace(**given, random_state=state) for _ in range(2))
    rounded = RoundedInteger(parent)
    exact = [round(direct.randomise(number)) for _ in range(6)]
    yield apart(f"RoundedInteger, value {number!r}", [rounded.randomise(number) for _ in range(6)], exact)
    whole = {"epsilon": 0.3, "sensitivity": 2}
    direct, parent = (mechanisms.Geometric(**whole, random_state=state) for _ in range(2))
    words = StringToInt(parent)
    exact = [direct.randomise(7) for _ in range(6)]
    yield apart("StringToInt", [float(words.randomise("7")) for _ in range(6)], exact)
    yield "StringToInt returns text", 1.0, float(isinstance(words.randomise("7"), str)), 1.0
    labels = {"epsilon": 0.5, "value0": "0", "value1": "1"}
    direct, parent = (mechanisms.Binary(**labels, random_state=state) for _ in range(2))
    numbers = IntToString(parent)
    exact = [int(direct.randomise("1")) for _ in range(40)]
    yield apart("IntToString", [numbers.randomise(1) for _ in range(40)], exact)
    yield "IntToString returns an integer", 1.0, float(isinstance(numbers.randomise(1), int)), 1.0


def own_noise_relations():
    """Yield the relations."""
    every = "no combination of released numbers is without noise"
    yield Relations(
        "noise that is used once",
        {
            "entries of aggregates": _tools,
            "counts of classes": _counts_of_classes,
            "centres of clusters": _centres,
            "eigenvalues": _eigenvalues,
            "coefficients of a polynomial": _polynomial,
            every: _directions,
            "transformed mechanisms": _transforms,
        },
        unsafe={every: "below"},
    )
