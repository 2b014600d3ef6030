"""SmartNoise SQL: its noise mechanisms, bounds, set union, odometers, and the private reader on a small data frame.

The claim of a query is what `get_privacy_cost` says.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import sys
import warnings

import pandas as pd
from smartnoise_facts import facts_of_the_library
from smartnoise_families import families
from smartnoise_faults import faults_of_the_library
from smartnoise_metadata import metadata_of_the_library
from smartnoise_noise import noise_of_the_library
from smartnoise_reader import reader_of_the_library
from smartnoise_refusals import refusals_of_the_library
from smartnoise_unions import unions
from snsql import Privacy, from_df
from snsql.sql._mechanisms import Gaussian, Laplace
from snsql.sql._mechanisms.approx_bounds import approx_bounds
from snsql.sql.dpsu import policy_laplace
from snsql.sql.odometer import Odometer, OdometerHeterogeneous

from dpassay.adapter import Answer, Mechanism, Nonsense, Refused, present_cases

LIBRARY = "smartnoise-sql"

warnings.simplefilter("ignore")
_NAN, _INFINITY = math.nan, math.inf
_NUMBER = "vector:size=1,linf={step}"
_CALLS = 4000
_LEAST_SLACK = sys.float_info.min
"""A slack that changes no delta; at 0 an odometer divides by 0."""
_BLOCK, _COPY = 64, 1000
"""Number of outcomes from one query, and distance of the groups of one of them from those of the next: a table has
the groups 0 to 3."""


# --- mechanisms ----------------------------------------------------------------------------------------------------


def _released(mechanism):
    return lambda data, size: mechanism.release([data[0]] * size)


def _noise():
    for epsilon, bounds in (
        (1.0, {"sensitivity": 1.0}),
        (0.1, {"sensitivity": 1.0}),
        (1.0, {"lower": -5.0, "upper": 2.0}),
        (1.0, {"sensitivity": 1.0, "max_contrib": 3}),
    ):
        mechanism = Laplace(epsilon, **bounds)
        words = ", ".join(f"{key}={value}" for key, value in bounds.items())
        step = max(abs(mechanism.lower), abs(mechanism.upper)) * mechanism.max_contrib
        yield Mechanism(
            f"Laplace(epsilon={epsilon}, {words})",
            _NUMBER.format(step=step),
            f"pure:{mechanism.epsilon!r}",
            sample_many=_released(mechanism),
            distribution=lambda data, m=mechanism: {"family": "laplace", "location": data[0], "scale": m.scale},
        )
    for epsilon, delta in ((1.0, 1e-5), (0.5, 0.1), (4.0, 1e-3)):
        mechanism = Gaussian(epsilon, delta=delta, sensitivity=1.0)
        yield Mechanism(
            f"Gaussian(epsilon={epsilon}, delta={delta})",
            _NUMBER.format(step=1),
            f"approx:{mechanism.epsilon!r},{mechanism.delta!r}",
            sample_many=_released(mechanism),
            distribution=lambda data, m=mechanism: {"family": "gaussian", "location": data[0], "scale": m.scale},
        )


def _thresholds():
    """Yield the release of a count that passes the threshold of censored dimensions, none otherwise."""
    for make in (Laplace, Gaussian):
        for epsilon, delta in ((1.0, 0.01), (0.5, 0.4)):
            mechanism = make(epsilon, delta=delta, sensitivity=1)
            mechanism.delta = delta  # as the reader does for the count of keys
            threshold = float(mechanism.threshold)

            def sample_many(data, size, m=mechanism, t=threshold):
                if not data[0]:
                    return [None] * size  # no row of the table has the key
                return [value if value > t else None for value in m.release([data[0]] * size)]

            yield Mechanism(
                f"{make.__name__}(epsilon={epsilon}, delta={delta}).threshold",
                "vector:size=1,linf=1,integer,low=0,high=20",
                f"approx:{mechanism.epsilon!r},{mechanism.delta!r}",
                sample_many=sample_many,
            )


def _discoveries():
    # a bin is released from about eleven records on: fewer leave one outcome only, but once in a thousand calls
    relation = "records:low=-4,high=4,size=11,max-size=12,relation=add-remove"
    yield Mechanism(
        "approx_bounds(epsilon=1)", relation, "pure:1.0", sample_one=lambda data: approx_bounds(data, 1.0), slow=True
    )

    def union(data):
        users = pd.DataFrame({"user": range(len(data)), "group_cols": [(int(record),) for record in data]})
        return sorted(row[0] for row in set(policy_laplace(users, 1.0, 0.1, 1)["group_cols"]))

    items = "records:low=0,high=3,size=3,max-size=4,relation=add-remove"
    yield Mechanism(
        "policy_laplace(epsilon=1, delta=0.1, max_contrib=1)", items, "approx:1.0,0.1", sample_one=union, slow=True
    )


# --- the reader ----------------------------------------------------------------------------------------------------


def _reader(records, privacy, *, low=0.0, high=1.0, **table):
    """Return a reader of a table with one row per individual: `x` is the record, `g` its integer part."""
    metadata = {
        "x": {"type": "float", "lower": low, "upper": high},
        "g": {"type": "int", "lower": -100, "upper": 100},
        "row_privacy": True,
        "censor_dims": False,
    }
    frame = pd.DataFrame({"x": list(records), "g": [math.floor(record) for record in records]})
    frame = frame.astype({"x": "float64", "g": "int64"})
    return from_df(frame, privacy=privacy, metadata={"": {"S": {"T": {**metadata, **table}}}})


def _query(name, query, *, low=0.0, high=1.0, epsilon=1.0, delta=0.02, exact=False, **table):
    """Return a case that asks one query of a fresh reader; `exact` shows the sum or count before noise.

    A query takes 40 ms, nearly all of it before the noise. A block of outcomes comes from one query whose exact
    aggregates are given to the reader in as many copies: it adds noise to each row, and leaves out rare groups, by
    itself.
    """

    def make(data):
        privacy = Privacy(epsilon=epsilon, delta=delta)
        return _reader(data, privacy, low=low, high=high, **table)

    def block(data):
        reader = make(data)
        names, *rows = reader.reader._execute_ast(reader._rewrite(query)[0])
        tagged = "g" in names  # the group of a row tells which copy it belongs to
        copies = [
            tuple(value + i * _COPY if tagged and name == "g" else value for name, value in zip(names, row))
            for i in range(_BLOCK)
            for row in rows
        ]
        if not rows:
            return [[]] * _BLOCK
        released = [list(row) for row in reader.execute(query, pre_aggregated=[names, *copies])[1:]]
        if not tagged:
            return [[row] for row in released]
        found = [[] for _ in range(_BLOCK)]
        for tag, count in released:
            copy, group = divmod(tag, _COPY)
            found[copy].append([group, count])
        return [sorted(rows) for rows in found]

    @functools.lru_cache(maxsize=256)
    def outcomes(data):
        return itertools.chain.from_iterable(block(data) for _ in itertools.count())

    def sample_one(data):
        return next(outcomes(tuple(data)))

    def claim():
        cost, leak = make([low, high]).get_privacy_cost(query)
        return f"approx:{float(cost)!r},{float(leak)!r}"

    def aggregate(data):
        reader = make(data)
        inner, _ = reader._rewrite(query)
        (value,) = reader.reader._execute_ast(inner)[1]
        return float(value or 0.0)

    relation = f"records:low={low},high={high},size=3,max-size=4,relation=add-remove"
    more = {}
    if exact:
        mechanism = make([low, high])
        (mechanism,) = mechanism._get_mechanisms(mechanism._rewrite(query)[0])
        more = {"noiseless": aggregate, "sensitivity": mechanism.scale * epsilon}
    return Mechanism(f"PrivateReader, {name}", relation, claim, sample_one=sample_one, slow=True, **more)


def _queries():
    yield _query("COUNT(*)", "SELECT COUNT(*) AS c FROM S.T", exact=True)
    yield _query("SUM(x), x in [-5, 2]", "SELECT SUM(x) AS s FROM S.T", low=-5.0, high=2.0, exact=True)
    yield _query("VAR(x), x in [-2, 2]", "SELECT VAR(x) AS v FROM S.T", low=-2.0, high=2.0, epsilon=1 / 3)
    yield _query(
        "COUNT(*) by group, rare groups censored",
        "SELECT g, COUNT(*) AS c FROM S.T GROUP BY g",
        high=3.0,
        censor_dims=True,
    )


# --- odometers -----------------------------------------------------------------------------------------------------


def _homogeneous(epsilon0, delta0, count, delta, *, shows_delta=False):
    """Return the epsilon of an odometer whose slack is chosen such that it says the given delta.

    What it says without slack is d (1 - d), rounded, for the composed delta d. `shows_delta` asks for deltas between
    that and d as well: no epsilon is enough there, a known finding, which other cases leave to one of their own.
    """
    _require_sensible(count, delta)
    odometer = Odometer(Privacy(epsilon=epsilon0, delta=delta0))
    odometer.spend(int(count))
    odometer.tol = _LEAST_SLACK
    slack = delta - odometer.spent[1]
    if slack <= 0:
        raise Refused("the odometer says more than this delta, whatever its slack")
    composed = -math.expm1(count * math.log1p(-delta0)) if 0 < delta0 < 1 else 0.0
    known = composed * (1 - composed) - count * sys.float_info.epsilon  # of 1 - delta0, and of its power
    if known <= delta < composed and not shows_delta:
        raise Refused("the delta that the odometer says without slack is too small by its square, and by rounding")
    odometer.tol = slack
    epsilon, stated = odometer.spent
    if stated > delta * (1 + 1e-9):
        raise Refused(f"the odometer says delta={stated!r}")
    return float(epsilon)


def _require_sensible(count, delta):
    """Raise for what is ours and not the library's to refuse: it has no such parameters."""
    if count != int(count) or count < 1:
        raise ValueError(f"count must be a positive integer, got {count!r}")
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie between 0 and 1, got {delta!r}")


