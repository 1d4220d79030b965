"""RecomputeFusion: what a map computes is computed again wherever it is read, as stencils read their neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.uses import Uses
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.symbolic import ZERO
from dcpy.ir.tree import dominates
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.fusion.map_inlining import (
    Inlining,
    compute_before,
    erase_producer,
    only_result,
    unfit_result,
    why_not_later,
)


@dataclass(frozen=True)
class RecomputeFusion(Transformation[Inlining]):
    """Fusion with redundant computation: evaluate a producer again at each read of its consumers (Halide's inlining).

    before   map i = 0:N { t[i] = f(A[i]) }                        after   map j = 1:N - 1 {
             map j = 1:N - 1 { B[j] = t[j - 1] + t[j + 1] }                    t = f(A[j - 1]); u = f(A[j + 1])
                                                                               B[j] = t + u }

    Trades arithmetic for memory: MapInlining is this where nothing is computed twice. Applies when the map computes
    each element of a transient by tasklets alone, when only tasklets behind it read that, at most `reads` of them all
    together, and when nothing that the map reads is written in between. Computes exactly the same values.
    (Ragan-Kelley et al., Halide, PLDI 2013.)
    """

    name: ClassVar[str] = "recompute-fusion"
    producer = capture(Map)
    pattern = one(producer)

    reads: int = 8  #: places that read the result, at most: so often its code is written out

    def plan(self, m: Match) -> Inlining | Refusal:
        """What to substitute where."""
        producer, uses = m[self.producer], m.uses
        result = only_result(producer, uses)
        if isinstance(result, Refusal):
            return result
        tmp = result.container
        axes = tuple("" if dim is ZERO else str(dim) for dim in result.subset.dims)
        if refusal := unfit_result(tmp, axes, producer, uses):
            return refusal
        readers = self._readers(producer, tmp, uses)
        if isinstance(readers, Refusal):
            return readers
        return why_not_later(producer, readers, uses) or Inlining(tmp, axes, readers)

    def apply(self, m: Match, plan: Inlining, rw: Rewriter) -> None:
        for reader in plan.readers:
            for connector, memlet in list(reader.inputs.items()):
                if memlet.container == plan.tmp:
                    compute_before(reader, connector, m[self.producer], plan, rw)
        erase_producer(m[self.producer], plan, rw)

    def _readers(self, producer: Map, tmp: str, uses: Uses) -> tuple[Tasklet, ...] | Refusal:
        """The tasklets that read the result: each behind the map, in any loops."""
        found: list[Tasklet] = []
        for reader in uses.readers(tmp):
            if not isinstance(reader, Tasklet):
                return Refusal(f"{tmp!r} is read by a {reader.kind}", (reader,))
            if not dominates(producer, reader):
                return Refusal(f"{tmp!r} is read elsewhere", (reader,))
            found.append(reader)
        count = sum(memlet.container == tmp for reader in found for memlet in reader.inputs.values())
        if not count:
            return Refusal(f"{tmp!r} is not read")
        return (
            tuple(found) if count <= self.reads else Refusal(f"{tmp!r} is read at {count} places: pass reads={count}")
        )
