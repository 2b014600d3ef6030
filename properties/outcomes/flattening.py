"""Features of structured outcomes: each number and each word in them by the expression that leads there.

    len(outcome)    outcome['total']    outcome.count    outcome[0][1]    max(outcome['counts'])    outcome.has('a')
    numbers(outcome)[0]    words(outcome['label'])[2]    form(outcome)    decimals(outcome)    keys(outcome)

Numbers are ordered, words are counted. Each is a function of its own outcome alone.
"""

import math
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from dpassay.impl.libraries.plain import UNREADABLE, Record, Scalar, written
from dpassay.properties.outcomes.digits import digits_of_number
from dpassay.properties.outcomes.value_words import parse_values

__all__ = ["MISSING", "NUMBER", "OUTCOME", "Flat", "code", "flattened", "to_float", "type_words"]

OUTCOME = "outcome"

MISSING = Scalar("missing", "")
"""The word of an outcome without the part that an expression names."""

_NAMED_PARTS, _NAMED_WORDS, _NAMED_NUMBERS, _NAMED_BYTES, _NAMED_LETTERS = 32, 8, 8, 32, 32
"""Parts of a container, and words, numbers, bytes and letters of a text, with names; others enter sums and ends."""

_MOST_NAMES = 128
"""Features of one outcome that have names of their own: more find signals deeper in large outcomes and take time."""

_LONGEST_WORD = 1024
"""Letters of a word that are compared; longer text is compared by its parts."""

_LONGEST_FORM = 256
"""Letters of the form of a text (its numbers replaced) that are compared."""

_EXACT = 2**53
"""Larger integers lose digits in float64 and are compared as words too."""

_DECIMALS = re.compile(r"\.(\d*)")
NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_TOKEN = re.compile(r"(?<!\w)(?<!\d\.)(?:[^\W\d_]+|\d{1,6})(?!\w|\.\d)")
_WORD = re.compile(r"[^\W\d_]+")
_NAMED_TOKENS = 32
"""Words and whole numbers of a text whose presence is a feature."""

_NAMED_TYPES = 16
"""Parts of a record whose types are named."""


