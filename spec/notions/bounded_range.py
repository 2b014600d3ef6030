"""Bounded range: the privacy losses of any two outcomes differ by at most epsilon.

P(y) R(y') <= e^epsilon P(y') R(y) for all outcomes y, y' that either side can produce, with both sides able to
produce the same outcomes: an outcome of one side alone has an infinite loss, which no range contains. The paper
(Cesar and Rogers 2020, Def 2.2) divides by densities and is silent about zeros; RR_{epsilon,0}, where one answer has
probability 0 under both inputs, shows that such outcomes have to be left out.
"""

from fractions import Fraction

from flint import arb

from dpassay.claims import BoundedRange
from dpassay.spec.ball import at_most, ball
from dpassay.spec.distributions.discrete import DiscreteDistribution, FiniteDistribution, max_divergence
from dpassay.spec.distributions.noise_pairs import loss_range_of_noise
from dpassay.spec.notions.base import Notion, grown, register, tightness
from dpassay.spec.proof.comparisons import above_exponential
from dpassay.spec.proof.recording import note
from dpassay.spec.rational import Ratio
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated

__all__ = ["BOUNDED_RANGE", "bounded_range_holds", "loss_span", "range_ratio", "ratios"]


def ratios(left: FiniteDistribution, right: FiniteDistribution) -> dict[object, Ratio]:
    """Return P(o) / R(o) of every outcome of either side; infinite or 0 if only one side has it."""
    outcomes = dict.fromkeys((*left.outcomes, *right.outcomes))
    found: dict[object, Ratio] = {}
    for outcome in outcomes:
        p, r = left.probability(outcome), right.probability(outcome)
        if p or r:
            found[outcome] = p / r if r else float("inf")
    return found


def range_ratio(left: FiniteDistribution, right: FiniteDistribution) -> Ratio:
    """Return e^(largest loss - smallest loss) of a pair of rational distributions."""
    values = ratios(left, right).values()
    largest, smallest = max(values), min(values)
    if isinstance(largest, Fraction) and isinstance(smallest, Fraction) and smallest:
        return largest / smallest
    return float("inf")


def bounded_range_holds(claim: BoundedRange, left: DiscreteDistribution, right: DiscreteDistribution) -> Verdict:
    """Decide whether the losses span at most epsilon; the same for either order of the inputs."""
    if isinstance(left, FiniteDistribution) and isinstance(right, FiniteDistribution):
        return _on_rationals(Fraction(claim.epsilon), left, right)
    return at_most(lambda: loss_span(left, right), lambda: ball(claim.epsilon))


def loss_span(left: DiscreteDistribution, right: DiscreteDistribution) -> arb:
    """Enclose the largest privacy loss minus the smallest; infinite if an outcome is possible on one side only."""
    return max_divergence(left, right) + max_divergence(right, left)


def _on_rationals(epsilon: Fraction, left: FiniteDistribution, right: FiniteDistribution) -> Verdict:
    span = range_ratio(left, right)
    if not isinstance(span, Fraction):
        return Violated(evidence=Evidence.EXACT, detail="some outcome is possible on one side only")
    note(lambda: _log(span), lambda: ball(epsilon))
    if above_exponential(span, Fraction(1), epsilon):
        return Violated(evidence=Evidence.EXACT, detail=f"the ratios of two outcomes differ by the factor {span}")
    return Holds(evidence=Evidence.EXACT, tightness=tightness(ball(epsilon), _log(span)))


def _log(ratio: Fraction) -> arb:
    return ball(ratio).log() if ratio != 1 else arb(0)


BOUNDED_RANGE = register(
    Notion(
        name="bounded range",
        claim_type=BoundedRange,
        definition="The privacy losses of any two outcomes differ by at most epsilon.",
        items=(("cesar2020", "bounded_range"),),
        decide=bounded_range_holds,
        divergence=lambda _, left, right: loss_span(left, right),
        of_noise=lambda _, moved: loss_range_of_noise(moved),
        bound=lambda claim: ball(claim.epsilon),
        enlarged=lambda claim: BoundedRange(grown(claim.epsilon)),
    )
)
