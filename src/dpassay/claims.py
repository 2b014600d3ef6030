"""The words that every layer shares: claims, neighbour relations, mechanisms.

Plain data without mathematics. What a claim *means* is stated in :mod:`dpassay.spec.notions`; what follows
from it is computed there and, independently, in :mod:`dpassay.impl.accounting`.
All privacy parameters are in nats.
"""

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LARGEST_INTEGER",
    "MOST_CALLS",
    "MOST_SECONDS",
    "MOST_VALUES",
    "ZCDP",
    "AnyNeighbours",
    "ApproximateDP",
    "ApproximateZCDP",
    "BoundedRange",
    "Claim",
    "ConcentratedDP",
    "EncodedNeighbours",
    "ExPost",
    "GaussianDP",
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
    "as_number",
    "claim_forms",
    "is_finite",
    "missing_options",
    "parse_claim",
    "parse_neighbours",
    "parse_relation",
    "relation_forms",
    "require_at_least",
    "require_flag",
    "require_integer",
    "require_positive",
    "require_probability",
    "rounded_down",
    "rounded_up",
    "shown",
]

Item = tuple[str, str]
"""An item of a document: (source key, item name), a row of the shipped table of items."""


class UsageError(ValueError):
    """Raised for an argument outside its domain; the message names it, the value and the domain."""


class SamplerLostError(Exception):
    """Raised by a sampler whose process crashed or did not answer: nothing was observed, and nothing may be bet on it.

    A call that raises anything else is itself an outcome.
    """


MOST_VALUES = 1_000_000
"""Coordinates or records of one input at most: a hunt holds about a hundred pairs of inputs."""

LARGEST_INTEGER = 1 << 53
"""The largest integer of a relation of integers: float64 holds all integers up to here."""

MOST_CALLS = 10**12
"""Calls that a hunt may be asked for: more than a machine makes in a month."""

MOST_SECONDS = 1e9
"""Seconds that a time limit may be: thirty years."""

_LONGEST_SHOWN = 80


def shown(value: Any) -> str:
    """Return a value as an error message shows it: short, on one line, whatever its ``repr`` does."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001  # whatever a foreign __repr__ raises
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 4]} ..."


def is_finite(value: Any) -> bool:
    """Return whether `value` is a finite number, of any type that has a float64 next to it."""
    return _is_number(value) and not math.isinf(value)


def _is_number(value: Any) -> bool:
    """Return whether `value` is a real number or an infinity; words, arrays and NaN are not."""
    if isinstance(value, np.ndarray):
        return False
    try:
        return not math.isnan(value)
    except Exception:  # noqa: BLE001  # whatever a foreign __float__ raises
        return False


def as_number(value: Any) -> Any:
    """Return a finite real number as the float64 that equals it, or else as the `Fraction` that equals it.

    Integers, rationals, decimals and numpy scalars are accepted. A value that is not a finite real number is returned
    unchanged, so that the check of its domain can refuse it.

    Examples
    --------
    >>> as_number(4), as_number(Fraction(1, 2)), as_number(Fraction(1, 3))
    (4.0, 0.5, Fraction(1, 3))
    """
    if type(value) is float or not is_finite(value):
        return value
    try:
        exact = Fraction(*value.as_integer_ratio()) if hasattr(value, "as_integer_ratio") else Fraction(value)
        near = float(exact)
    except (TypeError, ValueError, OverflowError):  # not a rational number: the float64 next to it
        return float(value)
    return near if Fraction(near) == exact else exact


def rounded_up(value: float | Fraction) -> float:
    """Return the least float64 that is not below a number."""
    near = float(value)
    return near if math.isinf(near) or Fraction(near) >= value else math.nextafter(near, math.inf)


def rounded_down(value: float | Fraction) -> float:
    """Return the largest float64 that is not above a number."""
    return -rounded_up(-value)


def _set(record: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass while it is constructed."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def require_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` as an int if it is an integer in [low, high]; raise `UsageError` naming `name` otherwise.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    value : object
        The value given.
    low : int
        The smallest accepted value.
    high : int, optional
        The largest accepted value.
    """
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (is_integer and value >= low and (high is None or value <= high)):
        accepted = f"at least {low}" if high is None else f"from {low} to {high}"
        raise UsageError(f"{name} must be an integer, {accepted}, got {shown(value)}")
    return int(value)


