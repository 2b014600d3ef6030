"""Commands as targets: a program that reads data as JSON on standard input and prints outcomes as JSON."""

import json
import shlex
import shutil
import subprocess
from collections import Counter
from typing import Any

import numpy as np

from dpassay.claims import UsageError

__all__ = ["COMMAND", "Command"]

COMMAND = "cmd:"
"""Prefix of the name of a command as a target."""

_SEEDS = 1 << 32
"""Number of seeds: more would not be accepted by programs that take 32 bits."""

_LONGEST_COMPLAINT = 200
"""Characters of the error output of a program that an exception repeats."""


class CommandError(Exception):
    """A command ended with another status than 0, or printed something else than JSON: itself an outcome."""


class Command:
    """A target that runs a command.

    Without ``{size}`` the command is run once for each release, and what it prints is one outcome. With ``{size}`` it
    is run once for many, and prints a JSON array of that many. ``{seed}`` becomes a fresh integer below 2^32 in each
    run; a command without it is not replayable. Programs are run without a shell.

    Parameters
    ----------
    words : str
        The command, quoted as for a shell, such as ``./release --seed {seed}``.

    Raises
    ------
    UsageError
        If it has no words, or its first word is no program.
    """

    def __init__(self, words: str) -> None:
        try:
            self._words = shlex.split(words)
        except ValueError as error:
            raise UsageError(f"target {COMMAND + words!r}: {error}") from None
        if not self._words:
            raise UsageError(f"target {COMMAND + words!r} must have the form cmd:PROGRAM ARGUMENTS")
        if shutil.which(self._words[0]) is None:
            raise UsageError(f"target {COMMAND + words!r}: {self._words[0]!r} is not a program that can be run")
        self._makes_many = any("{size}" in word for word in self._words)

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outcomes."""
        from dpassay.properties.tracing.refusal import active, refuse

        if active.run is not None:
            refuse("a command runs outside of Python")
        if not self._makes_many:
            return [self._run(data, 1, rng) for _ in range(size)]
        outcomes = self._run(data, size, rng)
        if not isinstance(outcomes, list):
            raise CommandError(f"expected a JSON array of {size} outcomes, got {type(outcomes).__name__}")
        return [_frozen(outcome) for outcome in outcomes]

    def __repr__(self) -> str:
        return COMMAND + shlex.join(self._words)

    def _run(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        chosen = {"{seed}": str(rng.integers(_SEEDS)), "{size}": str(size)}
        words = [_filled(word, chosen) for word in self._words]
        done = subprocess.run(  # noqa: S603  # the program that the user names
            words, input=json.dumps(_as_json(data)), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise CommandError(f"status {done.returncode}: {done.stderr.strip()[:_LONGEST_COMPLAINT]}")
        try:
            printed = json.loads(done.stdout)
        except ValueError:
            raise CommandError(f"not JSON: {done.stdout.strip()[:_LONGEST_COMPLAINT]!r}") from None
        return printed if self._makes_many else _frozen(printed)


def _filled(word: str, chosen: dict[str, str]) -> str:
    for name, value in chosen.items():
        word = word.replace(name, value)
    return word


def _as_json(data: Any) -> Any:
    """Return data as JSON has them: an array as a list, a frame as a list of objects, counts as pairs."""
    if hasattr(data, "to_dict"):
        return data.to_dict(orient="records")
    if isinstance(data, Counter | dict):
        return [[value, count] for value, count in data.items()]
    return data.tolist() if isinstance(data, np.ndarray) else data


def _frozen(value: Any) -> Any:
    """Return a JSON value with tuples for lists, so that a list is one outcome."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
