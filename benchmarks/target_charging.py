"""Times of the exact account and of the exact game of target charging, on one core; run it as a script."""

import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from dpassay.impl.accounting.target_charging import target_charging_account
from dpassay.impl.accounting.target_quality import not_prior_quality
from dpassay.properties.games.target_charging import adaptive_delta, compared_accounts

EPSILON, DELTA, REPEATS = 0.1, 1e-6, 3


def seconds(call: Callable[[], Any]) -> float:
    """Return the best of a few runs, after one to warm up."""
    call()
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


def main() -> None:
    """Print the table of times, and how much larger the accounts are than the game's epsilon."""
    quality = float(not_prior_quality(EPSILON))
    table = Table("what", "tau", "seconds", "required", title=f"epsilon = {EPSILON}, delta = {DELTA}")
    for hits, required in ((50, ""), (1000, "1"), (10_000, "")):
        spent = seconds(lambda hits=hits: target_charging_account(hits, EPSILON, quality, DELTA))  # type: ignore[misc]
        table.add_row("exact account", str(hits), f"{spent:.4f}", required)
    for hits, required in ((50, "10"), (200, "")):
        total = target_charging_account(hits, EPSILON, quality, DELTA).epsilon
        spent = seconds(lambda hits=hits, total=total: adaptive_delta(hits, EPSILON, total))  # type: ignore[misc]
        table.add_row("exact game", str(hits), f"{spent:.4f}", required)
    console = Console()
    console.print(table)
    for row in compared_accounts(50, EPSILON, DELTA):
        console.print(f"tau = 50, {row['account']}: {row['total_epsilon']:.4f}, {row['tightness']:.3f} times the game")


if __name__ == "__main__":
    main()
