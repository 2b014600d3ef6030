"""What a hunt found, with the fields of the command line's contract."""

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from dpassay.claims import Claim, RenyiDP
from dpassay.properties.betting.power import Power
from dpassay.properties.drawing.call_guard import NOT_FRESH, NOT_READ
from dpassay.properties.notions.bounds import Bound, bounds_text
from dpassay.properties.records import SCHEMA, plain

__all__ = ["HuntResult", "Witness", "is_target_name", "is_void", "refuted_claims", "replay_command"]

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
        A set of outcomes, in words that :func:`dpassay.properties.outcomes.events.parse_event` reads.
    p_left, p_right : (float, float)
        Intervals of its probability on each input: certified if the distribution is known, else of 95 % confidence,
        from calls that had no part in the choice of the event.
    certified : bool
        Whether this pair by itself refutes the claim: by its enclosed probabilities, or at level alpha by calls of
        its own. Otherwise the verdict rests on all pairs of the hunt, among which this one stood out.
    """

    left: tuple[float, ...]
    right: tuple[float, ...]
    event: str
    p_left: tuple[float, float]
    p_right: tuple[float, float]
    certified: bool


@dataclass(frozen=True)
class HuntResult:
    """The outcome of a hunt.

    Parameters
    ----------
    target, claim : str
        What was hunted.
    verdict : {"violated", "not refuted", "holds"}
        "holds" is said of known output distributions only, with its scope.
    bounds : tuple of Bound
        What is known of the quantities of the claim: lower bounds that are certified where `evidence` is "enclosed",
        and at confidence 1 - alpha where it is "sampled". The first is on epsilon at the claim's delta (at delta 0
        for zCDP, RDP and ex-post claims; on the range of the losses for bounded range). Its `upper` is a certified
        bound on the pure epsilon (the range of the losses) over all pairs of the mechanism's own relation; None
        without a worst-pair theorem, for another relation, and where the target was sampled.
    evidence : {"enclosed", "sampled"}
        How the verdict was reached.
    scope : {"all", "points", "samples"}
        How far it reaches.
    alpha : float
        Probability of a false "violated"; also of each sampled bound being wrong.
    e_value_log10 : float or None
        Evidence against the claim at the end; None where nothing was sampled.
    calls : int
        Outcomes drawn from the target.
    seconds, cpu_seconds : float
        Time on the clock, and time of this process (workers not counted).
    witness : Witness or None
        For a violated claim.
    seed : int
        Determines the result, together with `calls`.
    replay : str
        The command that repeats the hunt.
    stopped : {"calls", "budget", "refuted", "interrupted", "call timeout", "workers lost"} or None
        What ended the sampling: the calls or the time were spent, the claim was refuted and the bounds sharpened, the
        keyboard, a call of the target that hung, the loss of a worker. None where nothing was sampled.
    notes : tuple of str
        What the target does that its user should know: a call that hung, inputs changed in place, an rng ignored ...
    power : Power or None
        The smallest violation that a test which did not refute its claim would have refuted on average. None where the
        claim was refuted, nothing was sampled, or the test is void.
    shrink_calls : int
        Outcomes drawn in search of a simpler witness, beside `calls`.
    neighbours : str or None
        The relation that was searched, in the words of the command line.
    also_refutes : tuple of str
        For a violated claim, the weakest claims of other notions that imply it and are therefore refuted too.
    """

    target: str
    claim: str
    verdict: str
    bounds: tuple[Bound, ...]
    evidence: str
    scope: str
    alpha: float
    e_value_log10: float | None
    calls: int
    seconds: float
    cpu_seconds: float
    witness: Witness | None
    seed: int
    replay: str
    stopped: str | None = None
    notes: tuple[str, ...] = ()
    power: Power | None = None
    shrink_calls: int = 0
    neighbours: str | None = None
    also_refutes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.verdict} ({self.evidence}, scope {self.scope}): {self.target}, claim {self.claim}"]
        lines.append(f"  {bounds_text(self.bounds)}")
        lines += [f"  this also refutes: {'; '.join(self.also_refutes)}"] if self.also_refutes else []
        return "\n".join(lines)

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
        """Whether "not refuted" says nothing: it failed, calls were not independent or outcomes were not read."""
        return is_void(self.stopped, self.notes)

    def to_json(self) -> dict[str, Any]:
        """Return the object that the command line prints: infinity is the string "inf", the unknown is None."""
        derived = dict.fromkeys(("epsilon_lower", "delta_lower", "rho_lower", "renyi_epsilon_lower"))
        derived |= {f"{bound.quantity}_lower": bound.lower for bound in self.bounds}
        derived["epsilon_upper"] = self.epsilon_upper
        record = {
            "schema": SCHEMA,
            **plain(self),
            **plain(derived),
            "power": None if self.power is None else self.power.record(),
        }
        if record["witness"] is not None:
            record["witness"]["snippet"] = self.snippet
        return record

    @property
    def snippet(self) -> str | None:
        """Python code that shows the witness on fresh samples; None without a witness."""
        if self.witness is None:
            return None
        game = {"left": list(self.witness.left), "right": list(self.witness.right), "event": self.witness.event}
        saved = {"target": self.target, "claim": self.claim, "neighbours": self.neighbours, "witness": game}
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


def is_void(stopped: str | None, notes: Collection[str]) -> bool:
    """Whether a hunt that stopped so, with such notes, says nothing where it refuted nothing."""
    is_unread = any(note.startswith(NOT_READ) for note in notes)
    is_repeated = any(habit.value in notes for habit in NOT_FRESH)
    return stopped in {"call timeout", "workers lost"} or is_repeated or is_unread


def is_target_name(target: str) -> bool:
    """Whether a target can be loaded by its name; else it was an object, and the name describes it."""
    place, _, name = target.rpartition(":")
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
    low_bits: bool = True,
) -> str:
    """Return the shell command that repeats a hunt; without a claim it takes the target's own."""
    words = ["dpassay", "hunt", target, *(() if claim is None else ("--claim", claim)), "--neighbours", neighbours]
    words += ["--alpha", repr(alpha), "--seed", str(seed)]
    words += [] if low_bits else ["--ignore-low-bits"]
    return shlex.join(words if calls is None else [*words, "--calls", str(calls)])
