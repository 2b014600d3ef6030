"""Between (epsilon, delta)-DP and approximate concentrated privacy, and composition of the latter.

Chapter after Rogers, Samorodnitsky, Wu and Ramdas (2023), Lemmas 2.3 and 2.4. Approximate zCDP is used with its
decomposition written out: P = (1 - delta) P' + delta P'', Q = (1 - delta) Q' + delta Q'', one delta for both sides.
"""

from fractions import Fraction

from flint import arb

from dpassay.spec.ball import at_most, ball, exact, float_lower, precision
from dpassay.spec.distributions.discrete import FiniteDistribution, least_delta
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.pairs import PairAtRatio
from dpassay.spec.interactions.adaptive_rounds import (
    ConcentratedRound,
    concentrated_leak,
    concentrated_response,
    levels_of,
)
from dpassay.spec.interactions.budget_rules import concentrated_epsilon
from dpassay.spec.interactions.transcripts import Interaction, Round, chain
from dpassay.spec.notions.conversion_domains import Pair, Shift
from dpassay.spec.notions.zcdp import affine_renyi_holds
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.accuracy_first.parameters import Concentrated, ConversionDelta, DeltaBudget
from dpassay.spec.theorems.accuracy_first.second_derivations import converted_delta, core_loss_bounds, core_losses
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated, conjunction

__all__ = ["composed_rho", "core_interaction", "half_square_below", "pure_core"]

Measure = dict[object, Fraction]

# --- Lemma 2.3 (i) ------------------------------------------------------------------------------------------


def pure_core(pair: PairAtRatio) -> tuple[Fraction, Measure, Measure]:
    """Split an (epsilon, delta)-DP pair: return 1 - delta and measures p' <= P, q' <= Q of that mass.

    They satisfy p' <= e^epsilon q' and q' <= e^epsilon p'. The minima min(P, e^epsilon Q) and min(Q, e^epsilon P) do,
    with masses that differ if the two orders have different deltas; the heavier one is then moved towards the
    other divided by e^epsilon, which keeps both inequalities.
    """
    ratio, left, right = pair.ratio, pair.left, pair.right
    p = {o: min(left.probability(o), ratio * right.probability(o)) for o in left.outcomes}
    q = {o: min(right.probability(o), ratio * left.probability(o)) for o in left.outcomes}
    mass = min(_mass(p), _mass(q))
    return mass, _lightened(p, q, ratio, mass), _lightened(q, p, ratio, mass)


def _mass(measure: Measure) -> Fraction:
    return sum(measure.values(), Fraction(0))


def _lightened(heavy: Measure, other: Measure, ratio: Fraction, mass: Fraction) -> Measure:
    most, least = _mass(heavy), _mass(other) / ratio
    if most == mass:
        return heavy
    share = (mass - least) / (most - least)
    return {o: share * heavy[o] + (1 - share) * other[o] / ratio for o in heavy}


@statement(
    ROGERS_2023,
    "dp_zcdp_conversions",
    examples=(
        {"pair": PairAtRatio(FiniteDistribution.of(6, 1, 3), FiniteDistribution.of(1, 1, 8), Fraction(2))},
        {"pair": PairAtRatio(FiniteDistribution.of(1, 0), FiniteDistribution.of(0, 1), Fraction(2))},
    ),
    pins=(
        Pin(
            {"pair": PairAtRatio(FiniteDistribution.of(6, 1, 3), FiniteDistribution.of(1, 1, 8), Fraction(2))},
            "the core 2, 1, 3 and 1, 0.8, 4.2 of 10, two ninths of the way to half the other; its losses in full",
            smaller=lambda: [
                *(Fraction(n, 100) for n in (20, 10, 20, 10, 10, 8, 10, 8, 30, 42, 30, 42)),
                *core_losses(),
            ],
            larger=lambda: [
                *(Fraction(n, 100) for n in (60, 10, 20, 40, 10, 10, 16, 20, 30, 80, 84, 60)),
                *core_loss_bounds(),
            ],
        ),
    ),
)
def approximate_zcdp_of_approximate_dp(pair: Pair) -> Verdict:
    """(epsilon, delta)-DP implies delta-approximate (epsilon^2/2)-zCDP: P and Q contain (1 - delta) P' and
    (1 - delta) Q', where P' and Q' are epsilon-DP, and their divergences of order lambda are at most
    lambda epsilon^2/2, in both orders of the pair and for all lambda > 1 (a walk over the orders).
    """
    delta = least_delta(pair.left, pair.right, pair.ratio)
    mass, p, q = pure_core(pair)
    weights = equal_exact((mass, _mass(p), _mass(q)), (1 - delta,) * 3, "weights of the core")
    if isinstance(weights, Violated):
        return weights
    verdicts = [weights]
    for o in pair.left.outcomes:
        verdicts += [
            at_most_exact(p[o], pair.left.probability(o), "part of P"),
            at_most_exact(q[o], pair.right.probability(o), "part of Q"),
            at_most_exact(p[o], pair.ratio * q[o], "P' against e^epsilon Q'"),
            at_most_exact(q[o], pair.ratio * p[o], "Q' against e^epsilon P'"),
        ]
    core = [FiniteDistribution({o: w / mass for o, w in part.items()}) for part in (p, q)] if mass else []
    rho = half_square_below(pair.ratio)
    verdicts += [affine_renyi_holds(rho, Fraction(0), *both) for both in _both(core)]
    return conjunction(verdict.without_tightness() for verdict in verdicts)


