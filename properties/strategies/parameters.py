"""Parameters of families of libraries: members of documented domains, of few digits, so that a call can be pasted."""

from typing import Any

from hypothesis import strategies as st

__all__ = ["parameters_of"]

_STEPS = 64


def parameters_of(domains: dict[str, dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Return the strategy of parameters.

    Parameters
    ----------
    domains : dict
        The domain of each parameter: a dictionary with ``low`` and ``high`` (integers if both are), or ``choices``.
    """
    return st.fixed_dictionaries({name: _member(domain) for name, domain in domains.items()})


def _member(domain: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "choices" in domain:
        return st.sampled_from(list(domain["choices"]))
    low, high = domain["low"], domain["high"]
    if isinstance(low, int) and isinstance(high, int):
        return st.integers(low, high)
    between = st.integers(0, _STEPS).map(lambda k: low + (high - low) * k / _STEPS)
    return between.map(lambda number: min(max(float(f"{number:.3g}"), low), high))
