"""Conflict resolutions that always meet the same location of a map: folded in a variable, stored once.

The location must not depend on what differs between iterations, and nothing else in the map may touch the container.
float32 (and float16) sums are folded in double precision: as close to exact as NumPy's pairwise sums, or closer.
"""

from __future__ import annotations

from dcpy.codegen.lir.combinations import Combination
from dcpy.codegen.lir.expr import LirExpr, Name
from dcpy.codegen.lir.tree import Reduction
from dcpy.codegen.lower.context import Accumulator, Context
from dcpy.ir import types
from dcpy.ir.memlet import Memlet

WIDER = {types.float16: types.float64, types.float32: types.float64, types.complex64: types.complex128}


def accumulator_for(context: Context, memlet: Memlet) -> tuple[Accumulator, LirExpr | None]:
    """A variable for the location, and its first value: the operation's neutral one.

    A location that is a variable already is its own accumulator, and has its value: None.
    """
    place = context.places[memlet.container]
    dtype = WIDER.get(place.dtype, place.dtype) if memlet.wcr == "add" else place.dtype
    if place.is_value and not place.viewed and dtype == place.dtype:
        return Accumulator(place.base, dtype, memlet.wcr), None
    name = context.names.fresh(f"{context.names.of(memlet.container)}_{_NOUN[memlet.wcr]}")
    return Accumulator(Name(name, dtype), dtype, memlet.wcr), Combination(memlet.wcr, dtype).neutral


_NOUN = {
    "add": "sum", "mul": "product", "min": "min", "max": "max", "and": "all", "or": "any", "xor": "parity",
    "bitand": "bits", "bitor": "bits", "bitxor": "bits",
}  # fmt: skip


def reduction_of(context: Context, accumulator: Accumulator) -> Reduction:
    """Each thread or lane gets a copy of an accumulator, which is folded into it in the end."""
    combination = Combination(accumulator.op, accumulator.dtype)
    context.module.combinations[combination] = None
    return Reduction(combination, accumulator.variable.name)
