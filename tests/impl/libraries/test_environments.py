"""Environments are built from what an index has, cached, and leave nothing when they fail."""

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpassay.cache import cache_folder
from dpassay.claims import UsageError
from dpassay.impl.libraries.environments import build_environment, find_interpreter, newest_version
from dpassay.impl.libraries.registry import EnvironmentRecipe, Library

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fake interpreters are shell scripts")


def write_wheel(folder: Path, name: str, version: str, requires: str = "") -> None:
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + (
        f"Requires-Dist: {requires}\n" if requires else ""
    )
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", f"version = {version!r}\n")
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of wheels in place of the network, and a cache of this module's own."""
    wheels, cache = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("cache")
    for version in ("1.0", "1.5", "2.0"):
        write_wheel(wheels, "fakedp", version, "missing-dependency" if version == "2.0" else "")
    write_wheel(wheels, "helper", "3.1")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
            patch.delenv(name, raising=False)
        patch.setenv("PIP_CONFIG_FILE", "/dev/null")
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(wheels))
        patch.setenv("DPASSAY_CACHE", str(cache))
        yield wheels


def library(**recipe: object) -> Library:
    return Library("fakedp", Path("adapter.py"), (EnvironmentRecipe(**recipe),))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def built(index: Path) -> Path:
    """The interpreter of an environment whose library lacks what it says it needs."""
    return build_environment(library(no_deps=True, pins=("helper>=3",)), "2.0")


def environments() -> list[str]:
    return sorted(path.name for path in (cache_folder() / "environments").iterdir() if path.is_dir())


def test_an_environment_has_the_version_and_its_pins(built: Path) -> None:
    program = "import fakedp, helper, sys; print(fakedp.version, helper.version, sys.prefix)"
    printed = subprocess.run([built, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert printed[:2] == ["2.0", "3.1"]
    assert Path(printed[2]).is_relative_to(cache_folder())


def test_an_environment_is_built_once(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpassay.impl.libraries.environments._build", None)
    assert build_environment(library(no_deps=True, pins=("helper>=3",)), "v2.0", pytest.fail) == built


def test_what_cannot_be_installed_leaves_nothing(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three ways to fail, in an environment that exists already: making one takes seconds."""
    before = environments()

    def reuse(command: list[str], what: str) -> subprocess.CompletedProcess[str]:
        if "venv" in command:
            (Path(command[-1]) / "bin").mkdir(parents=True)
            (Path(command[-1]) / "bin" / "python").write_text(f'#!/bin/sh\nexec {built} "$@"\n')
            (Path(command[-1]) / "bin" / "python").chmod(0o755)
            return subprocess.CompletedProcess(command, 0, "", "")
        return subprocess.run(command, capture_output=True, text=True, check=False)

    monkeypatch.setattr("dpassay.impl.libraries.environments._run", reuse)
    with pytest.raises(
        UsageError, match=r"--version '9.0' of fakedp is not on the package index; available versions: 1.0, 1.5, 2.0"
    ):
        build_environment(library(), "9.0")
    with pytest.raises(UsageError, match=r"pip cannot install fakedp==2.0 helper>=9: ERROR: .*helper>=9"):
        build_environment(library(pins=("helper>=9",)), "2.0")
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(UsageError, match=r"no network to install fakedp 1.0; use --python"):
        build_environment(library(pins=("other",)), "1.0")
    assert environments() == before


def test_an_interruption_leaves_nothing(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(command: list[str], what: str) -> None:
        Path(command[-1]).mkdir(parents=True)
        raise KeyboardInterrupt

    monkeypatch.setattr("dpassay.impl.libraries.environments._run", interrupted)
    before = environments() if (cache_folder() / "environments").is_dir() else []
    with pytest.raises(KeyboardInterrupt):
        build_environment(library(), "1.0")
    assert environments() == before


def test_the_newest_release_is_asked_of_the_index(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert newest_version(library()) == "2.0"
    with pytest.raises(UsageError, match="pip found no release of unheard-of: ERROR: No matching distribution"):
        newest_version(Library("unheard-of", Path("adapter.py")))


def test_without_network_the_cache_is_offered(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    with pytest.raises(UsageError, match=r"no network .* of fakedp: use --version \(in the cache: 2.0\) or --python"):
        newest_version(library())


def test_an_interpreter_without_pip_is_named(index: Path, tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(UsageError, match="has no pip to look up the newest release of fakedp"):
        newest_version(library(), str(bare))


def test_an_interpreter_is_found_by_its_version() -> None:
    assert find_interpreter("").path == sys.executable
    with pytest.raises(UsageError, match=r"no Python >=9 was found on the search path; install one or use --python"):
        find_interpreter(">=9")


def test_a_cache_that_cannot_be_written_is_named(index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DPASSAY_CACHE", str(tmp_path / "file"))
    with pytest.raises(UsageError, match=r"cannot be written: .*; set DPASSAY_CACHE"):
        build_environment(library(), "1.0")
