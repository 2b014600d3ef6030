"""Traced violations in other modes of rounding, for code that converts its data to floats by itself.

Such code cannot be run on exact numbers. What depends on the rounding of data alone changes with the mode, on the pair
or next to it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dpassay.claims import Claim
from dpassay.neighbours import NeighbourRelation
from dpassay.properties.drawing.rounding_modes import RoundingMode, in_rounding_mode, modes_are_known
from dpassay.properties.hunting.close_by import agree_but_for_rounding, pairs_next_to
from dpassay.properties.hunting.divergences import decided
from dpassay.properties.hunting.traced_pairs import WrongTraceError, distributions, symbol_of
from dpassay.properties.hunting.traced_proofs import BITS
from dpassay.properties.neighbours.moves import Pair
from dpassay.properties.pairing.registry import DistributionPair
from dpassay.properties.tracing.trace import Trace, trace
from dpassay.properties.tracing.tree import Limits
from dpassay.properties.tracing.watchdog import OutOfTime, time_limit
from dpassay.spec.ball import precision
from dpassay.spec.leaves.model import Affine, Image, LeafModel
from dpassay.spec.leaves.outcomes import UnknownOutcomeError
from dpassay.spec.leaves.probability import UndecidedLeafError
from dpassay.spec.notions.base import find_notion
from dpassay.spec.verdict import Outcome

__all__ = ["ModesOfTraces", "refutes", "use_other_noise"]


def refutes(claim: Claim, pair: DistributionPair) -> bool:
    """Return whether exact distributions, or those of events, refute a claim in one of both orders."""
    notion = find_notion(claim)
    read = notion.enlarged(claim)
    return any(decided(notion, read, *sides) is Outcome.VIOLATED for sides in (pair, pair[::-1]))


def use_other_noise(one: LeafModel, other: LeafModel) -> bool:
    """Return whether two traces use different noise, or noise of another scale, in decisions and outcomes."""
    return _noise_of(one) != _noise_of(other)


def _noise_of(model: LeafModel) -> set[tuple[Any, str]]:
    """Return noises with the sizes of their coefficients, to nine digits, in which rounding does not show."""
    forms = [constraint.form for leaf in model.leaves for constraint in leaf.constraints]
    forms += [form for leaf in model.leaves for form in _forms_in(leaf.outcome)]
    return {(noise, f"{abs(float(value)):.9g}") for form in forms for noise, value in form.noise.items()}


def _forms_in(outcome: Any) -> Iterator[Affine]:
    if isinstance(outcome, Affine):
        yield outcome
    elif isinstance(outcome, Image):
        yield outcome.form
    elif isinstance(outcome, tuple | frozenset):
        for part in outcome:
            yield from _forms_in(part)


@dataclass(frozen=True)
class ModesOfTraces:
    """Traces on floats in each mode of rounding.

    Parameters
    ----------
    sampler : Sampler
        The target.
    claim, relation : Claim, NeighbourRelation
        The claim that is violated, and its relation.
    seed : int
        Of the pairs close by.
    left : callable
        Returns the seconds that are left.
    """

    sampler: Any
    claim: Claim
    relation: NeighbourRelation
    seed: int
    left: Callable[[], float]

    def change(self, pair: Pair) -> bool | None:
        """Return whether a violation at a pair depends on rounding; None where the time is over before that is known.

        False where the modes are not known, or cannot be traced.
        """
        if not modes_are_known():
            return False
        try:
            with time_limit(self.left()), precision(BITS):
                changes = self._changes(pair)
        except OutOfTime:
            return None
        except (UndecidedLeafError, UnknownOutcomeError, WrongTraceError):
            changes = False
        # a trace that ends for want of time counts as one that cannot be made
        return changes if changes or self.left() > 0 else None

    def _changes(self, pair: Pair) -> bool:
        if not all(self._is_refuted(mode, pair) for mode in RoundingMode):
            return True
        close_by = pairs_next_to(pair, self.relation, self.seed)
        is_sensitive = any(self._differ(other) for other in close_by)
        return is_sensitive and not all(self._is_refuted(None, other) for other in close_by)

    def _models(self, mode: RoundingMode | None, pair: Pair) -> list[LeafModel]:
        target = self.sampler if mode is None else in_rounding_mode(mode)(self.sampler)
        found = [trace(target, side.tolist(), limits=Limits(seconds=self.left()), replays=0) for side in pair]
        return [one.model for one in found if isinstance(one, Trace)]

    def _is_refuted(self, mode: RoundingMode | None, pair: Pair) -> bool:
        """Return whether the claim is refuted at a pair in a mode; True where that is not known."""
        models = self._models(mode, pair)
        return len(models) < len(pair) or refutes(self.claim, distributions(*models, claim=self.claim))

    def _differ(self, pair: Pair) -> bool:
        """Return whether the leaves on a pair differ from mode to mode, by more than rounding."""
        plain, *others = (self._models(mode, pair) for mode in (None, *RoundingMode))
        return any(not _are_alike(one, two) for other in others for one, two in zip(plain, other, strict=False))


def _are_alike(one: LeafModel, two: LeafModel) -> bool:
    return len(one.leaves) == len(two.leaves) and all(
        agree_but_for_rounding(*(symbol_of(_without_noise(leaf.outcome)) for leaf in leaves))
        for leaves in zip(one.leaves, two.leaves, strict=True)
    )


def _without_noise(outcome: Any) -> Any:
    """Return an outcome with the constants of its noisy numbers in their place."""
    if isinstance(outcome, tuple):
        return tuple(map(_without_noise, outcome))
    if isinstance(outcome, Image):
        return str(outcome.steps), _without_noise(outcome.form)
    return float(outcome.constant) if isinstance(outcome, Affine) else outcome
