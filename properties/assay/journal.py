"""A journal of results in a file, with which an interrupted run continues.

Each line is the result of one check in one round. The first line identifies what the results depend on besides the
check: the versions, the adapter's folder and the laws. A journal of anything else is refused.

The depths of further rounds depend on the time, so that a run that continues may plan others. What a further round
observed for good, a fault or what is undecided for a lasting reason, therefore counts whatever its depth was.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from dpassay.arguments import UsageError
from dpassay.impl.libraries.codec import decode, encode
from dpassay.properties.assay.deepening import OPEN, CheckState, Place, in_round, place_of
from dpassay.properties.assay.execution import PROCESS_ENDED
from dpassay.properties.assay.expected import FINE
from dpassay.properties.assay.finding import Finding
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.planning import Check, CheckResult, Plan
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["Journal"]

_NUMBERS = ("alpha", "seed", "calls", "depth", "pairs", "is_least")
_FIELDS = ("detail", "claim", "claimed", "certified", "calls", "witness", "power")


class Journal:
    """Results of checks by what they depend on; without a file nothing is kept.

    Parameters
    ----------
    path : Path, optional
        The file; it is made if it does not exist.
    plan : Plan, optional
        The plan whose results are kept; with `path` only.

    Raises
    ------
    UsageError
        If the file is the journal of another library, version or adapter, or no journal.
    """

    def __init__(self, path: Path | None = None, plan: Plan | None = None) -> None:
        self._path = path
        self._known: dict[str, dict[str, Any]] = {}
        self._depths: dict[Place, set[int]] = defaultdict(set)
        if path is not None and plan is not None:
            self._open(path, _identity(plan))

    def _open(self, path: Path, identity: dict[str, Any]) -> None:
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--resume {str(path)!r} cannot be read: {error}") from None
        if not text:
            self._write(identity)
            return
        head, *records = map(_parsed, text.splitlines())
        if head != identity:
            raise UsageError(f"--resume {str(path)!r} is the journal of {_words(head)}, not of {_words(identity)}")
        self._known = {record["check"]: record for record in records if record}
        for key in self._known:
            place, depth = _place_and_depth(key)
            self._depths[place].add(depth)
        if not text.endswith("\n"):
            self._write({})  # ends the incomplete line of a run that was killed

    def find(self, check: Check) -> CheckResult | None:
        """Return the result of a check, if the journal has it."""
        record = self._known.get(_key(check))
        if record is None:
            return None
        values = {name: decode(record[name]) for name in _FIELDS}
        evidence = None if record["evidence"] is None else Evidence(record["evidence"])
        scope = None if record["scope"] is None else Scope(record["scope"])
        kind, is_lasting = FindingKind(record["kind"]), record.get("is_lasting", False)  # absent in older journals
        finding = Finding(kind, evidence=evidence, scope=scope, is_lasting=is_lasting, **values)
        return CheckResult(check, finding, record["seconds"], tuple(record["losses"]))

    def observed(self, check: Check) -> list[CheckState]:
        """Return what further rounds of a check observed for good, in the order of the rounds, at any depth.

        Rounds with another level, seed or number of calls belong to another plan.
        """
        rounds = [
            (number, depth)
            for depth in self._depths.get(place_of(check), ())
            for number in range(1, depth.bit_length() + 1)  # every round at least doubles the depth, from 0 or 1
        ]
        results = ((self.find(in_round(check, *one)), *one) for one in sorted(rounds))
        return [
            CheckState(result, number, depth)
            for result, number, depth in results
            if result is not None and result.finding.kind not in FINE
        ]

    def add(self, result: CheckResult) -> None:
        """Record a result, unless it may be decided when the run continues: undecided for no lasting reason, not run.

        The checks that a lost process of dpassay leaves had no answer: they are not recorded either, but asked again.
        """
        is_open = result.finding.kind in OPEN and not result.finding.is_lasting
        if self._path is None or is_open or result.finding.detail.startswith(PROCESS_ENDED):
            return
        found = result.finding
        record = {name: encode(_simple(getattr(found, name))) for name in _FIELDS}
        record |= {"kind": found.kind, "evidence": found.evidence, "scope": found.scope}
        record["is_lasting"] = found.is_lasting
        record |= {"check": _key(result.check), "seconds": result.seconds, "losses": list(result.losses)}
        self._write(record)

    def _write(self, record: Mapping[str, Any]) -> None:
        assert self._path is not None
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write((json.dumps(record) if record else "") + "\n")
        except OSError as error:
            raise UsageError(f"--resume {str(self._path)!r} cannot be written: {error}") from None


def _simple(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _parsed(line: str) -> dict[str, Any]:
    """Return a line of a journal; empty for one that is not complete, as the last of a run that was killed is."""
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _key(check: Check) -> str:
    numbers = [repr(getattr(check.settings, name)) for name in _NUMBERS]
    return "\0".join([check.mechanism, check.law.name, *numbers])


def _place_and_depth(key: str) -> tuple[Place, int]:
    mechanism, law, *numbers = key.rsplit("\0", len(_NUMBERS) + 1)
    return (mechanism, law), int(numbers[_NUMBERS.index("depth")])


def _identity(plan: Plan) -> dict[str, Any]:
    adapter = Path(plan.target.adapter)
    files = sorted(adapter.parent.glob("*.py"))
    digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
    version = metadata.version("dpassay")
    return {"dpassay": version, "library": plan.library, "version": plan.version, "adapter": digest}


def _words(identity: Mapping[str, Any]) -> str:
    if "adapter" not in identity:
        return "no run"
    words = [str(identity.get(name)) for name in ("library", "version")]
    return f"{' '.join(words)} (adapter {str(identity['adapter'])[:8]}, dpassay {identity.get('dpassay')})"
