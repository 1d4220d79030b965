"""InsertCommunication: what a node needs, and the rank that runs it does not have, is copied there before it runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.base.errors import TransformationRefused
from dcpy.ir.analysis.accesses.access_relations import seen_from_outside
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.communication import CommNode, HaloUpdate
from dcpy.ir.data import Array, Scalar, Stream
from dcpy.ir.distribution import Axis, Distribution, Partial, Rest
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const, Load, ScalarExpr, rewrite, walk
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Region, State
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, sym
from dcpy.ir.tree import bodies_of, region_of, subtree
from dcpy.transforms.distributed.accesses import (
    Anchor,
    NodeAccess,
    anchors_of,
    follows_nothing,
    node_accesses,
    outermost_nodes,
    views_inside,
)
from dcpy.transforms.distributed.communication.locality_check import locality_problem
from dcpy.transforms.distributed.communication.owner_broadcast import broadcast_elements
from dcpy.transforms.distributed.grids.grid_operations import on_grid
from dcpy.transforms.distributed.resolved_placement import Home, axis_for, holds_all, home_of, placed
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True, slots=True)
class Staging:
    """A container and what a node uses instead of it: a temporary that lives where the node runs."""

    container: str
    desc: Array
    box: Subset  #: of the container, as large as the temporary
    points: tuple[bool, ...]  #: dimensions of which the temporary has one element
    fill: bool  #: the box is copied into it before the node runs
    copied_back: Subset | None = None  #: what is copied back behind it
    combine: str = ""


@dataclass(frozen=True)
class InsertCommunication(GraphPass):
    """Copies operands to where nodes run, and results to where they live.

    before   map i home h { B[i] = A[i - 1] + A[i + 1] }       after   copy A[0:N] -> A_part[0:N]
                                                                       map i home h { B[i] = A_part[i - 1] + ... }

    A copy between distributions is communication. Dimensions that follow the home are distributed along with it, with a
    halo where the node looks at neighbours; of one index only that element is sent; others are whole. A map whose
    results cannot be placed runs on each rank.
    """

    name: ClassVar[str] = "insert-communication"

    def decide(self, rw: Rewriter) -> None:
        """Serve each node that is in no map, after the conditions of blocks."""
        broadcast_elements(rw)
        for state, node in outermost_nodes(rw.sdfg):
            if not isinstance(node, Copy | CommNode | HaloUpdate) and on_grid(node, rw.uses) is None:
                serve(state, node, rw)


def serve(state: State, node: Node, rw: Rewriter) -> None:
    """Put copies around one node; a map whose results cannot be placed loses its home."""
    stagings = _stagings(node, rw.uses)
    if isinstance(stagings, Refusal) and isinstance(node, Map) and node.home is not None:
        rw.remark(node, False, f"it runs on each rank: {stagings}")
        rw.update(node, home=None)
        stagings = _stagings(node, rw.uses)
    if isinstance(stagings, Refusal):
        raise TransformationRefused(f"a {node.kind} cannot be distributed: {stagings}", span=node.span)
    for staging in stagings:
        _stage(state, node, staging, rw)


def _stagings(node: Node, uses: Uses) -> list[Staging] | Refusal:
    grid, home, _ = home_of(node, uses)
    for name, view in views_inside(node):
        if placed(view.of, uses) is not None:
            return Refusal(f"{name!r}, in its body, is a view of {view.of!r}, which is distributed")
    found = stagings_of(node, node_accesses(node, uses), grid, home, uses)
    return found if isinstance(found, Refusal) else [staging for _, staging in found]


def stagings_of(
    node: Node, accesses: Iterable[NodeAccess], grid: str, home: Home, uses: Uses
) -> list[tuple[Distribution | None, Staging]] | Refusal:
    """Return the stagings of a node at `home` for containers that are not there: the place of each, and its staging."""
    groups: dict[str, list[NodeAccess]] = {}
    for access in accesses:
        groups.setdefault(access.container, []).append(access)
    found: list[tuple[Distribution | None, Staging]] = []
    for container, own in groups.items():
        if isinstance(uses.desc(container), Stream):
            continue
        where = placed(container, uses)
        if isinstance(where, Refusal):
            return where
        if not any(locality_problem(access, where, home, node, uses) for access in own):
            continue
        staging = staging_for(node, container, own, where, grid, home, uses)
        if isinstance(staging, Refusal):
            return staging
        found.append((where, staging))
    return found


def needed_by(node: Node, container: str, uses: Uses) -> Distribution | None:
    """The blocks of a container that a node reads; None where it writes it, needs all of it, or reads a view of it."""
    grid, home, _ = home_of(node, uses)
    accesses = [access for access in node_accesses(node, uses) if access.container == container]
    if not accesses or any(access.is_write for access in accesses):
        return None
    found = staging_for(node, container, accesses, None, grid, home, uses)
    return None if isinstance(found, Refusal) or any(found.points) else found.desc.distribution


def staging_for(
    node: Node,
    container: str,
    accesses: list[NodeAccess],
    where: Distribution | None,
    grid: str,
    home: Home,
    uses: Uses,
) -> Staging | Refusal:
    """Return the staging that a node uses instead of a container that lives at `where`, if it runs at `home`."""
    desc, writes = uses.desc(container), any(access.is_write for access in accesses)
    shape = desc.shape
    axes: list[Axis] = []
    halo: list[tuple[int, int]] = []
    for dim in range(len(shape)):
        like = None if where is None else where.axes[dim]
        holds = functools.partial(holds_all, size=shape[dim], grid=grid, uses=uses)
        axis, room = _dimension([anchors_of(access, tuple(home))[dim] for access in accesses], home, like, holds)
        if axis is not None and any(other is not None and other.axis == axis.axis for other in axes):
            axis, room = None, (0, 0)  # a diagonal: ranks have whole rows
        if writes and room != (0, 0):
            return Refusal(f"it writes {container!r}, and looks at what its neighbours write")
        axes.append(axis)
        halo.append(room)
    rest = _combined(container, accesses, axes, home) if writes else ()
    if isinstance(rest, Refusal):
        return rest
    subsets = [access.memlet.subset for access in accesses]
    points = tuple(_is_point([subset.dims[dim] for subset in subsets], node) for dim in range(len(shape)))
    points = points if not writes and all(axis is None for axis, at in zip(axes, points, strict=True) if at) else ()
    points = points or (False,) * len(shape)
    box = Subset(tuple(_box(size, accesses[0], dim, points[dim]) for dim, size in enumerate(shape)))
    sizes = tuple(ONE if at else size for at, size in zip(points, shape, strict=True))
    own = Distribution(grid, tuple(axes), rest, tuple(halo) if any(map(any, halo)) else ())
    made = Array.packed(desc.dtype, sizes, transient=True)
    made = made if own.has_copies_everywhere else replace(made, distribution=own)
    if not writes:
        return Staging(container, made, box, points, True)
    if rest:
        return Staging(container, made, box, points, False, box, accesses[0].memlet.wcr)
    back = None if any(access.is_read for access in accesses) else _surely_written(node, container, uses)
    return Staging(container, made, box, points, back is None, back or box)


def _dimension(
    anchors: list[Anchor | None], home: Home, like: Axis, holds: Callable[[Axis], bool]
) -> tuple[Axis, tuple[int, int]]:
    """Return the distribution of a temporary's dimension; whole, where its accesses follow no label of the home."""
    found = [anchor for anchor in anchors if anchor is not None and anchor.label in home]
    if not found or len(found) < len(anchors) or any(anchor.label != found[0].label for anchor in found):
        return None, (0, 0)
    base = found[0].low
    offsets = [((anchor.low - base).constant, (anchor.high - base).constant) for anchor in found]
    if any(low is None or high is None for low, high in offsets):
        return None, (0, 0)
    low, high = min(low or 0 for low, _ in offsets), max(high or 0 for _, high in offsets)
    axis = axis_for(home[found[0].label], base + low, base + high, like, holds)
    return axis or (None, (0, 0))


