"""Claims and relations mean the same whatever type their parameters have: int, float, Fraction, numpy scalars."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.claims import Claim
from dpassay.neighbours import RecordNeighbours, VectorNeighbours
from dpassay.properties.notions.base import all_audited, families_of
from dpassay.spec.notions.base import all_notions

WHOLE: list[Callable[[int], Any]] = [int, float, Fraction, np.int64, np.float64, np.int32]
EXAMPLES = {"alpha": 4, "delta": 1, "rho": 2, "xi": 1, "tau": 2}


def claims_of(kind: type[Claim], convert: Callable[[int], Any]) -> Claim | None:
    """Return the claim with whole parameters, each of one type."""
    names = [name.strip("[]").lower() for name in kind.form.partition(":")[2].split(",")]
    values = [EXAMPLES.get({"eps": "epsilon"}.get(name, name), 3) for name in names]
    return kind(*map(convert, values)) if kind.form else None


KINDS = [notion.claim_type for notion in all_notions() if notion.claim_type.form]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("convert", WHOLE)
def test_a_claim_is_audited_alike_for_every_type_of_number(kind: type[Claim], convert: Callable[[int], Any]) -> None:
    plain, other = claims_of(kind, float), claims_of(kind, convert)
    assert plain is not None
    assert other is not None
    assert all(type(value) is float for value in vars(other.in_float64()).values())
    if kind in {notion.claim_type for notion in all_audited()}:
        for one, same in zip(families_of(plain), families_of(other), strict=True):
            np.testing.assert_array_equal(one.grid, same.grid)
            np.testing.assert_array_equal(one.epsilon, same.epsilon)
            np.testing.assert_array_equal(one.delta, same.delta)


@pytest.mark.parametrize("convert", WHOLE)
def test_a_relation_is_the_same_for_every_type_of_number(convert: Callable[[int], Any]) -> None:
    whole = int if convert in {float, np.float64, Fraction} else convert
    vector = VectorNeighbours(
        size=whole(3), l0=whole(2), l1=convert(2), l2=convert(2), linf=convert(1), low=convert(0), high=convert(5)
    )
    assert vector == VectorNeighbours(size=3, l0=2, l1=2.0, l2=2.0, linf=1.0, low=0.0, high=5.0)
    assert vector.largest_step == 1
    assert [type(value) for value in (vector.l1, vector.linf, vector.low)] == [float, float, float]
    records = RecordNeighbours(low=convert(0), high=convert(1), size=whole(3), max_size=whole(4))
    assert records == RecordNeighbours(low=0.0, high=1.0, size=3, max_size=4)
    assert not math.isnan(records.low)
