"""The law that relations among the numbers of a library hold.

Each is asked at random parameters, from fixed seeds; facts about single numbers are asked once.
"""

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpassay.impl.libraries.remote import RemoteCase, RemoteRelations
from dpassay.impl.libraries.worker_process import WorkerError
from dpassay.mechanism import SamplerLostError
from dpassay.properties.assay.finding import (
    Finding,
    Law,
    Numbers,
    Settings,
    Turn,
    distance_between,
    with_beside,
)
from dpassay.properties.assay.kinds import FindingKind
from dpassay.spec.verdict import Evidence, Scope

__all__ = ["RELATION_LAWS"]

_SEEDS = 3
"""Seeds at which every relation is asked at the first depth."""

_MOST_LOSSES = 2
"""A worker that was lost this often is not asked again."""


def _applies(case: RemoteCase) -> str | None:
    return None if isinstance(case, RemoteRelations) else "not a list of relations"


@dataclass
class _Answers:
    """Answers to the relations of a case: the broken ones with their seeds and details, and what was not answered."""

    compared: int = 0
    asked: int = 0
    answered: set[str] = field(default_factory=set)
    broken: dict[str, int] = field(default_factory=dict)
    details: list[str] = field(default_factory=list)
    losses: list[tuple[str, str]] = field(default_factory=list)
    """Relations at which the worker was lost, and how."""
    late: set[str] = field(default_factory=set)
    """Those of them that the end of the time stopped."""
    mistakes: dict[str, str] = field(default_factory=dict)
    numbers: list[tuple[FindingKind, Numbers]] = field(default_factory=list)
    """The worst numbers of broken relations on each side, with the bounds that they break; None where one raises."""

    def ask(self, case: RemoteRelations, words: str, seed: int) -> None:
        """Compare the numbers of a relation at the parameters of a seed."""
        self.asked += 1
        try:
            number, failed = case.compare(words, seed)
        except SamplerLostError as error:
            self.losses.append((words, f"{words}: {error}"))
            if error.is_late:
                self.late.add(words)
        except WorkerError as error:
            if error.is_own or error.is_unasked:
                self.mistakes[words] = f"{words}: {error}"
            else:
                self.numbers.append((FindingKind.WRONG_ANSWER, (None, None)))
                self._note(words, seed, f"valid parameters raise {error}")
        else:
            self.compared += number
            if number:
                self.answered.add(words)
            if failed:
                told = _worst_on_each_side(failed)
                self.numbers += [_in_kind(row) for row in told]
                self._note(words, seed, "; ".join(_in_words(*row[:4]) for row in told))

    def unanswered(self, relations: Collection[str]) -> list[str]:
        """Return the relations without an answer at some seed: by a mistake, a lost worker, or never asked.

        Those that only the end of the time stopped are not among them: the run was too short, nothing was hidden.
        """
        hidden = self.mistakes.keys() | ({words for words, _ in self.losses} - self.late)
        known = relations if self.late else self.answered | self.broken.keys()
        return [words for words in relations if words in hidden or words not in known]

    def _note(self, words: str, seed: int, detail: str) -> None:
        self.broken[words] = seed
        self.details.append(f"{words}: {detail}")


_Row = Sequence[Any]
"""Words, the low end, the number, the high end, and what it costs."""


def _numbers_of(row: _Row) -> tuple[float, float]:
    """Return the number of a row that is broken, and the bound that it breaks; the low one for NaN.

    A bound that is NaN, a mistake of the adapter or an answer of the library, makes both NaN: nothing excuses them.
    """
    _, low, value, high, _ = row
    if math.isnan(low) or math.isnan(high):
        return math.nan, math.nan
    return value, high if value > high else low


