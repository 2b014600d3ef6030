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
from flwr.compat.common import recorddict_compat
from flwr.server import strategy as legacy
from flwr.serverapp import strategy as current
from flwr.supercore.differential_privacy import KEY_CLIPPING_NORM, KEY_NORM_BIT
from flwr.supercore.task_identity import TaskIdentity

logging.getLogger("flwr").setLevel(logging.CRITICAL)
TaskIdentity.run_id = TaskIdentity.node_id = TaskIdentity.task_id = 1

MODEL = [np.array([30.0, -4.0]), np.array([[7.0]])]
DIRECTION = [np.array([0.6, -1.1]), np.array([[1.7]])]
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


def recorded(call):
    """Return what a call returns without its Gaussian noise, and a list of (mean, standard deviation) of the noise."""
    noises = []

    def normal(loc=0.0, scale=1.0, size=None):
        noises.append((float(loc), float(scale)))
        return float(loc) if size is None else np.full(size, float(loc))

    with _numpy_normal(normal):
        return call(), noises


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


def strategy(api, name, *arguments, **named):
    """Return a strategy that wraps federated averaging."""
    module = current if api == "message" else legacy
    return getattr(module, name)(module.FedAvg(), *arguments, **named)


def one_round(api, wrapped, xs, weights=None, model=MODEL, direction=DIRECTION):
    """Return the arrays that the server releases, and the metrics; clients clip if the strategy does not.

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
    """
    weights = [5] * len(xs) if weights is None else weights
    sent = [(moved(x, model, direction), {}) for x in xs]
    kind = type(wrapped).__name__
    if "ClientSide" in kind:
        modifier = "adaptiveclipping_mod" if "Adaptive" in kind else "fixedclipping_mod"
        config = {KEY_CLIPPING_NORM: float(wrapped.clipping_norm)}
        found = [through_mod(api, modifier, arrays, model, **config) for arrays, _ in sent]
        sent = [(arrays, {k: v for k, v in metrics.items() if k == KEY_NORM_BIT}) for arrays, metrics in found]
    if api == "message":
        wrapped.current_arrays = record(model)
        replies = [answer(arrays, weight, **metrics) for (arrays, metrics), weight in zip(sent, weights)]
        released, metrics = wrapped.aggregate_train(1, replies)
        return released.to_numpy_ndarrays(), dict(metrics or {})
    wrapped.current_round_params = model
    results = [(_Proxy(), _fit_result(arrays, weight, **metrics)) for (arrays, metrics), weight in zip(sent, weights)]
    released, metrics = wrapped.aggregate_fit(1, results, [])
    return parameters_to_ndarrays(released), dict(metrics)
