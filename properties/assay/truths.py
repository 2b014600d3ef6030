"""Certified truths for the questions that accountants answer.

A truth encloses what a tight answer would be: `lower` and `upper` are float64 numbers rounded outward. An upper bound
on a privacy parameter is unsound below `lower`; a calibrator that wants a large parameter is unsound above `upper`.
None stands for what is not known. Every bound comes from an enclosure or from an event that anybody can evaluate.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from dpassay.claims import UsageError
from dpassay.spec.ball import Real, UndecidedError, ball, enclosure, exact, float_lower, float_upper, precision
from dpassay.spec.distributions.composed_responses import (
    composed_approximate_delta,
    composed_response_delta,
    heterogeneous_delta,
    response_renyi_divergence,
)
from dpassay.spec.distributions.composed_scores import ScoreLaws, composed_scores, pooled_scores
from dpassay.spec.distributions.discrete_gaussian import (
    LARGEST_SIGMA,
    DiscreteGaussian,
    discrete_gaussian_cells,
    discrete_gaussian_hockey_stick,
)
from dpassay.spec.distributions.gaussian import gaussian_hockey_stick, gaussian_renyi_divergence
from dpassay.spec.distributions.laplace_pair import (
    laplace_cells,
    laplace_hockey_stick,
    laplace_renyi_divergence,
)
from dpassay.spec.distributions.subsampled_gaussian import (
    subsampled_gaussian_cells,
    subsampled_gaussian_hockey_stick,
    subsampled_gaussian_renyi_divergence,
)
from dpassay.spec.notions.conversions import zcdp_rho_of_pure

__all__ = ["Truth", "least_argument", "truth_of"]

WORKING_BITS = 192
LARGEST = 1e6
"""Parameters are looked for up to here."""

MOST_RESPONSES = 20_000
"""Binomial tails are summed term by term up to so many."""

LARGEST_FRACTIONAL_ORDER = 64
"""From here on the bound for a fractional order is that of the integer below."""

_STEPS, _COARSE_STEPS = 64, 20


@dataclass(frozen=True)
class Truth:
    """An enclosure of a tight answer; None where a side is not known."""

    lower: float | None
    upper: float | None = None

    @classmethod
    def of(cls, value: Real) -> "Truth":
        """Enclose a number, at growing precision; unknown where it cannot be enclosed."""
        with precision(WORKING_BITS):
            first = value()
        if first == 0:
            return cls(0.0, 0.0)
        try:
            ball_of = enclosure(value, relative_bits=60)
        except UndecidedError:
            ball_of = first
        lower, upper = float_lower(ball_of), float_upper(ball_of)
        return cls(None if lower == -math.inf else max(lower, 0.0), None if upper == math.inf else upper)


_ALL = Truth(1.0, 1.0)

Curve = Callable[[float], Truth]
"""Encloses delta at an epsilon."""

Truths = dict[str, Callable[..., Truth]]

_TRUTHS: Truths = {}


def truth_of(question: str, **arguments: object) -> Truth:
    """Return the certified truth for a question.

    Raises
    ------
    UsageError
        If there is no truth for such a question.
    """
    if question not in _TRUTHS:
        raise UsageError(f"question must be one of {', '.join(sorted(_TRUTHS))}, got {question!r}")
    return _TRUTHS[question](**arguments)


def _answers(question: str) -> Callable[[Callable[..., Truth]], Callable[..., Truth]]:
    def enter(truth: Callable[..., Truth]) -> Callable[..., Truth]:
        _TRUTHS[question] = truth
        return truth

    return enter


# --- from a curve to its inverse ----------------------------------------------------------------------------


def least_argument(
    curve: Curve, delta: float, *, start: float = 2.0**-20, largest: float = LARGEST, steps: int = _STEPS
) -> Truth:
    """Enclose the least x >= 0 at which a curve that does not increase falls to delta.

    Where the curve is only known from below, so is x.

    Parameters
    ----------
    curve : callable
        Encloses the curve at a float64.
    delta : float
        The level.
    start, largest : float
        Where the search begins and ends.
    steps : int
        Bisections.
    """
    if not _exceeds(curve(0.0), delta):
        return Truth(0.0, 0.0 if _falls_to(curve(0.0), delta) else None)
    low, high = 0.0, start
    while _exceeds(curve(high), delta):
        low, high = high, 4 * high
        if high > largest:
            return Truth(low, None)
    for _ in range(steps):
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if _exceeds(curve(middle), delta):
            low = middle
        else:
            high = middle
    # at `high` the enclosure may still touch delta: a little further out it no longer does
    beyond = (high * (1 + step) for step in (0.0, 2.0**-50, 2.0**-40, 2.0**-30))
    return Truth(low, next((x for x in beyond if _falls_to(curve(x), delta)), None))


def _exceeds(truth: Truth, delta: float) -> bool:
    return truth.lower is not None and truth.lower > delta


def _falls_to(truth: Truth, delta: float) -> bool:
    return truth.upper is not None and truth.upper <= delta


# --- the Gaussian mechanism ---------------------------------------------------------------------------------


def _shift(sigma: float, count: int) -> Real:
    return lambda: ball(count).sqrt() / ball(exact("sigma", sigma))


@_answers("gaussian_delta")
def gaussian_delta(sigma: float, epsilon: float, count: int) -> Truth:
    """Enclose the delta of `count` Gaussian mechanisms."""
    if count == 0:
        return Truth(0.0, 0.0)
    return Truth.of(lambda: gaussian_hockey_stick(_shift(sigma, count)(), epsilon))


@_answers("gaussian_epsilon")
def gaussian_epsilon(sigma: float, delta: float, count: int) -> Truth:
    """Enclose the epsilon at which that delta is reached."""
    return least_argument(lambda epsilon: gaussian_delta(sigma, epsilon, count), delta, largest=1e300)


@_answers("gaussian_sigma")
def gaussian_sigma(epsilon: float, delta: float) -> Truth:
    """Enclose the least noise scale of one Gaussian mechanism that suffices."""
    return least_argument(lambda sigma: gaussian_delta(sigma, epsilon, 1) if sigma else _ALL, delta, largest=1e300)


@_answers("gaussian_renyi")
def gaussian_renyi(sigma: float, order: float) -> Truth:
    """Enclose order / (2 sigma^2)."""
    return Truth.of(lambda: gaussian_renyi_divergence(1 / exact("sigma", sigma), exact("order", order)))


# --- pure mechanisms ----------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _response_delta(unit: Fraction, epsilon: float, count: int) -> Truth:
    if count > MOST_RESPONSES:
        raise UsageError(f"count must be at most {MOST_RESPONSES}, got {count}")
    with precision(WORKING_BITS):
        value = composed_response_delta(unit, count, epsilon)
    if value == 0:
        return Truth(0.0, 0.0)
    return Truth(max(0.0, float_lower(value)), float_upper(value))


@_answers("randomised_response_delta")
@_answers("pure_composition_delta")
def response_delta(epsilon0: float, epsilon: float, count: int) -> Truth:
    """Enclose the delta of `count` randomised responses: the worst of all epsilon0-DP mechanisms."""
    return _response_delta(exact("epsilon0", epsilon0), epsilon, count)


@_answers("randomised_response_epsilon")
@_answers("pure_composition_epsilon")
def response_epsilon(epsilon0: float, delta: float, count: int) -> Truth:
    """Enclose the epsilon at which that delta is reached."""
    return least_argument(lambda epsilon: response_delta(epsilon0, epsilon, count), delta)


@_answers("approximate_composition_epsilon")
def approximate_epsilon(epsilon0: float, delta0: float, count: int, delta: float) -> Truth:
    """Enclose the least epsilon of `count` mechanisms of which each is (epsilon0, delta0)-DP and no better.

    Infinite, with nothing known from above, where the leaks alone exceed delta.
    """

    def curve(epsilon: float) -> Truth:
        return Truth.of(lambda: composed_approximate_delta(epsilon0, delta0, count, epsilon))

    if _exceeds(curve(LARGEST), delta):
        return Truth(math.inf, None)
    return least_argument(curve, delta)


@_answers("heterogeneous_composition_epsilon")
def heterogeneous_epsilon(epsilons: Sequence[float], deltas: Sequence[float], delta: float) -> Truth:
    """Enclose the least epsilon of mechanisms with these parameters."""

    def curve(epsilon: float) -> Truth:
        return Truth.of(lambda: heterogeneous_delta(epsilons, deltas, epsilon))

    if _exceeds(curve(LARGEST), delta):
        return Truth(math.inf, None)
    return least_argument(curve, delta, steps=40)


@_answers("randomised_response_renyi")
def response_renyi(epsilon0: float, order: float) -> Truth:
    """Enclose the Renyi divergence of one response."""
    return Truth.of(lambda: response_renyi_divergence(epsilon0, order))


# --- Laplace noise, continuous and discrete -----------------------------------------------------------------


@_answers("laplace_scale")
def laplace_scale(epsilon: float) -> Truth:
    """Enclose 1 / epsilon."""
    return Truth.of(lambda: 1 / ball(exact("epsilon", epsilon)))


@lru_cache(maxsize=64)
def _laplace_scores(distance: Fraction, count: int) -> ScoreLaws:
    with precision(WORKING_BITS):
        return composed_scores([(pooled_scores(laplace_cells(distance)), count)])


@_answers("laplace_delta")
def laplace_delta(scale: float, epsilon: float, count: int) -> Truth:
    """Enclose the delta of Laplace mechanisms; from below where there are several of them."""
    distance = 1 / exact("scale", scale)
    if count == 0 or exact("epsilon", epsilon) >= count * distance:
        return Truth(0.0, 0.0)
    if count == 1:
        return Truth.of(lambda: laplace_hockey_stick(distance, epsilon))
    return Truth(_laplace_scores(distance, count).delta_lower(epsilon), None)


@_answers("laplace_epsilon")
def laplace_epsilon(scale: float, delta: float, count: int) -> Truth:
    """Enclose the epsilon at which that delta is reached."""
    if count > 1 and delta > 0:
        return Truth(_laplace_scores(1 / exact("scale", scale), count).epsilon_lower(delta), None)
    return least_argument(lambda epsilon: laplace_delta(scale, epsilon, count), delta, largest=1e300)


@_answers("laplace_renyi")
def laplace_renyi(scale: float, order: float) -> Truth:
    """Enclose the Renyi divergence of one Laplace mechanism."""
    return Truth.of(lambda: laplace_renyi_divergence(1 / exact("scale", scale), order))


@_answers("discrete_laplace_epsilon")
def discrete_laplace_epsilon(scale: float, delta: float, count: int) -> Truth:
    """Enclose the epsilon of discrete Laplace noise on counts: its loss is that of randomised response."""
    unit = 1 / exact("scale", scale)
    return least_argument(lambda epsilon: _response_delta(unit, epsilon, count), delta)


# --- the discrete Gaussian ----------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _discrete_gaussian(sigma: float) -> DiscreteGaussian:
    if not 0 < sigma <= LARGEST_SIGMA:
        raise UsageError(f"sigma must be positive, at most {LARGEST_SIGMA}, got {sigma!r}")
    with precision(WORKING_BITS):
        return DiscreteGaussian(sigma)


@lru_cache(maxsize=32)
def _discrete_gaussian_scores(sigma: float, count: int) -> ScoreLaws:
    with precision(WORKING_BITS):
        cells = discrete_gaussian_cells(_discrete_gaussian(sigma))
        return composed_scores([(pooled_scores(cells, unit=1 / (sigma * sigma)), count)])


@_answers("discrete_gaussian_delta")
def discrete_gaussian_delta(sigma: float, epsilon: float, count: int) -> Truth:
    """Enclose the delta of discrete Gaussian noise on counts; from below where there are several of them."""
    if count == 0:
        return Truth(0.0, 0.0)
    if count > 1:
        return Truth(_discrete_gaussian_scores(sigma, count).delta_lower(epsilon), None)
    with precision(WORKING_BITS):
        value = discrete_gaussian_hockey_stick(_discrete_gaussian(sigma), epsilon)
        return Truth(max(0.0, float_lower(value)), float_upper(value))


@_answers("discrete_gaussian_epsilon")
def discrete_gaussian_epsilon(sigma: float, delta: float, count: int) -> Truth:
    """Enclose the epsilon at which that delta is reached."""
    if count > 1 and delta > 0:
        return Truth(_discrete_gaussian_scores(sigma, count).epsilon_lower(delta), None)
    return least_argument(lambda epsilon: discrete_gaussian_delta(sigma, epsilon, count), delta)


# --- the subsampled Gaussian mechanism ----------------------------------------------------------------------


@lru_cache(maxsize=32)
def _subsampled_scores(sigma: float, rate: float, count: int) -> tuple[ScoreLaws, ...]:
    """Return score laws with fine and with coarse scores: the coarse ones see farther into the tail."""
    with precision(96):
        cells = subsampled_gaussian_cells(sigma, rate)
        fine = pooled_scores(cells)
        spread = max(abs(cell.loss) for cell in cells if math.isfinite(cell.loss))
        coarse = pooled_scores(cells, unit=max(spread, 1e-300) / 400)
        return tuple(composed_scores([(laws, count)]) for laws in (fine, coarse))


@_answers("subsampled_gaussian_delta")
def subsampled_delta(sigma: float, rate: float, count: int, epsilon: float) -> Truth:
    """Enclose the delta of `count` Gaussian mechanisms on Poisson samples, one record added or removed.

    Exactly for one step and for a rate of 0 or 1, else from below, by events on the sum of rounded losses.
    """
    if count == 0 or rate == 0:
        return Truth(0.0, 0.0)
    if rate == 1:
        return gaussian_delta(sigma, epsilon, count)
    if count == 1:
        ways = [Truth.of(_one_step(sigma, rate, epsilon, removed=removed)) for removed in (True, False)]
        uppers = [way.upper for way in ways]
        known = [upper for upper in uppers if upper is not None]
        return Truth(max(way.lower or 0.0 for way in ways), max(known) if len(known) == 2 else None)
    return Truth(max(laws.delta_lower(epsilon) for laws in _subsampled_scores(sigma, rate, count)), None)


def _one_step(sigma: float, rate: float, epsilon: float, *, removed: bool) -> Real:
    return lambda: subsampled_gaussian_hockey_stick(sigma, rate, epsilon, removed=removed)


@_answers("subsampled_gaussian_epsilon")
def subsampled_epsilon(sigma: float, rate: float, count: int, delta: float) -> Truth:
    """Enclose the epsilon at which that delta is reached."""
    if count > 1 and 0 < rate < 1 and delta > 0:
        return Truth(max(laws.epsilon_lower(delta) for laws in _subsampled_scores(sigma, rate, count)), None)
    return least_argument(lambda epsilon: subsampled_delta(sigma, rate, count, epsilon), delta, largest=1e300)


@_answers("subsampled_gaussian_sigma")
def subsampled_sigma(rate: float, count: int, epsilon: float, delta: float) -> Truth:
    """Enclose the least noise scale that suffices: to some six digits from below."""

    def curve(sigma: float) -> Truth:
        return subsampled_delta(sigma, rate, count, epsilon) if sigma else Truth(float(rate > 0), 1.0)

    return least_argument(curve, delta, start=2.0**-4, steps=_COARSE_STEPS)


@_answers("subsampled_gaussian_renyi")
def subsampled_renyi(sigma: float, rate: float, order: float) -> Truth:
    """Enclose the Renyi divergence of one step, with the record over without it: a lower bound on both ways."""
    # the divergence does not decrease with the order, and integrals over high powers take seconds
    known = order if order <= LARGEST_FRACTIONAL_ORDER else math.floor(order)
    return Truth(Truth.of(lambda: subsampled_gaussian_renyi_divergence(sigma, rate, known)).lower, None)


# --- conversions --------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _pure_epsilon_of(rho: float) -> Fraction:
    """Return an epsilon with epsilon tanh(epsilon/2) <= rho, so that epsilon-DP implies rho-zCDP; nearly the largest.

    Zero if none is found.
    """
    low, high = 0.0, rho + 2.0
    for _ in range(52):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.tanh(middle / 2) <= rho else (low, middle)
    return Fraction(next((x for x in (low, low * (1 - 2.0**-40)) if _implies(x, rho)), 0.0))


def _implies(epsilon: float, rho: float) -> bool:
    with precision(96):
        return bool(zcdp_rho_of_pure(ball(epsilon)) <= ball(exact("rho", rho)))


@_answers("zcdp_delta")
def zcdp_delta(rho: float, epsilon: float) -> Truth:
    """Bound from below the delta that rho-zCDP implies: by the Gaussian mechanism and by randomised response."""
    if rho == 0:
        return Truth(0.0, 0.0)
    gaussian = Truth.of(lambda: gaussian_hockey_stick((2 * ball(exact("rho", rho))).sqrt(), epsilon))
    response = _response_delta(_pure_epsilon_of(rho), epsilon, 1)
    return Truth(max(gaussian.lower or 0.0, response.lower or 0.0), None)


@_answers("zcdp_epsilon")
def zcdp_epsilon(rho: float, delta: float) -> Truth:
    """Bound from below the epsilon that rho-zCDP implies."""
    return least_argument(lambda epsilon: zcdp_delta(rho, epsilon), delta, largest=1e300)


@_answers("zcdp_rho")
def zcdp_rho(epsilon: float, delta: float) -> Truth:
    """Bound from above the rho that suffices: a larger one lets a mechanism through that is not private enough."""
    return Truth(None, _least_rho(lambda rho: zcdp_delta(rho, epsilon), delta))


def _least_rho(curve: Curve, delta: float) -> float | None:
    """Return nearly the least rho at which a curve that does not decrease certainly exceeds delta."""
    low, high = 0.0, 1e-30
    while not _exceeds(curve(high), delta):
        low, high = high, 8 * high
        if high > LARGEST:
            return None
    for _ in range(_STEPS):
        middle = math.sqrt(low) * math.sqrt(high) if low else high / 2
        if not low < middle < high or high - low < 2.0**-50 * high:
            break
        low, high = (low, middle) if _exceeds(curve(middle), delta) else (middle, high)
    return high


@_answers("renyi_epsilon")
def renyi_epsilon(order: float, renyi: float, delta: float) -> Truth:
    """Bound from below the epsilon that a Renyi divergence of one order implies, by pairs of two-point laws.

    The pairs keep to the divergence in both orders of the neighbours.
    """
    best = 0.0
    depth = -math.log(delta) if delta > 0 else 700.0
    for step in range(1, 48):
        p = delta + (1 - delta) * math.exp(-depth * 1.1 * step / 48)
        q = _least_second(p, order, renyi)
        if q is not None and p > delta:
            with precision(WORKING_BITS):
                level = ((ball(p) - ball(exact("delta", delta))) / ball(q)).log()
                best = max(best, float_lower(level))
    return Truth(best, None)


def _least_second(p: float, order: float, renyi: float) -> float | None:
    """Return nearly the least q for which (p, 1 - p) and (q, 1 - q) keep to the divergence, None if there is none.

    It is looked for in float64 and certified afterwards, a little further in.
    """
    if not 0 < p < 1:
        return None
    low, high = math.log(p) - 700.0, math.log(p)
    for _ in range(50):
        middle = (low + high) / 2
        if _approximate_renyi(math.log(p), middle, order) <= renyi:
            high = middle
        else:
            low = middle
    for inward in (2.0**-40, 2.0**-30, 2.0**-20):
        q = math.exp(high) * (1 + inward)
        if q < p and _keeps(p, q, order, renyi):
            return q
    return None


def _approximate_renyi(log_p: float, log_q: float, order: float) -> float:
    """Approximate the larger of both divergences of two-point laws."""
    rest_p, rest_q = math.log(-math.expm1(min(log_p, -1e-300))), math.log(-math.expm1(min(log_q, -1e-300)))
    larger = []
    for a, b, c, d in ((log_p, log_q, rest_p, rest_q), (log_q, log_p, rest_q, rest_p)):
        terms = (order * a + (1 - order) * b, order * c + (1 - order) * d)
        peak = max(terms)
        larger.append((peak + math.log(sum(math.exp(term - peak) for term in terms))) / (order - 1))
    return max(larger)


def _keeps(p: float, q: float, order: float, renyi: float) -> bool:
    if not 0 < q < 1:
        return False
    with precision(WORKING_BITS):
        bound, alpha = ball(exact("renyi", renyi)), ball(exact("order", order))
        return all(_two_point_renyi(a, b, alpha) <= bound for a, b in ((p, q), (q, p)))


def _two_point_renyi(p: float, q: float, alpha: arb) -> arb:
    first, second = ball(p), ball(q)
    moment = (first.log() * alpha + second.log() * (1 - alpha)).exp()
    moment = moment + ((-first).log1p() * alpha + (-second).log1p() * (1 - alpha)).exp()
    return moment.log() / (alpha - 1)
