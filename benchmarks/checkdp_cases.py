"""CheckDP's 17 cases, proved or refuted by tracing, in CPU seconds.

Run with ``python -m benchmarks.checkdp_cases [--sizes N ...] [CASE ...]``. Each case is a plain Python function of
`examples/checkdp.py` with epsilon = 1, run for several numbers of queries and, where there is one, cutoffs 1 and 2.
Upper: the bound of an alignment for all inputs of that length; lower: the loss at a pair, looked for only where the
upper figure exceeds the claim. A case is proved where the upper figure is at most its claim and refuted where the
lower one is above it. CheckDP (Wang, Ding,
Kifer and Zhang 2020) publishes at most 70 seconds for each case, with the number of queries and the cutoff as
parameters; two of its broken programs are private for short inputs, where a proof is right.
"""

import argparse
import functools
import importlib.util
import inspect
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.results import machine, markdown_table, write_section
from benchmarks.traced_figures import Figures, figures
from dpassay.neighbours import VectorNeighbours

EXAMPLES = Path(__file__).parents[1] / "examples" / "checkdp.py"
SIZES = (2, 3, 5, 8)
ALLOWANCE = 2.0**-50
"""Claims are read with the relative allowance of a float64 number."""


@dataclass(frozen=True)
class Case:
    """A program: its function, its claim, whether CheckDP found it private, and its neighbours."""

    function: str
    private: bool
    claim: float = 1.0
    one_differs: bool = False
    monotone: bool = False

    def relation(self, size: int) -> VectorNeighbours:
        """Return the neighbours of one number of queries."""
        return VectorNeighbours(size, l0=1 if self.one_differs else None, linf=1.0, monotone=self.monotone)


CASES = {
    "NoisyMax": Case("noisy_max", True),
    "BadNoisyMax": Case("bad_noisy_max", False),
    "SparseVector": Case("sparse_vector", True),
    "SVT increasing": Case("sparse_vector_monotone", True, monotone=True),
    "SVT decreasing": Case("sparse_vector_monotone", True, monotone=True),
    "BadSparseVector1": Case("bad_sparse_vector_1", False),
    "BadSparseVector2": Case("bad_sparse_vector_2", False),
    "BadSparseVector3": Case("bad_sparse_vector_3", False),
    "NumSparseVector": Case("numerical_sparse_vector", True),
    "GapSparseVector": Case("gap_sparse_vector", True),
    "BadGapSparseVector": Case("bad_gap_sparse_vector", False),
    "AdaptiveSparseVector": Case("adaptive_sparse_vector", True),
    "BadAdaptiveSparseVector": Case("bad_adaptive_sparse_vector", False),
    "PartialSum": Case("partial_sum", True, one_differs=True),
    "BadPartialSum": Case("bad_partial_sum", False, one_differs=True),
    "SmartSum": Case("smart_sum", True, claim=2.0, one_differs=True),
    "BadSmartSum": Case("bad_smart_sum", False, claim=2.0, one_differs=True),
}


def runs(case: Case, sizes: tuple[int, ...] = SIZES) -> Iterator[tuple[int, int | None, Figures]]:
    """Yield number of queries, cutoff and figures."""
    function = getattr(functions(), case.function)
    cutoffs: tuple[int | None, ...] = (1, 2) if "cutoff" in inspect.signature(function).parameters else (None,)
    for cutoff in cutoffs:
        sampler = function if cutoff is None else functools.partial(function, cutoff=cutoff)
        for size in sizes:
            yield size, cutoff, figures(sampler, case.relation(size), designed=2, enough=case.claim * (1 + ALLOWANCE))


def functions() -> Any:
    """Return the module of the examples."""
    spec = importlib.util.spec_from_file_location("checkdp_examples", EXAMPLES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def decision(case: Case, found: Figures) -> str:
    """Return whether the claim is proved, refuted or left open."""
    if found.upper <= case.claim * (1 + ALLOWANCE):
        return "proved"
    return "refuted" if found.lower > case.claim * (1 + ALLOWANCE) else "open"


def main() -> None:
    """Print a line for each run, and write the table if all cases were run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    options = parser.parse_args()
    lines = []
    for name, case in CASES.items():
        if options.cases and name not in options.cases:
            continue
        for size, cutoff, found in runs(case, tuple(options.sizes)):
            lower = f"{found.lower:.9g}" if found.pair else "-"
            upper = f"{found.upper:.9g}" if math.isfinite(found.upper) else "-"
            private = "yes" if case.private else "no"
            cells = [name, private, f"{case.claim:g}", str(size), str(cutoff or "-"), lower, upper,
                     decision(case, found), f"{found.seconds:.2f}"]  # fmt: skip
            lines.append(cells)
            print(" | ".join(cells), flush=True)
    if not options.cases:
        headings = ["case", "private", "claim", "queries", "cutoff", "lower", "upper", "decision", "CPU s"]
        text = "\n\n".join([(__doc__ or "").strip().split("\n\n")[1], machine(), markdown_table(headings, lines)])
        write_section("CheckDP's cases", text)


if __name__ == "__main__":
    main()
