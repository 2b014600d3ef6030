"""Cached virtual environments, one for each version of a library, built with venv and pip, or uv where it is found.

They lie in ``$DPASSAY_CACHE``, or the user's folder for caches. The name of each is a digest of all that it is made
of; one whose building failed, or was interrupted, leaves nothing. The versions in the folder ``locks`` of an adapter
are installed as locked: every distribution at the version, and with a hash, that the file states.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from dpassay.arguments import UsageError
from dpassay.cache import cache_folder
from dpassay.impl.libraries.registry import EnvironmentRecipe, Library, parse_specifier, parse_version

__all__ = ["Interpreter", "build_environment", "find_interpreter", "newest_version"]

_BUILT = "built.json"
_MINORS = range(9, 16)
_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "--no-color")
_NO_NETWORK = re.compile(
    r"Retrying \(|Failed to establish a new connection|name resolution|Network is unreachable|ProxyError|"
    r"ConnectTimeout|ReadTimeout|Connection(Error| refused| reset| aborted)|Could not fetch URL"
)
_QUIET: Callable[[str], None] = lambda _: None  # noqa: E731


@dataclass(frozen=True)
class Interpreter:
    """A Python interpreter with which environments are built."""

    path: str
    version: str

    @property
    def short_version(self) -> str:
        """Major and minor version, such as ``3.11``."""
        return ".".join(self.version.split(".")[:2])


def newest_version(library: Library, python: str = sys.executable) -> str:
    """Return the newest release on the package index that this Python can install.

    Raises
    ------
    UsageError
        If the index cannot be reached or does not know the library.
    """
    done = _run(
        [python, *_PIP, "index", "versions", "--retries", "1", "--timeout", "15", library.name],
        f"the newest release of {library.name}",
    )
    found = re.search(r"^Available versions: *([^,\s]+)", done.stdout, re.MULTILINE)
    if found is None:
        remedy = f"use --version{_cached_versions(library)} or --python"
        if "No module named pip" in done.stderr:
            raise UsageError(f"{python} has no pip to look up the newest release of {library.name}: {remedy}")
        if _NO_NETWORK.search(done.stderr + done.stdout):
            raise UsageError(f"no network to look up the newest release of {library.name}: {remedy}")
        raise UsageError(f"pip found no release of {library.name}: {_complaint(done.stderr)}")
    return found[1]


def _cached_versions(library: Library) -> str:
    """Return the cached versions, which need no network, as text."""
    versions = set()
    for marker in (cache_folder() / "environments").glob(f"*/{_BUILT}"):
        built = json.loads(marker.read_text(encoding="utf-8"))
        if built["distribution"] == library.name:
            versions.add(built["version"])
    return f" (in the cache: {', '.join(sorted(versions, key=Version))})" if versions else ""


def find_interpreter(accepted: str) -> Interpreter:
    """Return this Python if the specifier accepts it, else another one on the search path.

    Raises
    ------
    UsageError
        If there is none.
    """
    specifier = parse_specifier(accepted)
    names = [sys.executable, *(f"python3.{minor}" for minor in reversed(_MINORS))]
    for path in filter(None, map(shutil.which, names)):
        done = subprocess.run(  # noqa: S603  # an interpreter of this machine
            [path, "-c", "import platform; print(platform.python_version())"],
            capture_output=True,
            text=True,
            check=False,
        )
        version = done.stdout.strip()
        if done.returncode == 0 and specifier.contains(version, prereleases=True):
            return Interpreter(path, version)
    raise UsageError(f"no Python {accepted} was found on the search path; install one or use --python")


def build_environment(library: Library, version: str, report: Callable[[str], None] = _QUIET) -> Path:
    """Return the interpreter of an environment with this version of the library, building it if necessary.

    Parameters
    ----------
    library : Library
        The library.
    version : str
        An exact version.
    report : callable
        Receives one-line messages about slow steps.

    Raises
    ------
    UsageError
        If it cannot be built: unknown version, no network, no suitable Python, contradictory requirements.
    """
    version = parse_version(version)
    recipe = library.recipe_for(version)
    interpreter = find_interpreter(recipe.python)
    lock = library.lock_for(version, interpreter.version)
    folder = cache_folder() / "environments" / _folder_name(library.name, version, recipe, interpreter, lock)
    python = _python_of(folder)
    if (folder / _BUILT).is_file():
        return python
    with _locked(folder.with_name(folder.name + ".lock")):
        if not (folder / _BUILT).is_file():  # another process may have built it meanwhile
            kind = "an environment" if lock is None else "the locked environment"
            report(f"building {kind} for {library.name} {version} (Python {interpreter.version})")
            _build(folder, library.name, version, _requirements(library.name, version, recipe, lock), interpreter)
    return python


def _requirements(name: str, version: str, recipe: EnvironmentRecipe, lock: Path | None) -> list[list[str]]:
    """Return the arguments of each call of the installer."""
    if lock is not None:  # closed under dependencies, except for what the recipe leaves out on purpose
        return [["--no-deps", "--require-hashes", "-r", str(lock)]]
    wanted = [f"{name}=={version}"]
    further = [*recipe.pins, *recipe.extra]
    if not recipe.no_deps:
        return [wanted + further]
    return [["--no-deps", *wanted], *([further] if further else [])]


def _folder_name(
    name: str, version: str, recipe: EnvironmentRecipe, interpreter: Interpreter, lock: Path | None
) -> str:
    parts = (
        name,
        version,
        sorted(recipe.pins),
        sorted(recipe.extra),
        recipe.no_deps,
        interpreter.version,
        str(Path(interpreter.path).resolve()),
        *([] if lock is None else [lock.read_text(encoding="utf-8")]),
    )
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
    return f"{name}-{version}-py{interpreter.short_version}-{digest}"


def _build(
    folder: Path, name: str, version: str, requirements: Sequence[Sequence[str]], interpreter: Interpreter
) -> None:
    shutil.rmtree(folder, ignore_errors=True)  # what a killed process has left
    try:
        what = f"an environment for {name} {version}"
        done = _run([interpreter.path, "-m", "venv", str(folder)], what)
        if done.returncode:
            raise UsageError(f"{interpreter.path} cannot make {what}: {_complaint(done.stderr or done.stdout)}")
        for arguments in requirements:
            _install(_python_of(folder), arguments, name, version)
        built = {"distribution": name, "version": version, "python": interpreter.version}
        (folder / _BUILT).write_text(json.dumps(built), encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _python_of(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _install(python: Path, arguments: Sequence[str], name: str, version: str) -> None:
    uv = shutil.which("uv")
    if uv is not None:
        done = _run([uv, "pip", "install", "--quiet", "--python", str(python), *arguments], f"{name} {version}")
        if done.returncode == 0:
            return
        # pip, which may know another index, decides and says why
    done = _run([str(python), *_PIP, "install", "--quiet", *arguments], f"{name} {version}")
    if done.returncode == 0:
        return
    if _NO_NETWORK.search(done.stderr + done.stdout):
        raise UsageError(
            f"no network to install {name} {version}; use --python with an interpreter in which it is installed"
        )
    known = re.search(rf"requirement {re.escape(name)}=={re.escape(version)} \(from versions: (.*)\)", done.stderr)
    if known is not None:
        raise UsageError(
            f"--version {version!r} of {name} is not on the package index; available versions: {known[1]}"
        )
    raise UsageError(f"pip cannot install {' '.join(arguments)}: {_complaint(done.stderr)}")


def _run(command: Sequence[str], what: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603  # pip and venv of an interpreter of this machine
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise UsageError(f"{command[0]!r} cannot be started to get {what}: {error.strerror}") from None


def _complaint(text: str) -> str:
    """Return the line that names the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("WARNING")]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["no error message"])[0][:300]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes; the system releases it if this one dies."""
    from filelock import FileLock  # imports asyncio

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path):
            yield
    except OSError as error:
        raise UsageError(
            f"the cache {str(path.parent)!r} cannot be written: {error.strerror}; set DPASSAY_CACHE"
        ) from None
