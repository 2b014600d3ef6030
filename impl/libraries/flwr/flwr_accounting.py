"""The accountant of flwr, its configuration, and the strategies that count rounds with it."""

from __future__ import annotations

import functools
import json
import math

from flwr.app import ConfigRecord
from flwr.serverapp import strategy as strategies
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.serverapp.strategy import FedAvg, FedMedian
from flwr.supercore.privacy_accounting import (
    GaussianPrivacyEvent,
    NeighboringRelation,
    PrivacyConfig,
    SamplingMethod,
)
from flwr.supercore.privacy_accounting.rdp_accountant import RdpAccountant
from flwr_rounds import MODEL, SIDES, Grid, answer, moved, record, wrapper

from dpassay.adapter import Answer, Nonsense, Relations
from dpassay.impl.libraries.references import divided, gaussian_epsilon, near

_CLIENTS = 10**6
_DOMAIN = {"count": (1, 300), "sigma": (0.5, 100.0), "rate": (1e-5, 1.0), "delta": (1e-12, 0.5)}
_ADD, _REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
_ALL, _POISSON, _WITHOUT = (
    SamplingMethod.NO_AMPLIFICATION,
    SamplingMethod.POISSON,
    SamplingMethod.WITHOUT_REPLACEMENT,
)


def _accountant(sampling=_ALL, relation=_ADD, *, clients=_CLIENTS, delta=1e-5, most=None):
    return RdpAccountant(PrivacyConfig(delta, clients, relation, sampling, most))


def _spent(sigma, count, rate=None):
    """Return an account of rounds; the number of sampled clients is rounded up."""
    account = _accountant(_ALL if rate is None else _POISSON)
    sampled = _CLIENTS if rate is None else math.ceil(rate * _CLIENTS)
    for part in count if isinstance(count, tuple) else (count,):
        account.compose(
            GaussianPrivacyEvent(float(sigma), sampled, _CLIENTS), int(part) if part == int(part) else part
        )
    return account


def accounting_answers():
    """Yield the answers of the accountant."""
    for stem in ("gaussian", "subsampled_gaussian"):
        yield Answer(
            f"RdpAccountant, {stem}, epsilon",
            f"{stem}_epsilon",
            lambda sigma, count, delta, rate=None: _spent(sigma, count, rate).get_epsilon(delta),
            domain=_DOMAIN,
            relative_error=1e-9,
            absolute_error=1e-12,
            calls=40,
            splits=stem == "gaussian",
        )
        yield Answer(
            f"RdpAccountant, {stem}, delta",
            f"{stem}_delta",
            lambda sigma, count, epsilon, rate=None: _spent(sigma, count, rate).get_delta(epsilon),
            domain=_DOMAIN,
            relative_error=1e-9,
            absolute_error=1e-12,
            calls=40,
        )


def _composed(random):
    """Check what an account says of itself, and that no question changes it."""
    sigmas = [random.uniform(1, 6) for _ in range(3)]
    counts = [random.randint(2, 9) for _ in sigmas]
    delta, target = 10 ** random.uniform(-9, -3), 10 ** random.uniform(-9, -3)
    account = _accountant(clients=700, delta=target)
    for sigma, count in zip(sigmas, counts):
        account.compose(GaussianPrivacyEvent(sigma, 30, 700), count)
    words = f"{sigmas!r}, {counts!r}, delta {delta!r}, {target!r}"
    least = functools.partial(gaussian_epsilon, math.fsum(n / s**2 for s, n in zip(sigmas, counts)) ** -0.5)
    found = account.get_epsilon(delta)
    yield f"least epsilon, {words}", least(delta) * (1 - 1e-9), found, 2 * least(delta) + 1
    yield f"releases, {words}", sum(counts), account.num_releases, sum(counts)
    spent = account.get_privacy_spent()
    yield f"least epsilon of privacy_spent, {words}", least(target) * (1 - 1e-9), spent.epsilon, math.inf
    yield (f"epsilon of privacy_spent, {words}", *near(spent.epsilon, account.get_epsilon(target)))
    yield (f"delta of privacy_spent, {words}", *near(spent.delta, target))
    again = account.get_privacy_spent(delta).epsilon
    yield f"least epsilon of privacy_spent(delta), {words}", least(delta) * (1 - 1e-9), again, math.inf
    yield (f"epsilon of privacy_spent(delta), {words}", *near(again, found))
    restored = _accountant(clients=700, delta=target)
    restored.load_state_dict(json.loads(json.dumps(account.state_dict())))
    loaded = restored.get_epsilon(delta)
    yield f"least epsilon of a loaded state, {words}", least(delta) * (1 - 1e-9), loaded, math.inf
    yield (f"epsilon of a loaded state, {words}", *near(loaded, found))
    yield f"releases of a loaded state, {words}", sum(counts), restored.num_releases, sum(counts)
    event, count = GaussianPrivacyEvent(random.uniform(1, 6), 30, 700), random.randint(2, 5)
    once_more = _accountant(clients=700, delta=target)
    once_more.load_state_dict(account.state_dict())
    once_more.compose(event, count)
    after = once_more.get_epsilon(target)
    for factor, exceeds in ((0.999, 1.0), (1.001, 0.0)):
        verdict = float(account.would_exceed(event, after * factor, count))
        yield f"would_exceed({factor} times what it costs), {words}", exceeds, verdict, exceeds
    after = account.get_epsilon(delta)
    yield f"least epsilon after would_exceed, {words}", least(delta) * (1 - 1e-9), after, math.inf
    yield (f"epsilon after would_exceed, {words}", *near(after, found))


