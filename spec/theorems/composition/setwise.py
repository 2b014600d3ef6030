"""Set-wise adaptive composition: Cesar and Rogers (2020), Section 3, Lemmas 3.3 and 3.4, eqs (1) to (3).

The registered set {(mu_i, tau_i)} or {(delta_i, xi_i, rho_i)} is (epsilon_g, delta)-DP, whatever the adaptive order
and the mechanisms. Each bound is held against the exact view of finite games, and needs 0 < delta <= 1 (printed for
any delta > 0).
"""

from fractions import Fraction
from itertools import product as cartesian
from typing import Annotated, Any

from flint import arb

from dpassay.spec.ball import Exact, Real, at_most, ball, exact, sum_balls
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick
from dpassay.spec.distributions.generalized_randomized_response import product_delta
from dpassay.spec.domains.base import Choices, Integers, Reals
from dpassay.spec.interactions.setwise import (
    Parameter,
    RegisteredRound,
    SetwiseGame,
    SetwiseGames,
    best_analyst,
    hockey_stick_at,
    setwise_value,
)
from dpassay.spec.interactions.transcripts import Branch, chain, loss_distribution_of_branches, mirrored
from dpassay.spec.notions.concentrated_conversions import mean_loss_of_bounded_range
from dpassay.spec.notions.pure_conversions import zcdp_rho_of_pure
from dpassay.spec.proof.comparisons import agree
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import CESAR_2020
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.composition.concentrated import gaussian_cdp, zcdp_of_cdp_parameters
from dpassay.spec.theorems.composition.second_derivations import Masses, best_plan_delta, many_responses_delta
from dpassay.spec.theorems.target_charging.second_derivations import responses_delta
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["fixed_order", "mixed_epsilon", "setwise_approximate_epsilon", "setwise_epsilon", "setwise_total_delta"]

Game = Annotated[SetwiseGame, SetwiseGames("a set-wise adaptive game without leaks")]
LeakyGame = Annotated[SetwiseGame, SetwiseGames("a set-wise adaptive game with leaks", leaks=True)]
Budget = Annotated[Exact, Reals("e^epsilon", 1, 30, (1, 2, 3, Fraction(3, 2)))]
Delta = Annotated[
    Exact,
    Reals("delta", Fraction(1, 10**9), 1, (1, Fraction(3, 10), Fraction(1, 10), Fraction(1, 100)), logarithmic=True),
]
Count = Annotated[int, Integers("a number of mechanisms", 0, 3)]
RatioOf = Annotated[Exact, Reals("e^epsilon", Fraction(101, 100), 20, (Fraction(3, 2), 2), logarithmic=True)]


def fixed_order(*parameters: Parameter, share: Fraction = Fraction(1, 2)) -> SetwiseGame:
    """Return the game of the analyst that takes the extremal pairs in the given order."""
    offers = [RegisteredRound.of(i, each, each.response(share)) for i, each in enumerate(parameters)]
    return SetwiseGame(parameters, chain(*offers))


PURE, RANGE = Parameter("pure", Fraction(3)), Parameter("range", Fraction(3, 2))
EXAMPLES = tuple(fixed_order(*mix) for mix in ((PURE, RANGE), (RANGE, PURE, PURE), (PURE,), (RANGE, RANGE, RANGE)))


# --- the game -----------------------------------------------------------------------------------------------


@statement(
    CESAR_2020,
    "setwise_adaptive_dp",
    examples=tuple({"game": game, "budget": Fraction(3, 2)} for game in EXAMPLES),
    pins=(
        Pin(
            {"game": EXAMPLES[0], "budget": Fraction(3, 2)},
            "3/8 - 3/20 and 3/8 - 9/40, in both orders",
            both=lambda: [Fraction(3, 8)] * 2,
        ),
    ),
)
def setwise_view_is_at_most_the_optimal_analysts(game: Game, budget: Budget) -> Verdict:
    """In the set-wise game each registered parameter is used at most once, in an order that may depend on all earlier
    outcomes; the exact delta of a view is at most the value of the recursion D(E; r) = max_i E_P[D(E - {i}; r P/Q)]
    over the offers of the analyst, for both values of the hidden bit. An analyst that plays the best offer after every
    view has exactly that value.
    """
    level = exact("budget", budget)
    both = game, SetwiseGame(game.parameters, mirrored(game.analyst))
    return conjunction(verdict for played in both for verdict in _value_of_the_game(played, level))


