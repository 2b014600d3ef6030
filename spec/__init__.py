"""The specification: statements of differential privacy as executable predicates, in rigorous arithmetic."""

if __name__ != "dpassay.spec":
    raise ImportError(
        f"this folder is the package 'dpassay.spec' but was imported as {__name__!r}; "
        "import it as dpassay.spec, or collect it with `pytest --pyargs dpassay`"
    )
