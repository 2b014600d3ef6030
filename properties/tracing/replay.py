"""Runs on numbers against the leaves: they show errors that silent type checks in the code under test cause."""

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.outcomes.raised import raised_words
from dpassay.properties.tracing.discrete import geometric
from dpassay.properties.tracing.execution import Exploration, Sampler, TracedLeaf
from dpassay.properties.tracing.forms import Row
from dpassay.properties.tracing.inversion import inverted_noises
from dpassay.properties.tracing.outcome_types import types_of_parts
from dpassay.properties.tracing.outcomes import agrees, first_outcome, normal_form
from dpassay.properties.tracing.refusal import Refusal, active, require_exception
from dpassay.properties.tracing.tree import Node
from dpassay.properties.tracing.watchdog import OutOfTime
from dpassay.properties.tracing.words import outcome_words
from dpassay.spec.leaves.derived import with_derived
from dpassay.spec.leaves.model import Affine, Constraint, Noise, NoiseKind, Raised

__all__ = ["NumberTape", "Replays", "replay", "run_on_numbers"]

_MARGIN = 1e-10
"""Decisions whose two sides are this close, relatively, are not compared: rounding may turn them. Float64 rounds by
1e-16 an operation; a larger margin leaves more runs uncompared."""

_LEAST_COMPARED = 1 / 4
"""Share of the runs in traced leaves that must be compared; fewer would show no error of the code under test."""

_MOST_OTHERS = 64
"""Further leaves that are compared with a run on numbers."""

_PLACE = "replay on numbers"
_TYPES = ", as where code asks for the types of its numbers"

_STANDARD: dict[NoiseKind, Callable[[np.random.Generator], float]] = {
    NoiseKind.LAPLACE: lambda rng: rng.laplace(),
    NoiseKind.NORMAL: lambda rng: rng.standard_normal(),
    NoiseKind.EXPONENTIAL: lambda rng: rng.standard_exponential(),
    NoiseKind.UNIFORM: lambda rng: rng.random(),
    NoiseKind.GUMBEL: lambda rng: rng.gumbel(),
    NoiseKind.LOGISTIC: lambda rng: rng.logistic(),
}


Place = tuple[Mapping[Noise, float], Sequence[float]]
"""Noises and data of a run on numbers."""


