"""Leaves of Gumbel noise: races of exponential clocks, in closed form.

If Z is standard Gumbel noise, E = e^-Z is standard exponential, and c (Z_i - Z_j) + k >= 0 with c > 0 says
E_i <= e^(k/c) E_j. A forest of such comparisons is eliminated clock by clock: a function of one clock is a sum of
terms a e^(-rate E), and

    int_{low E'}^{high E'} a e^(-rate E) dE = a / rate (e^(-rate low E') - e^(-rate high E')).

The argmax of several Gumbel noises has the softmax distribution, and their order that of Plackett and Luce.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import arb

from dpassay.spec.ball import ball, sum_balls
from dpassay.spec.leaves.elimination import NotAForestError
from dpassay.spec.leaves.model import Constraint, Noise

__all__ = ["gumbel_probability"]

Sum = list[tuple[arb, arb]]
"""sum a e^(-rate E), as (a, rate)."""


@dataclass
class _Edge:
    """Comparisons of two clocks: log_low <= log(first / second) <= log_high."""

    log_low: Fraction | None = None
    log_high: Fraction | None = None


@dataclass
class _Race:
    functions: dict[Noise, Sum] = field(default_factory=dict)
    edges: dict[tuple[Noise, Noise], _Edge] = field(default_factory=dict)


def gumbel_probability(constraints: Sequence[Constraint]) -> arb:
    """Enclose the probability that differences of Gumbel noises obey all constraints.

    Raises
    ------
    NotAForestError
        If a constraint is no bound on a difference of two noises, or the comparisons contain a cycle.
    """
    race = _race(constraints)
    total = arb(1)
    while race.functions:
        clock, pair = _next(race)
        function = race.functions.pop(clock)
        if pair is None:
            total = total * sum_balls(a / rate for a, rate in function)
            continue
        edge = race.edges.pop(pair)
        other = pair[1] if pair[0] == clock else pair[0]
        low, high = (edge.log_low, edge.log_high) if pair[0] == clock else _inverted(edge)
        race.functions[other] = _times(race.functions[other], _message(function, low, high))
    return total


def _race(constraints: Iterable[Constraint]) -> _Race:
    race = _Race()
    for constraint in constraints:
        better, worse, scale = _compared(constraint.form.noise)
        for noise in (better, worse):
            race.functions.setdefault(noise, [(arb(1), arb(1))])
        bound = constraint.form.constant / scale
        pair, log_high = ((better, worse), bound) if _order(better) < _order(worse) else ((worse, better), None)
        edge = race.edges.setdefault(pair, _Edge())
        if log_high is not None:
            edge.log_high = bound if edge.log_high is None else min(edge.log_high, bound)
        else:
            edge.log_low = -bound if edge.log_low is None else max(edge.log_low, -bound)
    return race


def _order(noise: Noise) -> tuple[str, int]:
    return noise.kind, noise.position


def _compared(form: Mapping[Noise, Fraction]) -> tuple[Noise, Noise, Fraction]:
    values = list(form.items())
    if len(values) != 2 or values[0][1] != -values[1][1]:
        raise NotAForestError("Gumbel noises are compared otherwise than by differences of two")
    (first, scale), (second, _) = values
    return (first, second, scale) if scale > 0 else (second, first, -scale)


def _next(race: _Race) -> tuple[Noise, tuple[Noise, Noise] | None]:
    for clock in race.functions:
        pairs = [pair for pair in race.edges if clock in pair]
        if len(pairs) <= 1:
            return clock, pairs[0] if pairs else None
    raise NotAForestError(f"a cycle among {len(race.functions)} Gumbel noises")


def _inverted(edge: _Edge) -> tuple[Fraction | None, Fraction | None]:
    return (None if edge.log_high is None else -edge.log_high, None if edge.log_low is None else -edge.log_low)


def _message(function: Sum, low: Fraction | None, high: Fraction | None) -> Sum:
    """Integrate over the clock, between multiples of its neighbour."""
    if low is not None and high is not None and low >= high:
        return []
    result: Sum = []
    for a, rate in function:
        near = arb(0) if low is None else rate * ball(low).exp()
        result.append((a / rate, near))
        if high is not None:
            result.append((-a / rate, rate * ball(high).exp()))
    return result


def _times(left: Sum, right: Sum) -> Sum:
    return [(a * b, r + s) for a, r in left for b, s in right]
