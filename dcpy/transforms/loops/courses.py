"""Stencil offsets: the elements along each axis of a grid that an iteration of a map accesses around its write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.nodes import Map
from dcpy.ir.refusal import Refusal
from dcpy.ir.subsets import DimSubset, Range
from dcpy.ir.symbolic import ONE, Expr, sym


@dataclass(frozen=True, slots=True)
class Course:
    """The offsets of a sweep along one axis: iteration `origin` writes and reads elements ``origin + number``.

    The origin is a parameter of the map, or, where all iterations have the same index, that index.
    """

    origin: Expr
    param: str  #: "" where no parameter goes along the axis
    writes: tuple[int, int]  #: the first and the last element that an iteration writes, as seen from the origin
    accesses: tuple[int, int]

    @property
    def reach(self) -> tuple[int, int]:
        """The halo of a part of the grid: the distance that iterations that write into the part access beyond it."""
        return self.writes[1] - self.accesses[0], self.accesses[1] - self.writes[0]


def course_of(node: Map, dims: Mapping[str, int], accesses: Sequence[MemoryAccess]) -> Course | Refusal:
    """The offsets of a map along an axis of the grid; `dims` has the dimension of each array along that axis."""
    inside = [access for access in accesses if access.root in dims]
    first = next((access for access in inside if access.is_write), None)
    if first is None:
        return Refusal("it writes nothing that is seen outside", (node,))
    origin, param = _origin(_dim(first, dims[first.root]), node)
    offsets: dict[bool, list[int]] = {True: [], False: []}
    for access in inside:
        found = None if origin is None else _offsets(_dim(access, dims[access.root]), origin)
        if found is None:
            ours = f"{first}" if access is not first else "along an axis"
            return Refusal(f"{access} is not at a constant distance from where it {ours}", (access.place,))
        offsets[access.is_write] += found
    assert origin is not None
    everything = [*offsets[True], *offsets[False]]
    return Course(origin, param, (min(offsets[True]), max(offsets[True])), (min(everything), max(everything)))


def _dim(access: MemoryAccess, dim: int) -> DimSubset | None:
    """The range that an access covers along one dimension in an iteration of the map; None if it is no range."""
    found = access.footprint()
    boxed = None if found is None else found.box()
    if boxed is None:
        return None
    part = boxed.subset.dims[dim]
    return None if any(name in part.symbols for name, _ in boxed.over) else part


def _origin(part: DimSubset | None, node: Map) -> tuple[Expr | None, str]:
    """The index that an iteration writes, up to a constant; and the parameter, if the index is one."""
    start = part.start if isinstance(part, Range) else part
    params = [] if start is None else [name for name in node.params if name in start.symbols]
    match params:
        case []:
            return start, ""
        case [name]:
            return sym(name), name
    return None, ""


def _offsets(part: DimSubset | None, origin: Expr) -> tuple[int, int] | None:
    """The first and the last element of a part, relative to the origin."""
    if part is None:
        return None
    ends = (part, part) if isinstance(part, Expr) else _ends(part)
    below, above = ((end - origin).constant for end in ends)
    return None if below is None or above is None else (below, above)


def _ends(part: Range) -> tuple[Expr, Expr]:
    if (part.step.constant or 0) < 0:
        return part.stop + ONE, part.start
    return part.start, part.stop - ONE
