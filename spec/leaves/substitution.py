"""Triangular substitutions: leaves whose constraints hold sums of noises, with sums as new variables.

A constraint on three noises or more is no factor of a forest. If the sums that occur are nested, as partial sums are,
take them as variables. A sum S = lambda K + mu Z, K a noise or an earlier sum and Z a noise that no earlier variable
replaced, replaces Z: its density becomes a factor of two variables,

    f(z) dz = f((S - lambda K) / mu) dS / |mu|.

The substitution is triangular, with Jacobian 1/|mu|.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

from flint import arb, ctx

from dpassay.spec.leaves.elimination import Factor, forget_integrals
from dpassay.spec.leaves.exponential_sums import ExponentialSum
from dpassay.spec.leaves.model import Constraint, Noise, NoiseKind
from dpassay.spec.leaves.piecewise import ONE, ZERO, Lift, Piecewise, density

__all__ = ["factors_of", "forget_functions"]

C = TypeVar("C", arb, ExponentialSum)

Form = dict[Noise, Fraction]
Expression = dict[Hashable, Fraction]
Replacement = tuple[Noise, Hashable, Expression]
"""A noise, the sum that replaces it, and the noise as a combination of the sum and one earlier variable."""


def factors_of(constraints: Sequence[Constraint], lift: Lift[C]) -> tuple[list[Hashable], list[Factor[C]]]:
    """Return variables and factors whose integral is the probability of all constraints.

    A factor may hold more than two variables: then the integral is refused.

    Raises
    ------
    KeyError
        If a noise is neither Laplace, exponential nor uniform.
    """
    noises = sorted({noise for constraint in constraints for noise in constraint.form.noise}, key=_order)
    replaced = _replacements([dict(constraint.form.noise) for constraint in constraints])
    expressions: dict[Noise, Expression] = {noise: {noise: Fraction(1)} for noise in noises}
    factors: list[Factor[C]] = []
    jacobian = Fraction(1)
    for noise, new, expression in replaced:
        expressions[noise] = expression
        jacobian *= abs(expression[new])
    factors += [Factor(_density(noise.kind, lift, ctx.prec), expressions[noise]) for noise in noises]
    for form, low, high in _bands(constraints):
        factors.append(Factor(_indicator(low, high, lift, ctx.prec), _in_variables(form, expressions)))
    if replaced:
        factors[0] = Factor(_scaled(factors[0], lift(jacobian, ZERO)), factors[0].form, factors[0].constant)
    names = {noise: new for noise, new, _ in replaced}
    return [names.get(noise, noise) for noise in noises], factors


@lru_cache(maxsize=64)
def _density(kind: NoiseKind, lift: Any, _bits: int) -> Any:
    """Return one and the same object each time: integrals are remembered by the identity of functions."""
    return density(kind, lift)


@lru_cache(maxsize=1 << 12)
def _indicator(low: Fraction | None, high: Fraction | None, lift: Any, _bits: int) -> Any:
    """Return the indicator of an interval; None where it has no end."""
    kinks = [end for end in (low, high) if end is not None]
    if len(kinks) == 2 and kinks[0] >= kinks[1]:
        return Piecewise((), ({},))
    one = {(0, ZERO): lift(ONE, ZERO)}
    return Piecewise(tuple(kinks), ((one,) if low is None else ({}, one)) + (() if high is None else ({},)))


def _bands(constraints: Sequence[Constraint]) -> list[tuple[Form, Fraction | None, Fraction | None]]:
    """Return the directions of constraints, and the interval that those on one direction leave to it."""
    found: dict[Hashable, tuple[Form, Fraction | None, Fraction | None]] = {}
    for constraint in constraints:
        form = constraint.form.noise
        scale = form[min(form, key=_order)]
        direction = {noise: value / scale for noise, value in form.items()}
        key, end = frozenset(direction.items()), -constraint.form.constant / scale
        _, low, high = found.get(key, (direction, None, None))
        if scale > 0:
            low = end if low is None else max(low, end)
        else:
            high = end if high is None else min(high, end)
        found[key] = direction, low, high
    return list(found.values())


def forget_functions() -> None:
    """Forget functions and integrals that are remembered, as where rules are changed."""
    _density.cache_clear()
    _indicator.cache_clear()
    forget_integrals()


def _order(noise: Noise) -> tuple[str, int]:
    return noise.kind, noise.position


def _replacements(forms: list[Form]) -> list[Replacement]:
    """Choose the sums that become variables; none if every form has at most two noises."""
    if all(len(form) <= 2 for form in forms):
        return []
    known: list[tuple[Hashable, Form]] = []
    chosen: list[Replacement] = []
    directions = _directions(forms)
    uses = Counter(noise for form in directions for noise in form)
    for form in directions:
        for step in _steps(form, known):
            found = _replacement(step, known, chosen, uses)
            if found is not None:
                chosen.append(found)
                known.append((found[1], step))
    return chosen


def _directions(forms: Iterable[Form]) -> list[Form]:
    """Return the distinct forms of three noises or more up to a factor, and those inside them, short ones first."""
    distinct: dict[Hashable, Form] = {}
    for form in forms:
        first = form[min(form, key=_order)]
        scaled = {noise: value / first for noise, value in form.items()}
        if len(form) > 1:
            distinct.setdefault(frozenset(scaled.items()), scaled)
    found = list(distinct.values())
    needed = [form for form in found if len(form) > 2 or any(set(form) < set(other) for other in found)]
    return sorted(needed, key=len)


def _steps(form: Form, known: Sequence[tuple[Hashable, Form]]) -> list[Form]:
    """Return the partial sums of a form that lead from the longest known one to the form itself."""
    inside = [other for _, other in known if set(other) < set(form) and _ratio(form, other) is not None]
    start = max(inside, key=len, default={})
    rest = sorted(set(form) - set(start), key=_order)
    return [
        {noise: form[noise] for noise in form if noise in start or noise in rest[:count]}
        for count in range(1, len(rest) + 1)
    ]


def _ratio(form: Mapping[Noise, Fraction], part: Mapping[Noise, Fraction]) -> Fraction | None:
    """Return the lambda with form = lambda part on the noises of the part, None if there is none."""
    ratios = {form.get(noise, ZERO) / value for noise, value in part.items()}
    return ratios.pop() if len(ratios) == 1 else None


def _replacement(
    form: Form, known: Sequence[tuple[Hashable, Form]], chosen: Sequence[Replacement], uses: Mapping[Noise, int]
) -> Replacement | None:
    """Write one noise of a form by the form itself and one earlier variable, or None; a rare noise, if there is one.

    The noise must still be a variable, and no earlier noise may have been written by it; the other one must be a
    variable as well.
    """
    gone = {noise for noise, _, _ in chosen}
    fixed = gone | {name for _, _, expression in chosen for name in expression}
    new = frozenset(form.items())
    candidates: list[tuple[Hashable, Form]] = [*reversed(known), *((noise, {noise: Fraction(1)}) for noise in form)]
    options: list[Replacement] = []
    for name, part in candidates:
        ratio, rest = _ratio(form, part), set(form) - set(part)
        if ratio and len(rest) == 1 and not rest & fixed and name not in gone:
            (noise,) = rest
            options.append((noise, new, {new: 1 / form[noise], name: -ratio / form[noise]}))
    return min(options, key=lambda option: uses[option[0]], default=None)


def _in_variables(form: Mapping[Noise, Fraction], expressions: Mapping[Noise, Expression]) -> Expression:
    """Write a form in the new variables; expressions hold new variables and noises that stay."""
    total: Expression = {}
    for noise, value in form.items():
        for variable, coefficient in expressions[noise].items():
            total[variable] = total.get(variable, ZERO) + value * coefficient
    return {variable: value for variable, value in total.items() if value}


def _scaled(factor: Factor[C], weight: C) -> Piecewise[C]:
    function = factor.function
    parts = tuple({key: value * weight for key, value in part.items()} for part in function.parts)
    return Piecewise(function.kinks, parts)
