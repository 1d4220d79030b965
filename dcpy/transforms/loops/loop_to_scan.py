"""LoopToScan: an associative recurrence becomes a scan, which has parallel forms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.accesses.exposed_reads import exposed_accesses
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Const, Index, Ref, op
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Branch, Loop, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr, sym
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Match, Transformation, capture, one
from dcpy.transforms.fusion.pointwise import only_result
from dcpy.transforms.loops.recurrences import Recurrence, axes_of, operand_of, recurrence_in

FEW = 64  #: elements that one thread combines as quickly as several


@dataclass(frozen=True)
class LoopToScan(Transformation[Recurrence]):
    """Recognize a prefix sum, or a running product or extremum, and replace the loop by a library node.

    before   copy x[0:N] -> B[0:N]                           after   scan (x <- x[0:N]) -> (out -> B[0:N])
             loop k = 1:N { B[k] = B[k - 1] + B[k] }

             loop k = 1:N { C[k] = C[k - 1] + f(x[k]) }              map k = 1:N { v[k - 1] = f(x[k]) }
                                                                     scan (x <- v[0:N - 1], initial <- C[0])
                                                                       -> (out -> C[1:N])

    Applies to loops whose body is one tasklet, or a map around one, that combines the previous element with a value by
    an associative operation: the order of a floating-point sum changes. An accumulator may stand for the previous
    element. The loop may not write the operands of the values, except later in the same iteration. Loops inside of
    maps stay, and those of few iterations over one line. (Blelloch, Prefix sums and their applications, 1990.)
    """

    name: ClassVar[str] = "loop-to-scan"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Recurrence | Refusal:
        """The recurrence. Refuses other loops, with the reason."""
        loop = m[self.loop]
        if any(isinstance(owner, Map) for owner in owners_around(loop)):
            return Refusal("each thread of a map runs it")
        found, count = recurrence_in(loop, m.uses), loop.range.size.constant
        if isinstance(found, Recurrence) and not found.points and count is not None and count <= FEW:
            return Refusal(f"it has {count} iterations")
        return found

    def apply(self, m: Match, plan: Recurrence, rw: Rewriter) -> Node:
        """Return the scan."""
        return _Replaced(m[self.loop], plan, rw).scan


class _Replaced:
    """The replacement of a loop."""

    def __init__(self, loop: Loop, found: Recurrence, rw: Rewriter) -> None:
        self.found, self.rw, self.param, self.values, self.span = found, rw, loop.param, loop.range, loop.span
        self.ranges = {loop.param: loop.range, **found.points}
        axes = axes_of(found.out.subset, tuple(self.ranges))
        assert axes is not None
        self.axes = axes
        in_place = operand_of(found.value, found.inputs) == found.out
        # in place, the element in front of the first one is the first of the line
        runs = rw.uses.ranges_at(loop).proves_nonneg(self.values.size + (1 if in_place else -1))
        self.before = State(span=self.span)
        rw.insert_before(loop, self.before)
        rw.erase(loop)
        source = None if in_place else self._source()
        state = self.before
        if not runs:
            state = State(span=self.span)
            rw.insert_after(self.before, self._if_any(state))
        self.scan = self._scan(source)
        rw.add_node(self.scan, state)
        if found.kept is not None and self._is_read_later(found.kept.container):
            last = replace(found.out, subset=found.out.subset.subs({self.param: self.values.stop - 1}))
            rw.add_node(Tasklet({"a": last}, {"o": found.kept}, (("o", Ref("a", found.dtype)),), span=self.span), state)
        if runs and in_place:
            _take_source(self.scan, self.before, rw)
        if not self.before.nodes:
            rw.erase(self.before)

    def _scan(self, source: Memlet | None) -> Node:
        found, values = self.found, self.values
        if source is None:
            values = Range(values.start - 1, values.stop)
        out = self._window(found.out, values)
        inputs = {"x": out if source is None else source}
        if source is not None:
            first = replace(found.out, subset=found.out.subset.subs({self.param: values.start - 1}))
            inputs["initial"] = found.kept or self._window(first, values)
        axis = self.axes.index(self.param)
        return LIBRARY_KINDS["scan"](inputs=inputs, outputs={"out": out}, op=found.op, axis=axis, span=self.span)  # type: ignore[call-arg]

    def _window(self, memlet: Memlet, values: Range) -> Memlet:
        """The window that an element covers over all iterations."""
        ranges = self.ranges | {self.param: values}

        def widened(dim: Expr | Range) -> Expr | Range:
            mine = next((param for param in ranges if param in dim.symbols), None)
            if mine is None or isinstance(dim, Range):
                return dim
            offset = dim - sym(mine)
            return Range(ranges[mine].start + offset, ranges[mine].stop + offset)

        return replace(memlet, subset=Subset(tuple(map(widened, memlet.subset.dims))))

    def _source(self) -> Memlet:
        """The memory of the values; computed values get an array."""
        found, rw = self.found, self.rw
        memlet = operand_of(found.value, found.inputs)
        if memlet is not None and axes_of(memlet.subset, tuple(self.ranges)) == self.axes:
            return self._window(memlet, self.values)
        sizes = tuple(self.ranges[axis].size for axis in self.axes)
        fresh = Array.packed(found.dtype, sizes, transient=True, span=self.span)
        name = rw.declare_fresh("values", fresh, self.before.region)
        names = {axis: rw.fresh_name(axis) for axis in self.axes}
        place = Subset.point(*(sym(axis) - self.ranges[axis].start for axis in self.axes))
        tasklet = Tasklet(dict(found.inputs), {"o": Memlet(name, place)}, (("o", found.value),), span=self.span)
        domain = tuple(self.ranges[axis] for axis in self.axes)
        node = Map(self.axes, domain, Region([State(nodes=[tasklet], span=self.span)]), span=self.span)
        rw.add_node(node, self.before)
        rw.rename_params(node, names)
        return Memlet(name, Subset.whole(sizes))

    def _if_any(self, state: State) -> Branch:
        some = op("gt", Index(self.values.size), Const(0, types.int64))
        return Branch([(some, Region([state]))], span=self.span)

    def _is_read_later(self, name: str) -> bool:
        return bool(self.rw.uses.readers(name)) or not self.rw.uses.is_private(name)


def _take_source(scan: Node, state: State, rw: Rewriter) -> None:
    """Let a scan read the source of values that were copied or computed only to be scanned in place."""
    region = state.region
    assert region is not None
    position = region.index(state)
    previous = region.blocks[position - 1] if position else None
    window = scan.outputs["out"]  # type: ignore[attr-defined]  # of a library node
    if not isinstance(previous, State) or len(rw.uses.overlapping(window.container)) > 1:
        return
    behind: list[Node] = []
    for node in reversed(previous.nodes):
        accessed = exposed_accesses(node, rw.uses)
        if window.container in accessed:
            source = _source_of(node, window, behind, rw)
            if source is not None:
                rw.update(scan, inputs={"x": source})
            return
        behind.append(node)


def _source_of(node: Node, window: Memlet, behind: list[Node], rw: Rewriter) -> Memlet | None:
    """The source of the values that a node writes into all of a window; None if the scan must read the window."""
    name = window.container
    if isinstance(node, Copy):
        mine, its = (memory_of(memlet.container, rw.uses.desc) for memlet in (node.src, node.dst))
        changed = {
            other for later in behind for other, known in exposed_accesses(later, rw.uses).items() if known.writes
        }
        apart = mine != its and changed.isdisjoint(rw.uses.overlapping(node.src.container))
        if node.dst != window or not apart or len(node.src.subset.shape) != len(window.subset.shape):
            return None
        state = node.state
        rw.erase(node)
        if state is not None and not state.nodes:
            rw.erase(state)
        return node.src
    desc = rw.uses.desc(name)
    result = only_result(node, rw.uses) if isinstance(node, Map) else None
    if not isinstance(node, Map) or not isinstance(result, Memlet) or not isinstance(desc, Array):
        return None
    ranges = dict(zip(node.params, node.domain, strict=True))
    covered = tuple(ranges.get(str(dim)) for dim in result.subset.dims)
    if result.container != name or len(ranges) != len(covered) or Subset.whole(desc.shape) != window.subset:
        return None
    if covered != window.subset.dims:
        return None
    source = _converted(node, result, rw)
    if source is not None:
        return source
    fresh = Array.packed(desc.dtype, desc.shape, transient=True, span=desc.span)
    values = rw.declare_fresh("values", fresh, node.state.region if node.state else None)
    for inner in list(node.body.walk_nodes()):
        rw.replace_memlets(inner, lambda memlet: replace(memlet, container=values) if memlet == result else memlet)
    return replace(window, container=values)


def _converted(node: Map, result: Memlet, rw: Rewriter) -> Memlet | None:
    """The source of a map that only converts dtypes; the map is erased, since a scan converts its input."""
    nodes = list(node.body.walk_nodes())
    tasklet = nodes[0]
    if len(nodes) > 1 or not isinstance(tasklet, Tasklet) or node.state is None:
        return None
    ((_, value),) = tasklet.code
    memlet = operand_of(value, tasklet.inputs)
    dims = result.subset.dims
    if memlet is None or memlet.subset.dims != dims or node.state.nodes[-1] is not node:
        return None
    ranges = dict(zip(node.params, node.domain, strict=True))
    source = replace(memlet, subset=Subset(tuple(ranges[str(dim)] for dim in dims)))
    state = node.state
    rw.erase(node)
    if not state.nodes:
        rw.erase(state)
    return source
