"""What a hunt found, with the fields of the command line's contract."""

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from dpassay.properties.audit.exclusion import Exclusion
from dpassay.properties.audit.watching import Habit
from dpassay.properties.records import SCHEMA, plain

__all__ = ["HuntResult", "Witness", "is_target_name", "is_void", "replay_command"]


@dataclass(frozen=True)
class Witness:
    """Two neighbouring inputs and an event on which they differ too much.

    Parameters
    ----------
    left, right : tuple of float
        The inputs.
    event : str
        A set of outcomes, in words that :func:`dpassay.properties.audit.events.parse_event` reads.
    p_left, p_right : (float, float)
        Intervals of its probability on each input: certified if the law is known, else of 95 % confidence, from
        calls that had no part in the choice of the event.
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
    epsilon_lower : float
        Lower bound on epsilon at the claim's delta (at delta 0 for zCDP, RDP and ex-post claims; on the range of
        the losses for bounded range): certified where
        `evidence` is "enclosed", at confidence 1 - alpha where it is "sampled".
    delta_lower : float or None
        The same for delta at the claim's epsilon; None for claims that state none.
    rho_lower, renyi_epsilon_lower : float or None
        The same for zCDP and RDP claims; sampled ones come through the implied (epsilon, delta) curve.
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
    epsilon_upper : float or None
        Certified upper bound on the pure epsilon (on the range of the losses for bounded range) over all pairs of the
        mechanism's own relation: where it agrees with `epsilon_lower` the true epsilon is known. None without a
        worst-pair theorem, for another relation, and where the target was sampled.
    stopped : {"calls", "budget", "refuted", "interrupted", "call timeout", "workers lost"} or None
        What ended the sampling: the calls or the time were spent, the claim was refuted and the bounds sharpened, the
        keyboard, a call of the target that hung, the loss of a worker. None where nothing was sampled.
    notes : tuple of str
        What the target does that its user should know: a call that hung, inputs changed in place, an rng ignored ...
    excluded : Exclusion or None
        What "not refuted" excludes, on average.
    shrink_calls : int
        Outcomes drawn in search of a simpler witness, beside `calls`.
    """

    target: str
    claim: str
    verdict: str
    epsilon_lower: float
    delta_lower: float | None
    rho_lower: float | None
    renyi_epsilon_lower: float | None
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
    epsilon_upper: float | None = None
    stopped: str | None = None
    notes: tuple[str, ...] = ()
    excluded: Exclusion | None = None
    shrink_calls: int = 0

    @property
    def is_void(self) -> bool:
        """Whether "not refuted" says nothing: the target or the workers failed, or its calls are not independent."""
        return is_void(self.stopped, self.notes)

    def to_json(self) -> dict[str, Any]:
        """Return the object that the command line prints: infinity is the string "inf", the unknown is None."""
        record = {"schema": SCHEMA, **plain(self)}
        if record["witness"] is not None:
            record["witness"]["snippet"] = self.snippet
        return record

    @property
    def snippet(self) -> str | None:
        """Python code that shows the witness on fresh samples; None without a witness."""
        if self.witness is None:
            return None
        game = {"left": list(self.witness.left), "right": list(self.witness.right), "event": self.witness.event}
        saved = {"target": self.target, "claim": self.claim, "witness": game}
        lines = ["from dpassay.testing import replay"]
        if is_target_name(self.target):
            return "\n".join([*lines, f"print(replay({saved!r}))"])
        return "\n".join([*lines, f"mechanism = ...  # {self.target}", f"print(replay({saved!r}, mechanism))"])


def is_void(stopped: str | None, notes: Collection[str]) -> bool:
    """Whether a hunt that stopped so, with such notes, says nothing where it refuted nothing."""
    return stopped in {"call timeout", "workers lost"} or Habit.REPEATS_ITSELF.value in notes


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
