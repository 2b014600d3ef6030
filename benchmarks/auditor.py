"""The auditor on the common benchmark, in black-box mode, beside the figures published for its peers.

Run with ``python -m benchmarks.auditor [--rows NAME ...] [--calls N] [--seed K] [--alpha A] [--jobs J]``. Every row is
hunted on its own claim and neighbours with nothing known of its distribution; the 20 mechanisms are tested as ideal
ones, without their low-order bits, the last row with them. Beside our lower bound stand the true epsilon (the largest
loss that the white-box search certifies), the mean certified by a bettor that knows both distributions and plays all
calls on its best pair ("best bettor"; it may certify more where the distribution's cells are coarser than the
outcomes), and the published figures, whose sources ``rows.toml`` names. A second table says after how many calls and
CPU seconds the bound on Laplace noise in floats passes 8. Both are written to ``RESULTS.md``.

Targets: no refutation where the claim holds; elsewhere the best peer's bound and the wanted share of the true epsilon,
or four fifths of the figure of the best bettor where that is smaller.
"""

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import joblib
import numpy as np
from rich.console import Console

from benchmarks.optimal_bets import masses, optimal_bound, shifted_laplace
from benchmarks.results import machine, markdown_table, write_section
from benchmarks.rows import EXTRAS, PEERS, ROWS, Row, audit
from dpassay.claims import PureDP
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.drawing.target import load_target
from dpassay.properties.hunting.hunt import hunt
from dpassay.properties.hunting.result import HuntResult
from dpassay.properties.hunting.verdicts import HuntVerdict
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT

SHARE_OF_THE_BEST = 0.8
_ABOUT_PEERS = (
    "The peers' columns are published figures (`rows.toml` has the sources), not runs on this machine: DP-Sniper's "
    "with 2·10^8 final samples a row and 90 % confidence; ours hold together over all pairs, events and times."
)
TRIED_PAIRS = 16
"""Adversarial pairs that are tried for the best bettor, besides the one with the largest loss."""

FLOAT_ROW, FLOAT_BOUND, FLOAT_CALLS, FLOAT_SEEDS = "FloatLaplace", 8.0, 2_000_000, 5


@dataclass(frozen=True)
class Comparison:
    """What was found on a row: ours, the true epsilon (None if unknown), and the best bettor's bound."""

    row: Row
    ours: HuntResult
    truth: float | None
    best_bettor: float | None

    @property
    def claimed(self) -> float:
        """The epsilon of the row's claim."""
        return float(load_target(self.row.target).claims[0].epsilon)

    @property
    def is_correct(self) -> bool:
        """Whether the claim holds."""
        return self.truth is not None and self.truth <= self.claimed

    @property
    def target(self) -> float:
        """The bound to reach."""
        share = self.row.ours_to_reach * self.truth if self.truth is not None and math.isfinite(self.truth) else 0.0
        wanted = max(self.row.best_peer or 0.0, share)
        if self.best_bettor is not None and self.best_bettor < wanted:
            return SHARE_OF_THE_BEST * self.best_bettor
        return wanted

    @property
    def missed(self) -> str | None:
        """Why the target was missed, None if it was reached."""
        if self.is_correct and self.ours.verdict is HuntVerdict.VIOLATED:
            return "a correct claim was refuted: a false alarm"
        if not self.is_correct and self.ours.verdict is not HuntVerdict.VIOLATED:
            return f"the violation was not certified; {self._excuse}"
        if self.ours.epsilon_lower < self.target:
            return f"{self.ours.epsilon_lower:.4g} is below {self.target:.4g}; {self._excuse}"
        return None

    @property
    def _excuse(self) -> str:
        if self.best_bettor is None:
            return "the distribution is unknown, and so is the largest possible bound"
        return f"with both distributions known and all calls on one pair {self.best_bettor:.4g} would be certified"


def compare(row: Row, *, calls: int, seed: int, alpha: float) -> Comparison:
    """Hunt on a row."""
    console = Console(stderr=True)

    def show(*, calls: int, seconds: float, e_value_log10: float, epsilon_lower: float) -> None:
        bound = f"epsilon >= {epsilon_lower:.3g}, e-value 10^{e_value_log10:.1f}"
        status.update(f"{row.name}: {calls:,} calls, {seconds:.0f} s, {bound}")

    with console.status(row.name) as status:
        ours = audit(row, calls=calls, seed=seed, alpha=alpha, progress=show)
        status.update(f"{row.name}: its distribution")
        return Comparison(row, ours, *_known(row, calls, alpha))


def _known(row: Row, calls: int, alpha: float) -> tuple[float | None, float | None]:
    """Return the true epsilon and the best bettor's bound."""
    mechanism = load_target(row.target)
    if row in EXTRAS:
        return math.inf, None
    found = hunt(mechanism, PureDP(0.0))  # any loss refutes it: the pair with the largest one is shown
    if found.witness is None:
        return None, None
    if row.independent:
        return found.epsilon_lower, optimal_bound(*shifted_laplace(row.independent, row.noise_scale), calls, alpha)
    worst = np.array(found.witness.left), np.array(found.witness.right)
    pairs = [worst, *adversarial_pairs(mechanism.neighbours, seed=0, limit=TRIED_PAIRS)]
    bounds = [
        optimal_bound(*distributions, calls, alpha)
        for pair in pairs
        if (distributions := masses(mechanism, *pair)) is not None
    ]
    return found.epsilon_lower, max(bounds, default=None)


