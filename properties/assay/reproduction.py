"""The library's own call that reproduces a finding, as Python text to paste."""

from collections.abc import Mapping
from typing import Any

__all__ = ["reproduction"]


def reproduction(call: str, witness: Mapping[str, Any], claim: str, detail: str) -> str | None:
    """Return text that makes the library's call on both inputs of a witness; None without a call or two inputs.

    Parameters
    ----------
    call : str
        The call as an adapter states it, with ``{data}`` for the records.
    witness : mapping
        The witness of a finding.
    claim : str
        The claim of the library.
    detail : str
        The sentence of the finding.

    Examples
    --------
    >>> print(reproduction("sum({data})", {"left": [1.0], "right": [2.0]}, "pure:1", "no noise"))
    # expected: pure:1 for these two neighbours; found: no noise
    for data in ([1.0], [2.0]):
        print(sum(data))
    """
    if not call or not {"left", "right"} <= witness.keys():
        return None
    *before, last = call.replace("{data}", "data").splitlines()
    lines = [*before, last if last.startswith("print(") else f"print({last})"]
    head = f"# expected: {claim} for these two neighbours; found: {detail}"
    return "\n".join([head, f"for data in ({witness['left']!r}, {witness['right']!r}):", *(f"    {x}" for x in lines)])
