"""The public interface of adapters: mechanisms to sample, answers of accountants, auditors, and invalid calls.

An adapter is a file with the name of a distribution, ``LIBRARY``, and a list ``CASES`` (or a function ``cases()`` that
returns one; cases that this version of the library cannot build are left out there). ``dpassay assay ADAPTER.py``
checks its cases, and ``dpassay init adapter`` writes an example. It runs in a worker, in the interpreter of the
library, Python 3.9 or newer, which needs only the standard library and the library itself: of dpassay, only this
module can be imported there.

Cases
    `Mechanism`, a mechanism with its claim and neighbours; `Answer`, a function of an accountant or calibrator;
    `Family`, a mechanism for a whole domain of parameters; `Relations`, relations that must hold among the numbers of
    a library; `Auditor`, a lower bound on epsilon from the scores of an attack; `Nonsense`, invalid calls that must
    raise
Noise
    `NoisePrimitive`, a function of the library through which its noise passes; `Choice`, other randomness, which is
    fixed while runs are replayed
Helpers
    `present_cases`, which leaves out what a version lacks; `answer_in_time`, for calls that may hang; `Refused`, for
    answers that amount to a refusal; `Raised`, the outcome of a call that raised

Questions of an `Answer`, with the arguments of its function `compute` and the number that it returns. The sensitivity
is 1, and privacy parameters are in nats. `sigma` is the standard deviation of Gaussian noise, or the parameter of
discrete Gaussian noise; `scale` is the scale of Laplace noise; `epsilon0` and `delta0` are the parameters of each
mechanism, `epsilons` and `deltas` lists of them; `rate` is the probability with which a record is sampled; `order` is
the order of a Renyi divergence, and `renyi` its value:

    gaussian_delta(sigma, epsilon, count)
        delta at epsilon of `count` Gaussian mechanisms
    gaussian_epsilon(sigma, delta, count)
        epsilon at delta of `count` Gaussian mechanisms
    gaussian_sigma(epsilon, delta)
        the noise scale of a Gaussian mechanism that suffices
    laplace_delta(scale, epsilon, count)
        delta at epsilon of `count` Laplace mechanisms
    laplace_epsilon(scale, delta, count)
        epsilon at delta of `count` Laplace mechanisms
    randomised_response_delta(epsilon0, epsilon, count)
        delta at epsilon of `count` binary randomised responses
    randomised_response_epsilon(epsilon0, delta, count)
        epsilon at delta of `count` binary randomised responses
    pure_composition_epsilon(epsilon0, count, delta)
        epsilon at delta of `count` pure mechanisms
    pure_composition_delta(epsilon0, count, epsilon)
        delta at epsilon of `count` pure mechanisms
    approximate_composition_epsilon(epsilon0, delta0, count, delta)
        epsilon at delta of `count` mechanisms that are (epsilon0, delta0)-DP
    heterogeneous_composition_epsilon(epsilons, deltas, delta)
        epsilon at delta of mechanisms with different parameters
    subsampled_gaussian_epsilon(sigma, rate, count, delta)
        epsilon at delta of `count` Gaussian mechanisms on Poisson samples, one record added or removed
    subsampled_gaussian_delta(sigma, rate, count, epsilon)
        delta at epsilon of `count` Gaussian mechanisms on Poisson samples
    subsampled_gaussian_sigma(rate, count, epsilon, delta)
        the noise scale of `count` Gaussian mechanisms on Poisson samples that suffices
    gaussian_renyi(sigma, order)
        Renyi divergence of a Gaussian mechanism
    laplace_renyi(scale, order)
        Renyi divergence of a Laplace mechanism
    randomised_response_renyi(epsilon0, order)
        Renyi divergence of a randomised response
    subsampled_gaussian_renyi(sigma, rate, order)
        Renyi divergence of a Gaussian mechanism on a Poisson sample
    zcdp_epsilon(rho, delta)
        epsilon at delta that rho-zCDP implies
    zcdp_delta(rho, epsilon)
        delta at epsilon that rho-zCDP implies
    renyi_epsilon(order, renyi, delta)
        epsilon at delta that a Renyi divergence of one order implies
    zcdp_rho(epsilon, delta)
        a rho for which rho-zCDP suffices for (epsilon, delta)
    laplace_scale(epsilon)
        the scale of Laplace noise that suffices
    discrete_laplace_epsilon(scale, delta, count)
        epsilon at delta of `count` discrete Laplace mechanisms on integers
    discrete_gaussian_delta(sigma, epsilon, count)
        delta at epsilon of `count` discrete Gaussian mechanisms on integers
    discrete_gaussian_epsilon(sigma, delta, count)
        epsilon at delta of `count` discrete Gaussian mechanisms on integers

>>> def noisy(data):
...     return data[0] + 1
>>> case = Mechanism("plus one", neighbours="vector:size=1,linf=1", claim="pure:1.0", sample_one=noisy)
>>> case.draw([2.0], 2)
[3.0, 3.0]
"""

