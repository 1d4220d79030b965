"""FPGA findings: Intel's emulator and the vendors' tools on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from dcpy.base.errors import DcpyError
from dcpy.targets.findings import Finding


def findings() -> Iterator[Finding]:
    """Yield findings about emulation and bitstreams of programs for FPGAs; simulations need none of these tools."""
    from dcpy.runtime.fpga.boards import find_emulator

    try:
        yield Finding("FPGA: Intel's emulator", True, str(find_emulator()))
    except DcpyError as error:
        yield Finding("FPGA: Intel's emulator", False, error.help)
    for tool, hint in (("v++", "Vitis: source its settings64.sh"), ("aoc", "Intel's SDK: source its init_opencl.sh")):
        found = shutil.which(tool)
        yield Finding(f"FPGA: {tool}", found is not None, found or hint)
