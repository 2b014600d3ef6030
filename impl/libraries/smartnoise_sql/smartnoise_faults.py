"""Losses by sums of grouping columns and of private keys, and costs of queries where the metadata have two tables."""

from __future__ import annotations

import pandas as pd
from snsql import Privacy, from_connection, from_df
from snsql.metadata import Metadata

from dpassay.adapter import Relations, spends, understates

__all__ = ["faults_of_the_library"]

_CLOSE = 1e-6
"""Relative width of what is taken for equal: the library searches for scales of noise."""

_GROUPS = "SELECT g, SUM(g) AS s FROM S.T GROUP BY g"
_KEYS = "SELECT SUM(u) AS s FROM S.T"
_FARTHEST = 100.0
"""Largest value over the larger of the bounds."""


# --- what a user loses ---------------------------------------------------------------------------------------------


def _sum_and_scale(users, query, metadata, privacy):
    """Return the sum before noise, and the scale of its noise; a user is a pair of the key and the value."""
    frame = pd.DataFrame(users, columns=["u", "g"]).astype("int64")
    reader = from_df(frame, privacy=privacy, metadata={"": {"S": {"T": metadata}}})
    inner, _ = reader._rewrite(query)
    (row,) = list(reader.reader._execute_ast(inner))[1:]
    return row[-1], reader._get_mechanisms(inner)[-1].scale


def _user(random, query, is_inside):
    """Yield the losses of a user with as many rows as allowed, whose value is inside the bounds or far above them."""
    summed = "g" if query is _GROUPS else "u"
    for censored in (True, False):
        upper = random.randint(7, 40)
        lower = -random.randint(0, upper - 2)
        value = random.randint(2, upper) if is_inside else random.randint(10 * upper, round(_FARTHEST) * upper)
        times, epsilon = random.randint(2, 4), random.uniform(0.3, 3.0)
        metadata = {
            "u": {"type": "int", "private_id": True},
            "g": {"type": "int"},
            "max_ids": times,
            "censor_dims": censored,
        }
        metadata[summed] |= {"lower": lower, "upper": upper}
        others = [(1, value), (0, value)]  # with keys that are inside the bounds
        user = (value, value)
        sums = [
            _sum_and_scale(users * times, query, metadata, Privacy(epsilon=epsilon, delta=1e-5))
            for users in (others, [*others, user])
        ]
        (before, _), (after, scale) = sums
        expected = epsilon * min(value, upper) / upper
        words = f"{value=!r} in {(lower, upper)!r}, {times} rows, {epsilon=!r}, {censored=!r}"
        yield spends((words, expected * (1 - _CLOSE), abs(after - before) / scale, expected * (1 + _CLOSE)))


def _sums():
    """Yield what a user moves a sum by, over the scale of its noise: at most epsilon for each value."""
    for name, query in (("sums of the grouping column", _GROUPS), ("sums of a private key", _KEYS)):
        yield Relations(
            name,
            {
                "a user outside the bounds loses epsilon": lambda random, q=query: _user(random, q, is_inside=False),
                "a user inside the bounds loses a part": lambda random, q=query: _user(random, q, is_inside=True),
            },
        )


# --- what a query costs --------------------------------------------------------------------------------------------


def _costs(random, other):
    """Yield what is stated of a query on one table, and what the odometer says that it spent, of the same reader."""
    epsilon, delta = random.uniform(0.1, 1.0), 10 ** random.uniform(-9, -3)
    keyed = {"u": {"type": "int", "private_id": True}, "g": {"type": "int"}}
    others = {"u": {"type": "int"}, "g": {"type": "int"}, **other} if "row_privacy" in other else {**keyed, **other}
    metadata = Metadata.from_dict({"engine": "pandas", "": {"S": {"T": keyed, "B": others}}})
    frame = pd.DataFrame({"u": range(40), "g": [0, 1] * 20})
    privacy = Privacy(epsilon=epsilon, delta=delta)
    reader = from_connection({"S.T": frame, "S.B": frame}, privacy=privacy, metadata=metadata)
    query = "SELECT g, COUNT(*) AS c FROM S.T GROUP BY g"
    stated = reader.get_privacy_cost(query)
    reader.execute(query)
    for name, said, spent in zip(("epsilon", "delta"), stated, reader.odometer.spent):
        words = f"{name}, {epsilon=!r}, {delta=!r}, {other!r}"
        yield understates((words, float(spent) * (1 - _CLOSE), float(said), float(spent) * (1 + _CLOSE)))


def _tables():
    others = {
        "whose groups are not censored": {"censor_dims": False},
        "in row privacy": {"row_privacy": True},
        "alike": {},
    }
    yield Relations(
        "cost of several tables",
        {
            f"what is stated is spent, beside a table {words}": lambda random, o=other: _costs(random, o)
            for words, other in others.items()
        },
    )


def faults_of_the_library():
    """Yield comparisons of losses and of costs in which known faults of this library show."""
    yield from _sums()
    yield from _tables()
