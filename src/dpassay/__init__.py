"""dpassay: a formal-spec property-testing harness for differential privacy.

The mathematics is stated in :mod:`dpassay.spec`, implemented in :mod:`dpassay.impl`, and compared
in :mod:`dpassay.properties`. The command line is :mod:`dpassay.cli`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpassay.testing import assert_private, per_call, per_fit

__all__ = ["__version__", "assert_private", "per_call", "per_fit"]

__version__ = "0.1.0.dev0"

if (Path(__file__).parent / "spec").is_file():  # a checkout without symbolic links
    raise ImportError(
        "src/dpassay/spec is a text file, not a link to the folder spec/: this checkout has no symbolic links. "
        "Run `git config core.symlinks true` and check out again, or install without -e"
    )


if not TYPE_CHECKING:  # otherwise a type checker accepts every attribute name

    def __getattr__(name: str) -> Any:
        if name in {"assert_private", "per_call", "per_fit"}:  # imported on demand: they need numpy, scipy and flint
            import dpassay.testing

            return getattr(dpassay.testing, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
