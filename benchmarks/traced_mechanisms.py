"""Which mechanisms of the catalogue are traced through their own `sample`, and why the others are not.

Usage: ``python -m benchmarks.traced_mechanisms [--seconds S] [--leaves N] [--lines FILE] [GLOB ...]``. Each mechanism
is traced on one input of its neighbour relation, under limits of time and leaves. With ``--lines``, lines of
earlier runs are read from a file, and only mechanisms that it lacks or does not trace are run. If the whole catalogue
is there, the table is written to ``docs/tracing.md``.
"""

import argparse
import fnmatch
import re
import time
from collections import Counter
from pathlib import Path

from benchmarks.results import markdown_table
from dpassay.impl.catalogue import entries
from dpassay.mechanism import ClaimedMechanism
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import trace
from dpassay.properties.tracing.tree import Limits

DOCUMENT = Path(__file__).parents[1] / "docs" / "tracing.md"
MARK = "<!-- made by `python -m benchmarks.traced_mechanisms` -->"

NEGLIGIBLE = 1e-9
"""A mechanism is traced if no more probability than this is left undecided."""


def input_of(mechanism: ClaimedMechanism) -> list[float]:
    """Return the left side of the first pair that a search would try."""
    [(left, _)] = adversarial_pairs(mechanism.neighbours, seed=0, limit=1)
    return [float(value) for value in left]


def row(mechanism: ClaimedMechanism, limits: Limits) -> tuple[str, str]:
    """Return how far a mechanism is traced, and the figures or the reason."""
    began = time.process_time()
    result = trace(mechanism.sample, input_of(mechanism), limits=limits, replays=16)
    seconds = time.process_time() - began
    if isinstance(result, Refusal):
        return "not traced", f"{result} ({seconds:.2f} s)"
    leaves, undecided = result.model.leaves, float(result.model.undecided)
    outcomes = len({leaf.outcome for leaf in leaves})
    reach = "traced" if undecided <= NEGLIGIBLE else "partly traced"
    return reach, f"{len(leaves)} leaves, {outcomes} outcomes, undecided <= {undecided:.3g} ({seconds:.2f} s)"


def read_lines(path: Path | None) -> dict[str, tuple[str, str]]:
    """Return reach and words of the mechanisms that earlier runs traced."""
    if path is None:
        return {}
    parts = [line.split(": ", 2) for line in path.read_text(encoding="utf-8").splitlines()]
    return {part[0]: (part[1], part[2]) for part in parts if len(part) == 3 and part[1] == "traced"}


def table(found: dict[str, tuple[str, str]], limits: Limits) -> str:
    """Return the table of the document."""
    count = Counter(reach for reach, _ in found.values())
    counts = ", ".join(f"{reach}: {number}" for reach, number in sorted(count.items(), key=lambda one: -one[1]))
    lines = [[f"`{name}`", reach, re.sub(r" \([0-9.]+ s\)$", "", words)] for name, (reach, words) in found.items()]
    within = f"within {limits.leaves:,} leaves and {limits.seconds:g} seconds on a shared machine"
    return f"{counts}, of {count.total()}, {within}.\n\n" + markdown_table(
        ["mechanism", "", "leaves, or the reason"], lines
    )


def write(text: str) -> None:
    """Put the table into the document."""
    before, mark, _ = DOCUMENT.read_text(encoding="utf-8").partition(MARK)
    DOCUMENT.write_text(f"{before}{mark}\n\n{text}\n", encoding="utf-8")


def main() -> None:
    """Print a line for each mechanism, then the count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("patterns", nargs="*", default=["*"])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--leaves", type=int, default=2000)
    parser.add_argument("--lines", type=Path)
    options = parser.parse_args()
    limits, known = Limits(seconds=options.seconds, leaves=options.leaves), read_lines(options.lines)
    names = [(entry.where.removeprefix("dpassay.impl."), entry.mechanism) for entry in entries()]
    found: dict[str, tuple[str, str]] = {}
    for name, mechanism in names:
        if not any(fnmatch.fnmatch(name, pattern) for pattern in options.patterns):
            continue
        found[name] = known.get(name) or row(mechanism, limits)
        print(f"{name}: {found[name][0]}: {found[name][1]}", flush=True)
    if len(found) == len(names):
        write(table(found, limits))


if __name__ == "__main__":
    main()
