"""Programs of blocks: what one thread would do, statement by statement, done by several threads of a block.

A sum goes in three steps, always in the same order: each thread adds up its own terms, some threads each add the sums
of a group, and one thread adds these. What is no loop is done by one thread. Barriers between the steps are derived.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcpy.ir.analysis.parallelism.conflict_resolutions import location
from dcpy.ir.data import Allocation, Array, Scalar, Space
from dcpy.ir.editing.nest_edits import expand_map, reorder_axes, set_axes, tiles_and_tile
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.identities import identity_value
from dcpy.ir.expressions.scalar import Const, Ref
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.schedules import BLOCK, GRID, SEQUENTIAL, UNDECIDED, Schedule
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, sym
from dcpy.ir.tree import is_inside, subtree
from dcpy.ir.types import DType

FEW = 16  #: threads whose results one thread combines at once


@dataclass(frozen=True, slots=True)
class KernelStatement:
    """A node of a kernel, and, where it is a map that combines values, the places in which it does."""

    node: Node
    targets: tuple[Memlet, ...] = ()


def make_block_program(kernel: Map, statements: Sequence[KernelStatement], threads: int, rw: Rewriter) -> None:
    """Divide the statements of a kernel among so many threads; all are in states of its body."""
    first = kernel.body.blocks[0]
    assert isinstance(first, State)
    program = State(span=kernel.span)
    rw.insert_before(first, program)
    pending: list[Node] = []
    for statement in statements:
        node = statement.node
        if not isinstance(node, Map):
            pending.append(node)
        elif statement.targets:
            if depends(node, pending, rw):
                _by_one_thread(pending, program, rw)
            pending += _combined(node, statement.targets, threads, kernel, program, rw)
        else:
            _by_one_thread(pending, program, rw)
            _by_all_threads(node, threads, program, rw)
    _by_one_thread(pending, program, rw)
    for block in kernel.body.blocks[1:]:
        rw.erase(block)


def depends(node: Node, pending: Sequence[Node], rw: Rewriter) -> bool:
    """Return whether a map reads what nodes write that wait for one thread; where it combines values does not count
    yet.
    """
    written = {memlet.container for other in pending for memlet in _writes(other)}
    read = {name for element in subtree(node) for name in rw.uses.accesses(element).reads}
    return any(not written.isdisjoint(rw.uses.overlapping(name)) for name in read)


def _writes(node: Node) -> list[Memlet]:
    """Return the memlets that a node and all inside of it write; it may be in no state yet."""
    inside = (inner for body in node.regions() for inner in body.walk_nodes())
    return [memlet for each in (node, *inside) for memlet in each.writes()]


def _by_one_thread(pending: list[Node], program: State, rw: Rewriter) -> None:
    if not pending:
        return
    inside = State(span=pending[0].span)
    one = _map("t", ONE, Region([inside]), rw)
    rw.add_node(one, program)
    for node in pending:
        if node.state is None:
            rw.add_node(node, inside)
        else:
            rw.move_nodes([node], inside)
    pending.clear()


def _by_all_threads(node: Map, threads: int, program: State, rw: Rewriter) -> None:
    """Iterations of the last parameter go to threads; the others are loops of each.

    Where it is known that there are more than threads they take turns: a block is as wide as its widest map.
    """
    count = node.domain[-1].size.constant
    if count is not None and count > threads:
        mine = State(span=node.span)
        thread = _map("t", as_expr(threads), Region([mine]), rw)
        rw.add_node(thread, program)
        rw.move_nodes([node], mine)
        _take_turns(node, thread.params[0], threads, rw)
        rw.update(node, schedule=SEQUENTIAL)
        return
    rw.move_nodes([node], program)
    if len(node.params) > 1:
        last = node.params[-1]
        free = set(node.params).isdisjoint(node.domain[-1].symbols)
        if free:
            reorder_axes(node, (last, *node.params[:-1]), rw)
        rw.update(expand_map(node, 1, rw), schedule=SEQUENTIAL)
    rw.update(node, schedule=BLOCK)


def _combined(
    node: Map, targets: Sequence[Memlet], threads: int, kernel: Map, program: State, rw: Rewriter
) -> list[Node]:
    """All but the last step of sums; returns what is left for one thread."""
    mine = State(span=node.span)
    thread = _map("t", as_expr(threads), Region([mine]), rw)
    rw.add_node(thread, program)
    own = [_private(target, thread.body, rw) for target in targets]
    for target, acc in zip(targets, own, strict=True):
        rw.add_node(_put(acc, target.wcr, rw), mine)
    rw.move_nodes([node], mine)
    _take_turns(node, thread.params[0], threads, rw)
    _redirect(node, dict(zip(map(location, targets), own, strict=True)), rw)
    rw.update(node, schedule=SEQUENTIAL)
    rest: list[Node] = []
    for target, acc in zip(targets, own, strict=True):
        dtype = rw.uses.desc(acc).dtype
        parts = _shared("parts", dtype, threads, kernel, rw)
        rw.add_node(_move(Memlet(acc, Subset()), _element(parts, sym(thread.params[0])), dtype), mine)
        count = threads
        if threads > FEW:
            parts, count = _grouped(parts, target, dtype, threads, kernel, program, rw)
        rest.append(_sum(parts, ZERO, ONE, count, target, dtype, rw))
    return rest


def _grouped(
    parts: str, target: Memlet, dtype: DType, threads: int, kernel: Map, program: State, rw: Rewriter
) -> tuple[str, int]:
    """The second step: thread u combines ``parts[u]``, ``parts[u + count]``, …; as many threads as each has parts."""
    size = 1 << (threads.bit_length() // 2)
    count = threads // size
    inside = State()
    group = _map("u", as_expr(count), Region([inside]), rw)
    rw.add_node(group, program)
    acc, number = _private(target, group.body, rw), sym(group.params[0])
    few = _shared("few", dtype, count, kernel, rw)
    rw.add_node(_put(acc, target.wcr, rw), inside)
    step = as_expr(count)
    rw.add_node(_sum(parts, number, step, size, Memlet(acc, Subset(), target.wcr), dtype, rw), inside)
    rw.add_node(_move(Memlet(acc, Subset()), _element(few, number), dtype), inside)
    return few, count


def _take_turns(node: Map, thread: str, threads: int, rw: Rewriter) -> None:
    """Leave each thread every so-manieth value of the last parameter."""
    ranges = dict(zip(node.params, node.domain, strict=True))
    last = node.params[-1]
    values = ranges[last]
    ranges[last] = Range(values.start + sym(thread) * values.step, values.stop, values.step * threads)
    set_axes(node, ranges, rw)


def _redirect(node: Map, own: dict[Memlet, str], rw: Rewriter) -> None:
    """Let a map combine values in a thread's own places."""

    def change(memlet: Memlet) -> Memlet:
        acc = own.get(location(memlet)) if memlet.wcr else None
        return memlet if acc is None else Memlet(acc, Subset(), memlet.wcr)

    for inner in list(node.body.walk_nodes()):
        rw.replace_memlets(inner, change)


