"""Facts about SmartNoise SQL that need no samples: exact aggregates, mechanisms of columns, options, costs.

The rewritten query is run without noise on tables in which users have more rows than allowed, and values outside the
bounds; its numbers are compared with those that the metadata promise.
"""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pandas as pd
from snsql import Privacy, from_df
from snsql.sql._mechanisms import Gaussian, Laplace
from snsql.sql._mechanisms.base import Mechanism as Kind
from snsql.sql._mechanisms.base import Unbounded
from snsql.sql.privacy import Mechanisms, Stat

from dpassay.adapter import Relations, protects, spends, understates
from dpassay.impl.libraries.references import near
from dpassay.impl.libraries.refusing import raises

__all__ = ["facts_of_the_library", "table"]

_LOW, _HIGH = -7.0, 5.0
_EPSILON, _DELTA = 0.7, 0.02
_CLOSE = 1e-9

# a user with three rows above the bounds, one below them, one inside them in another group, one without a value
_ROWS = [(0, 1, 9.0)] * 3 + [(1, 1, -30.0)] + [(2, 4, 1.5)] * 2 + [(3, 1, None)]


def _near(one, other):
    return one == other or math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)


def table(rows, *, privacy=None, user=True, column=None, **options):
    """Return a private reader of users `u`, groups `g` and values `x`, of which two rows a user count.

    What `column` says about `x` as None is left out.
    """
    said = {"type": "float", "lower": _LOW, "upper": _HIGH, **(column or {})}
    kind = "Int64" if said["type"] == "int" else "float64"  # with missing values
    frame = pd.DataFrame(rows, columns=["u", "g", "x"]).astype({"u": "int64", "g": "int64", "x": kind})
    metadata = {
        "u": {"type": "int", "private_id": user},
        "x": {name: value for name, value in said.items() if value is not None},
        "g": {"type": "int", "lower": 0, "upper": 9},
        "max_ids": 2,
        "row_privacy": not user,
        "censor_dims": False,
        **options,
    }
    privacy = privacy or Privacy(epsilon=_EPSILON, delta=_DELTA)
    return from_df(frame, privacy=privacy, metadata={"": {"S": {"T": metadata}}})


# --- exact aggregates --------------------------------------------------------------------------------------------

_SUMS = "SELECT COUNT(*) AS c, COUNT(DISTINCT u) AS d, COUNT(x) AS n, SUM(x) AS s FROM S.T"
_GROUPS = "SELECT g, COUNT(*) AS c, SUM(x) AS s FROM S.T GROUP BY g"


def _aggregates(reader, query):
    """Return the rows of the rewritten query before noise, without names of columns."""
    return sorted(tuple(row) for row in list(reader.reader._execute_ast(reader._rewrite(query)[0]))[1:])


def _clamped(random):
    """Compare sums before noise, and what their noise is made for, with values clamped to many kinds of bounds."""
    near_0, far_from_0 = random.uniform(0.2, 4), random.uniform(4.5, 9)
    query = "SELECT VAR(x) AS v FROM S.T"
    for low, high, kind in (
        (0.0, 25.0, "float"),
        (-25.0, 0.0, "float"),
        (-40.3, 3.4, "float"),
        (near_0, far_from_0, "float"),
        (-far_from_0, -near_0, "float"),
        (0, 9, "int"),
        (-9, 0, "int"),
    ):
        far = 3 * max(-low, high)
        values = [random.uniform(-far, low), random.uniform(high, far), *(random.uniform(-far, far) for _ in range(3))]
        values = [value if kind == "float" else float(round(value)) for value in values]
        rows = [(user, 1, value) for user, value in enumerate(values)] + [(9, 1, None)]
        reader = table(rows, column={"type": kind, "lower": low, "upper": high})
        clamped = [min(max(value, low), high) for value in values]
        words = f"{values!r} in {(low, high)!r}, {kind}"
        inner, _ = reader._rewrite(query)
        _, (squares, count, total) = reader.reader._execute_ast(inner)
        yield (f"sum of squares, {words}", *near(squares, math.fsum(value**2 for value in clamped)))
        yield (f"count, {words}", *near(count, len(values)))
        yield (f"sum, {words}", *near(total, math.fsum(clamped)))
        widest = max(abs(low), abs(high))
        # what no values within the bounds have
        yield spends(
            (f"sum of squares of values within bounds, {words}", 0.0, squares, len(values) * widest**2 * 1.001)
        )
        for mechanism, size in zip(reader._get_mechanisms(inner), (widest**2, 1, widest)):
            scale = mechanism.scale if mechanism else 0.0
            yield protects((f"scale for {size!r}, {words}", *near(scale, 2 * size / _EPSILON, 1e-6)))


