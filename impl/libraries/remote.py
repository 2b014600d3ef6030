"""The cases of an adapter as local objects: mechanisms, answers, relations and auditors of another interpreter.

`open_library` returns them; each asks the worker, in whose interpreter the library runs.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.adapter import Raised
from dpassay.arguments import UsageError
from dpassay.claims import Claim, parse_claim
from dpassay.impl.libraries.codec import decode, encode
from dpassay.impl.libraries.plain import numbers_of
from dpassay.impl.libraries.worker_process import PORTION_SECONDS, Worker, WorkerError
from dpassay.neighbours import NeighbourRelation, parse_neighbours

__all__ = [
    "BrokenCase",
    "RefusedError",
    "RemoteAnswer",
    "RemoteAuditor",
    "RemoteCase",
    "RemoteFamily",
    "RemoteMechanism",
    "RemoteNonsense",
    "RemoteRelations",
    "open_library",
]

Array = NDArray[np.float64]
_FIRST_PORTION, _LARGEST_PORTION = 64, 100_000  # outcomes of a request
_SEEDS = 2**32  # what every generator of random numbers accepts


class RefusedError(Exception):
    """The library raised instead of answering; or the adapter, by mistake (`is_own`) or not (`is_unasked`)."""

    def __init__(self, message: str, is_own: bool = False, is_unasked: bool = False) -> None:
        super().__init__(message)
        self.is_own = is_own
        self.is_unasked = is_unasked


class _Remote:
    """A case of an adapter, known by its description."""

    def __init__(self, worker: Worker, description: Mapping[str, Any]) -> None:
        self._worker = worker
        self.name: str = description["name"]
        self.description = dict(description)

    def __repr__(self) -> str:
        return f"<{self.description['kind']} {self.name}>"


class RemoteMechanism(_Remote):
    """A mechanism of a library; satisfies :class:`dpassay.claims.Mechanism`.

    Attributes
    ----------
    claims : tuple of Claim
        The claim that the library makes.
    neighbours : NeighbourRelation
        The pairs for which it makes it.
    description : dict
        The result of :meth:`dpassay.adapter.Mechanism.describe`.
    """

    def __init__(self, worker: Worker, description: Mapping[str, Any]) -> None:
        super().__init__(worker, description)
        self.claims: tuple[Claim, ...] = (parse_claim(description["claim"]),)
        self.neighbours: NeighbourRelation = parse_neighbours(description["neighbours"])
        self._portion = _FIRST_PORTION

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any] | NDArray[Any]:
        """Draw `size` outcomes; a single call that raised is the outcome ``<raises ValueError>``.

        Where the library's randomness can be seeded it is, with a fresh number of `rng` for each batch.

        Raises
        ------
        WorkerError
            If a call for many outcomes at once raised: one observation, not `size` of them. Its class has the name
            of the library's exception.
        WorkerLostError
            If the worker crashed or hung.
        """
        if not self.description["sample_many"]:
            return self.sample_one_by_one(data, size, rng)
        seed = self._seed(rng)
        outcomes = decode(self._worker.request("sample", case=self.name, data=_sent(data), size=int(size), seed=seed))
        return outcomes if isinstance(outcomes, np.ndarray) else list(outcomes)

    def sample_one_by_one(self, data: Array, size: int, rng: np.random.Generator) -> list[Any]:
        """Draw `size` outcomes call by call, in few requests; a call that raised is the outcome ``<raises ...>``.

        Raises
        ------
        WorkerLostError
            If the worker crashed or hung.
        """
        drawn = self._drawn(data, size, self._seed(rng))
        return [_raised_symbol(row) if isinstance(row, Raised) else row for row in drawn]

    def draw(self, data: Array) -> Any:
        """Return one outcome.

        Raises
        ------
        WorkerError
            If the library, or its adapter, raised.
        """
        return decode(self._worker.request("draw", case=self.name, data=_sent(data)))

    @property
    def sampler(self) -> "LibrarySampler":
        """The sampler of a hunt, which draws call by call without one request per call."""
        return LibrarySampler(self)

    def _seed(self, rng: np.random.Generator) -> int | None:
        return int(rng.integers(_SEEDS)) if self.description["seeded"] else None

    def _drawn(self, data: Array, size: int, seed: int | None) -> Iterator[Any]:
        """Yield outcomes of single calls, in portions of a second or so: a slow mechanism is no hung worker.

        Only the first portion is seeded, so that the portions do not matter.
        """
        sent, portion = _sent(data), self._portion
        while size > 0:
            start = time.perf_counter()
            count = min(portion, size)
            request = {"case": self.name, "data": sent, "size": count, "seed": seed, "one_by_one": True}
            yield from decode(self._worker.request("sample", **request))
            seconds = max(time.perf_counter() - start, 1e-6)
            portion = max(1, min(int(count * PORTION_SECONDS / seconds), 4 * portion, _LARGEST_PORTION))
            size, seed = size - count, None
        self._portion = portion

    def distribution(self, data: Array) -> dict[str, Any]:
        """Return the ideal distribution of an outcome as the adapter states it (``family`` and parameters)."""
        value: dict[str, Any] = numbers_of(
            decode(self._worker.request("distribution", case=self.name, data=_sent(data)))
        )
        return value

    def distributions(self, inputs: Sequence[Array]) -> list[dict[str, Any]]:
        """Return the ideal distributions of the outcomes on some inputs, asked together; see :meth:`distribution`.

        Raises
        ------
        WorkerError
            If the adapter raised.
        """
        found = []
        for value in self._worker.each(
            [{"do": "distribution", "case": self.name, "data": _sent(data)} for data in inputs]
        ):
            if isinstance(value, WorkerError):
                raise value
            found.append(numbers_of(decode(value)))
        return found

    def replay(self, pairs: Sequence[tuple[Array, Array]], shifts: Sequence[float]) -> list[dict[str, Any]]:
        """Replay runs on neighbours, as :func:`dpassay.impl.libraries.replaying.replay` does, for each pair and shift.

        Raises
        ------
        WorkerError
            If the adapter raised.
        """
        sent = [(_sent(left), _sent(right)) for left, right in pairs]
        replays: list[dict[str, Any]] = decode(
            self._worker.request("replay", case=self.name, pairs=sent, shifts=list(shifts))
        )
        return replays

    def noiseless(self, data: Array) -> Any:
        """Return the value to which noise is added: a number or a sequence of numbers."""
        return numbers_of(decode(self._worker.request("noiseless", case=self.name, data=_sent(data))))

    def noiseless_values(self, inputs: Sequence[Array]) -> Iterator[Any]:
        """Yield the values to which noise is added on some inputs, asked together, or what the library raised."""
        requests = [{"do": "noiseless", "case": self.name, "data": _sent(data)} for data in inputs]
        for value in self._worker.each(requests):
            yield value if isinstance(value, WorkerError) else numbers_of(decode(value))


@dataclass(frozen=True)
class LibrarySampler:
    """Samples a mechanism in batches, or call by call (`one_by_one`), where exceptions are outcomes.

    Parameters
    ----------
    mechanism : RemoteMechanism
        What is sampled.
    """

    mechanism: RemoteMechanism

    is_elsewhere = True
    """The code that draws is that of the library, in the worker."""

    def __call__(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any] | NDArray[Any]:
        """Draw `size` outcomes as :meth:`RemoteMechanism.sample` does."""
        return self.mechanism.sample(data, size, rng)

    def one_by_one(self, data: Array, size: int, rng: np.random.Generator) -> list[Any]:
        """Draw `size` outcomes as :meth:`RemoteMechanism.sample_one_by_one` does."""
        return self.mechanism.sample_one_by_one(data, size, rng)

    def raising(self, data: Array, size: int, rng: np.random.Generator) -> list[Any]:  # noqa: ARG002  # as a sampler
        """Draw `size` outcomes one by one as :meth:`RemoteMechanism.draw` does."""
        return [self.mechanism.draw(data) for _ in range(size)]


class RemoteFamily(_Remote):
    """A mechanism for a whole domain of parameters.

    Attributes
    ----------
    parameters : dict
        The domain of each parameter: a dictionary with ``low`` and ``high``, or with ``choices``.
    """

    def __init__(self, worker: Worker, description: Mapping[str, Any]) -> None:
        super().__init__(worker, description)
        self.parameters: dict[str, dict[str, Any]] = dict(description["parameters"])

    def member(self, arguments: Mapping[str, Any]) -> RemoteMechanism:
        """Return the mechanism with some parameters.

        Raises
        ------
        WorkerError
            If it cannot be made.
        """
        words = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        return RemoteMechanism(self._worker, self._worker.request("member", case=f"{self.name}({words})"))


class RemoteAnswer(_Remote):
    """A function of an accountant, calibrator or converter.

    Attributes
    ----------
    question : str
        Which question it answers.
    description : dict
        The result of :meth:`dpassay.adapter.Answer.describe`.
    related : tuple of RemoteAnswer
        The other answers of the library that belong to the same account.
    """

    def __init__(self, worker: Worker, description: Mapping[str, Any]) -> None:
        super().__init__(worker, description)
        self.question: str = description["question"]
        self.related: tuple[RemoteAnswer, ...] = ()

    def compute(self, **arguments: Any) -> float:
        """Return the answer of the library; NaN if it is not a number.

        Raises
        ------
        RefusedError
            If the library raised.
        WorkerLostError
            If the worker crashed or hung.
        """
        try:
            value = numbers_of(decode(self._worker.request("answer", case=self.name, arguments=encode(arguments))))
        except WorkerError as error:
            raise RefusedError(str(error), error.is_own, error.is_unasked) from None
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.item()
        if not isinstance(value, (int, float)):
            return math.nan
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf


class RemoteNonsense(_Remote):
    """Invalid calls that a library must reject.

    Attributes
    ----------
    attempts : tuple of str
        The question, in words.
    """

    def __init__(self, worker: Worker, description: Mapping[str, Any]) -> None:
        super().__init__(worker, description)
        self.attempts: tuple[str, ...] = tuple(description["attempts"])

    def attempt(self, words: str) -> tuple[bool, Any]:
        """Return whether the library returned, and the returned value or the exception as text.

        Raises
        ------
        WorkerError
            If the adapter raised, by mistake or on purpose, so that the library was not asked.
        WorkerLostError
            If the worker crashed or hung.
        """
        try:
            return True, numbers_of(decode(self._worker.request("attempt", case=self.name, attempt=words)))
        except WorkerError as error:
            if error.is_own or error.is_unasked:
                raise
            return False, str(error)


class RemoteRelations(_Remote):
    """Relations that must hold among the numbers of a library.

    Attributes
    ----------
    relations : tuple of str
        The relations and facts, in words.
    facts : frozenset of str
        Those that do not depend on a seed.
    """

    def __init__(self, worker: Worker, description: Mapping[str, Any]) -> None:
        super().__init__(worker, description)
        self.relations: tuple[str, ...] = tuple(description["relations"])
        self.facts: frozenset[str] = frozenset(description["facts"])

    def compare(self, relation: str, seed: int) -> tuple[int, list[tuple[str, float, float, float, str]]]:
        """Return the number of comparisons at the parameters of a seed, and those that fail.

        Each of these is a tuple of words, a lower bound, the number of the library, an upper bound, and what it costs
        (:meth:`dpassay.adapter.Relations.compare`).

        Raises
        ------
        WorkerError
            If the library or the adapter raised.
        WorkerLostError
            If the worker crashed or hung.
        """
        found = decode(self._worker.request("relate", case=self.name, relation=relation, seed=seed))
        broken = found["broken"]
        rows = [(words, float(low), float(value), float(high), cost) for words, low, value, high, cost in broken]
        return int(found["compared"]), rows


class RemoteAuditor(_Remote):
    """An auditor, which computes lower bounds on epsilon.

    Attributes
    ----------
    description : dict
        The result of :meth:`dpassay.adapter.Auditor.describe`.
    """

    def audits(self, scores: Mapping[str, Any], numbers: tuple[int, int], seed: Sequence[int]) -> list[float | None]:
        """Return the bounds of some audits on fresh scores; None for one that the library refused.

        Parameters
        ----------
        scores, numbers, seed
            As for :func:`dpassay.impl.libraries.audits.audits`.

        Raises
        ------
        WorkerError
            If the adapter raised.
        WorkerLostError
            If the worker crashed or hung.
        """
        request = {"scores": dict(scores), "numbers": list(numbers), "seed": list(seed)}
        return list(decode(self._worker.request("audit", case=self.name, **request)))


class BrokenCase(_Remote):
    """A case that the library or its adapter cannot describe.

    Attributes
    ----------
    error : str
        Why not.
    """

    def __init__(self, worker: Worker, description: Mapping[str, Any]) -> None:
        super().__init__(worker, description)
        self.error: str = description["error"]


RemoteCase = (
    RemoteMechanism | RemoteFamily | RemoteAnswer | RemoteRelations | RemoteAuditor | RemoteNonsense | BrokenCase
)
_KINDS: dict[str, type[RemoteCase]] = {
    "mechanism": RemoteMechanism,
    "family": RemoteFamily,
    "answer": RemoteAnswer,
    "relations": RemoteRelations,
    "auditor": RemoteAuditor,
    "nonsense": RemoteNonsense,
    "broken": BrokenCase,
}


def open_library(worker: Worker) -> list[RemoteCase]:
    """Return the cases of the worker's adapter, in its order."""
    cases = [_open_case(worker, description) for description in worker.request("describe")]
    answers = [case for case in cases if isinstance(case, RemoteAnswer)]
    for answer in answers:
        account = answer.description["account"]
        answer.related = tuple(a for a in answers if a is not answer and a.description["account"] == account)
    return cases


def _open_case(worker: Worker, description: dict[str, Any]) -> RemoteCase:
    try:
        return _KINDS[description["kind"]](worker, description)
    except UsageError as error:  # a claim or a relation that cannot be read
        return BrokenCase(worker, {"kind": "broken", "name": description["name"], "error": str(error)})


def _sent(data: Array) -> Any:
    """Return the form in which `encode` sends a list of floats, without a look at each of them."""
    values = np.ascontiguousarray(data, dtype="<f8")
    return {"fs": values.tobytes().hex()} if values.ndim == 1 and len(values) > 1 else encode(values.tolist())


def _raised_symbol(raised: Raised) -> str:
    """Return the symbol by which an audit knows a call that raised (`dpassay.properties.outcomes.calls`)."""
    return f"<raises {raised.name}>"
