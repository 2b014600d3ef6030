"""The accounts of pydp.ml: totals, what remains, ceilings, the order of budgets, scopes, and invalid spends.

Epsilons are compared with the least of three bounds (Kairouz, Oh and Viswanath 2017, Theorem 3.4), deltas with the
complement of a product, and decisions with the order of both components. Ceilings are set one at a time as well.
"""

from __future__ import annotations

import math

from pydp.ml.util.accountant import BudgetAccountant
from pydp.ml.util.utils import Budget, BudgetError

from dpassay.adapter import Nonsense, Relations, protects, understates
from dpassay.impl.libraries.references import composition_bounds, composition_delta, many_equal_steps, near

__all__ = ["account_cases"]

_PARTS = ((30, 0.01, 0.4), (60, 0.01, 0.1), (3, 0.5, 2.0))
"""Numbers and ranges of epsilons at which each of the three bounds is the least in turn."""

_MARGIN = 1e-6
"""Relative; a spend this far below what is left is allowed, and this far above it is not."""


def _drawn_parts(random, count, low, high):
    deltas = [random.choice([0.0, random.uniform(0.001, 0.02)]) for _ in range(count)]
    return [(random.uniform(low, high), delta) for delta in deltas]


def _epsilon_of(parts, slack):
    return min(composition_bounds([epsilon for epsilon, _ in parts], slack))


def _delta_of(parts, slack):
    return 1 - (1 - slack) * math.prod(1 - delta for _, delta in parts)


def _refused(call):
    """Return whether a call is refused because of a budget, as a number."""
    try:
        call()
    except BudgetError:
        return 1.0
    return 0.0


def _totals(random):
    for count, low, high in _PARTS:
        parts, slack = _drawn_parts(random, count, low, high), 10 ** random.uniform(-6, -1.5)
        account, words = BudgetAccountant(slack=slack, spent_budget=parts), f"{parts}, slack {slack!r}"
        for told, found, of in (
            (words, account.total(), slack),
            (f"{words}, asked without", account.total(slack=0.0), 0.0),
            (f"{words}, asked with twice of it", account.total(slack=2 * slack), 2 * slack),
            (f"{words}, asked of another account", BudgetAccountant().total(parts, slack), slack),
        ):
            epsilon = (f"{told}: epsilon", *near(found[0], _epsilon_of(parts, of)))
            yield epsilon if of else understates(epsilon)  # without slack it is the least that is true
            yield (f"{told}: delta", *near(found[1], _delta_of(parts, of)))
        yield (f"{words}: parts", *near(len(account), len(parts), 0.0, 0.0))
        yield f"{words}: parts are kept", 1.0, float(account.spent_budget == parts), 1.0


def _many_steps(random):
    """Compare totals of steps with one or two epsilons with the least that is true."""
    slack = 5e-7
    for steps in many_equal_steps(random):
        parts = [(own, leak) for own, leak, times in steps for _ in range(times)]
        epsilon, stated = map(float, BudgetAccountant(slack=slack, spent_budget=parts).total())
        yield (f"{steps}: epsilon", *near(epsilon, _epsilon_of(parts, slack)))
        yield understates((f"{steps}: least delta", composition_delta(steps, epsilon) * (1 - 1e-9), stated, 1.0))


def _remaining(random):
    """Check that what remains, spent `count` times, makes the ceiling, and that no more can be spent."""
    for slack in (0.0, random.uniform(1e-4, 0.05)):
        parts = _drawn_parts(random, 20, 0.01, 0.3)
        ceiling = (_epsilon_of(parts, slack) + random.uniform(0.5, 2), random.uniform(0.5, 0.9))
        for count in (1, random.randint(2, 5)):
            words = f"{parts}, slack {slack!r}, ceiling {ceiling}, {count} more"
            epsilon, delta = BudgetAccountant(*ceiling, slack, parts).remaining(count)
            whole = [*parts, *[(epsilon, delta)] * count]
            yield (f"{words}: epsilon", *near(_epsilon_of(whole, slack), ceiling[0], _MARGIN))
            yield (f"{words}: delta", *near(_delta_of(whole, slack), ceiling[1], _MARGIN))
            less, more = 1 - _MARGIN, 1 + _MARGIN
            for told, factors, refused in (
                ("a little less", (less, less), 0.0),
                ("a little more epsilon", (more, less), 1.0),
                ("a little more delta", (less, more), 1.0),
            ):
                account = BudgetAccountant(*ceiling, slack, parts)
                for _ in range(count - 1):
                    account.spend(epsilon * less, delta * less)

                def spend(account=account, factors=factors, last=(epsilon, delta), count=count):
                    # what was spent too little before is left for the last
                    over = [1 + (factor - 1) * (2 * count if factor > 1 else 1) for factor in factors]
                    account.spend(last[0] * over[0], last[1] * over[1])

                found = (f"{words}, {told}", refused, _refused(spend), refused)
                yield found if slack else protects(found)  # without slack the bound is the least that is true
    delta = random.uniform(0.05, 0.5)
    found = BudgetAccountant(delta=delta, spent_budget=[(3.0, delta / 2)]).remaining()
    yield f"no ceiling of epsilon, {delta!r}", math.inf, found[0], math.inf
    yield (f"no ceiling of epsilon, {delta!r}: delta", *near(1 - (1 - found[1]) * (1 - delta / 2), delta))


