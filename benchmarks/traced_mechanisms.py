"""Which mechanisms of the catalogue are traced through their own `sample`, and why the others are not.

Usage: ``python benchmarks/traced_mechanisms.py [--seconds S] [GLOB]``. Each mechanism is traced on one input of its
neighbour relation, under limits of time and leaves.
"""

import argparse
import fnmatch
import time
from collections import Counter

from dpassay.claims import Mechanism
from dpassay.impl.catalogue import entries
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import trace
from dpassay.properties.tracing.tree import Limits

NEGLIGIBLE = 1e-9
"""A mechanism is traced if no more probability than this is left undecided."""


def input_of(mechanism: Mechanism) -> list[float]:
    """Return the left side of the first pair that a search would try."""
    [(left, _)] = adversarial_pairs(mechanism.neighbours, seed=0, limit=1)
    return [float(value) for value in left]


def row(mechanism: Mechanism, limits: Limits) -> tuple[str, str]:
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


def main() -> None:
    """Print a line for each mechanism, then the count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="*")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--leaves", type=int, default=2000)
    options = parser.parse_args()
    limits, count = Limits(seconds=options.seconds, leaves=options.leaves), Counter[str]()
    for entry in entries():
        if not fnmatch.fnmatch(entry.where, options.pattern):
            continue
        reach, words = row(entry.mechanism, limits)
        count[reach] += 1
        print(f"{entry.where.removeprefix('dpassay.impl.')}: {reach}: {words}", flush=True)
    print(", ".join(f"{reach}: {number}" for reach, number in count.items()), f"of {count.total()}")


if __name__ == "__main__":
    main()
