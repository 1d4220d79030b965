"""``python -m dcpy``: the command `dcpy`, where its script is not on PATH."""

import sys

from dcpy.cli.main import main

if __name__ == "__main__":  # importing it does nothing
    sys.exit(main())
