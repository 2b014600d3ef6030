"""Target charging: private calls are charged only if they hit their targets.

Cohen and Lyu 2023, Alg 1, Alg 6 and Alg 8 in one session: one target or several, with a budget for the deltas of
(epsilon, delta_i)-DP calls, which is asked before a call runs.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpassay.arguments import UsageError, require_at_least, require_positive, require_probability
from dpassay.claims import ApproximateDP, Claim
from dpassay.impl.accounting.filters import BudgetExceeded, Offer, Remaining
from dpassay.impl.accounting.filters.interface import float_up
from dpassay.impl.accounting.target_charging import ChargingAccount, require_quality, target_charging_account
from dpassay.impl.accounting.target_quality import not_prior_quality
from dpassay.impl.catalogue import catalogue
from dpassay.impl.mechanisms.finite import log_ratio_upper
from dpassay.impl.mechanisms.halting import HaltedError
from dpassay.impl.mechanisms.sampling import in_chunks
from dpassay.impl.validation import require_count, require_vector
from dpassay.neighbours import VectorNeighbours

__all__ = [
    "ChargedResponses",
    "LeakyCalls",
    "OutcomeError",
    "TargetCharging",
    "multi_target_charging",
    "target_charging",
    "target_charging_approx",
]

Array = NDArray[np.float64]
Outcome = TypeVar("Outcome")
Target = Container[Any]


class OutcomeError(UsageError):
    """Raised if a call returns an outcome outside its declared range; the message does not contain the outcome."""


class TargetCharging:
    """A session of private calls that ends when every target counter has reached `hits`.

    Parameters
    ----------
    hits : int
        tau, at least 1.
    epsilon : float
        Largest privacy parameter of a call, in nats, positive.
    quality : float
        Smallest quality q of a target at that epsilon, in (0, 1].
    targets : int
        Number of targets of every call; with several the session goes on until the *least* counter is at `hits`.
    delta_of_calls : float
        tau_delta, the budget for the sum of the deltas of the calls, in [0, 1).

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    def __init__(
        self, hits: int, epsilon: float, quality: float, *, targets: int = 1, delta_of_calls: float = 0.0
    ) -> None:
        self.hits = require_count("hits", hits)
        self.epsilon = require_positive("epsilon", epsilon)
        self.quality = require_quality("quality", quality)
        self.targets = require_count("targets", targets)
        if not 0 <= delta_of_calls < 1:
            raise UsageError(f"delta_of_calls must lie in [0, 1), got {delta_of_calls!r}")
        self.delta_of_calls = delta_of_calls
        self._counts = [0] * self.targets
        self._delta_sum = Fraction(0)
        self._closed = False

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of hits of each target."""
        return tuple(self._counts)

    @property
    def halted(self) -> bool:
        """True if the session has ended."""
        return self._closed or min(self._counts) >= self.hits

    @property
    def delta_spent(self) -> float:
        """The sum of the deltas of the calls that ran, rounded up."""
        return float_up(self._delta_sum)

    def account(self, delta: float) -> ChargingAccount:
        """Return the guarantee of the session at a total delta, for any calls."""
        return target_charging_account(
            self.hits, self.epsilon, self.quality, delta,
            delta_of_calls=self.delta_of_calls, targets=self.targets,
        )  # fmt: skip

    def ask(
        self,
        run: Callable[[], Outcome],
        *targets: Target,
        epsilon: float | None = None,
        quality: float | None = None,
        delta: float = 0.0,
        outcomes: Container[Any] | None = None,
    ) -> Outcome:
        """Run a call and publish its outcome; count the targets that it hits.

        Parameters
        ----------
        run : callable
            The mechanism on the private data, (epsilon, delta)-DP.
        *targets : container
            As many sets of outcomes as the session has counters; each must be a q-target of the mechanism.
        epsilon, quality : float, optional
            Parameters of this call, at most and at least those of the session, which are the default.
        delta : float
            Its delta.
        outcomes : container, optional
            The declared range.

        Raises
        ------
        HaltedError
            If the session has halted.
        UsageError
            If an argument is out of its domain, or the call costs more than the session is made for. Nothing has
            been run or charged.
        BudgetExceeded
            If its delta does not fit. Nothing has been run or charged.
        OutcomeError
            If the outcome is outside the declared range; nothing is published or counted. As the error depends on
            the data, the session is closed, and so it is if `run` raises, or a target that is asked for the outcome.
        """
        self._require_running()
        if not callable(run):
            raise UsageError(f"run must be callable, got {run!r}")
        if outcomes is not None and not isinstance(outcomes, Container):
            raise UsageError(f"outcomes must be a set of outcomes, got {outcomes!r}")
        self._require_call(targets, epsilon, quality, delta)
        self._delta_sum += Fraction(delta)
        self._closed = True  # until the call has come to a good end
        outcome = run()
        if outcomes is not None and outcome not in outcomes:
            raise OutcomeError("outcomes must hold whatever the call returns; it returned something else")
        hit = [outcome in target for target in targets]
        self._closed = False
        self._counts = [count + new for count, new in zip(self._counts, hit, strict=True)]
        return outcome

    def _require_running(self) -> None:
        if self.halted:
            raise HaltedError(f"the session has halted with the counts {self.counts}; begin another one")

    def _require_call(
        self, targets: Sequence[Target], epsilon: float | None, quality: float | None, delta: float
    ) -> None:
        if len(targets) != self.targets:
            raise UsageError(f"targets must be {self.targets} sets of outcomes, got {len(targets)}")
        for target in targets:
            if not isinstance(target, Container):
                raise UsageError(f"targets must be sets of outcomes, got {target!r}")
        if epsilon is not None and not require_at_least("epsilon", epsilon, 0) <= self.epsilon:
            raise UsageError(f"epsilon must be at most {self.epsilon!r}, that of the session, got {epsilon!r}")
        if quality is not None and not require_quality("quality", quality) >= self.quality:
            raise UsageError(f"quality must be at least {self.quality!r}, that of the session, got {quality!r}")
        require_probability("delta", delta)
        if self._delta_sum + Fraction(delta) > Fraction(self.delta_of_calls):
            left = Remaining(self.epsilon, float(Fraction(self.delta_of_calls) - self._delta_sum))
            raise BudgetExceeded(Offer(self.epsilon if epsilon is None else epsilon, delta), left)


# --- a mechanism of the catalogue ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ChargedResponses:
    """Randomised responses to the bits of a vector, in order, until tau answers hit the target.

    The outcome is the tuple of answers, which ends with the hit that halts the session. The target of a response is
    the answer 1; with `both` the answer 0 is a second one.

    Parameters
    ----------
    size : int
        Number of bits.
    hits : int
        tau.
    truth : float
        Probability of a true answer, in (1/2, 1); epsilon is its log-odds.
    delta : float
        At which the guarantee is claimed, in (0, 1).
    both : bool
        Whether both answers are targets.

    Raises
    ------
    UsageError
        If a parameter is out of its domain.
    """

    size: int
    hits: int
    truth: float
    delta: float
    both: bool = False

    def __post_init__(self) -> None:
        require_count("size", self.size)
        require_count("hits", self.hits)
        if not 0.5 < self.truth < 1:
            raise UsageError(f"truth must lie in (1/2, 1), got {self.truth!r}")
        if not 0 < self.delta < 1:
            raise UsageError(f"delta must lie in (0, 1), got {self.delta!r}")

    @property
    def epsilon(self) -> float:
        """Privacy parameter of a response, rounded up."""
        return log_ratio_upper(Fraction(self.truth) / (1 - Fraction(self.truth)))

    def session(self) -> TargetCharging:
        """Start a session."""
        quality = float(not_prior_quality(self.epsilon))
        return TargetCharging(self.hits, self.epsilon, quality, targets=2 if self.both else 1)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Approximate DP by the best account."""
        return (ApproximateDP(self.session().account(self.delta).epsilon, self.delta),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """Bits of which any number may differ: every response is to a query of the whole data set."""
        return VectorNeighbours(size=self.size, linf=1, low=0, high=1, integer=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any]:
        """Draw `size` transcripts on the bits `data`."""
        bits = require_vector("data", data, self.size, 0, 1)

        def draw(rows: int) -> NDArray[Any]:
            answers = np.where(rng.random((rows, self.size)) < self.truth, bits, 1 - bits)
            return np.concatenate([answers, self.lengths(answers)[:, None]], axis=1)

        drawn = in_chunks(draw, size, self.size).astype(np.int64)
        return [tuple(row[: row[-1]]) for row in drawn.tolist()]

    def lengths(self, answers: Array) -> NDArray[np.int64]:
        """Return the number of published answers for each row of answers to all bits."""
        ones = np.cumsum(answers, axis=1)
        counts = np.minimum(ones, np.arange(1, self.size + 1) - ones) if self.both else ones
        published: NDArray[np.int64] = np.minimum(1 + (counts < self.hits).sum(axis=1), self.size)
        return published


NAMED_NOTHING = -1
"""The symbol of a leaky call that kept silent."""


@dataclass(frozen=True)
class LeakyCalls:
    """Calls that name the bit with probability `leak` and are silent otherwise: (0, leak)-DP, without hits.

    The session of Alg 6 lets them run while the budget for their deltas lasts. The outcome is the tuple of what the
    calls said: 0, 1, or -1 for silence.

    Parameters
    ----------
    calls : int
        Number of requested calls.
    leak : float
        Probability of naming the bit.
    make_session : callable
        Returns a fresh session for a run; its calls are charged `leak` each.
    slack : float
        What the whole is allowed beyond the budget for the calls, in (0, 1).
    """

    calls: int
    leak: float
    make_session: Callable[[], TargetCharging]
    slack: float = 0.01

    def __post_init__(self) -> None:
        require_count("calls", self.calls)
        require_probability("leak", self.leak)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Approximate DP at the budget of the session and the slack."""
        session = self.make_session()
        delta = session.delta_of_calls + self.slack
        return (ApproximateDP(session.account(delta).epsilon, delta),)

    @property
    def neighbours(self) -> VectorNeighbours:
        """The two bits."""
        return VectorNeighbours(size=1, linf=1, low=0, high=1, integer=True)

    def sample(self, data: Array, size: int, rng: np.random.Generator) -> Sequence[Any]:
        """Draw `size` transcripts on the bit `data`."""
        bit = int(require_vector("data", data, 1, 0, 1)[0])
        said = np.where(rng.random((require_count("size", size, low=0), self.calls)) < self.leak, bit, NAMED_NOTHING)
        return [self._transcript(row) for row in said.tolist()]

    def _transcript(self, said: list[int]) -> tuple[int, ...]:
        session, published = self.make_session(), list[int]()
        for word in said:
            try:
                published.append(session.ask(lambda word=word: word, frozenset(), delta=self.leak))  # type: ignore[misc]
            except BudgetExceeded:
                break
        return tuple(published)


target_charging = catalogue(
    __name__,
    ChargedResponses(size=16, hits=2, truth=0.53125, delta=0.01),
    items=(("cohen2023", "target_charging"),),
)

multi_target_charging = catalogue(
    __name__,
    ChargedResponses(size=10, hits=1, truth=0.53125, delta=0.01, both=True),
    items=(("cohen2023", "multi_target_charging"),),
)

target_charging_approx = catalogue(
    __name__,
    LeakyCalls(calls=5, leak=0.125, make_session=lambda: TargetCharging(1, 0.01, 0.49, delta_of_calls=0.25)),
    items=(("cohen2023", "target_charging_approx"),),
)