def _in_kind(row: _Row) -> tuple[FindingKind, Numbers]:
    """Return the kind of the fault that a broken row is, and the claimed and the certified number.

    A number that is lost or spent beyond its bound is what is certified, where the bound is what is claimed.
    """
    (number, bound), cost = _numbers_of(row), row[4]
    if number > bound and cost in {"above", "either"}:
        return FindingKind.VIOLATION, (bound, number)
    if number < bound and cost in {"below", "either"}:
        return FindingKind.VIOLATION, (number, bound)
    if number < bound and cost == "understated":
        return FindingKind.UNSOUND_NUMBER, (number, bound)
    return FindingKind.WRONG_ANSWER, (number, bound)  # NaN is on no side


_GRAVEST_FIRST = (FindingKind.VIOLATION, FindingKind.UNSOUND_NUMBER, FindingKind.WRONG_ANSWER)


def _worst_on_each_side(failed: Sequence[_Row]) -> list[_Row]:
    """Return the rows with the number farthest below and farthest above its bounds; those with NaN come first.

    Those that cost privacy are not hidden by others.
    """
    not_numbers = [row for row in failed if any(math.isnan(number) for number in row[1:4])]
    sides = ([row for row in failed if row[2] < row[1]], [row for row in failed if row[2] > row[3]])
    alike = [[row for row in rows if row[4] == cost] for rows in sides for cost in dict.fromkeys(r[4] for r in rows)]
    return [
        *not_numbers[:1],
        *(max(rows, key=lambda row: distance_between(*_numbers_of(row))) for rows in alike),
    ]


def _check(case: RemoteCase, settings: Settings) -> Finding:
    assert isinstance(case, RemoteRelations)
    start, answers = time.monotonic(), _Answers()
    for turn in range(_SEEDS * settings.depth):
        for words in case.relations:
            if turn > 0 and (words in case.facts or words in answers.broken):
                continue
            late = turn > 0 and time.monotonic() - start > settings.seconds  # every relation is asked once
            if late or answers.asked >= settings.calls or len(answers.losses) >= _MOST_LOSSES:
                break
            answers.ask(case, words, settings.seed + turn)
    return _finding(case, answers)


def _finding(case: RemoteRelations, answers: _Answers) -> Finding:
    number, asked = len(case.relations), answers.asked
    mistakes, unanswered = list(answers.mistakes.values()), answers.unanswered(case.relations)
    losses = [detail for _, detail in answers.losses]
    if answers.broken:
        detail = f"{len(answers.broken)} of {number} relations broken: {'; '.join(answers.details)}"
        (kind, (claimed, certified)), *others = sorted(answers.numbers, key=lambda one: _GRAVEST_FIRST.index(one[0]))
        told = Finding(
            kind,
            detail,
            claimed=claimed,
            certified=certified,
            evidence=Evidence.EXACT,
            scope=Scope.POINTS,
            calls=asked,
            witness={"broken": answers.broken, "details": answers.details},
        )
        return with_beside(told, [numbers for _, numbers in others], unanswered, [*mistakes, *losses])
    if mistakes:
        return Finding(FindingKind.ERROR, f"the code of the adapter raises: {mistakes[0]}", calls=asked)
    if losses or asked < number:
        why = losses[0] if losses else f"only {asked} of {number} relations were asked"
        return Finding(FindingKind.UNDECIDED, why, calls=asked)
    if unanswered or not answers.compared:
        words = "; ".join(unanswered) or "the list is empty"
        return Finding(FindingKind.ERROR, f"relations that compare nothing: {words}", calls=asked)
    return Finding(
        FindingKind.OK,
        f"{number} relations, {answers.compared} comparisons",
        evidence=Evidence.EXACT,
        scope=Scope.POINTS,
        calls=asked,
        power={"points": answers.compared},
    )


def _in_words(words: str, low: float, value: float, high: float) -> str:
    if not words:
        return "does not hold"
    if not value < low:
        return f"{words}: {value!r}, but should be at most {high!r}"
    return f"{words}: {value!r}, but should be at least {low!r}"


RELATION_LAWS = (
    Law(
        "relations_hold",
        "The numbers of the library obey the relations and facts that the adapter states.",
        _applies,
        _check,
        sampled=False,
        turn=Turn.FIRST,
    ),
)
