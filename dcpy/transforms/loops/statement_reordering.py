"""StatementReordering: loop distribution with statements in dependence order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dependence.loop_dependences import by_memory, conflict, iterations_have_order, loop_dependences
from dcpy.ir.analysis.dependence.loop_nests import axes_of
from dcpy.ir.analysis.polyhedral.integer_sets import distance
from dcpy.ir.data import Array, Scalar
from dcpy.ir.expressions.scalar import Ref
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Loop, Region, State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ZERO, Expr, sym
from dcpy.ir.tree import is_inside, owners_around
from dcpy.ir.types import DType
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.loops.scalar_expansion import number_of

Edge = tuple[Node, Node]


@dataclass(frozen=True)
class StatementReordering(Transformation["Order"]):
    """Loop distribution with statements in the order of their dependences; scalars become arrays where that is needed.

    before   loop i = 1:N { A[i] = f(B[i - 1]); B[i] = g(C[i]) }
    after    loop i = 1:N { B[i] = g(C[i]) };  loop i = 1:N { A[i] = f(B[i - 1]) }

    before   x = x0;  loop i = 0:N { A[i] = f(B[i], x); x = B[i] }
    after    xs[0] = x0;  loop i = 0:N { xs[i + 1] = B[i] };  loop i = 0:N { A[i] = f(B[i], xs[i]) };  x = xs[N]

    Applies if the dependence graph of the statements, within and across iterations, has no cycles: then each
    statement's loop is independent, or has only anti-dependences (see `saved-borders`).
    (Allen and Kennedy, Automatic Translation of FORTRAN Programs to Vector Form, TOPLAS 1987.)
    """

    name: ClassVar[str] = "statement-reordering"
    optional: ClassVar[bool] = True
    loop = capture(Loop)
    pattern = one(loop)

    def plan(self, m: Match) -> Order | Refusal:
        """The statements in order. Refuses cycles (and names the accesses), and bodies of several blocks."""
        loop, uses = m[self.loop], m.uses
        if not axes_of(loop)[0].sign:
            return Refusal(f"the step {loop.range.step} of {loop.param!r} is not a number")
        if any(isinstance(owner, Map) for owner in owners_around(loop)):
            return Refusal("there is a map around it")
        statements = _statements(loop)
        if isinstance(statements, Refusal):
            return statements
        obstacle = iterations_have_order(loop.body, loop.body, uses)
        if obstacle:
            return obstacle
        if loop_dependences(loop, uses).answer.is_no:
            return Refusal("its iterations are independent")
        expanded = tuple(name for name in _scalars(statements, uses) if _can_be_expanded(name, loop, statements, uses))
        own = next((name for name in loop.body.containers if name not in expanded), None)
        if own is not None:
            return Refusal(f"{own!r} is of one iteration, and not one value that is written once")
        edges = _edges(loop, statements, expanded, uses)
        if isinstance(edges, Refusal):
            return edges
        order = _sorted(statements, edges)
        if order is None:
            return Refusal(f"its statements depend on each other in a circle: {next(iter(edges.values()))}")
        return Order(tuple(order), expanded)

    def apply(self, m: Match, plan: Order, rw: Rewriter) -> list[Loop]:
        """Return the loops, in order."""
        loop = m[self.loop]
        behind = [_expand(name, loop, rw) for name in plan.expanded]
        loops: list[Loop] = []
        for node in plan.statements:
            own = Loop(rw.fresh_name(loop.param), loop.range, Region(), loop.schedule, span=loop.span)
            rw.insert_before(loop, own)
            state = State(span=node.span)
            rw.insert(state, own.body)
            rw.move_nodes([node], state)
            rw.substitute_symbols({loop.param: sym(own.param)}, within=own.body)
            loops.append(own)
        last: Loop | State = loops[-1]
        for state in filter(None, behind):
            rw.insert_after(last, state)
            last = state
        rw.erase(loop)
        return loops


@dataclass(frozen=True, slots=True)
class Order:
    """The statements in their new order, and the scalars that become arrays."""

    statements: tuple[Tasklet, ...]
    expanded: tuple[str, ...]


def _statements(loop: Loop) -> Sequence[Tasklet] | Refusal:
    match loop.body.blocks:
        case [State(nodes=nodes)] if len(nodes) > 1 and all(isinstance(node, Tasklet) for node in nodes):
            return [node for node in nodes if isinstance(node, Tasklet)]
    return Refusal("its body is not one state of several tasklets")


def _scalars(statements: Sequence[Tasklet], uses: Uses) -> list[str]:
    """The scalars that the statements write."""
    names = (memlet.container for node in statements for memlet in node.outputs.values())
    return [name for name in dict.fromkeys(names) if isinstance(uses.desc(name), Scalar)]


def _can_be_expanded(name: str, loop: Loop, statements: Sequence[Tasklet], uses: Uses) -> bool:
    """Return whether each iteration writes a scalar once, and only the statements touch it in the loop."""
    if not uses.desc(name).transient or len(uses.overlapping(name)) > 1:
        return False
    writers = [node for node in uses.writers(name) if is_inside(node, loop.body)]
    accessors = [accessor for accessor in uses.accessors(name) if is_inside(accessor, loop.body)]
    if len(writers) != 1 or any(accessor not in statements for accessor in accessors):
        return False
    outputs = [memlet for node in statements for memlet in node.outputs.values() if memlet.container == name]
    return len(outputs) == 1 and not outputs[0].wcr and not outputs[0].dynamic


def _edges(loop: Loop, statements: Sequence[Tasklet], expanded: Sequence[str], uses: Uses) -> dict[Edge, str] | Refusal:
    """The dependences of statements: source, target and reason."""
    edges: dict[Edge, str] = {}
    for name in expanded:
        (writer,) = (node for node in statements if name in uses.accesses(node).writes)
        for reader in statements:
            if name in uses.accesses(reader).reads:
                edges[writer, reader] = f"{name!r} is written and read"
    for group in by_memory(accesses_of_body(loop, uses)).values():
        writes = [access for access in group if access.is_write and access.memory not in expanded]
        for write, other in product(writes, group):
            refusal = None if write is other else _add(edges, write, other, loop, statements, uses)
            if refusal is not None:
                return refusal
    return edges


def _gap(write: MemoryAccess, other: MemoryAccess, loop: Loop, uses: Uses) -> int | None:
    """The dependence distance, in iterations, from a write to another access of the same element.

    0 if no other iteration touches the element; None if the distance is not a known number.
    """
    axis = axes_of(loop)[0]
    if conflict(write, other, ((loop.param, loop.range),), uses.ranges_at(loop)).is_no:
        return 0
    if write.subset is None or other.subset is None or write.root != other.root:
        return None
    gap = distance(write.subset, other.subset, loop.param)
    return None if gap is None else gap * axis.sign


def _add(
    edges: dict[Edge, str],
    write: MemoryAccess,
    other: MemoryAccess,
    loop: Loop,
    statements: Sequence[Tasklet],
    uses: Uses,
) -> Refusal | None:
    """Add the dependence of two accesses; refuse a dependence of a statement on itself."""
    first, second, gap = write.place, other.place, _gap(write, other, loop, uses)
    if gap is None:
        return Refusal(f"{write} and {other}: by how many iterations apart is not known", (first, second))
    if not isinstance(first, Tasklet) or not isinstance(second, Tasklet):
        return Refusal("something else than its tasklets touches memory")
    if first is second:
        ahead = gap == 0 or (gap < 0 and not other.is_write)
        return None if ahead else Refusal(f"{write}, and {other} in a later iteration", (first,))
    earlier = gap > 0 or (gap == 0 and statements.index(first) < statements.index(second))
    edges.setdefault((first, second) if earlier else (second, first), f"{write}, {other}")
    return None


def _sorted(statements: Sequence[Tasklet], edges: Mapping[Edge, str]) -> list[Tasklet] | None:
    """The topological order that is nearest to program order; None if there is a cycle."""
    place: dict[Node, int] = {statement: number for number, statement in enumerate(statements)}
    pairs = [(place[first], place[then]) for first, then in edges]
    if all(first < then for first, then in pairs):
        return list(statements)
    import networkx  # only here: to import it takes longer than most of these passes

    graph = networkx.DiGraph(pairs)
    graph.add_nodes_from(place.values())
    try:
        return [statements[number] for number in networkx.lexicographical_topological_sort(graph)]
    except networkx.NetworkXUnfeasible:
        return None


def _expand(name: str, loop: Loop, rw: Rewriter) -> State | None:
    """Give a scalar an element per iteration, and one for the initial value; return the block that keeps the last."""
    axis, dtype, home = axes_of(loop)[0], rw.uses.desc(name).dtype, rw.uses.home(name)
    size = axis.range.size_within(rw.uses.ranges_at(loop))
    outside = not is_inside(home, loop)
    array = rw.declare_fresh(f"{name}_values", Array.packed(dtype, (size + 1,), transient=True), loop.region)
    number, written = number_of(axis), False
    (state,) = loop.body.blocks
    assert isinstance(state, State)
    for node in list(state.nodes):
        assert isinstance(node, Tasklet)
        here = number + 1 if written else number
        inputs = {key: _element(memlet, name, array, here) for key, memlet in node.inputs.items()}
        outputs = {key: _element(memlet, name, array, number + 1) for key, memlet in node.outputs.items()}
        written = written or outputs != node.outputs
        if (inputs, outputs) != (node.inputs, node.outputs):
            rw.update(node, inputs=inputs, outputs=outputs)
    if not outside:
        rw.undeclare_unused([name])
        return None
    whole = Memlet(name, Subset())
    rw.insert_before(loop, _copied(whole, Memlet(array, Subset((ZERO,))), dtype, loop))
    return _copied(Memlet(array, Subset((size,))), whole, dtype, loop)


def _element(memlet: Memlet, name: str, array: str, number: Expr) -> Memlet:
    return replace(memlet, container=array, subset=Subset((number,))) if memlet.container == name else memlet


def _copied(source: Memlet, target: Memlet, dtype: DType, loop: Loop) -> State:
    code = (("out", Ref("value", dtype)),)
    return State(nodes=[Tasklet({"value": source}, {"out": target}, code, span=loop.span)], span=loop.span)
