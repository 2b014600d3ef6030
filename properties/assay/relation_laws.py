"""The law that relations among the numbers of a library hold; each is asked at random parameters, from fixed seeds."""

import time

from dpassay.claims import SamplerLostError
from dpassay.impl.libraries.remote import RemoteCase, RemoteRelations, WorkerError
from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.kinds import FindingKind
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["RELATION_LAWS"]

_SEEDS = 3
"""Seeds at which every relation is asked at the least depth."""

_MOST_LOSSES = 2
"""A worker that was lost this often is not asked again."""


def _applies(case: RemoteCase) -> str | None:
    return None if isinstance(case, RemoteRelations) else "not a list of relations"


def _check(case: RemoteCase, settings: Settings) -> Finding:  # noqa: C901  # one loop, and a line for each ending
    assert isinstance(case, RemoteRelations)
    start, compared, asked = time.monotonic(), 0, 0
    broken: dict[str, int] = {}
    details, losses, mistakes = list[str](), list[str](), list[str]()
    numbers: tuple[float | None, float | None] = (None, None)
    for turn in range(_SEEDS * settings.depth):
        for words in case.relations:
            late = turn > 0 and time.monotonic() - start > settings.seconds  # every relation is asked once
            if late or asked >= settings.calls or len(losses) >= _MOST_LOSSES:
                break
            if words in broken:
                continue
            asked += 1
            seed = settings.seed + turn
            try:
                number, failed = case.compare(words, seed)
            except SamplerLostError as error:
                losses.append(f"{words}: {error}")
            except WorkerError as error:
                if error.is_own or error.is_unasked:
                    mistakes.append(f"{words}: {error}")
                    continue
                broken[words] = seed
                details.append(f"{words}: valid parameters raise {error}")
            else:
                compared += number
                if failed:
                    broken[words] = seed
                    _, low, value, high = failed[0]
                    numbers = numbers if len(broken) > 1 else (value, high if value > high else low)
                    details.append(f"{words}: {_in_words(*failed[0])}")
    if broken:
        detail = f"{len(broken)} of {len(case.relations)} relations broken: {'; '.join(details)}"
        return Finding(
            FindingKind.WRONG_ANSWER,
            detail,
            claimed=numbers[0],
            certified=numbers[1],
            evidence=Evidence.EXACT,
            scope=Scope.POINTS,
            calls=asked,
            witness={"broken": broken, "details": details},
        )
    if mistakes:
        return Finding(FindingKind.ERROR, f"the code of the adapter raises: {mistakes[0]}", calls=asked)
    if losses or asked < len(case.relations):
        why = losses[0] if losses else f"only {asked} of {len(case.relations)} relations were asked"
        return Finding(FindingKind.UNDECIDED, why, calls=asked)
    if not compared:
        return Finding(FindingKind.ERROR, "the relations compare nothing", calls=asked)
    return Finding(
        FindingKind.OK,
        f"{len(case.relations)} relations, {compared} comparisons",
        evidence=Evidence.EXACT,
        scope=Scope.POINTS,
        calls=asked,
        power={"points": compared},
    )


def _in_words(words: str, low: float, value: float, high: float) -> str:
    if not value < low:
        return f"{words}: {value!r}, but should be at most {high!r}"
    return f"{words}: {value!r}, but should be at least {low!r}"


RELATION_LAWS = (
    Law(
        "relations_hold",
        "The numbers of the library obey the relations that the adapter states, at random valid parameters.",
        _applies,
        _check,
        sampled=False,
        turn=Turn.FIRST,
    ),
)
