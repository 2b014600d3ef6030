"""The words that every layer shares: claims, neighbour relations, mechanisms.

Plain data without mathematics. What a claim *means* is stated in :mod:`dpassay.spec.notions`; what follows
from it is computed there and, independently, in :mod:`dpassay.impl.accounting`.
All privacy parameters are in nats.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ZCDP",
    "ApproximateDP",
    "ApproximateZCDP",
    "BoundedRange",
    "Claim",
    "ConcentratedDP",
    "ExPost",
    "Item",
    "Mechanism",
    "NeighbourRelation",
    "ProbabilisticDP",
    "PureDP",
    "RecordNeighbours",
    "RenyiDP",
    "SamplerLostError",
    "UsageError",
    "VectorNeighbours",
    "parse_claim",
    "parse_neighbours",
    "require_at_least",
    "require_positive",
    "require_probability",
]

Item = tuple[str, str]
"""An item of a document: (source key, item name), a row of the shipped table of items."""


class UsageError(ValueError):
    """Raised when an argument is outside what is accepted; the message names it, the value and the domain."""


class SamplerLostError(Exception):
    """Raised by a sampler whose process crashed or did not answer: nothing was observed, and nothing may be bet on it.

    A call that raises anything else is itself an outcome.
    """


def _is_finite(value: Any) -> bool:
    """Whether `value` is a finite number, of any type that has a float64 next to it; words and lists are not."""
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def require_at_least(name: str, value: float, low: float) -> float:
    """Return `value` if it is a finite number not below `low`; raise `UsageError` naming `name` otherwise."""
    if not (_is_finite(value) and value >= low):
        raise UsageError(f"{name} must be a finite number, at least {low:g}, got {value!r}")
    return value


def require_positive(name: str, value: float) -> float:
    """Return `value` if it is a finite positive number; raise `UsageError` naming `name` otherwise."""
    if not (_is_finite(value) and value > 0):
        raise UsageError(f"{name} must be a finite positive number, got {value!r}")
    return value


def require_probability(name: str, value: float) -> float:
    """Return `value` if it lies in [0, 1]; raise `UsageError` naming `name` otherwise."""
    if not (_is_finite(value) and 0 <= value <= 1):
        raise UsageError(f"{name} must lie in [0, 1], got {value!r}")
    return value


# --- claims -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PureDP:
    """Every event is at most e^epsilon times as likely on one input as on a neighbouring one."""

    epsilon: float

    def __post_init__(self) -> None:
        require_at_least("epsilon", self.epsilon, 0)


@dataclass(frozen=True)
class ApproximateDP:
    """As `PureDP`, up to an additive probability delta."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        require_at_least("epsilon", self.epsilon, 0)
        require_probability("delta", self.delta)


