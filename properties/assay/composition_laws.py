"""Laws of composition: an empty batch costs 0, and order and grouping do not change the cost of a batch."""

import math
from collections.abc import Iterator

import numpy as np

from dpassay.impl.libraries.remote import RemoteAnswer, RemoteCase
from dpassay.properties.assay.consistency import Asked, agreement, costs_nothing
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.inquiry import (
    Inquiry,
    domain_of,
    related_to,
    required,
    unless_answer,
)
from dpassay.properties.assay.questions import QUESTIONS, Arguments, Question, inside, points_of

__all__ = ["COMPOSITION_LAWS"]

_BATCHES = 24
"""Lists of parameters that each law tries."""

_CHEAP = 24  # questions with fewer points are slow to answer
_LONGEST_LIST = 40
"""Entries of a list at most: the time of an accountant grows with them."""


# --- no repetitions ------------------------------------------------------------------------------------------------


def _zero_applies(case: RemoteCase) -> str | None:
    reason = unless_answer(case)
    if reason is not None:
        return reason
    answer, question = required(case)
    if question.argument("count") is None and not _lists(question):
        return "the question has no count of repetitions"
    nothing = _nothing(question, question.typical)
    return None if inside(nothing, _domain_of_zero(answer)) else "zero repetitions are outside the documented domain"


def _check_zero_repetitions(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = required(case)
    rng = np.random.default_rng([settings.seed, 3])
    points = (_nothing(question, arguments) for arguments in points_of(question, domain_of(answer), rng, 6))
    return costs_nothing(Inquiry(answer, settings), points, "no mechanism was run")


def _domain_of_zero(answer: RemoteAnswer) -> dict[str, tuple[float, float]]:
    """Return the documented bounds of the arguments that are set to 0."""
    return {name: bounds for name, bounds in domain_of(answer).items() if name in {"count", "epsilons", "deltas"}}


def _nothing(question: Question, arguments: Arguments) -> Arguments:
    """Return arguments for no repetitions, or for a batch of mechanisms that release nothing."""
    if question.argument("count") is not None:
        return {**arguments, "count": 0}
    return {**arguments, **{name: [0.0] * len(arguments[name]) for name in _lists(question)}}


# --- lists of mechanisms ------------------------------------------------------------------------------------


def _lists(question: Question) -> list[str]:
    return [argument.name for argument in question.arguments if argument.kind == "reals"]


def _has_lists(case: RemoteCase) -> str | None:
    reason = unless_answer(case)
    if reason is not None:
        return reason
    return None if _lists(required(case)[1]) else "the question has no list of mechanisms"


def _check_order(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = required(case)
    rng = np.random.default_rng([settings.seed, 8])

    def pairs() -> Iterator[tuple[Asked, Asked]]:
        names = _lists(question)
        for arguments in points_of(question, domain_of(answer), rng, _BATCHES):
            order = rng.permutation(len(arguments[names[0]])).tolist()[::-1]
            permuted = {**arguments, **{name: [arguments[name][k] for k in order] for name in names}}
            yield Asked(answer, arguments), Asked(answer, permuted)

    return agreement(Inquiry(answer, settings), pairs())


def _check_free_parts(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = required(case)
    rng = np.random.default_rng([settings.seed, 9])

    def pairs() -> Iterator[tuple[Asked, Asked]]:
        names = _lists(question)
        for arguments in points_of(question, domain_of(answer), rng, _BATCHES):
            places = rng.integers(0, len(arguments[names[0]]) + 1, int(rng.integers(1, 4))).tolist()
            padded = {**arguments, **{name: _with_zeros(arguments[name], places) for name in names}}
            if inside(padded, domain_of(answer)):
                yield Asked(answer, arguments), Asked(answer, padded)

    return agreement(Inquiry(answer, settings), pairs(), may_refuse=True)


def _with_zeros(values: list[float], places: list[int]) -> list[float]:
    padded = list(values)
    for place in sorted(places, reverse=True):
        padded.insert(place, 0.0)
    return padded


# --- equal mechanisms -----------------------------------------------------------------------------------

_COUNTED = ("pure_composition_epsilon", "approximate_composition_epsilon")


def _equal_applies(case: RemoteCase) -> str | None:
    reason = unless_answer(case)
    if reason is not None:
        return reason
    answer, _ = required(case)
    if answer.question != "heterogeneous_composition_epsilon":
        return "the question has no list of mechanisms"
    return None if related_to(answer, *_COUNTED) else "this account has no answer for a count of repetitions"


def _check_equal(case: RemoteCase, settings: Settings) -> Finding:
    answer, _ = required(case)
    rng = np.random.default_rng([settings.seed, 10])

    def pairs() -> Iterator[tuple[Asked, Asked]]:
        for other in related_to(answer, *_COUNTED):
            domain = domain_of(other)
            for point in points_of(QUESTIONS[other.question], domain, rng, _BATCHES):
                counted = {**point, "count": min(point["count"], _LONGEST_LIST)}
                listed = _listed(counted)
                if inside(counted, domain) and inside(listed, domain_of(answer)):
                    yield Asked(answer, listed), Asked(other, counted)

    return agreement(Inquiry(answer, settings), pairs())


def _listed(counted: Arguments) -> Arguments:
    count = counted["count"]
    return {
        "epsilons": [counted["epsilon0"]] * count,
        "deltas": [counted.get("delta0", 0.0)] * count,
        "delta": counted["delta"],
    }


# --- splitting ----------------------------------------------------------------------------------------------


def _splits(case: RemoteCase) -> str | None:
    reason = unless_answer(case)
    if reason is not None:
        return reason
    answer, question = required(case)
    if question.argument("count") is None:
        return "the question has no count of repetitions"
    if not answer.description["splits"]:
        return "the adapter cannot compose part by part"
    _, most = domain_of(answer).get("count", (0.0, math.inf))
    return None if most >= 2 else "the function of the library has no repetitions"


def _check_splitting(case: RemoteCase, settings: Settings) -> Finding:
    answer, question = required(case)
    rng = np.random.default_rng([settings.seed, 11])

    def pairs() -> Iterator[tuple[Asked, Asked]]:
        number = _BATCHES if question.points > _CHEAP else _BATCHES // 2
        for arguments in points_of(question, domain_of(answer), rng, number):
            if arguments["count"] < 2:
                continue
            first = int(rng.integers(1, arguments["count"]))
            parts = [first, arguments["count"] - first]
            yield Asked(answer, arguments), Asked(answer, {**arguments, "count": parts})

    return agreement(Inquiry(answer, settings), pairs())


# --- the laws -----------------------------------------------------------------------------------------------

COMPOSITION_LAWS = (
    Law(
        "zero_repetitions",
        "Zero repetitions, or mechanisms that release nothing, cost 0.",
        _zero_applies,
        _check_zero_repetitions,
        sampled=False,
    ),
    Law(
        "order_invariance",
        "The cost of a batch of mechanisms does not depend on their order.",
        _has_lists,
        _check_order,
        sampled=False,
    ),
    Law(
        "zero_cost_mechanisms",
        "Mechanisms that release nothing do not change the cost of a batch.",
        _has_lists,
        _check_free_parts,
        sampled=False,
    ),
    Law(
        "list_matches_count",
        "A list of equal mechanisms costs as much as the same number of repetitions of one, in the same account.",
        _equal_applies,
        _check_equal,
        sampled=False,
    ),
    Law(
        "splitting_invariance",
        "Repetitions composed in two parts cost as much as all repetitions composed at once.",
        _splits,
        _check_splitting,
        sampled=False,
    ),
)
