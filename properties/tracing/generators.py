"""Generators of symbols with the interfaces of `numpy.random.Generator`, `RandomState` and `random.Random`.

A tape hands out standard noises and values of discrete draws: symbols while tracing, numbers in a replay. Methods
without an exact counterpart refuse by name. Parameters are checked by numpy itself, so that errors are numpy's.
"""

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from dpassay.properties.tracing import discrete
from dpassay.properties.tracing.arrays import objects
from dpassay.properties.tracing.discrete import rational
from dpassay.properties.tracing.images import image_of
from dpassay.properties.tracing.noisy import Noisy
from dpassay.properties.tracing.refusal import refuse
from dpassay.spec.leaves.model import NoiseKind

__all__ = ["SymbolicGenerator", "SymbolicRandomState", "Tape"]

_MOST_EXPONENTIALS = 64
"""The largest shape of gamma noise, which is a sum of exponential noise."""

_SCRATCH, _SCRATCH_STATE = np.random.default_rng(0), np.random.RandomState(0)
"""Generators that check parameters and tell shapes; what they draw is dropped."""


@functools.lru_cache(1 << 10)
def _require_valid(scratch: Any, method: str, *parameters: float) -> None:
    """Raise the exception that numpy raises for the parameters of a single draw."""
    getattr(scratch, method)(*parameters)


class Tape(Protocol):
    """Where noise comes from."""

    def noise(self, kind: NoiseKind) -> Any:
        """Return the next standard noise of a kind."""

    def choose(self, label: str, weights: Sequence[Fraction]) -> int:
        """Return the place of the value of a discrete draw."""

    def trials(self, label: str, chance: Fraction) -> Any:
        """Return the number of trials up to the first success: a discrete draw, or noise on a lattice."""

    def gather(self, values: list[Any], shape: tuple[int, ...]) -> Any:
        """Return noises as an array."""


