"""Stopped Brownian runs, path densities and the Laplace process, against other computations."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpassay.spec.ball import midpoint, normal_cdf, precision
from dpassay.spec.distributions.brownian_density import bridge_log_ratio, increment_log_ratio, last_log_ratio
from dpassay.spec.distributions.laplace_process import (
    ScaledExponential,
    backward_density,
    backward_path_density,
    forward_path_density,
    stopped_laplace_mean,
)
from dpassay.spec.distributions.stopped_brownian import (
    StoppedRun,
    StoppedRuns,
    stopped_mean,
    stopped_probability_below,
)
from dpassay.spec.interactions.brownian_rounds import BrownianRound, BrownianRounds
from dpassay.spec.interactions.released_paths import ReleasedPath, ReleasedPaths
from dpassay.spec.numerics.smoothing import exponential

RUN = StoppedRun(Fraction(1), Fraction(4), Fraction(-1), Fraction(1, 2), answer=Fraction(1))
ONE = ReleasedPath((Fraction(1),), (Fraction(0),), (Fraction(1),), ((Fraction(1),),))


def test_the_window_moves_with_the_answer() -> None:
    low, high = Fraction(-2), Fraction(-1, 2)
    assert RUN.window == (low, high)
    assert RUN.stops == ((low, high),)
    assert RUN.goes_on == ((None, low), (high, None))
    outside = StoppedRun(RUN.first, RUN.second, RUN.low, RUN.high, False, RUN.answer)
    assert (outside.stops, outside.goes_on) == (RUN.goes_on, RUN.stops)


def test_the_distribution_of_a_stopped_run_has_mass_one() -> None:
    with precision(96):
        mass = stopped_mean(RUN, lambda _: exponential(arb(0), arb(0)))
        assert mass.overlaps(arb(1))
        assert mass.rel_accuracy_bits() > 70
        assert stopped_probability_below(RUN, lambda _: Fraction(10**6)).overlaps(arb(1))


def test_a_probability_of_a_stopped_run_by_another_quadrature() -> None:
    with mpmath.workdps(20):
        inner = lambda w: mpmath.npdf(w) * mpmath.ncdf((1 - w) / mpmath.sqrt(3))
        truth = mpmath.ncdf(-0.5) - mpmath.ncdf(-2)  # all of the window lies below 1
        truth += mpmath.quad(inner, [-12, -6, -2]) + mpmath.quad(inner, [-0.5, 2, 6, 12])
    with precision(64):
        assert midpoint(stopped_probability_below(RUN, lambda _: Fraction(1))) == pytest.approx(
            float(truth), rel=1e-12
        )


def test_a_run_that_never_stops_early_is_a_gaussian() -> None:
    run = StoppedRun(Fraction(1), Fraction(4), Fraction(10**5), Fraction(10**6))
    with precision(64):
        assert stopped_probability_below(run, lambda _: Fraction(2)).overlaps(normal_cdf(arb(1)))


@pytest.mark.parametrize(
    "value",
    [
        1,
        StoppedRun(Fraction(2), Fraction(1), Fraction(0), Fraction(1)),
        StoppedRun(Fraction(1), Fraction(2), Fraction(1), Fraction(1)),
    ],
)
def test_what_is_no_run(value: object) -> None:
    assert not StoppedRuns("runs").contains(value)


def test_what_is_a_path_and_a_sequence_of_rounds() -> None:
    domain = ReleasedPaths("paths")
    assert domain.contains(ONE)
    assert not domain.contains(ReleasedPath((Fraction(1), Fraction(1)), ONE.left, ONE.right, ONE.noise * 2))
    assert not domain.contains(ReleasedPath((Fraction(-1),), ONE.left, ONE.right, ONE.noise))
    assert not domain.contains(ReleasedPath(ONE.times, ONE.left, (Fraction(1),) * 2, ONE.noise))
    rounds = BrownianRounds("rounds")
    assert rounds.contains((BrownianRound((Fraction(1), Fraction(2)), 1),))
    assert not rounds.contains((BrownianRound((Fraction(2), Fraction(1)), 1),))
    assert not rounds.contains((BrownianRound((Fraction(1),), 1),))


def test_the_loss_of_one_release() -> None:
    assert bridge_log_ratio(ONE) == increment_log_ratio(ONE) == last_log_ratio(ONE) == Fraction(-1, 2)


def test_path_densities_of_the_laplace_process() -> None:
    times, values = (Fraction(2), Fraction(1)), (Fraction(1), Fraction(1))
    flat = ScaledExponential(Fraction(1, 8), Fraction(-1))  # e^-1/2 at scale 1, and (1/2)^2
    assert forward_path_density(times, values) == flat
    assert backward_path_density(times, values) == flat


@pytest.mark.parametrize("z", [Fraction(-2), Fraction(0), Fraction(1, 10), Fraction(5)])
@pytest.mark.parametrize("s", [Fraction(1, 100), Fraction(1), Fraction(199, 100)])
def test_the_backward_kernel_has_mass_one(z: Fraction, s: Fraction) -> None:
    t = Fraction(2)

    def density(y: mpmath.mpf) -> mpmath.mpf:
        value = backward_density(Fraction(str(y)) + Fraction(1, 10**40), z, s, t)  # off the atom
        return (
            mpmath.mpf(value.coefficient.numerator)
            / value.coefficient.denominator
            * mpmath.exp(mpmath.mpf(value.exponent.numerator) / value.exponent.denominator)
        )

    atom = backward_density(z, z, s, t)
    with mpmath.workdps(15):
        corners = sorted({-60.0, -1.0, -0.05, 0.0, float(z), float(z) + 0.05, float(z) + 1, 60.0, float(z) - 0.05})
        mass = mpmath.quad(density, corners)
        total = float(mass) + float(atom.coefficient) * float(mpmath.exp(float(atom.exponent)))
    assert total == pytest.approx(1, rel=1e-9)


def test_the_stopped_moment_of_the_conjecture() -> None:
    with precision(64):
        looks = Fraction(1, 22), Fraction(1, 11)
        value = midpoint(stopped_laplace_mean(looks, Fraction(7, 8), Fraction(10), Fraction(1)))
    assert value == pytest.approx(1.01112, abs=1e-5)


def test_a_stopped_moment_does_not_depend_on_how_it_is_cut() -> None:
    """A threshold beyond the corners, and between them, give distributions with the same mass."""
    with precision(64):
        for level in (Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)):
            looks = Fraction(1, 2), Fraction(3)
            assert stopped_laplace_mean(looks, level, Fraction(0), Fraction(1)).overlaps(arb(1))
