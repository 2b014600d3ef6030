"""Rounds of training in flwr without a network: what clients send, and what the server or a client releases.

A client is described by one number x: its model is the global one plus x times a fixed direction, in arrays of
different shapes. Clipping bounds the norm of the update, which is abs(x) times that of the direction.
"""

from __future__ import annotations

import logging
import math
from contextlib import contextmanager

import numpy as np
from flwr import clientapp
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.client import mod as legacy_mods
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.compat.client.dpfedavg_numpy_client import DPFedAvgNumPyClient
from flwr.compat.common import recorddict_compat
from flwr.server import strategy as legacy
from flwr.serverapp import strategy as current
from flwr.supercore.differential_privacy import KEY_NORM_BIT
from flwr.supercore.task_identity import TaskIdentity

logging.getLogger("flwr").setLevel(logging.CRITICAL)
TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1

APIS, SIDES = ["message", "legacy"], ["Server", "Client"]
MULTIPLIERS, NORMS = (0.8, 2.0), (0.3, 6.0)
"""Ranges from which the parameters of strategies are drawn."""

MODEL = [
    np.array([30.0, -4.0]),
    np.array([[7.0, 0.5, -2.0], [11.0, -3.0, 6.0]]),
    np.array([[[1.5, -8.0]], [[0.2, 5.0]]]),
]
DIRECTION = [
    np.array([0.6, -1.1]),
    np.array([[0.5, -0.4, 0.9], [-0.2, 0.7, 0.3]]),
    np.array([[[-0.8, 0.1]], [[0.6, -0.5]]]),
]
SCALARS = [np.array(30.0)], [np.array(0.7)]
"""A model of one parameter in an array without dimensions, and its direction."""

_LEAST = 1e-6
"""Smaller updates are made larger: the library raises on an update of 0, and another case asks about that."""


def norm(arrays):
    """Return the L2 norm of all entries."""
    return math.sqrt(math.fsum(float(x) ** 2 for array in arrays for x in np.ravel(array)))


def moved(x, model=MODEL, direction=DIRECTION):
    """Return the model of the client x."""
    return [part + _visible(x) * step for part, step in zip(model, direction)]


def _visible(x):
    return math.copysign(max(abs(x), _LEAST), x)


def flat(arrays):
    """Return all entries as a list of numbers."""
    return [float(x) for array in arrays for x in np.ravel(array)]


def clipped(x, bound, model=MODEL, direction=DIRECTION):
    """Return the model of the client x after clipping its update, as a flat array."""
    length = norm(direction)
    kept = math.copysign(min(abs(_visible(x)), bound / length), x)
    return np.array(flat(model)) + kept * np.array(flat(direction))


@contextmanager
def _numpy_normal(function):
    kept, np.random.normal = np.random.normal, function
    try:
        yield
    finally:
        np.random.normal = kept


def _known(call, offset):
    """Return what a call returns with noise of `offset()` standard deviations for each entry, and the noise."""
    noises = []

    def normal(loc=0.0, scale=1.0, size=None):
        shape = () if size is None else size
        added = float(scale) * np.array([offset() for _ in range(int(np.prod(shape)))]).reshape(shape)
        noises.append((float(loc), float(scale), added))
        return float(loc) + float(added) if size is None else float(loc) + added

    with _numpy_normal(normal):
        return call(), noises


def recorded(call):
    """Return what a call returns without its Gaussian noise, and a list of (mean, standard deviation) of the noise."""
    result, noises = _known(call, lambda: 0.0)
    return result, [(mean, scale) for mean, scale, _ in noises]


def shifted(call, random):
    """Return what a call returns with noise that is known, and a list of (mean, standard deviation, noise).

    Noise that is drawn and not released is seen so: each entry is to be that of the definition plus its own noise.
    """
    return _known(call, lambda: random.uniform(-1.5, 1.5))


NOISE = ("arrays with noise", "noises of the shape", "noise of", "enough noise")
"""Beginnings of the words of comparisons of noise: where the number is too small, there is less than is stated."""


def noise_of_entries(noises):
    """Return the noise of each entry of a model, as `shifted` lists it, added up over models with their own noise."""
    entries = flat([added for _, _, added in noises])
    count = len(flat(MODEL))
    return np.array([math.fsum(entries[place::count]) for place in range(count)])


def noises_of_arrays(noises):
    """Return how many noises, as `shifted` lists them, have the shapes of the arrays of models in turn."""
    matched = 0
    for _, _, added in noises:
        matched += np.shape(added) == MODEL[matched % len(MODEL)].shape
    return matched


# --- messages ---------------------------------------------------------------------------------------------------


def record(arrays):
    """Return a record of arrays."""
    return ArrayRecord({f"layer {place}": Array(np.asarray(array)) for place, array in enumerate(arrays)})


def request(model=MODEL, **config):
    """Return a message of the server."""
    content = RecordDict({"arrays": record(model), "config": ConfigRecord(config)})
    return Message(content, dst_node_id=2, message_type="train")


def answer(arrays, weight=5, **metrics):
    """Return the reply of a client."""
    content = RecordDict({"arrays": record(arrays), "metrics": MetricRecord({"num-examples": weight, **metrics})})
    return Message(content, reply_to=request())


def _fit_result(arrays, weight=5, **metrics):
    return FitRes(Status(Code.OK, ""), ndarrays_to_parameters(arrays), weight, dict(metrics))


class _Proxy:
    cid = "2"


CONTEXT = Context(run_id=1, node_id=2, node_config={}, state=RecordDict(), run_config={})


