"""Code that asks for the types of its numbers by ``type(x)``."""

from typing import Any

from dpassay.properties.tracing.refusal import Refusal
from dpassay.properties.tracing.trace import trace


def test_code_that_asks_for_types_of_integers_keeps_their_name() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> list[Any]:
        if type(size) is not int:
            raise TypeError("expected an integer")
        return [data[0] + rng.laplace() for _ in range(size)]

    assert not isinstance(trace(sampler, size=1), Refusal)


def test_an_exception_on_symbols_only_is_named_by_its_line() -> None:
    def sampler(data: Any, size: int, rng: Any) -> list[Any]:
        noisy = float(data[0] + rng.laplace())
        if type(noisy) is not float:
            raise TypeError("expected a float")
        return [noisy]

    found = trace(sampler, size=1)
    assert isinstance(found, Refusal)
    assert str(found).startswith("test_types_of_numbers.py:")
