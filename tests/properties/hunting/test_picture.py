"""The picture of a hunt: what is drawn, for readers who see it and for those who do not."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from dpassay.claims import ZCDP, ApproximateDP, PureDP
from dpassay.cli import main
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.picture import claimed_points, draw_hunt, excluded

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def biased(data: Any, size: int, rng: np.random.Generator) -> list[bool]:
    return (rng.random(size) < (0.9 if data[0] > 0 else 0.1)).tolist()  # type: ignore[no-any-return]


def test_what_is_drawn() -> None:
    result = hunt(biased, "approx:1,0.01", "vector:size=1,linf=1,low=0,high=1,integer", calls=600, trace=False)
    (by_epsilon, by_delta) = excluded(result, ApproximateDP(1, 0.01))
    assert by_epsilon == (result.epsilon_lower, 0.01)
    assert by_delta == (1.0, result.delta_lower)
    assert claimed_points(PureDP(1)) == [(1.0, 0.0)]
    points = claimed_points(ZCDP(0.5))
    assert len(points) > 3
    assert sorted(points, key=lambda point: -point[1]) == points  # delta falls with epsilon


def test_an_svg_is_described_and_follows_the_scheme(tmp_path: Path) -> None:
    path = tmp_path / "hunt.svg"
    words = ["hunt", "NoisyMax3", "--plot", str(path)]
    assert main(words) == 1
    first = path.read_text(encoding="utf-8")
    root = ET.fromstring(first)  # noqa: S314  # written a line above
    assert root.get("role") == "img"
    assert "violated" in (root.get("aria-label") or "")
    assert "exact" in first  # the curve of the pair
    assert "currentColor" in first
    assert "prefers-color-scheme:dark" in first
    assert main(words) == 1
    assert path.read_text(encoding="utf-8") == first


def test_evidence_over_calls(tmp_path: Path) -> None:
    result = hunt(biased, "pure:1", "vector:size=1,linf=1,low=0,high=1,integer", calls=600, trace=False)
    draw_hunt(result, PureDP(1), [(100, 2.0), (600, result.e_value_log10 or 0.0)], tmp_path / "hunt.svg")
    text = (tmp_path / "hunt.svg").read_text(encoding="utf-8")
    assert "log10 of the e-value" in text
    assert "after 600 calls" in text
    draw_hunt(result, PureDP(1), [(100, 2.0)], tmp_path / "hunt.png")
    assert (tmp_path / "hunt.png").read_bytes().startswith(b"\x89PNG")
