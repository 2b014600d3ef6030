"""Mechanisms of a library, with all parameters fixed or for a whole domain of parameters."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpassay.adapter.numbers import require_finite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dpassay.adapter.noise import Choice, NoisePrimitive

    Data = list[float]

__all__ = ["Family", "Mechanism", "Raised"]


@dataclass(frozen=True)
class Raised:
    """Outcome of a call that raised; an exception that depends on the data is a privacy loss."""

    name: str


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
            require_finite(self.name, "sensitivity", self.sensitivity)
        require_finite(self.name, "relative_error", self.relative_error)
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


def _attempt(sample_one: Callable[[Data], Any], data: Data) -> Any:
    try:
        return sample_one(list(data))
    except BaseException as error:  # any exception of a library is an outcome
        if isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            raise  # may be Ctrl-C; workers ignore that, so that there it is the library's
        return Raised(type(error).__name__)
