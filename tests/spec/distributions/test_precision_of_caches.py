"""What is kept from one call to the next belongs to the working precision at which it was computed.

A refinement asks again with more bits. A cache that does not know the precision answers with the balls of the first
call: never wrong, but as wide as before, so that a verdict stays undecided, or not, by what was asked earlier.
"""

import ast
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb

from dpassay import spec
from dpassay.spec.ball import precision
from dpassay.spec.distributions.composed_responses import composed_response_delta
from dpassay.spec.distributions.exponential import ExponentialMechanismDistribution
from dpassay.spec.distributions.laplace_noisy_max import LaplaceNoisyMaxDistribution
from dpassay.spec.distributions.noise import NoiseDistribution
from dpassay.spec.distributions.noise_pairs import renyi_divergence_of_noise
from dpassay.spec.distributions.noisy_max_values import ExponentialNoisyMaxDistribution
from dpassay.spec.distributions.noisy_threshold import LaplaceThreshold
from dpassay.spec.distributions.peeling import PeelingDistribution
from dpassay.spec.distributions.permute_and_flip import PermuteAndFlipDistribution
from dpassay.spec.distributions.selection import Rivals
from dpassay.spec.distributions.watched_brownian import staying_probability

FOLDER = Path(next(iter(spec.__path__))) / "distributions"
THIRD, RATE = Fraction(1, 3), Fraction(3, 7)
RIVALS: Rivals = ((Fraction(0), 2), (Fraction(5, 3), 1))
BOUNDED = (
    NoiseDistribution("bounded laplace", 0, 1, low=-1, high=2),
    NoiseDistribution("bounded laplace", 1, 1, -1, 2),
)
SETTING = LaplaceThreshold(Fraction(1, 2), 2, 3)
ANSWERS = ((Fraction(2, 3), 1),)

CASES: dict[str, Callable[[], arb]] = {
    "composed_responses._tails": lambda: composed_response_delta(Fraction(1, 10), 97, THIRD),
    "exponential._log_softmax": lambda: ExponentialMechanismDistribution.log_report_probability(THIRD, RIVALS, RATE),
    "laplace_noisy_max._log_win": lambda: LaplaceNoisyMaxDistribution.log_report_probability(THIRD, RIVALS, RATE),
    "noise_pairs._cells_at": lambda: renyi_divergence_of_noise([BOUNDED], 2.0),
    "noisy_max_values._log_win": lambda: ExponentialNoisyMaxDistribution.log_report_probability(THIRD, RIVALS, RATE),
    "noisy_threshold._log_released": lambda: SETTING.log_released(ANSWERS, ((THIRD, Fraction(0), Fraction(5)),)),
    "noisy_threshold._patterns": lambda: SETTING.log_pattern(ANSWERS, [(THIRD, 1)]),
    "peeling._log_peeling": lambda: PeelingDistribution((0, THIRD, 2), 2, RATE).log_probability((0, 2)),
    "permute_and_flip._log_first_accepted": lambda: PermuteAndFlipDistribution.log_report_probability(
        THIRD, RIVALS, RATE
    ),
    "watched_brownian._rule": lambda: staying_probability((THIRD, RATE), lambda _: (None, arb(1) / 3)),
}
"""A call through each function that keeps what it returns, with parameters that no other test has."""
FIXED = {"noise._gaussian_table"}
"""Computed at a precision of its own, beyond any that is asked for."""


def kept() -> set[str]:
    """Return the functions of the folder that a decorator of functools keeps the results of."""
    found = set()
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            decorators = [ast.unparse(d) for d in node.decorator_list] if isinstance(node, ast.FunctionDef) else []
            if isinstance(node, ast.FunctionDef) and any("lru_cache" in d for d in decorators):
                found.add(f"{path.stem}.{node.name}")
    return found


def test_every_cache_is_asked() -> None:
    assert kept() == set(CASES) | FIXED


@pytest.mark.parametrize("name", CASES)
def test_more_bits_give_a_narrower_ball(name: str) -> None:
    with precision(64):
        coarse = CASES[name]()
    with precision(256):
        fine = CASES[name]()
    assert coarse.overlaps(fine)
    assert fine.rel_accuracy_bits() > max(120, coarse.rel_accuracy_bits() + 60)
