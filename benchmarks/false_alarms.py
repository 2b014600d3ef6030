"""How often the auditor refutes a correct claim.

Run with ``python -m benchmarks.false_alarms [--runs N] [--calls C]``. Each run hunts in black-box mode, over all
adversarial pairs, on a mechanism whose claim holds with (next to) nothing to spare, with a seed of its own, and
watches the evidence after every round: an alarm is evidence of 1/alpha at any time (adversarial stopping). Per level:
the alarms, and the exact 95 % interval of their probability, which must not lie above alpha. Written to
``RESULTS.md``.
"""

import argparse
import math

from rich.console import Console
from rich.progress import track

from benchmarks.results import machine, markdown_table, write_section
from dpassay.claims import Mechanism, PureDP
from dpassay.properties.audit.campaign import Campaign
from dpassay.properties.audit.game import sample_side
from dpassay.properties.audit.intervals import clopper_pearson
from dpassay.properties.audit.outcomes import LOWEST_BIT
from dpassay.properties.search.pairs import adversarial_pairs
from dpassay.properties.search.target import load_target

LEVELS = (0.05, 1e-3)

TARGETS = (
    "dpassay.impl.mechanisms.randomised_response:randomised_response",
    "dpassay.impl.mechanisms.laplace:laplace_of_benchmark",
    "dpassay.impl.mechanisms.truncated_geometric:truncated_geometric",
    "dpassay.impl.mechanisms.exponential_noisy_max:exponential_noisy_max",
    "dpassay.impl.mechanisms.laplace_sparse_vector:sparse_vector",
    "dpassay.impl.mechanisms.rappor:one_time_rappor",
)


def peak_of_evidence(mechanism: Mechanism, seed: int, calls: int) -> tuple[float, bool]:
    """Return the largest evidence of any time, and whether a bound at the end exceeds the claim."""
    claim = mechanism.claims[0]
    pairs = adversarial_pairs(mechanism.neighbours, seed=seed)
    campaign = Campaign(claim, pairs, seed=seed, ignored=frozenset({LOWEST_BIT}))
    peak = -math.inf
    while campaign.calls < calls:
        campaign.play_round(
            lambda draws: [sample_side(mechanism.sample, draw) for draw in draws], most_calls=calls - campaign.calls
        )
        peak = max(peak, campaign.log_evidence())
    assert isinstance(claim, PureDP)
    return peak, campaign.bounds(LEVELS[0]).epsilon > claim.epsilon


def main() -> None:
    """Count the alarms, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000, help="seeds for each mechanism")
    parser.add_argument("--calls", type=lambda text: int(float(text)), default=10_000, help="of each run")
    options = parser.parse_args()
    rows = []
    for target in TARGETS:
        mechanism = load_target(target)
        found = [
            peak_of_evidence(mechanism, seed, options.calls)
            for seed in track(range(options.runs), description=target.partition(":")[2], transient=True)
        ]
        rows.append([target.partition(":")[2]])
        for level in LEVELS:
            alarms = sum(peak >= -math.log(level) for peak, _ in found)
            low, high = clopper_pearson(alarms, options.runs)
            rows[-1] += [str(alarms), f"[{low:.2g}, {high:.2g}]", "TOO MANY" if low > level else "within the level"]
        rows[-1] += [str(sum(exceeds for _, exceeds in found))]
        Console().print(*rows[-1])
    headings = ["mechanism"]
    for level in LEVELS:
        headings += [f"alarms at {level:g}", "95 % interval", ""]
    write_section(
        "False alarms",
        f"`python -m benchmarks.false_alarms --runs {options.runs} --calls {options.calls}`. {machine()}\n\n"
        f"Correct mechanisms that spend (nearly) their whole claim; {options.runs} seeds of {options.calls:,} calls "
        "each over all adversarial pairs; an alarm is evidence of 1/alpha after any round.\n\n"
        + markdown_table([*headings, f"bounds above the truth ({LEVELS[0]:g})"], rows),
    )


if __name__ == "__main__":
    main()
