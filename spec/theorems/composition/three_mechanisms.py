"""Two bounded-range mechanisms and a pure one: the first case in which the order matters.

Chapter after Cesar and Rogers (2020), Lemmas 5.3 and 5.4 with Appendices C.2 and C.3. All formulas are rational in
u = e^(t/2), v = e^(epsilon/2) and w = e^(epsilon_g/2), and are decided in these: exactly at points, and as identities
of rational functions. The paper mislabels the chain of (BR, BR, DP), takes a supremum over an empty set at
epsilon_g = 0, and compares a number with itself in Case 1 of the proof.
"""

from fractions import Fraction
from typing import Annotated, Any

from dpassay.lazy import sympy as sp
from dpassay.spec.distributions.generalized_randomized_response import keep_probability
from dpassay.spec.domains.base import Integers, Reals
from dpassay.spec.interactions.mechanism_classes import adaptive_delta, bounded_range, pure
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.polynomial import positive_on_orthant
from dpassay.spec.proof.rules import same_sign
from dpassay.spec.proof.steps import Proof, all_of, checked, lemma, proof, prose
from dpassay.spec.proof.symbolic import identity, nonnegative, positive, rational_identity
from dpassay.spec.rational import at_most_exact, below_exact, equal_exact
from dpassay.spec.sources import CESAR_2020, DPASSAY
from dpassay.spec.statement import Erratum, Severity, statement
from dpassay.spec.theorems.composition.adaptive_recursion import bounded_range_delta
from dpassay.spec.theorems.composition.second_derivations import (
    best_strategy_delta,
    bounded_range_masses,
    response_masses,
)
from dpassay.spec.verdict import Verdict, conjunction

__all__ = ["interleaved_delta", "pure_first_delta", "x_of", "y_of", "z_of"]

RootRatio = Annotated[Fraction, Reals("e^(epsilon/2)", Fraction(101, 100), 20, (2, Fraction(3, 2)), logarithmic=True)]
Share = Annotated[Fraction, Reals("a position between 1 and e^(epsilon/2)", 0, 1, (0, 1, Fraction(1, 2)))]
Base = Annotated[Fraction, Reals("the base of the lattice", Fraction(101, 100), 2, (Fraction(12, 11), 2))]


def _pure_keep(v: Any) -> Any:
    return v**2 / (1 + v**2)


def x_of(u: Any, v: Any, w: Any) -> Any:
    """Return x(t) = Q (q_t q_{(epsilon_g-t)/2}^2 + (1 - q_t) q_{(epsilon_g+epsilon-t)/2}^2) c.

    q_t is q_{epsilon,t}, Q = q_{2 epsilon,epsilon} and c = 1 - e^-epsilon; so for y and z.
    """
    s = v**2
    q, c = keep_probability(s, u**2), 1 - 1 / s
    return _pure_keep(v) * (q * keep_probability(s, w / u) ** 2 + (1 - q) * keep_probability(s, w * v / u) ** 2) * c


def y_of(u: Any, v: Any, w: Any) -> Any:
    """Return y(t) = Q (q_t (1 - e^(epsilon_g-epsilon-t)) + (1 - q_t) q_{(epsilon_g+epsilon-t)/2}^2 c)."""
    s = v**2
    q, c = keep_probability(s, u**2), 1 - 1 / s
    return _pure_keep(v) * (q * (1 - (w / (v * u)) ** 2) + (1 - q) * keep_probability(s, w * v / u) ** 2 * c)


def z_of(u: Any, v: Any, w: Any) -> Any:
    """Return z(t) = (1 - Q) q_t q_{epsilon+(epsilon_g-t)/2}^2 c."""
    s = v**2
    c = 1 - 1 / s
    return (1 - _pure_keep(v)) * keep_probability(s, u**2) * keep_probability(s, s * w / u) ** 2 * c


# --- Lemma 5.3 ----------------------------------------------------------------------------------------------


