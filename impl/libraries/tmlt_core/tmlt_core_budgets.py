"""Budgets of Tumult Core that are spent: interactive measurements and accountants."""

from __future__ import annotations

from fractions import Fraction

from tmlt.core.domains.collections import ListDomain
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.measurements import noise_mechanisms
from tmlt.core.measurements.chaining import ChainTM
from tmlt.core.measurements.composition import Composition
from tmlt.core.measurements.converters import PureDPToRhoZCDP, RhoZCDPToApproxDP
from tmlt.core.measurements.interactive_measurements import (
    DecorateQueryable,
    InactiveAccountantError,
    IndexQuery,
    MakeInteractive,
    MeasurementQuery,
    ParallelComposition,
    PrivacyAccountant,
    SequentialComposition,
    TransformationQuery,
    create_adaptive_composition,
)
from tmlt.core.measurements.postprocess import NonInteractivePostProcess, PostProcess
from tmlt.core.measures import (
    ApproxDP,
    InsufficientBudgetError,
    PureDP,
    RhoZCDP,
)
from tmlt.core.metrics import (
    AbsoluteDifference,
    RootSumOfSquared,
    SumOf,
)
from tmlt.core.transformations.base import Transformation
from tmlt.core.transformations.chaining import ChainTT
from tmlt.core.transformations.identity import Identity
from tmlt.core.utils.exact_number import ExactNumber
from tmlt_core_numbers import agrees, exactly, nearest_float, protected, random_fraction

from dpassay.adapter import Mechanism, Relations

__all__ = ["budgets"]


def _laplace(scale):
    return noise_mechanisms.AddLaplaceNoise(NumpyFloatDomain(), scale)


def _gaussian(variance):
    return noise_mechanisms.AddGaussianNoise(NumpyFloatDomain(), variance)


_SPACE = (NumpyFloatDomain(), AbsoluteDifference())


class _Times(Transformation):
    """A multiplication by a number: it moves values apart by that factor."""

    def __init__(self, factor):
        super().__init__(*_SPACE, *_SPACE)
        self._factor = factor

    def stability_function(self, d_in):
        return self._factor * ExactNumber(d_in)

    def __call__(self, data):
        return self._factor * data


class _ThreeAndFourTimes(Transformation):
    """A list of three and of four times a value: it moves by 7 times as much, by 5 times under a root of squares."""

    def __init__(self, metric):
        super().__init__(*_SPACE, ListDomain(NumpyFloatDomain(), length=2), metric)
        self._factor = 7 if isinstance(metric, SumOf) else 5

    def stability_function(self, d_in):
        return self._factor * ExactNumber(d_in)

    def __call__(self, data):
        return [3 * data, 4 * data]


def _refused(ask, kind=Exception):
    try:
        ask()
    except kind:
        return 1.0
    return 0.0


def _stated_loss(measurement, distance):
    """Return the loss that a measurement states at a distance, which is infinite if it refuses."""
    try:
        return measurement.privacy_function(distance)
    except Exception:  # noqa: BLE001  # versions raise different ones
        return float("inf")


def _fresh(random, pure):
    """Return a distance, a noise whose loss at it is drawn, and that loss."""
    distance, size = random_fraction(random, 2), random_fraction(random, 2)
    if pure:
        return distance, _laplace, size, lambda scale: distance / scale
    return distance, _gaussian, size, lambda variance: distance**2 / (2 * variance)


def _sequences(random):
    """Check that queries are answered until the budget is spent, and not beyond it."""
    pure = random.random() < 0.5
    distance, make, size, loss = _fresh(random, pure)
    measure = PureDP() if pure else RhoZCDP()
    parts = random.randint(2, 4)
    spent = loss(size)
    whole = SequentialComposition(*_SPACE, measure, distance, parts * spent)
    words = f"{measure}, distance {distance}, {parts} queries of {spent}"
    yield exactly(f"loss, {words}", whole.privacy_function(distance), parts * spent)
    at_twice = nearest_float(parts * spent) * (2 if pure else 4)
    far = nearest_float(_stated_loss(whole, 2 * distance))
    yield f"loss at twice the distance, {words}", at_twice, far, float("inf")
    queryable = whole(7.0)
    for _ in range(parts - 1):
        queryable(MeasurementQuery(MakeInteractive(make(size))))
    beyond = make(size * Fraction(9, 10))
    yield (
        f"slightly more is refused, {words}",
        1.0,
        _refused(lambda: queryable(MeasurementQuery(MakeInteractive(beyond)))),
        1.0,
    )
    queryable(MeasurementQuery(MakeInteractive(make(size))))
    last = make(size * 1000)
    yield (
        f"more than all is refused, {words}",
        1.0,
        _refused(lambda: queryable(MeasurementQuery(MakeInteractive(last)))),
        1.0,
    )


