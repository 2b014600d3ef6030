"""The result of a hunt, with the fields of the command line's contract."""

import decimal
import math
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from dpassay.claims import Claim, PureDP, RenyiDP, parse_claim
from dpassay.neighbours import parse_neighbours
from dpassay.properties.betting.power import Power
from dpassay.properties.contract import BoundRecord, Float64Record, HuntRecord, WitnessRecord, as_dictionary
from dpassay.properties.drawing.call_guard import CALL_TIMEOUT, NOT_FRESH, NOT_READ
from dpassay.properties.drawing.target import is_program
from dpassay.properties.hunting.decision import TRACE_SECONDS
from dpassay.properties.hunting.idle import CONSTANT_OUTCOME, ROUNDING_EVERYWHERE
from dpassay.properties.hunting.verdicts import Float64Policy, HuntVerdict, StopReason
from dpassay.properties.notions.bounds import Bound, bounds_text
from dpassay.properties.records import plain
from dpassay.spec.verdict import Evidence, Scope

__all__ = [
    "BUDGET_SECONDS",
    "Float64Result",
    "HuntResult",
    "Witness",
    "also_refutes_words",
    "is_target_name",
    "is_void",
    "refuted_claims",
    "replay_command",
]

BUDGET_SECONDS = 60.0
"""Time of a hunt unless stated otherwise."""

_CONVERTED = frozenset({"verdict", "bounds", "evidence", "scope", "witness", "stopped", "power", "float64"})
"""Fields of a result that the record states in a form of its own, or not at all."""

_ROUNDING = 2.0**-50
"""The relative allowance with which the float64 of a claim is read."""

SHOWN_ORDERS = (2.0, 8.0, 32.0)
"""The orders at which refuted Renyi claims are named."""


@dataclass(frozen=True)
class Witness:
    """Two neighbouring inputs and an event on which they differ too much.

    Parameters
    ----------
    left, right : tuple of float
        The inputs.
    event : str
        A set of outcomes, in words that :func:`dpassay.properties.outcomes.events.parse_event` reads, unless
        `is_described`.
    p_left, p_right : (float, float)
        Intervals of its probability on each input: certified if the distribution is known, else of 95 % confidence,
        from calls that had no part in the choice of the event.
    certified : bool
        Whether this pair by itself refutes the claim: by its enclosed probabilities, or at level alpha by calls of
        its own. Otherwise the verdict rests on all pairs of the hunt, among which this one stood out.
    inputs : (str, str), optional
        What the target received, where `left` and `right` are codes of it: representations of the objects.
    is_described : bool
        Whether the event is a description for a reader, of a set that no expression of outcomes describes.
    """

    left: tuple[float, ...]
    right: tuple[float, ...]
    event: str
    p_left: tuple[float, float]
    p_right: tuple[float, float]
    certified: bool
    inputs: tuple[str, str] | None = None
    is_described: bool = False

    @property
    def shown(self) -> tuple[str, str]:
        """Both inputs, as the target received them."""
        return self.inputs if self.inputs is not None else (str(list(self.left)), str(list(self.right)))


@dataclass(frozen=True)
class Float64Result:
    """The verdict on what float64 adds to the ideal mechanism: low-order bits, and rounding that is visible.

    Parameters
    ----------
    verdict : HuntVerdict
        `VIOLATED`, `NOT_REFUTED` or `UNDECIDED`.
    epsilon_lower : float
        Lower bound on the epsilon of the floats, at delta as in `HuntResult`; certified if `evidence` is "enclosed".
    evidence : Evidence
        How the verdict was reached.
    calls : int
        Outcomes that were drawn for the verdict, those of the hunt or calls of its own.
    witness : Witness or None
        For a violation.
    is_same : bool
        Whether the violation is that of the ideal mechanism: it needs neither low-order bits nor rounding.
    """

    verdict: HuntVerdict
    epsilon_lower: float
    evidence: Evidence
    calls: int
    witness: Witness | None = None
    is_same: bool = False

    @property
    def is_violated(self) -> bool:
        """Return whether the claim is refuted in float64."""
        return self.verdict is HuntVerdict.VIOLATED

    def record(self) -> Float64Record:
        """Return the record of the verdict."""
        return Float64Record(
            verdict=self.verdict,
            epsilon_lower=plain(self.epsilon_lower),
            evidence=self.evidence,
            calls=self.calls,
            witness=None if self.witness is None else WitnessRecord(**plain(self.witness)),
            is_same=self.is_same,
        )