@dataclass
class Flat:
    """The features of one outcome.

    Parameters
    ----------
    numbers, words : dict
        By the expression that leads to them.
    leaves : list of float
        All numbers, in order, those inside of text included.
    unread : dict
        The types of the parts that could not be read, by expression.
    partly : dict
        Parts that are looked at in part only, by expression: what of them is left out.
    readable : bool
        Whether anything else than a type could be read.
    """

    numbers: dict[str, float] = field(default_factory=dict)
    words: dict[str, Hashable] = field(default_factory=dict)
    leaves: list[float] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    partly: dict[str, str] = field(default_factory=dict)
    readable: bool = False

    # --- one part after the other ---------------------------------------------------------------------------

    def visit(self, path: str, value: Any, *, named: bool = True) -> None:
        """Enter a part of the outcome and all that is in it."""
        named = named and len(self.numbers) + len(self.words) < _MOST_NAMES
        if isinstance(value, tuple):
            self._sequence(path, value, named)
        elif isinstance(value, Record):
            self._record(path, value, named)
        elif isinstance(value, Scalar) and value.kind == UNREADABLE:
            self.unread.setdefault(path, value.text)
        else:
            self.readable = True
            self._leaf(path, value, named)

    def _leaf(self, path: str, value: Any, named: bool) -> None:
        if isinstance(value, (int, float)):
            self._number(path, to_float(value), named)
            self._digits(path, value, named)
            if named and isinstance(value, int) and abs(value) > _EXACT:
                self.words[path] = value
        elif isinstance(value, str):
            self._text(path, value, named)
        elif isinstance(value, bytes):
            self._bytes(path, value, named)
        elif isinstance(value, Scalar):
            self._scalar(path, value, named)
        elif named:
            self.words[path] = value
        elif value is not None:
            self.partly.setdefault(path, type(value).__name__)

    def _number(self, path: str, value: float, named: bool) -> None:
        self.leaves.append(value)
        if named:
            self.numbers[path] = value

    def _digits(self, path: str, value: float, named: bool) -> None:
        """Enter the digits or the fraction of a number."""
        found = digits_of_number(path, value)
        if named and len(self.numbers) + len(self.words) < _MOST_NAMES:
            self.numbers |= found
        elif found:
            self.partly.setdefault(path, "digits")

    def _scalar(self, path: str, value: Scalar, named: bool) -> None:
        if math.isnan(value.number):
            self._text(path, value.text, named)
        else:
            self._number(path, value.number, named)
        if named:
            self.words[path] = value
        else:
            self.partly.setdefault(path, value.kind)

    def _sequence(self, path: str, parts: Sequence[Any], named: bool) -> None:
        start = len(self.leaves)
        if named:
            self.numbers[f"len({path})"] = float(len(parts))
        for place, part in enumerate(parts):
            self.visit(f"{path}[{place}]", part, named=named and place < _NAMED_PARTS)
        if named and len(parts) > 1 and isinstance(parts[-1], (int, float)):
            self.numbers[f"{path}[-1]"] = to_float(parts[-1])
        self._summary(path, start, named)
        if named and len(parts) > 1 and len(self.leaves) - start == len(parts):
            inside = self.leaves[start:]
            self.numbers[f"argmax({path})"] = float(inside.index(max(inside)))
        self.readable = self.readable or not parts

    def _record(self, path: str, record: Record, named: bool) -> None:
        start = len(self.leaves)
        keys = [accessor for accessor, _ in record.parts if accessor[:1] == "["]
        if keys and named:
            self.numbers[f"len({path})"] = float(len(keys))
            self.words[f"keys({path})"] = _keys_of(tuple(keys))
        for place, (accessor, part) in enumerate(record.parts):
            self.visit(path + accessor, part, named=named and place < _NAMED_PARTS)
            if named and accessor == "" and "set" in record.kind.lower():
                for member in part[:_NAMED_PARTS]:
                    self.numbers[f"{path}.has({written(member)})"] = 1.0
        self._summary(path, start, named and len(record.parts) > 1)
        self.readable = self.readable or not record.parts

    def _summary(self, path: str, start: int, named: bool) -> None:
        inside = self.leaves[start:]
        if named and len(inside) > 1:
            is_known = not any(map(math.isnan, inside))
            self.numbers[f"max({path})"] = max(inside) if is_known else math.nan
            self.numbers[f"min({path})"] = min(inside) if is_known else math.nan
            self.numbers[f"sum({path})"] = sum(inside)

    # --- text -----------------------------------------------------------------------------------------------

    def _text(self, path: str, text: str, named: bool) -> None:
        """Enter the text itself, the numbers in it, its words, and its form: the text without its numbers."""
        found = [to_float(float(number)) for number in NUMBER.findall(text)]
        self.leaves += found
        if not named:
            self.partly.setdefault(path, "text")
            return
        if len(text) > 2 * _NAMED_LETTERS:
            self.partly.setdefault(path, f"letters between the first {_NAMED_LETTERS} and the last {_NAMED_LETTERS}")
        self.numbers[f"len({path})"] = float(len(text))
        if len(text) <= _LONGEST_WORD:
            self.words[path] = text
        self._letters(path, text)
        if found:
            self._numbers_inside(path, found)
            if "." in text:  # to how many places a number is rounded may depend on the true one
                self.numbers[f"decimals({path})"] = float(max(map(len, _DECIMALS.findall(text))))
            self.words[f"form({path})"] = NUMBER.sub("#", text)[:_LONGEST_FORM]
        words = _WORD.findall(text)
        if len(words) > 1:
            self.numbers[f"len(words({path}))"] = float(len(words))
            named_words = [*enumerate(words[:_NAMED_WORDS]), (-1, words[-1])]
            self.words |= {f"words({path})[{place}]": word[:_LONGEST_WORD] for place, word in named_words}
        self._tokens(path, text)

    def _tokens(self, path: str, text: str) -> None:
        """Enter which words and whole numbers there are, wherever they stand: a text may list what was selected."""
        tokens = list(dict.fromkeys(_TOKEN.findall(text[:_LONGEST_WORD])))
        room = max(0, _MOST_NAMES - len(self.numbers) - len(self.words))
        if len(tokens) > 1:
            self.numbers |= {f"{path}.has({written(token)})": 1.0 for token in tokens[: min(_NAMED_TOKENS, room)]}

    def _letters(self, path: str, text: str) -> None:
        """Enter the code points of the first letters and of the last ones, the very last in any case."""
        if len(text) < 2:  # the text itself
            return
        if len(self.numbers) + len(self.words) >= _MOST_NAMES:
            self.partly.setdefault(path, "letters")
            return
        self.numbers |= {f"{path}[{place}]": float(ord(letter)) for place, letter in enumerate(text[:_NAMED_LETTERS])}
        later = min(_NAMED_LETTERS, max(1, len(text) - _NAMED_LETTERS))
        self.numbers |= {f"{path}[-{k}]": float(ord(text[-k])) for k in range(1, later + 1)}

    def _numbers_inside(self, path: str, found: list[float]) -> None:
        self.numbers[f"len(numbers({path}))"] = float(len(found))
        named_numbers = [*enumerate(found[:_NAMED_NUMBERS]), (-1, found[-1])]
        self.numbers |= {f"numbers({path})[{place}]": value for place, value in named_numbers}

    def _bytes(self, path: str, value: bytes, named: bool) -> None:
        found = [to_float(float(number)) for number in NUMBER.findall(value.decode("latin-1"))]
        if not named:
            self.partly.setdefault(path, "bytes")
            return
        if len(value) > 2 * _NAMED_BYTES:
            self.partly.setdefault(path, f"bytes between the first {_NAMED_BYTES} and the last {_NAMED_BYTES}")
        self.numbers[f"len({path})"] = float(len(value))
        if len(value) <= _LONGEST_WORD:
            self.words[path] = value
        ends = [
            *enumerate(value[:_NAMED_BYTES]),
            *((-k, value[-k]) for k in range(1, min(_NAMED_BYTES, len(value)) + 1)),
        ]
        self.numbers |= {f"{path}[{place}]": float(byte) for place, byte in ends}
        if found:
            self._numbers_inside(path, found)


