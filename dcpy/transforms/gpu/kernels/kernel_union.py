"""KernelUnion: independent kernels over ranges of different lengths are launched as one, over the longer one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of, leavers
from dcpy.ir.analysis.dependence.loop_dependences import nodes_depend
from dcpy.ir.analysis.device_side import is_kernel
from dcpy.ir.data import Scalar
from dcpy.ir.editing.nest_edits import set_axes
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.effects import Effect
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.ir.schedules import ThreadBlock
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Ranges, max_of
from dcpy.transforms.api import Match
from dcpy.transforms.fusion.horizontal_fusion import HorizontalFusion
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class KernelUnion(GraphPass):
    """Horizontal fusion of unequal iteration spaces: one launch over their union, where each has an empty part.

    before   map b = 0:N:256 @grid { map i = b:min(b + 256, N) @block { B[i] = f(A[i]) } }
             map c = 0:M:256 @grid { map j = c:min(c + 256, M) @block { D[j] = g(C[j]) } }
    after    map b = 0:max(N, M):256 @grid { map i = b:min(b + 256, N) @block { B[i] = f(A[i]) }
                                             map j = b:min(b + 256, M) @block { D[j] = g(C[j]) } }

    Applies to kernels of one state of which neither touches what the other one writes, nor does anything between them;
    whose blocks go alike along all parameters but one, so that the union has no more blocks than both; and whose
    threads have nothing to do in blocks beyond their own range. No kernel that may fail is joined: what stands behind
    a failed check does not happen. Each element is read and written as before. (Li et al., Automatic horizontal fusion
    for GPU kernels, CGO 2022.)
    """

    name: ClassVar[str] = "kernel-union"
    optional: ClassVar[bool] = True
    largest: int = 32  #: tasklets of a kernel: its threads have a limited number of registers

    def decide(self, rw: Rewriter) -> None:
        """State by state, as long as something is joined."""
        for block in list(rw.sdfg.body.walk_blocks()):
            if isinstance(block, State):
                while self._join_one(block, rw):
                    pass

    def _join_one(self, state: State, rw: Rewriter) -> bool:
        kernels = [node for node in state.nodes if isinstance(node, Map) and is_kernel(node)]
        for first, second in combinations(kernels, 2):
            union = _union(first, second)
            if union is None or self._why_not(first, second, state, rw.uses) is not None:
                continue
            rw.remark(first, True, f"one launch with the kernel over {', '.join(second.params)}")
            _join(first, second, union, rw)
            return True
        return False

    def _why_not(self, first: Map, second: Map, state: State, uses: Uses) -> Refusal | None:
        for kernel in (first, second):
            if not _ends_by_itself(kernel, uses.ranges_at(kernel)):
                return Refusal("threads share more than their range")
            if any(True for _ in leavers(kernel.body)) or Effect.ORDERED in effects_of(kernel):
                return Refusal("it may raise an exception, or its order matters")
        ranges = uses.ranges_at(state)
        passed = state.nodes[state.index(first) : state.index(second)]
        if not all(nodes_depend(node, second, uses, ranges).is_no for node in passed):
            return Refusal("one depends on the other, or on something between them")
        count = _tasklets(first.body.walk_nodes()) + _tasklets(second.body.walk_nodes())
        return Refusal(f"there would be {count} tasklets") if count > self.largest else None


def _union(first: Map, second: Map) -> tuple[Range, ...] | None:
    """The ranges of both, if they differ in the end of one."""
    if len(first.params) != len(second.params):
        return None
    differing = [pair for pair in zip(first.domain, second.domain, strict=True) if pair[0] != pair[1]]
    if len(differing) != 1:
        return None
    ((one, other),) = differing
    if one.start != other.start or one.step != other.step or one.step.constant is None:
        return None
    longer = Range(one.start, max_of(one.stop, other.stop), one.step)
    return tuple(longer if mine != its else mine for mine, its in zip(first.domain, second.domain, strict=True))


def _ends_by_itself(kernel: Map, ranges: Ranges) -> bool:
    """Return whether it is maps of threads, each of which is empty in blocks behind the end of the kernel's ranges."""
    if any(not isinstance(desc, Scalar) for desc in kernel.body.containers.values()):
        return False
    for block in kernel.body.blocks:
        if not isinstance(block, State):
            return False
        for node in block.nodes:
            if not isinstance(node, Map) or not isinstance(node.schedule, ThreadBlock):
                return False
            for param, values in zip(kernel.params, kernel.domain, strict=True):
                if not any(dim.start.name == param and ranges.proves_le(dim.stop, values.stop) for dim in node.domain):
                    return False  # ``b:min(b + 256, N)`` is empty where b is N or more
    return True


def _tasklets(nodes: Iterable[Node]) -> int:
    return sum(isinstance(node, Tasklet) for node in nodes)


def _join(first: Map, second: Map, union: tuple[Range, ...], rw: Rewriter) -> None:
    set_axes(first, dict(zip(first.params, union, strict=True)), rw)
    set_axes(second, dict(zip(second.params, union, strict=True)), rw)
    match, step = Match(rw.sdfg, rw.uses, {"first": first, "second": second}), HorizontalFusion()
    step.apply(match, step.plan(match), rw)  # type: ignore[arg-type]  # nothing depends on anything here
