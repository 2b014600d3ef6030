"""Implications between notions with their parameters, and the claims that a counterexample refutes.

An implication goes both ways in use: forwards, `convert` turns an established claim into a weaker one of another
notion; backwards, `pull_back` turns a *refuted* claim into the weakest claims of the other notion that would have
implied it, and that are therefore refuted too. Parameters are rounded to the safe side: up when converting, down
when pulling back. All notions are meant in both orders of the neighbours.
"""

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from dpassay.arguments import UsageError, require_at_least
from dpassay.claims import (
    ZCDP,
    ApproximateDP,
    ApproximateZCDP,
    BoundedRange,
    Claim,
    ConcentratedDP,
    ExPost,
    GaussianDP,
    ProbabilisticDP,
    PureDP,
    RenyiDP,
)
from dpassay.spec.ball import at_most, ball, float_lower, float_upper, precision
from dpassay.spec.notions.concentrated_conversions import (
    approximate_zcdp_implying_approximate,
    approximate_zcdp_to_approximate,
    bounded_range_implying_concentrated,
    bounded_range_implying_pure,
    bounded_range_implying_zcdp,
    bounded_range_to_concentrated,
    bounded_range_to_pure,
    bounded_range_to_zcdp,
    concentrated_implying_approximate_zcdp,
    concentrated_to_approximate_zcdp,
    pure_implying_bounded_range,
    pure_implying_concentrated,
    pure_to_bounded_range,
    pure_to_concentrated,
    zcdp_implying_approximate_zcdp,
    zcdp_to_approximate_zcdp,
)
from dpassay.spec.notions.gdp_conversions import (
    gaussian_implying_approximate,
    gaussian_implying_zcdp,
    gaussian_to_approximate,
    gaussian_to_zcdp,
    pure_implying_gaussian,
    pure_to_gaussian,
)
from dpassay.spec.notions.pure_conversions import zcdp_rho_of_pure
from dpassay.spec.notions.renyi_conversions import approximate_epsilon_of_renyi, probabilistic_epsilon_of_renyi
from dpassay.spec.notions.zcdp_conversions import best_order, optimal_probabilistic_epsilon
from dpassay.spec.statement import Statement, find_statement
from dpassay.spec.verdict import Outcome

__all__ = ["IMPLICATIONS", "ORDERS", "Implication", "refuted_by"]

ORDERS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0, 256.0)
"""The orders at which a refutation is carried back to Renyi privacy."""


WORKING_BITS = 192


@dataclass(frozen=True)
class Implication:
    """An implication between two notions.

    Parameters
    ----------
    source_type, target_type : type
        The classes of the two claims.
    convert : callable
        ``convert(claim, **free)`` returns the target claim that follows; `free` are parameters that one may choose,
        such as the delta of a conversion from Renyi privacy.
    pull_back : callable
        ``pull_back(claim)`` returns the weakest source claims that imply the given target claim.
    statement : str
        The name of the statement that it is sound.
    """

    source_type: type[Any]
    target_type: type[Any]
    convert: Callable[..., Claim]
    pull_back: Callable[[Any], tuple[Claim, ...]]
    statement_name: str

    @property
    def statement(self) -> Statement:
        """The statement that the implication is sound."""
        return find_statement(self.statement_name)


# --- forwards -----------------------------------------------------------------------------------------------


def pure_to_approximate(claim: PureDP, *, epsilon: float | None = None) -> ApproximateDP:
    """Convert to any epsilon up to the claim's own (which is the default, with delta 0)."""
    target = claim.epsilon if epsilon is None else require_at_least("epsilon", epsilon, 0)
    if target >= claim.epsilon:
        return ApproximateDP(target, 0.0)

    def delta() -> arb:
        own, wanted = ball(claim.epsilon), ball(target)
        return -(wanted - own).expm1() / (1 + (-own).exp())  # (e^own - e^wanted) / (e^own + 1), over e^own

    return ApproximateDP(target, min(_upper(delta), 1.0))


def pure_to_probabilistic(claim: PureDP) -> ProbabilisticDP:
    """Convert with the same epsilon and delta 0."""
    return ProbabilisticDP(claim.epsilon, 0.0)


def pure_to_zcdp(claim: PureDP) -> ZCDP:
    """Convert to rho = epsilon tanh(epsilon/2)."""
    return ZCDP(_upper(lambda: zcdp_rho_of_pure(ball(claim.epsilon))))


def probabilistic_to_approximate(claim: ProbabilisticDP) -> ApproximateDP:
    """Convert with the same parameters."""
    return ApproximateDP(claim.epsilon, claim.delta)


