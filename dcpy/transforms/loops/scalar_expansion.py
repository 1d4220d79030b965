"""ScalarExpansion: a private container of an iteration becomes an array over all iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.dependence.loop_nests import Axis, axes_of
from dcpy.ir.data import Array, Data, Lifetime, Scalar
from dcpy.ir.expressions.scalar import Load, ScalarExpr, rewrite
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Loop
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, sym
from dcpy.ir.tree import region_of
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True, slots=True)
class ExpandedContainer:
    """The container, its expanded descriptor, and the element of each iteration."""

    container: str
    desc: Array
    index: tuple[Expr, ...]


@dataclass(frozen=True)
class ScalarExpansion(Transformation[ExpandedContainer]):
    """Scalar expansion: give a private container of a map or loop a dimension for each of its axes.

    before   map i = 0:N { data t: f64; t = f(A[i]); B[i] = g(t) }
    after    data t: f64[N]
             map i = 0:N { t[i] = f(A[i]); B[i] = g(t[i]) }

    Always keeps the meaning; it costs memory, and lets the map be fissioned, or a loop inside change places with it.
    Needs ranges whose sizes are known outside, and a scalar or packed array without views.
    (Padua and Wolfe, Advanced Compiler Optimizations for Supercomputers, 1986.)
    """

    name: ClassVar[str] = "scalar-expansion"
    scope: ClassVar[Capture[Map | Loop]] = capture(Map, Loop)
    pattern = one(scope)

    container: str = ""  #: declared in the body; default: the first one there

    def plan(self, m: Match) -> ExpandedContainer | Refusal:
        """The expansion. Refuses containers declared elsewhere, views, and sizes that differ between runs."""
        scope = m[self.scope]
        name = self.container or next(iter(scope.body.containers), "")
        if name not in scope.body.containers:
            return Refusal(f"the body declares no {name!r}" if name else "the body declares nothing")
        desc = m.uses.desc(name)
        shape = _packed_shape(desc)
        if shape is None or m.uses.views_of(name):
            return Refusal(f"{name!r} is no scalar or packed array of its own, or there are views of it")
        axes = axes_of(scope)
        varying = {*scope.body.params, *symbols_assigned_in(scope.body)}
        for axis in axes:
            if not axis.sign or any(other.param in axis.range.symbols for other in axes):
                return Refusal(f"the number of iterations over {axis.param!r} is not known outside")
        if any(symbol in varying for size in shape for symbol in size.symbols):
            return Refusal(f"the size of {name!r} is not known outside")
        ranges = m.uses.ranges_at(scope)
        sizes = tuple(axis.range.size_within(ranges) for axis in axes)
        dtype = desc.dtype
        expanded = Array.packed(dtype, (*sizes, *shape), transient=True, span=desc.span)
        return ExpandedContainer(name, expanded, tuple(map(number_of, axes)))

    def apply(self, m: Match, plan: ExpandedContainer, rw: Rewriter) -> str:
        """Return the name of the container."""
        scope = m[self.scope]
        around = region_of(scope)
        rw.move_container(plan.container, around, plan.desc)

        def memlet(given: Memlet) -> Memlet:
            if given.container != plan.container:
                return given
            return Memlet(given.container, Subset((*plan.index, *given.subset.dims)), given.wcr, given.dynamic)

        def load(part: ScalarExpr) -> ScalarExpr | None:
            if not isinstance(part, Load) or part.container != plan.container:
                return None
            return Load(part.container, (*plan.index, *part.indices), part.dtype)

        for user in rw.uses.accessors(plan.container):
            if isinstance(user, Node):
                rw.replace_memlets(user, memlet)
            rw.rewrite_exprs(user, lambda value: rewrite(value, load))
        return plan.container


def _packed_shape(desc: Data) -> tuple[Expr, ...] | None:
    """The sizes of a scalar, or of an array without padding that ends with its scope; None of anything else."""
    if isinstance(desc, Scalar):
        return ()
    packed = isinstance(desc, Array) and desc.is_packed and desc.lifetime is Lifetime.SCOPE
    return desc.shape if packed else None


def number_of(axis: Axis) -> Expr:
    """The number of the iteration, counted from 0."""
    values = axis.range
    return (
        (sym(axis.param) - values.start) // values.step
        if axis.sign > 0
        else (values.start - sym(axis.param)) // -values.step
    )