def _value_of_the_game(played: SetwiseGame, level: Fraction) -> list[Verdict]:
    """Decide that no view exceeds the recursion, and that the views of the best analyst reach it."""
    offers, size = played.offers(), len(played.parameters)
    value = setwise_value(offers, size, level)
    seen = loss_distribution_of_branches(played.views()).hockey_stick(level)
    best = best_analyst(offers, size, level)
    reached = Fraction(0)
    if best is not None:
        reached = loss_distribution_of_branches(SetwiseGame(played.parameters, best).views()).hockey_stick(level)
    stopped = max(Fraction(0), 1 - level)
    return [
        at_most_exact(seen, value, "delta of the view"),
        equal_exact(max(reached, stopped), value, "delta of the best analyst's view"),
    ]


TELLS_NOTHING: Masses = ((Fraction(1), Fraction(1)),)


@statement(
    CESAR_2020,
    "setwise_adaptive_dp",
    examples=tuple({"game": game, "budget": Fraction(3, 2)} for game in EXAMPLES),
    cases=20,
)
def setwise_value_is_best_of_all_plans(game: Game, budget: Budget) -> Verdict:
    """For two of the registered parameters the value of the recursion is the largest hockey-stick divergence of all
    plans: either parameter first, each of its offers, and after each outcome an offer under the other one or none,
    tried one by one.
    """
    level = exact("budget", budget)
    offers = [offer for offer in game.offers() if offer.index < 2]
    under = [[TELLS_NOTHING, *(_masses(offer) for offer in offers if offer.index == index)] for index in (0, 1)]
    best = max(best_plan_delta(first, second, level) for first, second in (under, under[::-1]))
    return equal_exact(best, setwise_value(offers, 2, level), "best of all plans")


def _masses(offer: Any) -> Masses:
    return tuple((offer.left.probability(o), offer.right.probability(o)) for o in offer.outcomes)


# --- eq (1) -------------------------------------------------------------------------------------------------


def centred_loss(branch: Branch) -> arb:
    """Enclose sum_i (L_i - E[L_i | past]) along a view without leaks."""
    return sum_balls(
        ball(Fraction(offer.likelihood_ratio(o))).log() - _mean_loss(offer)
        for offer, o in zip(branch.rounds, branch.transcript, strict=True)
    )


def _mean_loss(offer: Any) -> arb:
    return sum_balls(ball(p) * loss for p, loss in _weighted_losses(offer))


def _variance(offer: Any) -> arb:
    mean = _mean_loss(offer)
    return sum_balls(ball(p) * (loss - mean) * (loss - mean) for p, loss in _weighted_losses(offer))


def _weighted_losses(offer: Any) -> list[tuple[Fraction, arb]]:
    likely = ((offer.left.probability(o), o) for o in offer.outcomes)
    return [(p, ball(offer.likelihood_ratio(o)).log()) for p, o in likely if p]


@statement(CESAR_2020, "centered_privacy_loss", examples=tuple({"game": game} for game in EXAMPLES[:2]), cases=25)
def centred_losses_are_martingale_differences(game: Game) -> Verdict:
    """X_i = L_i - E[L_i | past] has conditional mean 0: the increments are uncorrelated, so that the second moment of
    their sum is the mean of the sum of the conditional variances (an agreement to 60 bits).
    """
    views = [branch for branch in game.views() if branch.left]
    second: Real = lambda: sum_balls(ball(b.left) * centred_loss(b) * centred_loss(b) for b in views)
    variances: Real = lambda: sum_balls(
        ball(b.left) * sum_balls(_variance(offer) for offer in b.rounds) for b in views
    )
    return agree(second, variances, "second moment of the sum and sum of conditional variances")