from __future__ import annotations

import os
import random
import re
import signal
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Data = list[float]
    Compared = tuple[str, float, float, float]

__all__ = [
    "SCORES",
    "Answer",
    "Auditor",
    "Choice",
    "Family",
    "Mechanism",
    "NoisePrimitive",
    "Nonsense",
    "Raised",
    "Refused",
    "Relations",
    "answer_in_time",
    "present_cases",
]


@dataclass(frozen=True)
class Raised:
    """Outcome of a call that raised; an exception that depends on the data is a privacy loss."""

    name: str


class Refused(ValueError):  # noqa: N818  # a word of adapters
    """Raised by an adapter where the answer of the library is as good as a refusal, such as an infinite loss.

    Any other exception from the adapter's own lines says that the library was not asked, except those of compiled
    functions of the library that a case names in its `refused_by`.
    """


@dataclass(frozen=True)
class NoisePrimitive:
    """A function of the library through which its noise passes, for the laws `replay` and `traced_privacy`.

    While a run is replayed the function is replaced: it notes what it is called with and returns chosen outputs. Calls
    of primitives from within a primitive are not noted.

    Parameters
    ----------
    owner : class or module
        Where the library looks the function up.
    name : str
        Name of the attribute.
    read : callable
        Receives the arguments of a call (of a method, `self` first) and returns a mapping with

        - ``value``: the number, or list of numbers, to which noise is added, or the utilities of a selection;
        - ``family``: ``laplace`` (loss `epsilon` times the distance over `sensitivity`, in L1), ``gaussian`` (with
          `scale`, the standard deviation), ``bounded`` (any other noise whose loss is at most `epsilon` within
          `sensitivity`; with `scale`, `low` and `high`, Laplace noise on the condition that the sum lies between
          them) or ``selection`` (an index is released);
        - ``sensitivity``: the distance that the noise is made for (L2 for Gaussian noise), and ``epsilon`` or
          ``scale``, as the library passes them to the function;
        - optionally ``low`` and ``high``, the range of outputs (to which sums with Laplace noise are clamped, or, with
          ``folded``, into which they are reflected), ``integer``, if outputs are integers, and ``outputs``, those of
          a selection, by default the indices.
    """

    owner: Any
    name: str
    read: Callable[..., Mapping[str, Any]]


