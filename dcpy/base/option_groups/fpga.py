"""Options of programs for FPGAs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Vendor(Enum):
    """Vendor of the tools that compile hardware."""

    XILINX = "xilinx"
    INTEL = "intel"


class FpgaMode(Enum):
    """Runtime of a program for FPGAs."""

    SIMULATE = "simulate"
    EMULATE = "emulate"
    HARDWARE = "hardware"


@dataclass(frozen=True, slots=True)
class FpgaOptions:
    """Settings of the ``fpga`` target."""

    vendor: Vendor = Vendor.XILINX  #: vendor whose tools compile the program: ``xilinx`` or ``intel``
    mode: FpgaMode = FpgaMode.SIMULATE  #: ``simulate`` on this machine, ``emulate`` by the vendor's tools, ``hardware``
    program: str = ""  #: file of the bitstream for ``hardware`` (.xclbin, .aocx), or that of Vitis for ``emulate``
    library: str = ""  #: file of the OpenCL library; empty: Intel's emulator, or the system's libOpenCL.so.1
    watchdog: int = 60  #: seconds after which a kernel on a board, or in an emulator, counts as hanging
    platform: str = "u250"  #: board that `explain` assumes: ``u250``, ``u280``, ``s10`` or ``a10``
    banks: str = ""  #: memory banks of arrays: ``x=ddr 1, A=hbm 0:4 axis 1``; others are spread
    steps: int = 1  #: time steps of a stencil in one chain, which reads and writes the grid once
    lanes: int = 1  #: most elements per token, a power of two; 0: as many as the board's port moves per cycle
    systolic: bool = False  #: compile matrix products with a constant number of terms to systolic arrays
    pes: int = 0  #: processing elements of a systolic array; 0: as many as are useful and the board has DSPs for
