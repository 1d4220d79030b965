"""``python -m dcpy``: the command `dcpy`, where its script is not on PATH."""

import sys

from dcpy.cli.main import main

sys.exit(main())
