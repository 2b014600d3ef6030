"""The command ``dpassay verify``: records, tables and errata."""

from tests.checks.commands import Capture, run

from dpassay.cli import main


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


def test_tables_keep_their_brackets(capsys: Capture) -> None:
    assert main(["verify", "--name", "brownian_rounds_keep_the_moments_down", "--errata"]) == 0
    assert "E[M_n | F_(n-1)]" not in capsys.readouterr().out
    assert main(["verify", "--name", "approximate_dp_of_brownian_filter", "--errata"]) == 0
    assert "E[M_n | F_(n-1)]" in "".join(capsys.readouterr().out.split("\n"))
