"""Where a library runs follows from the options."""

import sys
from pathlib import Path

import pytest

from dpassay.arguments import UsageError
from dpassay.impl.libraries.registry import EnvironmentRecipe, Library
from dpassay.properties.assay import targets
from dpassay.properties.assay.suite import Target
from dpassay.properties.assay.targets import targets_of

SHIPPED = Library("some", Path("/some/adapter.py"), (EnvironmentRecipe(),), shipped=True)
FOREIGN = Library("some", Path("/some/adapter.py"), (EnvironmentRecipe(),))
BARE = Library("adapter", Path("/some/adapter.py"))


@pytest.fixture(autouse=True)
def _no_building(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "newest_version", lambda library: "9.0")
    monkeypatch.setattr(
        targets, "build_environment", lambda library, version, report: Path(f"/built/{version}/python")
    )


def interpreters(library: Library, versions: tuple[str, ...] = (), python: str | None = None) -> list[str]:
    return [target.python for target in targets_of(library, versions, python)]


def test_a_known_library_is_built() -> None:
    assert interpreters(SHIPPED) == ["/built/9.0/python"]
    assert interpreters(SHIPPED, ("1.0", "2.0")) == ["/built/1.0/python", "/built/2.0/python"]
    assert interpreters(SHIPPED, python="/usr/bin/python3") == ["/usr/bin/python3"]


def test_an_adapter_elsewhere_runs_here_unless_a_version_is_named() -> None:
    assert interpreters(FOREIGN) == interpreters(BARE) == [sys.executable]
    assert interpreters(FOREIGN, ("1.0",)) == ["/built/1.0/python"]
    assert interpreters(BARE, python="/usr/bin/python3") == ["/usr/bin/python3"]


def test_built_environments_ignore_what_belongs_to_this_interpreter() -> None:
    (built,) = targets_of(SHIPPED, (), None)
    assert built == Target("/built/9.0/python", "/some/adapter.py", isolated=True)
    assert not next(targets_of(FOREIGN, (), None)).isolated


def test_contradictions_are_refused() -> None:
    with pytest.raises(UsageError, match="give only one of them"):
        interpreters(SHIPPED, ("1.0",), "/usr/bin/python3")
    with pytest.raises(UsageError, match=r"needs a library.toml with an environment beside '/some/adapter.py'"):
        interpreters(BARE, ("1.0",))