def zcdp_to_renyi(claim: ZCDP, *, alpha: float) -> RenyiDP:
    """Convert to any order: epsilon = rho alpha."""
    return RenyiDP(alpha, _upper(lambda: ball(Fraction(claim.rho) * Fraction(alpha))))


def zcdp_to_probabilistic(claim: ZCDP, *, delta: float) -> ProbabilisticDP:
    """Convert to any delta in (0, 1]: epsilon = rho + 2 sqrt(rho log(1/delta))."""
    _require_usable(delta)
    if claim.rho == 0 or delta == 1:
        return ProbabilisticDP(0.0, delta)
    return ProbabilisticDP(_upper(lambda: optimal_probabilistic_epsilon(claim.rho, delta)), delta)


def zcdp_to_approximate(claim: ZCDP, *, delta: float) -> ApproximateDP:
    """Convert to any delta in (0, 1] through the best order."""
    _require_usable(delta)
    if claim.rho == 0 or delta == 1:
        return ApproximateDP(0.0, delta)
    order = best_order(claim.rho, delta)
    return renyi_to_approximate(zcdp_to_renyi(claim, alpha=order), delta=delta)


def renyi_to_probabilistic(claim: RenyiDP, *, delta: float) -> ProbabilisticDP:
    """Convert to any delta in (0, 1]: epsilon + log(1/delta) / (alpha - 1)."""
    _require_usable(delta)
    epsilon = _upper(lambda: probabilistic_epsilon_of_renyi(claim.alpha, ball(claim.epsilon), delta))
    return ProbabilisticDP(epsilon, delta)


def renyi_to_approximate(claim: RenyiDP, *, delta: float) -> ApproximateDP:
    """Convert to any delta in (0, 1], after Balle et al. (2020)."""
    _require_usable(delta)
    return ApproximateDP(_upper(lambda: approximate_epsilon_of_renyi(claim.alpha, ball(claim.epsilon), delta)), delta)


def ex_post_to_pure(claim: ExPost, *, outcomes: Iterable[Hashable]) -> PureDP:
    """Convert to the largest bound of all outcomes of the mechanism: the constant, if the bound is one.

    Raises
    ------
    UsageError
        If there are no outcomes, or a bound is infinite, so that no pure claim follows.
    """
    return PureDP(max((claim.epsilon_of(outcome) for outcome in outcomes), default=math.nan))


def _require_usable(delta: float) -> None:
    if not 0 < delta <= 1:
        raise UsageError(f"delta must lie in (0, 1], got {delta!r}")


def _upper(value: Callable[[], arb]) -> float:
    """Round up, and up to 0: the weaker claim."""
    with precision(WORKING_BITS):
        return max(float_upper(value()), 0.0)


def _lower(value: Callable[[], arb]) -> float:
    """Round down: the stronger claim."""
    with precision(WORKING_BITS):
        return float_lower(value())


# --- backwards ----------------------------------------------------------------------------------------------


def pure_implying_approximate(target: ApproximateDP) -> tuple[PureDP, ...]:
    """Return PureDP(log((e^epsilon + delta) / (1 - delta)))."""
    if target.delta == 1:
        return ()

    def epsilon() -> arb:
        level, delta = ball(target.epsilon), ball(target.delta)
        return level + (delta * (-level).exp()).log1p() - (-delta).log1p()

    return (PureDP(max(_lower(epsilon), target.epsilon)),)


def pure_implying_probabilistic(target: ProbabilisticDP) -> tuple[PureDP, ...]:
    """Return PureDP with the same epsilon."""
    return (PureDP(target.epsilon),) if target.delta < 1 else ()


def pure_implying_zcdp(target: ZCDP) -> tuple[PureDP, ...]:
    """Return PureDP of the root of epsilon tanh(epsilon/2) = rho, by bisection, certified."""
    low, high = 0.0, 2 * math.sqrt(target.rho) + target.rho + 1  # at the right end the left side exceeds rho

    def implies(epsilon: float) -> bool:
        verdict = at_most(lambda: zcdp_rho_of_pure(ball(epsilon)), lambda: ball(target.rho))
        return verdict.outcome is Outcome.HOLDS

    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if implies(middle) else (low, middle)
    return (PureDP(low),)


def probabilistic_implying_approximate(target: ApproximateDP) -> tuple[ProbabilisticDP, ...]:
    """Return ProbabilisticDP with the same parameters."""
    return (ProbabilisticDP(target.epsilon, target.delta),)


