"""How often the auditor refutes a correct claim.

Run with ``python -m benchmarks.false_alarms [--runs N] [--calls C] [--jobs J] [--pairs P] [--mechanisms NAME ...]``.
Each run hunts in black-box mode, over all adversarial pairs (or the first P), on a correct mechanism with a seed of
its own, and watches the evidence after every round: an alarm is evidence of 1/alpha at any time (adversarial
stopping), and so is a lower bound above the claim at any time. Both levels are read off the same runs. Per level: the
alarms, and the exact 95 % interval of their probability, which must not lie above alpha. The mechanisms are randomised
response, which spends its claim on every outcome, and the benchmark's rows whose claim holds. Written to
``RESULTS.md``.

How conservative the test is shows on randomised response. On its first pair, at 10^5 calls, evidence of 20 came in 4
of 200 runs (2 %; 95 % interval 0.5 to 5), of 10 in 7 and of 5 in 17: within a factor of 3 of the levels 5, 10 and 20
%. On all of its 12 pairs it came to 20 in none of 60 runs, although some bets on some pair would have, had they had
all of the wealth, in 16. What is lost are the shares, which pay for betting on everything at once: a pair has 0.19 to
0.04 of the wealth (1.7 to 3.2 nats), and of this a kind of structural bets has 1/32 (3.5 nats more).
"""

import argparse
import math
import time
from dataclasses import dataclass

import joblib
import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.results import machine, markdown_table, write_section
from benchmarks.rows import ROWS
from benchmarks.user_mechanisms import CASES
from dpassay.claims import Claim, PureDP
from dpassay.neighbours import AnyNeighbours
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.intervals import clopper_pearson
from dpassay.properties.drawing.decoding import decoding_sampler
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.drawing.target import load_target
from dpassay.properties.drawing.target_process import RemoteSampler
from dpassay.properties.hunting.task import read_claim, read_neighbours
from dpassay.properties.neighbours.pairs import adversarial_pairs
from dpassay.properties.outcomes.calls import Sampler
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT

LEVELS = (0.05, 1e-3)
CORRECT_ROWS = (
    "Laplace",
    "TruncatedGeometric",
    "NoisyHist1",
    "NoisyMax1",
    "NoisyMax2",
    "SVT1",
    "SVT2",
    "NumericalSVT",
    "RAPPOR",
    "OneTimeRAPPOR",
    "LaplaceParallel",
)
TARGETS = {"RandomisedResponse": "dpassay.impl.mechanisms.randomised_response:randomised_response"} | {
    row.name: row.target for row in ROWS if row.name in CORRECT_ROWS
}
REPAIRED = {
    case.name: case
    for case in CASES
    if case.name
    in {
        "suppress_true_small_counts",
        "alarm_on_true_total",
        "column_thirteen",
        "tie_breaks_exactly",
        "hash_bucket",
        "forgotten_category",
        "combination_of_two_categories",
        "off_by_one_mean",
    }
}
"""Cases of users whose repaired mechanism is audited."""
NAMES = [*TARGETS, *REPAIRED]


@dataclass(frozen=True)
class Run:
    """One audit of a correct claim.

    Parameters
    ----------
    peak : float
        Logarithm of the largest evidence after any round.
    exceeds : bool
        Whether the lower bound on epsilon at level 1 - `LEVELS`[0] was ever above the claim.
    alone : float
        Logarithm of the largest wealth of one kind of bets on one pair after any round, as if it had no share but all
        of the wealth; rounded, and no evidence.
    seconds : float
        CPU seconds.
    """

    peak: float
    exceeds: bool
    alone: float
    seconds: float


@dataclass(frozen=True)
class Audited:
    """What is sampled, its claim, and the relation.

    Parameters
    ----------
    sample : callable
        ``f(data, size, rng)``.
    claim : Claim
        Pure DP.
    neighbours : AnyNeighbours
        The relation.
    """

    sample: Sampler
    claim: Claim
    neighbours: AnyNeighbours

    @classmethod
    def named(cls, name: str) -> "Audited":
        """Return a correct mechanism by its name."""
        if name in REPAIRED:
            case = REPAIRED[name]
            relation = read_neighbours(case.neighbours)
            sample = decoding_sampler(case.fixed, relation)
            assert not isinstance(sample, RemoteSampler)
            return cls(sample, read_claim(case.claim), relation)
        mechanism = load_target(TARGETS[name])
        return cls(mechanism.sample, mechanism.claims[0], mechanism.neighbours)


