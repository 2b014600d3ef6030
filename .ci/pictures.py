"""The pictures of the documentation: `python .ci/pictures.py` writes them to docs/pictures/.

The picture of relations is made from the table below, that of losses from the table on its page; the curves and hunts
come from the package itself. All are SVG, with a description, in the light or dark scheme of the reader.
"""

import html
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
STYLE = (
    "<style>svg{color:#1c1f24}@media (prefers-color-scheme:dark){svg{color:#e6e8eb}}"
    "text{font:13px sans-serif;fill:currentColor}.code{font-family:monospace}"
    ".same{fill:#8a94a3}.moved{fill:#d1495b}.claim{stroke:#2a7de1;stroke-width:3}.published{fill:#d1495b}"
    ".true{fill:#2e9e6b;stroke:#2e9e6b;stroke-width:3}.ours{fill:none;stroke:currentColor;stroke-width:2}"
    ".axis{stroke:currentColor;stroke-opacity:.35}.between{stroke:currentColor;stroke-opacity:.5;stroke-width:2}"
    "</style>"
)

Bars = Sequence[float]
"""The numbers of an input, as heights of bars; a row of people has bars of equal height."""

PAIRS: tuple[tuple[str, str, Bars, Bars], ...] = (
    ("vector:size=5,linf=1", "every answer moves, each by 1 at most", (3, 5, 2, 4, 3), (4, 4, 3, 5, 2)),
    ("vector:size=5,l0=1,linf=1", "one count moves, by 1 at most", (3, 5, 2, 4, 3), (3, 5, 3, 4, 3)),
    ("vector:size=5,l1=2", "the moves add up to 2 at most", (3, 5, 2, 4, 3), (3.5, 5, 3, 3.5, 3)),
    ("vector:size=5,linf=1,monotone", "all move the same way", (3, 5, 2, 4, 3), (4, 5, 3, 5, 4)),
    ("records:...,relation=replace", "one record has another value", (2, 5, 3, 4), (2, 5, 1, 4)),
    ("records:...,relation=add-remove", "one record more or fewer", (2, 5, 3, 4), (2, 5, 3, 4, 2)),
    ("frame:...,user=user,user-rows=3", "all rows of one user", (4, 4, 2, 2, 3), (4, 4, 3)),
)

LARGEST = 5.0
"""The largest epsilon that is drawn, nats."""

CLAIMS = ("pure:1", "approx:0.5,0.05", "zcdp:0.5", "gdp:1", "rdp:2,0.5")

HUNTS = {
    "violated.svg": ("benchmark_rows.py:prefix_sum", "pure:0.1", "vector:size=10,linf=1", 100_000),
    "not-refuted.svg": ("benchmark_rows.py:laplace", "pure:0.1", "vector:size=1,linf=1", 100_000),
}
"""Target in the folder examples, claim, neighbours, and number of calls."""


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in DIAGRAMS.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
    _draw_claims(FOLDER / "claims.svg")
    for name, (target, claim, neighbours, calls) in HUNTS.items():
        command = ["hunt", target, "--claim", claim, "--neighbours", neighbours]
        options = ["--no-trace", "--calls", str(calls), "--float64", "ignore", "--plot", str(FOLDER / name)]
        subprocess.run([sys.executable, "-m", "dpassay", *command, *options], check=False, cwd=ROOT / "examples")  # noqa: S603


# --- relations ----------------------------------------------------------------------------------------------


def relations() -> str:
    """Return the picture of a pair of neighbours for each relation."""
    row, width = 84, 640
    parts = [
        f'<g transform="translate(0 {row * number})">{"".join(_pair(*pair))}</g>' for number, pair in enumerate(PAIRS)
    ]
    words = "; ".join(f"{relation}: {moves}" for relation, moves, _, _ in PAIRS)
    return _svg(width, row * len(PAIRS), f"A pair of neighbours for each relation. {words}", parts)


def _pair(relation: str, moves: str, left: Bars, right: Bars) -> Iterator[str]:
    yield f'<text class="code" x="8" y="34">{relation}</text><text x="8" y="54">{moves}</text>'
    padded = max(len(left), len(right))
    for start, mine, other in ((330, left, right), (500, right, left)):
        yield f'<line class="axis" x1="{start}" y1="70" x2="{start + 22 * padded}" y2="70"/>'
        for place, height in enumerate(mine):
            same = place < len(other) and other[place] == height
            top = 70 - 11 * height
            kind = "same" if same else "moved"
            x = start + 22 * place + 2
            yield f'<rect class="{kind}" x="{x}" y="{top:g}" width="16" height="{11 * height:g}"/>'