def _after_first(u: Fraction, v: Fraction, root_budget: Fraction) -> Fraction:
    """Return q delta_OPT(BR; a - t) + (1 - q) delta_OPT(BR; a + epsilon - t)."""
    q = keep_probability(v**2, u**2)
    kept, other = (bounded_range_delta(root_budget * shift / u, v) for shift in (Fraction(1), v))
    return Fraction(q * kept + (1 - q) * other)


@statement(CESAR_2020, "three_mech_order_formulas", cases=80)
def three_mechanism_deltas_split_into_x_y_z(root_ratio: RootRatio, level: Share, top: Share) -> Verdict:
    """For 0 <= epsilon_g <= epsilon, with t the first bounded-range choice: after the pure mechanism lost epsilon the
    rest is worth x(t) / Q for t < epsilon_g and y(t) / Q beyond, after it gained epsilon 0 and z(t) / (1 - Q).

    So delta(DP,BR,BR) = max{sup_{t < epsilon_g} x, sup_{t >= epsilon_g} y} + sup_{t >= epsilon_g} z, where the pure
    mechanism is seen first and t may depend on it, and delta(BR,DP,BR) = delta(BR,BR,DP) = max{sup x, sup (y + z)}.
    """
    u, v, w = (1 + share * (root_ratio - 1) for share in (top, Fraction(1), level))
    keep = Fraction(_pure_keep(v))
    parts = (keep * _after_first(u, v, w / v), (1 - keep) * _after_first(u, v, w * v))
    expected = (x_of(u, v, w), Fraction(0)) if u < w else (y_of(u, v, w), z_of(u, v, w))
    return conjunction([
        equal_exact(parts[0], expected[0], "the part after a loss of epsilon"),
        equal_exact(parts[1], expected[1], "the part after a gain of epsilon"),
        equal_exact(x_of(w, v, w), y_of(w, v, w), "x and y at t = epsilon_g"),
    ])  # fmt: skip


@statement(CESAR_2020, "three_mech_order_formulas", cases=30)
def orders_of_three_agree_from_epsilon_on(
    base: Base,
    steps: Annotated[int, Integers("epsilon, in lattice steps", 1, 8)],
    excess: Annotated[int, Integers("epsilon_g - epsilon, in lattice steps", 0, 20, (0, 1))],
) -> Verdict:
    """For epsilon_g >= epsilon all three orders of two bounded-range mechanisms and a pure one have one delta_OPT; the
    two orders that begin with a bounded-range mechanism always do.
    """
    d, b = pure(steps), bounded_range(steps)
    values = [adaptive_delta(base, order, steps + excess) for order in ((d, b, b), (b, d, b), (b, b, d))]
    below = [adaptive_delta(base, order, steps - excess) for order in ((b, d, b), (b, b, d))]
    return conjunction([
        equal_exact(values[0], values[1], "(DP, BR, BR) against (BR, DP, BR)"),
        equal_exact(values[1], values[2], "(BR, DP, BR) against (BR, BR, DP)"),
        equal_exact(below[0], below[1], "(BR, DP, BR) against (BR, BR, DP), below epsilon"),
    ])  # fmt: skip


# --- derivatives --------------------------------------------------------------------------------------------


def printed_derivatives(u: Any, v: Any, w: Any) -> dict[str, Any]:
    """Return the four derivatives as printed, without their constants."""
    c = 1 - 1 / v**2
    return {
        "x": (1 - v) / c**2 * (u**2 - v) * w / (u * v**4),
        "y": (u - w * v) * (u**3 - w * v) / (v**4 * u**2),
        "z": -(u - w) * (u**3 - v**2 * w) / (v**2 * u**2),
        "y + z": (v - 1) ** 2 * (v + 1) * (v - u**2) * w / (v**6 * u),
    }


def missing_constants(v: Any) -> dict[str, Any]:
    """Return the positive constants by which the printed derivatives have to be multiplied."""
    keep, c = _pure_keep(v), 1 - 1 / v**2
    return {"x": keep, "y": keep / c**2, "z": (1 - keep) / c**2, "y + z": keep / c**3}


