"""Servers on this machine as targets."""

import http.server
import json
import random
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from dpassay.arguments import UsageError
from dpassay.properties.drawing.endpoints import Endpoint, EndpointError, EndpointLostError, endpoint
from dpassay.properties.drawing.target import absolute, load_target
from dpassay.properties.hunting.hunt import hunt
from dpassay.testing import assert_private


class Server(http.server.BaseHTTPRequestHandler):
    """Releases the sum of the data and a random number."""

    def do_POST(self) -> None:
        parts = urlsplit(self.path)
        options = {name: int(values[0]) for name, values in parse_qs(parts.query).items()}
        data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if parts.path == "/slow":
            time.sleep(0.5)
        draw = random.Random(options.get("seed"))  # noqa: S311

        def release() -> Any:
            return [sum(data), draw.random()]

        answer: Any = [release() for _ in range(options["size"])] if "size" in options else release()
        if parts.path == "/number":
            answer = 3
        self.send_response(500 if parts.path == "/broken" else 200)
        self.end_headers()
        self.wfile.write(b"<html>" if parts.path == "/page" else json.dumps(answer).encode())

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_one_release_a_request(address: str) -> None:
    first = Endpoint(f"{address}/release?seed={{seed}}")(np.array([1.0, 2.0]), 2, rng())
    assert [outcome[0] for outcome in first] == [3.0, 3.0]
    assert first[0] != first[1]


def test_many_releases_a_request_that_can_be_replayed(address: str) -> None:
    target = load_target(f"{address}/release?seed={{seed}}&size={{size}}")
    outcomes = target(np.array([1.0]), 50, rng())
    assert len(set(outcomes)) == 50
    assert outcomes == target(np.array([1.0]), 50, rng())


def test_failures_are_outcomes_and_silence_is_none(address: str) -> None:
    with pytest.raises(EndpointError, match="status 500"):
        Endpoint(f"{address}/broken")(np.array([1.0]), 1, rng())
    with pytest.raises(EndpointError, match="not JSON: '<html>'"):
        Endpoint(f"{address}/page")(np.array([1.0]), 1, rng())
    with pytest.raises(EndpointError, match="expected a JSON array of 2 outcomes, got int"):
        Endpoint(f"{address}/number?size={{size}}")(np.array([1.0]), 2, rng())
    with pytest.raises(EndpointLostError, match=r"was silent for 0\.1 s"):
        endpoint(f"{address}/slow", timeout_seconds=0.1)(np.array([1.0]), 1, rng())


def test_a_hunt_refutes_an_endpoint(address: str) -> None:
    name = f"{address}/release?seed={{seed}}&size={{size}}"
    result = hunt(name, "pure:1", "vector:size=1,linf=1,low=0,high=1,integer", calls=120, shrink=False)
    assert result.verdict == "violated"
    assert result.target == name
    assert not result.traced


def test_a_server_that_is_not_there_is_an_error_of_use() -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Server) as server:
        gone = f"http://127.0.0.1:{server.server_port}/"
    for isolate in (True, False):
        with pytest.raises(UsageError, match="cannot be reached: ConnectionRefusedError"):
            assert_private(gone, "pure:1", "vector:size=1,linf=1", isolate=isolate)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://", "must have the form"),
        ("http://127.0.0.1:port/", "Port could not be cast"),
        ("http://127.0.0.1:8000/a b", "must have the form"),
        ("http://192.0.2.7/release", "'192.0.2.7' is another machine"),
        ("http://localhost.example/", "another machine"),
        ("http://user@127.0.0.1/", "must have the form"),
    ],
)
def test_errors_of_use(url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_target(url)


def test_addresses_of_this_machine() -> None:
    for url in ("http://localhost:8000", "http://[::1]:8000/", "https://127.0.0.1/x"):
        assert repr(load_target(url)) == url == absolute(url)
    assert repr(endpoint("http://192.0.2.7/release", allow_remote=True)) == "http://192.0.2.7/release"
    with pytest.raises(UsageError, match="timeout_seconds must be"):
        endpoint("http://127.0.0.1/", timeout_seconds=0)
