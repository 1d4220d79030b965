"""InLocalStorage: an iteration copies what it reads of an array into a buffer of its own, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.region import Loop
from dcpy.ir.tree import subtree
from dcpy.transforms.api import Capture, Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.memory.container_choice import first_that_allows
from dcpy.transforms.memory.local_buffers import (
    BufferBox,
    add_copy,
    box_of,
    declare_local,
    exists,
    happens,
    named_accesses,
    redirect,
    whole_of,
)


@dataclass(frozen=True)
class InLocalStorage(Transformation[BufferBox]):
    """Read from a local copy (a scratchpad tile, packing): copy the part of an array that an iteration reads.

    before   map t = 0:N:32 { map i = t:t + 32 { map j = 0:M { B[i, j] = f(A[i]) } } }
    after    map t = 0:N:32 { data a: f64[32]
                              copy A[t:t + 32] -> a[0:32]
                              map i = t:t + 32 { map j = 0:M { B[i, j] = f(a[i - t]) } } }

    Applies to an array that the map or loop reads and does not write, where the part is a box in steps of one that
    surely exists, and has more than one element. Always keeps the meaning; pays where elements are read repeatedly.
    """

    name: ClassVar[str] = "in-local-storage"
    scope: ClassVar[Capture[Map | Loop]] = capture(Map, Loop)
    pattern = one(scope)

    array: str = ""  #: which array; without a name the first one that allows it

    def plan(self, m: Match) -> BufferBox | Refusal:
        """The part that is copied."""
        scope, uses = m[self.scope], m.uses
        names = (name for part in subtree(scope.body) for name in uses.accesses(part).reads)
        return first_that_allows(self.array, names, lambda name: _box(name, scope, uses), "read")

    def apply(self, m: Match, plan: BufferBox, rw: Rewriter) -> str:
        """Return the name of the buffer."""
        scope = m[self.scope]
        name = declare_local(plan, scope, rw)
        redirect(plan, name, scope, rw)
        copy = Copy(Memlet(plan.array, plan.subset), Memlet(name, whole_of(plan)), span=scope.span)
        add_copy(copy, scope, rw, first=True)
        return name


def _box(name: str, scope: Map | Loop, uses: Uses) -> BufferBox | Refusal:
    accesses = named_accesses(name, scope, uses)
    if isinstance(accesses, Refusal):
        return accesses
    writer = next((access.place for access in accesses if access.is_write), None)
    if writer is not None:
        return Refusal(f"it writes {name!r}, too", (writer,))
    if all(isinstance(access.place, Copy) for access in accesses):
        return Refusal(f"it only copies {name!r}")
    ranges = uses.ranges_at(scope.body)
    box = box_of(name, accesses, ranges)
    desc = uses.desc(name)
    assert isinstance(desc, Array)
    if isinstance(box, Refusal) or exists(box, desc.shape, ranges) or all(happens(each, ranges) for each in accesses):
        return box
    return Refusal(f"it may read less of {name!r} than the box around that, which may not exist")
