"""One rank of a test run: rank 0 speaks, what the others say is kept for the case of a failure."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dcpy.runtime.distributed.world import current_world


def main(folder: str, arguments: list[str]) -> int:
    """Runs pytest; an exit code that is not 0 is that of the job."""
    rank = current_world().rank
    if rank:
        kept = os.open(Path(folder) / f"rank{rank}.txt", os.O_WRONLY | os.O_CREAT)
        os.dup2(kept, 1)
        os.dup2(kept, 2)
    own = f"--basetemp={Path(folder) / f'files{rank}'}"  # in a folder of all processes each would tidy up the others'
    return int(pytest.main([own, *arguments]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
