"""CopySinking: one element for each row is not copied before a map, but read by the map where it comes to the row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_dependences import nodes_depend
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.nest_edits import expand_map
from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Tasklet
from dcpy.ir.schedules import Undecided
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.tree import is_inside
from dcpy.transforms.api import Access, Match, Refusal, Rewriter, Transformation, capture, path


@dataclass(frozen=True)
class CopySinking(Transformation[Memlet]):
    """Code sinking: a map over rows takes up one element of each row itself, in a scalar.

    before   copy A[0:N, k] -> c                             after   map i = 0:N { a = A[i, k]
             map i = 0:N, j = 0:M { A[i, j] = f(c[i], j) }                         map j = 0:M { A[i, j] = f(a, j) } }

    Applies where the copy holds one element for each value of the outer parameter, which is also the row that an
    iteration writes: then no iteration changes what another one reads, and all of a row is read before it is written.
    Threads read elements of their own rows, which are in their caches, instead of waiting until one of them has gone
    down a column. (Knoop, Rüthing and Steffen, Partial Dead Code Elimination, PLDI 1994, on sinking.)
    """

    name: ClassVar[str] = "copy-sinking"
    optional: ClassVar[bool] = True
    copy = capture(Copy)
    tmp = capture(Access)
    map = capture(Map)
    pattern = path(copy, tmp, map)

    def plan(self, m: Match) -> Memlet | Refusal:
        """The element that an iteration of the outer parameter reads. Refuses what other iterations could change."""
        copy, node, uses = m[self.copy], m[self.map], m.uses
        tmp = copy.dst.container
        if len(node.params) < 2 or not isinstance(node.schedule, Undecided):
            return Refusal("the map has one parameter, or a schedule")
        row, lines = node.params[0], [dim for dim in copy.src.subset.dims if isinstance(dim, Range)]
        desc, source = uses.desc(tmp), uses.desc(copy.src.container)
        if not isinstance(desc, Array) or not isinstance(source, Array) or len(desc.shape) != 1 or len(lines) != 1:
            return Refusal("what is copied is not one line of an array")
        if not uses.is_private(tmp) or copy.dst.subset != Subset.whole(desc.shape) or copy.src.dynamic:
            return Refusal(f"{tmp!r} is not just this copy")
        place = sym(row) - node.domain[0].start
        for part in uses.accessors(tmp):
            if part is not copy and not (isinstance(part, Tasklet) and is_inside(part, node.body)):
                return Refusal(f"{tmp!r} is used elsewhere, or by more than tasklets", (part,))
            if isinstance(part, Tasklet) and not _reads_at(part, tmp, place):
                return Refusal(f"{tmp!r} is touched at other elements than {place}", (part,))
        element = Memlet(copy.src.container, copy.src.subset.compose(Subset.point(place)))
        dim = copy.src.subset.dims.index(lines[0])
        if source.strides[dim] is ONE:
            return Refusal("the line is a row: it is copied in one go")
        return _why_not_in_rows(element, dim, node, uses) or _why_not_later(copy, node, m) or element

    def apply(self, m: Match, plan: Memlet, rw: Rewriter) -> Map:
        """Return the map over rows, which is the one that there was."""
        copy, node = m[self.copy], m[self.map]
        tmp, dtype = copy.dst.container, rw.uses.desc(plan.container).dtype
        readers = [part for part in rw.uses.accessors(tmp) if isinstance(part, Tasklet)]
        inner = expand_map(node, 1, rw)
        taken = Memlet(rw.declare_fresh("taken", Scalar(dtype, transient=True, span=copy.span), node.body), Subset())
        value = (("out", Ref("element", dtype)),)
        rw.add_node_before(inner, Tasklet({"element": plan}, {"out": taken}, value, span=copy.span))
        for reader in readers:
            redirected = {key: taken if given.container == tmp else given for key, given in reader.inputs.items()}
            rw.update(reader, inputs=redirected)
        rw.erase(copy)
        rw.undeclare(tmp)
        return node


def _reads_at(part: Tasklet, name: str, place: Expr) -> bool:
    """Return whether all that a tasklet does with an array is to read this element."""
    read = [memlet for memlet in part.inputs.values() if memlet.container == name]
    return len(read) == len([memlet for memlet in (*part.reads(), *part.writes()) if memlet.container == name]) and all(
        memlet.subset == Subset.point(place) for memlet in read
    )


def _why_not_in_rows(element: Memlet, dim: int, node: Map, uses: Uses) -> Refusal | None:
    """Return why iterations of the outer parameter may change elements that others read."""
    index = element.subset.dims[dim]
    assert isinstance(index, Expr)
    for part in node.body.walk_nodes():
        for memlet in part.writes():
            if element.container not in uses.overlapping(memlet.container):
                continue
            dims = memlet.subset.dims
            if memlet.container != element.container or len(dims) <= dim or dims[dim] != index:
                return Refusal(f"{memlet} is not in the row of {element}", (part,))
    return None


def _why_not_later(copy: Copy, node: Map, m: Match) -> Refusal | None:
    """Return why the element cannot be read when the map runs: something between changes it."""
    ranges = m.uses.ranges_at(node)
    between = m.state.nodes[m.state.index(copy) + 1 : m.state.index(node)]
    meets = next((other for other in between if not nodes_depend(copy, other, m.uses, ranges).is_no), None)
    return None if meets is None else Refusal("another node between has to do with what is copied", (meets,))
