"""Phases: neighbours share what they are given, and an account is told of every step, one way or the other."""

import random
from collections.abc import Callable
from typing import Any

from dpassay.impl.libraries.phases import drawn_phases, stepped


class Account:
    """An account that notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[float, float]] = []

    def step(self, noise_multiplier: float, sample_rate: float) -> None:
        self.told.append((noise_multiplier, sample_rate))

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        return lambda optimiser: self.step(optimiser.noise_multiplier, sample_rate * optimiser.accumulated_iterations)


def test_the_pairs_come_in_order_and_the_first_again() -> None:
    for seed in range(20):
        phases = drawn_phases(random.Random(seed), (1.0, 0.1), (1.0, 0.2), (3.0, 0.2))  # noqa: S311  # a draw that can be repeated
        assert [phase[:2] for phase in phases] == [(1.0, 0.1), (1.0, 0.2), (3.0, 0.2), (1.0, 0.1)]
        assert any(phase[3] > 1 for phase in phases)
        assert all(phase[2] > 1 for phase in phases)


def test_an_account_is_told_of_every_step() -> None:
    account = stepped(Account(), [(2.0, 0.5, 3, 1), (4.0, 0.5, 2, 2)])
    assert account.told == [(2.0, 0.5)] * 3 + [(4.0, 0.5)] * 2
