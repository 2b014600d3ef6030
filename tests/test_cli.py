"""The command line, as its contract has it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dpassay
from dpassay.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["verify", "--source", "nobody1999"], "nobody1999"),
        (["verify", "--name", "nothing"], "no statement"),
        (["verify", "--profile", "slow"], "slow"),
        (["verify", "--seed", "-1"], "-1"),
        (["show", "nothing"], "nothing"),
        (["experiment", "nothing"], "there is no experiment 'nothing'; the experiments are above-threshold-figures, "),
        ([], "Missing command"),
        (["frobnicate"], "there is no command 'frobnicate'; the commands are assay, check, "),
        (["verfy"], "trace, verify; did you mean verify?"),
        (["list", "no_such_module"], "; expected a module, a package, a file with the ending .py, or an entry point"),
        (["report", "--from", "no_such_file"], "'no_such_file' cannot be read: No such file or directory; expected"),
        (["hunt", "builtins:print"], "claim must be given, such as pure:1, for a target that declares none; accepted"),
        (["hunt", "builtins:print", "--claim", "pure:1"], "accepted is text that begins with one of vector:, "),
        (["hunt", "builtins:print", "--claim", "pure:1", "--neighbours", "records:low=0,high=1,size=3"],
         "lacks relation=add-remove or relation=replace"),
        (["hunt", "nothing:f", "--claim", "pure:1", "--neighbours", "vector:size=1,linf=1"],
         "No module named 'nothing'; expected a module, or a file with the ending .py"),
        (["hunt", "builtins:print", "--claim", "pure:1", "--neighbours", "vector:size=1,linf=1,linf=2"], "linf twice"),
        (["list", "--wrong"], "--wrong"),
        (["hunt", "builtins:print", "--claim", "pure:x", "--neighbours", "vector:size=1,linf=1"], "pure:x"),
        (["hunt", "builtins:print", "--claim", "pure:1", "--neighbours", "vector:size=1"], "l1"),
        (["hunt", "nowhere.py:f", "--claim", "pure:1", "--neighbours", "vector:size=1,linf=1"], "nowhere.py"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_exit_status_2(capsys: Capture, arguments: list[str], complaint: str) -> None:
    status = main(arguments)
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert complaint in err
    assert len(err.splitlines()) == 1


def test_the_version_is_our_own(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert dpassay.__version__ in capsys.readouterr().out


@pytest.mark.parametrize("command", [["list", "--json"], ["list"], ["show", "mgf_ratio_monotone_by_proof"]])
def test_a_reader_that_leaves_early_is_no_finding(command: list[str]) -> None:
    """Statuses 0 and 1 speak of the whole run, which a closed pipe cuts off: the status is that of SIGPIPE."""
    program = f"import sys; from dpassay.cli import main; sys.exit(main({command!r}))"
    environment = os.environ | {"PYTHONPATH": str(Path(dpassay.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (141, "")


@pytest.mark.parametrize("error", [AssertionError("never so"), GeneratorExit("never so")])
def test_an_error_of_our_own_has_a_status_of_its_own(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Python's status for it is 1, which is a verdict here."""

    def fail(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr("dpassay.properties.show.show_record", fail)
    assert main(["show", "anything"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Traceback")
    assert "never so" in err
    assert "please report it" in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("error", "complaint"), [(MemoryError("745 GiB"), "745 GiB"), (SystemExit(3), "exited with status 3")]
)
def test_whatever_ends_a_command_early_is_one_line(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, error: BaseException, complaint: str
) -> None:
    def fail(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr("dpassay.properties.show.show_record", fail)
    assert main(["show", "anything"]) == 2
    err = capsys.readouterr().err
    assert complaint in err
    assert len(err.splitlines()) == 1
