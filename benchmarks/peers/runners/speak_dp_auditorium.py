"""Speak to DP-Auditorium: its hockey-stick tester with its default network, on a grid of epsilons and a few pairs."""

import importlib
from typing import Any

import numpy as np

from benchmarks.peers.runners.row import RowMechanism, answer, ready, task

GRID = (0.1, 0.15, 0.2, 0.25, 0.5, 1.0, 2.0, 4.0)
LEVEL = 0.05


def pairs(row: RowMechanism) -> list[tuple[Any, Any]]:
    """Return pairs of neighbours, each both ways round: one coordinate up; all up; one up and all others down."""
    space = row.neighbours
    base = np.full(space.size, float(np.clip(0.0, space.low + 1, space.high - 1)))
    first = np.eye(1, space.size)[0]
    moves = [first, np.ones(space.size), 2 * first - 1] if row.all_differ else [first]
    return [pair for move in moves for pair in ((base, base + move), (base + move, base))]


def main() -> None:
    """Test every epsilon of the grid on fresh samples, until one is not rejected on any pair."""
    given = task()

    def part(module: str, name: str) -> Any:
        return getattr(importlib.import_module(f"dp_auditorium.{module}"), name)

    keras: Any = importlib.import_module("tensorflow").keras
    keras.utils.set_random_seed(given["seed"])
    row, rng = RowMechanism(given["target"], given["folder"]), np.random.default_rng(given["seed"])
    tester = "testers.hockey_stick_tester"
    part(tester, "HockeyStickPropertyTester")
    start = ready()

    def rejects(epsilon: float, left: Any, right: Any) -> bool:
        claim = part("configs.privacy_property", "ApproximateDp")(epsilon=epsilon, delta=0.0)
        config = part("configs.property_tester_config", "HockeyStickPropertyTesterConfig")(
            training_config=part(tester, "make_default_hs_training_config")(), approximate_dp=claim
        )
        test = part(tester, "HockeyStickPropertyTester")(config, part(tester, "make_default_hs_base_model")())
        samples = [row.sample(data, given["samples"], rng) for data in (left, right)]
        return bool(test.reject_property(test.estimate_lower_bound(*samples, failure_probability=LEVEL)))

    rejected = 0.0
    for epsilon in GRID:
        if not any(rejects(epsilon, *pair) for pair in pairs(row)):
            break
        rejected = epsilon
    grid = ", ".join(f"{value:g}" for value in GRID)
    answer(rejected, f"5 % for each pair and epsilon, without correction; grid: {grid}", start)


if __name__ == "__main__":
    main()
