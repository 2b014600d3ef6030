"""Answers: what OpenDP's maps, compositions, conversions and searches say, at sensitivity 1."""

from __future__ import annotations

import math
from typing import Any

import opendp.prelude as dp
from opendp_building import (
    Collector,
    approximate_divergence,
    atom,
    concentrated_divergence,
    constructor,
    max_divergence,
)

from dpassay.adapter import Answer, Refused

__all__ = ["conversion_answers"]

_COUNTS = (1.0, 200.0)
"""Compositions are lists of measurements: longer ones take too long to build."""

_CALLS_OF_A_SEARCH = 6
"""A search asks the conversion, which is a search itself, some sixty times."""


def _space(kind: Any = float) -> tuple[Any, Any]:
    return atom(kind), dp.absolute_distance(T=kind)


def _stated(measure: Any, loss: Any) -> Any:
    """Return a measurement that does nothing and says that its loss is `loss`; the library trusts what it says."""
    for part in loss if isinstance(loss, tuple) else (loss,):
        if not part >= 0:
            raise ValueError(f"a loss of at least 0 must be stated here, got {loss!r}")
    return constructor("user_measurement")(*_space(), measure, lambda value: value, lambda _: loss, TO=float)


def _zcdp(rho: float) -> Any:
    return _stated(concentrated_divergence(), rho)


def _profile(measurement: Any, d_in: Any = 1.0) -> Any:
    return constructor("zCDP_to_approxDP")(measurement).map(d_in)


def _require_answerable(delta: float) -> None:
    """Refuse what is asked elsewhere, with a limit of time: the curves of older releases never answer it."""
    if math.isnan(delta) and not _tells_delta():
        raise ValueError("not asked here: a delta of NaN")


def _epsilon(profile: Any, delta: float) -> float:
    _require_answerable(delta)
    return float(profile.epsilon(delta))


def _fixed(measurement: Any, delta: float, d_in: Any = 1.0) -> float:
    _require_answerable(delta)
    converted = constructor("fix_delta")(constructor("zCDP_to_approxDP")(measurement), delta)
    return float(converted.map(d_in)[0])


def _repeated(measurement: Any, count: int) -> Any:
    return constructor("composition", "basic_composition")([measurement] * _whole(count))


def _whole(count: float) -> int:
    """Return a count as an int: the library takes lists, and has no count that it could refuse."""
    if count != int(count):
        raise ValueError(f"a count must be an integer, got {count!r}")
    return int(count)


def _whatever(delta: float) -> None:
    """Refuse what is no delta where the library is not told it: a pure loss holds at every delta."""
    if not 0 <= delta <= 1:
        raise ValueError(f"a delta must lie in [0, 1], got {delta!r}")


def _composed(losses: list[Any], measure: Any) -> Any:
    """Return the loss of a composition by the library's own sum of losses."""
    return constructor("composition", "basic_composition")([_stated(measure, loss) for loss in losses]).map(1.0)


def _gaussians(sigma: float, count: int, kind: Any = float) -> Any:
    return _repeated(constructor("gaussian")(*_space(kind), scale=sigma), count)


def _laplaces(scale: float, count: int, kind: Any = float) -> Any:
    return _repeated(constructor("laplace")(*_space(kind), scale=scale), count)


def _as_zcdp(measurement: Any) -> Any:
    return constructor("pureDP_to_zCDP")(measurement)


def _at(delta: float, measurement: Any, d_in: Any) -> float:
    _whatever(delta)
    return float(measurement.map(d_in))


def _laplaces_as_zcdp(scale: float, count: int) -> Any:
    return _repeated(_as_zcdp(_laplaces(scale, 1)), count)


def _within(d_out: Any, delta: float) -> float:
    _whatever(delta)
    epsilon, spent = d_out
    if spent > delta:
        raise Refused(f"the composition spends delta {spent!r}, more than {delta!r}")
    return float(epsilon)