def _sampled(random):
    """Compare a sample of all clients with no sampling, and what replacing costs with what adding costs."""
    sigma, count, delta = random.uniform(1, 5), random.randint(2, 20), 10 ** random.uniform(-8, -3)
    words = f"noise {sigma!r}, {count} releases, delta {delta!r}"
    plain, whole = _spent(sigma, count).get_epsilon(delta), _spent(sigma, count, 1.0).get_epsilon(delta)
    least = gaussian_epsilon(sigma / math.sqrt(count), delta) * (1 - 1e-9)
    yield f"least epsilon of a sample of all, {words}", least, whole, math.inf
    yield (f"a sample of all, {words}", *near(whole, plain, 1e-6))
    sampled = random.randint(30, 300)
    replaced = _accountant(_WITHOUT, _REPLACE, clients=500)
    replaced.compose(GaussianPrivacyEvent(sigma, sampled, 500), count)
    added = _accountant(_POISSON, clients=500)
    added.compose(GaussianPrivacyEvent(sigma, sampled, 500), count)
    low = added.get_epsilon(delta)
    yield f"a sample of {sampled} of 500, {words}", low * (1 - 1e-9), replaced.get_epsilon(delta), math.inf


def _fixed(side, inner, multiplier, clients, account):
    """Return the strategy of fixed clipping at a side that counts its rounds with an account."""
    return getattr(strategies, wrapper(side, "Fixed"))(inner, multiplier, 0.7, clients, accountant=account)


def _counted(side, clients=3, most=None, inner=None, multiplier=1.4):
    account = _accountant(clients=clients, most=most)
    inner = FedAvg(min_train_nodes=clients, min_available_nodes=clients) if inner is None else inner
    return _fixed(side, inner, multiplier, clients, account), account


def _play(wrapped, number, xs, weights=(5, 5, 5)):
    messages = list(wrapped.configure_train(number, record(MODEL), ConfigRecord(), Grid(len(xs))))
    replies = [answer(moved(x), weight) for x, weight in zip(xs, weights)]
    return messages, wrapped.aggregate_train(number, replies)


def _rounds_are_counted(side):
    wrapped, account = _counted(side)
    for number in (1, 2, 3, 4):
        _play(wrapped, number, [1.0, 2.0, -3.0])
    expected = _accountant(clients=3)
    expected.compose(GaussianPrivacyEvent(1.4, 3, 3), 4)
    return account.num_releases == 4 and wrapped.privacy_spent() == expected.get_privacy_spent()


def _until_the_budget_ends(side):
    """Return the account of a strategy, and how many rounds it released within a max_epsilon of 9."""
    wrapped, account = _counted(side, most=9.0)
    for number in range(200):
        try:
            _play(wrapped, number + 1, [1.0, 2.0, -3.0])
        except PrivacyBudgetExhausted:
            return account, number
    return account, math.inf


def _budget_ends(side):
    account, number = _until_the_budget_ends(side)
    one_more = account.would_exceed(GaussianPrivacyEvent(1.4, 3, 3))
    return account.get_privacy_spent().epsilon <= 9.0 and one_more and account.num_releases == number


def _budget_is_kept(side):
    """Return whether the exact epsilon of the rounds that are released, at the delta of the account, is within it."""
    _, number = _until_the_budget_ends(side)
    return number < math.inf and gaussian_epsilon(1.4 / math.sqrt(max(number, 1)), 1e-5) <= 9.0


def _unequal(side, place):
    """Play a round of three clients, of whom the one at a place has another weight than the others."""
    wrapped, _ = _counted(side)
    return _play(wrapped, 1, [1.0, 2.0, -3.0], weights=[6 if client == place else 5 for client in range(3)])