@dataclass(frozen=True)
class Choice:
    """A random choice of the library other than noise, replaced while runs are replayed.

    Parameters
    ----------
    owner, name
        As for `NoisePrimitive`.
    take : callable
        Replaces the function. It returns one possible choice, the same for the unchanged records of neighbours.
    """

    owner: Any
    name: str
    take: Callable[..., Any]


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of the library with all parameters fixed.

    Parameters
    ----------
    name : str
        Unique in the adapter; the class and the parameters, such as ``Laplace(epsilon=1)``.
    neighbours : str
        The neighbour relation in the form of the command line (``vector:...`` or ``records:...``). `data` is a list
        of floats that obeys it; the adapter converts it to the input of the library.
    claim : str or callable
        The claim of the library in the form of the command line, or a function that reads it from the library.
    sample_one : callable, optional
        ``sample_one(data)`` returns one outcome. An exception is an outcome.
    sample_many : callable, optional
        ``sample_many(data, size)`` returns `size` independent outcomes at once (a numpy array or a sequence). It is
        faster, but an exception loses all of them. Exactly one of `sample_one` and `sample_many` must be given.
    seed : callable, optional
        ``seed(number)`` seeds the random generator of the library, if possible.
    distribution : callable, optional
        ``distribution(data)`` returns the ideal distribution of the outcome as a mapping with a ``family`` and its
        parameters *as the library uses them* (for example the scale of the object). Families:
        ``laplace`` and ``gaussian`` (``location``, ``scale``; for vectors a list of locations: independent
        coordinates), ``discrete laplace`` and ``discrete gaussian`` (the same; integers, Pr proportional to
        exp(-abs(x - location) / scale), exp(-(x - location)^2 / (2 scale^2))), ``bounded laplace`` and
        ``clamped laplace`` (with ``low`` and ``high``: Laplace noise conditioned on a sum between them, or clamped
        to the nearer end), ``finite`` (``symbols``, ``probabilities`` up to a common factor).
    noiseless : callable, optional
        ``noiseless(data)`` returns the value to which noise is added (a number or a list), at least approximately:
        with noise turned off, or with a very large epsilon.
    sensitivity : float, optional
        The L1 sensitivity (L2 for Gaussian noise) of `noiseless` that the noise is calibrated to.
    floats : bool
        Whether the library claims privacy of the float64 numbers that it returns. If False (documented idealised
        numerics), low-order bits are ignored.
    relative_error : float
        Relative rounding error of the claimed parameters. The loss of `distribution` is compared with the claim
        enlarged by it.
    distribution_is_exact : bool
        Whether `distribution` is exact; False if the library documents an approximation.
    notes : str
        Remarks for readers, for example a documented restriction.
    calls : int, optional
        Maximum number of outcomes that a sampled law draws: low for slow mechanisms, high for fast ones whose claim
        takes more than the default to test.
    slow : bool
        Whether sampled laws draw only as many outcomes as a test of the claim needs in order not to be weak.
    noise : tuple of NoisePrimitive
        The functions through which all noise of the mechanism passes; with them the law `replay` applies, and
        `traced_privacy` if the mechanism `releases_noise`.
    choices : tuple of Choice
        Other randomness.
    releases_noise : bool
        Whether the outcome determines the outputs of all primitives (a sum, not a maximum of noisy values). Then the
        loss of the primitives is a loss of the mechanism.
    splits_budget : bool
        Whether the claim is divided among the primitives, all of which see the same records: then the epsilons that
        they declare add up to at most the claim.
    call : str
        The library's own call, with its imports, as Python text in which ``{data}`` stands for the list of records.
    """

    name: str
    neighbours: str
    claim: str | Callable[[], str]
    sample_one: Callable[[Data], Any] | None = None
    sample_many: Callable[[Data, int], Any] | None = None
    seed: Callable[[int], None] | None = None
    distribution: Callable[[Data], Mapping[str, Any]] | None = None
    noiseless: Callable[[Data], Any] | None = None
    sensitivity: float | None = None
    floats: bool = True
    distribution_is_exact: bool = True
    relative_error: float = 0.0
    notes: str = ""
    calls: int | None = None
    slow: bool = False
    noise: tuple[NoisePrimitive, ...] = ()
    choices: tuple[Choice, ...] = ()
    releases_noise: bool = False
    splits_budget: bool = False
    call: str = ""

    def __post_init__(self) -> None:
        if (self.sample_one is None) == (self.sample_many is None):
            raise ValueError(f"{self.name}: exactly one of sample_one and sample_many must be given")
        if (self.noiseless is None) != (self.sensitivity is None):
            raise ValueError(f"{self.name}: noiseless and sensitivity must be given together")
        if self.sensitivity is not None:
            _require_finite(self.name, "sensitivity", self.sensitivity)
        _require_finite(self.name, "relative_error", self.relative_error)
        if self.calls is not None and self.calls < 1:
            raise ValueError(f"{self.name}: calls must be at least 1, got {self.calls!r}")

    def claimed(self) -> str:
        """Return the claim as text, reading it from the library if necessary."""
        return self.claim if isinstance(self.claim, str) else self.claim()

    def draw(self, data: Data, size: int, one_by_one: bool = False) -> Any:
        """Return `size` outcomes; with `sample_one`, or if drawn `one_by_one`, exceptions are outcomes."""
        sample_many = self.sample_many
        if sample_many is not None and not one_by_one:
            return sample_many(list(data), size)
        return [_attempt(self.draw_one, data) for _ in range(size)]

    def draw_one(self, data: Data) -> Any:
        """Return one outcome; exceptions of the library propagate."""
        if self.sample_one is not None:
            return self.sample_one(list(data))
        assert self.sample_many is not None
        return self.sample_many(list(data), 1)[0]

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent process reads."""
        return {
            "kind": "mechanism",
            "name": self.name,
            "neighbours": self.neighbours,
            "claim": self.claimed(),
            "seeded": self.seed is not None,
            "sample_many": self.sample_many is not None,
            "distribution": self.distribution is not None,
            "noiseless": self.noiseless is not None,
            "sensitivity": self.sensitivity,
            "floats": self.floats,
            "distribution_is_exact": self.distribution_is_exact,
            "relative_error": self.relative_error,
            "notes": self.notes,
            "calls": self.calls,
            "slow": self.slow,
            "replayed": bool(self.noise),
            "releases_noise": self.releases_noise,
            "splits_budget": self.splits_budget,
            "call": self.call,
        }


