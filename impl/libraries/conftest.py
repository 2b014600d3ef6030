"""Excludes adapters from the doctests, because their libraries are not installed here."""

collect_ignore_glob = ["*/*.py"]
