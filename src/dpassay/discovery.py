"""Import every module below a package; importing fills the registries."""

import importlib
import pkgutil

__all__ = ["import_all_below"]


def import_all_below(package_name: str) -> None:
    """Import the package and every module below it, in alphabetical order."""
    package = importlib.import_module(package_name)
    for module in pkgutil.walk_packages(package.__path__, package_name + "."):
        importlib.import_module(module.name)
