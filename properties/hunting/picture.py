"""The picture of a hunt: its claim, what was excluded in the plane of epsilon and delta, and the evidence over calls.

Where the exact distribution of the target is known, the curve delta(epsilon) of the pair of the witness is drawn too.
An SVG has a description for readers who do not see it, and follows the light or dark scheme of the reader.
"""

import html
import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.claims import Claim
from dpassay.properties.drawing.target import load_target
from dpassay.properties.hunting.profile import PairProfile, profile_of
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.notions.base import epsilon_delta_of, families_of
from dpassay.properties.notions.bounds import words_below
from dpassay.properties.pairing.registry import exact_distribution, pair_distribution

__all__ = ["claimed_points", "description", "draw_hunt", "excluded", "panels"]

Point = tuple[float, float]

_INK = "#123456"
"""Stands for the colour of the text around the picture."""

_CLAIM, _EXCLUDED, _CURVE = "#2a7de1", "#d1495b", "#2e9e6b"  # readable on a light and on a dark ground
_STYLE = "<style>svg{color:#1c1f24}@media (prefers-color-scheme:dark){svg{color:#e6e8eb}}</style>"
_SMALLEST_DELTA = 1e-9
"""Lower end of the axis of delta at least: smaller values make the rest of the picture flat."""


def claimed_points(claim: Claim) -> list[Point]:
    """Return the (epsilon, delta) statements of a claim against which a hunt bets, by growing epsilon."""
    point = epsilon_delta_of(claim)
    if point is not None:
        return [point]
    found = [
        (float(epsilon), float(delta))
        for family in families_of(claim)
        if family.claimed >= 0
        for epsilon, delta in zip(family.epsilon[family.claimed], family.delta[family.claimed], strict=True)
    ]
    return sorted(point for point in found if math.isfinite(point[0]))


def excluded(result: HuntResult, claim: Claim) -> list[Point]:
    """Return the corners of what a hunt excludes: the target is not (epsilon', delta')-DP below and left of a corner.

    The lower bound on epsilon holds at the delta of the claim (at 0 if it states none), the one on delta at its
    epsilon.
    """
    epsilon, delta = epsilon_delta_of(claim) or (0.0, 0.0)
    corners = [(result.epsilon_lower, delta)] if result.epsilon_lower > 0 else []
    return [*corners, *([(epsilon, result.delta_lower)] if result.delta_lower else [])]


def description(result: HuntResult, history: Sequence[tuple[int, float]]) -> str:
    """Return the picture in words."""
    words = f"{result.verdict}: {result.target}, claim {result.claim}. "
    words += f"Excluded: epsilon below {words_below(result.epsilon_lower, 6)}"
    words += (
        f", delta below {words_below(result.delta_lower, 6)} at the epsilon of the claim. "
        if result.delta_lower
        else ". "
    )
    if history:
        calls, evidence = history[-1]
        words += f"Evidence 10^{evidence:.1f} after {calls:,} calls; 10^{-math.log10(result.alpha):.1f} refutes."
    return words.strip()


def draw_hunt(result: HuntResult, claim: Claim, history: Sequence[tuple[int, float]], path: Path) -> None:
    """Draw a hunt into a file; the end of its name says in which format.

    Parameters
    ----------
    result, claim
        The result, and the claim as an object.
    history : sequence of (int, float)
        Calls, and the logarithm to base 10 of the e-value after them; empty if nothing was sampled.
    path : Path
        The file.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    with panels(path, 2 if history else 1, description(result, history)) as axes:
        _paint_plane(axes[0], result, claim, _profile(result))
        if history:
            _paint_evidence(axes[1], history, result.alpha)


@contextmanager
def panels(path: Path, count: int, words: str) -> Iterator[Sequence[Any]]:
    """Hand out axes side by side to draw on, and write them into a file.

    Parameters
    ----------
    path : Path
        The file; the end of its name says in which format.
    count : int
        Number of axes.
    words : str
        The picture in words, which an SVG holds.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    colours = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "axes.titlecolor")
    is_svg = path.suffix.lower() == ".svg"
    options = dict.fromkeys(colours, _INK if is_svg else "black") | {"svg.hashsalt": "dpassay", "svg.fonttype": "none"}
    with mpl.rc_context(options):
        figure, axes = plt.subplots(1, count, figsize=(10 if count > 1 else 5.5, 4), layout="constrained")
        try:
            yield list(np.atleast_1d(axes))
            if is_svg:
                text = io.StringIO()
                figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
                path.write_text(_readable(text.getvalue(), words), encoding="utf-8")
            else:
                figure.savefig(path)
        finally:
            plt.close(figure)


def _profile(result: HuntResult) -> PairProfile | None:
    """Return the curves of the pair of the witness, of a mechanism of this package whose distribution is known."""
    if result.witness is None or result.witness.inputs is not None or not result.target.startswith("dpassay."):
        return None
    mechanism = load_target(result.target)
    left, right = np.array(result.witness.left), np.array(result.witness.right)
    one, other = exact_distribution(mechanism, left), exact_distribution(mechanism, right)
    pair = (one, other) if one is not None and other is not None else pair_distribution(mechanism, left, right)
    return None if pair is None else profile_of(pair)


def _paint_plane(axes: Any, result: HuntResult, claim: Claim, profile: PairProfile | None) -> None:
    points, corners = claimed_points(claim), excluded(result, claim)
    finite = [epsilon for epsilon, _ in (*points, *corners) if 0 < epsilon < math.inf]
    right = 1.25 * max(finite, default=1.0)
    deltas = [delta for _, delta in (*points, *corners) if delta > 0] or [1e-3]
    low = max(_SMALLEST_DELTA, min(deltas) / 100)
    for k, (epsilon, delta) in enumerate(corners):
        reach, label = min(epsilon, right), None if k else "excluded"
        if delta > 0:
            axes.fill_between([0, reach], 0, delta, color=_EXCLUDED, alpha=0.25, linewidth=0, label=label)
        else:  # at delta 0 alone: a line without area
            axes.plot([0, reach], [0, 0], color=_EXCLUDED, linewidth=4, label=label, solid_capstyle="butt")
        axes.plot([reach], [delta], marker=">" if math.isinf(epsilon) else "s", color=_EXCLUDED, clip_on=False)
    if profile is not None:
        axes.plot(*zip(*profile.deltas, strict=True), color=_CURVE, label="pair of the witness, exact")
    if points:
        axes.plot(*zip(*points, strict=True), color=_CLAIM, marker="o", label="claim", clip_on=False)
    axes.set(xlabel="epsilon (nats)", ylabel="delta", title=result.claim, xlim=(0, right), ylim=(0, 1))
    axes.set_yscale("symlog", linthresh=low)
    axes.legend(loc="upper right", framealpha=0)


def _paint_evidence(axes: Any, history: Sequence[tuple[int, float]], alpha: float) -> None:
    axes.plot(*zip(*history, strict=True), color=_CURVE, label="evidence")
    axes.axhline(-math.log10(alpha), color=_CLAIM, linestyle="--", label=f"refutes at level {alpha:g}")
    axes.set(xlabel="calls", ylabel="log10 of the e-value", title="evidence")
    axes.legend(loc="best", framealpha=0)


def _readable(svg: str, words: str) -> str:
    """Return an SVG with its description, in the colours of the reader's scheme."""
    said = html.escape(words, quote=True)
    opening = re.compile(r"<svg ([^>]*)>")
    start = f' role="img" aria-label="{said}"><title>{said}</title>{_STYLE}'
    return opening.sub(lambda found: f"<svg {found[1]}{start}", svg, count=1).replace(_INK, "currentColor")
