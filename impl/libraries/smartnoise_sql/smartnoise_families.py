"""Families of SmartNoise SQL: queries on tables in which users have several rows, with values outside the bounds.

The noise of all columns is replayed. Scales and thresholds are tested over the parameters of the mechanisms.
"""

from __future__ import annotations

import importlib
import math

import pandas as pd
from snsql import Privacy, from_df
from snsql.sql._mechanisms import Gaussian, Laplace
from snsql.sql._mechanisms.base import Mechanism as Kind
from snsql.sql.privacy import Stat

from dpassay.adapter import Family, Mechanism, NoisePrimitive, Relations

__all__ = ["families"]

bounds_module = importlib.import_module("snsql.sql._mechanisms.approx_bounds")

_RUNS = 12
"""Runs of a query, which takes a tenth of a second, at each parameter."""


def _laplace(mechanism, values):
    sensitivity = _widest(mechanism)
    epsilon = sensitivity / float(mechanism.scale)
    return {"value": list(map(float, values)), "family": "laplace", "sensitivity": sensitivity, "epsilon": epsilon}


def _gaussian(mechanism, values):
    scale = float(mechanism.scale)
    return {
        "value": list(map(float, values)),
        "family": "gaussian",
        "sensitivity": _widest(mechanism, whole=True),
        "scale": scale,
    }


def _widest(mechanism, *, whole=False):
    """Return what the users' rows can change; Gaussian noise is calibrated to bounds that are integers."""
    low, high = float(mechanism.lower), float(mechanism.upper)
    if whole:
        low, high = math.floor(low), math.ceil(high)
    return max(abs(low), abs(high)) * mechanism.max_contrib


NOISE = (NoisePrimitive(Laplace, "release", _laplace), NoisePrimitive(Gaussian, "release", _gaussian))


def _reader(data, privacy, *, low, high, rows, groups, more):
    """Return a reader of a table in which every user has `rows` rows, in different groups if there are several.

    Users have `more` further rows, of which as many are left out: where their rows are alike, any of them.
    """
    people = [(user, place % groups, float(x)) for user, x in enumerate(data) for place in range(rows + more)]
    frame = pd.DataFrame(people, columns=["u", "g", "x"]).astype({"u": "int64", "g": "int64", "x": "float64"})
    metadata = {
        "u": {"type": "int", "private_id": True},
        "x": {"type": "float", "lower": low, "upper": high},
        "g": {"type": "int", "lower": 0, "upper": groups},
        "max_ids": rows,
        "row_privacy": False,
        "censor_dims": False,
    }
    return from_df(frame, privacy=privacy, metadata={"": {"S": {"T": metadata}}})


_QUERIES = {
    "counts": "SELECT COUNT(*) AS c, COUNT(DISTINCT u) AS d FROM S.T",
    "sums": "SELECT SUM(x) AS s, COUNT(x) AS c FROM S.T",
    "means": "SELECT AVG(x) AS a FROM S.T",
    "variances": "SELECT VAR(x) AS v FROM S.T",
}


def _query(name):
    def make(epsilon, bounds, rows, groups):
        more = 3 if groups == 1 else 0  # the choice of rows is random
        low, high = bounds
        width = high - low
        query = _QUERIES[name] if groups == 1 else _QUERIES[name].replace("SELECT", "SELECT g,") + " GROUP BY g"

        def asked(data):
            # the search for a scale of Gaussian noise takes seconds
            privacy = Privacy(epsilon=epsilon, delta=0.01)
            for stat in (Stat.count, Stat.sum_int, Stat.sum_float, Stat.sum_large_int, Stat.threshold):
                privacy.mechanisms.map[stat] = Kind.laplace
            return _reader(data, privacy, low=low, high=high, rows=rows, groups=groups, more=more)

        def sample_one(data):
            released = asked(data).execute(query)
            return [list(map(float, row)) for row in sorted(map(list, released[1:]))]

        def claim():
            epsilons, delta = asked([low, high]).get_privacy_cost(query)
            return f"approx:{float(epsilons)!r},{float(delta)!r}"

        return Mechanism(
            "",
            f"records:low={low - 2 * width},high={high + 2 * width},size=2,max-size=3,relation=add-remove",
            claim,
            sample_one=sample_one,
            noise=NOISE,
            floats=False,
            slow=True,
            calls=_RUNS,
            splits_budget=groups == 1,
        )

    domain = {
        "epsilon": [0.7],
        "bounds": [(-40.0, -37.0), (0.0, 25.0), (-40.3, 3.4), (-25.0, 0.0), (-3.0, 60.0)],
        "rows": [2],
        "groups": [1, 3],
    }
    return Family(f"PrivateReader, {name}, family", make, domain)


