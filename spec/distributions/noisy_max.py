"""Noisy max with Gaussian noise: the exact distribution of the reported index."""

import itertools
from collections import Counter
from collections.abc import Collection, Hashable
from dataclasses import dataclass

from flint import arb

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, ball, exact
from dpassay.spec.distributions.gaussian_race import GaussianRace, Hurdle

__all__ = ["GaussianNoisyMaxDistribution", "log_report_probability", "log_win_probability"]


@dataclass(frozen=True)
class GaussianNoisyMaxDistribution:
    """The distribution of argmax_i (answers_i + N(0, sigma^2)), on the outcomes 0, ..., d - 1.

    Pr[o] = E_z prod_{i != o} Phi(z + (answers_o - answers_i) / sigma), z standard normal
    (Lebensold, Precup and Balle 2024, Section 3.1); equal answers share one hurdle.

    Parameters
    ----------
    answers : sequence of exact numbers
        At least one.
    sigma : exact number
        Standard deviation of the noise, positive.
    """

    answers: tuple[Exact, ...]
    sigma: Exact

    def __post_init__(self) -> None:
        if not self.answers:
            raise UsageError("answers must hold at least one number, got none")
        for answer in self.answers:
            exact("answers", answer)
        if not exact("sigma", self.sigma) > 0:
            raise UsageError(f"sigma must be positive, got {self.sigma!r}")

    @property
    def outcomes(self) -> tuple[Hashable, ...]:
        """The indices."""
        return tuple(range(len(self.answers)))

    def log_probability(self, outcome: Hashable) -> arb:
        """Enclose the logarithm of the probability that this index wins."""
        if not (isinstance(outcome, int) and 0 <= outcome < len(self.answers)):
            raise UsageError(f"outcome must be an index below {len(self.answers)}, got {outcome!r}")
        own = self.answers[outcome]
        rivals = Counter(answer for i, answer in enumerate(self.answers) if i != outcome)
        return log_report_probability(own, rivals.items(), self.sigma)


def log_report_probability(own: Exact, rivals: Collection[tuple[Exact, int]], sigma: Exact) -> arb:
    """Enclose the log-probability that an answer wins against rivals given as (answer, count)."""
    scale, score = exact("sigma", sigma), exact("own", own)
    leads = ((score - exact("rivals", rival)) / scale for rival, _ in rivals)
    counts = (count for _, count in rivals)
    return GaussianRace(*map(Hurdle.of, itertools.repeat(1), leads, counts)).log_expectation()


def log_win_probability(lead: Exact | arb, rivals: Exact | arb) -> arb:
    """Enclose log E[Phi(z + lead)^rivals]: one candidate against `rivals` equal ones, `lead` in units of sigma."""
    return GaussianRace(Hurdle.of(1, ball(lead), ball(rivals))).log_expectation()