def _true_derivatives() -> tuple[dict[str, Any], tuple[Any, Any, Any]]:
    """Return d/dt = (u/2) d/du of x, y, z and y + z, as elements of Q(u, v, w)."""
    _, u, v, w = sp.field("u,v,w", sp.QQ)
    functions = {"x": x_of(u, v, w), "y": y_of(u, v, w), "z": z_of(u, v, w)}
    functions["y + z"] = functions["y"] + functions["z"]
    return {name: u * function.diff(u) / 2 for name, function in functions.items()}, (u, v, w)


def _without_constants(u: Fraction, v: Fraction, w: Fraction) -> Verdict:
    true, _ = _true_derivatives()
    point = dict(zip(sp.symbols("u v w"), (sp.Rational(str(each)) for each in (u, v, w)), strict=True))
    printed = printed_derivatives(u, v, w)
    return conjunction(
        equal_exact(Fraction(str(true[name].as_expr().subs(point))), printed[name], f"({name})'") for name in printed
    )


def _with_constants(u: Fraction, v: Fraction, w: Fraction) -> Verdict:  # noqa: ARG001  # an identity
    return derivatives_of_three_mechanism_deltas()


CONSTANTS_MISSING = Erratum(
    kind="false",
    severity=Severity.MINOR,
    location="Appendix C.3, the four derivatives",
    printed_text="x', y', z' and (y+z)' lack the constants Q, Q/c^2, (1-Q)/c^2 and Q/c^3; so y' + z' is not (y+z)'",
    answer="The derivatives are meant up to positive constants; only their signs are used.",
    witness={"u": Fraction(5, 4), "v": Fraction(2), "w": Fraction(9, 8)},
    printed=_without_constants,
    corrected=_with_constants,
    figures=Figures(published=("7/200 != 7/160", "0.01689 != 19/1600", "0.01811 != 163/3200", "7/200 != 0.01846")),
)


@statement(CESAR_2020, "xyz_derivatives", errata=(CONSTANTS_MISSING,))
def derivatives_of_three_mechanism_deltas() -> Proof:
    """x' is proportional to -(e^t - e^(epsilon/2)), y' to (e^(t/2) - e^((epsilon_g+epsilon)/2))(e^(3t/2) -
    e^((epsilon_g+epsilon)/2)), z' to -(e^(t/2) - e^(epsilon_g/2))(e^(3t/2) - e^(epsilon+epsilon_g/2)), (y+z)' to
    -(e^t - e^(epsilon/2)), with positive constants; identities of rational functions.
    """
    true, (u, v, w) = _true_derivatives()
    printed, constants = printed_derivatives(u, v, w), missing_constants(v)
    formulas = [
        checked(
            f"({name})'",
            f"({name})' is the printed formula times its constant.",
            rational_identity,
            true[name],
            constants[name] * printed[name],
        )
        for name in true
    ]
    excess = sp.Symbol("h", positive=True)  # v = e^(epsilon/2) > 1
    signs = [
        checked(
            f"constant of ({name})'",
            f"The constant of ({name})' is positive for epsilon > 0.",
            positive_on_orthant,
            constant,
            (excess,),
        )
        for name, constant in missing_constants(1 + excess).items()
    ]
    return proof(
        *formulas, *signs, all_of("derivatives up to positive constants", *(step.name for step in (*formulas, *signs)))
    )


# --- Lemma 5.4 ----------------------------------------------------------------------------------------------


