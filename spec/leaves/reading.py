"""Numbers of certificates as checkers read them."""

import re
from fractions import Fraction

__all__ = ["MalformedCertificateError", "read_count", "read_rational", "short"]

LONGEST = 10_000
"""Digits of a rational number at most."""

RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")


class MalformedCertificateError(ValueError):
    """Raised for a value that is no alignment certificate at all; the message says where it departs from the form."""


def read_rational(value: object) -> Fraction:
    """Return the rational number that a text such as '3/2' states.

    Raises
    ------
    MalformedCertificateError
        If it is anything else.
    """
    if not isinstance(value, str) or len(value) > LONGEST or not RATIONAL.fullmatch(value):
        raise MalformedCertificateError(f"a rational number is text such as '3/2', got {short(value)}")
    return Fraction(value)


def read_count(value: object) -> int:
    """Return a count, an integer of at least 0.

    Raises
    ------
    MalformedCertificateError
        If it is anything else.
    """
    if type(value) is not int or value < 0:
        raise MalformedCertificateError(f"a count is an integer of at least 0, got {short(value)}")
    return value


def short(value: object) -> str:
    """Return a value as text of at most 40 characters."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]} ..."
