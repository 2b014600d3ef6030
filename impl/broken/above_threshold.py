"""Broken variants of AboveThreshold: faults in the sampler or in the claimed ex-post bound."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, ExPost
from dpassay.impl.accounting.gaussian_products import Factor, lifted_loss
from dpassay.impl.catalogue import Mutation, catalogue
from dpassay.impl.mechanisms.above_threshold import GaussianAboveThreshold
from dpassay.impl.mechanisms.halting import first_true
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_vector

__all__ = [
    "RedrawnThresholdNoise",
    "VariancesForSigmas",
    "WrongBound",
    "adds_no_noise_to_queries",
    "adds_no_noise_to_threshold",
    "charges_nothing_for_all_below",
    "claims_the_appendix_formula",
    "claims_the_main_text_formula",
    "forgets_the_shift_of_the_last_query",
    "redraws_the_threshold_noise",
    "releases_the_noisy_answer",
    "reuses_the_query_noise",
    "swaps_numerator_and_denominator",
    "takes_variances_for_sigmas",
]

Array = NDArray[np.float64]
Losses = Callable[[GaussianAboveThreshold], Array]

_SEEN = ("privacy_of_claim",)
_PARAMETERS: dict[str, Any] = {
    "size": 8, "threshold": 1.5, "sigma_threshold": 0.3, "sigma_query": 0.5, "low": 1.0, "high": 2.0,
    "sensitivity": 0.2,
}  # fmt: skip


# --- wrong samplers -----------------------------------------------------------------------------------------


class _ReusedQueryNoise(GaussianAboveThreshold):
    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        noisy_threshold = self.threshold + self.sigma_threshold * rng.standard_normal((rows, 1))
        return first_true(answers + self.sigma_query * rng.standard_normal((rows, 1)) >= noisy_threshold)


class RedrawnThresholdNoise(GaussianAboveThreshold):
    """A fresh noise on the threshold for every answer."""

    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw `rows` outcomes, wrongly."""
        shape = (rows, answers.size)
        noisy_threshold = self.threshold + self.sigma_threshold * rng.standard_normal(shape)
        return first_true(answers + self.sigma_query * rng.standard_normal(shape) >= noisy_threshold)


class _BareThreshold(GaussianAboveThreshold):
    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        noise = self.sigma_query * rng.standard_normal((rows, answers.size))
        return first_true(answers + noise >= self.threshold)


class _BareQueries(GaussianAboveThreshold):
    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        return first_true(answers >= self.threshold + self.sigma_threshold * rng.standard_normal((rows, 1)))


class VariancesForSigmas(GaussianAboveThreshold):
    """Noises of standard deviation sigma^2."""

    def draw(self, answers: Array, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw `rows` outcomes, wrongly."""
        noisy_threshold = self.threshold + self.sigma_threshold**2 * rng.standard_normal((rows, 1))
        noise = self.sigma_query**2 * rng.standard_normal((rows, answers.size))
        return first_true(answers + noise >= noisy_threshold)


class _ReleasesAnswer(GaussianAboveThreshold):
    """Releases (halting time, noisy answer), with a noisy answer of 0 if there was no halt."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The ex-post bound of the halting time alone."""
        return (ExPost(self._epsilon_of_time, "bound of the halting time alone"),)

    def _epsilon_of_time(self, outcome: Any) -> float:
        return self.epsilon_of(int(outcome[0]))  # a row of numbers is a vector of floats

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any]:
        """Draw `size` pairs of halting time and noisy answer."""
        answers = require_vector("data", data, self.size, self.low, self.high)

        def draw(rows: int) -> NDArray[Any]:
            noisy_threshold = self.threshold + self.sigma_threshold * rng.standard_normal((rows, 1))
            noisy = answers + self.sigma_query * rng.standard_normal((rows, self.size))
            times = first_true(noisy >= noisy_threshold)
            return np.stack([times, np.where(times > 0, noisy[np.arange(rows), times - 1], 0.0)], axis=1)

        return [(int(time), float(answer)) for time, answer in in_chunks(draw, size, self.size + 1)]


