"""``python -m dpassay``: the command line."""

import sys

from dpassay.cli import main

if __name__ == "__main__":
    sys.exit(main())
