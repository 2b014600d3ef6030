"""The rows of the common benchmark as plain functions: both figures by tracing, and what sampling reaches.

Run with ``python -m benchmarks.traced_rows [ROW ...]``.

For every row of `examples/benchmark_rows.py`: its claim; the loss certified at the worst pair tried (lower) and the
bound of an alignment for all inputs (upper, a dash without one), from the code alone; the certified loss of
`benchmarks.known_losses`, from the theorems of `spec` on the mechanism of the catalogue; CPU seconds. Beside them,
from the table of 10,000,000 calls above, the lower bound that a black-box hunt certifies for the same mechanism, and
its CPU seconds. SVT34Parallel has 4,356 leaves with two numbers each, too many for the losses at pairs.
"""

import argparse
import importlib.util
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import RESULTS, machine, markdown_table, write_section
from benchmarks.rows import ROWS, Row
from benchmarks.traced_figures import Figures, figures
from dpassay.claims import PureDP
from dpassay.neighbours import VectorNeighbours
from dpassay.properties.drawing.target import load_target
from dpassay.properties.hunting.hunt import hunt

EXAMPLES = Path(__file__).parents[1] / "examples" / "benchmark_rows.py"

SAMPLED = r"## The common benchmark, 10,000,000 calls a row\n(.*?)\n## "
BOUND, SECONDS = "our bound", "CPU s"

TEN = VectorNeighbours(10, linf=1.0, low=-10.0, high=10.0)
FIVE = VectorNeighbours(5, linf=1.0, low=-10.0, high=10.0)
ONE = VectorNeighbours(1, linf=1.0, low=-10.0, high=10.0)


@dataclass(frozen=True)
class Case:
    """How a row is traced: its function, its neighbours, and further pairs."""

    function: str
    relation: VectorNeighbours
    factors: int = 0
    more: tuple[Any, ...] = ()
    designed: int = 2
    most: int | None = None


def _corner(*groups: tuple[int, float]) -> Any:
    return np.concatenate([np.full(count, value) for count, value in groups])


LAST = (
    (_corner((9, -9.0), (1, 9.0)), _corner((9, -10.0), (1, 10.0))),
    (_corner((9, -10.0), (1, 10.0)), _corner((9, -9.0), (1, 9.0))),
    (_corner((9, 10.0), (1, -10.0)), _corner((9, 9.0), (1, -9.0))),
)
"""All queries but one on one side, far from the last."""

CASES = {
    "Laplace": Case("laplace", ONE),
    "TruncatedGeometric": Case(
        "truncated_geometric", VectorNeighbours(1, linf=1.0, low=0.0, high=5.0, integer=True), designed=5
    ),
    "NoisyHist1": Case("noisy_hist_1", VectorNeighbours(5, l0=1, linf=1.0, low=-10.0, high=10.0)),
    "NoisyHist2": Case("noisy_hist_2", VectorNeighbours(5, l0=1, linf=1.0, low=-10.0, high=10.0)),
    "NoisyMax1": Case("noisy_max_1", FIVE),
    "NoisyMax2": Case("noisy_max_2", FIVE),
    "NoisyMax3": Case("noisy_max_3", FIVE),
    "NoisyMax4": Case("noisy_max_4", FIVE),
    "SVT1": Case("svt_1", TEN, more=LAST),
    "SVT2": Case("svt_2", TEN, more=LAST),
    "SVT3": Case("svt_3", TEN, more=LAST),
    "SVT4": Case("svt_4", TEN, more=LAST),
    "SVT5": Case("svt_5", TEN),
    "SVT6": Case("svt_6", TEN, most=2),
    "NumericalSVT": Case("numerical_svt", TEN, more=LAST),
    "RAPPOR": Case(
        "rappor", VectorNeighbours(1, l0=1, linf=1.0, low=0.0, high=999.0, integer=True), factors=20, designed=3
    ),
    "OneTimeRAPPOR": Case(
        "one_time_rappor",
        VectorNeighbours(1, l0=1, linf=1.0, low=0.0, high=999.0, integer=True),
        factors=20,
        designed=3,
    ),
    "LaplaceParallel": Case("laplace_parallel", ONE),
    "PrefixSum": Case("prefix_sum", TEN),
}


def functions() -> Any:
    """Return the module of the examples."""
    spec = importlib.util.spec_from_file_location("benchmark_rows", EXAMPLES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def traced(name: str) -> Figures:
    """Return the figures of a row."""
    case = CASES[name]
    function: Callable[..., Any] = getattr(functions(), case.function)
    return figures(function, case.relation, more=case.more, designed=case.designed, factors=case.factors,
                   most=case.most)  # fmt: skip


def line(row: Row) -> list[str]:
    """Return a line of the table."""
    mechanism = load_target(row.target)
    known = hunt(mechanism, PureDP(0.0)).epsilon_lower
    claim, reached = f"{mechanism.claims[0].epsilon:.6g}", sampled(row.name)
    if row.name not in CASES:
        return [row.name, claim, "-", "-", f"{known:.12g}", "-", "-", "-", *reached]
    found = traced(row.name)
    return [
        row.name, claim, f"{found.lower:.12g}", _upper(found.upper), f"{known:.12g}", f"{found.leaves}",
        f"{found.traced + found.proved:.2f}", f"{found.compared:.2f}", *reached,
    ]  # fmt: skip


def sampled(name: str) -> tuple[str, str]:
    """Return bound and CPU seconds of a black-box hunt with 10,000,000 calls, as written in the results."""
    [section] = re.findall(SAMPLED, RESULTS.read_text(encoding="utf-8"), re.DOTALL)
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("|")]
    found = next((dict(zip(table[0], cells, strict=True)) for cells in table if cells[0] == name), None)
    return ("-", "-") if found is None else (found[BOUND], found[SECONDS])


def _upper(figure: float) -> str:
    return "-" if math.isinf(figure) else f"{figure:.12g}"


def main() -> None:
    """Print the table, and write it if it has all rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    headings = ["row", "claim", "lower", "upper", "known loss", "leaves", "trace and proof, CPU s", "losses, CPU s",
                "sampled", "sampling, CPU s"]  # fmt: skip
    lines = []
    for row in ROWS:
        if not options.rows or row.name in options.rows:
            lines.append(line(row))
            print(" | ".join(lines[-1]), flush=True)
    if not options.rows:
        text = "\n\n".join([(__doc__ or "").strip().split("\n\n", 1)[1], machine(), markdown_table(headings, lines)])
        write_section("The common benchmark by tracing", text)


if __name__ == "__main__":
    main()
