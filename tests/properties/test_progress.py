"""Progress is shown on a terminal only."""

import io
import sys

import pytest

from dpassay.properties.progress import progress_bar, share_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_progress_is_shown_on_a_terminal_only(stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    shown = stream()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("counting", 2) as advance:
        advance("first")
        advance("second")
    with share_bar("searching") as update:
        update("bound 1", 0.5)
    written = shown.getvalue()
    assert ("counting" in written) == ("searching" in written) == (stream is Terminal)


def test_without_a_standard_error_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with progress_bar("counting", 1) as advance, share_bar("searching") as update:
        advance("first")
        update("bound 1", 1.0)