@dataclass(frozen=True)
class Passed:
    """When the lower bound first passed a threshold; `calls` is None if it did not."""

    seed: int
    calls: int | None
    cpu_seconds: float


def time_to_pass(row: Row, threshold: float, *, seed: int, alpha: float) -> Passed:
    """Audit a row until its lower bound passes a threshold; the bound is looked at after every round."""
    mechanism = load_target(row.target)
    ignored = frozenset() if row.low_bits else frozenset({LOWEST_BIT})
    start = time.process_time()
    pairs = adversarial_pairs(mechanism.neighbours, seed=seed)
    campaign = Campaign(mechanism.claims[0], pairs, seed=seed, ignored=ignored)
    while campaign.calls < FLOAT_CALLS:
        campaign.play_round(lambda draws: [sample_side(mechanism.sample, draw) for draw in draws])
        if campaign.evidence.epsilon_lower(alpha) >= threshold:
            return Passed(seed, campaign.calls, time.process_time() - start)
    return Passed(seed, None, time.process_time() - start)


def report_passes(found: Sequence[Passed], alpha: float) -> str:
    """Return the section on noise in floats."""
    lines = [
        [str(each.seed), "never" if each.calls is None else f"{each.calls:,}", f"{each.cpu_seconds:.2f}"]
        for each in found
    ]
    about = f"Laplace noise from a logarithm in float64, claim 1: when our lower bound at alpha {alpha:g} first passes"
    return "\n\n".join(
        [
            f"`python -m benchmarks.auditor --alpha {alpha:g}`. {machine()}",
            f"{about} {FLOAT_BOUND:g}, over all pairs, the mechanism's own time included.",
            markdown_table(["seed", "calls", "CPU s"], lines),
        ]
    )


def report(found: Sequence[Comparison], *, calls: int, seed: int, alpha: float) -> str:
    """Return the section of the results."""
    headings = ["row", "claim", "true ε", "verdict", "our bound", "best bettor", "calls", "CPU s"]
    headings += ["DP-Sniper", "the same, 1/50 of the calls", "StatDP", "Delta-Siege", "target"]
    lines = [
        [
            item.row.name,
            f"{item.claimed:.4g}",
            _figure(item.truth),
            item.ours.verdict,
            f"{item.ours.epsilon_lower:.4g}",
            _figure(item.best_bettor),
            f"{item.ours.calls:,}",
            f"{item.ours.cpu_seconds:.1f}",
            *(_figure(getattr(item.row, peer)) for peer in PEERS),
            "missed" if item.missed else "reached",
        ]
        for item in found
    ]
    names = [item.row.name for item in found]
    only = "" if len(names) == len(ROWS + EXTRAS) else " --rows " + " ".join(names)
    missed = [f"- {item.row.name}: {item.missed}." for item in found if item.missed]
    total = sum(item.ours.cpu_seconds for item in found)
    return "\n\n".join(
        [
            f"`python -m benchmarks.auditor{only} --calls {calls} --seed {seed} --alpha {alpha:g}`. {machine()}",
            _ABOUT_PEERS,
            markdown_table(headings, lines),
            f"CPU seconds of all rows: {total:.0f} (published for the twenty: DP-Sniper 1,912, StatDP 47,885).",
            "Targets missed:\n\n" + "\n".join(missed) if missed else "No target was missed.",
        ]
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def main() -> None:
    """Hunt on the rows and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", nargs="+", metavar="NAME", default=[row.name for row in ROWS + EXTRAS])
    parser.add_argument("--calls", type=lambda text: int(float(text)), default=1_000_000, help="per row")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--jobs", type=int, default=1, help="rows at the same time, on a core each")
    options = parser.parse_args()
    settings = {"calls": options.calls, "seed": options.seed, "alpha": options.alpha}
    console = Console()
    found = []
    rows = [row for row in ROWS + EXTRAS if row.name in options.rows]
    pool = joblib.Parallel(n_jobs=options.jobs, return_as="generator")
    for item in pool(joblib.delayed(compare)(row, **settings) for row in rows):
        found.append(item)
        bound = f"epsilon >= {item.ours.epsilon_lower:.4g} of {_figure(item.truth)}"
        end = f"{item.ours.cpu_seconds:.1f} s; {item.missed or 'target reached'}"
        console.print(f"{item.row.name}: {item.ours.verdict}, {bound}, {end}")
    part = "" if len(found) == len(ROWS + EXTRAS) else " (some rows)"
    write_section(f"The common benchmark, {options.calls:,} calls a row{part}", report(found, **settings))
    for row in rows:
        if row.name == FLOAT_ROW:
            passed = [
                time_to_pass(row, FLOAT_BOUND, seed=options.seed + k, alpha=options.alpha) for k in range(FLOAT_SEEDS)
            ]
            write_section("Float Laplace", report_passes(passed, options.alpha))


if __name__ == "__main__":
    main()
