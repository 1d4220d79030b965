"""Array contents: an element of an array as an expression of its indices, if one node fills it from symbols alone.

``np.mgrid``, ``np.arange`` and what is copied, sliced and reshaped from them hold indices. Read back, these say which
places a scatter writes, whether they are inside of an array, and that no two of them are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcpy.ir import types
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, Scalar, View, packed_strides
from dcpy.ir.expressions.scalar import Cast, Index, Ref, ScalarExpr, as_symbolic, substitute_refs, substitute_symbols
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Node, Tasklet
from dcpy.ir.region import Resize
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, ExprLike
from dcpy.ir.tree import Element, dominates, is_inside, owners_around

MOST = 16  # arrays that one is copied or computed from, one from the other


@dataclass
class ArrayContents:
    """Elements of arrays as they are before `place`, without regard to its inside.

    `sizes` collects, of each expression that indexes an array on the way, a size that it is below: a program reads
    inside of its arrays, so it is from 0 to that. `below` has such sizes that are known before.
    """

    place: Element
    uses: Uses
    below: Mapping[Expr, Expr] = field(default_factory=dict)
    sizes: dict[Expr, set[Expr]] = field(default_factory=dict)

    def of(self, name: str, index: tuple[Expr, ...], depth: int = 0) -> Expr | None:
        """An integer element; None where it is not known, or does not follow from symbols that keep their values."""
        desc = self.uses.desc(name)
        if depth > MOST or not isinstance(desc, Array | View | Scalar) or desc.dtype != types.int64:
            return None
        for at, size in zip(index, desc.shape, strict=True):
            self.sizes.setdefault(at, set()).add(size)
        if isinstance(desc, View):
            base = self._in_base(desc, index)
            return None if base is None else self.of(desc.of, base, depth + 1)
        found = self._writer(name, index)
        if isinstance(found, Copy):
            return self._copied(found, index, depth)
        return None if found is None else self._computed(found, index, depth)

    def _in_base(self, desc: View, index: tuple[Expr, ...]) -> tuple[Expr, ...] | None:
        """The place of an element of a view in what it is a view of."""
        if desc.window is not None:
            inner = dict(zip(desc.axes, index, strict=True))
            found: list[Expr] = []
            for axis, dim in enumerate(desc.window.dims):
                if isinstance(dim, Range) and axis not in inner:
                    return None
                found.append(dim.at(inner[axis]) if isinstance(dim, Range) else dim)
            return tuple(found)
        base = self.uses.desc(desc.of)
        if not isinstance(base, Array | View) or base.dtype != desc.dtype or desc.strides != packed_strides(desc.shape):
            return None
        if base.strides != packed_strides(base.shape):
            return None
        position = sum((at * step for at, step in zip(index, desc.strides, strict=True)), ZERO)
        if len(base.shape) == 1:
            return (position,)
        places = []
        for step in base.strides:
            places.append(position if step is ONE else position // step)
            position = ZERO if step is ONE else position % step
        return tuple(places)

    def _writer(self, name: str, index: tuple[Expr, ...]) -> Copy | Tasklet | None:
        """The one node that fills the element, before the place."""
        found: list[Copy | Tasklet] = []
        for other in self.uses.overlapping(name):
            for writer in self.uses.writers(other):
                if is_inside(writer, self.place) or (isinstance(writer, Resize) and writer.kept is ZERO):
                    continue  # an array without contents has more room
                if other != name or not isinstance(writer, Copy | Tasklet):
                    return None
                if not all(_is_elsewhere(memlet, index) for memlet in writer.writes() if memlet.container == name):
                    found.append(writer)
        if len(found) != 1 or not dominates(_outermost(found[0]), self.place):
            return None
        once = all(isinstance(owner, Map) or is_inside(self.place, owner) for owner in owners_around(found[0]))
        return found[0] if once and self.uses.desc(name).transient else None

    def _copied(self, copy: Copy, index: tuple[Expr, ...], depth: int) -> Expr | None:
        """An element of an array, or of a part of it from its beginning, that is copied whole."""
        desc, source = self.uses.desc(copy.dst.container), copy.src.subset
        for dim, part, size in zip(copy.dst.subset.dims, index, desc.shape, strict=True):
            if copy.dst.wcr or dim not in (Range(ZERO, size), Range(ZERO, self.below.get(part, size))):
                return None
        at = iter(index)
        place = tuple(dim.at(next(at)) if isinstance(dim, Range) else dim for dim in source.dims)
        return self.of(copy.src.container, place, depth + 1)

    def _computed(self, tasklet: Tasklet, index: tuple[Expr, ...], depth: int) -> Expr | None:
        if len(tasklet.outputs) != 1 or len(tasklet.code) != 1:
            return None
        ((_, memlet),) = tasklet.outputs.items()
        values = self._params(tasklet, memlet, index)
        if values is None or memlet.wcr:
            return None
        known: dict[str, ScalarExpr] = {}
        ((_, code),) = tasklet.code
        for connector, read in tasklet.inputs.items():
            place = tuple(dim.subs(values) for dim in read.subset.dims if isinstance(dim, Expr))
            value = self.of(read.container, place, depth + 1)
            if value is None:
                return None
            known[connector] = Index(value)
        code = substitute_refs(substitute_symbols(code, values), known)
        while isinstance(code, Cast) and code.dtype == types.int64 and code.arg.dtype == types.int64:
            code = code.arg
        found = None if isinstance(code, Ref) else as_symbolic(code)
        if found is None or any(self.uses.definers(symbol) for symbol in found.symbols):
            return None
        return found

    def _params(self, tasklet: Tasklet, memlet: Memlet, index: tuple[Expr, ...]) -> dict[str, ExprLike] | None:
        """The values of the parameters of the maps around a tasklet when it writes an element; None if none do."""
        domain: dict[str, Range] = {}
        for owner in owners_around(tasklet):
            if not isinstance(owner, Map):
                break  # it is around the place, too
            domain |= dict(zip(owner.params, owner.domain, strict=True))
        desc = self.uses.desc(memlet.container)
        values: dict[str, ExprLike] = {}
        for at, dim, size in zip(index, memlet.subset.dims, desc.shape, strict=True):
            if not isinstance(dim, Expr):
                return None
            if dim.name in domain and dim.name not in values:
                if domain[dim.name] != Range(ZERO, size):
                    return None
                values[dim.name] = at
            elif dim != at:
                return None
        return values if values.keys() == domain.keys() else None


def _is_elsewhere(memlet: Memlet, index: tuple[Expr, ...]) -> bool:
    """Return whether a write is to another index along some dimension, in numbers."""
    for dim, at in zip(memlet.subset.dims, index, strict=True):
        if isinstance(dim, Expr) and dim.constant is not None and at.constant is not None and dim != at:
            return True
    return False


def _outermost(node: Node) -> Element:
    """The outermost map that a node is in, or the node."""
    found: Element = node
    for owner in owners_around(node):
        if isinstance(owner, Map):
            found = owner
    return found