def require_at_least(name: str, value: float, low: float) -> float:
    """Return `value` if it is a finite number not below `low`; raise `UsageError` naming `name` otherwise."""
    if not (is_finite(value) and value >= low):
        raise UsageError(f"{name} must be a finite number, at least {low:g}, got {shown(value)}")
    return value


def require_flag(name: str, value: Any) -> bool:
    """Return `value` if it is True or False; raise `UsageError` naming `name` otherwise."""
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def require_positive(name: str, value: float) -> float:
    """Return `value` if it is a finite positive number; raise `UsageError` naming `name` otherwise."""
    if not (is_finite(value) and value > 0):
        raise UsageError(f"{name} must be a finite positive number, got {shown(value)}")
    return value


def require_probability(name: str, value: float) -> float:
    """Return `value` if it lies in [0, 1]; raise `UsageError` naming `name` otherwise."""
    if not (is_finite(value) and 0 <= value <= 1):
        raise UsageError(f"{name} must lie in [0, 1], got {shown(value)}")
    return value


# --- claims -------------------------------------------------------------------------------------------------


class Claim:
    """A claim of one privacy notion: the base of the frozen dataclasses below.

    A subclass declares its text form once, in `form`. The key before the colon names the notion, and the words after
    it name the fields in their order; a word in brackets is optional. `parse_claim` and ``str(claim)`` read the form.
    A claim without a form, such as `ExPost`, cannot be given on the command line.

    Parameters may be numbers of any real type. Each becomes the float64 that equals it, or else an exact `Fraction`.
    """

    form: ClassVar[str] = ""

    def __post_init__(self) -> None:
        _set(self, **{name: as_number(value) for name, value in vars(self).items()})
        self._require()

    def _require(self) -> None:
        """Raise `UsageError` if a parameter is out of its domain."""

    @property
    def is_vacuous(self) -> bool:
        """Return whether every mechanism satisfies the claim: with a delta of 1 it says nothing."""
        delta: float = getattr(self, "delta", 0.0)
        return delta >= 1

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters in the order of the form; an optional one is left out where it has its default."""
        values = dict(vars(self))
        for each in reversed(fields(self)):  # type: ignore[arg-type]  # every subclass is a dataclass
            if values[each.name] != each.default:
                break
            del values[each.name]
        return values

    def in_float64(self) -> Self:
        """Return the claim with float64 parameters: itself, or the next weaker claim that float64 holds."""
        return replace(self, **{name: rounded_up(value) for name, value in vars(self).items()})  # type: ignore[type-var]

    def __str__(self) -> str:
        values = (str(value) if isinstance(value, Fraction) else repr(value) for value in self.parameters.values())
        return f"{self.form.partition(':')[0]}:{','.join(values)}"


@dataclass(frozen=True)
class PureDP(Claim):
    """Every event is at most e^epsilon times as likely on one input as on a neighbouring one."""

    epsilon: float

    form: ClassVar[str] = "pure:EPS"

    def _require(self) -> None:
        require_at_least("epsilon", self.epsilon, 0)


@dataclass(frozen=True)
class ApproximateDP(Claim):
    """As `PureDP`, up to an additive probability delta."""

    epsilon: float
    delta: float

    form: ClassVar[str] = "approx:EPS,DELTA"

    def _require(self) -> None:
        require_at_least("epsilon", self.epsilon, 0)
        require_probability("delta", self.delta)


@dataclass(frozen=True)
class ProbabilisticDP(Claim):
    """The privacy loss exceeds epsilon with probability at most delta."""

    epsilon: float
    delta: float

    form: ClassVar[str] = "probabilistic:EPS,DELTA"

    def _require(self) -> None:
        require_at_least("epsilon", self.epsilon, 0)
        require_probability("delta", self.delta)


@dataclass(frozen=True)
class ZCDP(Claim):
    """The Renyi divergence of every order alpha > 1 is at most rho alpha."""

    rho: float

    form: ClassVar[str] = "zcdp:RHO"

    def _require(self) -> None:
        require_at_least("rho", self.rho, 0)


@dataclass(frozen=True)
class ApproximateZCDP(Claim):
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

    form: ClassVar[str] = "approx-zcdp:RHO,DELTA,[XI]"

    def _require(self) -> None:
        require_at_least("rho", self.rho, 0)
        require_probability("delta", self.delta)
        require_at_least("xi", self.xi, -self.rho)


@dataclass(frozen=True)
class ConcentratedDP(Claim):
    """The privacy loss has mean at most mu, and about its mean it is subgaussian with scale tau, on both sides."""

    mu: float
    tau: float

    form: ClassVar[str] = "cdp:MU,TAU"

    def _require(self) -> None:
        require_at_least("mu", self.mu, 0)
        require_at_least("tau", self.tau, 0)


@dataclass(frozen=True)
class RenyiDP(Claim):
    """The Renyi divergence of order alpha is at most epsilon."""

    alpha: float
    epsilon: float

    form: ClassVar[str] = "rdp:ALPHA,EPS"

    def _require(self) -> None:
        if not (is_finite(self.alpha) and self.alpha > 1):
            raise UsageError(f"alpha must be a finite number above 1, got {shown(self.alpha)}")
        require_at_least("epsilon", self.epsilon, 0)

    def in_float64(self) -> Self:
        """Return the claim with float64 parameters; the divergence increases with the order, which is rounded down.

        Raises
        ------
        UsageError
            If alpha exceeds 1 by less than float64 can tell.
        """
        return replace(self, alpha=rounded_down(self.alpha), epsilon=rounded_up(self.epsilon))


@dataclass(frozen=True)
class BoundedRange(Claim):
    """The privacy losses of any two outcomes differ by at most epsilon."""

    epsilon: float

    form: ClassVar[str] = "bounded-range:EPS"

    def _require(self) -> None:
        require_at_least("epsilon", self.epsilon, 0)


@dataclass(frozen=True)
class GaussianDP(Claim):
    """Telling the inputs apart is at least as hard as telling N(0, 1) from N(mu, 1)."""

    mu: float

    form: ClassVar[str] = "gdp:MU"

    def _require(self) -> None:
        require_at_least("mu", self.mu, 0)


@dataclass(frozen=True, repr=False)
class ExPost(Claim):
    """The privacy loss of an outcome is at most `epsilon_of(outcome)`, which may be infinite."""

    epsilon_of: Callable[[Hashable], float] = field(compare=False)
    description: str = "ex-post bound"

    def _require(self) -> None:
        if not callable(self.epsilon_of):
            raise UsageError(f"epsilon_of must be a function of the outcome, got {shown(self.epsilon_of)}")

    def in_float64(self) -> Self:
        """Return the claim itself: its bounds are read one by one."""
        return self

    def __repr__(self) -> str:
        return f"ExPost({self.description})"

    def __str__(self) -> str:
        return f"ex-post:{self.description}"


def _claims_by_key() -> dict[str, type[Claim]]:
    return {each.form.partition(":")[0]: each for each in Claim.__subclasses__() if each.form}


def claim_forms() -> str:
    """Return the forms of claims on the command line, for messages."""
    return ", ".join(each.form for each in _claims_by_key().values())


def parse_claim(text: str) -> Claim:
    """Read a claim in the form of the command line, such as ``pure:1.0``, ``approx:1,1e-6`` or ``zcdp:1/3``.

    Raises
    ------
    UsageError
        If the notion is unknown, the number of parameters is wrong or a parameter is out of its domain.

    Examples
    --------
    >>> parse_claim("approx:1,1e-6")
    ApproximateDP(epsilon=1.0, delta=1e-06)
    >>> str(parse_claim("approx:1,1e-6"))
    'approx:1.0,1e-06'
    """
    if not isinstance(text, str):
        raise UsageError(f"claim {shown(text)} is not one of {claim_forms()}")
    key, _, rest = text.partition(":")
    claim_type = _claims_by_key().get(key)
    if claim_type is None:
        raise UsageError(f"claim {shown(text)} is not one of {claim_forms()}")
    names = claim_type.form.partition(":")[2].split(",")
    required = sum(not name.startswith("[") for name in names)
    values = _numbers(rest.split(","))
    if values is None or not required <= len(values) <= len(names):
        raise UsageError(f"claim {shown(text)} does not have the form {claim_type.form}")
    return claim_type(*values)


def _numbers(parts: Sequence[str]) -> list[Any] | None:
    """Return the numbers that parts of a text state, as floats or ratios; None if one is not a number."""
    try:
        return [Fraction(part) if "/" in part else float(part) for part in parts]
    except (ValueError, ZeroDivisionError):
        return None


# --- neighbour relations ------------------------------------------------------------------------------------


def _set_range(relation: Any) -> None:
    """Make the ends of a range float64; an end that float64 does not hold is rounded inwards, as all data are float64.

    Raises
    ------
    UsageError
        If no float64 lies between the ends.
    """
    low, high = relation.low, relation.high
    inner_low = rounded_up(as_number(low)) if is_finite(low) else float(low)
    inner_high = rounded_down(as_number(high)) if is_finite(high) else float(high)
    if inner_low > inner_high:
        raise UsageError(f"a float64 must lie between low and high, got low={shown(low)}, high={shown(high)}")
    _set(relation, low=inner_low, high=inner_high)


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
        _set(self, size=require_integer("size", self.size, 1, MOST_VALUES))
        if self.l0 is not None:
            _set(self, l0=require_integer("l0", self.l0, 0))
        for name, bound in {"l1": self.l1, "l2": self.l2, "linf": self.linf}.items():
            if bound is not None:
                _set(self, **{name: rounded_down(require_at_least(name, as_number(bound), 0))})
        for name, flag in {"integer": self.integer, "monotone": self.monotone}.items():
            _set(self, **{name: require_flag(name, flag)})
        self._require_range()

    def _require_range(self) -> None:
        if not (_is_number(self.low) and _is_number(self.high) and self.low <= self.high):
            raise UsageError(f"low must not exceed high, got low={shown(self.low)}, high={shown(self.high)}")
        _set_range(self)
        unbounded = math.isinf(self.low) or math.isinf(self.high)
        if self.l1 is self.l2 is self.linf is None and (self.l0 is None or unbounded):
            raise UsageError("a vector relation needs at least one of l1, l2, linf, or l0 with finite low and high")
        if self.integer:
            self._require_integers()

    def _require_integers(self) -> None:
        """Refuse integers that float64, in which all data are given, does not hold."""
        values = {name: getattr(self, name) for name in ("low", "high", "l1", "l2", "linf")}
        for name, value in values.items():
            if value is not None and math.isfinite(value) and abs(value) > LARGEST_INTEGER:
                raise UsageError(
                    f"{name} must lie within +-2^53 = {LARGEST_INTEGER:,} for an integer relation, because "
                    f"float64 does not hold all larger integers, got {shown(value)}"
                )

    @property
    def largest_step(self) -> float:
        """The largest change that any single coordinate may make, before clipping to [low, high]."""
        bounds = [bound for bound in (self.l1, self.l2, self.linf) if bound is not None]
        step = 0.0 if self.l0 == 0 else min(bounds, default=self.high - self.low)
        return math.floor(step) if self.integer else step

    def admits(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> bool:
        """Return whether (left, right) is a pair of this relation, exactly: a float stands for its rational value.

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
        if not (is_finite(self.low) and is_finite(self.high) and self.low <= self.high):
            raise UsageError(
                f"low and high must be finite, low <= high, got low={shown(self.low)}, high={shown(self.high)}"
            )
        _set_range(self)
        _set(self, size=require_integer("size", self.size, 0, MOST_VALUES))
        if self.max_size is not None:
            _set(self, max_size=require_integer("max-size", self.max_size, self.size, MOST_VALUES))
        if not (isinstance(self.relation, str) and self.relation in {"add-remove", "replace"}):
            raise UsageError(f"relation must be add-remove or replace, got {shown(self.relation)}")


