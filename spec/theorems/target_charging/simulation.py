"""The simulation behind the main theorem: a simulator that needs the data in few calls only.

Chapter after Cohen and Lyu (2023), Lem A.5, Alg 7 and step (ii) of the proof of Thm B.4. A call with
Z^b = p C + (1 - p) B^b is simulated by a coin: with probability p a draw from C, which needs no data, else a call of
the data holder for B^b. In *every* branch an outcome in the target is a hit.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated

from dpassay.spec.distributions.binomial import binomial_at_most_exact
from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.domains.base import Choices, Integers
from dpassay.spec.interactions.charged_calls import (
    ChargedInteractions,
    ChargedRound,
    ChargingRule,
    mixed_response,
    not_prior_quality,
    not_prior_response,
)
from dpassay.spec.interactions.transcripts import Analyst, Interaction, Round, Transcript, branches, chain
from dpassay.spec.notions.target_quality import common_mass
from dpassay.spec.proof.pins import Pin
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.verdict import Evidence, Holds, Verdict, Violated, conjunction

__all__ = ["STOPPED", "CommonPart", "Simulation", "common_part", "published_distributions"]

Charged = Annotated[Interaction, ChargedInteractions("an adaptive tree of at most 4 calls with q-targets", 4)]
FewHits = Annotated[int, Integers("tau", 1, 3, (1, 2))]
Calls = Annotated[int, Integers("R, the calls of the data holder that are allowed for", 0, 5, (0, 1, 2))]
Share = Annotated[
    Fraction, Choices("how much of the largest common part is used", tuple(map(Fraction, ("1", "1/2", "0"))))
]  # fmt: skip

STOPPED = "stopped"
"""The symbol of a truncated run in place of one data-holder call too many."""

Distribution = dict[Hashable, Fraction]


@dataclass(frozen=True)
class CommonPart:
    """A decomposition: the sub-measure c = p C, and the rest of both sides, (1 - p) B^b."""

    common: Distribution
    left: Distribution
    right: Distribution


def common_part(offer: Round, share: Fraction) -> CommonPart:
    """Return c = `share` times the largest common part, (e^epsilon min - max)/(e^epsilon - 1) at each outcome."""
    ratio = offer.ratio_max
    sides = {o: (offer.left.probability(o), offer.right.probability(o)) for o in offer.outcomes}
    common = {o: share * common_mass(*pair, ratio) for o, pair in sides.items()}
    return CommonPart(
        common,
        {o: pair[0] - common[o] for o, pair in sides.items()},
        {o: pair[1] - common[o] for o, pair in sides.items()},
    )


@dataclass(frozen=True)
class _Run:
    """A run under way: the published outcomes, the hits, the holder calls, and the probabilities on both sides."""

    transcript: Transcript
    counts: tuple[int, ...]
    holder_calls: int
    left: Fraction
    right: Fraction


@dataclass(frozen=True)
class Simulation:
    """Alg 7, and its truncation.

    Parameters
    ----------
    hits : int
        tau.
    share : Fraction
        Share of the largest common part of each call that is drawn without the data.
    most_calls : int, optional
        Stop with a symbol of its own in place of holder call number `most_calls` + 1; without it nothing fails.
    counts_common_hits : bool
        Whether hits from the common part count. They must; the printed pseudo-code leaves them out.
    """

    hits: int
    share: Fraction
    most_calls: int | None = None
    counts_common_hits: bool = True
    _rule: ChargingRule = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rule", ChargingRule(self.hits))

    def runs(self, analyst: Analyst) -> list[_Run]:
        """Enumerate the complete runs, the coins included."""
        complete, stack = [], [_Run((), (0,), 0, Fraction(1), Fraction(1))]
        while stack:
            run = stack.pop()
            offer = analyst(run.transcript)
            if offer is None or self._rule.halts(run.counts):
                complete.append(run)
                continue
            part = common_part(offer, self.share)
            stack.extend(self._without_data(run, offer, part))
            if self.most_calls is not None and run.holder_calls == self.most_calls:
                complete.append(_stopped(run, part))
            else:
                stack.extend(self._with_data(run, offer, part))
        return complete

    def _without_data(self, run: _Run, offer: Round, part: CommonPart) -> list[_Run]:
        return [
            _Run(
                (*run.transcript, outcome),
                self._rule.counted(run.counts, offer, outcome) if self.counts_common_hits else run.counts,
                run.holder_calls,
                run.left * weight,
                run.right * weight,
            )
            for outcome, weight in part.common.items()
            if weight
        ]

    def _with_data(self, run: _Run, offer: Round, part: CommonPart) -> list[_Run]:
        return [
            _Run(
                (*run.transcript, outcome),
                self._rule.counted(run.counts, offer, outcome),
                run.holder_calls + 1,
                run.left * part.left[outcome],
                run.right * part.right[outcome],
            )
            for outcome in offer.outcomes
            if part.left[outcome] or part.right[outcome]
        ]


def _stopped(run: _Run, part: CommonPart) -> _Run:
    left, right = sum(part.left.values(), Fraction(0)), sum(part.right.values(), Fraction(0))
    return _Run((*run.transcript, STOPPED), run.counts, run.holder_calls, run.left * left, run.right * right)


def published_distributions(runs: list[_Run]) -> tuple[Distribution, Distribution]:
    """Return the distributions of the published outcomes, on both sides: the coins and the counters sum out."""
    left: Distribution = {}
    right: Distribution = {}
    for run in runs:
        if run.left or run.right:
            left[run.transcript] = left.get(run.transcript, Fraction(0)) + run.left
            right[run.transcript] = right.get(run.transcript, Fraction(0)) + run.right
    return left, right


def _real_distributions(analyst: Analyst, hits: int) -> tuple[Distribution, Distribution]:
    complete = list(branches(analyst, ChargingRule(hits)))
    return {b.transcript: b.left for b in complete}, {b.transcript: b.right for b in complete}


def _faithful(interaction: Interaction, hits: int, share: Fraction, counts_common_hits: bool = True) -> Verdict:
    simulation = Simulation(hits, share, counts_common_hits=counts_common_hits)
    simulated, real = published_distributions(simulation.runs(interaction)), _real_distributions(interaction, hits)
    return conjunction([
        equal_exact(simulated[0], real[0], "distribution of the transcript on the left"),
        equal_exact(simulated[1], real[1], "distribution of the transcript on the right"),
    ])  # fmt: skip


COUNTER_IN_ONE_BRANCH = Erratum(
    kind="false",
    severity=Severity.MINOR,
    location="Appendix B, Algorithm 7, the line that updates the counter",
    printed_text="the counter stands inside the branch that calls the data holder, so that hits drawn "
    "from the common part do not count: the simulated transcripts are longer than those of Alg 6 (the prose has "
    "it right)",
    answer="The line belongs after the branch, as the text of the proof has it.",
    witness={
        "interaction": chain(*[mixed_response(Fraction(3), Fraction(1, 2), Fraction(1))] * 2),
        "hits": 1,
        "share": Fraction(1),
    },
    printed=lambda interaction, hits, share: _faithful(interaction, hits, share, counts_common_hits=False),
    corrected=_faithful,
)


@statement(COHEN_2023, "tct_simulation", "simulation_analysis", errata=(COUNTER_IN_ONE_BRANCH,))
def simulated_transcript_has_the_distribution_of_the_run(interaction: Charged, hits: FewHits, share: Share) -> Verdict:
    """A simulator that draws the common part of every call itself, and asks the data holder for the rest only,
    publishes exactly the outcomes of target charging, on both data sets: hence target charging is as private as the
    holder's answers are.
    """
    return _faithful(interaction, hits, share)


# --- step (ii) ----------------------------------------------------------------------------------------------


def _reversing_at_the_end(ratio: Fraction, calls: int) -> Interaction:
    misses = [not_prior_response(ratio)] * (calls - 1)
    return chain(*misses, not_prior_response(ratio, mirrored=True), not_prior_response(ratio))


def _pure(left: Distribution, right: Distribution, ratio: Fraction, what: str) -> Verdict:
    for transcript in left.keys() | right.keys():
        p, q = left.get(transcript, Fraction(0)), right.get(transcript, Fraction(0))
        if p > ratio * q or q > ratio * p:
            return Violated(evidence=Evidence.EXACT, detail=f"{what}: {transcript} has probabilities {p} and {q}")
    return Holds(evidence=Evidence.EXACT)


def _conditioned(ratio: Fraction, calls: int) -> Verdict:
    """The runs of at most `calls` holder calls, as a distribution of their own on each side."""
    runs = Simulation(1, Fraction(1), calls).runs(_reversing_at_the_end(ratio, calls))
    left, right = published_distributions([run for run in runs if STOPPED not in run.transcript])
    return _pure(
        {o: p / sum(left.values()) for o, p in left.items()},
        {o: q / sum(right.values()) for o, q in right.items()},
        ratio**calls,
        "conditioned on no failure",
    )


def _truncated(ratio: Fraction, calls: int) -> Verdict:
    runs = Simulation(1, Fraction(1), calls).runs(_reversing_at_the_end(ratio, calls))
    return _pure(*published_distributions(runs), ratio**calls, "truncated")


CONDITIONING_IS_NOT_TRUNCATION = Erratum(
    kind="proof",
    severity=Severity.MINOR,
    location="Appendix B, proof of Theorem B.4, item (ii)",
    printed_text="conditioned on no failure the simulation is said to be a composition of r calls; the "
    "condition depends on the data, and its probability enters the loss: 4.097 epsilon with 4 calls. Stopping in "
    "place of call r + 1 is what makes it one",
    answer="The failure can be defined as the replacement of call r + 1; then the proof goes through.",
    witness={"ratio": Fraction(27183, 10**4), "calls": 4},
    printed=_conditioned,
    corrected=_truncated,
)


_SELDOM, _OFTEN = FiniteDistribution.of(9, 1), FiniteDistribution.of(7, 3)
HIT_ON_ONE_SIDE = tuple(
    ChargedRound(*sides, Fraction(3), targets=(frozenset({1}),)) for sides in ((_SELDOM, _OFTEN), (_OFTEN, _SELDOM))
)
"""The target has probability 1/10 and 3/10, below and above q = 1/4: the tail bounds one side only."""


@statement(
    COHEN_2023,
    "nonfailure_composition",
    errata=(CONDITIONING_IS_NOT_TRUNCATION,),
    examples=tuple(
        {"interaction": chain(*[offer] * 3), "hits": 1, "calls": 2, "share": Fraction(0)} for offer in HIT_ON_ONE_SIDE
    ),
    pins=(
        Pin(
            {
                "interaction": chain(*[not_prior_response(Fraction(3))] * 3),
                "hits": 1,
                "calls": 2,
                "share": Fraction(1),
            },
            "two misses, of probability 3/4 and 1/4",
            smaller=lambda: [Fraction(9, 16), Fraction(1, 16)],
            larger=lambda: [Fraction(9, 16)] * 2,
        ),
    ),
)
def truncated_run_is_a_composition(interaction: Charged, hits: FewHits, calls: Calls, share: Share) -> Verdict:
    """The run that stops with a special symbol in place of data-holder call R + 1 is (R epsilon, 0)-DP, and agrees
    with the run itself but for an event of probability at most Pr[Bin(R, q) <= tau - 1], on each data set on which
    every residual B^b has the target with probability q at least (as with the whole common part off the target).
    """
    ratio = interaction.offer.ratio_max
    left, right = published_distributions(Simulation(hits, share, calls).runs(interaction))
    verdicts = [_pure(left, right, ratio**calls, "truncated run")]
    tail = binomial_at_most_exact(hits - 1, calls, not_prior_quality(ratio))
    for distribution, is_hit in zip((left, right), _residuals_hit(interaction, share), strict=True):
        if is_hit:
            stopped = sum((p for transcript, p in distribution.items() if _ends_stopped(transcript)), Fraction(0))
            verdicts.append(at_most_exact(stopped, tail, "probability of stopping"))
    return conjunction(verdicts)


def _ends_stopped(transcript: Hashable) -> bool:
    return isinstance(transcript, tuple) and transcript[-1:] == (STOPPED,)


def _residuals_hit(node: Interaction, share: Fraction) -> tuple[bool, bool]:
    """Return for each side whether every call of the tree leaves a residual that hits with probability at least q."""
    part = common_part(node.offer, share)
    target = node.offer.targets[0] if isinstance(node.offer, ChargedRound) else frozenset[Hashable]()
    quality = not_prior_quality(node.offer.ratio_max)
    below = [_residuals_hit(child, share) for child in node.after.values()]

    def hits(side: Distribution) -> bool:
        return sum((w for o, w in side.items() if o in target), Fraction(0)) >= quality * sum(
            side.values(), Fraction(0)
        )

    return hits(part.left) and all(left for left, _ in below), hits(part.right) and all(right for _, right in below)
