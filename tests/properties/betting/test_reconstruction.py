"""The audit by reconstruction: what it refutes, and how seldom it errs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.attacks.reconstruction import hadamard_bits, linear_programming_bits
from dpassay.impl.broken.foundations import HadamardAnswers
from dpassay.impl.hadamard import walsh_hadamard
from dpassay.impl.mechanisms.gaussian import GaussianMechanism
from dpassay.impl.mechanisms.randomised_response import RandomisedResponse
from dpassay.properties.betting.reconstruction import Recovery, audit_reconstruction
from dpassay.spec.theorems.foundations.reconstruction import binomial_tail


def test_noise_below_root_n_is_refuted_from_one_outcome() -> None:
    recovery, refuted = audit_reconstruction(
        HadamardAnswers(64), hadamard_bits, 64, rng=np.random.default_rng(0), alpha=1e-6
    )
    assert refuted
    assert recovery.total == 64
    assert recovery.epsilon_lower(1e-6) > 1


def test_so_it_is_by_linear_programming() -> None:
    queries = walsh_hadamard(np.eye(64))
    attack = lambda answers: linear_programming_bits(queries, answers)
    _, refuted = audit_reconstruction(HadamardAnswers(64), attack, 64, rng=np.random.default_rng(3), outcomes=5)
    assert refuted


def test_randomised_response_stays_below_its_claim() -> None:  # and is refuted at half of it
    mechanism = RandomisedResponse(100, 1.0)
    recovery, refuted = audit_reconstruction(
        mechanism, lambda told: told, 100, rng=np.random.default_rng(1), outcomes=100, alpha=1e-10
    )
    assert not refuted
    assert recovery.total == 10_000
    assert 0.5 < recovery.epsilon_lower(1e-10) <= 1.0


@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(3), Fraction(20)])
@pytest.mark.parametrize("bits", [1, 5, 40])
def test_the_wealth_has_mean_at_most_one_if_the_claim_is_true(ratio: Fraction, bits: int) -> None:
    chance, epsilon = ratio / (1 + ratio), math.log(ratio)
    tails = [binomial_tail(bits, chance, k) for k in range(bits + 2)]
    masses = [float(a - b) for a, b in itertools.pairwise(tails)]
    mean = sum(mass * math.exp(Recovery(k, bits).log_evidence(epsilon)) for k, mass in enumerate(masses))
    assert mean <= 1 + 1e-12


def test_evidence_does_not_depend_on_how_bits_are_grouped() -> None:
    assert Recovery().after(3, 4).after(5, 8) == Recovery(8, 12)


def test_bad_input_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="pure DP"):
        audit_reconstruction(GaussianMechanism(4, 1.0), hadamard_bits, 4, rng=rng)
    with pytest.raises(UsageError, match="attack"):
        audit_reconstruction(RandomisedResponse(4, 1.0), lambda told: told[:2], 4, rng=rng)
    with pytest.raises(UsageError, match="epsilon"):
        Recovery(1, 1).log_evidence(math.nan)
    for alpha in (0.0, math.nan, 2.0):
        with pytest.raises(UsageError, match="alpha"):
            Recovery(1, 1).epsilon_lower(alpha)
        with pytest.raises(UsageError, match="alpha"):
            audit_reconstruction(RandomisedResponse(4, 1.0), lambda told: told, 4, rng=rng, alpha=alpha)
