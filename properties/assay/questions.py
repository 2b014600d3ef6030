"""The questions for accountants, calibrators and converters.

The sensitivity is 1 and privacy parameters are in nats. A question has arguments with ranges, corner cases and the
required direction of monotonicity. :mod:`dpassay.properties.assay.reference_values` has its certified value.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

import numpy as np

__all__ = ["INVERSES", "QUESTIONS", "Argument", "Arguments", "Inverse", "Question", "inside", "points_of"]

Arguments = dict[str, Any]

_TRIES = 50
"""Maximum number of rejected draws per point."""


@dataclass(frozen=True)
class Argument:
    """An argument of a question.

    Parameters
    ----------
    name : str
        Keyword of the function in the adapter.
    low, high : float
        Ends of the range of random values, on a logarithmic scale.
    typical : float
        Value while another argument is at a corner.
    corners : tuple of float
        Values outside or at the ends of the range that are always used.
    direction : {-1, 0, 1}
        Direction in which the answer moves as the argument grows; 0 if it need not be monotone.
    kind : {"real", "count", "reals"}
        A float, an int, or a list of floats.
    least, most : float
        Bounds of valid values, included; values beyond are invalid.
    """

    name: str
    low: float
    high: float
    typical: float
    corners: tuple[float, ...] = ()
    direction: Literal[-1, 0, 1] = 0
    kind: Literal["real", "count", "reals"] = "real"
    least: float = 0.0
    most: float = math.inf

    def within(self, low: float, high: float) -> "Argument":
        """Return the argument with its range restricted to bounds."""
        return replace(self, low=max(self.low, low), high=min(self.high, high))

    def value(self, number: float) -> float | int:
        """Return a number in the type of the argument."""
        return max(1, round(number)) if self.kind == "count" and number > 0 else number

    def drawn(self, rng: np.random.Generator) -> Any:
        """Draw a value."""
        if self.kind == "reals":
            few = np.exp(rng.uniform(math.log(self.low), math.log(self.high), int(rng.integers(1, 4)))).tolist()
            return [few[k] for k in rng.integers(0, len(few), int(rng.integers(2, 8)))]
        return self.value(float(np.exp(rng.uniform(math.log(self.low), math.log(self.high)))))

    def nearby(self, value: Any, rng: np.random.Generator) -> Any:
        """Draw a value near another one, inside the range."""
        if self.kind == "reals" or not 0 < value < math.inf or rng.random() < 0.3:
            return value
        step = float(np.exp(rng.normal(0, rng.choice([1.0, 0.1, 0.01]))))
        return self.value(min(max(value * step, min(self.low, value)), max(self.high, value)))


@dataclass(frozen=True)
class Question:
    """A question with a certified answer.

    Parameters
    ----------
    name : str
        Name of the question and of its certified value.
    sentence : str
        Description of the answer.
    arguments : tuple of Argument
        Its arguments.
    probability : bool
        Whether the answer is a delta.
    safe : {"above", "below"}
        Side of the true value on which an answer is safe.
    points : int
        Default number of points.
    """

    name: str
    sentence: str
    arguments: tuple[Argument, ...]
    probability: bool = False
    safe: Literal["above", "below"] = "above"
    points: int = 48

    def argument(self, name: str) -> Argument | None:
        """Return an argument by its name, None if there is none."""
        return next((argument for argument in self.arguments if argument.name == name), None)

    @property
    def typical(self) -> Arguments:
        """The point at which every argument has its typical value."""
        return {a.name: [a.typical] * 3 if a.kind == "reals" else a.value(a.typical) for a in self.arguments}


@dataclass(frozen=True)
class Inverse:
    """A question and its inverse: the answer of the second is an argument of the first.

    Parameters
    ----------
    first, second : str
        The questions.
    found : str
        Argument of the second that is the answer of the first.
    level : str
        Argument of the first that the answer of the second must not exceed.
    fixed : mapping
        Arguments of the second that the first does not have.
    """

    first: str
    second: str
    found: str
    level: str
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def calibrates(self) -> bool:
        """True if the first question is that of a calibrator."""
        return self.found != "epsilon"

    def asked_back(self, arguments: Arguments, found: float) -> Arguments:
        """Return the arguments of the second question for an answer to the first."""
        kept = {name: value for name, value in arguments.items() if name != self.level}
        return {**kept, **self.fixed, self.found: found}


def points_of(
    question: Question, domain: Mapping[str, tuple[float, float]], rng: np.random.Generator, number: int
) -> Iterator[Arguments]:
    """Yield points inside the domain: the typical point, then random points and corners in turn.

    Where the domain is so narrow that few of those lie inside, the rest is drawn from the domain itself.

    Parameters
    ----------
    question : Question
        The question.
    domain : mapping
        Documented bounds of arguments.
    rng : numpy.random.Generator
        Source of randomness.
    number : int
        Number of points.
    """
    found = 0
    for candidates in (_candidates(question, rng), _drawn_inside(question, domain, rng)):
        for point in islice(candidates, _TRIES * number):
            if not inside(point, domain):
                continue
            yield point
            found += 1
            if found >= number:
                return


def _candidates(question: Question, rng: np.random.Generator) -> Iterator[Arguments]:
    """Yield the typical point, then random points and corners in turn: a corner may take a library long."""
    yield question.typical
    corners = list(_corners(question))
    while True:
        yield _drawn(question, rng, corners=0.0)
        yield corners.pop(0) if corners else _drawn(question, rng, corners=0.3)


def _drawn_inside(
    question: Question, domain: Mapping[str, tuple[float, float]], rng: np.random.Generator
) -> Iterator[Arguments]:
    """Yield random points with every argument drawn from where its range and the domain overlap, if they all do."""
    narrow = [argument.within(*domain.get(argument.name, (-math.inf, math.inf))) for argument in question.arguments]
    if all(argument.low <= argument.high for argument in narrow):
        narrower = replace(question, arguments=tuple(narrow))
        while True:
            yield _drawn(narrower, rng, corners=0.0)


def _corners(question: Question) -> Iterator[Arguments]:
    for argument in question.arguments:
        for corner in argument.corners:
            value = [argument.value(corner)] * 3 if argument.kind == "reals" else argument.value(corner)
            yield {**question.typical, argument.name: value}


def _drawn(question: Question, rng: np.random.Generator, *, corners: float) -> Arguments:
    """Draw a point whose arguments are corners with some probability each."""
    point = {argument.name: argument.drawn(rng) for argument in question.arguments}
    for argument in question.arguments:
        if argument.corners and argument.kind != "reals" and rng.random() < corners:
            point[argument.name] = argument.value(float(rng.choice(argument.corners)))
    return _same_lengths(question, point)


def _same_lengths(question: Question, point: Arguments) -> Arguments:
    lists = [argument.name for argument in question.arguments if argument.kind == "reals"]
    shortest = min((len(point[name]) for name in lists), default=0)
    return {name: value[:shortest] if name in lists else value for name, value in point.items()}


def inside(point: Arguments, domain: Mapping[str, tuple[float, float]]) -> bool:
    """Return whether every argument keeps to its documented bounds."""
    for name, (low, high) in domain.items():
        values = point.get(name, low)
        if not all(low <= value <= high for value in (values if isinstance(values, list) else [values])):
            return False
    return True


# --- the arguments ------------------------------------------------------------------------------------------


def _sigma(direction: Literal[-1, 0, 1] = -1) -> Argument:
    return Argument("sigma", 0.3, 100, 2.0, (0.05, 1e-3, 1e4), direction)


def _integer_sigma() -> Argument:
    """Return the argument: small noise on integers has few losses, so that more of it may have a larger delta."""
    return Argument("sigma", 0.3, 100, 2.0, (0.05, 500.0))


def _scale() -> Argument:
    return Argument("scale", 0.1, 100, 2.0, (0.01, 1e4), -1)


def _epsilon(
    direction: Literal[-1, 0, 1] = -1, corners: tuple[float, ...] = (0.0, 1e-9, 1e-3, 50.0, 700.0)
) -> Argument:
    return Argument("epsilon", 0.01, 20, 1.0, corners, direction)


def _delta(direction: Literal[-1, 0, 1] = -1) -> Argument:
    return Argument("delta", 1e-15, 0.3, 1e-6, (1e-300, 1e-100, 1e-30, 1e-18, 0.5, 0.999), direction, most=1.0)


def _count(corners: tuple[float, ...] = (1, 2, 10_000)) -> Argument:
    return Argument("count", 1, 1000, 10, corners, 1, "count")


def _epsilon0(direction: Literal[-1, 0, 1] = 1) -> Argument:
    return Argument("epsilon0", 0.01, 3, 0.1, (1e-6, 10.0, 100.0), direction)


def _rate() -> Argument:
    return Argument("rate", 1e-4, 0.5, 0.01, (0.0, 1.0, 0.99, 1e-6), 1, most=1.0)


def _order() -> Argument:
    near = (1.0009765625, 1.5, 2.0, 3.0, 31.999, 32.0, 32.001, 256.0)
    return Argument("order", 1.01, 128, 4.0, near, 1, least=1.0)


def _rho(direction: Literal[-1, 0, 1] = 1) -> Argument:
    return Argument("rho", 1e-3, 5, 0.1, (1e-8, 1e-5, 50.0), direction)


_SAMPLED = (_sigma(), _rate(), _count((1, 2, 2000)))

QUESTIONS: dict[str, Question] = {
    question.name: question
    for question in (
        Question(
            "gaussian_delta",
            "delta at epsilon of `count` Gaussian mechanisms",
            (_sigma(), _epsilon(), _count((1, 2, 10**6))),
            probability=True,
        ),
        Question(
            "gaussian_epsilon",
            "epsilon at delta of `count` Gaussian mechanisms",
            (_sigma(), _delta(), _count((1, 2, 10**6))),
        ),
        Question("gaussian_sigma", "the noise scale of a Gaussian mechanism that suffices", (_epsilon(), _delta())),
        Question(
            "laplace_delta",
            "delta at epsilon of `count` Laplace mechanisms",
            (_scale(), _epsilon(), _count((1, 2))),
            probability=True,
        ),
        Question(
            "laplace_epsilon", "epsilon at delta of `count` Laplace mechanisms", (_scale(), _delta(), _count((1, 2)))
        ),
        Question(
            "randomised_response_delta",
            "delta at epsilon of `count` binary randomised responses",
            (_epsilon0(), _epsilon(), _count((1, 2))),
            probability=True,
        ),
        Question(
            "randomised_response_epsilon",
            "epsilon at delta of `count` binary randomised responses",
            (_epsilon0(), _delta(), _count((1, 2))),
        ),
        Question(
            "pure_composition_epsilon",
            "epsilon at delta of `count` pure mechanisms",
            (_epsilon0(), _count((1, 2)), _delta()),
        ),
        Question(
            "pure_composition_delta",
            "delta at epsilon of `count` pure mechanisms",
            (_epsilon0(), _count((1, 2)), _epsilon()),
            probability=True,
        ),
        Question(
            "approximate_composition_epsilon",
            "epsilon at delta of `count` mechanisms that are (epsilon0, delta0)-DP",
            (_epsilon0(), Argument("delta0", 1e-15, 1e-3, 1e-9, (0.0,), 1, most=1.0), _count((1, 2)), _delta()),
        ),
        Question(
            "heterogeneous_composition_epsilon",
            "epsilon at delta of mechanisms with different parameters",
            (
                Argument("epsilons", 0.01, 3, 0.1, (), 0, "reals"),
                Argument("deltas", 1e-15, 1e-4, 1e-12, (0.0,), 0, "reals", most=1.0),
                _delta(),
            ),
        ),
        Question(
            "subsampled_gaussian_epsilon",
            "epsilon at delta of `count` Gaussian mechanisms on Poisson samples, one record added or removed",
            (*_SAMPLED, _delta()),
            points=24,
        ),
        Question(
            "subsampled_gaussian_delta",
            "delta at epsilon of `count` Gaussian mechanisms on Poisson samples",
            (*_SAMPLED, _epsilon()),
            probability=True,
            points=24,
        ),
        Question(
            "subsampled_gaussian_sigma",
            "the noise scale of `count` Gaussian mechanisms on Poisson samples that suffices",
            (_rate(), _count((1, 2)), _epsilon(corners=(0.05, 50.0)), _delta()),
            points=8,
        ),
        Question("gaussian_renyi", "Renyi divergence of a Gaussian mechanism", (_sigma(), _order())),
        Question("laplace_renyi", "Renyi divergence of a Laplace mechanism", (_scale(), _order())),
        Question("randomised_response_renyi", "Renyi divergence of a randomised response", (_epsilon0(), _order())),
        Question(
            "subsampled_gaussian_renyi",
            "Renyi divergence of a Gaussian mechanism on a Poisson sample",
            (_sigma(), _rate(), _order()),
        ),
        Question("zcdp_epsilon", "epsilon at delta that rho-zCDP implies", (_rho(), _delta())),
        Question("zcdp_delta", "delta at epsilon that rho-zCDP implies", (_rho(), _epsilon()), probability=True),
        Question(
            "renyi_epsilon",
            "epsilon at delta that a Renyi divergence of one order implies",
            (
                Argument("order", 1.01, 128, 4.0, (1.0009765625, 2.0, 256.0), 0, least=1.0),
                Argument("renyi", 0.01, 10, 0.5, (1e-9, 100.0), 1),
                _delta(),
            ),
        ),
        Question(
            "zcdp_rho",
            "a rho for which rho-zCDP suffices for (epsilon, delta)",
            (_epsilon(1, (1e-3, 50.0)), _delta(1)),
            safe="below",
        ),
        Question("laplace_scale", "the scale of Laplace noise that suffices", (_epsilon(corners=(1e-9, 700.0)),)),
        Question(
            "discrete_laplace_epsilon",
            "epsilon at delta of `count` discrete Laplace mechanisms on integers",
            (_scale(), _delta(), _count((1, 2))),
        ),
        Question(
            "discrete_gaussian_delta",
            "delta at epsilon of `count` discrete Gaussian mechanisms on integers",
            (_integer_sigma(), _epsilon(), _count((1, 2))),
            probability=True,
        ),
        Question(
            "discrete_gaussian_epsilon",
            "epsilon at delta of `count` discrete Gaussian mechanisms on integers",
            (_integer_sigma(), _delta(), _count((1, 2))),
        ),
    )
}

_ACCOUNTS = (
    "gaussian",
    "laplace",
    "randomised_response",
    "pure_composition",
    "subsampled_gaussian",
    "zcdp",
    "discrete_gaussian",
)

INVERSES: tuple[Inverse, ...] = (
    *(Inverse(f"{stem}_epsilon", f"{stem}_delta", "epsilon", "delta") for stem in _ACCOUNTS),
    Inverse("gaussian_sigma", "gaussian_epsilon", "sigma", "epsilon", {"count": 1}),
    Inverse("gaussian_sigma", "gaussian_delta", "sigma", "delta", {"count": 1}),
    Inverse("subsampled_gaussian_sigma", "subsampled_gaussian_epsilon", "sigma", "epsilon"),
    Inverse("subsampled_gaussian_sigma", "subsampled_gaussian_delta", "sigma", "delta"),
    Inverse("laplace_scale", "laplace_epsilon", "scale", "epsilon", {"count": 1, "delta": 1e-6}),
    Inverse("zcdp_rho", "zcdp_epsilon", "rho", "epsilon"),
    Inverse("zcdp_rho", "zcdp_delta", "rho", "delta"),
)
"""Pairs of inverse questions; the answers of one account must not contradict each other."""
