"""A library that is not one: right, broken and ill-behaved cases."""

import ctypes
import math
import os
import sys
import time

import numpy as np

import dpassay.adapter
from dpassay.adapter import Answer, Mechanism, Nonsense

LIBRARY = "numpy"
VECTOR = "vector:size=1,linf=1,integer"

generator = np.random.Generator(np.random.PCG64())


def seed(number):
    generator.bit_generator.state = np.random.PCG64(number).state


def geometric(stop):
    """Two-sided geometric noise of this probability to stop: the claim is log(1 / (1 - stop))."""

    def sample_many(data, size):
        return data[0] + generator.geometric(stop, size) - generator.geometric(stop, size)

    return sample_many


def leaky(data):
    if data[0] > 0:
        raise ValueError("positive")
    return float(generator.integers(2))


def raises(data, size):
    raise ZeroDivisionError("for all of them")


def talkative(data):
    print("this is no JSON", flush=True)  # noqa: T201
    os.write(1, b"neither is this\n")
    return [None, True, b"bytes", "words", (1, 2.5), {"key": math.inf}]


def crash(data, size):
    ctypes.string_at(0)


def not_implemented():
    raise NotImplementedError("the adapter does not know how to ask")


def unable():
    raise RuntimeError("no claim")


def interrupted(data):
    raise KeyboardInterrupt


CASES = [
    Mechanism("correct", VECTOR, "pure:1", sample_many=geometric(1 - math.exp(-1)), seed=seed),
    Mechanism("broken", VECTOR, "pure:1", sample_many=geometric(1 - math.exp(-3)), seed=seed),
    Mechanism("leaky", VECTOR, "pure:1", sample_one=leaky, seed=seed, calls=900),
    Mechanism("raises", VECTOR, "pure:1", sample_many=raises),
    Mechanism("talkative", VECTOR, "pure:1", sample_one=talkative),
    Mechanism("crash", VECTOR, "pure:1", sample_many=crash),
    Mechanism("hang", VECTOR, "pure:1", sample_many=lambda data, size: time.sleep(1000)),
    Mechanism("slow", VECTOR, "pure:1", sample_one=lambda data: time.sleep(0.02)),
    Mechanism("interrupts itself", VECTOR, "pure:1", sample_one=interrupted),
    Mechanism("ends itself", VECTOR, "pure:1", sample_one=lambda data: exit(3)),  # noqa: PLR1722  # closes stdin
    Mechanism("unable", VECTOR, unable, sample_one=leaky),
    Mechanism("unreadable", VECTOR, "very private", sample_one=leaky),
    Mechanism(
        "described",
        VECTOR,
        lambda: "zcdp:0.5",
        sample_one=leaky,
        distribution=lambda data: {"family": "gaussian", "location": data[0], "scale": 1.0},
        noiseless=lambda data: data[0],
        sensitivity=1.0,
    ),
    Answer("honest", "gaussian_delta", lambda sigma, epsilon, count: 0.4),
    Answer("liar", "gaussian_delta", lambda sigma, epsilon, count: 0.1),
    Answer("refuses", "gaussian_delta", lambda sigma, epsilon, count: 1 // 0),
    Answer("odd", "gaussian_delta", lambda sigma, epsilon, count: [None, "0.3", 10**400, np.array([0.5])][count]),
    Nonsense("careful", {"int of a word": lambda: int("word")}, refused_by=("ValueError",)),
    Nonsense(
        "clumsy",
        {
            "no such place": lambda: VECTOR[999],
            "no such key": lambda: {}["x"],
            "sum of a word": lambda: 1 + "a",
            "none called": lambda: None.privacy,
            "not implemented": not_implemented,
            "sys.exit": lambda: sys.exit(1),
            "exit": lambda: exit(3),  # noqa: PLR1722  # which raises in a module of Python
            "undeclared": lambda: int("word"),
            "not readable": lambda: dpassay.adapter.Answer("x", "gaussian_delta", abs, relative_error=-1),
        },
        refused_by=("RuntimeError",),
    ),
    Nonsense("careless", {"minus one": lambda: -1}),
]
