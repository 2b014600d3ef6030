"""Every condition of a domain is shown a value that breaks this condition alone, and a member at its very edge."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.indistinguishable import IndistinguishablePairs, TargetedPair
from dpassay.spec.distributions.pairs import FinitePairs, Kernel, Kernels, PairAtRatio
from dpassay.spec.distributions.stopped_brownian import StoppedRun, StoppedRuns
from dpassay.spec.domains.answers import AnswerPairs, Block, NeighbouringAnswers
from dpassay.spec.domains.base import Choices, Domain, Integers, Reals
from dpassay.spec.domains.hadamard import HadamardAnswers, NoisyAnswers
from dpassay.spec.domains.laplace_streams import NoisyRun, NoisyRuns, ThresholdStream, ThresholdStreams
from dpassay.spec.domains.streams import (
    FARTHEST,
    NeighbouringStreams,
    StreamPairs,
    ThresholdSetting,
    ThresholdSettings,
)
from dpassay.spec.domains.tables import RationalTables
from dpassay.spec.interactions.adaptive_rounds import MixedInteractions, concentrated_response, ex_post_response
from dpassay.spec.interactions.brownian_rounds import BrownianRound, BrownianRounds
from dpassay.spec.interactions.charged_calls import (
    ChargedInteractions,
    not_prior_response,
    two_target_response,
    with_leak,
)
from dpassay.spec.interactions.interactive_systems import InteractiveSystems, one_query
from dpassay.spec.interactions.mechanism_classes import (
    BatchesOnLattice,
    ClassedInteractions,
    ClassSequence,
    ClassSequences,
    LatticeBatch,
    Shares,
    bounded_range,
    pure,
)
from dpassay.spec.interactions.released_paths import ReleasedPath, ReleasedPaths
from dpassay.spec.interactions.setwise import SetwiseGames
from dpassay.spec.interactions.transcripts import AdaptiveInteractions, Interaction, chain, randomised_response
from dpassay.spec.statement import all_statements
from dpassay.spec.theorems.accuracy_first.gumbel_selection import CountVectors
from dpassay.spec.theorems.accuracy_first.sensitivity import DATA_SETS, QueryTables
from dpassay.spec.theorems.composition.bounded_range import ScorePairs
from dpassay.spec.theorems.composition.subgaussian import Scales
from dpassay.spec.theorems.composition.top_k import RationalVectors, ScoredLabels
from dpassay.spec.theorems.gaussian_selection.monotone_ratios import AtomLists, SlopeLists

F = Fraction
Row = tuple[Domain, list[Any], list[Any]]

ANSWERS = NeighbouringAnswers((Block(F(0), F(1), 2), Block(F(2), F(1), 1)), F(0), F(2), F(1))
SETTING = ThresholdSetting(F(0), F(2), F(1), F(1), F(1), F(2))
STREAM = NeighbouringStreams(SETTING, ANSWERS.blocks)
LAPLACE = ThresholdStream(ANSWERS.blocks, F(0), F(1))
RUN = NoisyRun(LAPLACE, (F(0),) * 3, F(0))
PATH = ReleasedPath((F(2), F(1)), (F(0), F(1)), (F(1), F(1)), ((F(0), F(0)), (F(1), F(0))))
HALF = FiniteDistribution.of(1, 1)
PAIR = PairAtRatio(FiniteDistribution.of(1, 3), HALF, F(1))
KERNEL = Kernel((HALF, FiniteDistribution.of(0, 1)))
TARGETED = TargetedPair(FiniteDistribution.of(2, 1), FiniteDistribution.of(1, 2), F(2), 1)
STOPPED = StoppedRun(F(1), F(8), F(0), F(1))
INTERACTION = Interaction(randomised_response(F(2)))
SYSTEM = one_query(HALF, FiniteDistribution.of(1, 3))
BATCH = LatticeBatch(F(2), 3, 3, 2, 1)


def with_blocks(value: Any) -> Iterator[Any]:
    """Break, one at a time, what range and sensitivity ask of the blocks, alone and beside a block that obeys."""
    yield replace(value, blocks=())
    for block in (Block(F(1), F(1), 0), Block(F(0), F(2), 1)):
        yield from _beside_another(value, block)


def outside_the_range(value: Any) -> Iterator[Any]:
    for inside, outside in ((F(0), F(-1, 9)), (F(2), F(19, 9))):
        yield from _beside_another(value, Block(outside, inside, 1))
        yield from _beside_another(value, Block(inside, outside, 1))


def _beside_another(value: Any, block: Block) -> Iterator[Any]:
    yield replace(value, blocks=(block,))
    yield replace(value, blocks=(block, value.blocks[-1]))


def settings_beside() -> Iterator[ThresholdSetting]:
    """Break one condition of a setting each."""
    for change in ({"high": F(0)}, {"sensitivity": F(0)}, {"sigma_threshold": F(0)}, {"sigma_query": F(0)}):
        yield replace(SETTING, **change)
    for far in (F(2) + FARTHEST * 3, F(0) - FARTHEST * 3):
        yield replace(SETTING, threshold=far + (F(1, 9) if far > 0 else -F(1, 9)))


AT_THE_EDGE = [replace(SETTING, threshold=F(2) + FARTHEST * 3), replace(SETTING, threshold=F(0) - FARTHEST * 3)]
QUIET = replace(SETTING, threshold=F(0), sigma_query=F(18, 10))
NOISES = ("sigma_threshold", "sigma_query")
MODERATE = [replace(SETTING, **{name: noise}) for name in NOISES for noise in (F(1, 5), F(20))]

ROWS: list[Row] = [
    (Reals("r", 0, 1), [0, 1, 0.5, F(1, 3)], [-F(1, 9), F(10, 9), "1", None]),
    (Integers("n", 1, 3), [1, 3], [0, 4, True, 1.0, F(1)]),
    (
        AnswerPairs("answers", 3, 2),
        [ANSWERS, replace(ANSWERS, blocks=(Block(F(0), F(0), 3),))],
        [*with_blocks(ANSWERS), *outside_the_range(ANSWERS), replace(ANSWERS, blocks=(Block(F(0), F(0), 4),)),
         replace(ANSWERS, blocks=(Block(F(0), F(0)),) * 3)],
    ),
    (ThresholdSettings("settings"), [SETTING, *AT_THE_EDGE], [*settings_beside(), STREAM]),
    (
        ThresholdSettings("moderate settings", moderate=True),
        MODERATE,
        [*settings_beside(), *(replace(each, **{name: far}) for each in MODERATE[:1] for name in NOISES
                               for far in (F(19, 100), F(201, 10)))],
    ),
    (
        StreamPairs("streams", 3, 2),
        [STREAM, *(replace(STREAM, setting=setting) for setting in AT_THE_EDGE)],
        [*with_blocks(STREAM), *outside_the_range(STREAM), replace(STREAM, blocks=(Block(F(0), F(0), 4),)),
         replace(STREAM, blocks=(Block(F(0), F(0)),) * 3), *(replace(STREAM, setting=s) for s in settings_beside())],
    ),
    (
        StreamPairs("streams above", 3, 2, non_negative=True),
        [replace(STREAM, setting=QUIET)],
        [replace(STREAM, setting=replace(QUIET, threshold=-F(1, 9))),
         replace(STREAM, setting=replace(QUIET, sigma_query=F(17, 10)))],
    ),
    (
        ThresholdStreams("streams", 3, 2),
        [LAPLACE],
        [*with_blocks(LAPLACE), replace(LAPLACE, sensitivity=F(0)), replace(LAPLACE, blocks=(Block(F(0), F(0), 4),)),
         replace(LAPLACE, blocks=(Block(F(0), F(0)),) * 3)],
    ),
    (
        ThresholdStreams("monotone streams", 3, 2, monotone=True),
        [replace(LAPLACE, blocks=(Block(F(0), F(1)), Block(F(0), F(0)))),
         replace(LAPLACE, blocks=(Block(F(1), F(0)), Block(F(0), F(0))))],
        [LAPLACE],
    ),
    (
        NoisyRuns("runs", 3),
        [RUN],
        [replace(RUN, noises=(F(0),) * 2), replace(RUN, noises=(F(0),) * 4),
         replace(RUN, stream=replace(LAPLACE, sensitivity=F(0))),
         NoisyRun(replace(LAPLACE, blocks=(Block(F(0), F(0), 4),)), (F(0),) * 4, F(0))],
    ),
    (
        RationalTables("tables", (2,), 2, F(0), F(1)),
        [((F(0), F(1)), (F(1), F(0))), ((F(0),), (F(1),))],
        [((F(0), F(1)),), ((F(0), F(1)), (F(1),)), ((), ()), ((F(0),) * 3,) * 2, ((F(-1, 9),), (F(0),)),
         ((F(0),), (F(10, 9),)), ((0,), (1,)), [(F(0),), (F(1),)]],
    ),
    (
        ReleasedPaths("paths"),
        [PATH],
        [replace(PATH, times=(F(2), F(0))), replace(PATH, times=(F(1), F(1))), replace(PATH, times=(F(2),)),
         replace(PATH, times=(), noise=()), replace(PATH, right=(F(1),)),
         replace(PATH, noise=((F(0),), (F(1), F(0))))],
    ),
    (
        HadamardAnswers("answers", 1),
        [NoisyAnswers((1,), (F(0),) * 2), NoisyAnswers((0, 1), (F(0),) * 4)],
        [NoisyAnswers((), ()), NoisyAnswers((0,) * 4, (F(0),) * 8), NoisyAnswers((0, 2), (F(0),) * 4),
         NoisyAnswers((0, 1), (F(0),) * 2), NoisyAnswers((0, 1, 1), (F(0),) * 6)],
    ),
    (
        FinitePairs("pairs", 2),
        [PAIR, PairAtRatio(HALF, HALF, F(1)), PairAtRatio(FiniteDistribution.of(1), FiniteDistribution.of(1), F(2))],
        [replace(PAIR, ratio=F(8, 9)), PairAtRatio(FiniteDistribution.of(1, 1, 1), FiniteDistribution.of(1, 1, 1)),
         PairAtRatio(HALF, FiniteDistribution.of(1, 1, 1)),
         PairAtRatio(HALF, FiniteDistribution({1: F(1, 2), 0: F(1, 2)})),
         PairAtRatio(FiniteDistribution({"a": F(1)}), FiniteDistribution({"a": F(1)}))],
    ),
    (
        FinitePairs("positive pairs", 2, positive=True),
        [PAIR, PairAtRatio(FiniteDistribution.of(0, 1), HALF)],
        [PairAtRatio(HALF, HALF), PairAtRatio(HALF, FiniteDistribution.of(0, 1))],
    ),
    (
        Kernels("kernels", 2, 2),
        [KERNEL],
        [Kernel((HALF,)), Kernel((HALF, FiniteDistribution.of(1))), Kernel((FiniteDistribution.of(1, 1, 1),) * 2)],
    ),
    (
        IndistinguishablePairs("pairs", 2),
        [TARGETED, replace(TARGETED, left=HALF)],
        [replace(TARGETED, ratio=F(1), left=HALF, right=HALF), replace(TARGETED, ratio=F(19, 10)),
         replace(TARGETED, hits=0),
         replace(TARGETED, hits=2), replace(TARGETED, left=FiniteDistribution.of(1, 1, 1)),
         TargetedPair(FiniteDistribution.of(1, 9), FiniteDistribution.of(1, 1), F(2), 1),
         TargetedPair(FiniteDistribution.of(1, 1), FiniteDistribution.of(1, 9), F(2), 1),
         TargetedPair(*(FiniteDistribution.of(1, 1, 1),) * 2, F(2), 1)],
    ),
    (
        StoppedRuns("runs"),
        [STOPPED],
        [replace(STOPPED, first=F(0)), replace(STOPPED, first=F(8)), replace(STOPPED, second=F(73, 9)),
         replace(STOPPED, high=F(0))],
    ),
    (
        BrownianRounds("rounds", 2),
        [(), (BrownianRound((F(1), F(2)), 1),) * 2],
        [(BrownianRound((F(1),), 0),) * 3, (BrownianRound((F(1),), 1),), (BrownianRound((F(1),), -1),),
         (BrownianRound((F(0), F(1)), 0),), (BrownianRound((F(1), F(1)), 0),), [BrownianRound((F(1),), 0)]],
    ),
    (
        ClassSequences("sequences", 2, 3),
        [ClassSequence(F(2), (pure(1), bounded_range(3)), 0)],
        [ClassSequence(F(1), (pure(1),), 0), ClassSequence(F(2), (), 0), ClassSequence(F(2), (pure(1),) * 3, 0),
         ClassSequence(F(2), (pure(0),), 0), ClassSequence(F(2), (pure(4),), 0)],
    ),
    (
        ClassSequences("sequences of one kind and epsilon", 2, 3, homogeneous=True, kinds=("pure",)),
        [ClassSequence(F(2), (pure(2), pure(2)), 0)],
        [ClassSequence(F(2), (pure(1), pure(2)), 0), ClassSequence(F(2), (bounded_range(2),), 0)],
    ),
    (
        BatchesOnLattice("batches", 3, 3, 2),
        [BATCH, LatticeBatch(F(2), 0, 1, 1, 0), LatticeBatch(F(2), 1, 0, 1, 0)],
        [replace(BATCH, base=F(1)), replace(BATCH, bounded=4), replace(BATCH, bounded=-1), replace(BATCH, pure=4),
         replace(BATCH, pure=-1), replace(BATCH, epsilon_units=0), replace(BATCH, epsilon_units=3),
         replace(BATCH, bounded=0, pure=0)],
    ),
    (
        Shares("shares", 2),
        [(F(0), F(1))],
        [(F(0),), (F(0),) * 3, (F(-1, 9), F(0)), (F(0), F(10, 9)), [F(0), F(1)]],
    ),
    (
        CountVectors("counts"),
        [((0, 3), (1, 3)), ((0,), (0,))],
        [((), ()), ((0,), (1, 2)), ((0, 0), (0, 2)), ((1,), (0,)), ((0, F(1, 2)), (0, F(3, 2))), [(0,), (1,)],
         ([0], [1]), ((0,),), ((0,), (0,), (0,))],
    ),
    (
        QueryTables("queries"),
        [((0, 0),) * len(DATA_SETS)],
        [((0, 0),) * (len(DATA_SETS) - 1), ((0,), *((0, 0),) * (len(DATA_SETS) - 1)), [(0, 0)] * len(DATA_SETS),
         ([0, 0],) * len(DATA_SETS)],
    ),
    (
        ScorePairs("scores", 2, 3),
        [((0, 3),), ((-3, 1), (0, 0))],
        [(), ((0, 0),) * 3, ((0, 4),), ((-4, 0),), ((F(1), 0),), ((0, 0), (0, 4)), ((0,),), ((0, 0, 0),), [(0, 0)]],
    ),
    (
        Scales("scales", 2),
        [(F(1),), (F(1), F(2))],
        [(), (F(1),) * 3, (F(0),), (F(1), F(-1)), (1,), [F(1)]],
    ),
    (
        RationalVectors("vectors", 2),
        [(F(1),), (F(-1), F(0))],
        [(), (F(1),) * 3, (F(1), 1), (1, F(1)), [F(1)]],
    ),
    (
        ScoredLabels("labels", 2),
        [((F(1), True),), ((F(1), True), (F(2), False))],
        [(), ((F(1), True),) * 3, ((F(1), True), (F(0), True)), ((F(0), True), (F(1), True)),
         ((F(1), 1), (F(1), True)), ((1, True), (F(1), True)), [(F(1), True)]],
    ),
    (
        AtomLists("atoms"),
        [((F(0), F(1)), (F(2), F(1)))],
        [(), ((F(0), F(1)), (F(2), F(0))), ((F(0), F(-1)), (F(2), F(1))), [(F(0), F(1))]],
    ),
    (
        SlopeLists("pieces"),
        [((F(0), F(1)), (F(1), F(1))), ((F(1), F(1)),) * 2],
        [(), ((F(1), F(1)), (F(0), F(1))), ((F(0), F(1)), (F(1), F(0))), [(F(0), F(1))]],
    ),
    (
        AdaptiveInteractions("interactions", 1),
        [INTERACTION],
        [Interaction(INTERACTION.offer, dict.fromkeys(INTERACTION.offer.outcomes, INTERACTION))],
    ),
    (
        MixedInteractions("interactions", ("concentrated",), 1),
        [Interaction(concentrated_response(F(2)))],
        [INTERACTION, Interaction(ex_post_response(F(2))), chain(*[concentrated_response(F(2))] * 2),
         Interaction(concentrated_response(F(2)), {1: INTERACTION})],
    ),
    (
        ChargedInteractions("calls", 2),
        [chain(*[not_prior_response(F(3))] * 2)],
        [chain(*[not_prior_response(F(3))] * 3), INTERACTION,
         chain(not_prior_response(F(3)), not_prior_response(F(2))), chain(two_target_response(F(3))),
         chain(with_leak(not_prior_response(F(3)), F(1, 9)))],
    ),
    (
        InteractiveSystems("systems"),
        [(SYSTEM,), (SYSTEM, SYSTEM)],
        [(), (SYSTEM,) * 3, (SYSTEM, "another"), [SYSTEM]],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("domain", "members", "others"), ROWS, ids=lambda x: x.sentence if isinstance(x, Domain) else ""
)
def test_members_are_in_and_each_condition_keeps_something_out(
    domain: Domain, members: list[Any], others: list[Any]
) -> None:
    assert [value for value in members if not domain.contains(value)] == []
    assert [value for value in others if domain.contains(value)] == []


DOMAINS = {domain for each in all_statements() for domain in each.quantifiers.values()}


TESTED_IN_THEIR_OWN_MODULES = {Choices, ClassedInteractions, SetwiseGames}


def test_every_kind_of_domain_is_shown_members_and_others() -> None:
    shown = {type(domain) for domain, _, _ in ROWS} | TESTED_IN_THEIR_OWN_MODULES
    assert {type(domain) for domain in DOMAINS} == shown


@pytest.mark.parametrize("domain", sorted(DOMAINS, key=repr), ids=lambda domain: domain.sentence)
def test_no_domain_has_strangers(domain: Domain) -> None:
    assert not any(domain.contains(stranger) for stranger in (object(), "a stranger", b"", ["a list"]))
