"""The examples: plain functions of data and a generator, decided by tracing."""

import functools
import inspect
import math
from typing import Any

import pytest
from benchmarks.checkdp_cases import ALLOWANCE, CASES, decision
from benchmarks.checkdp_cases import functions as checkdp
from benchmarks.traced_figures import figures
from benchmarks.traced_rows import functions, traced

from dpassay.properties.tracing.factors import independent_parts

SIZE = 5


@pytest.mark.parametrize("name", CASES)
def test_each_case_of_checkdp_is_proved_or_refuted(name: str) -> None:
    case = CASES[name]
    function: Any = getattr(checkdp(), case.function)
    sampler = functools.partial(function, cutoff=1) if "cutoff" in inspect.signature(function).parameters else function
    found = figures(sampler, case.relation(SIZE), enough=case.claim * (1 + ALLOWANCE))
    assert decision(case, found) == ("proved" if case.private else "refuted")


KNOWN = {
    "Laplace": 0.1,
    "TruncatedGeometric": math.log1p(1 / 8),
    "NoisyHist2": 10.0,
    "NoisyMax1": 0.0996440966616155,
    "NoisyMax3": 0.25,
    "NoisyMax4": math.inf,
    "SVT4": 0.174999123335547,
}
"""The certified losses of the mechanisms of the catalogue."""


@pytest.mark.parametrize("row", KNOWN)
def test_rows_have_the_losses_of_the_catalogue(row: str) -> None:
    found = traced(row)
    assert found.lower == pytest.approx(KNOWN[row], rel=1e-13)
    assert found.lower <= found.upper


def test_bits_of_a_report_are_independent() -> None:
    factors = independent_parts(functions().rappor, [3.0], 20)
    assert isinstance(factors, list)
    assert len(factors) == 20
