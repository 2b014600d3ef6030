"""Recall on faults that nobody told the suite of: plant one in a copy of a library, and run the suite on the copy.

``python -m benchmarks.planted_faults diffprivlib --count 10 --seed 1 --out faults.jsonl`` draws faults with a seed
from the modules of the library that compute privacy, as many of each kind as there are. Each is planted in a copy of
the library's package, which shadows the installed one, and the suite runs on it. A fault is found if a finding is
neither expected nor found on the copy without a fault. A run under a tracer says which cases execute which lines: on a
fault only the cases run that execute its lines, or that the tracer did not come to. A survivor in lines that no case
executes is reported as not reached. The survivors are sorted by cause in ``benchmarks/planted_faults.toml``.
With ``--faults FILE`` the faults are those of a file (`benchmarks.written_faults`) instead of drawn ones.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mutation.mutants import Mutant, Source
from benchmarks.mutation.places import places
from benchmarks.privacy_faults import faults
from benchmarks.reached_lines import Coverage
from benchmarks.written_faults import read_faults
from dpassay.arguments import UsageError
from dpassay.impl.libraries.codec import encode
from dpassay.impl.libraries.environments import build_environment, newest_version
from dpassay.impl.libraries.registry import find_library
from dpassay.impl.libraries.remote import (
    RemoteAnswer,
    RemoteAuditor,
    RemoteCase,
    RemoteFamily,
    RemoteMechanism,
    RemoteNonsense,
    RemoteRelations,
    open_library,
)
from dpassay.impl.libraries.worker_process import WorkerError, WorkerLostError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.assessment import assess
from dpassay.properties.assay.audited_scores import scores_of
from dpassay.properties.assay.expected import ExpectedFailure, load_expected
from dpassay.properties.assay.inquiry import domain_of, typical_point
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.laws import LAWS
from dpassay.properties.assay.questions import QUESTIONS, points_of
from dpassay.properties.assay.session import open_session
from dpassay.properties.assay.suite import CheckResult, Plan, Target, close_session, make_plan, run_plan

CAUSES = Path(__file__).with_suffix(".toml")
PACKAGES = {
    "diffprivlib": ("diffprivlib", ("mechanisms", "tools", "models", "accountant.py", "validation.py")),
    "pipeline-dp": (
        "pipeline_dp",
        (
            "budget_accounting.py",
            "combiners.py",
            "contribution_bounders.py",
            "dp_computations.py",
            "dp_engine.py",
            "partition_selection.py",
            "private_contribution_bounds.py",
            "sampling_utils.py",
        ),
    ),
    "autodp": (
        "autodp",
        (
            "autodp_core.py",
            "calibrator_zoo.py",
            "converter.py",
            "dp_bank.py",
            "mechanism_zoo.py",
            "privacy_calibrator.py",
            "rdp_acct.py",
            "rdp_bank.py",
            "transformer_zoo.py",
        ),
    ),
    "dp-accounting": ("dp_accounting", ("pld", "rdp", "mechanism_calibration.py", "dp_event_builder.py")),
    "opacus": ("opacus", ("accountants",)),
    "smartnoise-sql": (
        "snsql",
        (
            "sql/_mechanisms",
            "sql/dpsu.py",
            "sql/odometer.py",
            "sql/private_reader.py",
            "sql/private_rewriter.py",
            "sql/privacy.py",
        ),
    ),
    "tmlt.core": (
        "tmlt",
        (
            "core/measurements/composition.py",
            "core/measurements/converters.py",
            "core/measurements/noise_mechanisms.py",
            "core/measurements/pandas_measurements/series.py",
            "core/measures.py",
            "core/random",
            "core/utils/parameters.py",
        ),
    ),
    "prv-accountant": ("prv_accountant", (".",)),
    "dpmm": ("dpmm", ("models", "pipelines", "processing", "utils.py")),
    "flwr": (
        "flwr",
        (
            "clientapp/mod/centraldp_mods.py",
            "clientapp/mod/localdp_mod.py",
            "server/strategy/dp_adaptive_clipping.py",
            "server/strategy/dp_fixed_clipping.py",
            "server/strategy/dpfedavg_adaptive.py",
            "server/strategy/dpfedavg_fixed.py",
            "serverapp/strategy/dp_adaptive_clipping.py",
            "serverapp/strategy/dp_fixed_clipping.py",
            "supercore/differential_privacy.py",
            "supercore/privacy_accounting",
        ),
    ),
    "gdpnum": ("gdpnum", (".",)),
    "jax-privacy": ("jax_privacy", (".",)),
    "opendp": ("opendp", ("_convert.py", "context.py", "extras", "mod.py")),
    "pure-ldp": ("pure_ldp", ("core", "frequency_oracles", "heavy_hitters")),
    "python-dp": ("pydp", ("algorithms", "distributions", "ml", "util")),
    "riskcal": ("riskcal", (".",)),
}
"""The package of each library, and its files and folders that compute privacy."""

_UTILITY = {
    "bias",
    "variance",
    "mse",
    "effective_epsilon",
    "describe",
    "explain_computation",
    "predict",
    "predict_proba",
}
"""Functions that compute no privacy: what they say of the accuracy of a mechanism, and what uses a release."""

_TRACED_SECONDS, _TRACED_CALLS = 200.0, 40
"""Limits of the run under the tracer of what draws outcomes."""

_TRACED_SECONDS_OF_A_CASE, _TRACED_POINTS, _TRACED_SEEDS = 4.0, 8, 2
"""Limits of the run under the tracer of a case that draws nothing: no further call after that time."""

_FOUND = {FindingKind.VIOLATION, FindingKind.UNSOUND_NUMBER, FindingKind.WRONG_ANSWER, FindingKind.ERROR}
_TRACER = """
import mmap, os, signal, sys, threading
signal.setitimer = lambda *_: (0.0, 0.0)  # a traced call is slow: no limit of its processor time
ROOT = os.environ["DPASSAY_TRACED"]
number = mmap.mmap(os.open(os.environ["DPASSAY_TRACE_NUMBER"], os.O_RDWR), 8)
log = open(os.environ["DPASSAY_TRACE_LOG"], "a", buffering=1)
unseen, current, inside = {}, b"", {}
def local(frame, event, argument):
    if event == "line":
        lines = unseen.get(frame.f_code)
        if lines is None:
            lines = unseen[frame.f_code] = {line for _, _, line in frame.f_code.co_lines() if line is not None}
        if frame.f_lineno in lines:
            lines.discard(frame.f_lineno)
            log.write(f"{int.from_bytes(current, 'big')}\\t{frame.f_code.co_filename}\\t{frame.f_lineno}\\n")
        if not lines:
            return None
    return local