# --- Lemma 3.3, eq (2) --------------------------------------------------------------------------------------


def setwise_epsilon(means: list[arb], scales: list[arb], delta: Fraction) -> arb:
    """Enclose sum mu_i + sqrt(2 sum tau_i^2 log(1/delta))."""
    square = sum_balls(tau**2 for tau in scales)
    return sum_balls(means) + (-2 * square * ball(delta).log()).sqrt()


@statement(
    CESAR_2020,
    "setwise_cdp_bound",
    "setwise_adaptive_dp",
    examples=tuple({"game": g, "delta": d} for g in EXAMPLES for d in (Fraction(1, 10), Fraction(9, 10), 1)),
    pins=(
        Pin(
            {"game": EXAMPLES[2], "delta": Fraction(9, 10)},
            "one response at epsilon/2 + epsilon sqrt(2 log(10/9))",
            smaller=lambda: (
                [
                    responses_delta(
                        1,
                        Fraction(3),
                        ball(3).log() * (ball(Fraction(1, 2)) + (2 * ball(Fraction(10, 9)).log()).sqrt()),
                    )
                ]
                * 2
            ),
            larger=lambda: [Fraction(9, 10)] * 2,
        ),
    ),
)
def approximate_dp_of_setwise_cdp(game: Game, delta: Delta) -> Verdict:
    """A set {(mu_i, tau_i)} of CDP parameters is (sum mu_i + sqrt(2 sum tau_i^2 log(1/delta)), delta)-DP under
    set-wise adaptive composition, 0 < delta <= 1.
    """
    tail = exact("delta", delta)

    def epsilon() -> arb:
        means, scales = zip(*(parameter.cdp() for parameter in game.parameters), strict=True)
        return setwise_epsilon(list(means), list(scales), tail)

    return _both_orders_keep(game, epsilon, tail)


def _both_orders_keep(game: SetwiseGame, epsilon: Real, delta: Fraction) -> Verdict:
    distributions = [game.losses(), SetwiseGame(game.parameters, mirrored(game.analyst)).losses()]
    return conjunction(
        at_most(lambda distribution=distribution: hockey_stick_at(distribution, epsilon()), lambda: ball(delta))  # type: ignore[misc]
        for distribution in distributions
    )


# --- eq (3) -------------------------------------------------------------------------------------------------


def mixed_epsilon(
    pure: tuple[int, arb, arb], ranged: tuple[int, arb, arb], gaussian: tuple[int, arb, arb], delta: Fraction
) -> arb:
    """Enclose eq (3) for (count, mean, scale) of the three classes.

    The scales are epsilon, alpha/2 and tau; the class constants come from Lemma 3.2 (the text says Lemma 3.1).

    Parameters
    ----------
    pure, ranged, gaussian : (int, arb, arb)
        Count, mean and scale of each class.
    delta : Fraction
        In (0, 1).
    """
    classes = (pure, ranged, gaussian)
    mean = sum_balls(count * mu for count, mu, _ in classes)
    return mean + (-2 * sum_balls(count * tau**2 for count, _, tau in classes) * ball(delta).log()).sqrt()


