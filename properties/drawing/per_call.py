"""Functions that release one outcome a call, as samplers of many: any signature, with or without an rng."""

import inspect
import random
import sys
import typing
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from dpassay.arguments import UsageError, shown
from dpassay.properties.drawing.annotations import alternatives, annotations_of
from dpassay.properties.drawing.draws import released_apart
from dpassay.properties.drawing.foreign_generators import Library, maker_of, python_random, random_state
from dpassay.properties.drawing.own_generators import drawing_from

__all__ = ["PerCall", "Takes", "per_call", "per_fit"]

Takes = Literal["as given", "scalar", "list", "arguments"]

_GENERATOR_NAMES = ("rng", "generator", "gen", "random_generator")
_STATE_NAMES = ("random_state",)
_SEED_NAMES = ("seed", "random_seed")
_KEY_NAMES = ("key", "rng_key", "prng_key", "random_key")
_SEEDS = 1 << 32
"""Number of seeds that a function receives: `RandomState` accepts no more."""


def per_call(
    function: Callable[..., Any],
    *,
    takes: Takes | Callable[[Any], Any] | None = None,
    rng: Library | None = None,
) -> "PerCall":
    """Return a target of a function that makes one release a call.

    The function is called once for each release, with the data first, or after the randomness. A parameter named
    ``rng``, ``generator`` or ``gen``, or annotated as ``numpy.random.Generator``, receives the generator;
    ``random_state`` a ``RandomState`` and ``seed`` an integer from it. An annotation goes before the name: a parameter
    annotated as ``random.Random``, ``numpy.random.RandomState`` or ``torch.Generator`` receives one, seeded from the
    generator. A function without any of them draws from where it likes: see
    :mod:`dpassay.properties.drawing.own_generators`.

    Parameters
    ----------
    function : callable
        ``function(data)``, ``function(data, rng)``, ``function(data, *, seed)``...
    takes : {"as given", "scalar", "list", "arguments"} or callable, optional
        What the function takes as its data: the data as they come (a float64 array, or a table), the only value of an
        array, a list of Python numbers, each value as an argument of its own; or the result of a function of the data.
        By default what its annotation says (``float``, ``int``, ``list`` or ``torch.Tensor``), else the data as they
        come.
    rng : {"numpy", "jax", "torch"}, optional
        What the function takes as its randomness: a generator of numpy, a fresh key of JAX or a fresh generator of
        PyTorch, in the parameter named ``key``, ``rng_key``, ``rng`` or ``generator``, else in the second one. By
        default what its names and annotations say; only ``rng="jax"`` makes keys.

    Raises
    ------
    UsageError
        If the function cannot be called in this way.

    Examples
    --------
    >>> def noisy(count: float, rng):
    ...     return count + rng.laplace()
    >>> per_call(noisy)(np.array([3.0]), 2, np.random.default_rng(0)).__len__()
    2
    """
    return PerCall(function, takes=takes, rng=rng)


