"""Recurrences that are scans: loops in which each element combines the previous one with a new value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Scalar
from dcpy.ir.expressions.scalar import Cast, Op, Ref, ScalarExpr, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.types import DType, float16

ASSOCIATIVE = ("add", "mul", "min", "max", "and", "or")


@dataclass(frozen=True, slots=True)
class Recurrence:
    """``out[k] = out[k - 1] op value``, for the values of the loop's counter and the points of a map in it.

    `value` is an expression over the connectors `inputs`; `points` are the map's ranges. If an accumulator stands
    for the previous element, `kept` is its name.
    """

    op: str
    out: Memlet
    dtype: DType
    value: ScalarExpr
    inputs: Mapping[str, Memlet]
    points: Mapping[str, Range]
    kept: Memlet | None = None

    @property
    def reads_itself(self) -> bool:
        """Return whether the values are the old contents of the output."""
        return any(memlet.container == self.out.container for memlet in self.inputs.values())


def recurrence_in(loop: Loop, uses: Uses) -> Recurrence | Refusal:
    """The recurrence of a loop; or the reason that it has none, or that it is not associative."""
    if loop.range.step is not ONE:
        return Refusal(f"its counter goes in steps of {loop.range.step}")
    nodes = _only_nodes(loop.body)
    if len(nodes) == 2 and all(isinstance(node, Tasklet) for node in nodes):
        found = _accumulated(loop, nodes, uses)
    elif len(nodes) == 1:
        found = _in_array(loop, nodes[0], uses)
    else:
        return Refusal("it is not one map or tasklet, or two of which one keeps what the other has combined")
    return found if isinstance(found, Refusal) else _why_not(found, loop, uses) or found


def _only_nodes(body: Region) -> Sequence[Node]:
    """The nodes of a region that is one state without containers; none for other regions."""
    if body.containers or len(body.blocks) != 1 or not isinstance(body.blocks[0], State):
        return ()
    return body.blocks[0].nodes


def _in_array(loop: Loop, node: Node, uses: Uses) -> Recurrence | Refusal:
    """``out[k] = out[k - 1] op value``"""
    points: dict[str, Range] = {}
    if isinstance(node, Map):
        points = dict(zip(node.params, node.domain, strict=True))
        inside = _only_nodes(node.body)
        if len(inside) != 1:
            return Refusal("its map is not one tasklet")
        (node,) = inside
    if not isinstance(node, Tasklet) or len(node.code) != 1 or len(node.outputs) != 1:
        return Refusal("it is not one expression")
    ((_, code),), (out,) = node.code, node.outputs.values()
    before = replace(out, subset=out.subset.subs({loop.param: sym(loop.param) - 1}))
    return _combined(code, out, before, node.inputs, uses, points)


def _accumulated(loop: Loop, nodes: Sequence[Node], uses: Uses) -> Recurrence | Refusal:
    """``s = s op value;  out[k] = s``"""
    first, second = nodes
    assert isinstance(first, Tasklet)
    assert isinstance(second, Tasklet)
    if len(first.outputs) != 1 or len(first.code) != 1 or len(second.outputs) != 1 or len(second.code) != 1:
        return Refusal("it is not two expressions")
    (kept,), (out,), ((_, code),), ((_, copied),) = (
        first.outputs.values(), second.outputs.values(), first.code, second.code
    )  # fmt: skip
    if kept.subset.dims or not isinstance(copied, Ref) or second.inputs.get(copied.name) != kept:
        return Refusal("its second tasklet does not keep what the first one has combined")
    for name in uses.overlapping(kept.container):
        if {*uses.accessors(name)} & {*loop.body.walk_nodes()} - {first, second}:
            return Refusal(f"{name!r} is touched elsewhere in it")
    found = _combined(code, kept, kept, first.inputs, uses, {})
    if isinstance(found, Refusal):
        return found
    if uses.desc(out.container).dtype != found.dtype:
        return Refusal(f"{out.container!r} has another dtype than {kept.container!r}")
    return replace(found, out=out, kept=kept)


def _combined(
    code: ScalarExpr, out: Memlet, before: Memlet, inputs: Mapping[str, Memlet], uses: Uses, points: Mapping[str, Range]
) -> Recurrence | Refusal:
    """An operation with the previous element as one operand."""
    dtype = uses.desc(out.container).dtype
    if not isinstance(code, Op) or code.name not in ASSOCIATIVE or len(code.args) != 2:
        return Refusal("it does not combine two values by an operation that is associative")
    if dtype == float16:
        return Refusal(f"{dtype} is rounded in each step")
    if dtype.kind == "c" and code.name not in ("add", "mul"):
        return Refusal(f"{code.name} of {dtype} is not associative")
    if code.dtype != dtype or any(arg.dtype != dtype for arg in code.args):
        return Refusal(f"it is not computed in {dtype}")
    for previous, value in (code.args, code.args[::-1]):
        names = {part.name for part in walk(value) if isinstance(part, Ref)}
        if isinstance(previous, Ref) and inputs.get(previous.name) == before and previous.name not in names:
            used = {name: memlet for name, memlet in inputs.items() if name in names}
            return Recurrence(code.name, out, dtype, value, used, points)
    return Refusal("neither operand is the element before")


def _why_not(found: Recurrence, loop: Loop, uses: Uses) -> Refusal | None:
    """The reason that a recurrence is no scan of lines; None if it is one."""
    out = found.out
    if out.wcr or out.dynamic or not isinstance(uses.desc(out.container), Array):
        return Refusal(f"{out.container!r} is no array, or not surely written")
    written = (out.container, found.kept.container) if found.kept else (out.container,)
    if any(isinstance(uses.desc(name), Scalar) and not uses.desc(name).transient for name in written):
        return Refusal("it changes an argument that is a number")
    for memlet in found.inputs.values():
        if memlet == out and found.kept is None:
            continue
        if any(memlet.container in uses.overlapping(name) for name in written):
            return Refusal(f"{memlet}, which it reads, may be what it has written")
    if found.kept and found.kept.container in uses.overlapping(out.container):
        return Refusal(f"{out} may be what it accumulates in")
    axes = axes_of(out.subset, (loop.param, *found.points))
    if axes is None or set(axes) != {loop.param, *found.points}:
        return Refusal(f"{out} is not one element for each value of its counter, and each point")
    changing = {loop.param, *found.points}
    if any(not changing.isdisjoint(values.symbols) or values.step is not ONE for values in found.points.values()):
        return Refusal("the points of an iteration depend on its counter, or do not go up one by one")
    return None


def axes_of(subset: Subset, params: Sequence[str]) -> tuple[str, ...] | None:
    """The parameters of the indices, in order; None if an index is not a parameter plus an offset."""
    found: list[str] = []
    for dim in subset.dims:
        mine = [param for param in params if param in dim.symbols]
        if not mine and isinstance(dim, Expr):
            continue
        form = dim.linear_in(mine[0]) if isinstance(dim, Expr) and len(mine) == 1 else None
        if form is None or form[0] is not ONE or mine[0] in found:
            return None
        found.append(mine[0])
    return tuple(found)


def operand_of(value: ScalarExpr, inputs: Mapping[str, Memlet]) -> Memlet | None:
    """The element that a value reads, converted at most once (two conversions can change the value)."""
    if isinstance(value, Cast):
        value = value.arg
    return inputs.get(value.name) if isinstance(value, Ref) else None
