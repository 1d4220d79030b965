"""The numbers of a machine: what things cost on it, and what fits.

Passes decide by them, and nothing is legal by them. They are parameters of passes, handed down from the target that is
compiled for: a target with other numbers lowers differently. The defaults are those of a processor with several cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass


@dataclass(frozen=True, slots=True)
class OperationCosts:
    """Units of work of the operations that take more than one each, in vectorized code."""

    exp: int = 12
    log: int = 12
    sin: int = 15
    cos: int = 15
    tan: int = 40
    pow: int = 30
    div: int = 4
    sqrt: int = 4
    floordiv: int = 30
    mod: int = 30
    asin: int = 40
    acos: int = 40
    atan: int = 40
    sinh: int = 40
    cosh: int = 40
    tanh: int = 40
    hypot: int = 20
    atan2: int = 40

    def of(self, name: str) -> int:
        """Of an operation by its name (`ir.expressions.ops`)."""
        cost: int = getattr(self, name, 1)
        return cost


@dataclass(frozen=True, slots=True)
class Costs:
    """What decides whether a choice pays; a unit of work is about a tenth of a nanosecond of one core."""

    threads_pay_above: int = 300_000  #: units of work; for less, a team costs more than it saves
    lanes: int = 8  #: elements of a vector of float64, at most: a shorter axis is no good for vectors
    tile: int = 256  #: elements of a row that one thread takes at a time, where only columns may be divided
    unrolled_terms: int = 16  #: terms of a sum, all short loops together, that is written out
    partial_sum: int = 1024  #: terms of one partial sum of floats
    sums_per_block: int = 32  #: partial sums of a block, of which each thread takes some where there is one result
    rows_per_block: int = 64  #: rows of such a block, where a row is not known to be one run of memory
    row_of_sums: int = 1024  #: sums side by side that are taken together: they stay in the first-level cache
    typical_size: int = 64  #: of an array whose size is a symbol without a typical value, and trips of a `while` loop
    predicated: int = 40  #: units of work per element up to which all is computed, and a mask chooses
    recomputed: int = 64  #: units of work on each element that are done again sooner than that it is stored and loaded
    call: int = 1000  #: units of a call of a function that is not known
    bytes_per_unit: int = 4  #: that are moved to or from the cache in one unit
    operations: OperationCosts = OperationCosts()
    block: int = 1  #: threads of a block of a kernel; 1: there are no blocks
    warp: int = 1  #: threads of a block that run in step, next to each other along its last parameter
    memory_speed: int = 0  #: bytes that the memory of a device reads or writes in a microsecond; 0: there is none
    operation_speed: int = 0  #: operations on float64 that all its threads do in a microsecond
    transfer_speed: int = 0  #: bytes that come from an array of the host in a microsecond
    launch: int = 0  #: nanoseconds that a kernel takes that does nothing, behind another one
    wait: int = 0  #: nanoseconds until the host goes on behind a kernel that it waits for
    barrier: int = 0  #: nanoseconds of a barrier among the threads of a block
    board: str = "u250"  #: an FPGA's (`ir.boards`)
    pes: int = 0  #: processing elements of a systolic array; 0: as many as are of use and fit the board


@dataclass(frozen=True, slots=True)
class Limits:
    """What fits."""

    stack_bytes: int = 8192  #: of one array on the stack: threads have small ones
    all_stack_bytes: int = 128 * 1024  #: of all arrays of an SDFG on the stack together
    cached_bytes: int = 16 * 1024  #: of an array that stays in the first-level cache beside others
    block_threads: int = 0  #: of one block of a kernel, at most; 0: there are no kernels
    shared_bytes: int = 0  #: of all arrays that the threads of one block share


@dataclass(frozen=True, slots=True)
class Network:
    """What it costs that ranks work together; picoseconds. The defaults are of nodes with a fast interconnect."""

    latency: int = 2_000_000  #: of a message, however short
    byte: int = 200  #: of a message's byte more
    local_byte: int = 100  #: of a byte that is copied in a rank's own memory
    unit: int = 100  #: of a unit of work (`Costs`)
    step: int = 100  #: of a product and a sum of a product of matrices


def entries(table: Costs | Limits | OperationCosts, prefix: str = "") -> Iterator[tuple[str, int]]:
    """All numbers of a table by dotted name: ``lanes``, …, ``operations.exp``, …"""
    for field in fields(table):
        value = getattr(table, field.name)
        if is_dataclass(value):
            yield from entries(value, f"{prefix}{field.name}.")  # type: ignore[arg-type]
        else:
            yield prefix + field.name, value


COSTS, LIMITS, NETWORK = Costs(), Limits(), Network()
GPU_COSTS = Costs(
    block=256,
    warp=32,
    memory_speed=4_300_000,  # measured on an H200, as in a copy; what follows are plans, until somebody measures
    operation_speed=34_000_000,
    transfer_speed=20_000,
    launch=3_000,
    wait=10_000,
    barrier=200,
)
GPU_LIMITS = Limits(stack_bytes=1024, block_threads=1024, shared_bytes=227 * 1024)
