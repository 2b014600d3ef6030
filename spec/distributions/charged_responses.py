"""Exact distributions of charged randomised responses, and of the best of several responding candidates.

Cohen and Lyu 2023, Alg 1, Alg 8 and Alg 3, on the bits of a data set; all probabilities are rational.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction

from dpassay.spec.distributions.discrete import FiniteDistribution

__all__ = ["charged_responses_distribution", "response_top_k_distribution", "truthful_count_distribution"]


def charged_responses_distribution(
    bits: Sequence[int], truth: Fraction, hits: int, *, both: bool
) -> FiniteDistribution:
    """Return the distribution of the published answers until the counters halt the session.

    Parameters
    ----------
    bits : sequence of int
        The true answers.
    truth : Fraction
        Probability of a true answer.
    hits : int
        tau.
    both : bool
        Whether the answers 0 and 1 are a target each, of which the rarer must reach tau; else the target is 1.
    """
    running: dict[Hashable, Fraction] = {(): Fraction(1)}
    ended: dict[Hashable, Fraction] = {}
    for bit in bits:
        following: dict[Hashable, Fraction] = {}
        for answers, weight in running.items():
            assert isinstance(answers, tuple)
            for answer in (0, 1):
                reached = weight * (truth if answer == bit else 1 - truth)
                longer = (*answers, answer)
                counts = [longer.count(target) for target in ((0, 1) if both else (1,))]
                (ended if min(counts) >= hits else following)[longer] = reached
        running = following
    return FiniteDistribution({**ended, **running})


def response_top_k_distribution(bits: Sequence[int], truth: Fraction, k: int) -> FiniteDistribution:
    """Return the distribution of the k best of tests whose scores are their answers, as pairs (candidate, score).

    Those that answer 1 come first, equal scores in the order of the candidates.
    """
    ones: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for candidate, bit in enumerate(bits):
        following: dict[tuple[int, ...], Fraction] = {}
        for found, weight in ones.items():
            if len(found) == k:
                following[found] = following.get(found, Fraction(0)) + weight
                continue
            one = truth if bit else 1 - truth
            for extended, share in (((*found, candidate), one), (found, 1 - one)):
                following[extended] = following.get(extended, Fraction(0)) + weight * share
        ones = following
    return FiniteDistribution({_selected(found, len(bits), k): weight for found, weight in ones.items()})


def _selected(ones: tuple[int, ...], size: int, k: int) -> tuple[tuple[int, int], ...]:
    zeros = [candidate for candidate in range(size) if candidate not in ones][: k - len(ones)]
    return (*((candidate, 1) for candidate in ones), *((candidate, 0) for candidate in zeros))


def truthful_count_distribution(size: int, truth: Fraction) -> FiniteDistribution:
    """Return the binomial distribution of the number of ones among `size` answers, with probability `truth` each."""
    lie, weights, weight = 1 - truth, {}, (1 - truth) ** size
    for count in range(size + 1):
        weights[count] = weight
        weight = weight * (size - count) * truth / ((count + 1) * lie)
    return FiniteDistribution(weights)  # type: ignore[arg-type]  # integers are hashable
