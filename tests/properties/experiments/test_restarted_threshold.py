import numpy as np

from dpassay.impl.mechanisms.above_threshold import GaussianAboveThreshold
from dpassay.properties.experiments.gaussian_selection.restarted_threshold import Rounds, pass_through


def almost_noiseless(size: int) -> GaussianAboveThreshold:
    return GaussianAboveThreshold(size, 0.5, 1e-6, 1e-6, 0, 1, 0.01)


def test_without_noise_a_pass_reports_the_days_above() -> None:
    answers = np.array([0.1, 0.9, 0.8, 0.2, 0.2, 0.7, 0.3])
    rounds = pass_through(almost_noiseless(7), answers, np.random.default_rng(0))
    assert rounds.halting_times.tolist() == [2, 1, 3]
    assert np.flatnonzero(rounds.alarms(7)).tolist() == [1, 2, 5]
    assert (rounds.left_over, rounds.count) == (1, 4)


def test_a_pass_that_halts_on_the_last_day_leaves_no_round_over() -> None:
    rounds = pass_through(almost_noiseless(2), np.array([0.1, 0.9]), np.random.default_rng(0))
    assert (rounds.halting_times.tolist(), rounds.left_over, rounds.count) == ([2], 0, 1)


def test_a_pass_without_high_days_is_one_round() -> None:
    rounds = pass_through(almost_noiseless(3), np.zeros(3), np.random.default_rng(0))
    assert (rounds.halting_times.tolist(), rounds.left_over, rounds.count) == ([], 3, 1)
    assert np.flatnonzero(rounds.alarms(7)).tolist() == []


def test_fewer_rounds_report_fewer_days() -> None:
    rounds = Rounds(np.array([2, 1, 3]), 1)
    assert np.flatnonzero(rounds.alarms(7, 2)).tolist() == [1, 2]
    assert np.flatnonzero(rounds.alarms(7)).tolist() == np.flatnonzero(rounds.alarms(7, 4)).tolist() == [1, 2, 5]
    assert not rounds.alarms(7, 0).any()
