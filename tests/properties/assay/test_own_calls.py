"""A finding holds the library's own call to paste, made from recorded calls; what cannot be written is left out."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.properties.assay.assessment import Assessment
from dpassay.properties.assay.finding import Finding
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.own_calls import with_own_calls
from dpassay.properties.assay.suite import Target

TOY = """
import enum
class Kind(enum.Enum):
    ADD = 1
class Event:
    def __init__(self, sigma): self.sigma = sigma
class Accountant:
    def __init__(self, kind, *, orders=None): self.total, self.kind = 0.0, kind
    def compose(self, event, count=1):
        self.total += count / event.sigma
        return self
    def epsilon(self, delta): return self.total + delta
    @classmethod
    def default(cls): return cls(Kind.ADD)
def release(values, *, scale): return sum(values) + scale
def refuse(value): raise ValueError(value)
def accepts(value): return value
"""
ADAPTER = """
import toy
from dpassay.adapter import Answer, Mechanism, Nonsense, Relations
LIBRARY = "numpy"
EVENT = toy.Event(2.0)
def epsilon(sigma, delta, count):
    account = toy.Accountant(toy.Kind.ADD, orders=[2.0, 3.5])
    account.compose(EVENT, count)
    return account.compose(toy.Event(sigma)).epsilon(delta)
def hidden(sigma, delta, count):
    account = toy.Accountant.default()
    account.total = sigma
    return account.epsilon(delta)
def doubled(random):
    for size in (1.0, 2.0, 3.0):
        yield f"size {size}", 0.0, toy.accepts(2 * size), 3.0
CASES = [
    Relations("doubles", {"doubles are small": doubled}),
    Answer("recorded", "gaussian_epsilon", epsilon),
    Answer("assigned", "gaussian_epsilon", hidden),
    Answer("refused", "gaussian_epsilon", lambda sigma, delta, count: toy.refuse(sigma)),
    Mechanism("release", "vector:size=2,linf=1", "pure:1", sample_one=lambda data: toy.release(data, scale=3.0)),
    Nonsense("invalid", {"nan": lambda: toy.accepts(float("nan"))}),
]
"""
ARGUMENTS = {"sigma": 4.0, "delta": 0.5, "count": 3}


@pytest.fixture
def target(tmp_path: Path) -> Target:
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "library").mkdir()
    (tmp_path / "toy.py").rename(tmp_path / "library" / "toy.py")
    adapter = tmp_path / "adapter.py"
    adapter.write_text(f"import sys\nsys.path.append({str(tmp_path / 'library')!r})\n{ADAPTER}")
    return Target(sys.executable, str(adapter))


def line(mechanism: str, witness: dict[str, object]) -> Assessment:
    finding = Finding(FindingKind.WRONG_ANSWER, "too small", "pure:1", 1.0, 2.0, witness=witness)
    return Assessment("toy", "1", mechanism, "law", finding, as_expected=False)


def call_of(target: Target, mechanism: str, witness: dict[str, object]) -> str | None:
    (told,) = with_own_calls(target, [line(mechanism, witness)])
    assert told.finding.witness is not None
    return told.finding.witness.get("call")


def printed(target: Target, text: str) -> list[str]:
    """Return what a pasted text prints in a fresh interpreter."""
    library = Path(target.adapter).parent / "library"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path.append({str(library)!r})\n{text}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_the_call_of_an_accountant_has_all_that_changed_it(target: Target) -> None:
    text = call_of(target, "recorded", {"question": "gaussian_epsilon", "arguments": ARGUMENTS})
    assert text is not None
    assert text.startswith("# expected: 2.0, the certified value; found: too small\n")
    assert "accountant_1.compose(event=Event(sigma=2.0), count=3)" in text
    assert printed(target, text) == ["2.25"]


def test_both_answers_of_a_contradiction_are_shown(target: Target) -> None:
    witness: dict[str, object] = {
        "question": "gaussian_epsilon",
        "arguments": ARGUMENTS,
        "other": "recorded",
        "other arguments": {**ARGUMENTS, "count": 1},
    }
    text = call_of(target, "recorded", witness)
    assert text is not None
    assert text.startswith("# expected: answers that do not contradict each other; found: too small\n")
    assert printed(target, text) == ["2.25", "1.25"]


def test_a_call_that_does_something_else_is_left_out(target: Target) -> None:
    """The adapter assigned an attribute, which no recorded call shows."""
    assert call_of(target, "assigned", {"question": "gaussian_epsilon", "arguments": ARGUMENTS}) is None


def test_a_refusal_is_shown(target: Target) -> None:
    text = call_of(target, "refused", {"question": "gaussian_epsilon", "arguments": ARGUMENTS})
    assert text is not None
    assert text.endswith("from toy import refuse\nprint(refuse(value=4.0))")


def test_both_inputs_of_a_mechanism_are_shown(target: Target) -> None:
    text = call_of(target, "release", {"left": [0.0, 1.0], "right": [1.0, 1.0]})
    assert text is not None
    assert printed(target, text) == ["4.0", "5.0"]
    assert "release(values=[0.0, 1.0], scale=3.0)" in text


def test_accepted_nonsense_is_shown(target: Target) -> None:
    text = call_of(target, "invalid", {"accepted": {"nan": "nan"}})
    assert text is not None
    assert text.startswith("# expected: an exception")
    assert printed(target, text) == ["nan"]


def test_the_first_comparison_that_fails_is_shown(target: Target) -> None:
    """A relation compares several numbers of the library: the call of another one would show nothing."""
    text = call_of(target, "doubles", {"broken": {"doubles are small": 0}})
    assert text is not None
    assert printed(target, text) == ["4.0"]


def test_expected_findings_and_known_calls_stay_as_they_are(target: Target) -> None:
    known = line("release", {"left": [0.0], "right": [1.0], "call": "mine()"})
    expected = replace(line("release", {"left": [0.0, 1.0], "right": [1.0, 1.0]}), as_expected=True)
    assert with_own_calls(replace(target, adapter="/nowhere"), [known, expected]) == [known, expected]