def _stretched(random):
    """Check that a query after a transformation is charged at the distance that the transformation gives."""
    pure = random.random() < 0.5
    distance, make, size, loss = _fresh(random, pure)
    measure, factor = PureDP() if pure else RhoZCDP(), random.randint(2, 4)
    spent = loss(size) * (factor if pure else factor**2)
    words = f"{measure}, distance {distance}, {factor} times that after a transformation, loss {spent}"
    queryable = SequentialComposition(*_SPACE, measure, distance, spent)(7.0)
    queryable(TransformationQuery(_Times(factor)))
    beyond = MeasurementQuery(MakeInteractive(make(size * Fraction(9, 10))))
    yield f"slightly more is refused, {words}", 1.0, _refused(lambda: queryable(beyond), InsufficientBudgetError), 1.0
    queryable(MeasurementQuery(MakeInteractive(make(size))))
    more = MeasurementQuery(MakeInteractive(make(size * 1000)))
    yield f"more than all is refused, {words}", 1.0, _refused(lambda: queryable(more), InsufficientBudgetError), 1.0


def _stated(random):
    """Check that a loss or a distance that a query states is refused when it is too small."""
    pure = random.random() < 0.5
    distance, make, size, loss = _fresh(random, pure)
    measure, factor = PureDP() if pure else RhoZCDP(), random.randint(2, 4)
    words = f"{measure}, distance {distance}, loss {loss(size)}"
    plenty = SequentialComposition(*_SPACE, measure, distance, 1000 * loss(size))
    query = MeasurementQuery(MakeInteractive(make(size)), d_out=loss(size) * Fraction(9, 10))
    yield f"too small a loss, {words}", 1.0, _refused(lambda: plenty(7.0)(query)), 1.0
    accountant = PrivacyAccountant.launch(plenty, 7.0)
    refused = _refused(lambda: accountant.measure(query.measurement.measurement, d_out=query.d_out))
    yield f"too small a loss, PrivacyAccountant, {words}", 1.0, refused, 1.0
    near = factor * distance * Fraction(9, 10)
    refused = _refused(lambda: plenty(7.0)(TransformationQuery(_Times(factor), d_out=near)))
    yield f"too small a distance of {near} after {factor} times, {words}", 1.0, refused, 1.0
    refused = _refused(lambda: accountant.transform_in_place(_Times(factor), d_out=near))
    yield f"too small a distance of {near} after {factor} times, PrivacyAccountant, {words}", 1.0, refused, 1.0
    yield from _stated_in_approximate_privacy(distance)


def _refused_first(random):
    """Check that a transformation that is refused does not change the data: its distance is not charged later."""
    distance, size, factor = random_fraction(random, 2), random_fraction(random, 2), random.randint(100, 1000)
    value = 1000.0
    queryable = SequentialComposition(*_SPACE, PureDP(), distance, distance / size)(value)
    query = TransformationQuery(_Times(factor), d_out=distance)
    words = f"{factor} times a value, stated as distance {distance} of {distance}"
    yield f"it is refused, {words}", 1.0, _refused(lambda: queryable(query)), 1.0
    answer = float(queryable(MeasurementQuery(MakeInteractive(_laplace(size))))(None))
    far = 40 * float(size)  # exceeded with a probability of exp(-40)
    yield f"the value after it, scale {size}, {words}", value - far, answer, value + far


