"""How fast the exact adaptive adversary of a privacy filter is solved, on one core; run it as a script.

The game of fifty rounds over two hundred budget levels must take less than ten seconds; the table has larger ones, and
how wide the certified enclosure of the value is, relative to it.
"""

import time
from fractions import Fraction

from rich.console import Console
from rich.table import Table

from dpassay.properties.games.filter_tightness import zcdp_game
from dpassay.spec.ball import ball
from dpassay.spec.interactions.budget_rules import concentrated_epsilon

RHO, SLACK = Fraction(1, 2), Fraction(1, 100)
SIZES = ((50, 200), (144, 144), (200, 200))
REQUIRED_SECONDS = 10.0


def main() -> None:
    """Print the table."""
    table = Table("rounds", "levels", "seconds", "required over taken", "worst delta", "relative width")
    for rounds, levels in SIZES:
        game = zcdp_game(RHO, lambda: concentrated_epsilon(ball(RHO), ball(SLACK)), levels=levels, rounds=rounds)
        begin = time.perf_counter()
        low, high = game.value
        taken = time.perf_counter() - begin
        table.add_row(
            str(rounds), str(levels), f"{taken:.2f}", f"{REQUIRED_SECONDS / taken:.1f}", f"{high:.6e}",
            f"{(high - low) / high:.1e}",
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()
