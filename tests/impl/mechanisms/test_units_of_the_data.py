"""A mechanism does not know the units of its data: a default of 1 for the sensitivity must not hide a factor.

If the data, the sensitivity and every parameter in the same units are multiplied by 4, the claims stay, labels of the
same seed stay and released numbers are 4 times as large. A power of 2 makes the products exact. If the sensitivity
alone is doubled, the claims follow the law of their notion.
"""

import dataclasses
import itertools
import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.claims import ZCDP, Claim, ExPost
from dpassay.impl.catalogue import Entry, entries
from dpassay.mechanism import ClaimedMechanism

SOUND = [entry for entry in entries() if entry.mutation is None]
UNITS = ("sensitivity", "linf", "score_range")
"""Parameters that say how far the data of neighbours are apart."""
POWERS = dict.fromkeys((*UNITS, "threshold", "low", "high"), 1)
"""Powers of the unit by which parameters are multiplied; those of `POWERS_OF` come on top."""
POWERS_OF: dict[str, dict[str, int]] = {
    "BrownianNoiseReduction": {"times": 2},
    "DoublingMethod": {"times": 2},
    "GaussianAboveThreshold": {"sigma_threshold": 1, "sigma_query": 1},
    "GaussianMechanism": {"sigma": 1},
    "GaussianNoisyMax": {"sigma": 1},
    "LaplaceNoiseReduction": {"times": 1},
}
CONCENTRATED = {"BrownianNoiseReduction", "DoublingMethod", "GaussianMechanism"}
"""Noise that does not grow with the sensitivity: rho goes with its square."""
LINEAR = {"LaplaceNoiseReduction"}
"""Noise that does not grow with the sensitivity: epsilon goes with it."""
INCREASING = {"GaussianAboveThreshold", "GaussianNoisyMax"}
"""The exact epsilon of noise that does not grow with the sensitivity: it grows, but is no power of it."""
NOT_COVERED = {
    "ChargedResponses": "data are bits",
    "DoubleRun": "data are bits",
    "DualQuery": "records are elements of a finite universe",
    "FilteredStars": "data are bits",
    "FiniteMechanism": "data are bits",
    "GeneralizedRandomizedResponse": "data are bits",
    "GumbelSelection": "counts move by 1, the unit is no parameter",
    "HadamardResponse": "data are symbols",
    "LaplaceParallel": "the answer moves by 1, the unit is no parameter",
    "LaplacePrefixSum": "numbers move by 1, the unit is no parameter",
    "LeakyCalls": "data are bits",
    "PosteriorSample": "records are at most 1, the unit is no parameter",
    "RandomisedResponse": "data are bits",
    "Rappor": "data are symbols",
    "RepeatedSums": "records are at most 1, the unit is no parameter",
    "ResponseSequence": "data are bits",
    "ResponseTopK": "data are bits",
    "SweptTopK": "data are bits",
    "TruncatedGeometric": "counts move by 1, the unit is no parameter",
}


def has_unit(mechanism: Any) -> bool:
    """Return whether a mechanism, or the one inside it, has a parameter for the unit; the range of a mean is one."""
    names = [field.name for field in dataclasses.fields(mechanism)]
    inner = [getattr(mechanism, name) for name in names if name in ("base", "run")]
    return type(mechanism).__name__ == "NoisyMean" or any(n in UNITS for n in names) or any(map(has_unit, inner))


COVERED = [entry for entry in SOUND if has_unit(entry.mechanism)]
NAMES = [entry.where.rpartition(":")[2] for entry in COVERED]


def scaled(value: Any, factor: float, powers: dict[str, int] | None = None) -> Any:
    """Return a parameter object with every parameter multiplied by the power of the factor that its name has."""
    known = POWERS | POWERS_OF.get(type(value).__name__, {}) if powers is None else powers
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        old = getattr(value, field.name)
        if field.name in known:
            times = factor ** known[field.name]
            changes[field.name] = tuple(x * times for x in old) if isinstance(old, tuple) else old * times
        elif dataclasses.is_dataclass(old):
            changes[field.name] = scaled(old, factor, powers)
    return dataclasses.replace(value, **changes)


