"""The layout: links that resolve, a wheel that holds what the tree holds, guards against a second import."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import dpassay

ROOT = Path(__file__).parent.parent
PACKAGES = ("spec", "impl", "properties")


@pytest.mark.parametrize("package", PACKAGES)
def test_each_link_resolves_to_its_folder(package: str) -> None:
    link = ROOT / "src" / "dpassay" / package
    assert link.is_symlink()
    assert link.resolve() == ROOT / package


@pytest.mark.parametrize("package", PACKAGES)
def test_a_folder_refuses_to_be_imported_by_its_bare_name(package: str) -> None:
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {package}"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert f"import it as dpassay.{package}" in result.stderr


def test_the_wheel_holds_what_the_tree_holds(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == expected_files()


def expected_files() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src", *PACKAGES],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    files = {Path(name) for name in listed if (ROOT / name).is_file() and not (ROOT / name).is_symlink()}
    return {str(path.relative_to("src") if path.parts[0] == "src" else Path("dpassay") / path) for path in files}


def test_the_items_are_shipped() -> None:
    assert "dpassay/spec/items.csv" in expected_files()
    assert "dpassay/py.typed" in expected_files()


def test_the_tests_are_installed_with_the_clusters_that_they_start() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (own,) = (line for line in extras["dev"] if line.startswith("dpassay["))
    assert "cluster" in own.removeprefix("dpassay[").removesuffix("]").split(",")
    assert {line.partition(">=")[0] for line in extras["cluster"]} == {"dask[distributed]", "ray"}


def test_the_recipe_for_conda_has_the_dependencies_of_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    required = recipe.partition("  run:\n")[2].partition("\n\n")[0].splitlines()
    assert required[0] == "    - python >=${{ python_min }}"
    assert [line.removeprefix("    - ").replace(" ", "") for line in required[1:]] == project["dependencies"]
    assert f'version: "{dpassay.__version__.partition(".dev")[0]}"' in recipe
