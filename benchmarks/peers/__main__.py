"""Run another auditor on rows of the common benchmark, beside ours in the same run.

Run with ``python -m benchmarks.peers --tool TOOL --path CHECKOUT [--python PYTHON] [--rows NAME ...] [--samples N]
[--equal calls|cpu] [--alpha A] [--seed K]``. CHECKOUT is a folder with the tool's package in it; PYTHON an interpreter
(3.11 or newer) that has what the tool needs, numpy and scipy. The tool runs in a process of its own on our mechanisms,
through its own interface and with its own search for inputs; a script in ``runners`` speaks it. Calls are counted
where they are made; CPU seconds are those of the process and its children without the start, that is until the tool
is imported.

Then we hunt on the row, black-box: with ``--equal calls`` with as many calls as the tool made; with ``--equal cpu``
with as many as fit into its CPU seconds, all that we do included. (Tries with the same seed; the longest that fits is
printed.) ``--alpha`` is the level of our bound, which holds over all pairs, events and times that were looked at: 0.1
goes with a bound at 90 %, 0.05 with tests at 5 %. The table is written to ``RESULTS.md`` after every row.

What the tool's bound means is its own affair, and is printed:

- ``dp-sniper`` (eth-sri/dp-sniper): a lower bound at 90 % for the best pair, on fresh samples; `--samples` for
  training, threshold and check each, 200/10.7 times as many for the final estimate, as published. Its logistic
  regression with the published settings; sparse vector rows are handed to it in its own encoding, a number for every
  answer, with the flags that it had. On floats its network on the bits. Few samples are trained in ten batches.
- ``statdp`` (cmla-psu/statdp): the last epsilon of a grid before the first that its test does not reject at 5 %,
  with no correction over the grid; `--samples` for the event, five times as many for the test, as published. It
  multiplies the events of all coordinates, so only rows whose outcome is one number are feasible.
- ``dp-auditorium`` (google/differential-privacy, folder python/dp_auditorium): the last epsilon of a grid before the
  first at which its hockey-stick tester, delta 0, does not reject at 5 %, over a few pairs, each both ways round; its
  own generator of inputs is not used. Its modules import tensorflow and google-vizier.
- ``delta-siege`` (eth-sri/Delta-Siege): a lower bound at 90 % for the best witness of a few pairs, on fresh samples;
  `--samples` for training, threshold, check and final estimate each. Its linear classifier on the bits of the outcomes
  with the published settings, its guarantee that of a pure claim (it searches along delta otherwise).

None of their code is part of this project.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.peers.equal import LEAST_CALLS, Ours, with_calls, within_cpu
from benchmarks.results import machine, markdown_table, write_section
from benchmarks.rows import EXTRAS, ROWS, Row

ROOT = Path(__file__).parents[2]
TOOLS = ("dp-sniper", "statdp", "dp-auditorium", "delta-siege")

LEVEL = 1e-6
"""The level of our audits unless another is given."""


@dataclass(frozen=True)
class PeerResult:
    """What a tool said of a row; `bound` is None if it gave up, and `note` says why or what the bound means.

    The CPU seconds are those after the start, or all of them if it failed.
    """

    bound: float | None
    calls: int
    cpu_seconds: float
    note: str


def run_peer(tool: str, row: Row, *, path: Path, python: str, samples: int, seed: int) -> PeerResult:
    """Start the tool on a row and read what it found.

    Parameters
    ----------
    tool : str
        One of `TOOLS`.
    row : Row
        The row.
    path : Path
        The tool's checkout.
    python : str
        The interpreter.
    samples, seed : int
        Handed to the tool; what it does not seed stays unseeded.

    Returns
    -------
    PeerResult
        Also if the tool failed: then with the last line of its errors.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        task = {
            "path": str(path.resolve()),
            "target": row.target,
            "low_bits": row.low_bits,
            "samples": samples,
            "seed": seed,
            "folder": folder,
        }
        runner = f"benchmarks.peers.runners.speak_{tool.replace('-', '_')}"
        done = subprocess.run(  # noqa: S603  # the user names the interpreter
            [python, "-m", runner, json.dumps(task)],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"},
        )
        counted = Path(folder) / "calls"
        calls = sum(map(int, counted.read_text(encoding="ascii").split())) if counted.exists() else 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        return PeerResult(None, calls, seconds, (done.stderr.strip().splitlines() or ["no output"])[-1])
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return PeerResult(found["bound"], calls, seconds - found["start"], found["note"])


