"""Environments are built from what an index has, cached, and leave nothing when they fail."""

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from dpassay.arguments import UsageError
from dpassay.cache import cache_folder
from dpassay.impl.libraries.environments import build_environment, find_interpreter, newest_version
from dpassay.impl.libraries.registry import EnvironmentRecipe, Library, known_libraries

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


# --- locks ----------------------------------------------------------------------------------------------------


def lock_of(digit: str, name: str = "fakedp==1.5") -> str:
    """Return a lock with a false hash, made of one digit: environments are cached by the text of their lock."""
    return f"# python >=3.11\n{name} --hash=sha256:{64 * digit}\n"


def without_uv(name: str) -> str | None:
    return None if name == "uv" else name


def locked_library(folder: Path, lock: str, version: str = "1.5") -> Library:
    (folder / "locks").mkdir()
    (folder / "locks" / f"{version}.txt").write_text(lock)
    return Library("fakedp", folder / "adapter.py", (EnvironmentRecipe(pins=("helper>=3",)),))


def calls_of(monkeypatch: pytest.MonkeyPatch, failing: str = "") -> list[list[str]]:
    """Record the commands in place of running them; one whose program is `failing` fails."""
    commands: list[list[str]] = []

    def record(command: list[str], what: str) -> subprocess.CompletedProcess[str]:
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True)
        else:
            commands.append(command)
        return subprocess.CompletedProcess(command, int(command[0] == failing), "", "")

    monkeypatch.setattr("dpassay.impl.libraries.environments._run", record)
    return commands


def test_a_locked_version_is_installed_as_locked(index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("dpassay.impl.libraries.environments.shutil.which", without_uv)
    commands = calls_of(monkeypatch)
    said: list[str] = []
    locked = locked_library(tmp_path, lock_of("0"))
    build_environment(locked, "1.5", said.append)
    assert said[0].startswith("building the locked environment for fakedp 1.5")
    assert commands.pop()[-4:] == ["--no-deps", "--require-hashes", "-r", str(tmp_path / "locks" / "1.5.txt")]
    build_environment(locked, "1.0", said.append)
    assert commands.pop()[-2:] == ["fakedp==1.0", "helper>=3"]
    assert not said[1].startswith("building the locked")


def test_a_lock_belongs_to_its_versions_of_python(tmp_path: Path) -> None:
    locked = locked_library(tmp_path, "# python >=3.11,<3.13\n")
    assert locked.lock_for("1.5", "3.12.4") == tmp_path / "locks" / "1.5.txt"
    assert locked.lock_for("1.5", "3.13.0") is locked.lock_for("1.6", "3.12.4") is None
    (tmp_path / "locks" / "1.5.txt").write_text("fakedp==1.5")
    with pytest.raises(UsageError, match="the first line must be"):
        locked.lock_for("1.5", "3.12.4")


def test_a_changed_lock_has_another_environment(index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls_of(monkeypatch)
    locked = locked_library(tmp_path, lock_of("1"))
    first = build_environment(locked, "1.5")
    (tmp_path / "locks" / "1.5.txt").write_text(lock_of("2"))
    assert build_environment(locked, "1.5") != first


def test_a_file_with_another_hash_is_refused(built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def reuse(command: list[str], what: str) -> subprocess.CompletedProcess[str]:
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True)
            return subprocess.CompletedProcess(command, 0, "", "")
        return subprocess.run([built, *command[1:], "--dry-run"], capture_output=True, text=True, check=False)

    monkeypatch.setattr("dpassay.impl.libraries.environments.shutil.which", without_uv)
    monkeypatch.setattr("dpassay.impl.libraries.environments._run", reuse)
    with pytest.raises(
        UsageError, match=r"pip cannot install --no-deps .* ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"
    ):
        build_environment(locked_library(tmp_path, lock_of("3")), "1.5")


def test_uv_is_tried_first_and_pip_decides(index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("dpassay.impl.libraries.environments.shutil.which", str)
    commands = calls_of(monkeypatch, failing="uv")
    build_environment(locked_library(tmp_path, lock_of("4")), "1.5")
    assert [command[:3] for command in commands] == [["uv", "pip", "install"], [commands[1][0], "-m", "pip"]]
    assert commands[1][-4:] == commands[0][-4:]
    commands.clear()
    monkeypatch.setattr("dpassay.impl.libraries.environments.shutil.which", {"uv": "found/uv"}.get)
    with pytest.raises(UsageError, match="no Python"):  # no interpreter on this search path
        build_environment(library(), "1.0")


LOCKS = sorted(path for each in known_libraries().values() for path in each.adapter.parent.glob("locks/*.txt"))


def test_every_library_has_a_lock() -> None:
    assert {path.parents[1].name for path in LOCKS} == {
        each.adapter.parent.name for each in known_libraries().values()
    }


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_a_shipped_lock_is_closed_and_hashed(path: Path) -> None:
    """Every line is a pinned distribution with hashes; the library and what its recipe asks for are among them."""
    (library,) = [each for each in known_libraries().values() if each.adapter.parent == path.parents[1]]
    assert library.lock_for(path.stem, "3.11.7") == path
    text = "\n".join(path.read_text(encoding="utf-8").splitlines()[1:])
    assert "://" not in text
    lines = [line for line in text.replace("\\\n", "").splitlines() if line.strip()]
    assert all(re.fullmatch(r"[^#]+==[^#]+?( +--hash=sha256:[0-9a-f]{64})+", line) for line in lines)
    pins = [Requirement(line.partition("--hash")[0]) for line in lines]
    recipe = library.recipe_for(path.stem)
    for wanted in map(Requirement, [f"{library.name}=={path.stem}", *recipe.pins, *recipe.extra]):
        versions = [
            next(iter(pin.specifier)).version
            for pin in pins
            if canonicalize_name(pin.name) == canonicalize_name(wanted.name)
        ]
        assert versions
        assert all(wanted.specifier.contains(version) for version in versions)
