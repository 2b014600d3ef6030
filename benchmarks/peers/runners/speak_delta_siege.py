"""Speak to Delta-Siege: its search with its published classifier, on the bits of the outcomes, over a few pairs.

Its package of mechanisms imports every library that it audits, and one of its attacks DP-Opt; neither is needed here,
so stand-ins take their places.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.peers.runners.row import RowMechanism, answer, ready, task

BITS = 64
BATCHES = 10


def part(module: str, name: str) -> Any:
    """Return an object of the tool."""
    return getattr(importlib.import_module(f"deltasiege{module}"), name)


def base_class(name: str) -> Any:
    """Return the base class of its mechanisms, as an attribute of their package."""
    if name != "Mechanism":
        raise AttributeError(name)
    return part(".mechanism.mechanism", name)


def stand_in(path: Path) -> None:
    """Put empty modules in the places of what needs other libraries; the base class of mechanisms is still found."""
    mechanisms: Any = ModuleType("deltasiege.mechanism")
    mechanisms.__path__ = [str(path / "deltasiege" / "mechanism")]
    mechanisms.__getattr__ = base_class
    attack: Any = ModuleType("deltasiege.attack.witnesses.witness_dpopt")
    attack.WitnessDPOpt = None
    sys.modules |= {module.__name__: module for module in (mechanisms, attack)}


def mechanism_class(row: RowMechanism, claimed: float) -> Any:
    """Return the row as a mechanism of the tool, whose guarantee is pure: 1/epsilon, as for its Laplace mechanisms."""
    base: Any = part(".mechanism.mechanism", "Mechanism")

    class OfRow(base):  # type: ignore[misc]  # its base is known at run time only
        def _init_helper(self) -> None:
            super()._init_helper(epsilon=claimed, delta=0.0)

        def __call__(self, data: Any, size: int) -> Any:
            return row.sample(data, size, np.random.default_rng()).reshape(size, -1)

        def constraint(self, epsilon: float, delta: float) -> bool:
            return epsilon > 0 and delta == 0

        def guarantee_(self, epsilon: float, _delta: float) -> float:
            return 1 / epsilon if epsilon > 0 else float("inf")

        def perturb_delta(self, new_delta: float) -> float | None:
            return None if new_delta > 0 else self.epsilon

    return OfRow


def pairs(row: RowMechanism) -> list[tuple[Any, Any]]:
    """Return pairs of neighbours: (0, 1), as published; where all may differ, also all up and one up, others down."""
    size = row.neighbours.size
    first = np.eye(1, size)[0]
    if not row.all_differ or size == 1:
        return [(np.zeros(size), first)]
    ones = np.ones(size)
    return [(ones, ones + move) for move in (first, ones, 2 * first - 1)]


def main() -> None:
    """Search every pair; the witness that promises most is estimated on fresh samples, as the tool does."""
    given = task()
    stand_in(Path(given["path"]))
    row = RowMechanism(given["target"], given["folder"])
    width, count = row.width(), int(given["samples"])
    claimed = float(row.mechanism.claims[0].epsilon)
    optimizer = part(".classifiers.legacy.torch_optimizer_factory", "AdamOptimizerFactory")
    classifier = part(".classifiers.legacy.multi_layer_perceptron", "MultiLayerPerceptron").get_factory(
        optimizer_factory=optimizer(learning_rate=0.1, step_size=500),
        hidden_sizes=(),
        n_test_batches=1,
        normalize_input=False,
        epochs=10,
        regularization_weight=0.0001,
        feature_transform=part(".classifiers", "BitPatternFeatureTransformer")(),
        in_dimensions=BITS * width,
    )
    config = part(".utils", "Config")(
        n_train=count,
        n_init=count,
        n_check=count,
        n_final=count,
        n_experiments=1,
        batch_size=max(count // BATCHES, 1),
        n_jobs=1,
        seed=given["seed"],
    )
    logger = part(".logging.logger", "Logger")
    witnesses = part(".attack", "WitnessOptimization").get_factory(
        estimator=part(".attack", "LinesearchEstimator")(delta_steps=np.zeros(1))
    )
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.manual_seed(given["seed"])
    np.random.seed(given["seed"])  # noqa: NPY002  # the tool draws from the global generator
    start = ready()
    found = []
    for pair in pairs(row):
        trial = part(".main.trial", "Trial")(
            config=config,
            input_pair=pair,
            mechanism=mechanism_class(row, claimed)(),
            classifier_factories=classifier,
            witnesses_factories=witnesses,
            logger=logger(logger.State.DOWN),
        )
        trial._init_classifiers()  # noqa: SLF001  # the steps of its `run`, which fails where nothing is stored
        trial._init_witnesess()  # noqa: SLF001
        trial._run_estimation(part(".attack", "Witness").State.Check)  # noqa: SLF001
        found += trial.witnesses
    best = min(found)
    best.state = part(".attack", "Witness").State.Final
    best.compute_estimate()
    bound = claimed / float(best.estimate_c)
    answer(bound, f"90 %, {np.asarray(best.a1).tolist()} and {np.asarray(best.a2).tolist()}", start)


if __name__ == "__main__":
    main()
