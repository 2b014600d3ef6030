"""The law that invalid calls raise."""

from typing import Any

from dpassay.impl.libraries.remote import RemoteCase, RemoteNonsense
from dpassay.impl.libraries.worker_process import WorkerError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.finding import UNANSWERED, Finding, Law, Settings, Turn, without_answer
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
    losses: dict[str, str] = {}
    mistakes: dict[str, str] = {}
    asked = 0
    for words in case.attempts[: settings.calls]:
        asked += 1
        try:
            returned, value = case.attempt(words)
        except SamplerLostError as error:
            losses[words] = str(error)
            if len(losses) >= _MOST_LOSSES:
                break
            continue
        except WorkerError as error:
            mistakes[words] = f"{words}: {error}"
            continue
        if returned:
            accepted[words] = repr(value)
    if accepted:
        unanswered = [*mistakes, *losses, *case.attempts[asked:]]
        detail = f"{len(accepted)} of {asked} accepted: {'; '.join(accepted)}"
        detail += without_answer(unanswered, [*mistakes.values(), *losses.values()])
        return Finding(
            FindingKind.WRONG_ANSWER,
            detail,
            evidence=Evidence.EXACT,
            scope=Scope.POINTS,
            calls=asked,
            witness={"accepted": accepted, UNANSWERED: unanswered},
        )
    if mistakes:
        told = "; ".join(mistakes.values())
        detail = f"the code of the adapter raises in {len(mistakes)} of {asked} attempts: {told}"
        return Finding(FindingKind.ERROR, detail, calls=asked)
    if not asked:
        return Finding(FindingKind.ERROR, "the case has no attempts")
    if losses or asked < len(case.attempts):
        why = next(iter(losses.values()), f"only {asked} attempts were made")
        return Finding(FindingKind.UNDECIDED, why, calls=asked)
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