def audit(mechanism: Audited, seed: int, calls: int, most_pairs: int | None = None) -> Run:
    """Spend the calls on the pairs, or the first of them, and note the worst moment."""
    clock = time.process_time()
    claim = mechanism.claim
    assert isinstance(claim, PureDP)
    pairs = adversarial_pairs(mechanism.neighbours, seed=seed)[:most_pairs]
    campaign = Campaign(claim, pairs, seed=seed, ignored=frozenset({LOWEST_BIT}))
    peak, exceeds, alone = -math.inf, False, -math.inf
    at_the_claim = np.array([claim.epsilon]), np.zeros(1)
    while campaign.calls < calls:
        campaign.play_round(
            lambda draws: [sample_side(mechanism.sample, draw) for draw in draws], most_calls=calls - campaign.calls
        )
        evidence = campaign.evidence.log_value()
        peak = max(peak, evidence)
        alone = max(alone, *(game.rough_log_wealths(*at_the_claim).max() for game in campaign.games if game.calls))
        # the claim is a point of the grid: a bound above it needs nearly that much evidence against the claim
        if evidence >= -math.log(LEVELS[0]) - 0.5:
            exceeds = exceeds or campaign.evidence.bounds(LEVELS[0])["epsilon"] > claim.epsilon
    return Run(peak, exceeds, float(alone), time.process_time() - clock)


def audits(name: str, seeds: range, calls: int, most_pairs: int | None = None) -> list[Run]:
    """Audit a mechanism with each of the seeds."""
    mechanism = Audited.named(name)
    return [audit(mechanism, seed, calls, most_pairs) for seed in seeds]


def cells(name: str, runs: list[Run]) -> list[str]:
    """Return the row of the table."""
    row = [name]
    for level in LEVELS:
        alarms = sum(run.peak >= -math.log(level) for run in runs)
        low, high = clopper_pearson(alarms, len(runs))
        row += [str(alarms), f"[{low:.2g}, {high:.2g}]", "TOO MANY" if low > level else "within the level"]
    peak = max(run.peak for run in runs) / math.log(10)
    seconds = sum(run.seconds for run in runs)
    alone = sum(run.alone >= -math.log(LEVELS[0]) for run in runs)
    return [*row, str(sum(run.exceeds for run in runs)), f"10^{peak:.1f}", str(alone), f"{seconds:.0f}"]


def main() -> None:
    """Count the alarms, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000, help="seeds for each mechanism")
    parser.add_argument("--calls", type=lambda text: int(float(text)), default=2000, help="of each run")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time, on a core each")
    parser.add_argument("--pairs", type=int, help="play on the first pairs only")
    parser.add_argument("--mechanisms", nargs="+", metavar="NAME", default=NAMES, choices=NAMES)
    options = parser.parse_args()
    pool = joblib.Parallel(n_jobs=options.jobs, return_as="generator")
    chunks = [range(start, min(start + 25, options.runs)) for start in range(0, options.runs, 25)]
    rows = []
    for name in options.mechanisms:
        found = pool(joblib.delayed(audits)(name, seeds, options.calls, options.pairs) for seeds in chunks)
        shown = track(found, description=name, total=len(chunks), transient=True)
        rows.append(cells(name, [run for runs in shown for run in runs]))
        Console().print(*rows[-1])
    headings = ["mechanism"]
    for level in LEVELS:
        headings += [f"alarms at {level:g}", "95 % interval", ""]
    headings += [f"bounds above the claim ({LEVELS[0]:g})", "largest e-value"]
    headings += [f"runs in which some bets alone reach {1 / LEVELS[0]:g}", "CPU s"]
    part = "" if len(rows) == len(NAMES) else " (some mechanisms)"
    only = "" if options.pairs is None else f" --pairs {options.pairs}"
    over = "all adversarial pairs" if options.pairs is None else f"at most {options.pairs} pairs"
    write_section(
        f"False alarms{part}",
        f"`python -m benchmarks.false_alarms --runs {options.runs} --calls {options.calls}{only}`. {machine()}\n\n"
        f"Correct mechanisms; {options.runs} seeds of {options.calls:,} calls each over {over}; an "
        "alarm is evidence of 1/alpha after any round, or a lower bound above the claim after any round.\n\n"
        + markdown_table(headings, rows),
    )


if __name__ == "__main__":
    main()
