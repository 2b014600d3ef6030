import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.mechanisms.teacher_votes import TeacherVotes, affordable_hits
from dpassay.properties.experiments.target_charging import accounts, digits, teacher_votes
from dpassay.properties.experiments.target_charging.accounts import target_charging_accounts
from dpassay.properties.experiments.target_charging.digits import Votes, digit_votes
from dpassay.properties.experiments.target_charging.teacher_votes import METHODS, affordable_calls, labels_answered


def made_up_votes(agreement: float, teachers: int = 1000) -> Votes:
    """Forty queries on which that share of the teachers is right and the others are spread."""
    truth = np.arange(40, dtype=np.int64) % 10
    wrong = round(teachers * (1 - agreement)) // 9
    counts = np.full((40, 10), float(wrong))
    counts[np.arange(40), truth] = teachers - 9 * wrong
    return Votes(counts, truth, teachers)


def test_target_charging_labels_more_where_teachers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teacher_votes, "EPSILONS", (0.02,))
    monkeypatch.setattr(teacher_votes, "STREAM", 3000)
    correct = {
        agreement: {row["method"]: row["correct"] for row in rows}
        for agreement in (0.95, 0.2)
        if (rows := list(labels_answered(made_up_votes(agreement), 3, np.random.default_rng(0))))
    }
    assert all(row["accuracy"] == row["correct"] / row["answered"] for row in rows)
    assert correct[0.95]["target charging"] > 5 * correct[0.95]["composition"]
    assert correct[0.2]["target charging"] < correct[0.2]["composition"]


def test_the_stream_is_cut_as_the_session_cuts_it() -> None:
    votes, epsilon = made_up_votes(0.5, 100), 0.01
    hits = affordable_hits(10, epsilon, 1.0, 1e-6)
    run = METHODS["target charging"][0](votes, epsilon, hits)
    lengths = [len(run(np.random.default_rng(s))[0]) for s in range(20)]
    asked = []
    for seed in range(5):
        session, answered = TeacherVotes(100, 10, hits, epsilon, np.random.default_rng(seed)), 0
        while not session.halted:
            answered += session.ask(votes.counts[0]) >= 0
        asked.append(answered)
    assert 0.5 < np.mean(lengths) / np.mean(asked) < 2  # means of some 110 with a deviation of 18 each


def test_affordable_calls_fit() -> None:
    from dpassay.impl.accounting.pure_composition import response_epsilon

    calls = affordable_calls(0.1)
    assert response_epsilon(calls, 0.1, 1e-6) <= 1 < response_epsilon(calls + 1, 0.1, 1e-6)


def test_scaled_votes_keep_their_proportions() -> None:
    votes = made_up_votes(0.6)
    assert votes.scaled(3).teachers == 3000
    assert bool(np.all(votes.scaled(3).counts.sum(axis=1) == 3000))


def test_without_scikit_learn_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(UsageError, match="scikit-learn"):
        digit_votes(np.random.default_rng(0))


def test_teachers_vote_on_digits() -> None:
    pytest.importorskip("sklearn")
    votes = digit_votes(np.random.default_rng(0))
    assert votes.counts.shape == (497, 10)
    assert bool(np.all(votes.counts.sum(axis=1) == digits.TEACHERS))
    assert float(np.mean(votes.counts.argmax(axis=1) == votes.truth)) > 0.85


def test_the_experiments_write_their_tables_and_repeat_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[float] = []
    monkeypatch.setattr(teacher_votes, "digit_votes", lambda rng: made_up_votes(0.7, 100))
    monkeypatch.setattr(teacher_votes, "EPSILONS", (0.01, 0.1))
    monkeypatch.setattr(teacher_votes, "STREAM", 200)
    monkeypatch.setattr(accounts, "HITS", (1, 2))
    monkeypatch.setattr(accounts, "EPSILONS", (0.5,))

    def run(name: str, seed: int) -> dict[str, str]:
        (tmp_path / name).mkdir()
        paths = [
            *teacher_votes.teacher_votes(
                tmp_path / name, seed=seed, trials=2, progress=lambda _what, share: shares.append(share)
            ),
            *target_charging_accounts(
                tmp_path / name, seed=seed, trials=None, progress=lambda _what, share: shares.append(share)
            ),
        ]
        assert all(path.is_file() for path in paths)
        return {path.name: path.read_text() for path in paths if path.suffix == ".csv"}

    first = run("first", 4)
    monkeypatch.setattr(teacher_votes, "draw", lambda *_: [])  # figures are slow and not compared
    monkeypatch.setattr(accounts, "draw", lambda *_: [])
    again, other = run("again", 4), run("other", 5)
    assert first == again
    assert first["teacher_votes.csv"] != other["teacher_votes.csv"]
    headers = {name: tuple(next(csv.reader(text.splitlines()))) for name, text in first.items()}
    assert headers == {"teacher_votes.csv": teacher_votes.COLUMNS, "target_charging_accounts.csv": accounts.COLUMNS}
    assert all(0 <= share <= 1 for share in shares)
