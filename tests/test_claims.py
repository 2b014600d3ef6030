import math
import sys
from collections.abc import Callable
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.arguments import UsageError, rounded_down, rounded_up
from dpassay.claims import Claim, PureDP, RenyiDP, parse_claim
from dpassay.neighbours import RecordNeighbours, VectorNeighbours, parse_neighbours

WITH_FORM = [each for each in Claim.__subclasses__() if each.form]
WRITINGS: list[Callable[[Fraction], Any]] = [
    float, Fraction, np.float64, np.float32, np.float16, np.longdouble, lambda value: Decimal(str(float(value))),
]  # fmt: skip
INTEGERS: list[Callable[[int], Any]] = [int, float, Fraction, Decimal, np.int64, np.int32, np.uint8, np.float32]


def test_claims_are_read_in_the_form_of_the_command_line() -> None:
    assert parse_claim("pure:1.5") == PureDP(1.5)


@pytest.mark.parametrize(
    "text", ["pure", "pure:x", "pure:1,2", "pure:-1", "approx:1,2", "rdp:1,1", "what:1", "pure:nan"]
)
def test_bad_claims_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_claim(text)


@pytest.mark.parametrize(
    "text",
    ["vector:size=0,linf=1", "vector:size=2", "vector:linf=1", "vector:size=2,linf=1,wrong", "records:size=1", "x:"],
)
def test_bad_relations_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_neighbours(text)


def test_all_bounds_of_a_vector_relation_are_obeyed() -> None:
    relation = VectorNeighbours(3, l0=1, linf=1.0, low=0, high=2)
    zero, one = np.zeros(3), np.array([1.0, 0.0, 0.0])
    assert relation.admits(zero, one)
    assert not relation.admits(zero, np.array([1.0, 1.0, 0.0]))
    assert not relation.admits(zero, np.array([1.5, 0.0, 0.0]))
    assert not relation.admits(zero, np.array([-1.0, 0.0, 0.0]))
    assert relation.largest_step == 1.0
    assert math.isinf(VectorNeighbours(1, linf=1.0).high)


# --- numbers of any type --------------------------------------------------------------------------------------


VECTORS: Any = VectorNeighbours
RECORDS: Any = RecordNeighbours
"""Relations without their types: these tests give them numbers of other types."""


def _spellings(value: Fraction) -> list[Any]:
    """Return the value as each type that holds it exactly."""
    integers = [write(int(value)) for write in INTEGERS] if value.denominator == 1 else []
    return [*integers, *(write(value) for write in WRITINGS)]


DOMAINS = {"delta": (0, 8), "alpha": (9, 16)}
"""In eighths; the other parameters may be anything from 0 to 2."""

FEW = settings(max_examples=8)


@pytest.mark.parametrize("claim_type", WITH_FORM)
@FEW
@given(data=st.data())
def test_parameters_of_every_real_type_make_the_same_claim(claim_type: type[Claim], data: st.DataObject) -> None:
    names = [each.name for each in fields(claim_type)]  # type: ignore[arg-type]  # every claim is a dataclass
    values = [Fraction(data.draw(st.integers(*DOMAINS.get(name, (0, 16)))), 8) for name in names]
    plain = claim_type(*map(float, values))
    for position, value in enumerate(values):
        for spelling in _spellings(value):
            mixed = claim_type(*[spelling if k == position else float(each) for k, each in enumerate(values)])
            assert mixed == plain
            assert all(type(each) is float for each in vars(mixed).values())
            assert str(mixed) == str(plain)
            assert parse_claim(str(mixed)) == plain


@pytest.mark.parametrize("claim_type", WITH_FORM)
@FEW
@given(numerators=st.lists(st.integers(1, 6), min_size=3, max_size=3))
def test_exact_parameters_stay_exact_and_are_read_back(claim_type: type[Claim], numerators: list[int]) -> None:
    names = [each.name for each in fields(claim_type)]  # type: ignore[arg-type]
    values = [Fraction(k, 7) + (name == "alpha") for name, k in zip(names, numerators, strict=False)]
    claim = claim_type(*values)
    assert list(vars(claim).values()) == values
    assert parse_claim(str(claim)) == claim
    rounded = claim.in_float64()
    assert all(type(each) is float for each in vars(rounded).values())
    for name, value in zip(names, values, strict=True):
        near = getattr(rounded, name)
        assert near < value if name == "alpha" else near > value  # the weaker claim
        assert abs(near - value) <= value * Fraction(1, 2**51)


def test_an_optional_parameter_is_written_where_it_is_not_the_default() -> None:
    assert str(parse_claim("approx-zcdp:1,0.5")) == "approx-zcdp:1.0,0.5"
    assert str(parse_claim("approx-zcdp:1,0.5,0")) == "approx-zcdp:1.0,0.5"
    assert str(parse_claim("approx-zcdp:1,0,-0.5")) == "approx-zcdp:1.0,0.0,-0.5"


@pytest.mark.parametrize("value", ["1", None, math.inf, math.nan, np.zeros(1), Fraction(10) ** 400, 1j, PureDP])
def test_what_is_no_finite_number_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match="epsilon must be a finite number"):
        PureDP(value)
    with pytest.raises(UsageError, match="alpha must be a finite number above 1"):
        RenyiDP(value, 1.0)


@pytest.mark.parametrize("value", [0, 0.0, Fraction(1), 2.5, Fraction(7, 3), Decimal("0.1"), 10**30 + 1])
def test_rounding_encloses(value: Any) -> None:
    exact = Fraction(value)
    assert Fraction(rounded_down(exact)) <= exact <= Fraction(rounded_up(exact))
    assert math.nextafter(rounded_down(exact), math.inf) >= rounded_up(exact)


def test_rounding_beyond_the_largest_number() -> None:
    huge, largest = Fraction(10) ** 400, sys.float_info.max
    assert (rounded_up(huge), rounded_down(huge)) == (math.inf, largest)
    assert (rounded_up(-huge), rounded_down(-huge)) == (-largest, -math.inf)


@FEW
@given(value=st.integers(1, 16).map(lambda k: Fraction(k, 8)), size=st.integers(1, 5))
def test_relations_read_every_real_type_alike(value: Fraction, size: int) -> None:
    plain = VectorNeighbours(size, l0=size, l1=float(value), l2=float(value), linf=float(value), low=0.0, high=2.0)
    for spelling in _spellings(value):
        for name in ("l1", "l2", "linf"):
            bounds = {"l1": float(value), "l2": float(value), "linf": float(value)} | {name: spelling}
            assert VECTORS(np.int64(size), l0=np.uint8(size), low=0, high=np.int32(2), **bounds) == plain
        ends = RECORDS(-spelling if not isinstance(spelling, np.unsignedinteger) else -2.0, spelling, size)
        assert type(ends.low) is float
        assert type(ends.high) is float
        assert ends.high == value


def test_ends_that_float64_does_not_hold_are_rounded_inwards() -> None:
    third = Fraction(1, 3)
    relation = VECTORS(1, linf=third, low=-third, high=third, integer=np.bool_(False))
    assert Fraction(relation.low) >= -third
    assert Fraction(relation.high) <= third
    assert relation.linf is not None
    assert Fraction(relation.linf) <= third
    assert relation.integer is False
    for relation_type, arguments in ((VECTORS, {"size": 1, "linf": 1}), (RECORDS, {"size": 1})):
        with pytest.raises(UsageError, match="float64 must lie between"):
            relation_type(low=third, high=third, **arguments)
