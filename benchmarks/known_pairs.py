"""How fast the auditor gathers evidence on single known pairs, beside the optimum and a sequential peer.

Run with ``python -m benchmarks.known_pairs [--runs N] [--evidence-runs N]``. First: pairs of calls until a wrong claim
is refuted at level 5 %, on average over seeds, for the two means whose noise reveals the number of records. The
peer is APT (sequential f-DP auditing, asymptotic guarantee), with its published averages. Then: the evidence against a
claim after some calls, as a share of the mean evidence of the growth-optimal bettor, which knows both densities. The
tables are written to ``RESULTS.md``.
"""

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit, log_expit

from benchmarks.results import machine, markdown_table, write_section
from dpassay.claims import ApproximateDP, Claim, PureDP
from dpassay.properties.betting.campaign import Campaign
from dpassay.properties.drawing.draws import sample_side
from dpassay.properties.outcomes.numeric_features import LOWEST_BIT

Array = NDArray[np.float64]

ALPHA = 0.05
MOST_CALLS = 20_000
EVIDENCE_AFTER = (10_000, 100_000)


@dataclass(frozen=True)
class KnownPair:
    """Two densities, the claim that they break, the pairs that APT needed as published, and those we want to need."""

    name: str
    left: Any
    right: Any
    claim: Claim
    apt: float | None = None
    target: float | None = None

    @property
    def epsilon(self) -> float:
        """The epsilon of the claim."""
        assert isinstance(self.claim, PureDP | ApproximateDP)
        return self.claim.epsilon

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw from the left density on 0, from the right one on 1."""
        density = self.left if data[0] == 0 else self.right
        return np.asarray(density.rvs(size=size, random_state=rng))

    def best_growth(self) -> float:
        """Return the growth per call of the best bet against the claim's epsilon in pure DP, by quadrature."""

        def gain(x: float) -> float:
            one, other = self.left.logpdf(x), self.right.logpdf(x)
            guess = one - other
            bounded = min(max(guess, -self.epsilon), self.epsilon)
            believed = expit(guess) * (log_expit(guess) - log_expit(bounded))
            believed += expit(-guess) * (log_expit(-guess) - log_expit(-bounded))
            return float(believed * np.exp(np.logaddexp(one, other))) / 2

        widest = 60 * max(self.left.std(), self.right.std())
        corners = sorted({self.left.mean(), self.right.mean(), *(k * widest / 60 for k in range(-8, 9))})
        pieces = zip([-widest, *corners], [*corners, widest], strict=True)
        return math.fsum(quad(gain, low, high, limit=200)[0] for low, high in pieces)


def mean_pair(density: Callable[..., Any], claimed: float, delta: float, *figures: float) -> KnownPair:
    """Return the pair (0) against (0, 1) of a mean whose noise is scaled by the true number of records."""
    name = "NonDPGaussian1" if density is stats.norm else "NonDPLaplace1"
    claim = ApproximateDP(claimed, delta) if delta else PureDP(claimed)
    return KnownPair(name, density(0, 2 / claimed), density(0.5, 1 / claimed), claim, *figures)


MEANS = (
    mean_pair(stats.norm, 0.01, 1e-5, 61, 30),
    mean_pair(stats.norm, 0.1, 1e-5, 72, 36),
    mean_pair(stats.laplace, 0.01, 0.0, 81, 48),
    mean_pair(stats.laplace, 0.1, 0.0, 115, 58),
)

OTHERS = (
    KnownPair("Laplace, distance 1", stats.laplace(0), stats.laplace(1), PureDP(0.5)),
    KnownPair("Laplace, distance 1", stats.laplace(0), stats.laplace(1), PureDP(0.8)),
    KnownPair("Gaussian, distance 1", stats.norm(0), stats.norm(1), PureDP(1.0)),
    KnownPair("Gaussian, distance 1", stats.norm(0), stats.norm(1), PureDP(2.0)),
)


def campaign_on(pair: KnownPair, seed: int) -> Campaign:
    """Return the audit of a pair; scipy's floats are no part of the ideal mechanism."""
    return Campaign(pair.claim, [(np.zeros(1), np.ones(1))], seed=seed, ignored=frozenset({LOWEST_BIT}))


def play(campaign: Campaign, pair: KnownPair, most_calls: int | None = None) -> None:
    """Play a round."""
    campaign.play_round(lambda draws: [sample_side(pair.sample, draw) for draw in draws], most_calls=most_calls)


def calls_to_reject(pair: KnownPair, seed: int) -> int:
    """Play until the claim is refuted, for `MOST_CALLS` at most."""
    campaign = campaign_on(pair, seed)
    while campaign.evidence.log_value() < -math.log(ALPHA) and campaign.calls < MOST_CALLS:
        play(campaign, pair)
    return campaign.calls


def evidence(pair: KnownPair, seed: int, calls: int) -> float:
    """Return the logarithm of the evidence against the claim after this number of calls."""
    campaign = campaign_on(pair, seed)
    while campaign.calls < calls:
        play(campaign, pair, calls - campaign.calls)
    return campaign.evidence.log_value()


def main() -> None:
    """Print and write both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=300, help="seeds for the pairs to reject")
    parser.add_argument("--evidence-runs", type=int, default=24, help="seeds for the evidence after some calls")
    options = parser.parse_args()
    runs = options.runs
    console = Console()
    rejections, shares = [], []
    for pair in MEANS:
        pairs = [calls_to_reject(pair, seed) / 2 for seed in range(runs)]
        error = stdev(pairs) / math.sqrt(runs)
        optimum = -math.log(ALPHA) / pair.best_growth() / 2
        assert pair.target is not None
        verdict = "reached" if fmean(pairs) <= pair.target else "missed"
        cells = [f"{fmean(pairs):.1f} ± {error:.1f}", f"{max(pairs):g}", f"{optimum:.1f}", f"{pair.apt:g}"]
        rejections.append([pair.name, f"{pair.epsilon:g}", *cells, f"{pair.target:g}", verdict])
        console.print(*rejections[-1])
    for pair in (*MEANS, *OTHERS):
        best = pair.best_growth()
        cells = []
        for calls in EVIDENCE_AFTER:
            found = [evidence(pair, seed, calls) / (calls * best) for seed in range(options.evidence_runs)]
            cells.append(f"{fmean(found):.2f} ± {stdev(found) / math.sqrt(len(found)):.2f}")
        shares.append([pair.name, f"{pair.epsilon:g}", f"{-math.log(ALPHA) / best:.0f}", *cells])
        console.print(*shares[-1])
    headings = ["pair", "claim", "ours", "longest run", "optimum", "APT", "target", ""]
    after = [f"share after {calls:,}" for calls in EVIDENCE_AFTER]
    write_section(
        "Evidence on known pairs",
        f"`python -m benchmarks.known_pairs --runs {runs} --evidence-runs {options.evidence_runs}`. {machine()}\n\n"
        f"Pairs of calls until the claim is refuted at level 5 %, mean over {runs} seeds with its standard error; the "
        "optimum is log 20 over the growth of the best bet, which does not count the overshoot; the Gaussian claims "
        "have delta 1e-5. APT: published averages, with an asymptotic guarantee.\n\n"
        f"{markdown_table(headings, rejections)}\n\n"
        "Calls that the growth-optimal bettor needs, and our evidence as a share of that bettor's, mean over  "
        f"{options.evidence_runs} seeds with its standard error.\n\n"
        f"{markdown_table(['pair', 'claim', 'its calls', *after], shares)}",
    )


if __name__ == "__main__":
    main()
