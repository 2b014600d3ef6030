"""HTTP endpoints as targets: a server on this machine that receives data as JSON and answers with outcomes."""

import http.client
import ipaddress
import json
from typing import Any
from urllib.parse import SplitResult, urlsplit

import numpy as np

from dpassay.arguments import UsageError, require_flag, shown
from dpassay.mechanism import SamplerLostError
from dpassay.properties.drawing.json_protocol import LONGEST_COMPLAINT, as_json, filled, outcomes_of

__all__ = ["SCHEMES", "Endpoint", "endpoint"]

SCHEMES = ("http://", "https://")
"""Prefixes of the name of an endpoint as a target."""

ANSWER_TIMEOUT = 30.0
"""Seconds that a server may be silent: longer waits stall a hunt, shorter ones end a slow answer of many releases."""


class EndpointError(Exception):
    """An endpoint answered with another status than 200, or with something else than JSON: itself an outcome."""


class EndpointLostError(SamplerLostError):
    """An endpoint cannot be reached, or was silent for too long: nothing was observed."""


def endpoint(url: str, *, allow_remote: bool = False, timeout_seconds: float = ANSWER_TIMEOUT) -> "Endpoint":
    """Return a target that asks a server for releases.

    The data are sent as JSON by POST, and the body of the answer is one outcome as JSON. With ``{size}`` in the
    address the server is asked once for many releases, and answers with an array of that many. ``{seed}`` becomes a
    fresh integer below 2^32 in each request; an endpoint without it is not replayable. An answer with another status
    than 200 is an outcome, as an exception is; a server that cannot be reached, or is silent, ends the hunt.

    Parameters
    ----------
    url : str
        Address, such as ``http://127.0.0.1:8000/release?seed={seed}&count={size}``.
    allow_remote : bool
        Whether the server may be on another machine. It receives thousands of requests.
    timeout_seconds : float
        Seconds that the server may be silent.

    Raises
    ------
    UsageError
        If the address is none, or not of this machine.

    Examples
    --------
    >>> endpoint("http://127.0.0.1:8000/release?seed={seed}")
    http://127.0.0.1:8000/release?seed={seed}
    """
    return Endpoint(url, allow_remote=allow_remote, timeout_seconds=timeout_seconds)


class Endpoint:
    """A target ``f(data, size, rng)`` that asks a server; see `endpoint`."""

    def __init__(self, url: str, *, allow_remote: bool = False, timeout_seconds: float = ANSWER_TIMEOUT) -> None:
        require_flag("allow_remote", allow_remote)
        parts = _parts(url)
        if not (allow_remote or _is_local(str(parts.hostname))):
            raise UsageError(
                f"target {url!r}: {parts.hostname!r} is another machine; accepted are addresses such as "
                "http://127.0.0.1:8000/, or endpoint(url, allow_remote=True) in a file, named as file.py:object"
            )
        if not (isinstance(timeout_seconds, int | float) and 0 < timeout_seconds < float("inf")):
            raise UsageError(f"timeout_seconds must be a positive number of seconds, got {shown(timeout_seconds)}")
        self._url, self._timeout, self._is_secure = url, float(timeout_seconds), parts.scheme == "https"
        self._host, self._port = str(parts.hostname), parts.port
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self.makes_many = "{size}" in self._path

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outcomes."""
        from dpassay.properties.tracing.refusal import active, refuse

        if active.run is not None:
            refuse("an endpoint runs outside of Python")
        return outcomes_of(lambda count: self._ask(data, count, rng), size, self.makes_many, EndpointError)

    def __repr__(self) -> str:
        return self._url

    def _ask(self, data: Any, size: int, rng: np.random.Generator) -> str:
        # a connection for each request: one that is kept may be closed by the server between two of them
        kind = http.client.HTTPSConnection if self._is_secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._timeout)
        try:
            connection.request(
                "POST",
                filled(self._path, size, rng),
                body=json.dumps(as_json(data)),
                headers={"Content-Type": "application/json", "Connection": "close"},
            )
            answer = connection.getresponse()
            content = answer.read().decode("utf-8", errors="replace")
        except TimeoutError:
            raise EndpointLostError(f"the endpoint {self._url} was silent for {self._timeout:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise EndpointLostError(
                f"the endpoint {self._url} cannot be reached: {type(error).__name__}: {error}"
            ) from error
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise EndpointError(f"status {answer.status}: {content.strip()[:LONGEST_COMPLAINT]}")
        return content


def _parts(url: Any) -> SplitResult:
    if not isinstance(url, str):
        raise UsageError(f"url must be text, got {shown(url)}")
    try:
        parts = urlsplit(url)
        is_address = url.startswith(SCHEMES) and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError as error:
        raise UsageError(f"target {url!r}: {error}") from None
    if not is_address or parts.username or parts.fragment or any(character.isspace() for character in url):
        raise UsageError(f"target {url!r} must have the form http://127.0.0.1:PORT/PATH")
    return parts


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
