"""The law that invalid calls raise."""

from typing import Any

from dpassay.impl.libraries.remote import RemoteCase, RemoteNonsense
from dpassay.impl.libraries.worker_process import WorkerError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.kinds import FindingKind
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["NONSENSE_LAWS"]

_MOST_LOSSES = 2
"""A worker that was lost this often is not asked again."""


def _applies(case: RemoteCase) -> str | None:
    return None if isinstance(case, RemoteNonsense) else "not a list of invalid calls"


def _check(case: RemoteCase, settings: Settings) -> Finding:
    assert isinstance(case, RemoteNonsense)
    accepted: dict[str, Any] = {}
    losses: list[str] = []
    mistakes: list[str] = []
    asked = 0
    for words in case.attempts[: settings.calls]:
        asked += 1
        try:
            returned, value = case.attempt(words)
        except SamplerLostError as error:
            losses.append(str(error))
            if len(losses) >= _MOST_LOSSES:
                break
            continue
        except WorkerError as error:
            mistakes.append(f"{words}: {error}")
            continue
        if returned:
            accepted[words] = repr(value)
    if accepted:
        detail = f"{len(accepted)} of {asked} accepted: {'; '.join(accepted)}"
        return Finding(
            FindingKind.WRONG_ANSWER,
            detail,
            evidence=Evidence.EXACT,
            scope=Scope.POINTS,
            calls=asked,
            witness={"accepted": accepted},
        )
    if mistakes:
        detail = f"the code of the adapter raises in {len(mistakes)} of {asked} attempts: {'; '.join(mistakes)}"
        return Finding(FindingKind.ERROR, detail, calls=asked)
    if not asked:
        return Finding(FindingKind.ERROR, "the case has no attempts")
    if losses or asked < len(case.attempts):
        return Finding(FindingKind.UNDECIDED, losses[0] if losses else f"only {asked} attempts were made", calls=asked)
    return Finding(
        FindingKind.OK,
        f"all {asked} rejected",
        evidence=Evidence.EXACT,
        scope=Scope.POINTS,
        calls=asked,
        power={"points": asked},
    )


NONSENSE_LAWS = (
    Law(
        "rejects_invalid_calls",
        "Every invalid call raises.",
        _applies,
        _check,
        sampled=False,
        turn=Turn.FIRST,
        deepens=False,
    ),
)
