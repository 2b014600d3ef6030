"""q-targets: lower bounds on the probability that a non-common part of an output distribution hits a set.

Z^0, Z^1 are the output distributions on neighbouring data sets. A set T of outcomes is a q-target at epsilon if

    Z^b = p C + (1 - p) B^b,   B^0 and B^1 epsilon-indistinguishable,   min_b B^b(T) >= q,

so that the secret is touched only by the draws from B^b, and these hit T with probability at least q (Cohen and Lyu
2023, Def 2.1). With delta, Z^b = (1 - delta) (p C + (1 - p) B^b) + delta E^b (Def B.1). An algorithm has the property
if every neighbouring pair has it (Def B.2). It is a property of a pair and a set, no claim about a mechanism alone.

The exact quality (our own): an admissible common sub-measure c = p C satisfies 0 <= c <= c_max,

    c_max(y) = (e^eps min(Z^0(y), Z^1(y)) - max(Z^0(y), Z^1(y))) / (e^eps - 1),

and (Z^b(T) - c(T)) / (1 - c(Y)) falls in c on T and rises in c off T; hence c = c_max off T, 0 on T is the best, and
q = min_b Z^b(T) / (1 - c_max(off T)).
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import ball, sum_balls
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated

__all__ = [
    "Mixture",
    "Target",
    "best_mixture",
    "common_mass",
    "enclosed_target_quality",
    "indistinguishable",
    "normalised",
    "of_target",
    "outcomes_of",
    "target_quality",
]

Target = frozenset[Hashable]
Masses = dict[Hashable, Fraction]


def outcomes_of(left: FiniteDistribution, right: FiniteDistribution) -> tuple[Hashable, ...]:
    """Return the outcomes that either distribution lists."""
    return tuple(dict.fromkeys((*left.outcomes, *right.outcomes)))


def of_target(distribution: FiniteDistribution, target: Iterable[Hashable]) -> Fraction:
    """Return the probability of a set of outcomes."""
    return sum((distribution.probability(o) for o in target), Fraction(0))


def indistinguishable(left: FiniteDistribution, right: FiniteDistribution, ratio: Fraction) -> bool:
    """Return whether each outcome is at most `ratio` = e^epsilon times as likely on either side as on the other."""
    pairs = [(left.probability(o), right.probability(o)) for o in outcomes_of(left, right)]
    return all(p <= ratio * q and q <= ratio * p for p, q in pairs)


def normalised(masses: Masses) -> FiniteDistribution:
    """Return the distribution proportional to masses that are not all 0."""
    total = sum(masses.values(), Fraction(0))
    return FiniteDistribution({o: mass / total for o, mass in masses.items()})


# --- decompositions -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mixture:
    """An explicit decomposition Z^b = (1 - delta) (p C + (1 - p) B^b) + delta E^b.

    Parameters
    ----------
    weight : Fraction
        p, the weight of the common part, in [0, 1].
    common : FiniteDistribution
        C.
    left, right : FiniteDistribution
        B^0 and B^1.
    delta : Fraction
        Weight of the errors, in [0, 1).
    left_error, right_error : FiniteDistribution, optional
        E^0 and E^1, needed unless delta is 0.

    Raises
    ------
    UsageError
        If a weight is out of its domain.
    """

    weight: Fraction
    common: FiniteDistribution
    left: FiniteDistribution
    right: FiniteDistribution
    delta: Fraction = Fraction(0)
    left_error: FiniteDistribution | None = None
    right_error: FiniteDistribution | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise UsageError(f"weight must lie in [0, 1], got {self.weight!r}")
        if not 0 <= self.delta < 1:
            raise UsageError(f"delta must lie in [0, 1), got {self.delta!r}")
        if self.delta and (self.left_error is None or self.right_error is None):
            raise UsageError("left_error and right_error must be given with a positive delta, got None")

    def side(self, *, left: bool) -> Masses:
        """Return the recombined masses of one side."""
        residual, error = (self.left, self.left_error) if left else (self.right, self.right_error)
        masses: Masses = {}
        parts = ((1 - self.delta) * self.weight, self.common), ((1 - self.delta) * (1 - self.weight), residual)
        for share, part in (*parts, (self.delta, error)):
            for o, mass in part.weights.items() if part is not None else ():
                masses[o] = masses.get(o, Fraction(0)) + share * mass
        return masses

    def quality(self, target: Iterable[Hashable]) -> Fraction:
        """Return min_b B^b(T)."""
        hit = frozenset(target)
        return min(of_target(self.left, hit), of_target(self.right, hit))

    def shows(
        self, left: FiniteDistribution, right: FiniteDistribution, target: Target, ratio: Fraction, quality: Fraction
    ) -> Verdict:
        """Decide whether this decomposition of (left, right) shows that T is a q-target at e^epsilon = `ratio`.

        Parameters
        ----------
        left, right : FiniteDistribution
            Output distributions of neighbouring inputs.
        target : set of outcomes
            The target T.
        ratio : Fraction
            e^epsilon, above 1.
        quality : Fraction
            The quality q.
        """
        for name, whole, masses in (("left", left, self.side(left=True)), ("right", right, self.side(left=False))):
            for o in dict.fromkeys((*whole.outcomes, *masses)):
                if whole.probability(o) != masses.get(o, Fraction(0)):
                    return _refuted(f"the parts do not add up to the {name} distribution at {o!r}")
        if not indistinguishable(self.left, self.right, ratio):
            return _refuted(f"the residual distributions are not indistinguishable at e^epsilon = {ratio}")
        if self.quality(target) < quality:
            return _refuted(f"the residual distributions hit with probability {self.quality(target)}, below {quality}")
        return Holds(evidence=Evidence.EXACT)


def _refuted(detail: str) -> Verdict:
    return Violated(evidence=Evidence.EXACT, detail=detail)


# --- the exact quality of a pair ----------------------------------------------------------------------------


def common_mass(p: Fraction, q: Fraction, ratio: Fraction) -> Fraction:
    """Return c_max, the most that two epsilon-indistinguishable probabilities may have in common."""
    return (ratio * min(p, q) - max(p, q)) / (ratio - 1)


def target_quality(left: FiniteDistribution, right: FiniteDistribution, target: Target, ratio: Fraction) -> Fraction:
    """Return the largest q for which T is a q-target of the pair at e^epsilon = `ratio`; exact.

    Where the two agree on all outcomes p = 1 is possible, B^b is arbitrary, and the quality is 1.

    Parameters
    ----------
    left, right : FiniteDistribution
        Output distributions of neighbouring inputs.
    target : set of outcomes
        The target T.
    ratio : Fraction
        e^epsilon, above 1.

    Raises
    ------
    UsageError
        If `ratio` is not above 1, the target is empty or holds an outcome that is not listed, or the two are not
        epsilon-indistinguishable.
    """
    _require_target(left, right, target, ratio)
    common = _common(left, right, target, ratio)
    whole = 1 - sum(common.values(), Fraction(0))
    return min(of_target(left, target), of_target(right, target)) / whole if whole else Fraction(1)


def best_mixture(left: FiniteDistribution, right: FiniteDistribution, target: Target, ratio: Fraction) -> Mixture:
    """Return the decomposition that attains `target_quality`; its C is off the target.

    Parameters
    ----------
    left, right : FiniteDistribution
        Output distributions of neighbouring inputs.
    target : set of outcomes
        The target T.
    ratio : Fraction
        e^epsilon, above 1.
    """
    _require_target(left, right, target, ratio)
    common = _common(left, right, target, ratio)
    weight = sum(common.values(), Fraction(0))
    if weight == 1 or left == right:
        anything = FiniteDistribution({min(target, key=repr): Fraction(1)})
        return Mixture(Fraction(1), left, anything, anything)
    rest = (
        normalised({o: side.probability(o) - common.get(o, Fraction(0)) for o in outcomes_of(left, right)})
        for side in (left, right)
    )
    first, second = rest
    return Mixture(weight, normalised(common) if weight else left, first, second)


def _common(left: FiniteDistribution, right: FiniteDistribution, target: Target, ratio: Fraction) -> Masses:
    if left == right:
        return {o: p for o, p in left.weights.items() if p}
    off = (o for o in outcomes_of(left, right) if o not in target)
    return {o: common_mass(left.probability(o), right.probability(o), ratio) for o in off}


def _require_target(left: FiniteDistribution, right: FiniteDistribution, target: Target, ratio: Fraction) -> None:
    if not ratio > 1:
        raise UsageError(f"ratio must be e^epsilon, above 1, got {ratio!r}")
    if not target or not target <= frozenset(outcomes_of(left, right)):
        raise UsageError(f"target must be a non-empty set of the outcomes, got {sorted(map(repr, target))}")
    if not indistinguishable(left, right, ratio):
        raise UsageError(f"left and right must be indistinguishable at e^epsilon = {ratio}")


def enclosed_target_quality(
    left: DiscreteDistribution, right: DiscreteDistribution, target: Target, epsilon: arb
) -> arb:
    """Enclose the quality of a target of a pair whose probabilities, or epsilon, are real numbers.

    The two must be different and epsilon-indistinguishable; that is not checked, since balls cannot decide a tie.

    Parameters
    ----------
    left, right : DiscreteDistribution
        Output distributions of neighbouring inputs.
    target : set of outcomes
        The target T.
    epsilon : ball
        Privacy parameter, nats.
    """
    ratio = epsilon.exp()
    probabilities = {o: (left.log_probability(o).exp(), right.log_probability(o).exp()) for o in left.outcomes}
    off = [pair for o, pair in probabilities.items() if o not in target]
    common = sum_balls((ratio * p.min(q) - p.max(q)) / (ratio - 1) for p, q in off)
    hits = [sum_balls(probabilities[o][side] for o in target) for side in (0, 1)]
    return hits[0].min(hits[1]) / (ball(1) - common)
