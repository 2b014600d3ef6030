"""Optimal composition: times against what is required, and exact values against dp-accounting; run it as a script.

The second table needs dp-accounting and is left out where it is not installed. Its PLD accountant is run twice, with
pessimistic and with optimistic rounding, which makes an interval. Randomised response and bounded range are compared
with the optimal composition itself, which they attain; Laplace with the bound for any pure mechanism; Gaussian with
its closed form.
"""

import importlib
import importlib.util
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.impl.accounting.adaptive_composition import AdaptiveComposition, bounded_range_mechanism, pure_mechanism
from dpassay.impl.accounting.gaussian import gaussian_delta
from dpassay.impl.accounting.mixed_composition import BoundedRangeBatch, MixedBatch
from dpassay.impl.accounting.optimal_composition import PureComposition

REPEATS = 3
INTERVAL = 1e-4  # the peer's default discretisation of the loss


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the best time of a few runs, and the result."""
    best, result = math.inf, None
    for _ in range(REPEATS):
        begin = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - begin)
    return best, result


def own_times() -> None:
    """Print how long the accountants take, beside what is required of them."""
    tenths = [0.1 * (1 + k % 7) for k in range(50)]
    irrational = [float(x) for x in np.random.default_rng(1).uniform(0.01, 1, 50)]
    ranges = [bounded_range_mechanism(0.1)] * 20
    mixed = [pure_mechanism(0.1), bounded_range_mechanism(0.1)] * 10
    cases: list[tuple[str, float | None, Callable[[], float]]] = [
        ("Thm 3, k = 100", 0.05, lambda: MixedBatch(pure=50, bounded_range=50, mechanism_epsilon=0.1).delta(2.0)),
        ("Thm 3, k = 1000", 5.0, lambda: MixedBatch(pure=300, bounded_range=700, mechanism_epsilon=0.1).delta(15.0)),
        ("recursion, k = 20, all bounded range", 10.0, lambda: gap(AdaptiveComposition(ranges))),
        ("recursion, k = 20, alternating", 10.0, lambda: gap(AdaptiveComposition(mixed))),
        ("50 pure, commensurable", 1.0, lambda: PureComposition(tenths).delta(8.0)),
        ("50 pure, any", None, lambda: gap(PureComposition(irrational), 8.0)),
    ]
    print(f"{'':40} {'seconds':>9} {'required':>9}   delta, or width / delta")
    for name, required, call in cases:
        seconds, value = timed(call)
        print(f"{name:40} {seconds:9.4f} {required or '-':>9}   {value:.3g}")


def gap(accountant: AdaptiveComposition | PureComposition, epsilon: float = 0.5) -> float:
    """Return the relative gap between the two certified sides."""
    upper = accountant.delta(epsilon)
    return (upper - accountant.delta_lower(epsilon)) / upper


def against_the_peer() -> None:
    """Print values and times beside those of dp-accounting."""
    pld = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")

    def response(epsilon: float, top: float, pessimistic: bool) -> Any:
        q = math.expm1(top - epsilon) / math.expm1(-epsilon)
        left = {0: math.log(q), 1: math.log1p(-q)}
        right = {0: math.log(q) - top, 1: math.log1p(-q) - top + epsilon}
        return pld.from_two_probability_mass_functions(
            right, left, pessimistic_estimate=pessimistic, value_discretization_interval=INTERVAL
        )

    def classical(epsilon: float, pessimistic: bool) -> Any:
        noise = 2 / (1 + math.exp(epsilon))
        return pld.from_randomized_response(
            noise, 2, pessimistic_estimate=pessimistic, value_discretization_interval=INTERVAL
        )

    options = {"value_discretization_interval": INTERVAL, "use_connect_dots": False}

    def laplace(epsilon: float, pessimistic: bool) -> Any:
        return pld.from_laplace_mechanism(1 / epsilon, pessimistic_estimate=pessimistic, **options)

    def gaussian(sigma: float, pessimistic: bool) -> Any:
        return pld.from_gaussian_mechanism(sigma, pessimistic_estimate=pessimistic, **options)

    root = math.sqrt(30)
    batch = BoundedRangeBatch(20, 0.2)
    top = max(batch._candidates(1.0), key=lambda t: batch._delta_at(t, 1.0))  # noqa: SLF001  # the best t
    cases: list[tuple[str, int, float, Callable[[], float], Callable[[bool], Any]]] = [
        ("randomised response(0.1)", 50, 2.0, lambda: pure(0.1, 50, 2.0), lambda up: classical(0.1, up)),
        ("randomised response(1)", 20, 12.0, lambda: pure(1.0, 20, 12.0), lambda up: classical(1.0, up)),
        ("bounded range(0.2), best t", 20, 1.0, lambda: batch.delta(1.0), lambda up: response(0.2, float(top), up)),
        ("Laplace(0.1), any pure", 50, 2.0, lambda: pure(0.1, 50, 2.0), lambda up: laplace(0.1, up)),
        ("Gaussian(10)", 30, 2.0, lambda: float(gaussian_delta(2.0, 10 / root)), lambda up: gaussian(10.0, up)),
    ]
    titles = ("own delta", "PLD below", "PLD above", "width/own", "time ratio")
    print(f"\n{'':28}{'k':>3} {'eps':>4} " + " ".join(f"{title:>12}" for title in titles))
    for name, count, level, own, make in cases:
        seconds, value = timed(own)
        first, below = composed_delta(lambda make=make: make(False), count, level)  # type: ignore[misc]
        second, above = composed_delta(lambda make=make: make(True), count, level)  # type: ignore[misc]
        figures = (value, below, above, (above - below) / value, (first + second) / seconds)
        print(f"{name:28}{count:3} {level:4} " + " ".join(f"{figure:12.6g}" for figure in figures))


def pure(epsilon: float, count: int, level: float) -> float:
    """Return the optimal delta of pure mechanisms of one epsilon."""
    return PureComposition([epsilon] * count).delta(level)


def composed_delta(make: Callable[[], Any], count: int, level: float) -> tuple[float, float]:
    """Return the time and the delta of a PLD, composed with itself."""
    return timed(lambda: make().self_compose(count).get_delta_for_epsilon(level))


def main() -> None:
    """Print the tables."""
    own_times()
    if importlib.util.find_spec("dp_accounting") is None:
        print("\ndp-accounting is not installed: no comparison")
    else:
        against_the_peer()


if __name__ == "__main__":
    main()