@lru_cache(maxsize=1 << 10)
def _keys_of(accessors: tuple[str, ...]) -> Hashable:
    """Return the keys that accessors stand for, in their order; of many the first ones and a digest of the others."""
    sizes = accumulate(map(len, accessors))
    first = [accessor for accessor, size in zip(accessors, sizes, strict=True) if size <= _LONGEST_WORD]
    later = accessors[len(first) :]
    keys = parse_values(", ".join(accessor[1:-1] for accessor in first))
    if keys is None:  # as of objects whose words Python does not read
        return ", ".join(accessor[1:-1] for accessor in accessors)[:_LONGEST_WORD]
    return (*keys, f"{len(later)} more: {code(', '.join(later)):.0f}") if later else keys


def flattened(value: Any) -> Flat:
    """Return the features of a plain value.

    Examples
    --------
    >>> flattened(Record("dict", (("['count']", 4), ("['text']", "n = 12")))).numbers["numbers(outcome['text'])[0]"]
    12.0
    """
    flat = Flat()
    flat.visit(OUTCOME, value)
    return flat


def to_float(number: float) -> float:
    """Return the nearest float64; integers beyond all of them become infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


@lru_cache(maxsize=1 << 14, typed=True)
def code(word: Hashable) -> float:
    """Return a number for a word: a whole one below 2^53, the same in every process."""
    digest = blake2b(written(word).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "big") >> 11)


def type_words(value: Any) -> str:
    """Return the type of a plain value and of its parts.

    >>> type_words(((1, 2.5, 3.5), Record("dict", (("['a']", True),)), None))
    "[[int, float], dict['a': bool], None]"
    """
    if isinstance(value, tuple):
        parts = [type_words(part) for part in value]
        return f"[{', '.join(part for place, part in enumerate(parts) if not place or part != parts[place - 1])}]"
    if isinstance(value, Record):
        parts = [f"{accessor.strip('[].')}: {type_words(part)}" for accessor, part in value.parts]
        later = parts[_NAMED_TYPES:]
        shown = [*parts[:_NAMED_TYPES], f"{len(later)} more: {code(', '.join(later)):.0f}"] if later else parts
        return f"{value.kind}[{', '.join(shown)}]"
    if isinstance(value, Scalar):
        return f"{value.kind} {value.text}" if value.kind == UNREADABLE else value.kind
    return "None" if value is None else type(value).__name__