def _require_target(epsilon: float, delta: float) -> None:
    """Refuse what nothing can meet: a search for it goes on for ever, and that is no fault of the conversion."""
    _whatever(delta)
    if not 0 <= epsilon < math.inf:
        raise ValueError(f"an epsilon must lie in [0, inf), got {epsilon!r}")


def _gaussian_sigma(epsilon: float, delta: float) -> float:
    _require_target(epsilon, delta)
    return float(dp.binary_search(lambda scale: scale > 0 and _fixed(_gaussians(scale, 1), delta) <= epsilon, T=float))


def _zcdp_rho(epsilon: float, delta: float) -> float:
    _require_target(epsilon, delta)
    return float(dp.binary_search(lambda rho: _epsilon(_profile(_zcdp(rho)), delta) <= epsilon, T=float))


def _laplace_scale(epsilon: float) -> float:
    return float(
        dp.binary_search_param(
            lambda scale: constructor("laplace")(*_space(), scale=scale), d_in=1.0, d_out=epsilon, T=float
        )
    )


def _pure_delta(epsilon0: float, count: int, epsilon: float) -> float:
    whole = _composed([epsilon0] * _whole(count), max_divergence())
    return float(_profile(_as_zcdp(_stated(max_divergence(), whole))).delta(epsilon))


def _pure_epsilon(epsilon0: float, count: int, delta: float) -> float:
    _whatever(delta)
    return float(_composed([epsilon0] * _whole(count), max_divergence()))


def _pure_epsilon_by_zcdp(epsilon0: float, count: int, delta: float) -> float:
    one = _as_zcdp(_stated(max_divergence(), epsilon0))
    return _epsilon(_profile(_repeated(one, count)), delta)


def _approximate_epsilon(epsilon0: float, delta0: float, count: int, delta: float) -> float:
    return _within(_composed([(epsilon0, delta0)] * _whole(count), approximate_divergence()), delta)


def _mixed_epsilon(epsilons: list[float], deltas: list[float], delta: float) -> float:
    pairs = list(zip(epsilons, deltas))  # Python 3.9
    return _within(_composed(pairs, approximate_divergence()), delta)


def _response_probability(epsilon0: float) -> float:
    return 1.0 / (1.0 + math.exp(-epsilon0))


def _response(epsilon0: float, count: int) -> Any:
    """Return composed randomised responses whose own map allows at least `epsilon0`, by at most a few ulps more."""
    if not epsilon0 >= 0:
        raise ValueError(f"epsilon0 must be at least 0, got {epsilon0!r}")
    probability = _response_probability(epsilon0)
    measurement = constructor("randomized_response_bool")(probability)
    while measurement.map(1) < epsilon0 and probability < 1:
        probability = math.nextafter(probability, 1.0)
        measurement = constructor("randomized_response_bool")(probability)
    return _repeated(measurement, count)


