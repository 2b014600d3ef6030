"""Exceptions in words: what a caller sees of a call that raised, which an outcome must not hide."""

import re
from hashlib import blake2b

__all__ = ["LONGEST_MESSAGE", "RAISES", "raised_words"]

RAISES = "<raises "
"""Beginning of the symbol of a call that raised."""

LONGEST_MESSAGE = 1000
"""Letters of a message that are kept as they are; the rest of a longer one is kept as a digest."""

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
_UNRELATED = (RecursionError,)
"""Exceptions whose messages tell where the interpreter's stack was full, which depends on the caller."""


def raised_words(error: BaseException) -> str:
    """Return the type of an exception and its message, with its notes.

    Addresses of objects, which differ between processes and follow from no input, are left out; so are the messages
    of `RecursionError` and those that raise themselves.

    >>> raised_words(ValueError("bad 3")), raised_words(KeyError())
    ('ValueError: bad 3', 'KeyError')
    """
    name = type(error).__name__
    message = "" if isinstance(error, _UNRELATED) else _message(error)
    return f"{name}: {message}" if message else name


def _message(error: BaseException) -> str:
    try:
        whole = "\n".join([str(error), *map(str, getattr(error, "__notes__", ()))])
    except Exception:  # noqa: BLE001  # whatever a foreign __str__ raises: its message cannot be seen either
        return ""
    text = _ADDRESS.sub("at an address", whole).strip()
    if len(text) <= LONGEST_MESSAGE:
        return text
    rest = text[LONGEST_MESSAGE:]
    digest = blake2b(rest.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{text[:LONGEST_MESSAGE]} ({len(rest)} more letters: {digest})"
