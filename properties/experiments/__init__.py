"""Experiments of the papers, on real or synthetic data: tables as CSV, figures where matplotlib is installed."""

import importlib
import pkgutil

from dpassay.properties.experiments.base import Experiment, registered_experiments

__all__ = ["all_experiments"]


def all_experiments() -> tuple[Experiment, ...]:
    """Return every experiment; imports the modules that define them first."""
    for module in pkgutil.iter_modules(__path__, __name__ + "."):
        importlib.import_module(module.name)
    return registered_experiments()