@statement(
    CESAR_2020,
    "setwise_mixed_bound",
    examples=tuple(
        {"pure": p, "ranged": r, "gaussian": g, "pure_ratio": 3, "range_ratio": 2, "sigma": 1, "share": Fraction(1, 2),
         "delta": Fraction(d)}
        for (p, r, g), d in cartesian(((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)), (Fraction(9, 10), Fraction(1, 10)))
    ), pins=(Pin(
            {"pure": 2, "ranged": 0, "gaussian": 0, "pure_ratio": 3, "range_ratio": 2, "sigma": 1,
             "share": Fraction(1, 2), "delta": Fraction(9, 10)},
            "two responses at epsilon + 2 epsilon sqrt(log(10/9)), tanh(epsilon/2) = 1/2",
            smaller=lambda: responses_delta(
                2, Fraction(3), ball(3).log() * (1 + 2 * ball(Fraction(10, 9)).log().sqrt())
            ),
            larger=lambda: Fraction(9, 10),
        ),),
)  # fmt: skip
def approximate_dp_of_mixed_classes(
    pure: Count,
    ranged: Count,
    gaussian: Count,
    pure_ratio: RatioOf,
    range_ratio: RatioOf,
    sigma: Annotated[Exact, Reals("a noise multiplier", Fraction(1, 2), 50, (1,), logarithmic=True)],
    share: Annotated[Exact, Reals("where e^t lies", Fraction(1, 100), Fraction(99, 100), (Fraction(1, 2),))],
    delta: Delta,
) -> Verdict:
    """m_DP epsilon-DP, m_BR alpha-bounded-range and m_CDP (mu, tau)-CDP mechanisms, in any adaptive order, are
    (epsilon_g, delta)-DP with epsilon_g = m_DP epsilon tanh(epsilon/2) + m_BR kappa(alpha) + m_CDP mu
    + sqrt(2 (m_DP epsilon^2 + m_BR alpha^2/4 + m_CDP tau^2) log(1/delta)).

    Tried on products of responses and Gaussians, whose exact delta is a mean of Gaussian ones.
    """
    tail, noise = exact("delta", delta), exact("sigma", sigma)
    one = Parameter("pure", exact("pure_ratio", pure_ratio))
    other = Parameter("range", exact("range_ratio", range_ratio))
    if pure + ranged + gaussian == 0:
        return at_most(lambda: arb(0), lambda: ball(tail))
    parameters = (*[one] * pure, *[other] * ranged)
    masses = fixed_order(*parameters, share=exact("share", share)).losses().masses if parameters else {Fraction(1): 1}

    def true_delta() -> arb:
        epsilon = mixed_epsilon((pure, *one.cdp()), (ranged, *other.cdp()), (gaussian, *_gaussian(noise)), tail)
        shift = arb(gaussian).sqrt() / ball(noise)
        terms = ((ball(Fraction(m)), epsilon - ball(Fraction(r)).log()) for r, m in masses.items())
        return sum_balls(m * gaussian_hockey_stick(shift, level) for m, level in terms)

    return at_most(true_delta, lambda: ball(tail))


def _gaussian(sigma: Fraction) -> tuple[arb, arb]:
    mu, tau = gaussian_cdp(sigma)
    return ball(mu), ball(tau)


def _three_leaks() -> Fraction:
    """Return 1 - (9/10)^3 (1 - 10^-6)."""
    return 1 - Fraction(729, 1000) * (1 - Fraction(1, 10**6))


# --- all three, for many mechanisms -------------------------------------------------------------------------

Many = tuple[int, int, Fraction, Fraction]
"""Numbers of pure and of bounded-range mechanisms, their epsilon, and delta."""

MANY: tuple[Many, ...] = tuple(
    (pure, ranged, Fraction(epsilon), Fraction(delta))
    for (pure, ranged, epsilon), delta in cartesian(
        ((200, 0, "1/5"), (0, 200, "3/2"), (40, 60, "2/5"), (40, 0, "1")), ("1/2", "1/1000", "1/1000000000")
    )
)


