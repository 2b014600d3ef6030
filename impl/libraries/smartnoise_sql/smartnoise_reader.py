"""Facts about the private reader of SmartNoise SQL: all its paths have noise and thresholds, and refuse the same.

A query is asked through every method that releases rows, and of exact aggregates from every kind of source.
"""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pandas as pd
from smartnoise_facts import table
from snsql.sql._mechanisms import Laplace

from dpassay.adapter import Relations, spends, understates
from dpassay.impl.libraries.references import near
from dpassay.impl.libraries.refusing import raises

__all__ = ["reader_of_the_library"]

_EPSILON = 0.7  # of `table`
_LOW, _HIGH = -7.0, 5.0  # its bounds


# --- paths -------------------------------------------------------------------------------------------------------


class _Stream:
    """A collection of rows that has the methods of one of Spark."""

    def __init__(self, rows):
        self._rows = list(rows)

    def __iter__(self):
        return iter(self._rows)

    def map(self, function):
        """Return the rows changed by a function."""
        return _Stream(map(function, self._rows))

    def filter(self, keeps):
        """Return the rows that are kept."""
        return _Stream(filter(keeps, self._rows))

    def sortBy(self, key):  # noqa: N802  # a name of Spark
        """Return the rows in the order of a key."""
        return _Stream(sorted(self._rows, key=key))


class DataFrame:
    """A frame that has the attributes, and the name, of one of Spark."""

    __module__ = "pyspark.sql.dataframe"

    def __init__(self, rows, columns):
        self.rdd, self.columns = _Stream(rows), columns


_AGGREGATES = {
    "a list": lambda names, rows: [tuple(names), *rows],
    "an array": lambda _names, rows: np.array(rows, dtype=object),
    "a data frame": lambda names, rows: pd.DataFrame(rows, columns=names, dtype=object),
    "a stream": lambda _names, rows: _Stream(rows),
    "a frame of streams": lambda names, rows: DataFrame(rows, names),
}
"""Kinds of exact aggregates that may be given to the reader instead of what it asks the database."""


def _with_header(frame):
    """Return the rows of a frame whose columns have the names of a first row that was taken for a header."""
    return [list(frame.columns), *frame.to_numpy().tolist()]


_PATHS = {
    "execute": lambda reader, query: reader.execute(query)[1:],
    "execute_df": lambda reader, query: reader.execute_df(query).to_numpy().tolist(),
    "_execute_ast_df": lambda reader, query: (
        reader._execute_ast_df(reader.parse_query_string(query)).to_numpy().tolist()
    ),
}
_UNFINISHED = {
    "execute(postprocess=False)": lambda reader, query: reader.execute(query, postprocess=False),
    "execute_df(postprocess=False)": lambda reader, query: _with_header(reader.execute_df(query, postprocess=False)),
}
"""Paths that release noisy rows, of which the rare are left out, before counts are clamped."""


def _given(kind, names, rows):
    """Return the path to which exact aggregates of one kind are given, and the same before counts are clamped."""

    def finished(reader, query):
        found = list(reader.execute(query, pre_aggregated=_AGGREGATES[kind](names, rows)))
        return found if "stream" in kind else found[1:]  # streams have no header

    def unfinished(reader, query):
        return reader.execute(query, pre_aggregated=_AGGREGATES[kind](names, rows), postprocess=False)

    return {f"aggregates in {kind}": finished}, {f"aggregates in {kind}, postprocess=False": unfinished}


def _paths_of(names, rows):
    """Return the paths with these exact aggregates that clamp counts, and those that do not."""
    finished, unfinished = {}, {}
    for kind in _AGGREGATES:
        more, others = _given(kind, names, rows)
        finished |= more
        unfinished |= others
    return finished, unfinished


_SUM = "SELECT SUM(x) AS s FROM S.T"
_GROUPS = "SELECT g, COUNT(*) AS c, SUM(x) AS s FROM S.T GROUP BY g"


