"""Facts about the queries that SmartNoise SQL refuses, written in many ways, and about the noise of what it accepts.

Names are in other letters and in quotes, with aliases, in expressions, and in subqueries.
"""

from __future__ import annotations

import functools

import pandas as pd
from snsql import Privacy, from_connection, from_df

from dpassay.adapter import Relations, protects
from dpassay.impl.libraries.refusing import raises

__all__ = ["refusals_of_the_library"]

_ENGINES = ("pandas", "sqlite", "sqlserver", "postgres", "mysql")
_ANY_LETTERS = ("sqlserver", "postgres", "mysql")
"""Engines whose names are the same in upper and in lower case."""


def _asked(engine, names, *, user=True):
    """Return a reader whose columns have these names: a private key, a group, a value, a text, a truth, a date.

    Where `user` is false, each row is a user, and the private key is a column as others are.
    """
    key, group, value, text, truth, date = names
    columns = {
        key: {"type": "int", "private_id": user},
        group: {"type": "int", "lower": 0, "upper": 9},
        value: {"type": "float", "lower": -7.0, "upper": 5.0},
        text: {"type": "string"},
        truth: {"type": "boolean"},
        date: {"type": "datetime"},
    }
    said = {"engine": engine, "D": {"S": {"T": {**columns, "censor_dims": False, "row_privacy": not user}}}}
    privacy = Privacy(epsilon=0.7, delta=0.02)
    if engine == "pandas":
        rows = [(0, 1, 1.0, "a", True, "2020-01-01"), (1, 4, 2.0, "b", False, "2021-01-01")]
        return from_df(pd.DataFrame(rows, columns=names), privacy=privacy, metadata=said)
    return from_connection(object(), engine=engine, privacy=privacy, metadata=said)  # it is never asked


