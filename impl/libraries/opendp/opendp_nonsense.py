"""Invalid calls of OpenDP: constructors, maps, conversions and accuracies with invalid parameters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from opendp_building import Collector, atom, concentrated_divergence, constructor, linf, max_divergence, vector

from dpassay.adapter import Nonsense, Refused, answer_in_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["nonsense_cases"]

_ODD = {"nan": math.nan, "inf": math.inf, "-1": -1.0}


def _space(kind: Any = float) -> tuple[Any, Any]:
    return atom(kind), dp.absolute_distance(T=kind)


def _attempts(parameter: str, ask: Callable[[float], Any], values: Mapping[str, float] = _ODD) -> dict[str, Any]:
    """Return an attempt for every value of a parameter; a map that answers infinity has refused."""

    def attempt(value: float) -> Any:
        answer = ask(value)
        if isinstance(answer, float) and answer == math.inf:
            raise Refused("infinite: no privacy is claimed")
        return answer

    return {f"{parameter}={word}": (lambda value=value: attempt(value)) for word, value in values.items()}


def additive(noise: str, kind: Any) -> Nonsense:
    """Return the attempts: the scale and the distance of additive noise."""
    make = constructor(noise)
    plain = make(*_space(kind), scale=1.0)
    attempts = _attempts("scale", lambda scale: make(*_space(kind), scale=scale).map(kind(1)))
    distances = _ODD if kind is float else {"-1": -1}
    attempts.update(_attempts("d_in", plain.map, distances))
    return Nonsense(f"make_{noise}({kind.__name__})", attempts)


def geometric() -> Nonsense:
    """Return the attempts: the scale and the bounds of geometric noise."""
    make = constructor("geometric")
    attempts = _attempts("scale", lambda scale: make(*_space(int), scale=scale, bounds=(0, 5)).map(1))
    attempts["bounds=(5, 0)"] = lambda: make(*_space(int), scale=1.0, bounds=(5, 0)).map(1)
    return Nonsense("make_geometric", attempts)


def responses() -> Nonsense:
    """Probabilities of randomised response."""
    odd = {**_ODD, "1.5": 1.5, "0.1": 0.1}
    boolean, several = constructor("randomized_response_bool"), constructor("randomized_response")
    attempts = {f"bool {key}": ask for key, ask in _attempts("prob", lambda p: boolean(p).map(1), odd).items()}
    attempts.update(
        (f"3 categories {key}", ask)
        for key, ask in _attempts("prob", lambda p: several([1, 2, 3], p).map(1), odd).items()
    )
    attempts["one category"] = lambda: several([1], 0.9).map(1)
    return Nonsense("make_randomized_response", attempts)


def bit_vectors() -> Nonsense:
    """Flipping probabilities of bit vectors."""
    make = constructor("randomized_response_bitvec")

    def ask(f: float) -> Any:
        return make(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=f).map(1)

    return Nonsense("make_randomized_response_bitvec", _attempts("f", ask, {**_ODD, "0": 0.0, "1.5": 1.5}))


def selections() -> Nonsense:
    """Scales and counts of selection, and the probability of stopping."""
    space = (vector(float), linf(float), max_divergence())
    attempts = _attempts("noisy_max scale", lambda scale: constructor("noisy_max")(*space, scale=scale).map(1.0))
    top = constructor("noisy_top_k")
    attempts.update(_attempts("noisy_top_k scale", lambda scale: top(*space, k=2, scale=scale).map(1.0)))
    known = (vector(float, 3), *space[1:])
    attempts["noisy_top_k k=5 of 3"] = lambda: top(*known, k=5, scale=1.0).map(1.0)
    return Nonsense("make_noisy_max and make_noisy_top_k", attempts)


def stopping() -> Nonsense:
    """Return the attempts: the probability of stopping and the threshold of selection among private candidates."""
    candidate = constructor("user_measurement")(
        *_space(), max_divergence(), lambda value: (value, value), lambda d_in: d_in, TO="(f64, ExtrinsicObject)"
    )
    make = constructor("select_private_candidate")
    odd = {**_ODD, "1.5": 1.5}
    attempts = _attempts("stop_probability", lambda chance: make(candidate, chance, 1.0).map(1.0), odd)
    beyond = {"nan": math.nan, "inf": math.inf}
    attempts.update(_attempts("threshold", lambda limit: make(candidate, 0.5, limit).map(1.0), beyond))
    return Nonsense("make_select_private_candidate", attempts)


def canonical() -> Nonsense:
    """Return the attempts: the privacy parameters of canonical noise."""
    make = constructor("canonical_noise")
    attempts = _attempts("d_in", lambda d_in: make(*_space(), d_in, (1.0, 1e-6)).map(d_in))
    attempts.update(_attempts("epsilon", lambda epsilon: make(*_space(), 1.0, (epsilon, 1e-6)).map(1.0)))
    odd = {**_ODD, "1.5": 1.5}
    attempts.update(_attempts("delta", lambda delta: make(*_space(), 1.0, (1.0, delta)).map(1.0), odd))
    # releases before 0.16 may end the process
    in_time = {words: lambda attempt=attempt: answer_in_time(attempt) for words, attempt in attempts.items()}
    return Nonsense("make_canonical_noise", in_time)


def conversions() -> Nonsense:
    """Losses and deltas of conversions."""

    def stated(measure: Any, loss: float) -> Any:
        return constructor("user_measurement")(*_space(), measure, lambda value: value, lambda _: loss, TO=float)

    def profile(rho: float) -> Any:
        return constructor("zCDP_to_approxDP")(stated(concentrated_divergence(), rho)).map(1.0)

    odd = {"nan": math.nan, "-1": -1.0}
    attempts = _attempts("rho", lambda rho: profile(rho).epsilon(1e-6), odd)
    curve = profile(0.1)
    if hasattr(curve, "delta"):
        attempts.update(_attempts("epsilon", curve.delta, odd))
    attempts.update(_attempts("delta", curve.epsilon, {**_ODD, "1.5": 1.5}))
    # the curves of releases before 0.12 may not answer
    in_time = {words: lambda attempt=attempt: answer_in_time(attempt) for words, attempt in attempts.items()}
    return Nonsense("conversions of measures", in_time)


def adaptive() -> Nonsense:
    """Budgets of adaptive composition."""
    make = constructor("adaptive_composition", "sequential_composition")
    budgets = {"nan": math.nan, "-1": -1.0}
    return Nonsense(
        "make_adaptive_composition",
        _attempts("d_mids=[2.0, *]", lambda d: make(*_space(), max_divergence(), 1.0, [2.0, d]).map(1.0), budgets),
    )


def filters() -> Nonsense:
    """Return the attempts: the budget of a privacy filter."""
    meter = constructor("fully_adaptive_composition")(*_space(), max_divergence())
    make = constructor("privacy_filter")
    budgets = {"nan": math.nan, "-1": -1.0}
    return Nonsense("make_privacy_filter", _attempts("d_out", lambda d_out: make(meter, 1.0, d_out).map(1.0), budgets))


def accuracies() -> Nonsense:
    """Scales, accuracies and levels of the accuracy utilities."""
    odd = {"nan": math.nan, "-1": -1.0}
    levels = {"nan": math.nan, "0": 0.0, "-1": -1.0, "1.5": 1.5}
    attempts: dict[str, Any] = {}
    for noise in ("laplacian", "gaussian", "discrete_laplacian", "discrete_gaussian"):
        accuracy = getattr(dp, f"{noise}_scale_to_accuracy")
        scale = getattr(dp, f"accuracy_to_{noise}_scale")
        for words, ask, values in (
            ("scale", lambda value, ask=accuracy: ask(value, 0.05), odd),
            ("alpha", lambda value, ask=accuracy: ask(1.0, value), levels),
            ("accuracy", lambda value, ask=scale: ask(value, 0.05), odd),
            ("alpha of a scale", lambda value, ask=scale: ask(2.0, value), levels),
        ):
            attempts.update(
                (key, lambda attempt=attempt: answer_in_time(attempt))
                for key, attempt in _attempts(f"{noise} {words}", ask, values).items()
            )
    return Nonsense("accuracy utilities", attempts)


def aggregates() -> Nonsense:
    """Bounds and sizes of aggregates."""
    bad: dict[str, Callable[[], Any]] = {
        "bounds=(1, 0)": lambda: atom(float, (1.0, 0.0)),
        "bounds=(nan, 1)": lambda: atom(float, (math.nan, 1.0)),
        "mean of 0 records": lambda: constructor("mean")(vector(float, 0, (0.0, 1.0)), dp.symmetric_distance()).map(2),
        "sum with bounds=(-inf, inf)": lambda: constructor("sum")(
            vector(float, 3, (-math.inf, math.inf)), dp.symmetric_distance()
        ).map(2),
        "population of 1 for a sample of 3": lambda: constructor("population_amplification")(
            constructor("laplace")(vector(float, 3), dp.l1_distance(T=float), scale=1.0), 1
        ).map(1.0),
    }
    return Nonsense("aggregates", bad)


def nonsense_cases(collect: Collector) -> None:
    """Add the calls that must be refused."""
    for noise in ("laplace", "gaussian"):
        for kind in (float, int):
            collect.add(additive, noise, kind)
    for build in (
        geometric,
        responses,
        bit_vectors,
        selections,
        stopping,
        canonical,
        conversions,
        adaptive,
        filters,
        accuracies,
        aggregates,
    ):
        collect.add(build)
