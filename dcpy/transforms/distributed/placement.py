"""Where containers live and nodes run, resolved: what the passes of this folder agree on.

A node runs over *labels*: a map over its parameters, a library node over the indices that its operands share, a copy
over its dimensions. A home says along which axis of the grid the values of a label are dealt out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from dcpy.ir.analysis.ownership import resolved, shifted
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.data import Array, View
from dcpy.ir.distribution import Axis, Blocked, Cyclic, Distribution, Partial, Root
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const, Load, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.ir.roles import Role
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, ceil_div, product_of, sym
from dcpy.ir.tree import Element, bodies_of, owners_around, subtree
from dcpy.transforms.distributed.halo_validity import Halo, valid_halos

Home = Mapping[str, Axis]  # of each label whose values are dealt out


@dataclass(frozen=True, slots=True)
class Touch:
    """One access of a node to a container from outside of it. `labels` are those of its dimensions, if it has any."""

    memlet: Memlet
    is_write: bool
    is_read: bool
    labels: tuple[str, ...] | None = None

    @property
    def container(self) -> str:
        return self.memlet.container


@dataclass(frozen=True, slots=True)
class Anchor:
    """A dimension that follows a label: it touches elements ``label + low`` to ``label + high``."""

    label: str
    low: Expr
    high: Expr


# -- containers ------------------------------------------------------------------------------------------------------


def placed(container: str, uses: Uses) -> Distribution | Refusal | None:
    """Where a container lives, sizes of blocks said; None: everywhere. A view is where its base is."""
    desc = uses.desc(container)
    if isinstance(desc, View):
        base = placed(desc.of, uses)
        return base if base is None or isinstance(base, Refusal) else shown_by(container, desc, base, uses)
    found = desc.distribution if isinstance(desc, Array) else None
    if found is None or found.has_copies_everywhere:
        return None
    return resolved(found, desc.shape, uses.sdfg.grids)


def shown_by(name: str, view: View, base: Distribution, uses: Uses) -> Distribution | Refusal | None:
    """Where a view is of an array that is at `base`."""
    if any(any(room) for room in base.halo):
        return Refusal(f"{name!r} is a view of an array that has a halo")
    if view.window is None:
        return _of_reshape(name, view, base, uses)
    axes: list[Axis] = [None] * len(view.shape)
    for dim, (axis, window) in enumerate(zip(base.axes, view.window.dims, strict=True)):
        if axis is None:
            continue
        if not isinstance(window, Range) or window.step is not ONE or dim not in view.axes:
            return Refusal(f"{name!r} shows {window} of dimension {dim}, which is distributed")
        axes[view.axes.index(dim)] = shifted(axis, window.start)
    return Distribution(base.grid, tuple(axes), base.rest)


def _of_reshape(name: str, view: View, base: Distribution, uses: Uses) -> Distribution | Refusal:
    """Dimensions of 1 apart, those up to the last distributed one are the same in both shapes, or merged behind it."""
    shape = uses.desc(view.of).shape
    ours = [dim for dim, size in enumerate(view.shape) if size is not ONE]
    its = [dim for dim, size in enumerate(shape) if size is not ONE]
    axes: list[Axis] = [None] * len(view.shape)
    last = max((dim for dim, axis in enumerate(base.axes) if axis is not None), default=-1)
    for dim in ours:
        if not its or its[0] > last:
            break
        merged = _merged(view.shape[dim], its, shape)
        axis = base.axes[merged[0]] if merged else None
        if not merged or any(base.axes[other] is not None for other in merged[1:]):
            return Refusal(f"{name!r} is a reshape that merges or cuts a distributed dimension of {view.of!r}")
        if axis is not None and len(merged) > 1:
            assert axis.block is not None  # it is resolved
            rows = product_of(*(shape[other] for other in merged[1:]))
            axis = replace(axis, block=axis.block * rows, offset=axis.offset * rows)
        axes[dim] = axis
        its = its[len(merged) :]
    if its and its[0] <= last:
        return Refusal(f"{name!r} is a reshape that merges or cuts a distributed dimension of {view.of!r}")
    if any(base.axes[dim] is not None for dim, size in enumerate(shape) if size is ONE):
        return Refusal(f"{name!r} is a reshape of an array that is distributed along a dimension of one element")
    return Distribution(base.grid, tuple(axes), base.rest)


def _merged(size: Expr, dims: list[int], shape: tuple[Expr, ...]) -> list[int]:
    """The first dimensions of an array that have so many elements together; none where these are no such ones."""
    for count in range(1, len(dims) + 1):
        if product_of(*(shape[dim] for dim in dims[:count])) is size:
            return dims[:count]
    return []


# -- what nodes touch ------------------------------------------------------------------------------------------------


def touches_of(node: Node, uses: Uses) -> tuple[Touch, ...]:
    """All accesses of a node, and of what is inside of it, to containers that are declared outside."""
    private = {name for inner in subtree(node) for region in bodies_of(inner) for name in region.containers}
    letters = labels_of(node)
    found: list[Touch] = []
    for element in subtree(node):
        for operand in element.operands():
            read, written = operand.role is not Role.WRITTEN, operand.role is not Role.READ
            read = read or bool(operand.memlet.wcr)
            own = letters.get(operand.name) if element is node and letters is not None else None
            found.append(Touch(operand.memlet, written, read, own))
        for expr in element.exprs():
            for part in walk(expr):
                if isinstance(part, Load):
                    found.append(Touch(Memlet(part.container, Subset(part.indices)), False, True))
    return tuple(touch for touch in found if touch.container not in private)


def views_inside(node: Node) -> Iterator[tuple[str, View]]:
    """Views that are declared in the bodies of a node."""
    for element in subtree(node):
        for region in bodies_of(element):
            for name, desc in region.containers.items():
                if isinstance(desc, View):
                    yield name, desc


def labels_of(node: Node) -> Mapping[str, tuple[str, ...]] | None:
    """For each operand of a node the labels of the dimensions that its memlet keeps; None where there are none."""
    if isinstance(node, Copy):
        names = tuple(f"d{dim}" for dim in range(len(node.src.subset.shape)))
        return {"src": names, "dst": names}
    return node.index_labels()


def anchors_of(touch: Touch, labels: tuple[str, ...]) -> tuple[Anchor | None, ...]:
    """For each dimension of a touch the label that it follows; None where it follows none, or is not known to."""
    if touch.labels is not None:
        own = iter(touch.labels)
        return tuple(
            Anchor(next(own), dim.start, dim.start) if isinstance(dim, Range) and _keep(own, dim) else None
            for dim in touch.memlet.subset.dims
        )
    return tuple(_followed(dim, labels) for dim in touch.memlet.subset.dims)


def _keep(own: Iterator[str], dim: Range) -> bool:
    """Whether a range counts one by one; one that does not has a label all the same, which is passed over."""
    if dim.step is not ONE:
        next(own)
        return False
    return True


def _followed(dim: DimSubset, labels: tuple[str, ...]) -> Anchor | None:
    edges = (dim, dim) if isinstance(dim, Expr) else (dim.start, dim.stop - 1)
    if isinstance(dim, Range) and dim.step is not ONE:
        return None
    named = [label for label in labels if label in dim.symbols]
    if len(named) != 1:
        return None
    low, high = (edge - sym(named[0]) for edge in edges)
    if low.constant is None or high.constant is None or low.constant > high.constant:
        return None
    return Anchor(named[0], low, high)


def follows_nothing(dim: DimSubset, inside: set[str]) -> bool:
    """Whether a dimension is one element, the same wherever the node runs."""
    return isinstance(dim, Expr) and not any(name in inside for name in dim.symbols)


# -- whether it is there ---------------------------------------------------------------------------------------------


def room_needed(axis: Axis, anchor: Anchor, home: Axis) -> tuple[int, int] | None:
    """How far beyond its own elements a rank reaches that runs at `home`; None where `axis` is aligned otherwise."""
    if axis is None or home is None or type(axis) is not type(home):
        return None
    if axis.axis != home.axis or axis.block is not home.block:
        return None
    low, high = ((edge - home.offset + axis.offset).constant for edge in (anchor.low, anchor.high))
    if low is None or high is None:
        return None
    room = max(0, -low), max(0, high)
    return room if isinstance(axis, Blocked) or room == (0, 0) else None


def axis_for(
    home: Axis, low: Expr, high: Expr, like: Axis, holds: Callable[[Axis], bool]
) -> tuple[Axis, tuple[int, int]] | None:
    """The distribution, and the room, of a dimension that has all that `home` reaches, aligned as `like` if it can be.

    `holds` says whether all elements of the dimension are on some rank then. None where nothing is known to fit.
    """
    if home is None:
        return None
    aligned = [home.offset - like.offset] if like is not None and room_fits(like, home) else []
    for base in (*aligned, ZERO, home.offset, low, high):
        offset, before, behind = ((each).constant for each in (home.offset - base, base - low, high - base))
        if offset is None or before is None or behind is None or offset < 0:
            continue
        room, found = (max(0, before), max(0, behind)), shifted(home, -base)
        if holds(found) and (room == (0, 0) or isinstance(home, Blocked)):
            return found, room
    return None


def holds_all(axis: Axis, size: Expr, grid: str, uses: Uses) -> bool:
    """Whether blocks are known to hold so many elements: those of an array that lives in such blocks are as many."""
    if not isinstance(axis, Blocked):
        return True
    if axis.block is ceil_div(size + axis.offset, uses.sdfg.grids[grid].sizes[axis.axis]):
        return True
    for name in uses.containers():
        where = placed(name, uses)
        if not isinstance(where, Distribution) or where.grid != grid:
            continue
        for its, count in zip(where.axes, uses.desc(name).shape, strict=True):
            if isinstance(its, Blocked) and its.axis == axis.axis and its.block is axis.block:
                spare = (count + its.offset - size - axis.offset).constant
                if spare is not None and spare >= 0:
                    return True
    return False


def room_fits(axis: Axis, home: Axis) -> bool:
    """Whether two axes have the same blocks along the same axis of the grid."""
    return room_needed(axis, Anchor("", ZERO, ZERO), home) is not None


def home_of(node: Node, uses: Uses) -> tuple[str, Home, bool]:
    """The grid and the home of a node, and whether it runs at roots only; owner computes, where it is no map."""
    if isinstance(node, Map):
        if node.home is None:
            return "", {}, False
        pairs = zip(node.params, node.home.axes, strict=True)
        return node.home.grid, {p: axis for p, axis in pairs if axis is not None}, bool(node.home.rest)
    return _home_of_outputs(node, uses)


def _home_of_outputs(node: Node, uses: Uses) -> tuple[str, Home, bool]:
    """Labels of outputs run where these live; what outputs have parts of, where inputs have the labels to combine."""
    grid, home, pending = "", dict[str, Axis](), set[int]()
    touches = [touch for touch in touches_of(node, uses) if touch.labels is not None]
    for touch in touches:
        where = placed(touch.container, uses)
        if touch.is_write and isinstance(where, Distribution) and grid in ("", where.grid):
            partial = {part.axis for part in where.rest if isinstance(part, Partial)}
            if len(partial) == len(where.rest):
                grid, pending = where.grid, pending | partial
                _deal(home, touch, where)
    if isinstance(home.get(node.carried), Cyclic):
        del home[node.carried]  # blocks that go round are in no order of ranks
    kept = {label for touch in touches if touch.is_write for label in touch.labels or ()}
    for touch in touches if pending else ():
        where = placed(touch.container, uses)
        if not touch.is_write and isinstance(where, Distribution) and where.grid == grid:
            _deal(home, touch, where, pending, kept)
    return grid if home else "", home, False


def _deal(
    home: dict[str, Axis], touch: Touch, where: Distribution, along: set[int] | None = None, but: Collection[str] = ()
) -> None:
    """Enters the labels of one operand, `but` some, as they are dealt out `along` axes of the grid; none twice."""
    for anchor, axis in zip(anchors_of(touch, ()), where.axes, strict=True):
        taken = {known.axis for known in home.values() if known is not None}
        if anchor is None or axis is None or anchor.label in (*home, *but) or axis.axis in taken:
            continue
        if along is None or axis.axis in along:
            home[anchor.label] = shifted(axis, anchor.low)


def why_not_there(touch: Touch, where: Distribution | None, home: Home, node: Node, uses: Uses) -> str:
    """Why a rank that runs `node` lacks elements of a touch, or writes one of several copies; "" where all is there."""
    if touch.labels is not None and _is_dealt_otherwise(touch, where, home):
        return "it is not dealt out as the others are"
    if where is None:
        return "each rank has a copy, and only one writes it" if touch.is_write and home else ""
    if not touch.memlet.subset.dims and where.axes:
        return "it is distributed"
    return _why_beyond(touch, where, home, node, uses) or _why_not_alone(touch, where, home, node)


def _why_beyond(touch: Touch, where: Distribution, home: Home, node: Node, uses: Uses) -> str:
    """Why indices may be beyond what the rank has."""
    rooms: list[tuple[int, int]] = []
    for dim, (axis, anchor) in enumerate(zip(where.axes, anchors_of(touch, tuple(home)), strict=True)):
        room = _room(axis, anchor, home)
        if room is None:
            return f"dimension {dim} is distributed, and {touch.memlet.subset.dims[dim]} is not known to be there"
        rooms.append(room)
    needed = Halo(tuple(rooms), True)
    there = _halo_at(node, touch.container, where, uses) if any(map(any, rooms)) else needed
    if there.covers(needed):
        return ""
    for dim, ((before, behind), (low, high)) in enumerate(zip(rooms, there.widths, strict=True)):
        if before > low or behind > high:
            return f"along dimension {dim} it reaches {max(before, behind)} elements beyond those of the rank"
    return "it reaches elements beyond those of the rank along two dimensions"


def _room(axis: Axis, anchor: Anchor | None, home: Home) -> tuple[int, int] | None:
    if axis is None:
        return 0, 0
    return None if anchor is None or anchor.label not in home else room_needed(axis, anchor, home[anchor.label])


def halo_needed(touch: Touch, where: Distribution, home: Home) -> Halo | None:
    """What a touch needs beyond the elements of a rank; None where that is not known."""
    rooms = [_room(axis, a, home) for axis, a in zip(where.axes, anchors_of(touch, tuple(home)), strict=True)]
    known = tuple(room for room in rooms if room is not None)
    return Halo(known, sum(map(any, known)) > 1) if len(known) == len(rooms) else None


def _why_not_alone(touch: Touch, where: Distribution, home: Home, node: Node) -> str:
    """Why other ranks have another value, or none."""
    partial = {part.axis: part.op for part in where.rest if isinstance(part, Partial)}
    dealt = {axis.axis for axis in home.values() if axis is not None}
    if touch.is_write and not dealt <= {axis.axis for axis in where.axes if axis is not None} | set(partial):
        return "several ranks write it, each a copy of its own"
    if touch.is_write and partial and (reason := _why_no_part(touch, partial, dealt, node)):
        return reason
    if partial and touch.is_read and not touch.memlet.wcr:
        return "its value is still to be combined"
    roots = tuple(part for part in where.rest if isinstance(part, Root))
    return "only some ranks have it" if roots and roots != roots_of(node) else ""


def _why_no_part(touch: Touch, partial: Mapping[int, str], dealt: set[int], node: Node) -> str:
    """Why what a node writes is not one rank's part of what is combined, nor the identity that parts start from."""
    operation = touch.memlet.wcr if touch.labels is None else node.combination
    if touch.labels is None and not operation:
        identity = all(_is_identity(node, touch.memlet, op) for op in partial.values())
        return "" if identity and dealt.isdisjoint(partial) else "each rank would write it, and it would count for each"
    if any(op != operation for op in partial.values()):
        return f"a {node.kind} makes no parts of it that are combined so"
    return "" if partial.keys() <= dealt else "each rank would make all of it, and not a part"


