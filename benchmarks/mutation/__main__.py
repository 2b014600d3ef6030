"""Random one-point mutants of `spec` and `impl`, judged by the statements, errata and tests that reach them.

Run with ``python -m benchmarks.mutation [--count N] [--seed S] [--budget B] [--store DIR]``. The first run measures
which checks reach which code (later runs repeat what a change concerns). It does so in two stages: the statements and
the tests of `spec`, of `impl` and of the harness come first and kill most mutants; the other tests, which take longer,
are measured and tried for the survivors only. The checks of a stage are collected once, and each mutant is tried in a
child of that process, in the order of the draw: the mutants that an interrupted run has tried in both stages are a
random sample as well. Results go to a file of JSON lines in the store, and a run that was interrupted resumes where it
stopped. ``--again`` asks the survivors again, after checks have changed; any other change of the sources makes another
draw. ``--budget`` limits the CPU seconds of the checks of one mutant in each stage; a survivor of a limited trial is
``open``, and is tried with every check by a run without a limit. Survivors are sorted by hand in ``survivors.toml``;
``--report`` writes the table to ``RESULTS.md``.

Why not a kept library. mutmut 3 keeps every mutant of a function beside it behind a dispatcher, which hides the
signatures from which statements take their quantifiers, and changes nothing outside functions. cosmic-ray edits the
tree in place, starts a fresh interpreter for each mutant, and cannot choose tests by what they reach. Neither has
operators for rounding directions, dropped terms and swapped arguments, or draws at random with a seed.
"""

import argparse
import math
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from benchmarks.mutation.mutants import Mutant, draw, find
from benchmarks.mutation.overlay import STATEMENT_CHECKS, Overlay
from benchmarks.mutation.reach import Check, Reach, load, measure
from benchmarks.mutation.records import PART, Record, append, read
from benchmarks.mutation.report import rate_of, rates_line, section
from benchmarks.mutation.schedule import Judge, with_checks_collected
from benchmarks.mutation.sorting import read_sorting
from benchmarks.mutation.trial import Bench
from benchmarks.results import machine, write_section

TREE = Path(__file__).parents[2]
SEED = 20261122
FIRST = ("tests/spec", "tests/impl", "tests/meta")
ALL = ("tests",)
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
    """Run the stages, each in a process of its own: pytest collects once in a process."""
    for last in (False, True):
        todo = _todo(options, read(results), last)
        if todo:
            context = multiprocessing.get_context("fork")
            process = context.Process(target=_run_stage, args=(options, todo, results, console, last))
            process.start()
            process.join()
            if process.exitcode != 0:
                raise SystemExit("the stage ended with an error, which stands above")


def _run_stage(options: argparse.Namespace, todo: list[Mutant], results: Path, console: Console, last: bool) -> None:
    before = {key: record for key, record in read(results).items() if record.status == PART}
    with tempfile.TemporaryDirectory(prefix="mutation-") as directory:
        reach = _measured(options, Path(directory), console, ALL if last else FIRST)
        files = {check.path for checks in reach.by_file.values() for check in checks}

        def judge(bench: Bench) -> None:
            for trial in Judge(bench, reach, _chooser(reach, options.budget, before)).run_all(todo):
                record = Record.of(trial).after(before.get(trial.mutant.key), last)
                append(results, record)
                console.print(f"{record.status:9} {record.seconds:7.1f} s  {record.path}:{record.line}", *record.diff)

        with_checks_collected(Overlay.of(options.tree, Path(directory) / "copy"), files, judge)


def _todo(options: argparse.Namespace, done: Mapping[str, Record], last: bool) -> list[Mutant]:
    if options.again:
        alive = {key: each for key, each in done.items() if each.alive and (each.status == PART or not last)}
        return find(options.tree, {key: (each.path, each.function) for key, each in alive.items()})
    drawn = draw(options.tree, options.count, options.seed)
    return [mutant for mutant in drawn if is_due(done.get(mutant.key), options.budget, last)]


def is_due(record: Record | None, budget: float | None, last: bool) -> bool:
    """Return whether a drawn mutant with this last record is tried in the first or the last stage."""
    if record is None or record.status == "error":
        return True
    return (record.status == "open" and budget is None) or (record.status == PART and last)


def _measured(options: argparse.Namespace, directory: Path, console: Console, tests: tuple[str, ...]) -> Reach:
    path = options.store / "reach.jsonl"
    console.print(f"measuring which checks of {', '.join(tests)} reach which code ...")
    ignored = [f"--ignore={each}" for each in NOT_REACHING]
    there = [each for each in tests if (options.tree / each).exists()]
    measure(Overlay.of(options.tree, directory / "reach"), [*there, *ignored], path)
    reach, failed = load(options.tree, path)
    if failed:
        console.print(f"{failed} checks fail without a mutant and are left out")
    return reach


def _chooser(
    reach: Reach, budget: float | None, before: Mapping[str, Record]
) -> Callable[[Mutant], tuple[list[Check], int]]:
    def choose(mutant: Mutant) -> tuple[list[Check], int]:
        checks, left = reach.checks(mutant), math.inf if budget is None else budget
        if mutant.key in before:
            checks = [check for check in checks if not is_of_first_stage(check)]
        chosen = []
        for check in checks:
            if check.cost <= left:
                left -= check.cost
                chosen.append(check)
        return chosen or checks[:1], len(checks)

    return choose


def is_of_first_stage(check: Check) -> bool:
    """Return whether the first stage has tried a check."""
    return check.path == STATEMENT_CHECKS or check.path.startswith(tuple(f"{each}/" for each in FIRST))


def _report(options: argparse.Namespace, results: Path, console: Console) -> None:
    sorting = read_sorting()
    records = [record for record in read(results).values() if record.status not in ("error", PART)]
    console.print(f"{len(records)} mutants, kill rate of those that are not equivalent: {rate_of(records, sorting)}")
    if options.report:
        first = read(results, first=True)
        command = f"`python -m benchmarks.mutation --count {options.count} --seed {options.seed}`. {machine()}"
        rates = rates_line(records, [first[record.key] for record in records], sorting)
        write_section("Random mutants", f"{command}\n\n{rates}\n\n{section(records, sorting)}")


if __name__ == "__main__":
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    main()
