"""Intrinsics: what machine and run-time do for a program, each by a name and with the types that it is for.

A dialect spells those that it has (`emit.dialect.Dialect.intrinsics`); programs that need another one are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dcpy.codegen.lir.types import INDEX, STATUS, TRUTH, Basic, Fifo, LirType, Pointer, VectorType
from dcpy.ir import types
from dcpy.ir.data import Space
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class Rule:
    """The types of the arguments and of the result. `numbers`: any numbers and pointers may follow."""

    params: tuple[LirType, ...]
    result: LirType
    numbers: bool = False


#: numbers of threads and blocks, and how many there are
OF_KERNELS = tuple(f"{what}_{axis}" for what in ("thread", "block", "threads", "blocks") for axis in "xyz")
ORDERS = ("to_order", "from_order")  #: of floats, as integers
PAST_CACHES = ("store_past_caches", "stores_are_seen", "elements_into_line")
OF_SIZES = (
    "sum_of_sizes", "difference_of_sizes", "product_of_sizes", "least_size", "greatest_size", "quotient_of_sizes",
    "remainder_of_sizes",
)  # fmt: skip
WIDE = ("load_wide", "store_wide", "is_wide")
#: what a host asks of a device, beside what has a statement of its own
OF_DEVICES = (
    "device_enter", "device_leave", "device_wait", "device_finish", "device_end", "device_errors", "device_attach",
    "device_on_stream", "device_seal", "device_defer", "device_recall", "has_graphs", "graph_begin", "graph_end",
    "graph_replay",
)  # fmt: skip
#: copies of bytes whose source nothing reads from now on; the second one to an argument
GIFTS = ("give", "give_seen")
#: integers that are as wide as floats
ORDER = {types.float32: types.int32, types.float64: types.int64}
ANY, BYTES = Pointer(Basic.VOID), Pointer(Basic.VOID, const=True)


def _queue(of: DType) -> Pointer:
    return Pointer(Fifo(of))


def _of_device(of: DType, *, const: bool = False) -> Pointer:
    return Pointer(of, const, Space.GLOBAL)


#: by name: the rule, for elements of a dtype; what hardware puts and takes may be a token of `Lanes`
INTRINSICS: Mapping[str, Callable[[Any], Rule]] = {
    "likely": lambda of: Rule((TRUTH,), TRUTH),  # the same truth; nearly always true
    "is_set": lambda of: Rule((TRUTH,), TRUTH),  # an element of an array of bool, any byte but 0 being true
    **{name: lambda of: Rule((Basic.WIDE, Basic.WIDE), Basic.WIDE) for name in OF_SIZES},
    "counted_size": lambda of: Rule((Basic.WIDE,), INDEX),  # or the largest number, where 64 bits do not hold the size
    "hidden": lambda of: Rule((INDEX,), INDEX),  # the same number, which the compiler does not know
    "copy": lambda of: Rule((ANY, BYTES, Basic.SIZE), Basic.VOID),  # bytes that do not overlap
    **{name: lambda of: Rule((ANY, BYTES, Basic.SIZE), Basic.VOID) for name in GIFTS},
    "move": lambda of: Rule((ANY, BYTES, Basic.SIZE), Basic.VOID),  # bytes that may overlap
    "store_past_caches": lambda of: Rule((Pointer(of), Pointer(of, const=True), INDEX), Basic.VOID),  # so many elements
    "stores_are_seen": lambda of: Rule((), Basic.VOID),  # by other threads, those past the caches, too
    "elements_into_line": lambda of: Rule((Pointer(of, const=True),), INDEX),  # that are in a cache line before one
    "to_order": lambda of: Rule((of, ORDER[of]), ORDER[of]),  # a float as an integer of the same order; what NaN is
    "from_order": lambda of: Rule((ORDER[of],), of),
    "free": lambda of: Rule((ANY,), Basic.VOID),
    "owned_buffer": lambda of: Rule((Pointer(Pointer(of)), INDEX), Pointer(of)),  # the caller's
    "take_kept": lambda of: Rule((Pointer(Pointer(Basic.BYTE)),), Pointer(Basic.BYTE)),  # a kept buffer out of its slot
    "push": lambda of: Rule((_queue(of), of), STATUS),
    "pop": lambda of: Rule((_queue(of), Pointer(of)), STATUS),
    "put": lambda of: Rule((Fifo(of), of), Basic.VOID),  # of hardware
    "take": lambda of: Rule((Fifo(of),), of),
    "call_python": lambda of: Rule((INDEX,), STATUS, numbers=True),  # the function of a site
    "interrupted": lambda of: Rule((Basic.PACE,), TRUTH),  # whether Python is to go on elsewhere
    "team_interrupted": lambda of: Rule((Basic.PACE, Pointer(STATUS), STATUS), TRUTH),  # or another thread has been
    "has_failed": lambda of: Rule((Pointer(STATUS), STATUS), TRUTH),  # a check of a team, by its number
    "call_through": lambda of: Rule((ANY,), ANY),  # from now on; what it was before
    # commands of the host to a device, which run in order
    "device_enter": lambda of: Rule((), STATUS),  # a call begins: nothing has failed; the status of the call around
    "device_leave": lambda of: Rule((STATUS,), Basic.VOID),
    "device_wait": lambda of: Rule((), Basic.VOID),
    "device_finish": lambda of: Rule((Pointer(INDEX), STATUS, STATUS), STATUS),  # all is done; the check that failed
    "device_end": lambda of: Rule((STATUS, STATUS), STATUS),  # all commands are queued; the host does not wait
    "device_seal": lambda of: Rule((), Basic.VOID),  # a check that has failed stops each kernel from here on
    "device_defer": lambda of: Rule((STATUS, STATUS), STATUS),  # the host does not wait; failures are known later
    "device_recall": lambda of: Rule((Pointer(INDEX), STATUS, STATUS), STATUS),  # what is known of earlier calls
    "device_on_stream": lambda of: Rule((ANY,), Basic.VOID),  # where the next call's commands go
    "device_errors": lambda of: Rule((), Pointer(INDEX, space=Space.GLOBAL)),  # for the first check that fails
    "device_attach": lambda of: Rule((ANY,), Basic.VOID),  # the runtime's table, from now on
    "has_graphs": lambda of: Rule((), TRUTH),
    "graph_begin": lambda of: Rule((INDEX,), Basic.VOID),  # launches are recorded under a number, and do not run
    "graph_end": lambda of: Rule((INDEX,), Basic.VOID),
    "graph_replay": lambda of: Rule((INDEX,), Basic.VOID),  # what was recorded runs
    # of a device, in kernels
    **{name: lambda of: Rule((), of) for name in OF_KERNELS},  # of indices, or of small ones
    "load_wide": lambda of: Rule((_of_device(of, const=True),), VectorType(of)),  # 16 bytes
    "store_wide": lambda of: Rule((_of_device(of), VectorType(of)), Basic.VOID),
    "is_wide": lambda of: Rule((_of_device(of, const=True),), TRUTH),  # a place that is a multiple of 16 bytes
    # of the dialects of C, which print conversions and operations with them
    "truncate": lambda of: Rule((types.float64,), of),
    "truncate_number": lambda of: Rule((types.float64,), of),  # of what lies in the range of 32 bits, or is no number
    "truth": lambda of: Rule((types.complex128,), TRUTH),
    "convert": lambda of: Rule((types.complex128,), of),
    "half_power": lambda of: Rule((of, Basic.INT), of),  # of half as much as the number, which is odd
    "power": lambda of: Rule((of, Basic.INT), of),
    "inverse_power": lambda of: Rule((of, Basic.INT), of),  # of the number with the other sign
}
