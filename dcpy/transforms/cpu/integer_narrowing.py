"""IntegerNarrowing: integers that are known to be small are computed in as few bits as they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Cast, Const, Op, Ref, ScalarExpr, cast, op, rewrite
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import State
from dcpy.ir.symbolic.intervals import Interval, is_within, joined, product, quotient, remainder
from dcpy.ir.types import DType
from dcpy.transforms.passes import GraphPass

NARROW = (types.int8, types.int16, types.int32)
COMPARISONS = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
#: operations of which the low bits of the result depend on the low bits of the arguments alone
OF_LOW_BITS = frozenset(("add", "sub", "mul", "neg", "bitand", "bitor", "bitxor"))
#: operations that are the same in a narrower dtype which holds all arguments
OF_ALL_BITS = frozenset(("abs", "min", "max", "floordiv", "mod", "rshift"))

Values = Mapping[str, Interval | None]  # of connectors


@dataclass(frozen=True)
class IntegerNarrowing(GraphPass):
    """Compute in the points of maps with as few bits as the values need: vectors have as many more lanes.

    before   map i = 0:N { k: i64 = i64(a[i]) + i64(b[i]);  y[i] = k == 2 }      a, b: bool
    after    map i = 0:N { k: i8 = i8(a[i]) + i8(b[i]);  y[i] = k == i8(2) }

    NumPy counts in int64: a sum of neighbours that are bool takes eight times as many instructions as its values need.
    Values are bounded by constants and by the dtypes of what is read; where an operation might not fit into what it was
    computed in, nothing is known. (Stephenson, Babb and Amarasinghe, Bitwidth analysis with application to silicon
    compilation, PLDI 2000.)
    """

    name: ClassVar[str] = "integer-narrowing"
    optional: ClassVar[bool] = True

    def decide(self, rw: Rewriter) -> None:
        """Decide for each map whose points are tasklets."""
        for node in list(rw.sdfg.body.walk_nodes()):
            blocks = node.body.blocks if isinstance(node, Map) else []
            if len(blocks) == 1 and isinstance(blocks[0], State):
                tasklets = [each for each in blocks[0].nodes if isinstance(each, Tasklet)]
                if len(tasklets) == len(blocks[0].nodes):
                    _narrow_point(tasklets, rw)


def _narrow_point(tasklets: list[Tasklet], rw: Rewriter) -> None:
    known: dict[str, Interval] = {}  # of the point's own scalars
    for tasklet in tasklets:
        values = {name: known.get(memlet.container) for name, memlet in tasklet.inputs.items()}
        dtypes = {name: rw.uses.desc(memlet.container).dtype for name, memlet in tasklet.inputs.items()}
        code: list[tuple[str, ScalarExpr]] = []
        for name, written in tasklet.code:
            value = _with_narrow_parts(_typed(written, dtypes), values)
            interval = values[name] = interval_of(value, values)
            least = None if interval is None else _least(interval, value.dtype)
            if name in tasklet.outputs:
                scalar = _own_scalar(tasklet.outputs[name].container, tasklet, rw)
                if scalar is not None and interval is not None:
                    known[tasklet.outputs[name].container] = interval
                    if least is not None:
                        rw.redeclare(tasklet.outputs[name].container, replace(scalar, dtype=least))
                if scalar is None:
                    least = None
            if least is not None:
                value = _in_low_bits(value, least, values)
            dtypes[name] = value.dtype
            code.append((name, value))
        if tuple(code) != tasklet.code:
            rw.update(tasklet, code=tuple(code))


def _own_scalar(name: str, tasklet: Tasklet, rw: Rewriter) -> Scalar | Array | None:
    """The integer scalar of a point that a tasklet alone writes, and tasklets read; None elsewhere."""
    desc, uses = rw.uses.desc(name), rw.uses
    if not isinstance(desc, Scalar | Array) or desc.shape or desc.dtype.kind not in "iu" or not uses.is_private(name):
        return None
    if uses.home(name) is not (tasklet.state and tasklet.state.region) or uses.writers(name) != (tasklet,):
        return None
    fits = uses.overlapping(name) == (name,) and all(isinstance(each, Tasklet) for each in uses.readers(name))
    return desc if fits and not any(memlet.wcr for memlet in tasklet.outputs.values()) else None


def _typed(expr: ScalarExpr, dtypes: Mapping[str, DType]) -> ScalarExpr:
    """The expression with connectors of the dtypes that their containers have now, each as the dtype that it had."""

    def change(part: ScalarExpr) -> ScalarExpr | None:
        if isinstance(part, Ref) and part.name in dtypes and dtypes[part.name] != part.dtype:
            return Cast(Ref(part.name, dtypes[part.name]), part.dtype)
        return None

    return rewrite(expr, change)


def _with_narrow_parts(expr: ScalarExpr, values: Values) -> ScalarExpr:
    """The expression, whose comparisons and conversions are of narrow integers."""

    def change(part: ScalarExpr) -> ScalarExpr | None:
        match part:
            case Op(name=name, args=(left, right)) if name in COMPARISONS and left.dtype.kind in "iu":
                sides = [interval_of(side, values) for side in (left, right)]
                least = None if None in sides else _least(joined([each for each in sides if each]), left.dtype)
                if least is not None:
                    return op(name, *(_in_low_bits(side, least, values) for side in (left, right)))
            case Cast(arg=arg, dtype=dtype) if arg.dtype.kind in "iu" and dtype.kind in "iuf":
                interval = interval_of(arg, values)
                least = None if interval is None else _least(interval, arg.dtype)
                if least is not None and (dtype.kind != "f" or arg.dtype.itemsize > 4):
                    return cast(_in_low_bits(arg, types.int32 if dtype.kind == "f" else least, values), dtype)
        return None

    return rewrite(expr, change)


def _least(interval: Interval, dtype: DType) -> DType | None:
    """The narrowest signed dtype that holds an interval; None where it is not narrower."""
    for narrow in NARROW:
        if narrow.itemsize < dtype.itemsize and is_within(interval, _limits(narrow)):
            return narrow
    return None


def _limits(dtype: DType) -> Interval:
    bits = 8 * dtype.itemsize
    if dtype.kind == "b":
        return 0, 1
    return (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def interval_of(expr: ScalarExpr, values: Values) -> Interval | None:
    """The numbers that an integer expression may have; None where its own dtype may be all that is known."""
    if expr.dtype.kind not in "iu":
        return (0, 1) if expr.dtype.kind == "b" else None
    limits, found = _limits(expr.dtype), None
    match expr:
        case Const(value=value):
            found = (int(value.real), int(value.real))
        case Ref(name=name):
            found = values.get(name) or (limits if expr.dtype.itemsize < 4 else None)
        case Cast(arg=arg):
            found = interval_of(arg, values)
        case Op(name=name, args=args):
            found = _of_operation(name, [interval_of(arg, values) for arg in args])
    return found if found is not None and is_within(found, limits) else None


_INTERVALS: Mapping[str, Callable[..., Interval]] = {
    "add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "sub": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "mul": product,
    "neg": lambda x: (-x[1], -x[0]),
    "abs": lambda x: (max(x[0], -x[1], 0), max(-x[0], x[1])),
    "min": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    "max": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
}


def _of_operation(name: str, parts: list[Interval | None]) -> Interval | None:
    """The interval of an operation on integers, as if of any size."""
    known = [part for part in parts if part is not None]
    if name == "select" and None not in parts[1:]:
        return joined(known[-2:])
    if len(known) < len(parts):
        return None
    if name in _INTERVALS:
        return _INTERVALS[name](*known)
    match name, known:
        case "bitand", [(a, b), (c, d)] if a >= 0 and c >= 0:
            return 0, min(b, d)
        case "floordiv", [value, divisor] if divisor[0] > 0:
            return quotient(value, divisor)
        case "mod", [value, divisor] if divisor[0] > 0:
            return remainder(value, divisor, value)
        case "rshift", [(a, b), (c, d)] if 0 <= c == d < 64:
            return a >> c, b >> c
    return None


def _in_low_bits(expr: ScalarExpr, dtype: DType, values: Values) -> ScalarExpr:
    """An integer expression, whose value fits, computed in a narrower dtype where that is the same."""
    if expr.dtype.itemsize < dtype.itemsize:  # it has wrapped around before
        return cast(expr, dtype)
    match expr:
        case Const(value=value):
            return Const(int(value.real), dtype)
        case Cast(arg=arg) if arg.dtype.kind in "biu":
            return _in_low_bits(arg, dtype, values)
        case Op(name=name, args=args) if name in OF_LOW_BITS or (name in OF_ALL_BITS and _fit(args, dtype, values)):
            return op(name, *(_in_low_bits(arg, dtype, values) for arg in args))
        case Op(name="select", args=(condition, yes, no)):
            return op("select", condition, _in_low_bits(yes, dtype, values), _in_low_bits(no, dtype, values))
    return cast(expr, dtype)


def _fit(args: Sequence[ScalarExpr], dtype: DType, values: Values) -> bool:
    intervals = [interval_of(arg, values) for arg in args]
    return all(interval is not None and is_within(interval, _limits(dtype)) for interval in intervals)
