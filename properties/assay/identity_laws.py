"""The law that the facts hold that an adapter states about the numbers of its library."""

from dpassay.claims import SamplerLostError
from dpassay.impl.libraries.remote import RemoteCase, RemoteIdentity, WorkerError
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.kinds import FindingKind
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["IDENTITY_LAWS"]


def _applies(case: RemoteCase) -> str | None:
    return None if isinstance(case, RemoteIdentity) else "not a list of facts"


def _check(case: RemoteCase, _: Settings) -> Finding:
    assert isinstance(case, RemoteIdentity)
    if not case.attempts:
        return Finding(FindingKind.ERROR, "the case has no facts")
    broken: dict[str, str] = {}
    mistakes: list[str] = []
    for asked, words in enumerate(case.attempts, start=1):
        try:
            if not case.holds(words):
                broken[words] = "does not hold"
        except SamplerLostError as error:
            return Finding(FindingKind.UNDECIDED, f"{words}: {error}", calls=asked)
        except WorkerError as error:
            if error.is_own:
                mistakes.append(f"{words}: {error}")
            else:
                broken[words] = f"raises {error}"
    asked = len(case.attempts)
    if broken:
        detail = f"{len(broken)} of {asked} facts: " + "; ".join(f"{words}: {what}" for words, what in broken.items())
        return Finding(
            FindingKind.WRONG_ANSWER,
            detail,
            evidence=Evidence.EXACT,
            scope=Scope.POINTS,
            calls=asked,
            witness={"broken": broken},
        )
    if mistakes:
        return Finding(FindingKind.ERROR, f"the code of the adapter raises: {'; '.join(mistakes)}", calls=asked)
    return Finding(
        FindingKind.OK,
        f"all {asked} hold",
        evidence=Evidence.EXACT,
        scope=Scope.POINTS,
        calls=asked,
        power={"points": asked},
    )


IDENTITY_LAWS = (
    Law(
        "identities_hold",
        "Numbers of the library that must agree do agree.",
        _applies,
        _check,
        sampled=False,
        turn=Turn.FIRST,
        deepens=False,
    ),
)
