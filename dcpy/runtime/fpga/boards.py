"""FPGA boards, and Intel's emulator of one: finding their OpenCL library, and opening it for a program.

Nothing falls back to a simulation: what is not there is a `ToolchainError` that says what to install.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from pathlib import Path

from dcpy.base.errors import ToolchainError
from dcpy.base.installation import install_extra
from dcpy.base.option_groups.fpga import FpgaMode, FpgaOptions, Vendor

EMULATOR = "libintelocl_emu.so"
SYSTEM = "libOpenCL.so.1"
SUFFIXES = {Vendor.XILINX: ".xclbin", Vendor.INTEL: ".aocx"}
ROOM = 4096  # bytes of a message


def find_emulator() -> Path:
    """Intel's emulator, as the extra ``fpga-intel`` installs it; `ToolchainError` where it is not there."""
    found = Path(sys.prefix) / "lib" / EMULATOR
    if not found.exists():
        raise ToolchainError(
            "Intel's emulator for FPGAs is not installed",
            notes=(f"there is no {EMULATOR} in {found.parent}",),
            help=f'{install_extra("fpga-intel")} (Linux on x86-64, 1.1 GB); fpga.mode="simulate" needs no tools',
        )
    return found


def library_for(options: FpgaOptions) -> str:
    """The OpenCL library that reaches the board or the emulator of these options."""
    if options.library:
        return options.library
    if options.vendor is Vendor.INTEL and options.mode is FpgaMode.EMULATE:
        return str(find_emulator())
    try:
        ctypes.CDLL(SYSTEM)
    except OSError as error:
        tools = "XRT (AMD)" if options.vendor is Vendor.XILINX else "the FPGA runtime of Intel's SDK"
        raise ToolchainError(
            f"no OpenCL library is installed, so there is no way to a board: {error}",
            help=f"install {tools}, or name its library in fpga.library; fpga.mode=\"simulate\" needs no tools",
        ) from error
    return SYSTEM


def bitstream_for(options: FpgaOptions) -> str:
    """The file that is loaded; empty where the emulator compiles the text of the kernels."""
    if options.vendor is Vendor.INTEL and options.mode is FpgaMode.EMULATE:
        return ""
    suffix = SUFFIXES[options.vendor]
    if not options.program:
        raise ToolchainError(
            f"fpga.program names no bitstream, which fpga.mode={options.mode.value!r} needs for {options.vendor.value}",
            help=f"make one: sdfgcc FILE:FUNCTION --target {options.vendor.value} -o FOLDER; then name its {suffix}",
        )
    if not Path(options.program).is_file():
        raise ToolchainError(f"there is no bitstream {options.program}", help=f"make one: a file {suffix}")
    return options.program


def attach(library: ctypes.CDLL, name: str, options: FpgaOptions) -> None:
    """Open the board for a program that was loaded; `ToolchainError` says what is missing or does not fit."""
    function = getattr(library, f"{name}_open", None)
    if function is None:
        return  # nothing of it runs on a board
    bitstream, found = bitstream_for(options), library_for(options)
    message = ctypes.create_string_buffer(ROOM)
    function.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64)
    if function(found.encode(), bitstream.encode(), options.watchdog, message, ROOM):
        raise ToolchainError(
            message.value.decode(errors="replace").strip(),
            help="fpga.program must name the bitstream of this program" if bitstream else "",
        )
