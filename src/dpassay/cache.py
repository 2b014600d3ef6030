"""The folder of reproducible data: environments of libraries, data of hypothesis."""

import os
from pathlib import Path

from platformdirs import user_cache_path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """Return ``$DPASSAY_CACHE``, or the folder for dpassay among the user's caches."""
    chosen = os.environ.get("DPASSAY_CACHE")
    return Path(chosen).expanduser().resolve() if chosen else user_cache_path("dpassay", appauthor=False)
