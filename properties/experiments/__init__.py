"""Experiments of the papers, on real or synthetic data: tables as CSV, figures if matplotlib is installed."""

from dpassay.discovery import import_all_below
from dpassay.properties.experiments.base import Experiment, registered_experiments

__all__ = ["all_experiments"]


def all_experiments() -> tuple[Experiment, ...]:
    """Return every experiment; imports the modules that define them first."""
    import_all_below(__name__)
    return registered_experiments()
