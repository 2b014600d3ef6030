"""Every broken mechanism of the catalogue is caught by the laws that it names, and no right one is."""

import pytest
from tests.checks.laws import LAWS, privacy_of_claim, tightness_of_claim

from dpassay.impl.catalogue import Entry, entries
from dpassay.impl.mechanisms.noisy_max import gaussian_noisy_max

BROKEN = [entry for entry in entries() if entry.mutation is not None]
RIGHT = [entry for entry in entries() if entry.mutation is None]


def name(entry: Entry) -> str:
    return entry.where.rpartition(".")[2]


@pytest.mark.parametrize("entry", BROKEN, ids=name)
def test_a_broken_mechanism_is_caught(entry: Entry) -> None:
    assert entry.mutation is not None
    assert entry.mutation.caught_by
    for law in entry.mutation.caught_by:
        assert not LAWS[law](entry.mechanism), f"{law} does not notice that {entry.mutation.fault}"


@pytest.mark.parametrize("entry", RIGHT, ids=name)
def test_a_right_mechanism_is_not_accused(entry: Entry) -> None:  # falsely with probability at most 1e-10 each
    assert privacy_of_claim(entry.mechanism, most_calls=10_000)


def test_the_exact_bound_is_exact() -> None:
    assert tightness_of_claim(gaussian_noisy_max)


def test_there_is_no_less_in_the_catalogue_than_there_was() -> None:
    assert len(BROKEN) >= 25
    assert len(RIGHT) >= 9