def _heterogeneous(epsilons, deltas, delta):
    _require_sensible(1, delta)
    spent = math.prod((1 - part for part in deltas), start=1.0)
    slack = 1 - (1 - delta) / spent
    if slack <= 0:
        raise ValueError("the mechanisms alone have a larger delta")
    odometer = OdometerHeterogeneous(Privacy(epsilon=1.0, delta=2 * slack))
    for epsilon, part in zip(epsilons, deltas):
        odometer.spend(Privacy(epsilon=epsilon, delta=part))
    return float(odometer.spent[0])


@functools.lru_cache(maxsize=64)
def _asked(epsilon0, count, delta, postprocess):
    """Return what a reader says that it spent on counts; nothing of them but the odometer's slack has a delta."""
    _require_sensible(count, delta)
    reader = _reader([0.5, 0.5], Privacy(epsilon=epsilon0, delta=2 * delta))
    for _ in range(int(count)):
        list(reader.execute("SELECT SUM(x) AS s FROM S.T", postprocess=postprocess))
    epsilon, stated = reader.odometer.spent
    if stated > delta * (1 + 1e-9):
        raise Refused(f"the odometer says delta={stated!r}")
    return float(epsilon)


def _gaussian_scale(epsilon, delta):
    if epsilon <= 0:
        raise ValueError(f"epsilon must be positive, got {epsilon!r}")
    return Gaussian(epsilon, delta=delta, sensitivity=1.0).scale


