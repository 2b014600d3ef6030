"""The law that nonsense is refused."""

from typing import Any

from dpassay.claims import SamplerLostError
from dpassay.impl.libraries.remote import RemoteCase, RemoteNonsense
from dpassay.properties.assay.finding import Finding, Law, Settings

__all__ = ["NONSENSE_LAWS"]

_MOST_LOSSES = 2


def _applies(case: RemoteCase) -> str | None:
    return None if isinstance(case, RemoteNonsense) else "not a list of nonsensical calls"


def _check(case: RemoteCase, settings: Settings) -> Finding:
    assert isinstance(case, RemoteNonsense)
    accepted: dict[str, Any] = {}
    losses: list[str] = []
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
        if returned:
            accepted[words] = repr(value)
    if accepted:
        detail = f"{len(accepted)} of {asked} accepted: {'; '.join(accepted)}"
        return Finding(
            "wrong answer", detail, evidence="exact", scope="points", calls=asked, witness={"accepted": accepted}
        )
    if losses or asked < len(case.attempts):
        return Finding("undecided", losses[0] if losses else f"only {asked} attempts made", calls=asked)
    return Finding("ok", f"all {asked} refused", evidence="exact", scope="points", calls=asked)


NONSENSE_LAWS = (Law("refuses_nonsense", "Nonsense is refused.", _applies, _check, sampled=False),)
