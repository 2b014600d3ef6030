"""Outcomes of many kinds, each of which holds a number `n` beside noise."""

import array
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import json
import pathlib
import types
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpassay.claims import PureDP
from dpassay.properties.drawing.call_guard import notes_on_reading
from dpassay.properties.hunting.witness import measured_witness
from dpassay.properties.outcomes.events import parse_event

Kind = Callable[[int, np.random.Generator], Any]


class Pair(NamedTuple):
    number: int
    noise: float


@dataclasses.dataclass
class Report:
    count: int
    noise: float


@dataclasses.dataclass(eq=False)
class Nested:
    label: str
    report: Report


class Slotted:
    __slots__ = ("count", "noise")

    def __init__(self, count: int, noise: float) -> None:
        self.count, self.noise = count, noise


class Hostile:
    """Refuses to be compared, hashed and shown."""

    def __init__(self, count: int, noise: float) -> None:
        self.count, self.noise = count, noise

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError

    def __repr__(self) -> str:
        raise RuntimeError


class Shown:
    __slots__ = ("_count",)

    def __init__(self, count: int) -> None:
        self._count = count

    def __repr__(self) -> str:
        return f"Shown({self._count})"


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


def level(n: int) -> Level:
    return Level.HIGH if n > 1 else Level.LOW


def spoilt(rng: np.random.Generator, shape: tuple[int, ...], place: tuple[int, ...], n: int) -> Any:
    cells = rng.random(shape)
    cells[place] = n
    return cells


START = dt.datetime(2020, 1, 1)  # noqa: DTZ001

KINDS: dict[str, Kind] = {
    "mapping": lambda n, rng: {"noise": rng.random(), "count": n},
    "nested mapping": lambda n, rng: {"a": {"b": [rng.random(), n]}, "c": rng.random()},
    "keys": lambda n, rng: {f"key {n}": rng.random()},
    "ordered mapping": lambda n, rng: collections.OrderedDict(noise=rng.random(), count=n),
    "counter": lambda n, rng: collections.Counter({"a": n, "b": int(rng.integers(10**6))}),
    "read-only mapping": lambda n, rng: types.MappingProxyType({"n": n, "x": rng.random()}),
    "values of a mapping": lambda n, rng: {"a": rng.random(), "b": n}.values(),
    "dataclass": lambda n, rng: Report(n, rng.random()),
    "nested dataclass": lambda n, rng: Nested("x", Report(n, rng.random())),
    "named tuple": lambda n, rng: Pair(n, rng.random()),
    "nested lists": lambda n, rng: [[rng.random(), 0.5], [rng.random(), n]],
    "ragged lists": lambda n, rng: [[rng.random()], ["x", [rng.random(), n]]],
    "matrix": lambda n, rng: spoilt(rng, (3, 4), (1, 2), n),
    "array of three dimensions": lambda n, rng: spoilt(rng, (2, 2, 2), (1, 0, 1), n),
    "structured dtype": lambda n, rng: np.array((rng.random(), n), dtype=[("x", "f8"), ("n", "i4")])[()],
    "numpy scalar": lambda n, rng: np.float32(n + rng.random() / 2),
    "long double": lambda n, rng: np.longdouble(n) + np.longdouble(rng.random()) / 2,
    "datetime64": lambda n, rng: np.datetime64(n * 10**9 + int(rng.integers(10**9)), "ns"),
    "Decimal": lambda n, rng: {"total": decimal.Decimal(n), "noise": decimal.Decimal(repr(rng.random()))},
    "Fraction": lambda n, rng: n + fractions.Fraction(int(rng.integers(10**9)), 10**10),
    "complex": lambda n, rng: complex(rng.random(), n),
    "text": lambda n, rng: f"count: {n}, noise: {rng.random():.6f}",
    "text without the number": lambda n, rng: f"{'many' if n > 1 else 'few'} and {rng.random():.6f}",
    "JSON": lambda n, rng: json.dumps({"noise": rng.random(), "count": n}),
    "bytes": lambda n, rng: rng.bytes(12) + bytes([n]),
    "text in bytes": lambda n, rng: b"%f %d" % (rng.random(), n),
    "bytearray": lambda n, rng: bytearray(bytes([n]) + rng.bytes(3)),
    "datetime": lambda n, rng: START + dt.timedelta(days=n, seconds=rng.random()),
    "date": lambda n, rng: START.date() + dt.timedelta(days=500 * n + int(rng.integers(300))),
    "time": lambda n, rng: dt.time(n, int(rng.integers(60)), int(rng.integers(60))),
    "timedelta": lambda n, rng: dt.timedelta(days=n, seconds=rng.random()),
    "UUID": lambda n, rng: uuid.UUID(int=(n << 120) + int(rng.integers(2**60))),
    "enum": lambda n, rng: (level(n), rng.random()),
    "path": lambda n, rng: pathlib.PurePosixPath(f"/tmp/{rng.integers(10**9)}/n{n}"),  # noqa: S108
    "set": lambda n, rng: {f"n{n}", str(rng.integers(10**9))},
    "set of numbers": lambda n, rng: frozenset([float(n), rng.random() - 5]),
    "namespace": lambda n, rng: types.SimpleNamespace(n=n, x=rng.random()),
    "slots": lambda n, rng: Slotted(n, rng.random()),
    "hostile object": lambda n, rng: Hostile(n, rng.random()),
    "object with a repr": lambda n, rng: [Shown(n), rng.random()],
    "range": lambda n, rng: range(n, int(rng.integers(10**3, 10**9))),
    "array": lambda n, rng: array.array("d", [rng.random(), n]),
    "deque": lambda n, rng: collections.deque([rng.random(), n]),
    "exception": lambda n, rng: ValueError(f"{rng.random():.5f} of {n}"),
    "large integer": lambda n, rng: {"id": 2**60 + n, "noise": rng.random()},
    "int or float": lambda n, rng: 1 if n > 1 else 1.0,
    "bool or int": lambda n, rng: [True if n > 1 else 1, rng.random()],
}


def each(outcome: Kind, leak: bool) -> Any:
    """Return a mechanism of one call per outcome that tells the number of records, or not."""
    return lambda data, size, rng: [outcome(len(data) if leak else 1, rng) for _ in range(size)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_records_is_found_in_outcomes_of_every_kind(kind: str, one_or_two_records: Any) -> None:
    """The honest mechanism is called violated with probability 1e-9 at most."""
    leaking, evidence = one_or_two_records(each(KINDS[kind], leak=True), 128)
    assert evidence > 1
    honest, evidence = one_or_two_records(each(KINDS[kind], leak=False), 64)
    assert evidence < 1
    assert not notes_on_reading([leaking, honest])
    event = measured_witness(leaking, PureDP(0.1)).event
    assert str(parse_event(event)) == event
