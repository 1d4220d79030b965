"""Companions: for each active container one for its tangent or adjoint, and views of these for views.

A companion has the dtype and shape of its container and is declared where that is. A transient's has its layout, too;
that of an argument or a result is packed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcpy.autodiff.activity import Activity
from dcpy.autodiff.assignments import number
from dcpy.base.errors import GradientRefused
from dcpy.ir.data import Array, Data, Lifetime, Scalar, View
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Const
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, sym


class Companions:
    """The companions of one SDFG by the name of their container; `suffix` is the end of their names."""

    def __init__(self, rw: Rewriter, activity: Activity, suffix: str) -> None:
        self._rw, self._activity, self._suffix = rw, activity, suffix
        self._names: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        """The companion of an active container or view; a view's is made here."""
        if name not in self._names:
            self._names[name] = self._view(name)
        return self._names[name]

    def get(self, name: str) -> str:
        """The companion of a container; "" where it has none."""
        return self[name] if self._activity.holds(name) else ""

    def memlet(self, memlet: Memlet, wcr: str | None = None) -> Memlet:
        """The same elements of the companion."""
        return replace(memlet, container=self[memlet.container], wcr=memlet.wcr if wcr is None else wcr)

    def declare(self, name: str, *, transient: bool = True) -> str:
        """Declare the companion of a container that is no view; return its name."""
        desc, home = self._rw.uses.desc(name), self._rw.uses.home(name)
        self._require_own_memory(name, desc)
        own: Data
        if not transient or (isinstance(desc, Array) and not desc.transient):
            own = Array.packed(desc.dtype, desc.shape, transient=transient)
        elif isinstance(desc, Array):
            own = replace(desc, lifetime=Lifetime.SCOPE, span=None)
        else:
            own = Scalar(desc.dtype, transient=True)
        self._names[name] = self._rw.declare_fresh(name + self._suffix, own, home)
        return self._names[name]

    def adopt(self, name: str, companion: str) -> None:
        """Let a container that is declared already be the companion of another one."""
        self._names[name] = companion

    def _require_own_memory(self, name: str, desc: Data) -> None:
        if isinstance(desc, Array) and desc.alias:
            raise GradientRefused(
                f"{name!r} may overlap with another argument in memory, and is written or differentiated",
                span=desc.span,
                help="pass arrays that do not overlap, for instance copies",
            )
        if isinstance(desc, Array) and desc.distribution is not None:
            raise GradientRefused(f"{name!r} is distributed over ranks", span=desc.span,
                                  help="differentiate the program before it is distributed")  # fmt: skip

    def _view(self, name: str) -> str:
        desc = self._rw.uses.desc(name)
        assert isinstance(desc, View), f"{name} has no companion"
        base, shown = self[desc.of], self._rw.uses.desc(desc.of)
        own = self._rw.uses.desc(base)
        if own.dtype != shown.dtype or (desc.window is None and own.strides != shown.strides):
            raise GradientRefused(
                f"{name!r} shows {desc.of!r}, whose elements do not lie in order, in another shape",
                span=desc.span,
                help="copy it first: np.ascontiguousarray(x)",
            )
        if desc.window is None:
            offset = desc.offset if not isinstance(shown, View) else self._offset(desc, shown, own)
            made = replace(desc, of=base, offset=offset, span=None)
        else:
            sizes = {k: size for k, (size, axis) in enumerate(zip(desc.shape, desc.axes, strict=True)) if axis < 0}
            made = View.slice(base, own, desc.window, axes=desc.axes, sizes=sizes)
        return self._rw.declare_fresh(name + self._suffix, made, self._rw.uses.home(name))

    def _offset(self, desc: View, shown: View, own: Data) -> Expr:
        assert isinstance(own, View)
        return own.offset + (desc.offset - shown.offset)


def filled(rw: Rewriter, memlet: Memlet, value: float = 0.0) -> Map | Tasklet:
    """A node that sets elements to a number."""
    desc = rw.uses.desc(memlet.container)
    params, dims = [], []
    domain: list[Range] = []
    for dim in memlet.subset.dims:
        if isinstance(dim, Range):
            params.append(rw.fresh_name("z"))
            domain.append(Range(ZERO, dim.size))
            dims.append(dim.at(sym(params[-1])))
        else:
            dims.append(dim)
    out = Memlet(memlet.container, Subset(tuple(dims)))
    constant: Const = number(value, desc.dtype)
    tasklet = Tasklet({}, {"out": out}, (("out", constant),))
    return Map(tuple(params), tuple(domain), Region([State(nodes=[tasklet])])) if params else tasklet


def whole(rw: Rewriter, name: str) -> Memlet:
    """All elements of a container."""
    return Memlet(name, Subset.whole(rw.uses.desc(name).shape))


def bases_with_homes(rw: Rewriter, activity: Activity) -> Iterator[tuple[str, Region]]:
    """The active bases with the regions that declare them, in the order of their declaration."""
    for region in rw.sdfg.body.walk_regions():
        for name in list(region.containers):
            if name in activity.bases:
                yield name, region
