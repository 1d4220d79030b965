"""Conflict resolutions that always meet the same location of a map: folded in a variable, stored once.

The location must not depend on what differs between iterations, and nothing else in the map may touch the container.
float32 (and float16) sums are folded in double precision: as close to exact as NumPy's pairwise sums, or closer.
g++ makes no vectors of extrema of floats and of logical operations, or slow ones: vectors fold integers instead. It
makes none of structs: of sums of complex numbers they fold the real and the imaginary parts.
"""

from __future__ import annotations

from dcpy.codegen.lir.expr import Intrinsic, LirExpr, Name, Operation
from dcpy.codegen.lir.intrinsics import ORDER
from dcpy.codegen.lir.reduction_operators import ReductionOperator
from dcpy.codegen.lir.scalar_operations import convert
from dcpy.codegen.lir.tree import Reduction
from dcpy.codegen.lower.context import Accumulator, Context
from dcpy.ir import types
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range
from dcpy.ir.types import DType

WIDER = {types.float16: types.float64, types.float32: types.float64, types.complex64: types.complex128}
#: logical operations (extrema of truths are the same) as operations on integers that are 0 or 1
BITS = {"or": "bitor", "bitor": "bitor", "max": "bitor", "and": "bitand", "bitand": "bitand", "min": "bitand"}
SHORT = 32  #: iterations: ten float32 take 15 ns as integers instead of 8, 256 take 12 instead of 27 (decision 0195)


def is_short(values: Range) -> bool:
    """Return whether a loop surely has so few iterations that vectors fold what they are, not integers."""
    count = values.size.constant
    return count is not None and count <= SHORT


def is_new(context: Context, memlet: Memlet, *, vectors: bool) -> bool:
    """Return whether a location needs an accumulator: it has none yet, or one of which vectors are slow."""
    known = context.accumulators.get(memlet)
    slow = _as_integers(context, memlet) is not None or _is_complex_sum(context, memlet)
    return known is None or (vectors and known.stands_for is None and slow)


def _is_complex_sum(context: Context, memlet: Memlet) -> bool:
    return memlet.wcr == "add" and context.locations[memlet.container].dtype.kind == "c"


def _as_integers(context: Context, memlet: Memlet) -> ReductionOperator | None:
    """Return the integer operation that replaces a reduction of which g++ makes slow vectors; None where it is fast."""
    dtype = context.locations[memlet.container].dtype
    if dtype in ORDER and memlet.wcr in ("min", "max"):
        return ReductionOperator(memlet.wcr, ORDER[dtype])
    return ReductionOperator(BITS[memlet.wcr], types.int8) if dtype is types.bool_ and memlet.wcr in BITS else None


def accumulator_for(context: Context, memlet: Memlet, *, vectors: bool) -> tuple[Accumulator, LirExpr | None]:
    """A variable for the location, and its first value: the operation's neutral one.

    A location that is a variable already is its own accumulator, and has its value: None.
    """
    place = context.locations[memlet.container]
    integers = _as_integers(context, memlet) if vectors else None
    dtype = WIDER.get(place.dtype, place.dtype) if memlet.wcr == "add" else place.dtype
    if vectors and _is_complex_sum(context, memlet):
        stem, part = context.names.of(memlet.container), dtype.real
        real, imag = (Name(context.names.fresh(f"{stem}_{name}"), part) for name in ("real", "imag"))
        return Accumulator(real, part, memlet.wcr, dtype, imag), ReductionOperator(memlet.wcr, part).neutral
    if integers is None and place.is_value and not place.viewed and dtype == place.dtype:
        return Accumulator(place.base, dtype, memlet.wcr), None
    name = context.names.fresh(f"{context.names.of(memlet.container)}_{_NOUN[memlet.wcr]}")
    start = ReductionOperator(memlet.wcr, dtype).neutral
    if integers is not None:
        accumulator = Accumulator(Name(name, integers.dtype), integers.dtype, integers.op, dtype)
        return accumulator, to_accumulator(accumulator, start, dtype)
    return Accumulator(Name(name, dtype), dtype, memlet.wcr), start


def to_accumulator(accumulator: Accumulator, value: LirExpr, source: DType) -> LirExpr:
    """A value of dtype `source` as the accumulator combines it."""
    of = accumulator.stands_for
    if of is None:
        return convert(value, source, accumulator.dtype)
    if of not in ORDER:
        return convert(convert(value, source, of), of, accumulator.dtype)
    stays = ReductionOperator("max" if accumulator.op == "min" else "min", accumulator.dtype).neutral  # what NaN is
    return Intrinsic("to_order", (convert(value, source, of), stays), accumulator.dtype, of)


def of_accumulator(accumulator: Accumulator) -> tuple[LirExpr, DType]:
    """Return the value of the accumulator, and its dtype."""
    of = accumulator.stands_for
    if of is not None and accumulator.imag is not None:
        return Operation("complex", accumulator.variables, accumulator.dtype, of), of
    if of not in ORDER:
        return accumulator.variable, accumulator.dtype
    return Intrinsic("from_order", (accumulator.variable,), of, of), of


_NOUN = {
    "add": "sum", "mul": "product", "min": "min", "max": "max", "and": "all", "or": "any", "xor": "parity",
    "bitand": "bits", "bitor": "bits", "bitxor": "bits",
}  # fmt: skip


def reductions_of(context: Context, accumulator: Accumulator) -> tuple[Reduction, ...]:
    """Each thread or lane gets a copy of an accumulator, which is folded into it in the end."""
    combination = ReductionOperator(accumulator.op, accumulator.dtype)
    context.module.combinations[combination] = None
    return tuple(Reduction(combination, variable.name) for variable in accumulator.variables)
