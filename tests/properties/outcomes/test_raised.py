"""Exceptions in words: type, message and notes, and nothing that follows from no input."""

import pytest

from dpassay.properties.outcomes.raised import LONGEST_MESSAGE, raised_words


class RaisesItselfError(Exception):
    """Its message cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no message")


def noted(message: str, note: str) -> ValueError:
    """Return an exception with a note, as Python 3.11 prints it."""
    error = ValueError(message)
    error.add_note(note)
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("bad 3"), "ValueError: bad 3"),
        (KeyError("name"), "KeyError: 'name'"),
        (ValueError(), "ValueError"),
        (ValueError("  "), "ValueError"),
        (ValueError(1, "two"), "ValueError: (1, 'two')"),
        (noted("bad", "record 7"), "ValueError: bad\nrecord 7"),
        (RaisesItselfError(3), "RaisesItselfError"),
        (RecursionError("maximum recursion depth exceeded in comparison"), "RecursionError"),
        (ValueError(f"bad {'<object object at 0x7f3a5c0a91f0>'}"), "ValueError: bad <object object at an address>"),
        (ValueError("bad key 0x7f3a5c"), "ValueError: bad key 0x7f3a5c"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_an_exception_is_its_type_and_its_message(error: BaseException, words: str) -> None:
    assert raised_words(error) == words


def test_messages_that_differ_at_the_end_alone_are_different_however_long() -> None:
    longest, longer = "a" * LONGEST_MESSAGE, "a" * 10 * LONGEST_MESSAGE
    assert raised_words(ValueError(longest)) == f"ValueError: {longest}"
    assert raised_words(ValueError(f"{longer}b")) != raised_words(ValueError(f"{longer}c"))
    assert raised_words(ValueError(f"{longer}b")) == raised_words(ValueError(f"{longer}b"))
    assert len(raised_words(ValueError(longer))) < LONGEST_MESSAGE + 100
