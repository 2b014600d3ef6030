"""A threshold with Laplace noise and answers compared with it: the probability of a pattern.

With the noisy threshold at t, an answer q stays below with probability F(t - q) and reaches it with 1 - F(t - q), F
the distribution function of Laplace noise. A pattern of comparisons against one and the same noisy threshold therefore
has

    Pr = int f(t - T) prod_(below) F(t - q) prod_(above) (1 - F(t - q)) dt,

which is a sum of exponentials between the kinks T and q. Where the noisy answer that reached the threshold is
released, its factor is the probability that it is above t and in a given interval.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

from flint import arb, ctx

from dpassay.arguments import UsageError
from dpassay.spec.ball import Exact, exact, precision
from dpassay.spec.distributions.piecewise_exponential import Line, PiecewiseExponential, guard_bits

__all__ = ["LARGEST_PATTERN", "Counts", "LaplaceThreshold", "Released"]

Counts = tuple[tuple[Fraction, int], ...]
"""Answers, as (answer, how many of them)."""

Released = tuple[tuple[Fraction, Fraction | None, Fraction | None], ...]
"""Answers that reached the threshold, as (answer, low, high): the noisy one is released, and lies in (low, high]."""

Pair = tuple[int, int]
LARGEST_PATTERN = 2_000
"""Comparisons in one pattern: a polynomial of that degree is expanded on every piece."""


@dataclass(frozen=True)
class LaplaceThreshold:
    """A public threshold, and the scales of the Laplace noise on it and on the answers.

    Parameters
    ----------
    threshold : exact number
        The threshold.
    threshold_scale, query_scale : exact number
        Both positive.

    Raises
    ------
    UsageError
        If a number is not finite, or a scale not positive.
    """

    threshold: Exact
    threshold_scale: Exact
    query_scale: Exact

    def __post_init__(self) -> None:
        exact("threshold", self.threshold)
        for name in ("threshold_scale", "query_scale"):
            if exact(name, getattr(self, name)) <= 0:
                raise UsageError(f"{name} must be positive, got {getattr(self, name)!r}")

    @cached_property
    def centre(self) -> Fraction:
        """The threshold as a rational."""
        return exact("threshold", self.threshold)

    @cached_property
    def threshold_rate(self) -> Fraction:
        """Nats per unit of the threshold."""
        return 1 / exact("threshold_scale", self.threshold_scale)

    @cached_property
    def query_rate(self) -> Fraction:
        """Nats per unit of an answer."""
        return 1 / exact("query_scale", self.query_scale)

    def shifted(self, by: Fraction) -> "LaplaceThreshold":
        """Return the same noise about a shifted threshold."""
        return replace(self, threshold=self.centre + by)

    def scaled(self, by: Fraction) -> "LaplaceThreshold":
        """Return the same distribution in other units."""
        return LaplaceThreshold(by * self.centre, by / self.threshold_rate, by / self.query_rate)

    def log_pattern(self, below: Iterable[tuple[Exact, int]], above: Iterable[tuple[Exact, int]] = ()) -> arb:
        """Enclose the log-probability that the answers `below` stay below and the answers `above` do not.

        Parameters
        ----------
        below, above : iterable of (answer, count)
            Each answer has noise of its own; the threshold has one for all of them.

        Raises
        ------
        UsageError
            If an answer is not finite, or there are more than 2000.
        """
        counts: dict[Fraction, tuple[int, int]] = {}
        for side, answers in enumerate((below, above)):
            for answer, count in answers:
                key = exact("answer", answer)
                old = counts.get(key, (0, 0))
                counts[key] = (old[0] + count, old[1]) if side == 0 else (old[0], old[1] + count)
        size = sum(map(sum, counts.values()))
        if size > LARGEST_PATTERN:
            raise UsageError(f"patterns of at most {LARGEST_PATTERN} comparisons are expanded, got {size}")
        distinct = tuple(sorted(counts))
        bits = ctx.prec + guard_bits(-(-size // 16) * 16)  # rounded up, so that the patterns of a stream share a table
        return _patterns(self, distinct, bits).log_probability(tuple(counts[answer] for answer in distinct))

    def log_released(self, below: Counts, released: Released) -> arb:
        """Enclose the log-probability that the answers `below` stay below and each of the others is released.

        Parameters
        ----------
        below : tuple of (answer, count)
            Answers that stay below.
        released : tuple of (answer, low, high)
            Those that reach the threshold with a noisy answer in (low, high]; None is no bound.
        """
        return _log_released(self, tuple(sorted(below)), tuple(sorted(released, key=str)), ctx.prec)


@lru_cache(maxsize=4096)
def _log_released(setting: LaplaceThreshold, below: Counts, released: Released, bits: int) -> arb:
    ends = [end for _, *interval in released for end in interval if end is not None]
    centres = [*(answer for answer, _ in below), *(answer for answer, *_ in released)]
    with precision(bits + guard_bits(sum(count for _, count in below) + len(released))):
        line = Line([setting.centre, *centres, *ends], setting.query_rate)
        integrand = line.laplace_density(setting.centre, setting.threshold_rate)
        for answer, count in below:
            integrand = integrand * line.laplace_cdf(answer) ** count
        for answer, low, high in released:
            integrand = integrand * line.laplace_mass(answer, low, high)
        log_probability: arb = integrand.integral().log()
    return log_probability


class _Patterns:
    """The patterns on some answers at one precision; those of the first answers are multiplied out once.

    A pattern is (how many below, how many above) for each answer, and depends on the order of a stream through these
    counts only: that is the dynamic program over streams.
    """

    def __init__(self, setting: LaplaceThreshold, answers: tuple[Fraction, ...], bits: int) -> None:
        self.answers, self.bits = answers, bits
        self.line = Line([setting.centre, *answers], setting.query_rate)
        with precision(bits):
            density = self.line.laplace_density(setting.centre, setting.threshold_rate)
        self.products: dict[tuple[Pair, ...], PiecewiseExponential] = {(): density}
        self.factors: dict[tuple[int, Pair], PiecewiseExponential] = {}
        self.logarithms: dict[tuple[Pair, ...], arb] = {}

    def log_probability(self, counts: tuple[Pair, ...]) -> arb:
        if counts not in self.logarithms:
            self.logarithms[counts] = self._log_probability(counts)
        return self.logarithms[counts]

    def _log_probability(self, counts: tuple[Pair, ...]) -> arb:
        with precision(self.bits):
            known = next(k for k in range(len(counts), -1, -1) if counts[:k] in self.products)
            for k in range(known, len(counts)):
                self.products[counts[: k + 1]] = self._times_factor(self.products[counts[:k]], k, counts[k])
            log_probability: arb = self.products[counts].integral().log()
        return log_probability

    def _times_factor(self, product: PiecewiseExponential, place: int, counts: Pair) -> PiecewiseExponential:
        if counts == (0, 0):
            return product
        if (place, counts) not in self.factors:
            below, above = counts
            answer = self.answers[place]
            self.factors[place, counts] = (
                self.line.laplace_cdf(answer) ** below * self.line.laplace_sf(answer) ** above
            )
        return product * self.factors[place, counts]


@lru_cache(maxsize=32)
def _patterns(setting: LaplaceThreshold, answers: tuple[Fraction, ...], bits: int) -> _Patterns:
    return _Patterns(setting, answers, bits)
