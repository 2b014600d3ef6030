"""Traced mechanisms on pairs of inputs: their exact distributions, or those of the cells of the numbers they release.

Discrete outcomes are compared one by one. Numbers that hold noise are cut into cells: at the kinks of their densities,
between the jumps of a rounding, and at a grid where noise has no kinks or the scales of the two sides differ. Which
cell a number lies in is a function of the outcome: cells refute, and prove nothing.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from dpassay.claims import Claim
from dpassay.properties.hunting.lattice_pairs import SideOnLattice, has_geometric_numbers, on_lattices
from dpassay.properties.hunting.traced_cuts import cuts_of, refined
from dpassay.properties.hunting.traced_events import Forms, cell_ranges, event_of_loss, symbol_of
from dpassay.properties.hunting.traced_gaussian import across
from dpassay.properties.hunting.traced_rounding import (
    CLOSE,
    STEEPNESS,
    read_with_rounding,
    representatives,
    snapped_constants,
    widened,
)
from dpassay.properties.notions.base import epsilon_delta_of
from dpassay.properties.outcomes.events import Event, Words
from dpassay.properties.pairing.registry import DistributionPair, PushedForward
from dpassay.properties.tracing.words import outcome_words
from dpassay.spec.ball import Real, ball, sum_balls
from dpassay.spec.leaves.cells import KINKS, Cuts, in_cells
from dpassay.spec.leaves.distribution import LeafDistribution, partition_of_unity
from dpassay.spec.leaves.model import Affine, Image, Leaf, LeafModel
from dpassay.spec.leaves.noise_behind import NoiseBehind, noise_behind
from dpassay.spec.leaves.outcomes import Lattice, plain, released_numbers, skeleton
from dpassay.spec.leaves.probability import UndecidedLeafError, leaf_probability
from dpassay.spec.leaves.supports import InfiniteLoss, infinite_loss
from dpassay.spec.verdict import Outcome

__all__ = ["WrongTraceError", "distributions", "symbol_of"]

_COST = 1.5
"""Time that the probability of a leaf takes, in units of the 5 ms of a Gaussian race."""

_Models = tuple[LeafModel, LeafModel]
_Pushed = tuple[PushedForward, PushedForward]

_ROUNDS, _GAIN = 6, 1e-3
"""Times that the worst cell is cut again, and the relative gain for which it is."""

_NONE = -1.0
"""The loss of no cell."""


class WrongTraceError(Exception):
    """The probabilities of the leaves of a trace do not sum to 1."""


class _Traced(LeafDistribution):
    """The distribution of a traced model, read with the rounding of its draws, with the cost of its probabilities."""

    def __post_init__(self) -> None:
        """Accept outcomes of any type: these are symbols, and `distributions` has looked for noise in them."""

    @property
    def cost(self) -> float:
        return _COST * len(self.model.leaves) / max(1, len(self.outcomes))

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of an outcome for all parameters that the draws may stand for."""
        return read_with_rounding(super().log_probability(outcome), self.leaves_of.get(outcome, []))


def _through_lattices(left: LeafModel, right: LeafModel) -> DistributionPair:
    """Return the distributions of numbers with geometric noise, cut at values around their centres."""
    sides: tuple[dict[Hashable, Real], dict[Hashable, Real]] = ({}, {})
    forms = Forms((left, right), on_lattice=True)
    for pair in on_lattices(left, right):
        for label in pair[0].cells.labels:
            outcome = pair[0].cells.outcome
            event = forms.event(outcome, cell_ranges(outcome, zip(pair[0].cells.ends, label, strict=True)))
            for own, side in zip(sides, pair, strict=True):
                own[event] = partial(_log_on_lattice, side, label)
    return PushedForward(sides[0]), PushedForward(sides[1])


def _log_on_lattice(side: SideOnLattice, label: Sequence[int]) -> arb:
    return widened(side.log_probability(label), STEEPNESS * side.draws)


def distributions(
    left: LeafModel, right: LeafModel, *, is_whole: bool = False, claim: Claim | None = None
) -> DistributionPair:
    """Return the distributions of two models on numbers, outcome by outcome or through one partition.

    Parameters
    ----------
    left, right : LeafModel
        The models.
    is_whole : bool
        Whether the leaves are known to sum to 1 already, as where they do for all data. The cells of released numbers
        are checked in any case.
    claim : Claim, optional
        What is to be decided; it tells where to cut numbers.

    Raises
    ------
    UndecidedLeafError, UnknownOutcomeError
        If a probability has no rule, or outcomes cannot be compared.
    WrongTraceError
        If the leaves of a model do not sum to 1.
    """
    if any(map(has_geometric_numbers, (left, right))):
        return _through_lattices(left, right)
    if any(released_numbers(leaf.outcome) for model in (left, right) for leaf in model.leaves):
        return _through_cells(left, right, is_whole=is_whole, claim=claim)
    for model in () if is_whole else (left, right):
        _require_unity(model)
    pair = _discrete(left), _discrete(right)
    if left.undecided or right.undecided:
        return _completed(*pair)
    joined = representatives({*pair[0].outcomes, *pair[1].outcomes})
    return (_joined(pair[0], joined), _joined(pair[1], joined)) if joined else pair