_GROUPED_BY_THE_KEY = (
    "SELECT COUNT(*) AS c FROM S.T GROUP BY {u}",
    "SELECT COUNT(*) AS c FROM S.T AS t GROUP BY {u}",
    "SELECT COUNT(*) AS c FROM (S.T) AS t GROUP BY {u}",
    "SELECT COUNT(*) AS c FROM S.T AS t GROUP BY t.{u}",
    "SELECT COUNT(*) AS c FROM S.T WHERE {x} > 0 GROUP BY {u} HAVING COUNT(*) > 1 ORDER BY c LIMIT 3",
    "SELECT COUNT(*) AS c FROM S.T GROUP BY {u}, {other}",
    "SELECT {u}, COUNT(*) AS c FROM S.T GROUP BY {u}",
    "SELECT {u} AS k, SUM({x}) AS c FROM S.T GROUP BY {u}",
    "SELECT {u} AS k, SUM({x}) AS c FROM S.T GROUP BY k",
    'SELECT COUNT(*) AS c FROM S.T GROUP BY "{u}"',
    "SELECT COUNT(*) AS c FROM S.T GROUP BY [{u}]",
    "select count(*) as c from S.T group by {u}",
)
_NO_AGGREGATE = (
    "SELECT {x} FROM S.T",
    "SELECT {x} AS y FROM S.T",
    "SELECT ({x}) AS y FROM S.T",
    "SELECT {x} + 1 AS y FROM S.T",
    "SELECT ABS({x}) AS y FROM S.T",
    "SELECT ROUND({x}, 2) AS y FROM S.T",
    "SELECT CASE WHEN {x} > 1 THEN 1 ELSE 0 END AS y FROM S.T",
    "SELECT IIF({x} > 1, 1, 0) AS y FROM S.T",
    "SELECT UPPER({s}) AS y FROM S.T",
    "SELECT CONCAT({s}, 'a') AS y FROM S.T",
    "SELECT DISTINCT {x} FROM S.T",
    "SELECT TOP 1 {x} FROM S.T",
    "SELECT * FROM S.T",
    "SELECT t.* FROM S.T AS t",
    "SELECT t.{x} FROM S.T AS t",
    "SELECT {u} FROM S.T",
    "SELECT {x}, COUNT(*) AS c FROM S.T",
    "SELECT {x}, COUNT(*) AS c FROM S.T GROUP BY {g}",
    "SELECT {u}, COUNT(*) AS c FROM S.T GROUP BY {g}",
    "SELECT {x} + {g} AS y, COUNT(*) AS c FROM S.T GROUP BY {g}",
    "SELECT {x} + 2 AS y, COUNT(*) AS c FROM S.T GROUP BY {x} + 1",
    "SELECT {x} + SUM({x}) AS y FROM S.T",
    "SELECT {x} * COUNT(*) AS y FROM S.T GROUP BY {g}",
    "SELECT CASE WHEN {x} > 1 THEN SUM({x}) ELSE 0 END AS y FROM S.T",
)
_OF_EXPRESSIONS = (
    "SUM({x} * 9)",
    "sum({x} + 0)",
    "SUM(({x}))",
    "SUM(ABS({x}))",
    "SUM(1000)",
    "SUM(SUM({x}))",
    "SUM(CASE WHEN {x} > 1 THEN 1000 ELSE 0 END)",
    "SUM(DISTINCT {x} * 9)",
    "COUNT({x} + 1)",
    "COUNT(DISTINCT {x} + 1)",
    "AVG({x} * {x})",
    "Variance({x} * 2)",
    "STDDEV({x} * 2)",
    "ROUND(SUM({x} * 9), 1)",
    "(SUM({x} * 9))",
    "1 + SUM({x} * 9)",
    "SUM({x}) / SUM({x} * 9)",
    "IIF(SUM({x} * 9) > 0, 1, 0)",
    "MIN({x})",
    "max({x})",
    "1 + MAX({x})",
    "(MAX({x}))",
)
_OF_NO_NUMBERS = tuple(
    expression.format(f"{{{column}}}")
    for column in ("s", "b", "d")
    for expression in ("SUM({})", "avg({})", "VAR({})", "STDDEV({})", "SUM(DISTINCT {})", "1 + SUM({})", "(AVG({}))")
)
_OTHER_SOURCES = (
    "SELECT COUNT(*) AS c FROM (SELECT {u}, {x} FROM S.T) AS q",
    "SELECT COUNT(*) AS c FROM (SELECT {u}, {x} FROM S.T)",
    "SELECT SUM({x}) AS c FROM (SELECT {u}, {x} AS {x} FROM S.T) AS q",
    "SELECT COUNT(*) AS c FROM (SELECT {u}, {g} FROM S.T) AS q GROUP BY {g}",
    "SELECT COUNT(*) AS c FROM S.T JOIN S.T AS o USING({u})",
    "SELECT COUNT(*) AS c FROM S.T LEFT JOIN S.T AS o USING({u})",
    "SELECT COUNT(*) AS c FROM S.T, S.T AS o",
    "SELECT COUNT(*) AS c FROM S.T WHERE {x} IN (SELECT {x} FROM S.T)",
    "SELECT COUNT(*) AS c FROM S.T UNION SELECT COUNT(*) AS c FROM S.T",
    "SELECT COUNT(*) AS c FROM S.T; SELECT COUNT(*) AS c FROM S.T",
)
_REFUSED = (
    *_NO_AGGREGATE,
    *("SELECT y FROM S.T".replace("y", f"{one} AS y") for one in (*_OF_EXPRESSIONS, *_OF_NO_NUMBERS)),
    *_OTHER_SOURCES,
)
_ACCEPTED = {
    "SELECT COUNT(*) AS c FROM S.T": 0,
    "SELECT COUNT(*) AS c FROM S.T GROUP BY {g}": 1,
    "SELECT {u}, COUNT(*) AS c FROM S.T GROUP BY {u}, {g}": 2,
    "SELECT {g} * COUNT(*) AS y FROM S.T GROUP BY {g}": 1,
    "SELECT {g} + 1 AS y, SUM({x}) AS s FROM S.T GROUP BY {g} + 1": 1,
    "SELECT COUNT({u}) AS c, COUNT(DISTINCT {u}) AS d FROM S.T": 0,
    "SELECT COUNT({s}) AS c, COUNT(DISTINCT {b}) AS d FROM S.T": 0,
    "SELECT sum({x}) AS s, SUM(DISTINCT {x}) AS d FROM S.T": 0,
    "SELECT ROUND(SUM({x}), 1) AS y FROM S.T": 0,
    "SELECT SUM({x}) / COUNT(*) AS y FROM S.T": 0,
    "SELECT IIF(SUM({x}) > 0, 1, 0) AS y FROM S.T": 0,
    "SELECT SQRT(SUM({x})) AS y, POWER(COUNT(*), 2) AS z FROM S.T": 0,
    "SELECT AVG({x}) AS a, STDDEV({x}) AS d, Variance({x}) AS v FROM S.T": 0,
}
"""Queries, and how many of the columns that they ask the database for are groups, and have no noise."""

