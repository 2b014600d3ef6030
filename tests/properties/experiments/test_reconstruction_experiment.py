import csv
from pathlib import Path

import numpy as np

from dpassay.properties.experiments.foundations.reconstruction import NOISES, reconstruction, recoveries


def test_little_noise_gives_all_bits_away_and_much_noise_none() -> None:
    few = recoveries(1 / 32, 2, np.random.default_rng(0))
    assert all(found.right == found.total == 128 for found in few.values())
    many = recoveries(8.0, 2, np.random.default_rng(0))
    # each bit is right with chance at most 0.7311 (epsilon = 1): 115 of 128 by chance < 1e-6
    assert all(found.right < 115 for found in many.values())
    assert all(found.epsilon_lower(1e-9) <= 1 for found in many.values())


def test_the_table_has_a_row_for_each_noise_and_attack(tmp_path: Path) -> None:
    seen: list[float] = []
    paths = reconstruction(tmp_path, seed=1, trials=1, progress=lambda _, share: seen.append(share))
    rows = list(csv.DictReader(paths[0].read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 2 * len(NOISES)
    assert seen == sorted(seen)
    assert all(float(row["epsilon_lower"]) <= float(row["epsilon_claimed"]) for row in rows)
