"""Hypothesis strategies for the domains of statements.

`strategy_for` maps a domain to a strategy that builds its members (it does not filter), corners first, so that
the points where theorems are tight or break are always tried. A new type of domain registers its strategy with
``@strategy_for.register`` in a module of this package.
"""

import itertools
import math
from functools import cache
from typing import Any

from hypothesis import strategies as st

from dpassay.discovery import import_all_below
from dpassay.properties.strategies.base import members_of, strategy_for
from dpassay.spec.statement import Statement

__all__ = ["all_points", "quantifier_strategies", "strategy_for"]


@cache
def _import_all() -> None:
    import_all_below(__name__)


def quantifier_strategies(statement: Statement) -> dict[str, st.SearchStrategy[Any]]:
    """Return a strategy for each quantifier of a statement."""
    _import_all()
    return {name: strategy_for(domain) for name, domain in statement.quantifiers.items()}


def all_points(statement: Statement, most: int) -> list[dict[str, Any]] | None:
    """Return every point of the domain of a statement, the simplest first; None if there are more than `most`."""
    _import_all()
    columns = []
    for domain in statement.quantifiers.values():
        members = members_of(domain, most)
        if members is None:
            return None
        columns.append(members)
    if math.prod(map(len, columns)) > most:
        return None
    return [dict(zip(statement.quantifiers, values, strict=True)) for values in itertools.product(*columns)]
