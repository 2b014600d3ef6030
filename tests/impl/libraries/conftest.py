"""A worker with the adapter of the fake library, and its cases by name."""

import sys
from collections.abc import Iterator

import pytest
from tests.impl.libraries.fake_cases import ADAPTER

from dpassay.impl.libraries.remote import RemoteCase, open_library
from dpassay.impl.libraries.worker_process import Worker


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(sys.executable, ADAPTER) as worker:
        yield worker


@pytest.fixture(scope="module")
def cases(worker: Worker) -> dict[str, RemoteCase]:
    return {case.name: case for case in open_library(worker)}