@statement(
    CESAR_2020,
    "setwise_cdp_bound",
    "setwise_mixed_bound",
    "setwise_approx_zcdp_bound",
    examples=tuple({"case": case} for case in MANY),
    cases=1,
    pins=(
        Pin(
            {"case": MANY[0]},
            "tails of 200 responses by the incomplete beta function",
            smaller=lambda: [many_responses_delta()] * 3,
            larger=lambda: [Fraction(1, 2)] * 3,
        ),
    ),
)
def setwise_bounds_hold_for_many_mechanisms(case: Annotated[Many, Choices("many mechanisms", MANY)]) -> Verdict:
    """Lemma 3.3, eq (3) and Lemma 3.4 hold for many responses with the largest mean losses of their classes, whose
    total loss is nearly normal with the mean, and for bounded range with the variance, of the bounds: there nothing
    can be left out of them. For three mechanisms, which every analyst can be tried on, they are loose.
    """
    pure, ranged, epsilon, tail = case

    def of_pure() -> tuple[arb, arb]:
        return zcdp_rho_of_pure(ball(epsilon)), ball(epsilon)

    def of_range() -> tuple[arb, arb]:
        return mean_loss_of_bounded_range(ball(epsilon)), ball(epsilon) / 2

    def moments() -> list[tuple[arb, arb]]:
        return [*[of_pure()] * pure, *[of_range()] * ranged]

    def lemma_3_3() -> arb:
        means, scales = zip(*moments(), strict=True)
        return setwise_epsilon(list(means), list(scales), tail)

    def equation_3() -> arb:
        return mixed_epsilon((pure, *of_pure()), (ranged, *of_range()), (0, arb(0), arb(0)), tail)

    def lemma_3_4() -> arb:
        return setwise_approximate_epsilon([zcdp_of_cdp_parameters(*each) for each in moments()], tail)

    def true_delta(bound: Real) -> arb:
        ratio = ball(epsilon).exp()
        top = (ratio - 1) / ball(epsilon)  # e^t of the response whose mean loss is kappa
        return arb(product_delta(ranged, pure, ratio, top, bound().exp()))

    bounded = [
        at_most(lambda bound=bound: true_delta(bound), lambda: ball(tail))  # type: ignore[misc]
        for bound in (lemma_3_3, equation_3, lemma_3_4)
    ]
    return conjunction([*bounded, agree(lemma_3_3, equation_3, "Lemma 3.3 and eq (3)")])


# --- Lemma 3.4 ----------------------------------------------------------------------------------------------


def setwise_approximate_epsilon(curves: list[tuple[arb, arb]], delta: Fraction) -> arb:
    """Enclose sum (xi_i + rho_i) + 2 sqrt(sum rho_i log(1/delta)) for pairs (xi_i, rho_i)."""
    rho = sum_balls(each for _, each in curves)
    return sum_balls(xi for xi, _ in curves) + rho + 2 * (-rho * ball(delta).log()).sqrt()


def setwise_total_delta(deltas: list[Fraction], delta: Fraction) -> Fraction:
    """Return delta + (1 - delta) (1 - prod (1 - delta_i)), at most the printed delta + sum delta_i."""
    kept = Fraction(1)
    for each in deltas:
        kept *= 1 - each
    return delta + (1 - delta) * (1 - kept)


def _two_leaks(chance: Fraction) -> list[Branch]:
    leak = RegisteredRound.of(0, Parameter("pure", Fraction(2), chance), (FiniteDistribution.of(1),) * 2)
    again = RegisteredRound(leak.left, leak.right, leak.ratio_max, index=1)
    return list(SetwiseGame((PURE, PURE), chain(leak, again)).views())


def _given_a_union(chance: Fraction, delta: Fraction) -> Verdict:
    """Decide the displayed step, Pr[V in S | events] <= Pr[V' in S | events] + delta, for S = "a leak was seen"."""
    kept = [b for b in _two_leaks(chance) if set(b.transcript) != {"left"}]  # some round's event happened
    total = sum((b.left for b in kept), Fraction(0))
    seen = sum((b.left for b in kept if "left" in b.transcript), Fraction(0))
    return at_most_exact(seen / total, delta, "Pr[leak | union of the events]")


def _given_the_intersection(chance: Fraction, delta: Fraction) -> Verdict:
    kept = [b for b in _two_leaks(chance) if "left" not in b.transcript]
    seen = sum((b.left for b in kept if "left" in b.transcript), Fraction(0))
    return at_most_exact(seen, delta, "Pr[leak | intersection of the events]")


UNION_FOR_INTERSECTION = Erratum(
    kind="proof",
    severity=Severity.MINOR,
    location="Section 3, proof of Lemma 3.4, from the display with V^(b) on",
    printed_text="the proof conditions on the union of the events E_i throughout; given that at least one "
    "of two mechanisms did not reveal the bit, the other one reveals it with probability 0.18; it must be the "
    "intersection",
    answer="The intersection is meant; its probability is at least 1 minus the sum of the deltas.",
    witness={"chance": Fraction(1, 10), "delta": Fraction(1, 10)},
    printed=_given_a_union,
    corrected=_given_the_intersection,
    figures=Figures(published=("0.1818 > 0.1000",), corrected=("0 <= 0.1000",)),
)