def exact_distributions(left: LeafModel, right: LeafModel) -> tuple[LeafDistribution, LeafDistribution] | None:
    """Return two complete distributions as they are, fit for a proof; None where outcomes hold noise or runs lack.

    Outcomes that are equal and can be told apart, such as 1 and True, are different ones here.

    Raises
    ------
    UndecidedLeafError
        If a probability has no rule, or the leaves of a model do not sum to 1 for certain.
    WrongTraceError
        If they do not.
    """
    for model in (left, right):
        if model.undecided or any(released_numbers(leaf.outcome) for leaf in model.leaves):
            return None
        _require_unity(model)
    first, second = (
        replace(
            model, leaves=tuple(replace(leaf, outcome=(leaf.outcome, types_of(leaf.outcome))) for leaf in model.leaves)
        )
        for model in (left, right)
    )
    return LeafDistribution(first), LeafDistribution(second)


def types_of(outcome: object) -> Hashable:
    """Return the types of the parts of an outcome, and the signs of its zeros."""
    if isinstance(outcome, tuple):
        return tuple(map(types_of, outcome))
    if isinstance(outcome, frozenset):
        return frozenset((part, types_of(part)) for part in outcome)
    if isinstance(outcome, float):
        return "-0.0" if outcome == 0 and math.copysign(1.0, outcome) < 0 else "float"
    return "float" if isinstance(outcome, Fraction | Affine | Image) else type(outcome).__qualname__


def _require_unity(model: LeafModel) -> None:
    verdict = partition_of_unity(model)
    if verdict.outcome is Outcome.VIOLATED:
        raise WrongTraceError(verdict.detail)
    if verdict.outcome is Outcome.UNDECIDED:
        raise UndecidedLeafError(verdict.detail)


def _discrete(model: LeafModel) -> _Traced:
    leaves = tuple(replace(leaf, outcome=symbol_of(leaf.outcome)) for leaf in model.leaves)
    return _Traced(replace(model, leaves=leaves))


def _joined(own: _Traced, joined: Mapping[Hashable, Hashable]) -> PushedForward:
    """Return a distribution with outcomes that join others as one outcome: post-processing, which proves nothing."""
    groups: dict[Hashable, list[Hashable]] = {}
    for outcome in own.outcomes:
        groups.setdefault(joined[outcome], []).append(outcome)
    cells = {name: [partial(own.log_probability, part) for part in parts] for name, parts in groups.items()}
    return PushedForward({name: partial(_log_sum, parts) for name, parts in cells.items()}, own.cost)


def _log_sum(logs: Sequence[Callable[[], arb]]) -> arb:
    """Enclose the logarithm of a sum of probabilities, from what encloses their logarithms."""
    values = [log() for log in logs]
    if len(values) == 1:
        return values[0]
    finite = [value for value in values if value.is_finite()]
    return sum_balls(value.exp() for value in finite).log() if finite else arb.neg_inf()


def _completed(left: LeafDistribution, right: LeafDistribution) -> tuple[PushedForward, PushedForward]:
    """Return the distributions after a step of post-processing that puts undecided mass on outcomes that are known.

    An outcome that one side lists and the other does not may be hidden in the undecided mass of the other: its
    probability there lies in [0, u]. The step keeps a listed outcome with probability 1 - t and draws a uniform one
    of the n that either side lists otherwise, and always in place of one that neither lists. A probability in
    [p, p + u] becomes one in [(1 - t) p + t/n, p + u + (t + u)/n], which is never 0. Since no divergence grows by
    post-processing, what refutes a claim afterwards refutes it before; nothing is proved so. With t = u, the step
    costs no more than what is undecided anyway.
    """
    blur = max(left.model.undecided, right.model.undecided)
    outcomes = tuple(dict.fromkeys((*left.outcomes, *right.outcomes)))
    joined = representatives(outcomes)
    listed: dict[Hashable, list[Hashable]] = {}
    for outcome in outcomes:
        listed.setdefault(joined.get(outcome, outcome), []).append(outcome)
    if not listed:
        raise UndecidedLeafError("no run that ends was traced on these inputs")
    share = blur / len(listed)

    def side(own: LeafDistribution) -> PushedForward:
        cells = {name: partial(_log_blurred, own, parts, blur, share) for name, parts in listed.items()}
        return PushedForward(cells, _COST * len(own.model.leaves) / len(listed), added=share)

    return side(left), side(right)


