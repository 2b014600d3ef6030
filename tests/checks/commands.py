"""A command that runs in this process, and the records that it prints."""

import json
from typing import Any

import pytest

from dpassay.cli import main

Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *arguments: str) -> tuple[int, list[dict[str, Any]], str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, [json.loads(line) for line in out.splitlines()], err
