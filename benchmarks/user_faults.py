"""Which faults of users' mechanisms a hunt finds that samples, and whether it accuses the repaired ones.

Run with ``python -m benchmarks.user_faults [--calls N] [--alpha A] [--seed K] [--only broken|fixed] [--cases NAME ...]
[--label TEXT]``. Each mechanism of `benchmarks.user_mechanisms` is hunted without tracing. The table is written to
``RESULTS.md`` in a section named by the label, so that runs before and after a change stand side by side.
"""

import argparse
from dataclasses import dataclass

from rich.console import Console

from benchmarks.results import machine, markdown_table, write_section
from benchmarks.user_mechanisms import CASES, Case, Target
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.result import HuntResult


@dataclass(frozen=True)
class Options:
    """The parameters of a run.

    Parameters
    ----------
    calls, seed : int
        Of each hunt.
    alpha : float
        Of each hunt.
    """

    calls: int
    alpha: float
    seed: int


def audit(target: Target, case: Case, options: Options) -> HuntResult:
    """Hunt by samples alone, on the mechanism as if its noise were exact."""
    return hunt(
        target,
        case.claim,
        case.neighbours,
        calls=options.calls,
        budget_seconds=600,
        alpha=options.alpha,
        seed=options.seed,
        call_timeout_seconds=float("inf"),
        isolate=False,
        float64="ignore",
        trace=False,
        shrink=False,
    )


def cells(case: Case, target: Target, options: Options) -> list[str]:
    """Return a row of the table."""
    result = audit(target, case, options)
    kind = "broken" if target is case.broken else "fixed"
    evidence = 0.0 if result.e_value_log10 is None else result.e_value_log10
    return [case.name, kind, result.verdict.value, f"10^{evidence:.1f}", f"{result.cpu_seconds:.1f}"]


def main() -> None:
    """Hunt on all cases, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=lambda text: int(float(text)), default=200_000, help="of each hunt")
    parser.add_argument("--alpha", type=float, default=1e-6, help="level of each hunt")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("broken", "fixed"))
    parser.add_argument("--cases", nargs="+", metavar="NAME", default=[case.name for case in CASES])
    parser.add_argument("--label", default="", help="goes to the title of the section")
    parser.add_argument("--dry", action="store_true", help="print only")
    given = parser.parse_args()
    options = Options(given.calls, given.alpha, given.seed)
    rows = []
    for case in (case for case in CASES if case.name in given.cases):
        for kind, target in (("broken", case.broken), ("fixed", case.fixed)):
            if given.only in {None, kind}:
                rows.append(cells(case, target, options))
                Console().print(*rows[-1])
    summary = []
    for kind, words in (("broken", "broken mechanisms refuted"), ("fixed", "repaired ones refuted (false alarms)")):
        of_kind = [row for row in rows if row[1] == kind]
        if of_kind:
            summary.append(f"{words}: {sum(row[2] == 'violated' for row in of_kind)} of {len(of_kind)}")
    Console().print(*summary, sep="\n")
    if given.dry:
        return
    write_section(
        f"Faults of users' mechanisms{f', {given.label}' if given.label else ''}",
        f"`python -m benchmarks.user_faults --calls {options.calls} --alpha {options.alpha:g} --seed {options.seed}`. "
        f"{machine()}\n\nNo mechanism was traced. {'; '.join(summary)}.\n\n"
        + markdown_table(["mechanism", "", "verdict", "e-value", "CPU s"], rows),
    )


if __name__ == "__main__":
    main()
