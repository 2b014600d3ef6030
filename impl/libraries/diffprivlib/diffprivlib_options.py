"""Relations of diffprivlib: budgets and sensitivities of models whose options are off their defaults.

Every mechanism returns its value unchanged and is noted. For each combination of options the epsilons that see one
record add up to the one that was asked for, no less and no more; the deltas are 0; sensitivities are those of the
bounds. A second fit of the same model costs as much as the first one.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from diffprivlib import models
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.models import forest
from diffprivlib_calls import spent, without_noise
from diffprivlib_comparisons import (
    accounted,
    apart,
    at_least,
    at_most,
    charged,
    enough,
    protecting,
    protects,
    spends,
)

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near

__all__ = ["option_relations"]

_BOTH = (False, True)


def _noted(make, use):
    """Return a new model, the calls of mechanisms while it is used, and what its account has spent."""
    account = BudgetAccountant()
    model = make(accountant=account)
    return model, *_again(model, use)


def _again(model, use):
    """Return the calls of mechanisms while a model is used, and what its account has spent since it was made."""
    with without_noise() as calls:
        use(model)
    return calls, model.accountant.total()[0]


def _table(random, size, columns):
    """Return records of which some lie outside the bounds, the bounds of the columns, and the records inside."""
    generator = np.random.RandomState(random.getrandbits(31))
    lows = np.array([random.uniform(-6, 3) for _ in range(columns)])
    highs = lows + [random.uniform(2, 8) for _ in range(columns)]
    features = generator.uniform(lows - 1.4, highs + 1.4, (size, columns))
    return features, (lows, highs), np.clip(features, lows, highs)


def _sensitivities(calls):
    return [float(call.of.sensitivity) for call in calls]


def _pure(words, calls):
    """Return the comparison of the greatest delta with 0."""
    return spends((f"{words}: delta", 0.0, max((float(call.of.delta) for call in calls), default=0.0), 0.0))


def _made_for(words, calls, exact):
    """Compare the sensitivities of calls with exact ones."""
    found = _sensitivities(calls)
    yield apart(words, [0.0, *found], [0.0, *exact])
    yield enough(words, found, exact)


# --- the scaler and naive Bayes -----------------------------------------------------------------------------


def _scaler(random):
    """Check that means have the whole epsilon where there are no variances, and nothing is asked of unused records."""
    for with_mean, with_std, first in itertools.product(_BOTH, _BOTH, ("fit", "partial_fit")):
        epsilon, size, columns = random.uniform(0.3, 3), random.randint(4, 9), random.randint(1, 3)
        features, bounds, inside = _table(random, size, columns)
        words = f"with_mean {with_mean}, with_std {with_std}, {first}, {columns} columns, epsilon {epsilon!r}"

        def make(epsilon=epsilon, bounds=bounds, with_mean=with_mean, with_std=with_std, **more):
            return models.StandardScaler(
                epsilon=epsilon, bounds=bounds, with_mean=with_mean, with_std=with_std, **more
            )

        model, calls, paid = _noted(make, lambda one, rows=features, how=first: getattr(one, how)(rows))
        used = with_mean or with_std
        seen = inside
        for times, more in ((1, features), (2, features[:-1] + 0.5)):
            at = f"{words}, records {times}"
            if times == 2:
                calls, paid = _again(model, lambda one, rows=more: one.partial_fit(rows))
                seen = np.concatenate([inside, np.clip(more, *bounds)])
            total = charged(at, paid, times * epsilon)
            yield total if used else tuple(total)  # nothing is lost where nothing is spent
            yield spends((f"{at}: epsilons", *near(spent(calls), epsilon if used else 0.0)))
            yield _pure(at, calls)
            part = (bounds[1] - bounds[0]) / len(more)
            exact = [*(part if used else ()), *(part**2 * (len(more) - 1) if with_std else ())]
            yield from _made_for(f"{at}: sensitivities", calls, exact)
            rows = features - (seen.mean(axis=0) if with_mean else 0.0)
            rows = rows / (seen.std(axis=0) if with_std else 1.0)
            yield apart(f"{at}: transformed", model.transform(features), rows)


def _bayes(random):
    """Check that each class of each fit has one epsilon, whether priors are given or not."""
    for priors, first, classes in itertools.product(_BOTH, ("fit", "partial_fit"), (2, 3)):
        epsilon, columns, smoothing = random.uniform(0.3, 3), random.randint(1, 4), random.uniform(0.1, 0.6)
        labels = np.arange(random.randint(3 * classes, 5 * classes)) % classes
        features, bounds, inside = _table(random, len(labels), columns)
        given = np.arange(1.0, classes + 1) / (classes * (classes + 1) / 2) if priors else None
        words = f"priors {priors}, {first}, {classes} classes, {columns} columns, epsilon {epsilon!r}"

        def make(epsilon=epsilon, bounds=bounds, given=given, smoothing=smoothing, **more):
            return models.GaussianNB(epsilon=epsilon, bounds=bounds, priors=given, var_smoothing=smoothing, **more)

        known = {"classes": list(range(classes))} if first == "partial_fit" else {}
        model, calls, paid = _noted(
            make, lambda one, x=features, y=labels, how=first, more=known: getattr(one, how)(x, y, **more)
        )
        yield from _one_fit(f"{words}, first", calls, paid, (epsilon, 1), (inside, labels, bounds))
        later = labels[1:]  # the classes have other sizes than before
        calls, paid = _again(model, lambda one, x=features[:-1], y=later: one.partial_fit(x, y))
        yield from _one_fit(f"{words}, again", calls, paid, (epsilon, 2), (inside[:-1], later, bounds))
        every, names = np.concatenate([inside, inside[:-1]]), np.concatenate([labels, later])
        variances = [every[names == label].var(axis=0) + smoothing for label in range(classes)]
        yield apart(f"{words}, again: smoothed variances", model.var_, variances)
        prior = given if priors else np.bincount(names) / len(names)
        yield apart(f"{words}, again: priors", model.class_prior_, prior)


def _one_fit(words, calls, paid, asked, seen):
    """Compare the calls of one fit of a naive Bayes with those for each class that it sees."""
    (epsilon, times), (inside, labels, bounds) = asked, seen
    classes, columns = len(np.unique(labels)), inside.shape[1]
    yield charged(words, paid, times * epsilon)
    yield _pure(words, calls)
    total = classes * (1 + 2 * columns)
    yield f"{words}: calls", float(total), float(len(calls)), float(total)
    counts, sums = calls[:classes], calls[classes:]
    yield apart(f"{words}: counts", [call.value for call in counts], np.bincount(labels))
    yield from _made_for(f"{words}: sensitivities of counts", counts, np.ones(classes))
    for label in range(classes):
        own, values = sums[2 * columns * label : 2 * columns * (label + 1)], inside[labels == label]
        yield spends((f"{words}: epsilons of class {label}", *near(counts[label].of.epsilon + spent(own), epsilon)))
        centre = values.mean(axis=0)
        exact = np.stack([bounds[1] - bounds[0], np.maximum(centre - bounds[0], bounds[1] - centre) ** 2], axis=1)
        yield from _made_for(f"{words}: sensitivities of class {label}", own, exact.ravel())


# --- regressions --------------------------------------------------------------------------------------------


def _width(one, two):
    """Return by how much the product of two numbers in intervals varies."""
    corners = [a * b for a in one for b in two]
    return max(corners) - min(corners)


def _linear(random):
    """Check the parts of the polynomial and of the means, for several columns and answers.

    The means of features and those of answers get the part for one of them each, which is a known fault. So the
    polynomial and either of them are compared with epsilon. Squares of features, whose noise is made for the lower
    bound alone, are asked where bounds are symmetric.
    """
    for intercept, targets, columns, copied in itertools.product(_BOTH, (1, 2), (1, 3), _BOTH):
        epsilon, size = random.uniform(0.3, 3), random.randint(5, 9)
        reach = np.array([random.uniform(1, 4) for _ in range(columns)])
        generator = np.random.RandomState(random.getrandbits(31))
        features = generator.uniform(-1, 1, (size, columns)) * reach
        ends = np.array([[-2.0, -1.0], [1.0, 3.0]])[:, :targets]
        labels = generator.uniform(*ends, (size, targets))
        words = f"intercept {intercept}, {targets} answers, {columns} columns, copy {copied}, epsilon {epsilon!r}"

        def make(epsilon=epsilon, reach=reach, ends=ends, intercept=intercept, copied=copied, **more):
            return models.LinearRegression(
                epsilon=epsilon,
                bounds_X=(-reach, reach),
                bounds_y=tuple(ends),
                fit_intercept=intercept,
                copy_X=copied,
                **more,
            )

        answers = labels if targets > 1 else labels[:, 0]
        _, calls, paid = _noted(make, lambda one, x=features, y=answers: one.fit(x.copy(), y))
        places = np.array([-reach, reach])
        yield charged(words, paid, epsilon)
        yield _pure(words, calls)
        means = [calls[:columns], calls[columns : columns + targets]] if intercept else [[], []]
        rest = calls[columns + targets :] if intercept else calls
        # what is released depends on neither the sums of squared answers nor on how many there are
        used = spent(rest[targets:])
        yield at_least(f"{words}: all epsilons", used + spent(rest[:1]) + sum(map(spent, means)), epsilon)
        for what, one in zip(("features", "answers"), means):
            both = at_most(f"{words}: epsilons of polynomial and means of {what}", used + spent(one), epsilon)
            yield both if intercept else spends(both)
        if intercept:
            exact = np.concatenate([2 * reach, ends[1] - ends[0]]) / size
            yield from _made_for(f"{words}: sensitivities of means", means[0] + means[1], exact)
            places, ends = places - features.mean(axis=0), ends - labels.mean(axis=0)
        least = [max(column**2) for column in ends.T]
        least += [_width(answer, column) for answer in ends.T for column in places.T]
        squares = []
        for i in range(columns):
            squares.append(len(least))
            least += [max(places[:, i] ** 2), *(_width(places[:, i], places[:, j]) for j in range(i + 1, columns))]
        found = _sensitivities(rest)
        if intercept:  # the known fault of squares: their bounds are not symmetric any more
            for place in squares[: len(found)]:
                least[place] = found[place] if place < len(found) else math.inf
        yield apart(f"{words}: sensitivities of the polynomial", found, least)
        yield enough(f"{words}: sensitivities of the polynomial", found[targets:], least[targets:])


def _logistic(random):
    """Check that each class has its part of epsilon, in a first fit and in one that starts from it."""
    for classes, intercept, warm in itertools.product((2, 3, 4), _BOTH, _BOTH):
        epsilon, norm, strength = random.uniform(0.3, 3), random.uniform(1.5, 6), random.uniform(0.2, 3)
        size, columns = random.randint(3 * classes, 15), random.randint(1, 3)
        features = np.random.RandomState(random.getrandbits(31)).uniform(-norm, norm, (size, columns))
        labels = np.array(["a", "b", "c", "d"])[np.arange(size) % classes]
        words = f"{classes} classes, intercept {intercept}, warm_start {warm}, norm {norm!r}, epsilon {epsilon!r}"

        def make(epsilon=epsilon, norm=norm, strength=strength, intercept=intercept, warm=warm, **more):
            return models.LogisticRegression(
                epsilon=epsilon,
                data_norm=norm,
                C=strength,
                fit_intercept=intercept,
                warm_start=warm,
                max_iter=4,
                **more,
            )  # where the solver ends takes nothing from the budget

        def fit(model, features=features, labels=labels):
            model.fit(features, labels)

        model, *first = _noted(make, fit)
        parts = 1 if classes == 2 else classes
        for times, (calls, paid) in enumerate((first, _again(model, fit)), 1):
            at = f"{words}, fit {times}"
            yield charged(at, paid, times * epsilon)
            yield _pure(at, calls)
            yield spends((f"{at}: epsilons", *near(spent(calls), epsilon)))
            for one in (call.of for call in calls):
                yield protects(at_least(f"{at}: curvature of the loss", one.function_sensitivity, 0.25))
                yield protects(at_least(f"{at}: norm of a row", one.data_sensitivity, math.hypot(norm, intercept)))
                yield spends(at_most(f"{at}: regularisation", one.alpha, 1 / strength))
            made = [
                (one.function_sensitivity, one.data_sensitivity, one.alpha, one.n, one.dimension)
                for one in (call.of for call in calls)
            ]
            exact = (0.25, math.hypot(norm, intercept), 1 / strength, size, columns + intercept)
            yield apart(f"{at}: what the noise is made for", made, [exact] * parts)


# --- clusters, components and trees -------------------------------------------------------------------------


def _clusters(random):
    """Check that all iterations have one epsilon together: each record is in one cluster of each of them.

    The parts of counts and of sums are exchanged, which is a known fault: of two to four columns they are less than
    epsilon, of more than four they are above it. So of several columns the upper bound alone is asked, up to four; a
    case of its own asks it of more.
    """
    for clusters, columns in itertools.product((1, 2, 4), (1, 2, 4)):
        epsilon, size = random.uniform(0.5, 90), random.randint(8, 40)
        features, bounds, _ = _table(random, size, columns)
        state = random.getrandbits(31)
        words = f"{clusters} clusters, {columns} columns, {size} records, epsilon {epsilon!r}"

        def make(epsilon=epsilon, bounds=bounds, clusters=clusters, state=state, **more):
            return models.KMeans(n_clusters=clusters, epsilon=epsilon, bounds=bounds, random_state=state, **more)

        model, calls, paid = _noted(make, lambda one, rows=features: one.fit(rows))
        yield charged(words, paid, epsilon)
        yield _pure(words, calls)
        groups = [calls[start : start + 1 + columns] for start in range(0, len(calls), 1 + columns)]
        # the counts of an iteration add up to the number of records
        rounds = math.fsum(float(group[0].value) for group in groups) / size
        yield f"{words}: iterations", float(model.n_iter_), rounds, float(model.n_iter_)
        exact = [1.0, *(bounds[1] - bounds[0])]
        for group in groups:
            paid = rounds * spent(group)
            yield spends(at_most(f"{words}: epsilons of a cluster", paid, epsilon))
            if columns == 1:
                yield at_least(f"{words}: epsilons of a cluster of one column", paid, epsilon)
            yield from _made_for(f"{words}: sensitivities", group, exact)


def _components(random):
    """Check that means and components share epsilon, and that centred records leave all of it to the components."""
    for centred, whiten, wanted in itertools.product(_BOTH, _BOTH, (None, 1, 2, 3, 0.4, 0.9, "mle")):
        epsilon, norm = random.uniform(0.3, 3), random.uniform(1, 5)
        columns, size = random.randint(3, 4), random.randint(6, 9)
        features, bounds, inside = _table(random, size, columns)
        words = f"centered {centred}, whiten {whiten}, n_components {wanted}, {columns} columns, epsilon {epsilon!r}"

        def make(epsilon=epsilon, norm=norm, bounds=bounds, options=(centred, whiten, wanted), **more):
            return models.PCA(
                options[2], epsilon=epsilon, data_norm=norm, bounds=bounds, centered=options[0], whiten=options[1],
                **more,
            )  # fmt: skip

        # it centres the array itself; records outside of the bounds are clipped for the mean alone
        model, calls, paid = _noted(make, lambda one, rows=inside: one.fit(rows.copy()))
        dims = wanted if isinstance(wanted, int) else columns
        means = [] if centred else calls[:columns]
        values, axes = calls[len(means) : len(means) + columns], calls[len(means) + columns :]
        yield charged(words, paid, epsilon)
        yield _pure(words, calls)
        yield f"{words}: directions", float(min(dims, columns - 1)), float(len(axes)), float(min(dims, columns - 1))
        # the eigenvalues are one vector, which is released at one epsilon
        together = spent(means) + max(call.of.epsilon for call in values) + spent(axes)
        yield spends((f"{words}: epsilons", *near(together, epsilon)))
        exact = [*(() if centred else (bounds[1] - bounds[0]) / size), *[2.0] * columns, *[1.0] * len(axes)]
        yield from _made_for(f"{words}: sensitivities", calls, exact)
        rows = inside - (0.0 if centred else inside.mean(axis=0))
        rows = rows * np.minimum(1, norm / np.linalg.norm(rows, axis=1, keepdims=True)) / norm
        yield apart(f"{words}: eigenvalues", [c.value for c in values], np.linalg.eigvalsh(rows.T @ rows)[::-1])
        variances = np.linalg.eigvalsh(rows.T @ rows)[::-1] * norm**2 / (size - 1)
        if isinstance(wanted, float):
            kept = 1 + int(np.sum(np.cumsum(variances) / variances.sum() <= wanted))
            yield f"{words}: components", float(kept), float(model.n_components_), float(kept)
        there = (features - (0.0 if centred else inside.mean(axis=0))) @ model.components_.T
        if whiten:
            there = there / np.sqrt(variances[: len(model.components_)])
        yield apart(f"{words}: transformed", model.transform(features), there, 1e-6)


def _forest(random):
    """Check that each record is in one leaf that has the whole epsilon, in trees that are added too.

    A forest takes the places of classes for their names, which is a known fault. So its classes are named by their
    places here.
    """
    names = np.arange(4)  # the last class does not occur
    for trees, depth, shuffle, warm in itertools.product((1, 3), (1, 3), _BOTH, _BOTH):
        epsilon, size, state = random.uniform(0.3, 3), random.randint(15, 25), random.getrandbits(31)
        features, bounds, _ = _table(random, size, 2)
        labels = names[np.random.RandomState(state).randint(0, 3, size)]
        words = f"{trees} trees, depth {depth}, shuffle {shuffle}, warm_start {warm}, epsilon {epsilon!r}"

        def make(epsilon=epsilon, bounds=bounds, options=(trees, depth, shuffle, warm), state=state, **more):
            return models.RandomForestClassifier(
                options[0], epsilon=epsilon, bounds=bounds, classes=names.tolist(), max_depth=options[1],
                shuffle=options[2], warm_start=options[3], random_state=state, **more,
            )  # fmt: skip

        def more_trees(model, trees=trees, features=features, labels=labels):
            model.n_estimators = 2 * trees + 1
            model.fit(features, labels)

        model, *first = _noted(make, lambda one, x=features, y=labels: one.fit(x, y))
        yield f"{words}: depth", float(depth), float(model.estimators_[0].get_depth()), float(depth)
        second = _again(model, more_trees)
        fits = ((first, trees), (second, trees + 1 if warm else 2 * trees + 1))
        for times, ((calls, paid), grown) in enumerate(fits, 1):
            yield from _leaves(f"{words}, fit {times}", calls, (epsilon, labels, names))
            yield charged(f"{words}, fit {times}", paid, times * epsilon)
            yield at_most(f"{words}, fit {times}: leaves", float(len(calls)), float(grown * 2**depth))
    names = np.array([2, 5, 7, 11])
    for depth in (1, 2, 4):
        epsilon, state = random.uniform(0.3, 3), random.getrandbits(31)
        features, bounds, _ = _table(random, 20, 2)
        labels = names[np.random.RandomState(state).randint(0, 3, 20)]
        words = f"DecisionTreeClassifier, depth {depth}, epsilon {epsilon!r}"

        def one_tree(epsilon=epsilon, bounds=bounds, depth=depth, state=state, **more):
            return forest.DecisionTreeClassifier(
                depth, epsilon=epsilon, bounds=bounds, classes=names.tolist(), random_state=state, **more
            )

        _, calls, paid = _noted(one_tree, lambda one, x=features, y=labels: one.fit(x, y))
        yield from _leaves(words, calls, (epsilon, labels, names))
        yield charged(words, paid, epsilon)


def _leaves(words, calls, asked):
    """Compare the calls for the leaves that have records with one count of each class over all of them."""
    epsilon, labels, names = asked
    yield _pure(words, calls)
    yield apart(f"{words}: epsilons", [call.of.epsilon for call in calls], [epsilon] * len(calls))
    yield spends(at_most(f"{words}: largest epsilon", max(call.of.epsilon for call in calls), epsilon))
    # counts of added and removed records move in one direction
    yield protects(at_least(f"{words}: sensitivity", min(_sensitivities(calls)), 1.0))
    exact = [np.sum(labels == name) for name in names]
    yield apart(f"{words}: records in leaves", np.sum([call.value for call in calls], axis=0), exact)


def option_relations():
    """Yield the relations."""
    fits = {
        "StandardScaler": _scaler,
        "GaussianNB": _bayes,
        "LinearRegression": _linear,
        "LogisticRegression": _logistic,
        "KMeans": _clusters,
        "PCA": _components,
        "RandomForestClassifier": _forest,
    }
    kept, accounts = protecting(fits), accounted(fits)
    yield Relations(
        "models, options off their defaults",
        {**fits, **kept, **accounts},
        unsafe=dict.fromkeys(kept, "either"),
        understated=list(accounts),
    )
