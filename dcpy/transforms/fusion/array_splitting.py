"""ArraySplitting: an array with constant component indices becomes one array per component.

Scalar replacement of aggregates, for arrays of points, colours and quaternions: the producer of one component can then
be fused with its readers, independently of the other components.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr
from dcpy.transforms.passes import GraphPass

MOST = 8  # components
D = TypeVar("D")


@dataclass(frozen=True)
class ArraySplitting(GraphPass):
    """Split a temporary along an axis of 2 to 8 elements that all accesses index by numbers.

    before   t[i, 0] = A[i]; t[i, 1] = B[i]; C[i] = t[i, 0]*t[i, 1]
    after    t_0[i] = A[i];  t_1[i] = B[i];  C[i] = t_0[i]*t_1[i]

    Applies to arrays that only tasklets read and write, that have no views, and that are neither arguments nor results.
    """

    name: ClassVar[str] = "array-splitting"
    optional: ClassVar[bool] = True

    def decide(self, rw: Rewriter) -> None:
        """Array by array, until none can be split any more."""
        pending = [name for region in rw.sdfg.body.walk_regions() for name in region.containers]
        for name in pending:  # grows while arrays are split
            axis = _axis(name, rw.uses)
            if axis is not None:
                pending += _split(name, axis, rw)


def _axis(name: str, uses: Uses) -> int | None:
    """The first axis along which an array can be split; None where there is none."""
    desc = uses.desc(name)
    if not isinstance(desc, Array) or not desc.transient or len(desc.shape) < 2 or not uses.is_private(name):
        return None
    if desc.distribution is not None or desc.partition or len(uses.overlapping(name)) > 1:
        return None
    accessors = uses.accessors(name)
    if not accessors or not all(isinstance(each, Tasklet) for each in accessors):
        return None
    memlets = (memlet for each in accessors for memlet in (*each.reads(), *each.writes()))
    subsets = [memlet.subset for memlet in memlets if memlet.container == name]
    for axis, size in enumerate(desc.shape):
        count = size.constant
        if count is not None and 1 < count <= MOST and all(_component(subset, axis) is not None for subset in subsets):
            return axis
    return None


def _component(subset: Subset, axis: int) -> int | None:
    dim = subset.dims[axis]
    return dim.constant if isinstance(dim, Expr) else None


def _split(name: str, axis: int, rw: Rewriter) -> list[str]:
    """Split an array; return the arrays of its components."""
    desc, home = rw.uses.desc(name), rw.uses.home(name)
    assert isinstance(desc, Array)  # or there would be no axis
    count = desc.shape[axis].constant
    assert count is not None
    shape = _without(desc.shape, axis)
    made = [
        rw.declare_fresh(f"{name}_{number}", replace(Array.packed(desc.dtype, shape, transient=True, span=desc.span),
                                                     space=desc.space, lifetime=desc.lifetime), home)
        for number in range(count)
    ]  # fmt: skip

    def of_component(memlet: Memlet) -> Memlet:
        if memlet.container != name:
            return memlet
        number = _component(memlet.subset, axis)
        assert number is not None
        return replace(memlet, container=made[number], subset=Subset(_without(memlet.subset.dims, axis)))

    for accessor in list(rw.uses.accessors(name)):
        assert isinstance(accessor, Tasklet)
        rw.replace_memlets(accessor, of_component)
    rw.undeclare(name)
    rw.undeclare_unused(made)
    return [each for each in made if rw.uses.declared(each)]


def _without(dims: tuple[D, ...], axis: int) -> tuple[D, ...]:
    return (*dims[:axis], *dims[axis + 1 :])