def watch(frame, event, argument):
    global current
    code = frame.f_code
    mine = inside.get(code)
    if mine is None:
        # the body of a module or of a class runs when it is imported, and says nothing of a case
        mine = inside[code] = code.co_filename.startswith(ROOT) and bool(code.co_flags & 1)
    if not mine:
        return None
    now = number[:8]
    if now != current:
        unseen.clear()
        current = now
    return local if unseen.get(code) != set() else None
sys.settrace(watch)
threading.settrace(watch)
"""
"""Writes each line of the package that a request executes once; a function whose lines are all seen runs untraced."""


@dataclass(frozen=True)
class Trial:
    """What the suite said about one fault."""

    library: str
    version: str
    seed: int
    key: str
    path: str
    line: int
    kind: str
    diff: tuple[str, ...]
    outcome: str
    """``found``, ``missed``, ``not reached`` or ``unusable`` (the adapter cannot be loaded)."""
    by: str = ""
    seconds: float = 0.0


def draw(package: Path, parts: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Draw faults without replacement, the kinds in turn; a larger count only appends."""
    rng = random.Random(seed)  # noqa: S311  # no secret: a draw that can be repeated
    kinds: dict[str, list[Mutant]] = {}
    for mutant in _every_fault(package, parts):
        kinds.setdefault(mutant.operator, []).append(mutant)
    for waiting in kinds.values():
        rng.shuffle(waiting)
    drawn: list[Mutant] = []
    while len(drawn) < count and any(kinds.values()):
        for kind in rng.sample(sorted(kinds), len(kinds)):
            drawn += [kinds[kind].pop()] if kinds[kind] else []
    return drawn[:count]


def _every_fault(package: Path, parts: Sequence[str]) -> Iterator[Mutant]:
    for part in parts:
        for path in sorted([package / part] if part.endswith(".py") else (package / part).rglob("*.py")):
            if path.is_file() and "test" not in path.name:
                source = Source(path.relative_to(package.parent).as_posix(), path.read_text("utf-8"))
                for place in places(source.tree):
                    if place.block is not None and place.function.rpartition(".")[2] not in _UTILITY:
                        yield from filter(None, (source.mutant(place, fault) for fault in faults(place)))


