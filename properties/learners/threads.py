"""One thread for linear algebra: the learners' matrices are small, and threads that wait for each other cost more."""

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """Return a context in which numpy's linear algebra runs in the calling thread alone; nothing else changes.

    The libraries that are loaded when this is first called are the ones that it speaks of.
    """
    context: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return context
