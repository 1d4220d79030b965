"""RedundantViewRemoval: accesses of a slice become accesses of what it is a slice of; equal views become one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Data, View
from dcpy.ir.expressions.scalar import Load, ScalarExpr, loads_of, rewrite
from dcpy.ir.field_roles import MEMLETS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Node
from dcpy.ir.region import Region
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr
from dcpy.ir.tree import Element
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, whole


@dataclass(frozen=True)
class RedundantViewRemoval(Transformation[tuple[str, ...]]):
    """Compose accesses through views into accesses of their bases, and take out unused views.

    before   view v of x[1:N - 1]                        after
             map i: y[i] = v[i] + v[i + 1]                       map i: y[i] = x[i + 1] + x[i + 2]

    Applies to single elements of any slice or transpose, and to ranges where the view keeps the order of the base's
    axes and runs forward. Of reshapes, those that add or take out axes of length 1 have a subset of the base to name;
    others stay, and so does a view that the caller gets. Views that show the same in one region become the first one.
    """

    name: ClassVar[str] = "redundant-view-removal"
    pattern = whole()

    def plan(self, m: Match) -> tuple[str, ...] | Refusal:
        """All views. Refuses where no access through any view names a box of the base."""
        views = _views(m.uses)
        if any(_is_unused(view, m.uses) or _composable_users(view, m.uses) for view in views) or _equal(views, m.uses):
            return views
        shown = ", ".join(map(repr, views))
        return Refusal(f"no access through {shown} can be composed" if views else "there are no views")

    def apply(self, m: Match, plan: tuple[str, ...], rw: Rewriter) -> None:
        """Compose all accesses that can be, then take out the views without users, views of views first."""
        for view in plan:
            for user in _composable_users(view, rw.uses):
                _compose(user, rw)
        for view, first in _equal(plan, rw.uses).items():
            rw.rename_container(view, first)
        for view in reversed(plan):
            if _is_unused(view, rw.uses):
                rw.undeclare(view)


def _views(uses: Uses) -> tuple[str, ...]:
    """Names of all views, each after the view that it is a view of, if any."""
    found: dict[str, None] = {}

    def note(name: str) -> None:
        desc = uses.desc(name)
        if isinstance(desc, View) and name not in found:
            if uses.declared(desc.of):
                note(desc.of)
            found[name] = None

    for region in uses.sdfg.body.walk_regions():
        for name in region.containers:
            note(name)
    return tuple(found)


def _equal(views: tuple[str, ...], uses: Uses) -> dict[str, str]:
    """The views that show the same as an earlier one of their region, with that one; not those that the caller gets."""
    first: dict[tuple[Region, Data], str] = {}
    returned = {result.container for result in uses.sdfg.results}
    found: dict[str, str] = {}
    for view in views:
        if view not in returned and uses.accessors(view):
            kept = first.setdefault((uses.home(view), uses.desc(view)), view)
            found |= {} if kept == view else {view: kept}
    return found


def _is_unused(view: str, uses: Uses) -> bool:
    returned = any(result.container == view for result in uses.sdfg.results)
    return not returned and not uses.accessors(view) and not uses.views_of(view)


def _composable_users(view: str, uses: Uses) -> list[Element]:
    return [user for user in uses.accessors(view) if _accesses_composable(user, view, uses)]


def _accesses_composable(user: Element, view: str, uses: Uses) -> bool:
    """Return whether any access of a user to a view can be composed."""
    if isinstance(user, Node):
        return any(m.container == view and composed(m, uses) != m for m in _memlets(user))
    loads = [load for expr in user.exprs() for load in loads_of(expr) if load.container == view]
    return any(_point(load, uses) is not load for load in loads)


def _memlets(node: Node) -> list[Memlet]:
    return [memlet for role in MEMLETS for memlet in node.all_of(role)]


def _compose(user: Element, rw: Rewriter) -> None:
    """Compose all accesses of a user as far as they go."""
    if isinstance(user, Node):
        rw.replace_memlets(user, lambda memlet: composed(memlet, rw.uses))
    else:
        rw.rewrite_exprs(user, lambda expr: rewrite(expr, lambda part: _changed_point(part, rw.uses)))


def composed(memlet: Memlet, uses: Uses) -> Memlet:
    """The memlet on the base of its view, or the base of that, as far as the same elements come in the same order."""
    while isinstance(desc := uses.desc(memlet.container), View):
        part = _base_subset(desc, memlet.subset, uses) if _keeps_order(desc, memlet.subset) else None
        if part is None:
            break
        memlet = replace(memlet, container=desc.of, subset=part)
    return memlet


def _base_subset(view: View, subset: Subset, uses: Uses) -> Subset | None:
    """Return the subset of the base that a subset of a view shows; None where it is no box."""
    if view.window is not None:
        return view.base_subset(subset)
    base = uses.desc(view.of)
    start = base.offset if isinstance(base, View) else ZERO
    if not isinstance(base, Array | View) or view.dtype != base.dtype or view.offset is not start:
        return None
    own, others = (_long_axes(desc) for desc in (view, base))
    if [length for _, *length in own] != [length for _, *length in others]:
        return None
    inner = {other: subset.dims[axis] for (axis, *_), (other, *_) in zip(own, others, strict=True)}
    short = [dim for axis, dim in enumerate(subset.dims) if axis not in [axis for axis, *_ in own]]
    if any(isinstance(dim, Range) for dim in short):
        return None
    return Subset(tuple(inner.get(axis, ZERO) for axis in range(len(base.shape))))


def _long_axes(desc: Array | View) -> list[tuple[int, Expr, Expr]]:
    """Axes that are not known to have length 1, with length and stride."""
    axes = enumerate(zip(desc.shape, desc.strides, strict=True))
    return [(axis, size, stride) for axis, (size, stride) in axes if size is not ONE]


def _keeps_order(view: View, subset: Subset) -> bool:
    """Return whether the ranges of a subset run forward along axes of the base, in the base's order."""
    if view.window is None:
        return True
    axes = [axis for axis, dim in zip(view.axes, subset.dims, strict=True) if isinstance(dim, Range)]
    if any(later <= earlier for earlier, later in zip((-1, *axes), axes, strict=False)):
        return False
    dims = [dim for dim in (*view.window.dims, *subset.dims) if isinstance(dim, Range)]
    return not axes or all((dim.step.constant or -1) > 0 for dim in dims)


def _point(load: Load, uses: Uses) -> Load:
    container, subset = load.container, Subset(load.indices)
    while isinstance(desc := uses.desc(container), View):
        part = _base_subset(desc, subset, uses)
        if part is None:
            break
        container, subset = desc.of, part
    return load if container == load.container else replace(load, container=container, indices=subset.indices)


def _changed_point(part: ScalarExpr, uses: Uses) -> ScalarExpr | None:
    return _point(part, uses) if isinstance(part, Load) else None