@dataclass(frozen=True)
class Family:
    """A mechanism for a whole domain of parameters; laws are asked at drawn parameters, the ends of domains first.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``tools.mean``.
    make : callable
        Receives the parameters by name and returns a `Mechanism`, whose name is replaced.
    parameters : mapping
        The documented domain of each parameter: (low, high), both included, of numbers (of integers if both are), or
        a list of choices. Choose ends that are not 1: a factor of 1 hides that it is missing.

    Examples
    --------
    >>> def make(epsilon, width):
    ...     return Mechanism("", f"vector:size=1,linf={width}", f"pure:{epsilon}", sample_one=sum)
    >>> family = Family("sum", make, {"epsilon": (0.2, 3.0), "width": (2, 9)})
    >>> family.member({"epsilon": 0.5, "width": 3}).name
    'sum(epsilon=0.5, width=3)'
    """

    name: str
    make: Callable[..., Mechanism]
    parameters: Mapping[str, tuple[float, float] | list[Any]]

    def __post_init__(self) -> None:
        if "(" in self.name:
            raise ValueError(f"the name of a family must have no parenthesis, got {self.name!r}")
        for name, domain in self.parameters.items():
            if isinstance(domain, tuple) and not (len(domain) == 2 and domain[0] <= domain[1]):
                raise ValueError(f"{self.name}: {name} must be (low, high) with low <= high, got {domain!r}")
            if not domain:
                raise ValueError(f"{self.name}: {name} must have a choice, got {domain!r}")

    def member(self, arguments: Mapping[str, Any]) -> Mechanism:
        """Return the mechanism with some parameters; its name says them."""
        words = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        return replace(self.make(**arguments), name=f"{self.name}({words})")

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent process reads."""
        domains = {
            name: {"low": domain[0], "high": domain[1]} if isinstance(domain, tuple) else {"choices": domain}
            for name, domain in self.parameters.items()
        }
        return {"kind": "family", "name": self.name, "parameters": domains}


def _require_finite(name: str, what: str, number: float) -> None:
    """Raise `ValueError` unless a number is finite and at least 0."""
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name}: {what} must be a finite number of at least 0, got {number!r}")


def _attempt(sample_one: Callable[[Data], Any], data: Data) -> Any:
    try:
        return sample_one(list(data))
    except BaseException as error:  # any exception of a library is an outcome
        if isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            raise  # may be Ctrl-C; workers ignore that, so that there it is the library's
        return Raised(type(error).__name__)


@dataclass(frozen=True)
class Answer:
    """A function of an accountant, calibrator or converter that answers a question with a certified value.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``RdpAccountant.get_epsilon``.
    question : str
        Name of the question; `help(dpassay.adapter)` lists the questions and their arguments.
    compute : callable
        Takes the arguments of the question by name and returns a number. An exception of the library is a refusal.
        One that the adapter's own lines raise, except `Refused`, means that the library was not asked.
    domain : mapping
        Documented bounds of arguments: name to (low, high), both included. Questions outside are not asked.
    claims_exact : bool
        Whether the library documents its number as exact up to rounding, and not as a bound.
    relative_error, absolute_error : float
        Documented or requested error of the number.
    looseness : float
        Documented absolute distance of the bound from the true value, on the safe side; within it, answers need not
        be monotone.
    certainty : str
        ``upper`` if the library promises never to understate (default), ``estimate`` if it may.
    notes : str
        Remarks for readers.
    account : str, optional
        Name of the accounting method. Answers of one account must be consistent; bounds of different methods, or on
        different grids, need not be. By default the name without the question and the mechanism:
        ``PLD, gaussian, epsilon`` and ``PLD, laplace, delta`` belong to one account.
    splits : bool
        Whether `compute` accepts a tuple as its `count`: the repetitions of the parts, composed one after the other.
    calls : int, optional
        Maximum number of questions of a law, for slow searches.
    refused_by : tuple of str
        As for `Nonsense`.

    Examples
    --------
    >>> def basic_composition(epsilon, count):
    ...     return epsilon * count
    >>> case = Answer(
    ...     "basic_composition",
    ...     "pure_composition_epsilon",
    ...     lambda epsilon0, count, delta: basic_composition(epsilon0, count),
    ... )
    >>> case.compute(epsilon0=0.5, count=3, delta=1e-6)
    1.5
    """

    name: str
    question: str
    compute: Callable[..., Any]
    domain: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    claims_exact: bool = False
    relative_error: float = 0.0
    absolute_error: float = 0.0
    looseness: float = 0.0
    certainty: str = "upper"
    notes: str = ""
    account: str | None = None
    splits: bool = False
    calls: int | None = None
    refused_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.certainty not in {"upper", "estimate"}:
            raise ValueError(f"{self.name}: certainty must be 'upper' or 'estimate', got {self.certainty!r}")
        for what in ("relative_error", "absolute_error", "looseness"):
            _require_finite(self.name, what, getattr(self, what))
        if self.calls is not None and self.calls < 1:
            raise ValueError(f"{self.name}: calls must be at least 1, got {self.calls!r}")

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent process reads."""
        return {
            "kind": "answer",
            "name": self.name,
            "question": self.question,
            "domain": {name: list(bounds) for name, bounds in self.domain.items()},
            "claims_exact": self.claims_exact,
            "relative_error": self.relative_error,
            "absolute_error": self.absolute_error,
            "looseness": self.looseness,
            "certainty": self.certainty,
            "notes": self.notes,
            "account": _account_named(self.name, self.question) if self.account is None else self.account,
            "splits": self.splits,
            "calls": self.calls,
        }


