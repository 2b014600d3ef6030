"""Relations of diffprivlib: fits without noise, and what the noise of each model is made for.

Every mechanism returns its value unchanged and is noted. Then a model is that of clipped records, the epsilons of the
mechanisms that see one record add up to at most the one that was asked for, and no sensitivity is below the exact one.
Squares of a linear regression, whose noise is made for the lower bound alone, are asked at symmetric bounds.
"""

from __future__ import annotations

import math

import numpy as np
from diffprivlib import models
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.models.utils import covariance_eig
from diffprivlib_calls import spent, without_noise
from diffprivlib_comparisons import (
    accounted,
    apart,
    at_least,
    at_most,
    charged,
    protecting,
    protects,
    spends,
)

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

__all__ = ["fit_relations"]


def _fitted(model, features, labels=None):
    """Return a model that is fitted without noise, the calls, and what it spends."""
    account = BudgetAccountant()
    model.accountant = account
    with without_noise() as calls:
        model.fit(features, labels)
    return model, calls, account.total()[0]


def _table(random, size, columns=2, reach=1.4):
    """Return records of which some lie outside the bounds, and the bounds of the columns, which differ."""
    generator = np.random.RandomState(random.getrandbits(31))
    lows = np.array([random.uniform(-6, 3) for _ in range(columns)])
    highs = lows + [random.uniform(2, 8) for _ in range(columns)]
    return generator.uniform(lows - reach, highs + reach, (size, columns)), (lows, highs)


# --- naive Bayes and the scaler -----------------------------------------------------------------------------


def _bayes(random):
    epsilon, sizes = random.uniform(0.3, 3), (random.randint(4, 7), random.randint(8, 11))
    labels = np.repeat([0, 1], sizes)
    features, bounds = _table(random, len(labels))
    inside = np.clip(features, *bounds)
    model = models.GaussianNB(epsilon=epsilon, bounds=bounds, var_smoothing=0.0)
    model, calls, paid = _fitted(model, features, labels)
    words = f"GaussianNB, classes {sizes}, bounds {[bound.tolist() for bound in bounds]}, epsilon {epsilon!r}"
    yield charged(words, paid, epsilon)
    counts, sums = calls[:2], calls[2:]
    yield f"{words}: calls", 10.0, float(len(calls)), 10.0
    yield apart(f"{words}: counts", [call.value for call in counts], sizes)
    yield protects(at_least(f"{words}: sensitivity of counts", min(call.of.sensitivity for call in counts), 1.0))
    for label in (0, 1):
        own, of_class = sums[4 * label : 4 * label + 4], inside[labels == label]
        yield spends(at_most(f"{words}: epsilons of class {label}", counts[label].of.epsilon + spent(own), epsilon))
        for column in (0, 1):
            mean, variance = own[2 * column : 2 * column + 2]
            low, high = bounds[0][column], bounds[1][column]
            values, at = of_class[:, column], f"{words}, class {label}, column {column}"
            centre = values.mean()
            yield (f"{at}: sum", *near(mean.value, values.sum()))
            yield protects(at_least(f"{at}: sensitivity of the sum", mean.of.sensitivity, high - low))
            yield (f"{at}: squares", *near(variance.value, ((values - centre) ** 2).sum()))
            exact = max(centre - low, high - centre) ** 2
            yield protects(at_least(f"{at}: sensitivity of squares", variance.of.sensitivity, exact))
        yield apart(f"{words}: means", model.theta_[label], of_class.mean(axis=0))
        yield apart(f"{words}: variances", model.var_[label], of_class.var(axis=0))
    yield apart(f"{words}: prior", model.class_prior_, np.divide(sizes, len(labels)))
    # a second part of the records: means and variances are those of all
    more, again = _table(random, len(labels))[0] - 0.5, labels[::-1]
    with without_noise():
        model.partial_fit(more, again)
    every, names = np.concatenate([inside, np.clip(more, *bounds)]), np.concatenate([labels, again])
    for label in (0, 1):
        yield apart(f"{words}, fitted again: means", model.theta_[label], every[names == label].mean(axis=0))
        yield apart(f"{words}, fitted again: variances", model.var_[label], every[names == label].var(axis=0))
    given = models.GaussianNB(epsilon=epsilon, bounds=bounds, priors=[0.3, 0.7])
    yield apart(f"{words}: priors that are given", _fitted(given, features, labels)[0].class_prior_, [0.3, 0.7])