def _combined(container: str, accesses: list[NodeAccess], axes: list[Axis], home: Home) -> tuple[Rest, ...] | Refusal:
    """Return the pending combinations over axes of the grid along which several ranks write the same elements."""
    covered = {axis.axis for axis in axes if axis is not None}
    several = sorted({axis.axis for axis in home.values() if axis is not None} - covered)
    if not several:
        return ()
    operations = {access.memlet.wcr for access in accesses}
    if len(operations) != 1 or "" in operations:
        return Refusal(f"several ranks would write {container!r}")
    (operation,) = operations
    return tuple(Partial(axis, operation) for axis in several)


def _is_point(dims: list[DimSubset], node: Node) -> bool:
    inside = {name for part in subtree(node) for region in bodies_of(part) for name in region.params}
    inside |= {block for part in subtree(node) for block in [getattr(part, "symbol", "")] if block}
    return all(dim == dims[0] and follows_nothing(dim, inside) for dim in dims)


def _box(size: Expr, access: NodeAccess, dim: int, point: bool) -> Range:
    index = access.memlet.subset.dims[dim]
    return Range(index, index + 1) if point and isinstance(index, Expr) else Range(ZERO, size)


def _surely_written(node: Node, container: str, uses: Uses) -> Subset | None:
    """The elements of a container that a node writes, all of them; None where that is not known."""
    found = [access for access in seen_from_outside(node, uses) if access.root == container and access.is_write]
    if len(found) != 1 or not found[0].certain or found[0].wcr or found[0].subset is None:
        return None
    whole = isinstance(uses.desc(container), Array | Scalar)
    steps = all(isinstance(dim, Expr) or dim.step is ONE for dim in found[0].subset.dims)
    return found[0].subset if whole and steps else None