def _compared(random, paths_of):
    """Compare what paths release with noise that is known: groups that pass, counts, and sums.

    The noise of the number of users lies under the threshold by a number that some groups reach and others do not.
    """
    sizes = dict(zip(random.sample(range(1, 9), 5), random.sample(range(1, 9), 5)))
    values = {group: random.uniform(_LOW, _HIGH) for group in sizes}
    people = [(group, values[group]) for group, size in sizes.items() for _ in range(size)]
    people = [(user, *person) for user, person in enumerate(people)]
    reader = table(people, censor_dims=True, clamp_counts=True)
    inner, _ = reader._rewrite(_GROUPS)
    reach = sorted(sizes.values())[random.randint(1, 3)] - 0.5  # one group fails, and two pass at least
    of_counts = -math.ceil(reach) - 1  # the smallest group that passes has a negative count
    of_sums = random.uniform(-3, 3)
    drawn = []

    def release(mechanism, exact):
        drawn.extend(exact)
        if mechanism.delta:
            return [value + float(mechanism.threshold) - reach for value in exact]
        return [value + (of_sums if mechanism.upper > 1 else of_counts) for value in exact]

    def expected(clamped):
        for group in sorted(sizes):
            size = sizes[group]
            if size > reach:
                count = max(size + of_counts, 0) if clamped else size + of_counts
                yield (group, count, size * values[group] + of_sums)

    names, *exact = reader.reader._execute_ast(inner)
    finished, unfinished = paths_of(names, exact)
    for path, ask in {**finished, **unfinished}.items():
        drawn.clear()
        with mock.patch.object(Laplace, "release", release):
            found = sorted(tuple(map(float, row[-3:])) for row in ask(reader, _GROUPS))
        words = f"{path}, groups of {sizes!r} users, more than {reach!r} pass"
        wanted = list(expected(path in finished))
        yield f"{words}, groups", 1.0, float([row[0] for row in found] == [row[0] for row in wanted]), 1.0
        rare = [row for row in found if sizes.get(row[0], 0) <= reach]
        yield spends((f"{words}, groups that should not, {rare!r}", 0.0, len(rare), 0.0))
        for row, other in zip(found, wanted):
            alike = row[1] == other[1] and math.isclose(row[2], other[2], rel_tol=1e-9, abs_tol=1e-9)
            yield f"{words}, {row!r} instead of {other!r}", 1.0, float(alike), 1.0
        noisy = 3 * len(sizes)
        yield f"{words}, values that get noise", noisy, len(drawn), noisy


def _own_aggregates(random):
    """Check all methods that ask the database."""
    return _compared(random, lambda _names, _rows: (_PATHS, _UNFINISHED))


def _given_aggregates(random):
    """Check all kinds of exact aggregates that the reader may be given, and some before counts are clamped."""

    def paths(names, rows):
        finished, unfinished = _paths_of(names, rows)
        return finished, dict(random.sample(sorted(unfinished.items()), 2))  # a query takes a tenth of a second

    return _compared(random, paths)


def _spends():
    """Return relations: each path that ends spends what the query costs."""
    # execute without postprocessing is a known finding with a page, and has an answer of its own
    rows = [(user, 1, 1.0) for user in range(9)]
    finished, _ = _paths_of(("keycount", "g", "count_star", "sum_x"), [(9, 1, 9, 9.0)])

    def spent(ask):
        reader = table(rows, censor_dims=True)
        list(ask(reader, _GROUPS))
        yield understates(("epsilon", *near(float(reader.odometer.spent[0]), 3 * _EPSILON)))

    return {
        f"{path} is counted by the odometer": lambda _, a=ask: spent(a) for path, ask in {**_PATHS, **finished}.items()
    }


def _unbounded():
    """Return facts: no path and no expression releases the sum of a column without bounds."""
    rows = [(user, 1, 1.0) for user in range(3)]
    finished, unfinished = _paths_of(("sum_x",), [(3.0,)])
    paths = {**_PATHS, **_UNFINISHED, **finished, **unfinished}
    facts = {
        f"{path}, no bounds": lambda a=ask: raises(
            ValueError,
            lambda: list(a(table(rows, column={"lower": None, "upper": None}), _SUM)),
        )
        for path, ask in paths.items()
    }
    for expression in (
        "sum(x)",
        "SUM(DISTINCT x)",
        "ROUND(SUM(x), 1)",
        "(SUM(x))",
        "1 + SUM(x)",
        "SUM(x) / COUNT(x)",
        "SQRT(SUM(x))",
        "IIF(SUM(x) > 0, 1, 0)",
        "STDDEV(x)",
        "1 + AVG(x)",
        "SUM(u)",
    ):
        for bound in ("lower", "upper"):
            facts[f"{expression}, no {bound} bound"] = lambda e=expression, b=bound: raises(
                ValueError, lambda: table(rows, column={b: None}).execute(_SUM.replace("SUM(x)", e))
            )
    return facts


def _accuracies():
    """Return facts: paths that have accuracies have been removed, and release nothing."""
    paths = {
        "execute_with_accuracy": lambda reader: reader.execute_with_accuracy(_GROUPS),
        "execute_with_accuracy_df": lambda reader: reader.execute_with_accuracy_df(_GROUPS),
        "execute(accuracy=True)": lambda reader: reader.execute(_GROUPS, accuracy=True),
        "execute_df(accuracy=True)": lambda reader: reader.execute_df(_GROUPS, accuracy=True),
        "execute(accuracy=True, postprocess=False)": lambda reader: reader.execute(
            _GROUPS, accuracy=True, postprocess=False
        ),
    }
    rows = [(user, 1, 1.0) for user in range(3)]
    return {
        f"{path} releases nothing": lambda a=ask: raises(NotImplementedError, lambda: a(table(rows)))
        for path, ask in paths.items()
    }


def reader_of_the_library():
    """Yield facts about the paths of the reader of this library."""
    unbounded = _unbounded()
    yield Relations(
        "paths of the reader",
        {
            "every method has noise, and leaves out rare groups": _own_aggregates,
            "exact aggregates of every kind get noise, and rare groups are left out": _given_aggregates,
            **_spends(),
        },
        {**unbounded, **_accuracies()},
        unsafe=dict.fromkeys(unbounded, "either"),
    )
