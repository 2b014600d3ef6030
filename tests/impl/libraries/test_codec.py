"""What a worker sends arrives bit by bit."""

import json
import math
import struct
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.adapter import Raised
from dpassay.impl.libraries.codec import decode, encode
from dpassay.impl.libraries.plain import Record, Scalar


def sent(value: Any) -> Any:
    return decode(json.loads(json.dumps(encode(value))))


atoms = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
values = st.recursive(
    atoms,
    lambda inner: st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner) | st.frozensets(atoms, max_size=3),
    max_leaves=8,
)


@given(values)
def test_what_is_sent_arrives(value: Any) -> None:
    arrived = sent(value)
    assert arrived == value
    assert repr(arrived) == repr(value) or isinstance(value, (dict, frozenset, tuple))


@given(st.floats())
def test_floats_arrive_to_the_last_bit(number: float) -> None:
    arrived = sent(number)
    assert type(arrived) is float
    if not math.isnan(number):
        assert struct.pack("d", arrived) == struct.pack("d", number)
    else:
        assert math.isnan(arrived)


@pytest.mark.parametrize("form", ["f8", "f4", "i8", "i4", "u8", "u1", "?", ">f8"])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (0,), (6, 0)])
def test_arrays_arrive_with_shape_and_values(form: str, shape: tuple[int, ...]) -> None:
    array = (np.arange(np.prod(shape)) % 2).astype(form).reshape(shape)
    arrived = sent(array)
    assert arrived.shape == shape
    assert (arrived == array).all()
    assert arrived.dtype.kind == array.dtype.kind


@pytest.mark.parametrize(
    ("foreign", "arrived"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array(2.5), 2.5),
        (np.array(["a", "b"]), ("a", "b")),
        (range(2), Record("range", ((".start", 0), (".stop", 2), (".step", 1)))),
        (Decimal("1.50"), Scalar("Decimal", "1.50")),
        (1 + 2j, Record("complex", ((".real", 1.0), (".imag", 2.0)))),
        (OrderedDict(a=[1, np.array([2.5])]), Record("OrderedDict", (("['a']", (1, (2.5,))),))),
        (np.array([(1, 2.5)], dtype=[("n", "i4"), ("x", "f8")])[0], Record("void", (("['n']", 1), ("['x']", 2.5)))),
        (lambda: None, Scalar("unreadable", "function")),
        (Raised("ValueError"), Raised("ValueError")),
        ([1, Raised("KeyError")], (1, Raised("KeyError"))),
    ],
)
def test_foreign_objects_have_a_form(foreign: Any, arrived: Any) -> None:
    assert sent(foreign) == arrived
    assert type(sent(foreign)) is type(arrived)


def test_sets_have_one_order() -> None:
    assert json.dumps(encode({3, 1, 2})) == json.dumps(encode({2, 3, 1}))