def _scaler(random):
    epsilon, size = random.uniform(0.3, 3), random.randint(5, 9)
    features, bounds = _table(random, size)
    more = _table(random, size + 3)[0]
    inside, width = np.clip(features, *bounds), bounds[1] - bounds[0]
    for with_std in (True, False):
        model = models.StandardScaler(epsilon=epsilon, bounds=bounds, with_std=with_std)
        model, calls, paid = _fitted(model, features)
        words = f"StandardScaler, with_std {with_std}, {size} records, epsilon {epsilon!r}"
        yield charged(words, paid, epsilon)
        yield spends(at_most(f"{words}: epsilons", spent(calls), epsilon))
        yield f"{words}: calls", 4.0 if with_std else 2.0, float(len(calls)), 4.0 if with_std else 2.0
        exact = [*(width / size), *((width / size) ** 2 * (size - 1) if with_std else ())]
        for call, least in zip(calls, exact):
            yield protects(at_least(f"{words}: sensitivity", call.of.sensitivity, least))
        yield apart(f"{words}: means", model.mean_, inside.mean(axis=0))
        if with_std:
            yield apart(f"{words}: variances", model.var_, inside.var(axis=0))
            scales = np.where(
                np.ptp(inside, axis=0) == 0, 1.0, inside.std(axis=0)
            )  # a constant column keeps its scale
            yield apart(f"{words}: scales", model.scale_, scales)
        with without_noise():
            model.partial_fit(more)
        every = np.concatenate([inside, np.clip(more, *bounds)])
        yield apart(f"{words}, fitted again: means", model.mean_, every.mean(axis=0))
        if with_std:
            yield apart(f"{words}, fitted again: variances", model.var_, every.var(axis=0))
        yield f"{words}, fitted again: records", len(every), float(np.max(model.n_samples_seen_)), len(every)


# --- regressions --------------------------------------------------------------------------------------------


def _products(one, two):
    """Return by how much the product of two numbers in intervals varies."""
    corners = [a * b for a in one for b in two]
    return max(corners) - min(corners)


def _linear(random):
    """Check the polynomial of a linear regression: its coefficients are sums of products of clipped records."""
    epsilon, size, reach = random.uniform(0.3, 3), random.randint(6, 9), [random.uniform(1, 4), random.uniform(1, 4)]
    generator = np.random.RandomState(random.getrandbits(31))
    bounds, answers = (np.negative(reach), np.array(reach)), ([-2.0, -1.0], [1.0, 3.0])
    for intercept, targets in ((False, 1), (False, 2), (True, 1)):
        # without an intercept records are not clipped, which is a known fault
        outside = 1.6 if intercept else 1.0
        features = generator.uniform(-outside, outside, (size, 2)) * reach
        labels = generator.uniform(answers[0], answers[1], (size, 2))[:, :targets]
        ends = (answers[0][:targets], answers[1][:targets])
        model = models.LinearRegression(epsilon=epsilon, bounds_X=bounds, bounds_y=ends, fit_intercept=intercept)
        model, calls, paid = _fitted(model, features, labels if targets > 1 else labels[:, 0])
        words = f"LinearRegression, intercept {intercept}, {targets} targets, bounds {reach}, epsilon {epsilon!r}"
        yield charged(words, paid, epsilon)
        # what is released depends on neither the sums of squared answers nor on how many there are
        used = calls[3 + targets :] if intercept else calls[targets:]
        part = epsilon * (2 / 3 if intercept else 1.0)
        yield at_most(f"{words}: epsilons of the polynomial", spent(used), part)
        yield spends(at_most(f"{words}: epsilons of the polynomial, of all", spent(used), epsilon))
        inside, ends = np.clip(features, *bounds), np.array(ends)
        places = np.array(bounds)
        if intercept:
            means, calls = calls[:3], calls[3:]
            exact = [*inside.mean(axis=0), labels.mean()]
            yield apart(f"{words}: means", [call.value for call in means], exact)
            yield at_most(f"{words}: epsilons of means", spent(means), 2 * epsilon / 3)
            widths = [*(places[1] - places[0]), *(ends[1] - ends[0])]
            for call, width in zip(means, widths):
                yield protects(at_least(f"{words}: sensitivity of a mean", call.of.sensitivity, width / size))
            inside, labels = inside - exact[:2], labels - exact[2]
            places, ends = places - exact[:2], ends - exact[2]
        yield from _polynomial(words, calls, inside, labels, (places, ends, intercept))
        if not intercept:
            exact = np.linalg.lstsq(inside, labels, rcond=None)[0].T
            yield apart(f"{words}: coefficients", model.coef_.reshape(targets, 2), exact, 1e-3)


