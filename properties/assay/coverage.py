"""Public functions of a library that concern privacy, and the cases that ask them.

A case asks a function if a call of the case reaches it in the library's interpreter, or if the case is named after it,
because adapters may build the objects of a library before any call. One call of each case is made, at the first
parameters and the first input of a run; every invalid call is made.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from dpassay.arguments import UsageError
from dpassay.impl.libraries.codec import encode
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
from dpassay.impl.libraries.worker_process import Worker, WorkerError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.audited_scores import scores_of
from dpassay.properties.assay.families import corners
from dpassay.properties.assay.inquiry import domain_of, typical_point
from dpassay.properties.assay.questions import QUESTIONS
from dpassay.properties.assay.session import Target
from dpassay.properties.contract import FunctionRecord
from dpassay.properties.neighbours.pairs import adversarial_pairs

__all__ = ["coverage", "summary"]


def coverage(target: Target, modules: Sequence[str]) -> tuple[list[FunctionRecord], list[str]]:
    """Return a record for each public function, and the modules that cannot be imported with the reasons.

    Parameters
    ----------
    target : Target
        Where the library runs.
    modules : sequence of str
        The modules of the library that concern privacy.

    Raises
    ------
    UsageError
        If there are no modules, or the worker cannot be started.
    """
    if not modules:
        raise UsageError("--coverage needs a list of modules in the library.toml beside the adapter: modules = [...]")
    with target.worker() as worker:
        cases = open_library(worker)
        found = worker.request("public", modules=list(modules))
        asking = defaultdict(set)
        for case in cases:
            for name in (*_reached(worker, case), *_named(case.name, found["kinds"])):
                asking[name].add(case.name)
        records = [
            FunctionRecord(
                library=worker.greeting["library"],
                version=worker.greeting["version"],
                function=name,
                kind=kind,
                cases=sorted(asking[name]),
            )
            for name, kind in sorted(found["kinds"].items())
        ]
    return records, found["missing"]


def _reached(worker: Worker, case: RemoteCase) -> set[str]:
    """Return the functions that the calls of a case reach; a case whose worker is lost reaches none."""
    names = set[str]()
    with suppress(WorkerError, SamplerLostError, UsageError):
        for request in _requests(case):
            names.update(worker.request("reached", request=request))
    return names


def _requests(case: RemoteCase) -> Iterator[dict[str, Any]]:
    """Yield requests that make the calls of a case."""
    if isinstance(case, RemoteFamily):
        member = case.member(next(corners(case.parameters)))
        yield {"do": "member", "case": member.name}
        yield from _requests(member)
    elif isinstance(case, RemoteMechanism):
        for left, _ in adversarial_pairs(case.neighbours, seed=0, limit=1):
            yield {"do": "draw", "case": case.name, "data": encode(left)}
    elif isinstance(case, RemoteAnswer) and case.question in QUESTIONS:
        point = typical_point(QUESTIONS[case.question], domain_of(case))
        yield {"do": "answer", "case": case.name, "arguments": encode(point)}
    elif isinstance(case, RemoteRelations):
        yield from ({"do": "relate", "case": case.name, "relation": words, "seed": 0} for words in case.relations)
    elif isinstance(case, RemoteAuditor):
        for scores in scores_of(case.description)[:1]:
            yield {"do": "audit", "case": case.name, "scores": scores.request, "numbers": [0, 1], "seed": [0]}
    elif isinstance(case, RemoteNonsense):
        yield from ({"do": "attempt", "case": case.name, "attempt": words} for words in case.attempts)


def _named(case: str, functions: dict[str, str]) -> list[str]:
    """Return the functions whose last name is a word of the name of a case."""
    words = set(re.findall(r"\w+", case))
    return [name for name in functions if name.rpartition(".")[2] in words]


def summary(records: Sequence[FunctionRecord]) -> str:
    """Return one line with the number of functions that are asked."""
    asked = sum(bool(record.cases) for record in records)
    first = records[0]
    return (
        f"{first.library} {first.version or '(version unknown)'}: {asked} of {len(records)} public functions are asked"
    )
