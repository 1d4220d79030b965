"""Localize: the program of one rank, from a program that says where everything lives."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.base.errors import TransformationRefused
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.distributed.ownership import Share, local_shape, shares_of
from dcpy.ir.communication import HaloUpdate
from dcpy.ir.data import Array, Data, View, packed_strides
from dcpy.ir.distribution import Axis, Cyclic, Distribution, Partial, Section, coordinate_names
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Load, ScalarExpr, rewrite
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, max_of, min_of
from dcpy.ir.tree import subtree
from dcpy.transforms.distributed.accesses import NodeAccess, anchors_of, labels_of, node_accesses, outermost_nodes
from dcpy.transforms.distributed.communication.locality_check import locality_problem
from dcpy.transforms.distributed.grids.grid_operations import made_local, on_grid
from dcpy.transforms.distributed.halos.dead_halo_fills import dead_halo_fills_in
from dcpy.transforms.distributed.halos.halo_validity import Halo, Widths, fills, updated
from dcpy.transforms.distributed.local_form.local_domains import local_domain
from dcpy.transforms.distributed.local_form.partial_reductions import combine_parts, is_combined
from dcpy.transforms.distributed.local_form.pipelined_scan import scan_across_ranks
from dcpy.transforms.distributed.resolved_placement import home_of, is_packed, placed
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True, slots=True)
class LocalContainer:
    """A rank's part of a container: its distribution in the whole, its shape there, and its descriptor here."""

    where: Distribution
    shape: tuple[Expr, ...]
    shares: tuple[Share, ...]
    desc: Data

    def index(self, dim: int, value: DimSubset) -> DimSubset:
        """An index, or a range of them that are on the rank, in the rank's memory."""
        share = self.shares[dim]
        if share.axis is None:
            return value
        if isinstance(value, Range):
            return Range(share.local(value.start), share.local(value.stop - 1) + 1)
        return share.local(value)


@dataclass(frozen=True)
class Localize(GraphPass):
    """Makes arrays those of one rank, maps run over what it owns, and copies between distributions messages.

    before   copy A[0:N] -> A_part[0:N]                after   comm.copy (src <- A[...]) -> (dst -> A_part[...]) {...}
             map i = 0:N home g(block 0 by b) { ... }          map i = max(0, g_c0*b):min(N, (g_c0 + 1)*b) { ... }

    Each access is proved to be on the rank that runs it; else the program is refused, and says what to do.
    """

    name: ClassVar[str] = "localize"

    def decide(self, rw: Rewriter) -> None:
        """All of it, or nothing: what cannot be proved is refused before anything changes."""
        nodes = [node for _, node in outermost_nodes(rw.sdfg)]
        for node in nodes:
            _require_local(node, rw.uses)
        locals_, unread = _locals(rw.uses), dead_halo_fills_in(rw.uses)
        if not locals_ and not any(isinstance(node, Map) and node.home for node in nodes):
            return
        for name, grid in rw.sdfg.grids.items():
            for symbol in coordinate_names(name, len(grid.sizes)):
                rw.sdfg.add_symbol(symbol)
        for node in nodes:
            _localize(node, locals_, unread, rw)
        for name, local in locals_.items():
            rw.redeclare(name, local.desc)
        _forget_distributions(rw)


def _require_local(node: Node, uses: Uses) -> None:
    """`TransformationRefused` where a rank would need what it does not have. Copies between ranks are messages."""
    if on_grid(node, uses) is not None:
        return
    _, home, _ = home_of(node, uses)
    for access in node_accesses(node, uses):
        where = placed(access.container, uses)
        if isinstance(where, Refusal):
            raise TransformationRefused(f"a {node.kind} cannot be localized: {where}", span=node.span)
        if isinstance(node, Copy | HaloUpdate) and not (access.is_write and _has_parts(where)):
            continue
        reason = locality_problem(access, where, home, node, uses)
        if not reason and where is not None and not isinstance(node, Map) and access.labels is not None:
            reason = _why_not_cut(access.memlet, where)
        if reason:
            raise TransformationRefused(
                f"{access.memlet} of a {node.title or node.kind} is not on the rank: {reason}",
                span=node.span,
                help="insert-communication copies it there",
            )


