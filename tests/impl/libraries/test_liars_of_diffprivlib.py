"""Relations of diffprivlib hold of an honest stand-in, and each lie of a liar breaks those that are named with it.

The stand-in is written from the documentation: what is omitted is read from the data with a warning, each entry of an
answer has noise made for its own bounds, and outcomes lie in their documented ranges.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from tests.impl.libraries.stand_ins import adapter_module, broken

Array = np.ndarray[Any, Any]


class LeakWarning(UserWarning):
    """Says that a parameter was read from the data."""


def state_of(given: Any) -> np.random.RandomState:
    return given if isinstance(given, np.random.RandomState) else np.random.RandomState(given)


# --- mechanisms -------------------------------------------------------------------------------------------------


class Noise:
    """Adds Laplace noise and keeps what it was made for."""

    whole = False

    def __init__(self, *, epsilon: float, random_state: Any, sensitivity: float = 1.0, **made_for: Any) -> None:
        self.epsilon, self.sensitivity, self.state = epsilon, sensitivity, state_of(random_state)
        self.lower, self.upper = made_for.pop("lower", -math.inf), made_for.pop("upper", math.inf)
        self.delta = made_for.pop("delta", 0.0)

    def noise(self) -> float:
        drawn = float(self.state.laplace(0.0, self.sensitivity / self.epsilon))
        return round(drawn) if self.whole else drawn

    def inside(self, value: float) -> float:
        return float(np.clip(value, self.lower, self.upper))

    def is_inside(self, value: float) -> bool:
        return bool(self.lower <= value <= self.upper)

    def folded(self, value: float) -> float:
        while not self.is_inside(value):
            value = 2 * self.lower - value if value < self.lower else 2 * self.upper - value
        return value

    def drawn_inside(self, value: float) -> float:
        while not self.is_inside(outcome := value + self.noise()):
            pass
        return outcome

    def randomise(self, value: float) -> float:
        return value + self.noise()


class Truncated(Noise):
    def randomise(self, value: float) -> float:
        return self.inside(value + self.noise())


class Folded(Noise):
    def randomise(self, value: float) -> float:
        return self.folded(value + self.noise())


class BoundedDomain(Noise):
    def randomise(self, value: float) -> float:
        return self.drawn_inside(self.inside(value))


class Snapping(Noise):
    def randomise(self, value: float) -> float:
        return self.inside(self.inside(value) + self.noise())


class BoundedNoise(Noise):
    def randomise(self, value: float) -> float:
        scale = self.sensitivity / self.epsilon
        most = scale * math.log1p((math.exp(self.epsilon) - 1) / (2 * self.delta))
        while abs(drawn := self.noise()) > most:
            pass
        return value + drawn


class WholeTruncated(Noise):
    whole = True

    def randomise(self, value: float) -> float:
        return self.inside(value + self.noise())


class WholeFolded(Noise):
    whole = True

    def randomise(self, value: float) -> float:
        return self.folded(value + self.noise())


class Exponential:
    """Selects a candidate by its utility and its measure."""

    def __init__(self, *, epsilon: float, random_state: Any, utility: list[float], measure: Array) -> None:
        self.epsilon, self.state, self.utility, self.measure = epsilon, state_of(random_state), utility, measure
        self.sensitivity, self.candidates = 1.0, list(range(len(utility)))

    def randomise(self) -> int:
        weights = self.measure * np.exp(0.5 * self.epsilon * np.asarray(self.utility))
        return int(self.state.choice(self.candidates, p=weights / weights.sum()))


MECHANISMS: dict[str, Any] = {
    "Laplace": Noise,
    "LaplaceTruncated": Truncated,
    "LaplaceFolded": Folded,
    "LaplaceBoundedDomain": BoundedDomain,
    "LaplaceBoundedNoise": BoundedNoise,
    "Snapping": Snapping,
    "GeometricTruncated": WholeTruncated,
    "GeometricFolded": WholeFolded,
    "Exponential": Exponential,
}


# --- tools and models -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Library:
    """The stand-in; `lie` names what it does wrong, nothing if it is empty, and `wrong` replaces mechanisms."""

    lie: str = ""
    wrong: dict[str, type] = field(default_factory=dict)

    @property
    def mechanisms(self) -> dict[str, Any]:
        return MECHANISMS | self.wrong

    def warn(self, words: str) -> None:
        if self.lie != "no warning":
            warnings.warn(words, LeakWarning, stacklevel=2)

    def seeded(self, given: Any) -> np.random.RandomState:
        is_lost = self.lie == "a random state is lost" and isinstance(given, np.random.RandomState)
        return state_of(1 if is_lost else given)

    def read(self, words: str, given: Any, data: Any) -> Any:
        """Return a parameter, that of the data if it is omitted."""
        if given is not None:
            if self.lie == "a warning although it is given":
                warnings.warn(words, LeakWarning, stacklevel=2)
            return given
        self.warn(words)
        return (0.0, 1.0) if self.lie == "default bounds" and words == "bounds" else data

    def tools(self) -> dict[str, Any]:
        names = ("mean", "sum", "var", "std", "nanmean", "nansum", "nanvar", "nanstd")
        histograms: dict[str, Any] = {"histogram": self.histogram, "histogramdd": self.histogramdd}
        histograms |= {"histogram2d": lambda x, y, **more: self.histogramdd(np.stack([x, y], axis=1), **more)}
        quantiles = {"quantile": self.quantile, "median": lambda array, **more: self.quantile(array, 0.5, **more)}
        return {
            **{name: self.aggregate(name) for name in names},
            **quantiles,
            "percentile": lambda array, percent, **more: self.quantile(
                array, np.divide(percent, self.hundred), **more
            ),
            **histograms,
            "count_nonzero": self.count_nonzero,
        }

    @property
    def hundred(self) -> float:
        return 50.0 if self.lie == "percent of 50" else 100.0

    def aggregate(self, name: str) -> Callable[..., Any]:
        def tool(array: Array, *, epsilon: float, bounds: Any = None, axis: Any = None, random_state: Any = None,
                 **_: Any) -> Any:  # fmt: skip
            axis = 0 if axis == -1 and self.lie == "an axis from the end is the first" else axis
            axis = 0 if axis == (0, 1) and self.lie == "all axes are one" else axis
            bounds = self.read("bounds", bounds, (float(array.min()), float(array.max())))
            low, high = (np.asarray(end, dtype=float) for end in bounds)
            if self.lie == "the first bound for all" and low.ndim:
                low, high = low[:1] - 0.5, high[:1]
            exact = getattr(np, name)(np.clip(array, low, high), axis=axis)
            state, shape = self.seeded(random_state), np.shape(exact)
            ends = zip(np.ravel(np.broadcast_to(low, shape)), np.ravel(np.broadcast_to(high, shape)), strict=True)
            entries = [
                self.entry(name, one, *pair, epsilon, state) for one, pair in zip(np.ravel(exact), ends, strict=True)
            ]
            return np.reshape(entries, shape)

        return tool

    def entry(self, name: str, exact: float, low: float, high: float, epsilon: float, state: Any) -> float:
        """Return an entry with noise: a mean within the bounds, a variance from 0 on, a sum anywhere."""
        made = {"epsilon": epsilon, "sensitivity": high - low, "random_state": state}
        if "mean" in name and self.lie != "means beyond their bounds":
            return float(self.mechanisms["LaplaceTruncated"](**made, lower=low, upper=high).randomise(exact))
        if "mean" in name or "sum" in name:
            return float(self.mechanisms["Laplace"](**made).randomise(exact))
        lower = -1.0 if self.lie == "variances below 0" else 0.0
        return float(self.mechanisms["LaplaceTruncated"](**made, lower=lower).randomise(exact))

    def quantile(self, array: Array, quant: Any, *, epsilon: float, bounds: Any = None, axis: Any = None,
                 random_state: Any = None, **_: Any) -> Any:  # fmt: skip
        axis = 0 if axis == -1 and self.lie == "an axis from the end is the first" else axis
        axis = 0 if axis == (0, 1) and self.lie == "all axes are one" else axis
        bounds = self.read("bounds", bounds, (float(array.min()), float(array.max())))
        state = self.seeded(random_state)
        parts = list(np.moveaxis(array, axis, -1)) if isinstance(axis, int) else [np.ravel(array)]
        found = [self.quantile_of(part, one, epsilon, bounds, state) for part in parts for one in np.ravel(quant)]
        return np.array(found) if len(found) > 1 or np.ndim(quant) else found[0]

    def quantile_of(self, part: Array, quant: float, epsilon: float, bounds: Any, state: Any) -> float:
        ends = np.sort([*bounds, *np.clip(part, *bounds)])
        utility = list(-np.abs(np.arange(part.size + 1) - quant * part.size))
        measure = np.diff(ends) + (1e-3 if self.lie == "a measure of its own" else 0.0)
        made = {"epsilon": epsilon, "utility": utility, "measure": measure, "random_state": state}
        place = self.mechanisms["Exponential"](**made).randomise()
        beyond = 2.0 if self.lie == "quantiles beyond their bounds" else 1.0
        return float(ends[place] + beyond * state.uniform(0.5, 1) * (ends[place + 1] - ends[place]))

    def noisy_counts(self, counts: Array, epsilon: float, random_state: Any) -> Array:
        name = "Laplace" if self.lie == "counts below 0" else "GeometricTruncated"
        ends = {} if self.lie == "counts below 0" else {"lower": 0, "upper": 2**31}
        made = {"epsilon": epsilon, "random_state": self.seeded(random_state), **ends}
        mechanism = self.mechanisms[name](**made)
        return np.reshape([mechanism.randomise(float(count)) for count in np.ravel(counts)], counts.shape)

    def histogram(self, array: Array, *, epsilon: float, bins: Any, random_state: Any = None, **more: Any) -> Any:
        limits = None
        if np.ndim(bins) == 0:
            limits = self.read("range", more.get("range"), (float(array.min()), float(array.max())))
        counts, edges = np.histogram(array, bins=bins, range=limits)
        return self.noisy_counts(counts, epsilon, random_state), edges

    def histogramdd(self, array: Array, *, epsilon: float, bins: Any, random_state: Any = None, **more: Any) -> Any:
        are_edges, limits = isinstance(bins, list) and np.ndim(bins[0]) == 1, None
        if not are_edges:
            limits = self.read("range", more.get("range"), [(float(one.min()), float(one.max())) for one in array.T])
        if isinstance(bins, list) and not are_edges and self.lie == "bins of one column":
            bins = [bins[0], 1]
        counts, edges = np.histogramdd(array, bins=bins, range=limits)
        return self.noisy_counts(counts, epsilon, random_state), edges

    def count_nonzero(self, array: Array, *, epsilon: float, random_state: Any = None, **_: Any) -> Any:
        upper = 2 * array.size if self.lie == "more than all records" else array.size
        made = {"epsilon": epsilon, "random_state": self.seeded(random_state), "lower": 0, "upper": upper}
        return self.mechanisms["GeometricTruncated"](**made).randomise(np.count_nonzero(array))

    def model(self, name: str) -> type:
        library = self

        class Model:
            def __init__(self, *, epsilon: float, random_state: Any, **given: Any) -> None:
                self.epsilon, self.given = epsilon, given
                self.state = library.seeded(random_state)

            def fit(self, features: Array, other: Any) -> None:
                for key, of_data in PARAMETERS[name].items():
                    read = library.read(key, self.given.get(key), of_data(features, other))
                    for number in library.numbers(read, features.shape[1], key):
                        made = {"epsilon": self.epsilon, "random_state": self.state, "sensitivity": abs(number) + 1.0}
                        library.mechanisms["Laplace"](**made).randomise(self.state.uniform())

        return Model

    def numbers(self, read: Any, columns: int, key: str) -> list[float]:
        """Return the numbers of a parameter, those of a bound for each column."""
        if key not in ("bounds", "bounds_X"):
            return [float(number) for number in np.ravel(read)]
        is_short = self.lie == "a bound for one column" and np.ndim(read[0]) == 0
        return [float(one) for end in read for one in np.broadcast_to(end, (1 if is_short else columns,))]

    def modules(self) -> dict[str, dict[str, Any]]:
        models = {name: self.model(name) for name in PARAMETERS}
        return {
            "diffprivlib": {},
            "diffprivlib.mechanisms": self.mechanisms,
            "diffprivlib.tools": self.tools(),
            "diffprivlib.models": models,
            "diffprivlib.models.forest": {},
            "diffprivlib.utils": {"PrivacyLeakWarning": LeakWarning},
            "diffprivlib.accountant": {},
            "diffprivlib.validation": {},
        }


def ends_of(features: Array, _: Any) -> tuple[Array, Array]:
    return features.min(axis=0), features.max(axis=0)


def norm_of(features: Array, _: Any) -> float:
    return float(np.linalg.norm(features, axis=1).max())


def classes_of(_: Array, labels: Any) -> list[int]:
    return sorted(set(labels.tolist()))


PARAMETERS: dict[str, dict[str, Callable[[Array, Any], Any]]] = {
    "GaussianNB": {"bounds": ends_of},
    "StandardScaler": {"bounds": ends_of},
    "KMeans": {"bounds": ends_of},
    "LinearRegression": {"bounds_X": ends_of, "bounds_y": lambda _, answers: (answers.min(), answers.max())},
    "LogisticRegression": {"data_norm": norm_of},
    "PCA": {"bounds": ends_of, "data_norm": lambda features, _: norm_of(features - features.mean(axis=0), _)},
    "RandomForestClassifier": {"bounds": ends_of, "classes": classes_of},
    "DecisionTreeClassifier": {"bounds": ends_of, "classes": classes_of},
}
"""What a model needs, and how it is read from the data."""


# --- lies -------------------------------------------------------------------------------------------------------


class FoldedOnce(Noise):
    def randomise(self, value: float) -> float:
        value += self.noise()
        return float(2 * self.lower - value if value < self.lower else min(value, 2 * self.upper - value))


class WholeFoldedOnce(FoldedOnce):
    whole = True


class CutBelowOnly(Noise):
    def randomise(self, value: float) -> float:
        return float(max(value + self.noise(), self.lower))


class OneMore(Noise):
    whole = True

    def randomise(self, value: float) -> float:
        return float(np.clip(value + self.noise(), self.lower, self.upper + 1))


class OfAnyValue(BoundedDomain):
    def randomise(self, value: float) -> float:
        return self.drawn_inside(value)


class SnappedOnce(Snapping):
    def randomise(self, value: float) -> float:
        return self.inside(value + self.noise())


TOOLS_READ, MODELS_READ = "what tools lack is read from the data", "what models lack is read from the data"
TOOLS, MODELS = "parameters of tools in other forms", "parameters of models in other forms"
OUTCOMES, BEYOND, RANGES = "outcomes of mechanisms", "values beyond bounds", "outcomes of tools"

LIES: dict[str, set[str]] = {
    "no warning": {TOOLS_READ, MODELS_READ},
    "a warning although it is given": {TOOLS_READ, MODELS_READ},
    "default bounds": {TOOLS_READ, MODELS_READ},
    "a random state is lost": {TOOLS, MODELS},
    "an axis from the end is the first": {TOOLS},
    "all axes are one": {TOOLS},
    "the first bound for all": {TOOLS},
    "percent of 50": {TOOLS},
    "bins of one column": {TOOLS},
    "a bound for one column": {MODELS},
    "means beyond their bounds": {RANGES},
    "variances below 0": {RANGES},
    "quantiles beyond their bounds": {RANGES},
    "counts below 0": {RANGES},
    "more than all records": {RANGES},
}
WRONG: dict[str, tuple[type, set[str]]] = {
    "LaplaceTruncated": (CutBelowOnly, {OUTCOMES, RANGES}),
    "LaplaceFolded": (FoldedOnce, {OUTCOMES}),
    "LaplaceBoundedDomain": (OfAnyValue, {BEYOND}),
    "LaplaceBoundedNoise": (Noise, {OUTCOMES}),
    "Snapping": (SnappedOnce, {BEYOND}),
    "GeometricTruncated": (OneMore, {OUTCOMES, RANGES}),
    "GeometricFolded": (WholeFoldedOnce, {OUTCOMES}),
}


def broken_by(library: Library) -> set[str]:
    # some relations do not listen to warnings: a library may warn
    with warnings.catch_warnings(), adapter_module("diffprivlib", "diffprivlib_forms", library.modules()) as module:
        warnings.simplefilter("ignore", LeakWarning)
        return broken(module.form_relations())


def test_the_relations_of_forms_hold_of_an_honest_library() -> None:
    assert broken_by(Library()) == set()


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_breaks_its_relations(lie: str) -> None:
    assert broken_by(Library(lie)) == LIES[lie]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_mechanism_breaks_its_relations(name: str) -> None:
    mechanism, relations = WRONG[name]
    assert broken_by(Library(wrong={name: mechanism})) == relations