def _whole_budget(random):
    """Check that means and polynomial of a linear regression with an intercept have one epsilon together."""
    epsilon, size = random.uniform(0.3, 3), random.randint(6, 9)
    features, bounds = _table(random, size)
    model = models.LinearRegression(epsilon=epsilon, bounds_X=bounds, bounds_y=(-2.0, 3.0))
    _, calls, _ = _fitted(model, features, features.sum(axis=1))
    # without the sum of squared answers, on which nothing that is released depends
    yield at_most(f"epsilon {epsilon!r}, {size} records", spent(calls[:3]) + spent(calls[4:]), epsilon)


def _polynomial(words, calls, features, labels, limits):
    """Compare the coefficients with sums of products, and the sensitivities with those of the products."""
    (places, ends, intercept), targets = limits, labels.shape[1]
    exact = [((labels[:, i] ** 2).sum(), max(ends[:, i] ** 2)) for i in range(targets)]
    for i in range(targets):
        exact += [((features[:, j] * labels[:, i]).sum(), _products(ends[:, i], places[:, j])) for j in (0, 1)]
    squares = [((features[:, j] ** 2).sum(), 0.0 if intercept else max(places[:, j] ** 2)) for j in (0, 1)]
    mixed = ((features[:, 0] * features[:, 1]).sum(), _products(places[:, 0], places[:, 1]))
    exact += [squares[0], mixed, squares[1]]
    yield f"{words}: calls", float(len(exact)), float(len(calls)), float(len(exact))
    for place, (call, (value, least)) in enumerate(zip(calls, exact)):
        yield (f"{words}: coefficient {place}", *near(call.value, value, 1e-8, 1e-8))
        compared = at_least(f"{words}: sensitivity of coefficient {place}", call.of.sensitivity, least)
        # nothing that is released depends on the sums of squared answers
        yield compared if place < targets else protects(compared)


def _logistic(random):
    """Check the noise of a logistic regression (Chaudhuri, Monteleoni and Sarwate 2011), and that rows are clipped."""
    epsilon, norm, strength = random.uniform(0.3, 3), random.uniform(1.5, 6), random.uniform(0.2, 3)
    generator = np.random.RandomState(random.getrandbits(31))
    for classes, intercept in ((2, False), (3, False), (2, True), (3, True)):
        features = generator.uniform(-2 * norm, 2 * norm, (15, 2))
        labels, splits = np.arange(15) % classes, 1 if classes == 2 else classes
        words = f"LogisticRegression, {classes} classes, intercept {intercept}, norm {norm!r}, C {strength!r}"
        found = []
        inside = features * np.minimum(1, norm / np.linalg.norm(features, axis=1, keepdims=True))
        for rows in (features, inside):
            model = models.LogisticRegression(epsilon=epsilon, data_norm=norm, C=strength, fit_intercept=intercept)
            model, calls, paid = _fitted(model, rows, labels)
            found.append(np.concatenate([model.coef_.ravel(), model.intercept_]))
        yield spends(apart(f"{words}: clipped records", found[0], found[1], 1e-6))
        for label, weights, shift in zip([1] if classes == 2 else range(classes), model.coef_, model.intercept_):
            surplus = 1 / (1 + np.exp(-(inside @ weights + shift))) - (labels == label)
            slopes = [*(surplus @ inside + weights / strength), surplus.sum() if intercept else 0.0]
            # the solver ends where no slope of the mean over records is above its tolerance
            yield apart(f"{words}: slopes at the fit of class {label}", slopes, np.zeros(3), 15 * model.tol)
        yield charged(words, paid, epsilon)
        yield f"{words}: calls", float(splits), float(len(calls)), float(splits)
        yield spends(at_most(f"{words}: epsilons", spent(calls), epsilon))
        for one in (call.of for call in calls):
            yield protects(at_least(f"{words}: curvature of the loss", one.function_sensitivity, 0.25))
            exact = math.hypot(norm, 1.0 if intercept else 0.0)
            yield protects(at_least(f"{words}: norm of a row", one.data_sensitivity, exact))
            yield spends(at_most(f"{words}: regularisation", one.alpha, 1 / strength))
            yield f"{words}: records", 15.0, float(one.n), 15.0
            yield f"{words}: dimension", 2.0 + intercept, float(one.dimension), 2.0 + intercept