def _account_named(name: str, question: str) -> str:
    """Return a name without the words of its question: `PLD, laplace, delta` belongs to the account `PLD`."""
    stem, _, asked = question.rpartition("_")
    rest = " ".join(word for word in re.split(r"[\s,_]+", name) if word not in {"", asked})
    account = " ".join(rest.replace(stem.replace("_", " "), " ").split()) if stem else rest
    return account or rest


@dataclass(frozen=True)
class Nonsense:
    """Invalid calls that a library must reject; each attempt that returns without raising is a finding.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``Laplace``.
    attempts : mapping
        Description such as ``epsilon=-1``, to a function without arguments that makes the call (and uses the result,
        because a parameter may be checked late). The library must raise, or the adapter `Refused`.
    refused_by : tuple of str
        Names of the exceptions by which compiled functions of the library refuse, such as ``ValueError``. Compiled
        code leaves no frame in a traceback, so that its exceptions are not told from those of the adapter's line.
    """

    name: str
    attempts: Mapping[str, Callable[[], Any]]
    refused_by: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent process reads."""
        return {"kind": "nonsense", "name": self.name, "attempts": list(self.attempts)}


@dataclass(frozen=True)
class Relations:
    """Relations among the numbers of a library, at random valid parameters, and facts about single numbers.

    They need no samples and are asked before the laws that draw. Choose parameters that are not 1 and differ from each
    other, so that no factor, bound or count can be missing unnoticed.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``GaussianPrivacyLoss``.
    relations : mapping
        Description such as ``delta is a sum``, to a function that takes a `random.Random`, draws valid parameters with
        it and yields comparisons: words with the parameters, a lower bound, a number of the
        library, and an upper bound. A number outside its bounds is a finding, and so is NaN; an exception of the
        library is one, because the parameters are valid.
    facts : mapping
        Description such as ``a half is subtracted from 2``, to a function without arguments that returns whether the
        fact holds. No description may be that of a relation.

    Examples
    --------
    >>> def squares(random):
    ...     x = random.uniform(0, 10)
    ...     yield f"x={x}", 0.0, x * x, 100.0
    >>> case = Relations("square", {"squares are positive": squares}, {"of three": lambda: 3**2 == 9})
    >>> case.compare("squares are positive", 1), case.compare("of three", 1)
    ({'compared': 1, 'broken': []}, {'compared': 1, 'broken': []})
    """

    name: str
    relations: Mapping[str, Callable[[random.Random], Iterable[Compared]]]
    facts: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    seconds: float = 15.0

    def __post_init__(self) -> None:
        if not 0 < self.seconds < float("inf"):
            raise ValueError(f"{self.name}: seconds must be a finite positive number, got {self.seconds!r}")
        both = sorted(self.relations.keys() & self.facts.keys())
        if both:
            raise ValueError(f"{self.name}: facts must not have the descriptions of relations, got {both}")

    def compare(self, relation: str, seed: int) -> dict[str, Any]:
        """Return the number of comparisons, and those that fail as (words, lower, value, upper).

        A fact is one comparison; where it fails the words are empty.
        """
        rows = [("", 1.0, float(bool(self.facts[relation]())), 1.0)] if relation in self.facts else None
        if rows is None:
            rows = list(self.relations[relation](random.Random(seed)))  # noqa: S311  # no secret: a draw that is repeated
        broken = [(words, low, value, high) for words, low, value, high in rows if not low <= value <= high]
        return {
            "compared": len(rows),
            "broken": [[words, float(low), float(value), float(high)] for words, low, value, high in broken],
        }

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent process reads."""
        facts = list(self.facts)
        return {"kind": "relations", "name": self.name, "relations": [*self.relations, *facts], "facts": facts}


