"""A generator of symbols with the interface of `random.Random`."""

import random
from typing import Any, Self

from dpassay.properties.tracing import discrete
from dpassay.properties.tracing.discrete import rational
from dpassay.properties.tracing.generators import SymbolicGenerator, Tape, _refuse_the_rest
from dpassay.properties.tracing.refusal import refuse
from dpassay.spec.leaves.model import NoiseKind

__all__ = ["SymbolicRandom"]


class SymbolicRandom(random.Random):
    """A `random.Random` whose draws come from a tape."""

    def __new__(cls, tape: Tape) -> Self:  # noqa: ARG004, D102 - the base would take the tape as a seed
        return super().__new__(cls)

    def __init__(self, tape: Tape) -> None:  # the seed of the base is not used
        self._tape = tape
        self._numpy = SymbolicGenerator(tape)

    def random(self) -> Any:
        """Draw from [0, 1)."""
        return self._tape.noise(NoiseKind.UNIFORM)

    def uniform(self, a: Any, b: Any) -> Any:
        """Draw from an interval."""
        return a + (b - a) * self.random()

    def gauss(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        """Draw Gaussian noise; a negative sigma mirrors it."""
        return mu + self._tape.noise(NoiseKind.NORMAL) * sigma

    normalvariate = gauss

    def expovariate(self, lambd: Any = 1.0) -> Any:
        """Draw exponential noise with a rate."""
        return self._tape.noise(NoiseKind.EXPONENTIAL) / rational(lambd, "lambd")

    def lognormvariate(self, mu: Any, sigma: Any) -> Any:
        """Draw the exponential function of Gaussian noise."""
        return self._numpy.lognormal(mu, sigma)

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> Any:
        """Draw from a range."""
        pool = range(start) if stop is None else range(start, stop, step)
        if not pool:
            raise ValueError(f"empty range in randrange({start}, {stop}, {step})")
        count = (pool[-1] - pool[0]) // pool.step + 1  # len() ends at 2^63
        return pool[0] + pool.step * discrete.integer_below(self._tape, "randrange", count)

    def randint(self, a: int, b: int) -> Any:
        """Draw from a range with both ends."""
        return self.randrange(a, b + 1)

    def getrandbits(self, k: int) -> Any:
        """Draw an integer of k bits."""
        return discrete.integer_below(self._tape, "getrandbits", 2**k)

    def choice(self, seq: Any) -> Any:
        """Draw an element."""
        if not len(seq):
            raise IndexError("Cannot choose from an empty sequence")
        return seq[discrete.integer_below(self._tape, "choice", len(seq))]

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> Any:
        """Draw elements with replacement.

        Parameters
        ----------
        population, weights, cum_weights, k
            As for `random.choices`; `cum_weights` is refused.
        """
        if cum_weights is not None:
            refuse("random.choices with cum_weights=")
        chances = discrete.uniform(len(population)) if weights is None else discrete.normalised(weights)
        return [population[self._tape.choose("choices", chances)] for _ in range(k)]

    def sample(self, population: Any, k: int, *, counts: Any = None) -> Any:
        """Draw different elements."""
        if counts is not None:
            refuse("random.sample with counts=")
        if not 0 <= k <= len(population):
            raise ValueError("Sample larger than population or is negative")
        chances = discrete.uniform(len(population))
        return [population[place] for place in discrete.successive(self._tape, "sample", chances, k)]

    def shuffle(self, x: Any) -> None:
        """Bring a list into random order, in place."""
        self._numpy.shuffle(x)

    def binomialvariate(self, n: int = 1, p: float = 0.5) -> int:
        """Draw a number of successes."""
        return int(self._numpy.binomial(n, p))


_refuse_the_rest(SymbolicRandom, random.Random)