def _exact():
    def are(query, expected, rows=_ROWS, **options):
        return lambda: _aggregates(table(rows, **options), query) == sorted(expected)

    only = [(0, 1, 9.0), (1, 1, -30.0), (2, 4, 1.5), (3, 1, None)]
    queries = "SELECT AVG(x) AS a FROM S.T", "SELECT VAR(x) AS v FROM S.T"
    return Relations(
        "exact aggregates before noise",
        {"values are clamped to any bounds": _clamped},
        {
            "rows of a user are sampled, values clamped": are(_SUMS, [(6, 4, 5, 2 * _HIGH + _LOW + 3.0)]),
            "three rows of a user": are(_SUMS, [(7, 4, 6, 3 * _HIGH + _LOW + 3.0)], max_ids=3),
            "one row of a user": are(_SUMS, [(4, 4, 3, _HIGH + _LOW + 1.5)], max_ids=1),
            "no sample": are(_SUMS, [(7, 4, 6, 3 * _HIGH + _LOW + 3.0)], sample_max_ids=False),
            "no clamp": are(_SUMS, [(6, 4, 5, 2 * 9.0 - 30.0 + 3.0)], clamp_columns=False),
            "a row is a user": are(
                _SUMS.replace("COUNT(DISTINCT u) AS d, ", ""),
                [(7, 6, 3 * _HIGH + _LOW + 3.0)],
                user=False,
                max_ids=1,
            ),
            "by group": are(_GROUPS, [(1, 4, 2 * _HIGH + _LOW), (4, 2, 3.0)]),
            "by group, with the number of users": are(
                _GROUPS, [(3, 1, 4, 2 * _HIGH + _LOW), (1, 4, 2, 3.0)], censor_dims=True
            ),
            "by group, where a row is a user": are(
                _GROUPS, [(5, 1, 3 * _HIGH + _LOW), (2, 4, 3.0)], user=False, max_ids=1, censor_dims=True
            ),
            "a mean": are(queries[0], [(2 * _HIGH + _LOW + 3.0, 5)]),
            "a variance": are(queries[1], [(2 * _HIGH**2 + _LOW**2 + 2 * 1.5**2, 5, 2 * _HIGH + _LOW + 3.0)]),
            "a missing value": are(
                _SUMS, [(4, 4, 4, _HIGH + _LOW + 1.5 - 2.0)], rows=only, column={"missing_value": -2.0}
            ),
            "a missing value of 0": are(
                _SUMS, [(4, 4, 4, _HIGH + _LOW + 1.5)], rows=only, column={"missing_value": 0}
            ),
            "a missing value of 0 below bounds": are(
                _SUMS, [(4, 4, 4, 5.0 + 2.0 + 2.0 + 2.0)], rows=only, column={"missing_value": 0, "lower": 2.0}
            ),
            "a missing value outside the bounds": are(
                _SUMS, [(4, 4, 4, _HIGH + _LOW + 1.5 + _HIGH)], rows=only, column={"missing_value": 80.0}
            ),
        },
    )


# --- mechanisms of columns ---------------------------------------------------------------------------------------


def _mechanisms(reader, query):
    """Return the mechanism of each column of the rewritten query; None for a group."""
    return reader._get_mechanisms(reader._rewrite(query)[0])


def _columns(reader, query):
    """Return the class and the parameters of the mechanism of each column; None for a group."""
    return [
        mechanism
        and (
            type(mechanism),
            mechanism.epsilon,
            mechanism.delta,
            max(abs(mechanism.lower), abs(mechanism.upper)),
            mechanism.max_contrib,
            round(mechanism.scale * mechanism.epsilon, 6) if mechanism.scale else None,
        )
        for mechanism in _mechanisms(reader, query)
    ]


