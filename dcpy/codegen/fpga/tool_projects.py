"""Tool projects: folders that vendors' tools make bitstreams of, with a self-checking host program and scripts.

Everything here is text made of pure data. `targets.fpga.project` computes what is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcpy.base.option_groups.fpga import Vendor
from dcpy.codegen.c_identifiers import identifier
from dcpy.codegen.emit.template_rendering import render
from dcpy.ir.fpga.boards import Board

#: C's words for dtypes that files have
WORDS = {
    "bool": "bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint8": "uint8_t",
    "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "float32": "float",
    "float64": "double",
}  # fmt: skip
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}  # relative to the largest value: sums may be in another order


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An argument or result of the check: its values are in ``data/FILE.bin``, those after it in FILE.expected.bin."""

    name: str
    dtype: str  # NumPy's name
    count: int
    has_input: bool  # it has values before the call
    checked: bool

    @property
    def file(self) -> str:
        """The stem of its files."""
        return identifier(self.name)


def main_text(
    name: str, args: Sequence[StoredArray | None], results: Sequence[StoredArray], symbols: Mapping[str, int]
) -> str:
    """The host's ``main``: reads the inputs, calls the program, and compares with what is stored."""
    checks = [(f"args[{position}]", arg) for position, arg in enumerate(args) if arg is not None and arg.checked]
    checks += [(f"results[{position}]", result) for position, result in enumerate(results) if result.checked]
    return render(
        "project/main.cpp.j2",
        name=name,
        args=args,
        symbols=symbols,
        results=results,
        checks=checks,
        words=WORDS,
        tolerance=TOLERANCE,
    )


# -- what the vendors' tools read ------------------------------------------------------------------------------------


def build_text(name: str, vendor: Vendor, kernels: Sequence[str]) -> str:
    """``build.sh``: the bitstream, hours for a board."""
    if vendor is Vendor.INTEL:
        return render("project/build_aoc.sh.j2", name=name)
    return render("project/build_vitis.sh.j2", name=name, kernels=kernels)


_FLAGS = "-O2 -std=c++17 -ffp-contract=off -fwrapv -fno-strict-aliasing"


def host_text(name: str) -> str:
    """``host.sh``: the program that runs on the machine that has the board."""
    return render("project/host.sh.j2", name=name, flags=_FLAGS)


def simulate_text(name: str, kernels: str) -> str:
    """``simulate.sh``: the kernels' text, compiled with the simulation's headers, and the check."""
    return render("project/simulate.sh.j2", name=name, kernels=kernels, flags=_FLAGS)


def readme_text(name: str, vendor: Vendor, board: Board, symbols: Mapping[str, int], place: str) -> str:
    """``README.md``: what is where, and what to type."""
    is_xilinx = vendor is Vendor.XILINX
    return render(
        "project/README.md.j2",
        name=name,
        place=place,
        board=board.name,
        vendor=vendor.value,
        symbols=symbols,
        ending="xclbin" if is_xilinx else "aocx",
        tool="Vitis (v++) and XRT" if is_xilinx else "the FPGA SDK for OpenCL (aoc)",
        where="PLATFORM=..." if is_xilinx else "BOARD=...",
        kernels=f"{name}.hls.cpp" if is_xilinx else f"{name}.cl",
        banks=is_xilinx,
    )
