"""How far the set-wise adaptive bounds are from the optimal adaptive analyst: epsilon at a delta, bound over truth.

Run: python benchmarks/setwise_tightness.py
"""

import math
import time
from fractions import Fraction

from dpassay.impl.accounting.setwise import LossProxy, bounded_range_proxy, pure_proxy, setwise_epsilon
from dpassay.properties.games.setwise import optimal_delta
from dpassay.spec.interactions.setwise import Parameter

DELTA = Fraction(1, 100)
SETS: tuple[tuple[tuple[str, Fraction], ...], ...] = (
    (("range", Fraction(5, 3)), ("pure", Fraction(19, 7))),
    (("range", Fraction(19, 7)), ("pure", Fraction(5, 3))),
    (("range", Fraction(5, 3)), ("range", Fraction(19, 7)), ("pure", Fraction(19, 7))),
    (("pure", Fraction(5, 3)),) * 4,
)


def true_epsilon(registered: tuple[Parameter, ...]) -> float:
    """Return the epsilon of the optimal analyst on a lattice of 4, by bisection of the exact delta."""
    low, high = 0.0, sum(math.log(parameter.ratio) for parameter in registered)
    for _ in range(30):
        middle = (low + high) / 2
        exceeds = optimal_delta(registered, Fraction(math.exp(middle)).limit_denominator(10**6)) > DELTA
        low, high = (middle, high) if exceeds else (low, middle)
    return high


def proxies(registered: tuple[Parameter, ...], *, sharp: bool) -> list[LossProxy]:
    """Return what each parameter adds."""
    make = {"pure": pure_proxy, "range": bounded_range_proxy}
    return [make[parameter.kind](math.log(parameter.ratio), sharp=sharp) for parameter in registered]


def main() -> None:
    """Print one line for each registered set."""
    print("set; true epsilon; eq (3) / true; sharper proxies / true; basic / true; seconds for the truth")
    for kinds in SETS:
        registered = tuple(Parameter(kind, ratio) for kind, ratio in kinds)  # type: ignore[arg-type]  # literals
        start = time.perf_counter()
        truth = true_epsilon(registered)
        seconds = time.perf_counter() - start
        plain = setwise_epsilon(proxies(registered, sharp=False), float(DELTA)).epsilon
        sharp = setwise_epsilon(proxies(registered, sharp=True), float(DELTA)).epsilon
        basic = sum(math.log(parameter.ratio) for parameter in registered)
        names = ", ".join(f"{kind} {math.log(ratio):.2f}" for kind, ratio in kinds)
        print(f"{names}; {truth:.4f}; {plain / truth:.3f}; {sharp / truth:.3f}; {basic / truth:.3f}; {seconds:.2f}")


if __name__ == "__main__":
    main()