def _noise_of_columns():
    widest = max(-_LOW, _HIGH)

    def laplace(size, rows, delta=0.0, epsilon=_EPSILON):
        return (Laplace, epsilon, delta, size, rows, round(size * rows, 6))

    def are(query, expected, **options):
        def compare(_):
            found = _columns(table(_ROWS, **options), query)
            yield "columns", len(expected), len(found), len(expected)
            for place, (one, other) in enumerate(zip(found, expected)):
                words = f"column {place}, {one} instead of {other}"
                yield words, 1.0, float(one == other), 1.0
                yield protects((f"{words}, noise", float(other is not None), float(one is not None), 1.0))
                if one and other and one[0] is Laplace:
                    yield protects(
                        (f"{words}, scale", other[-1] / other[1] * (1 - 1e-9), (one[-1] or 0.0) / one[1], math.inf)
                    )

        return compare

    def cost(query, epsilon, delta=0.0, **options):
        def compare(_):
            found, leak = table(_ROWS, **options).get_privacy_cost(query)
            yield understates(("epsilon", *near(float(found), epsilon)))
            yield understates(("delta", delta, float(leak), 1.0))

        return compare

    def unbounded(**column):
        asked = table(_ROWS, column=column)
        return all(
            raises(ValueError, lambda q=query: asked.execute(q))
            for query in ("SELECT SUM(x) AS s FROM S.T", "SELECT AVG(x) AS a FROM S.T", "SELECT VAR(x) AS v FROM S.T")
        )

    both = 1 - (1 - _DELTA) ** 2
    refused = {
        "an unbounded column": lambda: unbounded(lower=None, upper=None),
        "a column without a lower bound": lambda: unbounded(lower=None, upper=0.0),
        "a column without an upper bound": lambda: unbounded(lower=0.0, upper=None),
    }
    return Relations(
        "mechanisms and costs of columns",
        {
            "counts and sums": are(_SUMS, [laplace(1, 2), laplace(1, 2, _DELTA), laplace(1, 2), laplace(widest, 2)]),
            "with the number of users": are(
                _GROUPS, [laplace(1, 3, _DELTA), None, laplace(1, 3), laplace(widest, 3)], censor_dims=True, max_ids=3
            ),
            "a variance": are(
                "SELECT VAR(x) AS v FROM S.T", [laplace(widest**2, 2), laplace(1, 2), laplace(widest, 2)]
            ),
            "another epsilon": are(
                "SELECT SUM(x) AS s FROM S.T",
                [laplace(widest, 2, epsilon=0.2)],
                privacy=Privacy(epsilon=0.2, delta=_DELTA),
            ),
            "a stated sensitivity": are("SELECT SUM(x) AS s FROM S.T", [laplace(9.0, 2)], column={"sensitivity": 9.0}),
            "a stated sensitivity that is no integer": are(
                "SELECT SUM(x) AS s FROM S.T", [laplace(9.3, 2)], column={"sensitivity": 9.3, "lower": 0.0}
            ),
            "a stated sensitivity without bounds": are(
                "SELECT SUM(x) AS s FROM S.T",
                [laplace(9.3, 2)],
                column={"sensitivity": 9.3, "lower": None, "upper": None},
                clamp_columns=False,
            ),
            "costs add up": cost(_SUMS, 4 * _EPSILON, _DELTA),
            "costs of a mean": cost("SELECT AVG(x) AS a FROM S.T", 2 * _EPSILON),
            "costs of two queries": cost([_SUMS, _SUMS], 8 * _EPSILON, both),
            "the odometer has the costs": _spends,
            "the odometer has the deltas": _spends_deltas,
        },
        {
            **refused,
            "two queries at once": lambda: raises(
                ValueError,
                lambda: table(_ROWS).execute("SELECT COUNT(*) AS c FROM S.T; SELECT COUNT(*) AS c FROM S.T"),
            ),
        },
        unsafe=dict.fromkeys(refused, "either"),
    )


def _missing_values():
    """Check that columns whose missing values are replaced have noise, and cost as much as others."""

    def noisy(query, value):
        reader, other = table(_ROWS, column={"missing_value": value}), table(_ROWS)
        found, exact = (float(one.get_privacy_cost(query)[0]) for one in (reader, other))
        yield spends(("columns without noise", 0.0, _mechanisms(reader, query).count(None), 0.0))
        yield understates(("epsilon", *near(found, exact)))

    queries = {
        "COUNT": "SELECT COUNT(x) AS a FROM S.T",
        "SUM": "SELECT SUM(x) AS a FROM S.T",
        "AVG": "SELECT AVG(x) AS a FROM S.T",
        "VAR": "SELECT VAR(x) AS a FROM S.T",
    }
    return Relations(
        "columns with a missing value",
        {
            f"{name}(x) is noisy, {value} for a missing value": lambda _, q=query, v=value: noisy(q, v)
            for name, query in queries.items()
            for value in (0, -2.0)
        },
    )


