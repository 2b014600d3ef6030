"""Proofs on a box of parameters: branch and bound over balls.

The box is split until the margin of the inequality is positive on every leaf, or some leaf's midpoint
violates it, or the budget of leaves is spent; the last is undecided, with the share of volume left open.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count

from flint import arb

from dpassay.spec.ball import Exact, ball, precision
from dpassay.spec.verdict import Evidence, Holds, Scope, Undecided, Verdict, Violated

__all__ = ["Progress", "prove_on_box"]

Progress = Callable[[float], None]
"""Called now and then with the share of the box that is settled, between 0 and 1."""

Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class _Leaf:
    sides: tuple[Interval, ...]
    volume: Fraction  # as a share of the whole box

    def balls(self) -> list[arb]:
        return [ball(low).union(ball(high)) for low, high in self.sides]

    def centre(self) -> list[Fraction]:
        return [(low + high) / 2 for low, high in self.sides]

    def halves(self, widths: tuple[Fraction, ...]) -> tuple["_Leaf", "_Leaf"]:
        relative = [
            (high - low) / width if width else Fraction(0)
            for (low, high), width in zip(self.sides, widths, strict=True)
        ]
        axis = relative.index(max(relative))
        low, high = self.sides[axis]
        middle = (low + high) / 2
        before, after = self.sides[:axis], self.sides[axis + 1 :]
        return (
            _Leaf((*before, (low, middle), *after), self.volume / 2),
            _Leaf((*before, (middle, high), *after), self.volume / 2),
        )


def prove_on_box(
    margin: Callable[..., arb],
    box: Mapping[str, tuple[Exact, Exact]],
    *,
    leaves: int = 20_000,
    bits: int = 64,
    progress: Progress | None = None,
) -> Verdict:
    """Decide whether ``margin(**parameters) > 0`` for every point of a box.

    Parameters
    ----------
    margin : callable
        Encloses the margin of the inequality, given a ball for each parameter by name.
    box : Mapping of str to (low, high)
        The closed box.
    leaves : int
        Budget: the largest number of boxes that are evaluated.
    bits : int
        Working precision.
    progress : callable, optional
        Told the settled share of the volume.

    Returns
    -------
    Verdict
        Evidence `BOX` and scope `BOX`; the witness of a violation is a midpoint, enclosed on its own.
    """
    names = tuple(box)
    sides = tuple((Fraction(low), Fraction(high)) for low, high in box.values())
    widths = tuple(high - low for low, high in sides)
    order = count()
    queue: list[tuple[Fraction, int, _Leaf]] = []

    def push(leaf: _Leaf) -> None:
        heappush(queue, (-leaf.volume, next(order), leaf))

    push(_Leaf(sides, Fraction(1)))
    settled, evaluated, smallest = Fraction(0), 0, arb.pos_inf()
    with precision(bits):
        while queue and evaluated < leaves:
            leaf = heappop(queue)[2]
            evaluated += 1
            value = margin(**dict(zip(names, leaf.balls(), strict=True)))
            if value > 0:
                settled += leaf.volume
                smallest = smallest.min(value)
                if progress is not None:
                    progress(float(settled))
                continue
            centre = leaf.centre()
            if margin(**{name: ball(x) for name, x in zip(names, centre, strict=True)}) <= 0:
                witness = dict(zip(names, centre, strict=True))
                return Violated(
                    evidence=Evidence.ENCLOSED,
                    scope=Scope.POINTS,
                    detail="margin not positive",
                    witness=witness,
                )
            for half in leaf.halves(widths):
                push(half)
    if queue:
        detail = f"{float(1 - settled):.3g} of the box is open after {evaluated} boxes"
        return Undecided(evidence=Evidence.BOX, scope=Scope.BOX, detail=detail)
    least = smallest.lower().str(6, radius=False)
    return Holds(evidence=Evidence.BOX, scope=Scope.BOX, detail=f"{evaluated} boxes, margin at least {least}")
