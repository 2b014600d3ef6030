"""Cases of an adapter in this interpreter: for libraries that live where dpassay does, and for trying a case out.

>>> from dpassay.impl.libraries.kit import Nonsense
>>> from dpassay.impl.libraries.remote import open_library
>>> worker = InProcessWorker([Nonsense("square root", {"x=-1": lambda: (-1.0) ** 0.5})])
>>> [case.name for case in open_library(worker)]
['square root']
"""

import json
from collections.abc import Sequence
from typing import Any, Self

from dpassay.impl.libraries.remote import Worker, error_named
from dpassay.impl.libraries.worker import Adapter

__all__ = ["InProcessWorker"]


class InProcessWorker(Worker):
    """Answers requests without a process: what crashes or hangs takes this interpreter with it.

    Parameters
    ----------
    cases : sequence
        Cases of :mod:`dpassay.impl.libraries.kit`.
    """

    def __init__(self, cases: Sequence[Any]) -> None:
        super().__init__("", "")
        self._adapter = Adapter(list(cases))

    def __enter__(self) -> Self:
        return self

    def request(self, do: str, **fields: Any) -> Any:
        """Carry out a request and return its value as JSON.

        Raises
        ------
        WorkerError
            If the case raised.
        """
        try:
            value = self._adapter.answer(json.loads(json.dumps({"do": do, **fields})))
        except Exception as error:  # noqa: BLE001  # whatever a library raises
            raise error_named(type(error).__name__, str(error)) from None
        return json.loads(json.dumps(value))
