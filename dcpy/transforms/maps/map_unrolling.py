"""MapUnrolling: the body of a map is repeated for each value of a short parameter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import Array
from dcpy.ir.editing.cloning import clone_body
from dcpy.ir.editing.nest_edits import place_at_end
from dcpy.ir.effects import Effect
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import State
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import is_inside
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one

MOST = 8  # copies of a body


@dataclass(frozen=True)
class MapUnrolling(Transformation[str]):
    """Unroll a parameter of a map: one iteration does what the iterations of all its values did.

    before   map i = 0:N, k = 0:3 { B[i, k] = f(A[i, k]) }
    after    map i = 0:N { B[i, 0] = f(A[i, 0]); B[i, 1] = f(A[i, 1]); B[i, 2] = f(A[i, 2]) }

    Applies to the last parameter that takes a known number of values, at most 8, beside another one, where the body is
    a state of tasklets and the range of no other parameter depends on it. What may raise is only unrolled along the
    last parameter of all: the first failure stays the first.
    """

    name: ClassVar[str] = "map-unrolling"
    optional: ClassVar[bool] = True
    map = capture(Map)
    pattern = one(map)

    only_components: bool = False  #: where array-splitting can follow: some component of an array is reached elsewhere

    def plan(self, m: Match) -> str | Refusal:
        """The parameter."""
        node, uses = m[self.map], m.uses
        if len(node.params) < 2:
            return Refusal("there is no other parameter")
        if not all(isinstance(block, State) for block in node.body.blocks) or len(node.body.blocks) != 1:
            return Refusal("the body is not one state")
        other = next((inner for inner in node.body.walk_nodes() if not isinstance(inner, Tasklet)), None)
        if other is not None:
            return Refusal(f"there is a {other.kind} inside", (other,))
        last_only = Effect.MAY_RAISE in effects_of(node)
        reasons: list[Refusal] = []
        for param in node.params[-1:] if last_only else reversed(node.params):
            refusal = _why_not_unrolled(node, param)
            if refusal is None and self.only_components:
                refusal = _why_no_components(node, param, uses)
            if refusal is None:
                return param
            reasons.append(refusal)
        return Refusal("; ".join(each.reason for each in reasons))

    def apply(self, m: Match, plan: str, rw: Rewriter) -> Map:
        """Return the map."""
        node = m[self.map]
        position = node.params.index(plan)
        values = node.domain[position]
        count = values.size.constant
        assert count is not None  # or it would have been refused
        state = node.body.blocks[0]
        copies = [clone_body(node.body, {plan: values.at(number)}, rw) for number in range(1, count)]
        rw.substitute_symbols({plan: values.at(0)}, within=node.body)
        for copied in copies:
            place_at_end(copied, node.body, rw)
            added = node.body.blocks[-1]
            assert isinstance(state, State)
            assert isinstance(added, State)
            rw.append_state(state, added)
        keep = [k for k in range(len(node.params)) if k != position]
        rw.update(node, params=tuple(node.params[k] for k in keep), domain=tuple(node.domain[k] for k in keep))
        return node


def _why_not_unrolled(node: Map, param: str) -> Refusal | None:
    count = node.domain[node.params.index(param)].size.constant
    if count is None or not 1 < count <= MOST:
        return Refusal(f"{param!r} does not take 2 to {MOST} values")
    if any(param in dim.symbols for dim in node.domain):
        return Refusal(f"the range of another parameter depends on {param!r}")
    return None


def _why_no_components(node: Map, param: str, uses: Uses) -> Refusal | None:
    """The reason not to unroll a parameter: no array has components along it that other code accesses by number."""
    for memlet in (memlet for inner in node.body.walk_nodes() for memlet in _memlets(inner)):
        for axis in _axes_along(memlet, param, uses):
            if any(_is_component(other, axis) for other in _elsewhere(memlet.container, node, uses)):
                return None
    return Refusal(f"no component along {param!r} is reached elsewhere by a number")


def _memlets(node: Node) -> tuple[Memlet, ...]:
    return (*node.reads(), *node.writes())


def _axes_along(memlet: Memlet, param: str, uses: Uses) -> Iterator[int]:
    desc = uses.desc(memlet.container)
    if isinstance(desc, Array) and desc.transient and len(uses.overlapping(memlet.container)) == 1:
        for axis, dim in enumerate(memlet.subset.dims):
            if desc.shape[axis].constant is not None and isinstance(dim, Expr) and param in dim.symbols:
                yield axis


def _elsewhere(container: str, node: Map, uses: Uses) -> Iterator[Memlet]:
    for accessor in uses.accessors(container):
        if isinstance(accessor, Tasklet) and not is_inside(accessor, node.body):
            yield from (memlet for memlet in _memlets(accessor) if memlet.container == container)


def _is_component(memlet: Memlet, axis: int) -> bool:
    dim = memlet.subset.dims[axis]
    return dim.constant is not None if isinstance(dim, Expr) else isinstance(dim, Range) and dim.size.constant == 1
