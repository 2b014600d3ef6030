"""Alg 5 of Cohen and Lyu (2023) from end to end: the sparse vector technique run with a counter for each record.

The mechanism is run on both data sets, outcome by outcome, and held against the calls that a data holder of the one
record answers in the target-charging technique.
"""

import operator
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated

from dpassay.spec.distributions.discrete import FiniteDistribution
from dpassay.spec.distributions.indistinguishable import NOTHING, restricted
from dpassay.spec.distributions.truncated_geometric import truncated_geometric_distribution
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.interactions.charged_calls import ChargedRound, ChargingRule
from dpassay.spec.interactions.transcripts import Transcript, branches, delta_of_branches
from dpassay.spec.rational import equal_exact
from dpassay.spec.sources import COHEN_2023
from dpassay.spec.statement import statement
from dpassay.spec.theorems.target_charging.individual_svt import (
    Added,
    FewHits,
    Queries,
    Query,
    Records,
    active_after,
)
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["noisy_count", "released_transcripts"]

MIXED: tuple[Query, ...] = tuple(map(frozenset, ("ab", "b", "a", "ab", "c")))
OTHERS_FIRST: tuple[Query, ...] = tuple(map(frozenset, ("b", "ab", "ab", "b", "a", "a")))
LONGEST_RUN = 4
LARGEST_COUNT = 5
Ratio = Annotated[Fraction, Reals("e^epsilon of a query", Fraction(11, 10), 4, (2, 3))]
Threshold = Annotated[int, Integers("the least noisy count that is released", 2, LARGEST_COUNT, (2, 4))]


def noisy_count(count: int, ratio: Fraction, threshold: int) -> FiniteDistribution:
    """Return the distribution of one answer: a count with truncated geometric noise, hidden below the threshold."""
    noisy = truncated_geometric_distribution(count, LARGEST_COUNT, 1 / ratio)
    return restricted(noisy, frozenset(range(threshold, LARGEST_COUNT + 1)))


def released_transcripts(
    records: Sequence[str], queries: Sequence[Query], hits: int, ratio: Fraction, threshold: int
) -> dict[Transcript, Fraction]:
    """Run Alg 5 on a data set: the probability of every transcript.

    Parameters
    ----------
    records : sequence of str
        The data set.
    queries : sequence of Query
        The records that each query counts.
    hits : int
        tau, in how many released queries a record may take part.
    ratio : Fraction
        e^epsilon of a query.
    threshold : int
        The least noisy count that is released.
    """
    running: dict[tuple[Transcript, tuple[int, ...]], Fraction] = {((), (0,) * len(records)): Fraction(1)}
    for query in queries:
        before, running = running, {}
        for (said, counts), mass in before.items():
            taking = [record in query and count < hits for record, count in zip(records, counts, strict=True)]
            for outcome, weight in noisy_count(sum(taking), ratio, threshold).weights.items():
                charged = counts if outcome == NOTHING else tuple(map(operator.add, counts, taking))
                running[(*said, outcome), charged] = mass * weight
    return {said: mass for (said, _), mass in running.items()}


def _call_of_the_record(
    said: Transcript, others: Sequence[str], added: str, queries: Sequence[Query], hits: int, ratio: Fraction,
    threshold: int,
) -> ChargedRound | None:  # fmt: skip
    """Return the data holder's next call: with x on the left, without it on the right, as the transcript leaves them.

    Its target are the releases if it counts x, and nothing otherwise.
    """
    if len(said) == len(queries):
        return None
    query = queries[len(said)]
    released = [each for each, outcome in zip(queries, said, strict=False) if outcome != NOTHING]
    history = active_after(others, released, hits)
    active = dict(history[-1]) if history else dict.fromkeys(range(len(others)), 0)
    count = sum(others[place] in query for place in active)
    left, right = (noisy_count(count + extra, ratio, threshold) for extra in (added in query, 0))
    target = frozenset(range(threshold, LARGEST_COUNT + 1)) if added in query else frozenset[int]()
    return ChargedRound(left, right, ratio, targets=(target,))


@statement(
    COHEN_2023,
    "individual_svt_privacy",
    "individual_svt_proof",
    cases=12,
    examples=tuple(
        dict(zip(("records", "added", "queries", "hits", "ratio", "threshold"), example, strict=True))
        for example in (
            (("a", "a", "b"), "a", (frozenset("a"),) * 4, 1, Fraction(2), 2),
            ((), "a", MIXED, 2, Fraction(3), 4),
            (("b", "b", "c", "a"), "a", OTHERS_FIRST, 1, Fraction(2), 2),
            (("a", "a", "b"), "a", OTHERS_FIRST, 2, Fraction(2), 2),
        )
    ),
)
def individual_svt_is_target_charging_of_each_record(
    records: Records, added: Added, queries: Queries, hits: FewHits, ratio: Ratio, threshold: Threshold
) -> Verdict:
    """The run of the whole mechanism, with a counter for each record, on a data set with x and without it has the
    likelihood ratios and the delta of calls that only ask for x, charged to the releases that count it and stopped
    at tau of them: what comes after the stop is the same on both. (Counts with geometric noise; exact.)
    """
    asked = queries[:LONGEST_RUN]
    with_it, without = (
        released_transcripts(data, asked, hits, ratio, threshold) for data in ((*records, added), records)
    )
    calls = list(
        branches(
            lambda said: _call_of_the_record(said, records, added, asked, hits, ratio, threshold), ChargingRule(hits)
        )
    )
    quotients = {branch.transcript: branch.left / branch.right for branch in calls}
    expected = {
        said: next(quotients[said[:n]] for n in range(len(said) + 1) if said[:n] in quotients) for said in with_it
    }
    levels = [ratio**power for power in range(3)]
    return conjunction([
        equal_exact({said: with_it[said] / without[said] for said in with_it}, expected, "likelihood ratios"),
        equal_exact([_worse_delta(with_it, without, at) for at in levels],
                    [delta_of_branches(calls, at) for at in levels], "deltas"),
    ])  # fmt: skip


def _worse_delta(
    one: Mapping[Transcript, Fraction], other: Mapping[Transcript, Fraction], ratio: Fraction
) -> Fraction:
    """Return the larger of the hockey-stick divergences of the two orders."""
    pairs = [(one[said], other[said]) for said in one]
    return max(sum((max(p - ratio * q, Fraction(0)) for p, q in order), Fraction(0))
               for order in (pairs, [(q, p) for p, q in pairs]))  # fmt: skip