def _sampling(side):
    return _fixed(side, FedAvg(), 1.4, 3, _accountant(_POISSON, clients=3))


def _of_replies(side, replies):
    """Return what a round of three clients with another number of replies releases, and what the account counts."""
    wrapped, account = _counted(side)
    wrapped.configure_train(1, record(MODEL), ConfigRecord(), Grid(3))
    released, _ = wrapped.aggregate_train(1, [answer(moved(1.0 + place)) for place in range(replies)])
    return released, account.num_releases


def _releases_nothing(side, replies):
    """Return whether such a round is not released: no account covers it."""
    return _of_replies(side, replies)[0] is None


def _costs_nothing(side, replies):
    return _of_replies(side, replies)[1] == 0


def accounting_relations():
    """Yield relations and facts of the accountant, and of the strategy that uses it."""
    fewer, stopped = "a round without a reply releases nothing", "the strategy does not exceed max_epsilon"
    yield Relations(
        "RdpAccountant, relations",
        {
            **divided(_composed, "accounts cover their noise", "accounts add up", "least epsilon"),
            **divided(_sampled, "a sample of all covers its noise", "samples cost less", "least epsilon"),
        },
        {
            f"{words}, {side}": functools.partial(fact, side, *given)
            for side in SIDES
            for words, fact, *given in (
                ("the strategy counts its rounds", _rounds_are_counted),
                ("the strategy stops within max_epsilon", _budget_ends),
                (stopped, _budget_is_kept),
                (fewer, _releases_nothing, 2),
                ("a round without a reply costs nothing", _costs_nothing, 2),
                ("a round with a reply too many releases nothing", _releases_nothing, 4),
                ("a round with a reply too many costs nothing", _costs_nothing, 4),
            )
        },
        unsafe={f"{words}, {side}": "either" for words in (fewer, stopped) for side in SIDES},
        understated=["accounts cover their noise", "a sample of all covers its noise"],
    )


def accounting_refusals():
    """Yield invalid calls."""
    nan = math.nan

    def config(delta=1e-5, clients=10, relation=_ADD, sampling=_ALL, most=None):
        return lambda: PrivacyConfig(delta, clients, relation, sampling, most)

    def event(sigma=1.4, sampled=3, clients=10):
        return lambda: _accountant(clients=10).compose(GaussianPrivacyEvent(sigma, sampled, clients))

    account = _spent(2.0, 3)
    other = _accountant(clients=11)
    yield Nonsense(
        "flwr.supercore.privacy_accounting",
        {
            **{f"target_delta={value}": config(delta=value) for value in (0.0, 1.0, -0.1, nan)},
            "population_size=0": config(clients=0),
            "max_epsilon=-1": config(most=-1.0),
            "max_epsilon=nan": config(most=nan),
            "Poisson with replacement": config(relation=_REPLACE, sampling=_POISSON),
            "fixed size with removal": config(relation=_ADD, sampling=_WITHOUT),
            "no sampling with replacement": config(relation=_REPLACE),
            **{f"noise_multiplier={value}": event(sigma=value) for value in (0.0, -1.0, nan, math.inf)},
            "sample_size=11 of 10": event(sampled=11),
            "sample_size=0": event(sampled=0),
            "another population": event(clients=9),
            **{f"count={value}": _compose(value) for value in (0, -1, 1.5)},
            **{f"get_epsilon({value})": _ask("get_epsilon", value) for value in (0.0, 1.0, nan)},
            **{f"get_delta({value})": _ask("get_delta", value) for value in (-1.0, nan)},
            "orders=(1.0,)": lambda: RdpAccountant(account.config, (1.0,)),
            "a state of another configuration": lambda: other.load_state_dict(account.state_dict()),
            "would_exceed without a limit": lambda: account.would_exceed(GaussianPrivacyEvent(1.0, 2, _CLIENTS)),
            **{
                f"{words} with an accountant, {side}": functools.partial(attempt, side)
                for side in SIDES
                for words, attempt in (
                    *(
                        (f"another weight at place {place}", functools.partial(_unequal, place=place))
                        for place in range(3)
                    ),
                    ("a median", functools.partial(_counted, inner=FedMedian())),
                    ("no noise", functools.partial(_counted, multiplier=0.0)),
                    ("Poisson sampling", _sampling),
                )
            },
        },
    )


def _compose(count):
    return lambda: _accountant(clients=10).compose(GaussianPrivacyEvent(1.4, 3, 10), count)


def _ask(method, value):
    return lambda: getattr(_spent(2.0, 3), method)(value)
