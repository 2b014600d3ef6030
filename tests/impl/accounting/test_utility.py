from typing import Any

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.impl.accounting.utility import f1_score, selection_accuracy


def test_accuracy_is_one_for_the_best_and_the_share_kept_otherwise() -> None:
    answers = np.array([0.2, 0.8, 0.4])
    assert selection_accuracy(answers, [1, 1]) == 1
    assert selection_accuracy(answers, [0, 2]) == pytest.approx(np.mean([0.25, 0.5]))  # the best is never chosen
    assert selection_accuracy(answers, [0, 1, 2, 1]) == pytest.approx(np.mean([0.25, 1, 0.5, 1]))
    assert selection_accuracy([0.3], [0, 0]) == 1


@pytest.mark.parametrize(
    ("answers", "winners"),
    [([], [0]), ([0.0], [0]), ([0.0, 0.0], [0]), ([-1.0, 1.0], [0]), ([[1.0]], [0]), ([1.0], []), ([1.0], [1])],
)
def test_accuracy_refuses_nonsense(answers: Any, winners: list[int]) -> None:
    with pytest.raises(UsageError, match="must"):
        selection_accuracy(answers, winners)


def test_f1() -> None:
    assert f1_score([1, 1, 0, 0], [1, 0, 1, 0]) == 0.5
    assert f1_score([0, 0], [0, 0]) == 1
    assert f1_score([0, 1], [0, 0]) == 0
    with pytest.raises(UsageError, match="same shape"):
        f1_score([1], [1, 0])