# --- clusters, components and trees -------------------------------------------------------------------------


def _clusters(random):
    """Check k-means with one cluster, which has all records: the epsilons of all iterations add up."""
    epsilon, size = random.uniform(0.5, 60), random.randint(5, 30)
    features, bounds = _table(random, size)
    model = models.KMeans(n_clusters=1, epsilon=epsilon, bounds=bounds, random_state=random.getrandbits(31))
    model, calls, paid = _fitted(model, features)
    inside = np.clip(features, *bounds)
    words = f"KMeans, {size} records, bounds {[bound.tolist() for bound in bounds]}, epsilon {epsilon!r}"
    yield charged(words, paid, epsilon)
    yield spends(at_most(f"{words}: epsilons", spent(calls), epsilon))
    yield apart(f"{words}: centre", model.cluster_centers_, [inside.mean(axis=0)])
    yield f"{words}: calls", 3.0 * model.n_iter_, float(len(calls)), 3.0 * model.n_iter_
    for place, call in enumerate(calls):
        column = place % 3 - 1
        exact, least = (size, 1.0) if column < 0 else (inside[:, column].sum(), bounds[1][column] - bounds[0][column])
        yield (f"{words}: value {place}", *near(call.value, exact))
        yield protects(at_least(f"{words}: sensitivity {place}", call.of.sensitivity, least))
    two = models.KMeans(n_clusters=2, epsilon=epsilon, bounds=bounds, random_state=random.getrandbits(31))
    two, calls, _ = _fitted(two, features)
    labels = ((inside[:, None] - two.cluster_centers_) ** 2).sum(axis=2).argmin(axis=1)
    yield apart(f"{words}: labels of two clusters", two.labels_, labels)
    per_run = math.fsum(call.of.epsilon for call in calls[:3]) * two.n_iter_
    yield spends(at_most(f"{words}: epsilons of one of two clusters", per_run, epsilon))
    counts = [call.value for call in calls if call.name.startswith("Geometric")]
    yield spends(at_most(f"{words}: records in two clusters", sum(counts), size * two.n_iter_))


def _components(random):
    """Check covariances: the eigenvalues move by 2 in total, the direction of the largest by 1 (in squared norms)."""
    epsilon, norm, size = random.uniform(0.5, 4), random.uniform(1, 5), random.randint(6, 9)
    generator = np.random.RandomState(random.getrandbits(31))
    array = generator.uniform(-1, 1, (size, 3))
    array *= norm / np.linalg.norm(array, axis=1).max()
    exact, axes = np.linalg.eigh(array.T @ array)
    for dims in (1, 2, 3, None):
        with without_noise() as calls:
            values, vectors = covariance_eig(array, epsilon=epsilon, norm=norm, dims=dims)
        words, count = f"covariance_eig, dims {dims}, norm {norm!r}, epsilon {epsilon!r}", dims or 3
        yield apart(f"{words}: eigenvalues", values, exact[::-1])
        aligned = np.abs((axes[:, ::-1][:, :count] * vectors).sum(axis=0))
        yield apart(f"{words}: eigenvectors", aligned, np.ones(count), 1e-6)
        yield from _budget_of_components(words, calls, epsilon)
    with without_noise() as calls:
        covariance_eig(array, epsilon=epsilon, norm=norm, eigvals_only=True)
    yield spends(at_most("covariance_eig, values only: epsilon", max(call.of.epsilon for call in calls), epsilon))
    features, bounds = _table(random, 12, 3)
    centred = np.clip(features, *bounds)
    centred = centred - centred.mean(axis=0)
    clipped = centred * np.minimum(1, norm / np.linalg.norm(centred, axis=1, keepdims=True))
    model = models.PCA(n_components=2, epsilon=epsilon, data_norm=norm, bounds=bounds)
    inside = np.clip(features, *bounds)  # records outside of the bounds are clipped for the mean alone
    model, calls, paid = _fitted(model, inside.copy())  # it centres the array itself
    words = f"PCA, norm {norm!r}, epsilon {epsilon!r}"
    variances = np.linalg.eigvalsh(clipped.T @ clipped)[::-1][:2] / 11
    yield charged(words, paid, epsilon)
    yield apart(f"{words}: mean", model.mean_, inside.mean(axis=0))
    yield apart(f"{words}: variances", model.explained_variance_, variances)
    for call, width in zip(calls[:3], bounds[1] - bounds[0]):
        yield protects(at_least(f"{words}: sensitivity of a mean", call.of.sensitivity, width / 12))
    yield from _budget_of_components(words, calls[3:], epsilon - spent(calls[:3]))
    centred_model = models.PCA(n_components=2, epsilon=epsilon, data_norm=norm, centered=True)
    _, calls, paid = _fitted(centred_model, inside.copy())
    yield from _budget_of_components(f"{words}, centred", calls, epsilon)


