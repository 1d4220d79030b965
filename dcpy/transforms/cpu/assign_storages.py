"""AssignStorages: scalars in registers, small arrays on the stack, other arrays on the heap."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Allocation, Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.machine_model import LIMITS, Limits
from dcpy.ir.region import Region
from dcpy.ir.tree import regions_around
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class AssignStorages(GraphPass):
    """Give a storage to each transient that has none.

    before   data s: f64 transient            after   data s: f64 transient @register
             data t: f64[8] transient                 data t: f64[8] transient @stack
             data A: f64[N] transient                 data A: f64[N] transient @heap

    A 0-d container becomes a variable, unless it has a view. An array of constant size goes on the stack if it has at
    most `stack_bytes` (threads have small stacks), and at most `all_stack_bytes` together with the arrays of the
    regions around it; arrays of consecutive loops share memory. Both are `limits` of the machine.
    """

    name: ClassVar[str] = "assign-storages"
    ensures: ClassVar[str] = "stored"
    limits: Limits = LIMITS

    def decide(self, rw: Rewriter) -> None:
        """Container by container, outer regions first."""
        left: dict[Region, int] = {}
        for region in list(rw.sdfg.body.walk_regions()):
            around = next((left[outer] for outer in regions_around(region) if outer in left), None)
            room = self.limits.all_stack_bytes if around is None else around
            for name, desc in list(region.containers.items()):
                if isinstance(desc, Scalar | Array) and desc.transient and desc.allocation is Allocation.UNDECIDED:
                    storage = _storage(name, desc, rw.uses, min(self.limits.stack_bytes, room))
                    room -= _bytes(desc) if storage is Allocation.STACK else 0
                    rw.redeclare(name, replace(desc, allocation=storage))
            left[region] = room


def _storage(name: str, desc: Scalar | Array, uses: Uses, room: int) -> Allocation:
    if not desc.shape and not uses.views_of(name):
        return Allocation.REGISTER
    packed = isinstance(desc, Scalar) or desc.axes is not None
    constant = all(size.constant is not None for size in desc.shape)
    return Allocation.STACK if packed and constant and _bytes(desc) <= room else Allocation.HEAP


def _bytes(desc: Scalar | Array) -> int:
    """The size in bytes of an array of constant size."""
    return math.prod((size.constant or 0 for size in desc.shape), start=desc.dtype.itemsize)
