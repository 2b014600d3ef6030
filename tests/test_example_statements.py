"""The worked example of own statements passes its tests."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_discrete_gaussian() -> None:
    folder = ROOT / "examples" / "discrete_gaussian"
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder),
            "-c", "/dev/null", "--dpassay-statements", "theorems.py",
        ],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout
