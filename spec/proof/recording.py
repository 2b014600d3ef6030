"""A record of the comparisons that a claim decides: pins and figures of errata read it.

Decisions report every comparison here; it is kept only inside a `recorded` block. Pins
(:mod:`dpassay.spec.proof.pins`) read the inequalities, figures (:mod:`dpassay.spec.proof.figures`) the
equalities as well.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from flint import arb

__all__ = ["Comparison", "note", "recorded"]


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