def _both(core: list[FiniteDistribution]) -> list[tuple[FiniteDistribution, FiniteDistribution]]:
    return [(core[0], core[1]), (core[1], core[0])] if core else []


def half_square_below(ratio: Fraction) -> Fraction:
    """Return a rational just below epsilon^2/2, epsilon = log ratio: a guarantee at it holds at epsilon^2/2."""
    with precision(96):
        return Fraction(float_lower(ball(ratio).log() ** 2 / 2))


# --- Lemma 2.3 (ii) -----------------------------------------------------------------------------------------


def _gaussian_that_fails(shift: Fraction, delta: Fraction, slack_delta: Fraction, promised: Fraction) -> Verdict:
    """Decide the delta of a Gaussian pair that fails altogether with probability delta."""

    def truth() -> arb:
        epsilon = concentrated_epsilon(ball(shift**2 / 2), ball(slack_delta))
        return ball(delta) + (1 - ball(delta)) * gaussian_hockey_stick(shift, epsilon)

    return at_most(truth, lambda: ball(promised))


def _sum_is_weaker(shift: Fraction, delta: Fraction, slack_delta: Fraction) -> Verdict:
    printed, sharper = delta + slack_delta, delta + (1 - delta) * slack_delta
    return conjunction([
        _gaussian_that_fails(shift, delta, slack_delta, printed),
        at_most_exact(sharper, printed * Fraction(99, 100), "the sharper delta").without_tightness(),
    ])  # fmt: skip


DELTAS_ADDED = Erratum(
    kind="loose",
    severity=Severity.SHARPENING,
    location="Section 2.1, Lemma 2.3, second sentence",
    printed_text="Lem 2.3 has delta + delta''; delta + (1 - delta) delta'' suffices, since only the core "
    "needs the slack",
    answer="The lemma is right as cited.",
    witness={"shift": Fraction(1), "delta": Fraction(1, 2), "slack_delta": Fraction(1, 4)},
    printed=_sum_is_weaker,
    corrected=lambda shift, delta, slack_delta: _gaussian_that_fails(
        shift, delta, slack_delta, delta + (1 - delta) * slack_delta
    ),
    figures=Figures(
        published=("0.5072 <= 0.7500", "0.6250 <= 0.7425"),
        corrected=("0.5072 <= 0.6250",),
    ),
)


@statement(
    ROGERS_2023,
    "dp_zcdp_conversions",
    errata=(DELTAS_ADDED,),
    examples=(
        {"shift": Fraction(1645, 1000), "delta": Fraction(0), "slack_delta": Fraction(1, 10**6)},
        {"shift": Fraction(4), "delta": Fraction(0), "slack_delta": Fraction(1, 10**300)},
    ),
    pins=(
        Pin(
            {"shift": Fraction(3, 2), "delta": Fraction(1, 10), "slack_delta": Fraction(1, 100)},
            "adaptive integration at a completed square; 1/10 + 9/1000",
            smaller=lambda: (
                ball(Fraction(1, 10)) + ball(Fraction(9, 10)) * converted_delta(Fraction(9, 8), Fraction(1, 100))
            ),
            larger=lambda: Fraction(109, 1000),
        ),
    ),
)
def approximate_dp_of_approximate_zcdp(shift: Shift, delta: DeltaBudget, slack_delta: ConversionDelta) -> Verdict:
    """delta-approximate rho-zCDP implies (rho + 2 sqrt(rho log(1/delta'')), delta + (1 - delta) delta'')-DP for every
    delta'' in (0, 1]; printed is delta + delta''. Tried on a Gaussian pair that fails altogether with probability
    delta, whose exact delta is delta + (1 - delta) times that of the Gaussian pair.
    """
    m, fails, slack = exact("shift", shift), exact("delta", delta), exact("slack_delta", slack_delta)

    if fails == 1:
        return Holds(evidence=Evidence.EXACT, detail="both are 1")
    return _gaussian_that_fails(m, fails, slack, fails + (1 - fails) * slack)


