"""Random programs: exact losses by an independent enumeration never exceed the bound that tracing proves.

Run with ``python -m benchmarks.tracing_fuzz [--programs N] [--seed S]``.

A program draws Laplace and exponential noise, some of it in one branch only, takes decisions about sums of noise and
data, tosses coins, uses noise again, and returns words and noisy numbers. It is traced as ordinary Python. Its
distribution on a pair of neighbours is enumerated beside that by recursion over intervals of its noises, which shares
no code with the tracer; for every outcome and every cell of a number P <= e^epsilon Q must hold.
"""

import argparse
import itertools
import random
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from dpassay.neighbours import VectorNeighbours
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import trace
from dpassay.spec.ball import ball, precision
from dpassay.spec.leaves.alignment import Aligned, alignment_bound
from dpassay.spec.leaves.merging import merged

__all__ = ["Program", "bound_of", "distribution", "excess", "random_program"]

BITS = 256
KINDS = ("laplace",) * 4 + ("exponential",)
SIGNS = (1,) * 7 + (-1,)
SCALES = (0.5, 1.0, 2.0, 3.0)

Interval = tuple[Fraction | None, Fraction | None]
Cut = tuple[Fraction, ...]


@dataclass(frozen=True)
class Draw:
    """Draw noise number `name`, then go on."""

    name: int
    kind: str
    scale: float
    then: "Node"


@dataclass(frozen=True)
class Compare:
    """Go on one way if noise `name` times `sign` plus a datum is above a level, the other way if not."""

    name: int
    sign: int
    datum: int
    level: int
    above: "Node"
    below: "Node"


@dataclass(frozen=True)
class Toss:
    """Go on one way with probability `chance`, an eighth, the other way if not."""

    chance: Fraction
    heads: "Node"
    tails: "Node"


@dataclass(frozen=True)
class Return:
    """Return a word, and noise `name` plus a datum if there is a name."""

    word: int
    name: int | None = None
    datum: int = 0


Node = Draw | Compare | Toss | Return


@dataclass(frozen=True)
class Program:
    """A program on `size` numbers."""

    root: Node
    size: int

    def __call__(self, data: Any, size: int, rng: Any) -> list[Any]:
        """Run the program, as ordinary Python."""
        return [self._run(data, rng) for _ in range(size)]

    def _run(self, data: Any, rng: Any) -> Any:
        node, noise = self.root, {}
        while not isinstance(node, Return):
            if isinstance(node, Draw):
                draw = rng.laplace if node.kind == "laplace" else rng.exponential
                noise[node.name] = draw(scale=node.scale)
                node = node.then
            elif isinstance(node, Toss):
                node = node.heads if rng.random() < float(node.chance) else node.tails
            else:
                is_above = node.sign * noise[node.name] + data[node.datum] > node.level
                node = node.above if is_above else node.below
        return node.word if node.name is None else (node.word, data[node.datum] + noise[node.name])