def _spends(_):
    reader = table(_ROWS)
    reader.execute("SELECT SUM(x) AS s, COUNT(*) AS c FROM S.T")
    reader.execute("SELECT AVG(x) AS a FROM S.T")
    yield understates(("epsilon", *near(float(reader.odometer.spent[0]), 4 * _EPSILON)))


def _spends_deltas(_):
    """Compare the delta of two queries that count keys with that of both, and of one slack more."""
    reader = table(_ROWS)
    for _ in range(2):
        reader.execute(_SUMS)
    both = 1 - (1 - _DELTA) ** 2
    most = 1 - (1 - both) * (1 - reader.odometer.tol) + 1e-12
    yield understates(("delta", both * (1 - 1e-9), float(reader.odometer.spent[1]), most))


def _parameters():
    """Compare what mechanisms keep of their parameters, and the scale that grows with all of them."""

    def keeps(make, **bounds):
        one = make(0.6, delta=0.03, max_contrib=3, **bounds)
        widest = max(abs(one.lower), abs(one.upper))
        sensitivity = bounds.get("sensitivity", max(abs(bounds.get("lower", 0)), abs(bounds.get("upper", 0))))
        delta = 0.03 if make is Gaussian else 0.0  # Laplace noise has none unless it is given later
        return (one.epsilon, one.delta, one.max_contrib, widest) == (0.6, delta, 3, sensitivity)

    def scales(make):
        base = make(0.6, delta=0.03, sensitivity=4.0).scale
        return (
            1.5 < make(0.3, delta=0.03, sensitivity=4.0).scale / base < 2.2  # Gaussian noise grows a bit more slowly
            and math.isclose(make(0.6, delta=0.03, sensitivity=12.0).scale / base, 3.0, rel_tol=1e-3)
            and math.isclose(make(0.6, delta=0.03, sensitivity=4.0, max_contrib=5).scale / base, 5.0, rel_tol=1e-3)
        )

    facts = {}
    for make in (Laplace, Gaussian):
        name = make.__name__
        facts[f"{name}, a sensitivity"] = lambda m=make: keeps(m, sensitivity=4.0)
        facts[f"{name}, bounds"] = lambda m=make: keeps(m, lower=-9.0, upper=4.0)
        facts[f"{name}, scale"] = lambda m=make: scales(m)
        facts[f"{name}, neither"] = lambda m=make: raises(ValueError, lambda: m(0.6, delta=0.03))
        facts[f"{name}, both"] = lambda m=make: raises(
            ValueError, lambda: m(0.6, delta=0.03, lower=0.0, upper=1.0, sensitivity=1.0)
        )
        facts[f"{name}, half of the bounds"] = lambda m=make: raises(ValueError, lambda: m(0.6, delta=0.03, upper=1.0))
    return Relations("parameters of mechanisms", {}, facts)


def _choices():
    def chosen(sensitivity, stat, kind, **changed):
        mechanisms = Mechanisms()
        mechanisms.map.update({Stat[name]: value for name, value in changed.items()})
        return mechanisms.get_mechanism(sensitivity, stat, kind)

    gaussian = Kind.gaussian
    large = Mechanisms().large

    def lacking():
        mechanisms = Mechanisms()
        del mechanisms.map[Stat.count]
        return mechanisms.get_mechanism(1, "count", "int")

    return Relations(
        "choice of a mechanism",
        {},
        {
            "count": lambda: (
                chosen(1, "count", "int") is Laplace and chosen(1, "count", "int", count=gaussian) is Gaussian
            ),
            "threshold": lambda: chosen(1, "threshold", "int", threshold=gaussian) is Gaussian,
            "sum of integers": lambda: chosen(large, "sum", "int", sum_int=gaussian) is Gaussian,
            "large sum of integers": lambda: (
                chosen(large + 1, "sum", "int", sum_large_int=gaussian) is Gaussian
                and chosen(large, "sum", "int", sum_large_int=gaussian) is Laplace
            ),
            "sum of floats": lambda: chosen(large, "sum", "float", sum_float=gaussian) is Gaussian,
            "large sum of floats": lambda: (
                chosen(large + 1, "sum", "float", sum_large_float=gaussian) is Gaussian
                and chosen(large, "sum", "float", sum_large_float=gaussian) is Laplace
            ),
            "no bound": lambda: chosen(np.inf, "sum", "float") is Unbounded,
            "another statistic": lambda: chosen(1, "median", "float") is None,
            "a statistic without mechanism": lambda: raises(ValueError, lacking),
        },
    )


