"""Fits of the models of dpmm to neighbours with the same outcomes: how far a record moves what has noise or is chosen.

The outcomes of a fit are noted. The fit to the neighbour releases the same sums and takes the same choices, so that
both are compared at every step of an adaptive model. Then costs are those of the changes, not of declared
sensitivities, whatever marginals are compressed, filtered or left out.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from dpmm.models import aim, mst, priv_bayes
from dpmm.models.base.mechanisms import mechanism
from dpmm_budgets import COLUMNS, cdp_rho, dataset, random_codes
from dpmm_noise import agrees, in_place_of

from dpassay.adapter import Relations
from dpassay.impl.libraries.references import near


class Pool:
    """Stands for a pool of processes: it maps in this process, in which noise can be noted."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @staticmethod
    def starmap(function, arguments):
        """Return the values of a function."""
        return list(itertools.starmap(function, arguments))


for _module in (mst, aim, priv_bayes, mechanism):
    _module.Pool = Pool


class _Noise:
    """Stands for noise until it is added."""

    __array_ufunc__ = None  # arrays leave the addition to this class

    def __init__(self, release, sigma):
        self._release, self._sigma = release, sigma

    def __radd__(self, counts):
        return self._release(self._sigma, np.array(counts, float))

    __add__ = __radd__


class _Outcomes:
    """Outcomes of a fit, random ones or those of another fit, and what had noise and was chosen from."""

    def __init__(self, given=None):
        self._source, self._given = np.random.RandomState(7), given
        self.marginals, self.choices, self.drawn, self.released = [], [], [], []

    def _outcome(self, kind, draw):
        """Return the outcome of the other fit, if it got that far."""
        place = len(getattr(self, kind))
        given = getattr(self._given, kind)[place:] if self._given else []
        return given[0][0] if given else draw()

    def noise(self, sigma, **_):
        """Stand for `gaussian_noise`; the size is that of the counts."""
        return _Noise(self._release, float(sigma))

    def _release(self, sigma, counts):
        released = self._outcome("marginals", lambda: counts + self._source.normal(0, sigma, counts.shape))
        self.marginals.append((released, sigma, counts))
        return released.copy()

    def choose(self, qualities, epsilon, sensitivity=1.0):
        """Stand for `exponential_mechanism`: all options are possible."""
        options = qualities if isinstance(qualities, dict) else dict(enumerate(qualities))
        taken = self._outcome("choices", lambda: list(options)[self._source.randint(len(options))])
        self.choices.append((taken, float(epsilon), float(sensitivity), options))
        return taken

    def choice(self, options, size=None, replace=True, **_):
        """Stand for the choices of a random generator: all options are possible."""
        drawn = self._outcome("drawn", lambda: self._source.choice(options, size=size, replace=replace))
        self.drawn.append((drawn,))
        return drawn


def _fitted(model, codes, given=None):
    outcomes = _Outcomes(given)
    if hasattr(model, "exponential_mechanism"):
        model.exponential_mechanism = outcomes.choose
    else:
        model._prng = outcomes
    with in_place_of(outcomes.noise):
        data, measures = model._fit(dataset(codes))
    outcomes.released = [(clique, *np.ravel(counts)) for _, counts, _, clique in measures]
    outcomes.released += data.domain.config.items()
    return outcomes


def _distance(left, right):
    """Return the distance of two arrays of counts."""
    return float(np.linalg.norm(left - right)) if left.shape == right.shape else math.inf


def _change(left, right):
    """Return the largest change of the quality of an option."""
    return max(abs(left[name] - right[name]) for name in left) if left.keys() == right.keys() else math.inf


def _costs(make, codes, record, total, words):
    """Compare what a record changes in a fit with the sensitivities, and what this costs with the whole rho."""
    left = _fitted(make(), codes)
    right = _fitted(make(), [*codes, record], left)
    words = f"{words}, {codes!r} and {record!r}"
    for kind in ("marginals", "choices"):
        one, other = len(getattr(left, kind)), len(getattr(right, kind))
        yield f"{kind} of the neighbour, more or less, {words}", 0.0, abs(one - other), 0.0
    # marginals and sizes follow from the outcomes
    yield f"what is released differs, {words}", 0.0, float(left.released != right.released), 0.0
    cost = 0.0
    for number, ((_, sigma, one), (_, scale, other)) in enumerate(zip(left.marginals, right.marginals)):
        moved = _distance(one, other)
        yield f"change of marginal {number}, {words}", 0.0, moved, 1 + 1e-9
        yield agrees(f"noise of marginal {number}, {words}", scale, sigma)
        cost += moved**2 / (2 * sigma**2)
    for number, (one, other) in enumerate(zip(left.choices, right.choices)):
        (_, epsilon, sensitivity, qualities), moved = one, _change(one[-1], other[-1])
        yield f"change of {len(qualities)} qualities, choice {number}, {words}", 0.0, moved, sensitivity * (1 + 1e-9)
        yield agrees(f"epsilon by sensitivity, choice {number}, {words}", other[1] / other[2], epsilon / sensitivity)
        cost += (epsilon * moved / sensitivity) ** 2 / 8
    yield f"rho of all changes, {words}", 0.0, cost, total * (1 + 1e-9)


