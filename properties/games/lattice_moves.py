"""Mechanisms of the lattice adversary: responses, stars, leaks, discretised Gaussians, stopped runs.

Charges are given budget by budget; a mechanism that has nothing to do with a budget needs 0 of it.
"""

from math import comb

from flint import arb

from dpassay.properties.games.lattice import LatticeMove, LatticeOutcome
from dpassay.spec.ball import Exact, Real, ball

__all__ = ["discretised_gaussian", "leak", "response", "star", "stopped_step"]

Levels = tuple[int, ...]


def _truth(unit: Real, steps: int) -> Real:
    """Return the probability 1/(1 + e^-loss) that a response with that loss is true."""
    return lambda: 1 / (1 + (-steps * unit()).exp())


def response(unit: Real, steps: int, charge: Levels, needs: Levels | None = None) -> LatticeMove:
    """Reveal a bit: loss `steps` with probability 1/(1 + e^-loss), otherwise -`steps`, with the same charge.

    By default the requirement equals the charge.

    Parameters
    ----------
    unit : callable
        Encloses the unit of losses, nats.
    steps : int
        Loss in units.
    charge : tuple of int
        Charge to each budget.
    needs : tuple of int, optional
        Requirement on each budget before the move.
    """
    outcomes = (
        LatticeOutcome(_truth(unit, steps), steps, charge),
        LatticeOutcome(lambda: 1 / (1 + (steps * unit()).exp()), -steps, charge),
    )
    return LatticeMove(f"response({steps})", charge if needs is None else needs, outcomes)


def discretised_gaussian(unit: Real, steps: int, charge: Levels) -> LatticeMove:
    """Release the sum of `steps` unit responses: a binomial instead of a normal loss."""

    def probability(truths: int) -> Real:
        def enclosed() -> arb:
            p = _truth(unit, 1)()
            return comb(steps, truths) * p**truths * (1 - p) ** (steps - truths)

        return enclosed

    outcomes = tuple(LatticeOutcome(probability(k), 2 * k - steps, charge) for k in range(steps + 1))
    return LatticeMove(f"gaussian({steps})", charge, outcomes)


def star(unit: Real, truth: Exact, steps: int, needs: Levels, silence: Levels) -> LatticeMove:
    """Name the bit with probability `truth`, the other with truth e^-loss, else be silent at charge `silence`.

    Parameters
    ----------
    unit : callable
        Encloses the unit of losses, nats.
    truth : exact number
        Probability of naming the bit.
    steps : int
        Loss in units.
    needs : tuple of int
        Requirement on each budget before the move.
    silence : tuple of int
        Charge of silence to each budget.
    """

    def lie() -> arb:
        return ball(truth) * (-steps * unit()).exp()

    outcomes = (
        LatticeOutcome(lambda: ball(truth), steps, needs),
        LatticeOutcome(lie, -steps, needs),
        LatticeOutcome(lambda: 1 - ball(truth) - lie(), 0, silence),
    )
    return LatticeMove(f"star({steps})", needs, outcomes)


def leak(delta: Exact, charge: Levels) -> LatticeMove:
    """Name the data set with probability delta, else release nothing."""
    outcomes = (
        LatticeOutcome(lambda: ball(delta), None, charge),
        LatticeOutcome(lambda: 1 - ball(delta), 0, charge),
    )
    return LatticeMove("leak", charge, outcomes)


def stopped_step(unit: Real, steps: int, needs: Levels, charge: Levels) -> LatticeMove:
    """Start a run of noise reduction with largest requirement `needs`, and stop it after one response.

    Parameters
    ----------
    unit : callable
        Encloses the unit of losses, nats.
    steps : int
        Loss in units.
    needs : tuple of int
        Requirement of the whole run on each budget.
    charge : tuple of int
        Charge of one step to each budget.
    """
    return LatticeMove(f"stopped({steps} of {needs})", needs, response(unit, steps, charge).outcomes)
