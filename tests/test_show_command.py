"""The command ``dpassay show``: statements and their proofs."""

from tests.checks.commands import Capture, run

from dpassay.cli import main


def test_show_prints_the_steps_of_a_proof(capsys: Capture) -> None:
    status, (record,), _ = run(capsys, "show", "first_loss_rises_and_second_is_symmetric", "--json")
    assert status == 0
    lemma = "[lemma normal_hazard_slope_between_0_and_1] hazard: The normal hazard rises."
    assert lemma in record["proof"]
    prose = "[prose] first loss: So the loss at t = 1 grows with rho. (from: derivative; hazard)"
    assert prose in record["proof"]
    assert record["proof"][-1] == "[conjunction] both losses: All of: first loss; second loss."
    assert record["prose_steps"] == 5


def test_show_tells_what_a_statement_says(capsys: Capture) -> None:
    assert main(["show", "rnm_pure_dp"]) == 0
    out = capsys.readouterr().out
    assert "Thm 8 = Thm 12" in out
    assert "Phi(z - c/sigma)" in out
    assert "without the logarithm" in out
