"""RecomputeFusion: a map is inlined into its readers even if elements are then computed several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.editing.element_paths import position_of
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.tree import dominates
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.fusion.inlining import Inlining, inline
from dcpy.transforms.fusion.pointwise import temporary_of, why_not_later


@dataclass(frozen=True)
class RecomputeFusion(Transformation[Inlining]):
    """Fusion with redundant computation: evaluate a producer again at each read of its consumers (Halide's inlining).

    before   map i = 0:N { t[i] = f(A[i]) }                        after   map j = 1:N - 1 {
             map j = 1:N - 1 { B[j] = t[j - 1] + t[j + 1] }                    t = f(A[j - 1]); u = f(A[j + 1])
                                                                               B[j] = t + u }

    Trades arithmetic for memory; MapInlining is the case without repeated computation. Applies if the map computes each
    element of a transient by tasklets alone, only later tasklets read it, at `reads` places at most, and nothing writes
    the map's inputs in between. Computes exactly the same values.
    (Ragan-Kelley et al., Halide, PLDI 2013.)
    """

    name: ClassVar[str] = "recompute-fusion"
    producer = capture(Map)
    pattern = one(producer)

    reads: int = 8  #: elements of the result that are read in an iteration, at most: so often its code is written out

    def plan(self, m: Match) -> Inlining | Refusal:
        """The producer and its reads. Refuses other producers, and too many reads."""
        return recomputation(m[self.producer], self.reads, m.uses)

    def apply(self, m: Match, plan: Inlining, rw: Rewriter) -> None:
        inline(m[self.producer], plan, rw)


def recomputation(producer: Map, reads: int, uses: Uses) -> Inlining | Refusal:
    """The plan to recompute the result of a map at its reads, at most `reads` of them; or the reason not to."""
    tmp = temporary_of(producer, uses)
    if isinstance(tmp, Refusal):
        return tmp
    readers = _readers(producer, tmp.name, uses)
    if isinstance(readers, Refusal):
        return readers
    plan = Inlining(tmp, readers)
    count = len(plan.places())
    if count > reads:
        return Refusal(f"{tmp.name!r} is read at {count} places: pass reads={count}")
    return why_not_later(producer, readers, uses) or plan


def _readers(producer: Map, tmp: str, uses: Uses) -> tuple[Tasklet, ...] | Refusal:
    """The tasklets that read the result, after the map, in any loops."""
    found: list[Tasklet] = []
    for reader in uses.readers(tmp):
        if not isinstance(reader, Tasklet):
            return Refusal(f"{tmp!r} is read by a {reader.kind}", (reader,))
        if not dominates(producer, reader):
            return Refusal(f"{tmp!r} is read elsewhere", (reader,))
        found.append(reader)
    return tuple(sorted(found, key=position_of)) if found else Refusal(f"{tmp!r} is not read")
