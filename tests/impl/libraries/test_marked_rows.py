"""Tests of marks for the comparisons of a relation that protect the records."""

import math
import random
from collections.abc import Iterator

from dpassay.impl.libraries.marked_rows import accounted, protecting, protects, spends, understates

ROWS = [
    ("answer", 0.0, 3.0, 1.0),
    spends(("epsilon", 0.9, 1.0, 1.1)),
    protects(("sensitivity", 2.0, 2.0, 2.5)),
    understates(("account", 0.9, 1.0, 1.1)),
]


def fit(_: random.Random) -> Iterator[tuple[str, float, float, float]]:
    """Return every kind of comparison."""
    return iter(ROWS)


def test_each_mark_has_its_relation_and_its_side() -> None:
    """What protects the records and what is accounted are apart, each on the side that costs privacy."""
    (name, kept), (other, accounts) = *protecting({"fit": fit}).items(), *accounted({"fit": fit}).items()
    drawn = random.Random(1)  # noqa: S311  # not used
    assert (name, other) == ("fit: what protects the records", "fit: what is accounted")
    assert list(kept(drawn)) == [("epsilon", -math.inf, 1.0, 1.1), ("sensitivity", 2.0, 2.0, math.inf)]
    assert list(accounts(drawn)) == [("account", 0.9, 1.0, math.inf)]


def test_a_mark_leaves_the_comparison_as_it_is() -> None:
    """The relation itself keeps both bounds."""
    assert [tuple(row) for row in fit(random.Random(1))][1] == ("epsilon", 0.9, 1.0, 1.1)  # noqa: S311  # not used
