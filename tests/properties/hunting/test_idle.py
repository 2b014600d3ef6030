"""A target is reported as faulty only if calls on both inputs of a pair raised."""

from types import SimpleNamespace
from typing import Any

import pytest

from dpassay.properties.hunting.idle import every_call_raised


def _game(*, calls: int = 8, failures: int = 8, both: bool = True) -> Any:
    return SimpleNamespace(calls=calls, only_failures=failures == calls, called_both=both)


@pytest.mark.parametrize(
    ("games", "raised"),
    [
        ([_game()], True),
        ([_game(failures=7)], False),
        ([_game(both=False)], False),  # the other input may return: the exception tells them apart
        ([_game(both=False), _game()], True),
        ([_game(both=False), _game(both=False)], False),
        ([_game(), _game(failures=0)], False),
        ([_game(calls=0, failures=0)], False),
    ],
)
def test_every_call_raised(games: list[Any], *, raised: bool) -> None:
    assert every_call_raised(games) is raised