# --- wrong bounds -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WrongBound(GaussianAboveThreshold):
    """The right sampler with ex-post bounds computed by `wrong_losses`."""

    wrong_losses: Losses = lambda mechanism: mechanism.losses

    @cached_property
    def _table(self) -> Array:
        parameters = {field.name: getattr(self, field.name) for field in fields(GaussianAboveThreshold)}
        return self.wrong_losses(GaussianAboveThreshold(**parameters))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The wrong ex-post bound."""
        return (ExPost(lambda outcome: float(self._table[outcome]), "a wrong ex-post bound"),)  # type: ignore[call-overload]  # outcomes are integers


def _halting_losses(
    mechanism: GaussianAboveThreshold,
    top: float,
    lift: float,
    came_above: Callable[[Array], Factor],
) -> Array:
    # The losses of halting at 2, 3, ... with the first factor's `high` and the second factor as given.
    earlier = np.arange(1, mechanism.size, dtype=np.float64)
    ones = np.ones_like(earlier)
    sigma_z = mechanism.sigma_query
    kept_below = Factor(
        earlier,
        ones * (mechanism.threshold - top) / sigma_z,
        ones * mechanism.sigma_threshold / sigma_z,
        ones * lift / sigma_z,
    )
    return np.concatenate([mechanism.losses[:2], lifted_loss(kept_below, came_above(ones))])


def _main_text(mechanism: GaussianAboveThreshold) -> Array:
    m, s = mechanism, mechanism.sigma_query
    return _halting_losses(
        m, m.low + m.high, m.sensitivity,
        lambda ones: Factor(
            ones, ones * (m.low - m.threshold) / s, ones * m.sigma_threshold / s, ones * m.sensitivity / s
        ),
    )  # fmt: skip


def _appendix(mechanism: GaussianAboveThreshold) -> Array:
    m, s = mechanism, mechanism.sigma_query
    return _halting_losses(
        m, m.high - m.low, m.sensitivity,
        lambda ones: Factor(
            ones, ones * (m.low - m.threshold) / s, -ones * m.sigma_threshold / s, ones * m.sensitivity / s
        ),
    )  # fmt: skip


def _last_query_unmoved(mechanism: GaussianAboveThreshold) -> Array:
    m, s = mechanism, mechanism.sigma_query
    return _halting_losses(
        m, m.high, m.sensitivity,
        lambda ones: Factor(ones, ones * (m.low - m.threshold) / s, -ones * m.sigma_threshold / s),
    )  # fmt: skip


def _all_below_free(mechanism: GaussianAboveThreshold) -> Array:
    return np.concatenate([[0.0], mechanism.losses[1:]])


def _upside_down(mechanism: GaussianAboveThreshold) -> Array:
    return -mechanism.losses


reuses_the_query_noise = catalogue(
    __name__,
    _ReusedQueryNoise(**_PARAMETERS),
    mutation=Mutation("one noise is added to all answers of a run", _SEEN),
)

redraws_the_threshold_noise = catalogue(
    __name__,
    RedrawnThresholdNoise(**_PARAMETERS),
    mutation=Mutation("the noise of the threshold is drawn anew for every answer", _SEEN),
)

adds_no_noise_to_threshold = catalogue(
    __name__,
    _BareThreshold(**_PARAMETERS),
    mutation=Mutation("noisy answers are compared with the bare threshold", _SEEN),
)

adds_no_noise_to_queries = catalogue(
    __name__,
    _BareQueries(**_PARAMETERS),
    mutation=Mutation("bare answers are compared with the noisy threshold", _SEEN),
)

takes_variances_for_sigmas = catalogue(
    __name__,
    VariancesForSigmas(**_PARAMETERS),
    mutation=Mutation("the noises have standard deviations sigma^2", _SEEN),
)

releases_the_noisy_answer = catalogue(
    __name__,
    _ReleasesAnswer(**_PARAMETERS),
    mutation=Mutation("the noisy answer that halted is released too, at no charge", _SEEN),
)

claims_the_main_text_formula = catalogue(
    __name__,
    WrongBound(
        size=3,
        threshold=0.5,
        sigma_threshold=0.15,
        sigma_query=0.26,
        low=0.0,
        high=1.0,
        sensitivity=0.05,
        wrong_losses=_main_text,
    ),
    mutation=Mutation("the logarithm of Thm 10 as printed: wrong sign in one factor, wrong shift in the other", _SEEN),
)

claims_the_appendix_formula = catalogue(
    __name__,
    WrongBound(**_PARAMETERS, wrong_losses=_appendix),
    mutation=Mutation("the logarithm of Thm 17 as printed, high - low in place of high, with low = 1", _SEEN),
)

forgets_the_shift_of_the_last_query = catalogue(
    __name__,
    WrongBound(**_PARAMETERS, wrong_losses=_last_query_unmoved),
    mutation=Mutation("only the queries that stayed below are moved by the sensitivity", _SEEN),
)

charges_nothing_for_all_below = catalogue(
    __name__,
    WrongBound(**_PARAMETERS, wrong_losses=_all_below_free),
    mutation=Mutation("a stream that ends without a halt is charged 0", _SEEN),
)

swaps_numerator_and_denominator = catalogue(
    __name__,
    WrongBound(**_PARAMETERS, wrong_losses=_upside_down),
    mutation=Mutation("the ratio is upside down, and the bound negative", _SEEN),
)
