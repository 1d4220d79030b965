"""Local buffers: the part (box) of an array that one iteration needs, as a buffer of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import Footprint, Variable
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Load, ScalarExpr, rewrite
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Loop, State
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, Ranges, as_expr, max_of, min_of
from dcpy.ir.tree import Element, is_inside


@dataclass(frozen=True, slots=True)
class BufferBox:
    """A part of an array: a range in steps of one, or a fixed index, per dimension."""

    array: str
    subset: Subset

    @property
    def shape(self) -> tuple[Expr, ...]:
        """Sizes of a buffer for it: fixed dimensions have none."""
        return self.subset.shape

    def local(self, subset: Subset) -> Subset:
        """Return the part of the buffer that holds a part of the array."""
        pairs = zip(subset.dims, self.subset.dims, strict=True)
        return Subset(tuple(_shifted(dim, its.start) for dim, its in pairs if isinstance(its, Range)))


def _shifted(dim: DimSubset, start: Expr) -> DimSubset:
    return dim - start if isinstance(dim, Expr) else Range(dim.start - start, dim.stop - start, dim.step)


def box_of(array: str, accesses: Sequence[MemoryAccess], ranges: Ranges) -> BufferBox | Refusal:
    """The smallest box that is known to hold all that is touched, where that is several elements at least."""
    box = box_around(array, accesses, ranges)
    if isinstance(box, Refusal):
        return box
    if not box.shape:
        return Refusal(f"each iteration touches one element of {array!r}")
    parts = [found.box().subset for access in accesses if (found := access.footprint()) is not None]
    if not all(ranges.proves_le(ONE, size) for subset in (box.subset, *parts) for size in subset.shape):
        return Refusal(f"an iteration may touch nothing of {array!r}")
    return box


def box_around(array: str, accesses: Sequence[MemoryAccess], ranges: Ranges) -> BufferBox | Refusal:
    """The smallest box that is known to hold all that is touched; it may be empty."""
    subsets = []
    for access in accesses:
        found = access.footprint()
        if found is None or found.is_run_time or (boxed := _without_repetition(found).box()).over:
            return Refusal(f"which part of {array!r} an iteration touches is not a box", _places(access))
        subsets.append(boxed.subset)
    dims = tuple(_hull([subset.dims[axis] for subset in subsets], ranges) for axis in range(subsets[0].rank))
    if any(dim is None for dim in dims):
        return Refusal(f"an iteration does not touch {array!r} in steps of one")
    return BufferBox(array, Subset(tuple(dim for dim in dims if dim is not None)))


def exists(box: BufferBox, shape: Sequence[Expr], ranges: Ranges) -> bool:
    """Return whether all of a box is proved to be inside of the array."""
    ends = [(dim.start, dim.stop) if isinstance(dim, Range) else (dim, dim + 1) for dim in box.subset.dims]
    pairs = zip(ends, shape, strict=True)
    return all(ranges.proves_le(ZERO, start) and ranges.proves_le(stop, size) for (start, stop), size in pairs)


def _without_repetition(found: Footprint) -> Footprint:
    """The footprint without variables that only repeat it: that their loops may be empty is for `happens`."""
    used = set(found.subset.symbols)
    kept: list[Variable] = []
    for name, values in reversed(found.over):
        if name in used:
            kept.append((name, values))
            used.update(() if values is None else values.symbols)
    return Footprint(found.subset, tuple(reversed(kept)))


def happens(access: MemoryAccess, ranges: Ranges) -> bool:
    """Return whether each iteration surely comes to a touch: nothing skips it, and no loop around it is empty."""
    for scope in access.scopes:
        for variable in scope.variables:
            if variable[1] is None or not ranges.proves_le(ONE, variable[1].size):
                return False
            ranges = Footprint(Subset(), (variable,)).known(ranges)
    return access.is_sure()


def _places(access: MemoryAccess) -> tuple[Element, ...]:
    return (access.place,)


def _hull(dims: Sequence[DimSubset], ranges: Ranges) -> DimSubset | None:
    """The range around several; the index itself where all are that one; None where a step is not one."""
    if all(isinstance(dim, Expr) for dim in dims) and len(dict.fromkeys(dims)) == 1:
        return dims[0]
    spans = [_upwards(dim) if isinstance(dim, Range) else Range(dim, dim + 1) for dim in dims]
    if any(span.step is not ONE for span in spans):
        return None
    start, stop = spans[0].start, spans[0].stop
    for span in spans[1:]:
        start, stop = min_of(start, span.start), max_of(stop, span.stop)
    return Range(ranges.simplify(start), ranges.simplify(stop), as_expr(1))


def _upwards(dim: Range) -> Range:
    return Range(dim.stop + 1, dim.start + 1) if dim.step.constant == -1 else dim


def named_accesses(array: str, scope: Map | Loop, uses: Uses) -> list[MemoryAccess] | Refusal:
    """Return an iteration's accesses to an array, under this name alone; or why they are not so plain."""
    desc = uses.desc(array)
    if not isinstance(desc, Array) or len(uses.overlapping(array)) > 1:
        return Refusal(f"{array!r} is no array, or seen under other names")
    if any(uses.home(array) is region for region in scope.body.walk_regions()):
        return Refusal(f"{array!r} is private to its iterations already")
    if uses.is_private(array) and all(isinstance(element, Copy) for element in uses.writers(array)):
        return Refusal(f"{array!r} is a copy itself")
    return [access for access in accesses_of_body(scope, uses) if access.container == array]


def declare_local(box: BufferBox, scope: Map | Loop, rw: Rewriter) -> str:
    """A buffer for a box in the body of a scope."""
    desc = rw.uses.desc(box.array)
    assert isinstance(desc, Array | Scalar)
    return rw.declare_fresh(f"{box.array}_local", Array.packed(desc.dtype, box.shape, transient=True), scope.body)


def redirect(box: BufferBox, name: str, scope: Map | Loop, rw: Rewriter) -> None:
    """Make all in a scope that touches the array touch the buffer instead."""

    def memlet(old: Memlet) -> Memlet:
        return replace(old, container=name, subset=box.local(old.subset)) if old.container == box.array else old

    def load(part: ScalarExpr) -> ScalarExpr | None:
        if not isinstance(part, Load) or part.container != box.array:
            return None
        return replace(part, container=name, indices=box.local(Subset(part.indices)).indices)

    for accessor in rw.uses.accessors(box.array):
        if is_inside(accessor, scope.body):
            if isinstance(accessor, Node):
                rw.replace_memlets(accessor, memlet)
            else:
                rw.rewrite_exprs(accessor, lambda expr: rewrite(expr, load))


def add_copy(copy: Copy, scope: Map | Loop, rw: Rewriter, *, first: bool) -> None:
    """Put a copy at the beginning of a body, or at its end."""
    blocks = scope.body.blocks
    beside = blocks[0 if first else -1] if blocks else None
    if isinstance(beside, State):
        rw.add_node(copy, beside, 0 if first else None)
    else:
        rw.insert(State(nodes=[copy]), scope.body, 0 if first else None)


def whole_of(box: BufferBox) -> Subset:
    """All of the buffer."""
    return Subset.whole(box.shape)