class PerCall:
    """A target ``f(data, size, rng)`` that calls a function once for each outcome; see `per_call`."""

    never_raises_for_many = True
    """An exception of one release among many is an outcome: see `sample_side`."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        takes: Takes | Callable[[Any], Any] | None = None,
        rng: Library | None = None,
    ) -> None:
        if not callable(function):
            raise UsageError(f"function must be callable, got {shown(function)}")
        self._function = function
        parameters = _parameters(function)
        hints = annotations_of(function)
        self._randomness = _randomness_of(parameters, hints) if rng is None else _stated(parameters, rng)
        self._is_random_first = bool(parameters) and self._is_random(parameters[0])
        self._convert = _conversion(takes, function, [one for one in parameters if not self._is_random(one)], hints)
        self.__module__ = getattr(function, "__module__", None) or type(self).__module__
        self._names = getattr(inspect.unwrap(function), "__globals__", {})

    def __call__(self, data: Any, size: int, rng: Any) -> list[Any]:
        """Return `size` releases, each by a call of its own."""
        return [self._release(data, rng) for _ in range(size)]

    def one_by_one(self, data: Any, size: int, rng: Any) -> list[Any]:
        """Return `size` releases, with the symbols of exceptions among them."""
        return released_apart(lambda: self._release(data, rng), size)

    def __repr__(self) -> str:
        name = getattr(self._function, "__qualname__", type(self._function).__name__)
        return f"per_call({self.__module__}:{name})"

    def _release(self, data: Any, rng: Any) -> Any:
        arguments = self._convert(data.copy() if isinstance(data, np.ndarray) else data)
        if self._randomness is None:
            with drawing_from(rng, self._names):
                return self._function(*arguments)
        name, make = self._randomness
        if self._is_random_first:
            return self._function(make(rng), *arguments)
        return self._function(*arguments, **{name: make(rng)})

    def _is_random(self, parameter: inspect.Parameter) -> bool:
        return self._randomness is not None and parameter.name == self._randomness[0]


def per_fit(
    make: Callable[..., Any],
    releases: str | Sequence[str] = ("coef_", "intercept_"),
    *,
    predict: Any = None,
    target: str | None = None,
) -> PerCall:
    """Return a target of a class with ``fit`` and ``predict``: a new object is fitted to the data for each release.

    Parameters
    ----------
    make : callable
        The class, or a function without data that returns an object with a method ``fit``. A parameter named
        ``random_state``, ``seed`` or ``rng`` receives randomness, as for `per_call`.
    releases : str or sequence of str
        Attributes of the fitted object that are released.
    predict : array_like, optional
        Points at which the object predicts; the predictions are released in place of the attributes.
    target : str, optional
        The column that ``fit(X, y)`` receives as y; without it the object is fitted by ``fit(X)``. The data are then a
        table: of a frame, X is the frame without the column and y the column; of dicts, X is a list of rows, each a
        list of the other values in their order, and y a list.

    Examples
    --------
    >>> class NoisyMean:
    ...     def __init__(self, rng):
    ...         self.rng = rng
    ...     def fit(self, X):
    ...         self.mean_ = X.mean() + self.rng.laplace()
    ...         return self
    >>> per_fit(NoisyMean, "mean_")
    per_call(dpassay.properties.drawing.per_call:fitted NoisyMean)
    """
    names = [releases] if isinstance(releases, str) else list(releases)
    randomness = _randomness_of(_parameters(make), annotations_of(make))

    def fitted(data: Any, rng: Any) -> Any:
        options = {} if randomness is None else {randomness[0]: randomness[1](rng)}
        made = make(**options)
        if randomness is None:
            with drawing_from(rng, {}):
                return _released(made, data, names, predict, target)
        return _released(made, data, names, predict, target)

    fitted.__qualname__ = f"fitted {getattr(make, '__name__', 'object')}"
    fitted.__module__ = getattr(make, "__module__", fitted.__module__)
    return PerCall(fitted, takes="as given")


def _released(made: Any, data: Any, names: list[str], predict: Any, target: str | None) -> Any:
    fitted = made.fit(data) if target is None else made.fit(*_split(data, target))
    fitted = made if fitted is None else fitted
    if predict is not None:
        return np.asarray(fitted.predict(predict)).tolist()
    return tuple(_plain(getattr(fitted, name)) for name in names)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _split(data: Any, target: str) -> tuple[Any, Any]:
    if isinstance(data, list):
        return [[row[key] for key in row if key != target] for row in data], [row[target] for row in data]
    return data.drop(columns=[target]), data[target]


# --- signatures ---------------------------------------------------------------------------------------------


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # functions in C may have none
        return [inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY)]


def _randomness_of(
    parameters: list[inspect.Parameter], hints: dict[str, Any]
) -> tuple[str, Callable[[Any], Any]] | None:
    """Return the parameter of a function for randomness and what makes its value; None if it has none."""
    return next(filter(None, (_randomness(one, hints.get(one.name)) for one in parameters)), None)


def _stated(parameters: list[inspect.Parameter], library: Library) -> tuple[str, Callable[[Any], Any]]:
    """Return the parameter that receives the generator or key of a library: by its name, else the second one."""
    make = maker_of(library)
    named = [one for one in parameters if one.kind in {one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY}]
    known = [one for one in named if one.name in (*_KEY_NAMES, *_GENERATOR_NAMES)]
    chosen = known or [one for one in named if one in parameters[1:2]]
    if not chosen:
        raise UsageError(f"rng={library!r} needs a function with a second parameter, such as f(data, key)")
    return chosen[0].name, make


def _randomness(parameter: inspect.Parameter, hint: Any) -> tuple[str, Callable[[Any], Any]] | None:
    """Return the name of a parameter for randomness and what makes its value of a generator; None for others."""
    name, hints = parameter.name, alternatives(hint)
    if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY}:
        return None
    torch = getattr(sys.modules.get("torch"), "Generator", None)
    for kind, make in (
        (np.random.Generator, maker_of("numpy")), (np.random.RandomState, random_state),
        (random.Random, python_random), (random.SystemRandom, python_random), (torch, maker_of("torch")),
    ):  # fmt: skip
        if kind is not None and kind in hints:
            return name, make
    if name in _STATE_NAMES:
        return name, random_state
    if name in _GENERATOR_NAMES:
        return name, maker_of("numpy")
    return (name, lambda rng: int(rng.integers(_SEEDS))) if name in _SEED_NAMES else None


def _conversion(
    takes: Any, function: Callable[..., Any], parameters: list[inspect.Parameter], hints: dict[str, Any]
) -> Callable[[Any], tuple[Any, ...]]:
    """Return what makes the positional arguments of the data."""
    if takes is None:
        takes = _said(parameters, hints)
    if callable(takes):
        return lambda data: (takes(data),)
    conversions: dict[Any, Callable[[Any], tuple[Any, ...]]] = {
        "as given": lambda data: (data,),
        "scalar": lambda data: (_only(data),),
        "list": lambda data: (list(data),),
        "arguments": tuple,
    }
    if takes not in conversions:
        raise UsageError(f"takes must be one of {', '.join(get_args(Takes))} or a function, got {shown(takes)}")
    required = [
        one for one in parameters if one.default is one.empty and one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD}
    ]
    if takes != "arguments" and len(required) > 1:
        raise UsageError(
            f"function {shown(function)} needs {', '.join(one.name for one in required)}; give all but the data and "
            "the randomness by functools.partial or a lambda, or say takes='arguments' if each value is an argument, "
            "or rng='jax' if one is a key of JAX"
        )
    return conversions[takes]


def _said(parameters: list[inspect.Parameter], hints: dict[str, Any]) -> Takes | Callable[[Any], Any]:
    found = alternatives(hints.get(parameters[0].name)) if parameters else []
    hint = found[0] if len(found) == 1 else None
    if hint is int:
        return lambda data: int(_only(data))
    if hint is float:
        return "scalar"
    if hint is not None and hint is getattr(sys.modules.get("torch"), "Tensor", None):
        make: Callable[[Any], Any] = sys.modules["torch"].as_tensor
        return make
    return "list" if hint is list or typing.get_origin(hint) in {list, Sequence} else "as given"


def _only(data: Any) -> Any:
    if len(data) != 1:
        raise UsageError(f"a function of one number needs data of size 1, got size {len(data)}")
    return data[0]
