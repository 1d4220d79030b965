"""Resolved distributions of containers and homes of nodes, on which the passes of this folder agree.

A home says along which axis of the grid the values of a label are dealt out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.distributed.ownership import resolved, shifted
from dcpy.ir.data import Array, View, packed_strides, strides_of
from dcpy.ir.distribution import Axis, Blocked, Cyclic, Distribution, Partial, Root
from dcpy.ir.nodes import Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, ceil_div, product_of
from dcpy.transforms.distributed.accesses import Anchor, NodeAccess, anchors_of, node_accesses

Home = Mapping[str, Axis]  # of each label whose values are dealt out
Reach = Mapping[str, tuple[int, int]]  # beyond these


# -- containers ------------------------------------------------------------------------------------------------------


def placed(container: str, uses: Uses) -> Distribution | Refusal | None:
    """Return a container's distribution with explicit block sizes; None: everywhere. A view is where its base is."""
    desc = uses.desc(container)
    if isinstance(desc, View):
        base = placed(desc.of, uses)
        return base if base is None or isinstance(base, Refusal) else shown_by(container, desc, base, uses)
    found = desc.distribution if isinstance(desc, Array) else None
    if found is None or found.has_copies_everywhere:
        return None
    return resolved(found, desc.shape, uses.sdfg.grids)


def shown_by(name: str, view: View, base: Distribution, uses: Uses) -> Distribution | Refusal | None:
    """Return the distribution of a view of an array that is at `base`."""
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
    """Dimensions of 1 apart, those up to the last distributed one are the same in both shapes, or merged behind it.

    What shows other elements than all, one after another (a diagonal, the real parts), is where its base is whole.
    """
    if all(axis is None for axis in base.axes):
        return Distribution(base.grid, (None,) * len(view.shape), base.rest)
    shape = uses.desc(view.of).shape
    if not is_packed(view) or strides_of(uses.desc(view.of)) != packed_strides(shape):
        return Refusal(f"{name!r} shows elements of {view.of!r} that do not follow each other")
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


def is_packed(view: View) -> bool:
    """Return whether the elements of a view follow each other from the start of what it shows."""
    return view.offset is ZERO and view.strides == packed_strides(view.shape)


def _merged(size: Expr, dims: list[int], shape: tuple[Expr, ...]) -> list[int]:
    """The first dimensions of an array that have so many elements together; none where these are no such ones."""
    for count in range(1, len(dims) + 1):
        if product_of(*(shape[dim] for dim in dims[:count])) is size:
            return dims[:count]
    return []


# -- homes -----------------------------------------------------------------------------------------------------------


def room_needed(axis: Axis, anchor: Anchor, home: Axis, more: tuple[int, int] = (0, 0)) -> tuple[int, int] | None:
    """Return how far beyond its elements a rank at `home` reaches, with `more` iterations before and behind.

    None where `axis` is aligned otherwise.
    """
    if axis is None or home is None or type(axis) is not type(home):
        return None
    if axis.axis != home.axis or axis.block is not home.block:
        return None
    low, high = ((edge - home.offset + axis.offset).constant for edge in (anchor.low, anchor.high))
    if low is None or high is None:
        return None
    room = max(0, more[0] - low), max(0, more[1] + high)
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
    """Return whether each of so many elements is known to be on some rank.

    None is before the first block; and blocks hold as many as those of an array do that lives in such blocks.
    """
    if axis is not None and not uses.ranges_at(uses.sdfg.body).proves_nonneg(axis.offset):
        return False
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
    """Return whether two axes have the same blocks along the same axis of the grid."""
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
    accesses = [access for access in node_accesses(node, uses) if access.labels is not None]
    for access in accesses:
        where = placed(access.container, uses)
        if access.is_write and isinstance(where, Distribution) and grid in ("", where.grid):
            partial = {part.axis for part in where.rest if isinstance(part, Partial)}
            if len(partial) == len(where.rest):
                grid, pending = where.grid, pending | partial
                _deal(home, access, where)
    if isinstance(home.get(node.carried), Cyclic):
        del home[node.carried]  # blocks that go round are in no order of ranks
    kept = {label for access in accesses if access.is_write for label in access.labels or ()}
    for access in accesses if pending else ():
        where = placed(access.container, uses)
        if not access.is_write and isinstance(where, Distribution) and where.grid == grid:
            _deal(home, access, where, pending, kept)
    return grid if home else "", home, False


def _deal(
    home: dict[str, Axis],
    access: NodeAccess,
    where: Distribution,
    along: set[int] | None = None,
    but: Collection[str] = (),
) -> None:
    """Enter the labels of one operand, `but` some, as they are dealt out `along` axes of the grid; none twice."""
    for anchor, axis in zip(anchors_of(access, ()), where.axes, strict=True):
        taken = {known.axis for known in home.values() if known is not None}
        if anchor is None or axis is None or anchor.label in (*home, *but) or axis.axis in taken:
            continue
        if along is None or axis.axis in along:
            home[anchor.label] = shifted(axis, anchor.low)


def reach_of(node: Node) -> Reach:
    """Return how many iterations of its neighbours, before and behind, a rank runs as well, by parameter of a map."""
    if not isinstance(node, Map) or node.home is None or not node.home.halo:
        return {}
    return {param: pair for param, pair in zip(node.params, node.home.halo, strict=True) if any(pair)}


def roots_of(node: Node) -> tuple[Root, ...]:
    """The roots at which a map runs."""
    home = getattr(node, "home", None)
    return () if home is None else tuple(part for part in home.rest if isinstance(part, Root))