def _answers():
    # a bound with a logarithm that may be negative is a known finding: it is not where epsilon and the slack are at
    # least and at most .05, and cannot hide another one there
    usual = {"epsilon0": (0.05, 100.0), "delta": (1e-300, 0.05)}
    tiny = {"epsilon0": (1e-6, 0.05), "delta": (1e-15, 0.5)}
    for name, domain in (("Odometer.spent", usual), ("Odometer.spent, small epsilon", tiny)):
        yield Answer(name, "approximate_composition_epsilon", _homogeneous, domain={"delta0": (1e-15, 1e-6), **domain})
    yield Answer(
        "Odometer.spent, large delta",
        "approximate_composition_epsilon",
        functools.partial(_homogeneous, shows_delta=True),
        # the deltas alone compose to d of .213 to .296, and the odometer says d (1 - d) at most .209
        domain={"delta0": (4e-4, 5e-4), "count": (600, 700), "delta": (0.209, 0.212), "epsilon0": (0.01, 100.0)},
        notes="deltas that no epsilon suffices for",
    )
    yield Answer(
        "Odometer.spent, deltas that add up to much",
        "approximate_composition_epsilon",
        _homogeneous,
        # they compose to less than .17, and no logarithm is near 0
        domain={"delta0": (3e-4, 1e-3), "count": (20, 150), "delta": (0.2, 0.5), "epsilon0": (0.5, 100.0)},
    )
    for name, domain in (("Odometer.spent, pure", usual), ("Odometer.spent, pure, small epsilon", tiny)):
        yield Answer(
            name,
            "pure_composition_epsilon",
            lambda epsilon0, count, delta: _homogeneous(epsilon0, 0.0, count, delta),
            domain=domain,
        )
    yield Answer("OdometerHeterogeneous.spent", "heterogeneous_composition_epsilon", _heterogeneous)
    few = {"count": (1, 2), "epsilon0": (0.05, 3.0), "delta": (1e-12, 0.4)}
    for postprocess in (True, False):
        yield Answer(
            f"PrivateReader.execute(postprocess={postprocess}), odometer",
            "pure_composition_epsilon",
            functools.partial(_asked, postprocess=postprocess),
            domain=few,
        )
    yield Answer(
        "Laplace.scale",
        "laplace_scale",
        lambda epsilon: Laplace(epsilon, sensitivity=1.0).scale,
        domain={"epsilon": (1e-6, 1e6)},
    )
    yield Answer(
        "Gaussian.scale",
        "gaussian_sigma",
        _gaussian_scale,
        domain={"epsilon": (1e-3, 100.0), "delta": (1e-100, 0.999)},
        notes="a negative epsilon makes the constructor search for ever, so it is not asked",
    )


