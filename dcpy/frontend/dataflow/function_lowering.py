"""Lowering of the functions of explicit dataflow (`dataflow_functions`), and refusals of others."""

from __future__ import annotations

from dataclasses import replace

from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    MapValue,
    RangeValue,
    Scalar,
    Static,
    TupleValue,
    Value,
    is_number,
    kind_of,
    scalar_expr,
)
from dcpy.frontend.dataflow import dataflow_functions
from dcpy.frontend.dataflow.storage_and_schedules import StorageType, storage_of
from dcpy.frontend.dataflow.wcr_lambdas import UFUNCS, operation_of
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.elementwise import convert
from dcpy.frontend.lower.arrays import stores
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.lower.sequences import items as sequences
from dcpy.ir.data import Allocation, Array, Space
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Region
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, sym
from dcpy.ir.types import DType, float64

NONE = Static(None)
DEFAULT = Static(StorageType.Default)
FLOAT = Static(float)


# -- memory ----------------------------------------------------------------------------------------------------------


@implements(dataflow_functions.define_local, dataflow_functions.ndarray)
def define_local(b: OpBuilder, shape: Value, dtype: Value = FLOAT, storage: Value = DEFAULT) -> Value:
    """A new array with undefined contents."""
    place = storage_of(b.static(storage, "a storage"))
    made = b.empty(b.shape_argument(shape), _dtype(b, dtype))
    _put(b, made, *place)
    return made


@implements(dataflow_functions.define_local_scalar)
def define_local_scalar(b: OpBuilder, dtype: Value = FLOAT, storage: Value = DEFAULT) -> Value:
    """One element with an undefined value."""
    storage_of(b.static(storage, "a storage"))
    return b.scalar_container(_dtype(b, dtype))[0]


def _dtype(b: OpBuilder, dtype: Value) -> DType:
    return b.dtype_argument(dtype) or float64


def _put(b: OpBuilder, made: ArrayValue, space: Space, allocation: Allocation) -> None:
    desc = b.desc(made)
    assert isinstance(desc, Array)
    if allocation is Allocation.STACK and any(size.constant is None for size in desc.shape):
        raise b.error(
            f"an array in registers has a size that is known at compile time, not [{', '.join(map(str, desc.shape))}]",
            help="use dcpy.StorageType.CPU_Heap, or leave the storage out",
        )
    if (space, allocation) != desc.storage:
        b.emit.redeclare(made.container, replace(desc, space=space, allocation=allocation))


# -- loops and hints -------------------------------------------------------------------------------------------------


@implements(dataflow_functions.parrange)
def parrange(b: OpBuilder, start: Value, stop: Value = NONE, step: Value = Static(1)) -> Value:  # noqa: B008
    """A map over one range."""
    first, last = (Static(0), start) if stop == NONE else (start, stop)
    bounds = [b.integer(part, "a bound of dcpy.parrange") for part in (first, last, step)]
    return MapValue((Range(*bounds),))


@implements(dataflow_functions.unroll)
def unroll(b: OpBuilder, values: Value) -> Value:
    """The items, each known."""
    if isinstance(values, RangeValue) and values.range.size.constant is None:
        raise b.error(
            "how often the loop is unrolled is not known at compile time",
            notes=(f"its range is {values.start}:{values.stop}:{values.step}",),
            help="use a number, a compile-time argument (`n: dcpy.compiletime`), or a plain loop",
        )
    return TupleValue(tuple(sequences.items(b, values)))


@implements(dataflow_functions.nounroll)
def nounroll(b: OpBuilder, values: Value) -> Value:
    """The values themselves; a loop over a range stays one."""
    return replace(values, never_unrolled=True) if isinstance(values, RangeValue) else values


@implements(dataflow_functions.inline)
def inline(b: OpBuilder, value: Value) -> Value:
    """The value, which must be known."""
    b.static(value, "what dcpy.inline takes")
    return value


@implements(dataflow_functions.in_program)
def in_program(b: OpBuilder) -> Value:
    """True."""
    return Static(True)


# -- reductions and element functions --------------------------------------------------------------------------------


@implements(dataflow_functions.reduce)
def reduce(
    b: OpBuilder, function: Value, array: Value, out: Value = NONE, axis: Value = NONE, identity: Value = NONE
) -> Value:
    """One reduction, and what it is combined with."""
    operation = operation_of(b, function)
    source = b.array(array)
    axes = b.axes(axis, source.rank)
    result: Value
    if operation in ("add", "mul", "min", "max", "and", "or"):
        result = b.reduce(operation, source, axes, dtype=source.dtype)
    else:
        over = TupleValue(tuple(map(Static, axes)))
        result = b.call(Static(UFUNCS[operation].reduce), source, axis=over)
    if identity != NONE:
        result = b.ufunc(UFUNCS[operation], b.cast(identity, source.dtype), result)
    if out == NONE:
        return result
    target = _target(b, out)
    result = _shaped(b, result, target)
    stores.store(b, target, result if identity != NONE else b.ufunc(UFUNCS[operation], target, result))
    return NONE


def _target(b: OpBuilder, out: Value) -> ArrayValue:
    if not isinstance(out, ArrayValue):
        raise b.error(f"the output is {kind_of(out)}, not an array", help="leave it out, and use the result")
    return out


def _shaped(b: OpBuilder, result: Value, target: ArrayValue) -> Value:
    """A number is stored to every element; sizes of 1 that the target has more, or less, are the same elements."""
    if isinstance(result, ArrayValue) and result.rank != target.rank:
        return b.reshape(result, target.shape)
    return result


@implements(dataflow_functions.elementwise)
def elementwise(b: OpBuilder, function: Value, array: Value, out: Value = NONE) -> Value:
    """One map that calls the function on each element."""
    source = b.array(array)
    target = _target(b, out) if out != NONE else b.empty([b.exact(size) for size in source.shape], source.dtype)
    if out != NONE:
        stores.require_writable(b, target)
        source = b.broadcast_to(source, target.shape)
    params = [b.emit.parameter("i") for _ in target.shape]
    indices = [sym(param) for param in params]
    region, outside = Region(), b.emit.ranges
    inner = outside
    for param, size in zip(params, target.shape, strict=True):
        inner = inner.bind(param, ZERO, size - 1)
    with b.emit.inside(region, inner):
        value = b.call(function, Scalar(source.load(indices)))
        if isinstance(value, ArrayValue) and not value.shape:
            value = Scalar(value.load(()))
        if not is_number(value):
            raise b.error(f"the function gives {kind_of(value)} for an element", help="return a number")
        memlet = Memlet(target.container, target.subset(indices))
        b.emit.tasklet([(memlet, convert(scalar_expr(value), target.dtype))])
    b.emit.map_region(params, [Range(ZERO, size, ONE) for size in target.shape], region)
    return target if out == NONE else NONE