_NAMES = ("UserId", "Group_1", "Value", "Text", "Truth", "Day")


def _cased(random, name):
    return "".join(random.choice((letter.lower(), letter.upper())) for letter in name)


def _names(random):
    return [_cased(random, name) for name in _NAMES]


def _written(random, query, names, engine, *, key=True):
    """Return a query with names of the columns in random letters, where those do not matter to the engine.

    `other` is the private key in other letters. What has `key` false writes the key as the metadata do.
    """
    said = [_cased(random, name) if engine in _ANY_LETTERS else name for name in (*names, names[0])]
    if not key:
        said[0] = names[0]
    return query.format(**dict(zip(("u", "g", "x", "s", "b", "d", "other"), said)))


def _refusals(random):
    """Check that queries are refused in whatever letters, and through whatever method."""
    for engine, user in (("pandas", True), ("pandas", False), (random.choice(_ANY_LETTERS), True)):
        names = _names(random)
        reader = _asked(engine, names, user=user)
        asks = [reader.get_privacy_cost]
        if engine == "pandas":
            asks += [reader.execute, reader.execute_df, functools.partial(reader.execute, postprocess=False)]
        for query in (*_GROUPED_BY_THE_KEY, *_REFUSED) if user else _REFUSED:
            written, ask = _written(random, query, names, engine), random.choice(asks)
            refused = raises(ValueError, lambda a=ask, q=written: a(q))
            words = f"{written!r}, {engine}, private key {names[0] if user else None!r}"
            compared = words, 1.0, float(refused), 1.0
            # what releases values or groups of users as they are
            yield protects(compared) if query in {*_GROUPED_BY_THE_KEY, *_NO_AGGREGATE} else compared


def _noisy_or_group(random):
    """Check that all that a query asks the database for is noisy, or a group, in whatever letters."""
    engine, names = random.choice(_ENGINES), _names(random)
    reader = _asked(engine, names)
    for query, groups in _ACCEPTED.items():
        # the key is looked up by the letters of the metadata, which refuses what is the same to the engine
        written = _written(random, query, names, engine, key=False)
        inner, _ = reader._rewrite(written)
        found = sum(mechanism is None for mechanism in reader._get_mechanisms(inner))
        yield f"{written!r}, {engine}, columns without noise", groups, found, groups


def _grouped_by_the_key(random):
    """Check that groups of a private key alone are refused, by every engine and in whatever letters."""
    for engine in _ENGINES:
        names = _names(random)
        reader = _asked(engine, names)
        for query in _GROUPED_BY_THE_KEY:
            written = _written(random, query, names, engine)
            refused = raises(ValueError, lambda r=reader, q=written: r.get_privacy_cost(q))
            yield f"{written!r}, {engine}, private key {names[0]!r}", 1.0, float(refused), 1.0


def refusals_of_the_library():
    """Yield facts about the queries that this library refuses."""
    yield Relations(
        "queries that are refused",
        {
            "groups of a private key": _grouped_by_the_key,
            "all that is not an aggregate of a column of one table": _refusals,
            "what is accepted is noisy": _noisy_or_group,
        },
        unsafe={"groups of a private key": "below", "what is accepted is noisy": "above"},
    )
