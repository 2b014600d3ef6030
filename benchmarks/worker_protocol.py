"""How many scalar outcomes a second come from a worker, of single calls and in bulk, beside drawing them here.

``python -m benchmarks.worker_protocol`` prints outcomes per second and the ratio to the same draws in this process.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dpassay.impl.libraries.remote import RemoteMechanism, open_library
from dpassay.impl.libraries.worker_process import Worker

COUNT, REPEATS = 200_000, 5

ADAPTER = """
import random
import numpy as np
from dpassay.adapter import Mechanism
LIBRARY = "none"
generator = np.random.default_rng()
VECTOR = "vector:size=1,linf=1"
CASES = [
    Mechanism("single floats", VECTOR, "pure:1", once=lambda data: data[0] + random.random()),
    Mechanism("single integers", VECTOR, "pure:1", once=lambda data: random.getrandbits(20)),
    Mechanism("bulk floats", VECTOR, "pure:1", bulk=lambda data, size: data[0] + generator.laplace(size=size)),
    Mechanism("bulk integers", VECTOR, "pure:1", bulk=lambda data, size: generator.geometric(0.1, size)),
]
"""


def rate(draw: Callable[[], object]) -> float:
    """Return outcomes per second, the best of some repetitions."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        draw()
        seconds.append(time.perf_counter() - start)
    return COUNT / min(seconds)


def main() -> None:
    """Measure and print."""
    rng, data = np.random.default_rng(0), np.array([1.0])
    here: dict[str, Callable[[], object]] = {
        "single floats": lambda: [1.0 + random.random() for _ in range(COUNT)],  # noqa: S311
        "single integers": lambda: [random.getrandbits(20) for _ in range(COUNT)],
        "bulk floats": lambda: 1.0 + rng.laplace(size=COUNT),
        "bulk integers": lambda: rng.geometric(0.1, COUNT),
    }
    with tempfile.TemporaryDirectory() as folder:
        adapter = Path(folder) / "adapter.py"
        adapter.write_text(ADAPTER)
        with Worker(sys.executable, adapter) as worker:
            for case in open_library(worker):
                assert isinstance(case, RemoteMechanism)
                remote = rate(lambda case=case: case.sample(data, COUNT, rng))  # type: ignore[misc]
                print(f"{case.name:16} {remote:12,.0f} a second, {rate(here[case.name]) / remote:6.1f} times slower")


if __name__ == "__main__":
    main()
