"""Mechanisms and accountants in float64, derived independently of the specification."""

if __name__ != "dpassay.impl":
    raise ImportError(
        f"this folder is the package 'dpassay.impl' but was imported as {__name__!r}; "
        "import it as dpassay.impl, or collect it with `pytest --pyargs dpassay`"
    )
