"""FPGA boards: clock, memory beside the chip, and the resources of the chip.

Resources of a board are from the data sheets that are named with it. Those of operators are estimates, rounded from
what is published of the cores that tools choose at about 300 MHz (`OPERATORS` names it): reports of Vitis HLS have 8
cycles, 2 blocks and 226 tables for an f32 addition (`fadd`, full_dsp), 4 cycles and 3 blocks for a product (`fmul`,
max_dsp).
"""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.base.errors import UnknownName
from dcpy.ir.fpga.memory import BankKind
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class Board:
    """A board; `bandwidth` is that of one bank, in bytes per second, `width` the bytes that a port moves in a cycle."""

    name: str
    vendor: str
    clock: int  #: in Hz, that large designs reach
    banks: int
    bandwidth: float
    dsps: int  #: blocks that multiply
    rams: int  #: blocks of memory on the chip
    ram_bytes: int  #: of each
    luts: int  #: tables of logic; of Intel: adaptive logic modules, each of which counts as two
    more_banks: tuple[tuple[BankKind, int], ...]  #: of other kinds than the main memory, which `banks` counts
    source: str
    width: int = 64

    @property
    def memory(self) -> BankKind:
        """The kind of the main memory: many banks are HBM."""
        return "hbm" if self.banks > 8 else "ddr"

    def banks_of(self, kind: BankKind) -> int:
        """Return the number of banks of a kind."""
        return self.banks if kind == self.memory else dict(self.more_banks).get(kind, 0)


BOARDS: dict[str, Board] = {
    board.name: board
    for board in (
        Board(
            "u250", "xilinx", 300_000_000, 4, 19.25e9, 12_288, 2_688, 4_608, 1_728_000, (("plram", 4),),
            "AMD DS962, UG1393",
        ),
        Board(
            "u280", "xilinx", 300_000_000, 32, 14.375e9, 9_024, 2_016, 4_608, 1_304_000, (("ddr", 2), ("plram", 6)),
            "AMD DS963, UG1393",
        ),
        Board(
            "s10", "intel", 300_000_000, 4, 19.2e9, 5_760, 11_721, 2_560, 2 * 933_120, (),
            "Intel S10-OVERVIEW, GX 2800; DDR4-2400",
        ),
        Board(
            "a10", "intel", 240_000_000, 2, 17e9, 1_518, 2_713, 2_560, 2 * 427_200, (),
            "Intel A10-OVERVIEW, GX 1150; DDR4-2133",
        ),
    )
}  # fmt: skip

#: where figures of operators are published, by vendor
OPERATORS = {
    "xilinx": "AMD PG060 and reports of Vitis HLS",
    "intel": "Intel UG-S10-DSP: a block adds and multiplies f32",
}

#: blocks that multiply, by vendor, operation and bytes of a float
_DSPS = {
    "xilinx": {
        ("add", 4): 2, ("sub", 4): 2, ("mul", 4): 3, ("exp", 4): 7, ("add", 8): 3, ("sub", 8): 3, ("mul", 8): 8,
        ("exp", 8): 26,
    },
    "intel": {("add", 4): 1, ("sub", 4): 1, ("mul", 4): 1, ("exp", 4): 8, ("mul", 8): 4, ("exp", 8): 20},
}  # fmt: skip
_INTEGERS = {"xilinx": {4: 3, 8: 10}, "intel": {4: 1, 8: 4}}  #: of a product, by bytes

#: tables of logic, by operation and bytes of a float; others are about as large as an addition without such blocks
_LUTS = {
    ("add", 4): 230, ("sub", 4): 230, ("mul", 4): 90, ("truediv", 4): 760, ("div", 4): 760, ("sqrt", 4): 460,
    ("exp", 4): 650, ("log", 4): 750, ("add", 8): 650, ("sub", 8): 650, ("mul", 8): 220, ("truediv", 8): 3_100,
    ("div", 8): 3_100, ("sqrt", 8): 1_800, ("exp", 8): 2_600, ("log", 8): 2_800,
}  # fmt: skip
_OTHER_LUTS = {4: 400, 8: 800}

MEMORY = 20  #: cycles from the address to the value, in the memory beside the chip
_FLOAT = {
    "add": 8, "sub": 8, "mul": 4, "truediv": 28, "div": 28, "sqrt": 28, "exp": 20, "log": 24, "pow": 80, "sin": 40,
    "cos": 40, "tan": 60, "tanh": 60,
}  # fmt: skip
_DOUBLED = 2  #: for numbers of 64 bits, about
_INTEGER = {"mul": 3, "floordiv": 36, "mod": 36, "truediv": 40}


def latency(name: str, dtype: DType) -> int:
    """Cycles of an operation on values of a dtype, at about 300 MHz: typical of the cores that HLS tools choose."""
    if dtype.kind == "f":
        return _FLOAT.get(name, 2) * (_DOUBLED if dtype.itemsize == 8 and name in _FLOAT else 1)
    return _INTEGER.get(name, 0) if dtype.kind in "iu" else 0


def board(name: str) -> Board:
    """The board of a name; `UnknownName` lists the others."""
    if name not in BOARDS:
        help = f"fpga.platform is one of {', '.join(BOARDS)}"
        raise UnknownName(f"no board is called {name!r}", help=help)
    return BOARDS[name]


def dsps_of(operation: str, dtype: DType, vendor: str) -> int:
    """Return the approximate number of multiplier blocks (DSPs) of an operation on values of a dtype."""
    if dtype.kind == "f":
        return _DSPS[vendor].get((operation, dtype.itemsize), 0)
    return _INTEGERS[vendor].get(dtype.itemsize, 0) if operation == "mul" and dtype.kind in "iu" else 0


def luts_of(operation: str, dtype: DType) -> int:
    """Return the approximate number of lookup tables of an operation on values of a dtype: of integers one per bit."""
    if dtype.kind == "f":
        small = operation in ("min", "max", "abs", "neg", "lt", "le", "gt", "ge", "eq", "ne", "where")
        known = _LUTS.get((operation, dtype.itemsize), _OTHER_LUTS.get(dtype.itemsize, 0))
        return 2 * 8 * dtype.itemsize if small else known
    divides = operation in ("floordiv", "mod", "truediv")
    return 8 * dtype.itemsize * (8 * dtype.itemsize if divides else 1)
