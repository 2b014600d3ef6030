"""Samplers between arrays of codes and the inputs that these stand for."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.neighbours import AnyNeighbours, EncodedNeighbours
from dpassay.properties.drawing.json_protocol import makes_many
from dpassay.properties.drawing.target_process import RemoteSampler
from dpassay.properties.outcomes.calls import Sampler

__all__ = ["decoding_sampler", "through"]

Array = NDArray[np.float64]


class _Decoded:
    """A sampler that receives the inputs of a relation in place of their codes."""

    def __init__(self, relation: EncodedNeighbours, sampler: Sampler) -> None:
        self._relation, self._sampler = relation, sampler
        self.wrap = _Decoding(relation)
        self.makes_many = makes_many(sampler)
        self.__module__ = getattr(sampler, "__module__", type(self).__module__)  # where its code is, to be sent along

    def __call__(self, data: Array, size: int, rng: np.random.Generator) -> Any:
        return self._sampler(self._relation.decoded(data), size, rng)

    @property
    def apart(self) -> Sampler | None:
        """The function of the sampler that goes call by call; None if it has none."""
        inner: Sampler | None = getattr(self._sampler, "apart", None)
        return None if inner is None else lambda data, size, rng: inner(self._relation.decoded(data), size, rng)


@dataclass(frozen=True)
class _Decoding:
    relation: EncodedNeighbours

    def __call__(self, sampler: Sampler) -> Sampler:
        return _Decoded(self.relation, sampler)


@dataclass(frozen=True)
class _Both:
    first: Any
    second: Any

    def __call__(self, sampler: Sampler) -> Sampler:
        wrapped: Sampler = self.second(self.first(sampler))
        return wrapped


def through(sampler: Sampler | RemoteSampler, wrap: Any) -> Sampler | RemoteSampler:
    """Return what a wrapper, which can be pickled, makes of a sampler, here or in the process of its target."""
    if isinstance(sampler, RemoteSampler):
        return replace(sampler, wrap=wrap if sampler.wrap is None else _Both(sampler.wrap, wrap))
    wrapped: Sampler = wrap(sampler)
    return wrapped


def decoding_sampler(sampler: Sampler | RemoteSampler, relation: AnyNeighbours) -> Sampler | RemoteSampler:
    """Return a sampler for the arrays that a search works on: the codes of encoded inputs are decoded."""
    return through(sampler, _Decoding(relation)) if isinstance(relation, EncodedNeighbours) else sampler
