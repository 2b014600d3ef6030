"""What an adapter may say of its cases, and what it does with attempts that may never be answered."""

import re
import signal
import time

import pytest

import dpassay.adapter
from dpassay.adapter import Answer, Mechanism, answer_in_time
from dpassay.properties.assay.questions import QUESTIONS


def refuse() -> None:
    raise ValueError("refused")


def test_an_answer_in_time_is_the_answer() -> None:
    assert answer_in_time(lambda: 3) == 3


def test_a_refusal_in_time_is_the_refusal() -> None:
    with pytest.raises(ValueError, match="refused"):
        answer_in_time(refuse)


def test_what_is_never_answered_is_said_in_words() -> None:
    assert answer_in_time(lambda: time.sleep(600), seconds=1) == "no answer in 1 s"


def test_what_kills_the_process_is_said_in_words() -> None:
    assert answer_in_time(lambda: signal.raise_signal(signal.SIGKILL)) == "the process died"


def test_calls_of_a_slow_case_are_described() -> None:
    answer = Answer("slow", "laplace_scale", lambda epsilon: 1 / epsilon, calls=5)
    mechanism = Mechanism("slow", "vector:size=1,linf=1", "pure:1.0", sample_one=lambda data: data[0], calls=7)
    assert (answer.describe()["calls"], mechanism.describe()["calls"]) == (5, 7)


@pytest.mark.parametrize("calls", [0, -1])
def test_no_calls_at_all_are_refused(calls: int) -> None:
    with pytest.raises(ValueError, match="calls must be at least 1"):
        Answer("slow", "laplace_scale", lambda epsilon: 1 / epsilon, calls=calls)
    with pytest.raises(ValueError, match="calls must be at least 1"):
        Mechanism("slow", "vector:size=1,linf=1", "pure:1.0", sample_one=lambda data: data[0], calls=calls)


def test_the_documentation_of_adapters_lists_every_question() -> None:
    """Adapters run where the registry of questions cannot be imported, so that the list is written out."""
    listed = re.findall(r"^    (\w+\(.*\))\n        (.*)$", dpassay.adapter.__doc__ or "", re.MULTILINE)
    asked = [(f"{one.name}({', '.join(a.name for a in one.arguments)})", one.sentence) for one in QUESTIONS.values()]
    assert listed == asked