# -- carrying it out -------------------------------------------------------------------------------------------------


def _stage(state: State, node: Node, staging: Staging, rw: Rewriter) -> None:
    name = rw.declare_fresh(f"{staging.container}_part", staging.desc, region_of(state))
    if staging.fill:
        whole = Memlet(name, Subset.whole(staging.desc.shape))
        rw.add_node_before(node, Copy(Memlet(staging.container, staging.box), whole))
    elif staging.combine:
        rw.add_node_before(node, _identity(name, staging, rw))
    redirect(node, staging.container, name, staging.points, rw)
    if staging.copied_back is not None:
        target = Memlet(staging.container, staging.copied_back, staging.combine)
        rw.add_node(Copy(Memlet(name, staging.copied_back), target), state, state.index(node) + 1)


def _identity(name: str, staging: Staging, rw: Rewriter) -> Node:
    """Fill what is to be combined with what every value replaces."""
    value = Const(identity_value(staging.combine, staging.desc.dtype), staging.desc.dtype)
    params = tuple(rw.fresh_name("i") for _ in staging.desc.shape)
    fill = Tasklet({}, {"out": Memlet(name, Subset(tuple(map(sym, params))))}, (("out", value),))
    if not params:
        return fill
    placed_at = staging.desc.distribution
    assert placed_at is not None  # it is partial
    home = None if all(axis is None for axis in placed_at.axes) else Distribution(placed_at.grid, placed_at.axes)
    domain = tuple(Range(ZERO, size) for size in staging.desc.shape)
    return Map(params, domain, Region((State("", [fill]),)), home=home)


def redirect(node: Node, old: str, new: str, points: tuple[bool, ...], rw: Rewriter) -> None:
    """Make a node, with all inside it, use another container."""

    def memlet(found: Memlet) -> Memlet:
        return replace(found, container=new, subset=moved(found.subset)) if found.container == old else found

    def moved(subset: Subset) -> Subset:
        return Subset(tuple(ZERO if at else dim for at, dim in zip(points, subset.dims, strict=True)))

    def load(part: ScalarExpr) -> ScalarExpr | None:
        if isinstance(part, Load) and part.container == old:
            return replace(part, container=new, indices=moved(Subset(part.indices)).indices)
        return None

    for element in list(subtree(node)):
        if isinstance(element, Node):
            rw.replace_memlets(element, memlet)
        if any(isinstance(part, Load) and part.container == old for expr in element.exprs() for part in walk(expr)):
            rw.rewrite_exprs(element, lambda expr: rewrite(expr, load))