def _stated_in_approximate_privacy(distance):
    """Check that a measurement that cannot state its loss is charged the loss that the query states."""
    rho, delta = Fraction(1, 4), Fraction(1, 1000)
    inner = RhoZCDPToApproxDP(_gaussian(distance**2 / (2 * rho)))
    epsilon = Fraction(3)  # rho + 2 sqrt(rho log(1/delta)) is 2.88
    whole = SequentialComposition(*_SPACE, ApproxDP(), distance, (5, 10 * delta))
    accountant = PrivacyAccountant.launch(whole, 7.0)
    words = f"zCDP of {rho} in approximate privacy, distance {distance}"
    refused = _refused(lambda: accountant.measure(inner, d_out=(epsilon / 2, delta)))
    yield f"too small a loss, {words}", 1.0, refused, 1.0
    accountant.measure(inner, d_out=(epsilon, delta))
    left, delta_left = accountant.privacy_budget
    yield exactly(f"epsilon spent, {words}", 5 - left, epsilon)
    yield exactly(f"delta spent, {words}", 10 * delta - delta_left, delta)


def _retired(random):
    """Check that only the last queryable answers, and that it does not draw again, which is above its bounds."""
    distance, size = random_fraction(random, 2), random_fraction(random, 2)
    spent = distance / size
    words = f"distance {distance}, queries of {spent}"
    queryable = SequentialComposition(*_SPACE, PureDP(), distance, 4 * spent)(7.0)
    query = MeasurementQuery(MakeInteractive(_laplace(size)))
    first = queryable(query)
    yield f"an answer is the same when it is asked again, {words}", 0.0, float(abs(first(None) - first(None))), 0.0
    inner = queryable(MeasurementQuery(SequentialComposition(*_SPACE, PureDP(), distance, 2 * spent)))
    yield f"a queryable before the last is refused, {words}", 1.0, _refused(lambda: first(None)), 1.0
    leaf = inner(query)
    queryable(query)
    yield f"a sequence before the last is refused, {words}", 1.0, _refused(lambda: inner(query)), 1.0
    yield f"a queryable of that sequence is refused, {words}", 1.0, _refused(lambda: leaf(None)), 1.0


def _adaptive(random):
    """Check that a composition in which queries are measurements costs what they cost."""
    pure = random.random() < 0.5
    distance, make, size, loss = _fresh(random, pure)
    measure = PureDP() if pure else RhoZCDP()
    whole = create_adaptive_composition(*_SPACE, distance, 2 * loss(size), measure)
    words = f"{measure}, distance {distance}, budget {2 * loss(size)}"
    yield exactly(f"loss, {words}", whole.privacy_function(distance), 2 * loss(size))
    queryable = whole(7.0)
    queryable(MeasurementQuery(make(size)))
    more = make(size / 2) if pure else make(size / Fraction(3, 2))
    yield f"more is refused, {words}", 1.0, _refused(lambda: queryable(MeasurementQuery(more))), 1.0
    queryable(MeasurementQuery(make(size)))


def _accountants(random):
    """Check what an accountant has left after measurements, and after a transformation."""
    pure = random.random() < 0.5
    distance, make, size, loss = _fresh(random, pure)
    measure = PureDP() if pure else RhoZCDP()
    whole = SequentialComposition(*_SPACE, measure, distance, 5 * loss(size))
    accountant = PrivacyAccountant.launch(whole, 7.0)
    words = f"{measure}, distance {distance}, budget {5 * loss(size)}"
    accountant.measure(make(size))
    yield exactly(f"spent by one, {words}", 5 * loss(size) - accountant.privacy_budget, loss(size))
    accountant.transform_in_place(_Times(3))
    yield exactly(f"distance after a transformation, {words}", accountant.d_in, 3 * distance)
    accountant.measure(make(3 * size))
    exact = loss(size) + loss(3 * size) * (3 if pure else 9)
    yield exactly(f"spent by both, {words}", 5 * loss(size) - accountant.privacy_budget, exact)
    beyond = make(size / 100)
    refused = _refused(lambda: accountant.measure(beyond), InsufficientBudgetError)
    yield protected(f"more is refused, {words}", refused)
    accountant.retire()
    yield agrees(f"after it is retired, {words}", _refused(lambda: accountant.measure(make(size))))


