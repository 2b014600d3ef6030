"""The bridge: holds implementations, statements and other people's libraries against each other."""

if __name__ != "dpassay.properties":
    raise ImportError(
        f"this folder is the package 'dpassay.properties' but was imported as {__name__!r}; "
        "import it as dpassay.properties, or collect it with `pytest --pyargs dpassay`"
    )
