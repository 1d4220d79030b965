"""Scalar replacement: an element that an iteration writes several times is a scalar until its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import leavers
from dcpy.ir.analysis.parallelism.conflict_resolutions import conflict_resolutions, is_injective
from dcpy.ir.data import Scalar
from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.memory.container_choice import first_that_allows
from dcpy.transforms.memory.local_buffers import BufferBox, exists, named_accesses, redirect


@dataclass(frozen=True)
class ScalarReplacement(Transformation[BufferBox]):
    """Keep an element of an array in a scalar while an iteration of a map changes it; load it before, store it after.

    before   map i = 0:N { if A[i] > 0 { B[i] = 1 }        after   map i = 0:N { data b: f64
                           if A[i] > 2 { B[i] = 2 } }                            b = B[i]
                                                                                if A[i] > 0 { b = 1 }
                                                                                if A[i] > 2 { b = 2 }
                                                                                B[i] = b }

    Applies to an array of which each iteration touches one element alone, which no other iteration touches and which
    surely exists, where tasklets write it several times, at least once under a condition, and nothing ends an iteration
    early. What vectors store is then one vector, without a mask. (Carr and Kennedy, Scalar Replacement in the Presence
    of Conditional Control Flow, 1994.)
    """

    name: ClassVar[str] = "scalar-replacement"
    scope = capture(Map)
    pattern = one(scope)

    array: str = ""  #: which array; without a name the first one that allows it

    def plan(self, m: Match) -> BufferBox | Refusal:
        """The element."""
        scope, uses = m[self.scope], m.uses
        if all(isinstance(block, State) for block in scope.body.blocks):
            return Refusal("it writes all without conditions")
        written = Counter(name for node in scope.body.walk_nodes() for name in uses.accesses(node).writes)
        often = [name for name, times in written.items() if times > 1]
        if not often:
            return Refusal("it writes no array twice")
        leaver = next(leavers(scope.body), None)
        if leaver is not None:
            return Refusal(f"a {leaver.kind} may end an iteration early", (leaver,))
        return first_that_allows(self.array, often, lambda name: _element(name, scope, uses), "write twice")

    def apply(self, m: Match, plan: BufferBox, rw: Rewriter) -> str:
        """Return the name of the scalar."""
        scope = m[self.scope]
        dtype = rw.uses.desc(plan.array).dtype
        name = rw.declare_fresh("element", Scalar(dtype, transient=True), scope.body)
        redirect(plan, name, scope, rw)
        element, scalar = Memlet(plan.array, plan.subset), Memlet(name, Subset())
        for first, source, target in ((True, element, scalar), (False, scalar, element)):
            move = Tasklet({"a": source}, {"o": target}, (("o", Ref("a", dtype)),), span=scope.span)
            rw.insert(State(nodes=[move]), scope.body, 0 if first else None)
        return name


def _element(name: str, scope: Map, uses: Uses) -> BufferBox | Refusal:
    accesses = named_accesses(name, scope, uses)
    if isinstance(accesses, Refusal):
        return accesses
    if all(access.is_sure() for access in accesses if access.is_write):
        return Refusal(f"{name!r} is written without conditions")
    if any(access.wcr for access in accesses):
        return Refusal(f"it combines values into {name!r}")
    if any(isinstance(access.place, Node) and not isinstance(access.place, Tasklet) for access in accesses):
        return Refusal(f"other than tasklets touch {name!r}")
    subset, varying = accesses[0].subset, conflict_resolutions(uses, scope).symbols
    if subset is None or not all(isinstance(dim, Expr) for dim in subset.dims):
        return Refusal(f"an iteration touches more than an element of {name!r}")
    if any(access.subset != subset for access in accesses) or varying & set(subset.symbols) - set(scope.params):
        return Refusal(f"an iteration touches several elements of {name!r}")
    if not is_injective(subset, scope.params, varying):
        return Refusal(f"several iterations may touch an element of {name!r}")
    box = BufferBox(name, subset)
    if not exists(box, uses.desc(name).shape, uses.ranges_at(scope.body)):
        return Refusal(f"an element of {name!r} that is not written may not exist")
    return box
