"""Facts about the metadata of SmartNoise SQL: what they do not name has its default, wherever they are from.

Options, named or not, are followed from dictionaries and files into tables, columns, queries and readers.
"""

from __future__ import annotations

import io
import math
import tempfile
from pathlib import Path
from unittest import mock

import pandas as pd
import yaml
from snsql import Privacy, from_connection, from_df
from snsql.metadata import Metadata
from snsql.sql._mechanisms import Laplace

from dpassay.adapter import Relations, protects, spends
from dpassay.impl.libraries.refusing import raises

__all__ = ["metadata_of_the_library"]

_FLAGS = {
    "row_privacy": False,
    "sample_max_ids": True,
    "censor_dims": True,
    "clamp_counts": False,
    "clamp_columns": True,
    "use_dpsu": False,
}
_DEFAULTS = {"max_ids": 1, **_FLAGS}
"""The options of a table that names nothing, by the documentation of the metadata."""

_OPTIONS_OF_READERS = {"max_ids": "max_contrib", "sample_max_ids": "reservoir_sample"}
"""Options that a reader names in another way than the metadata."""

_COLUMNS = {"x": {"type": "float", "lower": -7.0, "upper": 5.0}, "g": {"type": "int", "lower": 0, "upper": 9}}
_QUERY = "SELECT COUNT(*) AS c, SUM(x) AS s FROM S.T"


# --- where metadata are from -------------------------------------------------------------------------------------


def _from_stream(said):
    return Metadata.from_(io.StringIO(yaml.safe_dump(said)))


def _from_file(said):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metadata.yaml"
        path.write_text(yaml.safe_dump(said), encoding="utf-8")
        return Metadata.from_(str(path))