def compare(row: Row, peer: PeerResult, *, equal: str, seed: int, alpha: float) -> Ours:
    """Hunt with as many calls as the peer had or in its CPU time, black-box."""

    def run(calls: int) -> Ours:
        return with_calls(row, calls, seed=seed, alpha=alpha)

    if equal == "calls":
        return run(peer.calls)
    run(LEAST_CALLS)  # as the tool's, our imports are no part of its time
    return within_cpu(peer.cpu_seconds, peer.calls, run)


def figures(bound: float | None, calls: int, seconds: float) -> list[str]:
    """Return the cells of one side; the last one has the CPU microseconds of a call."""
    each = f"{1e6 * seconds / calls:.2f}" if calls else "-"
    return ["-" if bound is None else f"{bound:.4g}", f"{calls:,}", f"{seconds:.1f}", each]


def main() -> None:
    """Run the tool, print the table and write it down."""
    rows = {row.name: row for row in ROWS + EXTRAS}
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tool", choices=TOOLS, required=True)
    parser.add_argument("--path", type=Path, required=True, help="checkout of the tool")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has what the tool needs")
    parser.add_argument("--rows", nargs="+", choices=list(rows), metavar="NAME", default=["NoisyMax3", "NoisyMax4"])
    parser.add_argument("--samples", type=lambda text: int(float(text)), default=20_000)
    parser.add_argument("--equal", choices=("calls", "cpu"), default="calls", help="what both have as much of")
    parser.add_argument("--alpha", type=float, default=LEVEL, help="level of our bound")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not options.path.is_dir():
        parser.error(f"--path must be a folder, got {str(options.path)!r}")
    console, lines = Console(), list[list[str]]()
    for name in options.rows:
        with console.status(f"{name}: {options.tool}"):
            peer = run_peer(
                options.tool,
                rows[name],
                path=options.path,
                python=options.python,
                samples=options.samples,
                seed=options.seed,
            )
        with console.status(f"{name}: dpassay"):
            ours = compare(rows[name], peer, equal=options.equal, seed=options.seed, alpha=options.alpha)
        theirs = figures(peer.bound, peer.calls, peer.cpu_seconds)
        own = figures(ours.result.epsilon_lower, ours.result.calls, ours.cpu_seconds)
        lines.append([name, rows[name].epsilon, *theirs, *own, peer.note])
        console.print(" | ".join(lines[-1]), soft_wrap=True)
        write_section(f"Beside {options.tool}", report(lines, options))


def report(lines: list[list[str]], options: argparse.Namespace) -> str:
    """Return the section of the results."""
    side = ["bound", "calls", "CPU s", "µs a call"]
    headings = ["row", "true ε", *(f"{options.tool}: {word}" for word in side), *(f"ours: {word}" for word in side)]
    command = f"python -m benchmarks.peers --tool {options.tool} --samples {options.samples} --seed {options.seed}"
    command += f" --equal {options.equal} --alpha {options.alpha:g}"
    about = f"Both on this machine; ours at level {options.alpha:g} over all that was looked at, theirs as noted."
    if options.equal == "cpu":
        about += " Where ours took longer, none of its tries was as short as theirs."
    return f"`{command} ...`. {machine()}\n\n{about}\n\n{markdown_table([*headings, 'note'], lines)}"


if __name__ == "__main__":
    main()
