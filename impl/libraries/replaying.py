"""Record and replay: runs of a mechanism on neighbours with chosen outputs of its noise primitives.

On the left input each primitive returns its value moved by some multiple of its sensitivity, inside the range of its
outputs. On the right input it returns the same outputs, in the same order. No noise is drawn: what differs between
the two runs depends on the data. Standard library only: this module runs inside workers.
"""

from __future__ import annotations

import math
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from dpassay.adapter import Raised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpassay.adapter import Mechanism, NoisePrimitive

__all__ = ["replay"]


class _Tape:
    """The calls of the primitives in one run; with the outputs of an earlier run they are replayed."""

    def __init__(self, shift: float, outputs: list[Any] | None = None) -> None:
        self.calls: list[dict[str, Any]] = []
        self.outputs: list[Any] = []
        self._shift = shift
        self._replayed = outputs
        self.is_inside = False

    def enter(self, read: dict[str, Any]) -> Any:
        """Note a call and return its output."""
        known = self._replayed
        fresh = known is None or len(self.calls) >= len(known)
        output = _chosen(read, self._shift) if fresh else known[len(self.calls)]  # type: ignore[index]
        self.calls.append({key: _plain(value) for key, value in read.items() if key != "outputs"})
        self.outputs.append(output)
        return output


def replay(case: Mechanism, left: list[float], right: list[float], shift: float) -> dict[str, Any]:
    """Run a mechanism on the left input, and on the right one with the same outputs of its primitives.

    Parameters
    ----------
    case : Mechanism
        A mechanism with `noise` and `sample_one`, or `sample_many`.
    left, right : list of float
        Neighbouring inputs.
    shift : float
        The primitives return their values on the left input plus this multiple of their sensitivities.

    Returns
    -------
    dict
        For each of ``left`` and ``right`` a list: the calls of the primitives, and the outcome.
    """
    first = _Tape(shift)
    outcome = _run(case, left, first)
    second = _Tape(shift, first.outputs)
    return {"left": [first.calls, outcome], "right": [second.calls, _run(case, right, second)]}


def _run(case: Mechanism, data: list[float], tape: _Tape) -> Any:
    with ExitStack() as stack:
        for primitive in case.noise:
            stack.enter_context(_replaced(primitive.owner, primitive.name, _taped(primitive, tape)))
        for choice in case.choices:
            stack.enter_context(_replaced(choice.owner, choice.name, _constantly(choice.take)))
        try:
            return case.draw_one(data)
        except Exception as error:  # noqa: BLE001  # an exception is an outcome
            return Raised(type(error).__name__)


def _constantly(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return what makes of any function the given one."""
    return lambda _: function


def _taped(primitive: NoisePrimitive, tape: _Tape) -> Callable[[Any], Any]:
    """Return what makes of a function one that notes its calls on the tape."""

    def make(original: Any) -> Any:
        def noted(*arguments: Any, **named: Any) -> Any:
            if tape.is_inside:
                return original(*arguments, **named)
            return tape.enter(dict(primitive.read(*arguments, **named)))

        return noted

    return make


@contextmanager
def _replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Replace an attribute for some time."""
    inherited = isinstance(owner, type) and name not in vars(owner)
    kept = vars(owner).get(name, getattr(owner, name))
    setattr(owner, name, make(getattr(owner, name)))
    try:
        yield
    finally:
        if inherited:
            delattr(owner, name)
        else:
            setattr(owner, name, kept)


def _chosen(read: dict[str, Any], shift: float) -> Any:
    """Return an output: the value moved, or an index."""
    value = read["value"]
    if read["family"] == "selection":
        last = len(value) - 1
        chosen = last if shift > 0 else 0 if shift < 0 else max(range(last + 1), key=lambda k: value[k])
        return read["outputs"][chosen] if "outputs" in read else chosen
    if getattr(value, "shape", None):
        return value + shift * float(read["sensitivity"])
    if isinstance(value, (list, tuple)):
        return [_moved(read, part, shift) for part in value]
    return _moved(read, value, shift)


def _moved(read: dict[str, Any], value: Any, shift: float) -> Any:
    sensitivity = float(read["sensitivity"])
    moved = float(value) + shift * (sensitivity if math.isfinite(sensitivity) else 0.0)
    moved = max(moved, float(read.get("low", -math.inf)))
    moved = min(moved, float(read.get("high", math.inf)))
    return math.floor(moved) if read.get("integer") and math.isfinite(moved) else moved


def _plain(value: Any) -> Any:
    """Return numbers, lists of numbers and text of what a primitive was called with."""
    if isinstance(value, (bool, str)) or value is None:
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return float(value)