def _is_identity(node: Node, written: Memlet, operation: str) -> bool:
    """Whether a node writes just the identity of an operation there."""
    for part in subtree(node):
        outputs = part.outputs if isinstance(part, Tasklet) else {}
        for name, memlet in outputs.items():
            value = dict(part.code)[name] if memlet is written and isinstance(part, Tasklet) else None
            if isinstance(value, Const):
                return value == Const(identity_value(operation, value.dtype), value.dtype)
    return False


def _is_dealt_otherwise(touch: Touch, where: Distribution | None, home: Home) -> bool:
    """Whether a label is dealt out cyclically, and an operand does not have just that in one piece on each rank."""
    for dim, anchor in enumerate(anchors_of(touch, ())):
        dealt = anchor is not None and isinstance(home.get(anchor.label), Cyclic)
        if dealt and anchor is not None and (where is None or where.axes[dim] is None or anchor.low is not ZERO):
            return True
    return False


def roots_of(node: Node) -> tuple[Root, ...]:
    """The roots at which a map runs."""
    home = getattr(node, "home", None)
    return () if home is None else tuple(part for part in home.rest if isinstance(part, Root))


def _halo_at(node: Node, container: str, where: Distribution, uses: Uses) -> Halo:
    """What a rank has of its neighbours' elements when a node begins."""
    nothing = Halo(tuple((0, 0) for _ in where.axes))
    if not where.halo:
        return nothing
    if is_filled(container, uses):
        return Halo(where.halo, True)
    return valid_halos(uses).get(node, {}).get(container, nothing)


def is_filled(container: str, uses: Uses) -> bool:
    """Whether the halo of an array has the elements of the neighbours whenever it is read: only copies write it."""
    desc = uses.desc(container)
    if not isinstance(desc, Array) or not desc.transient or uses.views_of(container):
        return False
    whole = Subset.whole(desc.shape)
    return all(isinstance(writer, Copy) and writer.dst.subset == whole for writer in uses.writers(container))


def outermost_nodes(sdfg: Sdfg) -> list[tuple[State, Node]]:
    """The nodes that are in no map, with their states, in program order."""
    found: list[tuple[State, Node]] = []
    pending = [sdfg.body]
    while pending:
        region = pending.pop()
        for block in region.blocks:
            if isinstance(block, State):
                found += [(block, node) for node in block.nodes]
            else:
                pending += block.regions()
    return found


def outermost_node(element: Element) -> Node | None:
    """The node that is in no map to which an element belongs; None for a block that is in none."""
    around = [owner for owner in (element, *owners_around(element)) if isinstance(owner, Node)]
    return around[-1] if around else None
