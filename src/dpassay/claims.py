"""Claims: privacy notions with their parameters, as frozen dataclasses with one text form each.

Plain data without mathematics. What a claim *means* is stated in :mod:`dpassay.spec.notions`; what follows
from it is computed there and, independently, in :mod:`dpassay.impl.accounting`.
All privacy parameters are in nats.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from dpassay.arguments import (
    UsageError,
    as_number,
    is_finite,
    require_at_least,
    require_probability,
    rounded_down,
    rounded_up,
    set_fields,
    shown,
)

__all__ = [
    "ZCDP",
    "ApproximateDP",
    "ApproximateZCDP",
    "BoundedRange",
    "Claim",
    "ConcentratedDP",
    "ExPost",
    "GaussianDP",
    "ProbabilisticDP",
    "PureDP",
    "RenyiDP",
    "claim_forms",
    "parse_claim",
]


class Claim:
    """A claim of one privacy notion: the base of the frozen dataclasses below.

    A subclass declares its text form once, in `form`. The key before the colon names the notion, and the words after
    it name the fields in their order; a word in brackets is optional. `parse_claim` and ``str(claim)`` read the form.
    A claim without a form, such as `ExPost`, cannot be given on the command line.

    Parameters may be numbers of any real type. Each becomes the float64 that equals it, or else an exact `Fraction`.
    """

    form: ClassVar[str] = ""

    def __post_init__(self) -> None:
        set_fields(self, **{name: as_number(value) for name, value in vars(self).items()})
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