@dataclass(frozen=True)
class Bench:
    """A library with a copy of its package that shadows the installed one."""

    library: str
    version: str
    target: Target
    copy: Path
    package: str
    seconds: float
    laws: str

    def plan(self) -> Plan:
        """Return the plan of the suite on the copy."""
        return make_plan(self.target, LAWS, law=self.laws)

    def findings(self, plan: Plan, known: frozenset[tuple[str, str]] = frozenset()) -> Iterator[tuple[str, str, str]]:
        """Yield mechanism, law and detail of what is neither expected nor known; the worker starts before the time."""
        try:
            open_session(self.target)
        except (WorkerError, WorkerLostError) as error:
            raise UsageError(str(error)) from error
        entries = load_expected(find_library(self.library).expected_failures, self.version)
        for result in run_plan(plan, budget=self.seconds):
            yield from _unexpected(plan, result, entries, known)

    def coverage(self) -> Coverage:
        """Ask every case of the copy without a fault under a tracer."""
        hook, log, number = (self.copy / name for name in ("sitecustomize.py", "lines.log", "number"))
        hook.write_text(_TRACER, "utf-8")
        log.write_text("", "utf-8")
        number.write_bytes(bytes(8))
        os.environ |= {
            "DPASSAY_TRACED": str(self.copy / self.package),
            "DPASSAY_TRACE_LOG": str(log),
            "DPASSAY_TRACE_NUMBER": str(number),
        }
        try:
            order, cut = self._asked_directly(number)
            untraced = cut | self._asked_by_laws(number, order)
        finally:
            hook.unlink()
        rows = [line.split("\t") for line in log.read_text("utf-8").splitlines()]
        cases: dict[tuple[str, int], set[str]] = {}
        for turn, path, line in rows:
            case = order[int(turn) - 1] if 0 < int(turn) <= len(order) else ""
            cases.setdefault((Path(path).relative_to(self.copy).as_posix(), int(line)), set()).add(case)
        return Coverage(cases, untraced)

    def _asked_directly(self, number: Path) -> tuple[list[str], frozenset[str]]:
        """Ask the cases that draw nothing, without the laws.

        Returns their names in the order of their numbers, and the cases that the time limit cut short.
        """
        order: list[str] = []
        cut = set[str]()
        with self.target.worker() as worker:
            for case in open_library(worker):
                if isinstance(case, RemoteMechanism | RemoteFamily):
                    continue
                order.append(case.name)
                _set_number(number, len(order))
                start = time.monotonic()
                for request in _requests(case):
                    if time.monotonic() - start > _TRACED_SECONDS_OF_A_CASE:
                        cut.add(case.name)
                        break
                    with suppress(WorkerError, SamplerLostError):
                        worker.request(**request)
                _set_number(number, 0)
        return order, frozenset(cut)

    def _asked_by_laws(self, number: Path, order: list[str]) -> frozenset[str]:
        """Run the laws of the other cases, append their names, and return the cases that a law did not come to."""
        plan = make_plan(self.target, LAWS, calls=_TRACED_CALLS, law=self.laws)
        direct = set(order)
        plan = replace(plan, checks=tuple(check for check in plan.checks if check.mechanism not in direct))
        waiting = {(check.mechanism, check.law.name) for check in plan.checks if check.reason is None}
        _set_number(number, len(order) + 1)
        for result in run_plan(plan, budget=_TRACED_SECONDS):
            place = (result.check.mechanism, result.check.law.name)
            if result.check.reason is not None or place not in waiting:
                continue
            if result.seconds > 0:
                waiting.discard(place)
            order.append(result.check.mechanism)
            _set_number(number, len(order) + 1)
        return frozenset(mechanism for mechanism, _ in waiting)


def _requests(case: RemoteCase) -> Iterator[dict[str, Any]]:
    """Yield valid and invalid calls of a case that draws nothing."""
    if isinstance(case, RemoteAnswer) and case.question in QUESTIONS:
        question, domain = QUESTIONS[case.question], domain_of(case)
        points = points_of(question, domain, np.random.default_rng(0), _TRACED_POINTS)
        typical = typical_point(question, domain)
        wrong = [{**typical, argument.name: -1.0} for argument in question.arguments if argument.kind != "reals"]
        for arguments in (typical, *points, *wrong):
            yield {"do": "answer", "case": case.name, "arguments": encode(arguments)}
    elif isinstance(case, RemoteRelations):
        for seed, words in product(range(_TRACED_SEEDS), case.relations):
            yield {"do": "relate", "case": case.name, "relation": words, "seed": seed}
    elif isinstance(case, RemoteAuditor):
        for scores in scores_of(case.description):
            yield {"do": "audit", "case": case.name, "scores": scores.request, "numbers": [0, 1], "seed": [0]}
    elif isinstance(case, RemoteNonsense):
        yield from ({"do": "attempt", "case": case.name, "attempt": words} for words in case.attempts)


def _set_number(file: Path, number: int) -> None:
    with file.open("r+b") as open_file:
        open_file.write(number.to_bytes(8, "big"))