def renyi_implying_approximate(target: ApproximateDP) -> tuple[RenyiDP, ...]:
    """Return one RenyiDP for each of `ORDERS` at which there is any."""
    return _renyi_implying(target.epsilon, target.delta, approximate_epsilon_of_renyi)


def renyi_implying_probabilistic(target: ProbabilisticDP) -> tuple[RenyiDP, ...]:
    """Return one RenyiDP for each of `ORDERS` at which there is any."""
    return _renyi_implying(target.epsilon, target.delta, probabilistic_epsilon_of_renyi)


def _renyi_implying(
    epsilon: float, delta: float, conversion: Callable[[float, arb, float], arb]
) -> tuple[RenyiDP, ...]:
    if not 0 < delta < 1:
        return ()

    def bound(alpha: float) -> float:
        return _lower(lambda: ball(epsilon) - conversion(alpha, arb(0), delta))

    return tuple(RenyiDP(alpha, bound(alpha)) for alpha in ORDERS if bound(alpha) >= 0)


def zcdp_implying_renyi(target: RenyiDP) -> tuple[ZCDP, ...]:
    """Return ZCDP(epsilon / alpha)."""
    return (ZCDP(_lower(lambda: ball(Fraction(target.epsilon) / Fraction(target.alpha)))),)


def zcdp_implying_probabilistic(target: ProbabilisticDP) -> tuple[ZCDP, ...]:
    """Return ZCDP((epsilon / (sqrt(l + epsilon) + sqrt(l)))^2) with l = log(1/delta)."""
    if not 0 < target.delta < 1 or target.epsilon == 0:
        return ()

    def rho() -> arb:
        level, log_inverse = ball(target.epsilon), -ball(target.delta).log()
        return (level / ((log_inverse + level).sqrt() + log_inverse.sqrt())) ** 2

    return (ZCDP(_lower(rho)),)


def zcdp_implying_approximate(target: ApproximateDP) -> tuple[ZCDP, ...]:
    """Return the best ZCDP(rho) whose curve rho alpha implies the target at some order alpha."""
    if not 0 < target.delta < 1:
        return ()

    def rho_at(excess: float) -> float:
        gained = math.log1p(1 / excess) + (math.log(target.delta) + math.log1p(excess)) / excess
        return (target.epsilon + gained) / (1 + excess)

    best = max((math.exp(k / 50) for k in range(-1000, 2001)), key=rho_at)
    order = 1 + best
    rho = _lower(
        lambda: (ball(target.epsilon) - approximate_epsilon_of_renyi(order, arb(0), target.delta)) / ball(order)
    )
    return (ZCDP(rho),) if rho > 0 else ()


def ex_post_implying_pure(target: PureDP) -> tuple[ExPost, ...]:
    """Return the ex-post claim with the constant bound epsilon."""
    return (ExPost(lambda _outcome: target.epsilon, f"constant {target.epsilon!r}"),)