# --- Lemma 2.4 ----------------------------------------------------------------------------------------------


def core_interaction(interaction: Interaction) -> Interaction:
    """Replace every mechanism by its core (P', Q'), with the same continuations."""
    offer = interaction.offer
    core = offer.core if isinstance(offer, ConcentratedRound) and offer.core is not None else offer
    return Interaction(core, {outcome: core_interaction(child) for outcome, child in interaction.after.items()})


def composed_rho(interaction: Interaction) -> tuple[Fraction, Fraction]:
    """Return (sum of rho_n, sum of delta_n), each the largest of the offers in round n."""
    levels = [[o for o in offers if isinstance(o, ConcentratedRound)] for offers in levels_of(interaction)]
    rho = sum((max(o.rho for o in offers) for offers in levels), Fraction(0))
    return rho, sum((max(o.delta for o in offers) for offers in levels), Fraction(0))


def _transcripts(interaction: Interaction) -> tuple[FiniteDistribution, FiniteDistribution]:
    """Return the distributions of the pair (M1(x), M2(x, M1(x)), ...); an ended interaction releases nothing more."""
    left: dict[object, Fraction] = {}
    right: dict[object, Fraction] = {}
    stack: list[tuple[tuple[object, ...], Interaction | None, Fraction, Fraction]] = [
        ((), interaction, Fraction(1), Fraction(1))
    ]
    while stack:
        seen, node, p, q = stack.pop()
        if node is None:
            left[seen], right[seen] = p, q
            continue
        offer: Round = node.offer
        for o in offer.outcomes:
            after = p * offer.left.probability(o), q * offer.right.probability(o)
            stack.append(((*seen, o), node.after.get(o), *after))
    return FiniteDistribution(left), FiniteDistribution(right)


@statement(
    ROGERS_2023,
    "zcdp_composition",
    cases=30,
    examples=({"interaction": chain(*[concentrated_response(Fraction(3))] * 2)},),
    pins=(
        Pin(
            {"interaction": chain(concentrated_response(Fraction(2)), concentrated_response(Fraction(3)))},
            "attained by the relative entropy",
            within=Fraction(1, 1000),
            count=12,
        ),
        Pin(
            {"interaction": chain(concentrated_leak(Fraction(1, 10)))},
            "9/10 of the silent core, which loses nothing",
            both=lambda: [Fraction(9, 10), Fraction(9, 10), 0, 0],
        ),
    ),
)
def parameters_of_approximate_zcdp_add(interaction: Concentrated) -> Verdict:
    """If M1 is delta1-approximate rho1-zCDP and M2 is delta2-approximate rho2-zCDP given each answer of M1, their
    pair of answers is (delta1 + delta2)-approximate (rho1 + rho2)-zCDP (the printed codomain forgets the first): the
    cores compose to a core of weight at least 1 - delta1 - delta2 with divergences at most lambda (rho1 + rho2), for
    all lambda > 1 (a walk over the orders).
    """
    rho, delta = composed_rho(interaction)
    whole, core = _transcripts(interaction), _transcripts(core_interaction(interaction))
    verdicts = [_core_fits(whole[side], core[side], 1 - delta) for side in (0, 1)]
    verdicts += [affine_renyi_holds(rho, Fraction(0), left, right) for left, right in (core, core[::-1])]
    return conjunction(verdicts)


def _core_fits(whole: FiniteDistribution, core: FiniteDistribution, weight: Fraction) -> Verdict:
    """Decide whether weight * core <= whole everywhere, so that the rest over 1 - weight is a distribution."""
    return conjunction(
        at_most_exact(weight * p, whole.probability(o), f"core at {o}").without_tightness()
        for o, p in core.weights.items()
    )
