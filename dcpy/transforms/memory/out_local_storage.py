"""OutLocalStorage: an iteration writes into a buffer of its own, which goes to memory once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import leavers
from dcpy.ir.analysis.dependence.loop_dependences import surely_written_before
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.region import Loop
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.memory.container_choice import first_that_allows
from dcpy.transforms.memory.local_buffers import (
    BufferBox,
    add_copy,
    box_of,
    declare_local,
    named_accesses,
    redirect,
    whole_of,
)


@dataclass(frozen=True)
class OutLocalStorage(Transformation[BufferBox]):
    """Write to a local copy (a scratchpad tile): copy the part of an array that an iteration fills at its end.

    before   map t = 0:N:32 { map i = t:t + 32 { B[i] = f(A[i]) } }
    after    map t = 0:N:32 { data b: f64[32]
                              map i = t:t + 32 { b[i - t] = f(A[i]) }
                              copy b[0:32] -> B[t:t + 32] }

    Applies to an array that each iteration of the map or loop surely fills a box of, in steps of one, and of which it
    reads at most what it wrote itself; where nothing ends an iteration early. Combining writes: AccumulateTransient.
    """

    name: ClassVar[str] = "out-local-storage"
    scope: ClassVar[Capture[Map | Loop]] = capture(Map, Loop)
    pattern = one(scope)

    array: str = ""  #: which array; without a name the first one that allows it

    def plan(self, m: Match) -> BufferBox | Refusal:
        """The part that goes through a buffer."""
        scope, uses = m[self.scope], m.uses
        leaver = next(leavers(scope.body), None)
        if leaver is not None:
            return Refusal(f"a {leaver.kind} may end an iteration early", (leaver,))
        names = (name for node in scope.body.walk_nodes() for name in uses.accesses(node).writes)
        return first_that_allows(self.array, names, lambda name: _box(name, scope, uses), "write")

    def apply(self, m: Match, plan: BufferBox, rw: Rewriter) -> str:
        """Return the name of the buffer."""
        scope = m[self.scope]
        name = declare_local(plan, scope, rw)
        redirect(plan, name, scope, rw)
        copy = Copy(Memlet(name, whole_of(plan)), Memlet(plan.array, plan.subset), span=scope.span)
        add_copy(copy, scope, rw, first=False)
        return name


def _box(name: str, scope: Map | Loop, uses: Uses) -> BufferBox | Refusal:
    accesses = named_accesses(name, scope, uses)
    if isinstance(accesses, Refusal):
        return accesses
    writes = [access for access in accesses if access.is_write]
    if any(access.wcr for access in writes):
        return Refusal(f"it combines values into {name!r}")
    if uses.is_private(name) and all(isinstance(element, Copy) for element in uses.readers(name)):
        return Refusal(f"{name!r} is copied itself")
    if all(isinstance(access.place, Copy) for access in writes):
        return Refusal(f"it only copies into {name!r}")
    ranges = uses.ranges_at(scope.body)
    box = box_of(name, accesses, ranges)
    if isinstance(box, Refusal):
        return box
    behind = 1 + max(access.position for access in accesses)
    end = MemoryAccess(Memlet(name, box.subset), name, name, box.subset, Mode.READ, scope, (), behind)
    if not surely_written_before(end, writes, ranges).is_yes:
        return Refusal(f"an iteration does not surely fill its part of {name!r}")
    for read in accesses:
        if not read.is_write and not surely_written_before(read, writes, ranges).is_yes:
            return Refusal(f"it may read of {name!r} what was there before", (read.place,))
    return box
