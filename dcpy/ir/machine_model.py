"""The machine model: what operations cost on a machine, and what fits.

Passes decide by them, and nothing is legal by them. They are parameters of passes, handed down from the target that is
compiled for: a target with other numbers lowers differently. The defaults are those of a processor with several cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

UNIT = 100  #: picoseconds of a unit of work


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
class Latencies:
    """Picoseconds from the operands of an operation on a float64 to its result, where the next one waits for it."""

    add: int = 1300
    mul: int = 1300
    div: int = 4500
    sqrt: int = 6000
    exp: int = 9000
    pow: int = 20000

    def of(self, name: str, units: int) -> int:
        """Of an operation by its name, which takes so many units of work in vector code."""
        latency: int = getattr(self, name, 0)
        return latency or (self.add if units <= 1 else units * self.exp // OperationCosts().exp)


@dataclass(frozen=True, slots=True)
class Processor:
    """Speeds of a CPU, for the model of time (`ir.analysis.costs.nest_time`).

    Times are in picoseconds and of one core, speeds in bytes, or operations, in a microsecond. The operations that take
    more than a sum are in `OperationCosts`. The defaults are of a server; `dcpy doctor --cpu` measures the one here.
    """

    cores: int = 4  #: that a program may use
    vector_bytes: int = 32  #: of the vectors that the compiler uses
    operation: int = 30  #: ps: a sum or product of two float64 in vector code
    gather: int = 400  #: ps: a float64 from a place in the first-level cache that data choose
    loop: int = 3000  #: ps: to begin and end an inner loop
    l1_bytes: int = 32 * 1024  #: that the first-level cache of a core holds
    l1_speed: int = 100_000  #: bytes in a microsecond that one core reads from the first level
    l2_bytes: int = 1024 * 1024  #: that the second-level cache of a core holds
    l2_speed: int = 30_000  #: the same from the second level
    l2_line: int = 2000  #: ps: a line of the second level, behind one that is elsewhere
    l3_bytes: int = 32 * 1024 * 1024  #: that the third level holds for all cores together; 0: there is none
    l3_speed: int = 22_000  #: the same from the third level
    l3_line: int = 6000  #: the same of the third level
    memory_speed: int = 10_500  #: the same from memory
    memory_speed_all: int = 24_000  #: the same from memory, for all cores together
    memory_line: int = 25_000  #: the same of memory
    pages: int = 1536  #: of 4 KiB, of which the processor keeps where they are
    page: int = 3000  #: ps: to find out where another one is
    fork: int = 3_000_000  #: ps: a team starts, and ends, that has just been busy
    wake: int = 20_000_000  #: ps: the same where it has slept
    barrier: int = 1_000_000  #: ps: of all cores
    fault: int = 700_000  #: ps: the first touch of a page of 4 KiB
    call: int = 100_000  #: ps: of a function of BLAS that has next to nothing to do
    product_speed: int = 50_000  #: operations of a product of matrices in a microsecond, on one core
    product_speed_all: int = 95_000  #: the same on all cores
    latencies: Latencies = Latencies()


def worth_a_team(processor: Processor) -> int:
    """Units of work from which on a team of all cores pays that has slept, with an eighth to spare."""
    alone = max(processor.cores, 2) / (max(processor.cores, 2) - 1)
    return round(processor.wake * alone * 9 / 8 / UNIT)


@dataclass(frozen=True, slots=True)
class Costs:
    """Thresholds for choices of passes; a unit of work is about a tenth of a nanosecond of one core."""

    threads_pay_above: int = 300_000  #: units of work; for less, a team costs more than it saves
    lanes: int = 8  #: elements of a vector of float64, at most: a shorter axis is no good for vectors
    tile: int = 256  #: elements of a row that one thread takes at a time, where only columns may be divided
    unrolled_trips: int = 8  #: iterations of a map inside of another one that is written out
    short_row: int = 64  #: elements of a row below which loops over rows and over one of them become one loop
    unrolled_terms: int = 16  #: terms of a sum, all short loops together, that is written out
    partial_sum: int = 1024  #: terms of one partial sum of floats
    sums_per_block: int = 32  #: partial sums of a block, of which each thread takes some where there is one result
    rows_per_block: int = 64  #: rows of such a block, where a row is not known to be one run of memory
    row_of_sums: int = 1024  #: sums side by side that are taken together: they stay in the first-level cache
    few_rows: int = 8  #: of a product with a matrix that no cache holds, which loops stream; 0: libraries take all
    typical_size: int = 64  #: of an array whose size is a symbol without a typical value, and trips of a `while` loop
    predicated: int = 40  #: units of work per element up to which all is computed, and a mask chooses
    recomputed: int = 64  #: units of work on each element that are done again sooner than that it is stored and loaded
    call: int = 1000  #: units of a call of a function that is not known
    bytes_per_unit: int = 4  #: that are moved to or from the cache in one unit
    operations: OperationCosts = OperationCosts()
    processor: Processor = Processor()
    block: int = 1  #: threads of a block of a kernel; 1: there are no blocks
    warp: int = 1  #: threads of a block that run in step, next to each other along its last parameter
    memory_speed: int = 0  #: bytes that the memory of a device reads or writes in a microsecond; 0: there is none
    operation_speed: int = 0  #: operations on float64 that all its threads do in a microsecond
    transfer_speed: int = 0  #: bytes that come from an array of the host in a microsecond
    launch: int = 0  #: nanoseconds that a kernel takes that does nothing, behind another one
    wait: int = 0  #: nanoseconds until the host goes on behind a kernel that it waits for
    barrier: int = 0  #: nanoseconds of a barrier among the threads of a block
    board: str = "u250"  #: an FPGA's (`ir.fpga.boards`)
    pes: int = 0  #: processing elements of a systolic array; 0: as many as are of use and fit the board


@dataclass(frozen=True, slots=True)
class Limits:
    """Capacities of a device."""

    stack_bytes: int = 8192  #: of one array on the stack: threads have small ones
    all_stack_bytes: int = 40 * 1024  #: of all arrays on the stack at one time, of one SDFG
    cached_bytes: int = 16 * 1024  #: of an array that stays in the first-level cache beside others
    block_threads: int = 0  #: of one block of a kernel, at most; 0: there are no kernels
    shared_bytes: int = 0  #: of all arrays that the threads of one block share


@dataclass(frozen=True, slots=True)
class Network:
    """Costs of communication between ranks; picoseconds. The defaults are of nodes with a fast interconnect."""

    latency: int = 2_000_000  #: of a message, however short
    message: int = 500_000  #: of one more message that is under way at the same time
    byte: int = 200  #: of a message's byte more
    local_byte: int = 100  #: of a byte that is copied in a rank's own memory
    unit: int = 100  #: of a unit of work (`Costs`)
    step: int = 100  #: of a product and a sum of a product of matrices


Table = Costs | Limits | OperationCosts | Processor | Latencies


def entries(table: Table, prefix: str = "") -> Iterator[tuple[str, int]]:
    """All numbers of a table by dotted name: ``lanes``, …, ``operations.exp``, …, ``processor.latencies.add``, …"""
    for field in fields(table):
        value = getattr(table, field.name)
        if is_dataclass(value):
            yield from entries(value, f"{prefix}{field.name}.")  # type: ignore[arg-type]
        else:
            yield prefix + field.name, value


COSTS, LIMITS, NETWORK = Costs(), Limits(), Network()
