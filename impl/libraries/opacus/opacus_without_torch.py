"""Stand-ins for what opacus imports for training: an empty package and an empty optimiser, unless PyTorch is there."""

import importlib.util
import sys
import types


def _without_training() -> None:
    found = importlib.util.find_spec("opacus")
    if found is None:
        raise ModuleNotFoundError("No module named 'opacus'")
    package, optimizers = types.ModuleType("opacus"), types.ModuleType("opacus.optimizers")
    package.__path__ = list(found.submodule_search_locations or [])
    optimizers.DPOptimizer = object
    sys.modules |= {"opacus": package, "opacus.optimizers": optimizers}


if importlib.util.find_spec("torch") is None:
    _without_training()
