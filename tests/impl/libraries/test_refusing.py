"""Whether a call raises."""

import pytest

from dpassay.impl.libraries.refusing import raises


def test_the_named_exceptions_count_and_others_pass_through() -> None:
    assert raises((TypeError, ValueError), lambda: int("one"))
    assert not raises(ValueError, lambda: int("1"))
    with pytest.raises(ZeroDivisionError):
        raises(ValueError, lambda: 1 / 0)
