"""Randomised response in all its forms: booleans, categories, bit vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from opendp_building import Collector, constructor, measurement_case

if TYPE_CHECKING:
    from dpassay.adapter import Mechanism

__all__ = ["response_cases"]


def _weights(probability: float, count: int) -> tuple[int, int]:
    """Return the weights of the truth and of each lie as integers: exact, whatever float the probability is."""
    part, whole = probability.as_integer_ratio()
    return part * (count - 1), whole - part


def boolean(probability: float, *, constant_time: bool) -> Mechanism:
    """Return the case: a truth told with some probability."""
    measurement = constructor("randomized_response_bool")(probability, constant_time=constant_time)

    def distribution(data: list[float]) -> dict[str, Any]:
        truth, lie = _weights(probability, 2)
        return {"family": "finite", "symbols": [data[0] >= 1, data[0] < 1], "probabilities": [truth, lie]}

    return measurement_case(
        f"make_randomized_response_bool(prob={probability!r}, {constant_time=})",
        measurement,
        1,
        "vector:size=1,linf=1,low=0,high=1,integer",
        lambda data: data[0] >= 1,
        distribution=distribution,
        floats=False,
        slow=True,
        calls=30_000,  # enough for the largest claim: there is one pair
    )


def categories(count: int, probability: float, *, strangers: bool = False) -> Mechanism:
    """Return the case: a category told with some probability; a stranger is a value that is no category."""
    measurement = constructor("randomized_response")(list(range(count)), probability)

    def distribution(data: list[float]) -> dict[str, Any]:
        truth, lie = _weights(probability, count)
        chances = [truth if i == int(data[0]) else lie for i in range(count)]
        return {"family": "finite", "symbols": list(range(count)), "probabilities": chances}

    high = count if strangers else count - 1
    return measurement_case(
        f"make_randomized_response({count} categories, prob={probability!r}{', strangers' if strangers else ''})",
        measurement,
        1,
        f"vector:size=1,linf={high},low=0,high={high},integer",
        lambda data: int(data[0]),
        distribution=None if strangers else distribution,
        floats=False,
    )


def _packed(bits: list[int]) -> bytes:
    padded = bits + [0] * (-len(bits) % 8)
    return bytes(sum(bit << (7 - i) for i, bit in enumerate(padded[j : j + 8])) for j in range(0, len(padded), 8))


def _unpacked(release: bytes) -> tuple[int, ...]:
    return tuple(byte >> (7 - i) & 1 for byte in release for i in range(8))


def bit_vector(weight: int, f: float, *, constant_time: bool = False, as_word: bool = False) -> Mechanism:
    """Eight bits of which at most `weight` are set; a neighbour is any other such vector.

    As a word they are looked at together, and not one by one as well.
    """
    measurement = constructor("randomized_response_bitvec")(
        dp.bitvector_domain(max_weight=weight), dp.discrete_distance(), f=f, constant_time=constant_time
    )

    def argument(data: list[float]) -> bytes:
        # the number says which: with weight 1 the place of the only bit (8: none), with weight 8 the bits themselves
        number = int(data[0])
        return bytes([number]) if weight == 8 else _packed([int(place == number) for place in range(8)])

    high = 255 if weight == 8 else 8
    return measurement_case(
        f"make_randomized_response_bitvec(max_weight={weight}, f={f!r}, {constant_time=})",
        measurement,
        1,
        f"vector:size=1,linf={high},low=0,high={high},integer",
        argument,
        outcome=bytes.hex if as_word else _unpacked,
        floats=False,
        slow=True,
    )


def bit_vector_of_any_length(f: float) -> Mechanism:
    """Bit vectors without a bit set, of one byte or of two: the domain holds both."""
    measurement = constructor("randomized_response_bitvec")(
        dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=f
    )
    return measurement_case(
        f"make_randomized_response_bitvec(max_weight=1, f={f!r}) of any length",
        measurement,
        1,
        "vector:size=1,linf=1,low=1,high=2,integer",
        lambda data: bytes(int(data[0])),
        outcome=bytes.hex,
        floats=False,
        slow=True,
    )


def response_cases(collect: Collector) -> None:
    """Add the cases of randomised response."""
    for probability in (0.75, 0.5, 0.999, math.nextafter(0.5, 1)):
        collect.add(boolean, probability, constant_time=False)
    collect.add(boolean, 0.75, constant_time=True)
    for count, probability in ((2, 0.75), (4, 0.6), (3, 1.0 / 3.0), (10, 0.1), (49, 0.5)):
        collect.add(categories, count, probability)
    collect.add(categories, 3, 0.6, strangers=True)
    for weight, f in ((1, 0.5), (8, 0.95)):
        collect.add(bit_vector, weight, f)
    collect.add(bit_vector, 1, 1.0, as_word=True)
    collect.add(bit_vector, 1, 0.5, constant_time=True, as_word=True)
    collect.add(bit_vector_of_any_length, 0.5)