def _answers() -> list[Answer]:
    counted = {"count": _COUNTS}
    zcdp, parts = "make zCDP to approxDP", "make_composition of approximate"
    return [
        Answer(
            "make_zCDP_to_approxDP delta",
            "zcdp_delta",
            lambda rho, epsilon: float(_profile(_zcdp(rho)).delta(epsilon)),
        ),
        Answer(
            "make_zCDP_to_approxDP epsilon",
            "zcdp_epsilon",
            lambda rho, delta: _epsilon(_profile(_zcdp(rho)), delta),
        ),
        Answer("make_fix_delta", "zcdp_epsilon", lambda rho, delta: _fixed(_zcdp(rho), delta), account=zcdp),
        Answer(
            "binary_search of rho",
            "zcdp_rho",
            _zcdp_rho,
            notes="the library's conversion, its own search",
            calls=_CALLS_OF_A_SEARCH,
            account=zcdp,
        ),
        Answer(
            "make_gaussian composed, delta",
            "gaussian_delta",
            lambda sigma, epsilon, count: float(_profile(_gaussians(sigma, count)).delta(epsilon)),
            domain=counted,
        ),
        Answer(
            "make_gaussian composed, epsilon",
            "gaussian_epsilon",
            lambda sigma, delta, count: _epsilon(_profile(_gaussians(sigma, count)), delta),
            domain=counted,
        ),
        Answer(
            "binary_search of make_gaussian",
            "gaussian_sigma",
            _gaussian_sigma,
            calls=_CALLS_OF_A_SEARCH,
            account="make composed",
        ),
        Answer(
            "make_laplace composed, epsilon",
            "laplace_epsilon",
            lambda scale, delta, count: _at(delta, _laplaces(scale, count), 1.0),
            domain=counted,
        ),
        Answer(
            "make_laplace composed as zCDP, epsilon",
            "laplace_epsilon",
            lambda scale, delta, count: _epsilon(_profile(_laplaces_as_zcdp(scale, count)), delta),
            domain=counted,
        ),
        Answer(
            "make_laplace composed as zCDP, delta",
            "laplace_delta",
            lambda scale, epsilon, count: float(_profile(_laplaces_as_zcdp(scale, count)).delta(epsilon)),
            domain=counted,
        ),
        Answer(
            "binary_search_param of make_laplace",
            "laplace_scale",
            _laplace_scale,
            calls=4 * _CALLS_OF_A_SEARCH,
            account="make composed",
        ),
        Answer("make_composition of pure, epsilon", "pure_composition_epsilon", _pure_epsilon, domain=counted),
        Answer(
            "make_composition of pure as zCDP, epsilon",
            "pure_composition_epsilon",
            _pure_epsilon_by_zcdp,
            domain=counted,
        ),
        Answer(
            "make_composition of pure as zCDP, delta",
            "pure_composition_delta",
            _pure_delta,
            domain=counted,
            account="make_composition of pure, then as zCDP",  # the other way round the parts are converted
        ),
        Answer(
            "make_composition of approximate, epsilon",
            "approximate_composition_epsilon",
            _approximate_epsilon,
            domain=counted,
            account=parts,
        ),
        Answer(
            "make_composition of different approximate, epsilon",
            "heterogeneous_composition_epsilon",
            _mixed_epsilon,
            account=parts,
        ),
        Answer(
            "make_randomized_response_bool composed, epsilon",
            "randomised_response_epsilon",
            lambda epsilon0, delta, count: _at(delta, _response(epsilon0, count), 1),
            domain=counted,
            notes="the probability is the one whose map says at least epsilon0",
        ),
        Answer(
            "make_laplace of integers composed, epsilon",
            "discrete_laplace_epsilon",
            lambda scale, delta, count: _at(delta, _laplaces(scale, count, int), 1),
            domain=counted,
        ),
        Answer(
            "make_gaussian of integers composed, delta",
            "discrete_gaussian_delta",
            lambda sigma, epsilon, count: float(_profile(_gaussians(sigma, count, int), 1).delta(epsilon)),
            domain=counted,
        ),
        Answer(
            "make_gaussian of integers composed, epsilon",
            "discrete_gaussian_epsilon",
            lambda sigma, delta, count: _epsilon(_profile(_gaussians(sigma, count, int), 1), delta),
            domain=counted,
        ),
    ]


def _tells_delta() -> bool:
    """Return whether the privacy curves of this release give delta at an epsilon, and not only epsilon at a delta."""
    return hasattr(_profile(_zcdp(1.0)), "delta")


def conversion_answers(collect: Collector) -> None:
    """Add the answers that this release can give."""

    def answers() -> list[Answer]:
        told = _tells_delta()  # where not, converting what the user states ends the process as well
        return [
            answer
            for answer in _answers()
            if told or not (answer.question.endswith("_delta") or "pure as zCDP" in answer.name)
        ]

    collect.add(answers)