def _released_bit(chance: Fraction, *, shrunk: bool) -> FiniteDistribution:
    """Return the distribution of a fair bit released first, given that the second round does not leak.

    The second round leaks with probability `chance`, and only if the bit is 0; `shrunk` lets an independent coin leak
    as often in the other case, so that the event has the same probability after every history.
    """
    kept = {0: (1 - chance) / 2, 1: (1 - chance if shrunk else Fraction(1)) / 2}
    total = kept[0] + kept[1]
    return FiniteDistribution({bit: mass / total for bit, mass in kept.items()})


def _product_of_conditional_distributions(chance: Fraction) -> Verdict:
    return equal_exact(
        _released_bit(chance, shrunk=False), FiniteDistribution.of(1, 1), "distribution of the first round"
    )


def _shrunk_events_are_independent(chance: Fraction) -> Verdict:
    return equal_exact(
        _released_bit(chance, shrunk=True), FiniteDistribution.of(1, 1), "distribution of the first round"
    )


EVENTS_DEPEND_ON_HISTORY = Erratum(
    kind="proof",
    severity=Severity.MINOR,
    location="Section 3, proof of Lemma 3.4, where the round losses are summed",
    printed_text="given all events the view is taken to have the product of the conditional distributions; that "
    "needs events whose probability does not depend on the history, which shrinking them by a private coin to 1 "
    "- delta_i provides",
    answer="Without loss of generality the events have probability 1 - delta_i given every history.",
    witness={"chance": Fraction(3, 10)},
    printed=_product_of_conditional_distributions,
    corrected=_shrunk_events_are_independent,
)


@statement(
    CESAR_2020,
    "setwise_approx_zcdp_bound",
    "trunc_gauss_repeated",
    errata=(UNION_FOR_INTERSECTION, EVENTS_DEPEND_ON_HISTORY),
    examples=(
        {
            "game": fixed_order(*[Parameter("pure", Fraction(101, 100), Fraction(1, 10))] * 3),
            "delta": Fraction(1, 10**6),
        },
        {"game": fixed_order(Parameter("range", Fraction(2), Fraction(1, 100)), PURE), "delta": Fraction(1, 10)},
    ),
    pins=(
        Pin(
            {
                "game": fixed_order(*[Parameter("pure", Fraction(101, 100), Fraction(1, 10))] * 3),
                "delta": Fraction(1, 10**6),
            },
            "three leaks of 1/10",
            smaller=lambda: [Fraction(271, 1000)] * 2 + [_three_leaks()],
            larger=lambda: [_three_leaks()] * 2 + [Fraction(300001, 10**6)],
        ),
    ),
)
def approximate_dp_of_setwise_approximate_zcdp(game: LeakyGame, delta: Delta) -> Verdict:
    """A set {(delta_i, xi_i, rho_i)} of delta_i-approximate (xi_i, rho_i)-zCDP parameters is (epsilon_g, delta_g)-DP
    under set-wise adaptive composition, epsilon_g = sum (xi_i + rho_i) + 2 sqrt(sum rho_i log(1/delta)), with
    delta_g = delta + (1 - delta) (1 - prod (1 - delta_i)) <= delta + sum delta_i. With xi = mu - tau^2/2 and
    rho = tau^2/2 it is eq (2).
    """
    tail = exact("delta", delta)
    deltas = [parameter.delta for parameter in game.parameters]
    epsilon = lambda: setwise_approximate_epsilon([parameter.zcdp() for parameter in game.parameters], tail)
    total = setwise_total_delta(deltas, tail)
    return conjunction([
        _both_orders_keep(game, epsilon, total),
        at_most_exact(total, tail + sum(deltas, Fraction(0)), "sharper delta"),
    ])  # fmt: skip
