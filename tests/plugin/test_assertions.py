"""`assert_private` as a test sees it: lists of claims, errors of use, and the tracebacks that pytest shows."""

import contextlib
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpassay.arguments import MOST_CALLS, UsageError
from dpassay.claims import ApproximateDP, PureDP
from dpassay.impl.catalogue import entries
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.mechanisms import mechanism_records
from dpassay.spec.statement import all_statements
from dpassay.testing import assert_private, take_levels

pytest_plugins = ["pytester"]

# pytester forgets what an inner run imports first; imported again, a module would fill its registry a second time
IMPORTED_BEFORE = (mechanism_records(), entries(), all_statements())

Array = NDArray[np.float64]
LINE = "vector:size=1,linf=1"


def noisy(data: Array, size: int, rng: np.random.Generator) -> Array:
    return np.asarray((data[0] + rng.laplace(0, 1.0, size)).round(3))


def test_every_claim_of_a_list_is_tested_at_its_share_of_the_level() -> None:
    take_levels()
    results = assert_private(noisy, ["pure:1.5", ApproximateDP(1.0, 0.5)], LINE, calls=2_000, level=1e-6)
    assert [result.claim for result in results] == ["pure:1.5", "approx:1.0,0.5"]
    assert [result.alpha for result in results] == [5e-7, 5e-7]
    assert take_levels() == [5e-7, 5e-7]
    (single,) = assert_private(noisy, (PureDP(2.0),), LINE, calls=2_000)
    assert single.alpha == 1e-9
    for claims in (["pure:0.1", "pure:2"], ["pure:2", "pure:0.1"]):
        with pytest.raises(AssertionError, match=r"PureDP\(0.1\) allows at most 0.1"):
            assert_private(noisy, claims, LINE, calls=3_000)
    take_levels()


BAD: list[tuple[str, Any]] = [
    ("claim", 1.0), ("claim", {"epsilon": 1}), ("claim", {1.0}), ("claim", PureDP), ("claim", []), ("claim", ()),
    ("claim", ["pure:1", 2.0]), ("claim", [None]), ("claim", ""), ("claim", None), ("claim", b"pure:1"),
    ("claim", np.array([1.0])),
    ("neighbours", 1.0), ("neighbours", []), ("neighbours", "x"), ("neighbours", PureDP(1.0)), ("neighbours", None),
    ("level", 0), ("level", 1.0), ("level", "x"), ("level", math.nan), ("level", None), ("level", np.array([0.5])),
    ("calls", 0), ("calls", 1.5), ("calls", "9"), ("calls", None), ("calls", True), ("calls", 10**18),
    ("seed", -1), ("seed", 1.0), ("seed", None), ("seed", "x"),
    ("jobs", 0), ("jobs", 10_000), ("jobs", -7), ("jobs", 2.0), ("jobs", None),
    ("call_timeout_seconds", 0), ("call_timeout_seconds", "soon"), ("call_timeout_seconds", 1e300),
    ("import_timeout_seconds", -1), ("isolate", "yes"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda value: repr(value)[:20])
def test_an_argument_out_of_its_domain_is_named(name: str, value: Any) -> None:
    usual: dict[str, Any] = {"claim": "pure:1", "neighbours": LINE, "calls": 64}
    with pytest.raises(UsageError, match=name) as caught:
        assert_private(noisy, **(usual | {name: value}))
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    if not (value is None and name in {"calls", "jobs"}):  # these mean no limit, and the default
        with pytest.raises(UsageError, match="alpha" if name == "level" else "claim" if name == "claim" else name):
            hunt(noisy, **{"alpha" if key == "level" else key: one for key, one in (usual | {name: value}).items()})


def test_ranges_are_stated() -> None:
    for words, accepted in {"size=1000000000,linf=1": "from 1 to 1000000", "size=1e9,linf=1": "1e9"}.items():
        with pytest.raises(UsageError, match=f"size must be an integer.*{accepted}"):
            assert_private(noisy, "pure:1", f"vector:{words}")
    with pytest.raises(UsageError, match=r"size must be an integer.*'10\^9'"):
        assert_private(noisy, "pure:1", "vector:size=10^9,linf=1")
    with pytest.raises(UsageError, match=f"from 1 to {MOST_CALLS}"):
        hunt(noisy, "pure:1", LINE, calls=10**18)
    with pytest.raises(UsageError, match="at most 1e"):
        hunt(noisy, "pure:1", LINE, budget_seconds=1e300)


class Awkward:
    """Raises whatever it is asked."""

    def __repr__(self) -> str:
        raise ArithmeticError

    def __float__(self) -> float:
        raise OSError

    def __eq__(self, other: object) -> bool:
        raise KeyError

    __hash__ = None  # type: ignore[assignment]


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=8), st.binary(max_size=4),
    st.complex_numbers(), st.fractions(), st.decimals(), st.lists(st.floats(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=1), st.frozensets(st.integers(), max_size=2),
    st.sampled_from([Awkward(), Awkward, PureDP, PureDP(1.0), object(), math, np.zeros(2), np.float32(0.5), ...]),
)  # fmt: skip


@settings(max_examples=100)
@given(
    name=st.sampled_from(["mechanism", "claim", "neighbours", "level", "seed", "jobs", "isolate", "calls"]),
    value=JUNK,
)
def test_junk_is_an_error_of_use_or_works(name: str, value: Any) -> None:
    usual: dict[str, Any] = {"mechanism": noisy, "claim": "pure:3", "neighbours": LINE, "calls": 4}
    if (name == "isolate" and value is True) or (name == "jobs" and value != 1 and isinstance(value, int)):
        return  # these start processes; their other values are errors
    if name == "calls" and isinstance(value, int | float) and value > 100:
        value = -value  # a large number of calls works, and takes its time
    with contextlib.suppress(UsageError):
        assert isinstance(assert_private(**(usual | {name: value})), HuntResult | tuple)
    take_levels()


MODULE = """
from dpassay.testing import assert_private

def noisy(data, size, rng):
    return data[0] + rng.laplace(0, 1, size)

def broken(data, size, rng):
    table = {}
    return table["missing"]

def test_claim():
    assert_private(noisy, 1.0, "vector:size=1,linf=1")

def test_relation():
    assert_private(noisy, "pure:1", "vector:size=1")

def test_missing():
    assert_private("no_such_file.py:f", "pure:1", "vector:size=1,linf=1")

def test_broken():
    assert_private(broken, "pure:1", "vector:size=1,linf=1")

def test_violated():
    assert_private(noisy, ["pure:0.1"], "vector:size=1,linf=1", calls=2000)
"""


def test_tracebacks_show_the_lines_of_the_user_alone(pytester: pytest.Pytester) -> None:
    module = pytester.makepyfile(MODULE)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--tb=long")
    result.assert_outcomes(failed=5)
    places = [line.split(":")[0] for line in result.outlines if re.match(r"\S+\.py:\d+: ", line)]
    assert len(places) == 6
    assert set(places) == {module.name}
    assert any('return table["missing"]' in line for line in result.outlines)
    result.stdout.fnmatch_lines(["E*UsageError: claim must be an object of dpassay.claims*got 1.0"])
    result.stdout.fnmatch_lines(["E*UsageError: *raises on every input: KeyError: 'missing'"])
    result.stdout.fnmatch_lines(["E*AssertionError: privacy loss > *"])
