"""The cases of the fake library's adapter, by their kinds."""

from pathlib import Path

import numpy as np

from dpassay.impl.libraries.remote import RemoteAnswer, RemoteCase, RemoteMechanism

ADAPTER = Path(__file__).parents[2] / "fake_library" / "adapter.py"
ZERO, ONE = np.array([0.0]), np.array([1.0])


def mechanism(cases: dict[str, RemoteCase], name: str) -> RemoteMechanism:
    case = cases[name]
    assert isinstance(case, RemoteMechanism)
    return case


def answer(cases: dict[str, RemoteCase], name: str) -> RemoteAnswer:
    case = cases[name]
    assert isinstance(case, RemoteAnswer)
    return case


def rng() -> np.random.Generator:
    return np.random.default_rng(7)
