"""CompactionToPoints: a loop over arrays that shrink becomes a loop for each point, which ends when that point is
dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.data import Scalar
from dcpy.ir.expressions.scalar import Load, Ref, cast, op, substitute_symbols
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map, Tasklet
from dcpy.ir.region import Branch, Break, Loop, Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, sym
from dcpy.libraries.indexing.passes.compaction_analysis import (
    POINT,
    ComputedScalar,
    CopiedScalar,
    Step,
    StoredElement,
    Worklist,
    worklist_of,
)
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class CompactionToPoints(Transformation[Worklist]):
    """Loop interchange of a worklist: instead of packing what is left in each iteration, follow each point to its end.

    before   loop t = 0:T {                                 after   map p = 0:N {
               map k = 0:n { z[k] = f(z[k], c[k]) }                   s = z[p]
               map k = 0:n { m[k] = g(z[k]) }                         loop t = 0:T {
               w, i = compress(m, z), compress(m, at)                   s = f(s, c[p])
               out[i] = w                                               m = g(s)
               z, c, at = z[not m], c[not m], at[not m]                 if m { out[at[p]] = s }
               n = count of not m                                       if m { break }
             }                                                        }
                                                                    }

    Applies where elements of all arrays that shrink are computed from elements of the same number, where all shrink by
    one mask, and none of these arrays is read after the loop. Places that are written are read back from what filled
    the arrays of indices (`ir.analysis.dataflow.array_contents`): they must be inside of the array, and no two points
    may have the same one. The number of a point among those that are left must not matter. The order of a point's own
    operations stays, so results are equal to the bit.
    """

    name: ClassVar[str] = "compaction-to-points"
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Worklist | Refusal:
        """Return the program of a point."""
        return worklist_of(m[self.loop], m.uses)

    def apply(self, m: Match, plan: Worklist, rw: Rewriter) -> Map:
        """Return the map over points."""
        loop = m[self.loop]
        point = rw.fresh_name("point")
        around = Map((point,), (Range(ZERO, plan.size),), Region(), span=loop.span)
        rw.insert_before(loop, State(nodes=[around], span=loop.span))
        rw.erase(loop)
        for name in plan.idle:
            writers = rw.uses.writers(name)
            if not rw.uses.readers(name) and all(isinstance(writer, Copy) for writer in writers):
                for writer in writers:
                    rw.erase(writer)
        rw.undeclare_unused(plan.idle)
        inner = Loop(loop.param, loop.range, Region(), span=loop.span)
        rw.insert(inner, around.body)
        own = _PointLoop(point, plan, around.body, inner.body, rw)
        for name in plan.carried:
            load = own.move(Memlet(name, Subset.point(sym(point))), Memlet(own.names[name], Subset()))
            rw.insert_before(inner, State(nodes=[load], span=loop.span))
        for step in plan.steps:
            own.do(step)
        stays = Load(own.names[plan.kept], (), types.bool_)
        rw.insert(Branch([(op("not", stays), Region([Break(span=loop.span)]))], span=loop.span), inner.body)
        return around


class _PointLoop:
    """The body of a point's loop, as it grows."""

    def __init__(self, point: str, plan: Worklist, outside: Region, inside: Region, rw: Rewriter) -> None:
        self.point, self.inside, self.rw = point, inside, rw
        self.names: dict[str, str] = {}
        for table, region in ((plan.carried, outside), (plan.scalars, inside)):
            for name, dtype in table.items():
                stem = name.partition(".")[0]
                self.names[name] = rw.declare_fresh(stem, Scalar(dtype, transient=True), region)

    def do(self, step: Step) -> None:
        match step:
            case ComputedScalar(tasklet, param):
                self._add(self._computed(tasklet, param))
            case CopiedScalar(source, target):
                self._add(self.move(Memlet(self.names[source], Subset()), Memlet(self.names[target], Subset())))
            case StoredElement():
                self._store(step)

    def move(self, source: Memlet, target: Memlet) -> Tasklet:
        """A tasklet that copies an element."""
        dtype = self.rw.uses.desc(source.container).dtype
        value = cast(Ref("a", dtype), self.rw.uses.desc(target.container).dtype)
        return Tasklet({"a": source}, {"out": target}, (("out", value),))

    def _add(self, node: Tasklet) -> None:
        last = self.inside.blocks[-1] if self.inside.blocks else None
        if isinstance(last, State):
            self.rw.add_node(node, last)
        else:
            self.rw.insert(State(nodes=[node]), self.inside)

    def _computed(self, tasklet: Tasklet, param: str) -> Tasklet:
        values = {param: sym(self.point)} if param else {}
        code = tuple((name, substitute_symbols(expr, values)) for name, expr in tasklet.code)
        inputs = {name: self._own(memlet) for name, memlet in tasklet.inputs.items()}
        outputs = {name: self._own(memlet) for name, memlet in tasklet.outputs.items()}
        return Tasklet(inputs, outputs, code, span=tasklet.span)

    def _own(self, memlet: Memlet) -> Memlet:
        return replace(memlet, container=self.names[memlet.container]) if memlet.container in self.names else memlet

    def _store(self, step: StoredElement) -> None:
        place = Subset(tuple(index.subs({POINT: sym(self.point)}) for index in step.place))
        node = self.move(self._own(step.value), Memlet(step.out, place))
        flag = Load(self.names[step.flag], (), self.rw.uses.desc(self.names[step.flag]).dtype)
        self.rw.insert(Branch([(flag, Region([State(nodes=[node])]))]), self.inside)


