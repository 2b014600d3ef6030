"""Records of the comparisons that a claim decides, and of the outcomes of statements.

Pins and figures of errata read the comparisons; the tests of mutants, which must decide a statement, the outcomes.

Decisions report every comparison here; it is kept only inside a `recorded` block. Pins
(:mod:`dpassay.spec.proof.pins`) read the inequalities, figures (:mod:`dpassay.spec.proof.figures`) the
equalities as well.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from flint import arb

from dpassay.spec.verdict import Outcome

__all__ = ["Comparison", "note", "note_outcome", "recorded", "recorded_outcomes"]


@dataclass(frozen=True)
class Comparison:
    """The two sides of an inequality ``smaller <= larger``, or of an equality, as procedures that enclose them."""

    smaller: Callable[[], arb]
    larger: Callable[[], arb]
    equality: bool = False


_RECORD: ContextVar[list[Comparison] | None] = ContextVar("record of comparisons", default=None)


def note(smaller: Callable[[], arb], larger: Callable[[], arb], *, equality: bool = False) -> None:
    """Append a comparison to the record, if there is one."""
    record = _RECORD.get()
    if record is not None:
        record.append(Comparison(smaller, larger, equality))


@contextmanager
def recorded() -> Iterator[list[Comparison]]:
    """Collect the comparisons decided inside the block, in order."""
    record: list[Comparison] = []
    token = _RECORD.set(record)
    try:
        yield record
    finally:
        _RECORD.reset(token)


_OUTCOMES: ContextVar[list[tuple[str, Outcome]] | None] = ContextVar("record of outcomes", default=None)


def note_outcome(statement: str, outcome: Outcome) -> None:
    """Append the outcome of a statement to the record, if there is one."""
    record = _OUTCOMES.get()
    if record is not None:
        record.append((statement, outcome))


@contextmanager
def recorded_outcomes() -> Iterator[list[tuple[str, Outcome]]]:
    """Collect the names and outcomes of the statements decided inside the block, in order."""
    record: list[tuple[str, Outcome]] = []
    token = _OUTCOMES.set(record)
    try:
        yield record
    finally:
        _OUTCOMES.reset(token)