def _from_written(said):
    """Return what is read from the file that the library itself writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "metadata.yaml")
        Metadata.from_(said).to_file(path, "D")
        return Metadata.from_(path)


_SOURCES = {
    "a dictionary": Metadata.from_,
    "a stream": _from_stream,
    "a file": _from_file,
    "a file that was written": _from_written,
}


def _said(columns, options):
    return {"engine": "pandas", "D": {"S": {"T": {**columns, **options}}}}


def _table(columns=_COLUMNS, read=Metadata.from_, **options):
    return read(_said(columns, options))["S.T"]


def _choices(random):
    """Yield options that a table names: none, all against their defaults, each alone, and some at random."""
    opposite = {"max_ids": random.randint(2, 9), **{name: not value for name, value in _FLAGS.items()}}
    yield {}
    yield opposite
    for name, value in opposite.items():
        yield {name: value}
    for _ in range(3):
        named = random.sample(sorted(opposite), 3)
        yield {name: random.choice((opposite[name], _DEFAULTS[name])) for name in named}


# --- tables and columns ------------------------------------------------------------------------------------------


def _option(words, name, value, found):
    """Compare an option with what it should be: those that protect users should be no less, and rows alone no more."""
    compared = words, float(value), float(found), float(value)
    if name in {"sample_max_ids", "censor_dims", "clamp_columns"}:
        return protects(compared)
    return spends(compared) if name == "row_privacy" else compared


def _tables(random):
    """Compare the options of tables with what is named, and with defaults where nothing is."""
    for options in _choices(random):
        for source, read in _SOURCES.items():
            found = _table(read=read, **options)
            for name, value in {**_DEFAULTS, **options}.items():
                words = f"{name} of a table that names {options!r}, {source}"
                yield _option(words, name, value, getattr(found, name))


_ATTRIBUTES = {
    "private_id": ("is_key", False),
    "nullable": ("nullable", True),
    "missing_value": ("missing_value", None),
    "lower": ("lower", None),
    "upper": ("upper", None),
    "sensitivity": ("sensitivity", None),
    "cardinality": ("card", 0),
}
"""For each option of a column, the attribute that keeps it, and its default."""

_EVERY = ("private_id", "nullable", "missing_value")
_KINDS = {
    "boolean": _EVERY,
    "datetime": _EVERY,
    "string": (*_EVERY, "cardinality"),
    "int": (*_EVERY, "lower", "upper", "sensitivity"),
    "float": (*_EVERY, "lower", "upper", "sensitivity"),
}

_ZEROS = {"int": {"lower": 0}, "float": {"upper": 0}, "string": {"missing_value": 0}}
"""Options that are 0, which is a bound or a value as others are."""


def _columns(random):
    """Compare the options of columns of every type with what is named, and with defaults where nothing is."""
    for kind, names in _KINDS.items():
        values = {
            "private_id": True,
            "nullable": False,
            "missing_value": random.randint(-3, 3),
            "lower": -random.randint(1, 9),
            "upper": random.randint(1, 9),
            "sensitivity": random.randint(10, 20),
            "cardinality": random.randint(2, 9),
        }
        values |= _ZEROS.get(kind, {})
        for named in ([], names, *([name] for name in names)):
            column = {"type": kind, **{name: values[name] for name in named}}
            for source, read in _SOURCES.items():
                # a sensitivity without bounds is refused where columns are clamped
                found = _table({"y": column}, read, clamp_columns=False)["y"]
                for name in names:
                    if name == "nullable" and "missing_value" in named:
                        continue  # what replaces missing values may say that there are none
                    attribute, default = _ATTRIBUTES[name]
                    value = column.get(name, default)
                    kept = getattr(found, attribute) == value
                    yield f"{name} of the column {column!r}, {source}", 1.0, float(kept), 1.0
                yield f"type of the column {column!r}, {source}", 1.0, float(found.typename() == kind), 1.0


# --- from tables to queries and readers --------------------------------------------------------------------------


def _frame(rows):
    return pd.DataFrame(rows, columns=["u", "g", "x"]).astype({"u": "int64", "g": "int64", "x": "float64"})


def _reader(rows, read=Metadata.from_, **options):
    columns = {"u": {"type": "int", "private_id": not options.get("row_privacy", False)}, **_COLUMNS}
    return from_df(_frame(rows), privacy=Privacy(epsilon=0.7, delta=0.02), metadata=read(_said(columns, options)))


def _options(random):
    """Compare the options of a query, of the reader that it is asked, and of what rewrites it, with the metadata."""
    nothing, everything, *others = _choices(random)
    for options in (nothing, everything, *random.sample(others, 5)):  # a reader takes a tenth of a second
        expected = {**_DEFAULTS, **options}
        source = random.choice(list(_SOURCES))
        reader = _reader([(0, 1, 1.0), (1, 4, 2.0)], _SOURCES[source], **options)
        initial = dict(vars(reader._options))
        query = reader.parse_query_string(_QUERY)
        reader.execute(_QUERY)
        for name, value in expected.items():
            words = f"{name}, a table that names {options!r}, {source}"
            own = _OPTIONS_OF_READERS.get(name, name)
            yield f"{words}, query", float(value), float(getattr(query, name)), float(value)
            yield _option(f"{words}, reader", name, value, getattr(reader._options, own))
            if name != "max_ids":  # it is found in the query
                yield f"{words}, new reader", float(value), float(initial[own]), float(value)
            if hasattr(reader.rewriter.options, own):
                yield _option(f"{words}, rewritten", name, value, getattr(reader.rewriter.options, own))


def _released(read, shift):
    """Return what a table that names no option releases where noise is known, and the mechanisms of it.

    The noise of the number of users is `shift` over the threshold, and that of all else is -9.
    """
    rows = [(0, 1, 9.0)] * 3 + [(1, 1, -30.0)] + [(2, 4, 1.5)] * 2 + [(3, 1, 2.0)]
    used = []

    def release(mechanism, values):
        used.append(mechanism)
        added = float(mechanism.threshold) + shift if mechanism.delta else -9.0
        return [value + added for value in values]

    with mock.patch.object(Laplace, "release", release):
        found = _reader(rows, read).execute("SELECT g, COUNT(*) AS c, SUM(x) AS s FROM S.T GROUP BY g")
    return sorted(tuple(row) for row in found[1:]), used


def _runs():
    # one row of each user counts, its value is clamped; group 1 has three users, group 4 has one
    first, second = (1, 3 - 9, 5.0 - 7.0 + 2.0 - 9.0), (4, 1 - 9, 1.5 - 9.0)

    def are(read, shift, expected):
        found, used = _released(read, shift)
        return found == expected and len(used) == 6 and all(mechanism.max_contrib == 1 for mechanism in used)

    return {
        f"a query with all defaults, {source}, {words}": lambda r=read, s=shift, e=expected: are(r, s, e)
        for source, read in _SOURCES.items()
        for words, shift, expected in (
            ("no group passes", -3.0, []),
            ("one group passes", -2.5, [first]),
            ("both groups pass", -0.5, [first, second]),
        )
    }


def _several_tables(options):
    """Return a reader of one table that names nothing, and of another one with these options."""
    columns = {"u": {"type": "int", "private_id": True}, **_COLUMNS}
    frame = _frame([(user, 1, 9.0) for user in range(3) for _ in range(4)])
    said = {"engine": "pandas", "D": {"S": {"T": columns, "R": {**columns, **options}}}}
    return from_connection(
        {"S.T": frame, "S.R": frame}, privacy=Privacy(epsilon=0.7, delta=0.02), metadata=Metadata.from_(said)
    )


def _neighbours():
    """Return facts: the options of one table do not reach the queries of another one."""

    def asked(name, value):
        reader = _several_tables({name: value})
        for table, expected in (("R", {**_DEFAULTS, name: value}), ("T", _DEFAULTS)):
            reader.execute(_QUERY.replace("S.T", f"S.{table}"))
            for one, said in expected.items():
                if getattr(reader._options, _OPTIONS_OF_READERS.get(one, one)) != said:
                    return False
        return True

    def noise():
        """Return whether mechanisms of two tables are for the rows of a user that each allows."""
        reader = _several_tables({"max_ids": 4})
        rows = []
        for table in ("T", "R"):
            inner, _ = reader._rewrite(_QUERY.replace("S.T", f"S.{table}"))
            rows.append({mechanism.max_contrib for mechanism in reader._get_mechanisms(inner)})
            values = reader.reader._execute_ast(inner)[1]
            rows.append(values[-1])
        return rows[0] == {1} and rows[2] == {4} and math.isclose(rows[1], 15.0) and math.isclose(rows[3], 60.0)

    against = {"max_ids": 3, **{name: not value for name, value in _FLAGS.items() if name != "row_privacy"}}
    return {
        f"another table names {name}={value}": lambda n=name, v=value: asked(n, v) for name, value in against.items()
    } | {"rows of users in two tables": noise}


# --- metadata that contradict themselves -------------------------------------------------------------------------


def _contradictions():
    """Return facts: metadata without one private key, or with none that is known, are refused."""

    def refused(columns, query=_QUERY, **options):
        def ask():
            reader = from_df(
                _frame([(0, 1, 1.0)]),
                privacy=Privacy(epsilon=0.7, delta=0.02),
                metadata=_said({**_COLUMNS, **columns}, options),
            )
            reader.execute(query)

        return lambda: raises(ValueError, ask)

    key, other = {"type": "int", "private_id": True}, {"type": "int"}
    unbounded = {"type": "float", "sensitivity": 3.0}
    return {
        "no private key": refused({"u": other}),
        "a private key that is said to be none": refused({"u": {**other, "private_id": False}}),
        "two private keys": refused({"u": key, "g": {**key, "lower": 0, "upper": 9}}),
        "rows are users, and there is a private key": refused({"u": key}, row_privacy=True),
        "a column of unknown type": refused({"u": key, "g": {"type": "decimal"}}),
        "another table": refused({"u": key}, _QUERY.replace("S.T", "S.R")),
        "another schema": refused({"u": key}, _QUERY.replace("S.T", "R.T")),
        "a column that has no metadata": refused({"u": key}, _QUERY.replace("SUM(x)", "SUM(y)")),
        "a sensitivity without bounds": refused({"u": key, "x": unbounded}),
        "a sensitivity without lower bound": refused({"u": key, "x": {**unbounded, "upper": 5.0}}),
        "a sensitivity without upper bound": refused({"u": key, "x": {**unbounded, "lower": -7.0}}),
        "two collections": lambda: raises(ValueError, lambda: Metadata.from_({"D": {}, "E": {}})),
        "three collections": lambda: raises(ValueError, lambda: Metadata.from_({"D": {}, "E": {}, "engine": "x"})),
        "no collection": lambda: raises(ValueError, lambda: Metadata.from_({})),
        "no metadata": lambda: raises(ValueError, lambda: Metadata.from_(None)),
    }


def metadata_of_the_library():
    """Yield facts about the metadata of this library."""
    yield Relations(
        "metadata",
        {
            "tables keep what is named, and have defaults": _tables,
            "columns keep what is named, and have defaults": _columns,
            "queries and readers have the options of the metadata": _options,
        },
        {**_runs(), **_neighbours(), **_contradictions()},
    )