def _noise(make_mechanism, delta):
    """Return the noise of a mechanism over its bounds, at the distance that its users can move a value."""

    def make(epsilon, low, width, contributions, **more):
        mechanism = make_mechanism(epsilon, lower=low, upper=low + width, max_contrib=contributions, **more)
        family = "gaussian" if make_mechanism is Gaussian else "laplace"
        step = max(abs(low), abs(low + width)) * contributions
        return Mechanism(
            "",
            f"vector:size=1,linf={step}",
            f"approx:{epsilon!r},{more['delta']!r}" if delta else f"pure:{epsilon!r}",
            sample_many=lambda data, size: mechanism.release([data[0]] * size),
            distribution=lambda data: {"family": family, "location": data[0], "scale": float(mechanism.scale)},
            floats=False,
            slow=True,
            relative_error=1e-9,
        )

    domain = {"epsilon": (0.2, 4.0), "low": (-40, 30), "width": (3, 60), "contributions": (2, 5)}
    if delta:  # at larger sensitivities and smaller epsilons the search for a scale takes half a minute and gives up
        domain |= {"epsilon": (0.5, 4.0), "low": (-10, 10), "width": (3, 50), "contributions": (2, 3)}
        domain |= {"delta": (1e-6, 0.05)}
    return Family(f"{make_mechanism.__name__}, family", make, domain)


def _with_threshold(make_mechanism, epsilon, delta, contributions):
    mechanism = make_mechanism(epsilon, delta=delta, sensitivity=1, max_contrib=contributions)
    mechanism.delta = delta  # as the reader does for the count of keys
    return mechanism


def _kept_alone(mechanism, contributions):
    """Return how likely a user alone, who is in as many groups as are allowed, is seen in one of them."""
    distance, scale = float(mechanism.threshold) - 1.0, float(mechanism.scale)
    if isinstance(mechanism, Gaussian):
        exceeds = 0.5 * math.erfc(distance / scale / math.sqrt(2))
    else:
        exceeds = 0.5 * math.exp(-distance / scale) if distance > 0 else 1 - 0.5 * math.exp(distance / scale)
    return -math.expm1(contributions * math.log1p(-exceeds))


def _threshold(make_mechanism):
    """Return the count of a group, released if it passes the threshold; one user may be in several groups."""

    def make(epsilon, delta, contributions):
        mechanism = _with_threshold(make_mechanism, epsilon, delta, contributions)
        threshold = float(mechanism.threshold)

        def sample_many(data, size):
            # a user alone is in as many groups as are allowed; one of them shows that the user is there
            if not data[0]:
                return [False] * size
            return [
                any(value > threshold for value in mechanism.release([data[0]] * contributions)) for _ in range(size)
            ]

        def distribution(data):
            kept = _kept_alone(mechanism, contributions) if data[0] else 0.0
            return {"family": "finite", "symbols": [True, False], "probabilities": [kept, 1 - kept]}

        return Mechanism(
            "",
            "vector:size=1,linf=1,integer,low=0,high=1",
            f"approx:{epsilon!r},{delta!r}",
            sample_many=sample_many,
            distribution=distribution,
            slow=True,
            relative_error=1e-6,
        )

    # a user is seen with probability delta/2: a hunt may see none at the smaller deltas of `_small_thresholds`
    domain = {"epsilon": (0.2, 4.0), "delta": (0.03, 0.1), "contributions": (2, 4)}
    return Family(f"{make_mechanism.__name__}.threshold, family", make, domain)


def _small_thresholds(random):
    """Check that a user alone is seen with probability delta at most, where few samples would show the user."""
    for make_mechanism in (Laplace, Gaussian):
        for contributions in (1, 2, 4):
            epsilon, delta = random.uniform(0.2, 4.0), 10 ** random.uniform(-6.0, -1.5)
            kept = _kept_alone(_with_threshold(make_mechanism, epsilon, delta, contributions), contributions)
            words = f"{make_mechanism.__name__}({epsilon!r}, delta={delta!r}, max_contrib={contributions}).threshold"
            yield words, 0.0, kept, delta * (1 + 1e-6)


# --- approximate bounds ------------------------------------------------------------------------------------------


class _Measured:
    """The noise of a bin of the approximate bounds, through which runs are replayed."""

    def __init__(self, measurement, scale):
        self._measurement, self.scale = measurement, scale

    def release(self, value):
        """Return the noisy count."""
        return self._measurement(value)

    def __call__(self, value):
        return self.release(value)


def _count(measured, value):
    return {"value": float(value), "family": "laplace", "sensitivity": 1.0, "epsilon": 1.0 / measured.scale}


def _bounds(epsilon, size, decimals):
    def sample_one(data):
        original = bounds_module.make_laplace
        bounds_module.make_laplace = lambda *domains: _Measured(original(*domains), float(domains[-1]))
        try:
            return bounds_module.approx_bounds([round(x, decimals) for x in data], epsilon)
        finally:
            bounds_module.make_laplace = original

    return Mechanism(
        "",
        f"records:low=-40,high=90,size={size},max-size={size + 1},relation=add-remove",
        f"pure:{epsilon!r}",
        sample_one=sample_one,
        noise=(NoisePrimitive(_Measured, "release", _count),),
        floats=False,
        slow=True,
        calls=_RUNS,
    )


def families():
    """Yield the families of this version."""
    for name in _QUERIES:
        yield _query(name)
    # with fewer records, or a smaller epsilon, no bin is ever released
    yield Family("approx_bounds, family", _bounds, {"epsilon": (1.0, 4.0), "size": (8, 12), "decimals": (0, 2)})
    yield _noise(Laplace, delta=False)
    yield _noise(Gaussian, delta=True)
    yield _threshold(Laplace)
    yield _threshold(Gaussian)
    thresholds = {"a user alone is seen with delta at most": _small_thresholds}
    yield Relations("thresholds at small deltas", thresholds, unsafe=dict.fromkeys(thresholds, "above"))