# --- losses -------------------------------------------------------------------------------------------------


Row = tuple[str, float, float, float, float]


def losses() -> str:
    """Return the rows of the table of losses as marks on a logarithmic axis."""
    rows, start, length, step = list(_rows()), 170, 430, 24
    low, high = 0.08, 25.0

    def place(epsilon: float) -> str:
        share = math.log(min(epsilon, high) / low) / math.log(high / low)
        return f"{start + length * share:.1f}"

    bottom = step * len(rows) + 8
    parts = [
        f'<line class="axis" x1="{place(tick)}" y1="0" x2="{place(tick)}" y2="{bottom}"/>'
        f'<text x="{place(tick)}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>'
        for tick in (0.1, 1.0, 10.0)
    ]
    for number, (name, claimed, true, published, ours) in enumerate(rows):
        y = step * number + 16
        parts += [
            f'<text x="{start - 20}" y="{y + 4}" text-anchor="end">{name}</text>',
            f'<line class="between" x1="{place(claimed)}" y1="{y}" x2="{place(true)}" y2="{y}"/>',
            f'<line class="claim" x1="{place(claimed)}" y1="{y - 8}" x2="{place(claimed)}" y2="{y + 8}"/>',
            f'<circle class="published" cx="{place(published)}" cy="{y}" r="5"/>',
            f'<circle class="ours" cx="{place(ours)}" cy="{y}" r="5"/>',
            f'<path class="true" d="M{place(true)} {y - 7} l14 7 l-14 7 z"/>'
            if math.isinf(true)
            else f'<path class="true" d="M{place(true)} {y - 7} v14"/>',
        ]
    words = "; ".join(
        f"{name}: claimed {c:g}, true {t:g}, published at least {p:g}, ours {o:g}" for name, c, t, p, o in rows
    )
    legend = (
        "blue: the claim",
        "green: the true loss, an arrow if infinite",
        "red: best published bound",
        "hollow: ours",
    )
    parts += [
        f'<text x="{20 + 320 * (k % 2)}" y="{bottom + 42 + 18 * (k // 2)}">{text}</text>'
        for k, text in enumerate(legend)
    ]
    return _svg(640, bottom + 72, f"True losses and lower bounds, epsilon in nats. {words}", parts)


def _rows() -> Iterator[Row]:
    """Yield name, claim, true epsilon, the best published bound and ours, from the table of docs/losses.md."""
    for line in (ROOT / "docs" / "losses.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[-1][:1].isdigit():
            name = re.search(r"\((\w+)\)$", cells[0])
            claimed = re.search(r"claimed (\S+)$", cells[0])
            true, *bounds = (math.inf if cell == "infinite" else float(cell) for cell in cells[1:])
            yield (
                (name[1] if name else cells[0].split(" from")[0]),
                float(claimed[1] if claimed else "0.1"),
                true,
                *bounds,
            )


# --- curves -------------------------------------------------------------------------------------------------


def _draw_claims(path: Path) -> None:
    """Draw the largest delta that claims of several notions allow at every epsilon."""
    from dpassay.claims import parse_claim
    from dpassay.properties.hunting.picture import claimed_points, panels

    words = f"Largest delta at every epsilon for the claims {', '.join(CLAIMS)}: points that fall with epsilon."
    with panels(path, 1, words) as (axes,):
        for claim in map(parse_claim, CLAIMS):
            points = [point for point in claimed_points(claim) if point[0] <= LARGEST]
            if len(points) == 1:  # one statement: the same delta at a larger epsilon, none at a smaller one
                axes.plot([points[0][0], LARGEST], [points[0][1]] * 2, marker="o", markevery=[0], label=str(claim))
            else:
                axes.plot(*zip(*points, strict=True), marker="o", linewidth=0.8, linestyle=":", label=str(claim))
        axes.set(xlabel="epsilon (nats)", ylabel="largest delta", xlim=(0, LARGEST), ylim=(0, 1))
        axes.set_yscale("symlog", linthresh=1e-4)
        axes.legend(framealpha=0, loc="lower left")


def _svg(width: int, height: int, words: str, parts: Sequence[str]) -> str:
    said = html.escape(words, quote=True)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{said}">'
    return "\n".join([head, f"<title>{said}</title>", STYLE, *parts, "</svg>", ""])


DIAGRAMS: dict[str, Callable[[], str]] = {"relations.svg": relations, "losses.svg": losses}
"""The pictures that are text alone."""


if __name__ == "__main__":
    main()