def data_of(mechanism: ClaimedMechanism) -> NDArray[np.float64]:
    """Return data of every sign that the domain has, whole numbers where they must be."""
    relation = mechanism.neighbours
    low, high = max(relation.low, -3.0), min(relation.high, 3.0)
    data = np.random.default_rng(7).uniform(low, high, max(relation.size, 3 if relation.size == 0 else 1))
    return np.asarray(np.round(data) if getattr(relation, "integer", False) else data)


def parts(outcome: Any) -> Iterator[Any]:
    if isinstance(outcome, tuple | list | np.ndarray):
        for part in outcome:
            yield from parts(part)
    else:
        yield outcome


def is_rescaled(before: Any, after: Any, factor: float) -> bool:
    """Return whether labels stayed and released numbers were multiplied."""
    pairs = list(itertools.zip_longest(parts(before), parts(after)))
    return all(
        a == b
        or (str(a) == str(b) == "nan")  # padding of short rows
        or (isinstance(a, numbers.Real) and not isinstance(a, numbers.Integral) and b == factor * a)
        for a, b in pairs
    )


def figures(claim: Claim, outcomes: list[Any]) -> list[float]:
    """Return the numbers of a claim, those of outcomes where it depends on them."""
    if isinstance(claim, ExPost):
        return [claim.epsilon_of(outcome) for outcome in outcomes]
    return list(vars(claim).values())


def drawn(mechanism: ClaimedMechanism, data: NDArray[np.float64]) -> list[Any]:
    return list(mechanism.sample(data, 200, np.random.default_rng(11)))


@pytest.mark.parametrize("entry", COVERED, ids=NAMES)
def test_units_do_not_matter(entry: Entry) -> None:
    data, large = data_of(entry.mechanism), scaled(entry.mechanism, 4.0)
    before, after = drawn(entry.mechanism, data), drawn(large, 4 * data)
    assert all(is_rescaled(a, b, 4.0) for a, b in zip(before, after, strict=True))
    for claim, other in zip(entry.mechanism.claims, large.claims, strict=True):
        assert type(claim) is type(other)
        assert figures(other, after) == pytest.approx(figures(claim, before), rel=1e-9)


@pytest.mark.parametrize("entry", COVERED, ids=NAMES)
def test_a_forgotten_unit_is_seen(entry: Entry) -> None:
    """Data in old units on the mechanism in new ones stand for a sampler that forgets the unit of its noise."""
    data, large = data_of(entry.mechanism), scaled(entry.mechanism, 4.0)
    if large.neighbours.low > data.min() or large.neighbours.high < data.max():
        data = np.clip(data, large.neighbours.low, large.neighbours.high)
    pairs = zip(drawn(entry.mechanism, data_of(entry.mechanism)), drawn(large, data), strict=True)
    assert not all(is_rescaled(a, b, 4.0) for a, b in pairs)


@pytest.mark.parametrize("entry", COVERED, ids=NAMES)
def test_claims_follow_the_sensitivity(entry: Entry) -> None:
    kind = type(entry.mechanism).__name__
    power = 2 if kind in CONCENTRATED else 1 if kind in LINEAR else 0
    outcomes = drawn(entry.mechanism, data_of(entry.mechanism))
    twice = scaled(entry.mechanism, 2.0, dict.fromkeys(UNITS, 1))
    for claim, other in zip(entry.mechanism.claims, twice.claims, strict=True):
        old, new = figures(claim, outcomes), figures(other, outcomes)
        if kind in INCREASING:
            assert all(x < y for x, y in zip(old, new, strict=True))
        else:
            assert power != 2 or isinstance(claim, ZCDP)
            assert new == pytest.approx([2.0**power * x for x in old], rel=1e-9)


def test_every_mechanism_is_covered_or_named() -> None:
    covered = {type(entry.mechanism).__name__ for entry in COVERED}
    assert {type(entry.mechanism).__name__ for entry in SOUND} - covered == set(NOT_COVERED)
    assert INCREASING | CONCENTRATED | LINEAR | set(POWERS_OF) <= covered
