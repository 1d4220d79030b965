"""KernelFusion: maps over the same points that stand side by side are launched as one kernel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body, names_in
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.parallelism.thread_parameters import free_params
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.transforms.api import Match
from dcpy.transforms.fusion.horizontal_fusion import HorizontalFusion, renamed_params
from dcpy.transforms.gpu.placement.offloadable import why_on_host
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class KernelFusion(GraphPass):
    """Horizontal fusion of kernels: one launch for maps over equal ranges, and one read of what both read.

    before   map i = 0:N { B[i] = f(A[i]) }           after   map i = 0:N { B[i] = f(A[i]); C[i] = g(A[i]) }
             map j = 0:N { C[j] = g(A[j]) }
             map k = 0:N { s += A[k] }                        map k = 0:N { s += A[k];  m (max)= A[k] }
             map l = 0:N { m (max)= A[l] }

    This is HorizontalFusion where both maps are kernels, and share what threads can have: maps that combine values over
    all iterations fuse with their like alone, and loops inside need not what the other one computes. A kernel gets
    `largest` tasklets at most: its threads have a limited number of registers. (Li et al., Automatic horizontal fusion
    for GPU kernels, CGO 2022.)
    """

    name: ClassVar[str] = "kernel-fusion"
    optional: ClassVar[bool] = True
    largest: int = 32
    any_order: bool = False  #: floats may be combined in the order in which threads come

    def decide(self, rw: Rewriter) -> None:
        """State by state, as long as something fuses."""
        for block in list(rw.sdfg.body.walk_blocks()):
            if isinstance(block, State):
                while self._fuse_one(block, rw):
                    pass

    def _fuse_one(self, state: State, rw: Rewriter) -> bool:
        maps = [node for node in state.nodes if isinstance(node, Map)]
        for first, second in combinations(maps, 2):
            if len(first.params) != len(second.params):
                continue
            match = Match(rw.sdfg, rw.uses, {"first": first, "second": second})
            step = HorizontalFusion()
            plan = step.plan(match)
            if isinstance(plan, Refusal) or self._why_not(first, second, rw.uses) is not None:
                continue
            rw.remark(first, True, f"one kernel with the map over {', '.join(second.params)}")
            step.apply(match, plan, rw)
            return True
        return False

    def _why_not(self, first: Map, second: Map, uses: Uses) -> Refusal | None:
        for node in (first, second):
            if reason := why_on_host(node, uses):
                return reason
        free = [set(free_params(node, uses, any_order=self.any_order)) for node in (first, second)]
        names = renamed_params(second, first)
        if free[0] != {str(names[param]) for param in free[1]}:
            return Refusal("their parallel iterations differ")
        if free[0] != set(first.params) and any(_has_plain_writes(node, uses) for node in (first, second)):
            return Refusal("one of them combines values only, the other one does not")
        loops = any(isinstance(node, Map) for each in (first, second) for node in each.body.walk_nodes())
        if loops and any(name in names_in(second, uses)[0] for name in names_in(first, uses)[1]):
            return Refusal("sums of the second one need what the first one computes: blocks could not share them")
        count = sum(isinstance(node, Tasklet) for each in (first, second) for node in each.body.walk_nodes())
        return Refusal(f"there would be {count} tasklets") if count > self.largest else None


def _has_plain_writes(node: Map, uses: Uses) -> bool:
    return any(access.is_write and not access.wcr for access in accesses_of_body(node, uses))
