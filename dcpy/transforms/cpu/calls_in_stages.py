"""CallsInStages: loop fission at calls of math functions that depend on results of other calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Op, walk
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import State
from dcpy.ir.schedules import Undecided
from dcpy.ir.symbolic import ONE
from dcpy.transforms.cpu.tiles_of_points import PointNest, cut, followed_axis
from dcpy.transforms.passes import GraphPass

_NAMES = """
    exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh cbrt
"""
CALLS = frozenset(_NAMES.split())  #: what C libraries have for vectors, in some tens of instructions each


@dataclass(frozen=True)
class CallsInStages(GraphPass):
    """Strip-mining and loop fission: a call that depends on the result of another call starts a new loop.

    before   map i = 0:N { t = exp(x[i]);  y[i] = log(t + 1) }
    after    map I = 0:N:256 { t[256];  map i = I:min(I + 256, N) { t[i - I] = exp(x[i]) }
                                        map j = I:min(I + 256, N) { y[j] = log(t[j - I] + 1) } }

    A call is a chain of dependent operations. A processor hides its latency by starting the next elements, and looks
    some hundred instructions ahead: enough for a loop around one level of calls, too few for a chain of calls. Values
    between stages stay in the first-level cache; stages end where fewest values are live. Applies to maps of tasklets
    with unit strides and several levels of calls.
    (Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001.)
    """

    name: ClassVar[str] = "calls-in-stages"
    optional: ClassVar[bool] = True
    costs: Costs = COSTS

    def decide(self, rw: Rewriter) -> None:
        """Decide for each map; maps without dependent calls are not reported."""
        for node in list(rw.sdfg.body.walk_nodes()):
            if not isinstance(node, Map) or _levels(node) < 2:
                continue
            refusal = self._why_not(node, rw.uses)
            if refusal is not None:
                rw.remark(node, False, f"calls wait for each other: {refusal}")
                continue
            (state,) = node.body.blocks
            assert isinstance(state, State)
            stages = _stages(state)
            states = [state, *(State(span=state.span) for _ in stages[1:])]
            rw.insert_after(state, *states[1:])
            for stage, its in zip(stages[1:], states[1:], strict=True):
                rw.move_nodes(stage, its)
            cut(PointNest(node, [[one] for one in states]), self.costs, rw)
            rw.remark(node, True, f"calls that wait for each other are in {len(stages)} loops over tiles")

    def _why_not(self, node: Map, uses: Uses) -> Refusal | None:
        """The reason that stages would change results, or not vectorize; None if they are possible."""
        if not isinstance(node.schedule, Undecided):
            return Refusal("the map has a schedule")
        if effects_of(node):
            return Refusal(f"something inside {effects_of(node).words}")
        if any(memlet.wcr for inner in node.body.walk_nodes() for memlet in inner.writes()):
            return Refusal("results are combined")
        if not all(isinstance(uses.desc(name), Scalar) for name in node.body.containers):
            return Refusal("there is an array inside")
        if (refusal := _why_not_in_another_order(node, uses)) is not None:
            return refusal
        axis = followed_axis(node, uses)
        if axis is None:
            return Refusal("memory follows no parameter")
        values = node.domain[node.params.index(axis)]
        if values.step is not ONE:
            return Refusal(f"it goes in steps of {values.step}")
        if uses.ranges_at(node).proves_le(values.size, self.costs.tile):
            return Refusal("there is no more than a tile")
        return None


def _why_not_in_another_order(node: Map, uses: Uses) -> Refusal | None:
    """A constraint on the order of tasklets beyond their data dependences; None if there is none."""
    nodes = list(node.body.walk_nodes())
    written = [memlet.container for inner in nodes for memlet in inner.writes()]
    for name in written:
        if written.count(name) > 1:
            return Refusal(f"{name!r} is written twice")
    for name in dict.fromkeys(memlet.container for inner in nodes for memlet in inner.reads()):
        if name not in node.body.containers and not set(written).isdisjoint(uses.overlapping(name)):
            return Refusal(f"{name!r} is read and written")
    return None


def _calls(node: Node) -> bool:
    """Return whether a tasklet calls a math function of the C library, on a real number."""
    parts = (part for _, expr in node.code for part in walk(expr)) if isinstance(node, Tasklet) else ()
    return any(isinstance(part, Op) and part.name in CALLS and part.dtype.kind == "f" for part in parts)


def _levels(node: Map) -> int:
    """The length of the longest chain of dependent calls; 0 if the body is more than one state of tasklets."""
    if len(node.body.blocks) != 1:
        return 0
    (state,) = node.body.blocks
    if not isinstance(state, State) or not all(isinstance(inner, Tasklet) for inner in state.nodes):
        return 0
    if not any(map(_calls, state.nodes)):
        return 0
    return max(_level_of_each(state).values())


def _level_of_each(state: State) -> dict[Node, int]:
    """The number of calls on the longest path to each tasklet, including itself."""
    found: dict[Node, int] = {}
    known: dict[str, int] = {}  # of what was written last in a container
    for node in state.nodes:
        level = max((known.get(memlet.container, 0) for memlet in node.reads()), default=0) + _calls(node)
        found[node] = level
        known |= {memlet.container: max(level, known.get(memlet.container, 0)) for memlet in node.writes()}
    return found


def _stages(state: State) -> list[list[Node]]:
    """The nodes of each stage, by level; each stage ends where fewest values are live."""
    levels = _level_of_each(state)
    nodes = sorted(state.nodes, key=levels.__getitem__)  # stable
    stages = []
    begin = 0
    for level in range(1, max(levels.values())):
        first = max(index for index, node in enumerate(nodes) if levels[node] == level and _calls(node)) + 1
        last = min(index for index, node in enumerate(nodes) if levels[node] > level)
        end = min(range(first, last + 1), key=lambda at: (_crossing(nodes, at), at))
        stages.append(nodes[begin:end])
        begin = end
    return [*stages, nodes[begin:]]


def _crossing(nodes: Sequence[Node], at: int) -> int:
    """The number of values that cross a position: written before it, read after it."""
    written = {memlet.container for node in nodes[:at] for memlet in node.writes()}
    return len(written & {memlet.container for node in nodes[at:] for memlet in node.reads()})