def _has_parts(where: Distribution | None) -> bool:
    return where is not None and any(isinstance(part, Partial) for part in where.rest)


def _why_not_cut(memlet: Memlet, where: Distribution) -> str:
    for axis, dim in zip(where.axes, memlet.subset.dims, strict=True):
        if axis is not None and isinstance(dim, Range) and dim.step is not ONE:
            return f"{dim} does not count one by one"
    return ""


def _locals(uses: Uses) -> dict[str, LocalContainer]:
    """Return the local form of each distributed container; views after the containers that they show."""
    found: dict[str, LocalContainer] = {}
    for name in uses.containers():
        where = placed(name, uses)
        if isinstance(where, Refusal):
            raise TransformationRefused(f"it cannot be localized: {where}")
        if where is None:
            continue
        desc, grids = uses.desc(name), uses.sdfg.grids
        shape = local_shape(where, desc.shape, grids)
        local: Data
        if isinstance(desc, View):
            local = _local_view(desc, shape, shares_of(where, desc.shape, grids), uses)
        else:
            assert isinstance(desc, Array)  # nothing else is distributed
            local = replace(desc, shape=shape, strides=_strides(name, desc, shape), distribution=None)
        found[name] = LocalContainer(where, desc.shape, shares_of(where, desc.shape, grids), local)
    return found


def _strides(name: str, desc: Array, shape: tuple[Expr, ...]) -> tuple[Expr, ...]:
    if desc.axes is None:
        raise TransformationRefused(f"{name!r} is distributed, and its elements have gaps", span=desc.span)
    return packed_strides(shape, desc.axes)


def _local_view(view: View, shape: tuple[Expr, ...], shares: tuple[Share, ...], uses: Uses) -> View:
    base, where = uses.desc(view.of), placed(view.of, uses)
    if not isinstance(base, Array):
        raise TransformationRefused("a view of a view is distributed", span=view.span)
    assert isinstance(where, Distribution)  # as the view is
    lengths = local_shape(where, base.shape, uses.sdfg.grids)
    of = replace(base, shape=lengths, strides=_strides(view.of, base, lengths), distribution=None)
    if view.window is None:  # what is not packed is of an array that is whole where it is
        return replace(view, shape=shape, strides=packed_strides(shape) if is_packed(view) else view.strides)
    its = shares_of(where, base.shape, uses.sdfg.grids)
    dims = [
        dim if share.axis is None or not isinstance(dim, Range) else _cut(share, dim)
        for share, dim in zip(its, view.window.dims, strict=True)
    ]
    sizes = {position: view.shape[position] for position, axis in enumerate(view.axes) if axis < 0}
    return View.slice(view.of, of, Subset(tuple(dims)), axes=view.axes, sizes=sizes, span=view.span)


def _cut(share: Share, values: Range) -> Range:
    """The part of a range that a rank owns, in its memory."""
    if values.start is ZERO and values.stop is share.size:
        return Range(ZERO + share.halo[0], share.owned + share.halo[0])
    if isinstance(share.axis, Cyclic):  # the first of them that it owns need not be where the range begins
        stop = max_of(values.start, min_of(values.stop, share.size))
        return Range(share.owned_before(values.start), share.owned_before(stop))
    low = max_of(values.start, share.low)
    high = max_of(low, min_of(values.stop, share.high))
    return Range(share.local(low), share.local(high))


# -- nodes -----------------------------------------------------------------------------------------------------------