def _ceilings(random):
    """Check what is spent under each ceiling: it is refused where one component exceeds its own, and only there."""
    epsilon, delta = random.uniform(0.5, 3), random.uniform(0.05, 0.4)
    below, above = random.uniform(0.3, 0.9), random.uniform(1.05, 1.5)
    for ceiling in ({"epsilon": epsilon}, {"delta": delta}, {"epsilon": epsilon, "delta": delta}, {}):
        for factors in ((below, below), (above, below), (below, above), (above, above)):
            spent = (epsilon * factors[0], delta * factors[1])
            beyond = (spent[0] > ceiling.get("epsilon", math.inf), spent[1] > ceiling.get("delta", 1.0))
            refused, words = float(any(beyond)), f"ceiling {ceiling}, spent {spent}"
            half = (spent[0] / 2, 1 - math.sqrt(1 - spent[1]))  # twice of it makes all
            for told, before, last in (("at once", [], spent), ("in two parts", [half], half)):
                account = BudgetAccountant(**ceiling, spent_budget=list(before))
                found = _refused(lambda a=account, x=last: a.check(*x))
                yield protects((f"{words} {told}, checked", refused, found, refused))
                yield f"{words} {told}: a check spends nothing", 1.0, float(account.spent_budget == before), 1.0
                found = _refused(lambda a=account, x=last: a.spend(*x))
                yield protects((f"{words} {told}", refused, found, refused))
                after = before if refused else [*before, last]
                yield f"{words} {told}: what is refused is not spent", 1.0, float(account.spent_budget == after), 1.0
            made = _refused(lambda c=ceiling, x=half: BudgetAccountant(**c, spent_budget=[x, x]))
            yield protects((f"{words}, at first", refused, made, refused))


def _order(random):
    """Compare the four comparisons of two budgets with the order of both components."""
    epsilons = [random.uniform(0, 3) for _ in range(3)]
    deltas = [random.uniform(0, 1) for _ in range(3)]
    budgets = [(epsilon, delta) for epsilon in epsilons for delta in deltas]
    for one in budgets:
        for other in budgets:
            above = one[0] >= other[0] and one[1] >= other[1]
            below = one[0] <= other[0] and one[1] <= other[1]
            exact = (above, below, above and one != other, below and one != other)
            for against in (Budget(*other), other):
                budget = Budget(*one)
                found = (budget >= against, budget <= against, budget > against, budget < against)
                yield f"{one} and {against!r}: >=, <=, >, <", 1.0, float(found == exact), 1.0


def _slack(random):
    """Check that the slack is changed as far as both ceilings allow, and kept where they do not."""
    parts = [(random.uniform(0.05, 0.1), random.uniform(0.0, 1e-3)) for _ in range(60)]
    slack = random.uniform(1e-3, 1e-2)
    with_slack, without = _epsilon_of(parts, slack), _epsilon_of(parts, 0.0)
    middle, spent = (with_slack + without) / 2, _delta_of(parts, 0.0)
    for words, ceiling, first, then, refused in (
        ("more, and delta is left", (math.inf, spent + 2 * slack), 0.0, slack, 0.0),
        ("more, and no delta is left", (math.inf, spent + slack / 2), 0.0, slack, 1.0),
        ("less, and epsilon is left", (without + 0.1, 1.0), slack, 0.0, 0.0),
        ("less, and no epsilon is left", (middle, 1.0), slack, 0.0, 1.0),
    ):
        account = BudgetAccountant(*ceiling, first, parts)
        found = _refused(lambda a=account, s=then: setattr(a, "slack", s))
        yield protects((f"{words}: {parts}, slack {then!r} after {first!r}", refused, found, refused))
        kept = first if refused else then
        yield (f"{words}: slack", *near(account.slack, kept, 0.0, 0.0))
        yield (f"{words}: epsilon", *near(account.total()[0], _epsilon_of(parts, kept)))
        yield (f"{words}: delta", *near(account.total()[1], _delta_of(parts, kept)))


def _in_scopes(use):
    """Return what a function returns without a default account; the one before it is restored."""
    before = BudgetAccountant.pop_default()
    try:
        return use()
    finally:
        BudgetAccountant.pop_default()
        if before is not None:
            before.set_default()