def pure_first_delta(base: Fraction, epsilon: int, level: int) -> Fraction:
    """Return delta(DP,BR,BR) of Lemma 5.4, with epsilon and epsilon_g in half-steps of log `base`, multiples of 6.

    x(epsilon/2) + z((2 epsilon + epsilon_g)/3) for epsilon_g >= epsilon/2, else y((epsilon + epsilon_g)/3) + the same.
    """
    v, w = base ** (epsilon // 2), base ** (level // 2)
    z = z_of(base ** ((2 * epsilon + level) // 6), v, w)
    if 2 * level >= epsilon:
        return Fraction(x_of(base ** (epsilon // 4), v, w) + z)
    return Fraction(y_of(base ** ((epsilon + level) // 6), v, w) + z)


def interleaved_delta(base: Fraction, epsilon: int, level: int) -> Fraction:
    """Return delta(BR,DP,BR) of Lemma 5.4: x(epsilon/2) for epsilon_g >= epsilon/2, else (y + z)(epsilon/2).

    The paper takes maxima with y(epsilon_g) + z(epsilon_g) and with x(epsilon_g), which are never larger.
    """
    u, v, w = base ** (epsilon // 4), base ** (epsilon // 2), base ** (level // 2)
    if 2 * level >= epsilon:
        return Fraction(x_of(u, v, w))
    return Fraction(y_of(u, v, w) + z_of(u, v, w))


def _x_above_y_everywhere(base: Fraction, units: int, share: int) -> Verdict:
    v, w = base ** (6 * units), base ** (3 * share)
    return below_exact(Fraction(y_of(v, v, w)), Fraction(x_of(v, v, w)), "y at t = epsilon")


def _order_at(base: Fraction, units: int, share: int) -> Verdict:
    return order_of_two_bounded_range_and_one_pure_matters(base=base, units=units, share=share)


EQUAL_AT_THE_END = Erratum(
    kind="proof",
    severity=Severity.MINOR,
    location="Appendix C.3, proof of Lemma 5.4, the comparison of x and y",
    printed_text="x(t) > y(t) is claimed for all t in [0, epsilon] but epsilon_g; at t = epsilon they are equal",
    answer="The end point is never a maximiser, so that the proof needs t < epsilon only.",
    witness={"base": Fraction(12, 11), "units": 1, "share": 1},
    printed=_x_above_y_everywhere,
    corrected=_order_at,
    figures=Figures(
        published=("0.3366 <= 0.3366",),
        corrected=("0.3737 = 0.3737", "0.3711 = 0.3711", "0.3711 = 0.3711", "0.3711 <= 0.3737"),
    ),
)


def _best_of_order(word: str, base: Fraction, steps: int, level: int) -> Fraction:
    """Return delta_OPT of pure (D) and bounded-range (B) mechanisms in an order."""
    offers = {"D": [response_masses(base ** (2 * steps), base**steps)], "B": bounded_range_masses(base, steps)}
    return best_strategy_delta([offers[letter] for letter in word], base**level)


@statement(
    CESAR_2020,
    "three_mech_order_closed_form",
    errata=(EQUAL_AT_THE_END,),
    examples=({"base": Fraction(25, 24), "units": 2, "share": 1},),
    cases=12,
    pins=(
        Pin(
            {"base": Fraction(25, 24), "units": 1, "share": 1},
            "the best of all strategies, tried one by one",
            smaller=lambda: _best_of_order("BDB", Fraction(25, 24), 12, 6),
            larger=lambda: _best_of_order("DBB", Fraction(25, 24), 12, 6),
        ),
    ),
)
def order_of_two_bounded_range_and_one_pure_matters(
    base: Base,
    units: Annotated[int, Integers("epsilon, in twelve lattice steps", 1, 2)],
    share: Annotated[int, Integers("epsilon_g, in six lattice steps", 0, 3)],
) -> Verdict:
    """For 0 <= epsilon_g < epsilon, delta(DP,BR,BR) > delta(BR,DP,BR) = delta(BR,BR,DP), strictly, with the closed
    forms of Lemma 5.4: decided against the recursion, on a lattice that holds every optimal t.
    """
    epsilon, level = 12 * units, 6 * min(share, 2 * units - 1)
    d, b = pure(epsilon), bounded_range(epsilon)
    values = [adaptive_delta(base, order, level) for order in ((d, b, b), (b, d, b), (b, b, d))]
    return conjunction([
        equal_exact(values[0], pure_first_delta(base, epsilon, level), "delta(DP,BR,BR)"),
        equal_exact(values[1], interleaved_delta(base, epsilon, level), "delta(BR,DP,BR)"),
        equal_exact(values[2], values[1], "delta(BR,BR,DP)"),
        below_exact(values[1], values[0], "delta(BR,DP,BR)"),
    ])  # fmt: skip


def peaks(v: Any, w: Any) -> dict[str, Any]:
    """Return e^(3t/2) at the peak of y and z on [epsilon_g, epsilon]: t = (epsilon + epsilon_g)/3 and so on."""
    return {"y": v * w, "z": v**2 * w}


@statement(CESAR_2020, "three_mech_order_closed_form")
def pure_mechanism_first_is_strictly_worse() -> Proof:
    """delta(DP,BR,BR) - delta(BR,DP,BR) > 0 for all epsilon > 0 and 0 <= epsilon_g < epsilon, given the closed forms
    of Lemma 5.4, which are decided on lattices only (`order_of_two_bounded_range_and_one_pure_matters`).

    For epsilon_g >= epsilon/2 it is z at its peak, which is positive for epsilon_g < t < epsilon. Below, it is
    [y(t_y) - y(epsilon/2)] + [z(t_z) - z(epsilon/2)]: y and z rise up to their peaks and fall behind them, and
    t_z - epsilon/2 = (epsilon + 2 epsilon_g)/6 > 0, so that the second bracket is positive and the first not negative.
    """
    a, b, u, v, w, p = sp.symbols("a b u v w p", positive=True)
    h = sp.Symbol("h", nonnegative=True)
    e, g = sp.symbols("epsilon epsilon_g", positive=True)
    printed, top = printed_derivatives(u, v, w), peaks(v, w)
    root = 1 + h  # e^(t/2) >= 1
    peak = (1 + a) * (1 + b) ** 2, (1 + a) * (1 + b) ** 3, 1 + a
    return proof(
        lemma(
            "derivatives",
            "y' and z' are the printed formulas times positive constants.",
            derivatives_of_three_mechanism_deltas,
        ),
        checked(
            "sign of y'",
            "y' has the sign of (u - v w)(u^3 - v w).",
            same_sign,
            printed["y"],
            _slope(u, u**3, v * w, top["y"]),
            1 / (v**4 * u**2),
            given=["derivatives"],
        ),
        checked(
            "sign of z'",
            "-z' has the sign of (u - w)(u^3 - v^2 w).",
            same_sign,
            -printed["z"],
            _slope(u, u**3, w, top["z"]),
            1 / (v**2 * u**2),
            given=["derivatives"],
        ),
        checked(
            "y rises",
            "y' > 0 where u^3 < v w: then u < v w as well, since u >= 1.",
            positive,
            sp.expand(_slope(root, root**3, *[root**3 * (1 + a)] * 2)),
            given=["sign of y'"],
        ),
        checked("y falls", "y' < 0 where u^3 > v w > u.", positive, -_slope(p - a, p + b, p, p), given=["sign of y'"]),
        checked(
            "z rises",
            "z' > 0 where u^3 < v^2 w and u > w.",
            positive,
            -_slope(w + a, p - b, w, p),
            given=["sign of z'"],
        ),
        checked(
            "z falls",
            "z' < 0 where u^3 > v^2 w and u > w.",
            positive,
            _slope(w + a, p + b, w, p),
            given=["sign of z'"],
        ),
        prose(
            "closed forms",
            "delta(DP,BR,BR) is y(t_y) + z(t_z), with x(epsilon/2) for y(t_y) where epsilon_g >= epsilon/2; "
            "delta(BR,DP,BR) "
            "is (y + z)(epsilon/2), or x(epsilon/2). Beyond the peaks this is the recursion of Lemma 5.1; it is "
            "decided "
            "on lattices only, by `order_of_two_bounded_range_and_one_pure_matters`.",
            given=["y rises", "y falls", "z rises", "z falls"],
        ),
        checked(
            "place of the peak",
            "With v = w k^3, k > 1, it is at u = w k^2: there u^3 = v^2 w.",
            identity,
            peak[0] ** 3,
            peaks(*peak[1:])["z"],
        ),
        checked("z at its peak", "z(t_z) > 0.", positive_on_orthant, z_of(*peak), (a, b), given=["place of the peak"]),
        checked(
            "t_y",
            "For epsilon_g = epsilon/2 - d the peak (epsilon + epsilon_g)/3 of y is at most epsilon/2.",
            nonnegative,
            sp.expand(e / 2 - (e + e / 2 - h) / 3),
        ),
        checked(
            "epsilon/2 below v w", "epsilon/2 < epsilon + epsilon_g: u < v w up to there.", positive, e + g - e / 2
        ),
        checked(
            "t_z", "The peak (2 epsilon + epsilon_g)/3 of z lies beyond epsilon/2.", positive, (2 * e + g) / 3 - e / 2
        ),
        prose(
            "pure first is worse",
            "For epsilon_g >= epsilon/2 the difference is z(t_z) > 0. Below, it is [y(t_y) - y(epsilon/2)] + "
            "[z(t_z) - "
            "z(epsilon/2)]: y falls from t_y to epsilon/2, and z rises from epsilon/2 > epsilon_g to t_z.",
            given=["closed forms", "y falls", "z rises", "z at its peak", "t_y", "epsilon/2 below v w", "t_z"],
        ),
    )


def _slope(root: Any, cube: Any, lower: Any, peak: Any) -> Any:
    """Return (e^(t/2) - lower)(e^(3t/2) - peak), the common shape of y' and -z'."""
    return (root - lower) * (cube - peak)


# --- two and two --------------------------------------------------------------------------------------------


def _best_of_orders(*words: str) -> list[Fraction]:
    return [_best_of_order(word, Fraction(3, 2), 3, 1) for word in words]


def _best_apart(*words: str) -> list[Fraction]:
    return [_best_of_order(word, Fraction(9, 8), 9, 10) for word in words]


@statement(
    DPASSAY,
    "orders of two pure and two bounded-range mechanisms",
    cases=20,
    pins=(
        Pin(
            {"base": Fraction(3, 2), "steps": 3, "level": 1},
            "the best of all strategies, tried one by one",
            smaller=lambda: [*_best_of_orders("DBDB", "BBDD"), *_best_apart("DBDB", "BBDD")],
            larger=lambda: [*_best_of_orders("DDBB", "DBDB"), *_best_apart("DDBB", "DBDB")],
        ),
    ),
)
def orders_of_two_and_two_form_three_groups(
    base: Base,
    steps: Annotated[int, Integers("epsilon, in lattice steps", 2, 6)],
    level: Annotated[int, Integers("epsilon_g, in lattice steps", -6, 24, (0, 2, 4))],
) -> Verdict:
    """Two pure (D) and two bounded-range (B) mechanisms of one epsilon:
    DDBB >= DBDB = DBBD >= BDDB = BDBD = BBDD in delta_OPT, and all three groups differ somewhere.
    """
    classes = {"D": pure(steps), "B": bounded_range(steps)}
    value = {
        word: adaptive_delta(base, tuple(classes[letter] for letter in word), level)
        for word in ("DDBB", "DBDB", "DBBD", "BDDB", "BDBD", "BBDD")
    }
    apart = {
        word: adaptive_delta(Fraction(9, 8), tuple(pure(9) if x == "D" else bounded_range(9) for x in word), 10)
        for word in ("DDBB", "DBDB", "BBDD")
    }
    return conjunction([
        equal_exact(value["DBDB"], value["DBBD"], "DBDB against DBBD"),
        equal_exact(value["BDDB"], value["BDBD"], "BDDB against BDBD"),
        equal_exact(value["BDBD"], value["BBDD"], "BDBD against BBDD"),
        at_most_exact(value["DBDB"], value["DDBB"], "DBDB").without_tightness(),
        at_most_exact(value["BBDD"], value["DBDB"], "BBDD").without_tightness(),
        below_exact(apart["DBDB"], apart["DDBB"], "DBDB at 10/9 epsilon"),
        below_exact(apart["BBDD"], apart["DBDB"], "BBDD at 10/9 epsilon"),
    ])  # fmt: skip
