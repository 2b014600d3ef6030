"""The table of qualities: what is claimed is never above the exact quality, and the worst pair is found."""

import csv
from pathlib import Path

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.properties.experiments.base import all_experiments, find_experiment
from dpassay.properties.experiments.target_charging.quality_families import FAMILIES, random_pairs
from dpassay.properties.experiments.target_charging.target_quality import run


def test_every_claim_is_below_the_worst_quality_found_and_close_to_it(tmp_path: Path) -> None:
    told: list[float] = []
    (path,) = run(tmp_path, seed=1, trials=500, progress=lambda _, share: told.append(share))
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 7 * len(FAMILIES)
    assert told[-1] == 1
    for row in rows:
        claimed, exact, found = (float(row[name]) for name in ("claimed", "exact", "found"))
        assert claimed <= exact * (1 + 1e-12)
        assert exact * (1 - 1e-9) <= found <= exact * 1.001, row


def test_the_same_seed_gives_the_same_table(tmp_path: Path) -> None:
    tables = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (path,) = run(tmp_path / name, seed=3, trials=20, progress=lambda *_: None)
        tables.append(path.read_text())
    assert tables[0] == tables[1]


def test_random_pairs_are_indistinguishable_and_often_extremal() -> None:
    left, right = random_pairs(0.7, 1000, 4, np.random.default_rng(0))
    assert np.all((left > 0) == (right > 0))
    losses = np.abs(np.log(left[left > 0] / right[left > 0]))
    assert np.all(losses <= 0.7 * (1 + 1e-12))
    assert np.mean(losses > 0.7 * (1 - 1e-6)) > 0.5


def test_it_is_registered_and_refuses_no_trials(tmp_path: Path) -> None:
    assert "target-quality" in {experiment.name for experiment in all_experiments()}
    with pytest.raises(UsageError, match="trials"):
        find_experiment("target-quality").run(tmp_path, seed=0, trials=0, progress=lambda *_: None)
