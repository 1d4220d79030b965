"""Conflict resolutions that always meet the same location of a map: folded in a variable, stored once.

The location must not depend on what differs between iterations, and nothing else in the map may touch the container.
float32 (and float16) sums are folded in double precision: as close to exact as NumPy's pairwise sums, or closer.
"""

from __future__ import annotations

import numpy as np

from dcpy.codegen.lir.expr import LirExpr, Name
from dcpy.codegen.lir.tree import DeclaredReduction, Reduction
from dcpy.codegen.lower.context import Accumulator, Context
from dcpy.codegen.lower.scalars import combine, literal
from dcpy.ir import types
from dcpy.ir.memlet import Memlet
from dcpy.ir.types import DType

WIDER = {types.float16: types.float64, types.float32: types.float64, types.complex64: types.complex128}
OPENMP = {
    "add": ("+", "iuf"), "mul": ("*", "iuf"), "min": ("min", "iu"), "max": ("max", "iu"), "and": ("&&", "b"),
    "or": ("||", "b"), "bitand": ("&", "iu"), "bitor": ("|", "iu"), "bitxor": ("^", "iu"),
}  # fmt: skip


def accumulator_for(context: Context, memlet: Memlet) -> tuple[Accumulator, LirExpr | None]:
    """A variable for the location, and its first value: the operation's neutral one.

    A location that is a variable already is its own accumulator, and has its value: None.
    """
    place = context.places[memlet.container]
    dtype = WIDER.get(place.dtype, place.dtype) if memlet.wcr == "add" else place.dtype
    if place.is_value and not place.viewed and dtype == place.dtype:
        return Accumulator(place.base, dtype, memlet.wcr), None
    name = context.names.fresh(f"{context.names.of(memlet.container)}_{_NOUN[memlet.wcr]}")
    return Accumulator(Name(name, dtype), dtype, memlet.wcr), literal(neutral(memlet.wcr, dtype), dtype)


_NOUN = {
    "add": "sum", "mul": "product", "min": "min", "max": "max", "and": "all", "or": "any", "xor": "parity",
    "bitand": "bits", "bitor": "bits", "bitxor": "bits",
}  # fmt: skip


def neutral(op: str, dtype: DType) -> bool | int | float | complex:
    """The value that changes nothing: ``op(neutral, x) == x``."""
    match op:
        case "add" | "bitor" | "bitxor" | "or" | "xor":
            return False if dtype.kind == "b" else 0
        case "mul" | "and":
            return True if dtype.kind == "b" else 1
        case "bitand":
            return True if dtype.kind == "b" else (-1 if dtype.kind == "i" else int(np.iinfo(dtype.numpy).max))
    lowest = op == "max"
    if dtype.kind == "b":
        return not lowest
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        return int(info.min if lowest else info.max)
    infinity = -np.inf if lowest else np.inf
    return complex(infinity, infinity) if dtype.kind == "c" else infinity


def reduction_of(context: Context, accumulator: Accumulator) -> Reduction:
    """The clause that gives each thread or lane a copy of an accumulator; declares the operation where C has none."""
    op, dtype = accumulator.op, accumulator.dtype
    operator, kinds = OPENMP.get(op, ("", ""))
    if operator and dtype.kind in kinds and dtype != types.float16:
        return Reduction(operator, accumulator.variable.name)
    name = f"dcpy_{op}_{dtype.name}"
    out, value = Name("omp_out", dtype), Name("omp_in", dtype)
    context.module.reductions[name] = DeclaredReduction(
        name, dtype, combine(op, out, value, dtype), literal(neutral(op, dtype), dtype)
    )
    return Reduction(name, accumulator.variable.name)
