"""Commands as targets: a program that reads data as JSON on standard input and prints outcomes as JSON."""

import json
import shlex
import shutil
import subprocess
from typing import Any

import numpy as np

from dpassay.arguments import UsageError
from dpassay.properties.drawing.json_protocol import LONGEST_COMPLAINT, as_json, filled, outcomes_of

__all__ = ["COMMAND", "Command"]

COMMAND = "cmd:"
"""Prefix of the name of a command as a target."""


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
        self.makes_many = any("{size}" in word for word in self._words)

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outcomes."""
        from dpassay.properties.tracing.refusal import active, refuse

        if active.run is not None:
            refuse("a command runs outside of Python")
        return outcomes_of(lambda count: self._run(data, count, rng), size, self.makes_many, CommandError)

    def __repr__(self) -> str:
        return COMMAND + shlex.join(self._words)

    def _run(self, data: Any, size: int, rng: np.random.Generator) -> str:
        words = shlex.split(filled(shlex.join(self._words), size, rng))  # one seed for the whole line
        done = subprocess.run(  # noqa: S603  # the program that the user names
            words, input=json.dumps(as_json(data)), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise CommandError(f"status {done.returncode}: {done.stderr.strip()[:LONGEST_COMPLAINT]}")
        return done.stdout