class EncodedNeighbours(ABC):
    """A relation between inputs of any type, each of which a float64 array of codes stands for.

    A search works on the codes; the mechanism receives what `decoded` returns. Such inputs are sampled, not traced.
    """

    @property
    @abstractmethod
    def words(self) -> str:
        """The relation in the form of the command line, or a description of one that has none."""

    @abstractmethod
    def decoded(self, codes: NDArray[np.float64]) -> Any:
        """Return a new object: the input that the codes stand for."""

    @abstractmethod
    def admits(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> bool:
        """Return whether two arrays of codes stand for a pair of this relation."""

    @abstractmethod
    def pairs(self, rng: np.random.Generator) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Yield pairs of arrays of codes, the most promising first, then random ones."""

    @abstractmethod
    def simpler(
        self, left: NDArray[np.float64], right: NDArray[np.float64]
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Yield pairs that are one step simpler than a given one; `admits` need not accept them."""


NeighbourRelation = VectorNeighbours | RecordNeighbours
"""A relation between arrays of numbers, of which exact decisions are possible."""

AnyNeighbours = NeighbourRelation | EncodedNeighbours

_ENCODED = dict.fromkeys(("table", "dicts", "frame", "multiset", "histogram"), "dpassay.tables")
"""Modules that read the further kinds of relations, by a function `parse`."""


def relation_forms() -> str:
    """Return the openings of neighbour relations on the command line, for messages."""
    return ", ".join(f"{kind}:" for kind in ("vector", "records", *_ENCODED))


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
    if not isinstance(text, str):
        raise UsageError(f"neighbours must be text that begins with vector: or records:, got {shown(text)}")
    kind, _, rest = text.partition(":")
    if kind == "vector":
        values = _options(text, rest, _VECTOR_KEYS, flags=("integer", "monotone"), required=("size",))
        return VectorNeighbours(**values)
    if kind == "records":
        values = _options(text, rest, _RECORD_KEYS, flags=(), required=("low", "high", "size", "relation"))
        return RecordNeighbours(**{key.replace("-", "_"): value for key, value in values.items()})
    raise UsageError(f"neighbours {shown(text)} must begin with vector: or records:")


def parse_relation(text: str) -> AnyNeighbours:
    """Read a neighbour relation between inputs of any type; as `parse_neighbours`, and the relations of tables.

    Raises
    ------
    UsageError
        If the kind or a key is unknown or missing, or a value is out of its domain.

    Examples
    --------
    >>> parse_relation("dicts:age=0..99,sex=F/M,size=2,relation=replace").words
    'dicts:age=0..99,sex=F/M,size=2,relation=replace'
    """
    kind, _, rest = text.partition(":")
    if kind in _ENCODED:
        relation: EncodedNeighbours = importlib.import_module(_ENCODED[kind]).parse(kind, rest)
        return relation
    if kind not in {"vector", "records"}:
        raise UsageError(f"neighbours {shown(text)} must begin with one of {relation_forms()}")
    return parse_neighbours(text)


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
                accepted = "an integer written in digits, such as 1000" if keys[key] is int else "a number"
                raise UsageError(f"neighbours {text!r}: {key} must be {accepted}, got {value!r}") from None
        else:
            accepted = ", ".join([*(f"{name}=" for name in keys), *flags])
            raise UsageError(f"neighbours {text!r}: {part!r} is not one of {accepted}")
    missing = [key for key in required if key not in values]
    if missing:
        raise UsageError(f"neighbours {text!r} lacks {missing_options(missing)}")
    return values


def missing_options(keys: Iterable[str]) -> str:
    """Return options that a neighbour relation lacks, with the form of their values, for error messages."""
    forms = {"size": "size=N", "relation": "relation=add-remove or relation=replace"}
    return ", ".join(forms.get(key, f"{key}=NUMBER") for key in keys)


# --- mechanisms ---------------------------------------------------------------------------------------------


@runtime_checkable
class Mechanism(Protocol):
    """A sampler, with its claims and the neighbour relation of its inputs."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of the mechanism."""
        ...

    @property
    def neighbours(self) -> NeighbourRelation:
        """The pairs of inputs for which it asserts it."""
        ...

    def sample(self, data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Sequence[Any] | NDArray[Any]:
        """Draw `size` independent outcomes on `data`, as a sequence or an array with that many rows."""
        ...
