"""The l_p sensitivity of a query: the largest p-norm of its change between neighbouring data sets.

Rogers, Samorodnitsky, Wu and Ramdas (2023), Section 2; Cesar and Rogers (2020), Section 6. Exact on a tiny universe:
data sets of at most two records of two kinds, neighbours by adding or removing one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from dpassay.spec.domains.base import Domain
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["DATA_SETS", "QueryTables", "Table", "largest_step", "neighbours", "norm_power", "sensitivity_power"]

DataSet = tuple[int, int]
"""Numbers of records of the two kinds."""
Vector = tuple[int, ...]
Table = tuple[Vector, ...]
"""The value of a query on each of `DATA_SETS`."""

DATA_SETS: tuple[DataSet, ...] = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
POWERS = (1, 2, 3)


@dataclass(frozen=True)
class QueryTables(Domain):
    """Integer vector queries on the tiny universe."""

    def contains(self, value: Any) -> bool:
        """Return whether `value` has one vector for each data set, all of one length."""
        return (
            isinstance(value, tuple)
            and len(value) == len(DATA_SETS)
            and all(isinstance(vector, tuple) for vector in value)
            and len({len(vector) for vector in value}) == 1
        )


Query = Annotated[Table, QueryTables("a vector query on data sets of at most two records")]


def neighbours() -> Iterator[tuple[int, int]]:
    """Yield the places in `DATA_SETS` of all pairs of neighbours, in both orders."""
    for i, one in enumerate(DATA_SETS):
        for j, other in enumerate(DATA_SETS):
            if sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 1:
                yield i, j


def norm_power(vector: Vector, power: int) -> int:
    """Return the p-th power of the p-norm."""
    return sum(abs(x) ** power for x in vector)


def _change(query: Table, i: int, j: int) -> Vector:
    return tuple(b - a for a, b in zip(query[i], query[j], strict=True))


def sensitivity_power(query: Table, power: int) -> int:
    """Return Delta_p^p: the largest p-th power of the p-norm of a change between neighbours."""
    return max(norm_power(_change(query, i, j), power) for i, j in neighbours())


def largest_step(query: Table) -> int:
    """Return Delta_infinity: the largest change of a coordinate."""
    return max(max((abs(x) for x in _change(query, i, j)), default=0) for i, j in neighbours())


def _linear(kinds: DataSet) -> Vector:
    return kinds[0] + 2 * kinds[1], 3 * kinds[1]


def _linear_changes() -> list[int]:
    """Return the powers of the norms of a (1, 0) + b (2, 3) for the differences (a, b) of data sets."""
    differences = [(c - a, d - b) for a, b in DATA_SETS for c, d in DATA_SETS]
    return [abs(a + 2 * b) ** power + 3**power * abs(b) ** power for a, b in differences for power in POWERS]


def _linear_bounds() -> list[int]:
    """Return 5, 13 and 35, the powers of the norms of (2, 3), times those of the distances of data sets."""
    distances = [abs(c - a) + abs(d - b) for a, b in DATA_SETS for c, d in DATA_SETS]
    return [step**power * norm for step in distances for power, norm in zip(POWERS, (5, 13, 35), strict=True)]


@statement(
    ROGERS_2023,
    "lp_sensitivity",
    also=(("cesar2020", "lp_sensitivity"),),
    pins=(
        Pin(
            {"query": tuple(map(_linear, DATA_SETS))},
            "a linear query, whose steps are (1, 0) and (2, 3)",
            smaller=lambda: [9, 13, 25, 13, *_linear_changes()],
            larger=lambda: [13, 25, 26, 18, *_linear_bounds()],
        ),
    ),
)
def sensitivity_bounds_every_path(query: Query) -> Verdict:
    """Delta_p bounds the change between any two neighbours, and k Delta_p the change between data sets at distance k,
    in either order; with d coordinates Delta_inf <= Delta_2 <= Delta_1 <= sqrt(d) Delta_2 <= d Delta_inf.
    """
    one, two, top, size = sensitivity_power(query, 1), sensitivity_power(query, 2), largest_step(query), len(query[0])
    verdicts = [
        at_most_exact(Fraction(top**2), Fraction(two), "Delta_inf^2 against Delta_2^2"),
        at_most_exact(Fraction(two), Fraction(one**2), "Delta_2^2 against Delta_1^2"),
        at_most_exact(Fraction(one**2), Fraction(size * two), "Delta_1^2 against d Delta_2^2"),
        at_most_exact(Fraction(two), Fraction(size * top**2), "Delta_2^2 against d Delta_inf^2"),
    ]
    for i, a in enumerate(DATA_SETS):
        for j, b in enumerate(DATA_SETS):
            steps = sum(abs(x - y) for x, y in zip(a, b, strict=True))
            for power in POWERS:
                change, allowed = (
                    norm_power(_change(query, i, j), power),
                    steps**power * sensitivity_power(query, power),
                )
                verdicts.append(at_most_exact(Fraction(change), Fraction(allowed), f"change from {a} to {b}"))
    return conjunction(verdict.without_tightness() for verdict in verdicts)


@statement(ROGERS_2023, "lp_sensitivity", also=(("cesar2020", "lp_sensitivity"),))
def histograms_have_sensitivity_one() -> Verdict:
    """The histogram has Delta_p = 1 for every p when a record is added or removed; replacing one is two such steps
    and moves it by 2^(1/p), which is 1 in the limit.
    """
    histogram: Table = DATA_SETS
    replaced = tuple(b - a for a, b in zip((1, 0), (0, 1), strict=True))
    return conjunction([
        *(equal_exact(sensitivity_power(histogram, power), 1, f"Delta_{power}") for power in POWERS),
        *(equal_exact(norm_power(replaced, power), 2, f"replacement, p = {power}") for power in POWERS),
        equal_exact(largest_step(histogram), 1, "Delta_inf"),
    ])  # fmt: skip