def _localize(node: Node, locals_: Mapping[str, LocalContainer], unread: Collection[Copy], rw: Rewriter) -> None:
    match node:
        case Copy():
            _localize_copy(node, locals_, node not in unread, rw)
        case HaloUpdate():
            _localize_update(node, locals_, rw)
        case Map():
            _index_locally(node, locals_, rw)
            if node.home is not None:
                changes = local_domain(node, rw)
                rw.update(node, home=None, **changes)
        case _:
            together = on_grid(node, rw.uses)
            if together is None:
                _localize_operands(node, locals_, rw)
                return
            memory = {name: _whole(name, locals_, rw) for name in locals_}
            rw.replace(node, made_local(node, together, memory))


def _localize_operands(node: Node, locals_: Mapping[str, LocalContainer], rw: Rewriter) -> None:
    """Each range along a label of the home becomes the part of it that the rank runs, in the rank's memory."""
    grid, home, _ = home_of(node, rw.uses)
    if not home:
        return
    letters = labels_of(node) or {}
    fields: dict[str, dict[str, Memlet]] = {}
    for operand in node.operands():  # two of them may name the same elements, and take different parts
        memlet = operand.memlet
        local, dims = locals_.get(memlet.container), list(memlet.subset.dims)
        for dim, anchor in enumerate(anchors_of(NodeAccess(memlet, False, True, letters.get(operand.name)), ())):
            part = dims[dim]
            if anchor is not None and anchor.label in home and isinstance(part, Range):
                share = _share(home[anchor.label], part.size, grid, rw)
                dims[dim] = _part(part, share, None if local is None else local.shares[dim])
        fields.setdefault(operand.field, {})[operand.name] = replace(memlet, subset=Subset(tuple(dims)))
    named = {field: isinstance(getattr(node, field), dict) for field in fields}
    rw.update(node, **{field: new if named[field] else next(iter(new.values())) for field, new in fields.items()})
    scan_across_ranks(node, grid, home, rw)


def _share(axis: Axis, size: Expr, grid: str, rw: Rewriter) -> Share:
    (share,) = shares_of(Distribution(grid, (axis,)), (size,), rw.sdfg.grids)
    return share


def _part(values: Range, mine: Share, memory: Share | None) -> Range:
    """The values of a label that are `mine`, of which `values` are all, as a range in a rank's memory."""
    if isinstance(mine.axis, Cyclic):  # all operands are dealt out alike
        return Range(ZERO, mine.owned)
    low, high = values.start + mine.low, values.start + max_of(mine.low, mine.high)
    return Range(low, high) if memory is None else Range(memory.local(low), memory.local(high))


def _localize_copy(node: Copy, locals_: Mapping[str, LocalContainer], fill: bool, rw: Rewriter) -> None:
    """A copy of what each rank has already stays one; others are messages."""
    if node.src.container not in locals_ and node.dst.container not in locals_:
        return
    left, right = (locals_.get(memlet.container) for memlet in (node.src, node.dst))
    if left is not None and is_combined(left.where, None if right is None else right.where):
        combine_parts(node, locals_, rw)
        return
    _, home, _ = home_of(node, rw.uses)
    accesses = node_accesses(node, rw.uses)
    places = [placed(access.container, rw.uses) for access in accesses]
    here = not any(
        isinstance(where, Refusal) or locality_problem(access, where, home, node, rw.uses)
        or (where is not None and (_why_not_cut(access.memlet, where) or where.rest))
        or (access.is_write and fill and any(map(any, fills(node, rw.uses))))
        for access, where in zip(accesses, places, strict=True)
    )  # fmt: skip
    if here:
        _localize_operands(node, locals_, rw)
        return
    inputs = {"src": Memlet(node.src.container, _whole(node.src.container, locals_, rw))}
    outputs = {"dst": Memlet(node.dst.container, _whole(node.dst.container, locals_, rw))}
    source, target = (_section(memlet, locals_, rw) for memlet in (node.src, node.dst))
    message = LIBRARY_KINDS["comm.copy"](
        inputs=inputs, outputs=outputs, source=source, target=target, wcr=node.dst.wcr, span=node.span
    )  # type: ignore[call-arg]
    rw.replace(node, message)


