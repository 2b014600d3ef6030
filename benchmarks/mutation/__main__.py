"""Random one-point mutants of `spec` and `impl`, judged by the statements, errata and tests that reach them.

Run with ``python -m benchmarks.mutation [--count N] [--seed S] [--budget B] [--store DIR]``. The first run measures
which checks reach which code (as long as the whole test suite; later runs repeat what a change concerns). All checks
are collected once, and each mutant is tried in a child of that process, in the order of the draw: the mutants that an
interrupted run has tried are a random sample as well. Results go to a file of JSON lines in the store, and
a run that was interrupted resumes where it stopped. ``--again`` asks the survivors again, after checks have changed;
any other change of the sources makes another draw.
``--budget`` limits the CPU seconds of the checks of one mutant; a survivor of a limited trial is ``open``, and is
tried with every check by a run without a limit. Survivors are sorted by hand in ``survivors.toml``; ``--report``
writes the table to ``RESULTS.md``.

Why not a kept library. mutmut 3 keeps every mutant of a function beside it behind a dispatcher, which hides the
signatures from which statements take their quantifiers, and changes nothing outside functions. cosmic-ray edits the
tree in place, starts a fresh interpreter for each mutant, and cannot choose tests by what they reach. Neither has
operators for rounding directions, dropped terms and swapped arguments, or draws at random with a seed.
"""

import argparse
import math
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from benchmarks.mutation.mutants import Mutant, draw, find
from benchmarks.mutation.overlay import Overlay
from benchmarks.mutation.reach import Check, Reach, load, measure
from benchmarks.mutation.records import Record, append, read
from benchmarks.mutation.report import rate_of, rates_line, section
from benchmarks.mutation.schedule import Judge, with_checks_collected
from benchmarks.mutation.sorting import read_sorting
from benchmarks.mutation.trial import Bench
from benchmarks.results import machine, write_section

TREE = Path(__file__).parents[2]
SEED = 20261122
TESTS = ("tests",)
NOT_REACHING = (
    "tests/third_party",
    "tests/plugin",
    "tests/benchmarks",
    "tests/impl/libraries",
    "tests/test_packaging.py",
)


def main() -> None:
    """Run what the command line asks for."""
    options = _options()
    console = Console()
    options.store.mkdir(parents=True, exist_ok=True)
    results = options.store / "results.jsonl"
    if not options.report:
        _run(options, results, console)
    _report(options, results, console)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=600, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the draw")
    parser.add_argument(
        "--budget", type=float, default=None, help="CPU seconds of checks for a mutant; no limit if left out"
    )
    parser.add_argument("--store", type=_path, default=TREE / "results" / "mutation", help="directory of the results")
    parser.add_argument("--tree", type=_path, default=TREE, help="checkout to mutate copies of")
    parser.add_argument("--again", action="store_true", help="try survivors again")
    parser.add_argument("--report", action="store_true", help="only write the table of what there is to RESULTS.md")
    return parser.parse_args()


def _path(text: str) -> Path:
    return Path(text).resolve()  # trials change the working directory


def _run(options: argparse.Namespace, results: Path, console: Console) -> None:
    todo = _todo(options, read(results))
    if not todo:
        return
    with tempfile.TemporaryDirectory(prefix="mutation-") as directory:
        reach = _measured(options, Path(directory), console)
        files = {check.path for checks in reach.by_file.values() for check in checks}

        def judge(bench: Bench) -> None:
            for trial in Judge(bench, reach, _chooser(reach, options.budget)).run_all(todo):
                record = Record.of(trial)
                append(results, record)
                console.print(f"{record.status:9} {record.seconds:7.1f} s  {record.path}:{record.line}", *record.diff)

        with_checks_collected(Overlay.of(options.tree, Path(directory) / "copy"), files, judge)


def _todo(options: argparse.Namespace, done: Mapping[str, Record]) -> list[Mutant]:
    if options.again:
        return find(options.tree, {key: (each.path, each.function) for key, each in done.items() if each.alive})
    drawn = draw(options.tree, options.count, options.seed)
    return [mutant for mutant in drawn if is_due(done.get(mutant.key), options.budget)]


def is_due(record: Record | None, budget: float | None) -> bool:
    """Return whether a drawn mutant with this last record is tried."""
    return record is None or record.status == "error" or (record.status == "open" and budget is None)


def _measured(options: argparse.Namespace, directory: Path, console: Console) -> Reach:
    path = options.store / "reach.jsonl"
    console.print("measuring which checks reach which code ...")
    ignored = [f"--ignore={each}" for each in NOT_REACHING]
    measure(Overlay.of(options.tree, directory / "reach"), [*TESTS, *ignored], path)
    reach, failed = load(options.tree, path)
    if failed:
        console.print(f"{failed} checks fail without a mutant and are left out")
    return reach


def _chooser(reach: Reach, budget: float | None) -> Callable[[Mutant], tuple[list[Check], int]]:
    def choose(mutant: Mutant) -> tuple[list[Check], int]:
        checks, left = reach.checks(mutant), math.inf if budget is None else budget
        chosen = []
        for check in checks:
            if check.cost <= left:
                left -= check.cost
                chosen.append(check)
        return chosen or checks[:1], len(checks)

    return choose


def _report(options: argparse.Namespace, results: Path, console: Console) -> None:
    sorting = read_sorting()
    records = [record for record in read(results).values() if record.status != "error"]
    console.print(f"{len(records)} mutants, kill rate of those that are not equivalent: {rate_of(records, sorting)}")
    if options.report:
        first = read(results, first=True)
        command = f"`python -m benchmarks.mutation --count {options.count} --seed {options.seed}`. {machine()}"
        rates = rates_line(records, [first[record.key] for record in records], sorting)
        write_section("Random mutants", f"{command}\n\n{rates}\n\n{section(records, sorting)}")


if __name__ == "__main__":
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    main()
