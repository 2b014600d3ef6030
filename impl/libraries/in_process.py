"""Cases of an adapter in this interpreter: for libraries installed with dpassay, and for testing a case.

>>> from dpassay.adapter import Nonsense
>>> from dpassay.impl.libraries.remote import open_library
>>> worker = InProcessWorker([Nonsense("square root", {"x=-1": lambda: (-1.0) ** 0.5})])
>>> [case.name for case in open_library(worker)]
['square root']
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from types import CodeType, FunctionType
from typing import Any, Self

from dpassay.impl.libraries.worker import Adapter, blame_for
from dpassay.impl.libraries.worker_process import Worker, WorkerError, error_named
from dpassay.keyboard import noting_interruptions

__all__ = ["InProcessWorker"]


class InProcessWorker(Worker):
    """Answers requests in this process; a crash or hang of the library affects this interpreter.

    Parameters
    ----------
    cases : sequence
        Cases of :mod:`dpassay.adapter`.
    """

    def __init__(self, cases: Sequence[Any]) -> None:
        super().__init__("", "")
        self._own_files = {code.co_filename for case in cases for code in _codes(case)}
        self._adapter = Adapter(list(cases), own_files=self._own_files)

    def __enter__(self) -> Self:
        return self

    def request(self, do: str, **fields: Any) -> Any:
        """Handle a request and return its value as JSON.

        Raises
        ------
        WorkerError
            If the case raised, also SystemExit or KeyboardInterrupt; Ctrl-C itself passes.
        """
        with noting_interruptions() as is_interrupted:
            try:
                value = self._adapter.answer(json.loads(json.dumps({"do": do, **fields})))
            except BaseException as error:  # whatever a library raises
                if is_interrupted():
                    raise KeyboardInterrupt from error
                blame = blame_for(error, self._own_files, self._adapter.refused_by(fields))
                raise error_named(type(error).__name__, str(error), **blame) from None
        return json.loads(json.dumps(value))

    def each(self, requests: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
        """Handle several requests and yield the value of each, or the `WorkerError` that it raised."""
        for request in requests:
            try:
                yield self.request(**request)
            except WorkerError as error:
                yield error


def _codes(case: Any) -> Iterator[CodeType]:
    """Yield the code of the functions of a case: the files that they are in are the adapter's own."""
    of_case = (getattr(case, name, {}).values() for name in ("attempts", "relations", "facts"))
    functions = [*vars(case).values(), *chain.from_iterable(of_case)]
    yield from (function.__code__ for function in functions if isinstance(function, FunctionType))