SCORES = ("equal", "tied", "response", "revealing response", "laplace", "gaussian")
"""Families of scores on which an `Auditor` can be asked; their losses are known."""


@dataclass(frozen=True)
class Auditor:
    """A lower bound on epsilon that an auditor computes from the scores of members and of non-members.

    It is asked on scores of known loss. The bound may exceed the true epsilon at most as often as `significance` says,
    and it must have power: on scores that tell members well it must not stay near 0. The scores of the families, of a
    member and of another record, are

    - ``equal``: standard normal for both, and ``tied``: one of four numbers for both, so that epsilon is 0;
    - ``response``: randomised response (1 or 0); ``revealing response``: the same, but with probability delta the
      score tells which of the two it is (2 or -1);
    - ``laplace`` and ``gaussian``: noise around 1 and 0; the epsilon of the latter exists for a positive delta.

    Scores above 1/2 are more probable for members. Numpy is needed in the interpreter of the library.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``epsilon_clopper_pearson``.
    bound : callable
        ``bound(members, others, significance, delta)`` returns the bound; the scores are numpy arrays. An exception of
        the library is a refusal to state a bound.
    sizes : tuple
        Numbers of scores, as pairs (members, others) of independent records; or, of an auditor in one run, as
        integers: the number of canaries, each of which is a member with probability 1/2.
    significances : tuple of float
        Allowed probabilities of failure at which the auditor is asked.
    deltas : tuple of float
        The deltas at which it is asked; 0 for pure differential privacy.
    scores : tuple of str
        The families of `SCORES` for which the documentation promises the bound: `equal`, `tied` and `gaussian` for
        one that assumes Gaussian noise.
    attains : float
        Part of the bound of Clopper and Pearson at the threshold 1/2, both error rates with half the significance,
        that the auditor is expected to reach at least half of the times.
    absolute_error : float
        Documented or requested error of the bound.
    excess : float
        The smallest ratio of the probability of failure to the significance that the test must notice, greater than 1;
        a small one takes many audits.
    notes : str
        Remarks for readers.

    Examples
    --------
    >>> def confident(members, others, significance, delta):
    ...     return 0.0
    >>> Auditor("nothing", confident, sizes=((100, 100),)).describe()["design"]
    'independent'
    """

    name: str
    bound: Callable[..., Any]
    sizes: tuple[int | tuple[int, int], ...]
    significances: tuple[float, ...] = (0.05,)
    deltas: tuple[float, ...] = (0.0,)
    scores: tuple[str, ...] = SCORES
    attains: float = 0.5
    absolute_error: float = 0.0
    excess: float = 4.0
    notes: str = ""

    def __post_init__(self) -> None:
        counts = [count for size in self.sizes for count in (size if isinstance(size, tuple) else (size,))]
        if not counts or len({isinstance(size, tuple) for size in self.sizes}) > 1 or min(counts) < 1:
            raise ValueError(f"{self.name}: sizes must be pairs of counts, or counts, got {self.sizes!r}")
        if not self.significances or not all(0 < one < 1 for one in self.significances):
            raise ValueError(f"{self.name}: significances must lie between 0 and 1, got {self.significances!r}")
        if not self.deltas or not all(0 <= delta < 1 for delta in self.deltas):
            raise ValueError(f"{self.name}: deltas must lie in [0, 1), got {self.deltas!r}")
        strangers = [name for name in self.scores if name not in SCORES]
        if strangers or not self.scores:
            raise ValueError(f"{self.name}: scores must be among {', '.join(SCORES)}, got {strangers or 'none'}")
        for what in ("attains", "absolute_error"):
            _require_finite(self.name, what, getattr(self, what))
        if not 1 < self.excess < float("inf"):
            raise ValueError(f"{self.name}: excess must be a finite number above 1, got {self.excess!r}")

    def describe(self) -> dict[str, Any]:
        """Return the description that the parent process reads."""
        pairs = isinstance(self.sizes[0], tuple)
        return {
            "kind": "auditor",
            "name": self.name,
            "design": "independent" if pairs else "coins",
            "sizes": [list(size) if isinstance(size, tuple) else [size] for size in self.sizes],
            "significances": list(self.significances),
            "deltas": list(self.deltas),
            "scores": list(self.scores),
            "attains": self.attains,
            "absolute_error": self.absolute_error,
            "excess": self.excess,
            "notes": self.notes,
        }


