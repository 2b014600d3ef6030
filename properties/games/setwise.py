"""The set-wise game of Cesar and Rogers (2020), Def 3.1, against its optimal adaptive analyst, on lattices of t.

A bounded-range parameter offers the responses with e^t on a lattice between 1 and e^epsilon, a pure one the randomised
response: the value is exact for these menus, and a lower bound of the supremum over all mechanisms.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

from flint import arb

from dpassay.arguments import UsageError
from dpassay.properties.games.adversary import Game, hockey_stick_payoff
from dpassay.spec.ball import at_most, ball
from dpassay.spec.interactions.setwise import Parameter, RegisteredRound, SetwiseRule
from dpassay.spec.rational import at_most_exact
from dpassay.spec.theorems.composition.setwise import setwise_epsilon
from dpassay.spec.verdict import Verdict, conjunction

__all__ = [
    "best_fixed_order",
    "fixed_order_delta",
    "lattice_menu",
    "optimal_delta",
    "setwise_bound_holds",
    "setwise_gain",
]

LATTICE = 4
"""Steps of the lattice of t: the menu of the analyst grows with it."""


def lattice_menu(registered: Sequence[Parameter], lattice: int = LATTICE) -> list[Any]:
    """Return the offers of all parameters: one for a pure one, `lattice` - 1 and both orders for a bounded range."""
    if lattice < 2:
        raise UsageError(f"lattice must be at least 2, got {lattice!r}")
    menu = []
    for index, parameter in enumerate(registered):
        shares = [Fraction(1, 2)] if parameter.kind == "pure" else [Fraction(k, lattice) for k in range(1, lattice)]
        menu += [RegisteredRound.of(index, parameter, parameter.response(share)) for share in shares]
    return menu


def optimal_delta(registered: Sequence[Parameter], budget: Fraction, lattice: int = LATTICE) -> Fraction:
    """Return the exact delta at e^epsilon = `budget` of the optimal adaptive analyst."""
    size = len(registered)
    return Game(lattice_menu(registered, lattice), SetwiseRule(size), size, hockey_stick_payoff(budget)).value


def best_fixed_order(registered: Sequence[Parameter], budget: Fraction, lattice: int = LATTICE) -> Fraction:
    """Return the largest delta over orders fixed beforehand; mechanisms may still be chosen adaptively."""
    return max(fixed_order_delta(registered, order, budget, lattice) for order in permutations(range(len(registered))))


class _OrderedRule(SetwiseRule):
    """The rule that admits one order only."""

    def __init__(self, order: tuple[int, ...]) -> None:
        super().__init__(len(order))
        object.__setattr__(self, "order", order)

    def admits(self, state: frozenset[int], offer: Any) -> bool:
        """Return whether the parameter of the offer is the next one."""
        order: tuple[int, ...] = self.__dict__["order"]
        return bool(state) and offer.index == order[self.size - len(state)]


def fixed_order_delta(
    registered: Sequence[Parameter], order: tuple[int, ...], budget: Fraction, lattice: int
) -> Fraction:
    """Return the exact delta of the optimal analyst that uses the parameters in this order.

    Parameters
    ----------
    registered : sequence of Parameter
        The registered parameters.
    order : tuple of int
        Order of their use.
    budget : Fraction
        e^epsilon.
    lattice : int
        Number of steps of the lattice of t.
    """
    menu = lattice_menu(registered, lattice)
    return Game(menu, _OrderedRule(order), len(order), hockey_stick_payoff(budget)).value


def setwise_gain(registered: Sequence[Parameter], budget: Fraction, lattice: int = LATTICE) -> Fraction:
    """Return the gain of the best adaptive order over the best fixed order; 0 in all computed cases."""
    return optimal_delta(registered, budget, lattice) - best_fixed_order(registered, budget, lattice)


def setwise_bound_holds(registered: Sequence[Parameter], budget: Fraction, lattice: int = LATTICE) -> Verdict:
    """Decide eq (2) against the optimal analyst: the exact delta at epsilon is at most that of eq (2).

    With M = sum mu_i and V = sum tau_i^2 that is exp(-(epsilon - M)^2/(2 V)) for epsilon >= M, and 1 below.
    """
    value = optimal_delta(registered, budget, lattice)

    def bound() -> arb:
        means, scales = zip(*(parameter.cdp() for parameter in registered), strict=True)
        mean = setwise_epsilon(list(means), list(scales), Fraction(1))
        square = sum((tau * tau for tau in scales), arb(0))
        gap = (ball(budget).log() - mean).max(arb(0))
        return (-gap * gap / (2 * square)).exp()

    return conjunction([
        at_most(lambda: ball(value), bound),
        at_most_exact(value, Fraction(1), "delta"),
    ])  # fmt: skip