# --- what is done with the noisy rows ----------------------------------------------------------------------------


def _released(query, change, *, rows=_ROWS, pre_aggregated=None, **options):
    """Return the rows that are released where the noise is replaced by a function of the exact value."""
    seen = []

    def release(mechanism, values):
        seen.append((mechanism, list(values)))
        return [change(value) for value in values]

    with mock.patch.object(Laplace, "release", release):
        found = table(rows, **options).execute(query, pre_aggregated=pre_aggregated)
    return sorted(tuple(row) for row in found[1:]), seen


def _results():
    counts = "SELECT g, COUNT(*) AS c FROM S.T GROUP BY g"

    def draws():
        rows, seen = _released(_SUMS, lambda value: value + 0.25)
        values = [value for _, values in seen for value in values]
        exact = _aggregates(table(_ROWS), _SUMS)[0]
        return len(seen) == 4 and values == list(exact) and len(rows) == 1 and _near(rows[0][3], exact[3] + 0.25)

    def clamped(clamp):
        rows, _ = _released(counts, lambda value: value - 3.0, clamp_counts=clamp)
        return rows == [(1, 1), (4, 0 if clamp else -1)]

    def censored(shift, expected):
        tau = table(_ROWS, censor_dims=True)
        (mechanism, *_) = _mechanisms(tau, counts)
        # group 1 has three users, group 4 has one
        rows, _ = _released(counts, lambda value: value + mechanism.threshold - shift, censor_dims=True)
        return [row[0] for row in rows] == expected

    def empty():
        rows, seen = _released("SELECT SUM(x) AS s FROM S.T", lambda value: value + 2.0, rows=[(3, 1, None)])
        return rows == [(2.0,)] and [values for _, values in seen] == [[0.0]]

    return Relations(
        "results with known noise",
        {},
        {
            "all columns are noisy": draws,
            "counts are clamped": lambda: clamped(True),
            "counts are not clamped": lambda: clamped(False),
            "no group passes": lambda: censored(3.0, []),
            "one group passes": lambda: censored(2.5, [1]),
            "both groups pass": lambda: censored(0.5, [1, 4]),
            "a sum of nothing is noisy, too": empty,
            "a variance is not negative": lambda: (
                _released("SELECT VAR(x) AS v FROM S.T", lambda value: -abs(value) - 1.0)[0][0][0] >= 0
            ),
            "aggregates with a column too many": lambda: raises(
                ValueError, lambda: _released(counts, float, pre_aggregated=[("g", "count_star", "more"), (1, 2, 3)])
            ),
            "aggregates with other columns": lambda: raises(
                ValueError, lambda: _released(counts, float, pre_aggregated=[("count_star", "g"), (1, 2)])
            ),
            "aggregates that are given": lambda: (
                _released(counts, lambda value: value + 1.0, pre_aggregated=[("g", "count_star"), (6, 2)])[0]
                == [(6, 3)]
            ),
        },
        unsafe={"no group passes": "either"},
    )


def _options():
    """Compare the options of a reader with the metadata: one table that asks for protection is enough."""
    flags = {
        "censor_dims": ("censor_dims", True, False),
        "clamp_counts": ("clamp_counts", True, False),
        "sample_max_ids": ("reservoir_sample", True, False),
        "clamp_columns": ("clamp_columns", True, False),
        "use_dpsu": ("use_dpsu", True, False),
    }
    return Relations(
        "options of a reader",
        {},
        {
            f"{flag}={value}": lambda f=flag, o=option, v=value: bool(getattr(table(_ROWS, **{f: v})._options, o)) == v
            for flag, (option, *values) in flags.items()
            for value in values
        }
        | {"row_privacy": lambda: table(_ROWS, user=False, max_ids=1)._options.row_privacy},
        unsafe=dict.fromkeys(["censor_dims=True", "sample_max_ids=True", "clamp_columns=True"], "either"),
    )


def facts_of_the_library():
    """Yield facts about the numbers of this library."""
    yield _parameters()
    yield _choices()
    yield _noise_of_columns()
    yield _missing_values()
    yield _exact()
    yield _results()
    yield _options()