# --- what must be refused ------------------------------------------------------------------------------------------


def _refusals():
    def spent(epsilon, delta, times=2):
        odometer = Odometer(Privacy(epsilon=epsilon, delta=delta))
        odometer.spend(times)
        return odometer.spent

    def spent_apart(epsilon, delta):
        odometer = OdometerHeterogeneous(Privacy(epsilon=1.0, delta=1e-5))
        odometer.spend(Privacy(epsilon=epsilon, delta=delta))
        return odometer.spent

    bad_pairs = [(-1.0, 1e-5), (_NAN, 1e-5), (1.0, -0.1), (1.0, 2.0), (1.0, _NAN)]
    yield Nonsense(
        "Odometer",
        {f"epsilon={e}, delta={d}": lambda e=e, d=d: spent(e, d) for e, d in bad_pairs}
        | {"spend(-3)": lambda: spent(1.0, 1e-5, -3)},
    )
    yield Nonsense(
        "OdometerHeterogeneous", {f"epsilon={e}, delta={d}": lambda e=e, d=d: spent_apart(e, d) for e, d in bad_pairs}
    )
    for make, more in ((Laplace, {}), (Gaussian, {"delta": 1e-5})):

        def ask(epsilon=1.0, make=make, more=more, **bounds):
            return make(epsilon, **more, **bounds).release([0.0])

        # the search for a Gaussian scale never ends for a negative or infinite epsilon, nor for sensitivity 0
        epsilons = (0.0, _NAN) if make is Gaussian else (-1.0, 0.0, _NAN, _INFINITY)
        attempts = {f"epsilon={b}": lambda b=b, a=ask: a(b, sensitivity=1.0) for b in epsilons}
        attempts |= {f"sensitivity={b}": lambda b=b, a=ask: a(sensitivity=b) for b in (-1.0, _NAN, _INFINITY)}
        attempts |= {f"max_contrib={b}": lambda b=b, a=ask: a(sensitivity=1.0, max_contrib=b) for b in (-1, 0)}
        attempts["bounds reversed"] = lambda a=ask: a(lower=1.0, upper=0.0)
        yield Nonsense(make.__name__, attempts)
    yield Nonsense(
        "Gaussian, delta",
        {f"delta={b}": lambda b=b: Gaussian(1.0, delta=b, sensitivity=1.0) for b in (-1.0, 0.0, 2.0, _NAN)},
    )
    yield Nonsense(
        "approx_bounds", {f"epsilon={b}": lambda b=b: approx_bounds([1.0] * 50, b) for b in (-1.0, 0.0, _NAN)}
    )

    def count(epsilon, delta):
        reader = _reader([0.5, 0.5], Privacy(epsilon=epsilon, delta=delta), censor_dims=True)
        return reader.execute("SELECT COUNT(*) AS c FROM S.T")

    yield Nonsense(
        "PrivateReader, COUNT(*), rare groups censored",
        {f"epsilon={e}, delta={d}": lambda e=e, d=d: count(e, d) for e, d in bad_pairs},
    )


def cases():
    """Return all cases that this version of the library has."""
    found = present_cases(
        noise_of_the_library,
        facts_of_the_library,
        faults_of_the_library,
        metadata_of_the_library,
        reader_of_the_library,
        refusals_of_the_library,
        families,
        unions,
        _noise,
        _thresholds,
        _discoveries,
        _queries,
        _answers,
        _refusals,
    )
    return [_with_calls(case) if isinstance(case, Mechanism) else case for case in found]


def _with_calls(mechanism):
    return mechanism if mechanism.calls or mechanism.slow else dataclasses.replace(mechanism, calls=_CALLS)
