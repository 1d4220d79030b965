"""Min/max idioms: a branch or a select that keeps the larger (or smaller) of two values."""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Scalar
from dcpy.ir.expressions.ops import MIRRORED
from dcpy.ir.expressions.scalar import Load, Op, Ref, ScalarExpr, substitute_refs, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.ir.region import Branch, Region, State
from dcpy.ir.tree import Element

_LARGER = {"gt": "max", "ge": "max", "lt": "min", "le": "min"}
_OPPOSITE = {"gt": "le", "ge": "lt", "lt": "ge", "le": "gt"}


@dataclass(frozen=True, slots=True)
class Extremum:
    """``if value <comparison> kept: kept = value``; `code` is the value over the connectors `inputs`.

    For a select, `node` writes the selected value, and `copy`, if there is one, copies it back.
    """

    comparison: str
    value: ScalarExpr
    kept: Memlet
    inputs: dict[str, Memlet]
    code: ScalarExpr
    own: tuple[Element, ...]
    copy: Tasklet | None = None

    @property
    def kind(self) -> str:
        """The conflict resolution."""
        return _LARGER[self.comparison]


def extremum_of(element: Branch | Tasklet, uses: Uses) -> Extremum | None:
    """The min/max idiom of a branch or a tasklet; None if it does anything else."""
    return _assigned(element) if isinstance(element, Branch) else _selected(element, uses)


def _assigned(branch: Branch) -> Extremum | None:
    if len(branch.cases) != 1 or branch.otherwise is not None:
        return None
    condition, body = branch.cases[0]
    tasklet = _only_tasklet(body)
    if tasklet is None or not isinstance(condition, Op) or condition.name not in _LARGER:
        return None
    (out, kept), code = next(iter(tasklet.outputs.items())), dict(tasklet.code)
    if kept.wcr or kept.dynamic or len(tasklet.code) != 1 or out not in code:
        return None
    types = {part.name: part.dtype for part in _refs(code[out])}
    loads: dict[str, ScalarExpr] = {
        name: Load(memlet.container, memlet.subset.indices, types[name])
        for name, memlet in tasklet.inputs.items()
        if name in types
    }
    value = substitute_refs(code[out], loads)
    left, right = condition.args
    target = Load(kept.container, kept.subset.indices, value.dtype)
    comparison = condition.name if (left, right) == (value, target) else MIRRORED[condition.name]
    if {left, right} != {value, target} or value.dtype.kind not in "iuf":
        return None
    return Extremum(comparison, value, kept, dict(tasklet.inputs), code[out], (branch, tasklet))


def _selected(tasklet: Tasklet, uses: Uses) -> Extremum | None:
    """``kept = select(value < kept, value, kept)``; of integers the other way round, too.

    Of floats ``select(kept < value, kept, value)`` takes a NaN up and loses it with the next value: that is no
    reduction.
    """
    if len(tasklet.outputs) != 1 or len(tasklet.code) != 1:
        return None
    match tasklet.code[0][1]:
        case Op(name="select", args=(Op(name=comparison, args=(left, right)), chosen, other)) if comparison in _LARGER:
            written = _written(tasklet, uses)
        case _:
            return None
    if written is None or {left, right} != {chosen, other} or left == right or chosen.dtype.kind not in "iuf":
        return None
    kept, copy = written
    connectors = [name for name, memlet in tasklet.inputs.items() if memlet == kept]
    if len(connectors) != 1:
        return None
    old = Ref(connectors[0], chosen.dtype)
    value = other if chosen == old else chosen
    if old not in (chosen, other) or any(part.name == old.name for part in _refs(value)):
        return None
    if value is other:
        if chosen.dtype.is_inexact:
            return None
        comparison = _OPPOSITE[comparison]
    if left == old:
        comparison = MIRRORED[comparison]
    inputs = {name: memlet for name, memlet in tasklet.inputs.items() if name != old.name}
    types = {part.name: part.dtype for part in _refs(value)}
    loads: dict[str, ScalarExpr] = {
        name: Load(memlet.container, memlet.subset.indices, types[name])
        for name, memlet in inputs.items()
        if name in types
    }
    own = (tasklet,) if copy is None else (tasklet, copy)
    return Extremum(comparison, substitute_refs(value, loads), kept, inputs, value, own, copy)


def _written(tasklet: Tasklet, uses: Uses) -> tuple[Memlet, Tasklet | None] | None:
    """The destination of a tasklet's result: its output, or the copy of it by the output's only reader."""
    (target,) = tasklet.outputs.values()
    if target.wcr or target.dynamic:
        return None
    if target in tasklet.inputs.values():
        return target, None
    state, name = tasklet.state, target.container
    if state is None or not isinstance(uses.desc(name), Scalar) or not uses.is_private(name):
        return None
    others = [accessor for accessor in uses.accessors(name) if accessor is not tasklet]
    match others:
        case [Tasklet(inputs=inputs, outputs=outputs, code=((_, Ref()),)) as copy] if copy.state is state:
            (out,) = outputs.values()
            alone = [memlet.container for memlet in inputs.values()] == [name] and len(uses.overlapping(name)) == 1
            same = uses.desc(out.container).dtype == uses.desc(name).dtype
            return (out, copy) if alone and same and not out.wcr and not out.dynamic else None
    return None


def _refs(expr: ScalarExpr) -> list[Ref]:
    return [part for part in walk(expr) if isinstance(part, Ref)]


def _only_tasklet(body: Region) -> Tasklet | None:
    if body.containers or len(body.blocks) != 1:
        return None
    block = body.blocks[0]
    if not isinstance(block, State) or len(block.nodes) != 1:
        return None
    node = block.nodes[0]
    return node if isinstance(node, Tasklet) and len(node.outputs) == 1 else None
