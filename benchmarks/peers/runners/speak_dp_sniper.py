"""Speak to DP-Sniper: its search over its own pairs, its logistic classifier with the published settings."""

import importlib
from typing import Any

import numpy as np

from benchmarks.peers.runners.row import RowMechanism, answer, task


class Sampled:
    """The interface of its mechanisms; each process has random numbers of its own, which nobody seeds."""

    def __init__(self, row: RowMechanism) -> None:
        self.row = row

    def m(self, a: Any, n_samples: int = 1) -> Any:
        """Run the mechanism."""
        return self.row.sample(a, n_samples, np.random.default_rng())


def main() -> None:
    """Search, then estimate on fresh samples."""
    given = task()

    def part(module: str, name: str) -> Any:
        return getattr(importlib.import_module(f"dpsniper.{module}"), name)

    row = RowMechanism(given["target"], given["folder"])
    space, count = row.neighbours, int(given["samples"])
    count -= count % 1000 if count >= 10_000 else 0
    base = part("input.input_domain", "InputBaseType")
    domain = part("input.input_domain", "InputDomain")(
        space.size, base.INT if space.integer else base.FLOAT, [space.low, space.high]
    )
    inputs = part("input.pattern_generator", "PatternGenerator")(domain, row.all_differ)
    factory = part("classifiers.classifier_factory", "LogisticRegressionFactory")(
        in_dimensions=row.width(),
        optimizer_factory=part("classifiers.torch_optimizer_factory", "SGDOptimizerFactory")(
            learning_rate=0.3, momentum=0.3, step_size=500
        ),
        regularization_weight=0.001,
        epochs=10,
    )
    config = part("search.ddconfig", "DDConfig")(
        n_train=count, n=count, n_check=count, n_final=count, n_processes=1, training_batch_size=min(count, 100_000)
    )
    with part("utils.initialization", "initialize_dpsniper")(config, out_dir=given["folder"], torch_threads=1):
        sniper = part("attack.dpsniper", "DPSniper")(Sampled(row), factory, config)
        witness = part("search.ddsearch", "DDSearch")(Sampled(row), sniper, inputs, config).run()
        witness.compute_eps_high_precision(Sampled(row), config)
    answer(float(witness.lower_bound), f"90 %, {witness.a1.tolist()} and {witness.a2.tolist()}")


if __name__ == "__main__":
    main()