def _localize_update(node: HaloUpdate, locals_: Mapping[str, LocalContainer], rw: Rewriter) -> None:
    """All that arrives with corners at once; else along one dimension after the other, of rows that a rank owns."""
    sections: list[Section] = []
    operands: dict[str, Memlet] = {}
    for name, halo in updated(node).items():
        local = locals_.get(name)
        for widths in _faces(halo) if local is not None else []:
            assert local is not None  # else there are none
            operands[str(len(sections))] = Memlet(name, _with_room(local.shares, widths))
            whole = Subset.whole(local.shape)
            sections.append(Section(local.shape, whole, replace(local.where, halo=widths)))
    if not sections:
        rw.erase(node)
        return
    inputs = {f"x{number}": memlet for number, memlet in operands.items()}
    outputs = {f"out{number}": memlet for number, memlet in operands.items()}
    made = LIBRARY_KINDS["comm.exchange"](inputs=inputs, outputs=outputs, sections=tuple(sections), span=node.span)  # type: ignore[call-arg]
    rw.replace(node, made)


def _faces(halo: Halo) -> list[Widths]:
    """The widths of each part that is sent."""
    if halo.corners:
        return [halo.widths]
    none = ((0, 0),) * len(halo.widths)
    return [(*none[:dim], pair, *none[dim + 1 :]) for dim, pair in enumerate(halo.widths) if any(pair)]


def _with_room(shares: tuple[Share, ...], widths: Widths) -> Subset:
    """Return the elements that a rank owns, extended by `widths`, in its memory."""
    dims = [
        Range(ZERO + share.halo[0] - before, share.owned + share.halo[0] + behind)
        for share, (before, behind) in zip(shares, widths, strict=True)
    ]
    return Subset(tuple(dims))


def _whole(name: str, locals_: Mapping[str, LocalContainer], rw: Rewriter) -> Subset:
    return Subset.whole(locals_[name].desc.shape if name in locals_ else rw.uses.desc(name).shape)


def _section(memlet: Memlet, locals_: Mapping[str, LocalContainer], rw: Rewriter) -> Section:
    local = locals_.get(memlet.container)
    if local is None:
        return Section(rw.uses.desc(memlet.container).shape, memlet.subset)
    return Section(local.shape, memlet.subset, local.where)


def _index_locally(node: Map, locals_: Mapping[str, LocalContainer], rw: Rewriter) -> None:
    """Accesses of a map count in the memory of the rank; its parameters still count in the whole."""

    def moved(container: str, subset: Subset) -> Subset:
        local = locals_[container]
        return Subset(tuple(local.index(dim, value) for dim, value in enumerate(subset.dims)))

    def memlet(found: Memlet) -> Memlet:
        return replace(found, subset=moved(found.container, found.subset)) if found.container in locals_ else found

    def load(part: ScalarExpr) -> ScalarExpr | None:
        if isinstance(part, Load) and part.container in locals_:
            return replace(part, indices=moved(part.container, Subset(part.indices)).indices)
        return None

    for element in list(subtree(node)):
        if isinstance(element, Node) and any(operand.memlet.container in locals_ for operand in element.operands()):
            rw.replace_memlets(element, memlet)
        if any(name in locals_ for name in rw.uses.accesses(element).reads) and element.exprs():
            rw.rewrite_exprs(element, lambda expr: rewrite(expr, load))


def _forget_distributions(rw: Rewriter) -> None:
    """Arrays that are whole on each rank need not say so."""
    for name in rw.uses.containers():
        desc = rw.uses.desc(name)
        if isinstance(desc, Array) and desc.distribution is not None:
            rw.redeclare(name, replace(desc, distribution=None))
