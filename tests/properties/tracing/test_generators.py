"""Generators of symbols: discrete draws with exact probabilities, and nothing that is answered by the base class."""

import inspect
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.properties.tracing import discrete
from dpassay.properties.tracing.generators import SymbolicGenerator, SymbolicRandomState
from dpassay.properties.tracing.python_random import SymbolicRandom
from dpassay.properties.tracing.trace import Trace, trace
from dpassay.spec.ball import ball, precision
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.leaves.distribution import finite_distribution

HALF = Fraction(1, 2)


def weights(draw: Any, **options: Any) -> Any:
    result = trace(lambda data, size, rng: [draw(rng)], [0.0], replays=4, **options)
    assert isinstance(result, Trace), result
    found: dict[Any, Any] = {}
    for leaf in result.model.leaves:
        found[leaf.outcome] = found.get(leaf.outcome, 0) + leaf.weight
    assert 0 <= 1 - sum(found.values()) <= result.model.undecided
    return found


EXACT = {
    "integers": (lambda rng: rng.integers(1, 3, endpoint=True), dict.fromkeys([1, 2, 3], Fraction(1, 3))),
    "choice": (lambda rng: rng.choice([5, 7], p=[0.25, 0.75]), {5: Fraction(1, 4), 7: Fraction(3, 4)}),
    "subset": (
        lambda rng: frozenset(rng.choice(3, 2, replace=False).tolist()),
        dict.fromkeys(map(frozenset, [(0, 1), (0, 2), (1, 2)]), Fraction(1, 3)),
    ),
    "binomial": (lambda rng: rng.binomial(2, 0.5), {0: HALF**2, 1: HALF, 2: HALF**2}),
    "hypergeometric": (lambda rng: rng.hypergeometric(1, 2, 1), {0: Fraction(2, 3), 1: Fraction(1, 3)}),
    "permutation": (
        lambda rng: tuple(rng.permutation(3).tolist()),
        dict.fromkeys([(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], Fraction(1, 6)),
    ),
    "multinomial": (
        lambda rng: tuple(rng.multinomial(2, [0.5, 0.25, 0.25]).tolist()),
        {(2, 0, 0): Fraction(1, 4), (1, 1, 0): Fraction(1, 4), (1, 0, 1): Fraction(1, 4),
         (0, 2, 0): Fraction(1, 16), (0, 1, 1): Fraction(1, 8), (0, 0, 2): Fraction(1, 16)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_probabilities_are_exact(name: Any) -> None:
    draw, expected = EXACT[name]
    found = weights(draw)
    assert {key: value for key, value in found.items() if value} == expected


def test_draws_with_other_probabilities_have_other_names() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        return [rng.integers(2 if rng.laplace() > 0 else 3)]

    result = trace(sampler, [0.0], replays=4)
    assert isinstance(result, Trace)
    leaves = result.model.leaves
    names = {leaf.choices[0][0]: leaf.weight for leaf in leaves}
    assert names == {"integers[0]": HALF, "integers[0] of kind 1": Fraction(1, 3)}


def test_geometric_draws_leave_a_negligible_tail() -> None:
    found = weights(lambda rng: rng.geometric(0.75))
    assert [found[k] for k in (1, 2, 3)] == [Fraction(3, 4), Fraction(3, 16), Fraction(3, 64)]


@pytest.mark.parametrize("mean", [Fraction(0), Fraction(1, 3), Fraction(40)])
def test_poisson_weights_are_lower_bounds_with_a_small_rest(mean: Any) -> None:
    found = discrete.poisson_weights(mean)
    with precision(2_000):
        for k, weight in enumerate(found):
            assert ball(weight) <= (-ball(mean)).exp() * ball(mean**k / math.factorial(k))
    assert 0 < 1 - sum(found) < Fraction(1, 2**60) or (mean == 0 and sum(found) == 1)


@pytest.mark.parametrize(
    ("own", "base"),
    [(SymbolicGenerator, np.random.Generator), (SymbolicRandomState, np.random.RandomState),
     (SymbolicRandom, random.Random)],
)  # fmt: skip
def test_nothing_public_is_left_to_the_base_class(own: Any, base: Any) -> None:
    names = [name for name in dir(base) if not name.startswith("_")]
    assert names
    assert [name for name in names if inspect.getattr_static(own, name) is inspect.getattr_static(base, name)] == []


def test_integers_with_many_values_are_rounded_noise() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        return [bool(rng.integers(1, 10**18 + 1) <= 25 * 10**16)]

    result = trace(sampler, [0.0])
    assert isinstance(result, Trace)
    assert finite_distribution(result.model) == FiniteDistribution({True: Fraction(1, 4), False: Fraction(3, 4)})


def test_python_integers_beyond_all_machine_words() -> None:
    def sampler(data: Any, size: Any, rng: Any) -> Any:
        return [(bool(rng.getrandbits(200) < 2**199), bool(rng.randrange(5, 5 + 3 * 2**80, 3) < 5 + 3 * 2**79))]

    result = trace(sampler, [0.0], source="random")
    assert isinstance(result, Trace)
    assert finite_distribution(result.model) == FiniteDistribution(
        {(a, b): Fraction(1, 4) for a in (True, False) for b in (True, False)}
    )