@dataclass(frozen=True)
class HuntResult:
    """The outcome of a hunt.

    Parameters
    ----------
    target, claim : str
        The target and the claim, as text.
    verdict : HuntVerdict
        "undecided" if nothing was refuted and the run is void: a call hung, the target's process ended, calls were not
        independent, outcomes were not read, or all were the same; the notes say which. "holds" is said of known output
        distributions only, with its scope.
    bounds : tuple of Bound
        What is known of the quantities of the claim: lower bounds that are certified where `evidence` is "enclosed",
        and at confidence 1 - alpha where it is "sampled". The first is on epsilon at the claim's delta (at delta 0
        for zCDP, RDP and ex-post claims; on the range of the losses for bounded range). Its `upper` is a certified
        bound on the pure epsilon (the range of the losses) over all pairs of the mechanism's own relation; None
        without a worst-pair theorem, for another relation, and where the target was sampled.
    evidence : Evidence, `EXACT`, `ENCLOSED` or `SAMPLED`
        How the verdict was reached: `EXACT` by a proof in rational numbers.
    scope : Scope, `ALL`, `POINTS` or `SAMPLES`
        How far it reaches.
    alpha : float
        Probability of a false "violated"; also of each sampled bound being wrong.
    e_value_log10 : float or None
        Evidence against the claim at the end; None where nothing was sampled.
    calls : int
        Outcomes drawn from the target.
    seconds, cpu_seconds : float
        Time on the clock, and processor time of this process and of the one that holds the target (workers of a pool
        are not counted).
    witness : Witness or None
        For a violated claim.
    seed : int
        Determines the result, together with `calls`.
    replay : str
        The command that repeats the hunt.
    stopped : StopReason or None
        What ended the sampling: the calls or the time were spent, the claim was refuted and the bounds sharpened, the
        keyboard, a call of the target that hung, the loss of a worker. None where nothing was sampled.
    notes : tuple of str
        What the target does that its user should know: a call that hung, inputs changed in place, an rng ignored ...
    power : Power or None
        The smallest violation that at least half of all such runs refute. None where the
        claim was refuted, nothing was sampled, or the test is void.
    shrink_calls : int
        Outcomes drawn in search of a simpler witness, beside `calls`.
    confirm_calls : int
        Outcomes drawn to see whether a violation depends on rounding, beside `calls`.
    neighbours : str or None
        The relation that was searched, in the words of the command line.
    also_refutes : tuple of str
        For a violated claim, the weakest claims of other notions that imply it and are therefore refuted too.
    traced : bool
        Whether the code of the target, run on symbols in place of noise, decided the claim; no call was made then.
        The verdict is on the ideal mechanism, in real arithmetic, and "holds" for all inputs of the given length.
    not_traced : str or None
        Why the code did not decide it, with file and line where an operation has no exact counterpart; None where it
        decided, and where it was not asked.
    certificate : dict or None
        For a claim that holds: the proof, which ``dpassay check`` verifies; None where it has no such form.
    float64 : Float64Result or None
        The second verdict: on the low-order bits of floats and on inputs at which rounding is visible. None where they
        were not tested.
    session : int
        Number of calls on one input that made an outcome. If it is not 1, `claim` is the claim for that many releases,
        and `calls` counts sessions.
    """

    target: str
    claim: str
    verdict: HuntVerdict
    bounds: tuple[Bound, ...]
    evidence: Evidence
    scope: Scope
    alpha: float
    e_value_log10: float | None
    calls: int
    seconds: float
    cpu_seconds: float
    witness: Witness | None
    seed: int
    replay: str
    stopped: StopReason | None = None
    notes: tuple[str, ...] = ()
    power: Power | None = None
    shrink_calls: int = 0
    confirm_calls: int = 0
    neighbours: str | None = None
    also_refutes: tuple[str, ...] = ()
    traced: bool = False
    not_traced: str | None = None
    certificate: Mapping[str, Any] | None = None
    float64: "Float64Result | None" = None
    session: int = 1

    def __str__(self) -> str:
        subject = f"claim {self.claim}" if self.session == 1 else f"claim {self.claim} for {self.session} calls"
        lines = [f"{self.verdict} ({self.evidence}, {self._reach}): {self.target}, {subject}"]
        lines.append(f"  {bounds_text(map(self._shown_bound, self.bounds))}")
        lines += [f"  {words}" for words in [also_refutes_words(self)] if words]
        return "\n".join(lines)

    @property
    def _reach(self) -> str:
        """The scope in words."""
        if not (self.traced and self.scope is Scope.ALL and self.neighbours):
            return f"scope {self.scope}"
        return f"all inputs of length {parse_neighbours(self.neighbours).size}"

    def _shown_bound(self, bound: Bound) -> Bound:
        """Return a bound for a reader: a delta that the rounding of the claim's own epsilon makes is none."""
        is_rounding = bound.quantity == "delta" and bound.lower is not None and bound.lower < _ROUNDING
        return replace(bound, lower=0.0) if is_rounding and self.verdict is not HuntVerdict.VIOLATED else bound

    def _lower(self, quantity: str) -> float | None:
        return next((bound.lower for bound in self.bounds if bound.quantity == quantity), None)

    @property
    def epsilon_lower(self) -> float:
        """The lower bound on epsilon."""
        return self._lower("epsilon") or 0.0

    @property
    def epsilon_upper(self) -> float | None:
        """The upper bound on epsilon; where it agrees with `epsilon_lower` the true epsilon is known."""
        return next((bound.upper for bound in self.bounds if bound.quantity == "epsilon"), None)

    @property
    def delta_lower(self) -> float | None:
        """The lower bound on delta at the claim's epsilon; None for claims that state none."""
        return self._lower("delta")

    @property
    def rho_lower(self) -> float | None:
        """The lower bound on rho; a sampled one comes through the implied (epsilon, delta) curve."""
        return self._lower("rho")

    @property
    def renyi_epsilon_lower(self) -> float | None:
        """The lower bound on the Renyi divergence; a sampled one comes through the implied (epsilon, delta) curve."""
        return self._lower("renyi_epsilon")

    @property
    def is_void(self) -> bool:
        """Return whether the run refuted nothing and tested nothing on which a pass could rest."""
        return self.verdict is HuntVerdict.UNDECIDED

    def record(self) -> HuntRecord:
        """Return the record of the hunt."""
        return HuntRecord(
            **{each.name: plain(getattr(self, each.name)) for each in fields(self) if each.name not in _CONVERTED},
            verdict=self.verdict,
            bounds=[BoundRecord(**plain(bound)) for bound in self.bounds],
            evidence=self.evidence,
            scope=self.scope,
            witness=None if self.witness is None else WitnessRecord(**plain(self.witness), snippet=self.snippet),
            stopped=self.stopped,
            power=None if self.power is None else self.power.record(),
            float64=None if self.float64 is None else self.float64.record(),
            epsilon_lower=plain(self.epsilon_lower),
            delta_lower=plain(self.delta_lower),
            rho_lower=plain(self.rho_lower),
            renyi_epsilon_lower=plain(self.renyi_epsilon_lower),
            mu_lower=plain(self._lower("mu")),
            excess_lower=plain(self._lower("excess")),
            loss_tail_lower=plain(self._lower("loss_tail")),
            epsilon_upper=plain(self.epsilon_upper),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the object that the command line prints: infinity is the string "inf", the unknown is None."""
        return as_dictionary(self.record())

    @property
    def snippet(self) -> str | None:
        """Python code that shows the witness on fresh samples; None without a witness."""
        if self.witness is None:
            return None
        game: dict[str, Any] = {"left": list(self.witness.left), "right": list(self.witness.right)}
        game |= {"event": self.witness.event} | ({"is_described": True} if self.witness.is_described else {})
        saved: dict[str, Any] = {
            "target": self.target,
            "claim": self.claim,
            "neighbours": self.neighbours,
            "witness": game,
        }
        saved |= {} if self.session == 1 else {"session": self.session}
        named = is_target_name(self.target)
        mechanism = repr(self.target) if named else f"...  # {self.target}"
        lines = ["from dpassay.testing import replay", f"mechanism = {mechanism}"]
        return "\n".join([*lines, f"print(replay({saved!r}, mechanism))"])


def refuted_claims(claim: Claim) -> tuple[str, ...]:
    """Return the claims that a counterexample to a claim refutes as well, as the command line takes them.

    Claims without a text form are left out. Of Renyi claims only those of order `SHOWN_ORDERS` are named.
    """
    from dpassay.spec.notions.implications import refuted_by  # the chapters on conversions take long to import

    others = (other for other in refuted_by(claim) if other.form)
    return tuple(str(other) for other in others if not isinstance(other, RenyiDP) or other.alpha in SHOWN_ORDERS)


def also_refutes_words(result: HuntResult) -> str:
    """Return a line on the other claims that a violation refutes, rounded to stronger ones; nothing if there are none.

    They follow from the claim alone: a bound on epsilon that is larger than that of pure DP among them refutes more.
    """
    if not result.also_refutes:
        return ""
    listed = [_rounded_claim(words) for words in result.also_refutes]
    pure = [claim.epsilon for claim in map(parse_claim, result.also_refutes) if isinstance(claim, PureDP)]
    is_exceeded = any(epsilon < result.epsilon_lower for epsilon in pure)
    why = " (derived from the claim alone; the figures above refute more)" if is_exceeded else ""
    return f"this also refutes: {'; '.join(listed)}{why}"


_SHOWN_DIGITS = 4
"""Significant digits of derived claims in the output; JSON has all."""


def _rounded_claim(words: str) -> str:
    """Return a claim with its numbers rounded towards 0, which makes it stronger: what refutes it refutes that."""
    kind, _, numbers = words.partition(":")
    return f"{kind}:{','.join(map(_shortened, numbers.split(',')))}"


def _shortened(number: str) -> str:
    rounding = decimal.Context(prec=_SHOWN_DIGITS, rounding=decimal.ROUND_DOWN)
    short = repr(float(rounding.create_decimal(number)))
    return short if len(short) < len(number) else number


def is_void(stopped: StopReason | None, notes: Collection[str]) -> bool:
    """Return whether a hunt that stopped so, with such notes, is undecided unless it refuted its claim."""
    is_unread = any(note.startswith(NOT_READ) for note in notes)
    is_idle = bool({CONSTANT_OUTCOME, ROUNDING_EVERYWHERE, *(habit.value for habit in NOT_FRESH)} & set(notes))
    return (stopped is not None and stopped.is_failure) or is_idle or is_unread


def is_target_name(target: str) -> bool:
    """Return whether a target can be loaded by its name; else it was an object, and the name describes it."""
    if is_program(target):
        return True
    place, _, name = target.removeprefix("per-call:").rpartition(":")
    is_module = all(part.isidentifier() for part in place.split("."))
    return all(part.isidentifier() for part in name.split(".")) and (is_module or place.endswith(".py"))


def replay_command(
    target: str,
    claim: str | None,
    neighbours: str,
    *,
    alpha: float,
    seed: int,
    calls: int | None,
    float64: Float64Policy = Float64Policy.WARN,
    trace: bool = True,
    session: int = 1,
    budget_seconds: float = BUDGET_SECONDS,
    call_timeout_seconds: float = CALL_TIMEOUT,
    trace_seconds: float = TRACE_SECONDS,
) -> str:
    """Return the shell command that repeats a hunt; without a claim it takes the target's own.

    Parameters
    ----------
    target : str
        The target, as on the command line.
    claim : str, optional
        The claim, as text.
    neighbours : str
        The relation, as text.
    alpha : float
        Level of the test.
    seed : int
        Seed of the hunt.
    calls : int, optional
        The number of calls; without it the hunt ends by its time.
    float64, trace
        As for `hunt`.
    session : int
        As for `hunt`.
    budget_seconds, call_timeout_seconds, trace_seconds : float
        As for `hunt`; named where they are not the usual ones.
    """
    words = ["dpassay", "hunt", target, *(() if claim is None else ("--claim", claim)), "--neighbours", neighbours]
    words += ["--alpha", repr(alpha), "--seed", str(seed)]
    words += [] if float64 is Float64Policy.WARN else ["--float64", str(float64)]
    words += [] if budget_seconds == BUDGET_SECONDS else ["--budget", _seconds_words(budget_seconds)]
    words += [] if call_timeout_seconds == CALL_TIMEOUT else ["--call-timeout", _seconds_words(call_timeout_seconds)]
    words += [] if trace or session > 1 else ["--no-trace"]
    words += [] if trace_seconds == TRACE_SECONDS else ["--trace-limit", _seconds_words(trace_seconds)]
    words += [] if session == 1 else ["--session", str(session)]
    return shlex.join(words if calls is None else [*words, "--calls", str(calls)])


def _seconds_words(seconds: float) -> str:
    return "inf" if math.isinf(seconds) else f"{seconds:.15g}s"