def _split(random):
    """Check what accountants of the parts of a list may spend, and that they are used one after another."""
    pure = random.random() < 0.5
    distance, make, size, loss = _fresh(random, pure)
    measure, metric = (PureDP(), SumOf) if pure else (RhoZCDP(), RootSumOfSquared)
    factor = 7 if pure else 5
    spent = loss(size) * (factor if pure else factor**2)
    whole = SequentialComposition(*_SPACE, measure, distance, 5 * spent)
    accountant = PrivacyAccountant.launch(whole, 7.0)
    words = f"{measure}, distance {distance}, loss of a part {spent}"
    first, second = accountant.split(_ThreeAndFourTimes(metric(AbsoluteDifference())), 2 * spent)
    taken = 5 * spent - accountant.privacy_budget
    yield exactly(f"taken by a split, {words}", taken, 2 * spent)
    for part in (first, second):
        yield exactly(f"distance of a part, {words}", part.d_in, factor * distance)
        yield exactly(f"taken for a part with a budget, {words}", taken, part.privacy_budget)

    def refuses(one):
        return _refused(lambda: one.measure(make(size)), InactiveAccountantError)

    yield agrees(f"the second part before the first, {words}", refuses(second))
    yield agrees(f"the whole before its parts, {words}", refuses(accountant))
    first.measure(make(size))
    yield exactly(f"spent by the first part, {words}", 2 * spent - first.privacy_budget, spent)
    second.queue_transformation(_Times(2))
    first.retire()
    yield agrees(f"the first part after it is retired, {words}", refuses(first))
    second.measure(make(2 * size if pure else 4 * size))
    yield exactly(f"spent by the second part, {words}", 2 * spent - second.privacy_budget, spent)
    second.retire()
    accountant.measure(make(size))
    yield exactly(f"spent by the whole, {words}", 5 * spent - accountant.privacy_budget, 2 * spent + loss(size))


def _parts_in_turn(random):
    """Check that the parts of a list are measured once, each in its turn."""
    values = [1000.0, 2000.0, 3000.0]
    sizes = [random_fraction(random, 2) for _ in values]
    parts = [MakeInteractive(_laplace(size)) for size in sizes]
    domain = ListDomain(NumpyFloatDomain(), length=len(values))
    queryable = ParallelComposition(domain, SumOf(AbsoluteDifference()), PureDP(), parts)(values)
    words = f"scales {[str(size) for size in sizes]}"
    yield agrees(f"part 1 before part 0, {words}", _refused(lambda: queryable(IndexQuery(1))))
    before = None
    for index, (value, size) in enumerate(zip(values, sizes)):
        part = queryable(IndexQuery(index))
        answer = part(None)
        far = 40 * float(size)  # exceeded with a probability of exp(-40)
        yield agrees(f"answer of part {index}, {float(answer)!r}, {words}", abs(float(answer) - value) <= far)
        yield protected(f"part {index} is asked again and is the same, {words}", part(None) == answer)
        again = _refused(lambda index=index: queryable(IndexQuery(index)))
        yield protected(f"part {index} measured again is refused, {words}", again)
        if before is not None:
            refused = _refused(lambda before=before: before(None))
            yield agrees(f"part {index - 1} after part {index} is refused, {words}", refused)
        before = part
    refused = _refused(lambda: queryable(IndexQuery(0)))
    yield protected(f"part 0 after the last is refused, {words}", refused)


def _parallel(random):
    """Compare measurements of the parts of a list with the largest of their losses, and the sum that they may have."""
    sizes = [random_fraction(random, 2) for _ in range(3)]
    distance = random_fraction(random, 2)
    parts = [MakeInteractive(_laplace(size)) for size in sizes]
    domain = ListDomain(NumpyFloatDomain(), length=3)
    whole = ParallelComposition(domain, SumOf(AbsoluteDifference()), PureDP(), parts)
    words = f"scales {[str(size) for size in sizes]}, distance {distance}"
    yield exactly(f"pure, {words}", whole.privacy_function(distance), distance / min(sizes))
    parts = [MakeInteractive(_gaussian(size)) for size in sizes]
    whole = ParallelComposition(domain, RootSumOfSquared(AbsoluteDifference()), RhoZCDP(), parts)
    yield exactly(f"zCDP, {words}", whole.privacy_function(distance), distance**2 / (2 * min(sizes)))
    wrong = _refused(lambda: ParallelComposition(domain, RootSumOfSquared(AbsoluteDifference()), PureDP(), parts))
    yield agrees("pure privacy with a root of squares is refused", wrong)


