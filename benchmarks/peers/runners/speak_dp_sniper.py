"""Speak to DP-Sniper: its search over its own pairs, its classifier and its encodings with the published settings."""

import importlib
from typing import Any

import numpy as np

from benchmarks.peers.runners.row import RowMechanism, answer, ready, task
from benchmarks.peers.runners.streams import encode, flags_of

FINAL_SHARE = 200 / 10.7
"""Samples of the final estimate for each one of the search, as published."""
PUBLISHED_BATCH, BATCHES = 100_000, 10
"""Its training makes ten steps a batch: few samples are trained in smaller batches, else it would not converge."""
BITS = 64


class Sampled:
    """The interface of its mechanisms; each process has random numbers of its own, which nobody seeds."""

    def __init__(self, row: RowMechanism) -> None:
        self.row = row

    def m(self, a: Any, n_samples: int = 1) -> Any:
        """Run the mechanism."""
        return encode(self.row.mechanism, self.row.sample(a, n_samples, np.random.default_rng()))

    @property
    def width(self) -> int:
        """Numbers in an outcome."""
        outcomes = self.row.one_outcome()
        return int(np.size(encode(self.row.mechanism, outcomes) if outcomes.ndim == 2 else 1))


class ThisProcess:
    """The interface of its pool of processes; a pool of one would only import torch once more."""

    def map(self, function: Any, inputs: Any, chunksize: int) -> list[Any]:
        """Apply the function, here."""
        del chunksize
        return [function(each) for each in inputs]


def part(module: str, name: str) -> Any:
    """Return an object of the tool."""
    return getattr(importlib.import_module(f"dpsniper.{module}"), name)


def classifier(row: RowMechanism, *, low_bits: bool) -> Any:
    """Return its logistic regression, or its network on the bits of a float where the row is about those."""
    optimizers, transformers = "classifiers.torch_optimizer_factory", "classifiers.feature_transformer"
    if low_bits:
        return part("classifiers.classifier_factory", "MultiLayerPerceptronFactory")(
            in_dimensions=BITS,
            hidden_sizes=(10, 5),
            optimizer_factory=part(optimizers, "AdamOptimizerFactory")(learning_rate=0.1, step_size=500),
            feature_transform=part(transformers, "BitPatternFeatureTransformer")(),
            regularization_weight=0.0001,
            epochs=10,
        )
    flags = list(flags_of(row.mechanism))
    return part("classifiers.classifier_factory", "LogisticRegressionFactory")(
        in_dimensions=Sampled(row).width * (1 + len(flags)),
        optimizer_factory=part(optimizers, "SGDOptimizerFactory")(learning_rate=0.3, momentum=0.3, step_size=500),
        feature_transform=part(transformers, "FlagsFeatureTransformer")(flags) if flags else None,
        regularization_weight=0.001,
        epochs=10,
    )


def rounded(count: float) -> int:
    """Return a number of samples that it accepts: from 10,000 on thousands."""
    return int(count) - (int(count) % 1000 if count >= 10_000 else 0)


def main() -> None:
    """Search, then estimate on fresh samples."""
    given = task()
    row = RowMechanism(given["target"], given["folder"])
    space, count = row.neighbours, rounded(given["samples"])
    base = part("input.input_domain", "InputBaseType")
    domain = part("input.input_domain", "InputDomain")(
        space.size, base.INT if space.integer else base.FLOAT, [space.low, space.high]
    )
    inputs = part("input.pattern_generator", "PatternGenerator")(domain, row.all_differ)
    factory = classifier(row, low_bits=given["low_bits"])
    config = part("search.ddconfig", "DDConfig")(
        n_train=count,
        n=count,
        n_check=count,
        n_final=rounded(count * FINAL_SHARE),
        n_processes=1,
        training_batch_size=min(PUBLISHED_BATCH, max(count // BATCHES, 1)),
    )
    part("utils.paths", "set_output_directory")(given["folder"])
    part("utils.torch", "torch_initialize")(torch_threads=1)
    part("utils.my_logging", "log").configure("WARNING")
    part("search.ddsearch", "DDSearch")
    start = ready()
    part("utils.my_multiprocessing", "the_parallel_executor")._pool = ThisProcess()  # noqa: SLF001  # instead of spawning
    sniper = part("attack.dpsniper", "DPSniper")(Sampled(row), factory, config)
    witness = part("search.ddsearch", "DDSearch")(Sampled(row), sniper, inputs, config).run()
    witness.compute_eps_high_precision(Sampled(row), config)
    answer(float(witness.lower_bound), f"90 %, {witness.a1.tolist()} and {witness.a2.tolist()}", start)


if __name__ == "__main__":
    main()
