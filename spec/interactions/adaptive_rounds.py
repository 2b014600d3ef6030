"""Exact mechanisms with their offers to the filters of accuracy-first privacy.

Three kinds, each a pair of finite distributions on an ordered pair of neighbouring data sets: approximately
concentrated ones with their decomposition written out, ex-post private ones with a bound for each outcome, and
runs of concentrated steps that stop depending on what came out and are charged for the steps they ran. The last are
noise reduction seen in information time: a Brownian path stopped at time t is a run of independent Gaussian
mechanisms whose parameters sum to 1/(2t).

Rogers, Samorodnitsky, Wu and Ramdas 2023, Defs 2.4, 4.1 and 5.1.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, float_upper, precision
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.domains.base import Domain
from dpassay.spec.interactions.transcripts import Interaction, Round, Transcript
from dpassay.spec.rational import Ratio

__all__ = [
    "ConcentratedRound",
    "ConcentratedRun",
    "ExPostRound",
    "MixedInteractions",
    "concentrated",
    "concentrated_leak",
    "concentrated_response",
    "ex_post",
    "ex_post_leak",
    "ex_post_response",
    "levels_of",
    "rho_of_ratio",
    "stopped_run",
]

ONE = Fraction(1)
NOTHING = Fraction(0)


@lru_cache(maxsize=1024)
def rho_of_ratio(ratio: Fraction) -> Fraction:
    """Return a rational just above epsilon tanh(epsilon/2), epsilon = log ratio: the zCDP parameter of epsilon-DP.

    Dyadic, so that sums stay short. Proved in `zcdp_of_pure_dp_by_randomised_response`; at most epsilon^2 / 2.
    """
    if ratio == 1:
        return NOTHING
    with precision(96):
        epsilon = ball(ratio).log()
        return Fraction(math.ceil(float_upper(epsilon * (epsilon / 2).tanh()) * 2**40), 2**40)


# --- approximately concentrated rounds ----------------------------------------------------------------------


@dataclass(frozen=True)
class ConcentratedRound(Round):
    """(1 - delta) P' + delta P'' against (1 - delta) Q' + delta Q'', P' and Q' within rho-zCDP of each other.

    Made by `concentrated`, which computes `rho` from the likelihood ratios of the core (P', Q') in both orders.
    """

    core: Round | None = None
    rho: Fraction = NOTHING
    delta: Fraction = NOTHING

    @property
    def mirror(self) -> "ConcentratedRound":
        """The same mechanism on the pair in the other order, with the same parameters."""
        core = self.core.mirror if self.core is not None else None
        return replace(self, left=self.right, right=self.left, core=core)


def concentrated(
    core_left: FiniteDistribution,
    core_right: FiniteDistribution,
    delta: Fraction = NOTHING,
    left_rest: FiniteDistribution | None = None,
    right_rest: FiniteDistribution | None = None,
) -> ConcentratedRound:
    """Make a delta-approximate rho-zCDP mechanism from its decomposition; the same weight delta on both sides.

    Parameters
    ----------
    core_left, core_right : FiniteDistribution
        P' and Q', with the same support.
    delta : Fraction
        Weight of the rest, in [0, 1].
    left_rest, right_rest : FiniteDistribution, optional
        P'' and Q''; needed if delta is positive.

    Raises
    ------
    UsageError
        If the core's supports differ or delta is out of its domain.
    """
    if not 0 <= delta <= 1 or (delta and (left_rest is None or right_rest is None)):
        raise UsageError(f"delta must lie in [0, 1], with both rests if it is positive, got {delta!r}")
    core = Round(core_left, core_right, ONE)
    ratios = [core.likelihood_ratio(outcome) for outcome in core.outcomes]
    if any(not isinstance(ratio, Fraction) or ratio == 0 for ratio in ratios):
        raise UsageError("the core's distributions must have the same support: zCDP allows no infinite loss")
    largest = max(max(Fraction(r), 1 / Fraction(r)) for r in ratios)
    left, right = _mixture(core_left, left_rest, delta), _mixture(core_right, right_rest, delta)
    return ConcentratedRound(left, right, ONE, core=core, rho=rho_of_ratio(largest), delta=delta)


def _mixture(core: FiniteDistribution, rest: FiniteDistribution | None, delta: Fraction) -> FiniteDistribution:
    weights = {outcome: (1 - delta) * weight for outcome, weight in core.weights.items()}
    for outcome, weight in (rest.weights if rest is not None else {}).items():
        weights[outcome] = weights.get(outcome, NOTHING) + delta * weight
    return FiniteDistribution(weights)


def concentrated_response(ratio: Fraction) -> ConcentratedRound:
    """Reveal a secret bit with odds `ratio`: the worst epsilon-DP mechanism, offered as a concentrated one."""
    truth, lie = ratio / (1 + ratio), 1 / (1 + ratio)
    return concentrated(FiniteDistribution({0: truth, 1: lie}), FiniteDistribution({0: lie, 1: truth}))


def concentrated_leak(delta: Fraction) -> ConcentratedRound:
    """Name the secret bit with probability delta, else release nothing: delta-approximate 0-zCDP."""
    silent = FiniteDistribution({"nothing": ONE})
    return concentrated(silent, silent, delta, FiniteDistribution({"left": ONE}), FiniteDistribution({"right": ONE}))


# --- ex-post private rounds ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExPostRound(Round):
    """A mechanism with an ex-post bound for each outcome, `charges` = e^bound, up to probability `delta`.

    Unlike those of `Round` the bounds may be exceeded: with probability at most delta, in both orders.
    """

    def __post_init__(self) -> None:
        missing = [outcome for outcome in self.outcomes if outcome not in self.charges]
        if missing or any(not charge >= 1 for charge in self.charges.values()):
            raise UsageError(f"every outcome needs a charge of at least 1, got {dict(self.charges)!r}")

    @cached_property
    def delta(self) -> Fraction:
        """The least delta with which both orders are (bound, delta)-ex-post private; the inequality is strict."""
        return max(self._excess(self.left, self.right), self._excess(self.right, self.left))

    @cached_property
    def largest_charge(self) -> Ratio:
        """e^bound of the costliest outcome, which must fit into the remaining budget before the mechanism runs."""
        return max(self.charge(outcome) for outcome in self.outcomes)

    def _excess(self, left: FiniteDistribution, right: FiniteDistribution) -> Fraction:
        over = (
            weight
            for outcome, weight in left.weights.items()
            if weight
            and isinstance(charge := self.charge(outcome), Fraction)
            and weight > charge * right.probability(outcome)
        )
        return sum(over, NOTHING)


def ex_post(
    left: FiniteDistribution, right: FiniteDistribution, charges: Mapping[Hashable, Ratio] | None = None
) -> ExPostRound:
    """Make an ex-post private mechanism; the default bound of an outcome is the absolute value of its privacy loss."""
    own = {outcome: _modulus(left.probability(outcome), right.probability(outcome)) for outcome in left.outcomes}
    own |= {outcome: math.inf for outcome in right.outcomes if outcome not in own}
    return ExPostRound(left, right, ONE, {**own, **(charges or {})})


def _modulus(p: Fraction, q: Fraction) -> Ratio:
    if not p and not q:
        return ONE
    return max(p / q, q / p) if p and q else math.inf


def ex_post_response(ratio: Fraction) -> ExPostRound:
    """Reveal a secret bit with odds `ratio`; either answer is charged its exact loss, log ratio."""
    response = concentrated_response(ratio)
    return ex_post(response.left, response.right)


def ex_post_leak(delta: Fraction) -> ExPostRound:
    """Name the secret bit with probability delta, without a charge."""
    leak = concentrated_leak(delta)
    return ex_post(leak.left, leak.right, dict.fromkeys(("left", "right", "nothing"), ONE))


# --- noise reduction ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ConcentratedRun(Round):
    """A run of concentrated steps under a stopping rule: its outcomes are transcripts, charged by their length.

    `costs` are the sums of the parameters of the steps that a transcript ran; made by `stopped_run`.
    """

    steps: tuple[ConcentratedRound, ...] = ()
    costs: Mapping[Hashable, Fraction] = field(default_factory=dict)

    @property
    def mirror(self) -> "ConcentratedRun":
        """The same run on the pair in the other order."""
        return replace(self, left=self.right, right=self.left, steps=tuple(step.mirror for step in self.steps))

    @cached_property
    def largest_cost(self) -> Fraction:
        """The cost of running all steps: eq (3), 1/(2t) at the smallest time t of the grid."""
        return sum((step.rho for step in self.steps), NOTHING)


def stopped_run(steps: Sequence[ConcentratedRound], stops: Callable[[Transcript], bool]) -> ConcentratedRun:
    """Make the run that ends when `stops` accepts the answers so far, or with the last step.

    Raises
    ------
    UsageError
        If there is no step, or a step has a delta of its own.
    """
    if not steps or any(step.delta for step in steps):
        raise UsageError(f"a run needs at least one step, and none with a delta, got {len(steps)} steps")
    left: dict[Hashable, Fraction] = {}
    right: dict[Hashable, Fraction] = {}
    costs: dict[Hashable, Fraction] = {}
    for transcript, p, q in _paths(steps, stops):
        left[transcript], right[transcript] = p, q
        costs[transcript] = sum((step.rho for step in steps[: len(transcript)]), NOTHING)
    return ConcentratedRun(FiniteDistribution(left), FiniteDistribution(right), ONE, steps=tuple(steps), costs=costs)


def _paths(
    steps: Sequence[ConcentratedRound], stops: Callable[[Transcript], bool]
) -> Iterator[tuple[Transcript, Fraction, Fraction]]:
    stack: list[tuple[Transcript, Fraction, Fraction]] = [((), ONE, ONE)]
    while stack:
        transcript, p, q = stack.pop()
        if transcript and (len(transcript) == len(steps) or stops(transcript)):
            yield transcript, p, q
            continue
        step = steps[len(transcript)]
        for outcome in step.outcomes:
            after = p * step.left.probability(outcome), q * step.right.probability(outcome)
            stack.append(((*transcript, outcome), *after))


# --- the domain ---------------------------------------------------------------------------------------------

KINDS: dict[str, type[Round]] = {
    "concentrated": ConcentratedRound,
    "ex-post": ExPostRound,
    "noise reduction": ConcentratedRun,
}


@dataclass(frozen=True)
class MixedInteractions(Domain):
    """Adaptive trees of rounds of the named kinds (Def 5.1): leaks, responses, runs, arbitrary small mechanisms.

    Parameters
    ----------
    kinds : tuple of str
        Some of "concentrated", "ex-post" and "noise reduction".
    largest_depth : int
        Largest number of offers on a path.
    """

    kinds: tuple[str, ...] = tuple(KINDS)
    largest_depth: int = 3

    def contains(self, value: Any) -> bool:
        """Return whether `value` is such an interaction, and not too deep."""
        allowed = tuple(KINDS[kind] for kind in self.kinds)
        if not (isinstance(value, Interaction) and value.depth <= self.largest_depth):
            return False
        return all(isinstance(offer, allowed) for offers in levels_of(value) for offer in offers)


def levels_of(interaction: Interaction) -> Iterator[tuple[Round, ...]]:
    """Yield the possible offers of each round."""
    level = [interaction]
    while level:
        yield tuple(node.offer for node in level)
        level = [child for node in level for child in node.after.values()]