def _private(target: Memlet, region: Region, rw: Rewriter) -> str:
    dtype = rw.uses.desc(target.container).dtype
    return rw.declare_fresh("own", Scalar(dtype, transient=True, allocation=Allocation.REGISTER), region)


def _shared(stem: str, dtype: DType, count: int, kernel: Map, rw: Rewriter) -> str:
    desc = Array.packed(dtype, (count,), transient=True)
    return rw.declare_fresh(stem, replace(desc, space=Space.SHARED, allocation=Allocation.STACK), kernel.body)


def _element(container: str, index: Expr) -> Memlet:
    return Memlet(container, Subset.point(index))


def _put(acc: str, wcr: str, rw: Rewriter) -> Tasklet:
    """``acc = identity``"""
    dtype = rw.uses.desc(acc).dtype
    return Tasklet({}, {"o": Memlet(acc, Subset())}, (("o", Const(identity_value(wcr, dtype), dtype)),))


def _move(source: Memlet, target: Memlet, dtype: DType) -> Tasklet:
    return Tasklet({"a": source}, {"o": target}, (("o", Ref("a", dtype)),))


def _sum(parts: str, start: Expr, step: Expr, count: int, target: Memlet, dtype: DType, rw: Rewriter) -> Map:
    """``target (op) = parts[start + step * v]`` for so many v, in order."""
    state = State()
    loop = _map("v", as_expr(count), Region([state]), rw, SEQUENTIAL)
    state.add(_move(_element(parts, start + step * sym(loop.params[0])), target, dtype))
    return loop


