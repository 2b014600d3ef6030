"""Docstrings and printed sentences avoid words that readers of the project stumbled over.

The list holds openings and phrases that were found here once; it does not judge style in general.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (
    "spec/**/*.py",
    "impl/**/*.py",
    "properties/**/*.py",
    "src/dpassay/*.py",
    "src/dpassay/adapter/*.py",
    "examples/**/*.py",
)
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/*.md")
OPENING = re.compile(r"\s*(What|Whether|How|Who|Why|Of|So)\b")
"""A docstring says what the thing is or does; that of a predicate begins with "Return whether"."""

PHRASES = re.compile(
    r"\bso many\b(?! that)|\bso few\b(?! that)|\bdear(er|est)?\b|\b(the|in) print\b|\bnobody\b|\bfor want of\b|"
    r"\bthe like of\b|\bhardly (any|ever)\b|\bwhat became\b|\b(he|him|his|himself)\b|\bwho knows\b|"
    r"\bgiv(es?|en|ing) (\w+ ){0,3}away\b|\bmakes of (its|the)\b",
    re.IGNORECASE,
)


def strings_of(source: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the line, the text and whether it is a docstring, of every string of a module."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value, id(node) in docstrings


def faults_of(source: str) -> list[str]:
    strings = list(strings_of(source))
    found = [
        f"{line}: {text.strip().splitlines()[0]}" for line, text, is_doc in strings if is_doc and OPENING.match(text)
    ]
    return found + [f"{line}: {match[0]}" for line, text, _ in strings for match in PHRASES.finditer(text)]


def test_the_code_keeps_to_plain_words() -> None:
    files = sorted(path for pattern in SOURCES for path in ROOT.glob(pattern))
    assert len(files) > 500
    faults = {str(path.relative_to(ROOT)): faults_of(path.read_text(encoding="utf-8")) for path in files}
    assert not {path: found for path, found in faults.items() if found}


def test_the_pages_keep_to_plain_words() -> None:
    pages = sorted(path for pattern in PAGES for path in ROOT.glob(pattern))
    assert len(pages) > 8
    faults = {path.name: [match[0] for match in PHRASES.finditer(path.read_text(encoding="utf-8"))] for path in pages}
    assert not {path: found for path, found in faults.items() if found}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('def f():\n    """What is done."""', ["2: What is done."]),
        ('class C:\n    """The cost of so many calls."""', ["2: so many"]),
        ('print("the dearest stop gives the data away")', ["1: dearest", "1: gives the data away"]),
        ('"""So large that it fails."""\nx = f"{1} and nobody {2}"', ["1: So large that it fails.", "2: nobody"]),
        ('def f():\n    """Return whether so many that it fails."""', []),
        ("x = 'What is your name?'", []),
    ],
)
def test_a_fault_is_found(source: str, expected: list[str]) -> None:
    assert faults_of(source) == expected
