"""The mechanisms that noise reduction refines: Laplace and Gaussian noise, in the parametrisation of the paper.

After Rogers, Samorodnitsky, Wu and Ramdas (2023), Def 2.2, Lem 2.1, Def 2.5 and Lem 2.2. Neither noise is scaled by
the sensitivity. The rho of Def 2.5 is a *precision*, the reciprocal of the variance, and twice the zCDP parameter for
sensitivity 1.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any

from dpassay.lazy import sympy as sp
from dpassay.spec.ball import Exact, exact
from dpassay.spec.domains.base import Reals
from dpassay.spec.interactions.released_paths import ReleasedPath, ReleasedPaths, Vector
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.steps import Proof, checked, proof, prose, suppose
from dpassay.spec.proof.symbolic import identity, nonnegative
from dpassay.spec.rational import at_most_exact, equal_exact
from dpassay.spec.sources import ROGERS_2023
from dpassay.spec.statement import statement
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["gaussian_zcdp_parameter", "laplace_mechanism_epsilon", "laplace_mechanism_loss"]

Path = Annotated[ReleasedPath, ReleasedPaths("two answers, and noise")]
Epsilon = Annotated[Exact, Reals("the reciprocal of the scale", Fraction(1, 100), 100, (1, Fraction(1, 2)), True)]

DIAGONAL = ReleasedPath((Fraction(1),), (Fraction(0),) * 2, (Fraction(1),) * 2, ((Fraction(0), Fraction(-1)),))


# --- Laplace ------------------------------------------------------------------------------------------------


def laplace_mechanism_epsilon(left: Vector, right: Vector, epsilon: Fraction) -> Fraction:
    """Return epsilon |f(x) - f(x')|_1 for noise of scale 1/epsilon on each coordinate."""
    return epsilon * sum((abs(a - b) for a, b in zip(left, right, strict=True)), Fraction(0))


def laplace_mechanism_loss(outcome: Vector, left: Vector, right: Vector, epsilon: Fraction) -> Fraction:
    """Return the log-ratio of the densities (epsilon/2)^d e^(-epsilon |y - f|_1) at an outcome.

    Parameters
    ----------
    outcome : Vector
        The outcome y.
    left, right : Vector
        The values f of the query on both inputs.
    epsilon : Fraction
        Inverse of the scale of the noise.
    """
    pairs = zip(outcome, left, right, strict=True)
    return epsilon * sum((abs(y - b) - abs(y - a) for y, a, b in pairs), Fraction(0))


@statement(
    ROGERS_2023,
    "laplace_pure_dp",
    "laplace_mechanism",
    examples=({"path": DIAGONAL, "epsilon": Fraction(1)},),
    pins=(
        Pin(
            {
                "path": replace(
                    DIAGONAL,
                    left=(Fraction(1), Fraction(0)),
                    right=(Fraction(2), Fraction(2)),
                    noise=((Fraction(1, 2), Fraction(-1)),),
                ),
                "epsilon": Fraction(1, 2),
            },
            "7/2 - 3/2 for the distances of (3/2, -1), 3 - 0 and 0 - 3 at the answers; halved",
            smaller=lambda: [1, Fraction(3, 2), Fraction(-3, 2)],
            larger=lambda: [Fraction(3, 2)] * 3,
        ),
    ),
)
def pure_dp_of_laplace_noise_on_each_coordinate(path: Path, epsilon: Epsilon) -> Verdict:
    """Laplace noise of scale 1/epsilon on each coordinate is (Delta_1 epsilon)-DP: at every outcome the loss is at
    most epsilon |f(x) - f(x')|_1, with equality at f(x) itself, so that no smaller epsilon and no other norm will do.
    """
    rate = exact("epsilon", epsilon)
    bound = laplace_mechanism_epsilon(path.left, path.right, rate)
    outcomes = [tuple(a + b for a, b in zip(path.left, noise, strict=True)) for noise in path.noise]
    losses = [laplace_mechanism_loss(y, path.left, path.right, rate) for y in (*outcomes, path.left, path.right)]
    return conjunction([
        *(at_most_exact(loss, bound, "the loss").without_tightness() for loss in losses),
        equal_exact(laplace_mechanism_loss(path.left, path.left, path.right, rate), bound, "the loss at f(x)"),
    ])  # fmt: skip


# --- Gaussian -----------------------------------------------------------------------------------------------


def gaussian_zcdp_parameter(distance: Any, precision: Any) -> Any:
    """Return Delta^2 times half the precision, for numbers and for symbols alike."""
    return distance**2 * precision / 2


@statement(ROGERS_2023, "gaussian_zcdp", "gaussian_mechanism_precision")
def zcdp_of_gaussian_noise_by_its_precision() -> Proof:
    """N(f(x), I/rho) is (Delta_2^2 rho/2)-zCDP: E_Q[(p/q)^a] = exp(a (a - 1) Delta^2 rho/2) for every order a > 1, by
    completing the square along the line through the two means; with equality, so that the constant is exact.

    In the parametrisation of Section 7, variance 1/epsilon^2, it is epsilon^2/2.
    """
    x, mean = sp.symbols("x mean", real=True)
    gap, precision, excess, epsilon = sp.symbols("Delta rho s epsilon", positive=True)
    less = sp.Symbol("w", nonnegative=True)
    order = 1 + excess
    exponent: Callable[[Any], Any] = lambda centre: -precision * (x - centre) ** 2 / 2
    density = sp.sqrt(precision / (2 * sp.pi)) * sp.exp(exponent(0))
    return proof(
        suppose("pair", "f(x) and f(x') are at most Delta apart in the l2 norm; the noise is N(0, I/rho)."),
        checked(
            "mass",
            "The density with that precision integrates to 1.",
            identity,
            sp.integrate(density, (x, -sp.oo, sp.oo)),
            1,
        ),
        checked(
            "variance",
            "Its variance is the reciprocal of the precision.",
            identity,
            sp.integrate(x**2 * density, (x, -sp.oo, sp.oo)),
            1 / precision,
        ),
        checked(
            "completed square",
            "p^a q^(1-a) is a density with that precision, times the exponential of a (a - 1) Delta^2 rho/2.",
            identity,
            order * exponent(mean + gap) + (1 - order) * exponent(mean),
            exponent(mean + order * gap) + order * excess * gaussian_zcdp_parameter(gap, precision),
        ),
        checked(
            "smaller distance",
            "A smaller distance, Delta/(1 + w), has a smaller parameter.",
            nonnegative,
            sp.factor(gaussian_zcdp_parameter(gap, precision) - gaussian_zcdp_parameter(gap / (1 + less), precision)),
        ),
        checked(
            "Section 7",
            "With variance 1/epsilon^2 and distance 1 it is epsilon^2/2.",
            identity,
            gaussian_zcdp_parameter(1, epsilon**2),
            epsilon**2 / 2,
            given=["variance"],
        ),
        prose(
            "zCDP",
            "The noise is the same in every orthonormal basis, and across the line through the means both densities "
            "agree; "
            "so E_Q[(p/q)^a] = exp(a (a - 1) Delta^2 rho/2) at distance Delta, and less at smaller ones.",
            given=["pair", "mass", "completed square", "smaller distance", "Section 7"],
        ),
    )