def through_mod(api, name, arrays, model=MODEL, make=None, **config):
    """Return the arrays that a client sends through a modifier, and its metrics.

    Parameters
    ----------
    api : str
        ``message`` or ``legacy``.
    name : str
        Name of the modifier.
    arrays, model : list of arrays
        The models of the client and of the server.
    make : tuple, optional
        Arguments of the modifier, if it is a class.
    **config
        Of the server.
    """
    modifier = getattr(clientapp.mod if api == "message" else legacy_mods, name)
    modifier = modifier if make is None else modifier(*make)
    if api == "message":
        reply = modifier(request(model, **config), CONTEXT, lambda *_: answer(arrays))
        sent = next(iter(reply.content.array_records.values())).to_numpy_ndarrays()
        return sent, dict(next(iter(reply.content.metric_records.values())))
    from flwr.common import FitIns

    asked = recorddict_compat.fitins_to_recorddict(
        FitIns(ndarrays_to_parameters(model), dict(config)), keep_input=True
    )
    message = Message(asked, dst_node_id=2, message_type="train")

    def inner(*_):
        return Message(recorddict_compat.fitres_to_recorddict(_fit_result(arrays), keep_input=True), reply_to=message)

    result = recorddict_compat.recorddict_to_fitres(modifier(message, CONTEXT, inner).content, keep_input=True)
    return parameters_to_ndarrays(result.parameters), dict(result.metrics)


# --- strategies -------------------------------------------------------------------------------------------------


def wrapper(side, kind):
    """Return the name of a strategy that wraps another one."""
    return f"DifferentialPrivacy{side}Side{kind}Clipping"


def strategy(api, name, *arguments, **named):
    """Return a strategy that wraps federated averaging."""
    module = current if api == "message" else legacy
    return getattr(module, name)(module.FedAvg(), *arguments, **named)


class Grid:
    """As many nodes as a strategy samples."""

    def __init__(self, clients):
        self.clients = clients

    def get_node_ids(self):
        """Return the numbers of the nodes."""
        return list(range(1, self.clients + 1))


class _Manager:
    """The same in the older interface."""

    def __init__(self, clients):
        self.clients = clients

    def num_available(self):
        return self.clients

    def sample(self, num_clients, **_):
        return [_Proxy()] * num_clients


def no_config(api):
    """Return an empty configuration that a user gives to a strategy, the same object for all rounds."""
    return ConfigRecord() if api == "message" else {}


def instructions(api, wrapped, model, clients, config):
    """Return the model and the configuration that a strategy sends to each client."""
    if api == "message":
        messages = wrapped.configure_train(1, record(model), config, Grid(clients))
        return [
            (
                next(iter(message.content.array_records.values())).to_numpy_ndarrays(),
                dict(next(iter(message.content.config_records.values()))),
            )
            for message in messages
        ]
    wrapped.strategy.on_fit_config_fn = lambda _: config
    asked = wrapped.configure_fit(1, ndarrays_to_parameters(model), _Manager(clients))
    return [(parameters_to_ndarrays(each.parameters), dict(each.config)) for _, each in asked]


class Unclipped:
    """The client x of the deprecated interface, before it is wrapped."""

    def __init__(self, x):
        self.x = x

    def fit(self, parameters, _):
        """Return the model of the client, its number of examples and no metrics."""
        return moved(self.x, parameters), 5, {}


class InPlace(Unclipped):
    """The same client, which trains the arrays that it is given."""

    def fit(self, parameters, _):
        """Return the arrays that are given, with the model of the client."""
        for array, trained in zip(parameters, moved(self.x, parameters)):
            array[...] = trained
        return parameters, 5, {}


def _sent(api, kind, x, model, direction, config):
    """Return the model that the client x sends after clipping, if the strategy leaves it to clients, and metrics."""
    arrays = moved(x, model, direction)
    if kind.startswith("DPFedAvg"):
        arrays, _, metrics = DPFedAvgNumPyClient(Unclipped(x)).fit(model, config)
        return arrays, metrics
    if "ClientSide" not in kind:
        return arrays, {}
    modifier = "adaptiveclipping_mod" if "Adaptive" in kind else "fixedclipping_mod"
    arrays, metrics = through_mod(api, modifier, arrays, model, **config)
    return arrays, {name: value for name, value in metrics.items() if name == KEY_NORM_BIT}


def one_round(api, wrapped, xs, weights=None, model=MODEL, direction=DIRECTION, config=None):
    """Return the arrays that the server releases, and the metrics; clients do what the strategy tells them.

    Parameters
    ----------
    api : str
        ``message`` or ``legacy``.
    wrapped : strategy
        As `strategy` returns it.
    xs : list of float
        The clients.
    weights : list of int, optional
        Their numbers of examples, by default equal.
    model, direction : list of arrays
        The global model, and the direction of all updates.
    config : optional
        What `no_config` returned, to be the same in all rounds.
    """
    weights = [5] * len(xs) if weights is None else weights
    config = no_config(api) if config is None else config
    asked = instructions(api, wrapped, model, len(xs), config)
    kind = type(wrapped).__name__
    sent = [_sent(api, kind, x, received, direction, told) for x, (received, told) in zip(xs, asked)]
    if api == "message":
        replies = [answer(arrays, weight, **metrics) for (arrays, metrics), weight in zip(sent, weights)]
        released, metrics = wrapped.aggregate_train(1, replies)
        return released.to_numpy_ndarrays(), dict(metrics or {})
    results = [(_Proxy(), _fit_result(arrays, weight, **metrics)) for (arrays, metrics), weight in zip(sent, weights)]
    released, metrics = wrapped.aggregate_fit(1, results, [])
    return parameters_to_ndarrays(released), dict(metrics)