def _wrappers(random):
    """Check that what wraps a measurement states its loss."""
    size, distance = random_fraction(random, 2), random_fraction(random, 2)
    inner, exact = _laplace(size), distance / size
    words = f"scale {size}, distance {distance}"
    identity = Identity(domain=NumpyFloatDomain(), metric=AbsoluteDifference())
    wrapped = {
        "MakeInteractive": MakeInteractive(inner),
        "DecorateQueryable": DecorateQueryable(MakeInteractive(inner), lambda query: query, lambda answer: answer),
        "NonInteractivePostProcess": NonInteractivePostProcess(MakeInteractive(inner), lambda queryable: queryable),
        "PostProcess": PostProcess(inner, lambda answer: answer + 1),
        "ChainTM": ChainTM(identity, inner),
        "ChainTM with a hint": ChainTM(identity, inner, hint=lambda d_in, _: d_in),
        "ChainTM of ChainTT": ChainTM(ChainTT(identity, identity), inner),
        "Composition of two": Composition([inner, PostProcess(inner, float)]),
    }
    for name, measurement in wrapped.items():
        factor = 2 if name.startswith("Composition") else 1
        yield exactly(f"{name}, {words}", measurement.privacy_function(distance), factor * exact)
        holds = measurement.privacy_relation(distance, factor * exact)
        yield agrees(f"{name}, a relation that holds, {words}", holds)
        fails = not measurement.privacy_relation(distance, factor * exact * Fraction(99, 100))
        yield protected(f"{name}, one that does not, {words}", fails)


def _sequence_of_noise(scale):
    """Return the case: two queries of an interactive measurement, the second after a transformation."""
    whole = SequentialComposition(*_SPACE, PureDP(), 2, 3 / scale)

    def sample_one(data):
        queryable = whole(float(data[0]))
        first = queryable(MeasurementQuery(MakeInteractive(_laplace(scale))))(None)
        queryable(TransformationQuery(_Times(3)))
        second = queryable(MeasurementQuery(MakeInteractive(_laplace(6 * scale))))(None)
        return [float(first), float(second)]

    return Mechanism(
        f"SequentialComposition of Laplace noise at {scale} and, tripled, {6 * scale}, distance 2",
        "vector:size=1,linf=2",
        f"pure:{nearest_float(whole.privacy_function(2))!r}",
        sample_one=sample_one,
        slow=True,
        relative_error=1e-9,
    )


def budgets():
    """Yield the cases."""
    approximate = {
        "approximate privacy": lambda: (
            SequentialComposition(*_SPACE, ApproxDP(), 1, (2, Fraction(1, 9))).privacy_function(1)
            == (2, Fraction(1, 9))
        ),
        "pure measurements in zCDP": lambda: (
            SequentialComposition(*_SPACE, RhoZCDP(), 1, 1)(0.0)(
                MeasurementQuery(MakeInteractive(PureDPToRhoZCDP(_laplace(1))))
            )
            is not None
        ),
    }
    sequences = {
        "budgets are spent": _sequences,
        "transformations stretch distances": _stretched,
        "stated losses and distances are not too small": _stated,
    }
    last = {"only the last queryable answers": _retired}
    yield Relations(
        "SequentialComposition, SequentialQueryable",
        {**sequences, **last},
        approximate,
        unsafe=dict.fromkeys(sequences, "below") | dict.fromkeys(last, "above"),
    )
    for name, relations in {
        "create_adaptive_composition": {"budgets are spent": _adaptive},
        "PrivacyAccountant": {"budgets are spent": _accountants, "parts are used in turn": _split},
        "ParallelComposition, ParallelQueryable": {
            "losses are those of the parts": _parallel,
            "parts are used in turn": _parts_in_turn,
        },
        "MakeInteractive, DecorateQueryable, PostProcess, ChainTM, ChainTT": {"losses are kept": _wrappers},
    }.items():
        yield Relations(name, relations, unsafe=dict.fromkeys(relations, "below"))
    refused = {"they change nothing": _refused_first}
    name = "SequentialQueryable, transformations that it refuses"
    yield Relations(name, refused, unsafe=dict.fromkeys(refused, "either"))
    yield _sequence_of_noise(Fraction(3, 2))
