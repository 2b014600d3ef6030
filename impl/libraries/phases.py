"""Phases of a training that share parameters, and accounts that are told of them; it runs inside workers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    Phase = tuple[float, float, int, int]

__all__ = ["drawn_phases", "stepped"]


def drawn_phases(random: Random, *pairs: tuple[float, float]) -> list[Phase]:
    """Return phases of (noise, rate, steps, iterations of a step) with pairs of noise and rate, and the first again.

    Where neighbouring pairs have one parameter in common, steps must be merged only where both agree.
    """
    iterations = random.sample((1, 2, 4, 1), len(pairs))
    phases = [(*pair, random.randint(2, 3), iterations[place]) for place, pair in enumerate(pairs)]
    return [*phases, phases[0]]


def stepped(account: Any, phases: Iterable[Phase]) -> Any:
    """Tell an account of phases, by its hook where a step has several iterations, and return it."""
    for sigma, rate, count, iterations in phases:
        hook = account.get_optimizer_hook_fn(rate / iterations)
        optimiser = SimpleNamespace(noise_multiplier=sigma, accumulated_iterations=iterations)
        for _ in range(count):
            if iterations > 1:
                hook(optimiser)
            else:
                account.step(noise_multiplier=sigma, sample_rate=rate)
    return account