class NumberTape:
    """A tape of numbers, which it records, beside the types of the outcome that a run on it had.

    Parameters
    ----------
    rng : Generator
        Source of what is not given.
    noises : mapping of Noise to float
        Given values.
    choices : sequence of int
        Given values of the first discrete draws.
    on_lattice : bool
        Whether geometric draws are noise on a lattice.
    """

    def __init__(
        self, rng: np.random.Generator, noises: Mapping[Noise, float] | None = None, choices: Sequence[int] = (),
        on_lattice: bool = False,
    ) -> None:  # fmt: skip
        self.on_lattice = on_lattice
        self.noises: dict[Noise, float] = {}
        self.choices: list[tuple[str, int]] = []
        self.counts: Counter[NoiseKind] = Counter()
        self.types: Hashable = None
        self._rng, self._given, self._chosen = rng, dict(noises or {}), list(choices)

    def noise(self, kind: NoiseKind) -> Any:
        """Return the next standard noise of a kind."""
        noise = Noise(kind, self.counts[kind])
        self.counts[kind] += 1
        value = self._given.get(noise)
        self.noises[noise] = float(_STANDARD[kind](self._rng)) if value is None else value
        return np.float64(self.noises[noise])

    def choose(self, label: str, weights: Sequence[Fraction]) -> int:
        """Return the place of the value of a discrete draw."""
        place = len(self.choices)
        if place < len(self._chosen):
            value = self._chosen[place]
        else:
            chances = np.array([float(weight) for weight in weights])
            value = int(self._rng.choice(len(chances), p=chances / chances.sum()))
        self.choices.append((label, value))
        return value

    def trials(self, label: str, chance: Fraction) -> int:
        """Return the number of trials up to the first success."""
        if not self.on_lattice or not 0 < chance < 1:
            return geometric(self, label, chance)
        noise = Noise(NoiseKind.GEOMETRIC, self.counts[NoiseKind.GEOMETRIC], 1 - chance)
        self.counts[NoiseKind.GEOMETRIC] += 1
        trials = int(self._rng.geometric(float(chance)))
        self.noises[noise] = trials - 1
        return trials

    def gather(self, values: list[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return noises as an array of floats."""
        return np.array(values, dtype=np.float64).reshape(shape)


@dataclass
class Replays:
    """The ends of runs on numbers: inside their leaf, or where the leaf is uncertain."""

    agreed: int = 0
    near_a_boundary: int = 0
    unexplored: int = 0
    types: dict[tuple[int, ...], set[Hashable]] = field(default_factory=dict)
    """The types of the outcomes, by leaf."""


def run_on_numbers(
    sampler: Sampler, data: Sequence[float], tape: NumberTape, generator: Callable[[Any], Any]
) -> Hashable:
    """Return the outcome of the mechanism on numbers in normal form.

    Parameters
    ----------
    sampler : Sampler
        The mechanism.
    data : sequence of float
        The input.
    tape : NumberTape
        The numbers that stand for noise.
    generator : callable
        Makes the generator that the mechanism gets of the tape.
    """
    numbers, made = np.array(data, dtype=np.float64), generator(tape)
    active.tape = tape
    try:
        with np.errstate(all="ignore"):
            returned = sampler(numbers, 1, made)
    except (Refusal, OutOfTime):
        raise
    except BaseException as error:  # noqa: BLE001 - an exception is an outcome
        require_exception(error)
        return Raised(raised_words(error))
    finally:
        active.tape = None
    outcome = first_outcome(returned)
    tape.types = types_of_parts(outcome)
    return normal_form(outcome, _impossible)


def _impossible(symbol: Any) -> Fraction:
    raise Refusal(f"a noisy value kept in {type(symbol).__name__} after the run", _PLACE)


def replay(
    sampler: Sampler, data: Sequence[float] | None, found: Exploration, generator: Callable[[Any], Any], draws: int,
    seed: int, domain: tuple[float, float] = (-math.inf, math.inf), *, on_lattice: bool = False,
) -> Replays:  # fmt: skip
    """Compare runs on numbers with the leaves that contain them.

    Parameters
    ----------
    sampler : callable
        The mechanism.
    data : sequence of float, optional
        Its input; None: each run draws data for symbolic coordinates.
    found : Exploration
        The tree.
    generator : callable
        Makes a generator from a tape.
    draws : int
        Number of runs.
    seed : int
        Seed of the runs.
    domain : (float, float)
        Range of symbolic data.
    on_lattice : bool
        Whether geometric draws are noise on a lattice.

    Raises
    ------
    Refusal
        If a run differs from its leaf, or if too few runs can be compared.
    """
    rng, result = np.random.default_rng(seed), Replays()
    leaves = {leaf.answers: leaf for leaf in found.leaves}
    raising = [leaf for leaf in found.leaves if isinstance(leaf.leaf.outcome, Raised)]
    for leaf in raising:
        _confirm(leaf, sampler, data, found, generator, rng, on_lattice=on_lattice)
    for _ in range(draws):
        numbers = _data(found, rng, domain) if data is None else data
        tape = NumberTape(rng, on_lattice=on_lattice)
        outcome = run_on_numbers(sampler, numbers, tape, generator)
        _compare(outcome, tape, numbers if data is None else [], found, leaves, result)
    if result.agreed < _LEAST_COMPARED * (draws - result.unexplored):
        raise Refusal(
            "too few runs on numbers can be compared with the trace: they lie at boundaries of its decisions, or "
            "float64 rounds the noise away",
            _PLACE,
        )
    return result


def _data(found: Exploration, rng: np.random.Generator, domain: tuple[float, float]) -> list[float]:
    """Return random data of a random spread; those outside of a domain are drawn inside, or mirrored at its one end.

    At the end itself they would lie at the boundaries of decisions, and could not be compared.
    """
    low, high = domain
    spread = 10.0 ** rng.uniform(-1, 1)
    values = spread * rng.standard_normal(found.variables.size)
    ends = np.array([end for end in domain if math.isfinite(end)] or [0.0])
    inside = rng.uniform(low, high, values.size) if math.isfinite(high - low) else 2 * ends[0] - values
    return [float(value) for value in np.where((values < low) | (values > high), inside, values)]


def _confirm(
    leaf: TracedLeaf, sampler: Sampler, data: Sequence[float] | None, found: Exploration,
    generator: Callable[[Any], Any], rng: np.random.Generator, *, on_lattice: bool,
) -> None:  # fmt: skip
    """Require that a run on numbers from a leaf raises the exception of the leaf."""
    point = leaf.interior()
    if point is None:
        raise Refusal(
            f"{outcome_words(leaf.leaf.outcome)}: no run on numbers found that confirms the exception", _PLACE
        )
    size = found.variables.size
    noises = {found.variables.noise(key): value for key, value in point.items() if key >= size}
    choices = [int(str(value)) for _, value in leaf.choices]
    tape = NumberTape(rng, noises, choices, on_lattice=on_lattice)
    numbers = [point.get(index, 0.0) for index in range(size)] if data is None else data
    outcome = run_on_numbers(sampler, numbers, tape, generator)
    if outcome != leaf.leaf.outcome:
        raise Refusal(f"{outcome_words(leaf.leaf.outcome)} on symbols, but not on numbers", leaf.place or _PLACE)


def _compare(
    outcome: Hashable, tape: NumberTape, data: Sequence[float], found: Exploration,
    leaves: Mapping[tuple[int, ...], TracedLeaf], result: Replays,
) -> None:  # fmt: skip
    point = {index: Fraction(value) for index, value in enumerate(data)}
    values = with_derived(tuple(found.variables.derived), list(point.values())) if data else []
    point |= {-1 - k: value for k, value in enumerate(values[len(data) :])}
    noises = tape.noises | _inverted(tape.noises, found)
    point |= {found.variables.number(noise): Fraction(value) for noise, value in noises.items()}
    answers = _path(found.root, point, [value for _, value in tape.choices])
    if answers is None:
        result.near_a_boundary += 1
        return
    leaf = leaves.get(answers)
    if leaf is None:
        result.unexplored += 1
        if not found.undecided:
            raise Refusal("a run on numbers ends in no leaf", _PLACE)
        return
    value = functools.cache(lambda form: _value(form, point, found))
    _require_same(leaf, outcome, tape, value)
    _require_alone(leaf, leaves, (noises, [float(value) for value in values]))
    result.types.setdefault(answers, set()).add(tape.types)
    result.agreed += 1


def _inverted(noises: Mapping[Noise, float], found: Exploration) -> dict[Noise, float]:
    """Return the values of the noises by inversion that occur in the trace."""
    wanted = {noise for noise in found.variables.noises if noise.position < 0}
    return {noise: value for noise, value in inverted_noises(noises).items() if noise in wanted} if wanted else {}


def _require_same(leaf: TracedLeaf, outcome: Hashable, tape: NumberTape, value: Callable[[Affine], Fraction]) -> None:
    if tuple(sorted(tape.counts.items())) != leaf.draws or tuple(tape.choices) != leaf.choices:
        raise Refusal(f"a run on numbers draws other noise than the run on symbols{_TYPES}", _PLACE)
    if not agrees(leaf.leaf.outcome, outcome, value):
        raise Refusal(f"a run on numbers returns {outcome!r}, which the run on symbols does not{_TYPES}", _PLACE)


def _require_alone(leaf: TracedLeaf, leaves: Mapping[tuple[int, ...], TracedLeaf], place: Place) -> None:
    """Require that a point satisfies the constraints of its leaf, and contradicts those of others."""
    if any(_is_outside(constraint, place) for constraint in leaf.leaf.constraints):
        raise Refusal("a run on numbers contradicts the constraints of its leaf", _PLACE)
    for other in itertools.islice(leaves.values(), _MOST_OTHERS):
        if other is leaf or other.choices != leaf.choices:
            continue
        if all(_is_inside(constraint, place) for constraint in other.leaf.constraints):
            raise Refusal("a run on numbers satisfies the constraints of two leaves", _PLACE)


def _is_outside(constraint: Constraint, place: Place) -> bool:
    value, margin = _near(constraint.form, place)
    return value < -margin


def _is_inside(constraint: Constraint, place: Place) -> bool:
    """Return whether a constraint holds for certain; False where it is about noise that the run did not draw."""
    if any(noise not in place[0] for noise in constraint.form.noise):
        return False
    value, margin = _near(constraint.form, place)
    return value > margin


def _near(form: Affine, place: Place) -> tuple[float, float]:
    """Return the value of a form in floats, and a margin far above its rounding."""
    noises, data = place
    constant, beside_noises, beside_data = _floats(form)
    parts = [constant, *(c * noises[noise] for noise, c in beside_noises)]
    parts += [c * data[index] for index, c in beside_data]
    return math.fsum(parts), _MARGIN * max(1.0, *map(abs, parts))


@functools.lru_cache(1 << 14)
def _floats(form: Affine) -> tuple[float, list[tuple[Noise, float]], list[tuple[int, float]]]:
    noises = [(noise, float(c)) for noise, c in form.noise.items()]
    return float(form.constant), noises, [(index, float(c)) for index, c in form.data.items()]


def _value(form: Affine, point: Mapping[int, Fraction], found: Exploration) -> Fraction:
    noise = sum((c * point[found.variables.number(k)] for k, c in form.noise.items()), Fraction(0))
    size = found.variables.size
    data = sum((c * point[k if k < size else size - 1 - k] for k, c in form.data.items()), Fraction(0))
    return form.constant + noise + data


def _path(root: Node, point: Mapping[int, Fraction], choices: list[int]) -> tuple[int, ...] | None:
    """Return the answers of the leaf that contains a point; None within rounding of a boundary."""
    node, answers, drawn = root.children.get(0), list[int](), iter(choices)
    while node is not None:
        answer = next(drawn, -1) if node.is_draw else _cell(node, point)
        if answer is None:
            return None
        answers.append(answer)
        node = node.children.get(answer)
    return tuple(answers)


def _cell(node: Node, point: Mapping[int, Fraction]) -> int | None:
    for place in range(node.count):
        sides = set[int]()
        for row in node.cell(place):
            sides.add(_side(row, point))
            if -1 in sides:
                break
        if -1 not in sides:
            return None if 0 in sides else place
    return None


def _side(row: Row, point: Mapping[int, Fraction]) -> int:
    """Return 1 inside a row, -1 outside and 0 within rounding of its boundary; constant rows have no rounding."""
    constant, terms = row.form
    if not terms:
        return 1 if constant > 0 or (constant == 0 and not row.is_strict) else -1
    if any(key not in point for key in terms):
        return -1
    parts = [float(value) * float(point[key]) for key, value in terms.items()]
    value = math.fsum((float(constant), *parts))
    margin = _MARGIN * max(abs(float(constant)), math.fsum(map(abs, parts)), 1e-300)
    return 0 if abs(value) <= margin else 1 if value > 0 else -1