def _log_blurred(side: LeafDistribution, parts: Sequence[Hashable], blur: Fraction, share: Fraction) -> arb:
    known = sum_balls(map(side.listed, parts))
    least = (1 - ball(blur)) * known + ball(share)
    most = known + ball(side.model.undecided) + ball(share) * 2
    return read_with_rounding(
        least.log().union(most.log()), (leaf for part in parts for leaf in side.leaves_of.get(part, []))
    )


# --- numbers that hold noise --------------------------------------------------------------------------------


def _through_cells(left: LeafModel, right: LeafModel, *, is_whole: bool, claim: Claim | None) -> DistributionPair:
    left, right = snapped_constants(left, right)
    (on_left, on_right), jumps = plain(left, right)
    if not any(lattice is not None for own in jumps.values() for lattice in own):
        for models, is_mirrored in (((on_left, on_right), False), ((on_right, on_left), True)):
            found = infinite_loss(*models)
            if found is not None and _is_visible(found):
                for model in () if is_whole else (left, right):  # a leaf that was lost would be an infinite loss
                    _require_unity(model)
                released = (right, left) if is_mirrored else (left, right)
                return _of_event(found, event_of_loss(found, models, released), is_mirrored=is_mirrored)
        behind = _noise_behind((on_left, on_right), (left, right), is_whole=is_whole)
        if behind is not None:
            return _before_noise(behind, (on_left, on_right), (left, right), jumps, claim)
    return _in_cells((on_left, on_right), (left, right), jumps, claim)


def _in_cells(
    models: _Models, originals: _Models, jumps: Mapping[Hashable, tuple[Lattice, ...]], claim: Claim | None
) -> _Pushed:
    """Return the distributions of the finest cells whose probabilities are known."""
    reason: UndecidedLeafError | None = None
    point = None if claim is None else epsilon_delta_of(claim)
    for cuts in cuts_of(models, jumps, None if point is None else Fraction(point[0])):
        try:
            return _refined(models, cuts, originals, jumps)
        except UndecidedLeafError as error:
            reason = reason or error
    assert reason is not None
    raise reason


def _noise_behind(models: _Models, originals: _Models, *, is_whole: bool) -> NoiseBehind | None:
    """Return the noise behind the released numbers of models whose leaves sum to 1 for certain."""
    behind = noise_behind(*models)
    try:
        for model in () if is_whole or behind is None else originals:
            _require_unity(model)
    except UndecidedLeafError:
        return None
    return behind


def _before_noise(
    behind: NoiseBehind, models: _Models, originals: _Models, jumps: Mapping[Hashable, tuple[Lattice, ...]],
    claim: Claim | None,
) -> DistributionPair:  # fmt: skip
    """Return the distributions of cells that go with the noise behind the numbers."""
    pair = None
    if behind.direction is not None and behind.is_complete and not behind.shifts:
        pair = across(behind.direction, models, originals, claim)
    left, right = pair or _in_cells(models, originals, jumps, claim)
    first, second = (replace(side, behind=behind.moved, is_behind=pair is not None) for side in (left, right))
    return first, second


def _is_visible(found: InfiniteLoss) -> bool:
    """Return whether an event is not as rare as those that the rounding of the data makes."""
    part = replace(found.leaf, constraints=(*found.leaf.constraints, *found.part))
    return bool(leaf_probability(part) > ball(CLOSE))


def _of_event(
    found: InfiniteLoss, known: tuple[Event, list[Leaf]] | None, *, is_mirrored: bool
) -> DistributionPair:  # fmt: skip
    """Return the distributions of an event that only one side has, and of the rest."""
    part = replace(found.leaf, constraints=(*found.leaf.constraints, *found.part))
    words: Event | Words = Words(f"{outcome_words(found.leaf.outcome)} ({found.reason})")
    event, parts = (words, [part]) if known is None else known
    _mass(parts)  # raises here what it would raise later
    rest = Words("any other outcome")
    own = PushedForward({event: lambda: _mass(parts).log(), rest: lambda: _complement(parts)}, _COST)
    other = PushedForward({event: arb.neg_inf, rest: lambda: arb(0)}, _COST)
    return (other, own) if is_mirrored else (own, other)


def _mass(parts: Iterable[Leaf]) -> arb:
    """Enclose the probability of disjoint leaves."""
    return sum_balls(map(leaf_probability, parts))