@dataclass(frozen=True)
class ProbabilisticDP:
    """The privacy loss exceeds epsilon with probability at most delta."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        require_at_least("epsilon", self.epsilon, 0)
        require_probability("delta", self.delta)


@dataclass(frozen=True)
class ZCDP:
    """The Renyi divergence of every order alpha > 1 is at most rho alpha."""

    rho: float

    def __post_init__(self) -> None:
        require_at_least("rho", self.rho, 0)


@dataclass(frozen=True)
class ApproximateZCDP:
    """As `ZCDP` with xi + rho alpha in place of rho alpha, given events of probability at least 1 - delta.

    Parameters
    ----------
    rho : float
        Slope, nats, at least 0.
    delta : float
        In [0, 1].
    xi : float
        Intercept, nats; may be negative down to -rho.
    """

    rho: float
    delta: float
    xi: float = 0.0

    def __post_init__(self) -> None:
        require_at_least("rho", self.rho, 0)
        require_probability("delta", self.delta)
        require_at_least("xi", self.xi, -self.rho)


@dataclass(frozen=True)
class ConcentratedDP:
    """The privacy loss has mean at most mu, and about its mean it is subgaussian with scale tau, on both sides."""

    mu: float
    tau: float

    def __post_init__(self) -> None:
        require_at_least("mu", self.mu, 0)
        require_at_least("tau", self.tau, 0)


@dataclass(frozen=True)
class RenyiDP:
    """The Renyi divergence of order alpha is at most epsilon."""

    alpha: float
    epsilon: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.alpha) and self.alpha > 1):
            raise UsageError(f"alpha must be a finite number above 1, got {self.alpha!r}")
        require_at_least("epsilon", self.epsilon, 0)


@dataclass(frozen=True)
class BoundedRange:
    """The privacy losses of any two outcomes differ by at most epsilon."""

    epsilon: float

    def __post_init__(self) -> None:
        require_at_least("epsilon", self.epsilon, 0)


@dataclass(frozen=True)
class ExPost:
    """The privacy loss of an outcome is at most `epsilon_of(outcome)`, which may be infinite."""

    epsilon_of: Callable[[Hashable], float] = field(compare=False)
    description: str = "ex-post bound"

    def __repr__(self) -> str:
        return f"ExPost({self.description})"


Claim = (
    PureDP
    | ApproximateDP
    | ProbabilisticDP
    | ZCDP
    | ApproximateZCDP
    | ConcentratedDP
    | RenyiDP
    | BoundedRange
    | ExPost
)

_CLAIM_FORMS: dict[str, tuple[Callable[..., Claim], tuple[str, ...]]] = {
    "pure": (PureDP, ("EPS",)),
    "approx": (ApproximateDP, ("EPS", "DELTA")),
    "probabilistic": (ProbabilisticDP, ("EPS", "DELTA")),
    "zcdp": (ZCDP, ("RHO",)),
    "approx-zcdp": (ApproximateZCDP, ("RHO", "DELTA", "[XI]")),
    "cdp": (ConcentratedDP, ("MU", "TAU")),
    "rdp": (RenyiDP, ("ALPHA", "EPS")),
    "bounded-range": (BoundedRange, ("EPS",)),
}


def parse_claim(text: str) -> Claim:
    """Read a claim in the form of the command line, such as ``pure:1.0`` or ``approx:1,1e-6``.

    Raises
    ------
    UsageError
        If the notion is unknown, the number of parameters is wrong or a parameter is out of its domain.

    Examples
    --------
    >>> parse_claim("approx:1,1e-6")
    ApproximateDP(epsilon=1.0, delta=1e-06)
    """
    notion, _, rest = text.partition(":")
    forms = ", ".join(f"{key}:{','.join(names)}" for key, (_, names) in _CLAIM_FORMS.items())
    if notion not in _CLAIM_FORMS:
        raise UsageError(f"claim {text!r} is not one of {forms}")
    make, names = _CLAIM_FORMS[notion]
    parts = rest.split(",")
    optional = sum(name.startswith("[") for name in names)
    count = len(parts) if len(names) - optional <= len(parts) <= len(names) else len(names)
    values = _numbers("claim", text, parts, count, f"{notion}:{','.join(names)}")
    return make(*values)


def _numbers(what: str, text: str, parts: Sequence[str], count: int, form: str) -> list[float]:
    try:
        values = [float(part) for part in parts]
    except ValueError:
        values = []
    if len(values) != count:
        raise UsageError(f"{what} {text!r} does not have the form {form}")
    return values


# --- neighbour relations ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VectorNeighbours:
    """Two vectors of `size` coordinates in [low, high] whose difference obeys every norm bound given.

    Parameters
    ----------
    size : int
        Number of coordinates, at least 1.
    l0 : int, optional
        Bound on the number of coordinates that differ.
    l1, l2, linf : float, optional
        Bounds on the norms of the difference.
    low, high : float
        Bounds of every coordinate; infinite where there is none.
    integer : bool
        Whether data and difference are integers.
    monotone : bool
        Whether all coordinates move the same way, up or down.
    """

    size: int
    l0: int | None = None
    l1: float | None = None
    l2: float | None = None
    linf: float | None = None
    low: float = -math.inf
    high: float = math.inf
    integer: bool = False
    monotone: bool = False

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"size must be at least 1, got {self.size!r}")
        norms = {"l1": self.l1, "l2": self.l2, "linf": self.linf}
        unbounded = math.isinf(self.low) or math.isinf(self.high)
        if all(bound is None for bound in norms.values()) and (self.l0 is None or unbounded):
            raise UsageError("a vector relation needs at least one of l1, l2, linf, or l0 with finite low and high")
        for name, bound in norms.items():
            if bound is not None:
                require_at_least(name, bound, 0)
        if self.l0 is not None and self.l0 < 0:
            raise UsageError(f"l0 must be at least 0, got {self.l0!r}")
        if math.isnan(self.low) or math.isnan(self.high) or not self.low <= self.high:
            raise UsageError(f"low must not exceed high, got low={self.low!r}, high={self.high!r}")

    @property
    def largest_step(self) -> float:
        """The largest change that any single coordinate may make, before clipping to [low, high]."""
        bounds = [bound for bound in (self.l1, self.l2, self.linf) if bound is not None]
        step = 0.0 if self.l0 == 0 else min(bounds, default=self.high - self.low)
        return math.floor(step) if self.integer else step

    def admits(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> bool:
        """Whether (left, right) is a pair of this relation, decided exactly: a float is the rational that it is.

        A pair admitted by rounding alone would let a loss through that the claim does not speak of.
        """
        for data in (left, right):
            if data.shape != (self.size,) or not bool(np.all((data >= self.low) & (data <= self.high))):
                return False
            if not bool(np.isfinite(data).all()):
                return False
            if self.integer and not bool(np.all(data == np.floor(data))):
                return False
        moved = left != right
        points, counts = np.unique(left[moved] + 1j * right[moved], return_counts=True)  # often few different ones
        steps = [
            (abs(Fraction(float(point.imag)) - Fraction(float(point.real))), int(count))
            for point, count in zip(points, counts, strict=True)
        ]
        return (
            (self.l0 is None or int(moved.sum()) <= self.l0)
            and (self.l1 is None or sum(step * count for step, count in steps) <= self.l1)
            and (self.l2 is None or sum(step * step * count for step, count in steps) <= Fraction(self.l2) ** 2)
            and (self.linf is None or max((step for step, _ in steps), default=0) <= self.linf)
            and (not self.monotone or bool(np.all(right >= left)) or bool(np.all(right <= left)))
        )


@dataclass(frozen=True)
class RecordNeighbours:
    """Two arrays of records in [low, high], one with a record added, removed or replaced.

    Parameters
    ----------
    low, high : float
        Bounds of a record.
    size : int
        Number of records (the least one, if `max_size` is given); 0 is an empty data set.
    max_size : int, optional
        The largest number of records.
    relation : {"add-remove", "replace"}
        Which change of one record makes a neighbour.
    """

    low: float
    high: float
    size: int
    max_size: int | None = None
    relation: str = "replace"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise UsageError(f"low and high must be finite, low <= high, got {self.low!r} and {self.high!r}")
        if self.size < 0:
            raise UsageError(f"size must be at least 0, got {self.size!r}")
        if self.max_size is not None and self.max_size < self.size:
            raise UsageError(f"max-size must be at least size, got {self.max_size!r} < {self.size!r}")
        if self.relation not in {"add-remove", "replace"}:
            raise UsageError(f"relation must be add-remove or replace, got {self.relation!r}")


NeighbourRelation = VectorNeighbours | RecordNeighbours

_VECTOR_KEYS: dict[str, Callable[[str], Any]] = {
    "size": int, "l0": int, "l1": float, "l2": float, "linf": float, "low": float, "high": float,
}  # fmt: skip
_RECORD_KEYS: dict[str, Callable[[str], Any]] = {
    "low": float, "high": float, "size": int, "max-size": int, "relation": str,
}  # fmt: skip


def parse_neighbours(text: str) -> NeighbourRelation:
    """Read a neighbour relation in the form of the command line.

    Raises
    ------
    UsageError
        If a key is unknown or missing, or a value is out of its domain.

    Examples
    --------
    >>> parse_neighbours("vector:size=5,linf=1").size
    5
    >>> parse_neighbours("records:low=0,high=1,size=3,relation=add-remove").relation
    'add-remove'
    """
    kind, _, rest = text.partition(":")
    if kind == "vector":
        values = _options(text, rest, _VECTOR_KEYS, flags=("integer", "monotone"), required=("size",))
        return VectorNeighbours(**values)
    if kind == "records":
        values = _options(text, rest, _RECORD_KEYS, flags=(), required=("low", "high", "size", "relation"))
        return RecordNeighbours(**{key.replace("-", "_"): value for key, value in values.items()})
    raise UsageError(f"neighbours {text!r} must begin with vector: or records:")


def _options(
    text: str,
    rest: str,
    keys: dict[str, Callable[[str], Any]],
    *,
    flags: tuple[str, ...],
    required: tuple[str, ...],
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, separator, value = part.partition("=")
        if key in values:
            raise UsageError(f"neighbours {text!r} gives {key} twice")
        if key in flags and not separator:
            values[key] = True
        elif key in keys and separator:
            try:
                values[key] = keys[key](value)
            except ValueError:
                raise UsageError(f"neighbours {text!r}: {key} does not accept {value!r}") from None
        else:
            accepted = ", ".join([*(f"{name}=" for name in keys), *flags])
            raise UsageError(f"neighbours {text!r}: {part!r} is not one of {accepted}")
    missing = [key for key in required if key not in values]
    if missing:
        raise UsageError(f"neighbours {text!r} lacks {', '.join(missing)}")
    return values


# --- mechanisms ---------------------------------------------------------------------------------------------


@runtime_checkable
class Mechanism(Protocol):
    """Something that can be sampled, with what it claims and for which neighbouring inputs."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the mechanism asserts of itself."""
        ...

    @property
    def neighbours(self) -> NeighbourRelation:
        """The pairs of inputs for which it asserts it."""
        ...

    def sample(self, data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Sequence[Any] | NDArray[Any]:
        """Draw `size` independent outcomes on `data`, as a sequence or an array with that many rows."""
        ...
