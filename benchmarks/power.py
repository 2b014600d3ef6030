"""How often real runs refute a violation of just the size that they print as their power.

Run with ``python -m benchmarks.power [--runs N]``. Each run is a campaign on a reference mechanism
(Laplace, Gaussian or randomised response, as the notion has it) whose worst pair shows a violation of the printed
size: on one pair; on the last of many pairs, where all others obey the claim with equality and a screening looks at
further ones; on all of many pairs. The power is honest if at least half of the runs refute. The table is written to
``RESULTS.md``.
"""

import argparse
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.results import machine, markdown_table, write_section
from dpassay.claims import ApproximateDP, Claim, ProbabilisticDP, parse_claim
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.betting.power import Effort, effort_of
from dpassay.properties.betting.scales import Scale
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.notions.base import audited, families_of
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT

Array = NDArray[np.float64]
Draw = Callable[[bool, int, np.random.Generator], Array]
"""Takes whether the input is the left one, a number of outcomes and a generator; returns outcomes."""

ALPHA = 1e-6
MANY_PAIRS = 48
CLAIMS = ("pure:1", "pure:0.1", "approx:1,1e-5", "bounded-range:1", "zcdp:0.1", "gdp:1")


@dataclass(frozen=True)
class Setting:
    """On how many pairs a campaign plays, which of them show the violation, and how long the runs are."""

    name: str
    pairs: int
    everywhere: bool
    calls: tuple[int, ...]

    def shows(self, pair: float) -> bool:
        """Return whether the pair with this number shows the violation."""
        return pair == self.pairs - 1 or (self.everywhere and pair < self.pairs)


SETTINGS = (
    Setting("one pair", 1, everywhere=True, calls=(1_000, 20_000)),
    Setting(f"last of {MANY_PAIRS}", MANY_PAIRS, everywhere=False, calls=(100_000,)),
    Setting(f"all of {MANY_PAIRS}", MANY_PAIRS, everywhere=True, calls=(20_000,)),
)


def laplace(epsilon: float) -> Draw:
    """Return the Laplace mechanism."""
    return lambda is_left, size, rng: rng.laplace(0.0 if is_left else 1.0, 1 / epsilon, size)


def gaussian(multiplier: float) -> Draw:
    """Return the Gaussian mechanism."""
    return lambda is_left, size, rng: rng.normal(0.0 if is_left else multiplier, 1.0, size)


def revealing(epsilon: float, delta: float) -> Draw:
    """Return randomised response that reveals its input with probability delta."""

    def draw(is_left: bool, size: int, rng: np.random.Generator) -> Array:
        own = 0.0 if is_left else 1.0
        answers = np.where(rng.random(size) < 1 / (1 + math.exp(-epsilon)), own, 1 - own)
        return np.where(rng.random(size) < delta, own + 2, answers)

    return draw


def mechanism(claim: Claim, place: int, parameter: float) -> Draw:
    """Return the reference of the scale at a place among the scales of a claim."""
    if place == 1:
        assert isinstance(claim, ApproximateDP | ProbabilisticDP)
        return revealing(claim.epsilon, parameter)
    return laplace(parameter) if audited(claim).reference == "Laplace" else gaussian(parameter)


def scales_of(claim: Claim) -> list[Scale]:
    """Return the scales of the power of a claim."""
    family = next(family for family in families_of(claim) if family.claimed >= 0)
    return audited(claim).scales(claim.in_float64(), family)


def evidence(claim: Claim, setting: Setting, violating: Draw, obeying: Draw, *, seed: int, calls: int) -> float:
    """Return the logarithm of the evidence of a campaign; the inputs are the number of the pair and the side."""

    def sample(data: Array, size: int, rng: np.random.Generator) -> Array:
        return (violating if setting.shows(data[0]) else obeying)(data[1] == 0, size, rng)

    pairs = numbered_pairs()
    known = list(itertools.islice(pairs, setting.pairs))
    further = pairs if setting.pairs > 1 else None
    campaign = Campaign(claim, known, seed=seed, ignored=frozenset({LOWEST_BIT}), further=further)
    while campaign.play_round(
        lambda draws: [sample_side(sample, draw) for draw in draws], most_calls=calls - campaign.calls
    ):
        pass
    return campaign.evidence.log_value()


def numbered_pairs() -> Iterator[tuple[Array, Array]]:
    """Yield pairs of inputs: the number of the pair, and 0 on the left or 1 on the right."""
    for number in itertools.count():
        yield np.array([number, 0.0]), np.array([number, 1.0])


def effort(claim: Claim, setting: Setting) -> Effort:
    """Return what a run must gain, as it states its power."""
    pairs = numbered_pairs()
    known = list(itertools.islice(pairs, setting.pairs))
    weights = Campaign(claim, known, seed=0, further=pairs if setting.pairs > 1 else None).weights
    weight = float(weights.max() if setting.everywhere else weights.min())
    return effort_of(claim, ALPHA, math.log(weight), setting.pairs, alone=not setting.everywhere)


def row(claim: Claim, place: int, setting: Setting, calls: int, runs: int) -> list[str] | None:
    """Return a row of the table; None where no violation is stated."""
    scale = scales_of(claim)[place]
    parameter = scale.smallest(effort(claim, setting).at(calls))
    if math.isinf(parameter):
        return None
    draws = mechanism(claim, place, parameter), mechanism(claim, place, scale.claimed or 1e-9)
    found = [evidence(claim, setting, *draws, seed=seed, calls=calls) for seed in range(runs)]
    refuted = sum(log >= -math.log(ALPHA) for log in found)
    spare = float(np.median(found)) + math.log(ALPHA)
    figure = ", ".join(f"{name} {value:.4g}" for name, value in scale.stated(parameter).items())
    return [str(claim), setting.name, f"{calls:,}", figure, f"{refuted}/{runs}", f"{spare:+.1f}"]


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=12, help="seeds for each row")
    runs = parser.parse_args().runs
    console, rows = Console(width=150), []
    for claim in map(parse_claim, CLAIMS):
        for place, setting in itertools.product(range(len(scales_of(claim))), SETTINGS):
            for calls in setting.calls:
                found = row(claim, place, setting, calls, runs)
                if found is not None:
                    rows.append(found)
                    console.print(*found)
    headings = ["claim", "violation on", "calls", "printed power", "refuted", "median evidence beyond the level, nats"]
    write_section(
        "Power",
        f"`python -m benchmarks.power --runs {runs}`. {machine()}\n\n"
        f"Runs at level {ALPHA:g} on reference mechanisms with exactly the printed violation, seeds 0 to {runs - 1}; "
        "the power is honest if at least half of them refute. Randomised response where the figure is a delta. Rows "
        "without a finite figure are left out.\n\n"
        f"{markdown_table(headings, rows)}",
    )


if __name__ == "__main__":
    main()