def _complement(parts: Iterable[Leaf]) -> arb:
    """Enclose the logarithm of the probability of everything but some disjoint leaves."""
    rest = 1 - _mass(parts)
    return arb.neg_inf() if rest.is_zero() else rest.log()


def _refined(
    models: _Models, cuts: Cuts, originals: _Models, jumps: Mapping[Hashable, tuple[Lattice, ...]]
) -> _Pushed:
    """Return the distributions of cells, after the one that loses most was cut again for as long as that helps.

    Between its jumps a rounded number is constant: it tells no more than the cells that are there already.
    """
    sides = _sides(models, cuts)
    least, scale = _NONE, max((_scale(model) for model in models), default=Fraction(0))
    for step in range(_ROUNDS if scale else 0):
        cell, loss = _worst_cell(*sides)
        if cell is None or loss <= least + _GAIN * abs(least):
            break
        least, (structure, labels) = loss, cell
        if any(lattice is not None for lattice in jumps[structure]):
            break
        finer = refined(cuts, structure, labels, scale * 4**step)
        if finer[structure] == cuts[structure]:
            break
        try:
            sides = _sides(models, finer)
        except UndecidedLeafError:
            break
        cuts = finer
    return _named(sides, models, cuts, originals)


def _sides(models: _Models, cuts: Cuts) -> list[LeafDistribution]:
    sides = [LeafDistribution(in_cells(model, cuts)) for model in models]
    for side in sides:
        _require_unity(side.model)
    return sides


def _worst_cell(left: LeafDistribution, right: LeafDistribution) -> tuple[Any, float]:
    """Return the cell with the largest privacy loss that is finite, in either order, and about that loss."""
    found: tuple[Any, float] = None, _NONE
    for cell in left.outcomes:
        loss = left.log_probability(cell) - right.log_probability(cell)
        if loss.is_finite() and abs(float(loss.mid())) > found[1]:
            found = cell, abs(float(loss.mid()))
    return found


def _scale(model: LeafModel) -> Fraction:
    """Return the largest coefficient of a noise in a released number, 0 where a noise has no kinks."""
    numbers = [number for leaf in model.leaves for number in released_numbers(leaf.outcome)]
    if any(noise.kind not in KINKS for number in numbers for noise in number.noise):
        return Fraction(0)
    return max((abs(value) for number in numbers for value in number.noise.values()), default=Fraction(0))


def _named(
    sides: Sequence[LeafDistribution], models: _Models, cuts: Cuts, originals: _Models
) -> _Pushed:  # fmt: skip
    words = _Cells(models, cuts, originals)
    if any(side.model.undecided for side in sides):
        first, second = _completed(*sides)
    else:
        first, second = (
            PushedForward({cell: partial(_log_cell, side, cell) for cell in side.outcomes}, _COST) for side in sides
        )
    return words.named(first), words.named(second)


def _log_cell(side: LeafDistribution, cell: Hashable) -> arb:
    return read_with_rounding(side.log_probability(cell), side.leaves_of[cell])


class _Cells:
    """Cells as events of outcomes."""

    def __init__(self, models: Sequence[LeafModel], cuts: Cuts, originals: Sequence[LeafModel]) -> None:
        self.cuts, self.forms = cuts, Forms(originals)
        self.outcomes: dict[Hashable, Hashable] = {}
        for model, original in zip(models, originals, strict=True):
            for leaf, own in zip(model.leaves, original.leaves, strict=True):
                structure, numbers = skeleton(leaf.outcome)
                constants = tuple(str(number.constant) if number.is_constant else None for number in numbers)
                self.outcomes.setdefault((structure, constants), own.outcome)

    def named(self, side: PushedForward) -> PushedForward:
        """Return a distribution of cells as one of events.

        Cells of one event are joined: where floats are sparse, an interval between two of them, open on the left, and
        the constant at its right end are the same set of floats.
        """
        groups: dict[Hashable, list[Callable[[], arb]]] = {}
        for cell, log_probability in side.cells.items():
            groups.setdefault(self._event(cell), []).append(log_probability)
        cells = {event: partial(_log_sum, parts) for event, parts in groups.items()}
        return replace(side, cells=cells, added=side.added * max(map(len, groups.values()), default=1))

    def _event(self, cell: Hashable) -> Hashable:
        """Return the event of a cell, which `in_cells` gives as (structure, labels)."""
        assert isinstance(cell, tuple)
        structure, labels = cell
        slots = zip(self.cuts.get(structure, [()] * len(labels)), labels, strict=True)
        outcome = self.outcomes[structure, tuple(label if isinstance(label, str) else None for label in labels)]
        return self.forms.event(outcome, cell_ranges(outcome, slots))
