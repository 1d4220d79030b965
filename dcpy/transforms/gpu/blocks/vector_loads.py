"""VectorLoads: each thread of a kernel takes several neighbours of a row, which it loads and stores by 16 bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.accesses.strides import step_of
from dcpy.ir.analysis.dataflow.aliasing import memory_of
from dcpy.ir.analysis.device_side import kernels
from dcpy.ir.data import Array, Scalar, View, strides_of
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes, split_axis
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.gpu.costs import GPU_COSTS
from dcpy.ir.machine_model import Costs
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.ir.schedules import Vector
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr
from dcpy.transforms.gpu.blocks.map_to_grid import bytes_along
from dcpy.transforms.passes import GraphPass

BYTES = 16  #: of one load
FEW = 1024  #: blocks, of which a smaller grid is not made smaller still


@dataclass(frozen=True)
class VectorLoads(GraphPass):
    """Strip-mining for vector loads: the neighbours of a row that 16 bytes hold become one thread's, and one load.

    before   map i = 0:N @grid { y[i] = a * x[i] + y[i] }
    after    map i_tile = 0:N:2 @grid {
               map i = i_tile:min(N, i_tile + 2) @vector{width = 2} { y[i] = a * x[i] + y[i] } }

    Applies to kernels of straight-line code whose accesses all go on by one element along one parameter, or stay where
    they are; whose rows begin at multiples of 16 bytes, as far as their arrays do; and whose elements are of one size.
    What is left over, and arrays that begin elsewhere, are found by the kernel itself, and go element by element.
    """

    name: ClassVar[str] = "vector-loads"
    optional: ClassVar[bool] = True
    costs: Costs = GPU_COSTS

    def decide(self, rw: Rewriter) -> None:
        """Kernel by kernel; those that have a map of threads, loops or branches inside stay as they are."""
        for kernel in kernels(rw.sdfg):
            if not all(isinstance(block, State) and all(isinstance(node, Tasklet) for node in block.nodes)
                       for block in kernel.body.blocks):  # fmt: skip
                continue
            scores = {param: bytes_along(param, kernel.body, rw) for param in kernel.params}
            row = max(reversed(kernel.params), key=scores.__getitem__)
            width = self._width(kernel, row, rw)
            if isinstance(width, Refusal):
                rw.remark(kernel, False, f"no loads of {BYTES} bytes: {width}")
                continue
            reorder_axes(kernel, (*(param for param in kernel.params if param != row), row), rw)
            split_axis(kernel, row, width, rw)
            rw.update(expand_map(kernel, len(kernel.params) - 1, rw), schedule=Vector(width))
            rw.remark(kernel, True, f"each thread computes {width} neighbours along {row}, with loads of {BYTES} bytes")

    def _width(self, kernel: Map, row: str, rw: Rewriter) -> int | Refusal:
        """Return how many neighbours a thread takes."""
        values = dict(zip(kernel.params, kernel.domain, strict=True))[row]
        if values.step is not ONE or any(set(kernel.params) & set(dim.symbols) for dim in kernel.domain):
            return Refusal(f"its iteration space is not rectangular: {kernel.domain}", (kernel,))
        sizes: set[int] = set()
        ways: dict[str, set[Memlet]] = {}
        written: set[str] = set()
        for node, memlet, writes in _accesses(kernel, rw):
            memory = memory_of(memlet.container, rw.uses.desc)
            ways.setdefault(memory, set()).add(replace(memlet, wcr=""))
            written |= {memory} if writes else set()
            step = step_of(memlet, row, rw.uses)
            if step is not ONE and (step is not ZERO or writes or memlet.wcr):
                return Refusal(f"{memlet} does not advance by one element along {row!r}", (node,))
            if step is ONE:
                sizes.add(rw.uses.desc(memlet.container).dtype.itemsize)
            if memlet.wcr or rw.uses.desc(memlet.container).dtype.kind not in "iuf":
                return Refusal(f"{memlet} is not an integer or a float", (node,))
        if len(sizes) != 1:
            return Refusal(f"elements have {len(sizes)} sizes", (kernel,))
        if any(len(ways[memory]) > 1 for memory in written):
            return Refusal("a written array is also accessed in another way", (kernel,))
        width = BYTES // sizes.pop()
        if width < 2 or _is_less(values, self.costs.block * width * FEW):
            return Refusal(f"{values.size} points along {row!r} are few" if width > 1 else "one element fills a load")
        return self._misplaced(kernel, row, values, width, rw) or width

    def _misplaced(self, kernel: Map, row: str, values: Range, width: int, rw: Rewriter) -> Refusal | None:
        """An access that does not begin at a multiple of 16 bytes, as far as is known."""
        ranges = rw.uses.ranges_at(kernel.body)
        for node, memlet, _ in _accesses(kernel, rw):
            if row not in memlet.subset.symbols:
                continue
            desc = rw.uses.desc(memlet.container)
            assert isinstance(desc, Array | View)  # scalars have no rows
            place: Expr = as_expr(desc.offset) if isinstance(desc, View) else ZERO
            for dim, stride in zip(memlet.subset.dims, strides_of(desc), strict=True):
                index = dim.start if isinstance(dim, Range) else dim
                place = place + index.subs({row: values.start}) * stride
            if ranges.remainder(place, width) != 0:
                return Refusal(f"{memlet} begins at {place}, which need not be a multiple of {width}", (node,))
        return None


def _is_less(values: Range, most: int) -> bool:
    count = values.size.constant
    return count is not None and count < most


def _accesses(kernel: Map, rw: Rewriter) -> Iterator[tuple[Tasklet, Memlet, bool]]:
    """Accesses to arrays that outlive a point of the kernel, and whether they are written."""
    inside = {name for region in kernel.body.walk_regions() for name in region.containers}
    for node in kernel.body.walk_nodes():
        for writes, memlets in ((False, node.reads()), (True, node.writes())):
            for memlet in memlets if isinstance(node, Tasklet) else ():
                root = rw.uses.root(memlet.container)
                if root not in inside and not isinstance(rw.uses.desc(root), Scalar):
                    assert isinstance(node, Tasklet)
                    yield node, memlet, writes