def random_program(seed: int) -> Program:
    """Return a random program; a number is one program."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    size = rng.randint(1, 3)
    return Program(_node(rng, size, (), 5), size)


def _node(rng: random.Random, size: int, names: tuple[int, ...], depth: int) -> Node:
    choice = rng.random()
    if not names or (choice < 0.25 and len(names) < 3):
        name = len(names)
        return Draw(name, rng.choice(KINDS), rng.choice(SCALES), _node(rng, size, (*names, name), depth))
    if depth == 0 or choice < 0.35:
        released = rng.choice((None, None, *names))
        return Return(rng.randint(0, 2), released, _datum(rng, released or 0, size))
    branches = [_node(rng, size, names, depth - 1) for _ in range(2)]
    if choice < 0.45:
        return Toss(Fraction(rng.randint(1, 7), 8), *branches)
    name = rng.choice(names)
    return Compare(name, rng.choice(SIGNS), _datum(rng, name, size), rng.randint(-1, 2), *branches)


def _datum(rng: random.Random, name: int, size: int) -> int:
    """Return the datum to which a noise is added: mostly the same, without which few programs are private."""
    return name % size if rng.random() < 0.8 else rng.randrange(size)


# --- the bound ----------------------------------------------------------------------------------------------


def bound_of(program: Program) -> Fraction | None:
    """Return the epsilon that tracing proves for moves of every number by at most 1; None without a proof.

    Raises
    ------
    Refusal
        If the program is not traced.
    """
    result = trace(program, size=program.size, replays=8)
    if isinstance(result, Refusal):
        raise result
    proof = alignment_bound(merged(result.model), VectorNeighbours(program.size, linf=1.0))
    return proof.epsilon if isinstance(proof, Aligned) and not result.model.undecided else None


# --- the distribution, by another way -----------------------------------------------------------------------


def distribution(program: Program, data: Sequence[int], cuts: Cut) -> dict[Hashable, arb]:
    """Return the probability of every word, and of every word with a cell of its number between two cuts."""
    total: dict[Hashable, arb] = {}
    for outcome, weight in _outcomes(program.root, data, cuts, {}, {}):
        total[outcome] = total.get(outcome, arb(0)) + weight
    return total


def _outcomes(
    node: Node,
    data: Sequence[int],
    cuts: Cut,
    laws: Mapping[int, tuple[str, Fraction]],
    within: Mapping[int, Interval],
) -> Iterator[tuple[Hashable, arb]]:
    if isinstance(node, Draw):
        known = {**laws, node.name: (node.kind, Fraction(node.scale))}
        yield from _outcomes(node.then, data, cuts, known, {**within, node.name: (None, None)})
    elif isinstance(node, Toss):
        for chance, branch in ((node.chance, node.heads), (1 - node.chance, node.tails)):
            for outcome, weight in _outcomes(branch, data, cuts, laws, within):
                yield outcome, ball(chance) * weight
    elif isinstance(node, Compare):
        end = Fraction(node.level - data[node.datum]) / (node.sign * laws[node.name][1])
        low, high = _split(within[node.name], end)
        upper, lower = (high, low) if node.sign > 0 else (low, high)
        for part, branch in ((upper, node.above), (lower, node.below)):
            if part is not None:
                yield from _outcomes(branch, data, cuts, laws, {**within, node.name: part})
    elif node.name is None:
        yield node.word, _mass(laws, within)
    else:
        scale = laws[node.name][1]
        ends = [None, *((cut - data[node.datum]) / scale for cut in cuts), None]
        for number, cell in enumerate(itertools.pairwise(ends)):
            own = _common(within[node.name], cell)
            if own is not None:
                yield (node.word, number), _mass(laws, {**within, node.name: own})


def _split(interval: Interval, end: Fraction) -> tuple[Interval | None, Interval | None]:
    return _common(interval, (None, end)), _common(interval, (end, None))


def _common(one: Interval, other: Interval) -> Interval | None:
    lows = [low for low in (one[0], other[0]) if low is not None]
    highs = [high for high in (one[1], other[1]) if high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    return None if low is not None and high is not None and low >= high else (low, high)


def _mass(laws: Mapping[int, tuple[str, Fraction]], within: Mapping[int, Interval]) -> arb:
    total = arb(1)
    for name, (low, high) in within.items():
        kind = laws[name][0]
        total = total * (
            (arb(1) if high is None else _below(kind, high)) - (arb(0) if low is None else _below(kind, low))
        )
    return total


def _below(kind: str, end: Fraction) -> arb:
    z = ball(end)
    if kind == "exponential":
        return arb(0) if end <= 0 else 1 - (-z).exp()
    return z.exp() / 2 if end <= 0 else 1 - (-z).exp() / 2


# --- the comparison -----------------------------------------------------------------------------------------


def excess(program: Program, epsilon: Fraction | None, left: Sequence[int], right: Sequence[int]) -> str | None:
    """Return an outcome whose probability on the left certainly exceeds e^epsilon times that on the right.

    None if there is none, or no bound to exceed.
    """
    if epsilon is None:
        return None
    cuts = tuple(sorted({Fraction(value) for value in (*left, *right, min(left) - 1, max(left) + 2)}))
    with precision(BITS):
        here, there = (distribution(program, data, cuts) for data in (left, right))
        for outcome, weight in here.items():
            if weight > ball(epsilon).exp() * there.get(outcome, arb(0)):
                return f"{outcome}: {weight.str(10)} against {there.get(outcome, arb(0)).str(10)}, epsilon {epsilon}"
    return None


def pairs(seed: int, size: int, count: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield pairs of neighbours, both ways round."""
    rng = random.Random(~seed)  # noqa: S311 - no secret
    for _ in range(count):
        left = [rng.randint(-4, 4) for _ in range(size)]
        right = [value + rng.choice((-1, 0, 1)) for value in left]
        yield left, right
        yield right, left


def main() -> None:
    """Compare programs and print those that exceed their bound, then the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--programs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    count = Counter[str]()
    for number in range(options.seed, options.seed + options.programs):
        program = random_program(number)
        epsilon = bound_of(program)
        count["with a bound" if epsilon is not None else "without"] += 1
        for left, right in pairs(number, program.size, 12) if epsilon is not None else ():
            found = excess(program, epsilon, left, right)
            if found is not None:
                count["exceeded"] += 1
                print(f"program {number} on {left} against {right}: {found}", flush=True)
    print(f"{options.programs} programs: {dict(count)}")


if __name__ == "__main__":
    main()
