"""Linear algebra of the learners takes one thread, and gives the others back."""

import numpy as np
from threadpoolctl import threadpool_info

from dpassay.properties.learners.threads import one_thread


def threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_one_thread_inside_as_many_as_before_outside() -> None:
    np.linalg.solve(np.eye(2), np.ones(2))
    before = threads()
    assert before
    with one_thread():
        assert set(threads()) == {1}
        with one_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before
