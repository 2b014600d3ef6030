"""AboveThreshold with Gaussian noise: the exact distribution of the time at which it halts."""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, ball, exact, log_normal_cdf, sum_balls
from dpassay.spec.distributions.gaussian_race import GaussianRace, Hurdle

__all__ = [
    "ALL_BELOW",
    "GaussianAboveThresholdDistribution",
    "IndependentComparisonsDistribution",
    "log_halting_probability",
]

ALL_BELOW = 0
"""The outcome of a finite stream on which the mechanism never halts."""


@dataclass(frozen=True)
class GaussianAboveThresholdDistribution:
    """The distribution of the halting time, 1, ..., k, or `ALL_BELOW`, on a stream of k query answers.

    The threshold receives noise of standard deviation `sigma_threshold` once; each answer receives fresh noise
    of standard deviation `sigma_query` (Lebensold, Precup and Balle 2024, Alg 1 = Alg 3). The all-below outcome
    of a finite stream is not treated in the paper.

    Parameters
    ----------
    answers : sequence of exact numbers
        The stream.
    threshold : exact number
        The public threshold.
    sigma_threshold, sigma_query : exact numbers
        Positive standard deviations.
    """

    answers: tuple[Exact, ...]
    threshold: Exact
    sigma_threshold: Exact
    sigma_query: Exact

    def __post_init__(self) -> None:
        if not self.answers:
            raise UsageError("answers must hold at least one number, got none")
        for answer in (*self.answers, self.threshold):
            exact("answers", answer)
        for name in ("sigma_threshold", "sigma_query"):
            if not exact(name, getattr(self, name)) > 0:
                raise UsageError(f"{name} must be positive, got {getattr(self, name)!r}")

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The halting times and `ALL_BELOW`."""
        return (*range(1, len(self.answers) + 1), ALL_BELOW)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of an outcome."""
        if outcome not in self.outcomes or not isinstance(outcome, int):
            raise UsageError(f"outcome must be one of {self.outcomes!r}, got {outcome!r}")
        below = self.answers if outcome == ALL_BELOW else self.answers[: outcome - 1]
        last = None if outcome == ALL_BELOW else self.answers[outcome - 1]
        return log_halting_probability(
            Counter(below).items(), last, self.threshold, self.sigma_threshold, self.sigma_query
        )


LIKELY = 8
"""Standard deviations below the threshold up to which an answer is worth a difference of two probabilities."""


@dataclass(frozen=True)
class IndependentComparisonsDistribution:
    """The halting time if the threshold noise were redrawn for every answer: independent comparisons.

    Pr[t] = prod_(i < t) Phi((rho - q_i)/s) Phi((q_t - rho)/s), s^2 = sigma_X^2 + sigma_Z^2. Each comparison then
    costs privacy, which is what the one noise of AboveThreshold avoids.
    """

    answers: tuple[Exact, ...]
    threshold: Exact
    sigma_threshold: Exact
    sigma_query: Exact

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The halting times and `ALL_BELOW`."""
        return (*range(1, len(self.answers) + 1), ALL_BELOW)

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability of an outcome."""
        if not isinstance(outcome, int) or outcome not in self.outcomes:
            raise UsageError(f"outcome must be one of {self.outcomes!r}, got {outcome!r}")
        sigmas = (exact("sigma_threshold", self.sigma_threshold), exact("sigma_query", self.sigma_query))
        scale = ball(sum(sigma * sigma for sigma in sigmas)).sqrt()
        rho = exact("threshold", self.threshold)
        leads = [ball(rho - exact("answers", answer)) / scale for answer in self.answers]
        before = leads if outcome == ALL_BELOW else leads[: outcome - 1]
        last = arb(0) if outcome == ALL_BELOW else log_normal_cdf(-leads[outcome - 1])
        return sum_balls(log_normal_cdf(lead) for lead in before) + last


def log_halting_probability(
    below: Iterable[tuple[Exact, int]],
    above: Exact | None,
    threshold: Exact,
    sigma_threshold: Exact,
    sigma_query: Exact,
) -> arb:
    """Enclose log E_x[prod Phi((sigma_X x + rho - q)/sigma_Z)^n Phi((-sigma_X x - rho + q_t)/sigma_Z)].

    Parameters
    ----------
    below : iterable of (answer, count)
        Answers that stayed below, with multiplicities.
    above : exact number or None
        The answer that passed, None for the all-below outcome.
    threshold, sigma_threshold, sigma_query : exact numbers
        As for `GaussianAboveThresholdDistribution`.
    """
    rho, scale = exact("threshold", threshold), exact("sigma_query", sigma_query)
    slope: Fraction = exact("sigma_threshold", sigma_threshold) / scale
    leads = [((rho - exact("answers", q)) / scale, count) for q, count in below if count]
    hurdles = [Hurdle.of(slope, lead, count) for lead, count in leads]
    if above is None:
        return GaussianRace(*hurdles).log_expectation()
    last = (rho - exact("answers", above)) / scale
    likely = last <= 0 or last**2 <= LIKELY**2 * (1 + slope**2)
    if slope > 1 and likely and leads and all(last < lead for lead, _ in leads):
        return _log_halts_by_difference(hurdles, Hurdle.of(slope, last))
    return GaussianRace(*hurdles, Hurdle.of(-slope, -last)).log_expectation()


def _log_halts_by_difference(hurdles: list[Hurdle], last: Hurdle) -> arb:
    """Enclose log(Pr[all below] - Pr[all below and the last one too]), where the last answer is the largest.

    The integrand of the halting probability rises and falls steeply at places far apart then; those of the two
    terms are steps, which have a form of their own. The difference loses few digits unless the last answer is
    unlikely to pass at all; then the integrand is narrow.
    """
    before = GaussianRace(*hurdles).log_expectation()
    after = GaussianRace(*hurdles, last).log_expectation()
    return before + (-(after - before).expm1()).log()
