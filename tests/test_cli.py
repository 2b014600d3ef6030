"""The command line, as its contract has it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dpassay
from dpassay.cli import main
from dpassay.properties.experiments.output import NO_FIGURES
from dpassay.spec.sources import item_table

Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, [json.loads(line) for line in out.splitlines()], err


def test_list_has_one_line_per_item(capsys: Capture) -> None:
    status, records, _ = run(capsys, "list", "--json")
    assert status == 0
    assert [(r["source"], r["name"]) for r in records] == list(item_table())
    keys = {"schema", "source", "item", "name", "kind", "covered_by", "where", "reason"}
    assert all(set(record) == keys and record["schema"] == 2 for record in records)


def test_no_item_of_the_chapter_is_uncovered_without_a_reason(capsys: Capture) -> None:
    _, records, _ = run(capsys, "list", "--source", "lebensold2024", "--json")
    uncovered = {record["name"]: record["reason"] for record in records if record["covered_by"] == "none"}
    assert set(uncovered) <= {"cross_reference_errors", "fig_lcl_online"}
    assert all(uncovered.values())
    assert all(record["where"] for record in records if record["covered_by"] != "none")


def test_verify_prints_the_fields_of_the_contract(capsys: Capture) -> None:
    status, (record,), err = run(
        capsys, "verify", "--name", "noisy_max_ratio_monotone_by_proof", "--jobs", "1", "--json"
    )
    assert status == 0
    assert record | {"seconds": 0} == {
        "schema": 2, "statement": "noisy_max_ratio_monotone_by_proof", "source": "lebensold2024", "item": "Lemma 16",
        "kind": "lemma", "verdict": "holds", "evidence": "symbolic", "scope": "all",
        "prose_steps": 5, "cases": 1, "undecided": 0, "tightness": None, "seconds": 0, "witness": None,
        "detail": record["detail"], "as_expected": True,
    }  # fmt: skip
    assert "1 of 1 statements as expected" in err


def test_verify_qualifies_the_scope_of_a_proof_with_prose_steps(capsys: Capture) -> None:
    assert main(["verify", "--name", "noisy_max_ratio_monotone_by_proof", "--jobs", "1"]) == 0
    assert "all, 5 prose steps" in capsys.readouterr().out
    assert main(["verify", "--name", "f1_score_is_the_harmonic_mean*", "--jobs", "1"]) == 0
    assert "prose" not in capsys.readouterr().out


def test_show_prints_the_steps_of_a_proof(capsys: Capture) -> None:
    status, (record,), _ = run(capsys, "show", "first_loss_rises_and_second_is_symmetric", "--json")
    assert status == 0
    lemma = "[lemma normal_hazard_slope_between_0_and_1] hazard: The normal hazard rises."
    assert lemma in record["proof"]
    prose = "[prose] first loss: So the loss at t = 1 grows with rho. (from: derivative; hazard)"
    assert prose in record["proof"]
    assert record["proof"][-1] == "[conjunction] both losses: All of: first loss; second loss."
    assert record["prose_steps"] == 5


def test_errata_print_the_fields_of_the_contract(capsys: Capture) -> None:
    status, (record,), _ = run(capsys, "verify", "--name", "pure_dp_of_gaussian_noisy_max", "--errata", "--json")
    assert status == 0
    assert record["erratum_of"] == "pure_dp_of_gaussian_noisy_max"
    assert (record["class"], record["printed"], record["corrected"]) == ("loose", "holds", "holds")
    assert record["witness"] == {"size": 5, "width": 1, "sensitivity": "1/5", "sigma": 1}
    assert record["severity"] == "minor"
    assert record["location"].startswith("Section 3.1, Theorem 8")
    assert record["answer"]
    assert record["consequences"] == []


def test_a_consequence_is_listed_with_its_cause(capsys: Capture) -> None:
    command = ("verify", "--name", "approximate_dp_of_individual_svt", "--errata", "--json")
    status, (record,), err = run(capsys, *command)
    assert status == 0
    assert (record["erratum_of"], record["severity"]) == ("approximate_dp_of_one_shot_top_k", "error")
    assert [one["item"] for one in record["consequences"]] == ["Thm I.3", "Rem I.2", "Thm 2.10"]
    assert all((one["printed"], one["corrected"]) == ("violated", "holds") for one in record["consequences"])
    assert "errata: error 1, minor 0; not counted as errata: interpretation 0, sharpening 0" in err


def test_verification_does_not_depend_on_the_number_of_jobs(capsys: Capture) -> None:
    arguments = ("verify", "--name", "mgf_ratio*", "--seed", "3", "--json")
    _, one, _ = run(capsys, *arguments, "--jobs", "1")
    _, two, _ = run(capsys, *arguments, "--jobs", "2")
    assert [r | {"seconds": 0} for r in one] == [r | {"seconds": 0} for r in two]


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


def test_show_tells_what_a_statement_says(capsys: Capture) -> None:
    assert main(["show", "rnm_pure_dp"]) == 0
    out = capsys.readouterr().out
    assert "Thm 8 = Thm 12" in out
    assert "Phi(z - c/sigma)" in out
    assert "without the logarithm" in out


def test_tables_keep_their_brackets(capsys: Capture) -> None:
    assert main(["verify", "--name", "brownian_rounds_keep_the_moments_down", "--errata"]) == 0
    assert "E[M_n | F_(n-1)]" not in capsys.readouterr().out
    assert main(["verify", "--name", "approximate_dp_of_brownian_filter", "--errata"]) == 0
    assert "E[M_n | F_(n-1)]" in "".join(capsys.readouterr().out.split("\n"))


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


def test_what_the_system_refuses_is_one_line(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status = main(["experiment", "noisy-max-figures", "--out", str(tmp_path / "file" / "out")])
    out, err = capsys.readouterr()
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "file/out" in err


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


def test_tables_without_figures_say_how_to_get_them(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("dpassay.properties.experiments.output.can_draw", lambda: False)
    assert main(["experiment", "bike-sharing", "--trials", "1", "--out", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert all(Path(line).suffix == ".csv" for line in out.splitlines())
    assert err.splitlines() == [f"dpassay: {NO_FIGURES}"]


def test_mechanisms_are_listed_in_the_words_of_hunt(capsys: Capture) -> None:
    _, records, _ = run(capsys, "list", "--mechanisms", "--json")
    (noisy_max,) = (r for r in records if r["where"] == "dpassay.impl.mechanisms.noisy_max:gaussian_noisy_max")
    assert noisy_max["neighbours"] == "vector:size=5,linf=0.2,low=0.0,high=1.0"
    assert noisy_max["claims"][0].startswith("pure:0.65246539")
    assert noisy_max["exact_distribution"] is True
    broken = [r for r in records if r["broken"]]
    assert len(broken) >= 25
    assert all(r["fault"] and r["caught_by"] for r in broken)
