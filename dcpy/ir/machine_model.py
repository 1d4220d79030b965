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
        """The time of an operation by its name (`ir.expressions.ops`)."""
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
        """The time of an operation by its name, which takes so many units of work in vector code."""
        latency: int = getattr(self, name, 0)
        return latency or (self.add if units <= 1 else units * self.exp // OperationCosts().exp)


@dataclass(frozen=True, slots=True)
class Processor:
    """Speeds of a CPU, for the model of time (`ir.analysis.costs.nest_time`).

    Times are in picoseconds and of one core, speeds in bytes, or operations, in a microsecond. The operations that take
    more than a sum are in `OperationCosts`. The defaults are of a server; `dcpy doctor --cpu` measures the one here.
    """

    cores: int = 4  #: cores that a program may use
    vector_bytes: int = 32  #: bytes of a vector
    operation: int = 30  #: ps of a sum or product of two float64 in vector code
    gather: int = 400  #: ps of a load from the first-level cache, at an index that is data
    loop: int = 3000  #: ps to start and end an inner loop
    l1_bytes: int = 32 * 1024  #: bytes of the first-level cache of a core
    l1_speed: int = 100_000  #: bytes that a core reads from the first level in a microsecond
    l2_bytes: int = 1024 * 1024  #: bytes of the second-level cache of a core
    l2_speed: int = 30_000  #: bytes that a core reads from the second level in a microsecond
    l2_line: int = 2000  #: ps of a cache line of the second level, at another place than the line before
    l3_bytes: int = 32 * 1024 * 1024  #: bytes of the third-level cache, of all cores together; 0: there is none
    l3_speed: int = 22_000  #: bytes that a core reads from the third level in a microsecond
    l3_line: int = 6000  #: ps of a cache line of the third level, at another place
    memory_speed: int = 10_500  #: bytes that a core reads from memory in a microsecond
    memory_speed_all: int = 24_000  #: bytes that all cores together read from memory in a microsecond
    memory_line: int = 25_000  #: ps of a cache line of memory, at another place
    pages: int = 1536  #: entries of the TLB, for pages of 4 KiB
    page: int = 3000  #: ps of a TLB miss
    fork: int = 3_000_000  #: ps to start and end a team of threads that was busy until now
    wake: int = 20_000_000  #: ps to start and end a team of threads that slept
    barrier: int = 1_000_000  #: ps of a barrier of all cores
    fault: int = 700_000  #: ps of a page fault: the first access to a page of 4 KiB
    call: int = 100_000  #: ps of a call of BLAS with next to nothing to do
    product_speed: int = 50_000  #: operations of a matrix product in a microsecond, on one core
    product_speed_all: int = 95_000  #: operations of a matrix product in a microsecond, on all cores
    latencies: Latencies = Latencies()


def worth_a_team(processor: Processor) -> int:
    """Units of work from which on a team of all cores pays that has slept, with an eighth to spare."""
    alone = max(processor.cores, 2) / (max(processor.cores, 2) - 1)
    return round(processor.wake * alone * 9 / 8 / UNIT)


@dataclass(frozen=True, slots=True)
class Costs:
    """Thresholds for choices of passes; a unit of work is about a tenth of a nanosecond of one core."""

    threads_pay_above: int = 300_000  #: units of work; for less, a team costs more than it saves
    lanes: int = 8  #: most elements of a vector of float64: a shorter axis is not vectorized
    tile: int = 256  #: elements of a row per thread, where only columns can be divided
    unrolled_trips: int = 8  #: most iterations of an inner map that is unrolled
    short_row: int = 64  #: elements of a row below which a loop over rows and one over a row become one loop
    unrolled_terms: int = 16  #: most terms of a sum that is unrolled, all short loops together
    partial_sum: int = 1024  #: terms of one partial sum of floats
    sums_per_block: int = 32  #: partial sums of a block; threads share them where there is one result
    rows_per_block: int = 64  #: rows of such a block, where rows may have gaps
    row_of_sums: int = 1024  #: sums side by side that are computed together, in the first-level cache
    few_rows: int = 8  #: most rows of a product with a large matrix that loops stream; 0: libraries do all products
    typical_size: int = 64  #: assumed value of a size without a typical one, and iterations of a `while` loop
    predicated: int = 40  #: most units of work per element that are computed for all elements, and selected by a mask
    recomputed: int = 64  #: most units of work per element that are computed again rather than stored and loaded
    call: int = 1000  #: units of work of a call of an unknown function
    bytes_per_unit: int = 4  #: bytes that move to or from the cache in a unit of work
    operations: OperationCosts = OperationCosts()
    processor: Processor = Processor()
    block: int = 1  #: threads of a block of a kernel; 1: there are no blocks
    warp: int = 1  #: threads of a block that run in step, side by side along its last parameter
    memory_speed: int = 0  #: bytes that the memory of a device reads or writes in a microsecond; 0: there is none
    operation_speed: int = 0  #: operations on float64 of all threads in a microsecond
    transfer_speed: int = 0  #: bytes that are copied from the host in a microsecond
    launch: int = 0  #: nanoseconds of an empty kernel behind another one
    wait: int = 0  #: nanoseconds until the host continues after a kernel that it waits for
    barrier: int = 0  #: nanoseconds of a barrier among the threads of a block
    board: str = "u250"  #: board of an FPGA (`ir.fpga.boards`)
    pes: int = 0  #: processing elements of a systolic array; 0: as many as are useful and fit the board


@dataclass(frozen=True, slots=True)
class Limits:
    """Capacities of a device."""

    stack_bytes: int = 8192  #: bytes of one array on the stack: stacks of threads are small
    all_stack_bytes: int = 40 * 1024  #: bytes of all arrays on the stack at one time, in one SDFG
    cached_bytes: int = 16 * 1024  #: bytes of an array that stays in the first-level cache beside others
    block_threads: int = 0  #: most threads of a block of a kernel; 0: there are no kernels
    shared_bytes: int = 0  #: bytes of all arrays that the threads of a block share


@dataclass(frozen=True, slots=True)
class Network:
    """Costs of communication between ranks; picoseconds. The defaults are of nodes with a fast interconnect."""

    latency: int = 2_000_000  #: ps of a message, however short
    message: int = 500_000  #: ps of each further message that is under way
    byte: int = 200  #: ps per byte of a message
    local_byte: int = 100  #: ps per byte copied in a rank's own memory
    unit: int = 100  #: ps of a unit of work (`Costs`)
    step: int = 100  #: ps of a multiply-add in a matrix product


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
