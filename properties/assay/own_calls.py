"""The library's own calls for findings whose adapter does not state them, from a worker that records calls."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from dpassay.impl.libraries.codec import encode
from dpassay.impl.libraries.worker_process import Worker, WorkerError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.assessment import Assessment
from dpassay.properties.assay.session import Target

__all__ = ["with_own_calls"]


def with_own_calls(target: Target, lines: Sequence[Assessment]) -> list[Assessment]:
    """Return the lines, with the library's own call in the witness of each unexpected finding.

    A call that cannot be written as text, because an object in it was made otherwise than by calls of the adapter, is
    left out.

    Parameters
    ----------
    target : Target
        Where the library runs.
    lines : sequence of Assessment
        The lines of a report.
    """
    if not any(_lacks_call(line) for line in lines):
        return list(lines)
    with target.worker(records=True) as worker:
        return [_with_call(worker, line) if _lacks_call(line) else line for line in lines]


def _lacks_call(line: Assessment) -> bool:
    witness = line.finding.witness
    return not line.as_expected and witness is not None and "call" not in witness


def _with_call(worker: Worker, line: Assessment) -> Assessment:
    witness = line.finding.witness or {}
    texts = []
    for comment, request in _requests(line.mechanism, witness):
        with suppress(WorkerError, SamplerLostError):
            texts.append("\n".join([*comment, worker.request("call", request=request)]))
    if not texts:
        return line
    head = f"# expected: {_expectation(line)}; found: {line.finding.detail}"
    return replace(line, finding=replace(line.finding, witness={**witness, "call": "\n".join([head, *texts])}))


def _expectation(line: Assessment) -> str:
    """Return what the library should have done, in words."""
    finding = line.finding
    witness = finding.witness or {}
    if "accepted" in witness:
        return "an exception"
    if "other" in witness:
        return "answers that do not contradict each other"
    if finding.certified is not None and "question" in witness:
        return f"{finding.certified!r}, the certified value"
    return f"{finding.claim or line.law}"


def _requests(case: str, witness: Mapping[str, Any]) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield the requests that show a witness, with comments."""
    if "left" in witness and "right" in witness:
        for side in ("left", "right"):
            data = encode([float(x) for x in witness[side]])
            yield [f"# on {list(witness[side])!r}"], {"do": "draw", "case": case, "data": data}
    elif "question" in witness:
        yield [], {"do": "answer", "case": case, "arguments": encode(dict(witness["arguments"]))}
        if "other" in witness:
            arguments = encode(dict(witness["other arguments"]))
            yield [], {"do": "answer", "case": witness["other"], "arguments": arguments}
    elif "accepted" in witness:
        for words in witness["accepted"]:
            yield [f"# {words}"], {"do": "attempt", "case": case, "attempt": words}
    elif "broken" in witness:
        for words, seed in witness["broken"].items():
            asked = {"relation": words, "seed": seed, "until_broken": True}
            yield [f"# {words}"], {"do": "relate", "case": case, **asked}