def _map(stem: str, count: Expr, body: Region, rw: Rewriter, schedule: Schedule = BLOCK) -> Map:
    return Map((rw.fresh_name(stem),), (Range(ZERO, count),), body, schedule)


def spread_over_blocks(kernel: Map, statement: KernelStatement, length: int, rw: Rewriter) -> Map:
    """Take a sum out of a kernel, which is left that of the blocks' sums; return the kernel of these.

    before   map j = 0:M @grid { s = 0;  map k = 0:N { s += x[k, j] };  ... }
    after    map b = 0:N:512, l = 0:M @grid {
               own = 0;  map k = b:min(b + 512, N) { own += x[k, l] };  sums[b // 512, l] = own }
             map j = 0:M @grid { s = 0;  map p = 0:ceil(N / 512) { s += sums[p, j] };  ... }
    """
    node = statement.node
    assert isinstance(node, Map)
    assert kernel.state is not None
    assert kernel.state.region is not None
    point = {param: dim.start for param, dim in zip(kernel.params, kernel.domain, strict=True) if dim.size is ONE}
    rw.substitute_symbols(point, within=kernel.body)
    first = node.params[0]
    ranges = dict(zip(node.params, node.domain, strict=True))
    tile, before = rw.fresh_name(f"{first}_block"), ranges[first]
    tiles, ranges[first] = tiles_and_tile(before, length, tile, rw.uses.ranges_at(node))
    points = {param: dim for param, dim in zip(kernel.params, kernel.domain, strict=True) if dim.size is not ONE}
    copies = {param: rw.fresh_name(param) for param in points}
    inside, rest = State(span=node.span), State(span=node.span)
    domain = (tiles, *points.values())
    blocks = Map((tile, *copies.values()), domain, Region([inside]), GRID, span=node.span)
    totals = _map("p", tiles.size, Region([rest]), rw, SEQUENTIAL)
    rw.add_node_before(kernel, blocks)
    rw.add_node_before(node, totals)
    rw.update(totals, schedule=UNDECIDED)
    own = [_private(target, blocks.body, rw) for target in statement.targets]
    for target, acc in zip(statement.targets, own, strict=True):
        rw.add_node(_put(acc, target.wcr, rw), inside)
    rw.move_nodes([node], inside)
    set_axes(node, ranges, rw)
    _redirect(node, dict(zip(map(location, statement.targets), own, strict=True)), rw)
    rw.substitute_symbols({param: sym(copy) for param, copy in copies.items()}, within=blocks.body)
    number = (sym(tile) - before.start) // (before.step * length)
    for target, acc in zip(statement.targets, own, strict=True):
        dtype = rw.uses.desc(acc).dtype
        sizes = (tiles.size, *(dim.size for dim in points.values()))
        desc = Array.packed(dtype, sizes, transient=True, span=node.span)
        sums = rw.declare_fresh("sums", desc, kernel.state.region)
        mine = tuple((sym(copies[param]) - dim.start) // dim.step for param, dim in points.items())
        its = tuple((sym(param) - dim.start) // dim.step for param, dim in points.items())
        rw.add_node(_move(Memlet(acc, Subset()), Memlet(sums, Subset.point(number, *mine)), dtype), inside)
        source = Memlet(sums, Subset.point(sym(totals.params[0]), *its))
        rw.add_node(_move(source, target, dtype), rest)
    return blocks


def is_in_one(name: str, kernel: Map, rw: Rewriter) -> Map | None:
    """The only map of a block's threads in which a container is touched, if there is one."""
    users = rw.uses.accessors(name)
    blocks = [node for state in kernel.body.blocks if isinstance(state, State) for node in state.nodes]
    found = [node for node in blocks if any(is_inside(user, node) for user in users)]
    return found[0] if len(found) == 1 and isinstance(found[0], Map) else None
