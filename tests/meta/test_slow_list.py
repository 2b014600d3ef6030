"""The list of slow tests names tests that exist."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_entry_is_a_test() -> None:
    lines = (ROOT / "tests" / "slow_tests.txt").read_text(encoding="utf-8").splitlines()
    entries = [line for line in lines if not line.startswith("#")]
    assert len(entries) == len(set(entries)) > 0
    for entry in entries:
        path, _, name = entry.partition("::")
        assert f"def {name.partition('[')[0]}(" in (ROOT / path).read_text(encoding="utf-8"), entry
