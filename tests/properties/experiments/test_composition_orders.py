import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dpassay.impl.accounting.adaptive_composition import ComposedMechanism, bounded_range_mechanism, pure_mechanism
from dpassay.properties.experiments.composition import fig2, fig3, order_table


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize(
    ("run", "module", "attribute", "value", "name", "columns"),
    [
        (fig2.mixed_batch_figure, fig2, "SETTINGS", ((8, 0.1),), "mixed_batch.csv", fig2.COLUMNS),
        (fig3.order_gap_figure, fig3, "LEVELS", (0.0, 0.1, 0.7), "order_gap.csv", fig3.COLUMNS),
        (order_table.order_table, order_table, "SETS", order_table.SETS[3:5], "order_table.csv", order_table.COLUMNS),
    ],
)
def test_the_experiments_write_their_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., list[Path]], module: Any, attribute: str,
    value: Any, name: str, columns: tuple[str, ...],
) -> None:  # fmt: skip
    monkeypatch.setattr(module, attribute, value)
    shares: list[float] = []
    paths = run(tmp_path, seed=0, trials=None, progress=lambda _what, share: shares.append(share))
    assert all(path.is_file() for path in paths)
    rows = rows_of(tmp_path / name)
    assert rows
    assert tuple(rows[0]) == columns
    assert all(0 <= share <= 1 for share in shares)


def test_delta_grows_with_the_number_of_pure_mechanisms() -> None:
    rows = fig2.mixed_rows(8, 0.1)
    at_zero = [row["delta"] for row in rows if row["epsilon"] == 0]
    assert at_zero == sorted(at_zero)
    assert at_zero[0] < at_zero[-1]


def test_the_accountant_is_above_the_closed_form() -> None:
    row = fig3.gap_row(0.3)
    assert row["gap_lower"] == pytest.approx(4.322926e-3, abs=1e-9)


D, B = pure_mechanism, bounded_range_mechanism


def words(rounds: Sequence[ComposedMechanism], level: float) -> list[tuple[str, float, float]]:
    return [(row["order"], row["delta_lower"], row["delta"]) for row in order_table.order_rows(rounds, level)]


def test_which_orders_differ() -> None:
    same = words((D(0.4), D(0.9)), 0.3)
    assert same[0][1] <= same[1][2]
    worst, best = words((B(0.4), B(1.0)), 0.24)
    assert worst[0] == "B(0.4) B(1)"
    assert worst[1] > best[2]
    three = words((D(0.4), D(0.5), B(0.3)), 0.0)
    assert three[0][1] > three[-1][2]
    assert three[-1][0].startswith("B(0.3)")