def _budget_of_components(words, calls, epsilon):
    values = [call.of for call in calls if call.name != "Bingham"]
    axes = [call.of for call in calls if call.name == "Bingham"]
    # the eigenvalues are one vector: all of them are released at one epsilon
    together = max(one.epsilon for one in values) + math.fsum(one.epsilon for one in axes)
    yield spends(at_most(f"{words}: epsilons", together, epsilon))
    yield protects(at_least(f"{words}: sensitivity of eigenvalues", min(one.sensitivity for one in values), 2.0))
    for one in axes:
        yield protects(at_least(f"{words}: sensitivity of a direction", one.sensitivity, 1.0))
        yield f"{words}: eigenvalues are not bounded above", math.inf, float(values[0].upper), math.inf


def _forest(random):
    """Check that each record counts in one leaf of one tree, and that records are clipped."""
    epsilon, size, state = random.uniform(0.3, 3), random.randint(30, 40), random.getrandbits(31)
    features, bounds = _table(random, size)
    labels = np.array([random.randint(0, 2) for _ in range(size)])
    for shuffle, trees in ((False, 3), (True, 3), (False, 1)):
        found = []
        for rows in (features, np.clip(features, *bounds)):
            model = models.RandomForestClassifier(
                n_estimators=trees,
                epsilon=epsilon,
                bounds=bounds,
                classes=[0, 1, 2],
                max_depth=3,
                shuffle=shuffle,
                random_state=state,
            )
            model, calls, paid = _fitted(model, rows, labels)
            found.append(np.concatenate([tree.tree_.value.ravel() for tree in model.estimators_]))
        words = f"RandomForestClassifier, {trees} trees, shuffle {shuffle}, epsilon {epsilon!r}"
        yield apart(f"{words}: clipped records", found[0], found[1])
        yield charged(words, paid, epsilon)
        yield f"{words}: records", float(size), math.fsum(sum(call.value) for call in calls), float(size)
        exact = [np.sum(labels == label) for label in (0, 1, 2)]
        yield apart(f"{words}: labels", np.sum([call.value for call in calls], axis=0), exact)
        yield spends(at_most(f"{words}: largest epsilon", max(call.of.epsilon for call in calls), epsilon))
        # counts of added and removed records move in one direction
        yield protects(at_least(f"{words}: sensitivity", min(call.of.sensitivity for call in calls), 1.0))
    tree = models.forest.DecisionTreeClassifier(
        max_depth=2, epsilon=epsilon, bounds=bounds, classes=[2, 5, 7], random_state=state
    )
    tree, calls, paid = _fitted(tree, features, np.array([2, 5, 7])[labels])
    yield charged("DecisionTreeClassifier", paid, epsilon)
    yield "DecisionTreeClassifier: records", float(size), math.fsum(sum(call.value) for call in calls), float(size)
    yield spends(at_most("DecisionTreeClassifier: largest epsilon", max(call.of.epsilon for call in calls), epsilon))


def fit_relations():
    """Yield the relations."""
    fits = {
        "GaussianNB": _bayes,
        "StandardScaler": _scaler,
        "LinearRegression": _linear,
        "LogisticRegression": _logistic,
        "KMeans": _clusters,
        "PCA": _components,
        "RandomForestClassifier": _forest,
    }
    kept, accounts = protecting(fits), accounted(fits)
    yield Relations(
        "models, without noise",
        {**fits, **kept, **accounts},
        unsafe=dict.fromkeys(kept, "either"),
        understated=list(accounts),
    )
    # wrong answers alone: what the coefficients lose beyond epsilon was not certified
    yield Relations(
        "models.LinearRegression, with an intercept", {"means and polynomial have one epsilon": _whole_budget}
    )