def _modes(random):
    """Yield arguments of the models, with records that they allow; those with a value that is ruled out are replaced.

    All have the same epsilon and delta, because the search for rho takes a part of a second.
    """
    epsilon, delta = random.uniform(0.8, 6), 10 ** random.uniform(-9, -2)
    flags = itertools.product((False, True), repeat=2)
    for (compress, has_zeros), jobs in zip(flags, random.sample([1, 1, 2, 2], 4)):
        allowed = [code for code in range(12) if not has_zeros or code // 2 % 3 != 1]
        codes = [code for code in random_codes(random, random.randint(12, 40)) if code in allowed]
        more = {"compress": compress, "n_jobs": jobs, "structural_zeros": {"b": [1]} if has_zeros else {}}
        yield epsilon, delta, more, codes, random.choice(allowed)


def _of_mst(random):
    for epsilon, delta, more, *neighbours in _modes(random):
        more["max_model_size"] = random.choice([None, 1.0])
        yield from _replayed(mst.MST, epsilon, delta, more, neighbours)


def _of_aim(random):
    for epsilon, delta, more, *neighbours in _modes(random):
        more["rounds"], more["degree"] = random.choice([None, random.randint(8, 20)]), random.randint(1, 3)
        # a column that is in no marginal cannot be compressed
        more["num_marginals"] = random.choice([None, 2]) if more["degree"] == 2 else None
        more["max_model_size"] = random.choice([None, 10 ** random.uniform(-5, -3)])
        yield from _replayed(aim.AIM, epsilon, delta, more, neighbours)


def _of_priv_bayes(random):
    """Compare the noise alone: the scores are known to move by more than is stated."""
    for epsilon, delta, more, *neighbours in _modes(random):
        more["degree"], more["max_candidates"] = random.randint(2, 3), random.choice([1, 20])
        more["max_model_size"] = random.choice([None, 1.0])
        yield from _replayed(priv_bayes.PrivBayes, epsilon, delta, more, neighbours, part=0.5)


def _replayed(model, epsilon, delta, more, neighbours, part=1.0):
    def make():
        return model(epsilon, delta, prng=np.random.RandomState(7), **more)

    words = f"{model.__name__}({epsilon!r}, {delta!r}, {more!r})"
    yield from _costs(make, *neighbours, cdp_rho(epsilon * part, delta), words)


# --- selections alone -------------------------------------------------------------------------------------------


def _worst_approximated(random):
    """Compare a choice of AIM among cliques of unequal weights with the definition, and neighbours with each other."""
    cliques = [("a",), ("c",), ("a", "b"), ("b", "c"), ("a", "b", "c")]
    candidates = {clique: random.uniform(0.3, 4) for clique in random.sample(cliques, 4)}
    codes, record = random_codes(random, random.randint(4, 25)), random.randrange(12)
    estimate, sigma, epsilon = dataset(random_codes(random, 20)), random.uniform(0.5, 9), random.uniform(0.3, 4)
    words = f"{candidates!r}, sigma {sigma!r}, epsilon {epsilon!r}, {codes!r} and {record!r}"
    for jobs in (1, 2):
        model, outcomes = aim.AIM(1.0, 1e-5, n_jobs=jobs), _Outcomes()
        model.exponential_mechanism = outcomes.choose
        for records in (codes, [*codes, record]):
            answers = {clique: dataset(records).project(clique).datavector() for clique in candidates}
            model.worst_approximated(candidates, answers, estimate, epsilon, sigma)
        (_, _, _, left), (_, _, _, right) = outcomes.choices
        for _, spent, sensitivity, _ in outcomes.choices:
            yield (f"epsilon, {jobs} jobs, {words}", *near(spent, epsilon))
            largest = max(candidates.values())
            yield (f"largest weight over the sensitivity, {jobs} jobs, {words}", *near(largest / sensitivity, 1.0))
            yield f"change of qualities, {jobs} jobs, {words}", 0.0, _change(left, right), sensitivity * (1 + 1e-9)
        yield agrees(f"cliques, {jobs} jobs, {words}", len(left), len(candidates))


def _select(random):
    """Compare the choices of MST beside some edges that are chosen already with the rho that it is asked to spend."""
    codes, rho = random_codes(random, random.randint(4, 25)), random.uniform(0.01, 3)
    edges = random.choice([[], [("a", "b")], [("b", "c")]])
    model, outcomes, data = mst.MST(1.0, 1e-5, n_jobs=1), _Outcomes(), dataset(codes)
    model.exponential_mechanism, model.model_size, model.cliques = outcomes.choose, 0, [(name,) for name in COLUMNS]
    words = f"rho {rho!r}, {edges!r}, {codes!r}"
    log = model.measure(data, model.cliques)
    chosen = model.select(data, rho, log, edges)
    spent = math.fsum((epsilon / sensitivity) ** 2 / 8 for _, epsilon, sensitivity, _ in outcomes.choices)
    yield (f"rho of the choices, {words}", *near(spent, rho))
    yield agrees(f"edges, {words}", len(chosen), len(COLUMNS) - 1)


def replay_cases():
    """Yield the cases of fits to neighbours."""
    fits = {
        "MST spends its rho on the changes of a record": _of_mst,
        "AIM spends its rho on the changes of a record": _of_aim,
        "PrivBayes spends half on the changes of a record": _of_priv_bayes,
    }
    selections = {
        "AIM.worst_approximated is made for its largest weight": _worst_approximated,
        "MST.select spends its rho": _select,
    }
    for name, relations in (("budgets, by changes", fits), ("selections, by changes", selections)):
        yield Relations(name, relations, unsafe=dict.fromkeys(relations, "above"))
