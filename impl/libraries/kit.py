"""The words of an adapter: mechanisms to sample, and answers of accountants and calibrators to check.

An adapter is a file with the name of a distribution, ``LIBRARY``, and a list ``CASES`` (or a function ``cases()`` that
returns one; cases that this version of the library cannot build are left out there). It runs in a worker, in the
interpreter where its library lives, of which nothing but the standard library and the library itself is expected:
this module and :mod:`dpassay.impl.libraries.wire` are all of dpassay that exists there. Python 3.9 or newer.

>>> def noisy(data):
...     return data[0] + 1
>>> case = Mechanism("plus one", neighbours="vector:size=1,linf=1", claim="pure:1.0", once=noisy)
>>> case.draw([2.0], 2)
[3.0, 3.0]
"""

from __future__ import annotations

import os
import re
import signal
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Data = list[float]

__all__ = ["Answer", "Mechanism", "Nonsense", "Raised", "answer_in_time", "present_cases"]


@dataclass(frozen=True)
class Raised:
    """An outcome that stands for a call that raised: an exception that depends on the data is a leak."""

    name: str


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of the library with all its parameters fixed.

    Parameters
    ----------
    name : str
        Unique in the adapter; says the class and the parameters, such as ``Laplace(epsilon=1)``.
    neighbours : str
        The neighbour relation in the words of the command line (``vector:...`` or ``records:...``). `data` is a list
        of floats that obeys it; the adapter turns it into what the library wants.
    claim : str or callable
        The claim that the library makes, in the words of the command line, or a function that asks the library.
    once : callable, optional
        ``once(data)`` returns one outcome. An exception is an outcome.
    bulk : callable, optional
        ``bulk(data, size)`` returns `size` independent outcomes at once (a numpy array or a sequence), where the
        library can do that; faster, but an exception spoils all of them. One of `once` and `bulk` must be given.
    seed : callable, optional
        ``seed(number)`` seeds the library's randomness, where that is possible.
    law : callable, optional
        ``law(data)`` returns the ideal distribution of the outcome as a mapping with a ``family`` and its parameters
        *as the library really uses them* (the scale read from the object, say). Families:
        ``laplace`` and ``gaussian`` (``location``, ``scale``; for vectors a list of locations: independent
        coordinates), ``discrete laplace`` and ``discrete gaussian`` (the same; integers, Pr proportional to
        exp(-abs(x - location) / scale), exp(-(x - location)^2 / (2 scale^2))), ``bounded laplace`` and
        ``clamped laplace`` (with ``low`` and ``high``: Laplace noise on the condition that the sum lies between them,
        or moved to the nearer end), ``finite`` (``symbols``, ``probabilities`` up to a common factor).
    noiseless : callable, optional
        ``noiseless(data)`` returns what the mechanism computes before noise is added (a number or a list), or nearly
        so, where the interface allows: noise turned off, or a huge epsilon.
    sensitivity : float, optional
        The L1 sensitivity (L2 for Gaussian noise) of `noiseless` that the noise is calibrated to.
    floats : bool
        Whether the library claims privacy for the float64 numbers that it returns. False where it documents that
        it does not (idealised numerics): then the lowest bits are left out.
    relative_error : float
        How far the figures of the claim may be off, relatively, for want of more than float64: nothing near to what
        anybody promises. The loss of `law` is held against the claim with this allowance.
    exact_law : bool
        Whether `law` must fit exactly; False where the library documents an approximation.
    notes : str
        What a reader should know: a documented restriction, say.
    calls : int, optional
        The most outcomes that a sampled law may draw, for a mechanism that takes long.
    """

    name: str
    neighbours: str
    claim: str | Callable[[], str]
    once: Callable[[Data], Any] | None = None
    bulk: Callable[[Data, int], Any] | None = None
    seed: Callable[[int], None] | None = None
    law: Callable[[Data], Mapping[str, Any]] | None = None
    noiseless: Callable[[Data], Any] | None = None
    sensitivity: float | None = None
    floats: bool = True
    exact_law: bool = True
    relative_error: float = 0.0
    notes: str = ""
    calls: int | None = None

    def __post_init__(self) -> None:
        if (self.once is None) == (self.bulk is None):
            raise ValueError(f"{self.name}: give one of once and bulk")
        if (self.noiseless is None) != (self.sensitivity is None):
            raise ValueError(f"{self.name}: give both of noiseless and sensitivity, or neither")
        if self.calls is not None and self.calls < 1:
            raise ValueError(f"{self.name}: calls must be at least 1, got {self.calls!r}")

    def claimed(self) -> str:
        """Return the claim in words, asking the library if that is how it is known."""
        return self.claim if isinstance(self.claim, str) else self.claim()

    def draw(self, data: Data, size: int, apart: bool = False) -> Any:
        """Return `size` outcomes; with `once`, or if they are to be drawn `apart`, exceptions are outcomes."""
        bulk = self.bulk
        if bulk is not None and not apart:
            return bulk(list(data), size)
        single = self.once if bulk is None else lambda one: bulk(one, 1)[0]
        assert single is not None
        return [_attempt(single, data) for _ in range(size)]

    def describe(self) -> dict[str, Any]:
        """Return what the parent process needs to know."""
        return {
            "kind": "mechanism",
            "name": self.name,
            "neighbours": self.neighbours,
            "claim": self.claimed(),
            "seeded": self.seed is not None,
            "bulk": self.bulk is not None,
            "law": self.law is not None,
            "noiseless": self.noiseless is not None,
            "sensitivity": self.sensitivity,
            "floats": self.floats,
            "exact_law": self.exact_law,
            "relative_error": self.relative_error,
            "notes": self.notes,
            "calls": self.calls,
        }


def _attempt(once: Callable[[Data], Any], data: Data) -> Any:
    try:
        return once(list(data))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever a library raises is what an adversary sees
        return Raised(type(error).__name__)


@dataclass(frozen=True)
class Answer:
    """A function of an accountant, calibrator or converter that answers one of the questions with a known truth.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``RdpAccountant.get_epsilon``.
    question : str
        Which question; `dpassay.properties.assay.questions` lists them with their arguments.
    compute : callable
        Takes the question's arguments by name and returns a number. What it raises is a refusal.
    domain : mapping
        Arguments that the library documents as restricted: name to (low, high), both included. Only what lies
        inside is asked.
    claims_exact : bool
        Whether the library says that its number is the truth up to rounding, and not a bound.
    relative_error, absolute_error : float
        What the library documents, or was asked for, as the error of its number.
    looseness : float
        How far from the truth, absolutely, the library says that its bound may lie on the safe side: within that,
        answers need not be monotone.
    certainty : str
        ``upper`` where the library promises never to understate (the default), ``estimate`` where it says it may.
    notes : str
        What a reader should know.
    account : str, optional
        What the answers of one method have in common: they must not contradict each other, as bounds of different
        methods, or on grids of different widths, may. If it is not given it is
        the name without what is asked and of which mechanism: ``PLD, gaussian, epsilon`` and ``PLD, laplace, delta``
        belong to one account.
    splits : bool
        Whether `compute` also takes a tuple for its `count`: so many repetitions, composed one after the other.
    calls : int, optional
        The most questions that a law may ask, for a search that takes long.
    """

    name: str
    question: str
    compute: Callable[..., Any]
    domain: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    claims_exact: bool = False
    relative_error: float = 0.0
    absolute_error: float = 0.0
    looseness: float = 0.0
    certainty: str = "upper"
    notes: str = ""
    account: str | None = None
    splits: bool = False
    calls: int | None = None

    def __post_init__(self) -> None:
        if self.certainty not in {"upper", "estimate"}:
            raise ValueError(f"{self.name}: certainty must be upper or estimate, got {self.certainty!r}")
        if self.calls is not None and self.calls < 1:
            raise ValueError(f"{self.name}: calls must be at least 1, got {self.calls!r}")

    def describe(self) -> dict[str, Any]:
        """Return what the parent process needs to know."""
        return {
            "kind": "answer",
            "name": self.name,
            "question": self.question,
            "domain": {name: list(bounds) for name, bounds in self.domain.items()},
            "claims_exact": self.claims_exact,
            "relative_error": self.relative_error,
            "absolute_error": self.absolute_error,
            "looseness": self.looseness,
            "certainty": self.certainty,
            "notes": self.notes,
            "account": _account_named(self.name, self.question) if self.account is None else self.account,
            "splits": self.splits,
            "calls": self.calls,
        }


def _account_named(name: str, question: str) -> str:
    """Return a name without the words of its question, so `PLD, laplace, delta` is of the account `PLD`."""
    stem, _, asked = question.rpartition("_")
    rest = " ".join(word for word in re.split(r"[\s,_]+", name) if word not in {"", asked})
    account = " ".join(rest.replace(stem.replace("_", " "), " ").split()) if stem else rest
    return account or rest


@dataclass(frozen=True)
class Nonsense:
    """Calls that a library must refuse: each entry that returns without raising is a finding.

    Parameters
    ----------
    name : str
        Unique in the adapter, such as ``Laplace``.
    attempts : mapping
        What is asked, in words such as ``epsilon=-1``, to a function without arguments that asks it (and uses the
        result: a parameter may be checked late).
    """

    name: str
    attempts: Mapping[str, Callable[[], Any]]

    def describe(self) -> dict[str, Any]:
        """Return what the parent process needs to know."""
        return {"kind": "nonsense", "name": self.name, "attempts": list(self.attempts)}


def answer_in_time(ask: Callable[[], Any], *, seconds: int = 2) -> Any:
    """Ask what may never be answered, first in a process of its own: no answer is no refusal, and must not hang us.

    Parameters
    ----------
    ask : callable
        An attempt of `Nonsense`.
    seconds : int
        How long to wait.

    Returns
    -------
    object
        The answer, or words that say that there was none.

    Raises
    ------
    Exception
        What `ask` raises: a refusal.
    """
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        try:
            ask()
        except Exception:  # noqa: BLE001  # any refusal is one
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return f"no answer in {seconds} s" if os.WTERMSIG(status) == signal.SIGALRM else "the process died"
    return ask()


def present_cases(
    *groups: Callable[[], Iterable[Mechanism | Answer | Nonsense]],
    lacking: tuple[type[Exception], ...] = (AttributeError, TypeError, ValueError),
) -> Iterator[Mechanism | Answer | Nonsense]:
    """Yield the cases of all groups that this version of a library can build.

    A group that runs into what an older version lacks ends there, with a line on standard error.

    Parameters
    ----------
    *groups : callable
        Functions that return cases, the newest parts of the library last.
    lacking : tuple of exceptions
        By which the library shows that it lacks something.

    Examples
    --------
    >>> def refusals():
    ...     yield Nonsense("first", {})
    >>> [case.name for case in present_cases(refusals)]
    ['first']
    """
    for group in groups:
        try:
            yield from group()
        except lacking as error:
            sys.stderr.write(f"left out the rest of {group.__name__}: {error}\n")
