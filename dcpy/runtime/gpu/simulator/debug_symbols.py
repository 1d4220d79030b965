"""Debug symbols: from addresses of compiled kernels to lines of their text, by `addr2line`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable

DIALECT = "dcpy_device.h"  # what stands there was written by a kernel, one frame further out
TOOL = "addr2line"
_PLACE = re.compile(r"([^/:]+):(\d+)(?: .*)?$")


def lines_of(library: str, offsets: Iterable[int]) -> dict[int, str]:
    """``FILE:LINE`` for each offset in the library at which a call returns; ``+0x…`` where there is none."""
    wanted = sorted(set(offsets))
    unknown = {offset: f"+{offset:#x}" for offset in wanted}
    if not wanted or shutil.which(TOOL) is None:
        return unknown
    command = [TOOL, "-e", library, "-a", "-i", *(hex(offset - 1) for offset in wanted)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return unknown | _read(answer)


def _read(answer: str) -> dict[int, str]:
    """An address, then the frames there: the innermost one first."""
    found: dict[int, str] = {}
    address = 0
    for line in answer.splitlines():
        if line.startswith("0x"):
            address = int(line, 16) + 1
            continue
        place = _PLACE.search(os.path.basename(line))
        if place is not None and place[1] != DIALECT and address not in found:
            found[address] = f"{place[1]}:{place[2]}"
    return found
