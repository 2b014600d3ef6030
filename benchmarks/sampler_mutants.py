"""One-point faults in samplers, judged by tracing alone: the traced distribution against the one of the theorem.

Run with ``python -m benchmarks.sampler_mutants [--count N] [--seed S] [GLOB ...]``.

Faults are planted in the functions that a mechanism runs when it draws, and that its registered distribution does not
run: a wrong scale that both of them read is the business of other laws. A mutant dies if the law `traced_distribution`
is violated on one of two inputs, or if the sampler returns another number of outcomes than asked for; an undecided
law does not kill. One outcome is asked for, so that faults in chunks of samples stay alive. No sample is drawn.
"""

import argparse
import fnmatch
import importlib
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from benchmarks.mutation.mutants import Mutant, Source, read_sources
from benchmarks.mutation.operators import Signatures
from dpassay.impl.catalogue import entries
from dpassay.mechanism import ClaimedMechanism
from dpassay.properties.checks.traced_distribution import Theorem, theorem_inputs, traced_distribution
from dpassay.properties.tracing.tree import Limits
from dpassay.spec.verdict import Holds, Violated

TREE = Path(__file__).parents[1]
SAMPLERS = "impl/mechanisms"
LIMITS = Limits(leaves=600, seconds=60.0)
MOST_SECONDS = 2.0


@dataclass(frozen=True)
class Subject:
    """A mechanism whose law holds, its theorems, and the functions that only its sampler runs, by file and name."""

    where: str
    mechanism: ClaimedMechanism
    theorems: tuple[Theorem, ...]
    functions: dict[tuple[str, str], CodeType]


def subjects(patterns: list[str]) -> Iterator[Subject]:
    """Yield the mechanisms of the catalogue that are not broken and obey the law quickly."""
    for entry in entries():
        if entry.mutation is not None or not any(fnmatch.fnmatch(entry.where, pattern) for pattern in patterns):
            continue
        mechanism = entry.mechanism
        drawn = _functions_run(partial(_draw, mechanism))
        theorems = tuple(theorem_inputs(mechanism, pairs=1))
        told = _functions_run(partial(_tell, mechanism))
        began = time.process_time()
        verdict = traced_distribution(entry.mechanism, theorems, limits=LIMITS)
        if isinstance(verdict, Holds) and time.process_time() - began < MOST_SECONDS:
            own = {key: code for key, code in drawn.items() if key not in told}
            yield Subject(entry.where, entry.mechanism, theorems, own)


def _draw(mechanism: Any) -> None:
    theorem = next(iter(theorem_inputs(mechanism, pairs=1)), None)
    if theorem is not None:
        mechanism.sample(theorem.data, 3, np.random.default_rng(0))


def _tell(mechanism: ClaimedMechanism) -> None:
    for theorem in theorem_inputs(mechanism, pairs=1):
        for outcome in theorem.distribution.outcomes:
            theorem.distribution.log_probability(outcome)


def _functions_run(action: Callable[[], object]) -> dict[tuple[str, str], CodeType]:
    """Return the functions of samplers that an action runs."""
    found: dict[tuple[str, str], CodeType] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        path = _sampler_file(frame.f_code.co_filename) if event == "call" else None
        if path is not None:
            found[path, frame.f_code.co_qualname.replace(".<locals>", "")] = frame.f_code

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return found


@cache
def _sampler_file(name: str) -> str | None:
    path = Path(name).resolve()
    return path.relative_to(TREE).as_posix() if path.is_relative_to(TREE / SAMPLERS) else None


def mutants(subject: Subject, sources: list[Source], signatures: Signatures) -> Iterator[Mutant]:
    """Yield every one-point fault in the functions of a subject."""
    for source in sources:
        if any(path == source.path for path, _ in subject.functions):
            for place, made in source.sites(signatures):
                if (source.path, place.function) in subject.functions:
                    yield from filter(None, (source.mutant(place, one) for one in made))


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """Run the changed code of one function, or of the function around it, inside the context."""
    outer = _outermost(mutant)
    function = _function(mutant.path, outer)
    before = function.__code__
    function.__code__ = _code_of(compile(mutant.changed, mutant.path, "exec"), outer.split("."))
    try:
        yield
    finally:
        function.__code__ = before


def _outermost(mutant: Mutant) -> str:
    """Return the name of the method, or of the function of the module, in which the fault is."""
    module = _module(mutant.path)
    parts = mutant.function.split(".")
    return ".".join(parts[:2]) if isinstance(getattr(module, parts[0]), type) else parts[0]


def _module(path: str) -> Any:
    return importlib.import_module("dpassay." + path.removesuffix(".py").replace("/", "."))


def _function(path: str, name: str) -> Any:
    found = _module(path)
    for part in name.split("."):
        found = vars(found)[part]
    found = getattr(found, "fget", None) or getattr(found, "func", None) or found
    return getattr(found, "__func__", found)


def _code_of(code: CodeType, names: list[str]) -> CodeType:
    for name in names:
        code = next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)
    return code


def fate(subject: Subject, mutant: Mutant) -> str:
    """Return how a mutant ends: killed by its distribution or its number of outcomes, undecided, or alive."""
    with planted(mutant):
        verdict = traced_distribution(subject.mechanism, subject.theorems, limits=LIMITS)
    if isinstance(verdict, Violated):
        return "killed"
    if isinstance(verdict, Holds):
        return "alive"
    if "outcomes when asked for 1" in verdict.detail:
        return "killed (number of outcomes)"
    return f"undecided: {verdict.detail[:80]}"


def main() -> None:
    """Plant a seeded choice of mutants and print those that do not die, then the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("patterns", nargs="*", default=["*"])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sources, signatures = read_sources(TREE, (SAMPLERS,)), Signatures()
    for source in sources:
        signatures.add(source.tree)
    every: dict[str, tuple[Subject, Mutant]] = {}
    for subject in subjects(options.patterns):
        for mutant in mutants(subject, sources, signatures):
            every.setdefault(mutant.key, (subject, mutant))
    chosen = random.Random(options.seed).sample(sorted(every), min(options.count, len(every)))  # noqa: S311
    count, began = Counter[str](), time.process_time()
    for key in chosen:
        subject, mutant = every[key]
        ended = fate(subject, mutant)
        count[ended.split(":")[0]] += 1
        if not ended.startswith("killed"):
            print(f"{ended}: {subject.where}: {mutant.path}:{mutant.line}: {' '.join(mutant.diff)}", flush=True)
    print(f"{len(chosen)} of {len(every)} mutants: {dict(count)}, {time.process_time() - began:.0f} CPU s")


if __name__ == "__main__":
    main()