def answer_in_time(ask: Callable[[], Any], *, seconds: int = 2) -> Any:
    """Make a call that may hang, first in a child process with a time limit.

    Parameters
    ----------
    ask : callable
        An attempt of `Nonsense`.
    seconds : int
        Time limit.

    Returns
    -------
    object
        The answer, or text that states that there was none.

    Raises
    ------
    Exception
        The exception of `ask`, which is a refusal.
    """
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        try:
            ask()
        except BaseException:  # noqa: BLE001  # any exception is a refusal; none may leave the child
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return f"no answer in {seconds} s" if os.WTERMSIG(status) == signal.SIGALRM else "the process died"
    return ask()


def present_cases(
    *groups: Callable[[], Iterable[Mechanism | Family | Answer | Relations | Auditor | Nonsense]],
    lacking: tuple[type[Exception], ...] = (AttributeError, TypeError, ValueError),
) -> Iterator[Mechanism | Family | Answer | Relations | Auditor | Nonsense]:
    """Yield the cases of all groups that this version of a library can build.

    A group ends at the first case that an older version cannot build, with a line on standard error.

    Parameters
    ----------
    *groups : callable
        Functions that return cases, the newest features of the library last.
    lacking : tuple of exceptions
        Exceptions that indicate a missing feature.

    Examples
    --------
    >>> def refusals():
    ...     yield Nonsense("first", {})
    >>> [case.name for case in present_cases(refusals)]
    ['first']
    """
    for group in groups:
        try:
            yield from group()
        except lacking as error:
            sys.stderr.write(f"skipped the remaining cases of {group.__name__}: {error}\n")