class _Draws:
    """The methods that `Generator` and `RandomState` share."""

    _tape: Tape
    _scratch: Any

    def _shape(self, method: str, parameters: Sequence[Any], size: Any) -> tuple[int, ...] | None:
        """Return the shape of a draw, None for a single number; raise the exceptions of numpy."""
        if size is None and all(type(parameter) in (float, int) for parameter in parameters):
            _require_valid(self._scratch, method, *parameters)
            return None
        plain = [_without_noise(parameter) for parameter in parameters]
        with np.errstate(all="ignore"):
            drawn = getattr(self._scratch, method)(*plain, size=size)
        return np.shape(drawn) if isinstance(drawn, np.ndarray) else None

    def _each(
        self, method: str, parameters: Sequence[Any], size: Any, draw: Callable[..., Any], *, whole: bool = False
    ) -> Any:
        """Carry out a draw for each element of the broadcast parameters."""
        shape = self._shape(method, parameters, size)
        if shape is None:
            return draw(*(_single(parameter) for parameter in parameters))
        spread = [np.broadcast_to(objects(parameter), shape).reshape(-1) for parameter in parameters]
        values = [draw(*(column[k] for column in spread)) for k in range(int(np.prod(shape)))]
        is_whole = whole and not any(isinstance(value, Noisy) for value in values)
        return np.array(values, dtype=np.int64).reshape(shape) if is_whole else self._tape.gather(values, shape)

    def _located(self, method: str, kind: NoiseKind, loc: Any, scale: Any, size: Any) -> Any:
        return self._each(method, (loc, scale), size, lambda a, b: self._noise(kind, b) + a)

    def _scaled(self, method: str, kind: NoiseKind, scale: Any, size: Any) -> Any:
        return self._each(method, (scale,), size, lambda b: self._noise(kind, b))

    def _standard(self, method: str, kind: NoiseKind, size: Any) -> Any:
        return self._each(method, (), size, lambda: self._tape.noise(kind))

    def _noise(self, kind: NoiseKind, scale: Any) -> Any:
        if isinstance(scale, Noisy):
            refuse("a scale of noise that depends on noise or on symbolic data")
        return self._tape.noise(kind) * scale

    # --- continuous ---

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Laplace noise."""
        return self._located("laplace", NoiseKind.LAPLACE, loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Gaussian noise."""
        return self._located("normal", NoiseKind.NORMAL, loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw Gumbel noise."""
        return self._located("gumbel", NoiseKind.GUMBEL, loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw logistic noise."""
        return self._located("logistic", NoiseKind.LOGISTIC, loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw exponential noise."""
        return self._scaled("exponential", NoiseKind.EXPONENTIAL, scale, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Draw from an interval."""
        return self._each("uniform", (low, high), size, lambda a, b: self._tape.noise(NoiseKind.UNIFORM) * (b - a) + a)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """Draw the exponential function of Gaussian noise."""
        return self._each("lognormal", (mean, sigma), size, lambda a, b: _exp(self._noise(NoiseKind.NORMAL, b) + a))

    def standard_gamma(self, shape: Any, size: Any = None) -> Any:
        """Draw gamma noise with an integer shape, a sum of exponential noises."""
        return self._each("standard_gamma", (shape,), size, self._erlang)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw gamma noise with an integer shape."""
        return self._each("gamma", (shape, scale), size, lambda k, b: self._erlang(k) * rational(b, "scale"))

    def chisquare(self, df: Any, size: Any = None) -> Any:
        """Draw chi-squared noise with an even number of degrees of freedom."""
        return self._each("chisquare", (df,), size, lambda k: self._erlang(rational(k, "df") / 2) * 2)

    def _erlang(self, shape: Any) -> Any:
        count = rational(shape, "shape")
        if count.denominator != 1 or count > _MOST_EXPONENTIALS:
            refuse(f"gamma noise with shape {float(count)}")
        return sum((self._tape.noise(NoiseKind.EXPONENTIAL) for _ in range(int(count))), 0.0)

    # --- discrete ---

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Draw numbers of successes."""

        def draw(trials: Any, chance: Any) -> int:
            weights = discrete.binomial_weights(int(rational(trials, "n")), rational(chance, "p"))
            return self._tape.choose("binomial", weights)

        return self._each("binomial", (n, p), size, draw, whole=True)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Draw numbers of trials up to the first success."""
        return self._each(
            "geometric",
            (p,),
            size,
            lambda c: self._tape.trials("geometric", rational(c, "p")),
            whole=True,
        )

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Draw numbers of failures before an integer number of successes."""

        def draw(successes: Any, chance: Any) -> Any:
            count = rational(successes, "n")
            if count.denominator != 1:
                refuse(f"negative_binomial with n = {float(count)}")
            trials = (self._tape.trials("negative_binomial", rational(chance, "p")) for _ in range(int(count)))
            return sum(trials) - int(count)

        return self._each("negative_binomial", (n, p), size, draw, whole=True)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Draw counts; a certified tail is left undecided."""
        return self._each(
            "poisson", (lam,), size,
            lambda mean: self._tape.choose("poisson", discrete.poisson_weights(rational(mean, "lam"))), whole=True,
        )  # fmt: skip

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        """Draw numbers of good ones in samples without replacement."""
        return self._each(
            "hypergeometric", (ngood, nbad, nsample), size,
            lambda *counts: self._tape.choose("hypergeometric", discrete.hypergeometric_weights(*map(int, counts))),
            whole=True,
        )  # fmt: skip

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """Draw counts of several values."""
        shape = self._shape("multinomial", (n, pvals), size)
        chances = [rational(p, "pvals") for p in np.ravel(pvals)]
        if shape is None or np.ndim(pvals) != 1:
            refuse("multinomial with several distributions")
        trials = np.broadcast_to(n, shape[:-1]).reshape(-1)
        rows = [discrete.multinomial(self._tape, "multinomial", int(count), chances) for count in trials]
        return np.array(rows, dtype=np.int64).reshape(shape)

    def _integers(self, method: str, low: Any, high: Any, size: Any) -> Any:
        """Draw integers from low to high - 1."""

        def draw(first: Any, end: Any) -> Any:
            low = int(rational(first, "low"))
            return low + discrete.integer_below(self._tape, method, int(rational(end, "high")) - low)

        return self._each(method, (low, high), size, draw, whole=True)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0) -> Any:
        """Draw elements, with or without replacement."""
        pool = a if isinstance(a, np.ndarray) or np.ndim(a) == 0 else objects(a)
        population = range(int(a)) if np.ndim(pool) == 0 else range(len(pool))
        plain = None if p is None else [float(weight) for weight in p]
        shape = np.shape(self._scratch.choice(len(population), size, replace, plain))
        if axis != 0:
            refuse("choice with axis=")
        weights = discrete.uniform(len(population)) if p is None else discrete.normalised(list(p))
        count = int(np.prod(shape))
        places = (
            [self._tape.choose("choice", weights) for _ in range(count)]
            if replace
            else discrete.successive(self._tape, "choice", weights, count)
        )
        if np.ndim(pool) == 0:
            return places[0] if size is None else np.array(places, dtype=np.int64).reshape(shape)
        return pool[places[0]] if size is None else _lowered_like(a, pool[np.array(places, dtype=int).reshape(shape)])

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Return a random order of an array, or of the integers below a number."""
        if axis != 0:
            refuse("permutation with axis=")
        pool = np.arange(x) if np.ndim(x) == 0 else np.asarray(x)
        return pool[self._places("permutation", len(pool))]

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Bring a sequence into random order, in place."""
        if axis != 0:
            refuse("shuffle with axis=")
        places = self._places("shuffle", len(x))
        x[:] = x[places] if isinstance(x, np.ndarray) else [x[place] for place in places]

    def _places(self, label: str, count: int) -> list[int]:
        return discrete.successive(self._tape, label, discrete.uniform(count), count) if count else []


def _lowered_like(given: Any, found: Any) -> Any:
    return found if isinstance(given, np.ndarray) else np.array(found.tolist())


def _exp(value: Any) -> Any:
    return image_of(value, "exp") if isinstance(value, Noisy) else np.exp(value)


def _single(parameter: Any) -> Any:
    return parameter[()] if isinstance(parameter, np.ndarray) else parameter


def _without_noise(parameter: Any) -> Any:
    if isinstance(parameter, Noisy):
        return 0.0
    if isinstance(parameter, list | tuple) or (isinstance(parameter, np.ndarray) and parameter.dtype == object):
        values = objects(parameter)
        if any(isinstance(value, Noisy) for value in values.flat):
            return np.zeros(values.shape)
        return values.astype(float)
    return parameter


def _refusing(interface: str, name: str) -> Any:
    def method(self: Any, *_: Any, **__: Any) -> Any:  # noqa: ARG001
        refuse(f"{interface}.{name}")

    return method


def _refuse_the_rest(cls: type, base: type) -> None:
    """Let everything that the base offers and the class does not override refuse by name."""
    for name in dir(base):
        if name.startswith("_") or any(name in vars(parent) for parent in cls.__mro__[: cls.__mro__.index(base)]):
            continue
        method = _refusing(base.__name__, name)
        setattr(cls, name, method if callable(getattr(base, name)) else property(method))
    for name in ("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"):
        setattr(cls, name, _refusing(f"copying or pickling a {base.__name__}:", name))


class SymbolicGenerator(_Draws, np.random.Generator):
    """A `numpy.random.Generator` whose draws come from a tape."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(np.random.PCG64(0))
        self._tape = tape
        self._scratch = _SCRATCH

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Draw from [0, 1)."""
        _refuse_out(dtype, out)
        return self._standard("random", NoiseKind.UNIFORM, size)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Draw standard Gaussian noise."""
        _refuse_out(dtype, out)
        return self._standard("standard_normal", NoiseKind.NORMAL, size)

    def standard_exponential(
        self,
        size: Any = None,
        dtype: Any = np.float64,
        method: str = "zig",  # noqa: ARG002 - one of numpy's algorithms
        out: Any = None,
    ) -> Any:
        """Draw standard exponential noise.

        Parameters
        ----------
        size, dtype, method, out
            As for `numpy.random.Generator.standard_exponential`; `out` is refused.
        """
        _refuse_out(dtype, out)
        return self._standard("standard_exponential", NoiseKind.EXPONENTIAL, size)

    def standard_gamma(self, shape: Any, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Draw gamma noise with an integer shape.

        Parameters
        ----------
        shape, size, dtype, out
            As for `numpy.random.Generator.standard_gamma`; `out` is refused.
        """
        _refuse_out(dtype, out)
        return super().standard_gamma(shape, size)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> Any:
        """Draw integers.

        Parameters
        ----------
        low, high, size, dtype, endpoint
            As for `numpy.random.Generator.integers`.
        """
        low, high = (0, low) if high is None else (low, high)
        drawn = self._integers("integers", low, np.add(high, 1) if endpoint else high, size)
        return drawn.astype(dtype) if isinstance(drawn, np.ndarray) else drawn

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        """Draw elements, with or without replacement.

        Parameters
        ----------
        a, size, replace, p, axis, shuffle
            As for `numpy.random.Generator.choice`; elements drawn without replacement must be shuffled.
        """
        if not shuffle and not replace:
            refuse("choice with shuffle=False")
        return super().choice(a, size, replace, p, axis)

    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        """Return the elements of an array in random order."""
        if axis is not None or out is not None:
            refuse("permuted with axis= or out=")
        pool = np.asarray(x)
        return pool.reshape(-1)[self._places("permuted", pool.size)].reshape(pool.shape)

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Return independent generators: their symbols are fresh ones."""
        return [type(self)(self._tape) for _ in range(n_children)]

    def like(self, kind: type) -> Any:
        """Return a generator with the interface of `RandomState` or `random.Random` on the same tape."""
        if kind is np.random.RandomState:
            return SymbolicRandomState(self._tape)
        from dpassay.properties.tracing.python_random import SymbolicRandom  # which is made of this one

        return SymbolicRandom(self._tape)

    def __repr__(self) -> str:
        return "Generator(symbols)"

    __str__ = __repr__


class SymbolicRandomState(_Draws, np.random.RandomState):
    """A `numpy.random.RandomState` whose draws come from a tape."""

    def __init__(self, tape: Tape) -> None:
        super().__init__(np.random.MT19937(0))  # a number as a seed would ask the system for entropy first
        self._tape = tape
        self._scratch = _SCRATCH_STATE

    def random_sample(self, size: Any = None) -> Any:
        """Draw from [0, 1)."""
        return self._standard("random_sample", NoiseKind.UNIFORM, size)

    random = random_sample

    def rand(self, *shape: int) -> Any:
        """Draw from [0, 1)."""
        return self.random_sample(shape or None)

    def standard_normal(self, size: Any = None) -> Any:
        """Draw standard Gaussian noise."""
        return self._standard("standard_normal", NoiseKind.NORMAL, size)

    def randn(self, *shape: int) -> Any:
        """Draw standard Gaussian noise."""
        return self.standard_normal(shape or None)

    def standard_exponential(self, size: Any = None) -> Any:
        """Draw standard exponential noise."""
        return self._standard("standard_exponential", NoiseKind.EXPONENTIAL, size)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Draw integers from low to high - 1.

        Parameters
        ----------
        low, high, size, dtype
            As for `numpy.random.RandomState.randint`.
        """
        low, high = (0, low) if high is None else (low, high)
        drawn = self._integers("randint", low, high, size)
        return drawn.astype(dtype) if isinstance(drawn, np.ndarray) else drawn

    def __repr__(self) -> str:
        return "RandomState(symbols)"

    __str__ = __repr__


def _refuse_out(dtype: Any, out: Any) -> None:
    if out is not None:
        refuse("a draw with out=")
    if np.dtype(dtype) != np.float64:
        refuse(f"a draw with dtype={np.dtype(dtype)}")


_refuse_the_rest(SymbolicGenerator, np.random.Generator)
_refuse_the_rest(SymbolicRandomState, np.random.RandomState)
