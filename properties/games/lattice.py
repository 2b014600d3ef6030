"""The optimal adaptive adversary on a lattice of losses and budgets, in certified float64 arithmetic.

All losses are multiples of one unit and all charges whole numbers of budget levels, so that a position is the rounds
that are left, the levels that are left, and the loss so far in units. A round of the game is a handful of array
operations over all positions: fifty rounds over two hundred levels take a fraction of a second. Everything added and
multiplied is non-negative, so that rounding changes the value by a known factor; the inputs are rounded outward, once
upwards and once downwards, and the exact value lies between the two results.

`properties.games.adversary` solves the same games over arbitrary rational losses, exactly and slowly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError
from dpassay.spec.ball import Real, ball, float_lower, float_upper, precision, sum_balls

__all__ = ["LatticeGame", "LatticeMove", "LatticeOutcome"]

Array = NDArray[np.float64]

BITS = 96
"""The precision of the probabilities before they are rounded."""

UNIT_ROUNDOFF = 2.0**-53
"""The unit roundoff of float64."""

SMALLEST = 2.0**-1074
"""The smallest positive float64."""


@dataclass(frozen=True)
class LatticeOutcome:
    """One outcome of a mechanism.

    Parameters
    ----------
    probability : Real
        Under the left data set.
    loss : int or None
        Privacy loss in units of the lattice; None for an infinite one.
    charge : tuple of int
        Its cost in each budget, in levels.
    """

    probability: Real
    loss: int | None
    charge: tuple[int, ...]


@dataclass(frozen=True)
class LatticeMove:
    """A mechanism that may be offered: its requirements on each budget, and its outcomes."""

    name: str
    needs: tuple[int, ...]
    outcomes: tuple[LatticeOutcome, ...]

    def __post_init__(self) -> None:
        for outcome in self.outcomes:
            pairs = zip(outcome.charge, self.needs, strict=False)
            if len(outcome.charge) != len(self.needs) or not all(0 <= charge <= need for charge, need in pairs):
                raise UsageError(f"charges of {self.name!r} must lie between 0 and its needs {self.needs}")


@dataclass(frozen=True)
class LatticeGame:
    """A menu of moves behind a filter with whole-numbered budgets.

    Parameters
    ----------
    moves : sequence of LatticeMove
        The possible offers of the adversary, which may stop at any time.
    levels : tuple of int
        The budgets.
    rounds : int
        Largest number of rounds.
    unit : Real
        The privacy loss of one step of the lattice, in nats.
    epsilon : Real
        Where the delta of the whole interaction is wanted.

    Raises
    ------
    UsageError
        If there is no move, the budgets of moves and filter do not match, or outcomes are no pair of distributions.
    """

    moves: Sequence[LatticeMove]
    levels: tuple[int, ...]
    rounds: int
    unit: Real
    epsilon: Real

    def __post_init__(self) -> None:
        if not self.moves:
            raise UsageError("moves must hold at least one mechanism, got none")
        if any(len(move.needs) != len(self.levels) for move in self.moves):
            raise UsageError(f"every move needs {len(self.levels)} budgets, as the filter has")
        if self.rounds < 0:
            raise UsageError(f"rounds must be at least 0, got {self.rounds!r}")
        if any(level < 0 for level in self.levels):
            raise UsageError(f"levels must be at least 0, got {self.levels!r}")
        for move in self.moves:
            self._require_distributions(move)

    def _require_distributions(self, move: LatticeMove) -> None:
        """Raise `UsageError` unless the outcomes are a distribution, and q = p e^-loss at most one, too."""
        with precision(BITS):
            unit = self.unit()
            weights = [(o.probability(), o.loss) for o in move.outcomes]
            left = sum_balls(p for p, _ in weights)
            right = sum_balls(p * (-loss * unit).exp() for p, loss in weights if loss is not None)
            if any(p < 0 for p, _ in weights) or not left.contains(1) or right > 1:
                sums = f"{left.str(6)} and {right.str(6)}"
                raise UsageError(f"outcomes of {move.name!r} must sum to 1, on the right to at most 1, got {sums}")

    @cached_property
    def reach(self) -> int:
        """The largest absolute value of a finite loss, in units, that is reachable."""
        shape = tuple(level + 1 for level in self.levels)
        most = np.zeros(shape, dtype=np.int64)
        for _ in range(self.rounds):
            following = most.copy()
            for move in self.moves:
                target = following[_cells(move.needs)]
                for outcome in move.outcomes:
                    if target.size and outcome.loss is not None:
                        reached = abs(outcome.loss) + most[_cells_before(move, outcome, self.levels)]
                        np.maximum(target, reached, out=target)
            if np.array_equal(following, most):
                break
            most = following
        return int(most[self.levels])

    @cached_property
    def value(self) -> tuple[float, float]:
        """Enclose the largest delta at epsilon that an adaptive adversary achieves: (lower, upper)."""
        widest = max(len(move.outcomes) for move in self.moves) + 2
        relative = 1 + 2 * UNIT_ROUNDOFF * (self.rounds * widest + 1)
        tiny = SMALLEST * (self.rounds * widest + 1)
        lower, upper = self._solve(upwards=False), self._solve(upwards=True)
        return max(0.0, lower / relative - tiny), min(1.0, upper * relative + tiny)

    def _solve(self, *, upwards: bool) -> float:
        payoff = self._payoff(upwards=upwards)
        weights = [[_rounded(o.probability, upwards=upwards) for o in move.outcomes] for move in self.moves]
        shape = (*(level + 1 for level in self.levels), payoff.size)
        value = np.broadcast_to(payoff, shape).copy()
        longest = max((abs(o.loss) for move in self.moves for o in move.outcomes if o.loss is not None), default=0)
        edges = [(0, 0)] * len(self.levels) + [(longest, longest)]
        for _ in range(self.rounds):
            padded = np.pad(value, edges, mode="edge")  # what lies beyond the window no play reaches
            for move, probabilities in zip(self.moves, weights, strict=True):
                target = value[_cells(move.needs)]
                if target.size:
                    np.maximum(target, self._mean(padded, longest, move, probabilities), out=target)
        return float(value[(*self.levels, self.reach)])

    def _mean(self, padded: Array, longest: int, move: LatticeMove, probabilities: list[float]) -> Array:
        total: Array = np.zeros(())
        for outcome, probability in zip(move.outcomes, probabilities, strict=True):
            if outcome.loss is None:
                total = total + probability
            else:
                begin = longest + outcome.loss
                source = padded[_cells_before(move, outcome, self.levels)]
                total = total + probability * source[..., begin : begin + 2 * self.reach + 1]
        return total

    def _payoff(self, *, upwards: bool) -> Array:
        """Return (1 - e^(epsilon - loss))_+ for every loss on the lattice, rounded one way."""
        side = float_upper if upwards else float_lower
        with precision(BITS):
            unit, epsilon = self.unit(), self.epsilon()
            gaps = (ball(k) * unit - epsilon for k in range(-self.reach, self.reach + 1))
            return np.array([max(0.0, side(-(-gap).expm1())) for gap in gaps])


def _cells(needs: tuple[int, ...]) -> tuple[slice, ...]:
    """Select the positions in which at least `needs` is left."""
    return tuple(slice(need, None) for need in needs)


def _cells_before(move: LatticeMove, outcome: LatticeOutcome, levels: tuple[int, ...]) -> tuple[slice, ...]:
    """Select where those positions are after the outcome was charged."""
    return tuple(
        slice(need - charge, max(need - charge, level + 1 - charge))
        for need, charge, level in zip(move.needs, outcome.charge, levels, strict=True)
    )


def _rounded(probability: Real, *, upwards: bool) -> float:
    with precision(BITS):
        return float_upper(probability()) if upwards else float_lower(probability())
