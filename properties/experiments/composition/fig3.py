"""Gap in delta between two orders of two bounded-range mechanisms and a pure one."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb

from dpassay.impl.accounting.adaptive_composition import AdaptiveComposition, bounded_range_mechanism, pure_mechanism
from dpassay.properties.experiments.base import Progress, experiment
from dpassay.properties.experiments.output import draw, table
from dpassay.spec.ball import ball, enclosure, float_lower, float_upper
from dpassay.spec.theorems.composition.three_mechanisms import x_of, y_of, z_of

__all__ = ["COLUMNS", "gap_row", "order_gap_figure"]

Row = dict[str, Any]

EPSILON = 1.0
LEVELS = tuple(float(x) for x in np.arange(100) / 100)
COLUMNS = (
    "epsilon",
    "pure_first",
    "pure_second",
    "gap_lower",
    "gap_upper",
    "ratio",
    "accountant_first",
    "accountant_second",
)


@experiment("order-gap", ("cesar2020", "fig3_order_gap"))
def order_gap_figure(out: Path, *, seed: int, trials: int | None, progress: Progress) -> list[Path]:  # noqa: ARG001  # nothing is random
    """Compute the gap in delta between the orders (DP, BR, BR) and (BR, DP, BR), for mechanisms with epsilon = 1.

    Cesar and Rogers 2020, Fig 3: the difference of the two deltas, enclosed, and their ratio (larger over smaller; the
    figure does not say which way). The accountant computes the same by its recursion, from above.

    Parameters
    ----------
    out : Path
        Folder for tables and figures.
    seed : int
        Seed of all random choices.
    trials : int or None
        Number of repetitions; None for that of the paper.
    progress : callable
        Takes a description and the fraction done.
    """
    orders = ("pure", "bounded range", "bounded range"), ("bounded range", "pure", "bounded range")
    make = {"pure": pure_mechanism, "bounded range": bounded_range_mechanism}
    accountants = [AdaptiveComposition([make[kind](EPSILON) for kind in order]) for order in orders]
    rows = []
    with table(out / "order_gap.csv", *COLUMNS) as lines:
        for done, level in enumerate(LEVELS, 1):
            row = gap_row(level)
            for name, accountant in zip(("accountant_first", "accountant_second"), accountants, strict=True):
                row[name] = accountant.delta(level)
            lines.write(**row)
            rows.append(row)
            progress("order gap", 0.9 * done / len(LEVELS))
    return [out / "order_gap.csv", *draw(out / "order_gap.png", 2, partial(_paint, rows), progress)]


def gap_row(level: float) -> Row:
    """Return the closed forms of Lemma 5.4 at epsilon = 1, enclosed."""
    first, second = enclosure(lambda: _closed_form(level)[0]), enclosure(lambda: _closed_form(level)[1])
    gap = enclosure(lambda: _closed_form(level)[0] - _closed_form(level)[1], relative_bits=24)
    return {
        "epsilon": level,
        "pure_first": float_upper(first),
        "pure_second": float_upper(second),
        "gap_lower": float_lower(gap),
        "gap_upper": float_upper(gap),
        "ratio": float_upper(first / second),
    }


def _closed_form(level: float) -> tuple[arb, arb]:
    """Enclose delta(DP,BR,BR) and delta(BR,DP,BR)."""
    epsilon, g = ball(EPSILON), ball(level)
    v, w = (epsilon / 2).exp(), (g / 2).exp()
    half, first, second = (epsilon / 4).exp(), ((epsilon + g) / 6).exp(), ((2 * epsilon + g) / 6).exp()
    last = z_of(second, v, w)
    if level >= EPSILON / 2:
        return x_of(half, v, w) + last, x_of(half, v, w)
    return y_of(first, v, w) + last, y_of(half, v, w) + z_of(half, v, w)


def _paint(rows: list[Row], gap: Any, ratio: Any) -> None:
    levels = [row["epsilon"] for row in rows]
    gap.plot(levels, [row["gap_upper"] for row in rows])
    gap.set(xlabel="epsilon_g", ylabel="delta", title="(DP, BR, BR) minus (BR, DP, BR)")
    ratio.plot(levels, [row["ratio"] for row in rows])
    ratio.set(xlabel="epsilon_g", title=f"the ratio, epsilon = {EPSILON:g}", ylim=(1, math.nextafter(1.012, 2)))