def _unexpected(
    plan: Plan, result: CheckResult, entries: Sequence[ExpectedFailure], known: frozenset[tuple[str, str]]
) -> Iterator[tuple[str, str, str]]:
    names = (result.check.mechanism, result.check.law.name)
    if names in known or result.finding.kind not in _FOUND:
        return
    for line in assess(plan, [result], entries):
        if (line.mechanism, line.law) == names and not line.as_expected:
            yield (*names, f"{line.finding.kind}: {line.finding.detail}")


def prepare(library: str, seconds: float, laws: str, folder: Path) -> Bench:
    """Install the library if necessary, and copy its package."""
    found = find_library(library)
    version = newest_version(found)
    python = build_environment(found, version, lambda words: print(words, file=sys.stderr))
    package = PACKAGES[library][0]
    (installed,) = python.parent.parent.glob(f"lib/python*/site-packages/{package}")
    shutil.copytree(installed, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    for shared in installed.parent.glob("*.libs"):  # a compiled module finds its shared libraries beside its package
        (folder / shared.name).symlink_to(shared)
    os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    target = Target(str(python), str(found.adapter), isolated=False)
    return Bench(library, version, target, folder, package, seconds, laws)


def judge(
    bench: Bench, plan: Plan, mutant: Mutant, seed: int, coverage: Coverage, known: frozenset[tuple[str, str]]
) -> Trial:
    """Plant a fault, run the suite until it finds it, and restore the copy."""
    start = time.monotonic()
    outcome, by = "missed" if coverage.is_unknown or coverage.of(mutant) else "not reached", ""
    file = bench.copy / mutant.path
    before = file.read_text("utf-8")
    file.write_text(mutant.changed, "utf-8")
    try:
        for mechanism, law, detail in bench.findings(coverage.relevant(plan, mutant), known):
            outcome, by = "found", f"{mechanism} / {law}: {detail}"
            break
    except UsageError as error:
        outcome, by = "unusable", str(error)
    finally:
        close_session()
        file.write_text(before, "utf-8")
    return Trial(
        bench.library, bench.version, seed, mutant.key, mutant.path, mutant.line, mutant.operator, mutant.diff,
        outcome, by, round(time.monotonic() - start, 1),
    )  # fmt: skip


def report(trials: Sequence[Trial]) -> str:
    """Return recall by library, and the survivors by cause."""
    causes = tomllib.loads(CAUSES.read_text("utf-8")) if CAUSES.is_file() else {}
    lines = []
    for library in sorted({trial.library for trial in trials}):
        ours = [trial for trial in trials if trial.library == library]
        counts = Counter(_cause(trial, causes) for trial in ours)
        real = [trial for trial in ours if _cause(trial, causes) not in {"equivalent", "weaker", "unusable"}]
        found = sum(trial.outcome == "found" for trial in real)
        lines.append(f"{library}: {found} of {len(real)} found; " + ", ".join(f"{n} {c}" for c, n in counts.items()))
    return "\n".join(lines)


def _cause(trial: Trial, causes: dict[str, dict[str, str]]) -> str:
    return causes.get(trial.key, {}).get("cause", trial.outcome)


def main() -> None:
    """Run the faults of one library and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=sorted(PACKAGES))
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=Path, help="file of faults that are planted instead of drawn ones")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of the suite on one fault")
    parser.add_argument("--law", default="*", help="run only laws whose name matches")
    parser.add_argument("--untraced", action="store_true", help="run all cases on each fault")
    parser.add_argument("--out", type=Path, required=True, help="file of results, to which a new run appends")
    options = parser.parse_args()
    done = (
        [Trial(**json.loads(line)) for line in options.out.read_text("utf-8").splitlines()]
        if options.out.is_file()
        else []
    )
    with tempfile.TemporaryDirectory() as folder:
        bench = prepare(options.library, options.seconds, options.law, Path(folder))
        if options.faults:
            drawn = read_faults(options.faults, bench.copy)
        else:
            drawn = draw(bench.copy / bench.package, PACKAGES[options.library][1], options.count, options.seed)
        coverage = Coverage({}, frozenset()) if options.untraced else bench.coverage()
        plan = bench.plan()
        known = frozenset((mechanism, law) for mechanism, law, _ in bench.findings(plan))
        print(f"{len(coverage.cases)} lines reached; found without a fault: {sorted(known) or 'nothing'}", flush=True)
        for mutant in drawn:
            if any(trial.key == mutant.key for trial in done):
                continue
            done.append(judge(bench, plan, mutant, options.seed, coverage, known))
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(done[-1])) + "\n")
            print(json.dumps(asdict(done[-1])), flush=True)
    print(report(done))


if __name__ == "__main__":
    main()
