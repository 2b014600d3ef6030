"""Adapters that are shipped are well formed; mistakes in the files beside an adapter are named."""

import ast
from pathlib import Path

import pytest

from dpassay.arguments import UsageError
from dpassay.impl.libraries.registry import EnvironmentRecipe, Library, find_library, known_libraries, parse_version
from dpassay.properties.assay.expected import load_expected

SHIPPED = known_libraries()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_adapter_is_well_formed(name: str) -> None:
    library = SHIPPED[name]
    assert library.recipes, "no environment can be built"
    assert library.expected_failures.is_file()
    load_expected(library.expected_failures, None)
    assert not library.adapter.with_name("__init__.py").exists()  # it belongs to another interpreter
    assert find_library(library.adapter.parent.name) == library
    for source in library.adapter.parent.glob("*.py"):
        ast.parse(source.read_text(encoding="utf-8"), feature_version=(3, 9))


def write(folder: Path, library: str = "", failures: str = "") -> Path:
    adapter = folder / "adapter.py"
    adapter.write_text("")
    if library:
        (folder / "library.toml").write_text(library)
    if failures:
        (folder / "expected_failures.toml").write_text(failures)
    return adapter


def test_names_may_be_spelled_as_on_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "some_private_library"
    folder.mkdir()
    adapter = write(folder, 'distribution = "Some.Private-Library"\n[[environment]]\nversions = ""\n')
    monkeypatch.setattr("dpassay.impl.libraries.registry._HERE", tmp_path)
    for name in ("some-private-library", "some_private_library", "Some.Private_Library"):
        assert find_library(name) == Library("Some.Private-Library", adapter, (EnvironmentRecipe(),), shipped=True)
    with pytest.raises(UsageError, match=r"'other' is not one of Some.Private-Library, nor the file of an adapter"):
        find_library("other")


def test_a_file_without_a_description_is_a_library_too(tmp_path: Path) -> None:
    adapter = write(tmp_path)
    assert find_library(str(adapter)) == Library("adapter", adapter.resolve())


def test_the_first_recipe_that_suits_is_used(tmp_path: Path) -> None:
    recipes = (EnvironmentRecipe(versions="<1", pins=("numpy<1.24",)), EnvironmentRecipe(versions=">=1,<2"))
    library = Library("some", tmp_path / "adapter.py", recipes)
    assert library.recipe_for("0.9") is recipes[0]
    assert library.recipe_for("0.9rc1") is recipes[0]
    assert library.recipe_for("1.5") is recipes[1]
    with pytest.raises(UsageError, match=r"'2.0' of some has no environment; versions with one: <1, >=1,<2"):
        library.recipe_for("2.0")


BAD_DESCRIPTIONS = {
    "distribution = ": "is not TOML",
    "[[environment]]": "distribution is missing",
    'distribution = "x"\nname = 1': "the top level has the key 'name'; accepted are distribution, environment",
    "distribution = 1": "distribution must be a str, got 1",
    'distribution = "x"\nenvironment = [1]': "environment must be a table, got 1",
    'distribution = "x"\n[[environment]]\npins = "numpy"': "pins must be a list, got 'numpy'",
    'distribution = "x"\n[[environment]]\nversions = "new"': "'new' is not a version specifier",
    'distribution = "x"\n[[environment]]\nversion = ""': "environment has the key 'version'",
}


@pytest.mark.parametrize("text", BAD_DESCRIPTIONS)
def test_a_bad_description_is_named(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=BAD_DESCRIPTIONS[text]):
        find_library(str(write(tmp_path, text)))


def test_versions_are_normalised() -> None:
    assert parse_version("1.02.0-rc1") == "1.2.0rc1"
    with pytest.raises(UsageError, match="'newest' is not a version"):
        parse_version("newest")