def _scopes():
    """Return whether the account of a scope is the default inside of it, and the one before it afterwards."""

    def use():
        first, outer, inner = BudgetAccountant(), BudgetAccountant(), BudgetAccountant()
        load, found = BudgetAccountant.load_default, []
        first.set_default()
        with outer as same:
            found += [load(None) is outer, same is outer]
            with inner:
                found += [load(None) is inner, load(outer) is outer]
                load(None).spend(0.25, 0.0)
            found.append(load(None) is outer)
            load(None).spend(0.5, 0.125)
        found += [load(None) is first, BudgetAccountant.pop_default() is first]
        found += [load(None) not in (first, outer, inner), load(None) is load(None)]
        return all(found) and [len(first), len(outer), len(inner)] == [0, 1, 1] and outer.total() == (0.5, 0.125)

    return _in_scopes(use)


def _models_spend_in_scopes():
    """Return whether a model takes the account that it is given, or that of the scope in which it is made."""
    from pydp.ml.naive_bayes import GaussianNB

    def use():
        own, scope = BudgetAccountant(), BudgetAccountant()
        with scope:
            return GaussianNB().accountant is scope and GaussianNB(accountant=own).accountant is own

    return _in_scopes(use)


def _invalid():
    def later(slack):
        return lambda: setattr(BudgetAccountant(epsilon=1.0, delta=0.1), "slack", slack)

    of = BudgetAccountant
    attempts = {
        f"spend{bad}": lambda b=bad: of().spend(*b) for bad in ((-1.0, 0.0), (0.0, 0.0), ("1", 0.0), (1.0, "0"))
    }
    attempts |= {f"spend{bad}": lambda b=bad: of().spend(*b) for bad in ((1.0, -0.1), (1.0, 2.0), (1.0, math.nan))}
    attempts |= {f"spend({math.nan}, 0.0){where}": lambda c=c: of(**c).spend(math.nan, 0.0) for where, c in (
        ("", {}), (" of 1", {"epsilon": 1.0}), (" of a delta of 0.1", {"delta": 0.1}),
    )}  # fmt: skip
    attempts |= {f"check({bad}, 0)": lambda b=bad: of(epsilon=3.0).check(b, 0.0) for bad in (-1.0, 0.0, "1")}
    attempts |= {
        f"a ceiling of {bad}": lambda b=bad: of(*b) for bad in ((-1.0, 0.1), (1.0, 2.0), (0.0, 0.0), ("1", 0.1))
    }
    attempts |= {f"a ceiling of {bad}": lambda b=bad: of(*b) for bad in ((math.nan, 0.1), (1.0, math.nan))}
    attempts |= {f"a slack of {bad}": lambda b=bad: of(1.0, 0.1, b) for bad in (-0.1, 0.2, math.nan)}
    attempts |= {f"slack set to {bad}": later(bad) for bad in (-0.1, 0.2, math.nan)}
    attempts |= {f"total, slack={bad}": lambda b=bad: of(delta=0.1).total(slack=b) for bad in (-0.1, 0.2, math.nan)}
    attempts |= {f"total of {bad}": lambda b=bad: of().total(b) for bad in ([(-1.0, 0.0)], [(1.0, 2.0)], [(0.0, 0.0)])}
    attempts |= {f"remaining({bad})": lambda b=bad: of(epsilon=1.0).remaining(b) for bad in (0, -1, 1.5)}
    attempts |= {
        "spent (-1, 0)": lambda: of(spent_budget=[(-1.0, 0.0)]),
        "spent no pair": lambda: of(spent_budget=[1.0]),
        "spent no list": lambda: of(spent_budget=((1.0, 0.0),)),
        "spent more than the ceiling": lambda: of(epsilon=1.0, spent_budget=[(0.7, 0.0), (0.7, 0.0)]),
        "an epsilon that is lost in rounding": lambda: of(epsilon=1.0).spend(1e-16, 0.0),
        "an account that is none": lambda: of.load_default("account"),
        "a budget of (-1, 0)": lambda: Budget(-1.0, 0.0),
        "a budget of (1, 2)": lambda: Budget(1.0, 2.0),
    }
    return attempts


def account_cases():
    """Yield the relations and the invalid spends."""
    totals = {"totals are those of the parts": _totals, "many steps cost at least what is true": _many_steps}
    ceilings = {
        "what remains makes the ceiling": _remaining,
        "ceilings are kept": _ceilings,
        "the slack is changed as far as is left": _slack,
    }
    yield Relations(
        "ml.BudgetAccountant",
        {**totals, **ceilings, "budgets are ordered by both components": _order},
        {"accounts of scopes": _scopes, "accounts of models": _models_spend_in_scopes},
    )
    yield Nonsense("ml.BudgetAccountant, refusals", _invalid())