IMPLICATIONS: tuple[Implication, ...] = (
    Implication(PureDP, ApproximateDP, pure_to_approximate, pure_implying_approximate, "approximate_dp_of_pure_dp"),
    Implication(
        PureDP, ProbabilisticDP, pure_to_probabilistic, pure_implying_probabilistic, "probabilistic_dp_of_pure_dp"
    ),
    Implication(PureDP, ZCDP, pure_to_zcdp, pure_implying_zcdp, "zcdp_of_pure_dp"),
    Implication(
        ProbabilisticDP,
        ApproximateDP,
        probabilistic_to_approximate,
        probabilistic_implying_approximate,
        "approximate_dp_of_probabilistic_dp",
    ),
    Implication(ZCDP, RenyiDP, zcdp_to_renyi, zcdp_implying_renyi, "renyi_dp_of_zcdp"),
    Implication(ZCDP, ProbabilisticDP, zcdp_to_probabilistic, zcdp_implying_probabilistic, "probabilistic_dp_of_zcdp"),
    Implication(ZCDP, ApproximateDP, zcdp_to_approximate, zcdp_implying_approximate, "approximate_dp_of_zcdp"),
    Implication(
        RenyiDP, ProbabilisticDP, renyi_to_probabilistic, renyi_implying_probabilistic, "probabilistic_dp_of_renyi_dp"
    ),
    Implication(
        RenyiDP, ApproximateDP, renyi_to_approximate, renyi_implying_approximate, "approximate_dp_of_renyi_dp"
    ),
    Implication(PureDP, ConcentratedDP, pure_to_concentrated, pure_implying_concentrated, "cdp_of_pure_dp"),
    Implication(BoundedRange, PureDP, bounded_range_to_pure, bounded_range_implying_pure, "pure_dp_of_bounded_range"),
    Implication(PureDP, BoundedRange, pure_to_bounded_range, pure_implying_bounded_range, "bounded_range_of_pure_dp"),
    Implication(
        BoundedRange,
        ConcentratedDP,
        bounded_range_to_concentrated,
        bounded_range_implying_concentrated,
        "cdp_of_bounded_range",
    ),
    Implication(BoundedRange, ZCDP, bounded_range_to_zcdp, bounded_range_implying_zcdp, "zcdp_of_bounded_range"),
    Implication(
        ConcentratedDP,
        ApproximateZCDP,
        concentrated_to_approximate_zcdp,
        concentrated_implying_approximate_zcdp,
        "zcdp_of_cdp",
    ),
    Implication(
        ZCDP,
        ApproximateZCDP,
        zcdp_to_approximate_zcdp,
        zcdp_implying_approximate_zcdp,
        "approximate_dp_of_approximate_zcdp_with_an_offset",
    ),
    Implication(
        ApproximateZCDP,
        ApproximateDP,
        approximate_zcdp_to_approximate,
        approximate_zcdp_implying_approximate,
        "approximate_dp_of_approximate_zcdp_with_an_offset",
    ),
    Implication(ExPost, PureDP, ex_post_to_pure, ex_post_implying_pure, "pure_dp_of_constant_ex_post_dp"),
    Implication(PureDP, GaussianDP, pure_to_gaussian, pure_implying_gaussian, "gaussian_dp_of_pure_dp"),
    Implication(
        GaussianDP,
        ApproximateDP,
        gaussian_to_approximate,
        gaussian_implying_approximate,
        "approximate_dp_of_gaussian_dp",
    ),
    Implication(GaussianDP, ZCDP, gaussian_to_zcdp, gaussian_implying_zcdp, "zcdp_of_gaussian_dp"),
)


def refuted_by(claim: Claim) -> tuple[Claim, ...]:
    """Return the weakest claims of the other notions that a counterexample to `claim` refutes as well.

    Whatever is stronger than a returned claim (a smaller epsilon or rho at the same order) is refuted too. Of
    several claims of one notion, only the weakest is returned; Renyi claims are returned for each of `ORDERS`.

    Implications may lead round in a circle (bounded range to pure privacy and back, at twice the epsilon). A claim is
    followed further only if it is weaker than what is known of its notion to be refuted, the given claim included: a
    circle never weakens a claim, so that the search ends.

    Examples
    --------
    >>> [type(other).__name__ for other in refuted_by(ZCDP(0.5))]
    ['PureDP', 'BoundedRange', 'GaussianDP', 'ExPost']
    """
    if not any(isinstance(claim, each.target_type) for each in IMPLICATIONS):
        return ()
    weakest = dict([_rank(claim)])
    found: dict[tuple[Any, ...], Claim] = {}
    queue = [claim]
    while queue:
        target = queue.pop(0)
        for implication in IMPLICATIONS:
            if isinstance(target, implication.target_type):
                for source in implication.pull_back(target):
                    key, strength = _rank(source)
                    if key not in weakest or weakest[key] < strength:
                        weakest[key] = strength
                        found[key] = source
                        queue.append(source)
    return tuple(found.values())


def _rank(claim: Claim) -> tuple[tuple[Any, ...], float]:  # noqa: PLR0911  # one branch for each notion
    """Return the kind of a claim and its rank within the kind: weaker claims rank higher."""
    match claim:
        case PureDP(epsilon) | BoundedRange(epsilon):
            return (type(claim),), epsilon
        case ZCDP(rho):
            return (ZCDP,), rho
        case GaussianDP(mu):
            return (GaussianDP,), mu
        case ApproximateZCDP(rho, delta, xi):
            return (ApproximateZCDP, delta, xi), rho
        case ConcentratedDP(mu, tau):
            return (ConcentratedDP, tau), mu
        case RenyiDP(alpha, epsilon):
            return (RenyiDP, alpha), epsilon
        case ExPost(epsilon_of):
            return (ExPost,), epsilon_of(None)  # constant: only constant bounds are pulled back
        case ApproximateDP(epsilon, delta) | ProbabilisticDP(epsilon, delta):
            return (type(claim), delta), epsilon
    raise UsageError(f"no implication is known for {claim!r}")
